# SPDX-License-Identifier: GPL-2.0-only
"""pmu-top: what it counts while the machine changes, and others count."""
import errno
import io
import json
import os
import shutil
import subprocess
import sys
import unittest
from unittest import mock

import tree
from top_cases import options

from pmutools import count, sysfs
from pmutools.errors import ToolError
from pmutools.top import cmn, frames, intel_imc, main, output, power_imc


class LiveCase(unittest.TestCase):
    """Frames of counters whose time a test makes."""

    def setUp(self):
        self.kernel = tree.Kernel(self)

    def live(self, machine, view, **more):
        self.machine = machine
        live = frames.Live(view, machine, 1.0, look=lambda: sysfs.Machine(machine.root, machine.arch), **more)
        live.look_at(view.first)
        self.addCleanup(live.close)
        return live

    def xeon(self, **more):
        machine = tree.machine(self, "snbep")
        return self.live(machine, intel_imc.View.of(machine, options()), **more)

    def put(self, path, text):
        (self.machine.root / path).write_text(text)

    def frame(self, live):
        """(notes, sockets and channels that have a number)"""
        one = live.until(self.kernel.wait)
        return one.notes, {(row.labels[0][1], row.labels[1][1]) for row in live.view.rows(one).all
                           if row.name == "read" and row.value}


