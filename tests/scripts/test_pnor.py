# SPDX-License-Identifier: GPL-2.0-only
"""What the PNOR builder writes, read back by a reader that shares nothing with it, and the catalogs themselves."""
import lzma
import subprocess
import tempfile
import unittest
from pathlib import Path

from pmusuite import cache, data
from models.power_imc import pnor

SMALL = {"p9": cache.TREE / "tests/models/power_imc/catalogs/p9.dts", "p10": cache.TREE / "tests/models/power_imc/catalogs/p10.dts"}
REAL = {"p9": data.P9_CATALOG, "p10": data.P10_CATALOG}
SUB_ID = {"p9": 0x4e0200, "p10": 0x800200}
BLOCK = 4096
KINDS = {0x10: "nest", 0x4: "core", 0x1: "thread", 0x2: "trace"}
XZ_CRC32 = b"\xfd7zXZ\0\0\x01"


def number(data, offset):
    return int.from_bytes(data[offset:offset + 4], "big")


def checksum(data):
    """The XOR of all words, of which the last makes it 0."""
    result = 0
    for offset in range(0, len(data), 4):
        result ^= number(data, offset)
    return result


def partitions(flash):
    """{name: (entry, content)} of an FFS."""
    found = {}
    for index in range(number(flash, 16)):
        entry = flash[48 + 128 * index:][:128]
        start, blocks, size = number(entry, 16), number(entry, 20), number(entry, 40)
        found[entry[:16].rstrip(b"\0").decode()] = entry, flash[start * BLOCK:(start + blocks) * BLOCK][:size]
    return found


def triples(partition):
    """[(sub-id, offset, size)] of IMA_CATALOG."""
    found, offset = [], 8
    while number(partition, offset):
        found.append(tuple(number(partition, offset + 4 * word) for word in range(3)))
        offset += 12
    return found


class Tree:
    """A node of a flattened device tree: its properties and children, by name."""

    def __init__(self):
        self.properties, self.children = {}, {}

    def number(self, name, cell=0):
        return number(self.properties[name], 4 * cell)

    def text(self, name):
        return self.properties[name].rstrip(b"\0").decode() if name in self.properties else None


def flattened(blob):
    """The root of a device tree blob."""
    position, strings = number(blob, 8), number(blob, 12)
    top = Tree()
    path = [top]
    while (token := number(blob, position)) != 9:       # the end
        position += 4
        if token == 1:                                  # a node begins
            end = blob.index(b"\0", position)
            path.append(path[-1].children.setdefault(blob[position:end].decode(), Tree()))
            position = end + 4 - end % 4
        elif token == 2:                                # and ends
            path.pop()
        elif token == 3:                                # a property
            size, name = number(blob, position), strings + number(blob, position + 4)
            name = blob[name:blob.index(b"\0", name)].decode()
            path[-1].properties[name] = blob[position + 8:position + 8 + size]
            position += 8 + size + -size % 4
    return top.children[""]


class Image(unittest.TestCase):
    def setUp(self):
        self.blobs = {0x4e0200: pnor.device_tree(SMALL["p9"]), 0x800200: pnor.device_tree(SMALL["p10"])}
        self.flash = pnor.image(self.blobs)

    def test_header(self):
        self.assertEqual(self.flash[:4], b"PART")
        version, table, entry, count, block, blocks = (number(self.flash, 4 + 4 * word) for word in range(6))
        self.assertEqual((version, table, entry, count, block), (1, 1, 128, 2, BLOCK))
        self.assertEqual(blocks * block, len(self.flash))
        self.assertEqual(checksum(self.flash[:48]), 0)

    def test_table(self):
        found = partitions(self.flash)
        self.assertEqual(list(found), ["part", "IMA_CATALOG"])
        for index, (name, start, kind) in enumerate((("part", 0, 3), ("IMA_CATALOG", 1, 1)), 1):
            entry, content = found[name]
            self.assertEqual(checksum(entry), 0)
            self.assertEqual([number(entry, offset) for offset in (16, 24, 28, 32, 36)],
                             [start, 0xffffffff, index, kind, 0])
            self.assertEqual(len(content), number(entry, 40))

    def test_partition_fills_the_flash(self):
        entry, content = partitions(self.flash)["IMA_CATALOG"]
        self.assertEqual((number(entry, 16) + number(entry, 20)) * BLOCK, len(self.flash))
        self.assertEqual(content, self.flash[BLOCK:])

    def test_catalogs_come_back(self):
        content = partitions(self.flash)["IMA_CATALOG"][1]
        self.assertEqual((content[:4], number(content, 4)), (b"IMCC", 1))
        self.assertEqual({sub_id: lzma.decompress(content[offset:offset + size])
                          for sub_id, offset, size in triples(content)}, self.blobs)

    def test_catalogs_lie_apart_in_blocks(self):
        content = partitions(self.flash)["IMA_CATALOG"][1]
        end = BLOCK
        for _, offset, size in triples(content):
            self.assertEqual(offset % BLOCK, 0)
            self.assertGreaterEqual(offset, end)
            end = offset + size
            self.assertFalse(any(content[end:end + -end % BLOCK]))
        self.assertLessEqual(end, len(content))

    def test_firmware_knows_the_check_of_xz(self):
        content = partitions(self.flash)["IMA_CATALOG"][1]
        for _, offset, _ in triples(content):
            self.assertEqual(content[offset:offset + 8], XZ_CRC32)

    def test_one_catalog_alone(self):
        content = partitions(pnor.image({0x4e0100: b"\xd0\x0d\xfe\xed"}))["IMA_CATALOG"][1]
        (sub_id, offset, size), = triples(content)
        self.assertEqual((sub_id, offset), (0x4e0100, BLOCK))
        self.assertEqual(lzma.decompress(content[offset:offset + size]), b"\xd0\x0d\xfe\xed")

    def test_too_large_for_firmware(self):
        pnor.image({1: bytes(256 * 1024)})
        with self.assertRaisesRegex(cache.Error, "0x1 has 262145 bytes, .* room for 262144"):
            pnor.image({1: bytes(256 * 1024 + 1)})


