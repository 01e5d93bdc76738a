# SPDX-License-Identifier: GPL-2.0-or-later
"""Watchpoints of the CMN models: conformance with
Documentation/hardware/cmn.md, 6.

Values and masks are those of that page's 9.1 and 9.3. Flits are built here
from the positions of 6.4, of which the model knows the NS bits alone.
"""

import unittest

from models.cmn.qtest import Dtm
from models.cmn.test_counters import ALL_ONES, WRAP, CountTest

UP, DOWN = "up", "down"

# Section 6.4: (channel, field): [(group, high, low)]
FIELDS_600 = {
    ("req", "opcode"): [(0, 36, 31)], ("req", "addr"): [(1, 51, 4)],
    ("req", "ns"): [(0, 40, 40)], ("req", "srcid"): [(0, 10, 0)],
    ("rsp", "opcode"): [(0, 18, 15)], ("rsp", "srcid"): [(0, 14, 4)],
    ("snp", "opcode"): [(0, 23, 19), (1, 23, 19)], ("snp", "ns"): [(0, 24, 24)],
    ("dat", "opcode"): [(0, 28, 26)], ("dat", "srcid"): [(0, 14, 4)],
}
FIELDS_650 = {
    ("req", "opcode"): [(0, 35, 29), (2, 17, 11)],
    ("req", "addr"): [(1, 55, 4)], ("req", "ns"): [(0, 39, 39)],
    ("req", "srcid"): [(0, 10, 0), (2, 10, 0)],
    ("rsp", "opcode"): [(0, 19, 15)], ("rsp", "srcid"): [(0, 14, 4)],
    ("snp", "opcode"): [(0, 34, 30)], ("snp", "ns"): [(0, 35, 35)],
    ("dat", "opcode"): [(0, 29, 26), (1, 14, 11)],
    ("dat", "srcid"): [(0, 14, 4), (1, 10, 0)],
}


class WatchTest(CountTest):
    fields = FIELDS_650
    xp = 0x20

    def setUp(self):
        super().setUp()
        self.here = self.dtm(self.xp)
        self.here.count(0, 1, 2, 3)

    def words(self, channel, **values):
        groups = [0, 0, 0]
        for name, value in values.items():
            for group, high, low in self.fields[channel, name]:
                self.assertLess(value, 1 << high - low + 1)
                groups[group] |= value << low
        return groups

    def flit(self, channel, port=0, direction=UP, n=1, vc=0, xp=None,
             groups=None, **values):
        words = groups or self.words(channel, **values)
        text = ",".join(f"g{i}={word:#x}" for i, word in enumerate(words))
        self.add(f"flit@{xp or self.xp:#x},port={port},dir={direction},"
                 f"chn={channel},vc={vc},{text}", n)

    def counted(self):
        """What the four watchpoints have counted since."""
        counters = self.here.counters()
        self.here.write(Dtm.COUNT, 0)
        return counters


class Watch600(WatchTest):
    spec = "cmn600"
    fields = FIELDS_600

    def test_read_no_snp(self):
        self.here.watch(0, 0x1, 0x200000000, 0xffffffe07fffffff)
        self.flit("req", 1, opcode=4, srcid=0x24, n=5)
        self.flit("req", 1, opcode=4, srcid=0x48, ns=1, n=7)
        self.flit("req", 1, opcode=7, n=100)
        self.assertEqual(self.counted(), [12, 0, 0, 0])

    def test_comp_ack(self):
        self.here.watch(1, 0x2, 0x10000, 0xfffffffffff87fff)
        self.flit("rsp", 0, opcode=2, n=3)
        self.flit("rsp", 0, opcode=3, n=100)
        self.assertEqual(self.counted(), [0, 3, 0, 0])

    def test_comp_data(self):
        self.here.watch(2, 0x7, 0x10000000, 0xffffffffe3ffffff)
        self.flit("dat", 1, DOWN, opcode=4, n=3)
        self.flit("dat", 1, DOWN, opcode=3, n=100)
        self.assertEqual(self.counted(), [0, 0, 3, 0])

    def test_a_combined_pair(self):
        self.here.watch(0, 0x41, 0x200000000, 0xffffffe07fffffff)
        self.here.watch(1, 0x11, 0x800000000, 0xfff00000000fffff)
        self.flit("req", 1, opcode=4, addr=0x80001000, n=1)
        self.flit("req", 1, opcode=4, addr=0x8000ffff, n=2)
        self.flit("req", 1, opcode=4, addr=0x80010000, n=4)
        self.flit("req", 1, opcode=7, addr=0x80001000, n=8)
        self.assertEqual(self.counted(), [3, 11, 0, 0])

    def test_exclusive_and_combine_are_bits_5_and_6(self):
        """0x77 of section 9.3: download DAT port 1 group 1, both bits"""
        self.here.watch(2, 0x77, 0x5, ~0xf & ALL_ONES)
        self.here.watch(3, 0x7, 0x6, ~0xf & ALL_ONES)
        for n, (g0, g1) in enumerate(((6, 5), (6, 4), (5, 4), (5, 5))):
            self.flit("dat", 1, DOWN, groups=[g0, g1, 0], n=1 << n)
        self.assertEqual(self.counted(), [0, 0, 2, 3])

    def test_bit_5_of_group_is_exclusive_there(self):
        self.here.watch(0, 0x21, 0, 0)
        self.flit("req", 1, groups=[0, 0, 0], n=1)
        self.flit("req", 1, groups=[1, 0, 0], n=2)
        self.assertEqual(self.counted(), [2, 0, 0, 0])


