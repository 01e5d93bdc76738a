# SPDX-License-Identifier: GPL-2.0-only
"""Checks of every PMU, whoever made it: that each event opens, counts, and counts the same twice."""
import errno

from ..count import want
from .checks import Check, fail, note, ok, place, troubles

EVENT_S = 0.05
TRIES = 3


def named(bench, pmu):
    """Names of the PMU's events that need nothing from the user, and that count: trace_imc samples alone."""
    return [] if pmu.name == "trace_imc" else [name for name, event in pmu.events.items() if "?" not in event.text]


def copies(pmu, name, number, exclusive=False):
    """Wants of an event, so many for each CPU: thread_imc's are of this process, wherever it runs."""
    for cpu in pmu.cpus or [-1]:
        group = []
        for copy in range(number):
            one = want((pmu.name, cpu, name, copy), pmu, name, cpu)
            group.append(one._replace(exclusive=exclusive, pid=-1 if cpu >= 0 else 0))
        yield group


def by_name(bench):
    """(name, PMUs that have it): all of them are counted at once, since they share no counters."""
    pmus = [*bench.pmus, *(pmu for pmu in bench.machine.of(bench.family) if pmu.name == "thread_imc")]
    for engine in ({"core_imc"}, {"thread_imc"}, None):     # POWER's two exclude each other
        some = [pmu for pmu in pmus if (pmu.name in engine if engine else pmu.name not in ("core_imc", "thread_imc"))]
        for name in dict.fromkeys(name for pmu in some for name in named(bench, pmu)):
            yield name, [pmu for pmu in some if name in named(bench, pmu)]


def backwards(counted):
    """Keys of what a later read found smaller than an earlier one."""
    for before, after in zip(counted.steps, counted.steps[1:]):
        yield from (key for key in before if key in after and after[key].value < before[key].value)


def events(bench):
    """Each alone. What it counted is kept for the report."""
    opened = turns = 0
    for name, pmus in by_name(bench):
        groups = [group for pmu in pmus for group in copies(pmu, name, 1)]
        found = bench.count(groups, EVENT_S, steps=3)
        yield from troubles(found)
        for key in dict.fromkeys(backwards(found)):
            values = [step[key].value for step in found.steps if key in step]
            yield fail(f"{key[0]}/{name}/ on CPU {key[1]} went backwards: it read {', '.join(map(str, values))}.")
        for group in groups:
            key, reading = group[0].key, found.steps[-1].get(group[0].key)
            if reading is None:
                continue
            opened += 1
            bench.table.setdefault((key[0], name), []).append(reading.value)
            if reading.running < reading.enabled:
                turns += 1
            if not reading.running and key[1] >= 0:
                yield note(f"{group[0].name} on CPU {key[1]} never counted: somebody else has the counters.")
    if turns:
        yield note(f"{turns} of {opened} took turns with events that others have open.")
    if opened:
        yield ok(f"{opened} opened, counted and were read; none went backwards.")


def twins(bench):
    """Each in a group with itself."""
    equal = moved = single = 0
    # Otherwise our drivers count equal events with one counter. Counters in memory take none.
    exclusive = bench.family != "power_imc"
    for name, pmus in by_name(bench):
        unlike = {}
        for _ in range(TRIES):
            groups = [group for pmu in pmus for group in copies(pmu, name, 2, exclusive)
                      if not unlike or group[0].key in unlike]
            found = bench.count(groups, EVENT_S)
            again = {}
            for group in groups:
                first, second = (found.last(one.key) for one in group)
                if first and second and first.value != second.value:
                    again[group[0].key] = (first.value, second.value)
                elif first and second:
                    equal += 1
                    moved += bool(first.value)
            single += sum(error.errno == errno.EINVAL for _, error in found.refused)
            # In one try of them in memory a post may come between: there the best of three counts.
            unlike = again
            if not again or bench.family != "power_imc":
                break
        for (pmu, cpu, _, _), values in unlike.items():
            yield fail(f"{pmu}/{name}/ twice in a group on CPU {cpu} counted {values[0]} and {values[1]}.")
    if equal:
        yield ok(f"{equal} counted the same twice, {moved} of them more than 0; {single} have one counter alone.")


def sockets(bench):
    """PMUs that a package lacks."""
    for prefix in dict.fromkeys(pmu.name.rstrip("0123456789") for pmu in bench.pmus):
        alike = [pmu for pmu in bench.pmus if pmu.name.rstrip("0123456789") == prefix]
        most = max(len(pmu.cpus) for pmu in alike)
        for pmu in alike:
            if len(pmu.cpus) < most:
                yield note(f"{pmu.name} counts on {len(pmu.cpus)} of {most} units ({place(pmu, pmu.cpus[0])} is one); "
                           "the kernel's log says which it lacks and why. A socket with fewer channels is like this.")
        online = [cpu for pmu in alike for cpu in pmu.cpus if cpu not in bench.machine.cpus]
        if online:
            yield fail(f"cpumask of {prefix}* has CPUs that are not online: {sorted(set(online))}.")
        else:
            yield ok(f"{len(alike)} {prefix}*, {most} CPUs each.")


CHECKS = (
    Check("cpumask", "Has every PMU a CPU on each unit, and is it online?",
          "perf opens events on the CPUs of cpumask. A PMU that lacks a unit is told, no fault: sockets can differ.",
          sockets),
    Check("events", "Does each named event open, count, and never go backwards?",
          "Counts only grow. What perf calls running is shorter than enabled only if others use the counters.",
          events),
    Check("twins", "Does an event that is twice in a group count the same twice?",
          "Both start and stop while the unit stands still, so they are equal, to the last count. POWER's counters in "
          "memory are updated by a microcode, which may come between two reads: there one of three tries is to agree.",
          twins),
)

