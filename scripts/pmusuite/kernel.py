# SPDX-License-Identifier: GPL-2.0-only
"""Kernels for guests: Debian's stock ones, unpacked, with the headers to build modules."""
import lzma
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from . import cache, debian
from .cache import Error, run

STOCK = ("6.1", "6.12")

# Most of a kernel's modules are for what no guest has.
UNUSED = ("drivers/gpu", "drivers/infiniband", "drivers/media", "drivers/net", "drivers/scsi", "drivers/staging",
          "drivers/usb", "fs", "net", "sound")


@dataclass(frozen=True)
class Kernel:
    series: str         # "6.1", "6.12" or "kunit"
    release: str        # uname -r
    image: Path
    modules: Path       # .../lib/modules/RELEASE, or None where all is built in
    kdir: Path          # what to give kbuild as KDIR
    version: str        # identifies the build


def packages(arch, series):
    """Which packages make up the stock kernel @series: found once, then remembered."""
    def find():
        meta = debian.newest(arch.debian, f"linux-image-{arch.flavour}", f"{series}.")
        image = re.match(r"(\S+)", meta["Depends"]).group(1)
        release = image.removeprefix("linux-image-")
        version = meta["Version"]
        headers = debian.newest(arch.debian, f"linux-headers-{release}", version)
        needed = re.findall(r"(linux-headers-\S+-common|linux-kbuild-\S+)", headers["Depends"])
        common = next(n for n in needed if n.endswith("-common"))
        kbuild = next(n for n in needed if n.startswith("linux-kbuild")).rstrip(",")
        return {"release": release, "version": version, "image": image,
                "headers": [f"linux-headers-{release}", common], "kbuild": kbuild}
    return debian.remembered(f"kernel-{arch.name}-{series}", find)


def _unpack_headers(arch, found, directory):
    """The headers, made to work where they lie: Debian's Makefile includes an absolute path."""
    version = found["version"]
    debs = debian.download(arch.debian, [f"{name}={version}" for name in found["headers"]])
    debs += debian.download(debian.host_arch(), [f"{found['kbuild']}={version}"])
    debian.unpack(debs, directory)
    src = directory / "usr" / "src"
    kdir = src / f"linux-headers-{found['release']}"
    # Type information for modules would need pahole; without vmlinux kbuild leaves it out.
    (kdir / "vmlinux").unlink(missing_ok=True)
    common = next(n for n in found["headers"] if n.endswith("-common"))
    (kdir / "Makefile").write_text(f"include $(dir $(lastword $(MAKEFILE_LIST)))../{common}/Makefile\n")


def _unpack_modules(directory):
    """Uncompress modules, so that any insmod in a guest can load them."""
    for packed in directory.rglob("*.ko.xz"):
        packed.with_suffix("").write_bytes(lzma.decompress(packed.read_bytes()))
        packed.unlink()


def stock(arch, series):
    found = packages(arch, series)

    def build(directory):
        cache.say(f"unpacking Debian's {found['release']} kernel and headers")
        image = debian.download(arch.debian, [f"{found['image']}={found['version']}"])
        debian.unpack(image, directory)
        for unused in UNUSED:
            shutil.rmtree(directory / "lib/modules" / found["release"] / "kernel" / unused, ignore_errors=True)
        _unpack_modules(directory / "lib/modules")
        run(["/sbin/depmod", "-b", directory, found["release"]], "depmod")
        _unpack_headers(arch, found, directory)

    root = cache.entry("kernel", f"{arch.name}-{found['release']}-{found['version']}", build)
    release = found["release"]
    return Kernel(series, release, next((root / "boot").glob("vmlinu[xz]-*")), root / "lib/modules" / release,
                  root / f"usr/src/linux-headers-{release}", found["version"])


def get(arch, series):
    if series in STOCK:
        return stock(arch, series)
    if series == "kunit":
        from . import debug_kernel
        return debug_kernel.get(arch)
    raise Error(f"unknown kernel {series}; there is {', '.join(STOCK)} and kunit")
