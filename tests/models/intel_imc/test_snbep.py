# SPDX-License-Identifier: GPL-2.0-or-later
"""Conformance of the snbep model with Documentation/hardware/intel_imc.md.

No guest is needed. Numbers in here are that page's, or computed from it; its
sections are named where a number comes from.
"""

import unittest

from models.common.qtest import CommandError
from models.intel_imc.qtest import Channel, Machine

EN, EDGE, INV = 1 << 22, 1 << 18, 1 << 23
FRZ_EN, FRZ = 1 << 16, 1 << 8
RST_CTRS, RST_CTRL = 2, 1
CAS_RD, CAS_WR, CAS_ALL = 0x0304, 0x0c04, 0x0f04
RPQ_INSERTS, RPQ_OCCUPANCY = 0x10, 0x80
WRAP = 1 << 48
MS = 1000000


def thresh(value):
    return value << 24


class SnbepTest(unittest.TestCase):
    spec = "snbep"

    def setUp(self):
        self.machine = Machine(self.spec)
        self.addCleanup(self.machine.close)
        self.imc = Channel(self.machine)

    def start(self, index, ctl):
        self.imc.write(Channel.CTL[index], EN | ctl)

    def ctr(self, index):
        return self.imc.counter(Channel.CTR[index])

    def fixed(self):
        return self.imc.counter(Channel.FIXED_CTR)

    def assertRefused(self, text, *words):
        with self.assertRaises(CommandError) as caught:
            self.machine.control(*words)
        self.assertIn(text, str(caught.exception))


class Answers(SnbepTest):
    """Keys for what no source says; the other tests have what drivers assume."""

    def test_a_counter_that_runs_on_in_a_frozen_channel(self):
        for runs, counts in ((0, (0, 0)), (1, (0, 800000)), (2, (800000, 0))):
            self.imc.set("runs_frozen", runs)
            self.start(0, 0)
            self.imc.write(Channel.FIXED_CTL, EN)
            self.imc.write(Channel.BOX_CTL, FRZ_EN | FRZ)
            before = self.ctr(0), self.fixed()
            self.machine.step(MS)
            self.assertEqual((self.ctr(0) - before[0], self.fixed() - before[1]), counts)
            self.imc.write(Channel.BOX_CTL, FRZ_EN)

    def test_a_threshold_that_has_to_be_exceeded(self):
        self.imc.set("exceeds", 1)
        for index, value in enumerate((0, 3, 4, 5)):
            self.start(index, RPQ_OCCUPANCY | thresh(value))
        self.machine.control("add", "imc0", "rpq_occupancy", 10, 4)
        self.assertEqual([self.ctr(index) for index in range(4)], [40, 10, 0, 0])
        self.start(0, thresh(1))
        self.start(1, 0)
        before = self.ctr(0), self.ctr(1)
        self.machine.step(MS)
        self.assertEqual((self.ctr(0) - before[0], self.ctr(1) - before[1]), (0, 800000))

    def test_edge_and_invert_without_a_threshold(self):
        for alone, counts in ((0, [7, 7, 7, 7, 0]), (1, [0, 0, 7, 7, 0]), (2, [7, 7, 7, 7, 800000])):
            self.imc.set("edge_alone", alone)
            self.imc.set("inv_alone", alone % 2)
            for index, config in enumerate((RPQ_INSERTS | EDGE, RPQ_INSERTS | INV, RPQ_INSERTS | EDGE | thresh(1),
                                            RPQ_INSERTS)):
                self.start(index, config)
            before = [self.ctr(index) for index in range(4)]
            self.machine.control("add", "imc0", "rpq_inserts", 7)
            got = [self.ctr(index) - before[index] for index in range(4)]
            self.start(0, EDGE)
            before = self.ctr(0)
            self.machine.step(MS)
            self.assertEqual([*got, self.ctr(0) - before], counts)

    def test_an_occupancy_that_begins_at_0(self):
        self.imc.set("begins_at", 3)
        self.start(0, RPQ_OCCUPANCY)
        self.start(1, RPQ_OCCUPANCY | thresh(1))
        self.machine.control("add", "imc0", "rpq_occupancy", 10, 4)
        self.machine.control("add", "imc0", "rpq_occupancy", 10, 2)
        self.assertEqual([self.ctr(0), self.ctr(1)], [10, 10])

    def test_umasks_and_event_0(self):
        self.imc.set("needs_umask", 1)
        self.imc.set("no_event_0", 1)
        self.start(0, RPQ_INSERTS)
        self.start(1, RPQ_INSERTS | 0x100)
        self.start(2, 0)
        self.machine.control("add", "imc0", "rpq_inserts", 7)
        self.machine.step(MS)
        self.assertEqual([self.ctr(index) for index in range(3)], [0, 7, 0])
        self.imc.set("arrives", 1)
        for _ in range(2):
            self.imc.write(Channel.BOX_CTL, FRZ_EN)
            self.assertEqual((self.ctr(0), self.ctr(1), self.imc.get("arrives")), (0, 8, 0))

    def test_what_registers_do_otherwise(self):
        self.imc.set("high", 0xffff)
        self.assertEqual(self.ctr(0) >> 48, 0xffff)
        self.imc.set("high", 0)
        self.imc.set("latches", 1)
        self.imc.set("ctr0", (1 << 32) - 1)
        self.assertEqual(self.imc.read(Channel.CTR[0]), 0xffffffff)
        self.imc.set("ctr0", 1 << 32)
        self.assertEqual(self.imc.read(Channel.CTR[0] + 4), 0)
        self.imc.set("twice", 1)
        for wanted in (0, EN | CAS_RD):
            self.start(0, CAS_RD)
            self.assertEqual(self.imc.read(Channel.CTL[0]), wanted)
        self.assertRefused("1 to 22 in a clock", "add", "imc0", "rpq_occupancy", 1, 23)
        self.imc.set("unbounded", 1)
        self.machine.control("add", "imc0", "rpq_occupancy", 1, 23)


