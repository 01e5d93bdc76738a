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
    machine: tuple          # QEMU's arguments for what is the same in all models
    serial_bus: str         # of virtio-serial; the models' control device is on pcie.0
    threads: int            # of a core, if the number of CPUs allows
    memory: str
    image: str              # kernel image of a kernel built by us, below its build directory
    console: str
    default_model: str
    pmu: str                # of ours that it has: the name of its folders, and of its driver before _pmu
    twins: tuple            # the in-tree drivers that are modules
    secure_boot: tuple = () # packages of firmware, shim and GRUB
    twin_initcall: str = "" # of an in-tree driver that is built in
    emulated: str = ""      # kernel parameters for a guest whose clock runs with that of a busy host
    tsc: bool = False       # does it count time by the host's time stamp counter?
    quick: str = ""         # kernel parameters in addition to guest.QUICK

    @property
    def driver(self):
        """Our driver's module."""
        return f"{self.pmu}_pmu"


ARCHES = {a.name: a for a in (
    Arch(name="x86_64", debian="amd64", kernel="x86", flavour="amd64", cross="x86_64-linux-gnu-",
         qemu="x86_64", qemu_package="qemu-system-x86", machine=("-nodefaults",), serial_bus="pcie.0", threads=1,
         memory="1G", image="arch/x86/boot/bzImage", console="ttyS0",
         default_model="snbep", pmu="intel_imc", twins=("intel-uncore",),
         # Without this, it panics if ten ticks do not come in time. Under KVM it skips that check on its own.
         emulated="no_timer_check", tsc=True,
         secure_boot=("ovmf", "shim-signed", "grub-efi-amd64-signed")),
    Arch(name="arm64", debian="arm64", kernel="arm64", flavour="arm64", cross="aarch64-linux-gnu-",
         qemu="aarch64", qemu_package="qemu-system-arm", machine=("-nodefaults",), serial_bus="pcie.0", threads=1,
         memory="1G", image="arch/arm64/boot/Image", console="ttyAMA0",
         default_model="cmn600", pmu="cmn", twins=("arm-cmn",),
         # With KASLR, mitigations=off does not turn off KPTI.
         quick="kpti=off"),
    # With -nodefaults there would be no root ports, and nothing that powers the machine off. A
    # port has one slot: pcie.0 is the first one's.
    Arch(name="ppc64le", debian="ppc64el", kernel="powerpc", flavour="powerpc64le", cross="powerpc64le-linux-gnu-",
         qemu="ppc64", qemu_package="qemu-system-ppc", machine=("-vga", "none", "-net", "none", "-monitor", "none"),
         serial_bus="pcie.1", threads=2, memory="2G", image="vmlinux", console="hvc0",
         default_model="power9", pmu="power_imc", twins=(), twin_initcall="opal_imc_driver_init"),
)}


def get(name):
    if name not in ARCHES:
        raise Error(f"unknown architecture {name}; there is {', '.join(ARCHES)}")
    return ARCHES[name]
