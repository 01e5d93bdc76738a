# SPDX-License-Identifier: GPL-2.0-or-later
"""Counting in the CMN models: conformance with
Documentation/hardware/cmn.md, 2 to 4.

Numbers in here are that page's, or computed from it; its sections are named
where a number comes from.
"""

import unittest

from models.cmn.qtest import FIRST_SPI, Dtc, Dtm
from models.cmn.test_discovery import (CCHA, CCLA, CCLA_RNI, CCRA, CXHA, CXRA,
                                       DN, DTC, HNF, HNI, HNP, HNS, MTSX, RND,
                                       RNI, SBSX, CmnTest)

ALL_ONES = (1 << 64) - 1
WRAP = 1 << 16
MS = 1000000


def device(port, dev, line):
    """Input selector of section 2.5"""
    return 0x10 + (port << 4) + (dev << 2) + line


class CountTest(CmnTest):
    """A mesh that counts: every DTC and DTM is on."""

    def setUp(self):
        super().setUp()
        self.mesh.discover()
        self.dtcs = [Dtc(node) for node in self.mesh.of_type(DTC)]
        for dtc in reversed(self.dtcs):
            dtc.enable()

    def dtm(self, xp, n=0):
        return Dtm(self.mesh.xps[xp], n)

    def select(self, node, value, offset=0):
        node.write(self.mesh.pmu + offset, value)

    def selected(self, node, offset=0):
        return node.read(self.mesh.pmu + offset)

    def select_xp(self, xp, value):
        self.mesh.xps[xp].write(self.mesh.xp_pmu, value)

    def add(self, event, n=1):
        self.machine.control("add", "cmn0", event, n)

    def interrupts(self, dtc=0):
        return self.machine.interrupts(FIRST_SPI + dtc)


class SelectorBits:
    """Sections 3.1 and 3.2: what a selector keeps of all ones"""

    xp_bits = None
    bits = {}

    def test_a_selector_keeps_what_it_has(self):
        for (node_type, offset), kept in self.bits.items():
            nodes = self.mesh.of_type(node_type)
            self.assertTrue(nodes, hex(node_type))
            for node in nodes:
                self.select(node, ALL_ONES, offset)
                self.assertEqual(self.selected(node, offset), kept,
                                 hex(node_type))

    def test_an_xp_selector_keeps_what_it_has(self):
        for xp in self.mesh.xps.values():
            xp.write(self.mesh.xp_pmu, ALL_ONES)
            self.assertEqual(xp.read(self.mesh.xp_pmu), self.xp_bits)

    def test_halves_are_written_alone(self):
        node = self.mesh.of_type(DN)[0]
        node.write32(self.mesh.pmu, 0x04030201)
        node.write32(self.mesh.pmu + 4, 2)
        self.assertEqual(self.selected(node), 0x0000000204030201)
        node.write32(self.mesh.pmu, 0)
        self.assertEqual(self.selected(node), 0x0000000200000000)


IDS5, IDS6, IDS7, IDS8 = 0x1f1f1f1f, 0x3f3f3f3f, 0x7f7f7f7f, 0xffffffff
OCCUP3, OCCUP4 = 7 << 32, 0xf << 32
HNF_700 = OCCUP3 | 3 << 35 | 7 << 42


def selector_bits(hnf, rni, cc=None, hns=None, mtsx=True, cml=True):
    bits = {(HNF, 0): hnf, (DN, 0): IDS6 | OCCUP4, (HNI, 0): IDS6,
            (SBSX, 0): IDS6, (RNI, 0): rni, (RND, 0): rni, (HNF, 8): 0}
    if cml:
        bits |= {(CXRA, 0): IDS6 | OCCUP4, (CXHA, 0): IDS6 | OCCUP4}
    if mtsx:
        bits |= {(MTSX, 0): IDS6}
    if cc:
        bits |= {(CCRA, 0): cc | OCCUP4, (CCHA, 0): cc | OCCUP4,
                 (CCLA, 0): 0, (CCLA, 8): cc, (CCLA_RNI, 0): rni,
                 (CCLA_RNI, 8): cc}
    if hns:
        bits |= {(HNS, 0): hns}
    return bits


class Selectors600(SelectorBits, CountTest):
    spec = "cmn600"
    xp_bits = 0xffffffff
    bits = selector_bits(IDS5 | OCCUP3, IDS5, mtsx=False)


class Selectors650(SelectorBits, CountTest):
    spec = "cmn650"
    xp_bits = 0xffffffff
    bits = selector_bits(IDS6 | OCCUP3, IDS5, mtsx=False) | {
        (HNP, 0): IDS6, (HNP, 8): IDS6}


class SelectorsCi700(SelectorBits, CountTest):
    spec = "ci700"
    xp_bits = 0xffffffff
    bits = selector_bits(IDS6 | OCCUP3, IDS5, cml=False)


