# SPDX-License-Identifier: GPL-2.0-only
"""every-check.py PMU-CHECK.PYZ TREE ARCH: all checks and probes of a recorded machine, on whichever Python runs this, by a
counting that has a number for each event. What they find is not looked at; what they raise is."""
import json
import os
import sys
import tempfile

sys.path.insert(0, sys.argv[1])

from pmutools import count, sysfs       # noqa: E402: the path comes first
from pmutools.check import checks, common, icelake, look, main, probe, rapids, report     # noqa: E402


class Bench(checks.Bench):
    def count(self, groups, seconds=0.25, steps=1):
        time = int(seconds * 1e9)
        step = {one.key: count.Reading(time // 10 + len(group), time, time) for group in groups for one in group}
        return checks.Counted([step] * (steps + 1), seconds)

    def within(self, groups, around, seconds=0.25):
        return self.count(groups), {one.key: (9, 10) for group in around for one in group}

    def during(self, groups, work):
        return self.count(groups)


def results(machine):
    """Sessions are files of the kernel's, which this has none of; and nobody is to wait for an idle machine."""
    checks.working = lambda cpus, work: tempfile.TemporaryDirectory()
    count.samples = lambda *_: [(1, b"")]
    for family in machine.families():
        tables = [common.CHECKS, main.TABLES[family], [one for one in probe.PROBES if one.family == family],
                  *((icelake.CHECKS, rapids.CHECKS) if family == "intel_imc" else ())]
        for one in (one for table in tables for one in table if one.name not in ("starts", "core-posts", "nest-posts")):
            yield checks.judge(one, Bench(machine, family))


with tempfile.TemporaryDirectory() as root:
    with open(sys.argv[2]) as file:
        for path, text in json.load(file).items():
            os.makedirs(os.path.dirname(os.path.join(root, path)), exist_ok=True)
            with open(os.path.join(root, path), "w") as target:
                target.write(text)
    found = list(results(sysfs.Machine(root, sys.argv[3])))
    print(len(found), len(report.markdown(report.make(look.look(sysfs.Machine(root, sys.argv[3])), found, {}))))
