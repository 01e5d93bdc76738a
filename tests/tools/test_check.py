# SPDX-License-Identifier: GPL-2.0-only
"""pmu-check's checks: what each makes of a machine that works, and of one that does not. Guests have the faults."""
import contextlib
import errno
import unittest
from pathlib import Path
from unittest import mock

import tree
from check_cases import DRAWING, HZ, MESH, MESH_COUNTS, Bench, CheckCase, pmu
from pmutools import count, sysfs
from pmutools.check import checks, cmn, common, icelake, intel_imc, load, main, power_imc, rapids
from pmutools.check.checks import ANSWER, FAIL, NOTE, OK, SKIP
from pmutools.count import Reading
from pmutools.top import icelake as top_icelake

# What a good channel counts in a window, by the event's fields: a quarter of the bus is in use.
CHANNEL = {"event=0xff": HZ, "event=0x00": HZ, "event=0x04,umask=0x0f": 50e6, "event=0x04,umask=0x03": 40e6,
           "event=0x04,umask=0x0c": 10e6, "event=0x04,umask=0x01": 39e6, "event=0x04,umask=0x02": 1e6,
           "event=0x04,umask=0x04": 10e6, "event=0x04,umask=0x08": 0, "event=0x11": 700e6, "event=0x21": 1e6}


