# SPDX-License-Identifier: GPL-2.0-only
"""The in-tree driver and ours, one after the other on one machine: the checks of both, and what a read costs.

This is the one thing here that changes the machine, so it asks first, and gives back what it found, whatever
happens in between.
"""
import contextlib
import fcntl
import math
import os
import signal
import sys
import time
from pathlib import Path
from typing import NamedTuple

from .. import count
from ..errors import ToolError
from ..sysfs import IN_TREE, OURS, Machine

from .checks import NOTE, OK, Bench, Result, command, judge, place

CORE = "pmu_core"
MODULES = "/sys/module"
LOCK = "/run/pmu-driver.lock"       # of pmu-driver(8)
LOST = {"intel_imc": " (CHA, QPI, PCU and other units have no counters meanwhile)", "cmn": ""}
ROUNDS, READS, BOUND = 15, 200, 4
# What both drivers have, and is read at once; of two home nodes at a crosspoint two events are all that fit.
EVENTS = ("cas_count_read", "cas_count_write", "clockticks", "hnf_cache_miss", "hnf_slc_sf_cache_access",
          "hns_cache_miss_all", "hns_slc_sf_cache_access_all")
DUMMY = (1, 9)              # PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY: what a read costs without any hardware
SETTLE_S = 5                # until the PMUs of a module that was loaded are there
PATIENCE_S = 3              # until a module that is to be given up is free


def built(program=Path(__file__)):
    """Where the tree has its modules, if @program, this file, is in it; None if it is installed, or in pmu-check.pyz.

    That may lie anywhere, as in /tmp, where all users may put modules beside it."""
    tree = program.resolve().parents[3]
    return tree / "drivers" if program.is_file() and (tree / "include/pmu/version.h").is_file() else None


class Cost(NamedTuple):
    """ns of a read: the median of some rounds, and bounds between which the true one is with 96 %."""
    median: float
    low: float
    high: float

    @classmethod
    def of(cls, rounds):
        """Of ROUNDS differences. The true median is between the 4th and the 12th of 15 with 96 %, however they are
        spread: the binomial distribution says so."""
        import statistics       # a fifth of a start
        ordered = sorted(rounds)
        return cls(statistics.median(ordered), ordered[BOUND - 1], ordered[-BOUND])

    def __str__(self):
        if self.low > 0 and round(self.median) > 0:
            return f"{self.median:.0f} ns"
        return f"below the noise of {max(1, math.ceil(max(self.high, -self.low)))} ns"


class Signals:
    """Signals that would end the program. The first raises its exception, unless that is held back; the others wait.

    So nothing comes between a module that was unloaded and the one that is loaded in its place, and nothing ends
    what gives back.
    """
    ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)

    def __enter__(self):
        self.held, self.came, self.raised = 0, None, False
        self.before = {number: signal.getsignal(number) for number in self.ENDING}
        for number, handler in self.before.items():
            if handler != signal.SIG_IGN:
                signal.signal(number, self._take)
        return self

    def __exit__(self, *_):
        for number, handler in self.before.items():
            signal.signal(number, handler)
        self._raise()

    def _take(self, number, _):
        self.came = self.came or number
        if not self.held:
            self._raise()

    def _raise(self):
        if self.came and not self.raised:
            self.raised = True
            raise KeyboardInterrupt if self.came == signal.SIGINT else SystemExit(128 + self.came)

    def hold(self):
        self.held += 1

    @contextlib.contextmanager
    def waiting(self):
        """What comes meanwhile is raised at the end."""
        self.hold()
        try:
            yield
        finally:
            self.held -= 1
        if not self.held:
            self._raise()


def loaded(module):
    return Path(MODULES, module, "initstate").exists()


