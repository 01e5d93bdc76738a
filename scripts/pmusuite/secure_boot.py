# SPDX-License-Identifier: GPL-2.0-only
"""A guest that boots as a machine with Secure Boot does: firmware that starts Debian's shim, GRUB and kernel by signature.

Firmware has Microsoft's keys, as Debian enrolled them. What a machine's owner has enrolled is in the variable MokList,
where shim's MokManager puts it.
"""
import shutil
import struct
import uuid

from . import cache, debian
from .choice import Choice
from .cache import Error

CODE = "usr/share/OVMF/OVMF_CODE_4M.secboot.fd"
VARIABLES = "usr/share/OVMF/OVMF_VARS_4M.ms.fd"
# On the disk: what firmware looks for where it has no boot entry, and what shim starts.
LOADERS = {"EFI/BOOT/BOOTX64.EFI": "usr/lib/shim/shimx64.efi.signed",
           "EFI/BOOT/grubx64.efi": "usr/lib/grub/x86_64-efi-signed/grubx64.efi.signed"}
GRUB_CFG = "EFI/debian/grub.cfg"

# The store in the flash: EDK II, MdeModulePkg/Include/Guid/VariableFormat.h.
VOLUME_HEADER_LENGTH = struct.Struct("<48xH")
STORE_HEADER_SIZE = 28
VARIABLE = struct.Struct("<HBxIQ16xIII16s")     # start, state, attributes, count, time, key, sizes of name and data, vendor
START, ADDED = 0x55aa, 0x3f
BOOT_SERVICES_ONLY = 3                          # and not volatile
# UEFI, "Signature Database": a list of one certificate.
X509 = uuid.UUID("a5c059a1-94e4-4aa7-87b5-ab155c2bf072")
LIST = struct.Struct("<16sIII16s")              # type, size of the list, of its header, of a signature; its owner
SHIM = uuid.UUID("605dab50-e046-4300-abb6-3dd810dd8b23")


def _signature_list(certificate):
    size = len(uuid.UUID(int=0).bytes) + len(certificate)
    return LIST.pack(X509.bytes_le, LIST.size - 16 + size, 0, size, SHIM.bytes_le) + certificate


def enrol(store, certificates):
    """The variable @store with a MokList of @certificates, in DER."""
    if not certificates:
        return store
    name, data = "MokList\0".encode("utf-16-le"), b"".join(map(_signature_list, certificates))
    added = VARIABLE.pack(START, ADDED, BOOT_SERVICES_ONLY, 0, 0, len(name), len(data), SHIM.bytes_le) + name + data
    place = VOLUME_HEADER_LENGTH.unpack_from(store)[0] + STORE_HEADER_SIZE
    while (there := VARIABLE.unpack_from(store, place))[0] == START:
        place += -(-(VARIABLE.size + there[5] + there[6]) // 4) * 4
    end = place + len(added)
    if end > len(store) or store[place:end].strip(b"\xff"):
        raise Error("there is no room for the certificates in the firmware's variables")
    return store[:place] + added + store[end:]


def _packages(arch):
    def of_these(_, lost):
        return {"firmware": [arch.debian, [package for package in debian.closure(arch.debian, arch.secure_boot, lost)
                                           if package.split("=")[0] in arch.secure_boot]]}

    chosen = Choice(f"secure-boot-{arch.name}", lambda: [arch.secure_boot], of_these, arch.secure_boot)
    _, packages = chosen.get()[1]["firmware"]

    def build(directory):
        debian.unpack(debian.download(arch.debian, packages), directory)

    return cache.entry("secure-boot", f"{arch.name}-{cache.key_of(*packages)}", build)


def qemu_args(guest, kernel, initramfs, arguments):
    """Instead of QEMU's -kernel: flash and a disk, which are made beside @initramfs."""
    if not guest.arch.secure_boot:
        raise Error(f"there is no Secure Boot in guests of {guest.arch.name}")
    if not kernel.modules:
        raise Error("the debug kernel is not signed, so it does not start with Secure Boot")
    packages, scratch = _packages(guest.arch), initramfs.parent
    variables, disk = scratch / "variables.fd", scratch / "disk"
    variables.write_bytes(enrol((packages / VARIABLES).read_bytes(), [path.read_bytes() for path in guest.enrolled]))
    shutil.rmtree(disk, ignore_errors=True)
    for name, source in {"vmlinuz": kernel.image, "initrd": initramfs,
                         **{name: packages / source for name, source in LOADERS.items()}}.items():
        (disk / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, disk / name)
    (disk / GRUB_CFG).parent.mkdir()
    (disk / GRUB_CFG).write_text(f"linux /vmlinuz {arguments}\ninitrd /initrd\nboot\n")
    return ["-machine", "smm=on", "-global", "driver=cfi.pflash01,property=secure,value=on",
            "-drive", f"if=pflash,unit=0,format=raw,readonly=on,file={packages / CODE}",
            "-drive", f"if=pflash,unit=1,format=raw,file={variables}",
            "-drive", f"if=none,id=disk,format=raw,readonly=on,file=fat:{disk}",
            "-device", f"virtio-blk-pci,bus={guest.arch.serial_bus},drive=disk,bootindex=0"]
