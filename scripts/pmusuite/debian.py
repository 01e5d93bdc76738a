# SPDX-License-Identifier: GPL-2.0-only
"""Debian packages of any architecture, by scripts/apt: looked up, downloaded, unpacked."""
import functools
import re
import subprocess
import tempfile
from pathlib import Path

from . import cache
from .cache import TREE, Error, run

APT = TREE / "scripts" / "apt"
HOST = "host"       # the host's own suite; a name of an architecture means guests'


def host_arch():
    return subprocess.run(["dpkg", "--print-architecture"], capture_output=True, text=True, check=True).stdout.strip()


def update(arch):
    if cache.is_full():     # apt would try for minutes
        raise Error(cache.FULL)
    # Several guests may be the first to ask, and apt fails where it finds its lists locked.
    with cache.lock("apt-lists"):
        done = subprocess.run([APT, arch, "update"], stdout=subprocess.DEVNULL)
    if done.returncode:
        raise Error("cannot fetch Debian's package lists; see above. A network and a Debian mirror are needed "
                    "the first time")


def stanzas(arch, package):
    """All known versions of @package, as field dictionaries, newest first as apt sorts them."""
    update(arch)
    text = subprocess.run([APT, arch, "cache", "show", package], capture_output=True, text=True).stdout
    found = []
    for block in text.strip().split("\n\n"):
        fields = dict(m.groups() for m in re.finditer(r"^([\w-]+): (.*)$", block, re.M))
        if fields:
            found.append(fields)
    return found


def newest(arch, prefix, *packages):
    """The newest version that starts with @prefix, of any of @packages."""
    found = [fields for package in packages for fields in stanzas(arch, package)
             if fields["Version"].startswith(prefix)]
    if not found:
        raise Error(f"Debian has no {' or '.join(packages)} {prefix}* for {arch}")
    return max(found, key=functools.cmp_to_key(lambda one, other: _compare(one["Version"], other["Version"])))


def _compare(one, other):
    """Below, at or above zero as Debian's version @one is to @other."""
    def holds(relation):
        return not subprocess.run(["dpkg", "--compare-versions", one, relation, other]).returncode

    return holds("gt") - holds("lt")


def _deb(package):
    """The file name, up to the architecture, that apt gives the package "name=version"."""
    name, version = package.split("=")
    return f"{name}_{version.replace(':', '%3a')}_"


def names(deb):
    """How a pin may name the package in the file @deb: by "name=version", or by its version."""
    name, version, _ = deb.name.replace("%3a", ":").split("_", 2)
    return f"{name}={version}", version


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


def lost(arch, packages):
    """Those of @packages, "name=version", that have not been downloaded and that the mirror does not offer."""
    with cache.lock(lock_name(arch)):
        wanted = {package for package in packages if not _stored(arch, package)}
    if not wanted:
        return []
    update(arch)
    table = subprocess.run([APT, arch, "cache", "madison", *(package.split("=")[0] for package in wanted)],
                           capture_output=True, text=True).stdout
    rows = [[field.strip() for field in line.split("|")] for line in table.splitlines()]
    return sorted(wanted - {f"{row[0]}={row[1]}" for row in rows if row[-1].endswith(" Packages")})


def download(arch, packages):
    """Download "name=version" packages, those not in the cache in one go; returns their .deb paths."""
    store = _store(arch)

    with cache.lock(lock_name(arch)):
        missing = [package for package in packages if not _stored(arch, package)]
        if missing:
            cache.say("downloading " + (missing[0] if len(missing) == 1 else
                                        f"{len(missing)} packages: {', '.join(p.split('=')[0] for p in missing)}"))
            partial = store / ".partial"
            partial.mkdir(parents=True, exist_ok=True)
            update(arch)
            try:
                run([APT, arch, "get", "download", *missing], f"downloading {', '.join(missing)}", cwd=partial)
            except Error as error:
                raise Error(f"{error}\nIf the mirror has dropped these versions, `scripts/pin --update` takes those that it "
                            "has now") from error
            for deb in partial.glob("*.deb"):
                deb.rename(store / deb.name)
        return [_stored(arch, package) for package in packages]


def unpack(debs, directory):
    for deb in debs:
        run(["dpkg-deb", "-x", deb, directory], f"unpacking {deb.name}")


def closure_names(arch, packages, unused=None):
    """@packages and everything they depend on, as "name=version" for download(); not what matches the pattern @unused, nor
    what only that depends on."""
    def resolve(wanted, *options):
        uris = run([APT, arch, "get", "install", "--print-uris", "-y", "-qq", "--no-install-recommends", *options, *wanted],
                   f"resolving the dependencies of {' '.join(packages)}")
        return [file.replace("_", "=", 1).replace("%3a", ":") for file in re.findall(r"^'[^']+' (\S+)_\S+?\.deb", uris, re.M)]

    update(arch)
    names = resolve(packages)
    without = [name for name in names if unused and re.match(unused, name)]
    if not without:
        return names
    with tempfile.NamedTemporaryFile("w", prefix="pmu-status.") as status:
        # To apt, these are installed, and to stay as they are.
        status.writelines(f"Package: {name}\nStatus: hold ok installed\nArchitecture: {arch.split('/')[0]}\n"
                          f"Version: {version}\nMaintainer: nobody\nDescription: none\n\n"
                          for name, version in (package.split("=") for package in without))
        status.flush()
        return resolve([name for name in packages if name not in without], "-o", f"Dir::State::status={status.name}")


def find_source(arch, package, upstream):
    """(path on the mirror, SHA-256) of the orig tarball of a source package."""
    update(arch)
    listing = subprocess.run([APT, arch, "cache", "showsrc", package], capture_output=True, text=True).stdout
    for stanza in listing.split("\n\n"):
        place = re.search(r"^Directory: (\S+)$", stanza, re.M)
        match = re.search(rf"^ ([0-9a-f]{{64}}) \d+ (\S+_{re.escape(upstream)}\.orig\.tar\.\w+)$", stanza, re.M)
        if place and match:
            return f"{place[1]}/{match[2]}", match[1]
    raise Error(f"Debian's mirror no longer has the source of {package} {upstream}")


def source_tarball(arch, package, upstream):
    """The orig tarball of a source package; the tarball alone, since mirrors drop .dsc files early."""
    def build(directory):
        path, digest = find_source(arch, package, upstream)
        name = Path(path).name
        cache.say(f"downloading {name}")
        run(["/usr/lib/apt/apt-helper", "download-file", mirror(arch) + path, directory / name, f"SHA256:{digest}"],
            f"downloading {name}")

    return next(cache.entry("sources", f"{package}-{upstream}", build).iterdir())


def mirror(arch):
    """The URI of the Debian mirror that @arch's packages come from."""
    return run([APT, arch, "mirror"], "asking for the Debian mirror").strip()
