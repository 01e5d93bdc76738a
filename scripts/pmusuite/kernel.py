# SPDX-License-Identifier: GPL-2.0-only
"""Kernels for guests: Debian's stock ones, unpacked, with the headers to build modules.

Two are tested every day. Of the others, PREEMPT_RT is of the same suite. The oldest and the newest that Debian
has are of other suites, whose libraries and compilers are not the host's: their modules are built in a root of
their own suite.
"""
import functools
import lzma
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from . import cache, debian, pins
from .cache import Error, run

STOCK = ("6.1", "6.12")
RT = "6.12-rt"
NEWEST = "newest"
# Of which suite, with its backports; of several the first of which the mirror has all for the architecture; None:
# that of the kernels that are tested every day.
OTHERS = {"5.10": ("bullseye",), RT: (None,), NEWEST: ("trixie", "sid")}
NOWHERE = {("5.10", "ppc64le"): "Debian's mirrors no longer have it", (RT, "ppc64le"): "Debian has none"}
# What a suite's kernels are built with, beside the compiler that their headers ask for: no version decides a result.
TOOLS = ("bash", "binutils", "coreutils", "dash", "diffutils", "findutils", "gawk", "grep", "make", "sed")

# Most of a kernel's modules are for what no guest has.
UNUSED = ("drivers/gpu", "drivers/infiniband", "drivers/media", "drivers/net", "drivers/scsi", "drivers/staging",
          "drivers/usb", "fs", "net", "sound")


@dataclass(frozen=True)
class Kernel:
    series: str         # one of STOCK or of OTHERS, or "kunit"
    release: str        # uname -r
    image: Path
    modules: Path       # .../lib/modules/RELEASE, or None where all is built in
    kdir: Path          # what to give kbuild as KDIR
    version: str        # identifies the build
    root: Path = None   # in which it is to be built, where that is not the host's; kdir is a path in it


def others(arch):
    """The series beside STOCK that there is for @arch."""
    return [series for series in OTHERS if (series, arch.name) not in NOWHERE]


def _in_suite(arch, suite):
    """What scripts/apt takes for @arch; @suite is None for that of the kernels that are tested every day."""
    return f"{arch}/{suite}" if suite else arch


@functools.cache
def pin(arch, series):
    """Which packages make up the stock kernel @series, and, of another suite, what its modules are built with."""
    def find():
        errors = []
        for suite in OTHERS.get(series, [None]):
            try:
                return find_in(suite)
            except Error as error:
                errors.append(str(error))
        raise Error("; ".join(errors))

    def find_in(name):
        suite = _in_suite(arch.debian, name)
        flavour = f"rt-{arch.flavour}" if series == RT else arch.flavour
        if series == NEWEST:
            meta = debian.newest(suite, "", f"linux-image-{flavour}")
        else:   # a suite may have kernels beside its own, newer than those of its backports
            number = series.removesuffix("-rt")
            meta = debian.newest(suite, f"{number}.", f"linux-image-{flavour}", f"linux-image-{number}-{flavour}")
        image = re.search(r"linux-image-\S+", meta["Depends"]).group()
        release = image.removeprefix("linux-image-")
        version = meta["Version"]
        # From 7.x on the image's package is empty, and depends on those of the kernel and of its modules.
        parts = re.findall(rf"linux-(?:base|binary|modules)-{re.escape(release)}",
                           debian.newest(suite, version, image)["Depends"])
        headers = debian.newest(suite, version, f"linux-headers-{release}")["Depends"]
        found = {"suite": name, "release": release, "version": version, "image": image, "parts": parts,
                 "headers": [f"linux-headers-{release}", re.search(r"linux-headers-[^\s,]+-common[^\s,]*", headers).group()],
                 "kbuild": re.search(r"linux-kbuild-[^\s,]+", headers).group()}
        # Of any later version, as the headers say: the security archive may have it before the signed image.
        found["kbuild-version"] = debian.newest(_in_suite(debian.host_arch(), name), "", found["kbuild"])["Version"]
        if name:
            found["tools"] = _tools(arch, name, re.search(r"gcc-\d+", headers).group(), found["kbuild"])
        return found

    def packages(found):
        suite, host = (_in_suite(name, found["suite"]) for name in (arch.debian, debian.host_arch()))
        wanted = {suite: [f"{name}={found['version']}" for name in (*_image(found), *found["headers"])]}
        wanted.setdefault(host, []).extend(found.get("tools") or [_kbuild(found)])
        return wanted

    return pins.Pin(f"kernel-{arch.name}-{series}", find, packages)


