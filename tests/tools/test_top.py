# SPDX-License-Identifier: GPL-2.0-only
"""pmu-top: what it makes of counts, and how it says so. Guests compare it with what models do."""
import argparse
import csv
import errno
import io
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import xml.dom.minidom
from pathlib import Path
from unittest import mock

import tree
from promtool import promtool
from rich.console import Console, Group

from pmutools import VERSION, count, sysfs
from pmutools.count import Reading
from pmutools.errors import ToolError
from pmutools.top import cmn, frames, intel_imc, main, output, power_imc, screen
from pmutools.top.rows import Rows

PROGRAM = tree.HERE.parents[1] / "tools/pmu-top"
SECOND = 1_000_000_000
WHEN = "2026-01-02T03:04:05.678Z"


def options(**given):
    return argparse.Namespace(**{"mesh": None, "event": None, "map": None, "replay": None, "record": None, "svg": None,
                                 "prometheus": None, "openmetrics": None, "wide": False, "json": False, "csv": False,
                                 "output": None, "command": [], "series": False, **given})


def frame(counts, mode, share=1.0, **more):
    """A second in which @counts came, in @share of it."""
    return frames.Frame(0.0, 1.0, mode, time=WHEN, counts={key: one if isinstance(one, Reading) else
                                         Reading(one, SECOND, int(SECOND * share)) for key, one in counts.items()}, **more)


def text(view, one, width=100, height=None, paused=False):
    """The picture as text, as it is without a terminal."""
    outputs = main.Outputs(view, options(), None)
    console = Console(width=width, file=io.StringIO(), legacy_windows=False)
    console.print(Group(*outputs.picture(one, view.rows(one), width, height, paused)))
    return console.file.getvalue()


def xeon(test, name="skx"):
    return intel_imc.View.of(tree.machine(test, name), options())


