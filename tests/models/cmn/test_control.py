# SPDX-License-Identifier: GPL-2.0-or-later
"""The CMN models' side that is not hardware: names, statistics, faults."""

import unittest

from models.cmn.qtest import Dtc, Dtm, Mesh
from models.cmn.test_counters import ALL_ONES, WRAP, CountTest, device
from models.cmn.test_discovery import HNF, CmnTest, MeshTest

CLASSES = ("discovery", "selector", "dtm_config", "dtm_watchpoint",
           "dtm_count", "dtm_other", "dtc_control", "dtc_count",
           "dtc_overflow", "dtc_other", "external", "isolated", "hole")


class Names(CmnTest):
    def listed(self, word):
        return [line.split()[1:] for line in
                self.machine.control("list", "cmn0").splitlines()
                if line.split()[0] == word]

    def test_nodes_are_listed_where_discovery_finds_them(self):
        self.mesh.discover()
        for name, node_id, *pairs in self.listed("node"):
            values = dict(pair.split("=") for pair in pairs if "=" in pair)
            frame = int(values["frame"], 16)
            if "external" in pairs:
                self.assertIn(frame, [n.frame for n in self.mesh.externals])
                continue
            info = self.mesh.read(frame)
            self.assertEqual(info >> 16 & 0xffff, int(node_id, 16))
            if name != "rnsam":
                self.assertEqual(info >> 32 & 0xffff, int(values["logical"]))
        names = [line[0] for line in self.listed("node")]
        self.assertEqual(names.count("mxp"), 8)
        self.assertEqual(names.count("hnf"), 6)
        self.assertEqual(len(names), 8 + len(self.mesh.nodes)
                         + len(self.mesh.externals))

    def test_every_event_can_be_added(self):
        events = self.listed("event")
        self.assertEqual(len(events), len({line[0] for line in events}))
        for name, *_ in events:
            self.machine.control("add", "cmn0", name, 1)

    def test_events_have_the_published_codes(self):
        codes = {line[0]: line[1:] for line in self.listed("event")}
        self.assertEqual(codes["hnf_qos_pocq_occupancy_read"],
                         ["type=0x5", "eventid=0xf", "occupid=1"])
        self.assertEqual(codes["mxp_p1_dat_txflit_valid"],
                         ["type=0x6", "eventid=0x75"])
        self.assertEqual(codes["cxha_rdb_occ"], ["type=0x101", "eventid=0x28"])
        self.assertNotIn("mxp_e_pub_txflit_valid", codes)
        self.assertNotIn("mxp_e_rsp2_txflit_valid", codes)
        self.assertNotIn("mxp_p2_dat_txflit_valid", codes)
        self.assertNotIn("mxp_e_dat_partial_dat_flit", codes)
        self.assertIn("mxp_p1_dat_partial_dat_flit", codes)

    def test_what_cannot_happen_is_refused(self):
        self.assertRefused("no event 'hnf_nonsense'", "add", "cmn0",
                           "hnf_nonsense", 1)
        self.assertRefused("no node can have", "add", "cmn0",
                           "hnf_cache_miss@0x28", 1)
        self.assertRefused("no node can have", "add", "cmn0",
                           "hnf_cache_miss@0x7", 1)
        self.assertRefused("not the id of a node", "add", "cmn0",
                           "hnf_cache_miss@x", 1)
        self.assertRefused("not the id of a node", "add", "cmn0",
                           "hnf_cache_miss@-1", 1)
        self.assertRefused("counts 1 in a cycle", "add", "cmn0",
                           "hnf_cache_miss", 1, 2)
        self.assertRefused("no event", "add", "cmn0",
                           "hnf_qos_pocq_occupancy", 1)
        self.assertRefused("no event", "add", "cmn0",
                           "hnf_qos_pocq_occupancy_dvmop", 1)
        self.assertRefused("no event", "add", "cmn0", "hnf_cache_miss,port=1",
                           1)
        self.assertRefused("no node can have", "add", "cmn0",
                           "hnp_rrt_wr_alloc", 1)

    def test_what_is_no_flit_is_refused(self):
        for flit in ("flit", "flit@0x20", "flit@0x20,port=0,dir=up",
                     "flit@0x20,port=0,chn=req", "flit@0x20,dir=up,chn=req",
                     "flit@0x20,port=0,dir=left,chn=req",
                     "flit@0x20,port=0,dir=up,chn=pub",
                     "flit@0x20,port=0,dir=up,chn=req,g3=1",
                     "flit@0x20,port=0,dir=up,chn=req,g0=-1",
                     "flit@0x20,port=0,dir=up,chn=req,g0"):
            self.assertRefused("a flit is port=N", "add", "cmn0", flit, 1)
        for flit in ("flit@0x20,port=2,dir=up,chn=req",
                     "flit@0x21,port=0,dir=up,chn=req"):
            self.assertRefused("no node can have", "add", "cmn0", flit, 1)


