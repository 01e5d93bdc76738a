# SPDX-License-Identifier: GPL-2.0-or-later
"""Conformance of Ice Lake-SP with Documentation/hardware/intel_imc.md, 14.

No guest is needed. Numbers are that page's, or computed from it.
"""

import unittest

from models.common.qtest import CommandError
from models.intel_imc.block import (
    BOX_CTL, BlockTest, CTL, CTR, FIXED_CTL, FIXED_CTR)

EN, EDGE, INV = 1 << 22, 1 << 18, 1 << 23
FRZ_EN, FRZ = 1 << 16, 1 << 8
RST_CTRS, RST_CTRL = 2, 1
CAS_RD, CAS_WR = 0x0f04, 0x3004
MS = 1000000
ALL_ONES = (1 << 64) - 1

# 14.5, from a controller's first
FREE = {"read": 0x2290, "write": 0x2298, "pmm_read": 0x22a0,
        "pmm_write": 0x22a8, "dclk": 0x22b0}

BUSES = (0x7e, 0xfe)


class MmioTest(BlockTest):
    spec = "icx"

    def setUp(self):
        super().setUp()
        self.block = self.block_address()

    def config(self, register, socket=0, size=4):
        return self.machine.config_read((BUSES[socket], 0, 1), register, size)

    def controller(self, i, socket=0):
        """14.2: the base, and the controller's offset."""
        base = (self.config(0xd0, socket) & 0x1fffffff) << 23
        return base | (self.config(0xd8 + 4 * i, socket) & 0x7ff) << 12

    def block_address(self, i=0, channel=0, socket=0):
        return self.controller(i, socket) + 0x22800 + channel * 0x4000

    def start(self, index, ctl, block=None):
        self.writel(CTL[index], EN | ctl, block)


class Functions(MmioTest):
    spec = "icx,sockets=2"

    def test_ids_and_node_ids(self):
        for socket, bus in enumerate(BUSES):
            self.assertEqual(self.machine.config_read((bus, 0, 0), 0),
                             0x34508086)
            self.assertEqual(self.machine.config_read((bus, 0, 0), 0xc0),
                             socket)
            self.assertEqual(self.machine.config_read((bus, 0, 0), 0xd4),
                             0x00fac688)
            self.assertEqual(self.config(0, socket), 0x34518086)

    def test_every_channel_has_its_block(self):
        n = 0
        for socket in (0, 1):
            for i in range(4):
                for channel in (0, 1):
                    n += 1
                    block = self.block_address(i, channel, socket)
                    self.start(0, CAS_RD, block)
                    self.add(f"imc{3 * i + channel}@{socket}", "cas_rd", n)
                    self.assertEqual(self.ctrs(block), [n, 0, 0, 0])

    def test_addresses_can_lie(self):
        self.set("mmio@1", "base", 0xffffffff)
        self.set("mmio@1", "mem2", 0)
        self.assertEqual(self.config(0xd0, 1), 0xffffffff)
        self.assertEqual(self.config(0xe0, 1), 0)
        self.assertNotEqual(self.config(0xd0, 0), 0xffffffff)
        self.assertEqual(self.readl(BOX_CTL), 0)

    def test_other_bits_of_the_addresses_are_set(self):
        self.assertNotEqual(self.config(0xd0) & ~0x1fffffff, 0)
        self.assertNotEqual(self.config(0xd8) & ~0x7ff, 0)

    def test_gone(self):
        self.set("mmio@0", "gone", 1)
        self.assertEqual(self.config(0), 0xffffffff)
        self.assertEqual(self.readq(CTR[0]), ALL_ONES)
        self.set("mmio@0", "gone", 0)
        self.set("imc0", "gone", 1)
        self.assertEqual(self.readq(CTR[0]), ALL_ONES)
        self.writel(CTL[0], CAS_RD)
        self.set("imc0", "gone", 0)
        self.assertEqual(self.readl(CTL[0]), 0)

    def test_the_last_access_and_an_odd_one(self):
        self.set("imc0", "last", 2)
        self.writel(CTL[0], CAS_RD)
        self.writel(CTL[0], 0)
        self.assertEqual(self.readq(CTR[0]), ALL_ONES)
        self.set("imc0", "last", 0)
        self.assertEqual(self.readl(CTL[0]), CAS_RD)
        self.set("imc0", "odd_as", 2 + 40)
        self.set("imc0", "odd", 1)
        self.assertEqual([self.readq(CTR[0]) for _ in range(2)], [1 << 40, 0])


