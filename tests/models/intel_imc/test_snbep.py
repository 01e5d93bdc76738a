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


class Identity(SnbepTest):
    spec = "snbep,sockets=2,nodeids=1+0"

    def test_channels_have_the_ids_of_section_1_2(self):
        for socket in (0, 1):
            for channel, device_id in enumerate((0x3cb0, 0x3cb1, 0x3cb4,
                                                 0x3cb5)):
                imc = Channel(self.machine, channel, socket)
                self.assertEqual(imc.read(0), device_id << 16 | 0x8086)
                self.assertEqual(imc.read(8) >> 8, 0x088000)
                self.assertEqual(imc.read(0x0e, 1), 0x80)   # multifunction
                self.assertEqual(imc.read(0x3d, 1), 0)      # no interrupt pin

    def test_ubox_tells_the_node_id_of_its_bus(self):
        for bus, nodeid in ((0x3f, 1), (0x7f, 0)):
            ubox = (bus, 11, 0)
            self.assertEqual(self.machine.config_read(ubox, 0), 0x3ce08086)
            self.assertEqual(self.machine.config_read(ubox, 0x40), nodeid)
            self.assertEqual(self.machine.config_read(ubox, 0x54), 0x00fac688)

    def test_ubox_registers_are_read_only(self):
        self.machine.config_write((0x3f, 11, 0), 0x54, 0)
        self.machine.config_write((0x3f, 11, 0), 0x40, 5)
        self.assertEqual(self.machine.config_read((0x3f, 11, 0), 0x54),
                         0x00fac688)
        self.assertEqual(self.machine.config_read((0x3f, 11, 0), 0x40), 1)

    def test_ubox_counts_its_accesses(self):
        self.machine.stats("ubox")
        self.machine.config_read((0x3f, 11, 0), 0x40)
        self.machine.config_read((0x3f, 11, 0), 0x54)
        self.machine.config_read((0x3f, 11, 0), 0x54)
        self.assertEqual(self.machine.stats("ubox"),
                         {"nodeid": (1, 0), "map": (2, 0), "config": (0, 0)})

    def test_ubox_can_be_set(self):
        self.machine.control("set", "ubox@1", "nodeid", 5)
        self.machine.control("set", "ubox@1", "gidnidmap", "0x123456")
        self.assertEqual(self.machine.config_read((0x7f, 11, 0), 0x40), 5)
        self.assertEqual(self.machine.config_read((0x7f, 11, 0), 0x54),
                         0x123456)

    def test_sockets_do_not_share_anything(self):
        other = Channel(self.machine, 0, 1)
        for imc in (self.imc, other):
            imc.write(Channel.CTL[0], EN | CAS_RD)
        other.add("cas_rd", 7)
        self.assertEqual(self.ctr(0), 0)
        self.assertEqual(other.counter(Channel.CTR[0]), 7)

    def test_a_name_without_socket_is_socket_0(self):
        self.start(0, CAS_RD)
        self.machine.control("add", "imc0", "cas_rd", 9)
        self.assertEqual(self.ctr(0), 9)