class Statistics(CountTest):
    """Section 1.4: every class of accesses, in both widths"""

    def setUp(self):
        super().setUp()
        self.machine.stats("cmn0")

    def assertStats(self, **expected):
        stats = self.machine.stats("cmn0")
        self.assertEqual({name: counts for name, counts in stats.items()
                          if counts != (0, 0)}, expected)

    def test_all_classes(self):
        names = [f"{name}{bits}" for name in CLASSES for bits in (64, 32)]
        self.assertEqual(list(self.machine.stats("cmn0")), names + ["narrow", "unpowered"])

    def test_discovery(self):
        self.mesh.root.read(0)
        self.mesh.root.read32(0x10)
        self.mesh.root.write32(0x10, 0)
        self.mesh.xps[0x20].read32(8)
        self.assertStats(discovery64=(1, 0), discovery32=(2, 1))

    def test_selectors(self):
        hnf = self.mesh.nodes[HNF, 0x24]
        hnf.write32(0x2000, 1)
        hnf.write32(0x2004, 1)
        hnf.read(0x2000)
        self.mesh.xps[0x20].write(0x2000, 1)
        self.assertStats(selector64=(1, 1), selector32=(0, 2))

    def test_dtms(self):
        dtm = self.dtm(0x20)
        dtm.write(Dtm.CONFIG, 1)
        self.mesh.xps[0x20].write32(0x2210, 1)
        dtm.watch(3, 0)
        dtm.read(Dtm.COUNT)
        dtm.write(0x100, 1)
        self.assertStats(dtm_config64=(0, 1), dtm_config32=(0, 1),
                         dtm_watchpoint64=(0, 3), dtm_count64=(1, 0),
                         dtm_other64=(0, 1))

    def test_dtcs(self):
        dtc = self.dtcs[0]
        dtc.enable()
        dtc.counter("H")
        dtc.set_counter("B", 1)
        dtc.read(Dtc.CYCLES)
        dtc.read32(Dtc.OVS)
        dtc.write32(Dtc.OVS_CLR, 1)
        dtc.read(0x128)
        dtc.node.read(0)
        self.assertStats(dtc_control32=(0, 2), dtc_count32=(1, 1),
                         dtc_count64=(1, 0), dtc_overflow32=(1, 1),
                         dtc_other64=(1, 0), discovery64=(1, 0))

    def test_where_nothing_is(self):
        self.mesh.read(0x3ffc000)
        self.mesh.write32(0x3ffc000, 1)
        self.assertStats(hole64=(1, 0), hole32=(0, 1))

    def test_narrow_accesses(self):
        self.machine.qtest(f"readb {self.mesh.base + self.mesh.root_frame:#x}")
        self.machine.qtest(f"writew {self.mesh.base:#x} 1")
        self.assertStats(narrow=(1, 1))

    def test_without_power(self):
        self.machine.control("set", "cmn0", "sleep", 1)
        self.machine.step(1000000)
        self.mesh.root.read32(0)
        self.dtcs[0].enable()
        self.assertStats(unpowered=(1, 2))

    def test_a_peek_is_no_access(self):
        self.machine.control("set", "cmn0", "address", "0x104000")
        self.assertEqual(self.machine.control("get", "cmn0", "word"),
                         f"{0xc0002}\n")
        self.assertStats()


