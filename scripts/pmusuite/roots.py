# SPDX-License-Identifier: GPL-2.0-only
"""Roots of Debian, installed as on a machine, in which packages are built, installed and removed.

A root is made once, by mmdebstrap, and never changed: what a command changes lies over it, in a directory of
its own, and tells what the command has left.

The roots in which kernel.py has modules compiled are made in another way, packages that are merely unpacked, and stay so. That takes 5 to 90 seconds, and no network once the packages are in the cache; mmdebstrap took 5 to
20 minutes on the same busy host, and asks a mirror each time. And in what is merely unpacked no package can be installed.
"""
import hashlib
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from . import build, cache, debian

PACKAGES = ("build-essential", "ccache", "debhelper", "dh-dkms", "dh-python", "dkms", "help2man", "kmod", "lintian", "man-db", "mount",
            "openssl", "python3-rich", "rpm")
# Debian 11 has this in dkms.
ABSENT = {"bullseye": ("dh-dkms",)}
# What a package manager itself writes.
BOOKKEEPING = ("/var/lib/dpkg", "/var/lib/apt", "/var/log", "/var/cache", "/etc/ld.so.cache", "/etc/mtab", "/tmp", "/mnt",
               "/root", "/run")

# The root's own devices and processes would be the host's.
ENTER = r"""
lower=$1 over=$2 work=$3 ccache=$4
shift 4
mkdir -p "$over/upper" "$over/work" "$over/root"
# In a user namespace, as a container without root has, overlayfs may keep its notes in the user's attributes alone.
read -r _ _ ids < /proc/self/uid_map
[ "$ids" = 4294967295 ] && attributes= || attributes=,userxattr
mount -t overlay overlay -o "lowerdir=$lower,upperdir=$over/upper,workdir=$over/work$attributes" "$over/root"
mkdir -p "$over/root/mnt"
mount --bind "$work" "$over/root/mnt"
mkdir -p "$over/root/mnt/ccache"
mount --bind "$ccache" "$over/root/mnt/ccache"
mount -t proc proc "$over/root/proc"
mount --rbind /dev "$over/root/dev"
# Each test builds the same modules, and nearly all as another did.
exec chroot "$over/root" env -i CCACHE_DIR=/mnt/ccache CCACHE_MAXSIZE=1G \
	PATH=/usr/local/sbin:/usr/local/bin:/usr/lib/ccache:/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 HOME=/root DEBIAN_FRONTEND=noninteractive "$@"
"""


def proxies():
    """mmdebstrap's options for the proxies that this host's apt uses: it does not look there itself."""
    said = cache.run(["apt-config", "dump", "Acquire"], "asking apt for its proxies")
    return [f"--aptopt={line}" for line in said.splitlines() if re.match(r"Acquire::[a-z]+::Proxy\b.* \"[^\"]", line)]


def _archive(debs, directory):
    """Make an archive of @debs in @directory: what was fetched once Debian's own archive may have dropped."""
    with open(directory / "Packages", "w") as index:
        for deb in debs:
            shutil.copy(deb, directory)
            index.write(f"{cache.run(['dpkg-deb', '-f', deb], f'reading {deb.name}').strip()}\nFilename: ./{deb.name}\n"
                        f"Size: {deb.stat().st_size}\nSHA256: {hashlib.sha256(deb.read_bytes()).hexdigest()}\n\n")
    (directory / "debs.list").write_text(f"deb [trusted=yes] copy:{directory} ./\n")
    return directory / "debs.list"


def get(suite, *packages, debs=()):
    """The root of @suite, with what builds packages and modules, and with @packages, such as a kernel's headers, which may be
    among @debs."""
    arch = debian.host_arch()
    sources = f"{arch}/{suite}"
    common = [name for name in PACKAGES if name not in ABSENT.get(suite, ())]

    def install(directory):
        cache.say(f"installing Debian's {suite} into a directory")
        debian.update(sources)
        with tempfile.TemporaryDirectory(prefix="pmu-debs.") as scratch:
            # Of an initramfs, which no root boots by, packages would make two: minutes. There is no systemd to start services.
            cache.run(["mmdebstrap", "--variant=apt", *proxies(), f"--include={','.join((*common, *packages))}",
                       '--customize-hook=rm -f "$1"/etc/apt/sources.list.d/*debs.list', suite, directory / "root",
                       debian.sources(sources), *([_archive(debs, Path(scratch))] if debs else [])],
                      f"installing Debian's {suite}", env=os.environ | {"INITRD": "No", "SYSTEMD_OFFLINE": "1"})

    return cache.entry("root", f"{suite}-{packages[0]}-{cache.key_of(*common, *packages)}", install) / "root"


def run(root, over, work, *command):
    """Run @command in @root, with what it changes in the directory @over, and the directory @work as /mnt."""
    build.CCACHE.mkdir(parents=True, exist_ok=True)
    return subprocess.run([*build.own_mounts(), "--pid", "--fork", "sh", "-ec", ENTER, "sh", root, over, work, build.CCACHE, *command],
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          errors="replace", check=False)


def changed(over):
    """The files that are not as they were in the root, but for the package manager's own; a removed one ends with " -"."""
    upper, found = Path(over) / "upper", []
    for directory, _, names in os.walk(upper):
        for name in names:
            path = Path(directory, name)
            inside = f"/{path.relative_to(upper)}"
            if not inside.startswith(BOOKKEEPING):
                gone = path.is_char_device() and not path.is_symlink()
                found.append(f"{inside} -" if gone else inside)
    return sorted(found)
