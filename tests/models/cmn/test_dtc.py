# SPDX-License-Identifier: GPL-2.0-or-later
"""DTCs of the CMN models: conformance with
Documentation/hardware/cmn.md, 4.

Numbers in here are that page's, or computed from it; its sections are named
where a number comes from.
"""

import unittest

from models.cmn.qtest import FIRST_SPI, Dtc
from models.cmn.test_counters import ALL_ONES, MS, WRAP, CountTest, device
from models.cmn.test_discovery import DTC, HNF

CYCLES_WRAP = 1 << 40
CLOCK = 2000000000
INTR = Dtc.INTR_EN


class DtcTest(CountTest):
    """HN-Fs 0x24 of domain 0 and 0x44 of domain 1 count on letter A to H."""

    def setUp(self):
        super().setUp()
        self.dtc, self.other = self.dtcs

    def count(self, letter, xp=0x20):
        self.select(self.mesh.nodes[HNF, xp + 4], 0x01)
        self.dtm(xp).count(device(1, 0, 0), paired=["ABCDEFGH".index(letter)])

    def carry(self, n=1, xp=0x20):
        """So many increments arrive."""
        self.add(f"hnf_cache_miss@{xp + 4:#x}", n * WRAP)


class Registers(DtcTest):
    def test_registers_keep_what_they_have(self):
        node = self.dtc.node
        for offset, kept in ((0xa00, 0x7ff), (0xa10, 0), (0xa20, 0),
                             (0xa30, 0x1ff), (0xa48, 0x7f), (0x980, 0),
                             (0x988, 0)):
            node.write(offset, ALL_ONES)
            self.assertEqual(node.read(offset), kept, hex(offset))
        node.write(Dtc.CTL, 0)
        for offset, kept in ((0x00, ALL_ONES), (0x08, 0), (0x10, ALL_ONES),
                             (0x20, ALL_ONES), (0x30, ALL_ONES), (0x38, 0),
                             (0x40, CYCLES_WRAP - 1), (0x48, 0),
                             (0x100, 0x7f), (0x118, 0), (0x120, 0)):
            self.dtc.write(offset, ALL_ONES)
            self.assertEqual(self.dtc.read(offset), kept, hex(offset))

    def test_claim_tags(self):
        node = self.dtc.node
        self.assertEqual(node.read(0x2da0), 0x00000000ffffffff)
        node.write32(0x2da0, 0x12)
        self.assertEqual(node.read32(0x2da4), 0x12)
        node.write32(0x2da4, 0x02)
        self.assertEqual(node.read32(0x2da4), 0x10)
        self.assertEqual(node.read32(0x2dcc), 0x43)

    def test_debug_is_allowed(self):
        self.assertEqual(self.dtc.node.read(0x2db8), 0x100000000000cc)

    def test_every_counter_has_its_32_bit_address(self):
        """Section 4.2; a write to the odd one leaves the even one."""
        for n, letter in enumerate("ABCDEFGH"):
            self.dtc.set_counter(letter, 0x01010101 * (n + 1))
        for n, letter in enumerate("ABCDEFGH"):
            self.assertEqual(self.dtc.counter(letter), 0x01010101 * (n + 1))
        self.assertEqual(self.dtc.read(0x30), 0x0808080807070707)
        self.dtc.set_counter("H", 0)
        self.assertEqual(self.dtc.read(0x30), 0x0000000007070707)
        self.dtc.set_counter("G", 0xffffffff)
        self.assertEqual(self.dtc.read(0x30), 0x00000000ffffffff)


