# SPDX-License-Identifier: GPL-2.0-only
"""What tests of pmu-check share: machines, and a bench whose counts a test says."""
import contextlib
import unittest
from pathlib import Path
from unittest import mock

import tree
from pmutools import errors, sysfs
from pmutools.check import checks, free, intel_imc, power_imc
from pmutools.count import Reading

DRAWING = "sys/kernel/debug/cmn_pmu/arm_cmn_0"
HZ = 800e6
MESH_COUNTS = {"dtc_cycles": 500e6, "hnf_slc_sf_cache_access": 3e6, "hnf_cache_miss": 1e6, "hnf_mc_reqs": 1e3,
               "mxp_p0_req_txflit_valid": 1e5, "watchpoint_down": 1e5}
MESH = "\n".join(("arm_cmn_0: CMN-600", "y=0 | XP 0x000 DTC 0 |", "    | p0 HN-F 0x004  |",
                  "    |      HN-F#0    |",
                  "    | p1 HN-F 0x008  |", "    |      HN-F#1    |"))


class Bench(checks.Bench):
    """Counting is what a test says: @says(want, seconds) is a count, counts of all steps, an Errno or None (gone)."""

    def __init__(self, machine, family, says):
        super().__init__(machine, family)
        self.says, self.windows = says, 0

    def count(self, groups, seconds=checks.WINDOW_S, steps=1):
        found = checks.Counted(steps=[{} for _ in range(steps + 1)], seconds=seconds)
        self.windows += 1
        for group in groups:
            said = [self.says(one, seconds) for one in group]
            refused = next((one for one in said if isinstance(one, OSError)), None)
            if refused:
                found.refused.append((group, errors.opening(group[0].name, refused.errno)))
                continue
            for one, value in zip(group, said):
                if value is None:
                    found.gone.append(one)
                    continue
                values = value if isinstance(value, list) else [value] * (steps + 1)
                for step, reading in zip(found.steps, values):
                    time = int(seconds * 1e9)
                    step[one.key] = reading if isinstance(reading, Reading) else Reading(reading, time, time)
        return found

    def during(self, groups, work):
        work()
        return self.count(groups, 1.0)


def pmu(name, family, cpus, events, driver=None):
    named = {event: sysfs.Event(event, f"event={number:#x}", scale=scale)
             for number, (event, scale) in enumerate(events.items(), 1)}
    fields = {field: [(word, 0, 63)] for word, field in
              (("config", "event"), ("config", "bynodeid"), ("config", "nodeid"), ("config", "wp_dev_sel"),
               ("config", "wp_chn_sel"), ("config", "wp_grp"), ("config1", "wp_val"), ("config2", "wp_mask"))}
    return sysfs.Pmu(name, 9, sysfs._BY_NAME[family], driver or sysfs.Driver(sysfs.OURS, f"{family}_pmu"), cpus, named,
                     fields,
                     Path(name))


class CheckCase(unittest.TestCase):
    def setUp(self):
        for module in (intel_imc, power_imc, free):
            patch = mock.patch.object(module, "awake", lambda cpus: contextlib.nullcontext())
            patch.start()
            self.addCleanup(patch.stop)

    def judge(self, table, name, bench, verdict, said):
        found = checks.judge(next(one for one in table if one.name == name), bench)
        self.assertEqual(found.verdict, verdict, found.said)
        self.assertRegex("\n".join(found.said), said)

    def machine(self, *pmus, files=None):
        machine = tree.machine(self, "snbep", files)
        machine.pmus = {one.name: one for one in pmus}
        return machine
