# SPDX-License-Identifier: GPL-2.0-only
"""pmu-check's report: what it says of a machine, what it keeps to itself, and the difference of two."""
import contextlib
import io
import json
import os
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import tree
from pmutools import sysfs
from pmutools.check import look, main, report, scrub
from pmutools.check.checks import FAIL, NOTE, OK, SKIP, Result
from pmutools.errors import ToolError

PCI = "sys/bus/pci/devices/0000:3f:10.0/"
FILES = {
    "proc/cmdline": "BOOT_IMAGE=/vmlinuz root=UUID=0fa2-11 ip=10.1.2.3 isolcpus=2-3 nohz_full=3 "
                    "intel_uncore.uncore_no_discover=1\n",
    "proc/meminfo": "MemTotal:       268435456 kB\n",
    "sys/class/dmi/id/product_name": "R720\n", "sys/class/dmi/id/product_serial": "XJ8KQ2\n",
    "sys/class/dmi/id/bios_version": "2.9.0\n", "sys/class/dmi/id/product_uuid": "4c4c4544-0058-4a10-8038-b8c04f51\n",
    PCI + "vendor": "0x8086\n", PCI + "device": "0x3cb0\n",
    "sys/bus/pci/devices/0000:00:1f.2/vendor": "0x8086\n", "sys/bus/pci/devices/0000:00:1f.2/device": "0x1d02\n",
}
KMSG = ["4,7,100,-;intel_imc_pmu 0000:3f:10.0: somebody else writes the registers at 0xfed1c000ab\n SUBSYSTEM=pci\n",
        "6,8,110,-;eth0: link is up, 00:1b:21:aa:bb:cc\n", "6,9,120,-;arm-cmn 100000000.pmu: on db7.example.org\n",
        # What users call programs is neither about these drivers nor anybody else's business.
        "6,10,130,-;imc_of_joe[4711]: segfault at 0 ip 00007f12\n", "6,11,140,-;traps: cmn-joe[4711] general protection fault\n",
        "6,12,150,-;oom-kill:constraint=CONSTRAINT_NONE,task_memcg=/joe/uncore,task=cmn_joe,pid=4711,uid=1000\n",
        "3,13,160,-;Out of memory: Killed process 4711 (cmn_joe) total-vm:1kB\n", "4,14,170,-;CPU: 1 PID: 4711 Comm: imc_joe Tainted: G\n"]


def made(results=(), table=None, **machine):
    looked = {"processor": {"processor": "Xeon"}, "firmware": {}, "kernel": {"kernel": "6.1"}, "devices": [],
              "pmus": [],
              "log": [], "no log": ""} | machine
    return report.make(looked, list(results), table or {})


class TestScrub(unittest.TestCase):
    def test_what_is_taken_out(self):
        for text, left in (
                ("host db7.example.org, DB7: up", "host HOST, HOST: up"),
                ("eth0 00:1b:21:aa:bb:cc 192.168.1.20/24", "eth0 MAC IP"),
                ("from fe80::21b:21ff:feaa:bbcc and 2001:db8:0:1:2:3:4:5", "from IP and IP"),
                ("root=4c4c4544-0058-4a10-8038-b8c04f514432", "root=UUID"),
                ("Serial Number: XJ8KQ2, ok", "Serial Number: SERIAL ok"),
                ("at 0xffff888107c3a000, 100000000.pmu", "at ADDRESS, ADDRESS.pmu")):
            self.assertEqual(scrub.scrub(text, ["db7.example.org", "db7"]), left)

    def test_what_stays(self):
        for text in ("intel_imc_pmu 0000:3f:10.0: no clock", "config 0x304, DIMM 12345678", "6.12.0-1 at 10:12:13",
                     "db70 xdb7",
                     "8086:3cb0 memory channel", "uncore_imc_0/cas_count_read/: event=0x04,umask=0x03"):
            self.assertEqual(scrub.scrub(text, ["db7"]), text)

    def test_a_name_that_says_nothing_stays(self):
        with mock.patch.object(os, "uname", lambda: mock.Mock(nodename="localhost")):
            self.assertEqual(scrub.host_names(), [])
        with mock.patch.object(os, "uname", lambda: mock.Mock(nodename="db7.example.org")):
            self.assertEqual(scrub.host_names(), ["db7.example.org", "db7"])


