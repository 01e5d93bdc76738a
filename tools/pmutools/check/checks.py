# SPDX-License-Identifier: GPL-2.0-only
"""What a check is, how it counts, and what becomes of what it finds.

A check asks one question that has the same answer on every machine that works. It has a reason for each limit
beside it, since one that complains about a good machine is worse than none: where a good machine may do the
same it finds a NOTE, where it cannot tell it SKIPs. A Probe asks what only a real machine can answer.
"""
import contextlib
import errno
import os
import re
import signal
import subprocess
import time
from typing import NamedTuple

from .. import count
from ..errors import ToolError

DENIED = (errno.EACCES, errno.EPERM)
OK, NOTE, SKIP, FAIL, ANSWER = "ok", "note", "skip", "FAIL", "answer"
COPIED = 64 << 20           # bytes; more than a core's share of any cache
WINDOW_S = 0.25             # long enough for POWER's slowest post, 12 ms, to be a small part of it
LINES = {OK: 3, SKIP: 3}     # of what a check found that are shown
TRIES = 3                   # of a clock's rate: two are to agree
MOST_LINES = 12             # of what it complains about


class Finding(NamedTuple):
    verdict: str
    said: str


def ok(said):
    return Finding(OK, said)


def note(said):
    return Finding(NOTE, said)


def skip(said):
    return Finding(SKIP, said)


def fail(said):
    return Finding(FAIL, said)


def answer(said):
    """Of a Probe: the drivers are right whichever way the machine answers."""
    return Finding(ANSWER, said)


def relied_on(holds, said, but):
    """Of a Probe: the drivers go by this, so counts may be wrong where it does not hold."""
    return ok(said) if holds else fail(f"{said}: {but}.")


class Check(NamedTuple):
    name: str
    asks: str
    why: str                # why the limits are where they are
    run: object             # a generator of Findings; gets a Bench


class Probe(NamedTuple):
    name: str
    family: str
    number: str             # of the question, on the family's page of Documentation/hardware/
    asks: str
    touches: str            # what it does to the machine
    seconds: int
    find: object            # as Check.run

    @property
    def why(self):
        return f"It touches: {self.touches}."

    def run(self, bench):
        return (Finding(one.verdict, f"{self.number}: {one.said}") for one in self.find(bench))


class Result(NamedTuple):
    name: str
    verdict: str
    said: list
    asks: str = ""
    why: str = ""


def judge(check, bench):
    """Run a check. One that finds nothing to look at has not passed: it is a skip."""
    try:
        found = list(check.run(bench))
    except (ToolError, OSError) as error:       # what the others find is worth a report
        found = [fail(str(error))]
    for verdict in (FAIL, NOTE, ANSWER, OK, SKIP):
        said = [one.said for one in found if one.verdict == verdict]
        if said:
            break
    else:
        verdict, said = SKIP, ["This machine has nothing that this check looks at."]
    most = LINES.get(verdict, MOST_LINES)
    if len(said) > most:
        said = [*said[:most], f"... and {len(said) - most} more like these."]
    return Result(check.name, verdict, said, check.asks, check.why)


class Counted:
    """What a window brought: the readings of all steps, in their order; the last is of events that have stopped."""

    def __init__(self, steps=(), seconds=0):
        self.steps, self.seconds = list(steps), seconds
        self.refused = []       # (wants, ToolError)
        self.gone = []          # Wants whose device went

    def value(self, key):
        reading = self.last(key)
        return reading.value if reading else None

    def last(self, key):
        """The Reading after the end, or None if the event was refused, never ran or went."""
        reading = self.steps[-1].get(key) if self.steps else None
        return reading if reading and reading.running else None

    def rate(self, key):
        """Events a second of the time in which the event counted."""
        reading = self.last(key)
        return reading.value * 1e9 / reading.running if reading else None

    def whole(self, *keys):
        """These counted all of the time: nobody else took the counters for a part of it."""
        readings = [self.last(key) for key in keys]
        return all(one and one.running >= one.enabled for one in readings)


class Everything:
    """As a list of errno: all of them."""
    def __contains__(self, number):
        return True