class Overflow(DtcTest):
    def test_every_counter_overflows_and_interrupts(self):
        """G and H too, which a driver once forgot (section 9.5)"""
        self.dtc.enable(INTR)
        for n, letter in enumerate("ABCDEFGH"):
            self.count(letter)
            self.dtc.set_counter(letter, 0xffffffff)
            self.assertFalse(self.interrupts())
            self.carry()
            self.assertEqual(self.dtc.counter(letter), 0)
            self.assertEqual(self.dtc.read(Dtc.OVS), 1 << n)
            self.assertTrue(self.interrupts())
            self.dtc.write32(Dtc.OVS_CLR, 1 << n)
            self.assertEqual(self.dtc.read(Dtc.OVS), 0)
            self.assertFalse(self.interrupts())

    def test_counting_goes_on_after_a_wrap(self):
        """Section 9.4: from 0x80000000 to 5 are 0x80000005 increments."""
        self.count("A")
        self.dtc.set_counter("A", 0x80000000)
        self.carry(0x80000005)
        self.assertEqual(self.dtc.counter("A"), 5)
        self.assertEqual(self.dtc.read(Dtc.OVS), 1)

    def test_no_wrap_no_flag(self):
        self.count("A")
        self.dtc.set_counter("A", 0xfffffffe)
        self.carry()
        self.assertEqual(self.dtc.read(Dtc.OVS), 0)

    def test_flags_are_cleared_one_by_one(self):
        for letter in "BE":
            self.count(letter)
            self.dtc.set_counter(letter, 0xffffffff)
            self.carry()
        self.assertEqual(self.dtc.read(Dtc.OVS), 0b10010)
        self.dtc.write32(Dtc.OVS_CLR, 0b00010)
        self.assertEqual(self.dtc.read32(Dtc.OVS), 0b10000)

    def overflow(self):
        self.count("A")
        self.dtc.set_counter("A", 0xffffffff)
        self.carry()
        self.assertEqual(self.dtc.read(Dtc.OVS), 1)

    def test_flags_cannot_be_cleared_while_pmu_en_is_0(self):
        """Section 4.4, number 3"""
        self.dtc.enable(INTR)
        self.overflow()
        self.dtc.write32(Dtc.PMCR, 0)
        self.dtc.write32(Dtc.OVS_CLR, 0x1ff)
        self.dtc.write32(Dtc.PMCR, Dtc.PMU_EN | INTR)
        self.assertEqual(self.dtc.read(Dtc.OVS), 1)
        self.assertTrue(self.interrupts())

    def test_flags_cannot_be_cleared_while_dt_en_is_0(self):
        self.overflow()
        self.dtc.node.write32(Dtc.CTL, 0)
        self.dtc.write32(Dtc.OVS_CLR, 0x1ff)
        self.assertEqual(self.dtc.read(Dtc.OVS), 1)

    def test_flags_may_be_hidden_while_disabled(self):
        self.overflow()
        self.machine.control("set", "cmn0", "hide_overflow", 1)
        self.assertEqual(self.dtc.read(Dtc.OVS), 1)
        self.dtc.write32(Dtc.PMCR, 0)
        self.assertEqual(self.dtc.read(Dtc.OVS), 0)
        self.dtc.write32(Dtc.PMCR, Dtc.PMU_EN)
        self.assertEqual(self.dtc.read(Dtc.OVS), 1)

    def test_no_interrupt_unless_enabled(self):
        self.overflow()
        self.assertFalse(self.interrupts())
        self.dtc.write32(Dtc.PMCR, Dtc.PMU_EN | INTR)
        self.assertTrue(self.interrupts())
        self.dtc.write32(Dtc.PMCR, INTR)
        self.assertTrue(self.interrupts())
        self.dtc.write32(Dtc.PMCR, 0)
        self.assertFalse(self.interrupts())

    def test_each_dtc_has_its_interrupt(self):
        for dtc in self.dtcs:
            dtc.enable(INTR)
        self.count("C", 0x40)
        self.other.set_counter("C", 0xffffffff)
        self.carry(xp=0x40)
        self.assertEqual((self.interrupts(0), self.interrupts(1)),
                         (False, True))
        self.assertEqual((self.dtc.read(Dtc.OVS), self.other.read(Dtc.OVS)),
                         (0, 4))

    def test_a_reset_takes_the_interrupt_back(self):
        self.dtc.enable(INTR)
        self.overflow()
        self.assertTrue(self.interrupts())
        self.machine.reset()
        self.assertFalse(self.interrupts())


class Shared(DtcTest):
    """One line for both DTCs (section 9.5)"""
    spec = "cmn700,shared-irq=on,rev=3"

    def count(self, letter, xp=0x20):
        self.select(self.mesh.nodes[HNF, {0x20: 0x22, 0x60: 0x64}[xp]], 0x01)
        self.dtm(xp).count(device(1, 0, 0), paired=["ABCDEFGH".index(letter)])

    def test_the_line_is_high_until_both_are_clear(self):
        for xp, dtc in ((0x20, self.dtc), (0x60, self.other)):
            dtc.enable(INTR)
            self.count("A", xp)
            dtc.set_counter("A", 0xffffffff)
        self.assertFalse(self.interrupts())
        self.add("hnf_cache_miss", WRAP)
        self.assertTrue(self.interrupts())
        self.assertFalse(self.interrupts(1))
        self.dtc.write32(Dtc.OVS_CLR, 1)
        self.assertTrue(self.interrupts())
        self.other.write32(Dtc.OVS_CLR, 1)
        self.assertFalse(self.interrupts())