class Registers(SnbepTest):
    def test_everything_resets_to_0(self):
        for register in range(0xa0, 0xfc, 4):
            self.assertEqual(self.imc.read(register), 0, hex(register))

    def test_everything_resets_to_0_again(self):
        for register in range(0xa0, 0xf8, 4):
            self.imc.write(register, 0xffffffff)
        self.imc.set("ctr0", WRAP - 1)
        self.start(0, RPQ_INSERTS)
        self.imc.write(Channel.BOX_CTL, 0)
        self.imc.add("rpq_inserts", 2)
        self.assertEqual(self.imc.read(Channel.BOX_STATUS), 2)
        self.machine.reset()
        self.test_everything_resets_to_0()

    def test_control_keeps_implemented_bits_only(self):
        for register in Channel.CTL:
            self.imc.write(register, 0xffffffff)
            self.assertEqual(self.imc.read(register), 0xffc4ffff)

    def test_fixed_control_keeps_enable_only(self):
        self.imc.write(Channel.FIXED_CTL, 0xffffffff)
        self.assertEqual(self.imc.read(Channel.FIXED_CTL), EN)

    def test_box_control_keeps_17_16_and_8(self):
        self.imc.write(Channel.BOX_CTL, 0xffffffff)
        self.assertEqual(self.imc.read(Channel.BOX_CTL), 0x00030100)

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
        for register in (0x40, 0x54, 0x9c, 0xc0, 0xc4, 0xe8, 0xec, 0xfc):
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

    def test_ddr4_2933_counts_1466666667_a_second(self):
        self.imc.set("dclk", 1466666667)
        self.imc.write(Channel.FIXED_CTL, EN)
        self.machine.step(1000 * MS)
        self.assertEqual(self.fixed(), 1466666667)

    def test_low_half_wraps_after_5_37_seconds(self):
        self.imc.write(Channel.FIXED_CTL, EN)
        self.machine.step(5368709120 - 1)
        self.assertEqual(self.fixed(), (1 << 32) - 1)
        self.machine.step(1)
        self.assertEqual(self.fixed(), 1 << 32)
        self.assertEqual(self.imc.read(Channel.BOX_STATUS), 0)

    def test_ns_times_hz_beyond_64_bits_is_exact(self):
        self.imc.write(Channel.FIXED_CTL, EN)
        self.machine.step(100000 * 1000 * MS + 5)
        self.assertEqual(self.fixed(), 100000 * 800000000 + 4)

    def test_a_change_of_frequency_keeps_the_fraction(self):
        self.imc.write(Channel.FIXED_CTL, EN)
        self.machine.step(1)                        # 0.8
        self.imc.set("dclk", 100000000)
        self.machine.step(1)                        # 0.9
        self.assertEqual(self.fixed(), 0)
        self.machine.step(1)                        # 1.0
        self.assertEqual(self.fixed(), 1)

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

    def test_fixed_reset_bit_clears_and_reads_0(self):
        self.imc.write(Channel.FIXED_CTL, EN)
        self.machine.step(MS)
        self.imc.write(Channel.FIXED_CTL, EN | 1 << 19)
        self.assertEqual(self.imc.read(Channel.FIXED_CTL), EN)
        self.assertEqual(self.fixed(), 0)
        self.machine.step(MS)
        self.assertEqual(self.fixed(), 800000)

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

    def test_frz_without_frz_en_keeps_counting(self):
        self.assertEqual(self.count_with_box(FRZ), (800000, 100))

    def test_frz_with_frz_en_stops(self):
        self.assertEqual(self.count_with_box(FRZ_EN | FRZ), (0, 0))

    def test_frz_en_alone_keeps_counting(self):
        self.assertEqual(self.count_with_box(FRZ_EN), (800000, 100))

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
    def test_added_events_are_counted_exactly(self):
        self.start(0, CAS_RD)
        self.start(1, CAS_WR)
        self.start(2, CAS_ALL)
        self.imc.add("cas_rd", 16384)       # 9.3: 1 MiB of reads
        self.imc.add("cas_wr", 5)
        self.imc.add("cas_rd", 0)
        self.assertEqual([self.ctr(i) for i in range(4)], [16384, 5, 16389, 0])

    def test_every_event_counts_by_its_code_and_umask(self):
        # 5.2, the J column, (code, umask) to sub-events
        listed = {0x01: 0, 0x02: 0x03, 0x04: 0x0f, 0x05: 0x06, 0x06: 0,
                  0x07: 0x0f, 0x08: 0x03, 0x09: 0, 0x10: 0, 0x11: 0, 0x12: 0,
                  0x20: 0, 0x21: 0, 0x22: 0, 0x23: 0, 0x24: 0, 0x41: 0xff,
                  0x43: 0, 0x80: 0, 0x81: 0, 0x83: 0xff, 0x84: 0, 0x85: 0,
                  0x86: 0}
        expected = {(code, 1 << bit if umask else 0)
                    for code, umask in listed.items()
                    for bit in range(8) if not umask or umask >> bit & 1}
        seen = set()
        for line in self.machine.control("list", "imc0").splitlines():
            kind, name, *rest = line.split()
            if kind != "event":
                continue
            code, umask = (int(word.partition("=")[2], 0) for word in rest[1:3])
            seen.add((code, umask))
            self.imc.set("ctr0", 0)
            self.start(0, umask << 8 | code)
            self.start(1, umask << 8 | code ^ 0x20)
            self.imc.add(name, 3)
            self.assertEqual(self.ctr(0), 3, name)
            if rest[0] != "-":
                self.imc.add(rest[0], 4)
                self.assertEqual(self.ctr(0), 7, name)
        self.assertEqual(self.ctr(1), 0)
        self.assertEqual(seen, expected)
        self.assertEqual(len({code for code, _ in seen}), 24)

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