class TestIntel(CheckCase):
    def bench(self, bad=None, model=45):
        """@bad: {fields: what uncore_imc_1 counts in a second on CPU 1}, where it is not as the others."""
        bad = bad or {}

        def says(want, seconds):
            channel, cpu, text = want.key
            if (channel, cpu) == ("uncore_imc_1", 1) and text in bad:
                value = bad[text]
                return value if value is None or isinstance(value, OSError) else int(value * seconds)
            return int(CHANNEL.get(text, 0) * seconds)
        machine = tree.machine(self, "snbep")
        machine.intel_model = lambda: (6, model, 1)
        return Bench(machine, "intel_imc", says)

    def check(self, name, bench, verdict, said):
        self.judge(intel_imc.CHECKS, name, bench, verdict, said)

    def test_clock(self):
        self.check("clock", self.bench(), OK, "socket 1: 4 channels at 800 MHz, DDR-1600")
        self.check("clock", self.bench({intel_imc.FIXED: 0}), FAIL, "uncore_imc_1 on CPU 1: the DRAM clock is 0Hz")
        self.check("clock", self.bench({intel_imc.FIXED: 2e9}), FAIL, "2 GHz; memory has 350 to 1700 MHz")
        self.check("clock", self.bench({intel_imc.FIXED: HZ * 0.95}), FAIL,
                   "uncore_imc_1 on CPU 1 has 760 MHz, .* 800 MHz")
        self.check("clock", self.bench({intel_imc.FIXED: None}), FAIL,
                   "uncore_imc_1/event=0xff/ on CPU 1: its device went away")
        self.check("clock", self.bench({intel_imc.FIXED: OSError(errno.EBUSY, "")}), FAIL,
                   "somebody else has what it needs")

    def test_a_channel_without_memory(self):
        """The in-tree driver shows it; a channel that moves lines, or all that stand, have no such excuse."""
        def in_tree(*args):
            bench = self.bench(*args)
            bench.ours = False
            return bench
        empty = {intel_imc.FIXED: 0, intel_imc.ALL: 0}
        self.check("clock", in_tree(empty), NOTE, "^uncore_imc_1 on CPU 1: no clock, .* without a memory module")
        self.check("clock", self.bench(empty), FAIL, "uncore_imc_1 on CPU 1: the DRAM clock is 0Hz")
        self.check("clock", in_tree({intel_imc.FIXED: 0}), FAIL, "uncore_imc_1 on CPU 1: the DRAM clock is 0Hz")
        bench = in_tree()
        bench.says = lambda want, seconds: 0
        self.check("clock", bench, FAIL, "uncore_imc_1 on CPU 1: the DRAM clock is 0Hz")

    def test_a_clock_that_changes(self):
        bench = self.bench()
        good = bench.says
        bench.says = lambda want, seconds: good(want, seconds) * (1 if bench.windows % 3 else 0.7)
        self.check("clock", bench, OK, "channels at 800 MHz")
        bench.windows = 0
        bench.says = lambda want, seconds: good(want, seconds) * (1 + bench.windows / 4)
        self.check("clock", bench, FAIL, "was 1 GHz, 1.2 GHz, 1.4 GHz")

    def test_a_busy_host(self):
        """All windows of the first round are spoilt, two of them alike and within 1 %; of the second round two are good."""
        bench = self.bench()
        good = bench.says
        of_window = {1: 0.98, 2: 0.985, 3: 0.7, 4: 1, 5: 0.6, 6: 1}

        def says(want, seconds):
            return good(want, seconds) * (of_window[bench.windows] if want.key[:2] == ("uncore_imc_1", 1) else 1)
        bench.says = says
        self.check("clock", bench, OK, "socket 1: 4 channels at 800 MHz")
        bench.windows = 0
        of_window.update(dict.fromkeys((4, 5, 6), 0.98))
        self.check("clock", bench, FAIL, "uncore_imc_1 on CPU 1 has 784 MHz, .* 800 MHz")
        # A channel that cannot be judged any more keeps the verdict of the first round.
        bench.windows = 0
        bench.says = lambda want, seconds: None if bench.windows > 3 and want.key[:2] == ("uncore_imc_1", 1) else says(want, seconds)
        self.check("clock", bench, FAIL, "uncore_imc_1/event=0xff/ on CPU 1: its device went away")
        bench.windows = 0
        self.check("clock", bench, FAIL, "uncore_imc_1 on CPU 1 has 788 MHz, .* 800 MHz")

    def ice_lake(self, bad=None):
        """Of channels 0 to 3 number 2 is a phantom, which counts nothing unless @bad says so."""
        counts = {"event=0xff": HZ, "event=0x00": 2 * HZ, "event=0x04,umask=0x3f": 50e6, "event=0x04,umask=0x0f": 40e6,
                  "event=0x04,umask=0x30": 10e6, "event=0x04,umask=0x05": 39e6, "event=0x04,umask=0x0a": 1e6,
                  "event=0x04,umask=0x10": 10e6}

        def says(want, seconds):
            channel, cpu, text = want.key
            value = (bad or {}).get((channel, text), 0 if channel == "uncore_imc_2" else counts.get(text, 0))
            return int(value * seconds)
        machine = tree.machine(self, "snbep", {"sys/module/intel_imc_pmu/initstate": None})
        machine.intel_model = lambda: (6, 106, 6)
        patch = mock.patch.object(top_icelake, "has_clock", lambda _, pmu: bool(bad and (pmu.name, "event=0x00") in bad))
        patch.start()
        self.addCleanup(patch.stop)
        return Bench(machine, "intel_imc", says)

    def test_ice_lake_has_its_own_checks(self):
        machine = self.ice_lake().machine
        self.assertEqual([one for _, one in main.checks(machine, ["parts", "clocks", "two-clocks", "free"])], list(icelake.CHECKS))
        self.assertIn("two-clocks", [one.name for _, one in main.checks(self.bench().machine, [])])

    def test_ice_lake_clocks(self):
        def judge(bad, verdict, said):
            self.judge(icelake.CHECKS, "clocks", self.ice_lake(bad), verdict, said)
        judge({}, NOTE, "uncore_imc_2 on CPU 0: a channel that does not exist")
        third = {("uncore_imc_2", "event=0x00"): 2 * HZ, ("uncore_imc_2", "event=0xff"): HZ}
        judge(third | {("uncore_imc_0", "event=0x00"): 0, ("uncore_imc_0", "event=0xff"): 0}, OK,
              "uncore_imc_2 on CPU 0: 1.6 GHz, DDR-3200, and half of it")
        judge({("uncore_imc_2", "event=0x00"): HZ}, FAIL, "uncore_imc_2 on CPU 0: the fixed counter has 0 half clocks")
        judge({("uncore_imc_1", "event=0xff"): 2 * HZ}, FAIL, "400000000 half clocks, a general one 400000000 clocks")
        judge({("uncore_imc_1", "event=0x00"): 4 * HZ}, FAIL, "uncore_imc_1 on CPU 0: the DRAM clock is 3.2 GHz")

    def test_ice_lake_parts(self):
        self.judge(icelake.CHECKS, "parts", self.ice_lake(), OK, "uncore_imc_0 on CPU 0, all")
        self.judge(icelake.CHECKS, "parts", self.ice_lake({("uncore_imc_1", "event=0x04,umask=0x30"): 20e6}), FAIL,
                   "its parts 10000000 [+] 5000000 = 15000000")

    def rapids(self, bad=None, model=143):
        counts = {"event=0xff": 2 * HZ, rapids.HALF: 2 * HZ, rapids.CLOCK: 4 * HZ}
        for code in 5, 6:
            counts |= {f"event={code:#04x},umask={umask:#04x}": lines for umask, lines in (
                (0xff, 50e6), (0xcf, 40e6), (0xf0, 10e6), (0xc5, 39e6), (0xca, 1e6), (0xd0, 9e6), (0xe0, 1e6))}
        machine = tree.machine(self, "snbep")
        machine.intel_model = lambda: (6, model, 6)
        return Bench(machine, "intel_imc",
                     lambda want, seconds: int((bad or {}).get(want.key[2], counts.get(want.key[2], 0)) * seconds))

    def test_rapids_have_their_own_checks(self):
        self.assertEqual([one for _, one in main.checks(self.rapids().machine, ["parts", "clocks", "free"])],
                         list(rapids.CHECKS))

    def test_rapids_clocks(self):
        def judge(bad, verdict, said):
            self.judge(rapids.CHECKS, "clocks", self.rapids(bad), verdict, said)
        judge({}, OK, "3.2 GHz, DDR-6400, and half of it")
        judge({"event=0xff": 4 * HZ}, NOTE, "fixed counter has 800000000, where there were 400000000 half clocks")
        judge({rapids.CLOCK: 2 * HZ}, FAIL, "400000000 half clocks, 400000000 clocks")
        judge({rapids.CLOCK: 16 * HZ, rapids.HALF: 8 * HZ}, FAIL, "the DRAM clock is 12.8 GHz")

    def test_rapids_parts(self):
        self.judge(rapids.CHECKS, "parts", self.rapids(), OK, "uncore_imc_0 on CPU 0, all [(]event 05[)]")
        self.judge(rapids.CHECKS, "parts", self.rapids({"event=0x06,umask=0xf0": 20e6}), OK, "all [(]event 05[)]")
        self.judge(rapids.CHECKS, "parts", self.rapids({"event=0x06,umask=0xf0": 20e6}, 173), FAIL, "event 06")

    def free(self, bench, ran, numbers=(0,)):
        """Controllers that have free-running counters, which count @ran(event, seconds): (least, most)."""
        for number in numbers:
            one = pmu(f"uncore_imc_free_running_{number}", "intel_imc", [0, 1], {"dclk": 1, "read": 1, "write": 1})
            bench.machine.others[one.name] = one._replace(family=sysfs.FREE)
        inside = bench.count

        def within(groups, around):
            return inside(groups, 1.0), {one.key: ran(one.key[2]) for group in around for one in group}
        bench.within = within
        return bench

    def test_free_running_counters(self):
        """uncore_imc_0 and _1 are controller 0's; _2 does not exist, and _3 is another's."""
        good = {"read": (79_000_000, 81_000_000), "write": (20e6, 20e6), "dclk": (1_590_000_000, 1_610_000_000)}

        def judge(bad, verdict, said, numbers=(0,), counts=None):
            bench = self.free(self.ice_lake(counts), lambda name: (good | bad)[name], numbers)
            self.judge(icelake.CHECKS, "free", bench, verdict, said)
        judge({}, OK, "_running_0 on CPU 0, read: 79 M to 81 M; channels have 40000000 [+] 40000000\n")
        judge({"read": (80_200_000, 81e6)}, NOTE, "read: 80200000 to .* while channels have 40000000 [+] 40000000. No source")
        judge({"write": (0, 19_900_000)}, NOTE, "write: 0 to 19900000 while channels have 10000000 [+] 10000000")
        judge({"dclk": (2e9, 2.1e9)}, NOTE, "dclk: .* while a channel has 1600000000 clocks")
        judge({}, SKIP, "nothing that this check looks at", ())
        none = {(f"uncore_imc_{number}", "event=0x00"): 0 for number in (0, 1)}
        judge({"read": (0, 80e6), "write": (0, 20e6)}, OK, "read: ", counts=none)
        # A controller of one channel: number 3 is the first of the second one.
        judge({}, NOTE, "_running_1 on CPU 1, read: 79000000 to 81000000 while channels have 40000000[.]", (1,))

    def test_free_running_clock_of_rapids(self):
        self.judge(rapids.CHECKS, "free", self.free(self.rapids(), lambda name: (3.1e9, 3.3e9)), OK,
                   "_running_0 on CPU 0, dclk: 3.1 G to 3.3 G; a channel has 3200000000 clocks")
        self.judge(rapids.CHECKS, "free", self.free(self.rapids(), lambda name: (1.5e9, 1.6e9)), NOTE, "3200000000 clocks")

    def test_free_running_counters_beside_others(self):
        """What took turns is not compared."""
        bench = self.free(self.rapids(), lambda name: (0, 0))
        bench.says = lambda want, seconds: Reading(5, 100, 50)
        self.judge(rapids.CHECKS, "free", bench, SKIP, "nothing that this check looks at")

    def test_two_clocks(self):
        self.check("two-clocks", self.bench(), OK, "by both")
        self.check("two-clocks", self.bench({intel_imc.GENERAL: HZ - 4e6}), FAIL,
                   "fixed counter has 200000000 clocks, a general one 199000000")
        self.check("two-clocks", self.bench({intel_imc.GENERAL: 0}), NOTE, "Sandy Bridge may have none")
        self.check("two-clocks", self.bench({intel_imc.GENERAL: 0}, model=63), FAIL, "a general one 0")

    def test_two_clocks_of_a_cpu_that_was_held_up(self):
        """Between the in-tree driver's stops of two counters it is counted once more; ours stops both at once."""
        for table, name, make, clock, good in ((intel_imc.CHECKS, "two-clocks", self.bench, intel_imc.GENERAL, OK),
                                               (icelake.CHECKS, "clocks", self.ice_lake, intel_imc.GENERAL, NOTE),
                                               (rapids.CHECKS, "clocks", self.rapids, rapids.CLOCK, OK)):
            for ours, windows, verdict in (False, 1, good), (False, 2, FAIL), (True, 1, FAIL):
                bench = make()
                bench.ours = ours

                def says(want, seconds, bench=bench, windows=windows, clock=clock, inner=bench.says):
                    late = want.key[1:] == (1, clock) and bench.windows <= windows
                    return inner(want, seconds) - (100_000 if late and ours else 1_000_000 if late else 0)
                bench.says = says
                self.judge(table, name, bench, verdict, ".")

    def test_parts(self):
        self.check("parts", self.bench(), OK, "all: 12500000 lines, its parts 10000000 [+] 2500000")
        self.check("parts", self.bench({intel_imc.READ: 41e6}), FAIL, "parts 10250000 [+] 2500000 = 12750000")
        self.check("parts", self.bench({"event=0x04,umask=0x04": 0}), FAIL,
                   "uncore_imc_1 on CPU 1, writes: 2500000 lines, its parts 0 [+] 0 = 0")

    def test_ranks(self):
        self.check("ranks", self.bench(), SKIP, "Sandy Bridge")
        self.check("ranks", self.bench(model=85), OK, "none of 4000000 reads at ranks")
        bench = self.bench(model=85)
        good = bench.says
        bench.says = lambda want, seconds: 5_000_000 if want.key[1:] == (0, "event=0xb9,umask=0x10") else good(want,
                                                                                                               seconds)
        self.check("ranks", bench, FAIL, r"on CPU 0: ranks \(0xb8 to 0xba\) have 5000000 writes, the channel 1000000")

    def test_bus(self):
        self.check("bus", self.bench(), OK, "25.0 % of the bus")
        self.check("bus", self.bench({intel_imc.ALL: 201e6}), FAIL, "50250000 lines in 200000000 clocks")
        self.check("bus", self.bench({"event=0x11": 900e6}), FAIL,
                   "the read queue was not empty in 225000000 of 200000000 clocks")

    def test_idle(self):
        with mock.patch.object(intel_imc, "busy_share", lambda machine: lambda: 0.01):
            self.check("idle", self.bench(), NOTE, "uncore_imc_0 on CPU 0: 3.2 GB/s while the CPUs do nothing")
            bench = self.bench()
            bench.says = lambda want, seconds: 1000
            self.check("idle", bench, OK, "64,000B/s while nothing runs")
        with mock.patch.object(intel_imc, "busy_share", lambda machine: lambda: 0.5):
            self.check("idle", self.bench(), SKIP, "50 % busy")


