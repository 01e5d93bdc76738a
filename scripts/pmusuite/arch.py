# SPDX-License-Identifier: GPL-2.0-only
"""What differs between the guests' architectures: one row each.

A new architecture is a new row; nothing else in scripts/ names one.
"""
from dataclasses import dataclass

from .cache import Error


@dataclass(frozen=True)
class Arch:
    name: str               # as uname -m and scripts/vm say it
    debian: str             # Debian's name
    kernel: str             # ARCH= of kbuild
    flavour: str            # linux-image-FLAVOUR
    cross: str              # CROSS_COMPILE= where the host is another architecture
    qemu: str               # qemu-system-QEMU
    qemu_package: str       # of which package
    memory: str
    image: str              # kernel image of a kernel built by us, below its build directory
    console: str
    default_model: str
    modules: tuple          # our modules, in the order to load them
    twins: tuple            # the in-tree drivers, likewise


ARCHES = {a.name: a for a in (
    Arch(name="x86_64", debian="amd64", kernel="x86", flavour="amd64", cross="x86_64-linux-gnu-",
         qemu="x86_64", qemu_package="qemu-system-x86", memory="1G", image="arch/x86/boot/bzImage", console="ttyS0",
         default_model="snbep", modules=("pmu_core", "intel_imc_pmu"), twins=("intel-uncore",)),
)}


def get(name):
    if name not in ARCHES:
        raise Error(f"unknown architecture {name}; there is {', '.join(ARCHES)}")
    return ARCHES[name]
