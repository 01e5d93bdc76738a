# SPDX-License-Identifier: GPL-2.0-or-later
"""Conformance of Sapphire, Emerald and Granite Rapids with
Documentation/hardware/intel_imc.md, 15.

No guest is needed. Numbers are that page's, or computed from it.
"""

import unittest

from models.common.qtest import CommandError
from models.intel_imc.block import (
    BOX_CTL, BlockTest, CTL, CTR, FIXED_CTL, FIXED_CTR)

EDGE, INV, FIXED_EN = 1 << 18, 1 << 23, 1 << 22
FRZ, RST_CTRL, RST_CTRS = 1 << 0, 1 << 8, 1 << 9
MS = 1000000
ALL_ONES = (1 << 64) - 1

HCLK, DCLK = 0x0001, 0x0101
CAS_RD, CAS_WR = 0xcf05, 0xf005
CAS_RD_SCH1 = 0xcf06

UBOXES, TABLES = (0x7e, 0xfe), (0x6a, 0xea)
ECAM = 0xb0000000
BAR = 0xe2000000


class DiscoveryTest(BlockTest):
    spec = "spr"
    channels = 8

    def setUp(self):
        super().setUp()
        self.machine.config_write((0, 0, 0), 0x60, ECAM | 1)
        self.place_table()
        self.block = self.blocks()[0]

    # What firmware does

    def place_table(self, socket=0):
        port, table = (TABLES[socket] - 1, 0, 0), (TABLES[socket], 0, 1)
        self.bar = BAR + 0x200000 * socket
        self.machine.config_write(
            port, 0x20, (self.bar >> 16) * 0x10001)     # memory base and limit
        self.machine.config_write(port, 4, 6)
        self.machine.config_write(table, 0x10, self.bar)
        self.machine.config_write(table, 0x14, 0)
        self.machine.config_write(table, 4, 2)

    # 15.2: the capabilities, and the table that the second leads to

    def config(self, register, socket=0):
        return self.read(ECAM + (TABLES[socket] << 20) + (1 << 12) + register,
                         4)

    def capabilities(self):
        """[(entry, base address register)]"""
        found, at = [], 0x100
        while at:
            header = self.config(at)
            self.assertEqual(header & 0xffff, 0x23)
            found.append((self.config(at + 8) & 0xffff, self.config(at + 12)))
            at = header >> 20
        return found

    def word(self, offset):
        return self.read(self.bar + offset, 8)

    def records(self):
        """[(three words)] without those that are none."""
        first = self.word(0)
        stride, units = first >> 8 & 0xff, first >> 16 & 0x3ff
        found = [tuple(self.word(8 * (n * stride + i)) for i in range(3))
                 for n in range(1, units + 1)]
        return [record for record in found if record[0]]

    def blocks(self):
        """Addresses of the channels, by number."""
        found = {record[2] >> 16 & 0xffff: record[1]
                 for record in self.records() if record[2] & 0xffff == 6}
        return [found[i] for i in sorted(found)]


class Functions(DiscoveryTest):
    spec = "spr,sockets=2"

    def test_ids_and_node_ids(self):
        for socket, (ubox, table) in enumerate(zip(UBOXES, TABLES)):
            for address, device in (((ubox, 0, 0), 0x3250),
                                    ((ubox, 0, 1), 0x3251),
                                    ((table, 0, 1), 0x09a7)):
                self.assertEqual(self.machine.config_read(address, 0),
                                 device << 16 | 0x8086)
            self.assertEqual(
                self.machine.config_read((ubox, 0, 0), 0xc0), socket)
            self.assertEqual(
                self.machine.config_read((ubox, 0, 0), 0xd4), 0x00fac688)

    def test_each_socket_has_its_table(self):
        first = self.blocks()
        self.place_table(1)
        second = self.blocks()
        self.assertEqual(len(set(first + second)), 16)
        self.writel(CTL[0], CAS_RD, second[3])
        self.add("imc3@1", "cas_rd", 7)
        self.assertEqual(self.readq(CTR[0], second[3]), 7)
        self.assertEqual(self.readq(CTR[0], first[3]), 0)