class Selectors700R1(SelectorBits, CountTest):
    spec = "cmn700,rev=1"
    xp_bits = 0x01ff01ff01ff01ff
    bits = selector_bits(IDS6 | HNF_700, IDS6, IDS7)


class Selectors700R3(SelectorBits, CountTest):
    spec = "cmn700,rev=3"
    xp_bits = 0x01ff01ff01ff01ff
    bits = selector_bits(IDS6 | HNF_700, IDS6, IDS8,
                         IDS6 | HNF_700 | 3 << 37 | 3 << 39)


class SelectorsS3(SelectorBits, CountTest):
    spec = "cmns3"
    xp_bits = 0x01ff01ff01ff01ff
    bits = selector_bits(IDS6 | HNF_700, IDS6, IDS8,
                         IDS6 | HNF_700 | 3 << 37 | 3 << 39)


class SelectorsS3R1(SelectorsS3):
    """The XP's block has moved, the others' has not."""
    spec = "cmns3,rev=2"
    product = "cmns3r1"

    def test_the_old_place_is_empty(self):
        xp = self.mesh.xps[0]
        xp.write(0xd900, ALL_ONES)
        self.assertEqual(xp.read(0xd900), 0)


class SelectorsS3R2(SelectorBits, CountTest):
    spec = "cmns3,rev=3"
    product = "cmns3r1"
    xp_bits = 0x03ff03ff03ff03ff
    # 35:32, 37:36, 39:38, 41:40, 45:42, 47:46, 51:48, 54:52
    bits = selector_bits(IDS6 | HNF_700, IDS7, IDS8,
                         IDS7 | (1 << 55) - (1 << 32))

    def test_reset_value_of_hn_s(self):
        self.machine.reset()
        for node in self.mesh.of_type(HNS):
            self.assertEqual(self.selected(node), 0x0000800000000000)


class DtmRegisters:
    """Sections 2.1 to 2.4: what a register keeps of all ones"""

    wp_bits = (0, 0)
    config_bits = 0xffffffff777701ff
    dtms = 1

    def test_registers_keep_what_they_have(self):
        kept = {0x100: 0xf, 0x118: 0, 0x120: 0, 0x178: 0, 0x200: 0xffffffff,
                0x208: 0xffffff00, 0x210: self.config_bits, 0x218: 0,
                0x220: ALL_ONES, 0x228: 0}
        for n in range(4):
            kept[0x1a0 + 0x18 * n] = self.wp_bits[n % 2]
            kept[0x1a8 + 0x18 * n] = kept[0x1b0 + 0x18 * n] = ALL_ONES
        dtm = self.dtm(0x20)
        for offset, bits in kept.items():
            self.assertEqual(dtm.read(offset), 0, hex(offset))
            dtm.write(offset, ALL_ONES)
            self.assertEqual(dtm.read(offset), bits, hex(offset))

    def test_as_many_dtms_as_there_are(self):
        dtms = [self.dtm(0x20, n) for n in range(4)]
        for n, dtm in enumerate(dtms):
            dtm.write(0x220, 0x1111 * (n + 1))
        self.assertEqual([dtm.read(0x220) for dtm in dtms],
                         [0x1111 * (n + 1) if n < self.dtms else 0
                          for n in range(4)])


class Dtm600(DtmRegisters, CountTest):
    spec = "cmn600"
    wp_bits = (0x7f7f, 0x7f3f)
    config_bits = 0x3f3f3f3f777701ff


class Dtm650(DtmRegisters, CountTest):
    spec = "cmn650,mesh=4x2,ports=4"
    wp_bits = (0x7ffff, 0x7fdff)


class Dtm650Multi(Dtm650):
    spec = "cmn650,mesh=4x2,ports=4,multi-dtm=on"
    dtms = 2


class DtmCi700(DtmRegisters, CountTest):
    spec = "ci700"
    wp_bits = (0x7ffff, 0x7fdff)


class Dtm700(DtmRegisters, CountTest):
    spec = "cmn700"     # 3 ports there
    wp_bits = (0x1fffff, 0x1ffdff)
    dtms = 2


class DtmS3R1(DtmRegisters, CountTest):
    spec = "cmns3,rev=2"
    product = "cmns3r1"
    wp_bits = (0x1fffff, 0x1ffdff)
    dtms = 2