class Sockets(SnbepTest):
    spec = "snbep,sockets=2"

    def test_ubox_can_be_set(self):
        self.machine.control("set", "ubox@1", "nodeid", 5)
        self.machine.control("set", "ubox@1", "gidnidmap", "0x123456")
        self.assertEqual(self.machine.config_read((0x7f, 11, 0), 0x40), 5)
        self.assertEqual(self.machine.config_read((0x7f, 11, 0), 0x54),
                         0x123456)

    def test_a_name_without_socket_is_socket_0(self):
        self.start(0, CAS_RD)
        self.machine.control("add", "imc0", "cas_rd", 9)
        self.assertEqual(self.ctr(0), 9)


    def test_a_socket_that_dozes_has_no_clock(self):
        # The machine has one CPU, so nobody is ever awake in socket 1.
        other = Channel(self.machine, socket=1)
        for imc in (self.imc, other):
            imc.set("doze", 1)
            imc.write(Channel.FIXED_CTL, EN)
        self.machine.step(MS)
        self.assertEqual(self.fixed(), 800000)
        self.assertEqual(other.counter(Channel.FIXED_CTR), 0)
        other.set("doze", 0)
        self.machine.step(MS)
        self.assertEqual(other.counter(Channel.FIXED_CTR), 800000)


class Sleep(SnbepTest):
    def test_registers_are_reset(self):
        self.imc.write(Channel.FIXED_CTL, EN)
        self.imc.write(Channel.BOX_CTL, FRZ_EN)
        self.start(1, CAS_RD)
        self.imc.add("cas_rd", 5)
        self.machine.sleep()
        for register in range(0xa0, 0xf8, 4):
            self.assertEqual(self.imc.read(register), 0, hex(register))

    def test_faults_are_not(self):
        self.imc.set("lose", 3)
        self.machine.sleep()
        self.assertEqual(self.imc.get("lose"), 3)

    def test_firmware_keeps_the_chipset_unless_it_forgets(self):
        mch, lpc = (0, 0, 0), (0, 31, 0)
        for forgets, space in ((0, 0xb0000001), (1, 0xb0000000)):
            self.machine.config_write(mch, 0x60, 0xb0000001)
            self.machine.control("set", "firmware", "forgets", forgets)
            self.machine.sleep()
            # SeaBIOS begins with switching it off.
            if not forgets:
                self.machine.config_write(mch, 0x60, 0)
            self.assertEqual(self.machine.config_read(mch, 0x60), space)
            self.assertEqual(self.machine.config_read(lpc, 0x40), 0x601)
            self.assertEqual(self.machine.config_read(lpc, 0x44) & 0x80, 0x80)

    def test_qemus_devices_keep_their_addresses(self):
        ahci, bridge = (0, 31, 2), self.machine.bridges[0]
        kept = ((ahci, 0x24, 0xfebf1000), (ahci, 0x04, 0x100002), (bridge, 0x20, 0xfe20fe10), (bridge, 0x04, 0x100002))
        for function, register, value in kept:
            self.machine.config_write(function, register, value)
        before = [self.machine.config_read(function, register) for function, register, _ in kept]
        self.assertEqual(before[0], 0xfebf1000)
        self.machine.sleep()
        self.assertEqual([self.machine.config_read(function, register) for function, register, _ in kept], before)


