# SPDX-License-Identifier: GPL-2.0-only
"""The in-tree driver and ours, one after the other on one machine: the checks of both, and what a read costs.

This is the one thing here that changes the machine, so it asks first, and gives back what it found, whatever
happens in between.
"""
import math
import os
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from .. import count
from ..errors import ToolError
from ..sysfs import IN_TREE, OURS, Machine

from .checks import NOTE, OK, Bench, Result, judge, place

CORE = "pmu_core"
LOST = {"intel_imc": " (CHA, QPI, PCU and other units have no counters meanwhile)", "cmn": ""}
ROUNDS, READS, BOUND = 15, 200, 4
# What both drivers have, and is read at once; of two home nodes at a crosspoint two events are all that fit.
EVENTS = ("cas_count_read", "cas_count_write", "clockticks", "hnf_cache_miss", "hnf_slc_sf_cache_access",
          "hns_cache_miss_all", "hns_slc_sf_cache_access_all")
DUMMY = (1, 9)              # PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY: what a read costs without any hardware
SETTLE_S = 5                # until the PMUs of a module that was loaded are there


def built(program=Path(__file__)):
    """Where the tree has its modules, if @program, this file, is in it; None if it is installed."""
    tree = program.resolve().parents[3]
    return tree / "drivers" if (tree / "include/pmu/version.h").is_file() else None


@dataclass(frozen=True)
class Cost:
    """ns of a read: the median of some rounds, and bounds between which the true one is with 96 %."""
    median: float
    low: float
    high: float

    @classmethod
    def of(cls, rounds):
        """Of ROUNDS differences. The true median is between the 4th and the 12th of 15 with 96 %, however they are
        spread: the binomial distribution says so."""
        ordered = sorted(rounds)
        return cls(statistics.median(ordered), ordered[BOUND - 1], ordered[-BOUND])

    def __str__(self):
        if self.low > 0 and round(self.median) > 0:
            return f"{self.median:.0f} ns"
        return f"below the noise of {max(1, math.ceil(max(self.high, -self.low)))} ns"


class Drivers:
    """Which of the two is loaded, and the other way round."""

    def __init__(self, family, kind, modules=None):
        self.family, self.kind, self.directory = family, kind, modules
        self.parameters = {module: _parameters(module) for module in (CORE, family.module, family.twin)}

    def swap(self, kind):
        if kind == self.kind:
            return
        if self.kind == OURS:
            self._run("rmmod", self.family.module)
            self._run("rmmod", CORE)
        else:
            self._run("rmmod", self.family.twin)
        self.kind = None            # until it is loaded
        for module in (CORE, self.family.module) if kind == OURS else (self.family.twin,):
            self.load(module)
        self.kind = kind
        end = time.monotonic() + SETTLE_S
        while not any(pmu.cpus for pmu in Machine().of(self.family.name)):
            if time.monotonic() > end:
                raise ToolError(f"{self.family.module if kind == OURS else self.family.twin} is loaded, but there "
                                "is no PMU.",
                                "The kernel's log says why.")
            time.sleep(0.1)

    def load(self, module):
        if Path("/sys/module", module, "initstate").exists():
            return
        for directory in filter(None, (self.directory, built())):
            found = next(iter(sorted(Path(directory).rglob(f"{module}.ko"))), None)
            if found:
                return self._run("insmod", str(found), *self.parameters[module])
        self._run("modprobe", module, *self.parameters[module])

    def give_back(self, kind):
        if self.kind == kind:
            return
        if self.kind is None:       # neither is whole
            for module in (self.family.module, CORE, self.family.twin):
                if Path("/sys/module", module, "initstate").exists():
                    subprocess.run(["rmmod", module], capture_output=True)
            self.kind = OURS if kind == IN_TREE else IN_TREE
            for module in (CORE, self.family.module) if kind == OURS else (self.family.twin,):
                self.load(module)
            self.kind = kind
            return
        self.swap(kind)

    @staticmethod
    def _run(*words):
        done = subprocess.run(words, capture_output=True, text=True)
        if done.returncode:
            raise ToolError(f"'{' '.join(words)}' failed: "
                            f"{(done.stderr.strip().splitlines() or ['it says nothing'])[-1]}",
                            "The kernel's log may say why.")


def _parameters(module):
    """What it was loaded with, as far as sysfs shows it."""
    found = []
    for path in sorted(Path("/sys/module", module, "parameters").glob("*")):
        try:
            text = path.read_text().strip()
        except OSError:
            continue
        if text not in ("", "(null)"):
            found.append(f"{path.name}={text}")
    return found