class Overflow(SnbepTest):
    def test_counters_wrap_at_48_bits_and_go_on(self):
        self.start(2, CAS_RD)
        self.imc.set("ctr2", WRAP - 0x10)
        self.imc.add("cas_rd", 0x20)        # 9.2: 0xFFFFFFFFFFF0 to 0x10
        self.assertEqual(self.ctr(2), 0x10)

    def test_reaching_the_last_value_is_no_overflow(self):
        self.start(0, CAS_RD)
        self.imc.set("ctr0", WRAP - 2)
        self.imc.add("cas_rd", 1)
        self.assertEqual(self.imc.read(Channel.BOX_STATUS), 0)
        self.imc.add("cas_rd", 1)
        self.assertEqual(self.imc.read(Channel.BOX_STATUS), 0x02)

    def test_status_names_the_counters_that_wrapped(self):
        for index in range(4):
            self.start(index, (0x01 << index) << 8 | 0x04)
            self.imc.set(f"ctr{index}", WRAP - 1)
        self.assertEqual(self.imc.read(Channel.BOX_STATUS), 0)
        self.imc.add("cas_count.rd_underfill", 1)
        self.assertEqual(self.imc.read(Channel.BOX_STATUS), 1 << 2)
        self.imc.add("cas_count.wr_rmm", 1)
        self.assertEqual(self.imc.read(Channel.BOX_STATUS), 1 << 2 | 1 << 4)
        self.imc.write(Channel.FIXED_CTL, EN)
        self.imc.set("fixed", WRAP - 800000)
        self.machine.step(MS)
        self.assertEqual(self.imc.read(Channel.BOX_STATUS), 1 << 2 | 1 << 4 | 1)
        self.assertEqual(self.fixed(), 0)

    def test_status_is_cleared_by_writing_1(self):
        self.start(0, CAS_RD)
        self.start(1, CAS_RD)
        self.imc.set("ctr0", WRAP - 1)
        self.imc.set("ctr1", WRAP - 1)
        self.imc.add("cas_rd", 1)
        self.assertEqual(self.imc.read(Channel.BOX_STATUS), 0x06)
        self.imc.write(Channel.BOX_STATUS, 0)
        self.assertEqual(self.imc.read(Channel.BOX_STATUS), 0x06)
        self.imc.write(Channel.BOX_STATUS, 0x02)
        self.assertEqual(self.imc.read(Channel.BOX_STATUS), 0x04)
        self.imc.write(Channel.BOX_STATUS + 1, 0xff, 1)
        self.assertEqual(self.imc.read(Channel.BOX_STATUS), 0x04)
        self.imc.write(Channel.BOX_STATUS, 0xffffffff)
        self.assertEqual(self.imc.read(Channel.BOX_STATUS), 0)