class PmuConfig(CountTest):
    """Section 9.3: the same XP has a device 1 on port 0, and port 1."""
    spec = "cmn600,mesh=4x2,hnd=0.1.1,hnf=1.0.0.0+1.0.0.1+1.0.1"

    def setUp(self):
        super().setUp()
        self.here = self.dtm(0x20)
        self.select(self.mesh.nodes[HNF, 0x24], 0x01)
        self.select(self.mesh.nodes[HNF, 0x21], 0x01000000)
        self.select_xp(0x20, 0x7500)
        self.here.watch(2, 0x7, mask=ALL_ONES)  # downloads of DAT on port 1

    def happen(self):
        self.add("hnf_cache_miss@0x24", 1 * WRAP + 5)
        self.add("flit@0x20,port=1,dir=down,chn=dat", 2 * WRAP + 7)
        self.add("hnf_cache_miss@0x21", 3 * WRAP + 9)
        return ([self.dtcs[0].counter(letter) for letter in "ABCDEFGH"],
                self.here.counters())

    def test_as_the_driver_resets_it(self):
        self.here.write(Dtm.CONFIG, 0x1)
        self.assertEqual(self.happen(), ([0] * 8, [0] * 4))

    def test_one_device(self):
        self.here.write(Dtm.CONFIG, 0x0000002000000011)
        self.assertEqual(self.happen(), ([1, 0, 0, 0, 0, 0, 0, 0],
                                         [5, 0, 0, 0]))

    def test_and_an_xp_event(self):
        self.here.write(Dtm.CONFIG, 0x0000052000100031)
        self.assertEqual(self.happen(), ([1, 2, 0, 0, 0, 0, 0, 0],
                                         [5, 7, 0, 0]))

    def test_and_a_watchpoint_and_another_device(self):
        self.here.write(Dtm.CONFIG, 0x17020520721000f1)
        self.assertEqual(self.happen(), ([1, 2, 2, 0, 0, 0, 0, 3],
                                         [5, 7, 7, 9]))