class Drivers:
    """The modules of the two drivers: which are loaded, and which were at first."""

    def __init__(self, family, signals, modules=None):
        self.family, self.signals, self.directory = family, signals, modules
        self.of = {OURS: (CORE, family.module), IN_TREE: (family.twin,)}
        self.before = [module for some in self.of.values() for module in some if loaded(module)]
        self.parameters = {module: _parameters(module) for some in self.of.values() for module in some}

    def swap(self, kind):
        with self.signals.waiting():
            for module in self._others(self.of[kind]):
                self._run("rmmod", module)
            for module in self.of[kind]:
                self.load(module)
        found = self.pmu()
        if not found:
            raise ToolError(f"{self.of[kind][-1]} is loaded, but there is no PMU.", "The kernel's log says why.")
        if found.driver.kind != kind:
            raise ToolError(f"{self.of[kind][-1]} is loaded, but {found.name} is served by {found.driver}.",
                            "Look for what loads that one, as in /etc/modprobe.d.")

    def pmu(self):
        """One that has a CPU, as soon as there is one; None if there is none."""
        end = time.monotonic() + SETTLE_S
        while True:
            found = next((pmu for pmu in Machine().of(self.family.name) if pmu.cpus), None)
            if found or time.monotonic() > end:
                return found
            time.sleep(0.1)

    def _others(self, wanted):
        """What is loaded beside @wanted, in the order in which it can be unloaded."""
        return [module for module in (self.family.module, CORE, self.family.twin)
                if module not in wanted and loaded(module)]

    def load(self, module):
        if loaded(module):
            return
        for directory in filter(None, (self.directory, built())):
            found = next(iter(sorted(Path(directory).rglob(f"{module}.ko"))), None)
            if found:
                return self._run("insmod", str(found), *self.parameters[module])
        if module != self.family.twin:
            return self._run("modprobe", module, *self.parameters[module])
        # Alone: "pmu-driver ours" has modprobe load our module before this one.
        path = self._run("modinfo", "-F", "filename", module)
        if not path.startswith("/"):
            raise ToolError(f"{module} is built into this kernel, so it cannot be loaded.")
        self._run("insmod", path, *self.parameters[module])

    def give_back(self):
        """Sentences about what could not be: the modules that were there at first are loaded, and no others.

        It goes by what is loaded now, and a step that fails keeps no other from being tried.
        """
        failed = []
        with self.signals.waiting():
            count.close_all()
            for module in self._others(self.before):
                failed += self._patiently("rmmod", lambda module=module: self._run("rmmod", module))
            for module in self.before:
                failed += self._patiently("load", lambda module=module: self.load(module))
        return failed

    @staticmethod
    def _patiently(what, step):
        """An event that was just closed keeps its module for a moment."""
        end = time.monotonic() + (PATIENCE_S if what == "rmmod" else 0)
        while True:
            try:
                step()
                return []
            except (ToolError, OSError) as error:
                if time.monotonic() >= end:
                    return [str(error)]
            time.sleep(0.1)

    @staticmethod
    def _run(*words):
        # In a session of its own: the terminal's Ctrl-C is not for it.
        done = command(words, start_new_session=True)
        if done.returncode:
            raise ToolError(f"'{' '.join(words)}' failed: "
                            f"{(done.stderr.strip().splitlines() or ['it says nothing'])[-1]}",
                            "The kernel's log may say why.")
        return done.stdout.strip()


def _parameters(module):
    """What it was loaded with, as far as sysfs shows it."""
    found = []
    for path in sorted(Path(MODULES, module, "parameters").glob("*")):
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
    begin = time.perf_counter()
    for _ in range(READS):
        os.read(fd, size)
    return (time.perf_counter() - begin) * 1e9 / READS


def measure(checks, say):
    """(results by name, costs) of the driver that is loaded."""
    machine = Machine()
    family = checks[0][0]
    bench = Bench(machine, family)
    results = {}
    for _, one in checks:
        result = judge(one, bench)
        result = result._replace(name=f"{result.name} ({bench.pmus[0].driver.kind})")
        results[one.name] = result
        say(result)
    return results, cost(bench)


def family_of(machine):
    """The one family that can be swapped here."""
    for pmu in machine.pmus.values():
        if pmu.family.twin and pmu.cpus:
            if not pmu.driver.module:
                raise ToolError("The in-tree driver is built into this kernel, so it cannot be unloaded.")
            if all(map(loaded, (pmu.family.module, pmu.family.twin))):
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
          "Events that others have open on these counters end.\n"
          "Everything of pmu-suite was run on models, nothing yet on a real machine. So say yes on a machine that may "
          "crash.", flush=True)
    if yes:
        return
    if not sys.stdin or not sys.stdin.isatty():
        raise ToolError("There is no terminal to ask on.", "Say --yes if that is all right.")
    try:
        said = input("Go on? [y/N] ")
    except EOFError:        # Ctrl-D
        said = ""
        print()
    if said.strip().lower() not in ("y", "yes"):
        raise ToolError("Nothing was changed.")


def costs(mine, theirs):
    """Sentences about {what: Cost} of both drivers; what one alone has cannot be held against the other."""
    return [f"a read of {what}: {mine[what]} by ours, {theirs[what]} by the in-tree driver"
            for what in mine if what in theirs]


@contextlib.contextmanager
def alone():
    """Nobody else changes who drives meanwhile. Whoever can open the file can lock it, so no other user may."""
    with open(os.open(LOCK, os.O_WRONLY | os.O_CREAT, 0o600), "w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise ToolError("pmu-driver, or another pmu-check, is changing who drives.", f"'fuser -v {LOCK}' names it.") from error
        yield


def measure_both(family, kind, checks, modules, say):
    """{OURS: measure(), IN_TREE: measure()}, beginning with @kind, which is loaded, and is again at the end."""
    found = {}
    with alone(), Signals() as signals:
        drivers = Drivers(family, signals, modules)
        try:
            try:
                found[kind] = measure(checks, say)
                other = OURS if kind == IN_TREE else IN_TREE
                drivers.swap(other)
                found[other] = measure(checks, say)
            finally:
                signals.hold()      # one that comes before this is the first, and no other ends what follows
        finally:
            failed = drivers.give_back()
            for sentence in failed:
                print(sentence, file=sys.stderr)
            pmu = drivers.pmu()
            print(f"{place(pmu, pmu.cpus[0])} is served by {pmu.driver} again." if pmu and not failed and pmu.driver.kind == kind else
                  f"Not all is as it was: {', '.join(drivers.before)} should be loaded. The kernel's log may say more.",
                  file=sys.stderr)
    return found


def run(machine, checks_of, yes, modules, say):
    """Results of both, and one that holds them against each other."""
    if os.geteuid():
        raise ToolError("--beside loads and unloads modules.", "Run it as root.")
    family, kind = family_of(machine)
    agree(family, kind, yes)
    found = measure_both(family, kind, checks_of(family.name), modules, say)
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
