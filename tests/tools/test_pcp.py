# SPDX-License-Identifier: GPL-2.0-only
"""pmu-top --pcp-config, by the rules of PCP's pmdaperfevent 6.0.3; tests/packages runs that one."""
import contextlib
import io
import re
import unittest
from unittest import mock

import tree
from top_cases import options

from pmutools.top import main, pcp


def parsed(text):
    """[(section, [[word, ...], ...]), ...]"""
    found = []
    for line in text.splitlines():
        if line and not line.startswith("#"):
            section = re.fullmatch(r"\[(\S+)\]", line)
            found.append((section[1], [])) if section else found[-1][1].append(line.split())
    return found


class TestConfig(unittest.TestCase):
    def config(self, name, changes=None):
        machine = tree.machine(self, name, changes)
        return machine, pcp.config(main.view_of(machine, options(view=None)), machine)

    def test_the_agent_takes_it(self):
        """Derived metrics are behind a section that is none, and the events that make them at the end."""
        for name in "snbep", "skx", "cmn700", "power9", "power10":
            with self.subTest(name):
                machine, text = self.config(name)
                *first, (last, events) = parsed(text)
                self.assertEqual(last, "dynamic")
                self.assertTrue(events)
                for one, in events:
                    pmu, _, event = one.partition(".")
                    self.assertNotIn("?", machine.pmus[pmu].events[event].text)
                self.assertIn([section for section, _ in first], ([], ["none", "memory_read_bytes:derived", "memory_write_bytes:derived"]))
                for _, parts in first:
                    # The agent knows no scale without a point.
                    self.assertEqual([scale for _, scale in parts if not re.fullmatch(r"[0-9]+\.[0-9]+", scale)], [])
                    self.assertEqual([[one] for one, _ in parts if [one] not in events], [])
                    self.assertEqual(len({tuple(machine.pmus[one.partition(".")[0]].cpus) for one, _ in parts} or {()}), 1)

    def test_bytes(self):
        for name, part in (("snbep", ["uncore_imc_3.cas_count_read", "64.0"]),
                           # 128 bytes, and the catalog's scale.
                           ("power9", ["nest_mcs23_imc.PM_MCS23_128B_RD_DISP_PORT01", f"{128 * 256}.0"])):
            sections = dict(parsed(self.config(name)[1]))
            self.assertIn(part, sections["memory_read_bytes:derived"])
            self.assertEqual(len(sections["memory_read_bytes:derived"]), 4)

    def test_granite_rapids_with_the_in_tree_driver(self):
        """It has names for each sub-channel alone."""
        devices = "sys/bus/event_source/devices"
        changes = {"proc/cpuinfo": "vendor_id : GenuineIntel\ncpu family : 6\nmodel : 173\nmodel name : X\nstepping : 1\n"}
        for pmu in range(6):
            for kind, umask in ("read", "0xcf"), ("write", "0xf0"):
                changes[f"{devices}/uncore_imc_{pmu}/events/cas_count_{kind}"] = None
                for half in range(2):
                    changes[f"{devices}/uncore_imc_{pmu}/events/cas_count_{kind}_sch{half}"] = f"event=0x0{5 + half},umask={umask}\n"
        sections = dict(parsed(self.config("skx", changes)[1]))
        self.assertEqual(len(sections["memory_read_bytes:derived"]), 12)
        self.assertIn(["uncore_imc_5.cas_count_write_sch1", "64.0"], sections["memory_write_bytes:derived"])

    def test_a_clock_that_costs_a_counter_is_left_out(self):
        """The agent takes clockticks, a counter, where it is asked for clockticks_f, which has one of its own."""
        self.assertIn("uncore_imc_0.clockticks\n", self.config("snbep")[1])
        self.assertNotIn("clockticks", self.config("skx")[1])

    def test_a_socket_without_a_channel(self):
        """The agent adds by order, so it would add socket 0 to socket 1, or what is no memory of its own."""
        _, text = self.config("snbep", {"sys/bus/event_source/devices/uncore_imc_1/cpumask": "0\n"})
        self.assertNotIn(":derived", text)
        self.assertIn("# No memory_read_bytes: these PMUs do not all have the same CPUs.\n", text)
        self.assertIn("uncore_imc_1.cas_count_read\n", text)

    def test_a_mesh_has_no_bytes(self):
        """Its bytes are a difference, and the agent only adds."""
        self.assertEqual([section for section, _ in parsed(self.config("cmn700")[1])], ["dynamic"])

    def test_program(self):
        machine, wanted = self.config("snbep")
        with mock.patch.object(main, "Machine", lambda: machine), contextlib.redirect_stdout(io.StringIO()) as said:
            self.assertEqual(main.run(main.parse(["--pcp-config"])), 0)
        self.assertEqual(said.getvalue(), wanted)
        for more in ["--replay", "record"], ["--", "true"]:
            with self.assertRaises(SystemExit), contextlib.redirect_stderr(io.StringIO()) as said:
                main.parse(["--pcp-config", *more])
            self.assertIn("--pcp-config is of this machine", said.getvalue())


if __name__ == "__main__":
    unittest.main()