class TestWhatIsLost(LiveCase):
    """A sentence says what is lost, as long as it is; what is back is counted again."""
    CHANNEL = "sys/bus/event_source/devices/uncore_imc_3/cpumask"

    def test_a_channel_that_is_unbound_and_bound_again(self):
        live, everything = self.xeon(), {(socket, channel) for socket in "01" for channel in "0123"}
        self.assertEqual(self.frame(live), ([], everything))
        self.kernel.stale = {("uncore_imc_3", 1)}
        self.put(self.CHANNEL, "0\n")
        for _ in range(2):
            self.assertEqual(self.frame(live), (["a part of uncore_imc_3 is gone: its numbers are missing"],
                                                everything - {("1", "3")}))
        self.kernel.stale = set()
        self.put(self.CHANNEL, "0-1\n")
        self.assertEqual(self.frame(live)[0], ["uncore_imc_3 was lost, and is counted again from now on"])
        for _ in range(2):
            self.assertEqual(self.frame(live), ([], everything))
        opened = len(self.kernel.groups)
        self.frame(live)
        self.assertEqual(len(self.kernel.groups), opened)

    def test_a_driver_that_is_unloaded_and_loaded(self):
        live = self.xeon(waits=True)
        self.frame(live)
        self.kernel.stale = {(f"uncore_imc_{number}", cpu) for number in range(4) for cpu in range(2)}
        devices = self.machine.root / "sys/bus/event_source/devices"
        devices.rename(devices.with_name("away"))
        notes, there = self.frame(live)
        self.assertEqual((len(notes), there), (4, set()))
        self.assertIn("uncore_imc_2 is gone: its numbers are missing", notes)
        self.frame(live)
        live.look_at("pages")           # a key that was pressed meanwhile
        live.look_at("all")
        devices.with_name("away").rename(devices)
        self.kernel.stale = set()
        self.frame(live)
        notes, there = self.frame(live)
        self.assertEqual((notes, len(there)), ([], 8))

    def test_another_driver_takes_over(self):
        """It is the one that is told from then on; while there is none, the last."""
        for name, of, module, mark, changed in (("snbep", intel_imc, "intel_imc_pmu", "uncore_imc_*/channel", "intel_uncore (in-tree)"),
                                       ("cmn700", cmn, "cmn_pmu", "arm_cmn_*/format/wp_chn_num", "arm_cmn (in-tree)"),
                                       ("power9", power_imc, "power_imc_pmu", "", "built into the kernel (in-tree)")):
            with self.subTest(name):
                machine, self.kernel.stale = tree.machine(self, name), set()
                live = self.live(machine, of.View.of(machine, options()), waits=True)
                metrics, record = output.Metrics(live.view), machine.root / "record"
                recorder = frames.Recorder(record, live.view.info)

                def driver():
                    one = live.until(self.kernel.wait)
                    rows = live.view.rows(one)
                    recorder.write(one)
                    metrics.add(one, rows)
                    told = json.loads(output.as_json(live.view, one, rows))["driver"]
                    self.assertIn(f'driver="{told}"', metrics.text())
                    return told

                before = f"{module} (pmu-suite)"
                self.assertEqual(driver(), before)
                self.kernel.stale = {group.place for group in self.kernel.groups}
                devices = machine.root / "sys/bus/event_source/devices"
                devices.rename(devices.with_name("away"))
                self.assertEqual(driver(), before)
                shutil.rmtree(machine.root / "sys/module" / module)
                for path in machine.root.glob(f"sys/bus/event_source/away/{mark}") if mark else ():
                    path.unlink()
                if live.view.name != "power_imc":
                    twin = machine.root / "sys/module" / changed.split()[0]
                    twin.mkdir()
                    (twin / "initstate").touch()
                devices.with_name("away").rename(devices)
                self.kernel.stale = set()
                self.assertEqual(driver(), changed)
                live.close()
                recorder.file.close()
                source = frames.Replay(record)
                told = []
                while not source.over:
                    self.assertNotIn("info", source.frame().extra)
                    told.append(source.info["driver"])
                self.assertEqual(told, [before, before, changed])
                source.to_the_last()
                source.frame()
                self.assertEqual(source.info["driver"], changed)
                source.next = 0
                source.frame()
                self.assertEqual(source.info["driver"], before)
                source.close()

    def test_where_nothing_is_left_and_nobody_waits(self):
        live = self.xeon()
        self.kernel.stale = {(f"uncore_imc_{number}", cpu) for number in range(4) for cpu in range(2)}
        for number in range(4):
            self.put(f"sys/bus/event_source/devices/uncore_imc_{number}/cpumask", "")
        self.assertRaisesRegex(ToolError, "uncore_imc_0, uncore_imc_1, uncore_imc_2, uncore_imc_3 are gone",
                               live.until, self.kernel.wait)

    def of_three_cpus(self):
        """What counts on one of them, of which socket 1 has two."""
        machine = tree.machine(self, "snbep", {f"sys/devices/system/cpu/cpu3/topology/{name}": "1\n"
                                               for name in ("physical_package_id", "core_id")} |
                               {"sys/devices/system/cpu/online": "0-1,3\n"})
        return self.live(machine, intel_imc.View.of(machine, options()))

    def goes_offline(self):
        """The first CPU of socket 1; what was opened there stays there."""
        self.kernel.stands = {(f"uncore_imc_{number}", 1) for number in range(4)}
        for number in range(4):
            self.put(f"sys/bus/event_source/devices/uncore_imc_{number}/cpumask", "0,3\n")
        self.put("sys/devices/system/cpu/online", "0,3\n")

    def test_a_cpu_goes_offline_within_an_interval(self):
        """As when the machine slept. What its channels had counted before is not told as if it were of all of it."""
        live = self.of_three_cpus()
        self.frame(live)

        def wait(seconds):
            self.kernel.wait(seconds)
            if not self.kernel.stands:
                self.goes_offline()
        one = live.until(wait)
        rows = live.view.rows(one)
        self.assertEqual(one.notes[0], "uncore_imc_0 was lost, and is counted again from now on")
        for name in "read", "read_bytes":
            self.assertEqual([rows.get(name, socket="1", channel="2").value, rows.get(f"total_{name}").value], [None, None])
            self.assertTrue(rows.get(f"socket_{name}", socket="0").whole)
        notes, there = self.frame(live)
        self.assertEqual((notes, len(there)), ([], 8))

    def test_the_cpu_of_a_socket_goes_offline(self):
        """Another one of the socket has its channels then; what stayed with the first counts nothing more."""
        live = self.of_three_cpus()
        self.frame(live)
        self.goes_offline()
        notes, _ = self.frame(live)
        self.assertEqual(notes[0], "uncore_imc_0 was lost, and is counted again from now on")
        notes, there = self.frame(live)
        self.assertEqual((notes, len(there)), ([], 8))

    def test_one_that_cannot_be_opened_yet(self):
        live = self.xeon()
        self.kernel.stale, self.kernel.refuses = {("uncore_imc_3", 1)}, {"uncore_imc_3": errno.ENODEV}
        self.assertEqual(self.frame(live)[0], ["a part of uncore_imc_3 is gone: its numbers are missing"])
        self.kernel.stale, self.kernel.refuses = set(), {}
        self.frame(live)
        notes, there = self.frame(live)
        self.assertEqual((notes, len(there)), ([], 8))


