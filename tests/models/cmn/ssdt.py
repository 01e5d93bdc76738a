# SPDX-License-Identifier: GPL-2.0-or-later
"""An ACPI table for devices that QEMU's board does not describe.

A kernel takes it from its initramfs (PATH), as a Secondary System Description
Table; the bytes are those of the ACPI specification's chapters 5, 6 and 20.
"""
import struct

PATH = "/kernel/firmware/acpi/{}.aml"

_SCOPE, _NAME, _BUFFER = b"\x10", b"\x08", b"\x11"
_DEVICE = b"\x5b\x82"
_BYTE, _WORD, _STRING = b"\x0a", b"\x0b", b"\x0d"
_END_TAG = b"\x79\x00"


def _package(data):
    """Length and data; the length counts itself, in one byte or two."""
    if len(data) + 1 < 1 << 6:
        return bytes([len(data) + 1]) + data
    length = len(data) + 2
    if length >= 1 << 12:
        raise ValueError("the table is too large")
    return bytes([1 << 6 | length & 0xf, length >> 4]) + data


def _name(segment, data):
    return _NAME + segment + data


def memory(start, size):
    """A resource: a fixed range of memory that the device consumes."""
    fixed_consumer, read_write = 0x0d, 0x01
    return struct.pack("<BHBBBQQQQQ", 0x8a, 0x2b, 0, fixed_consumer,
                       read_write, 0, start, start + size - 1, 0, size)


def interrupt(gsiv):
    """A resource: an interrupt of its own, level, active high."""
    consumer = 0x01
    return struct.pack("<BHBBI", 0x89, 6, consumer, 1, gsiv)


def device(name, hid, uid, resources):
    """A device of four letters below \\_SB."""
    data = b"".join(resources) + _END_TAG
    buffer = _BUFFER + _package(_WORD + struct.pack("<H", len(data)) + data)
    content = (name.encode() + _name(b"_HID", _STRING + hid.encode() + b"\0")
               + _name(b"_UID", _BYTE + bytes([uid])) + _name(b"_CRS", buffer))
    return _SCOPE + _package(b"\\_SB_" + _DEVICE + _package(content))


def table(name, aml):
    """The table whose OEM table id is name; its bytes sum to 0."""
    header = struct.pack("<4sIBB6s8sI4sI", b"SSDT", 36 + len(aml), 2, 0,
                         b"PMUSUI", name.encode(), 1, b"PMUS", 1)
    content = bytearray(header + aml)
    content[9] = -sum(content) & 0xff
    return bytes(content)