class TestCommon(CheckCase):
    def bench(self, says):
        return Bench(tree.machine(self, "snbep"), "intel_imc", says)

    def check(self, name, says, verdict, said):
        self.judge(common.CHECKS, name, self.bench(says), verdict, said)

    def test_events(self):
        def bad(value):
            return lambda want, seconds: value if want.key[:3] == ("uncore_imc_2", 1, "cas_count_read") else 5
        machine = tree.machine(self, "snbep")
        number = sum(len(one.events) * len(one.cpus) for one in machine.pmus.values())
        self.check("events", bad(5), OK, f"^{number} opened, counted and were read; none went backwards")
        self.check("events", bad([7, 9, 8, 10]), FAIL,
                   "uncore_imc_2/cas_count_read/ on CPU 1 went backwards: it read 7, 9, 8, 10")
        self.check("events", bad(None), FAIL, "its device went away")
        self.check("events", bad(OSError(errno.EINVAL, "")), FAIL,
                   "uncore_imc_2/cas_count_read/: the driver refuses it.*, on CPU 1")
        self.check("events", bad(Reading(0, 1000, 0)), NOTE, "never counted: somebody else has the counters")
        self.check("events", bad(Reading(3, 1000, 500)), NOTE, f"1 of {number} took turns")

    def test_twins(self):
        def bad(value):
            return lambda want, seconds: value if want.key == ("uncore_imc_2", 1, "cas_count_read", 1) else 5
        self.check("twins", bad(5), OK, "counted the same twice")
        self.check("twins", bad(65541), FAIL,
                   "uncore_imc_2/cas_count_read/ twice in a group on CPU 1 counted 5 and 65541")

    def test_twins_in_memory_are_tried_again(self):
        one = pmu("nest_mcs01_imc", "power_imc", [0], {"PM_A": 1.0})
        bench = Bench(self.machine(one), "power_imc", None)
        bench.says = lambda want, seconds: 5 + (want.key[3] if bench.windows < 2 else 0)
        self.judge(common.CHECKS, "twins", bench, OK, "1 counted the same twice")
        bench.says = lambda want, seconds: 5 + want.key[3]
        self.judge(common.CHECKS, "twins", bench, FAIL, "counted 5 and 6")

    def test_cpumask(self):
        bench = self.bench(None)
        self.judge(common.CHECKS, "cpumask", bench, OK, r"4 uncore_imc_\*, 2 CPUs each")
        bench.pmus[1].cpus.pop()
        self.judge(common.CHECKS, "cpumask", bench, NOTE, "uncore_imc_1 counts on 1 of 2 units")
        bench.pmus[0].cpus[1] = 77
        self.judge(common.CHECKS, "cpumask", bench, FAIL, r"CPUs that are not online: \[77\]")