def _image(found):
    return found["parts"] or [found["image"]]


def _kbuild(found):
    return f"{found['kbuild']}={found.get('kbuild-version', found['version'])}"


def packages(arch, series):
    return pin(arch, series).get()


def _tools(arch, suite, compiler, kbuild):
    """What builds modules for a kernel of @suite: packages for the host's processor."""
    host = debian.host_arch()
    if host != arch.debian:
        compiler += f"-{arch.cross.rstrip('-').replace('_', '-')}"
    return [f"{name}={debian.newest(_in_suite(host, suite), '', name)['Version']}" for name in (compiler, kbuild)]


def _unpack_headers(arch, found, directory):
    debian.unpack(debian.download(_in_suite(arch.debian, found["suite"]),
                                  [f"{name}={found['version']}" for name in found["headers"]]), directory)
    # Type information for modules would need pahole; without vmlinux kbuild leaves it out.
    (directory / "usr/src" / f"linux-headers-{found['release']}" / "vmlinux").unlink(missing_ok=True)


def _unpack_for_host(arch, found, directory):
    """The headers, to be used by the host where they lie: Debian's Makefile includes an absolute path."""
    _unpack_headers(arch, found, directory)
    debian.unpack(debian.download(debian.host_arch(), [_kbuild(found)]), directory)
    kdir = directory / "usr/src" / f"linux-headers-{found['release']}"
    common = next(n for n in found["headers"] if "-common" in n)
    (kdir / "Makefile").write_text(f"include $(dir $(lastword $(MAKEFILE_LIST)))../{common}/Makefile\n")


def _unpack_modules(directory):
    """Uncompress modules, so that any insmod in a guest can load them."""
    for packed in directory.rglob("*.ko.xz"):
        packed.with_suffix("").write_bytes(lzma.decompress(packed.read_bytes()))
        packed.unlink()


def _build_root(arch, series, found):
    """A root of the kernel's own suite, for the host's processor: compiler, make, shell, headers."""
    suite = _in_suite(debian.host_arch(), found["suite"])
    tools = pins.with_libraries(pin(arch, series), suite, [*found["tools"], *TOOLS])

    def build(directory):
        cache.say(f"unpacking what builds modules for {found['release']}")
        # Where these are links no package that is merely unpacked makes them.
        for name in ("bin", "sbin", "lib", "lib64"):
            (directory / "usr" / name).mkdir(parents=True)
            (directory / name).symlink_to(f"usr/{name}")
        debian.unpack(debian.download(suite, tools), directory)
        for name in ("dev", "proc", "tmp", "work"):
            (directory / name).mkdir(exist_ok=True)
        (directory / "usr/bin/awk").symlink_to("gawk")
        _unpack_headers(arch, found, directory)

    return cache.entry("build-root", f"{arch.name}-{cache.key_of(*tools, found['version'], Path(__file__))}", build)


def stock(arch, series):
    found = packages(arch, series)

    def build(directory):
        cache.say(f"unpacking Debian's {found['release']} kernel and headers")
        image = debian.download(_in_suite(arch.debian, found["suite"]), [
            f"{name}={found['version']}" for name in _image(found)])
        debian.unpack(image, directory)
        if not (directory / "lib").exists():
            (directory / "usr/lib").rename(directory / "lib")
        for unused in UNUSED:
            shutil.rmtree(directory / "lib/modules" / found["release"] / "kernel" / unused, ignore_errors=True)
        _unpack_modules(directory / "lib/modules")
        run(["/sbin/depmod", "-b", directory, found["release"]], "depmod")
        if not found["suite"]:
            _unpack_for_host(arch, found, directory)

    root = cache.entry("kernel", f"{arch.name}-{found['release']}-{found['version']}", build)
    release = found["release"]
    kdir = root / f"usr/src/linux-headers-{release}"
    modules = root / "lib/modules" / release
    build_root = None
    if found["suite"]:
        build_root = _build_root(arch, series, found)
        kdir = Path(f"/usr/src/linux-headers-{release}")
    return Kernel(series, release, next(root.glob("boot/vmlinu[xz]-*"), modules / "vmlinuz"), modules, kdir,
                  found["version"], build_root)