class Pairs(DtcTest):
    """PMCR.cntcfg (section 4.3)"""

    def test_a_pair_is_one_counter_of_64_bits(self):
        for pair, letters in enumerate(("AB", "CD", "EF", "GH")):
            self.dtc.write32(Dtc.PMCR, Dtc.PMU_EN | 1 << 1 + pair)
            self.count(letters[0])
            self.dtc.set_counter(letters[0], 0xffffffff)
            self.carry(2)
            self.assertEqual(self.dtc.read(0x10 * pair), 1 << 32 | 1)
            self.assertEqual(self.dtc.read(Dtc.OVS), 0)
            self.dtc.write(0x10 * pair, ALL_ONES)
            self.carry()
            self.assertEqual(self.dtc.read(0x10 * pair), 0)
            self.assertEqual(self.dtc.read(Dtc.OVS), 1 << 2 * pair + 1)
            self.dtc.write32(Dtc.OVS_CLR, 0x1ff)

    def test_the_neighbours_stay_apart(self):
        self.dtc.write32(Dtc.PMCR, Dtc.PMU_EN | 1 << 1)
        self.count("C")
        self.dtc.set_counter("C", 0xffffffff)
        self.carry()
        self.assertEqual(self.dtc.read(0x10), 0)
        self.assertEqual(self.dtc.read(Dtc.OVS), 1 << 2)


