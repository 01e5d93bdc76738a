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

from . import cache, debian
from .cache import run
from .choice import Choice, in_turn

STOCK = ("6.1", "6.12")
RT = "6.12-rt"
# For virtual machines, without the drivers of most hardware: what make demo fetches where Debian has it.
CLOUD = "6.1-cloud"
NEWEST = "newest"
# Of which suite, with its backports; of several the first of which the mirror has all for the architecture; None:
# that of the kernels that are tested every day.
OTHERS = {"5.10": ("bullseye",), RT: (None,), NEWEST: ("trixie", "sid")}
NOWHERE = {("5.10", "ppc64le"): "Debian's mirrors no longer have it", (RT, "ppc64le"): "Debian has none",
           (CLOUD, "ppc64le"): "Debian has none"}
# What a suite's kernels are built with, beside the compiler that their headers ask for: no version decides a result.
TOOLS = ("bash", "binutils", "coreutils", "dash", "diffutils", "findutils", "gawk", "grep", "make", "sed")

KBUILD = r"linux-kbuild-[^\s,]+"
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


def _kernels(arch, series, suite):
    """Those of @suite, as choice() has them, newest first, and with each the programs of kbuild that do for it.

    The package that is always of the newest may name a kernel that is not there yet, so all that are listed are looked at.
    """
    here, host = (_in_suite(name, suite) for name in (arch.debian, debian.host_arch()))
    number, _, variant = series.partition("-")
    flavour = f"{variant}-{arch.flavour}" if variant else arch.flavour
    metas = debian.stanzas(here, f"linux-image-{flavour}", *([f"linux-image-{number}-{flavour}"] if series != NEWEST else []))
    pattern = re.compile(rf"linux-image-({r'[0-9.]+' if series == NEWEST else re.escape(number)}\.[^-]+(?:-\d[^-]*)?-{flavour})")
    images = {(found[1], fields["Version"]): [] for fields in metas if (found := pattern.search(fields["Depends"]))}
    for fields in debian.stanzas(here, *filter(pattern.fullmatch, debian.names(here, "linux-image-"))):
        release = fields["Package"].removeprefix("linux-image-")
        # From 7.x on the image's package is empty, and depends on those of the kernel and of its modules.
        images[release, fields["Version"]] = re.findall(rf"linux-(?:base|binary|modules)-{re.escape(release)}", fields["Depends"])
    if series == NEWEST:    # than those that are tested every day
        images = {key: parts for key, parts in images.items() if debian.order(key[1]) > debian.order(STOCK[-1]) and
                  not key[1].startswith(f"{STOCK[-1]}.")}
    headers = {(fields["Package"], fields["Version"]): fields["Depends"]
               for fields in debian.stanzas(here, *{f"linux-headers-{release}" for release, _ in images})}
    kbuilds = debian.stanzas(host, *{name for depends in headers.values() for name in re.findall(KBUILD, depends)})
    for release, version in sorted(images, key=lambda key: debian.order(key[1]), reverse=True):
        found = {"suite": suite, "release": release, "version": version, "image": images[release, version] or [f"linux-image-{release}"],
                 "headers": [f"linux-headers-{release}"], "kbuild": "", "compiler": ""}
        if depends := headers.get((f"linux-headers-{release}", version)):
            name, compiler = re.search(KBUILD, depends)[0], re.search(r"gcc-\d+", depends)
            found["headers"] += re.findall(r"linux-headers-[^\s,]+-common[^\s,]*", depends)
            found["compiler"] = compiler[0] if compiler else ""
            least = re.search(rf"{re.escape(name)} \(>= (\S+)\)", depends)
            fit = [fields["Version"] for fields in kbuilds if fields["Package"] == name and
                   debian.order(fields["Version"]) >= debian.order(least[1] if least else "0")]
            # That of the kernel's own version, or of a later one: the archive may have it before the signed image.
            fit.sort(key=lambda one: (debian.order(one) < debian.order(version), debian.order(one)))
            yield from (found | {"kbuild": f"{name}={one}"} for one in fit or [version])
        else:
            yield found


