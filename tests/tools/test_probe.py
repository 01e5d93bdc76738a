# SPDX-License-Identifier: GPL-2.0-only
"""pmu-check's probes: what each makes of the answers that a machine may give."""
import contextlib
import itertools
import re
from pathlib import Path
from unittest import mock

import tree
from check_cases import DRAWING, HZ, MESH, MESH_COUNTS, Bench, CheckCase, pmu
from pmutools import count, sysfs
from pmutools.check import checks, cmn, intel_imc, look, main, probe, probe_cmn, probe_intel_imc, probe_power_imc
from pmutools.check.checks import ANSWER, FAIL, OK, SKIP
from pmutools.count import Reading


class TestProbes(CheckCase):
    def setUp(self):
        super().setUp()
        for module in (probe_cmn, probe_intel_imc, probe_power_imc):
            for name in ("awake", "copying"):
                patch = mock.patch.object(module, name, lambda *_: contextlib.nullcontext(), create=True)
                patch.start()
                self.addCleanup(patch.stop)
        patch = mock.patch("time.sleep", lambda seconds: None)
        patch.start()
        self.addCleanup(patch.stop)

    def ask(self, name, bench, verdict, said):
        """What a probe says begins with the number of its question."""
        self.judge(probe.PROBES, name, bench, verdict, f"(?m)^{probe.BY_NAME[name].number}: .*{said}")

    def channels(self, counts):
        """A machine where each channel counts in a second what @counts has of an event, by its fields."""
        return Bench(tree.machine(self, "snbep"), "intel_imc", lambda want, seconds: int(counts(want.key) * seconds))

    def mesh(self, says, events=(), files=None):
        mesh = pmu("arm_cmn_0", "cmn", [0], dict.fromkeys((*MESH_COUNTS, *events), 1.0))
        return Bench(self.machine(mesh, files=files), "cmn", says)

    def test_sleep_clock(self):
        self.ask("sleep-clock", self.channels(lambda key: HZ), ANSWER, "runs 100.0 % of the time while nothing runs$")
        rates = iter(8 * [1e8] + 8 * [8e8])
        self.ask("sleep-clock", self.channels(lambda key: next(rates)), ANSWER, "runs 12.5 % .*: it stops in the sleep")

    def test_freeze(self):
        self.ask("freeze", self.channels(lambda key: HZ), OK, "5 counters of clocks stopped within 0 clocks")
        self.ask("freeze", self.channels(lambda key: HZ + 100 * (key[2] == intel_imc.FIXED)), FAIL, "within 50 clocks")
        self.ask("freeze", self.channels(lambda key: HZ * (key[2] == intel_imc.FIXED)), SKIP, "event 0 counts nothing")

    def test_comparisons(self):
        for name, good, bad in (("threshold", (7, 7, 0), (7, 0, 0)), ("threshold", (7, 7, 0), (7, 7, 7)), ("umask", (7, 7), (6, 8)),
                                ("occupancy", (7, 9), (8, 6))):
            for values, verdict in ((good, OK), (bad, FAIL), ((0, 0, 0), SKIP)):
                bench = self.channels(lambda key: 0)
                order = {}
                bench.says = lambda want, seconds: values[order.setdefault(want.key[2], len(order))]
                self.ask(name, bench, verdict, "uncore_imc_0 on CPU 0")

    def test_events_of_other_generations(self):
        """A code that means something else there is not asked for; where there is another one, that is."""
        def ask(model, name, verdict, said, counts):
            files = {"proc/cpuinfo": f"vendor_id : GenuineIntel\ncpu family : 6\nmodel : {model}\nmodel name : X\nstepping : 6\n"}
            self.ask(name, Bench(tree.machine(self, "snbep", files), "intel_imc", lambda want, seconds: counts(want.key[2])), verdict, said)
        for model, names in ((63, ["occupancy"]), (106, ["umask", "increments"]), (238, ["umask"]),
                             (143, ["threshold", "umask", "increments", "occupancy"]), (173, ["threshold", "umask", "occupancy"])):
            for name in names:
                ask(model, name, SKIP, "no events that could tell", lambda text: 100)
        ask(106, "occupancy", FAIL, "does not start", lambda text: {"event=0x80": 6, "event=0x11,umask=0x1": 8}[text])
        with mock.patch.object(probe_intel_imc, "near_memory", lambda *_: True):
            ask(173, "sockets", FAIL, "work on socket 1 moves 51,200B on 0", lambda text: {"event=0x05,umask=0xcf": 60, "event=0x06,umask=0xcf": 140}[text])

    def test_increments(self):
        for most, verdict, said in ((9, OK, "reach 1"), (17, FAIL, "16 is not the most"), (0, SKIP, "no clock was ever off")):
            self.ask("increments", self.channels(lambda key: int(key[2].rsplit("=", 1)[1], 16) <= most and 100), verdict, said)

    def test_starts(self):
        """Of a clock that counts from each start, of one that misses some, and of one that stands."""
        for misses, verdict, said in ((0, OK, "0 of 1000"), (10, FAIL, "100 of 1000 starts"), (1, SKIP, "1000 of 1000")):
            reads = itertools.count()

            def read(bench=self.channels(None), misses=misses, reads=reads):
                tick = next(reads)
                value = tick - (-(-tick // misses) if misses else 0)
                return {(pmu.name, cpu, intel_imc.GENERAL): Reading(value, 1, 1) for pmu, cpu in bench.boxes()}, 0
            with mock.patch.object(count, "Session") as session:
                session.return_value.__enter__.return_value.read = read
                self.ask("starts", self.channels(None), verdict, said)

    def test_sockets(self):
        """Work on a socket is counted there, or on the other one; or nobody knows where its memory is."""
        bench = self.channels(lambda key: 0)
        bench.says = lambda want, seconds: 100 if want.key[1] == (0 if bench.windows == 1 else 1) else 3
        with mock.patch.object(probe_intel_imc, "near_memory", lambda *_: True):
            self.ask("sockets", bench, OK, "work on socket 1 moves .*B on 0, .*B on 1")
            bench.windows = 0
            bench.says = lambda want, seconds: 100 if want.key[1] == 0 else 3
            self.ask("sockets", bench, FAIL, "work on socket 1 moves")
            bench.machine.cpus = {cpu: one._replace(package=0, die=one.package) for cpu, one in bench.machine.cpus.items()}
            self.ask("sockets", bench, FAIL, "work on socket 0, die 1 moves .*B on 0, die 0, .*B on 0, die 1")
        with mock.patch.object(probe_intel_imc, "near_memory", lambda *_: False):
            self.ask("sockets", bench, SKIP, "which memory is near")

    def test_carry(self):
        alone = []

        def says(other):
            def value(want, seconds):
                alone.append(want.exclusive)
                return 700_000 + other * (want.key[1] == "again")
            return value

        self.ask("carry", self.mesh(says(0)), OK, "0 of 6001 reads differed")
        # Equal events that share a counter cannot differ.
        self.assertIn(True, alone)
        self.ask("carry", self.mesh(says(-65536)), FAIL, "6001 of 6001 reads differed.* 6001 by about a multiple of 65536")

    def test_interrupts(self):
        """Of a clock of 2 GHz: one, none, a storm; and a clock that has lost what it had before its overflow."""
        device = mock.patch.object(sysfs.Pmu, "device", "100000000.pmu")
        device.start()
        self.addCleanup(device.stop)
        for interrupts, lost, verdict, said in (
                (1, 0, OK, "1 interrupts in 412 s, in which its clock overflowed"), (0, 0, ANSWER, "the driver's timer has seen it"),
                (900, 0, FAIL, "comes again"), (1, 1 << 39, FAIL, "the overflow was lost")):
            read = iter(f"  CPU0 CPU1\n 9: {number} 4 GICv3 9 Level arch_timer\n17: {number} 0 GICv3 217 Level 100000000.pmu\n"
                        for number in (0, interrupts))
            bench = self.mesh(lambda want, seconds: int(2e9 * seconds) - (lost if seconds > 1 else 0), ["dtc_cycles"])
            bench.machine.read = lambda name, default="": next(read)
            self.ask("interrupts", bench, verdict, said)
        self.ask("interrupts", self.mesh(lambda want, seconds: int(1e6 * seconds), ["dtc_cycles"]), SKIP, "overflows after 13744 min")

    def test_home_nodes(self):
        drawing = {DRAWING: MESH}
        ids = cmn.homes(self.mesh(None, files=drawing), self.mesh(None, files=drawing).pmus[0])[2]
        for silent, verdict, said in (([], OK, "at 2 of 2 home nodes"), (ids[1:], FAIL, f"nothing is counted at {ids[1]:#x}"),
                                      (ids, SKIP, "at 0 of 2")):
            self.ask("home-nodes", self.mesh(lambda want, s: 0 if dict(want.key[2:])["nodeid"] in silent else 70, files=drawing),
                     verdict, said)

    def test_filters(self):
        kinds = ["hnf_qos_pocq_occupancy_all", "hnf_qos_pocq_occupancy_read", "hnf_qos_pocq_occupancy_write"]
        for share, verdict in ((1, OK), (0.3, FAIL), (0, FAIL)):
            bench = self.mesh(None, kinds)
            bench.count = self.beside(bench, lambda names: share if kinds[2] in names else 1)
            self.ask("filters", bench, verdict, f"least {1000 * share:,.0f} beside {kinds[2] if share < 1 else kinds[1]}")

    @staticmethod
    def beside(bench, share):
        """A bench whose accesses are @share(names) of 1000, by what they are counted beside."""
        def counted(groups, seconds=0, steps=1):
            names = [one.key[1] for one in groups[0]]
            reading = Reading(int(1000 * share(names)), 1000, 1000)
            return checks.Counted(steps=[dict.fromkeys((one.key for one in groups[0]), reading)])
        return counted

    def test_virtual_channels(self):
        """Each sees what is sent on its own, or both see all that is sent."""
        for number, kind in enumerate(("req", "rsp", "snp", "dat")):
            names = [f"mxp_p0_{kind}_txflit_valid", f"mxp_p0_{kind}2_txflit_valid", "watchpoint_down"]
            for both, verdict in ((0, OK), (900, FAIL)):
                bench = self.mesh(None, names, {DRAWING: MESH})
                bench.pmus[0].formats["wp_chn_num"] = [("config", 0, 63)]

                def says(want, seconds, both=both, number=number):
                    fields = dict(want.key[2:])
                    if fields.get("wp_chn_sel", number) != number:
                        return 0
                    second = "2_" in want.key[1] or fields.get("wp_chn_num") == 1
                    return both if both and want.key[1].startswith("watch") else 300 if second else 600
                bench.says = says
                self.ask("virtual-channels", bench, verdict,
                         rf"XP 0x0 port 0: channels 0 and 1 seen .*, sent \[600, 300\], of {kind}")

    def test_virtual_channels_that_are_hidden(self):
        """Without SPNIDEN no watchpoint sees a DAT flit, whatever it selects."""
        bench = self.mesh(lambda want, s: 0 if want.key[1].startswith("watch") else 600,
                          ["mxp_p0_dat_txflit_valid", "mxp_p0_dat2_txflit_valid", "watchpoint_down"], {DRAWING: MESH})
        bench.pmus[0].formats["wp_chn_num"] = [("config", 0, 63)]
        self.judge(probe.PROBES, "virtual-channels", bench, SKIP, "nothing that this check looks at")

    def test_pairs(self):
        fields = {name: [("config", 0, 63)] for name in ("wp_combine", "wp_exclusive")}
        for both, said in ((0, "each half is inverted"), (1000, "the pair is inverted")):
            bench = self.mesh(None, ["watchpoint_down"], {DRAWING: MESH})
            bench.pmus[0].formats.update(fields)
            bench.count = lambda groups, seconds: checks.Counted(
                steps=[dict.fromkeys((one.key for one in groups[0]), Reading(both if len(groups[0]) > 1 else 1000, 1, 1))])
            self.ask("pairs", bench, ANSWER, said)

    def test_visible(self):
        names = [f"mxp_p0_{channel}_txflit_valid" for channel in ("req", "rsp", "snp", "dat", "dat2")]
        for hidden, verdict, said in (("none", OK, "dat 1,000, req 500, rsp 500, snp 500"), ("snp", OK, "snp 0"), ("rsp", FAIL, "flits of rsp")):
            self.ask("visible", self.mesh(lambda want, s: 0 if hidden in want.key[1] else 500, names), verdict, said)
        files = {DRAWING: MESH.replace("CMN-600", "CMN-600, NIDEN off")}
        self.ask("visible", self.mesh(lambda want, s: 0, names, files), FAIL, "; AUTHSTATUS: NIDEN off: who copies")

    def test_frames(self):
        def bench(second):
            nest = pmu("nest_mba0_imc", "power_imc", [0], {"PM_A": 1.0})
            return Bench(self.machine(nest), "power_imc", lambda want, seconds: {0x550: 200, 0x658: second}[want.key])
        self.ask("frames", bench(100), ANSWER, "grew by 200 and 100 in two seconds$")
        self.ask("frames", bench(200), ANSWER, "not two to one")

    def test_pause(self):
        for first, verdict in ((50, OK), (5000, FAIL)):
            nest = pmu("nest_mcs01_imc", "power_imc", [0], {"PM_MCS01_128B_RD_DISP_PORT01": 1.0}, sysfs.Driver(sysfs.IN_TREE, ""))
            bench = Bench(self.machine(nest), "power_imc", None)
            bench.says = lambda want, seconds: {1: 10_000, 2: first, 3: 10}[bench.windows]
            self.ask("pause", bench, verdict, "in 10 ms after a pause")
        ours = pmu("nest_mcs01_imc", "power_imc", [0], {"PM_MCS01_128B_RD_DISP_PORT01": 1.0})
        self.ask("pause", Bench(self.machine(ours), "power_imc", None), SKIP, "open waits until")

    def test_engines(self):
        core = pmu("core_imc", "power_imc", [0, 4], {"CPM_32MHZ_CYC": 512.0})
        for name in ("deep-sleep", "engine-modes"):
            for restarts, rate, verdict, said in ((0, 32e6, OK, "0 engines"), (2, 32e6, ANSWER, "2 engines"), (2, 16e6, FAIL, "counts are lost")):
                bench = Bench(self.machine(core), "power_imc", lambda want, seconds: int(rate * seconds / 512))
                engines = iter(f"core 0: restarts {number}\ncore 1: restarts 0\n" for number in (0, 0, restarts))
                bench.machine.read = lambda place, default="": next(engines) if place.endswith("engines") else "0"
                self.ask(name, bench, verdict, said)
        self.ask("deep-sleep", Bench(self.machine(core), "power_imc", None), SKIP, "for root, with our driver")

    def test_traces(self):
        trace = pmu("trace_imc", "power_imc", [], {"trace_cycles": 1.0})

        def record(timebase):
            return b".skipped" + probe_power_imc.RECORD.pack(timebase, 0xc000, 7, 0, 0, 0, 0, timebase) + b"fill"
        ours = [(number, record(2_048_000 * number)) for number in range(500)]
        for name, found, verdict, said in (
                ("records", ours, ANSWER, "a record each 4.0000 ms, 2,048,000 ticks of the timebase .500 samples in 2 s of CPU 1"),
                ("records", [(number, b"") for number in range(100)], ANSWER, "a record each 20.00 ms at most"), ("records", [], FAIL, "no record in 2 s"),
                ("idle-records", ours, ANSWER, "500 records in 2 s"), ("doubleword-2", ours, ANSWER, "of 500 records: 0x7$"),
                ("doubleword-2", [(0, b"")], SKIP, "does not show records")):
            with mock.patch.object(count, "samples", lambda *_: found):
                self.ask(name, Bench(self.machine(trace), "power_imc", None), verdict, said)
        for name in ("records", "idle-records", "doubleword-2"):
            self.ask(name, Bench(self.machine(), "power_imc", None), SKIP, "There is no trace_imc|or there is no trace_imc")

    def test_posts(self):
        for name, event in (("core-posts", "CPM_32MHZ_CYC"), ("nest-posts", "PM_PB_CYC")):
            bench = Bench(self.machine(pmu("core_imc", "power_imc", [0], {event: 1.0})), "power_imc", None)
            for times, verdict, said in (([1.0, 1.5, 9.0], ANSWER, f"{event} changes each 1.50 ms .least 1.00, most 9.00"), ([], SKIP, "changed 0 times")):
                with mock.patch.object(probe_power_imc, "_changes", lambda *_: times):
                    self.ask(name, bench, verdict, said)

    def test_isolation(self):
        with mock.patch.object(look, "log", lambda machine: ([(6, "the node at 0x100 is isolated: left alone")], "")):
            self.ask("isolation", self.channels(None), ANSWER, "0x100 is isolated")
        with mock.patch.object(look, "log", lambda machine: ([], "no rights")):
            self.ask("isolation", self.channels(None), SKIP, "no rights")

    def test_each_has_a_test_here(self):
        own = Path(__file__).read_text()
        for one in probe.PROBES:
            self.assertTrue(f'"{one.name}"' in own, one.name)
            self.assertTrue(one.touches and one.asks.endswith("?"), one.name)

    def test_all_of_a_machine(self):
        machine = self.machine(pmu("arm_cmn_0", "cmn", [0], {}))
        self.assertEqual([one for _, one in main.probes(machine, ["all"])], list(probe_cmn.PROBES))

    def test_each_question_has_a_probe_or_a_reason(self):
        """Once, and no others: those of the rows of the pages that have a question."""
        pages = Path(__file__).parents[2] / "Documentation/hardware"
        for family, section in (("cmn", 11), ("power_imc", 13), ("intel_imc", 12)):
            text = re.split(rf"(?m)^## (?={section}\. )", (pages / f"{family}.md").read_text())[1].split("\n##")[0]
            asked = re.findall(rf"^\| ({section}\.\d+) \| [^ |]", text, re.M)
            answered = [one.number for one in probe.PROBES if one.family == family]
            answered += [number for name, numbers, _ in probe.NOT_HERE if name == family for number in numbers.split(", ")]
            self.assertEqual(sorted(asked), sorted(one for one in answered if one.startswith(f"{section}.")), family)