class TestLook(unittest.TestCase):
    def test_a_machine(self):
        looked = look.look(tree.machine(self, "snbep", FILES))
        self.assertEqual(looked["processor"]["family, model, stepping"], "6, 45, 1")
        self.assertEqual(looked["processor"]["memory"], "256 GiB")
        self.assertEqual(looked["firmware"], {"product name": "R720", "bios version": "2.9.0"})
        self.assertEqual(looked["kernel"]["options"], "isolcpus=2-3 nohz_full=3 intel_uncore.uncore_no_discover=1")
        self.assertEqual(looked["devices"], [["0000:3f:10.0", "8086:3cb0 memory channel, Sandy Bridge-EP", "none"]])
        self.assertEqual([row[:3] for row in looked["pmus"][:1]],
                         [["uncore_imc_0", "intel_imc_pmu (pmu-suite)", "0-1"]])
        self.assertNotIn("XJ8KQ2", json.dumps(looked))
        self.assertNotIn("4c4c4544", json.dumps(looked))

    def test_channels_in_memory(self):
        """The functions that lead to them are no counters, and need no driver; the kernel's binds none."""
        files = {f"sys/bus/pci/devices/0000:7e:00.{function}/{name}": text
                 for function, device in (("0", "0x3450"), ("1", "0x3451"), ("2", "0x09a7"))
                 for name, text in (("vendor", "0x8086"), ("device", device))}
        free = "sys/bus/event_source/devices/uncore_imc_free_running_0"
        files |= {f"{free}/type": "40", f"{free}/cpumask": "0-1", f"{free}/format/event": "config:0-7",
                  f"{free}/events/dclk": "event=0xff"}
        looked = look.look(tree.machine(self, "snbep", files))
        self.assertEqual([row[1:] for row in looked["devices"]], [
            ["8086:3450 UBOX", "none"], ["8086:3451 leads to memory channels, Ice Lake-SP, Ice Lake-D, Snow Ridge", "none"],
            ["8086:09a7 table of counters", "none"]])
        found = main.devices(looked)
        self.assertEqual((found.verdict, found.said), (
            SKIP, ["The memory channels are no devices. Functions that lead to them: 1, driver: none."]))
        self.assertIn(["uncore_imc_free_running_0", "intel_imc_pmu (pmu-suite)", "0-1", "1", "event"], looked["pmus"])

    def test_the_log(self):
        with mock.patch.object(os, "uname", lambda: mock.Mock(nodename="db7.example.org")):
            lines, why = look.log(tree.machine(self, "snbep"), KMSG)
        self.assertEqual(why, "")
        self.assertEqual(lines, [(4, "intel_imc_pmu 0000:3f:10.0: somebody else writes the registers at ADDRESS"),
                                 (6, "arm-cmn ADDRESS.pmu: on HOST")])

    def test_a_log_that_cannot_be_read(self):
        lines, why = look.log(tree.machine(self, "snbep"))
        self.assertEqual(lines, [])
        self.assertIn("journalctl -k", why)

    def test_results(self):
        looked = look.look(tree.machine(self, "snbep", FILES))
        self.assertEqual(main.devices(looked).said,
                         ["0000:3f:10.0 (8086:3cb0 memory channel, Sandy Bridge-EP) has no driver."])
        self.assertEqual(main.kernel_log(looked | {"log": [[4, "bad"], [6, "fine"]], "no log": ""}).said, ["bad"])
        self.assertEqual(main.kernel_log(looked | {"log": [[6, "fine"]], "no log": ""}).verdict, OK)