class Bench:
    """A family's PMUs, and how to count with them."""

    def __init__(self, machine, family):
        self.machine, self.family = machine, family
        self.pmus = [pmu for pmu in machine.of(family) if pmu.cpus]
        self.ours = any(pmu.driver.module.endswith("_pmu") for pmu in self.pmus)
        self.table = {}         # of "events": (pmu, event): what it counted

    def boxes(self, *events):
        """(PMU, CPU) of each set of counters whose PMU has all of these events."""
        return [(pmu, cpu) for pmu in self.pmus for cpu in pmu.cpus if all(event in pmu.events for event in events)]

    def count(self, groups, seconds=WINDOW_S, steps=1):
        """Count lists of Wants for a while, read them so many times meanwhile, and once more when all is stopped."""
        found = Counted()
        with count.Session([list(group) for group in groups], self.machine.paranoid, Everything()) as session:
            found.refused = session.refused
            begin = time.monotonic()
            session.enable()
            for _ in range(steps):
                time.sleep(seconds / steps)
                found.steps.append(session.read()[0])
            session.disable()
            found.seconds = time.monotonic() - begin
            found.steps.append(session.read()[0])
            found.gone = session.gone()
        return found

    def within(self, groups, around, seconds=WINDOW_S):
        """Count @groups for a while, and @around from before until after: (Counted of the former, {key: (least, most)} of the
        latter, which is what these counted between the last moment before and the first one after, and the other way round).
        """
        found = Counted()
        with count.Session([list(group) for group in around], self.machine.paranoid, Everything()) as outer, \
                count.Session([list(group) for group in groups], self.machine.paranoid, Everything()) as inner:
            found.refused = outer.refused + inner.refused
            outer.enable()
            begin = outer.read()[0]
            inner.enable()
            first, start = outer.read()[0], time.monotonic()
            time.sleep(seconds)
            last, found.seconds = outer.read()[0], time.monotonic() - start
            inner.disable()
            end = outer.read()[0]
            found.steps.append(inner.read()[0])
            found.gone = outer.gone() + inner.gone()
        return found, {key: (last[key].value - first[key].value, end[key].value - begin[key].value)
                       for key in end if key in begin and key in first and key in last}

    def during(self, groups, work):
        """The same, of events that all have to open, while @work() is done."""
        found = Counted()
        with count.Session([list(group) for group in groups], self.machine.paranoid) as session:
            begin = time.monotonic()
            session.enable()
            work()
            session.disable()
            found.seconds = time.monotonic() - begin
            found.steps.append(session.read()[0])
            found.gone = session.gone()
        return found


def place(pmu, cpu):
    return f"{pmu.name} on CPU {cpu}" if cpu >= 0 else pmu.name


def again(run):
    """A check that counts once more what fails with a driver that stops two counters one after the other: the host may
    hold a guest's CPU up between these."""
    def twice(bench):
        found = [*run(bench)]
        return [*run(bench)] if not bench.ours and any(one.verdict == FAIL for one in found) else found
    return twice


def nearest(rates):
    """(lower, higher) of the two @rates that agree best.

    A CPU that is held up between the clock and perf's time spoils one of TRIES, not two in the same way.
    """
    ordered = sorted(rates)
    return min(zip(ordered, ordered[1:]), key=lambda two: two[1] - two[0])


def plain(number):
    """A number that people can read: 1,234,567 or 798.5 M."""
    if abs(number) < 10_000_000:
        return f"{number:,.0f}"
    for size, letter in ((1e12, "T"), (1e9, "G"), (1e6, "M")):
        if abs(number) >= size:
            return f"{number / size:,.4g} {letter}"
    return str(number)


def troubles(counted):
    """What could not be counted in a window at all: FAILs, but where the user lacks rights."""
    for wants, error in counted.refused:
        say = note if error.errno in DENIED else fail
        yield say(f"{error.what.rstrip('.')}, on CPU {wants[0].cpu}.")
    for want in counted.gone:
        yield fail(f"{want.name} on CPU {want.cpu}: its device went away.")


def command(words, **options):
    """What a command says, as text: a CompletedProcess."""
    return subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True, **options)


@contextlib.contextmanager
def working(cpus, work):
    """Processes that call @work again and again, one on each of @cpus, as the least important that there are."""
    parent, children = os.getpid(), []
    try:
        for cpu in cpus:
            child = os.fork()
            if not child:
                try:
                    os.nice(19)
                    with contextlib.suppress(OSError):
                        os.sched_setaffinity(0, {cpu})
                    do = work()
                    while os.getppid() == parent:
                        do()
                finally:
                    os._exit(0)
            children.append(child)
        yield
    finally:
        for child in children:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)


def awake(cpus):
    """Keep these CPUs busy: in deep sleep a unit's clock may stand still."""
    return working(cpus, lambda: lambda: sum(range(10_000)))


def spare_memory(machine):
    """Bytes that the kernel could give; 0 if it does not tell."""
    found = re.search(r"MemAvailable:\s*(\d+)", machine.read("proc/meminfo"))
    return int(found[1]) << 10 if found else 0


def buffer_of_each(machine, processes):
    """Bytes: two buffers of this size for each of so many processes are half of what is free at most."""
    return min(COPIED, spare_memory(machine) // 4 // processes) & -4096 or 4096


def copying(machine, cpus):
    """Read and write memory on these CPUs, on their nodes, more than caches hold."""
    size = buffer_of_each(machine, max(1, len(cpus)))

    def work():
        source, target = bytearray(size), bytearray(size)
        source[::4096] = bytes([1]) * (size // 4096)

        def copy():
            target[:] = source
        return copy
    return working(cpus, work)


def busy_share(machine):
    """A function that tells which share of all CPUs' time was not idle since it was made."""
    def times():
        fields = [int(word) for word in machine.read("proc/stat", "cpu 0 0 0 1 0").splitlines()[0].split()[1:]]
        return sum(fields[:8]), sum(fields[3:5])
    total, idle = times()

    def share():
        now, still = times()
        return 1 - (still - idle) / max(now - total, 1)
    return share