@functools.cache
def choice(arch, series):
    """Which packages make up the stock kernel @series, and, of another suite, what its modules are built with."""
    def packages(found, lost):
        here, host = (_in_suite(name, found["suite"]) for name in (arch.debian, debian.host_arch()))
        kbuild = [found["kbuild"]] if found["kbuild"] else []
        if found["suite"] and kbuild:
            compiler = found["compiler"] + (f"-{arch.cross.rstrip('-').replace('_', '-')}" if host != here else "")
            kbuild = debian.closure(host, [compiler, *kbuild, *TOOLS], lost)
        # What is large comes last, since it is in vain if something else is lost.
        return {"kbuild": [host, kbuild], **{part: [here, [f"{name}={found['version']}" for name in found[part]]]
                                             for part in ("headers", "image")}}

    return Choice(f"kernel-{arch.name}-{series}",
                  lambda: in_turn(OTHERS.get(series, [None]), lambda suite: _kernels(arch, series, suite)), packages, asked=TOOLS)


def packages(arch, series):
    """What was chosen for the stock kernel @series: its "version", "release", and more."""
    return choice(arch, series).get()[0]


def debs(arch, series, part):
    """The packages of a @part of the stock kernel @series: its image, its headers, or what modules are built with."""
    return debian.download(*choice(arch, series).get()[1][part])


def _unpack_headers(arch, series, directory):
    debian.unpack(debs(arch, series, "headers"), directory)
    # Type information for modules would need pahole; without vmlinux kbuild leaves it out.
    (directory / "usr/src" / f"linux-headers-{packages(arch, series)['release']}" / "vmlinux").unlink(missing_ok=True)


def _unpack_for_host(arch, series, directory):
    """The headers, to be used by the host where they lie: Debian's Makefile includes an absolute path."""
    found = packages(arch, series)
    _unpack_headers(arch, series, directory)
    debian.unpack(debs(arch, series, "kbuild"), directory)
    kdir = directory / "usr/src" / f"linux-headers-{found['release']}"
    common = next(n for n in found["headers"] if "-common" in n)
    (kdir / "Makefile").write_text(f"include $(dir $(lastword $(MAKEFILE_LIST)))../{common}/Makefile\n")


def _unpack_modules(directory):
    """Uncompress modules, so that any insmod in a guest can load them."""
    for packed in directory.rglob("*.ko.xz"):
        packed.with_suffix("").write_bytes(lzma.decompress(packed.read_bytes()))
        packed.unlink()


def _build_root(arch, series):
    """A root of the kernel's own suite, for the host's processor: compiler, make, shell, headers."""
    found, parts = choice(arch, series).get()
    suite, tools = parts["kbuild"]

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
        _unpack_headers(arch, series, directory)

    return cache.entry("build-root", f"{arch.name}-{cache.key_of(*tools, found['version'], Path(__file__))}", build)


def stock(arch, series):
    found = packages(arch, series)

    def build(directory):
        cache.say(f"unpacking Debian's {found['release']} kernel and headers")
        debian.unpack(debs(arch, series, "image"), directory)
        if not (directory / "lib").exists():
            (directory / "usr/lib").rename(directory / "lib")
        for unused in UNUSED:
            shutil.rmtree(directory / "lib/modules" / found["release"] / "kernel" / unused, ignore_errors=True)
        _unpack_modules(directory / "lib/modules")
        run(["/sbin/depmod", "-b", directory, found["release"]], "depmod")
        if not found["suite"]:
            _unpack_for_host(arch, series, directory)

    root = cache.entry("kernel", f"{arch.name}-{found['release']}-{found['version']}", build)
    release = found["release"]
    kdir = root / f"usr/src/linux-headers-{release}"
    modules = root / "lib/modules" / release
    build_root = None
    if found["suite"]:
        build_root = _build_root(arch, series)
        kdir = Path(f"/usr/src/linux-headers-{release}")
    return Kernel(series, release, next(root.glob("boot/vmlinu[xz]-*"), modules / "vmlinuz"), modules, kdir,
                  found["version"], build_root)