class TestMesh(CheckCase):
    def bench(self, driver=None, text=MESH, **bad):
        mesh = pmu("arm_cmn_0", "cmn", [0], dict.fromkeys(MESH_COUNTS, 1.0), driver)
        values = MESH_COUNTS | bad

        def says(want, seconds):
            name = want.key[1]
            rate = values.get("again" if name == "again" else name, values["hnf_slc_sf_cache_access"])
            if name.startswith("hnf") and len(want.key) > 2:        # at a node
                rate = bad.get(f"at{dict(want.key[2:])['nodeid']}", rate / 2)
            return rate if rate is None else int(rate * seconds)
        return Bench(self.machine(mesh, files={DRAWING: text}), "cmn", says)

    def check(self, name, bench, verdict, said):
        self.judge(cmn.CHECKS, name, bench, verdict, said)

    def test_clock(self):
        self.check("clock", self.bench(), OK, "arm_cmn_0: 500 MHz, twice")
        self.check("clock", self.bench(dtc_cycles=0), FAIL, "its clock is 0Hz")
        self.check("clock", self.bench(text="arm_cmn_0: CMN-600, SPNIDEN off\nnot drawn"), OK, "twice; AUTHSTATUS: SPNIDEN off")
        self.check("clock", self.bench(dtc_cycles=None), FAIL, "its device went away")
        bench = self.bench()
        good = bench.says
        bench.says = lambda want, seconds: good(want, seconds) * bench.windows
        self.check("clock", bench, NOTE, "500 MHz, then 1 GHz, then 1.5 GHz")

    def test_a_clock_that_one_window_has_wrong(self):
        """perf's time and the clock are read one after the other; a busy host holds a guest up between them."""
        for wrong in (1, 2, 3):
            bench = self.bench()
            good = bench.says
            bench.says = lambda want, seconds: int(good(want, seconds) * (1.09 if bench.windows == wrong else 1))
            self.check("clock", bench, OK, "arm_cmn_0: 500 MHz, twice")

    def test_hits(self):
        self.check("hits", self.bench(), OK, "250000 misses of 750000 accesses")
        self.check("hits", self.bench(hnf_cache_miss=4e6), FAIL, "1000000 misses of 750000 accesses")

    def test_nodes(self):
        self.check("nodes", self.bench(), OK, "all nodes is 300000, of 2 of 2 one by one 300000")
        self.check("nodes", self.bench(at8=1.5e6 + 655360), FAIL, "one by one 365536: 0x4 150000, 0x8 215536")
        self.check("nodes", self.bench(at8=0), FAIL, "one by one 150000")
        self.check("nodes", self.bench(text=""), SKIP, "debugfs, for root")

    def test_nodes_by_halves(self):
        bench = self.bench()
        good, group = bench.says, []

        def says(want, seconds):
            if len(want.key) == 2:
                group.clear()
            group.append(want)
            return OSError(errno.EINVAL, "") if len(group) > 2 else good(want, seconds)
        bench.says = says
        self.check("nodes", bench, OK, "of 1 of 2 one by one 150000")

    def test_a_clock(self):
        self.check("a-clock", self.bench(), OK, "750000 accesses at 2 nodes in 125000000 clocks")
        self.check("a-clock", self.bench(hnf_slc_sf_cache_access=2e9), FAIL, "500000000 accesses at 2 nodes")

    def test_steady(self):
        self.check("steady", self.bench(), OK, "equal in 101 reads, at last 3000000")
        self.check("steady", self.bench(again=3e6 + 65536), FAIL, "in 101 of 101 reads .* at most by 65536")
        in_tree = sysfs.Driver(sysfs.IN_TREE, "arm_cmn")
        self.check("steady", self.bench(in_tree, again=1), SKIP, "in-tree")

    def test_ports(self):
        self.check("ports", self.bench(), OK, "watchpoints saw 5000 of 5000 requests")
        self.check("ports", self.bench(watchpoint_down=2e5), NOTE,
                   "XP 0x0, mxp_p0_req_txflit_valid: 5000, .* saw 10000 pass")

    def test_idle(self):
        with mock.patch.object(cmn, "busy_share", lambda machine: lambda: 0.0):
            self.check("idle", self.bench(), OK, "64,000B/s to memory")
            self.check("idle", self.bench(hnf_mc_reqs=1e8), NOTE, "6.4 GB/s to memory")
        with mock.patch.object(cmn, "busy_share", lambda machine: lambda: 0.06):
            self.check("idle", self.bench(), SKIP, "6 % busy")


