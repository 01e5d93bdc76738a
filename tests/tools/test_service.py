# SPDX-License-Identifier: GPL-2.0-only
"""The systemd unit of pmu-top, as far as no counters are needed for it."""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import tree
from pmutools import errors
from pmutools.top import main

TOP = tree.HERE.parents[1]
UNIT = TOP / "scripts/packaging/pmu-top.service"


def settings(name):
    return re.findall(rf"^{name}=(.*)$", UNIT.read_text(), re.M)


class TestUnit(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory(prefix="pmu-service.")
        self.addCleanup(directory.cleanup)
        self.directory = Path(directory.name)

    def test_one_right_alone(self):
        """Counting takes CAP_PERFMON, and a call that services do not have by themselves."""
        for name, wanted in (("DynamicUser", "yes"), ("AmbientCapabilities", "CAP_PERFMON"),
                             ("CapabilityBoundingSet", "CAP_PERFMON"), ("ProtectSystem", "strict")):
            self.assertEqual(settings(name), [wanted])
        self.assertIn("perf_event_open", settings("SystemCallFilter")[0].split())

    def test_a_stop_is_no_failure(self):
        """pmu-top ends by SIGTERM as a shell says it; systemd has to take that for a success."""
        stopped = subprocess.run([sys.executable, "-c", "import os, signal; from pmutools import errors; "
                                  "errors.main(lambda: os.kill(os.getpid(), signal.SIGTERM))"], cwd=TOP / "tools")
        self.assertEqual(settings("SuccessExitStatus"), [str(stopped.returncode)])

    def test_a_machine_without_counters_is_left_alone(self):
        self.assertEqual(settings("RestartPreventExitStatus"), [str(errors.NO_COUNTERS)])

    def test_nobody_else_reads_what_was_counted(self):
        """Others may not count, either. And nothing is done as root, where another user could lay a link."""
        self.assertEqual((settings("RuntimeDirectoryMode"), settings("UMask")), (["0750"], ["0027"]))
        self.assertEqual([line for line in UNIT.read_text().splitlines() if re.match(r"Exec\w*=[-@:]*[+!]", line)], [])

    def test_the_options_are_those_of_pmu_top(self):
        words = settings("ExecStart")[0].replace("$PMU_TOP_OPTIONS", "--interval 5").split()
        self.assertEqual(words[0], "@PREFIX@/bin/pmu-top")
        found = main.parse(words[1:])
        self.assertEqual((found.prometheus, found.interval), ("${RUNTIME_DIRECTORY}/pmu.prom", 5.0))

    def test_installed_and_removed(self):
        where = [f"DESTDIR={self.directory}", "PREFIX=/usr"]
        if not shutil.which("systemd-analyze"):
            self.skipTest("there is no systemd-analyze")
        subprocess.run(["make", "-s", "-C", TOP, "install-tools", *where], check=True)
        unit = self.directory / "usr/lib/systemd/system/pmu-top.service"
        self.assertIn("ExecStart=/usr/bin/pmu-top --prometheus", unit.read_text())
        # Off until it is enabled.
        self.assertEqual(list(self.directory.rglob("*.wants")), [])
        # On this host the program is another file.
        unit.write_text(unit.read_text().replace("/usr/bin/pmu-top", str(TOP / "tools/pmu-top")))
        said = subprocess.run(["systemd-analyze", "verify", "--man=no", unit], capture_output=True, text=True,
                              env={**os.environ, "SYSTEMD_LOG_LEVEL": "warning"})
        self.assertEqual([line for line in said.stderr.splitlines() if "pmu-top" in line], [])
        self.assertEqual(said.returncode, 0, said.stderr)
        subprocess.run(["make", "-s", "-C", TOP, "uninstall-tools", *where], check=True)
        self.assertEqual([path for path in self.directory.rglob("*") if not path.is_dir()], [])


if __name__ == "__main__":
    unittest.main()