class TestBesideOthers(LiveCase):
    """Others have counters, too: nothing is pinned, and what finds none free is told as that."""

    def test_reads_do_not_take_turns_with_pairs(self):
        """What is enabled at one time fits into a channel's four counters and its clock."""
        live, most = self.xeon(), []

        def wait(seconds):
            on = [one for group in self.kernel.groups if group.on and group.place == ("uncore_imc_0", 0)
                  for one in group.wants]
            most.append((sum("0xff" not in one.name for one in on), sum("0xff" in one.name for one in on)))
            self.kernel.wait(seconds)
        one = live.until(wait)
        self.assertEqual(set(most), {(4, 1)})
        rows = live.view.rows(one)
        self.assertEqual(rows.get("total_read").share, 1.0)
        self.assertAlmostEqual(rows.get("power_down", socket="0", channel="0").share, 1 / 3)

    def test_who_has_a_turn_at_ctrl_c(self):
        """A command may go on, as a server that ends in its own time: then the next has the counters alone, as always."""
        live = self.xeon()
        with self.assertRaises(KeyboardInterrupt):
            live.until(mock.Mock(side_effect=KeyboardInterrupt))
        self.assertEqual([group.place for turn in live.turns for group in turn.groups if group.on], [])

    def test_nothing_is_pinned(self):
        machine, flags = tree.machine(self, "snbep"), set()
        view = intel_imc.View.of(machine, options())
        mock.patch.stopall()
        with mock.patch.object(count, "_open", lambda packed, *_: flags.add(packed[40]) or os.open("/dev/null", 0)), \
                mock.patch.object(count._libc, "ioctl", return_value=0):
            live = frames.Live(view, machine, 1.0)
            with mock.patch.object(live, "_read", lambda: ({}, 0)):
                live.look_at("all")
            live.close()
        self.assertEqual(flags, {0, 1})         # disabled: leaders; and no other flag

    def test_pinned_by_somebody(self):
        live = self.xeon()
        self.kernel.pinned = {"uncore_imc_2": 1}
        notes, there = self.frame(live)
        self.assertEqual(notes, ["uncore_imc_2: what has no number found no counter free; somebody has pinned them"])
        self.assertEqual(len(there), 6)
        self.kernel.pinned = {}
        notes, there = self.frame(live)
        self.assertEqual((notes, len(there)), ([], 8))

    def test_links_of_a_turn_are_a_group(self):
        """A mesh stops for each start of a group: once for a turn, and not for each link."""
        machine = tree.machine(self, "cmn700")
        live = self.live(machine, cmn.View.of(machine, options()))
        self.kernel.enables = 0
        live.until(self.kernel.wait)
        self.assertEqual(self.kernel.enables, len(live.turns))
        for turn in live.turns:
            for group in turn.groups:
                for domain in {dtc for one in group.wants if (dtc := self.domain(live, one)) is not None}:
                    self.assertLessEqual(sum(self.domain(live, one) == domain for one in group.wants), 6)

    def test_the_first_frame_has_all_links(self):
        """It comes after one interval, however many turns that is."""
        machine = tree.machine(self, "cmn700")
        live = self.live(machine, cmn.View.of(machine, options()))
        begin = self.kernel.now
        one = live.until(self.kernel.wait)
        self.assertGreater(len(live.turns), 4)
        self.assertAlmostEqual((self.kernel.now - begin) / 1e9, 1.0)
        self.assertTrue(all(row.value for row in live.view.rows(one).all if row.name == "link"))

    @staticmethod
    def domain(live, want):
        links = live.view.meshes[0].info["links"]
        return links[want.key.split("/", 1)[1]][2] if ":links/" in want.key else None

    def test_links_of_which_some_find_no_counter(self):
        """Somebody has pinned some of a domain's: a turn's group never counts, so each link counts by itself."""
        machine = tree.machine(self, "cmn700")
        live = self.live(machine, cmn.View.of(machine, options()))
        self.kernel.pinned = {"arm_cmn_0": 3}
        self.assertIn("arm_cmn_0: what has no number found no counter free", live.until(self.kernel.wait).notes[0])
        one = live.until(self.kernel.wait)
        self.assertEqual(one.notes, [])
        self.assertTrue(all(row.value is not None for row in live.view.rows(one).all if row.name == "link"))

    def test_the_nest_while_somebody_traces(self):
        """Cores are the tracer's; the chips' bandwidth is nobody's. When the trace has ended they are counted, too."""
        machine = tree.machine(self, "power9")
        self.kernel.refuses = {"core_imc": errno.EBUSY}
        live = self.live(machine, power_imc.View.of(machine, options()))
        for refuses, there in (({"core_imc": errno.EBUSY}, False), ({}, False), ({}, True)):
            self.kernel.refuses = refuses
            one = live.until(self.kernel.wait)
            rows = live.view.rows(one)
            self.assertGreater(rows.get("total_read").value, 0)
            self.assertEqual(rows.get("cycles", chip="0", core="0").value is not None, there)
            self.assertEqual(any("core_imc/CPM_NON_IDLE_INST/: somebody else has" in note for note in one.notes), bool(refuses))

    def test_functions_where_nothing_else_is_counted(self):
        """A catalog may have a trace, and no memory controllers."""
        machine, said = tree.machine(self, "power9"), {"samples": 1, "top": [["heavy", "pmu-spin", 1]]}
        for waits in True, False:
            with mock.patch.object(power_imc, "Tracer", lambda: mock.Mock(functions=lambda: said)):
                view = power_imc.View({**power_imc.View.of(machine, options()).info, "nests": []})
                view.first = "functions"
                live = self.live(machine, view, waits=waits)
                for _ in range(2):
                    one = live.until(self.kernel.wait)
                    self.assertEqual((one.notes, one.extra), ([], {"functions": said}))

    def test_a_series_and_its_summary(self):
        """--interval holds while a command runs, and what programs read is not mixed with what the command writes."""
        live, out = self.xeon(), io.StringIO()
        live._take_turns = lambda seconds, wait: (self.kernel.wait(seconds), wait(seconds))
        live.interval = 0.2
        given = options(json=True, command=["sh", "-c", "sleep 0.5; exit 7"], series=True)
        outputs = main.Outputs(live.view, given, mock.Mock(file=out))
        with mock.patch.object(subprocess, "Popen", wraps=subprocess.Popen) as popen:
            self.assertEqual(main._run_command(given, live, live.view, outputs), 7)
        self.assertEqual(popen.call_args.kwargs["stdout"], sys.stderr)
        *series, last = map(json.loads, out.getvalue().splitlines())
        self.assertGreaterEqual(len(series), 2)
        self.assertEqual(last["summary"], {"intervals": len(series)})
        row = next(row for row in last["rows"] if row["name"] == "total_read")
        self.assertAlmostEqual(row["value"], 8 * 64e6)
        self.assertEqual(row["peak"], row["p50"])
        self.assertRegex(series[0]["time"], r"^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$")

    def test_no_turn_begins_after_the_end(self):
        """It would be of some microseconds, and its rate a value among those of whole turns."""
        live = self.xeon()
        live.interval, self.kernel.enables = 300, 0
        list(live.run(["sleep", "0.5"]))
        self.assertEqual(self.kernel.enables, len(live.turns[0].groups))
        self.assertGreater(len(live.turns), 1)

    def test_a_command_that_cannot_be_run(self):
        live = self.xeon()
        for command, status in (["/nowhere/x"], 127), (["/"], 126):
            with self.assertRaises(ToolError) as caught:
                list(live.run(command))
            self.assertEqual(caught.exception.status, status)

    def test_the_period_is_the_interval(self):
        """What an interval's work takes is a part of the next one: none is longer."""
        live = self.xeon()

        def slow(seconds):
            self.kernel.wait(seconds)
            self.kernel.wait(0.2)       # for the screen, and for files
        lengths = [live.until(slow).seconds for _ in range(4)]
        self.assertAlmostEqual(self.kernel.now / 1e9, 1 + 4 + 0.2 * len(live.turns), delta=0.7)
        self.assertTrue(all(one < 1.7 for one in lengths), lengths)

    def test_one_mesh_of_two_goes(self):
        """The other one is counted on; it comes back."""
        machine = tree.machine(self, "cmn700")
        place = machine.root / "sys/bus/event_source/devices"
        shutil.copytree(place / "arm_cmn_0", place / "arm_cmn_1")
        machine = sysfs.Machine(machine.root, machine.arch)
        live = self.live(machine, cmn.View.of(machine, options()))

        def meshes():
            one = live.until(self.kernel.wait)
            return one.notes, [mesh.name for mesh in live.view.meshes if live.view.rows(one).get("slc_access", pmu=mesh.name).value]
        self.assertEqual(meshes(), ([], ["arm_cmn_0", "arm_cmn_1"]))
        self.kernel.stale = {("arm_cmn_0", 0)}
        (place / "arm_cmn_0").rename(place.parent / "away")
        for _ in range(2):
            self.assertEqual(meshes(), (["arm_cmn_0 is gone: its numbers are missing"], ["arm_cmn_1"]))
        live.look_at("totals")
        live.look_at("links")           # without turns for the links of what is gone
        self.assertEqual(live.turns, [])
        self.kernel.stale = set()
        (place.parent / "away").rename(place / "arm_cmn_0")
        meshes()
        self.assertEqual(meshes(), ([], ["arm_cmn_0", "arm_cmn_1"]))
        one = live.until(self.kernel.wait)
        self.assertTrue(all(row.value for row in live.view.rows(one).all if row.name == "link"))

    def test_a_mesh_that_is_bound_again_has_another_number(self):
        """It is known by its device. What is gone is kept open in no turn."""
        for ours in True, False:
            with self.subTest(ours):
                machine = tree.machine(self, "cmn700")
                place, device = (machine.root / name for name in ("sys/bus/event_source/devices", "sys/devices/platform/1.pmu"))
                device.mkdir(parents=True)
                pmu = place / "arm_cmn_0"
                if ours:        # has a link
                    (pmu / "device").symlink_to(device)
                else:           # is below its device
                    pmu.rename(device / "arm_cmn_0")
                    pmu.symlink_to(device / "arm_cmn_0")
                machine, self.kernel.stale = sysfs.Machine(machine.root, machine.arch), set()
                live = self.live(machine, cmn.View.of(machine, options()), waits=True)
                self.assertEqual(live.until(self.kernel.wait).notes, [])
                self.kernel.stale = {("arm_cmn_0", 0)}
                pmu.rename(machine.root / "away")
                for _ in range(2):
                    self.assertEqual(live.until(self.kernel.wait).notes, ["arm_cmn_0 is gone: its numbers are missing"])
                    self.assertEqual(self.kernel.groups, [])
                if not ours:
                    (device / "arm_cmn_0").rename(device / "arm_cmn_3")
                    (machine.root / "away").unlink()
                    (place / "arm_cmn_3").symlink_to(device / "arm_cmn_3")
                else:
                    (machine.root / "away").rename(place / "arm_cmn_3")
                live.until(self.kernel.wait)
                self.assertEqual({group.pmu for group in self.kernel.groups}, {"arm_cmn_3"})
                one = live.until(self.kernel.wait)
                self.assertEqual(one.notes, [])
                self.assertTrue(all(row.value for row in live.view.rows(one).all if row.name == "link"))
                live.close()

    def test_a_link_that_the_driver_refuses(self):
        machine = tree.machine(self, "cmn700")
        self.kernel.bad = "mxp_p0_dat"
        live = self.live(machine, cmn.View.of(machine, options()))
        one = live.until(self.kernel.wait)
        self.assertTrue(one.notes[0].startswith("not counted: "))
        for row in live.view.rows(one).all:
            if row.name == "link":
                self.assertEqual(row.value is None, dict(row.labels)["to"] == "p0")