class Watch700(WatchTest):
    spec = "cmn700"

    def test_read_no_snp_on_port_1(self):
        """The full image of section 9.3, at the XP's own addresses"""
        xp = self.mesh.xps[0x20]
        xp.write32(0x21a0, 0x1)
        xp.write(0x21a8, 0x80000000)
        xp.write(0x21b0, 0xfffffff01fffffff)
        self.flit("req", 1, opcode=4, srcid=0x24, n=5)
        self.flit("req", 1, opcode=7, n=100)
        self.assertEqual(self.counted(), [5, 0, 0, 0])

    def test_comp_ack(self):
        self.here.watch(1, 0x2, 0x10000, 0xfffffffffff07fff)
        self.flit("rsp", 0, opcode=2, n=3)
        self.flit("rsp", 0, opcode=0x12, n=100)
        self.assertEqual(self.counted(), [0, 3, 0, 0])

    def test_comp_data_on_download(self):
        self.here.watch(2, 0x7, 0x10000000, 0xffffffffc3ffffff)
        self.flit("dat", 1, DOWN, opcode=4, n=3)
        self.flit("dat", 1, DOWN, opcode=0xc, n=100)
        self.assertEqual(self.counted(), [0, 0, 3, 0])

    def test_a_combined_pair(self):
        self.here.watch(0, 0x201, 0x80000000, 0xfffffff01fffffff)
        self.here.watch(1, 0x11, 0x800000000, 0xff000000000fffff)
        self.flit("req", 1, opcode=4, addr=0x80001000, n=1)
        self.flit("req", 1, opcode=4, addr=0x8000ffff, n=2)
        self.flit("req", 1, opcode=4, addr=0x80010000, n=4)
        self.flit("req", 1, opcode=7, addr=0x80001000, n=8)
        self.assertEqual(self.counted(), [3, 11, 0, 0])

    def test_the_tertiary_group(self):
        self.here.watch(0, 0x20, 4 << 11, ALL_ONES & ~(0x7f << 11))
        self.flit("req", 0, opcode=4, n=3)
        self.flit("req", 0, opcode=5, n=100)
        self.assertEqual(self.counted(), [3, 0, 0, 0])

    def test_the_reserved_group_sees_nothing(self):
        self.here.watch(0, 0x30, 0, ALL_ONES)
        self.here.watch(1, 0x130, 0, 0)
        self.flit("req", 0, groups=[1, 1, 1])
        self.assertEqual(self.counted(), [0] * 4)

    def test_mask_of_ones_counts_every_flit_of_the_channel(self):
        """Section 9.5"""
        for wp in range(4):
            self.here.watch(wp, 0x2, 0x123, ALL_ONES)
        for n, word in enumerate((0, 1, ALL_ONES)):
            self.flit("rsp", 0, UP, groups=[word] * 3, n=1 << n)
            self.flit("rsp", 0, DOWN, groups=[word] * 3, n=8 << n)
        self.assertEqual(self.counted(), [7, 7, 56, 56])

    def test_an_idle_watchpoint_counts_nothing(self):
        for wp in range(4):
            self.here.watch(wp, 0x0, ALL_ONES, 0)
        for direction in (UP, DOWN):
            self.flit("req", 0, direction, groups=[0, 0, 0])
            self.flit("req", 0, direction, opcode=4, addr=0xfffffffff000)
        self.assertEqual(self.counted(), [0] * 4)

    def test_each_watchpoint_has_one_direction(self):
        for wp in range(4):
            self.here.watch(wp, 0x0)
        self.flit("req", 0, UP, n=3)
        self.assertEqual(self.counted(), [3, 3, 0, 0])
        self.flit("req", 0, DOWN, n=4)
        self.assertEqual(self.counted(), [0, 0, 4, 4])

    def test_each_channel_is_apart(self):
        channels = ("req", "rsp", "snp", "dat")
        for direction, wp in ((UP, 0), (DOWN, 2)):
            for code, channel in enumerate(channels):
                self.here.watch(wp, code << 1)
                for n, other in enumerate(channels):
                    self.flit(other, 0, direction, n=1 << n)
                self.assertEqual(self.counted()[wp], 1 << code, channel)

    def test_reserved_channels_see_nothing(self):
        for code in range(4, 8):
            self.here.watch(0, code << 1)
            for channel in ("req", "rsp", "snp", "dat"):
                self.flit(channel, 0)
            self.assertEqual(self.counted()[0], 0)

    def test_each_port_is_apart(self):
        self.here.watch(0, 0x0)
        self.here.watch(1, 0x1)
        self.flit("req", 0, n=3)
        self.flit("req", 1, n=4)
        self.assertEqual(self.counted(), [3, 4, 0, 0])

    def test_each_xp_is_apart(self):
        self.here.watch(0, 0x0)
        self.flit("req", 0, xp=0x40)
        self.assertEqual(self.counted(), [0] * 4)

    def test_exclusive_counts_the_others_of_the_channel(self):
        self.here.watch(0, 0x100, 0x80000000, 0xfffffff01fffffff)
        self.flit("req", 0, opcode=4, n=1)
        self.flit("req", 0, opcode=7, n=2)
        self.flit("req", 1, opcode=7, n=4)
        self.flit("rsp", 0, opcode=7, n=8)
        self.flit("req", 0, DOWN, opcode=7, n=16)
        self.assertEqual(self.counted(), [2, 0, 0, 0])

    def test_combined_watchpoints_may_be_exclusive_each(self):
        for e0, e1, counted in ((0, 0, 1), (1, 0, 4), (0, 1, 2), (1, 1, 8)):
            self.here.watch(0, 0x200 | e0 << 8, 0, ~1 & ALL_ONES)
            self.here.watch(1, 0x10 | e1 << 8, 0, ~1 & ALL_ONES)
            for n, (g0, g1) in enumerate(((0, 0), (0, 1), (1, 0), (1, 1))):
                self.flit("req", 0, groups=[g0, g1, 0], n=1 << n)
            self.assertEqual(self.counted()[0], counted)

    def test_exclusive_may_be_of_the_pair(self):
        self.machine.control("set", "cmn0", "invert_pair", 1)
        for e0, e1, counted in ((0, 0, 1), (1, 0, 14), (0, 1, 1), (1, 1, 14)):
            self.here.watch(0, 0x200 | e0 << 8, 0, ~1 & ALL_ONES)
            self.here.watch(1, 0x10 | e1 << 8, 0, ~1 & ALL_ONES)
            for n, (g0, g1) in enumerate(((0, 0), (0, 1), (1, 0), (1, 1))):
                self.flit("req", 0, groups=[g0, g1, 0], n=1 << n)
            self.assertEqual(self.counted()[0], counted)
        self.machine.control("set", "cmn0", "invert_pair", 0)

    def test_downloads_combine_too(self):
        self.here.watch(2, 0x200, 0, ~1 & ALL_ONES)
        self.here.watch(3, 0x10, 0, ~1 & ALL_ONES)
        for n, (g0, g1) in enumerate(((0, 0), (0, 1), (1, 0), (1, 1))):
            self.flit("req", 0, DOWN, groups=[g0, g1, 0], n=1 << n)
        self.assertEqual(self.counted()[2], 1)

    def test_both_of_a_pair_need_the_same_port(self):
        self.here.watch(0, 0x200)
        self.here.watch(1, 0x11)
        self.flit("req", 0)
        self.flit("req", 1)
        self.assertEqual(self.counted()[0], 0)

    def test_virtual_channels(self):
        self.here.watch(0, 0x0)
        self.here.watch(1, 1 << 19)
        self.flit("req", 0, vc=0, n=3)
        self.flit("req", 0, vc=1, n=4)
        self.assertEqual(self.counted(), [3, 4, 0, 0])
        self.machine.control("set", "cmn0", "any_vc", 1)
        self.flit("req", 0, vc=0, n=3)
        self.flit("req", 0, vc=1, n=4)
        self.machine.control("set", "cmn0", "any_vc", 0)
        self.assertEqual(self.counted(), [7, 7, 0, 0])

    def test_a_third_port_is_port_0_of_the_second_dtm(self):
        second = self.dtm(0x20, 1)
        second.count(0, 1, 2, 3)
        second.watch(0, 0x0)
        second.watch(1, 0x20000)    # dev_sel2: a port that it does not have
        self.here.watch(0, 0x0)
        self.here.watch(1, 0x20000)
        self.flit("req", 2, n=5)
        self.assertEqual(second.counters(), [5, 0, 0, 0])
        self.assertEqual(self.counted(), [0] * 4)

    def test_a_watchpoint_carries_into_a_global_counter(self):
        self.here.count(0, paired=[4])
        self.here.watch(0, 0x0)
        self.flit("req", 0, n=3 * WRAP + 2)
        self.assertEqual(self.counted()[0], 2)
        self.assertEqual(self.dtcs[0].counter("E"), 3)

    def test_a_download_is_a_flit_that_the_xp_transmits(self):
        self.select_xp(0x20, 0x0000000000f50075)    # p1: dat, req2
        self.here.count(4, 5)
        self.flit("dat", 1, DOWN, n=3)
        self.flit("req", 1, DOWN, vc=1, n=4)
        self.flit("dat", 1, UP, n=100)
        self.flit("dat", 0, DOWN, n=100)
        self.assertEqual(self.counted(), [3, 4, 0, 0])