class Tear(SnbepTest):
    """9.2: carries between the two halves of a read."""

    def test_low_then_high_sees_the_torn_value_of_9_2(self):
        self.start(0, CAS_RD)
        self.imc.set("ctr0", "0x0000fffffff8")
        self.imc.set("tear0", 0x28)
        self.assertEqual(self.ctr(0), 0x0001fffffff8)
        self.assertEqual(self.ctr(0), 0x000100000020)
        self.assertEqual(self.imc.get("tear0"), 0)

    def test_high_then_low_sees_the_other_one(self):
        self.start(0, CAS_RD)
        self.imc.set("ctr0", "0x0000fffffff0")
        self.imc.set("tearhigh0", 0x15)
        high = self.imc.read(Channel.CTR[0] + 4)
        low = self.imc.read(Channel.CTR[0])
        self.assertEqual(high << 32 | low, 0x000000000005)
        self.assertEqual(self.ctr(0), 0x000100000005)

    def test_only_the_named_counter_tears(self):
        for index in range(4):
            self.start(index, CAS_RD)
        self.imc.set("tear2", 100)
        self.assertEqual([self.ctr(i) for i in range(4)], [0, 0, 0, 0])
        self.assertEqual([self.ctr(i) for i in range(4)], [0, 0, 100, 0])

    def test_any_tears_the_first_running_counter(self):
        self.start(1, CAS_RD)
        self.imc.set("tear", 100)
        self.assertEqual([self.ctr(0), self.ctr(1)], [0, 0])
        self.assertEqual([self.ctr(0), self.ctr(1)], [0, 100])

    def test_the_fixed_counter_tears_too(self):
        self.imc.write(Channel.FIXED_CTL, EN)
        self.imc.set("fixed", 0xffffffff)
        self.imc.set("tearfixed", 1)
        self.assertEqual(self.fixed(), 0x1ffffffff)
        self.assertEqual(self.fixed(), 0x100000000)

    def test_a_frozen_counter_does_not_tear(self):
        self.start(0, CAS_RD)
        self.imc.set("ctr0", 0xffffffff)
        self.imc.set("tear0", 1)
        self.imc.write(Channel.BOX_CTL, FRZ_EN | FRZ)
        self.assertEqual(self.ctr(0), 0xffffffff)
        self.assertEqual(self.imc.get("tear0"), 1)
        self.imc.write(Channel.BOX_CTL, FRZ_EN)
        self.assertEqual(self.ctr(0), 0x1ffffffff)


class ResetBits(SnbepTest):
    def prepare(self):
        self.start(0, CAS_RD)
        self.imc.write(Channel.FIXED_CTL, EN)
        self.imc.add("cas_rd", 5)
        self.machine.step(MS)

    def test_reserved_by_default(self):
        self.prepare()
        self.imc.write(Channel.BOX_CTL, FRZ_EN | RST_CTRS | RST_CTRL)
        self.assertEqual(self.imc.read(Channel.BOX_CTL), FRZ_EN)
        self.assertEqual(self.imc.read(Channel.CTL[0]), EN | CAS_RD)
        self.assertEqual((self.ctr(0), self.fixed()), (5, 800000))


class ResetBitsOn(ResetBits):
    spec = "snbep,reset-bits=on"

    def test_reserved_by_default(self):
        """Not with reset-bits=on: see the other cases."""

    def test_bit_1_clears_the_counters(self):
        self.prepare()
        self.imc.write(Channel.BOX_CTL, FRZ_EN | RST_CTRS)
        self.assertEqual(self.imc.read(Channel.BOX_CTL), FRZ_EN)
        self.assertEqual(self.imc.read(Channel.CTL[0]), EN | CAS_RD)
        self.assertEqual((self.ctr(0), self.fixed()), (0, 0))

    def test_bit_0_clears_the_controls(self):
        self.prepare()
        self.imc.write(Channel.BOX_CTL, FRZ_EN | RST_CTRL)
        self.assertEqual(self.imc.read(Channel.BOX_CTL), FRZ_EN)
        self.assertEqual(self.imc.read(Channel.CTL[0]), 0)
        self.assertEqual(self.imc.read(Channel.FIXED_CTL), 0)
        self.assertEqual((self.ctr(0), self.fixed()), (5, 800000))