class Table(DiscoveryTest):
    def test_capabilities(self):
        self.assertEqual(self.capabilities(), [(2, 0), (2, 0), (1, 0)])

    def test_record_of_the_socket(self):
        first = self.word(0)
        self.assertEqual(first & 0xff, 0)
        self.assertGreaterEqual(first >> 8 & 0xff, 3)

    def test_channels(self):
        channels = [record for record in self.records()
                    if record[2] & 0xffff == 6]
        self.assertEqual([record[2] >> 16 for record in channels],
                         list(range(self.channels)))
        for registers, _, _ in channels:
            self.assertEqual(registers >> 62, 1)            # in memory
            self.assertEqual(registers & 0xff, 4)
            self.assertEqual(registers >> 8 & 0xff, CTL[0])
            self.assertEqual(registers >> 16 & 0xff, 48)
            self.assertEqual(registers >> 24 & 0xff, CTR[0])

    def test_other_units_beside_and_between(self):
        kinds = [record[2] & 0xffff for record in self.records()]
        self.assertGreater(len(set(kinds)), 3)
        first, last = kinds.index(6), len(kinds) - kinds[::-1].index(6)
        self.assertNotEqual(set(kinds[first:last]), {6})

    def test_room_for_more(self):
        units = self.word(0) >> 16 & 0x3ff
        self.assertGreater(units, len(self.records()))

    def test_can_lie(self):
        self.set("discovery@0", "at", 8)
        before = self.word(8)
        self.set("discovery@0", "word", ALL_ONES)
        self.assertEqual(self.word(8), ALL_ONES)
        self.set("discovery@0", "whole", 1)
        self.assertEqual(self.word(8), before)
        self.set("discovery@0", "bir", 0x13)
        self.assertEqual(self.capabilities()[2], (1, 0x13))
        with self.assertRaises(CommandError):
            self.set("discovery@0", "at", 4)

    def test_gone(self):
        self.set("discovery@0", "gone", 1)
        self.assertEqual(self.word(0), ALL_ONES)
        self.assertEqual(self.config(0x100), 0xffffffff)

    def test_nothing_is_written(self):
        before = self.word(0)
        self.machine.qtest(f"writeq {self.bar:#x} 0")
        self.assertEqual(self.word(0), before)


class GraniteTable(Table):
    spec = "gnr"
    channels = 12