class Registers(SnbepTest):
    def test_lost_writes_do_not_arrive(self):
        self.imc.set("lose", 2)
        for register, wanted in ((Channel.CTL[0], 0), (Channel.BOX_CTL, 0),
                                 (Channel.FIXED_CTL, EN)):
            self.imc.write(register, EN)
            self.assertEqual(self.imc.read(register), wanted)
        self.assertEqual(self.imc.get("lose"), 0)

    def test_everything_resets_to_0(self):
        for register in range(0xa0, 0xf8, 4):
            self.imc.write(register, 0xffffffff)
        self.machine.reset()
        for register in range(0xa0, 0xf8, 4):
            self.assertEqual(self.imc.read(register), 0, hex(register))

    def test_control_keeps_implemented_bits_only(self):
        for register in Channel.CTL:
            self.imc.write(register, 0xffffffff)
            self.assertEqual(self.imc.read(register), 0xffc4ffff)

    def test_fixed_control_keeps_enable_only(self):
        self.imc.write(Channel.FIXED_CTL, 0xffffffff)
        self.assertEqual(self.imc.read(Channel.FIXED_CTL), EN)

    def test_counters_have_48_bits(self):
        for register in Channel.CTR + (Channel.FIXED_CTR,):
            self.imc.write(register, 0xffffffff)
            self.imc.write(register + 4, 0xffffffff)
            self.assertEqual(self.imc.counter(register), WRAP - 1)

    def test_writing_one_half_leaves_the_other(self):
        for register in Channel.CTR + (Channel.FIXED_CTR,):
            self.imc.write(register + 4, 0x1234)
            self.imc.write(register, 0x89abcdef)
            self.assertEqual(self.imc.counter(register), 0x123489abcdef)
            self.imc.write(register + 4, 0x4321)
            self.assertEqual(self.imc.counter(register), 0x432189abcdef)

    def test_the_rest_is_not_writable(self):
        for register in (0x40, 0x54, 0x9c, 0xc0, 0xc4, 0xe8, 0xec, 0xf8, 0xfc):
            self.imc.write(register, 0xffffffff)
            self.assertEqual(self.imc.read(register), 0, hex(register))

    def test_bytes_and_words_are_part_of_the_dword(self):
        self.imc.write(Channel.CTL[1], 0x16400080)
        self.imc.write(Channel.CTL[1] + 1, 0x03, 1)
        self.imc.write(Channel.CTL[1] + 2, 0x2240, 2)
        self.assertEqual(self.imc.read(Channel.CTL[1]), 0x22400380)
        self.assertEqual(self.imc.read(Channel.CTL[1] + 3, 1), 0x22)
        self.assertEqual(self.imc.read(Channel.CTL[1], 2), 0x0380)
        self.imc.write(Channel.CTR[2], 0x11223344)
        self.imc.write(Channel.CTR[2] + 2, 0x5566, 2)
        self.assertEqual(self.ctr(2), 0x55663344)


