# SPDX-License-Identifier: GPL-2.0-only
"""A PNOR, the flash of a POWER machine's firmware, that holds catalogs of IMC counters and nothing else.

The flash is an FFS: blocks, of which the first is a table of partitions. Firmware reads the
partition IMA_CATALOG, whose own table says where the catalog for a processor's PVR is: a device tree
blob, compressed with xz. All numbers are big-endian.
"""
import lzma
import struct
import subprocess
from functools import reduce
from operator import xor
from pathlib import Path

from pmusuite import cache
from pmusuite.cache import Error

BLOCK = 0x1000
LIMIT = 256 * 1024          # firmware's buffers, for what is packed and what is not
PARTITION = "IMA_CATALOG"

HEADER = struct.Struct(">4s6I16x")          # and the checksum
ENTRY = struct.Struct(">16s2I5I16x64x")     # likewise
CATALOG_HEADER = struct.Struct(">4sI")
CATALOG_ENTRY = struct.Struct(">3I")
FFS_VERSION = CATALOG_VERSION = 1
TYPE_DATA, TYPE_TABLE = 1, 3
TOP = 0xffffffff            # the parent of a partition that is in no other

DTB_MAGIC = b"\xd0\x0d\xfe\xed"

# PVR without what firmware ignores of it
SUB_IDS = {"p9": 0x4e0200, "p10": 0x800200}


def device_tree(path):
    """The blob of a catalog in source or binary form."""
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise Error(f"cannot read the catalog {path}: {error.strerror}") from error
    if data.startswith(DTB_MAGIC):
        return data
    try:
        done = subprocess.run(["dtc", "-q", "-I", "dts", "-O", "dtb", "-"], input=data, capture_output=True)
    except FileNotFoundError as error:
        raise Error("no dtc; scripts/setup demo installs it") from error
    if done.returncode:
        raise Error(f"{path} is not a device tree:\n{done.stderr.decode(errors='replace').strip()}")
    return done.stdout


def _padded(data, size=BLOCK):
    return data + b"\0" * (-len(data) % size)


def _checked(data):
    """@data and the XOR of its words."""
    return data + struct.pack(">I", reduce(xor, struct.unpack(f">{len(data) // 4}I", data)))


def _entry(number, name, start, content, kind):
    blocks = -(-len(content) // BLOCK)
    return _checked(ENTRY.pack(name.encode(), start, blocks, TOP, number, kind, 0, len(content)))


def partition(catalogs):
    """The content of IMA_CATALOG: catalogs is {sub-id: blob}."""
    entries, payload = b"", b""
    for sub_id, blob in catalogs.items():
        packed = lzma.compress(blob, check=lzma.CHECK_CRC32)
        if max(len(blob), len(packed)) > LIMIT:
            raise Error(f"the catalog for {sub_id:#x} has {len(blob)} bytes, {len(packed)} compressed; "
                        f"firmware has room for {LIMIT}")
        entries += CATALOG_ENTRY.pack(sub_id, BLOCK + len(payload), len(packed))
        payload += _padded(packed)
    return _padded(CATALOG_HEADER.pack(b"IMCC", CATALOG_VERSION) + entries) + payload


def image(catalogs):
    """A whole flash with the @catalogs, {sub-id: blob}."""
    content = _padded(partition(catalogs))
    table = (_entry(1, "part", 0, bytes(BLOCK), TYPE_TABLE), _entry(2, PARTITION, 1, content, TYPE_DATA))
    header = _checked(HEADER.pack(b"PART", FFS_VERSION, 1, len(table[0]), len(table), BLOCK,
                                  1 + len(content) // BLOCK))
    return _padded(header + b"".join(table)) + content


def read(paths):
    """{sub-id: blob} of {sub-id: path of a .dts or .dtb}"""
    return {sub_id: device_tree(path) for sub_id, path in paths.items()}


def get(paths):
    """The file of a flash with the catalogs at @paths, as in read(), from the cache."""
    data = image(read(paths))
    return cache.entry("pnor", cache.key_of(data), lambda directory: (directory / "pnor").write_bytes(data)) / "pnor"