class Keys(CountTest):
    def get(self, key):
        return int(self.machine.control("get", "cmn0", key))

    def set(self, key, value):
        self.machine.control("set", "cmn0", key, value)

    def test_a_mesh_that_is_gone(self):
        self.set("gone", 1)
        self.assertEqual(self.mesh.root.read(0), ALL_ONES)
        self.assertEqual(self.mesh.root.read32(0), 0xffffffff)
        self.dtcs[0].set_counter("A", 7)
        self.assertRefused("is gone", "add", "cmn0", "hnf_cache_miss", 1)
        self.set("gone", 0)
        self.assertEqual(self.dtcs[0].counter("A"), 0)
        self.assertEqual(self.mesh.root.type, 2)

    def test_the_last_access_and_an_odd_one(self):
        self.set("accesses", 0)
        self.set("last", 3)
        root = self.mesh.root.read(0)
        self.dtcs[0].write32(Dtc.PMCR, Dtc.PMU_EN)
        self.assertEqual(self.mesh.root.read(0), ALL_ONES)
        self.dtcs[0].write32(Dtc.PMCR, 0)
        self.assertEqual(self.get("accesses"), 2)
        self.set("last", 0)
        self.assertEqual(self.dtcs[0].read32(Dtc.PMCR), Dtc.PMU_EN)
        for odd_as, value in (0, 0), (1, ALL_ONES), (2 + 63, root ^ 1 << 63):
            self.set("odd_as", odd_as)
            self.set("odd", 1)
            self.assertEqual([self.mesh.root.read(0) for _ in range(2)],
                             [value, root])

    def test_a_sleep(self):
        dtm, dtc = self.dtm(0x20), self.dtcs[0]
        hnf = self.mesh.nodes[HNF, 0x24]
        self.select(hnf, 1)
        dtm.count(device(1, 0, 0), paired=[0])
        dtc.write32(Dtc.PMCR, Dtc.PMU_EN | Dtc.INTR_EN)
        dtc.set_counter("A", 0xffffffff)
        self.add("hnf_cache_miss@0x24", WRAP + 5)
        self.assertTrue(self.interrupts())
        self.set("sleep", 20)
        self.machine.step(19999999)
        self.assertEqual(dtm.counters()[0], 5)
        self.assertEqual(self.get("sleep"), 20)
        self.machine.step(1)
        self.assertFalse(self.interrupts())
        self.assertEqual(self.mesh.root.read(0), ALL_ONES)
        self.assertRefused("without power", "add", "cmn0", "hnf_cache_miss", 1)
        dtc.set_counter("A", 7)
        self.machine.step(20000000)
        self.assertEqual(self.get("sleep"), 0)
        self.assertEqual(self.mesh.root.read(0) & 0xffff, 2)
        self.assertEqual([dtm.read(Dtm.CONFIG), dtm.counters()[0],
                          self.selected(hnf), dtc.counter("A"),
                          dtc.read(Dtc.PMCR)], [0] * 5)
        self.machine.step(100000000)
        self.assertEqual(self.get("sleep"), 0)

    def test_a_sleep_that_is_put_off(self):
        self.set("sleep", 20)
        self.machine.step(10000000)
        self.set("sleep", 0)
        self.machine.step(100000000)
        self.assertEqual(self.mesh.root.read(0) & 0xffff, 2)
        self.set("sleep", 1)
        self.machine.step(1000000)
        self.set("sleep", 0)
        self.assertEqual(self.mesh.root.read(0) & 0xffff, 2)

    def test_how_the_mesh_stands(self):
        dtc = self.dtcs[0]
        self.set("stands", 0)
        self.dtm(0x20).counters()
        for pmcr in (0, 0, 1):
            dtc.write32(Dtc.PMCR, pmcr)
            self.machine.step(700)
            dtc.counter("A")
        self.assertEqual([self.get(key) for key in
                          ("stands", "stand_ns", "stand_accesses")],
                         [1, 1400, 3])
        # The other DTC does not stop the mesh; posted writes do so late.
        self.dtcs[1].write32(Dtc.PMCR, 0)
        self.dtcs[1].write32(Dtc.PMCR, 1)
        self.set("posted", 300)
        dtc.write32(Dtc.PMCR, 0)
        self.machine.step(1000)
        dtc.write32(Dtc.PMCR, 1)
        self.machine.step(1000)
        self.assertEqual([self.get(key) for key in
                          ("stands", "stand_ns", "stand_accesses")],
                         [2, 2400, 3])
        self.set("stands", 0)
        self.assertEqual(self.get("stand_ns"), 0)

    def test_peek_and_poke(self):
        frame = self.mesh.xps[0x20].frame
        self.set("address", frame + 0x2220)
        self.set("word", 0x1234)
        self.assertEqual(self.dtm(0x20).counters()[0], 0x1234)
        self.dtm(0x20).write(Dtm.COUNT, 0x5678)
        self.assertEqual(self.get("word"), 0x5678)
        self.assertRefused("multiple of 8", "set", "cmn0", "address", 4)
        self.assertRefused("below", "set", "cmn0", "address", 64 << 20)

    def test_keys_of_a_dtc(self):
        for n, letter in enumerate("abcdefgh"):
            self.set(f"dtc1_{letter}", n + 5)
            self.assertEqual(self.dtcs[1].counter(letter.upper()), n + 5)
            self.assertEqual(self.get(f"dtc1_{letter}"), n + 5)
        self.set("dtc0_cycles", 77)
        self.assertEqual(self.dtcs[0].read(Dtc.CYCLES), 77)
        self.assertEqual(self.get("dtc0_cycles"), 77)
        self.dtcs[0].enable(Dtc.INTR_EN)
        self.assertEqual(self.get("dtc0_control"), 1)
        self.assertEqual(self.get("dtc0_pmcr"), 0x41)
        self.assertEqual(self.get("dtc0_interrupt"), 0)
        ticks = self.get("dtc0_ticks")
        self.machine.step(1000)
        self.assertEqual(self.get("dtc0_ticks"), ticks + 2000)
        self.select(self.mesh.nodes[HNF, 0x24], 1)
        self.dtm(0x20).count(device(1, 0, 0), paired=[3])
        self.set("dtc0_d", 0xffffffff)
        self.add("hnf_cache_miss@0x24", WRAP)
        self.assertEqual(self.get("dtc0_overflow"), 8)
        self.assertEqual(self.get("dtc0_interrupt"), 1)
        self.assertRefused("no key", "get", "cmn0", "dtc2_a")
        self.assertRefused("read only", "set", "cmn0", "dtc0_pmcr", 1)

    def test_clock(self):
        self.assertEqual(self.get("clock"), 2000000000)
        self.assertRefused("at least 1", "set", "cmn0", "clock", 0)
        self.assertRefused("too large", "set", "cmn0", "clock", 1000000000001)


