# SPDX-License-Identifier: GPL-2.0-only
"""Debian packages of any architecture, by scripts/apt: looked up, downloaded, unpacked."""
import contextlib
import functools
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from . import cache
from .cache import TREE, Error, Lost, run

APT = TREE / "scripts/apt"
HOST = "host"       # the host's own suite; a name of an architecture means guests'

_updated, _renewed = {}, set()      # by this process: {architecture: why its lists cannot be had, or None}
_absent = set()     # of these the architectures that the mirror has not
_said = set()


@functools.cache
def host_arch():
    return subprocess.run(["dpkg", "--print-architecture"], capture_output=True, text=True, check=True).stdout.strip()


def _update(arch, *now):
    """Why @arch's lists cannot be had, or None."""
    if cache.is_full():     # apt would try for minutes
        raise Error(cache.FULL)
    done = subprocess.run([APT, arch, "update", *now], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    said = done.stderr.replace("scripts/apt: ", "").splitlines()
    error = " ".join(said[-1:]) if done.returncode else None
    for line in said[:-1] if done.returncode else said:
        if line not in _said:
            cache.say(line)
        _said.add(line)
    return error


def update(arch, *now):
    """Fetch the package lists for @arch: once a day, or @now."""
    if now or arch not in _updated:
        _updated[arch] = _update(arch, *now)
        _absent.discard(arch)
    if _updated[arch] is None:
        return
    # Does the mirror have nothing for this architecture or of this suite, or can it not be reached? That takes a while to see.
    if arch in _absent or arch not in (HOST, host_arch()) and not _update(host_arch(), "now"):
        _absent.add(arch)
        raise Lost(_updated[arch])
    raise Error(f"cannot fetch Debian's package lists: {_updated[arch]}")


def renew():
    """Fetch all lists again that this process has used, since a package of theirs is lost; False if that was done before."""
    old = {arch for arch, error in _updated.items() if error is None} - _renewed
    _renewed.update(old)
    for arch in sorted(old):
        update(arch, "now")
    return bool(old)


def _ask(arch, *arguments):
    """What apt-cache says."""
    update(arch)
    return subprocess.run([APT, arch, "cache", *arguments], capture_output=True, text=True).stdout


def stanzas(arch, *packages):
    """All known versions of @packages, as field dictionaries, newest first."""
    found = []
    for block in _ask(arch, "show", *packages).strip().split("\n\n") if packages else ():
        fields = dict(m.groups() for m in re.finditer(r"^([\w-]+): (.*)$", block, re.M))
        if fields:
            found.append(fields)
    return sorted(found, key=lambda fields: order(fields["Version"]), reverse=True)


def names(arch, prefix):
    """All names of packages that begin so."""
    return _ask(arch, "pkgnames", prefix).split()


def order(version):
    """What sorts as Debian's versions do."""
    def parts(text):
        # A tilde comes before the end, and that before letters, and these before all else.
        found = [([-1 if char == "~" else ord(char) + 256 * (not char.isalpha()) for char in word] + [0], int(number or 0))
                 for word, number in re.findall(r"(\D*)(\d*)", text)]
        end = ([0], 0)      # as a zero is
        while found[-1:] == [end]:
            found.pop()
        return [*found, end]

    epoch, _, rest = version.rpartition(":")
    upstream, _, revision = rest.rpartition("-") if "-" in rest else (rest, "", "")
    return int(epoch or 0), parts(upstream), parts(revision)


def _deb(package):
    """The file name, up to the architecture, that apt gives the package "name=version"."""
    name, version = package.split("=")
    return f"{name}_{version.replace(':', '%3a')}_"


def name(deb):
    """The package in the file @deb, as "name=version"."""
    return "=".join(deb.name.replace("%3a", ":").split("_")[:2])


def _store(arch):
    return cache.ROOT / "debs" / arch


def lock_name(arch):
    """Of the lock for @arch's downloaded packages."""
    return f"debs-{arch.replace('/', '-')}"


def stamp_of(arch, deb):
    """What cache.used() is told when the package in the file @deb is wanted."""
    return f"{lock_name(arch)}-{deb.name}"


def _stored(arch, package):
    """The .deb of the package "name=version", where it has been downloaded; now it is wanted."""
    found = next(_store(arch).glob(f"{_deb(package)}*.deb"), None)
    if found:
        cache.used(stamp_of(arch, found))
    return found


def is_stored(arch, package):
    with cache.lock(lock_name(arch)):
        return _stored(arch, package) is not None


def _listed(arch, packages):
    """Those of @packages, "name=version", that the lists have."""
    rows = [[field.strip() for field in line.split("|")] for line in
            _ask(arch, "madison", *(package.split("=")[0] for package in packages)).splitlines()]
    return [package for package in packages if any(package == f"{row[0]}={row[1]}" for row in rows)]


def _share(arch, package):
    """Take a package for all architectures, "name=version", that has been downloaded for another one."""
    for found in (cache.ROOT / "debs").glob(f"**/{_deb(package)}all.deb"):
        if cache.PARTIAL not in found.parts:
            (target := _store(arch) / found.name).parent.mkdir(parents=True, exist_ok=True)
            with contextlib.suppress(OSError):      # it may just have been removed
                os.link(found, target)


def fetch(arch, packages):
    """Download those of @packages, "name=version", that are not in the cache, if the archive has all; returns the lost ones."""
    store = _store(arch)
    with cache.lock(lock_name(arch)):
        for package in packages:
            if not _stored(arch, package):
                _share(arch, package)
        missing = [package for package in packages if not _stored(arch, package)]
        if not missing or len(listed := _listed(arch, missing)) < len(missing):
            return [package for package in missing if package not in listed]
        cache.say("downloading " + (missing[0] if len(missing) == 1 else
                                    f"{len(missing)} packages: {', '.join(p.split('=')[0] for p in missing)}"))
        partial = store / cache.PARTIAL
        shutil.rmtree(partial, ignore_errors=True)      # of one that was killed
        partial.mkdir(parents=True)
        done = subprocess.run([APT, arch, "get", "-q", "download", *missing], cwd=partial, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        for deb in partial.glob("*.deb"):       # of others apt has seen that they are not what the lists say
            deb.rename(store / deb.name)
        lost = [package for package in missing if not _stored(arch, package)]
        if lost and cache.is_full():
            raise Error(cache.FULL)
        if lost:
            cache.say(f"not downloaded: {_reason(done.stdout)}")
        return lost


def _reason(said):
    """What apt gives as its first reason to fail."""
    found = re.search(r"^ +(\S+ : Depends: .*)", said, re.M) or re.search(r"^E: (.*)", said, re.M)
    return found[1] if found else "apt does not say why"


def download(arch, packages):
    """Download "name=version" packages, those not in the cache in one go; returns their .deb paths."""
    while lost := fetch(arch, packages):
        if not renew():
            raise Lost(f"the archive has no {', '.join(lost)}")
    return [_stored(arch, package) for package in packages]


def unpack(debs, directory):
    for deb in debs:
        run(["dpkg-deb", "-x", deb, directory], f"unpacking {deb.name}")


def closure(arch, packages, lost=(), unused=None):
    """@packages, which may be "name=version", and all that they depend on, as "name=version" for download(): nothing that is
    @lost, nor what matches the pattern @unused, nor what only that depends on."""
    update(arch)
    with tempfile.TemporaryDirectory(prefix="pmu-apt.") as scratch:
        preferences, status = Path(scratch, "preferences"), Path(scratch, "status")
        preferences.write_text("".join(f"Package: {name}\nPin: version {version}\nPin-Priority: -1\n\n"
                                       for name, version in (package.split("=") for package in lost)))

        def resolve(wanted, installed):
            # To apt, these are installed, and to stay as they are.
            status.write_text("".join(f"Package: {name}\nStatus: hold ok installed\nMulti-Arch: allowed\nArchitecture: {arch.split('/')[0]}\n"
                                      f"Version: {version}\nMaintainer: nobody\nDescription: none\n\n"
                                      for name, version in (package.split("=") for package in installed)))
            done = subprocess.run([APT, arch, "get", "install", "-o", f"Dir::Etc::Preferences={preferences}",
                                   "-o", f"Dir::State::Status={status}", "--print-uris", "-y", "-q", "--no-install-recommends",
                                   *wanted], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            if done.returncode:
                raise Lost(f"the archive has not all that {' '.join(packages)} depends on: {_reason(done.stdout)}")
            return [file.replace("_", "=", 1).replace("%3a", ":")
                    for file in re.findall(r"^'[^']+' (\S+)_\S+?\.deb", done.stdout, re.M)]

        names = resolve(packages, ())
        without = [name for name in names if unused and re.match(unused, name)]
        return resolve([name for name in packages if name not in without], without) if without else names


def sources(arch):
    """The file of sources.list(5) with the suites that there are for @arch."""
    update(arch)
    return run([APT, arch, "sources"], "asking for the sources").strip()


def source_tarball(arch, package, upstream):
    """The orig tarball of a source package; the tarball alone, since mirrors drop .dsc files early."""
    def build(directory):
        update(arch)
        try:
            uri, digest = run([APT, arch, "orig", package, upstream], f"looking for the source of {package} {upstream}").split()
            cache.say(f"downloading {Path(uri).name}")
            run(["/usr/lib/apt/apt-helper", "download-file", uri, directory / Path(uri).name, f"SHA256:{digest}"],
                f"downloading {uri}")
        except Error as error:
            if cache.is_full():
                raise
            raise Lost(" ".join(str(error).split())) from error

    return next(cache.entry("sources", f"{package}-{upstream}", build).iterdir())
