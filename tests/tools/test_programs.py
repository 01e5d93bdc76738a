# SPDX-License-Identifier: GPL-2.0-only
"""Who reads memory, by samples of the last cache's misses: an estimate, and marked as one. perf is in test_trouble.py."""
import json
import unittest
from unittest import mock

import tree
from top_cases import busy_xeon, options, text

from pmutools.top import frames, intel_imc, output, programs

EVENT = {"sys/bus/event_source/devices/cpu/events/cache-misses": "event=0x2e,umask=0x41\n"}
# 40 samples in two seconds.
SAID = {"samples": 40, "period": 100_000, "seconds": 2.0,
        "top": [["a program with a long name", 4194304, 30], ["gcc", 77, 10]]}


class TestPrograms(unittest.TestCase):
    def view(self, name="skx", changes=EVENT):
        return intel_imc.View.of(tree.machine(self, name, changes), options())

    def frame(self, view, said):
        one = busy_xeon(view, programs.MODE)
        one.extra = {programs.MODE: said}
        return one

    def test_where_there_is_such_an_event(self):
        """A guest has no PMU of its CPUs."""
        self.assertEqual(self.view(changes={}).modes, ["all", "pages", "latency", "power"])
        self.assertEqual(self.view().modes, ["all", "pages", "latency", "power", "programs"])
        granite = {"proc/cpuinfo": "vendor_id : GenuineIntel\ncpu family : 6\nmodel : 173\nmodel name : X\nstepping : 6\n"}
        self.assertEqual(self.view(changes=EVENT | granite).modes, ["all", "programs"])

    def test_perf_runs_in_this_mode_alone(self):
        view = self.view()
        with mock.patch.object(programs, "Misses") as misses:
            misses.return_value.programs.return_value = SAID
            for mode, wanted in (("all", {}), ("programs", {"programs": SAID}), ("pages", {})):
                view.begin(mode)
                self.assertEqual(view.extra(mode), wanted)
                view.close()
            misses.assert_called_once_with()
            misses.return_value.close.assert_called_once_with()

    def test_the_picture(self):
        view = self.view()
        for width, height in ((60, None), (80, 24), (100, None), (200, 60)):
            with self.subTest((width, height)):
                said = text(view, self.frame(view, SAID), width, height)
                self.assertLessEqual(max(map(len, said.splitlines())), width)
                above = said.splitlines()[:height]
                self.assertIn("an estimate: misses of the last cache", said)
                # 30 samples of 100,000 misses of 64 bytes in 2 s.
                self.assertTrue(any("75.0" in line and " 0.10 " in line and "4194304  a program" in line for line in above), said)
                self.assertTrue(any("25.0" in line and " 0.03 " in line and "77  gcc" in line for line in above))
                # The channels' numbers are there as ever.
                self.assertIn("read 3.20 GB/s", said)
                self.assertIn("channel 5", said)

    def test_a_series_has_the_samples_of_all_its_intervals(self):
        """--interval with a command. One without samples has its seconds, too."""
        view, whole = self.view(), None
        for said in ({"samples": 4, "period": 100_000, "seconds": 1.0, "top": [["gcc", 77, 3], ["sh", 1, 1]]}, SAID,
                     {"error": "perf script failed"}, programs.count_programs(b"", 1.0) | {"period": 100_000}):
            whole = frames.together(whole, self.frame(view, said))
        self.assertEqual(whole.extra[programs.MODE], {
            "samples": 44, "period": 100_000, "seconds": 4.0, "top": [["a program with a long name", 4194304, 30], ["gcc", 77, 13]]})
        functions = [frames.Frame(0.0, 1.0, "functions", {}, extra={"functions": {"samples": 3, "top": [["heavy", "spin", 2], ["light", "spin", 1]]}})] * 2
        self.assertEqual(frames.together(*functions).extra["functions"],
                         {"samples": 6, "top": [["heavy", "spin", 4], ["light", "spin", 2]]})

    def test_the_mode_is_seen_in_any_window(self):
        """It is behind the time, and five names do not fit into 80 columns."""
        view = self.view()
        for width in 60, 80, 87, 88, 100, 200:
            for mode in view.modes:
                with self.subTest((width, mode)):
                    line = text(view, busy_xeon(view, mode), width).splitlines()[2]
                    self.assertLessEqual(len(line), width)
                    self.assertIn(f" {mode} ", line)
                    self.assertEqual(" all  pages  latency  power  programs" in line, width > 87)
                    self.assertEqual("←→" in line, width <= 87)

    def test_what_is_not_there(self):
        view = self.view()
        for said, wanted in (({"error": "perf record of cache-misses failed: it says nothing"}, "failed: it says nothing"),
                             (programs.count_programs(b"", 1.0), "no program missed the last cache"), (None, "no program missed")):
            self.assertIn(wanted, text(view, self.frame(view, said)))

    def test_for_programs_and_in_a_record(self):
        view = self.view()
        one = self.frame(view, SAID)
        self.assertEqual(json.loads(output.as_json(view, one, view.rows(one)))["programs"], SAID)
        kept = frames.Frame.from_json(json.loads(one.to_json()))
        self.assertEqual(text(view, kept), text(view, one))
        # The record of a pmu-top that did not know of programs.
        old = intel_imc.View({name: value for name, value in view.info.items() if name != "programs"})
        self.assertEqual(old.modes, ["all", "pages", "latency", "power"])


if __name__ == "__main__":
    unittest.main()