class UnderWay(DtcTest):
    """Carries, stops, writes and interrupts that take time (2.6, 4.4)"""

    def set(self, key, value):
        self.machine.control("set", "cmn0", key, value)

    def get(self, key):
        return int(self.machine.control("get", "cmn0", key))

    def test_a_carry_takes_time(self):
        self.set("carry_delay", 1000)
        self.count("C")
        self.carry(3)
        self.machine.step(999)
        self.assertEqual((self.dtc.counter("C"), self.get("carries")), (0, 3))
        self.machine.step(1)
        self.assertEqual((self.dtc.counter("C"), self.get("carries")), (3, 0))

    def test_carries_keep_their_distance(self):
        self.set("carry_delay", 1000)
        self.count("C")
        self.carry()
        self.machine.step(600)
        self.carry()
        self.machine.step(400)
        self.assertEqual(self.dtc.counter("C"), 1)
        self.machine.step(600)
        self.assertEqual(self.dtc.counter("C"), 2)

    def test_a_late_carry_interrupts(self):
        self.dtc.enable(INTR)
        self.set("carry_delay", 1000)
        self.count("A")
        self.dtc.set_counter("A", 0xffffffff)
        self.carry()
        self.assertFalse(self.interrupts())
        self.machine.step(1000)
        self.assertTrue(self.interrupts())

    def test_a_carry_reaches_a_stopped_dtc(self):
        self.set("carry_delay", 1000)
        self.count("C")
        self.carry()
        self.dtc.write32(Dtc.PMCR, 0)
        self.machine.step(1000)
        self.assertEqual((self.dtc.counter("C"), self.get("dropped")), (1, 0))

    def test_or_is_dropped(self):
        self.set("carry_delay", 1000)
        self.set("carry_drop", 1)
        self.count("C")
        self.carry()
        self.machine.step(500)
        self.carry()
        self.machine.step(500)
        self.dtc.write32(Dtc.PMCR, 0)
        self.machine.step(500)
        self.dtc.write32(Dtc.PMCR, Dtc.PMU_EN)
        self.assertEqual((self.dtc.counter("C"), self.get("dropped")), (1, 1))
        self.set("dropped", 0)

    def test_dtms_stop_late(self):
        self.set("stop_delay", 1000)
        self.machine.step(2000)
        self.count("C")
        self.dtc.write32(Dtc.PMCR, 0)
        self.machine.step(999)
        self.add("hnf_cache_miss@0x24", 5)
        self.assertEqual(self.dtm(0x20).counters()[0], 5)
        self.machine.step(1)
        self.add("hnf_cache_miss@0x24", 5)
        self.dtc.write32(Dtc.PMCR, Dtc.PMU_EN)
        self.machine.step(999)
        self.add("hnf_cache_miss@0x24", 5)
        self.assertEqual(self.dtm(0x20).counters()[0], 5)
        self.machine.step(1)
        self.add("hnf_cache_miss@0x24", 5)
        self.assertEqual(self.dtm(0x20).counters()[0], 10)

    def test_a_start_right_behind_a_stop(self):
        self.set("stop_delay", 1000)
        self.machine.step(2000)
        self.count("C")
        self.dtc.write32(Dtc.PMCR, 0)
        self.machine.step(10)
        self.dtc.write32(Dtc.PMCR, Dtc.PMU_EN)
        for _ in range(3):
            self.add("hnf_cache_miss@0x24", 5)
            self.machine.step(600)
        self.assertEqual(self.dtm(0x20).counters()[0], 15)

    def test_a_write_takes_time(self):
        self.set("posted", 1000)
        self.count("C")
        self.machine.step(1000)
        self.dtc.write32(Dtc.PMCR, 0)
        self.machine.step(999)
        self.carry()
        self.machine.step(1)
        self.carry()
        self.assertEqual(self.dtc.counter("C"), 1)

    def test_a_read_overtakes_no_write(self):
        self.set("posted", 1000)
        self.dtc.set_counter("C", 5)
        self.dtc.set_counter("C", 6)
        self.assertEqual(self.get("dtc0_c"), 0)
        self.assertEqual(self.dtc.counter("C"), 6)
        self.assertEqual(self.get("dtc0_c"), 6)

    def test_an_interrupt_takes_time(self):
        self.dtc.enable(INTR)
        self.set("irq_delay", 1000)
        self.count("A")
        self.dtc.set_counter("A", 0xffffffff)
        self.carry()
        self.machine.step(999)
        self.assertFalse(self.interrupts())
        self.machine.step(1)
        self.assertTrue(self.interrupts())
        self.dtc.write32(Dtc.OVS_CLR, 1)
        self.assertFalse(self.interrupts())

    def test_a_flag_that_did_not_last_is_not_seen(self):
        self.dtc.enable(INTR)
        self.set("irq_delay", 1000)
        self.count("A")
        self.dtc.set_counter("A", 0xffffffff)
        self.carry()
        self.machine.step(500)
        self.dtc.write32(Dtc.OVS_CLR, 1)
        self.machine.step(500)
        self.assertFalse(self.interrupts())

    def test_a_reset_takes_away_what_is_under_way(self):
        self.set("carry_delay", 1000)
        self.count("C")
        self.carry()
        self.machine.reset()
        self.machine.step(1000)
        self.assertEqual(self.get("dtc0_c"), 0)
        self.assertEqual(self.get("dropped"), 0)

    def test_a_dtc_that_is_taken_away(self):
        self.set("dt_disable", 1)
        self.assertEqual(self.dtc.node.read32(Dtc.CTL), 0)
        self.dtc.node.write32(Dtc.CTL, Dtc.EN)
        self.assertEqual(self.dtc.node.read32(Dtc.CTL), 0)
        self.set("dt_disable", 0)
        self.dtc.node.write32(Dtc.CTL, Dtc.EN)
        self.assertEqual(self.dtc.node.read32(Dtc.CTL), Dtc.EN)

    def test_a_pmu_that_is_taken_away(self):
        self.set("pm_disable", 1)
        self.assertEqual(self.dtc.read32(Dtc.PMCR), 0)
        self.dtc.write32(Dtc.PMCR, Dtc.PMU_EN)
        self.assertEqual(self.dtc.read32(Dtc.PMCR), 0)
        self.set("pm_disable", 0)
        self.dtc.write32(Dtc.PMCR, Dtc.PMU_EN)
        self.assertEqual(self.dtc.read32(Dtc.PMCR), Dtc.PMU_EN)

    def test_a_mesh_that_another_program_keeps_running(self):
        self.set("pm_on", 1)
        self.dtc.write32(Dtc.PMCR, 0)
        self.assertEqual(self.dtc.read32(Dtc.PMCR), Dtc.PMU_EN)
        self.set("pm_on", 0)
        self.dtc.write32(Dtc.PMCR, 0)
        self.assertEqual(self.dtc.read32(Dtc.PMCR), 0)

    def test_traffic_counts_in_paired_counters(self):
        self.count("C")
        self.set("traffic", 1000000000)
        self.machine.step(WRAP + 7)
        self.assertEqual(self.dtm(0x20).counters(), [7, 0, 0, 0])
        self.assertEqual(self.dtc.counter("C"), 1)
        self.assertEqual(self.get("total"), WRAP + 7)
        self.dtc.write32(Dtc.PMCR, 0)
        self.machine.step(WRAP)
        self.assertEqual(self.get("total"), WRAP + 7)
        self.set("total", 0)
        self.assertEqual(self.get("total"), 0)

    def test_carries_of_traffic_take_time(self):
        """One in three ns: wraps at 3 * 65536 ns, and 300 more until it is
        told."""
        self.set("carry_delay", 300)
        self.count("C")
        self.set("traffic", 333333333)
        self.machine.step(3 * 2 * WRAP + 290)
        self.assertEqual(self.dtm(0x20).counters()[0], 96)
        self.assertEqual(self.dtc.counter("C"), 1)
        self.assertEqual(self.get("carries"), 1)
        self.machine.step(20)
        self.assertEqual(self.dtc.counter("C"), 2)

    def test_a_carry_of_the_last_count_before_a_stop(self):
        """One in two ns, the last of which somebody has looked into."""
        self.count("C")
        self.set("traffic", 500000000)
        self.machine.step(2 * WRAP - 1)
        self.assertEqual(self.get("total"), WRAP - 1)
        self.machine.step(1)
        self.dtc.write32(Dtc.PMCR, 0)
        self.machine.step(1000)
        self.assertEqual(self.dtm(0x20).counters()[0], 0)
        self.assertEqual(self.dtc.counter("C"), 1)
        self.assertEqual(self.get("dropped"), 0)

    def test_traffic_until_the_dtms_have_stopped(self):
        self.set("stop_delay", 100)
        self.machine.step(1000)
        self.count("C")
        self.set("traffic", 1000000000)
        self.machine.step(50)
        self.dtc.write32(Dtc.PMCR, 0)
        self.machine.step(1000)
        self.assertEqual(self.get("total"), 150)
        self.dtc.write32(Dtc.PMCR, Dtc.PMU_EN)
        self.machine.step(1000)
        self.assertEqual(self.get("total"), 150 + 900)