def cost(bench):
    """{what: Cost of a read}, without what any read of perf costs; on the CPU that reads the hardware."""
    pmu = bench.pmus[0]
    names = [name for name in EVENTS if name in pmu.events]
    found = {}
    if not names:
        return found
    os.sched_setaffinity(0, {pmu.cpus[0]})
    try:
        for what, some in (("one event", names[:1]), (f"a group of {len(names)}", names)):
            wants = [count.want(name, pmu, name, pmu.cpus[0]) for name in some]
            dummies = [count.Want(name, "dummy", DUMMY[0], {"config": DUMMY[1]}, pmu.cpus[0]) for name in some]
            found[what] = Cost.of(_differences(wants, dummies))
    finally:
        os.sched_setaffinity(0, bench.machine.cpus)
    return found


def _differences(wants, dummies):
    """ns by which a read of one group takes longer than of the other, by rounds: what slows a CPU down slows both."""
    with count.Group(wants) as group, count.Group(dummies) as other:
        group.enable()
        other.enable()
        for _ in range(ROUNDS):
            yield _reads(group) - _reads(other)


def _reads(group):
    fd, size = group.fds[0], 8 * (3 + len(group.fds))
    begin = time.perf_counter_ns()
    for _ in range(READS):
        os.read(fd, size)
    return (time.perf_counter_ns() - begin) / READS


def measure(checks, say):
    """(results by name, costs) of the driver that is loaded."""
    machine = Machine()
    family = checks[0][0]
    bench = Bench(machine, family)
    results = {}
    for _, one in checks:
        result = judge(one, bench)
        result.name = f"{result.name} ({bench.pmus[0].driver.kind})"
        results[one.name] = result
        say(result)
    return results, cost(bench)


def family_of(machine):
    """The one family that can be swapped here."""
    for pmu in machine.pmus.values():
        if pmu.family.twin and pmu.cpus:
            if not pmu.driver.module:
                raise ToolError("The in-tree driver is built into this kernel, so it cannot be unloaded.")
            if all(Path("/sys/module", module, "initstate").exists() for module in (pmu.family.module, pmu.family.twin)):
                raise ToolError(f"Both {pmu.family.module} and {pmu.family.twin} are loaded, so what would have to be given "
                                "back is not known.", "Unload one of them.")
            return pmu.family, pmu.driver.kind
    raise ToolError("No PMU here has a driver that can be unloaded.",
                    "On POWER the in-tree driver is part of the kernel: boot with and without initcall_blacklist, "
                    "and use --compare.")


def agree(family, kind, yes):
    to = family.module if kind == IN_TREE else family.twin
    away = family.twin if kind == IN_TREE else family.module
    print(f"This unloads {away}, loads {to}, and then gives back what is there now{LOST[family.name]}.\n"
          f"Events that others have open on these counters end.", flush=True)
    if yes:
        return
    if not sys.stdin or not sys.stdin.isatty():
        raise ToolError("There is no terminal to ask on.", "Say --yes if that is all right.")
    if input("Go on? [y/N] ").strip().lower() not in ("y", "yes"):
        raise ToolError("Nothing was changed.")


def costs(mine, theirs):
    """Sentences about {what: Cost} of both drivers; what one alone has cannot be held against the other."""
    return [f"a read of {what}: {mine[what]} by ours, {theirs[what]} by the in-tree driver"
            for what in mine if what in theirs]


def run(machine, checks_of, yes, modules, say):
    """Results of both, and one that holds them against each other."""
    if os.geteuid():
        raise ToolError("--beside loads and unloads modules.", "Run it as root.")
    family, kind = family_of(machine)
    agree(family, kind, yes)
    other = OURS if kind == IN_TREE else IN_TREE
    drivers = Drivers(family, kind, modules)
    checks = checks_of(family.name)
    found = {}
    try:        # also if a signal ends this: errors.main() makes an exception of it
        found[kind] = measure(checks, say)
        drivers.swap(other)
        found[other] = measure(checks, say)
    finally:
        drivers.give_back(kind)
        pmus = [pmu for pmu in Machine().of(family.name) if pmu.cpus]
        print(f"{place(pmus[0], pmus[0].cpus[0])} is served by {pmus[0].driver} again." if pmus else
              f"There is no PMU of {family.what} now: look at the kernel's log.", file=sys.stderr)
    results = [result for some, _ in found.values() for result in some.values()]
    mine, theirs = found[OURS], found[IN_TREE]
    said = costs(mine[1], theirs[1])
    unlike = [f"{name}: {mine[0][name].verdict} by ours, {theirs[0][name].verdict} by the in-tree driver"
              for name in mine[0] if mine[0][name].verdict != theirs[0][name].verdict]
    beside = Result("beside", NOTE if unlike else OK, said + unlike,
                    "Do both drivers say the same, and what does a read cost?",
                    "The time of a read on the CPU that has the hardware, less that of an event without hardware. It is "
                    f"the median of {ROUNDS} differences of {READS} reads each; where some of the middle ones are 0 or "
                    "less it is below the noise.")
    say(beside)
    return [*results, beside]