class Tears(CountTest):
    """Counts between one access and the next"""

    def setUp(self):
        super().setUp()
        self.select(self.mesh.nodes[HNF, 0x24], 1)
        self.here = self.dtm(0x20)
        self.here.count(device(1, 0, 0), paired=[0])
        self.here.write(Dtm.COUNT, 0xfff0)

    def arm(self, key, n):
        self.machine.control("set", "cmn0", key, n)

    def waiting(self, key):
        return int(self.machine.control("get", "cmn0", key))

    def test_after_a_dtm(self):
        self.arm("tear_dtm", 0x20)
        self.assertEqual(self.dtcs[0].counter("A"), 0)
        self.assertEqual(self.waiting("tear_dtm"), 0x20)
        self.assertEqual(self.here.counters()[0], 0xfff0)
        self.assertEqual(self.waiting("tear_dtm"), 0)
        self.assertEqual(self.dtcs[0].counter("A"), 1)
        self.assertEqual(self.here.counters()[0], 0x10)

    def test_after_a_dtc(self):
        self.arm("tear_dtc", 0x20)
        self.assertEqual(self.here.counters()[0], 0xfff0)
        self.assertEqual(self.dtcs[0].counter("A"), 0)
        self.assertEqual(self.here.counters()[0], 0x10)
        self.assertEqual(self.dtcs[0].counter("A"), 1)

    def test_they_wait_while_the_mesh_is_stopped(self):
        self.dtcs[0].write32(Dtc.PMCR, 0)
        self.arm("tear_dtm", 0x20)
        self.arm("tear_dtc", 0x20)
        self.assertEqual(self.dtcs[0].counter("A"), 0)
        self.assertEqual(self.here.counters()[0], 0xfff0)
        self.assertEqual(self.here.counters()[0], 0xfff0)
        self.assertEqual(self.waiting("tear_dtm"), 0x20)
        self.assertEqual(self.waiting("tear_dtc"), 0x20)


class Two(MeshTest):
    def test_two_meshes_are_apart(self):
        machine = self.machine("cmn600", "cmn600")
        meshes = [Mesh(machine, "cmn600", base=n << 32).discover()
                  for n in (1, 2)]
        machine.control("set", "cmn1", "dtc0_a", 5)
        self.assertEqual([int(machine.control("get", f"cmn{n}", "dtc0_a"))
                          for n in (0, 1)], [0, 5])
        meshes[1].nodes[HNF, 0x24].write(0x2000, 7)
        self.assertEqual(meshes[0].nodes[HNF, 0x24].read(0x2000), 0)


if __name__ == "__main__":
    unittest.main()