def busy_xeon(view, mode="all"):
    counts = {}
    for number, (socket, channel, *_) in enumerate(view.info["boxes"]):
        key = f"{socket}/{channel}"
        counts |= {f"{key}/rd": 50_000_000 if number == 0 else 0, f"{key}/wr": 1_000_000, f"{key}/clk": 1_200_000_000,
                   f"{key}/cas": Reading(400, SECOND, SECOND // 3), f"{key}/act": Reading(100, SECOND, SECOND // 3),
                   f"{key}/occupancy": Reading(9600, SECOND, SECOND // 3),
                   f"{key}/inserts": Reading(100, SECOND, SECOND // 3),
                   f"{key}/ppd": Reading(100_000_000, SECOND, SECOND // 3), f"{key}/refresh": Reading(0, SECOND, SECOND // 3)}
    return frame(counts, mode)


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
        self.assertRegex(said, r"read 2\.00 GB/s   write 0\.77 GB/s   most 8\.77   ▂▃▅▄█▃")
        self.assertRegex(said, r"channel 0 .* 8\.06 +▂▃▅▄█▃ *\n")
        self.assertRegex(said, r"channel 1 .* 0\.06 +██████ *\n")
        self.assertRegex(said.splitlines()[2], r"1\.00 s from 0\.0 s on, \d\d:\d\d:\d\d")

    def test_no_latency_where_no_event_tells_it(self):
        haswell = {"proc/cpuinfo": "vendor_id : GenuineIntel\ncpu family : 6\nmodel : 63\nmodel name : E5\nstepping : 2\n"}
        view = intel_imc.View.of(tree.machine(self, "snbep", haswell), options())
        self.assertEqual(view.modes, ["all", "pages", "power"])
        self.assertNotIn("queue ns", text(view, busy_xeon(view)))

    def test_ice_lake_counts_half_clocks_and_has_phantoms(self):
        other = {"proc/cpuinfo": "vendor_id : GenuineIntel\ncpu family : 6\nmodel : 106\nmodel name : X\nstepping : 6\n"}
        view = intel_imc.View.of(tree.machine(self, "skx", other), options())
        self.assertEqual(view.channels("0"), ["0", "1", "3", "4"])
        self.assertEqual(view.modes, ["all", "pages", "latency", "power"])
        rows = view.rows(busy_xeon(view))
        one = {"socket": "0", "channel": "0"}
        self.assertEqual(rows.get("clock", **one).value, 2.4e9)
        self.assertAlmostEqual(rows.get("read_latency", **one).value, 96 / 2.4e9)
        self.assertAlmostEqual(rows.get("power_down", **one).value, 0.125, places=6)
        self.assertEqual(rows.get("total_write").value, 8 * 64e6)

    def test_an_unknown_processor_has_its_bandwidth(self):
        other = {"proc/cpuinfo": "vendor_id : GenuineIntel\ncpu family : 6\nmodel : 143\nmodel name : X\nstepping : 6\n"}
        view = intel_imc.View.of(tree.machine(self, "snbep", other), options())
        self.assertEqual(view.modes, ["all"])
        self.assertIn("read 3.20 GB/s", text(view, busy_xeon(view)))

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

    def test_the_largest_mesh_at_80x24(self):
        """What is hottest is in the head, and all of the mesh on the screen; each number is below."""
        for width, height in (12, 12), (10, 14):
            with self.subTest(f"{width}x{height}"):
                self.at_80x24(width, height)

    def at_80x24(self, width, height):
        xps = [{"x": x, "y": y, "id": x << 7 | y << 3, "dtc": x // 3, "ports": {"1": {"type": "HN-F", "devices": []}}}
               for y in range(height) for x in range(width)]
        small, mesh = self.view(), {"title": "", "width": width, "height": height, "xps": xps}
        pmu = tree.machine(self, "cmn700").pmus["arm_cmn_0"]
        view = cmn.View({**small.info, "meshes": [{**small.info["meshes"][0], "mesh": mesh,
                                                   "links": cmn.Mesh._links(pmu, mesh)}]})
        counts = {f"arm_cmn_0:links/{key}": 31_250_000 for key in view.meshes[0].info["links"]}
        last = xps[width - 1]["id"]
        counts[f"arm_cmn_0:links/{last:#x}/n"] = 390_625_000
        lines = text(view, frame(counts, "links"), 80, 24).splitlines()
        top = lines[:23]
        self.assertTrue(any(f"hottest: XP {last:03x} ↑ 12.50" in line for line in top[:6]))
        overview = [line for line in top if re.match(r" ?\d+ ", line)]
        self.assertEqual(len(overview), height)
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
        self.assertIn("arm_cmn_0 4x2 (1 of 2; m: the next)", text(view, one, height=60))
        self.assertIn("0.16", text(view, one, height=60))
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
        said = power_imc.count_functions("   pmu-spin      10000a5c heavy\n pmu-spin 10000a60 heavy\n"
                                         "kworker/0:1-ev c000000000123450 [unknown]\n")
        self.assertEqual(said, {"samples": 3, "top": [["heavy", "pmu-spin", 2], ["0xc000000000123450", "kworker/0:1-ev", 1]]})


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

    def test_where_nothing_is_left_and_nobody_waits(self):
        live = self.xeon()
        self.kernel.stale = {(f"uncore_imc_{number}", cpu) for number in range(4) for cpu in range(2)}
        for number in range(4):
            self.put(f"sys/bus/event_source/devices/uncore_imc_{number}/cpumask", "")
        self.assertRaisesRegex(ToolError, "uncore_imc_0, uncore_imc_1, uncore_imc_2, uncore_imc_3 are gone",
                               live.until, self.kernel.wait)

    def test_the_cpu_of_a_socket_goes_offline(self):
        """Another one of the socket has its channels then; what stayed with the first counts nothing more."""
        machine = tree.machine(self, "snbep", {f"sys/devices/system/cpu/cpu3/topology/{name}": "1\n"
                                               for name in ("physical_package_id", "core_id")} |
                               {"sys/devices/system/cpu/online": "0-1,3\n"})
        live = self.live(machine, intel_imc.View.of(machine, options()))
        self.frame(live)
        self.kernel.stands = {(f"uncore_imc_{number}", 1) for number in range(4)}
        for number in range(4):
            self.put(f"sys/bus/event_source/devices/uncore_imc_{number}/cpumask", "0,3\n")
        self.put("sys/devices/system/cpu/online", "0,3\n")
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
            self.kernel.now += 200_000_000       # for the screen, and for files
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

    def test_a_link_that_the_driver_refuses(self):
        machine = tree.machine(self, "cmn700")
        self.kernel.bad = "mxp_p0_dat"
        live = self.live(machine, cmn.View.of(machine, options()))
        one = live.until(self.kernel.wait)
        self.assertTrue(one.notes[0].startswith("not counted: "))
        for row in live.view.rows(one).all:
            if row.name == "link":
                self.assertEqual(row.value is None, dict(row.labels)["to"] == "p0")


class TestOutputs(unittest.TestCase):
    def setUp(self):
        self.view = xeon(self)
        self.frame = busy_xeon(self.view)
        self.rows = self.view.rows(self.frame)
        directory = tempfile.TemporaryDirectory(prefix="pmu-top.")
        self.addCleanup(directory.cleanup)
        self.directory = Path(directory.name)

    def record(self, *more):
        path = self.directory / "record"
        recorder = frames.Recorder(path, self.view.info)
        for one in (self.frame, *more):
            recorder.write(one)
        recorder.file.close()
        return path

    def run_program(self, *arguments, **environment):
        return subprocess.run(["/usr/bin/python3", PROGRAM, *map(str, arguments)], capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, env={**os.environ, **environment})

    def test_json(self):
        said = json.loads(output.as_json(self.view, self.frame, self.rows))
        self.assertIn({"name": "read", "socket": "0", "channel": "0", "pmu": "uncore_imc_0", "value": 3.2e9, "unit": "B/s", "share": 1.0},
                      said["rows"])

    def test_csv(self):
        lines = output.Csv().text(self.frame, self.rows).splitlines()
        self.assertEqual(lines[0], "time,start,seconds,name,socket,channel,pmu,value,unit,share")
        self.assertIn(f"{WHEN},0.000000,1.000000,read,0,0,uncore_imc_0,3200000000.0,B/s,1.000000", lines)

    def metrics(self, *given, view=None):
        found = output.Metrics(view or self.view)
        for one in given:
            found.add(one, (view or self.view).rows(one))
        return found

    def test_counters_lose_nothing(self):
        """Prometheus scrapes when it likes: what was counted in any interval is in the next scrape, and in all after it."""
        found = self.metrics(*[self.frame] * 14, frames.Frame(14.0, 1.0, "all", {}), self.frame)
        said = found.text()
        one = 'view="intel_imc",socket="0",channel="0",pmu="uncore_imc_0"'
        self.assertIn(f"pmu_top_read_bytes_total{{{one}}} {15 * 3.2e9!r}\n", said)
        self.assertIn(f"pmu_top_clock_cycles_total{{{one}}} {15 * 1.2e9!r}\n", said)
        self.assertIn('pmu_top_observed_seconds_total{view="intel_imc"} 16.0\n', said)
        # An interval was lost.
        self.assertIn(f'pmu_top_counted_seconds_total{{metric="pmu_top_read_bytes_total",{one}}} 15.0\n', said)
        self.assertIn(f"pmu_top_page_hit_ratio{{{one}}} 0.75\n", said)
        self.assertRegex(said, r'pmu_top_share_ratio\{metric="pmu_top_page_hit_ratio",' + one + r"\} 0\.33")
        self.assertNotIn("socket_read", said)       # PromQL makes sums

    def test_what_took_turns_is_scaled(self):
        one = busy_xeon(self.view)
        one.counts["0/0/rd"] = Reading(25_000_000, SECOND, SECOND // 2)
        said = self.metrics(one).text()
        self.assertIn('pmu_top_read_bytes_total{view="intel_imc",socket="0",channel="0",pmu="uncore_imc_0"} 3200000000.0\n', said)
        self.assertIn('pmu_top_counted_seconds_total{metric="pmu_top_read_bytes_total",view="intel_imc",socket="0",channel="0",'
                      'pmu="uncore_imc_0"} 0.5\n', said)

    def all_views(self):
        mesh = cmn.View.of(tree.machine(self, "cmn700"), options())
        power = power_imc.View.of(tree.machine(self, "power9"), options())
        yield self.view, self.frame
        yield mesh, frame({f"arm_cmn_0:{key}": Reading(1000, SECOND, SECOND // 5) for key in
                           ["access", "miss", "reqs", "retries", *(f"links/{key}" for key in mesh.meshes[0].info["links"])]},
                          "links")
        yield power, frame({key: 5 for key, *_ in power.info["nests"]} |
                           {f"{key}/{what}": 7 for key, _ in power.info["cores"] for what in ("cycles", "inst")}, "cores")

    def test_promtool_has_nothing_to_say(self):
        for view, one in self.all_views():
            with self.subTest(view.name):
                done = subprocess.run([promtool(), "check", "metrics"], input=self.metrics(one, view=view).text(), text=True,
                                      capture_output=True)
                self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))

    def test_openmetrics(self):
        """https://prometheus.io/docs/specs/om/open_metrics_spec/: the family's name, its unit, and an end."""
        for view, one in self.all_views():
            *lines, last = self.metrics(one, view=view).text(strict=True).splitlines()
            self.assertEqual(last, "# EOF")
            kinds, units, seen = {}, {}, []
            for line in lines:
                with self.subTest(line):
                    if line.startswith("# "):
                        _, what, family, text = line.split(" ", 3)
                        {"TYPE": kinds, "UNIT": units, "HELP": {}}[what][family] = text
                        self.assertFalse(family.endswith("_total"))
                        self.assertNotIn(family, seen)
                    else:
                        name = line.partition("{")[0]
                        family = name.removesuffix("_total")
                        self.assertEqual(name.endswith("_total"), kinds[family] == "counter")
                        self.assertTrue(family.endswith(units.get(family, "")))
                        seen.append(family)

    def test_wide_csv(self):
        table = output.Csv(wide=True)
        head, *lines = (table.text(self.frame, self.rows) + table.text(self.frame, self.rows)).splitlines()
        found = list(csv.DictReader([head, *lines]))
        self.assertEqual(len(found), 2)
        self.assertEqual(found[1]["read{socket=0,channel=0,pmu=uncore_imc_0}"], "3200000000.0")
        self.assertEqual(found[1]["time"], WHEN)

    def test_the_time_of_day(self):
        self.assertEqual(frames.now_text(1_700_000_000.25), "2023-11-14T22:13:20.250Z")
        self.assertEqual(json.loads(output.as_json(self.view, self.frame, self.rows))["time"], WHEN)

    def test_a_record_is_gone_on_with(self):
        path = self.record()
        with open(path, "a") as file:
            file.write('{"start": 3')          # the machine went down
        self.record()
        source = frames.Replay(path)
        self.addCleanup(source.close)
        self.assertEqual([source.frame(), source.frame(), source.over], [self.frame, self.frame, True])
        for text in "something else\n", path.read_text().replace("skx", "x").replace("Linux", "x").replace('"kernel": "', '"kernel": "9'):
            path.write_text(text)
            with self.assertRaisesRegex(ToolError, "is there, and it is no record of this machine"):
                self.record()
            self.assertEqual(path.read_text(), text)

    def test_peak_and_percentiles(self):
        summary = output.Summary(frames.together)
        for number in range(1, 101):
            one = busy_xeon(self.view)
            one.counts["0/0/rd"] = Reading(number * 1_000_000, SECOND, SECOND)
            summary.add(one, self.view.rows(one))
        rows = summary.rows(self.view)
        row = next(row for row in rows.all if row.name == "total_read")
        self.assertEqual(row.more, {"peak": 6.4e9, "p50": 3.2e9, "p95": 95 * 64e6, "p99": 99 * 64e6})
        self.assertAlmostEqual(row.value, 50.5 * 64e6)
        self.assertEqual(rows.get("read_bytes", socket="0", channel="0").value, 5050 * 64_000_000)
        self.assertEqual(summary.sum.seconds, 100)
        self.assertIn("  total_read: 6.40, 3.20, 6.08, 6.34 GB/s", list(summary.text(rows)))

    def test_intervals_of_a_record(self):
        done = self.run_program("--replay", self.record(self.frame, self.frame), "--json", "--count", "2")
        self.assertEqual((done.returncode, len(done.stdout.splitlines())), (0, 2), done.stderr)

    def without_rich(self, version=None):
        """An environment without rich, or with this version of it."""
        place = self.directory / f"rich-{version}"
        place.mkdir()
        if version:
            (place / f"rich-{version}.dist-info").mkdir()
            (place / f"rich-{version}.dist-info/METADATA").write_text(f"Name: rich\nVersion: {version}\n")
        else:
            (place / "rich").mkdir()
            (place / "rich/__init__.py").write_text("raise ImportError\n")
        return {"PYTHONPATH": str(place)}

    def test_without_rich(self):
        """What programs read, and --once, need nothing but Python."""
        record = self.record()
        for version, sentence in ((None, "rich is not installed"), ("9.11.0", "rich is version 9.11.0 here, and 12.1 or newer"),
                                  ("11.2.0", "rich is version 11.2.0 here")):
            environment = self.without_rich(version)
            with self.subTest(version):
                done = self.run_program("--replay", record, "--once", **environment)
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                self.assertRegex(done.stdout, r"(?m)^total_read +3\.20 GB/s$")
                for option in "--json", "--csv":
                    self.assertEqual(self.run_program("--replay", record, option, **environment).stdout,
                                     self.run_program("--replay", record, option).stdout)
                prom = self.directory / "a.prom"
                self.assertEqual(self.run_program("--replay", record, "--prometheus", prom, **environment).returncode, 0)
                self.assertIn("pmu_top_read_bytes_total", prom.read_text())
                done = self.run_program("--replay", record, "--svg", self.directory / "a.svg", **environment)
                self.assertEqual(done.returncode, 1)
                self.assertIn(f"No picture can be made. Python's library {sentence}", done.stderr)
                master, inner = os.openpty()
                self.addCleanup(os.close, master)
                with open(inner, "w") as terminal:
                    done = subprocess.run(["/usr/bin/python3", PROGRAM, "--replay", record], stdout=terminal, text=True,
                                          stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, env={**os.environ, **environment})
                self.assertEqual(done.returncode, 1, done.stderr)
                self.assertRegex(done.stderr, f"^pmu-top: The screen cannot be drawn. Python's library {sentence}.*\nInstall it")

    def test_a_total_without_parts(self):
        self.assertIsNone(Rows().total("x", [], "B/s").value)

    def test_a_record_is_what_was_seen(self):
        source = frames.Replay(self.record(busy_xeon(self.view, "pages")))
        self.assertEqual(source.info, json.loads(json.dumps(self.view.info)))
        self.assertEqual(source.frame(), self.frame)
        self.assertFalse(source.over)
        self.assertEqual(source.frame().mode, "pages")
        self.assertTrue(source.over)

    def test_through_a_pipe(self):
        done = self.run_program("--replay", self.record(), COLUMNS="80")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("read 3.20 GB/s", done.stdout)
        self.assertNotIn("\x1b", done.stdout)
        self.assertLessEqual(max(map(len, done.stdout.splitlines())), 80)

    def test_a_picture(self):
        target = self.directory / "a.svg"
        done = self.run_program("--replay", self.record(), "--svg", target)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
        self.assertIn("read&#160;3.20&#160;GB/s", target.read_text())
        self.assertRegex(target.read_text(), r"<svg [^>]*>\s*<title>pmu-top: memory channels</title>\s*<desc>.*total_read 3.20 GB/s")
        xml.dom.minidom.parse(str(target))
        self.assertNotIn("url(http", target.read_text())

    def test_no_pmu(self):
        if any(Path("/sys/bus/event_source/devices").glob("uncore_imc_*")):
            self.skipTest("this host has memory channels")
        done = self.run_program("--once")
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r"pmu-top: This machine shows no PMU of [^\n]*\nLoad a driver")

        self.assertEqual(self.run_program("--", "true").returncode, 125)

    def test_the_man_page_is_made_of_the_help(self):
        target = self.directory / "pmu-top.1"
        done = subprocess.run(["make", "-C", tree.HERE.parents[1], "man", f"MANDIR={self.directory}"], capture_output=True,
                              text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        said = target.read_text()
        self.assertIn(".TH PMU-TOP", said)
        for option in main.parser()._option_string_actions:
            self.assertIn(option.replace("-", r"\-"), said)

    def test_the_version(self):
        self.assertIn(f'PMU_SUITE_VERSION "{VERSION}"', (tree.HERE.parents[1] / "include/pmu/version.h").read_text())

    def test_wrong_options(self):
        for wrong in (["--json", "--csv"], ["--interval", "0"], ["--width", "3"], ["--"], ["--replay", "x", "--", "ls"], ["--wide"],
                      ["--count", "0"], ["--count", "2", "--", "ls"]):
            with self.subTest(wrong):
                done = self.run_program(*wrong)
                self.assertEqual(done.returncode, 125 if "--" in wrong else 2)


class TestScreen(unittest.TestCase):
    """What keys do, without a terminal."""

    def setUp(self):
        view = xeon(self)
        self.source = mock.Mock(replayed=False)
        outputs = main.Outputs(view, options(), None)
        self.screen = screen.Screen(Console(width=100, height=30, file=io.StringIO()), view, self.source, outputs.picture,
                                    outputs.keep)
        self.screen.frame = busy_xeon(view)
        self.screen.rows = view.rows(self.screen.frame)
        self.screen.live = mock.Mock()

    def shown(self):
        self.screen._draw()
        console = Console(width=100, file=io.StringIO())
        console.print(self.screen.live.update.call_args.args[0])
        return console.file.getvalue()

    def test_arrows_change_what_is_looked_at(self):
        for key, mode in (("right", "pages"), ("right", "latency"), ("left", "pages"), ("left", "all"), ("left", "power")):
            self.screen._press(key)
            self.source.look_at.assert_called_with(mode)
            self.assertEqual(self.screen.mode, mode)

    def test_a_mode_that_cannot_be_is_told_and_left(self):
        self.source.look_at.side_effect = [ToolError("Somebody has it."), None]
        self.screen._press("right")
        self.assertEqual(self.screen.mode, "all")
        self.assertEqual(self.source.look_at.call_args.args, ("all",))
        self.assertIn("pages: Somebody has it.", self.shown())

    def test_scrolling_stays_within_the_picture(self):
        self.screen.console.height = 9
        for key, first in (("up", "read 3.20"), ("page down", "read GB/s"), ("page up", "read 3.20")):
            self.screen._press(key)
            lines = self.shown().splitlines()
            self.assertEqual(len(lines), 9)
            self.assertIn(first, lines[3])
            self.assertIn("q quit", lines[-1])


class TestKeyboard(unittest.TestCase):
    def test_keys_that_come_at_once_are_pressed_one_after_the_other(self):
        master, inner = os.openpty()
        self.addCleanup(os.close, master)
        with open(inner) as terminal, mock.patch.object(sys, "stdin", terminal), screen.Keyboard() as keyboard:
            os.write(master, b"p\x1b[D\x1bOC \x1b[6~xq")
            keys = [keyboard.get(10) for _ in range(7)]
            self.assertEqual(keys, ["p", "left", "right", "p", "page down", "x", "q"])
            self.assertIsNone(keyboard.get(0))


class TestTerminal(unittest.TestCase):
    """The screen itself, in a tmux."""

    def setUp(self):
        directory = tempfile.TemporaryDirectory(prefix="pmu-top.")
        self.addCleanup(directory.cleanup)
        self.directory = Path(directory.name)
        view = xeon(self)
        recorder = frames.Recorder(self.directory / "record", view.info)
        for number in range(1, 40):
            one = busy_xeon(view)
            one.seconds = 0.25
            one.counts["0/0/rd"] = Reading(number * 1_000_000_000 // 64, SECOND, SECOND)
            recorder.write(one)
        recorder.file.close()

    def tmux(self, *words):
        return subprocess.run(["tmux", "-f", "/dev/null", "-S", self.socket, *words], capture_output=True,
                              text=True, stdin=subprocess.DEVNULL)

    def start(self, width, height, environment=""):
        self.open(width, height, f"{environment} sh -c 'echo $$ > {self.directory}/pid; exec /usr/bin/python3 {PROGRAM} "
                                 f"--replay {self.directory}/record'; echo ended $?; exec cat")

    def open(self, width, height, command):
        self.socket = tempfile.mktemp(prefix="socket.", dir=self.directory)
        self.addCleanup(subprocess.run, ["tmux", "-S", self.socket, "kill-server"], capture_output=True)
        done = self.tmux("new-session", "-d", "-x", str(width), "-y", str(height), command)
        self.assertEqual(done.returncode, 0, done.stderr)

    def screen(self):
        return self.tmux("capture-pane", "-p").stdout

    def shows(self, wanted, there=True, seconds=120):     # a busy host draws slowly
        end = time.monotonic() + seconds
        while (wanted in self.screen()) != there:
            self.assertLess(time.monotonic(), end, f"{'no ' if there else ''}'{wanted}' in:\n{self.screen()}")
            time.sleep(0.1)

    def ends(self, status):
        """The program has ended, and the terminal is as it was before."""
        self.shows(f"ended {status}")
        self.assertEqual(self.tmux("display-message", "-p", "#{alternate_on} #{cursor_flag}").stdout, "0 1\n")
        self.tmux("send-keys", "seen")
        self.shows("seen")      # the terminal echoes

    def test_ctrl_c(self):
        self.start(80, 24)
        self.shows("q quit")
        self.tmux("send-keys", "C-c")
        self.ends(130)

    def test_ctrl_z(self):
        self.open(80, 24, "PS1=ready\\> bash --norc")
        self.tmux("send-keys", f"/usr/bin/python3 {PROGRAM} --replay {self.directory}/record", "Enter")
        for _ in range(2):
            self.shows("q quit")
            self.tmux("send-keys", "C-z")
            self.shows("Stopped")
            self.assertEqual(self.tmux("display-message", "-p", "#{alternate_on} #{cursor_flag}").stdout, "0 1\n")
            self.tmux("send-keys", "clear; fg", "Enter")
        self.shows("q quit")
        self.tmux("send-keys", "q")
        self.shows("ready>")
        self.tmux("send-keys", "echo ended $?", "Enter")
        self.ends(0)

    def test_signals(self):
        for sent in signal.SIGTERM, signal.SIGHUP:
            with self.subTest(sent):
                self.start(80, 24)
                self.shows("q quit")
                os.kill(int((self.directory / "pid").read_text()), sent)
                self.ends(128 + sent)

    def test_terminals_that_are_too_small(self):
        self.start(80, 24)
        self.shows("q quit")
        for width, height in (39, 10), (20, 5), (10, 3), (2, 1), (80, 24):
            self.tmux("resize-window", "-x", str(width), "-y", str(height))
            time.sleep(0.5)     # it is to redraw, and not to end
        self.shows("q quit")
        self.tmux("send-keys", "q")
        self.ends(0)

    def test_keys_at_80x24(self):
        self.start(80, 24)
        self.shows("q quit")
        self.assertEqual(len(self.screen().splitlines()), 24)
        self.tmux("send-keys", "p")
        self.shows("PAUSED")
        self.tmux("send-keys", "?")
        self.shows("up, down     scroll")
        self.tmux("send-keys", "?")
        self.shows("PAUSED")
        before = self.screen()
        time.sleep(1)
        self.assertEqual(self.screen(), before)
        self.tmux("send-keys", "p")
        self.shows("read 39.00 GB/s")
        self.tmux("send-keys", "q")
        self.ends(0)

    def test_another_size(self):
        self.start(80, 14, "NO_COLOR=1")
        self.shows("socket 1")
        self.assertNotIn("channel 5", self.screen())
        for _ in range(40):
            self.tmux("send-keys", "Down")
        self.shows("channel 5")
        self.tmux("resize-window", "-x", "200", "-y", "60")
        self.shows("self-refresh %")
        # Keys are worked off in their order: when this one has been, none of those is left.
        self.tmux("send-keys", "?")
        self.shows("Page Down")
        self.tmux("send-keys", "?")
        self.shows("channel 5")
        # Where all of it was seen, nothing is scrolled.
        self.tmux("resize-window", "-x", "60", "-y", "12")
        self.shows("channel 5", False)
        self.shows("q quit")