class Single650(WatchTest):
    """dev_sel2 where one DTM has all ports"""
    spec = "cmn650,mesh=4x2,ports=4"

    def test_port_3(self):
        """0x20317 of section 9.3: download DAT port 3 group 1, both bits"""
        self.here.watch(2, 0x20317, 0x5, ~0xf & ALL_ONES)
        self.here.watch(3, 0x20007, 0x6, ~0xf & ALL_ONES)
        for port in (1, 3):
            for n, (g0, g1) in enumerate(((6, 5), (6, 4), (5, 4))):
                self.flit("dat", port, DOWN, groups=[g0, g1, 0], n=1 << n)
        self.assertEqual(self.counted(), [0, 0, 2, 3])

    def test_there_is_no_channel_number(self):
        self.here.watch(0, 1 << 19)
        self.assertEqual(self.here.read(0x1a0), 0)


class Secure(WatchTest):
    """Section 6.1: without SPNIDEN only what says that it is not secure"""
    spec = "cmn700,spniden=off"

    def test_only_non_secure_flits_are_seen(self):
        for code, channel in enumerate(("req", "rsp", "snp", "dat")):
            self.here.watch(0, code << 1)
            self.flit(channel, 0, n=1)
            if channel in ("req", "snp"):
                self.flit(channel, 0, ns=1, n=2)
            self.assertEqual(self.counted()[0],
                             2 if channel in ("req", "snp") else 0, channel)

    def test_nor_by_exclusion(self):
        self.here.watch(0, 0x100, ALL_ONES, 0)
        self.flit("req", 0)
        self.assertEqual(self.counted()[0], 0)


class SecureInAnyCase(WatchTest):
    """Section 4.1: R has the other side of the dispute"""
    spec = "cmn700,spniden=off,secure-disable=off"

    def test_secure_flits_are_seen(self):
        self.here.watch(0, 1 << 1)
        self.flit("rsp", 0, n=1)
        self.assertEqual(self.counted()[0], 1)


class Forbidden(WatchTest):
    """Section 4.4: without NIDEN nothing is counted"""
    spec = "cmn700,niden=off"

    def test_nothing_is_counted(self):
        self.here.watch(0, 0)
        self.flit("req", 0, n=1)
        self.assertEqual(self.counted()[0], 0)


class Secure600(Secure):
    spec = "cmn600,spniden=off"
    fields = FIELDS_600

    def test_nor_by_exclusion(self):
        self.here.watch(0, 0x20, ALL_ONES, 0)
        self.flit("req", 0)
        self.assertEqual(self.counted()[0], 0)


if __name__ == "__main__":
    unittest.main()
