# SPDX-License-Identifier: GPL-2.0-only
"""What is made of a machine's sysfs."""
import unittest

import tree
from pmutools import sysfs
from pmutools.errors import ToolError

IMC = "sys/bus/event_source/devices/uncore_imc_0"


class TestMachine(unittest.TestCase):
    def test_pmus_in_their_order(self):
        machine = tree.machine(self, "snbep", {IMC.replace("_0", "_10") + "/type": "99\n"})
        self.assertEqual(list(machine.pmus), [f"uncore_imc_{n}" for n in (0, 1, 2, 3, 10)])
        self.assertEqual(machine.families(), ["intel_imc"])

    def test_a_box_for_each_socket(self):
        machine = tree.machine(self, "snbep")
        pmu = machine.pmus["uncore_imc_0"]
        self.assertEqual([machine.package(cpu) for cpu in pmu.cpus], [0, 1])

    def test_our_driver(self):
        driver = tree.machine(self, "snbep").pmus["uncore_imc_0"].driver
        self.assertEqual((driver.kind, driver.module), (sysfs.OURS, "intel_imc_pmu"))

    def test_the_in_tree_driver_has_the_pmu_though_ours_is_loaded(self):
        machine = tree.machine(self, "snbep", {f"{IMC}/channel": None,
                                               "sys/module/intel_uncore/initstate": "live\n"})
        self.assertEqual(str(machine.pmus["uncore_imc_0"].driver), "intel_uncore (in-tree)")
        self.assertEqual(machine.pmus["uncore_imc_1"].driver.kind, sysfs.OURS)

    def test_the_in_tree_driver_built_in(self):
        machine = tree.machine(self, "snbep", {f"{IMC}/channel": None})
        self.assertEqual(str(machine.pmus["uncore_imc_0"].driver), "built into the kernel (in-tree)")

    def test_events_have_units_and_scales(self):
        event = tree.machine(self, "snbep").pmus["uncore_imc_0"].events["cas_count_read"]
        self.assertEqual((event.text, event.unit, event.scale), ("event=0x04,umask=0x03", "MiB", 6.103515625e-5))

    def test_the_processor(self):
        machine = tree.machine(self, "snbep")
        self.assertEqual(machine.intel_model()[:2], (6, 45))
        self.assertIn("Xeon", machine.processor)

    def test_no_pmu_is_a_sentence_and_what_to_do(self):
        files = {f"{IMC.replace('_0', f'_{n}')}/type": None for n in range(4)}
        machine = tree.machine(self, "snbep", files)
        self.assertEqual(machine.families(), [])
        error = machine.nothing("intel_imc")
        self.assertIn("no PMU of memory channels", error.what)
        self.assertIn("modprobe intel_imc_pmu", error.do)


class TestEncode(unittest.TestCase):
    def setUp(self):
        self.pmu = tree.machine(self, "snbep").pmus["uncore_imc_0"]

    def test_a_name(self):
        self.assertEqual(self.pmu.encode("cas_count_read"), {"config": 0x304})

    def test_fields(self):
        self.assertEqual(self.pmu.encode("event=0x80,thresh=4,edge"), {"config": 0x04040080})

    def test_fields_as_values(self):
        self.assertEqual(self.pmu.encode("event=0x80", umask=1), {"config": 0x180})

    def test_a_field_in_pieces(self):
        self.pmu.formats["split"] = [("config1", 0, 3), ("config1", 8, 11)]
        self.assertEqual(self.pmu.encode("split=0xab"), {"config1": 0xa0b})

    def test_what_does_not_fit(self):
        with self.assertRaisesRegex(ToolError, "0x100 is too large for the field 'event'"):
            self.pmu.encode("event=0x100")

    def test_what_there_is_not(self):
        with self.assertRaisesRegex(ToolError, "no event or field 'nonsense'"):
            self.pmu.encode("nonsense")

    def test_what_the_user_has_to_give(self):
        self.pmu.events["open"] = sysfs.Event("open", "event=?,umask=0x1")
        with self.assertRaisesRegex(ToolError, "needs a value for 'event'"):
            self.pmu.encode("open")
        self.assertEqual(self.pmu.encode("open", event=4), {"config": 0x104})
