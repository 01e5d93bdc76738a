# SPDX-License-Identifier: GPL-2.0-only
"""What the tests of tools/ share: machines that were recorded by record-tree."""
import errno
import json
import sys
import tempfile
from pathlib import Path
from unittest import mock

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parents[1] / "tools"))

from pmutools import count, errors, sysfs  # noqa: E402: the path comes first

# uname -m
ARCH = {"snbep": "x86_64", "skx": "x86_64", "cmn600": "aarch64", "cmn700": "aarch64", "power9": "ppc64le",
        "power10": "ppc64le"}


def machine(test, name, changes=None):
    """The recorded machine @name, with files as @changes has them: {path: text, or None to take it away}."""
    directory = tempfile.TemporaryDirectory(prefix="pmu-tree.")
    test.addCleanup(directory.cleanup)
    files = json.loads((HERE / "trees" / f"{name}.json").read_text())
    for path, text in (files | (changes or {})).items():
        if text is not None:
            target = Path(directory.name, path)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text)
    return sysfs.Machine(directory.name, ARCH[name])


class Kernel:
    """perf events whose time a test makes, and that a test takes away. Each counts RATE a second, while it counts."""
    RATE = 1_000_000

    def __init__(self, test):
        self.now = 1_000_000_000        # ns
        self.groups = []                # those that are open
        self.stale = set()              # (PMU, CPU) where what is open reads as one whose device went
        self.stands = set()             # (PMU, CPU) where time stands still for what is open
        self.silent = set()             # PMUs that count nothing, as one of a channel that is not there
        self.refuses = {}               # PMU: errno of an open
        self.pinned = {}                # PMU: of how many events no group comes to its turn
        self.bad = ""                   # a part of names that the driver refuses
        self.enables = 0
        for target, name, fake in ((count, "Group", lambda *args: Group(self, *args)),
                                   (count.time, "monotonic_ns", lambda: self.now)):
            patch = mock.patch.object(target, name, fake)
            patch.start()
            test.addCleanup(patch.stop)

    def wait(self, seconds):
        for group in self.groups:
            group.passes(int(seconds * 1e9))
        self.now += int(seconds * 1e9)


class Group:
    def __init__(self, kernel, wants, paranoid="unknown"):
        self.kernel, self.wants, self.gone, self.on, self.enabled, self.running = kernel, wants, False, False, 0, 0
        self.pmu = wants[0].pmu
        self.loose = isinstance(wants, count.Loose) and len(wants) > 1
        self.place = self.pmu, wants[0].cpu
        self.lost = False
        if kernel.bad and any(kernel.bad in one.name for one in wants):
            raise errors.opening(wants[0].name, errno.EINVAL)
        if self.pmu in kernel.refuses:
            raise errors.opening(wants[0].name, kernel.refuses[self.pmu])
        kernel.groups.append(self)

    def passes(self, time):
        self.lost |= self.place in self.kernel.stale
        if self.on and not self.lost and self.place not in self.kernel.stands:
            self.enabled += time
            self.running += time if len(self.wants) < self.kernel.pinned.get(self.pmu, 99) else 0

    def enable(self):
        self.on = True
        self.kernel.enables += 1

    def disable(self):
        self.on = False

    def read(self):
        self.gone |= self.lost
        rate = 0 if self.pmu in self.kernel.silent else self.kernel.RATE
        return {} if self.gone else {one.key: count.Reading(self.running * rate // 10**9, self.enabled, self.running)
                                     for one in self.wants}

    def close(self):
        self.kernel.groups.remove(self)