class Counting(CountTest):
    """CMN-600, XP (1,0) with HN-Fs 0x20 and 0x24, in the domain of DTC 0"""

    def setUp(self):
        super().setUp()
        self.here = self.dtm(0x20)
        self.hnf = self.mesh.nodes[HNF, 0x24]

    def test_every_line_of_a_device(self):
        self.select(self.hnf, 0x04030201)
        self.here.count(*[device(1, 0, line) for line in range(4)])
        for line, event in enumerate(("cache_miss", "slc_sf_cache_access",
                                      "cache_fill", "pocq_retry")):
            self.add(f"hnf_{event}@0x24", line + 10)
        self.assertEqual(self.here.counters(), [10, 11, 12, 13])

    def test_every_device_of_a_port(self):
        # Port 1 of (0,0) has HN-Fs 0x04 and 0x05
        for dev in (0, 1):
            self.select(self.mesh.nodes[HNF, 0x04 + dev], 0x01)
        self.dtm(0x00).count(device(1, 0, 0), device(1, 1, 0))
        self.add("hnf_cache_miss@0x05", 3)
        self.assertEqual(self.dtm(0x00).counters(), [0, 3, 0, 0])
        self.add("hnf_cache_miss@0x04", 4)
        self.assertEqual(self.dtm(0x00).counters(), [4, 3, 0, 0])

    def test_one_line_may_have_several_counters(self):
        self.select(self.hnf, 0x01)
        self.here.count(*[device(1, 0, 0)] * 4)
        self.add("hnf_cache_miss@0x24", 9)
        self.assertEqual(self.here.counters(), [9] * 4)

    def test_nodes_of_one_slot_share_its_lines(self):
        # DN and HN-I of the HN-D at 0x0c
        self.select(self.mesh.nodes[DN, 0x0c], 0x02)
        self.select(self.mesh.nodes[HNI, 0x0c], 0x2000)
        self.dtm(0x08).count(device(1, 0, 0), device(1, 0, 1))
        self.add("dn_rxreq_dvmsync@0x0c", 3)
        self.add("hni_rrt_rd_occ_cnt_ovfl@0x0c", 5)
        self.assertEqual(self.dtm(0x08).counters(), [3, 5, 0, 0])
        # Section 11.6, if it is so
        self.machine.control("set", "cmn0", "lone_lines", 1)
        self.add("dn_rxreq_dvmsync@0x0c", 3)
        self.add("hni_rrt_rd_occ_cnt_ovfl@0x0c", 5)
        self.assertEqual(self.dtm(0x08).counters(), [3, 10, 0, 0])

    def test_events_of_an_xp(self):
        self.select_xp(0x20, 0x16000075)    # section 9.3
        self.here.count(4, 5, 6, 7)
        self.add("mxp_p1_dat_txflit_valid@0x20", 2)
        self.add("mxp_p1_req_txflit_stall@0x20", 3)
        self.assertEqual(self.here.counters(), [2, 0, 0, 3])
        self.add("mxp_p1_dat_txflit_valid@0x40", 2)
        self.assertEqual(self.here.counters(), [2, 0, 0, 3])

    def test_reserved_sources_count_nothing(self):
        self.select(self.hnf, 0x01)
        self.select_xp(0x20, 0x75)
        self.here.count(8, 9, 0xe, 0xf)
        self.add("hnf_cache_miss@0x24", 9)
        self.add("mxp_p1_dat_txflit_valid@0x20", 9)
        self.assertEqual(self.here.counters(), [0] * 4)

    def test_an_unselected_event_counts_nothing(self):
        self.select(self.hnf, 0x02)
        self.here.count(device(1, 0, 0))
        self.add("hnf_cache_miss@0x24", 9)
        self.add("hnf_slc_sf_cache_access@0x20", 9)
        self.assertEqual(self.here.counters(), [0] * 4)

    def test_an_unpaired_counter_just_wraps(self):
        self.select(self.hnf, 0x01)
        self.here.count(device(1, 0, 0))
        self.add("hnf_cache_miss@0x24", WRAP + 1)
        self.assertEqual(self.here.counters(), [1, 0, 0, 0])
        self.assertEqual(self.dtcs[0].read(0), 0)

    def test_counters_can_be_written_while_they_count(self):
        self.select(self.hnf, 0x01)
        self.here.count(device(1, 0, 0), paired=[7])
        self.here.write(Dtm.COUNT, 0x123400000000ffff)
        self.add("hnf_cache_miss@0x24", 1)
        self.assertEqual(self.here.counters(), [0, 0, 0, 0x1234])
        self.assertEqual(self.dtcs[0].counter("H"), 1)

    def test_pmu_en_of_the_dtm(self):
        self.select(self.hnf, 0x01)
        self.here.count(device(1, 0, 0))
        self.here.write(Dtm.CONFIG, self.here.read(Dtm.CONFIG) & ~1)
        self.add("hnf_cache_miss@0x24", 9)
        self.assertEqual(self.here.counters(), [0] * 4)

    def test_dtm_enable_does_not_matter(self):
        self.select(self.hnf, 0x01)
        self.here.count(device(1, 0, 0))
        for value in (0, 1):
            self.here.write(0x100, value)
            self.add("hnf_cache_miss@0x24", 9)
        self.assertEqual(self.here.counters()[0], 18)

    def test_dtm_enable_may_lock_a_dtm(self):
        """Section 11.4, if it is so"""
        self.machine.control("set", "cmn0", "dtm_lock", 1)
        self.here.write(0x100, 1)
        for register in (Dtm.CONFIG, Dtm.COUNT, 0x1a8):
            self.here.write(register, 1)
            self.assertEqual(self.here.read(register), 0)
        self.here.write(0x100, 0)
        self.here.write(Dtm.CONFIG, 1)
        self.assertEqual(self.here.read(Dtm.CONFIG), 1)
        self.machine.control("set", "cmn0", "dtm_lock", 2)
        self.here.read(Dtm.COUNT)
        self.here.write(Dtm.CONFIG, 0)
        self.assertEqual(self.here.read(Dtm.CONFIG), 1)

    def test_a_counter_may_be_cleared_with_its_input(self):
        """No source says which it is"""
        self.select(self.hnf, 0x01)
        for clears, kept in (0, 9), (1, 0):
            self.machine.control("set", "cmn0", "config_clear", clears)
            self.here.write(Dtm.CONFIG, 1)
            self.here.write(Dtm.COUNT, 0)
            self.here.count(device(1, 0, 0), device(1, 0, 0))
            self.add("hnf_cache_miss@0x24", 9)
            self.here.count(device(1, 0, 0), device(1, 0, 1))
            self.assertEqual(self.here.counters()[:2], [9, kept])

    def test_watchpoints_make_packets_while_their_dtc_is_on(self):
        def packets():
            return int(self.machine.control("get", "cmn0", "packets"))

        flit = "flit@0x20,port=0,dir=up,chn=req,g0=1"
        self.machine.control("set", "cmn0", "trace", 1)
        self.add(flit, 3)
        self.assertEqual(packets(), 6)      # WP 0 and 1 both saw it
        self.here.write(0x1a0, 0)
        self.add(flit, 3)
        self.assertEqual(packets(), 9)
        self.dtcs[0].node.write32(Dtc.CTL, 0)
        self.add(flit, 3)
        self.assertEqual(packets(), 9)

    def test_a_filter_may_act_on_every_event(self):
        """Section 11.13, if it is so"""
        self.here.count(device(1, 0, 0))
        self.select(self.hnf, 1 << 32 | 0x01)
        self.add("hnf_cache_miss@0x24", 5)
        self.machine.control("set", "cmn0", "filter_all", 1)
        self.add("hnf_cache_miss@0x24", 70)
        self.assertEqual(self.here.counters()[0], 5)
        self.select(self.hnf, 0x01)
        self.add("hnf_cache_miss@0x24", 900)
        self.assertEqual(self.here.counters()[0], 905)

    def test_combined_pairs(self):
        self.select(self.hnf, 0x0201)
        self.here.count(device(1, 0, 0), device(1, 0, 0), device(1, 0, 1),
                        device(1, 0, 1), paired=[0, 1, 2, 3])
        self.here.write(Dtm.CONFIG, self.here.read(Dtm.CONFIG) | 1 << 1
                        | 1 << 2)
        self.add("hnf_cache_miss@0x24", (5 << 32) + (3 << 16) + 7)
        self.add("hnf_slc_sf_cache_access@0x24", (6 << 32) + (4 << 16) + 8)
        self.assertEqual(self.here.counters(), [7, 3, 8, 4])
        self.assertEqual([self.dtcs[0].counter(letter) for letter in "ABCD"],
                         [0, 5, 0, 6])

    def test_all_combined(self):
        self.select(self.hnf, 0x01)
        self.here.count(*[device(1, 0, 0)] * 4)
        self.here.write(Dtm.CONFIG, self.here.read(Dtm.CONFIG) | 1 << 3)
        self.add("hnf_cache_miss@0x24", 0x700060005)
        self.add("hnf_cache_miss@0x24", 0x800000000000)
        self.add("hnf_cache_miss@0x24", 0x800000000000)
        self.assertEqual(self.here.counters(), [5, 6, 7, 1])

    def test_all_combined_carries_into_a_global_counter(self):
        self.select(self.hnf, 0x01)
        self.here.count(device(1, 0, 0), 0, 0, 0, paired=[0, 1, 2, 3])
        self.here.write(Dtm.CONFIG, self.here.read(Dtm.CONFIG) | 1 << 3)
        self.here.write(Dtm.COUNT, ALL_ONES)
        self.add("hnf_cache_miss@0x24", 2)
        self.assertEqual(self.here.read(Dtm.COUNT), 1)
        self.assertEqual([self.dtcs[0].counter(letter) for letter in "ABCD"],
                         [0, 0, 0, 1])

    def test_filters_of_occupancy(self):
        self.here.count(device(1, 0, 0))
        counted = []
        for occupid in range(5):
            self.select(self.hnf, occupid << 32 | 0x0f)
            self.here.write(Dtm.COUNT, 0)
            for n, kind in enumerate(("all", "read", "write", "atomic",
                                      "stash")):
                self.add(f"hnf_qos_pocq_occupancy_{kind}@0x24", 1 << n)
            counted.append(self.here.counters()[0])
        self.assertEqual(counted, [31, 2, 4, 8, 16])

    def test_sum_over_two_dtms_of_section_9_4(self):
        """Two DTMs feed one letter; the locals' sum goes down, A goes up."""
        self.dtcs[0].set_counter("A", 0x80000000)
        for xp, node, count in ((0x00, 0x04, 0x0010), (0x20, 0x24, 0xfff0)):
            self.select(self.mesh.nodes[HNF, node], 0x01)
            self.dtm(xp).count(device(1, 0, 0), paired=[0])
            self.dtm(xp).write(Dtm.COUNT, count)
        self.add("hnf_cache_miss@0x04", 0x10)
        self.add("hnf_cache_miss@0x24", 0x20)
        self.assertEqual(self.dtm(0x00).counters()[0], 0x20)
        self.assertEqual(self.dtm(0x20).counters()[0], 0x10)
        self.assertEqual(self.dtcs[0].counter("A"), 0x80000001)

    def test_two_dtms_and_two_counters_feed_one_letter(self):
        for xp, node in ((0x00, 0x04), (0x20, 0x24)):
            self.select(self.mesh.nodes[HNF, node], 0x01)
            self.dtm(xp).count(device(1, 0, 0), device(1, 0, 0),
                               paired=[6, 6])
        self.add("hnf_cache_miss", 2 * WRAP)
        self.assertEqual(self.dtcs[0].counter("G"), 8)

    def test_a_dtm_counts_for_the_dtc_of_its_domain(self):
        self.select(self.mesh.nodes[HNF, 0x44], 0x01)
        self.dtm(0x40).count(device(1, 0, 0), paired=[2])
        self.add("hnf_cache_miss@0x44", 4 * WRAP)
        self.assertEqual([dtc.counter("C") for dtc in self.dtcs], [0, 4])

    def test_dtc_0_stops_the_dtms_of_all_domains(self):
        for xp, node in ((0x20, 0x24), (0x40, 0x44)):
            self.select(self.mesh.nodes[HNF, node], 0x01)
            self.dtm(xp).count(device(1, 0, 0), paired=[0])
        self.dtcs[0].write32(Dtc.PMCR, 0)
        self.add("hnf_cache_miss", WRAP + 9)
        for xp in (0x20, 0x40):
            self.assertEqual(self.dtm(xp).counters()[0], 0)
        self.assertEqual([dtc.counter("A") for dtc in self.dtcs], [0, 0])
        self.dtcs[0].write32(Dtc.PMCR, Dtc.PMU_EN)
        self.add("hnf_cache_miss", WRAP + 9)
        for xp in (0x20, 0x40):
            self.assertEqual(self.dtm(xp).counters()[0], 9)
        self.assertEqual([dtc.counter("A") for dtc in self.dtcs], [1, 1])

    def test_nothing_counts_while_dt_en_is_0(self):
        self.select(self.hnf, 0x01)
        self.here.count(device(1, 0, 0), paired=[0])
        self.dtcs[0].node.write32(Dtc.CTL, 0)
        self.add("hnf_cache_miss@0x24", WRAP + 9)
        self.assertEqual(self.here.counters()[0], 0)
        self.assertEqual(self.dtcs[0].counter("A"), 0)

    def test_another_dtc_stops_its_own_counters_only(self):
        self.select(self.mesh.nodes[HNF, 0x44], 0x01)
        self.dtm(0x40).count(device(1, 0, 0), paired=[0])
        self.dtcs[1].write32(Dtc.PMCR, 0)
        self.add("hnf_cache_miss@0x44", WRAP + 9)
        self.assertEqual(self.dtm(0x40).counters()[0], 9)
        self.assertEqual(self.dtcs[1].counter("A"), 0)

    def test_a_reset_clears_everything(self):
        self.select(self.hnf, 0x0f)
        self.here.count(device(1, 0, 0), paired=[0])
        self.here.watch(0, 1, 2, 3)
        self.here.write(Dtm.COUNT, ALL_ONES)
        self.dtcs[0].set_counter("B", 7)
        self.machine.reset()
        self.assertEqual(self.selected(self.hnf), 0)
        for register in (Dtm.CONFIG, Dtm.COUNT, 0x1a0, 0x1a8, 0x1b0):
            self.assertEqual(self.here.read(register), 0)
        for register in (0, Dtc.CYCLES, Dtc.PMCR, Dtc.OVS):
            self.assertEqual(self.dtcs[0].read(register), 0)
        self.assertEqual(self.dtcs[0].node.read(Dtc.CTL), 0)


