# SPDX-License-Identifier: GPL-2.0-only
"""Who moves the bytes, by resctrl's groups. Its files are written here as the kernel's documentation describes them."""
import io
import json
import os
import re
import shutil
import unittest
from unittest import mock

import test_top
import tree
from pmutools import sysfs
from pmutools.top import draw, frames, intel_imc, output, resctrl
from pmutools.top.rows import Rows

GB = 10**9
ROOT = "sys/fs/resctrl"


def files(values):
    """{"" or "batch" or "batch/mon_groups/one": {cache: bytes or a word}} as files."""
    return {f"{ROOT}/{group}/mon_data/mon_L3_{cache}/mbm_total_bytes".replace("//", "/"): f"{value}\n"
            for group, caches in values.items() for cache, value in caches.items()}


class TestGroups(unittest.TestCase):
    # A control group's number has that of its monitor groups in it.
    BEFORE = {"": {"00": 5 * GB, "01": 0}, "mon_groups/vm": {"00": GB, "01": 0},
              "batch": {"00": 9 * GB, "01": 2 * GB}, "batch/mon_groups/one": {"00": 4 * GB, "01": 2 * GB}}
    AFTER = {"": {"00": 8 * GB, "01": GB}, "mon_groups/vm": {"00": 3 * GB, "01": 0},
             "batch": {"00": 19 * GB, "01": 3 * GB}, "batch/mon_groups/one": {"00": 10 * GB, "01": 2 * GB}}

    def setUp(self):
        self.kernel = tree.Kernel(self)
        self.machine = tree.machine(self, "snbep", files(self.BEFORE))

    def put(self, values):
        for path, text in files(values).items():
            (self.machine.root / path).parent.mkdir(parents=True, exist_ok=True)
            (self.machine.root / path).write_text(text)

    def live(self):
        live = frames.Live(intel_imc.View.of(self.machine, test_top.options()), self.machine, 2.0,
                           look=lambda: sysfs.Machine(self.machine.root, self.machine.arch))
        live.look_at("all")
        self.addCleanup(live.close)
        return live

    def rates(self, one, view):
        return {(dict(row.labels)["group"], dict(row.labels)["cache"]): round(row.value / GB, 6)
                for row in view.rows(one).all if row.name == "group"}

    def test_each_task_is_in_one_number(self):
        live = self.live()
        self.put(self.AFTER)
        one = live.until(self.kernel.wait)
        self.assertEqual(self.rates(one, live.view), {
            ("vm", "00"): 1.0, ("vm", "01"): 0.0, ("(the rest)", "00"): 0.5, ("(the rest)", "01"): 0.5,
            ("batch", "00"): 2.0, ("batch", "01"): 0.5, ("batch/one", "00"): 3.0, ("batch/one", "01"): 0.0})
        said = test_top.text(live.view, one, 100)
        self.assertIn("by resctrl's groups: batch/one 3.00, batch 2.50, vm 1.00, (the rest) 1.00 GB/s", said)
        # A record has them, and so has Prometheus, as bytes.
        kept = frames.Frame.from_json(json.loads(one.to_json()))
        self.assertEqual(self.rates(kept, live.view), self.rates(one, live.view))
        metrics = output.Metrics(live.view)
        metrics.add(one, live.view.rows(one))
        self.assertIn('pmu_top_group_bytes_total{view="intel_imc",group="batch/one",cache="00"} 6000000000', metrics.text())

    def test_what_has_no_number_is_left_out(self):
        """A monitor group whose number is not there leaves no rest; a group that was made anew begins at less."""
        live = self.live()
        after = {name: dict(caches) for name, caches in self.AFTER.items()}
        after["batch/mon_groups/one"]["00"] = "Unavailable"
        after["mon_groups/vm"]["00"] = 0
        after["new"] = {"00": 7, "01": 7}
        self.put(after)
        one = live.until(self.kernel.wait)
        self.assertEqual(set(self.rates(one, live.view)), {
            ("vm", "01"), ("(the rest)", "00"), ("(the rest)", "01"), ("batch", "01"), ("batch/one", "01")})
        # Nor is a part of its caches told as the whole of it.
        self.assertRegex(resctrl.line(live.view.rows(one)), r"^by resctrl's groups: \(the rest\) [0-9.]+(, (vm|batch|batch/one) -){3} GB/s$")

    def test_a_group_that_is_removed_is_forgotten(self):
        """A batch system makes one for each job, and a service runs for months. The last scrape of a job has all of it."""
        live = self.live()
        metrics, history = output.Metrics(live.view), draw.History()

        def interval():
            """{group: its bytes}"""
            one = live.until(self.kernel.wait)
            rows = live.view.rows(one)
            metrics.add(one, rows)
            history.add(rows)
            found = re.findall(r'^pmu_top_group_bytes_total\{.*group="(job.*?)",cache="00"\} (\S+)$', metrics.text(), re.M)
            return {group: float(value) for group, value in found}

        self.put(self.AFTER)
        interval()
        lines = len(history.values)
        shutil.rmtree(self.machine.root / ROOT / "mon_groups/vm")
        with mock.patch.object(output, "FORGET_S", 10):
            for number in range(30):
                self.put({f"mon_groups/job-{number}": {"00": 0}})
                interval()
                self.put({f"mon_groups/job-{number}": {"00": 2 * GB}})
                # An interval has 2 s.
                self.assertEqual(interval(), {f"job-{one}": 2e9 for one in range(max(0, number - 2), number + 1)})
                shutil.rmtree(self.machine.root / ROOT / f"mon_groups/job-{number}")
            for _ in range(6):
                said = interval()
        self.assertEqual(said, {})
        self.assertNotIn("vm", metrics.text())
        self.assertEqual((len(history.values), {dict(labels)["group"] for labels in metrics.seen}),
                         (lines, {"(the rest)", "batch", "batch/one"}))
        # One by the same name is another.
        self.put({"mon_groups/job-0": {"00": 0}})
        interval()
        self.put({"mon_groups/job-0": {"00": GB}})
        self.assertEqual(interval(), {"job-0": 1e9})

    def test_a_name_with_a_terminals_commands(self):
        self.put({"mon_groups/x\x1b[2J": {"00": 0}})
        live = self.live()
        self.put({"mon_groups/x\x1b[2J": {"00": 2 * GB}})
        self.assertEqual(self.rates(live.until(self.kernel.wait), live.view)["x?[2J", "00"], 1.0)

    def test_a_name_that_is_no_utf_8(self):
        """As a shell with another locale makes it. What Prometheus and others read is UTF-8 all the same."""
        name = os.fsdecode(b"mon_groups/K\xf6ln")
        self.put({name: {"00": 0}})
        live = self.live()
        self.put({name: {"00": 2 * GB}})
        one = live.until(self.kernel.wait)
        metrics = output.Metrics(live.view)
        metrics.add(one, live.view.rows(one))
        # A backslash in a label is written as two.
        self.assertIn(b"group=\"K\\\\xf6ln\"", metrics.text().encode())

    def test_nobody_has_made_a_group(self):
        """Then the number is that of everybody, which says nothing of who it is."""
        for values in {}, {"": {"00": 0}}:
            self.machine = tree.machine(self, "snbep", files(values))
            live = self.live()
            one = live.until(self.kernel.wait)
            self.assertNotIn("resctrl", test_top.text(live.view, one))
        self.assertEqual(resctrl.line(Rows()), "")

    def test_many_groups_in_a_narrow_window(self):
        self.machine = tree.machine(self, "snbep", files({f"group-{number:02}": {"00": 0} for number in range(30)} | {"": {"00": 0}}))
        live = self.live()
        self.put({f"group-{number:02}": {"00": number * GB} for number in range(30)})
        one = live.until(self.kernel.wait)
        for width in 80, 200:
            said = test_top.text(live.view, one, width, 24)
            self.assertIn("by resctrl's groups: group-29 14.50, group-28 14.00", said)
            self.assertLessEqual(max(map(len, io.StringIO(said))), width + 1)


if __name__ == "__main__":
    unittest.main()