class Block(DiscoveryTest):
    def test_every_channel_has_its_block(self):
        for n, block in enumerate(self.blocks()):
            self.writel(CTL[0], CAS_RD, block)
            self.add(f"imc{n}", "cas_rd", n + 1)
            self.assertEqual(self.ctrs(block), [n + 1, 0, 0, 0])

    def test_no_enable_is_needed_nor_allowed(self):
        self.writel(CTL[0], CAS_RD)
        self.add("imc0", "cas_rd", 7)
        self.assertEqual(self.readq(CTR[0]), 7)
        self.assertEqual(self.get("imc0", "reserved"), 0)
        self.writel(CTL[0], FIXED_EN | CAS_RD)
        self.assertEqual(self.readl(CTL[0]), CAS_RD)
        self.assertEqual(self.get("imc0", "reserved"), CTL[0] << 32 | FIXED_EN)

    def test_freeze(self):
        self.writel(CTL[0], CAS_RD)
        self.writel(FIXED_CTL, FIXED_EN)
        self.writel(BOX_CTL, FRZ)
        self.assertEqual(self.readl(BOX_CTL), FRZ)
        before = self.readq(FIXED_CTR)
        self.add("imc0", "cas_rd", 7)
        self.machine.step(MS)
        self.assertEqual((self.readq(CTR[0]), self.readq(FIXED_CTR)),
                         (0, before))
        self.writel(BOX_CTL, 0)
        self.add("imc0", "cas_rd", 5)
        self.assertEqual(self.readq(CTR[0]), 5)

    def test_resets(self):
        self.writel(CTL[0], CAS_RD)
        self.add("imc0", "cas_rd", 7)
        self.writel(BOX_CTL, RST_CTRS | FRZ)
        self.assertEqual((self.readq(CTR[0]), self.readl(CTL[0])), (0, CAS_RD))
        self.writel(BOX_CTL, RST_CTRL | FRZ)
        self.assertEqual((self.readl(CTL[0]), self.readl(BOX_CTL)), (0, FRZ))
        self.assertEqual(self.get("imc0", "reserved"), 0)
        self.writel(BOX_CTL, 1 << 16)
        self.assertEqual(self.get("imc0", "reserved"), 1 << 16)

    def test_clock_and_half_clock(self):
        self.writel(BOX_CTL, FRZ)
        for index, ctl in enumerate((DCLK, HCLK, 1 << 24 | HCLK,
                                     INV | 2 << 24 | DCLK)):
            self.writel(CTL[index], ctl)
        self.writel(FIXED_CTL, FIXED_EN)
        self.writel(BOX_CTL, 0)
        self.machine.step(MS)
        self.writel(BOX_CTL, FRZ)
        dclk = self.readq(CTR[0])
        self.assertEqual(dclk, 1600000)
        self.assertEqual(self.ctrs(), [dclk, dclk // 2, dclk // 2, dclk])
        self.assertEqual(self.readq(FIXED_CTR), dclk // 2)

    def test_an_event_of_a_half(self):
        for index, umask in enumerate((0x41, 0x81, 0xcf, 0x40)):
            self.writel(CTL[index], umask << 8 | 0x05)
        self.add("imc0", "cas_rd", 1)
        self.add("imc0", "cas_count.rd_reg_pch1", 10)
        self.add("imc0", "cas_wr", 100)
        self.assertEqual(self.ctrs(), [1, 10, 11, 101])

    def test_threshold_and_edge(self):
        for index, ctl in enumerate((0x80, 4 << 24 | 0x80,
                                     4 << 24 | EDGE | 0x80)):
            self.writel(CTL[index], ctl)
        self.add("imc0", "rpq_occ", 100, 4)
        self.add("imc0", "rpq_occ", 10, 3)
        self.assertEqual(self.ctrs(), [430, 100, 100, 0])

    def test_reset_of_the_machine(self):
        self.writel(CTL[0], CAS_RD)
        self.add("imc0", "cas_rd", 7)
        self.machine.reset()
        self.assertEqual((self.readl(CTL[0]), self.readq(CTR[0])), (0, 0))


class Granite(DiscoveryTest):
    spec = "gnr"

    def test_two_sub_channels(self):
        self.writel(CTL[0], CAS_RD)
        self.writel(CTL[1], CAS_RD_SCH1)
        self.writel(CTL[2], CAS_WR)
        self.add("imc0", "cas_rd", 7)
        self.add("imc0", "cas_rd_sch1", 80)
        self.add("imc0", "cas_wr", 900)
        self.assertEqual(self.ctrs(), [7, 80, 900, 0])

    def test_blocks_and_their_base(self):
        """15.1: the other way to the same addresses."""
        base = self.machine.config_read((UBOXES[0], 0, 1), 0xd4) & 0x1fffffff
        self.assertEqual(self.blocks(), [(base << 23) + 0x24e800 + 0x4000 * n
                                         for n in range(12)])

    def test_no_free_running_counters(self):
        self.assertNotIn("free0", self.machine.control("list"))


class Free(DiscoveryTest):
    def test_addresses(self):
        """15.1: base and offsets as on Ice Lake lead to the same blocks."""
        def config(register):
            return self.machine.config_read((UBOXES[0], 0, 1), register)
        base = (config(0xd0) & 0x1fffffff) << 23
        for i in range(4):
            mem = base | (config(0xd8 + 4 * i) & 0x7ff) << 12
            self.assertEqual(self.blocks()[2 * i], mem + 0x22800)
            self.set(f"free{i}", "dclk", 1000 + i)
            self.assertEqual(self.read(mem + 0x22b0, 8), 1000 + i)
            for key, register in ("rpq_cycles", 0x2318), ("wpq_cycles", 0x2320):
                self.set(f"free{i}", key, register)
                self.assertEqual(self.read(mem + register, 8), register)
            self.assertEqual(self.read(mem + 0x2290, 8), ALL_ONES)

    def test_clock_never_stops(self):
        self.writel(BOX_CTL, FRZ)
        before = self.get("free0", "dclk")
        self.machine.step(MS)
        self.assertEqual(self.get("free0", "dclk") - before, 1600000)


# Intel's list, SPR V1.39 and GNR V1.20: {code: all umask bits, 0: none}
SPR = {
    0x02: 0xff, 0x03: 0xff, 0x05: 0xff, 0x06: 0xff, 0x09: 0, 0x10: 0x03,
    0x17: 0x03, 0x18: 0x03, 0x19: 0, 0x1a: 0, 0x20: 0x03, 0x23: 0, 0x24: 0,
    0x43: 0, 0x44: 0x03, 0x45: 0x36, 0x46: 0x03, 0x47: 0x0f, 0x80: 0, 0x81: 0,
    0x82: 0, 0x83: 0, 0x85: 0, 0x86: 0x03, 0xa0: 0x0f, 0xd0: 0, 0xd1: 0,
    0xd2: 0xff, 0xd3: 0x1f, 0xd4: 0x2f, 0xd5: 0x6d, 0xd6: 0x3f, 0xd7: 0x1f,
    0xd8: 0x1f, 0xd9: 0xff, 0xda: 0x07, 0xdb: 0x07, 0xdd: 0xff, 0xde: 0x1f,
    0xe0: 0x3f, 0xe3: 0, 0xe4: 0x3f, 0xe5: 0, 0xe7: 0}
GNR = {
    0x02: 0xf7, 0x03: 0xff, 0x05: 0xff, 0x06: 0xff, 0x10: 0xf0, 0x17: 0xc0,
    0x1a: 0, 0x1b: 0, 0x22: 0xf0, 0x43: 0x03, 0x46: 0x0f, 0x47: 0xff,
    0x72: 0x0f, 0x80: 0, 0x81: 0, 0x82: 0, 0x83: 0, 0x84: 0, 0x85: 0, 0x86: 0,
    0x87: 0, 0x88: 0, 0x89: 0x03, 0x8b: 0x03, 0x8c: 0x03, 0x8d: 0x03,
    0x8e: 0x03, 0xa6: 0x0f, 0xa7: 0x0f}


class Events(DiscoveryTest):
    wanted = SPR

    def test_exactly_those_of_the_list(self):
        found = {}
        for code, umask, *_ in self.machine.events("imc0").values():
            found[code] = found.get(code, 0) | umask
        self.assertEqual(found, self.wanted)

    def test_each_counts_its_own(self):
        listed = self.machine.events("imc0")
        self.assertEqual(len({event[:2] for event in listed.values()}), len(listed))
        for name, (code, umask, *_) in listed.items():
            self.set("imc0", "ctr0", 0)
            self.writel(CTL[0], umask << 8 | code)
            self.writel(CTL[1], umask << 8 | code ^ 0x20)
            self.add("imc0", name, 3)
            self.assertEqual(self.readq(CTR[0]), 3, name)
        self.assertEqual(self.readq(CTR[1]), 0)


class EmeraldEvents(Events):
    spec = "emr"


class GraniteEvents(Events):
    spec = "gnr"
    wanted = GNR


if __name__ == "__main__":
    unittest.main()