class Block(MmioTest):
    def test_four_counters(self):
        for index in range(4):
            self.start(index, CAS_RD if index % 2 else CAS_WR)
        self.add("imc0", "cas_rd", 7)
        self.add("imc0", "cas_wr", 5)
        self.assertEqual(self.ctrs(), [5, 7, 5, 7])

    def test_a_counter_is_read_at_once_and_has_48_bits(self):
        self.start(0, CAS_RD)
        self.set("imc0", "ctr0", (1 << 48) - 1)
        self.assertEqual(self.readq(CTR[0]), (1 << 48) - 1)
        self.assertEqual(self.readl(CTR[0] + 4), 0xffff)
        self.add("imc0", "cas_rd", 2)
        self.assertEqual(self.readq(CTR[0]), 1)

    def test_a_counter_cannot_be_written(self):
        self.start(0, CAS_RD)
        self.add("imc0", "cas_rd", 7)
        self.writel(CTR[0], 0)
        self.assertEqual(self.readq(CTR[0]), 7)
        self.assertEqual(self.get("imc0", "reserved"),
                         CTR[0] << 32 | 0xffffffff)

    def test_enable_is_needed(self):
        self.writel(CTL[0], CAS_RD)
        self.add("imc0", "cas_rd", 7)
        self.assertEqual(self.readq(CTR[0]), 0)

    def test_fields_of_a_control(self):
        self.writel(CTL[0], 0xffffffff)
        self.assertEqual(self.readl(CTL[0]), 0xffc4ffff)
        self.assertEqual(self.get("imc0", "reserved"),
                         CTL[0] << 32 | 0x003b0000)
        self.writel(FIXED_CTL, 0xffffffff)
        self.assertEqual(self.readl(FIXED_CTL), EN)

    def test_threshold_and_edge(self):
        self.start(0, 0x80)
        self.start(1, 4 << 24 | 0x80)
        self.start(2, 4 << 24 | EDGE | 0x80)
        self.add("imc0", "rpq_occ", 100, 4)
        self.add("imc0", "rpq_occ", 10, 3)
        self.assertEqual(self.ctrs(), [430, 100, 100, 0])

    def test_freeze_needs_no_enable_and_stops_all(self):
        self.start(0, CAS_RD)
        self.writel(FIXED_CTL, EN)
        for box in (FRZ, FRZ | FRZ_EN):
            self.writel(BOX_CTL, box)
            self.assertEqual(self.readl(BOX_CTL), box)
            before = self.readq(FIXED_CTR), self.readq(CTR[0])
            self.add("imc0", "cas_rd", 7)
            self.machine.step(MS)
            self.assertEqual((self.readq(FIXED_CTR), self.readq(CTR[0])),
                             before)
            self.writel(BOX_CTL, box & ~FRZ)
            self.add("imc0", "cas_rd", 1)
            self.assertEqual(self.readq(CTR[0]), before[1] + 1)

    def test_resets(self):
        self.start(0, CAS_RD)
        self.writel(FIXED_CTL, EN)
        self.add("imc0", "cas_rd", 7)
        self.machine.step(MS)
        self.writel(BOX_CTL, FRZ | RST_CTRS)
        self.assertEqual(self.ctrs() + [self.readq(FIXED_CTR)], [0] * 5)
        self.assertEqual(self.readl(CTL[0]), EN | CAS_RD)
        self.writel(BOX_CTL, FRZ | RST_CTRL)
        self.assertEqual((self.readl(CTL[0]), self.readl(FIXED_CTL)), (0, 0))
        self.assertEqual(self.readl(BOX_CTL), FRZ)

    def test_clock_and_half_clock(self):
        self.writel(BOX_CTL, FRZ)
        self.start(0, 0x00)
        self.writel(FIXED_CTL, EN)
        self.writel(BOX_CTL, 0)
        self.machine.step(MS)
        self.writel(BOX_CTL, FRZ)
        dclk, hclk = self.readq(CTR[0]), self.readq(FIXED_CTR)
        self.assertEqual(dclk, 1600000)
        self.assertEqual(hclk, 800000)

    def test_accesses(self):
        self.machine.stats("imc0")
        self.readq(CTR[0])
        self.readl(CTR[0])
        self.readq(FIXED_CTR)
        self.writel(CTL[1], CAS_RD)
        self.writel(FIXED_CTL, 0)
        self.writel(BOX_CTL, 0)
        self.machine.qtest(f"writeq {self.block + CTL[2]:#x} 0")
        self.assertEqual(self.machine.stats("imc0"), {
            "ctl": (0, 1), "ctr": (1, 0), "fixed_ctl": (0, 1),
            "fixed_ctr": (1, 0), "box_ctl": (0, 1), "narrow": (1, 1),
            "other": (0, 0)})

    def test_dead_and_lose(self):
        self.writel(FIXED_CTL, EN)
        self.set("imc0", "dead", 1)
        before = self.readq(FIXED_CTR)
        self.machine.step(MS)
        self.assertEqual(self.readq(FIXED_CTR), before)
        with self.assertRaises(CommandError):
            self.add("imc0", "cas_rd", 1)
        self.set("imc0", "lose", 1)
        self.writel(FIXED_CTL, 0)
        self.assertEqual(self.readl(FIXED_CTL), EN)
        self.writel(FIXED_CTL, 0)
        self.assertEqual(self.readl(FIXED_CTL), 0)

    def test_reset_of_the_machine(self):
        self.start(0, CAS_RD)
        self.add("imc0", "cas_rd", 7)
        self.machine.reset()
        self.assertEqual((self.readl(CTL[0]), self.readq(CTR[0])), (0, 0))

    def test_phantom(self):
        phantom = self.block_address(0, 2)
        self.machine.stats("mmio")
        self.start(0, CAS_RD, phantom)
        self.assertEqual(self.readl(CTL[0], phantom), 0)
        self.assertEqual(self.readq(FIXED_CTR, phantom), 0)
        self.assertEqual(self.machine.stats("mmio")["phantom"], (2, 1))
        with self.assertRaises(CommandError):
            self.add("imc2", "cas_rd", 1)