class Faults(SnbepTest):
    spec = "snbep,dead=0.2"

    def test_a_dead_channel_keeps_registers_but_counts_nothing(self):
        dead = Channel(self.machine, 2)
        dead.write(Channel.FIXED_CTL, EN)
        dead.write(Channel.CTL[0], EN)
        dead.write(Channel.CTL[1], EN | RPQ_OCCUPANCY | thresh(4) | INV)
        self.machine.step(MS)
        self.assertEqual(dead.read(Channel.FIXED_CTL), EN)
        for register in (Channel.FIXED_CTR, Channel.CTR[0], Channel.CTR[1]):
            self.assertEqual(dead.counter(register), 0)
        self.machine.control("set", "imc2", "tearfixed", 5)
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
        imc.read(Channel.BOX_STATUS)
        imc.read(Channel.CTR[0], 2)
        imc.write(Channel.BOX_CTL + 1, 0, 1)
        imc.read(0)
        imc.read(0x0e, 1)
        imc.write(0xe8, 0)
        self.assertEqual(self.machine.stats("imc0"), {
            "ctl": (1, 2), "ctr": (2, 1), "fixed_ctl": (1, 1),
            "fixed_ctr": (2, 0), "box_ctl": (1, 1), "box_status": (1, 0),
            "narrow": (1, 1), "reserved_write": (0, 0), "config": (2, 1)})
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
        self.assertEqual(len(lines), 4 * 9)
        self.assertIn("imc0@0 box_ctl 1 0", lines)
        self.assertIn("imc3@0 box_ctl 0 0", lines)
        self.assertEqual(len(self.machine.control("stats", "all").splitlines()),
                         4 * 9 + 3)


class Strict(SnbepTest):
    spec = "snbep,strict=on"

    # Section 13 and the tables of section 2
    RESERVED = ((Channel.CTL[0], 1 << 21), (Channel.CTL[1], 1 << 20),
                (Channel.CTL[2], 1 << 17), (Channel.CTL[3], 1 << 16),
                (Channel.BOX_CTL, 1 << 17), (Channel.BOX_CTL, 1 << 1),
                (Channel.BOX_CTL, 1 << 0), (Channel.FIXED_CTL, 1 << 20),
                (Channel.CTR[0] + 4, 1 << 16))

    def test_reserved_writes_are_counted_and_reported(self):
        for count, (register, bit) in enumerate(self.RESERVED, 1):
            self.imc.write(register, bit)
            self.assertIn(f"imc0@0: reserved bits {bit:#010x} written to"
                          f" register {register:#04x}", self.machine.log())
        self.assertEqual(self.machine.stats("imc0")["reserved_write"],
                         (0, count))

    def test_legal_writes_are_not(self):
        self.imc.write(Channel.CTL[0], 0xffc4ffff)
        self.imc.write(Channel.FIXED_CTL, EN | 1 << 19)
        self.imc.write(Channel.BOX_CTL, FRZ_EN | FRZ)
        self.imc.write(Channel.CTR[0], 0xffffffff)
        self.imc.write(Channel.CTR[0] + 4, 0xffff)
        self.assertEqual(self.machine.stats("imc0")["reserved_write"], (0, 0))
        self.assertNotIn("reserved", self.machine.log())


class NotStrict(SnbepTest):
    def test_reserved_writes_pass_in_silence(self):
        for register in Channel.CTL + (Channel.FIXED_CTL, Channel.BOX_CTL):
            self.imc.write(register, 0xffffffff)
        self.assertEqual(self.machine.stats("imc0")["reserved_write"], (0, 0))
        self.assertNotIn("reserved", self.machine.log())


class Control(SnbepTest):
    def test_mistakes_are_told_with_what_exists(self):
        self.assertRefused("imc3@0", "add", "imc9", "cas_rd", 1)
        self.assertRefused("cas_count.rd_reg", "add", "imc0", "bogus", 1)
        self.assertRefused("tearfixed", "set", "imc0", "bogus", 1)
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
                                 "imc3@0"])

    def test_long_answers_come_in_pieces(self):
        text = self.machine.control("list", "imc*")
        self.assertGreater(len(text), 0x2000)
        self.assertEqual(text.count("event cas_count.rd_reg"), 4)


if __name__ == "__main__":
    unittest.main()
