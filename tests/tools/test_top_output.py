# SPDX-License-Identifier: GPL-2.0-only
# all: Debian's promtool has to be fetched
"""pmu-top: what it writes, for programs and for files."""
import contextlib
import csv
import importlib.metadata
import io
import json
import os
import subprocess
import sys
import tempfile
import unittest
import unittest.mock
import xml.dom.minidom
import zipfile
from pathlib import Path

import tree
from promtool import promtool
from top_cases import PROGRAM, SECOND, WHEN, busy_xeon, frame, options, xeon

from pmutools import VERSION, errors, sysfs
from pmutools.count import Reading
from pmutools.errors import ToolError
from pmutools.top import cmn, frames, intel_imc, main, output, power_imc, pretty, rapids
from pmutools.top.rows import Rows


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
        self.assertEqual(lines[0], "time,start,seconds,name,socket,channel,pmu,controller,value,unit,share")
        self.assertIn(f"{WHEN},0.000000,1.000000,read,0,0,uncore_imc_0,,3200000000.0,B/s,1.000000", lines)
        self.assertTrue([line for line in lines if ",controller_read,0,,,0," in line], lines)

    def test_csv_has_no_row_without_its_labels(self):
        """resctrl was mounted after the first line was written: there are no columns that say which group it is."""
        table = output.Csv()
        head, *before = table.text(self.frame, self.rows).splitlines()
        self.frame.counts["resctrl/0/job"] = Reading(5, SECOND, SECOND)
        rows = self.view.rows(self.frame)
        self.assertTrue(rows.get("group", group="job").value)
        self.assertEqual(table.text(self.frame, rows).splitlines(), before)
        self.assertIn(",group,cache,", output.Csv().text(self.frame, rows).splitlines()[0])

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

    def test_what_stops_after_a_month(self):
        """It is told at once that it counts no more, and that it did not, however long it counted before and behind."""
        month = busy_xeon(self.view)
        month.seconds = 30 * 86400.0
        found = self.metrics(month)
        self.assertNotIn("counted_seconds", found.text())
        for number, one in enumerate((frames.Frame(0.0, 1.0, "all", {}), month), 1):
            found.add(one, self.view.rows(one))
            self.assertIn('pmu_top_counted_seconds_total{metric="pmu_top_read_bytes_total",view="intel_imc",socket="0",channel="0",'
                          f'pmu="uncore_imc_0"}} {number * month.seconds!r}\n', found.text())

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
        summary = output.Summary(frames.together, 1.0)
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

    def test_a_peak_of_few_intervals(self):
        """The others had no sum, since somebody counted beside us while most happened: it is told what the peak is of."""
        summary = output.Summary(frames.together, 1.0)
        for number in range(100):
            one = busy_xeon(self.view)
            if number < 90:
                one.counts["0/0/rd"] = Reading(100_000_000, SECOND, SECOND // 2)
            summary.add(one, self.view.rows(one))
        rows, said = summary.rows(self.view), list(summary.text(summary.rows(self.view)))
        more = {row.name: row.more for row in rows.all if row.total or row.name == "read" and dict(row.labels)["channel"] == "0"}
        self.assertEqual((more["total_read"]["peak"], more["total_read"]["intervals"]), (3.2e9, 10))
        self.assertNotIn("intervals", more["total_write"])
        self.assertNotIn("intervals", more["read"])
        self.assertIn("  total_read: 3.20, 3.20, 3.20, 3.20 GB/s (of 10 that have a number)", said)
        self.assertFalse([line for line in said if "total_write" in line and "(" in line])
        lost = output.Summary(frames.together, 1.0)
        one = busy_xeon(self.view)
        del one.counts["0/0/rd"]
        lost.add(one, self.view.rows(one))
        rows = lost.rows(self.view)
        self.assertEqual(next(row.more for row in rows.all if row.name == "total_read"), {"intervals": 0})
        self.assertIn("  total_read: - GB/s (of 0 that have a number)", list(lost.text(rows)))

    def test_an_interval_that_the_end_cut_short(self):
        """Its counts are in the sum; its rate is no peak of whole intervals, nor does it weigh as much as one."""
        summary = output.Summary(frames.together, 1.0)
        for seconds, lines in ((1.0, 10_000_000), (0.5, 10_000_000), (0.003, 1_000_000)):
            one, time = busy_xeon(self.view), int(seconds * SECOND)
            one.seconds, one.counts["0/0/rd"] = seconds, Reading(lines, time, time)
            summary.add(one, self.view.rows(one))
        rows = summary.rows(self.view)
        row = next(row for row in rows.all if row.name == "total_read")
        self.assertEqual([row.more[name] for name in ("peak", "p50", "p95")], [1.28e9, 0.64e9, 1.28e9])
        self.assertEqual(rows.get("read_bytes", socket="0", channel="0").value, 21_000_000 * 64)
        self.assertEqual(next(summary.text(rows)), "3 intervals; peak, median, 95 % and 99 % of them but 1 of less than 0.5 s:")

    def test_what_was_lost_for_a_part_of_a_run(self):
        """Its rate is of the time in which it counted, and so it is in no sum: the others are of all the time."""
        for lost in (0,), (1,), (0, 3):
            summary = output.Summary(frames.together, 1.0)
            for number in range(4):
                one = busy_xeon(self.view)
                if number in lost:
                    del one.counts["0/0/rd"]
                summary.add(one, self.view.rows(one))
            rows = summary.rows(self.view)
            read = rows.get("read", socket="0", channel="0")
            self.assertEqual((read.value, read.share), (3.2e9, 1 - len(lost) / 4))
            for name in "total_read", "total_read_bytes":
                self.assertIsNone(rows.get(name).value, name)
            self.assertTrue(rows.get("total_write").whole)

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

    def test_an_old_rich_in_a_zip(self):
        path = self.directory / "old.zip"
        with zipfile.ZipFile(path, "w") as old:
            for name, text in (("rich/__init__.py", ""), ("rich/console.py", ""),
                               ("rich-9.11.0.dist-info/METADATA", "Name: rich\nVersion: 9.11.0\n")):
                old.writestr(name, text)
        code = "import sys; sys.path.append(sys.argv[1]); from pmutools.top import pretty; print(pretty.missing())"
        done = subprocess.run(["/usr/bin/python3", "-S", "-c", code, PROGRAM.parent], capture_output=True, text=True,
                              env={**os.environ, "PYTHONPATH": str(path)})
        self.assertIn("rich is version 9.11.0 here", done.stdout, done.stderr)

    def test_a_directory_where_the_user_may_not_look(self):
        with unittest.mock.patch.object(Path, "glob", side_effect=PermissionError):
            self.assertEqual(pretty._version(), importlib.metadata.version("rich"))

    def test_a_total_without_parts(self):
        self.assertIsNone(Rows().total("x", [], "B/s").value)

    def test_a_record_is_what_was_seen(self):
        source = frames.Replay(self.record(busy_xeon(self.view, "pages")))
        self.assertEqual(source.info, json.loads(json.dumps(self.view.info)))
        self.assertEqual(source.frame(), self.frame)
        self.assertFalse(source.over)
        self.assertEqual(source.frame().mode, "pages")
        self.assertTrue(source.over)

    def test_another_driver_counts_lines_by_other_events(self):
        """In the midst of a record, on Granite Rapids: both of its events are in the number."""
        path, info = self.directory / "record", self.view.info
        info["lines"] = intel_imc.LINES
        recorder = frames.Recorder(path, info)
        recorder.write(self.frame)
        info["driver"], info["lines"] = "intel_uncore (in-tree)", rapids.HALVES
        self.frame.counts |= {key + "1": one for key, one in self.frame.counts.items() if key.endswith(("/rd", "/wr"))}
        recorder.write(self.frame)
        recorder.file.close()
        source = frames.Replay(path)
        self.addCleanup(source.close)
        view = intel_imc.View(source.info)
        for driver, read in ((source.info["driver"], 3.2e9), ("intel_uncore (in-tree)", 6.4e9)):
            one = source.frame()
            rows = view.rows(one)
            said = json.loads(output.as_json(view, one, rows))
            self.assertEqual((said["driver"], rows.get("total_read").value), (driver, read))

    def test_nobody_waits_for_the_first_frame_of_a_record(self):
        source, waited = frames.Replay(self.record(self.frame, self.frame)), []
        self.addCleanup(source.close)
        self.assertEqual([source.until(waited.append), waited], [self.frame, []])
        self.assertEqual([source.until(waited.append), waited], [self.frame, [1.0]])

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
        self.assertEqual(done.returncode, 3)
        self.assertRegex(done.stderr, r"pmu-top: (This machine shows no PMU of [^\n]*\nLoad a driver|.*: not covered by these drivers\.\n)")
        self.assertEqual(self.run_program("--", "true").returncode, 125)

    def test_a_machine_without_counters(self):
        """A status of its own, so that a service is not started again and again; with a command it is as always."""
        for cpuinfo, wanted in (("vendor_id\t: AuthenticAMD\n", "AMD EPYC: not covered .* perf's amd_umc has "), ("platform\t: pSeries\n", "hv_24x7"),
                                ("platform\t: PowerNV\n", "Load a driver"), ("flags\t: fpu hypervisor lahf\n", "Most hosts hide"), ("vendor_id\t: GenuineIntel\n", "Load a driver")):
            root = Path(tempfile.mkdtemp(dir=self.directory))
            (root / "proc").mkdir(parents=True)
            (root / "proc/cpuinfo").write_text(f"processor\t: 0\n{cpuinfo}")
            self.assertRegex(str(sysfs.Machine(root).nothing()), wanted)
        # On the last of these roots, and with a channel there that nobody drives, guest or not.
        device = root / "sys/bus/pci/devices/0000:3f:10.0"
        for command, there, wanted in ([], False, 3), (["--", "true"], False, 125), ([], True, 1):
            if there:
                device.mkdir(parents=True)
                (device / "vendor").write_text("0x8086\n")
                (device / "device").write_text("0x3cb0\n")
                (root / "proc/cpuinfo").write_text("flags\t: fpu hypervisor lahf\n")
                self.assertRegex(str(sysfs.Machine(root).nothing()), "Load a driver")
            argv = ["pmu-top", "--once", *command]
            with unittest.mock.patch.object(sys, "argv", argv), unittest.mock.patch.object(main, "Machine", lambda: sysfs.Machine(root)), \
                    unittest.mock.patch.object(errors, "_prepare"), contextlib.redirect_stderr(io.StringIO()), self.assertRaises(SystemExit) as caught:
                main.main()
            self.assertEqual(caught.exception.code, wanted)

    def test_what_is_scraped_of_a_mesh(self):
        """12 meshes of 8x8 would have 8,558 series."""
        record = tree.HERE.parents[1] / "Documentation/tools/cmn.jsonl"
        for arguments, there in (["--once"], False), (["--once", "--mode", "links"], True):
            self.run_program("--replay", record, *arguments, "--prometheus", self.directory / "prom")
            said = (self.directory / "prom").read_text()
            self.assertEqual(("pmu_top_link_bytes_total{" in said, "pmu_top_slc_access_total{" in said), (there, True))

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