class Third(MmioTest):
    spec = "icx,sockets=2,third=5"

    def test_third_channels_that_are_active(self):
        for socket in (0, 1):
            for i in (0, 2):
                third = self.block_address(i, 2, socket)
                self.start(0, CAS_RD, third)
                self.add(f"imc{3 * i + 2}@{socket}", "cas_rd", 7 + i)
                self.assertEqual(self.ctrs(third), [7 + i, 0, 0, 0])
                self.assertEqual(self.readq(FREE["read"],
                                            self.controller(i, socket)), 7 + i)
        self.start(0, CAS_RD)
        self.assertEqual(self.readq(CTR[0]), 0)

    def test_others_are_phantoms(self):
        phantom = self.block_address(1, 2)
        self.start(0, CAS_RD, phantom)
        self.assertEqual(self.readl(CTL[0], phantom), 0)
        with self.assertRaises(CommandError):
            self.add("imc5", "cas_rd", 1)

    def test_reset_of_the_machine(self):
        third = self.block_address(2, 2)
        self.start(0, CAS_RD, third)
        self.machine.reset()
        self.assertEqual(self.readl(CTL[0], third), 0)


class Free(MmioTest):
    def free(self, name, controller=0):
        return self.readq(FREE[name], self.controller(controller))

    def test_traffic_of_both_channels_of_the_controller(self):
        self.add("imc3", "cas_rd", 7)
        self.add("imc4", "cas_count.rd_pre_reg", 5)
        self.add("imc4", "cas_wr", 3)
        self.add("imc4", "cas_count.wr_pre", 2)
        self.add("imc3", "pmm_rpq_inserts", 4)
        self.add("imc3", "pmm_wpq_inserts", 6)
        self.add("imc3", "act_count.rd", 100)
        self.assertEqual([self.free(name, 1) for name in
                          ("read", "write", "pmm_read", "pmm_write")],
                         [12, 5, 4, 6])
        self.assertEqual(self.free("read"), 0)

    def test_clock_never_stops(self):
        self.writel(BOX_CTL, FRZ)
        self.set("imc0", "dead", 1)
        before = self.free("dclk")
        self.machine.step(MS)
        self.assertEqual(self.free("dclk") - before, 1600000)

    def test_48_bits_and_no_write(self):
        self.set("free0", "read", (1 << 48) - 1)
        self.add("imc0", "cas_rd", 2)
        self.assertEqual(self.free("read"), 1)
        self.writel(FREE["read"], 77, self.controller(0))
        self.assertEqual(self.free("read"), 1)
        self.set("free0", "dclk", 5)
        self.assertEqual(self.free("dclk"), 5)
        self.assertEqual(self.machine.stats("free0"), {"free": (3, 1)})

    def test_a_block_that_stands_still(self):
        self.set("free0", "dead", 2)
        self.add("imc0", "cas_rd", 2)
        first = self.free("dclk")
        self.machine.step(MS)
        self.assertEqual(self.free("dclk"), first)
        self.machine.step(MS)
        self.add("imc0", "cas_rd", 3)
        self.assertEqual(self.free("dclk") - first, 1600000)
        self.assertEqual(self.free("read"), 3)

    def test_a_block_that_does_not_answer(self):
        self.set("free0", "gone", 1)
        self.assertEqual(self.free("dclk"), (1 << 64) - 1)
        self.assertNotEqual(self.free("dclk", 1), (1 << 64) - 1)