class FromTheStart(DtcTest):
    spec = "cmn600,carry-delay=700"

    def test_a_carry_takes_time(self):
        self.count("C")
        self.carry()
        self.machine.step(699)
        self.assertEqual(self.dtc.counter("C"), 0)
        self.machine.step(1)
        self.assertEqual(self.dtc.counter("C"), 1)


class Cycles(DtcTest):
    def start(self, dtc=None):
        (dtc or self.dtc).node.write32(Dtc.CTL, Dtc.EN | Dtc.CG_DISABLE)

    def test_cycles_follow_the_clock(self):
        self.start()
        before = self.dtc.read(Dtc.CYCLES)
        self.machine.step(3 * MS)
        self.assertEqual(self.dtc.read(Dtc.CYCLES) - before, 6000000)

    def test_a_preload_of_section_9_4(self):
        self.start()
        self.dtc.write(Dtc.CYCLES, 0x8000000000)
        self.machine.step(0x1234 // 2)
        self.assertEqual(self.dtc.read(Dtc.CYCLES), 0x8000001234)

    def test_the_clock_can_be_another(self):
        self.start()
        self.machine.control("set", "cmn0", "clock", 1000)
        self.dtc.write(Dtc.CYCLES, 0)
        self.machine.step(5 * MS)
        self.assertEqual(self.dtc.read(Dtc.CYCLES), 5)

    def test_clock_gating_stops_them(self):
        self.dtc.node.write32(Dtc.CTL, Dtc.EN)
        self.machine.step(3 * MS)
        self.assertEqual(self.dtc.read(Dtc.CYCLES), 0)
        self.start()
        self.machine.step(1 * MS)
        self.dtc.node.write32(Dtc.CTL, Dtc.EN)
        self.machine.step(3 * MS)
        self.assertEqual(self.dtc.read(Dtc.CYCLES), 2000000)

    def test_what_stops_counters_stops_cycles(self):
        for off in (lambda: self.dtc.write32(Dtc.PMCR, 0),
                    lambda: self.dtc.node.write32(Dtc.CTL, Dtc.CG_DISABLE)):
            self.dtc.enable()
            self.start()
            off()
            before = self.dtc.read(Dtc.CYCLES)
            self.machine.step(1 * MS)
            self.assertEqual(self.dtc.read(Dtc.CYCLES), before)

    def test_dtc_0_stops_the_cycles_of_all(self):
        self.start(self.other)
        self.machine.step(1 * MS)
        self.dtc.write32(Dtc.PMCR, 0)
        self.machine.step(1 * MS)
        self.assertEqual(self.other.read(Dtc.CYCLES), 2000000)
        self.dtc.write32(Dtc.PMCR, Dtc.PMU_EN)
        self.machine.step(1 * MS)
        self.assertEqual(self.other.read(Dtc.CYCLES), 4000000)
        self.assertEqual(self.dtc.read(Dtc.CYCLES), 0)

    def test_another_dtc_is_needed_for_its_own(self):
        self.start(self.other)
        self.other.write32(Dtc.PMCR, 0)
        self.machine.step(1 * MS)
        self.assertEqual(self.other.read(Dtc.CYCLES), 0)

    def test_they_wrap_after_40_bits_and_interrupt_then(self):
        self.dtc.enable(INTR)
        self.start()
        self.dtc.write(Dtc.CYCLES, CYCLES_WRAP - 2000)
        self.machine.step(999)
        self.assertFalse(self.interrupts())
        self.machine.step(1)
        self.assertTrue(self.interrupts())
        self.assertEqual(self.dtc.read(Dtc.OVS), 1 << 8)
        self.machine.step(10)
        self.assertEqual(self.dtc.read(Dtc.CYCLES), 20)
        self.dtc.write32(Dtc.OVS_CLR, 1 << 8)
        self.assertFalse(self.interrupts())

    def test_a_wrap_moves_with_the_clock(self):
        self.dtc.enable(INTR)
        self.start()
        self.dtc.write(Dtc.CYCLES, CYCLES_WRAP - 1000)
        self.machine.control("set", "cmn0", "clock", 1000000)
        self.machine.step(1 * MS - 1)
        self.assertFalse(self.interrupts())
        self.machine.step(1)
        self.assertTrue(self.interrupts())

    def test_halves_can_be_written(self):
        self.dtc.write32(Dtc.CYCLES + 4, 0xffff12)
        self.dtc.write32(Dtc.CYCLES, 0x3456789a)
        self.assertEqual(self.dtc.read(Dtc.CYCLES), 0x123456789a)


class Places(CountTest):
    """The counters of a DTC are where the product has them."""

    def at(self, spec, product, pmu):
        self.spec, self.product = spec, product
        CountTest.setUp(self)
        dtc = self.mesh.of_type(DTC)[0]
        dtc.write32(pmu + 0x34, 0xabcd)
        self.assertEqual(dtc.read(pmu + 0x30), 0xabcd << 32)
        self.assertEqual(dtc.read32(0xfcc), 0x43)

    def test_products(self):
        for spec, product, pmu in (("cmn650", None, 0x2000),
                                   ("ci700", None, 0x2000),
                                   ("cmn700", None, 0x2000),
                                   ("cmns3", None, 0xd900),
                                   ("cmns3,rev=2", "cmns3r1", 0xd900)):
            self.at(spec, product, pmu)


class Dirty(CountTest):
    """Section 4.4, number 4: after a kernel that did not clean up"""
    def setUp(self):
        super(CountTest, self).setUp()
        self.mesh.discover()
        self.dtcs = [Dtc(node) for node in self.mesh.of_type(DTC)]
        self.machine.control("set", "cmn0", "dirty", 1)

    def test_counters_run_and_interrupts_are_pending(self):
        for n, dtc in enumerate(self.dtcs):
            self.assertEqual(dtc.read(Dtc.OVS), 0x1ff)
            self.assertTrue(self.interrupts(n))
        before = self.dtm(0x20).counters()[0]
        self.add("flit@0x20,port=0,dir=up,chn=req", 0x10)
        self.assertEqual(self.dtm(0x20).counters()[0],
                         (before + 0x10) % WRAP)
        self.machine.step(MS)
        self.assertEqual(self.dtcs[1].read(Dtc.CYCLES), MS * CLOCK // 10**9)

    def test_watchpoints_are_enabled_and_filters_set(self):
        self.assertEqual(self.dtm(0x20).read(0x100), 1)
        hnf = self.mesh.nodes[HNF, 0x24]
        self.assertEqual(self.selected(hnf), 1 << 32)

    def test_the_order_of_number_4_cleans_up(self):
        for dtc in self.dtcs:
            dtc.node.write32(Dtc.CTL, Dtc.EN)
            dtc.write32(Dtc.PMCR, Dtc.PMU_EN | INTR)
            dtc.write(Dtc.CYCLES, 0)
            dtc.write32(Dtc.OVS_CLR, 0x1ff)
        self.dtcs[0].write32(Dtc.PMCR, 0)
        for n, dtc in enumerate(self.dtcs):
            self.assertEqual(dtc.read(Dtc.OVS), 0)
            self.assertFalse(self.machine.interrupts(FIRST_SPI + n))


if __name__ == "__main__":
    unittest.main()