class TestPower(CheckCase):
    CORE = {"CPM_32MHZ_CYC": 62500, "CPM_CCYC": 4e6, "CPM_PCYC": 4e6, "CPM_NON_IDLE_PCYC": 3e6}

    def bench(self, files=None, **bad):
        core = pmu("core_imc", "power_imc", [0, 4], dict.fromkeys(self.CORE, 512.0))
        nest = pmu("nest_powerbus0_imc", "power_imc", [0], {"PM_PB_CYC": 256.0})
        values = self.CORE | {"PM_PB_CYC": 8e6} | bad
        return Bench(self.machine(core, nest, files=files), "power_imc", lambda want, s: int(values[want.key[2]] * s))

    def check(self, name, bench, verdict, said):
        self.judge(power_imc.CHECKS, name, bench, verdict, said)

    def test_reference(self):
        self.check("reference", self.bench(), OK, "core_imc on CPU 4: 32.00 MHz")
        self.check("reference", self.bench(CPM_32MHZ_CYC=31250), FAIL, "the clock of 32 MHz has 16 MHz")
        self.check("reference", self.bench(CPM_32MHZ_CYC=0), FAIL, "engine does not count")

    def test_cycles(self):
        self.check("cycles", self.bench(), OK, "2.048 GHz")
        self.check("cycles", self.bench(CPM_CCYC=1000), FAIL, "512,000 cycles a second")
        self.check("cycles", self.bench(CPM_CCYC=4e7), FAIL, "20.48 G cycles a second")

    def test_parts(self):
        self.check("parts", self.bench(), OK, "CPM_PCYC is 1000000, of which CPM_NON_IDLE_PCYC 750000")
        self.check("parts", self.bench(CPM_NON_IDLE_PCYC=5e6), NOTE, "CPM_NON_IDLE_PCYC 1250000")

    def test_nest(self):
        self.check("nest", self.bench(), OK, "2.048 GHz")
        self.check("nest", self.bench(PM_PB_CYC=0), NOTE, "stands still")
        self.check("nest", self.bench(PM_PB_CYC=1e8), FAIL, "25.6 G cycles of the bus")

    def test_threads(self):
        for event in "CPM_CS_INST_USER", "CPM_MSR_PROB_INST":
            thread = pmu("thread_imc", "power_imc", [], {event: 512.0})
            for value, verdict, said in ((20_000, OK, "^10,240,000 instructions of this program were counted"),
                                         (0, FAIL, f"thread_imc/{event}/ counted nothing of a program that has worked"),
                                         (OSError(errno.EBUSY, ""), FAIL, "somebody else has what it needs")):
                bench = Bench(self.machine(thread), "power_imc", lambda want, seconds, value=value: value)
                self.check("threads", bench, verdict, said)
        self.check("threads", self.bench(), SKIP, "nothing that this check looks at")

    def test_rings(self):
        said = "cpu 0: taken 10 lost {} corrupt {} laps 0 drains 3 timers 3 samples 10\n"
        path = "sys/kernel/debug/power_imc_pmu/trace"
        self.check("rings", self.bench({path: said.format(0, 0)}), OK, "CPU 0: 10 records")
        self.check("rings", self.bench({path: said.format(4, 0)}), NOTE, "4 records of a trace were lost, 0 of them no good")
        self.check("rings", self.bench({path: said.format(2, 2)}), NOTE, "2 records of a trace were lost, 2 of them no good")
        self.check("rings", self.bench(), SKIP, "nothing that this check looks at")