class Cmn600R2(CountTest):
    """Section 8.1: from r2p0 on DN events are numbered as on CMN-650."""
    spec = "cmn600,rev=4"

    def test_dn_events(self):
        self.select(self.mesh.nodes[DN, 0x0c], 0x01)
        self.dtm(0x08).count(device(1, 0, 0))
        self.add("dn_dvmop_tlbi", 3)
        self.assertEqual(self.dtm(0x08).counters()[0], 3)
        self.assertRefused("no event", "add", "cmn0", "dn_rxreq_dvmop", 1)


class Cmn700(CountTest):
    spec = "cmn700,rev=3"

    def test_an_xp_selector_of_64_bits(self):
        self.select_xp(0x20, 0x0000000001010075)    # section 9.3
        self.dtm(0x20).count(4, 5, 6, 7)
        self.add("mxp_p1_dat_txflit_valid@0x20", 2)
        self.add("mxp_e_snp2_txflit_valid@0x20", 3)
        self.assertEqual(self.dtm(0x20).counters(), [2, 3, 0, 0])

    def test_a_third_port_is_port_0_of_the_second_dtm(self):
        self.select(self.mesh.nodes[HNS, 0x25], 0x01)
        self.dtm(0x20, 0).count(device(2, 1, 0), device(0, 1, 0))
        self.dtm(0x20, 1).count(device(0, 1, 0), device(2, 1, 0), paired=[3])
        self.add("hns_cache_miss_all@0x25", WRAP + 6)
        self.assertEqual(self.dtm(0x20, 0).counters(), [0] * 4)
        self.assertEqual(self.dtm(0x20, 1).counters(), [6, 0, 0, 0])
        self.assertEqual(self.dtcs[0].counter("D"), 1)

    def test_xp_events_reach_all_its_dtms(self):
        self.select_xp(0x20, 0x75)
        for n in (0, 1):
            self.dtm(0x20, n).count(4)
        self.add("mxp_p1_dat_txflit_valid@0x20", 2)
        for n in (0, 1):
            self.assertEqual(self.dtm(0x20, n).counters()[0], 2)

    def test_ccla_has_its_selector_at_8(self):
        ccla = self.mesh.of_type(CCLA)[0]
        self.assertEqual(ccla.id, 0x4c)     # (2,1), port 2 of 4
        self.dtm(0x48, 1).count(device(0, 0, 0))
        self.select(ccla, 0x21, 0)
        self.add("ccla_rx_cxs@0x4c", 3)
        self.assertEqual(self.dtm(0x48, 1).counters()[0], 0)
        self.select(ccla, 0x21, 8)
        self.add("ccla_rx_cxs@0x4c", 3)
        self.assertEqual(self.dtm(0x48, 1).counters()[0], 3)

    def test_ccla_with_an_rn_i_has_both(self):
        both = self.mesh.of_type(CCLA_RNI)[0]
        self.assertEqual(both.id, 0x4e)
        self.select(both, 0x05, 0)
        self.select(both, 0x2100, 8)
        self.dtm(0x48, 1).count(device(1, 0, 0), device(1, 0, 1))
        self.add("rnid_txdat_flits@0x4e", 2)
        self.add("ccla_rx_cxs@0x4e", 3)
        self.assertEqual(self.dtm(0x48, 1).counters(), [2, 3, 0, 0])

    def test_hn_p_has_both(self):
        hnp = self.mesh.of_type(HNP)[0]
        self.assertEqual(hnp.id, 0x2c)
        self.select(hnp, 0x25, 0)
        self.select(hnp, 0x0400, 8)
        self.assertEqual((self.selected(hnp, 0), self.selected(hnp, 8)),
                         (0x25, 0x0400))
        self.dtm(0x28).count(device(1, 0, 0), device(1, 0, 1))
        self.add("hni_rrt_rd_alloc@0x2c", 2)
        self.add("hnp_rrt_wr_alloc@0x2c", 3)
        self.assertEqual(self.dtm(0x28).counters(), [2, 3, 0, 0])

    def test_agents_of_a_ccg_share_lines(self):
        for node_type, value in ((CCRA, 0x41), (CCHA, 0x8400)):
            self.select(self.mesh.nodes[node_type, 0x4c], value)
        self.dtm(0x48, 1).count(device(0, 0, 0), device(0, 0, 1))
        self.add("ccra_rht_occ@0x4c", 2)
        self.add("ccha_pb_pcie_wr_dat_alloc@0x4c", 3)
        self.assertEqual(self.dtm(0x48, 1).counters(), [2, 3, 0, 0])

    def counted(self, event, kinds, field, values):
        """What each value of the field counts of one of each kind, as bits"""
        node = self.mesh.nodes[HNS, 0x24]
        dtm = self.dtm(0x20, 1)
        dtm.count(device(0, 0, 0))
        event_id, name = event
        counts = []
        for value in values:
            self.select(node, value << field | event_id)
            dtm.write(Dtm.COUNT, 0)
            for n, kind in enumerate(kinds):
                self.add(f"{name}_{kind}@0x24", 1 << n)
            counts.append(dtm.counters()[0])
        return counts

    def test_filters_of_hn_s(self):
        self.assertEqual(
            self.counted((0x0f, "hns_qos_pocq_occupancy"),
                         ("all", "read", "write", "atomic", "stash", "rxsnp",
                          "lbt", "hbt"), 32, range(8)),
            [255, 2, 4, 8, 16, 32, 64, 128])
        self.assertEqual(
            self.counted((0x26, "hns_pocq_class_occup"),
                         ("class0", "class1", "class2", "class3"), 35,
                         range(4)), [1, 2, 4, 8])
        self.assertEqual(
            self.counted((0x01, "hns_cache_miss"), ("all", "hbt", "lbt"), 37,
                         range(3)), [7, 2, 4])
        self.assertEqual(
            self.counted((0x0d, "hns_mc_reqs_local"), ("all", "sn", "home"),
                         39, range(3)), [7, 2, 4])

    def test_filter_of_throttling(self):
        # group 0 and group 1, each read and write; 5 is all reads, 6 writes
        self.assertEqual(
            self.counted((0x2a, "hns_sn_throttle"),
                         ("group0_read", "group0_write", "group1_read",
                          "group1_write"), 42, range(7)),
            [15, 1, 2, 4, 8, 5, 10])

    def test_filters_of_hn_f(self):
        node = self.mesh.nodes[HNF, 0x20]
        dtm = self.dtm(0x20)
        dtm.count(device(0, 0, 0))
        self.select(node, 3 << 42 | 0x2b)
        self.add("hnf_sn_throttle_min_group1_read@0x20", 2)
        self.add("hnf_sn_throttle_min_group1_write@0x20", 4)
        self.select(node, 2 << 35 | 0x28)
        self.add("hnf_class_mc_reqs_class2@0x20", 16)
        self.add("hnf_class_mc_reqs_class3@0x20", 32)
        self.assertEqual(dtm.counters()[0], 18)