class Command(unittest.TestCase):
    """scripts/pnor"""

    def run_it(self, *catalogs):
        with tempfile.TemporaryDirectory() as directory:
            image = Path(directory, "image")
            done = subprocess.run([cache.TREE / "scripts/pnor", image, *catalogs], capture_output=True, text=True)
            return done, image.read_bytes() if image.exists() else None

    def test_source_and_blob_and_any_processor(self):
        with tempfile.NamedTemporaryFile(suffix=".dtb") as blob:
            blob.write(pnor.device_tree(SMALL["p10"]))
            blob.flush()
            done, flash = self.run_it(f"p9={SMALL['p9']}", f"0x801234={blob.name}")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual([sub_id for sub_id, _, _ in triples(partitions(flash)["IMA_CATALOG"][1])],
                         [0x4e0200, 0x801234])

    def test_mistakes(self):
        for catalog, message in (("p9=/nowhere.dts", "cannot read the catalog /nowhere.dts"),
                                 (f"p9={__file__}", "is not a device tree"),
                                 (f"p7={SMALL['p9']}", "'p7' is neither p9 nor p10 nor a number"),
                                 (str(SMALL["p9"]), "is not PROCESSOR=CATALOG")):
            with self.subTest(catalog):
                done, flash = self.run_it(catalog)
                self.assertEqual(done.returncode, 125)
                self.assertIn(message, done.stderr)
                self.assertIsNone(flash)


class Catalogs(unittest.TestCase):
    """Ours have what firmware and drivers ask for, and say what the real ones say."""

    def units(self, path):
        """{name: (node, prefix, {event name: event})}"""
        root = flattened(pnor.device_tree(path))
        lists = {node.number("phandle"): node for node in root.children.values() if "phandle" in node.properties}
        units = {}
        for name, node in root.children.items():
            if node.text("compatible") == "ibm,imc-counters":
                events = lists[node.number("events")].children.values()
                units[name] = node, node.text("events-prefix"), {event.text("event-name"): event for event in events}
        return root, units

    def test_complete(self):
        for generation, path in SMALL.items():
            with self.subTest(generation):
                root, units = self.units(path)
                self.assertEqual(root.text("compatible"), "ibm,opal-in-memory-counters")
                kinds = [KINDS[node.number("type")] for node, _, _ in units.values()]
                self.assertEqual({kind: kinds.count(kind) for kind in ("core", "thread", "trace")},
                                 {"core": 1, "thread": 1, "trace": 1})
                self.assertGreater(kinds.count("nest"), 5)
                for name, (node, prefix, events) in units.items():
                    self.assertTrue(prefix and events, name)
                    self.assertEqual("offset" in node.properties, node.number("type") == 0x10)

    def test_events_are_within_the_memory(self):
        for generation, path in SMALL.items():
            for name, (node, _, events) in self.units(path)[1].items():
                if node.number("type") != 0x2:
                    self.assertEqual(name.split("@")[1], f"{node.number('reg'):x}")
                    for event in events.values():
                        end = node.number("reg") + event.number("reg") + 8
                        self.assertLessEqual(end, node.number("size"), (generation, name))

    def test_units_and_scales_of_events(self):
        """Each way to write them is somewhere: of all, of one, both, neither."""
        node, _, events = self.units(SMALL["p9"])[1]["xlink0@118"]
        self.assertEqual((node.text("scale"), node.text("unit")), ("4096", "cycles"))
        self.assertEqual({(event.text("scale"), event.text("unit")) for event in events.values()},
                         {(None, None), (None, "commands"), (None, "flits"), ("4.096e3", "flits"), ("4096.0", None)})

    def real(self):
        """{generation: path}"""
        return {name: data.path(file) or self.skipTest(data.missing(file)) for name, file in REAL.items()}

    def test_like_the_real_ones(self):
        paths = self.real()
        for generation, path in SMALL.items():
            real = self.units(paths[generation])[1]
            for name, (node, prefix, events) in self.units(path)[1].items():
                self.assertIn(name, real)
                theirs, real_prefix, real_events = real[name]
                self.assertEqual(prefix, real_prefix)
                for what in ("type", "reg", "size", "offset", "cb_offset", "scale"):
                    self.assertEqual(node.properties.get(what), theirs.properties.get(what), (name, what))
                for event_name, event in events.items():
                    self.assertEqual(event.number("reg"), real_events[event_name].number("reg"), (name, event_name))

    def test_the_real_ones_fit(self):
        content = partitions(pnor.image(pnor.read({SUB_ID[name]: path for name, path in self.real().items()})))
        self.assertEqual([sub_id for sub_id, _, _ in triples(content["IMA_CATALOG"][1])], list(SUB_ID.values()))