# Intel's list, ICX V1.30: (code, umask bits, or 0 for no sub-events)
EVENTS = {
    0x01: 0x0b, 0x02: 0x1c, 0x04: 0x3f, 0x10: 0x03, 0x11: 0x03, 0x12: 0,
    0x15: 0, 0x16: 0, 0x17: 0, 0x18: 0, 0x19: 0, 0x1a: 0, 0x20: 0x03,
    0x21: 0x03, 0x22: 0, 0x23: 0x03, 0x24: 0x03, 0x2c: 0, 0x43: 0, 0x44: 0,
    0x45: 0x07, 0x46: 0x03, 0x47: 0x0f, 0x80: 0, 0x81: 0, 0x82: 0, 0x83: 0,
    0x85: 0, 0x86: 0x03, 0xa0: 0x07, 0xd0: 0, 0xd1: 0, 0xd2: 0xff,
    0xd3: 0x1f, 0xd4: 0x2f, 0xd5: 0x6d, 0xd6: 0x3f, 0xd7: 0x1f, 0xd8: 0x1f,
    0xd9: 0xff, 0xda: 0x07, 0xdb: 0x07, 0xdd: 0xff, 0xde: 0x1f, 0xe0: 0x07,
    0xe1: 0, 0xe2: 0, 0xe3: 0, 0xe4: 0x07, 0xe5: 0, 0xe6: 0, 0xe7: 0, 0xe8: 0,
    0xe9: 0, 0xea: 0xff, 0xeb: 0xff}


class Events(MmioTest):
    def test_exactly_those_of_the_list(self):
        wanted = {(code, bit) for code, umask in EVENTS.items()
                  for bit in [1 << n for n in range(8) if umask >> n & 1]
                  or [0]}
        self.assertEqual({event[:2] for event in self.machine.events("imc0").values()}, wanted)

    def test_each_counts_its_own(self):
        for name, (code, umask, _) in self.machine.events("imc0").items():
            self.set("imc0", "ctr0", 0)
            self.start(0, umask << 8 | code)
            self.start(1, umask << 8 | code ^ 0x08)
            self.add("imc0", name, 3)
            self.assertEqual(self.readq(CTR[0]), 3, name)
        self.assertEqual(self.readq(CTR[1]), 0)


if __name__ == "__main__":
    unittest.main()