class CmnS3R2(CountTest):
    """Filters have moved by a bit, and there are three more (section 7.4)."""
    spec = "cmns3,rev=3"
    product = "cmns3r1"

    def test_filters_of_hn_s(self):
        node = self.mesh.nodes[HNS, 0x24]
        dtm = self.dtm(0x20, 1)
        dtm.count(device(0, 0, 0))
        for select, event in ((2 << 48 | 0x01, "hns_cache_miss_lbt"),
                              (6 << 48 | 0x44,
                               "hns_ro_rnsd_new_alloc_hint_ccgrn"),
                              (2 << 38 | 0x07, "hns_sf_evictions_lbt_all"),
                              (6 << 52 | 1 << 38 | 0x07,
                               "hns_sf_evictions_hbt_mn"),
                              (1 << 52 | 0x0a, "hns_slc_eviction_lbt_eu"),
                              (0x0a, "hns_slc_eviction_lbt_eu"),
                              (2 << 38 | 0x24, "hns_sf_imprecise_evict_lbt"),
                              (0 << 46 | 0x18, "hns_snp_sent_vc0"),
                              (2 << 46 | 0x23, "hns_snp_sent_cluster_vc2"),
                              (11 << 32 | 0x04, "hns_pocq_retry_ccgrn"),
                              (13 << 42 | 0x43, "hns_cbusy11_lbt_read"),
                              (1 << 40 | 0x0d, "hns_mc_reqs_local_sn"),
                              (6 << 42 | 0x2a, "hns_sn_throttle_write"),
                              (3 << 36 | 0x26, "hns_pocq_class_occup_class3"),
                              (7 << 32 | 0x0f, "hns_qos_pocq_occupancy_hbt")):
            dtm.write(Dtm.COUNT, 0)
            self.select(node, select)
            self.add(f"{event}@0x24", 5)
            self.assertEqual(dtm.counters()[0], 5, event)

    def test_what_another_filter_selects_is_not_counted(self):
        node = self.mesh.nodes[HNS, 0x24]
        self.dtm(0x20, 1).count(device(0, 0, 0))
        for select, event in ((1 << 48 | 0x01, "hns_cache_miss_lbt"),
                              (1 << 52 | 0x07, "hns_sf_evictions_lbt_all"),
                              (2 << 52 | 0x07, "hns_sf_evictions_lbt_eu"),
                              (1 << 52 | 1 << 38 | 0x07,
                               "hns_sf_evictions_lbt_eu"),
                              (2 << 46 | 0x18, "hns_snp_sent_vc0")):
            self.select(node, select)
            self.add(f"{event}@0x24", 5)
        self.assertEqual(self.dtm(0x20, 1).counters()[0], 0)
        self.assertRefused("no event", "add", "cmn0", "hns_seq_full@0x24", 1)
        self.assertRefused("no event", "add", "cmn0", "hns_sf_evictions_lbt",
                           1)
        self.assertRefused("no event", "add", "cmn0",
                           "hns_sf_evictions_lbt_xu", 1)