class TestLoad(CheckCase):
    """Of what a program moves, or does, so much is counted."""

    def setUp(self):
        super().setUp()
        self.loads = []
        patch = mock.patch.object(load.LOAD, "ready", self.ready)
        patch.start()
        self.addCleanup(patch.stop)

    @contextlib.contextmanager
    def ready(self, *words):
        self.loads.append(words)
        yield mock.Mock(pid=77), lambda: None

    def check(self, name, bench, verdict, said):
        self.judge(load.TABLES[bench.family], name, bench, verdict, said)

    def xeon(self, share, others=0, **changes):
        """Socket 0's and 1's channels have @share of what is moved there, and of others' bytes."""
        machine = tree.machine(self, "snbep", {"proc/meminfo": "MemAvailable: 8388608 kB\n",
                                               "sys/devices/system/node/online": "0-1\n"} | changes)

        def says(want, seconds):
            channel, cpu, text = want.key
            moved = self.loads and bench.windows % 2 == 0 and \
                (cpu, text) == (self.loads[-1][1], intel_imc.READ if self.loads[-1][0] == "read" else intel_imc.WRITE)
            return int((share * load.BYTES * bool(moved) + others * seconds) / 64 / 4)
        bench = Bench(machine, "intel_imc", says)
        return bench

    def test_channels(self):
        self.check("load-memory", self.xeon(1), OK, "read on socket 1: 1.074 GB counted of 1.074 GB; .* nothing was done 0B")
        self.assertEqual([(kind, cpu) for kind, cpu, *_ in self.loads], [("read", 0), ("write", 0), ("read", 1), ("write", 1)])
        for share in 0, 0.5, 1.2:
            self.check("load-memory", self.xeon(share), FAIL, r"read on socket 0: .* 90% to 110% are right")
        # What others move meanwhile is taken from a window that was half as long.
        self.check("load-memory", self.xeon(1, 1e9), OK, "2.07. GB counted .* nothing was done 1 GB")
        self.check("load-memory", self.xeon(0.5, 1e8), FAIL, "90% to 110%")

    def test_what_cannot_be_held_against_it(self):
        self.check("load-memory", self.xeon(1, **{"proc/meminfo": "MemAvailable: 1000 kB\n"}), SKIP, "too little memory")
        bench = self.xeon(1)
        bench.says = lambda want, seconds: Reading(5, 1000, 500)
        self.check("load-memory", bench, SKIP, "others have events open")

    def test_mesh(self):
        def bench(share):
            mesh = pmu("arm_cmn_0", "cmn", [0], {"hnf_mc_reqs": 1.0})
            return Bench(self.machine(mesh, files={"proc/meminfo": "MemAvailable: 8388608 kB\n"}), "cmn",
                         lambda want, seconds: int(share * load.BYTES / 64 * (seconds == 1.0)))
        for share, verdict in ((0.5, FAIL), (1, OK), (2, OK), (3, FAIL)):
            self.check("load-memory", bench(share), verdict, "arm_cmn_0, read")

    def test_memory_that_may_be_anywhere(self):
        """Firmware that tells of no nodes: the buffer is at either socket, whose mesh or channels count it alone."""
        meshes = [pmu(f"arm_cmn_{number}", "cmn", [0], {"hnf_mc_reqs": 1.0}) for number in range(2)]

        def bench(share, nodes):
            files = {"proc/meminfo": "MemAvailable: 33554432 kB\n", "sys/devices/system/node/online": nodes}
            return Bench(self.machine(*meshes, files=files), "cmn", lambda want, seconds: int(
                share * load.BYTES / 64 * (seconds == 1.0) * (want.key[0] == "arm_cmn_1")))
        self.check("load-memory", bench(1, "0\n"), OK, "arm_cmn_0 [+] arm_cmn_1, read")
        self.check("load-memory", bench(0.5, "0\n"), FAIL, "arm_cmn_0 [+] arm_cmn_1, read")
        self.check("load-memory", bench(1, "0-1\n"), FAIL, "^arm_cmn_0, read")
        one = self.xeon(1, **{"sys/devices/system/node/online": "0\n"})
        # What a CPU of one socket moves is what the other one's channels count.
        good = one.says
        one.says = lambda want, seconds: good(count.Want((want.key[0], 1 - want.key[1], want.key[2]), "", 0, {}), seconds)
        self.check("load-memory", one, OK, "read on socket 1, at the channels of all sockets")

    def test_nodes_of_a_socket(self):
        """Of one socket with a CPU on each of two nodes: channels 0 and 1 are of the first, or of all."""
        def bench(spread=10):
            one = self.xeon(1)
            one.machine.cpus = {number: cpu._replace(package=0) for number, cpu in one.machine.cpus.items()}
            one.machine.nodes = {number: [number] for number in (0, 1)}
            for each in one.pmus:
                each.cpus[:] = [0]
            one.says = lambda want, seconds: 1000 if int(want.key[0][-1]) // 2 == self.loads[-1][1] else spread
            return one
        self.check("load-nodes", bench(), ANSWER, "(?m)socket 0, node 0: memory is on uncore_imc_0, uncore_imc_1$")
        self.assertEqual([(kind, cpu) for kind, cpu, *_ in self.loads], [("read", 0), ("read", 1)])
        self.check("load-nodes", bench(900), SKIP, "all of the socket's")
        with mock.patch.object(load.places, "node", lambda machine, pmu, cpu: 0):
            self.check("load-nodes", bench(), FAIL, "^socket 0, node 1: .*; uncore_imc_2, uncore_imc_3 said to be of another node")
        self.check("load-nodes", self.xeon(1), SKIP, "nothing that this check looks at")
        for model, lines, written in ((85, ("event=0x04,umask=0x03",), ("event=0x04,umask=0x0c",)),
                                      (106, ("event=0x04,umask=0x0f",), ("event=0x04,umask=0x30",)),
                                      (143, ("event=0x05,umask=0xcf",), ("event=0x05,umask=0xf0",)),
                                      (173, ("event=0x05,umask=0xcf", "event=0x06,umask=0xcf"),
                                       ("event=0x05,umask=0xf0", "event=0x06,umask=0xf0"))):
            machine = mock.Mock(intel_model=lambda: (6, model, 1))
            self.assertEqual((load.lines_of(machine, "read"), load.lines_of(machine, "write")), (lines, written))

    def test_a_cache_that_is_not_listed(self):
        """Of 32 home nodes with up to 4 MiB: a buffer of 16 times a core's own cache would be in there."""
        text = "\n".join(["arm_cmn_0: CMN-700", "y=0 | XP 0x000 DTC 0 |",
                          *(f"    | p0 HN-F {one:#05x}  |\n    |      HN-F#{one}    |" for one in range(32))])
        caches = {"sys/devices/system/cpu/cpu0/cache/index3/size": "1024K\n", "proc/meminfo": "MemAvailable: 33554432 kB\n"}
        mesh = pmu("arm_cmn_0", "cmn", [0], {"hnf_mc_reqs": 1.0, "hnf_cache_miss": 1.0, "hnf_slc_sf_cache_access": 1.0})
        for drawing, cache in ((text, 128 << 20), ("", 512 << 20)):
            self.loads.clear()
            self.check("load-memory", Bench(self.machine(mesh, files={**caches, DRAWING: drawing}), "cmn",
                                            lambda want, seconds: int(load.BYTES / 64 * (seconds == 1.0))), OK, "read")
            self.assertEqual(self.loads[0][3], load.BYTES + cache)

    def test_thread(self):
        for share, verdict in ((0.5, FAIL), (1, OK), (1.1, FAIL)):
            thread = pmu("thread_imc", "power_imc", [], {"CPM_CS_INST_USER": 512.0})
            bench = Bench(self.machine(thread), "power_imc", lambda want, s: int(share * load.INSTRUCTIONS / 512))
            self.check("load-thread", bench, verdict, "of a program that has 50,000,000")
        self.check("load-thread", Bench(self.machine(), "power_imc", None), SKIP, "no thread_imc")

    def test_shares(self):
        trace = pmu("trace_imc", "power_imc", [0], {"trace_cycles": 1.0})
        bench = Bench(self.machine(trace), "power_imc", None)
        with mock.patch("shutil.which", lambda name: name):
            for heavy, light, verdict, said in ((750, 250, OK, "75.0 % of 1000 records"), (500, 500, FAIL, "50.0 % of 1000"),
                                                (30, 10, FAIL, "^40 records of a program")):
                script = mock.Mock(returncode=0, stdout=" 10 heavy\n" * heavy + " 20 light\n" * light + " 30 schedule\n")
                with mock.patch("subprocess.run", lambda *words, **more: script):
                    self.check("load-shares", bench, verdict, said)
            with mock.patch("subprocess.run", lambda *words, **more: mock.Mock(returncode=1, stderr="no rights\n")):
                self.check("load-shares", bench, FAIL, "perf record: no rights")
        with mock.patch("shutil.which", lambda name: None):
            self.check("load-shares", bench, SKIP, "needs perf")


class TestCopying(CheckCase):
    def test_many_cpus_leave_half_of_the_memory(self):
        for free, processes, size in ((1 << 40, 176, 64 << 20), (8 << 30, 176, 12_197_888), (0, 4, 4096)):
            machine = tree.machine(self, "snbep", {"proc/meminfo": f"MemAvailable: {free >> 10} kB\n"})
            self.assertEqual(checks.buffer_of_each(machine, processes), size)


class TestTables(unittest.TestCase):
    def test_each_check_has_a_test_here(self):
        own = Path(__file__).read_text()
        for table in (common.CHECKS, *main.TABLES.values(), *load.TABLES.values()):
            for one in table:
                self.assertIn(f'"{one.name}"', own)
                self.assertTrue(one.why and one.asks.endswith("?"), one.name)

    def test_names_are_unique_in_a_family(self):
        for table in main.TABLES.values():
            names = [one.name for one in (*common.CHECKS, *table)]
            self.assertEqual(len(names), len(set(names)))
