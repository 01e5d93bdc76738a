# SPDX-License-Identifier: GPL-2.0-only
# all: a minute or two, with a program for each machine and size of screen
"""pmu-top: what it makes of counts, and the picture of them. Guests compare it with what models do."""
import errno
import io
import json
import re
import unittest
from unittest import mock

import tree
from rich.console import Console, Group
from top_cases import SECOND, busy_xeon, frame, options, text, xeon

from pmutools import sysfs, xeons
from pmutools.count import Reading
from pmutools.errors import ToolError
from pmutools.top import cmn, draw, icelake, intel_imc, main, output, power_imc, rapids
from pmutools.top.rows import Row, Rows


class TestIntel(unittest.TestCase):
    def test_the_numbers(self):
        view = xeon(self)
        rows = view.rows(busy_xeon(view))
        one = {"socket": "0", "channel": "0"}
        self.assertEqual(rows.get("read", **one).value, 3.2e9)
        self.assertEqual(rows.get("write_bytes", **one).value, 64e6)
        self.assertEqual(rows.get("clock", **one).value, 1.2e9)
        self.assertEqual(rows.get("page_hit", **one).value, 0.75)
        self.assertAlmostEqual(rows.get("read_latency", **one).value, 96 / 1.2e9)
        self.assertAlmostEqual(rows.get("power_down", **one).value, 0.25, places=6)
        self.assertEqual(rows.get("socket_read", socket="0").value, 3.2e9)
        self.assertEqual(rows.get("total_write").value, 12 * 64e6)
        self.assertAlmostEqual(rows.get("page_hit", **one).share, 1 / 3, places=6)

    def test_what_took_turns_is_in_no_sum(self):
        view = xeon(self)
        one = busy_xeon(view)
        one.counts["0/0/rd"] = Reading(25_000_000, SECOND, SECOND // 2)
        rows = view.rows(one)
        self.assertEqual(rows.get("read", socket="0", channel="0").text(2), "~3.20")
        self.assertIsNone(rows.get("socket_read", socket="0").value)
        self.assertIsNone(rows.get("total_read").value)
        self.assertIsNotNone(rows.get("socket_read", socket="1").value)
        self.assertIn("there is no sum", text(view, one))

    def test_what_a_socket_has(self):
        """As pcm-memory has it: sums of reads and writes, and a mean of each other number, weighted by what it is of."""
        view = xeon(self)
        one = busy_xeon(view)
        one.counts |= {"0/1/cas": Reading(1200, SECOND, SECOND // 3), "0/1/act": Reading(1200, SECOND, SECOND // 3)}
        rows = view.rows(one)
        self.assertAlmostEqual(rows.get("socket_page_hit", socket="0").value, (5 * 300 + 0) / (5 * 400 + 1200))
        self.assertAlmostEqual(rows.get("socket_read_latency", socket="0").value, 96 / 1.2e9)
        self.assertEqual(rows.get("socket_clock", socket="0").value, 1.2e9)
        self.assertRegex(text(view, one, 120), r"socket 0 +3\.20 .* 3\.58 +3 +~46\.9 +~80 +1,200")
        self.assertIn("sum 3.97 GB/s", text(view, one, 80))

    def test_the_warning_is_of_others(self):
        """pmu-top's own turns are always there, and would hide that somebody else takes some."""
        view = xeon(self)
        one = busy_xeon(view)
        self.assertIn("~ pmu-top counts these in turn, 33% of the time each", text(view, one, 100))
        one.counts["0/0/cas"] = one.counts["0/0/act"] = Reading(100, SECOND, SECOND // 9)
        self.assertIn("~ counters took turns with others: these numbers are of 11% of the time", text(view, one, 100))
        one.counts = busy_xeon(view).counts | {"0/0/rd": Reading(100, SECOND, SECOND // 3)}
        self.assertIn("took turns with others", text(view, one, 100))

    def test_narrow_windows(self):
        """Columns go, and no heading is cut."""
        view = xeon(self)
        for width, wanted in (20, "sum GB/s"), (40, "read GB/s write GB/s"), (60, "read GB/s write GB/s sum GB/s peak %"):
            lines = text(view, busy_xeon(view), width, 30).splitlines()
            self.assertEqual(lines[4].split(), wanted.split(), lines)
        for width in range(20, 201):
            lines = text(view, busy_xeon(view), width, 30).splitlines()
            self.assertLessEqual(max(map(len, lines)), width)
            self.assertRegex(lines[3], r"^(3\.97 GB/s(: read 3\.20 write 0\.77)?|read 3\.20 GB/s   write 0\.77 GB/s   sum 3\.97 GB/s) *$")
            self.assertNotIn("…", lines[4])

    def test_how_near_the_limit(self):
        """A channel moves 16 bytes a clock: 19.2 GB/s at 1.2 GHz. A full bar is that, and not what another one has."""
        view = xeon(self)
        one = busy_xeon(view)
        rows = view.rows(one)
        self.assertAlmostEqual(rows.get("of_peak", socket="0", channel="0").value, (3.2e9 + 64e6) / 19.2e9)
        self.assertAlmostEqual(rows.get("socket_of_peak", socket="0").value, (3.2e9 + 6 * 64e6) / 19.2e9 / 6)
        self.assertIsNone(rows.get("of_peak", socket="0", channel="9").value)
        said = text(view, one, 120)
        self.assertRegex(said, r"channel 0 +3\.20 +█[^ ]* +0\.06 .* 17 ")
        self.assertNotRegex(said, "█████")
        one.counts["0/0/rd"] = Reading(250_000_000, SECOND, SECOND)
        self.assertRegex(text(view, one, 120), r"channel 0 +16\.00 +█████.* 84! ")
        one.counts["0/0/clk"] = Reading(0, SECOND, SECOND)
        self.assertIsNone(view.rows(one).get("of_peak", socket="0", channel="0").value)
        self.assertIsNone(view.rows(one).get("socket_of_peak", socket="0").value)

    def test_history(self):
        view = xeon(self)
        outputs = main.Outputs(view, options(), None)
        for number in 1, 2, 4, 3, 8, 2:
            one = busy_xeon(view)
            one.counts["0/0/rd"] = Reading(number * 15_625_000, SECOND, SECOND)     # GB/s
            rows = view.rows(one)
            outputs.keep(one, rows)
        rows.get("total_read")
        console = Console(width=180, file=io.StringIO(), legacy_windows=False)
        console.print(Group(*outputs.picture(one, rows, 180)))
        said = console.file.getvalue()
        # Each of twelve channels is written to with 0.064 GB/s.
        self.assertRegex(said, r"read 2\.00 GB/s   write 0\.77 GB/s   sum 2\.77 GB/s   most 8\.77   ▂▃▅▄█▃")
        self.assertRegex(said, r"channel 0 .* 8\.06 +▂▃▅▄█▃ *\n")
        self.assertRegex(said, r"channel 1 .* 0\.06 +██████ *\n")
        self.assertRegex(said.splitlines()[2], r"1\.00 s from 0\.0 s on, \d\d:\d\d:\d\d")

    def test_a_long_history_fits(self):
        """A line has all that is kept. A sign is the most of some intervals, and moves on with these."""
        history, lines = draw.History(), []
        row = Row("read", (), None, "B/s")
        for number in range(history.LENGTH + 100):
            rows = Rows()
            rows.add("read", None if number < 200 else 8.0 if number == 300 else 1.0, "B/s")
            history.add(rows)
            lines.append(history.text(row, 20))
        self.assertEqual(lines[100], "")                                # there was nothing yet
        self.assertEqual(lines[299], " " * 13 + "█" * 7)                # 15 intervals a sign
        self.assertEqual(lines[300], " " * 12 + "▂" * 6 + "█")          # 16
        self.assertEqual(lines[599], " " * 6 + "▂" * 4 + "█" + "▂" * 9)     # 30
        self.assertEqual(lines[-1], " " * 2 + "▂" * 4 + "█" + "▂" * 13)     # the first hundred are gone
        self.assertEqual((history.said(row), history.text(row, 0)), ("0.00", ""))
        self.assertEqual(len(history.values[history._key(row)]), history.LENGTH)

    def test_no_latency_where_no_event_tells_it(self):
        haswell = {"proc/cpuinfo": "vendor_id : GenuineIntel\ncpu family : 6\nmodel : 63\nmodel name : E5\nstepping : 2\n"}
        view = intel_imc.View.of(tree.machine(self, "snbep", haswell), options())
        self.assertEqual(view.modes, ["all", "pages", "power"])
        self.assertNotIn("queue ns", text(view, busy_xeon(view)))

    def ice_lake(self, files=None):
        other = {"proc/cpuinfo": "vendor_id : GenuineIntel\ncpu family : 6\nmodel : 106\nmodel name : X\nstepping : 6\n"}
        return tree.machine(self, "skx", other | (files or {}))

    def test_ice_lake_has_third_channels_where_these_have_a_clock(self):
        """Our driver has no others."""
        kernel = tree.Kernel(self)
        kernel.refuses = {"uncore_imc_2": errno.EACCES, "uncore_imc_5": errno.EACCES}
        self.assertEqual(intel_imc.View.of(self.ice_lake(), options()).channels("0"), ["0", "1", "2", "3", "4", "5"])
        machine = self.ice_lake({"sys/module/intel_imc_pmu/initstate": None})
        self.assertEqual(machine.pmus["uncore_imc_2"].driver.kind, sysfs.IN_TREE)
        with mock.patch.object(icelake.time, "sleep", kernel.wait):
            self.assertEqual(intel_imc.View.of(machine, options()).channels("0"), ["0", "1", "3", "4"])
            kernel.refuses, kernel.silent = {}, {"uncore_imc_5"}
            self.assertEqual(intel_imc.View.of(machine, options()).channels("0"), ["0", "1", "2", "3", "4"])
            # Somebody has its counters.
            kernel.pinned = {"uncore_imc_5": 1}
            self.assertEqual(intel_imc.View.of(machine, options()).channels("0"), ["0", "1", "2", "3", "4", "5"])
            self.assertEqual(kernel.groups, [])

    def free_running(self):
        """Controllers 0 and 1 of an Ice Lake with two sockets."""
        directory = "sys/bus/event_source/devices/uncore_imc_free_running_"
        files = {"type": "99", "cpumask": "0-1", "format/event": "config:0-7", "format/umask": "config:8-15",
                 "events/read": "event=0xff,umask=0x20", "events/write": "event=0xff,umask=0x21", "events/dclk": "event=0xff,umask=0x10"}
        return self.ice_lake({f"{directory}{number}/{name}": text for number in range(2) for name, text in files.items()})

    def test_free_running_counters_count_on_where_channels_have_no_counter(self):
        machine = self.free_running()
        view = intel_imc.View.of(machine, options())
        self.assertEqual([[one.key for one in wants] for wants in view.groups(machine, "all")][-4:],
                         [[f"{socket}/free{controller}/{kind}" for kind in ("read", "write")] for controller in "01" for socket in "01"])
        self.assertEqual([one.words for one in list(view.groups(machine, "all"))[-1]], [{"config": 0x20ff}, {"config": 0x21ff}])
        self.assertEqual(view.missing(machine), set())
        one = busy_xeon(view)
        one.counts |= {f"{socket}/free{controller}/{kind}": Reading(lines, SECOND, SECOND) for kind, lines in (("read", 25_000_000), ("write", 0))
                       for controller in "01" for socket in "01"}
        rows = view.rows(one)
        self.assertEqual(rows.get("free_read", socket="1", controller="0").value, 1.6e9)
        self.assertEqual(rows.get("free_write_bytes", socket="1", controller="1").value, 0)
        self.assertEqual(rows.get("total_free_read").value, 6.4e9)
        # Where the channels say it nobody needs to be told twice, but programs.
        self.assertNotIn("free-running", text(view, one))
        one.counts["0/0/rd"] = Reading(0, SECOND, 0)
        self.assertIn("\nby free-running counters: read 6.40 GB/s   write 0.00 GB/s\n", text(view, one, 80).replace(" \n", "\n"))
        high = len(text(view, one, 80, 24).splitlines())
        one.counts["1/free1/read"] = Reading(0, 0, 0)
        self.assertNotIn("free-running", text(view, one))
        self.assertEqual(len(text(view, one, 80, 24).splitlines()), high - 1)

    def test_free_running_counters_that_go_and_come(self):
        machine = self.free_running()
        view = intel_imc.View.of(machine, options())
        pmu = machine.others.pop("uncore_imc_free_running_1")
        self.assertEqual(view.missing(machine), {pmu.name})
        view.look(machine)
        self.assertEqual(len([wants for wants in view.groups(machine, "all") if "free" in wants[0].key]), 2)
        machine.others[pmu.name] = pmu
        view.look(machine)
        self.assertEqual(view.missing(machine), set())
        # Those of later processors count no lines.
        self.assertEqual(intel_imc.View.of(tree.machine(self, "skx"), options()).info["free"], [])

    def test_ice_lake_counts_half_clocks(self):
        view = intel_imc.View.of(self.ice_lake(), options())
        self.assertEqual(view.modes, ["all", "pages", "latency", "power"])
        rows = view.rows(busy_xeon(view))
        one = {"socket": "0", "channel": "0"}
        self.assertEqual(rows.get("clock", **one).value, 2.4e9)
        self.assertAlmostEqual(rows.get("read_latency", **one).value, 96 / 2.4e9)
        self.assertAlmostEqual(rows.get("power_down", **one).value, 0.125, places=6)
        self.assertEqual(rows.get("total_write").value, 12 * 64e6)

    def test_rapids_count_half_clocks(self):
        for model, modes in (143, ["all", "pages", "latency", "power"]), (207, ["all", "pages", "latency", "power"]), (173, ["all"]):
            other = {"proc/cpuinfo": f"vendor_id : GenuineIntel\ncpu family : 6\nmodel : {model}\nmodel name : X\nstepping : 6\n"}
            view = intel_imc.View.of(tree.machine(self, "skx", other), options())
            self.assertEqual(view.channels("0"), ["0", "1", "2", "3", "4", "5"])
            self.assertEqual(view.modes, modes)
            self.assertEqual(view.rows(busy_xeon(view)).get("clock", socket="0", channel="0").value, 2.4e9)
            # What is not counted has no columns.
            self.assertEqual([word in text(view, busy_xeon(view)) for word in ("hit %", "queue ns", "down %")], [len(modes) > 1] * 3)

    def machine(self, model, files=None, name="skx"):
        """One of two sockets of two nodes each, with CPUs of the recorded one's sockets."""
        cpus = {number: cpu.package for number, cpu in tree.machine(self, name).cpus.items()}
        nodes = {f"sys/devices/system/node/node{node}/cpulist": ",".join(str(number) for number, package in cpus.items()
                                                                      if package == node) for node in range(2)}
        cpuinfo = f"vendor_id : GenuineIntel\ncpu family : 6\nmodel : {model}\nmodel name : X\nstepping : 6\n"
        return tree.machine(self, name, {"proc/cpuinfo": cpuinfo, **nodes, **(files or {})})

    def places(self, model, files=None, name="skx"):
        return intel_imc.View.of(self.machine(model, files, name), options())

    # Two CPUs more, so that each socket is two nodes: 0 and 3, 1 and 2.
    CLUSTERS = {"sys/devices/system/cpu/online": "0-3",
                **{f"sys/devices/system/cpu/cpu{cpu}/topology/{name}": text for cpu, package in ((2, "1"), (3, "0"))
                   for name, text in (("physical_package_id", package), ("die_id", "0"), ("core_id", "1"))},
                **{f"sys/devices/system/node/node{node}/cpulist": f"{cpu}\n" for node, cpu in ((0, 0), (1, 3), (2, 1), (3, 2))}}

    def test_groups_by_controller(self):
        view = self.places(85)
        self.assertEqual(view.groups_of("1"), [("controller", {"controller": 0}, ["0", "1", "2"]),
                                               ("controller", {"controller": 1}, ["3", "4", "5"])])
        rows = view.rows(busy_xeon(view))
        self.assertEqual(rows.get("controller_read", socket="0", controller="0").value, 3.2e9)
        self.assertEqual(rows.get("controller_read", socket="0", controller="1").value, 0)
        self.assertEqual(rows.get("controller_write_bytes", socket="1", controller="1").value, 3 * 64e6)
        self.assertAlmostEqual(rows.get("controller_of_peak", socket="0", controller="1").value, 64e6 / 19.2e9)
        self.assertRegex(text(view, busy_xeon(view)), "(?s)socket 0.*controller 0 +3.20.*channel 2.*controller 1 +0.00.*"
                         "channel 3.*socket 1.*controller 0")
        # Where there is little room the controllers' lines go first.
        self.assertNotIn("controller", text(view, busy_xeon(view), 80, 24))
        self.assertIn("channel 5", text(view, busy_xeon(view), 80, 24))
        # A controller that is a channel has no line of its own.
        self.assertEqual(self.places(173).groups_of("0"), [])

    def test_groups_by_node(self):
        view = self.places(143, self.CLUSTERS)
        self.assertEqual(view.groups_of("0"), [
            ("node", {"node": 0}, ["0", "1", "4", "5"]), ("controller", {"node": 0, "controller": 0}, ["0", "1"]),
            ("controller", {"node": 0, "controller": 2}, ["4", "5"]), ("node", {"node": 1}, ["2", "3"])])
        self.assertEqual([labels["node"] for word, labels, _ in view.groups_of("1") if word == "node"], [2, 3])
        rows = view.rows(busy_xeon(view))
        self.assertEqual(rows.get("node_read", socket="0", node="0").value, 3.2e9)
        self.assertEqual(rows.get("node_write", socket="0", node="1").value, 2 * 64e6)
        self.assertEqual(dict(rows.get("read", socket="0", channel="2").labels)["node"], "1")
        said = text(view, busy_xeon(view))
        self.assertRegex(said, r"(?s)socket 0.*node 0 +3\.20.*controller 0.*channel 1.*controller 2.*channel 5.*node 1 .*channel 3")

    def test_granite_rapids_has_another_order(self):
        view = self.places(173, self.CLUSTERS)
        self.assertEqual(view.groups_of("0"), [("node", {"node": 0}, ["2", "3"]), ("node", {"node": 1}, ["0", "1", "4", "5"])])

    def test_granite_rapids_with_the_in_tree_driver(self):
        """It has no name for both sub-channels. What is known of one alone is no number."""
        gone = {f"sys/bus/event_source/devices/uncore_imc_{number}/events/cas_count_{what}": None
                for number in range(6) for what in ("read", "write")}
        view = self.places(173, gone)
        self.assertEqual([one.key for one in next(iter(view.groups(tree.machine(self, "skx"), "all")))],
                         ["0/0/rd", "0/0/rd1", "0/0/wr", "0/0/wr1"])
        one = busy_xeon(view)
        self.assertIsNone(view.rows(one).get("read", socket="0", channel="0").value)
        for box in view.info["boxes"]:
            one.counts |= {f"{box[0]}/{box[1]}/rd1": Reading(25_000_000, SECOND, SECOND), f"{box[0]}/{box[1]}/wr1": Reading(0, SECOND, SECOND)}
        rows = view.rows(one)
        self.assertEqual(rows.get("read", socket="0", channel="0").value, 4.8e9)
        self.assertEqual(rows.get("read_bytes", socket="1", channel="5").value, 1.6e9)
        self.assertEqual(rows.get("write_bytes", socket="1", channel="5").value, 64e6)
        # The in-tree driver of 6.1 has no names on Sapphire Rapids.
        self.assertEqual([one.words for one in next(iter(self.places(143, gone).groups(tree.machine(self, "skx"), "all")))],
                         [{"config": 0xcf05}, {"config": 0xf005}])
        with self.assertRaisesRegex(ToolError, "has no events cas_count_read"):
            self.places(85, gone)
        # It may take over from another.
        view = self.places(173, {f"sys/bus/event_source/devices/uncore_imc_{number}/format/both": "config2:0\n" for number in range(6)})
        self.assertEqual(view.info["lines"], intel_imc.LINES)
        view.look(self.machine(173, gone))
        self.assertEqual(view.info["lines"], rapids.HALVES)

    def test_nodes_that_nobody_tells(self):
        for model in 85, 106:
            self.assertFalse([word for word, *_ in self.places(model, self.CLUSTERS).groups_of("0") if word == "node"])
        # A CPU that is offline takes its node along.
        self.assertFalse([word for word, *_ in self.places(143, {**self.CLUSTERS, "sys/devices/system/cpu/online": "0-2"})
                          .groups_of("0") if word == "node"])

    def test_our_driver_tells_the_place(self):
        """Whatever the number in the name would mean."""
        devices = "sys/bus/event_source/devices"
        view = self.places(143, {**self.CLUSTERS, f"{devices}/uncore_imc_0/controller": "3\n",
                                 f"{devices}/uncore_imc_0/nodes": "socket 0: node 1\nsocket 1: unknown\n"})
        self.assertEqual(view.info["places"]["0/0"], [3, 1])
        self.assertEqual(view.info["places"]["1/0"], [3, None])

    def test_a_record_of_before_has_no_places(self):
        info = {**self.places(85).info}
        del info["places"]
        view = intel_imc.View(info)
        self.assertEqual(view.groups_of("0"), [])
        self.assertIn("channel 5", text(view, busy_xeon(view)))

    def test_an_unknown_processor_has_its_bandwidth(self):
        model = max(xeons.MODELS) + 1
        other = {"proc/cpuinfo": f"vendor_id : GenuineIntel\ncpu family : 6\nmodel : {model}\nmodel name : X\nstepping : 6\n"}
        view = intel_imc.View.of(tree.machine(self, "snbep", other), options())
        self.assertEqual(view.modes, ["all"])
        self.assertIn("read 3.20 GB/s", text(view, busy_xeon(view)))
        self.assertNotIn("hit %", text(view, busy_xeon(view)))

    def test_sizes(self):
        for width in 60, 80, 100, 120, 200:
            view = xeon(self)
            with self.subTest(width):
                said = text(view, busy_xeon(view), width)
                self.assertIn("read 3.20 GB/s   write 0.77 GB/s", said)
                self.assertLessEqual(max(map(len, said.splitlines())), width)
                self.assertEqual(said.count("channel 5"), 2)

    def test_a_low_window_has_sockets(self):
        view = xeon(self)
        """Their sums first; the channels are behind them, where the arrows lead to."""
        said = text(view, busy_xeon(view), 80, 20)
        self.assertRegex(said, "(?s)socket 0.*socket 1.*channels: below.*socket 0.*channel 5.*socket 1.*channel 5")

    def test_eight_sockets(self):
        boxes = [[str(socket), str(channel), f"uncore_imc_{channel}", socket * 28] for socket in range(8) for channel in range(6)]
        view = intel_imc.View({**xeon(self).info, "boxes": boxes})
        for width, height, side_by_side, brief in ((80, 24, False, True), (200, 60, True, False), (200, 80, False, False),
                                                   (120, 60, False, True), (200, 24, False, True)):
            with self.subTest((width, height)):
                said = text(view, busy_xeon(view), width, height)
                self.assertLessEqual(max(map(len, said.splitlines())), width)
                above, _, below = said.partition("channels: below")
                self.assertLessEqual(len(above.splitlines()), height)
                self.assertEqual(above.count("socket "), 8)
                self.assertEqual(bool(re.search("socket 0 .*socket 4 ", said)), side_by_side)
                self.assertEqual((above.count("channel 5"), below.count("channel 5")), (0, 8) if brief else (8, 0))

    def test_a_channel_that_is_gone(self):
        view = xeon(self)
        one = busy_xeon(view)
        one.counts = {key: value for key, value in one.counts.items() if not key.startswith("1/3/")}
        one.notes.append("uncore_imc_3 is gone: its numbers are missing")
        self.assertIn("uncore_imc_3 is gone", text(view, one))
        self.assertIsNone(view.rows(one).get("socket_read", socket="1").value)
        self.assertEqual(view.rows(one).get("socket_read", socket="0").value, 3.2e9)


class TestCmn(unittest.TestCase):
    def view(self, changes=None, **given):
        return cmn.View.of(tree.machine(self, "cmn700", changes), options(**given))

    def test_turns_fit_the_counters(self):
        view = self.view()
        turns = cmn.pack([(key, dtc, xp) for key, (xp, _, dtc) in view.meshes[0].info["links"].items()])
        self.assertEqual(sorted(key for turn in turns for key in turn), sorted(view.meshes[0].info["links"]))
        for turn in turns:
            found = [view.meshes[0].info["links"][key] for key in turn]
            for domain in {dtc for _, _, dtc in found}:
                self.assertLessEqual(sum(dtc == domain for _, _, dtc in found), cmn.LETTERS)
            for xp in {xp for xp, *_ in found}:
                self.assertLessEqual(sum(other == xp for other, *_ in found), cmn.DTM_COUNTERS)

    def test_links_lead_to_neighbours_and_ports(self):
        links = self.view().meshes[0].info["links"]
        self.assertEqual({key for key in links if key.startswith("0x0/")}, {"0x0/e", "0x0/n", "0x0/p0", "0x0/p1"})
        self.assertEqual({key for key in links if key.startswith("0x48/")},
                         {"0x48/e", "0x48/w", "0x48/s", "0x48/p0", "0x48/p1", "0x48/p2", "0x48/p3"})

    def test_the_picture(self):
        view = self.view()
        counts = {f"arm_cmn_0:links/{key}": Reading(0, SECOND, SECOND // 5) for key in view.meshes[0].info["links"]}
        counts["arm_cmn_0:links/0x20/w"] = Reading(20_000_000, SECOND, SECOND // 5)
        counts |= {f"arm_cmn_0:{what}": Reading(number, SECOND, SECOND // 5) for what, number in
                   (("access", 1000), ("miss", 250), ("reqs", 10_000_000), ("retries", 0))}
        for width in 80, 100, 200:
            with self.subTest(width):
                said = text(view, frame(counts, "links"), width)
                self.assertRegex(said, "(?s)XP 008.*XP 028.*XP 048.*XP 068.*XP 000.*XP 020.*XP 040.*XP 060")
                self.assertRegex(said, r"← +3\.20")
                self.assertIn("hottest: XP 020 ← ~3.20", said)
                self.assertIn("misses ~25.0 %", said)
                self.assertIn("memory: ~3.20 GB/s", said)
                self.assertLessEqual(max(map(len, said.splitlines())), width)

    def test_the_largest_mesh_in_the_smallest_terminal(self):
        xps = [{"x": x, "y": y, "id": x << 7 | y << 3, "dtc": x // 3, "ports": {"1": {"type": "HN-F", "devices": []}}}
               for y in range(12) for x in range(12)]
        small = self.view()
        mesh = {"title": "", "width": 12, "height": 12, "xps": xps}
        pmu = tree.machine(self, "cmn700").pmus["arm_cmn_0"]
        view = cmn.View({**small.info, "meshes": [{**small.info["meshes"][0], "mesh": mesh, "links": cmn.Mesh._links(pmu, mesh)}]})
        self.assertEqual(len(view.meshes[0].info["links"]), 4 * 12 * 11 + 144)
        counts = {f"arm_cmn_0:links/{key}": 31_250_000 for key in view.meshes[0].info["links"]}
        counts["arm_cmn_0:links/0x580/n"] = 390_625_000
        for width in 80, 132, 200:
            with self.subTest(width):
                said = text(view, frame(counts, "links"), width)
                self.assertLessEqual(max(map(len, said.splitlines())), width)
                grid = said[said.index("┌"):]
                self.assertEqual(len(re.findall(r"\b[0-5][0-9a-f][08]\b", grid.split("└")[0])), 144)
                # No number lacks a digit.
                self.assertEqual(set(re.findall(r"\d+\.\d+", grid.split("└")[0])) - {"1.0", "1.00", "12.50"}, set())
                self.assertIn("hottest: XP 580 ↑ 12.50", said)

    def test_a_window_that_is_too_narrow(self):
        """It is cut off, as on any view."""
        view = self.view()
        one = frame({f"arm_cmn_0:links/{key}": 31_250_000 for key in view.meshes[0].info["links"]}, "links")
        for width in range(1, 40):
            for height in None, 24:
                text(view, one, width, height)

    def test_the_largest_mesh_at_80x24(self):
        """What is hottest is in the head, and all of the mesh on the screen; each number is below."""
        for width, height in (12, 12), (10, 14):
            with self.subTest(f"{width}x{height}"):
                self.at_80x24(width, height)

    def test_the_hottest_links_at_80x24(self):
        """Three that are near what a link carries take one line, and so do the totals: the mesh is on the screen as before."""
        for width, height in (12, 12), (10, 14):
            with self.subTest(f"{width}x{height}"):
                self.at_80x24(width, height, more={"arm_cmn_0:clock": 400_000_000, "arm_cmn_0:links/0x8/n": 390_000_000,
                                                   "arm_cmn_0:links/0x10/n": 390_000_000, "arm_cmn_0:access": Reading(10**9, SECOND, SECOND // 2),
                                                   "arm_cmn_0:miss": Reading(10**9, SECOND, SECOND // 2),
                                                   "arm_cmn_0:reqs": Reading(10**9, SECOND, SECOND // 2),
                                                   "arm_cmn_0:retries": Reading(10**9, SECOND, SECOND // 2)})

    def at_80x24(self, width, height, more=None):
        xps = [{"x": x, "y": y, "id": x << 7 | y << 3, "dtc": x // 3, "ports": {"1": {"type": "HN-F", "devices": []}}}
               for y in range(height) for x in range(width)]
        small, mesh = self.view(), {"title": "", "width": width, "height": height, "xps": xps}
        pmu = tree.machine(self, "cmn700").pmus["arm_cmn_0"]
        view = cmn.View({**small.info, "meshes": [{**small.info["meshes"][0], "mesh": mesh,
                                                   "links": cmn.Mesh._links(pmu, mesh)}]})
        counts = {f"arm_cmn_0:links/{key}": 31_250_000 for key in view.meshes[0].info["links"]}
        last = xps[width - 1]["id"]
        counts[f"arm_cmn_0:links/{last:#x}/n"] = 390_625_000
        counts |= more or {}
        lines = text(view, frame(counts, "links"), 80, 24).splitlines()
        top = lines[:23]
        self.assertTrue(any(f"hottest: XP {last:03x} ↑ 12.50" in line for line in top[:6]))
        overview = [line for line in top if re.match(r" ?\d+ ", line)]
        self.assertEqual(len(overview), height)
        if more:
            self.assertTrue(any(re.match("hottest: .*; .* of the link!", line) for line in top))
            return
        self.assertEqual([len(re.findall(r"[→←↑↓p]1\.0", line)) for line in overview], [width] * (height - 1) + [width - 1])
        self.assertRegex(overview[-1], r"^ 0 .* ↑12 ?$")
        self.assertTrue(any("┌" in line for line in lines[18:]))
        self.assertLessEqual(max(map(len, lines)), 80)

    def test_how_near_a_link_is_to_its_limit(self):
        """A flit of 32 bytes a clock: at 1 GHz 32 GB/s."""
        view = self.view()
        counts = {f"arm_cmn_0:links/{key}": 10_000_000 for key in view.meshes[0].info["links"]}
        for flits, said in ((300_000_000, r"XP 020 ← 9\.60 \(30%\);"), (900_000_000, r"XP 020 ← 28\.80 \(90% of the link!\);")):
            counts |= {"arm_cmn_0:links/0x20/w": flits, "arm_cmn_0:clock": SECOND}
            self.assertRegex(text(view, frame(counts, "links"), 120), "hottest: " + said)
        view.meshes[0].info["clock"] = None
        del counts["arm_cmn_0:clock"]
        self.assertRegex(text(view, frame(counts, "links"), 120), r"hottest: XP 020 ← 28\.80;")

    def test_the_clock_is_counted(self):
        machine = tree.machine(self, "cmn700")
        wants = [one.key for group in self.view().groups(machine, "links") for one in group]
        self.assertEqual(wants, ["arm_cmn_0:clock"] if "dtc_cycles" in machine.pmus["arm_cmn_0"].events else [])

    def test_an_event_at_its_nodes(self):
        view = self.view(event="hnf_cache_miss")
        self.assertEqual(view.first, "hnf_cache_miss")
        self.assertEqual(list(view.meshes[0].info["at"]), ["0x4", "0x5", "0x20", "0x22", "0x24", "0x25", "0x64"])
        said = text(view, frame({f"arm_cmn_0:hnf_cache_miss/{key}": 1_000_000 for key in view.meshes[0].info["at"]}, "hnf_cache_miss"))
        self.assertIn("HN-F#4", said)

    def test_home_nodes_of_cmn_s3(self):
        events = "sys/bus/event_source/devices/arm_cmn_0/events/"
        for retries in "hns_mc_retries_local", "hns_mc_retries_local_all", "":       # before r2, from r2 on, none
            names = ["hns_slc_sf_cache_access_all", "hns_cache_miss_all", "hns_mc_reqs_local_all", *filter(None, [retries])]
            view = self.view({f"{events}{name}": f"type=0x200,eventid={number:#x}\n" for number, name in enumerate(names, 1)} |
                             {f"{events}hnf_slc_sf_cache_access": None})
            with self.subTest(retries):
                self.assertEqual((view.meshes[0].info["homes"] or {}).get("retries", ""), retries)
                self.assertEqual("totals" in view.modes, bool(retries))

    # A mesh with HN-S: names before CMN S3 r2, and from then on.
    METRICS = {
        "hns_slc_miss_rate": ({"hns_cache_miss_all": 250, "hns_slc_sf_cache_access_all": 1000}, 0.25, "25.00 +% "),
        "hns_sf_hit_rate": ({"hns_sf_hit_all": 30, "hns_slc_sf_cache_access_all": 1000}, 0.03, "3.00 +% "),
        "hns_sf_eviction_rate": ({"hns_sf_evictions_all": 70, "hns_slc_sf_cache_access_all": 1000}, 0.07, "7.00 +% "),
        "hns_message_retry_rate": ({"hns_pocq_retry_all": 1, "hns_pocq_reqs_recvd_all": 8}, 0.125, "12.50 +% "),
        "hns_mc_retry_rate": ({"hns_mc_retries_local": 20, "hns_mc_reqs_local_all": 100}, 0.2, "20.00 +% "),
        "hns_mc_bandwidth": ({"hns_mc_retries_local": 20_000_000, "hns_mc_reqs_local_all": 100_000_000}, 80e6 * 64,
                             "5.12 +GB/s "),
        "hns_pocq_residency": ({"hns_qos_pocq_occupancy_all": 4200, "hns_pocq_reqs_recvd_all": 100}, 42.0, "42.00 +clocks "),
    }

    def machine_with_home_nodes(self, rename=lambda name: name, changes=None):
        events = {rename(event) for counts, *_ in self.METRICS.values() for event in counts}
        return tree.machine(self, "cmn700", {f"sys/bus/event_source/devices/arm_cmn_0/events/{name}":
                                             f"type=0x200,eventid={number:#x}\n"
                                             for number, name in enumerate(sorted(events), 1)} | (changes or {}))

    def with_home_nodes(self, *given):
        return cmn.View.of(self.machine_with_home_nodes(*given), options())

    def test_metrics(self):
        later = {"hns_sf_evictions_all": "hns_sf_evictions_all_all", "hns_mc_retries_local": "hns_mc_retries_local_all"}
        for rename in (lambda name: name), (lambda name: later.get(name, name)):
            view = self.with_home_nodes(rename)
            self.assertEqual(view.modes, ["links", "totals", "metrics"])
            counts = {f"arm_cmn_0:{name}/{rename(event)}": Reading(number, SECOND, SECOND // 2)
                      for name, (of, *_) in self.METRICS.items() for event, number in of.items()}
            # In half of the second: so rates are twice as high.
            rows = view.rows(frame(counts, "metrics"))
            self.assertEqual({row.name for row in rows.all} - {"clock"}, set(self.METRICS))
            for name, (_, value, _) in self.METRICS.items():
                row = rows.get(name, pmu="arm_cmn_0")
                self.assertAlmostEqual(row.value, value * (2 if row.unit == "B/s" else 1))
                self.assertEqual(row.share, 0.5)
            said = text(view, frame({key: one.value for key, one in counts.items()}, "metrics"), 80)
            for name, (*_, shown) in self.METRICS.items():
                self.assertRegex(said, f"(?m)^ {name} +{shown}")

    def test_metrics_fit_the_counters(self):
        """The two events of a metric are a group and a turn, and nothing else wants counters of home nodes."""
        hidden = {path: None for path in ("sys/kernel/debug/cmn_pmu/arm_cmn_0", "sys/kernel/debug/arm-cmn/map")}
        for changes in {}, hidden:
            machine = self.machine_with_home_nodes(changes=changes)
            view = cmn.View.of(machine, options())
            self.assertLessEqual({one.key for group in view.groups(machine, "metrics") for one in group}, {"arm_cmn_0:clock"})
            turns = view.turns(machine, "metrics")
            self.assertEqual(len(turns), len(self.METRICS))
            for turn in turns:
                self.assertEqual(len(turn), 1)
                group = turn[0]
                name = group[0].key.partition(":")[2].partition("/")[0]
                self.assertEqual({one.key for one in group}, {f"arm_cmn_0:{name}/{event}" for event in self.METRICS[name][0]})

    def test_metrics_for_prometheus(self):
        view = self.with_home_nodes()
        one = frame({f"arm_cmn_0:{name}/{event}": Reading(number, SECOND, SECOND // 7)
                     for name, (of, *_) in self.METRICS.items() for event, number in of.items()}, "metrics")
        metrics = output.Metrics(view)
        metrics.add(one, view.rows(one))
        said = metrics.text()
        self.assertRegex(said, r'(?m)^pmu_top_hns_slc_miss_rate_ratio\{view="cmn",pmu="arm_cmn_0"\} 0\.25$')
        self.assertIn("# HELP pmu_top_hns_sf_hit_rate_ratio Accesses that hit the snoop filter\n", said)
        self.assertIn("pmu_top_hns_mc_bandwidth_bytes_total", said)

    def test_metrics_of_meshes_that_differ(self):
        """A mesh of HN-F beside one of HN-S: the mode is there, and says on which screen it has nothing."""
        view = self.with_home_nodes()
        other = {**self.view().meshes[0].info, "pmu": "arm_cmn_1"}
        view = cmn.View({**view.info, "meshes": [other, *view.info["meshes"]]})
        self.assertIn("metrics", view.modes)
        one = frame({"arm_cmn_0:hns_sf_hit_rate/hns_sf_hit_all": 30,
                     "arm_cmn_0:hns_sf_hit_rate/hns_slc_sf_cache_access_all": 1000}, "metrics")
        self.assertIn("no events of HN-S", text(view, one, height=40))
        view.next()
        self.assertRegex(text(view, one, height=40), r"hns_sf_hit_rate +3\.00")

    def test_metrics_of_nothing(self):
        view = self.with_home_nodes()
        self.assertEqual({row.value for row in view.rows(frame({}, "metrics")).all}, {None})
        idle = frame({f"arm_cmn_0:{name}/{event}": 0 for name, (of, *_) in self.METRICS.items() for event in of}, "metrics")
        self.assertEqual({row.value for row in view.rows(idle).all}, {None, 0.0})
        self.assertEqual(view.rows(idle).get("hns_mc_bandwidth", pmu="arm_cmn_0").value, 0)
        # A mesh of HN-F has those of perf.
        self.assertNotIn("metrics", self.view().modes)

    def test_metrics_as_perf_wants_them(self):
        """Each revision has each metric once, by the part and the revision that its name's events are of."""
        table = json.loads(cmn.METRICS.read_text())
        keys = {"MetricName", "MetricGroup", "BriefDescription", "PublicDescription", "MetricExpr", "ScaleUnit", "Unit",
                "Compat"}
        for identifier in ("43c03", "43e00", "43e02", "43e03", "43e06"):
            names = [row["MetricName"] for row in table if re.fullmatch(row["Compat"], identifier)]
            self.assertEqual(sorted(names), sorted(self.METRICS), identifier)
        for row in table:
            self.assertEqual((set(row), row["Unit"]), (keys, "arm_cmn"))
            self.assertFalse(any(re.fullmatch(row["Compat"], other) for other in ("43403", "43601", "43a02")))

    def two(self, **given):
        """Two equal meshes."""
        place = "sys/bus/event_source/devices/arm_cmn_"
        files = json.loads((tree.HERE / "trees/cmn700.json").read_text())
        second = {path.replace(f"{place}0", f"{place}1"): text for path, text in files.items() if f"{place}0" in path}
        drawing = "sys/kernel/debug/cmn_pmu/arm_cmn_"
        return self.view(second | {f"{drawing}1": files[f"{drawing}0"].replace("arm_cmn_0", "arm_cmn_1")}, **given)

    def test_two_meshes(self):
        """All are counted, each has its name in what programs read, and the screen shows one after the other."""
        view = self.two()
        counts = {f"{one.name}:links/{key}": Reading(1_000_000 * (1 + number), SECOND, SECOND // 5)
                  for number, one in enumerate(view.meshes) for key in one.info["links"]}
        counts |= {f"arm_cmn_{number}:{what}": 1000 for number in range(2) for what in ("access", "miss", "reqs", "retries")}
        one = frame(counts, "links")
        rows = view.rows(one)
        self.assertEqual([rows.get("link", pmu=f"arm_cmn_{number}", xp="0x0", to="e").value for number in range(2)],
                         [160e6, 320e6])
        metrics = output.Metrics(view)
        metrics.add(one, rows)
        names = re.findall(r"^(pmu_top_\w+\{.*\}) ", metrics.text(), re.M)
        self.assertGreater(len(names), 100)
        self.assertEqual(len(set(names)), len(names))
        # Of links there are thousands on a large machine, so these are for who names the mode.
        self.assertEqual((view.scraped, "totals" in view.modes), ("totals", True))
        few = output.Metrics(view, all_of_it=False)
        few.add(one, rows)
        self.assertNotIn("pmu_top_link_", few.text())
        self.assertIn('pmu_top_slc_access_total{view="cmn",pmu="arm_cmn_1"}', few.text())
        self.assertLess(len(re.findall(r"^pmu_top_\w+\{.*pmu=", few.text(), re.M)), 2 * 12)
        self.assertIn("arm_cmn_0 4x2 (1 of 2; m: the next)", text(view, one, height=60))
        self.assertIn("0.16", text(view, one, height=60))
        # Each mesh has its line on the screen, too.
        self.assertRegex(text(view, one, 100, 60), r"(?m)^ *arm_cmn_0 .*\n *arm_cmn_1 .*\n *all ")
        self.assertRegex(text(view, frame(counts, "totals"), 100, 60), r"(?m)^ *arm_cmn_0 .*\n *arm_cmn_1 .*\n *all ")
        # Of what took turns, or is missing, there is no sum.
        for reqs, total in ((31_250_000, SECOND), "4.00"), ((31_250_000, SECOND // 2), "-"), (None, "-"):
            counts["arm_cmn_1:reqs"] = Reading(reqs[0], SECOND, reqs[1]) if reqs else Reading(0, SECOND, 0)
            counts |= {"arm_cmn_0:reqs": 31_250_000, "arm_cmn_0:retries": 0, "arm_cmn_1:retries": 0}
            for width in range(20, 201, 9):
                said = text(view, frame(counts, "totals"), width, 24)
                self.assertRegex(said, rf"(?m)^ *all +{total} *$")
                self.assertNotIn("…", said[said.index(" mesh "):].splitlines()[0])
                self.assertLessEqual(max(map(len, said.splitlines())), width)
        view.next()
        self.assertIn("arm_cmn_1 4x2 (2 of 2; m: the next)", text(view, one, height=60))
        self.assertNotIn("0.16", text(view, one, height=60))
        said = text(view, one)
        self.assertEqual((said.count("XP 020"), said.count("SLC: ")), (2, 2))
        alone = self.two(mesh="arm_cmn_1")
        self.assertEqual([one.name for one in alone.meshes], ["arm_cmn_1"])

    def altra(self, masks=True):
        """A mesh, and two DMC-620s as the kernel's arm_dmc620_pmu shows them. No model counts them: written by hand."""
        found = {}
        for number, address in enumerate(("10008c", "1000cc")):
            pmu = f"sys/bus/event_source/devices/arm_dmc620_{address}"
            found |= {f"{pmu}/type": f"{20 + number}\n", f"{pmu}/cpumask": "0\n" if masks else None,
                      f"{pmu}/events/clkdiv2_rdwr": "event=0x12,clkdiv2=0x1\n",
                      f"{pmu}/events/clk_cycle_count": "event=0x0,clkdiv2=0x0\n",
                      f"{pmu}/format/event": "config2:3-8\n", f"{pmu}/format/clkdiv2": "config2:9\n"}
        return tree.machine(self, "cmn700", found)

    def test_memory_controllers_beside_the_mesh(self):
        machine = self.altra()
        view = cmn.View.of(machine, options())
        # 1.6 GHz is DDR4-3200: 25.6 GB/s.
        counts = {"arm_dmc620_10008c:rdwr": 50_000_000, "arm_dmc620_10008c:clock": 1_600_000_000,
                  "arm_dmc620_1000cc:rdwr": 350_000_000, "arm_dmc620_1000cc:clock": 1_600_000_000}
        one = frame(counts, "totals")
        rows = view.rows(one)
        self.assertEqual(rows.get("dmc", pmu="arm_dmc620_10008c").value, 3.2e9)
        self.assertEqual(rows.get("total_dmc").value, 25.6e9)
        self.assertEqual(rows.get("dmc_of_peak", pmu="arm_dmc620_10008c").value, 0.125)
        self.assertEqual(rows.get("dmc_clock", pmu="arm_dmc620_1000cc").text(0), "1,600")
        for width, height in (100, None), (80, 24), (40, 24):
            said = text(view, one, width, height)
            self.assertRegex(said, r"DMC-620: 25\.60 GB/s read and written")
            self.assertRegex(said, r"10008c +3\.20 GB/s 12%")
            self.assertRegex(said, r"1000cc +22\.40 GB/s 88!%")
            self.assertLessEqual(max(map(len, said.splitlines())), width)
        metrics = output.Metrics(view)
        metrics.add(one, rows)
        said = metrics.text()
        self.assertIn('pmu_top_dmc_bytes_total{view="cmn",pmu="arm_dmc620_1000cc"} 22400000000', said)
        self.assertIn('pmu_top_dmc_clock_cycles_total{view="cmn",pmu="arm_dmc620_10008c"} 1600000000.0', said)
        # A record of before has none.
        info = {name: what for name, what in view.info.items() if name != "dmc620"}
        self.assertEqual(cmn.View(info).controllers.info, [])

    def test_memory_controllers_are_counted_event_by_event(self):
        """The driver refuses groups; an older one shows no mask, and counts on its own CPU whichever is asked for."""
        for masks in True, False:
            machine = self.altra(masks)
            self.assertEqual((machine.families(), [pmu.name for pmu in machine.of("cmn")]), (["cmn"], ["arm_cmn_0"]))
            view = cmn.View.of(machine, options())
            for mode in view.modes:
                groups = [list(group) for group in view.groups(machine, mode) if group[0].pmu.startswith("arm_dmc620")]
                self.assertEqual([(one.name, one.words, one.cpu) for group in groups for one in group],
                                 [(f"arm_dmc620_{address}/{event}/", {"config2": word}, 0) for address in ("10008c", "1000cc")
                                  for event, word in (("clkdiv2_rdwr", 0x290), ("clk_cycle_count", 0))])
                self.assertEqual({len(group) for group in groups}, {1})

    def test_a_memory_controller_that_is_gone(self):
        view = cmn.View.of(self.altra(), options())
        self.assertEqual(view.missing(tree.machine(self, "cmn700")), {"arm_dmc620_10008c", "arm_dmc620_1000cc"})
        one = frame({"arm_dmc620_10008c:rdwr": 1, "arm_dmc620_10008c:clock": 1}, "totals")
        self.assertIsNone(view.rows(one).get("total_dmc").value)
        self.assertIn("DMC-620: - GB/s", text(view, one))

    def test_a_user_without_debugfs(self):
        hidden = {path: None for path in ("sys/kernel/debug/cmn_pmu/arm_cmn_0", "sys/kernel/debug/arm-cmn/map")}
        view = self.view(hidden)
        self.assertEqual(view.modes, ["totals"])
        self.assertIn("root alone may read", text(view, frame({}, "totals")))

    def test_what_there_is_not(self):
        with self.assertRaisesRegex(ToolError, "arm_cmn_0 has no event 'nonsense'"):
            self.view(event="nonsense")
        with self.assertRaisesRegex(ToolError, "There is no mesh arm_cmn_1"):
            self.view(mesh="arm_cmn_1")
        with self.assertRaisesRegex(ToolError, "There are several meshes. Say with --mesh"):
            self.two(map="/nowhere")


class TestPower(unittest.TestCase):
    def test_the_numbers(self):
        view = power_imc.View.of(tree.machine(self, "power9"), options())
        counts = {key: 0 for key, *_ in view.info["nests"]}
        counts["1/nest_mcs23_imc/PM_MCS23_128B_RD_DISP_PORT01"] = 100_000       # 256 commands of 128 bytes each
        counts |= {"0/0/cycles": 4_000_000, "0/0/inst": 6_000_000, "1/256/cycles": 0, "1/256/inst": 0}
        rows = view.rows(frame(counts, "cores"))
        self.assertEqual(rows.get("read", chip="1", controller="mcs23").value, 100_000 * 256 * 128)
        self.assertEqual(rows.get("total_read").value, 100_000 * 256 * 128)
        self.assertEqual(rows.get("cycles", chip="0", core="0").value, 4_000_000 * 512)
        self.assertEqual(rows.get("ipc", chip="0", core="0").value, 1.5)
        self.assertIsNone(rows.get("ipc", chip="1", core="256").value)
        said = text(view, frame(counts, "cores"), 80)
        self.assertRegex(said, r"mcs23 +3\.28 ")
        self.assertRegex(said, r"0/0 +2,048 .* 1\.50")

    def test_sums_at_each_width(self):
        """Of a machine and of each chip: of what there is no room for nothing is there, and no number is cut."""
        view = power_imc.View.of(tree.machine(self, "power9"), options())
        counts = {key: 1_000_000 for key, *_ in view.info["nests"]} | {"0/0/cycles": 4_000_000, "0/0/inst": 6_000_000}
        for width in range(20, 201):
            lines = text(view, frame(counts, "cores"), width, 40).splitlines()
            self.assertLessEqual(max(map(len, lines)), width)
            self.assertRegex(lines[3], r"^(524\.29 GB/s(: read 262\.14 write 262\.14)?|memory: read 262\.14 GB/s   write .*   sum 524\.29 GB/s) *$")
            self.assertRegex(lines[4], r"^ +(read GB/s +write GB/s +)?sum GB/s( +most GB/s)? *$")
            self.assertRegex(lines[5], r"^ chip 0 .* 262\.14 *$")
            self.assertRegex("\n".join(lines), r"(?m)^ core +MHz .*(IPC|instr./cycle) *\n 0/0 +2,048 .*1\.50")

    def test_a_catalog_without_memory_controllers(self):
        whole = power_imc.View.of(tree.machine(self, "power9"), options())
        view = power_imc.View({**whole.info, "nests": []})
        self.assertEqual([whole.modes, view.modes], [["cores", "functions", "nest"], ["cores", "functions"]])
        said = text(view, frame({"0/0/cycles": 4_000_000, "0/0/inst": 6_000_000}, "cores"), 80)
        self.assertNotIn("GB/s", said)
        self.assertRegex(said, r"0/0 +2,048 .* 1\.50")

    def test_one_scale(self):
        """A full bar is the most that a chip has moved since the start, so an idle machine has none."""
        view = power_imc.View.of(tree.machine(self, "power9"), options())
        outputs = main.Outputs(view, options(), None)
        key = "1/nest_mcs23_imc/PM_MCS23_128B_RD_DISP_PORT01"
        for units, bar in ((400_000, "█" * 35), (200_000, "█" * 17 + "▌"), (20_000, "█▊")):
            one = frame({other: 0 for other, *_ in view.info["nests"]} | {key: units}, "nest")
            rows = view.rows(one)
            outputs.keep(one, rows)
            console = Console(width=150, file=io.StringIO(), legacy_windows=False)
            console.print(Group(*outputs.picture(one, rows, 150)))
            for name in "chip 1", "mcs23":
                said = console.file.getvalue().partition("chip 0")[2].rpartition(name)[2].splitlines()[0]
                self.assertRegex(said, rf"^ +([0-9.]+) +{bar} +0\.00 +\1 +13\.11 +█")

    def test_power10_writes_blocks_of_64_bytes(self):
        view = power_imc.View.of(tree.machine(self, "power10"), options())
        self.assertEqual({(what, size) for *_, what, size in view.info["nests"]}, {("read", 128 * 4096), ("write", 64 * 4096)})

    def test_176_cpus(self):
        """Two chips of 22 cores of 4 threads, in a terminal."""
        small = power_imc.View.of(tree.machine(self, "power9"), options())
        view = power_imc.View({**small.info, "cores": [[f"{chip * 8}/{chip * 2048 + core * 4}", chip * 88 + core * 4]
                                                       for chip in range(2) for core in range(22)]})
        counts = {f"{key}/{what}": 7_000_000 for key, _ in view.info["cores"] for what in ("cycles", "inst")}
        for width, columns in ((80, 2), (200, 4)):
            said = text(view, frame(counts, "cores"), width)
            self.assertLessEqual(max(map(len, said.splitlines())), width)
            self.assertEqual(said.count("3,584"), 44)
            self.assertEqual(said.count("MHz"), columns)

    def test_functions(self):
        said = power_imc.count_functions(b"        pmu-spin          10000a5c heavy\n        pmu-spin          10000a60 heavy\n"
                                         b"  kworker/0:1-ev  c000000000123450 [unknown]\n")
        self.assertEqual(said, {"samples": 3, "top": [["heavy", "pmu-spin", 2], ["0xc000000000123450", "kworker/0:1-ev", 1]]})