class Clock(SnbepTest):
    """2.3: the fixed counter counts DRAM clocks, 800 MHz by default."""

    def test_ddr3_1600_counts_800_a_microsecond(self):
        self.imc.write(Channel.FIXED_CTL, EN)
        self.machine.step(MS)
        self.assertEqual(self.fixed(), 800000)

    def test_fractions_of_a_clock_add_up(self):
        base = self.machine.now * 800 // 1000
        self.imc.write(Channel.FIXED_CTL, EN)
        for _ in range(12):
            self.machine.step(1)
            self.assertEqual(self.fixed(),
                             self.machine.now * 800 // 1000 - base)

    def test_low_half_wraps_after_5_37_seconds(self):
        self.imc.write(Channel.FIXED_CTL, EN)
        self.machine.step(5368709120 - 1)
        self.assertEqual(self.fixed(), (1 << 32) - 1)
        self.machine.step(1)
        self.assertEqual(self.fixed(), 1 << 32)

    def test_ns_times_hz_beyond_64_bits_is_exact(self):
        self.imc.write(Channel.FIXED_CTL, EN)
        self.machine.step(100000 * 1000 * MS + 5)
        self.assertEqual(self.fixed(), 100000 * 800000000 + 4)

    def test_windows_of_enable_are_exact(self):
        expected = 0
        for ns in (1, 3, 7, 1000003, 999):
            before = self.machine.now * 800 // 1000
            self.imc.write(Channel.FIXED_CTL, EN)
            self.machine.step(ns)
            self.imc.write(Channel.FIXED_CTL, 0)
            expected += self.machine.now * 800 // 1000 - before
            self.machine.step(12345)
        self.assertEqual(self.fixed(), expected)

    def test_event_0_counts_clocks_on_a_general_counter(self):
        self.start(0, 0x0000)
        self.start(1, 0x0100)       # 5.1: code 00 umask 01
        self.start(2, 0x0200)       # no source says that this counts
        self.machine.step(MS)
        self.assertEqual([self.ctr(i) for i in (0, 1, 2)], [800000, 800000, 0])

    def test_event_0_obeys_threshold_invert_and_edge(self):
        self.start(0, thresh(1))
        self.start(1, thresh(2))
        self.start(2, thresh(2) | INV)
        self.start(3, thresh(1) | EDGE)
        self.machine.step(MS)
        self.assertEqual([self.ctr(i) for i in range(4)],
                         [800000, 0, 800000, 0])
        self.start(0, thresh(1) | INV)
        self.machine.step(MS)
        self.assertEqual(self.ctr(0), 800000)

    def test_writing_a_running_counter_moves_its_base(self):
        self.imc.write(Channel.FIXED_CTL, EN)
        self.machine.step(MS)
        self.imc.write(Channel.FIXED_CTR, 5)
        self.machine.step(MS)
        self.assertEqual(self.fixed(), 800005)

    def test_no_half_is_latched(self):
        self.imc.write(Channel.FIXED_CTL, EN)
        self.imc.set("fixed", "0xfffffff8")
        self.assertEqual(self.imc.read(Channel.FIXED_CTR), 0xfffffff8)
        self.machine.step(10)
        self.assertEqual(self.imc.read(Channel.FIXED_CTR + 4), 1)


class Freeze(SnbepTest):
    """9.3: bit 8 stops the counters only while bit 16 is set."""

    def count_with_box(self, box):
        self.imc.write(Channel.FIXED_CTL, EN)
        self.start(0, CAS_RD)
        self.imc.write(Channel.BOX_CTL, box)
        self.machine.step(MS)
        self.imc.add("cas_rd", 100)
        return self.fixed(), self.ctr(0)

    def test_unfreezing_goes_on_from_the_old_value(self):
        self.count_with_box(FRZ_EN)
        self.imc.write(Channel.BOX_CTL, FRZ_EN | FRZ)
        self.machine.step(MS)
        self.imc.add("cas_rd", 1000)
        self.imc.write(Channel.BOX_CTL, FRZ_EN)
        self.machine.step(MS)
        self.imc.add("cas_rd", 1)
        self.assertEqual((self.fixed(), self.ctr(0)), (1600000, 101))

    def test_clearing_frz_en_alone_unfreezes(self):
        self.count_with_box(FRZ_EN | FRZ)
        self.imc.write(Channel.BOX_CTL, FRZ)
        self.imc.add("cas_rd", 3)
        self.assertEqual(self.ctr(0), 3)


class Events(SnbepTest):
    def test_umask_selects_sub_events(self):
        for index, umask in enumerate((0x01, 0x02, 0x0c, 0x00)):
            self.start(index, umask << 8 | 0x04)
        self.imc.add("cas_count.rd_reg", 1)
        self.imc.add("cas_count.rd_underfill", 10)
        self.imc.add("cas_count.wr_wmm", 100)
        self.imc.add("cas_count.wr_rmm", 1000)
        self.assertEqual([self.ctr(i) for i in range(4)], [1, 10, 1100, 0])

    def test_without_sub_events_umask_is_0_or_has_bit_0(self):
        for index, umask in enumerate((0x00, 0x01, 0x02, 0x03)):
            self.start(index, umask << 8 | RPQ_INSERTS)
        self.imc.add("rpq_inserts", 6)
        self.assertEqual([self.ctr(i) for i in range(4)], [6, 6, 0, 6])

    def test_a_disabled_counter_does_not_count(self):
        self.imc.write(Channel.CTL[0], CAS_RD)
        self.imc.add("cas_rd", 5)
        self.assertEqual(self.ctr(0), 0)

    def test_without_threshold_increments_add_up(self):
        self.start(0, RPQ_OCCUPANCY)
        self.imc.add("rpq_occupancy", 10, 22)
        self.imc.add("rpq_occupancy", 3, 1)
        self.assertEqual(self.ctr(0), 223)

    def test_a_threshold_counts_clocks_that_reach_it(self):
        for index, value in enumerate((1, 4, 22, 23)):
            self.start(index, RPQ_OCCUPANCY | thresh(value))
        self.imc.add("rpq_occupancy", 100, 3)
        self.imc.add("rpq_occupancy", 10, 4)
        self.imc.add("rpq_occupancy", 1, 22)
        self.assertEqual([self.ctr(i) for i in range(4)], [111, 11, 1, 0])

    def test_edges_are_separate_rises(self):
        self.start(0, RPQ_OCCUPANCY | thresh(4) | EDGE)
        self.start(1, RPQ_OCCUPANCY | thresh(4) | EDGE | INV)
        self.start(2, 0x11 | EDGE)
        self.start(3, RPQ_OCCUPANCY | EDGE)
        self.imc.add("rpq_occupancy", 50, 3)
        self.imc.add("rpq_occupancy", 7, 4)
        self.imc.add("rpq_cycles_ne", 9)
        self.machine.step(MS)
        self.assertEqual([self.ctr(i) for i in range(4)], [7, 7, 9, 0])

    def test_invert_counts_the_other_clocks(self):
        # 9.1 row 10: event 0x80, inv, thresh 4
        self.start(0, RPQ_OCCUPANCY | thresh(4) | INV)
        self.machine.step(MS)
        self.assertEqual(self.ctr(0), 800000)
        self.imc.add("rpq_occupancy", 1000, 4)
        self.imc.add("rpq_occupancy", 5000, 3)
        self.machine.step(MS)
        self.assertEqual(self.ctr(0), 1599000)

    def test_an_inverted_counter_never_runs_backwards(self):
        self.start(0, RPQ_OCCUPANCY | thresh(1) | INV)
        self.machine.step(1000)
        self.imc.add("rpq_occupancy", 8000)
        self.assertEqual(self.ctr(0), 800)
        self.machine.step(5000)
        self.assertEqual(self.ctr(0), 800)
        self.machine.step(6000)
        self.assertEqual(self.ctr(0), 800 + 800)

    def test_invert_without_threshold_is_ignored(self):
        self.start(0, CAS_RD | INV)
        self.machine.step(MS)
        self.imc.add("cas_rd", 5)
        self.assertEqual(self.ctr(0), 5)


class Wrap(SnbepTest):
    def test_counters_wrap_at_48_bits_and_go_on(self):
        self.start(2, CAS_RD)
        self.imc.set("ctr2", WRAP - 0x10)
        self.imc.add("cas_rd", 0x20)        # 9.2: 0xFFFFFFFFFFF0 to 0x10
        self.assertEqual(self.ctr(2), 0x10)


class Tear(SnbepTest):
    """9.2: carries between the two halves of a read."""

    def test_low_then_high_sees_the_torn_value_of_9_2(self):
        self.start(0, CAS_RD)
        self.imc.set("ctr0", "0x0000fffffff8")
        self.imc.set("tear", 0x28)
        self.assertEqual(self.ctr(0), 0x0001fffffff8)
        self.assertEqual(self.ctr(0), 0x000100000020)
        self.assertEqual(self.imc.get("tear"), 0)

    def test_high_then_low_sees_the_other_one(self):
        self.start(0, CAS_RD)
        self.imc.set("ctr0", "0x0000fffffff0")
        self.imc.set("tearhigh", 0x15)
        high = self.imc.read(Channel.CTR[0] + 4)
        low = self.imc.read(Channel.CTR[0])
        self.assertEqual(high << 32 | low, 0x000000000005)
        self.assertEqual(self.ctr(0), 0x000100000005)

    def test_the_first_running_counter_tears(self):
        self.start(1, CAS_RD)
        self.imc.set("tear", 100)
        self.assertEqual([self.ctr(0), self.ctr(1)], [0, 0])
        self.assertEqual([self.ctr(0), self.ctr(1)], [0, 100])

    def test_the_fixed_counter_tears_too(self):
        self.imc.write(Channel.FIXED_CTL, EN)
        self.imc.set("fixed", 0xffffffff)
        self.imc.set("tear", 1)
        self.assertEqual(self.fixed(), 0x1ffffffff)
        self.assertEqual(self.fixed(), 0x100000000)

    def test_a_frozen_counter_does_not_tear(self):
        self.start(0, CAS_RD)
        self.imc.set("ctr0", 0xffffffff)
        self.imc.set("tear", 1)
        self.imc.write(Channel.BOX_CTL, FRZ_EN | FRZ)
        self.assertEqual(self.ctr(0), 0xffffffff)
        self.assertEqual(self.imc.get("tear"), 1)
        self.imc.write(Channel.BOX_CTL, FRZ_EN)
        self.assertEqual(self.ctr(0), 0x1ffffffff)


class ResetBits(SnbepTest):
    """2.1: BOX_CTL 1:0 are reserved here."""

    def test_they_reset_nothing(self):
        self.start(0, CAS_RD)
        self.imc.write(Channel.FIXED_CTL, EN)
        self.imc.add("cas_rd", 5)
        self.machine.step(MS)
        self.imc.write(Channel.BOX_CTL, FRZ_EN | RST_CTRS | RST_CTRL)
        self.assertEqual(self.imc.read(Channel.BOX_CTL), FRZ_EN)
        self.assertEqual(self.imc.read(Channel.CTL[0]), EN | CAS_RD)
        self.assertEqual((self.ctr(0), self.fixed()), (5, 800000))


class Faults(SnbepTest):
    def test_a_dead_channel_keeps_registers_but_counts_nothing(self):
        dead = Channel(self.machine, 2)
        dead.set("dead", 1)
        dead.write(Channel.FIXED_CTL, EN)
        dead.write(Channel.CTL[0], EN)
        dead.write(Channel.CTL[1], EN | RPQ_OCCUPANCY | thresh(4) | INV)
        self.machine.step(MS)
        self.assertEqual(dead.read(Channel.FIXED_CTL), EN)
        for register in (Channel.FIXED_CTR, Channel.CTR[0], Channel.CTR[1]):
            self.assertEqual(dead.counter(register), 0)
        dead.set("tear", 5)
        self.assertEqual([dead.counter(Channel.FIXED_CTR) for _ in range(2)],
                         [0, 0])
        dead.write(Channel.CTR[0], 77)
        self.assertEqual(dead.counter(Channel.CTR[0]), 77)
        self.assertRefused("dead", "add", "imc2", "cas_rd", 1)

    def test_death_comes_and_goes(self):
        self.imc.write(Channel.FIXED_CTL, EN)
        self.machine.step(MS)
        self.imc.set("dead", 1)
        self.machine.step(MS)
        self.assertEqual(self.fixed(), 800000)
        self.imc.set("dead", 0)
        self.machine.step(MS)
        self.assertEqual(self.fixed(), 1600000)

    def test_gone_is_all_ones_and_deaf(self):
        self.start(0, CAS_RD)
        self.imc.set("gone", 1)
        self.assertEqual(self.imc.read(0), 0xffffffff)
        self.assertEqual(self.imc.read(0, 2), 0xffff)
        self.assertEqual(self.imc.read(0x0e, 1), 0xff)
        self.assertEqual(self.ctr(0), 0xffffffffffffffff)
        self.imc.write(Channel.CTL[0], 0)
        self.imc.set("gone", 0)
        self.assertEqual(self.imc.read(0), 0x3cb08086)
        self.assertEqual(self.imc.read(Channel.CTL[0]), EN | CAS_RD)

    def test_the_last_access(self):
        self.start(0, CAS_RD)
        self.imc.set("accesses", 0)
        self.imc.set("last", 3)
        self.assertEqual(self.imc.read(0), 0x3cb08086)
        self.assertEqual(self.imc.read(Channel.CTL[0]), EN | CAS_RD)
        self.imc.write(Channel.CTL[1], 1)
        self.assertEqual(self.imc.read(Channel.CTL[0]), 0xffffffff)
        self.assertEqual(self.imc.read(0), 0xffffffff)
        self.imc.write(Channel.CTL[0], 0)
        self.assertEqual(self.imc.get("accesses"), 2)
        self.imc.set("last", 0)
        self.assertEqual(self.imc.read(Channel.CTL[0]), EN | CAS_RD)
        self.assertEqual(self.imc.read(Channel.CTL[1]), 1)
        self.assertEqual(self.imc.read(0), 0x3cb08086)

    def test_an_odd_access(self):
        self.imc.write(Channel.CTL[0], CAS_RD)
        for odd_as, value in (0, 0), (1, 0xffffffff), (7, CAS_RD ^ 1 << 5):
            self.imc.set("odd_as", odd_as)
            self.imc.set("odd", 2)
            self.assertEqual([self.imc.read(Channel.CTL[0]) for _ in range(3)],
                             [CAS_RD, value, CAS_RD])
        self.imc.set("odd", 1)
        self.imc.write(Channel.CTL[0], 1)
        self.assertEqual(self.imc.get("odd"), 0)
        self.assertEqual(self.imc.read(Channel.CTL[0]), 1)

    def test_a_ubox_answers_for_the_last_time(self):
        self.machine.control("set", "ubox@0", "last", 2)
        ubox = (0x3f, 0x0b, 0)
        before = self.machine.config_read(ubox, 0x54)
        self.assertEqual(before, 0x00fac688)
        self.assertEqual(self.machine.config_read(ubox, 0x54), 0xffffffff)


class Statistics(SnbepTest):
    def test_accesses_are_counted_by_class(self):
        imc = self.imc
        self.machine.stats("imc0")
        imc.write(Channel.CTL[0], CAS_RD)
        imc.write(Channel.CTL[3], CAS_RD)
        imc.read(Channel.CTL[1])
        self.ctr(0)
        imc.write(Channel.CTR[3] + 4, 0)
        imc.read(Channel.FIXED_CTL)
        imc.write(Channel.FIXED_CTL, EN)
        self.fixed()
        imc.write(Channel.BOX_CTL, FRZ_EN)
        imc.read(Channel.BOX_CTL)
        imc.read(Channel.CTR[0], 2)
        imc.write(Channel.BOX_CTL + 1, 0, 1)
        imc.read(0)
        imc.read(0x0e, 1)
        imc.write(0xe8, 0)
        self.assertEqual(self.machine.stats("imc0"), {
            "ctl": (1, 2), "ctr": (2, 1), "fixed_ctl": (1, 1),
            "fixed_ctr": (2, 0), "box_ctl": (1, 1), "narrow": (1, 1),
            "config": (2, 1)})
        self.assertEqual(set(self.machine.stats("imc0").values()), {(0, 0)})

    def test_control_commands_are_not_accesses(self):
        self.machine.stats("imc0")
        self.imc.set("ctr0", 5)
        self.imc.get("ctr0")
        self.imc.add("cas_rd", 5)
        self.assertEqual(set(self.machine.stats("imc0").values()), {(0, 0)})

    def test_a_pattern_prefixes_the_device(self):
        self.machine.control("stats", "imc*", "--reset")
        self.imc.read(Channel.BOX_CTL)
        lines = self.machine.control("stats", "imc*").splitlines()
        self.assertEqual(len(lines), 4 * 7)
        self.assertIn("imc0@0 box_ctl 1 0", lines)
        self.assertIn("imc3@0 box_ctl 0 0", lines)
        self.assertEqual(self.machine.control("stats", "ubox*"), "")


class Reserved(SnbepTest):
    # Section 13 and the tables of section 2
    RESERVED = ((Channel.CTL[0], 1 << 21), (Channel.CTL[1], 1 << 20),
                (Channel.CTL[2], 1 << 17), (Channel.CTL[3], 1 << 16),
                (Channel.BOX_CTL, 1 << 17), (Channel.BOX_CTL, 1 << 1),
                (Channel.BOX_CTL, 1 << 0), (Channel.FIXED_CTL, 1 << 20),
                (Channel.CTR[0] + 4, 1 << 16))

    def test_a_forbidden_write_is_remembered(self):
        for register, bit in self.RESERVED:
            self.imc.write(register, bit)
            self.assertEqual(self.imc.get("reserved"), register << 32 | bit)
            self.imc.set("reserved", 0)

    def test_the_first_one_stays(self):
        self.imc.write(Channel.CTL[0], 1 << 21)
        self.imc.write(Channel.CTL[0], 1 << 16)
        self.assertEqual(self.imc.get("reserved"), 0xd8 << 32 | 1 << 21)

    def test_a_legal_write_is_not(self):
        self.imc.write(Channel.CTL[0], 0xffc4ffff)
        self.imc.write(Channel.FIXED_CTL, EN | 1 << 19)
        self.imc.write(Channel.BOX_CTL, FRZ_EN | FRZ)
        self.imc.write(Channel.CTR[0], 0xffffffff)
        self.imc.write(Channel.CTR[0] + 4, 0xffff)
        self.assertEqual(self.imc.get("reserved"), 0)


class Control(SnbepTest):
    def test_mistakes_are_told_with_what_exists(self):
        self.assertRefused("imc3@0", "add", "imc9", "cas_rd", 1)
        self.assertRefused("cas_count.rd_reg", "add", "imc0", "bogus", 1)
        self.assertRefused("tearhigh", "set", "imc0", "bogus", 1)
        self.assertRefused("ctr3", "get", "imc0", "bogus")
        self.assertRefused("no events", "add", "ubox", "cas_rd", 1)
        self.assertRefused("stats DEVICE", "bogus")
        self.assertRefused("usage: add DEVICE EVENT N", "add", "imc0")
        self.assertRefused("--reset", "stats", "imc0", "--clear")

    def test_numbers_are_checked(self):
        for text in ("-1", "1x", "", "0x", "1e6", "+1", "18446744073709551616"):
            if text:
                self.assertRefused("not a number", "add", "imc0", "cas_rd",
                                   text)
        self.assertRefused("too large", "add", "imc0", "cas_rd", 2**64 - 1)
        self.assertRefused("too large", "set", "imc0", "ctr0", 1 << 48)
        self.assertRefused("too large", "set", "imc0", "dead", 2)
        self.assertRefused("too large", "set", "imc0", "reserved", 1)
        self.assertRefused("1 to 22", "add", "imc0", "rpq_occupancy", 1, 23)
        self.assertRefused("1 to 1", "add", "imc0", "cas_rd", 1, 0)
        self.start(0, CAS_RD)
        self.imc.add("cas_rd", "0x10")
        self.imc.add("cas_rd", "010")
        self.assertEqual(self.ctr(0), 24)

    def test_a_command_that_is_too_long_is_refused(self):
        data = b"l" * 4096
        self.machine.qtest(f"write {0xe0001000:#x} 4096 0x{data.hex()}")
        self.machine.qtest(f"writeb {0xe0000008:#x} 1")
        self.assertEqual(self.machine.qtest(f"readb {0xe0000009:#x}"),
                         ["0x0000000000000001"])
        self.assertIn(b"longer than 4095", self.machine.window())

    def test_list_names_every_device(self):
        names = [line.split()[0]
                 for line in self.machine.control("list").splitlines()]
        self.assertEqual(names, ["ubox@0", "imc0@0", "imc1@0", "imc2@0",
                                 "imc3@0", "firmware"])

    def test_long_answers_come_in_pieces(self):
        text = self.machine.control("list", "imc*")
        self.assertGreater(len(text), 0x2000)
        self.assertEqual(text.count("event cas_count.rd_reg"), 4)


if __name__ == "__main__":
    unittest.main()