class Single650(CountTest):
    """One DTM for four ports: codes from 0x30 on (section 2.5)"""
    spec = "cmn650,mesh=4x2,ports=4,hnf=1.0.0+1.0.1+1.0.2+1.0.3.1"

    def test_codes_of_ports_2_and_3(self):
        for node in self.mesh.of_type(HNF):
            self.select(node, 0x01)
        self.dtm(0x20).count(0x10, 0x20, 0x30, 0x44)
        for n, node in enumerate((0x20, 0x22, 0x24, 0x27)):
            self.add(f"hnf_cache_miss@{node:#x}", n + 1)
        self.assertEqual(self.dtm(0x20).counters(), [1, 2, 3, 4])

    def test_an_xp_selector_of_32_bits(self):
        self.select_xp(0x20, 0x0000000001010075)
        self.dtm(0x20).count(4, 5, 6, 7)
        self.add("mxp_p1_dat_txflit_valid@0x20", 2)
        self.add("mxp_e_req_txflit_valid@0x20", 3)
        # Bits 31:0 are four ids: 0x75, 0, 1, 1
        self.assertEqual(self.dtm(0x20).counters(), [2, 0, 3, 3])


class Alone(CountTest):
    """The only XP: ports 0 to 5, and interface codes 0 to 5 (section 3.3)"""
    spec = "ci700,mesh=1x1,ports=6,hnf=0.0.0+0.0.5.3"

    def test_codes_of_port_5(self):
        self.select(self.mesh.nodes[HNF, 0x17], 0x01)
        self.dtm(0).count(0x6c)
        self.add("hnf_cache_miss@0x17", 7)
        self.assertEqual(self.dtm(0).counters()[0], 7)

    def test_interfaces_are_ports(self):
        self.select_xp(0, 5 << 2 | 1)
        self.dtm(0).count(4)
        self.add("mxp_p5_req_txflit_valid", 7)
        self.assertEqual(self.dtm(0).counters()[0], 7)
        self.assertRefused("no event", "add", "cmn0", "mxp_e_req_txflit_valid",
                           1)


if __name__ == "__main__":
    unittest.main()
