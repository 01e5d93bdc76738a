# SPDX-License-Identifier: GPL-2.0-only
"""Checks of POWER's in-memory collection. Facts: Documentation/hardware/power_imc.md."""
import re

from .. import count
from ..count import want

from .checks import Check, awake, fail, note, ok, place, plain, troubles

REFERENCE_HZ, REFERENCE = 32e6, "CPM_32MHZ_CYC"
LONG_S = 1.0                # posts come each 1 to 12 ms
EVEN = 0.03                 # so this is what two posts can take from it, and the time of starts and stops
FASTEST_HZ = 6e9
PARTS = (("CPM_PCYC", ("CPM_NON_IDLE_PCYC",)), ("CPM_INST", ("CPM_NON_IDLE_INST",)),
         ("CPM_CS_INST", ("CPM_CS_INST_USER", "CPM_CS_INST_KERNEL")),
         ("CPM_CS_PCYC", ("CPM_CS_PCYC_USER", "CPM_CS_PCYC_KERNEL")))
NEST_CLOCK = "PM_PB_CYC"
LOOPS = 2_000_000


def group(pmu, cpu, *names):
    return [want((pmu.name, cpu, name), pmu, name, cpu) for name in names]


def rate(found, pmu, cpu, name):
    """In what the event counts: a unit of POWER9's pages is 512."""
    raw = found.rate((pmu.name, cpu, name))
    return None if raw is None else raw * pmu.events[name].scale


def rates(bench, name, judged, cpus=()):
    """@judged(Hz) is a verdict and a text for each box that has this clock, while @cpus are awake."""
    boxes = bench.boxes(name)
    with awake(cpus):
        found = bench.count([group(pmu, cpu, name) for pmu, cpu in boxes], LONG_S)
    yield from troubles(found)
    for pmu, cpu in boxes:
        hz = rate(found, pmu, cpu, name)
        if hz is not None:
            verdict, text = judged(hz)
            yield verdict(f"{place(pmu, cpu)}: {text}")


def of_cores(bench, name, judged):
    """The same, of an event of cores alone, which are awake."""
    yield from rates(bench, name, judged, [cpu for _, cpu in bench.boxes(name)])


def reference(bench):
    yield from of_cores(bench, REFERENCE, lambda hz: (ok, f"{hz / 1e6:.2f} MHz")
                        if abs(hz - REFERENCE_HZ) <= EVEN * REFERENCE_HZ else
                        (fail, f"the clock of 32 MHz has {plain(hz)}Hz: the core's engine does not count all of the time, "
                               "or its counts are not posted."))


def cycles(bench):
    yield from of_cores(bench, "CPM_CCYC", lambda hz: (ok, f"{plain(hz)}Hz") if REFERENCE_HZ < hz < FASTEST_HZ else
                        (fail, f"{plain(hz)} cycles a second, of a core that is awake."))


def parts(bench):
    for whole, some in PARTS:
        boxes = [(pmu, cpu) for pmu, cpu in bench.boxes(whole, *some) if pmu.name == "core_imc"]
        found = bench.count([group(pmu, cpu, whole, *some) for pmu, cpu in boxes])
        yield from troubles(found)
        for pmu, cpu in boxes:
            keys = [(pmu.name, cpu, name) for name in (whole, *some)]
            if not found.whole(*keys):
                continue
            all_of_it, *values = (found.value(key) for key in keys)
            said = f"{place(pmu, cpu)}: {whole} is {all_of_it}, of which {' + '.join(some)} " \
                   f"{' + '.join(map(str, values))}"
            if sum(values) > all_of_it + 2 + all_of_it // 20:
                yield note(said + ".")
            else:
                yield ok(said)


def nest(bench):
    yield from rates(bench, NEST_CLOCK, lambda hz: (
        (note, f"{NEST_CLOCK} stands still. A model in QEMU counts what it is told to alone; on a machine the microcode does "
               "not post.") if not hz else
        (fail, f"{plain(hz)} cycles of the bus a second.") if hz > FASTEST_HZ else (ok, f"{plain(hz)}Hz")))


def of_instructions(bench):
    """(thread_imc, its event of a program's instructions), or (None, None)."""
    pmu = bench.machine.pmus.get("thread_imc")
    name = next((name for name in ("CPM_CS_INST_USER", "CPM_MSR_PROB_INST") if pmu and name in pmu.events), None)
    return (pmu, name) if name else (None, None)


def of_a_task(pmu, name, pid):
    """An event of a task, wherever it runs; @pid 0: of this one."""
    return count.Want(name, f"{pmu.name}/{name}/", pmu.type, pmu.encode(name), -1, pid)


def threads(bench):
    """Of this process alone, while it works."""
    pmu, name = of_instructions(bench)
    if pmu:
        found = bench.during([[of_a_task(pmu, name, 0)]], lambda: sum(1 for _ in range(LOOPS)))
        yield from troubles(found)
        value = found.value(name)
        if value:
            yield ok(f"{value * pmu.events[name].scale:,.0f} instructions of this program were counted")
        else:
            yield fail(f"thread_imc/{name}/ counted nothing of a program that has worked.")


def rings(bench):
    text = bench.machine.read("sys/kernel/debug/power_imc_pmu/trace")
    for cpu, said in re.findall(r"^cpu (\d+): (.*)$", text, re.M):
        fields = dict(zip(said.split()[::2], said.split()[1::2]))
        lost, corrupt = int(fields.get("lost", 0)), int(fields.get("corrupt", 0))
        if lost or corrupt:
            yield note(f"CPU {cpu}: since the module was loaded {lost} records of a trace were lost, {corrupt} of "
                       "them no good.")
        else:
            yield ok(f"CPU {cpu}: {fields.get('taken', 0)} records of traces were taken, none lost")


CHECKS = (
    Check("reference", "Does each core count 32 million clocks a second?",
          "The reference clock is the timebase's, the same on every machine. Posts come each 1 to 12 ms, so 3 % of a "
          "second are for those at the ends. A thread of each core is kept awake.", reference),
    Check("cycles", "Are a core's cycles those of a processor?",
          "A core that is awake runs at more than the reference clock, and at less than 6 GHz.", cycles),
    Check("parts", "Are parts of a core's cycles and instructions no more than all?",
          "A page is posted as a whole; 5 % are for a post between reads. The catalog says little of what events "
          "mean, so more is told, no fault.", parts),
    Check("nest", "Does the powerbus' clock run, and at less than 6 GHz?",
          "It runs as long as the chip does. One that stands still is told: models have no such clock.", nest),
    Check("threads", "Are this program's own instructions counted?",
          "It runs some million of them in between.", threads),
    Check("rings", "Were records of traces lost, or no good?",
          "The driver knows that from what it found in memory. Where a ring was not drained in time records are "
          "lost, which is told, no fault. One that is no good is lost to perf, too, so it is among the lost.", rings),
)
