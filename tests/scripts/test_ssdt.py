# SPDX-License-Identifier: GPL-2.0-only
"""ACPI tables of the mesh networks, read by a parser that shares nothing with their writer."""
import struct
import unittest

from pmusuite import specs
from models.cmn import specs as specs_cmn


class Aml:
    """A reader of what a table of one device has: scope, device, names, resources."""

    def __init__(self, table):
        self.table = table
        self.signature, self.length, self.revision = struct.unpack("<4sIB", table[:9])
        kind, scope, rest = self.package(table[36:], 1)
        assert (kind, rest) == (b"\x10", b""), (kind, rest)
        assert scope[:5] == b"\\_SB_", scope
        kind, device, rest = self.package(scope[5:], 2)
        assert (kind, rest) == (b"\x5b\x82", b""), (kind, rest)
        self.device, self.names = device[:4], {}
        self.read_names(device[4:])

    @staticmethod
    def package(data, opcode):
        """(opcode, contents, what follows)"""
        lead = data[opcode]
        size = 1 + (lead >> 6)
        length = lead & 0x3f if size == 1 else lead & 0xf | data[opcode + 1] << 4
        return data[:opcode], data[opcode + size:opcode + length], data[opcode + length:]

    def read_names(self, data):
        while data:
            assert data[0] == 8, data
            name, kind, data = data[1:5], data[5], data[5:]
            if kind == 0x0d:
                self.names[name], data = data[1:].split(b"\0", 1)
            elif kind == 0x0a:
                self.names[name], data = data[1], data[2:]
            else:
                opcode, buffer, data = self.package(data, 1)
                assert opcode == b"\x11" and buffer[0] == 0x0b
                self.names[name] = buffer[3:]
                assert struct.unpack("<H", buffer[1:3])[0] == len(buffer) - 3

    def resources(self):
        """[("memory", start, size) or ("interrupt", number)]"""
        data, found = self.names[b"_CRS"], []
        while data[0] != 0x79:
            tag, length = struct.unpack("<BH", data[:3])
            body, data = data[3:3 + length], data[3 + length:]
            if tag == 0x8a:
                _, start, end, _, size = struct.unpack("<5Q", body[3:])
                assert end - start + 1 == size and body[0] == 0, body
                found.append(("memory", start, size))
            else:
                # level, active high, not shared; one
                assert (tag, body[:2]) == (0x89, b"\x01\x01"), body
                found.append(("interrupt", *struct.unpack("<I", body[2:])))
        assert len(data) == 2, data
        return found


class Tables(unittest.TestCase):
    def setUp(self):
        specs_cmn.FIRMWARE, self.firmware = "/dev/null", specs_cmn.FIRMWARE

    def tearDown(self):
        specs_cmn.FIRMWARE = self.firmware

    def table(self, spec, index=0):
        (path, table), = specs.guest_files(spec, index).items()
        self.assertEqual(path, f"/kernel/firmware/acpi/cmn{index}.aml")
        return table

    def test_the_header_is_a_table_s(self):
        table = self.table("cmn700,acpi=on")
        aml = Aml(table)
        self.assertEqual((aml.signature, aml.length, aml.revision), (b"SSDT", len(table), 2))
        self.assertEqual(sum(table) & 0xff, 0)

    def test_a_device_has_its_product_s_name(self):
        for product, hid in (("cmn600", b"ARMHC600"), ("cmn650", b"ARMHC650"), ("cmn700", b"ARMHC700"),
                             ("cmns3", b"ARMHC003")):
            self.assertEqual(Aml(self.table(f"{product},acpi=on")).names[b"_HID"], hid)

    def test_regions_and_an_interrupt_for_each_dtc(self):
        self.assertEqual(Aml(self.table("cmn700,acpi=on,mesh=4x4,dtc=3")).resources(),
                         [("memory", 1 << 32, 256 << 20), *(("interrupt", n) for n in (224, 225, 226))])
        self.assertEqual(Aml(self.table("cmn700,acpi=on,mesh=12x12")).resources()[0],
                         ("memory", 1 << 32, 1 << 30))

    def test_cmn600_says_where_its_root_is(self):
        self.assertEqual(Aml(self.table("cmn600,acpi=on")).resources()[:2],
                         [("memory", 1 << 32, 64 << 20), ("memory", (1 << 32) + 0x104000, 0x4000)])
        self.assertEqual(Aml(self.table("cmn600,acpi=on,mesh=4x2,hnd=3.1.0")).resources()[1],
                         ("memory", (1 << 32) + 0xd00000, 0x4000))

    def test_a_shared_interrupt_is_named_for_each(self):
        self.assertEqual(Aml(self.table("cmn650,acpi=on,shared-irq=on")).resources()[1:],
                         [("interrupt", 224)] * 2)

    def test_the_second_mesh_of_a_machine(self):
        aml = Aml(self.table("cmn650,acpi=on", 1))
        self.assertEqual((aml.device, aml.names[b"_UID"]), (b"CMN1", 1))
        self.assertEqual(aml.resources(), [("memory", 2 << 32, 256 << 20), ("interrupt", 228), ("interrupt", 229)])

    def test_no_table_unless_asked_for(self):
        self.assertEqual(specs.guest_files("cmn700", 0), {})
        self.assertNotIn("-bios", specs.qemu_args("cmn700"))
        self.assertIn("-bios", specs.qemu_args("cmn700,acpi=on"))

    def test_what_acpi_does_not_know(self):
        with self.assertRaisesRegex(ValueError, "not known to ACPI"):
            specs.qemu_args("ci700,acpi=on")
        with self.assertRaisesRegex(ValueError, "node is for the device tree"):
            specs.qemu_args("cmn700,acpi=on,node=1")
        with self.assertRaisesRegex(ValueError, "hnd=X.Y.PORT"):
            specs.guest_files("cmn600,acpi=on,mesh=4x2", 0)
        specs_cmn.FIRMWARE = "/nonexistent"
        with self.assertRaisesRegex(ValueError, "qemu-efi-aarch64"):
            specs.qemu_args("cmn700,acpi=on")


if __name__ == "__main__":
    unittest.main()