class TestReport(unittest.TestCase):
    RESULTS = [Result("clock", OK, ["800 MHz"]), Result("bus", FAIL, ["a | b", "c"])]

    def test_markdown(self):
        text = report.markdown(made(self.RESULTS, {
            ("uncore_imc_0", "cas_count_read"): [3, 4], ("uncore_imc_1", "cas_count_read"): [0, 0],
            ("uncore_imc_0", "act_count"): [0, 0], ("uncore_imc_1", "act_count"): [0, 0]}, log=[[4, "a warning"]]))
        self.assertIn("# pmu-check: Xeon\n", text)
        self.assertIn("| FAIL | bus | a \\| b<br>c |\n", text)
        self.assertIn("\n<4> a warning\n", text)
        self.assertIn("\nuncore_imc_0/cas_count_read/ 3 4\nuncore_imc_1/cas_count_read/ 0 0\n"
                      "0 everywhere: act_count\n", text)

    def test_fits_an_issue(self):
        table = {("arm_cmn_0", f"an_event_{number:05}"): [number + 1] for number in range(10_000)}
        text = report.markdown(made(self.RESULTS, table))
        self.assertLess(len(text), 65_536)
        self.assertRegex(text, r"\n\.\.\. and \d+ more, which are in the JSON file\.\n```\n")

    def test_written_and_read(self):
        with tempfile.TemporaryDirectory() as directory:
            name = f"{directory}/r"
            report.write(made(self.RESULTS), name)
            self.assertEqual(sorted(path.name for path in Path(directory).iterdir()), ["r.json", "r.md"])
            self.assertEqual(report.read(f"{name}.json"), json.loads(json.dumps(made(self.RESULTS))))
            self.assertEqual(report.read(f"{name}.md"), report.read(f"{name}.json"))
            for text in ("no", "[]", '{"format": "pmu-check 0"}'):
                Path(name).write_text(text)
                self.assertRaisesRegex(ToolError, "is no report", report.read, name)

    def test_alike(self):
        self.assertEqual(list(report.compare(made(self.RESULTS), made(self.RESULTS))), [])

    def test_unlike(self):
        one = json.loads(json.dumps(made(self.RESULTS, {("a", "x"): [1], ("a", "y"): [0]},
                                         pmus=[["a", "ours", "0", "9", ""]])))
        other = json.loads(json.dumps(made([Result("clock", NOTE, ["odd"])], {("a", "x"): [0], ("a", "z"): [1]},
                                           kernel={"kernel": "6.12"})))
        self.assertEqual(list(report.compare(one, other)), [
            "kernel: 6.1 | 6.12", "a: ours, 0, 9 | none", "check clock: ok | note", "    odd",
            "check bus: FAIL | not run", "    a | b", "    c", "a/x/: 1 | 0", "a/y/: only in the first",
            "a/z/: only in the second"])


class TestMain(unittest.TestCase):
    def test_no_such_check(self):
        machine = tree.machine(self, "snbep")
        self.assertRaisesRegex(ToolError, "There is no check 'clok'. There is: .*clock",
                               lambda: main.checks(machine, ["clok"]))

    def test_experiments(self):
        machine = tree.machine(self, "snbep")
        self.assertEqual([one.name for _, one in main.probes(machine, ["freeze", "starts"])], ["freeze", "starts"])
        self.assertRaisesRegex(ToolError, "There is no experiment 'no'", main.probes, machine, ["no"])
        self.assertRaisesRegex(ToolError, "no PMU of an Arm mesh", main.probes, machine, ["carry"])

    def test_list(self):
        with contextlib.redirect_stdout(io.StringIO()) as said, mock.patch("sys.argv", ["pmu-check", "--list"]):
            main.main()
        for family in main.TABLES:
            self.assertIn(f"\n{family}:\n", said.getvalue())

    def test_a_machine_without_counters(self):
        """It works; one that has the hardware and no PMU may not."""
        channel, platform = "sys/bus/pci/devices/0000:ff:0a.2", "sys/bus/platform/devices"
        for files, status, said in (({"proc/cpuinfo": "vendor_id\t: AuthenticAMD\n"}, 0, r"(?m)^skip +pmus\n +AMD EPYC: not covered .*amd_umc"), ({}, 0, "(?m)^skip +pmus"),
                                    ({f"{platform}/armv8-pmu/modalias": "platform:armv8-pmu\n"}, 0, "(?m)^skip +pmus"),
                                    ({f"{platform}/AMZN0070:00/modalias": "acpi:AMZN0070:\n"}, 1, "(?m)^FAIL +pmus"),
                                    ({f"{platform}/50000000.pmu/modalias": "of:NpmuT(null)Carm,cmn-700\n"}, 1, "(?m)^FAIL +pmus"),
                                    ({f"{channel}/device": "0x2042", f"{channel}/vendor": "0x8086"}, 1, "(?m)^FAIL +pmus")):
            with self.subTest(said), tempfile.TemporaryDirectory() as root, contextlib.redirect_stdout(io.StringIO()) as out, \
                    mock.patch("sys.argv", ["pmu-check"]), mock.patch.object(main, "Machine", lambda: sysfs.Machine(root, "x86_64")):
                for name, text in files.items():
                    Path(root, name).parent.mkdir(parents=True, exist_ok=True)
                    Path(root, name).write_text(text)
                self.assertEqual(main.main(), status, out.getvalue())
                self.assertRegex(out.getvalue(), said)
