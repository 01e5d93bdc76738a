# SPDX-License-Identifier: GPL-2.0-only
"""Probes of POWER's in-memory collection. Questions: Documentation/hardware/power_imc.md, 13."""
import re
import statistics
import struct
import time

from .. import count

from .checks import Probe, answer, awake, copying, fail, ok, place, plain, relied_on, skip, troubles
from .power_imc import EVEN, NEST_CLOCK, REFERENCE, REFERENCE_HZ

ENGINES = "sys/kernel/debug/power_imc_pmu/engines"
TRACE = "trace_cycles"
TRACE_S = 2.0
TICKS = 512e6               # of the timebase in a second
RECORD = struct.Struct(">8Q")
NO_TRACE = "There is no trace_imc."
_AWAKE = "a thread of some cores is kept awake, and counters are read all the time"
_TRACES = "a CPU traces for two seconds; whether a trace can stop a machine is question 13.1"


def _changes(bench, pmu, cpu, name, seconds=2.0):
    """Times in ms between changes of a counter that is read again and again."""
    one = count.want("posts", pmu, name, cpu)
    moments, last = [], None
    with awake([cpu]), count.Session([[one]], bench.machine.paranoid) as session:
        session.enable()
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            values, moment = session.read()
            value = values["posts"].value if values else None
            if value != last:
                moments.append(moment)
            last = value
    return [(after - before) / 1e6 for before, after in zip(moments[1:], moments[2:])]


def _posts(bench, name):
    for pmu, cpu in bench.boxes(name)[:4]:
        times = _changes(bench, pmu, cpu, name)
        if len(times) < 3:
            yield skip(f"{place(pmu, cpu)}: {name} changed {len(times)} times in two seconds.")
        else:
            yield answer(f"{place(pmu, cpu)}: {name} changes each {statistics.median(times):.2f} ms (least "
                         f"{min(times):.2f}, most {max(times):.2f}, {len(times)} times)")


def core_posts(bench):
    return _posts(bench, REFERENCE)


def nest_posts(bench):
    return _posts(bench, NEST_CLOCK)


def _engines(bench, keep, seconds):
    """(engines that the driver has found to be off meanwhile, rates of the cores' reference clock) while CPUs are kept awake."""
    boxes = [(pmu, cpu) for pmu, cpu in bench.boxes(REFERENCE) if pmu.name == "core_imc"]

    def restarts():
        return sum(map(int, re.findall(r"restarts (\d+)", bench.machine.read(ENGINES))))
    before = restarts()
    with awake([cpu for _, cpu in boxes] if keep else []):
        found = bench.count([[count.want((pmu.name, cpu), pmu, REFERENCE, cpu)] for pmu, cpu in boxes], seconds)
    rates = [found.rate((pmu.name, cpu)) for pmu, cpu in boxes]
    return restarts() - before, [rate * pmu.events[REFERENCE].scale for rate, (pmu, _) in zip(rates, boxes) if rate is not None]


def _restarts(bench, keep, what, seconds=20):
    if "restarts" not in bench.machine.read(ENGINES):
        yield skip("Engines are in /sys/kernel/debug/power_imc_pmu, for root, with our driver.")
        return
    number, rates = _engines(bench, keep, seconds)
    latency = bench.machine.read("sys/module/power_imc_pmu/parameters/max_latency")
    said = f"{what} cores, max_latency={latency}: {number} engines were found off in {seconds} s; the clock of 32 MHz had " \
           f"{min(rates, default=0) / 1e6:.2f} to {max(rates, default=0) / 1e6:.2f} MHz"
    if any(abs(rate - REFERENCE_HZ) > EVEN * REFERENCE_HZ for rate in rates):
        yield fail(f"{said}: counts are lost.")
    else:
        yield answer(said) if number else ok(said)
    if not keep and latency != "0":
        yield skip("Deep sleep was held off: load power_imc_pmu with max_latency=0 to see whether engines survive it.")


def deep_sleep(bench):
    return _restarts(bench, False, "idle")


def engine_modes(bench):
    return _restarts(bench, True, "busy")


def frames(bench):
    pmu = bench.machine.pmus.get("nest_mba0_imc")
    if not pmu or not pmu.cpus:
        yield skip("There is no nest_mba0_imc.")
        return
    wants = [count.want(offset, pmu, f"event={offset:#x}", pmu.cpus[0]) for offset in (0x550, 0x658)]
    found = bench.count([wants], 2.0)
    yield from troubles(found)
    head, tail = (found.value(one.key) for one in wants)
    if head and tail:
        agree = "" if abs(head - 2 * tail) <= 2 + head // 20 else ": not two to one, so a reader could wait for them to agree"
        yield answer(f"update counts of G6 and G7 grew by {head} and {tail} in two seconds{agree}")


def pause(bench):
    """Work while nobody counts: what the first 10 ms of an event have is of then, or of these."""
    if bench.ours:
        yield skip("Our driver's open waits until what a pause has counted is posted, so no event has it, whatever the answer.")
        return
    for pmu, cpu in bench.boxes()[:8]:
        name = next((name for name in pmu.events if pmu.name.startswith("nest_m") and re.search("RD|READ", name)), None)
        if not name:
            continue
        one = count.want(name, pmu, name, cpu)
        with copying(bench.machine, sorted(bench.machine.cpus)):
            full = bench.count([[one]], 0.5).rate(one.key)
            time.sleep(1.0)
        first, usual = bench.count([[one]], 0.01).value(one.key), bench.count([[one]], 0.5).rate(one.key)
        if not full or first is None:
            continue
        said = f"{pmu.name}: {name} has {plain(first)} in 10 ms after a pause, {plain(full)} a second under load, {plain(usual or 0)} without"
        yield relied_on(first < 0.1 * full + 0.05 * (usual or 0), said, "the pause was counted")


def _trace(bench, busy):
    """(CPU, [(ns, raw data) of each sample]) of the last CPU's trace, while it is kept awake or not; None without trace_imc."""
    pmu, cpu = bench.machine.pmus.get("trace_imc"), max(bench.machine.cpus)
    if not pmu or TRACE not in pmu.events:
        return None
    with awake([cpu] if busy else []):
        return cpu, count.samples(count.want(TRACE, pmu, TRACE, cpu), TRACE_S, bench.machine.paranoid)


def _fields(found):
    """The records themselves, behind which perf fills raw data up by 4 bytes; none with the in-tree driver."""
    return [RECORD.unpack(raw[-RECORD.size - 4:-4]) for _, raw in found if len(raw) >= RECORD.size + 4]


def records(bench):
    cpu, found = _trace(bench, True) or (None, None)
    if found is None:
        yield skip(NO_TRACE)
        return
    times, said = [record[0] for record in _fields(found)], f"{TRACE_S:.0f} s of CPU {cpu}, which was busy"
    if len(times) > 2:
        apart = statistics.median(after - before for before, after in zip(times, times[1:]))
        yield answer(f"a record each {1e3 * apart / TICKS:.4f} ms, {apart:,.0f} ticks of the timebase ({len(found)} samples in {said})")
    elif found:
        yield answer(f"a record each {1e3 * TRACE_S / len(found):.2f} ms at most ({len(found)} samples in {said})")
    else:
        yield fail(f"no record in {said}.")


def idle_records(bench):
    cpu, found = _trace(bench, False) or (None, None)
    yield skip(NO_TRACE) if found is None else answer(f"{len(found)} records in {TRACE_S:.0f} s of CPU {cpu}, which had little to do")


def third_word(bench):
    _, found = _trace(bench, True) or (None, [])
    words = sorted({record[2] for record in _fields(found)})
    if words:
        yield answer(f"doubleword 2 of {len(found)} records: {', '.join(f'{word:#x}' for word in words[:8])}"
                     f"{', ...' if len(words) > 8 else ''}")
    else:
        yield skip("The in-tree driver does not show records, or there is no trace_imc.")


PROBES = (
    Probe("core-posts", "power_imc", "13.3", "How often are a core's counters posted?", _AWAKE, 8, core_posts),
    Probe("nest-posts", "power_imc", "13.12", "How often are the nest's counters posted?", _AWAKE, 8, nest_posts),
    Probe("records", "power_imc", "13.5", "How far apart are a trace's records?", _TRACES, 2, records),
    Probe("idle-records", "power_imc", "13.7", "Does an idle thread make records?", _TRACES, 2, idle_records),
    Probe("doubleword-2", "power_imc", "13.13", "What is in a record's doubleword 2?", _TRACES, 2, third_word),
    Probe("deep-sleep", "power_imc", "13.8", "Do engines survive deep sleep?",
          "nothing; with the module's max_latency=0 cores sleep deeply", 20, deep_sleep),
    Probe("engine-modes", "power_imc", "13.16", "Does the mode of an engine that is on read back?", "cores are kept awake", 20,
          engine_modes),
    Probe("pause", "power_imc", "13.9", "Do nest counters count during a pause?", "all CPUs copy memory", 20, pause),
    Probe("frames", "power_imc", "13.10", "Do G6 and G7 of POWER9's nest never agree?", "nothing", 2, frames),
)
NOT_HERE = (
    ("13.1", "it may stop the machine: the page tells how to look"),
    ("13.2", "\"--load\" answers it: a program of known length is counted whole, or not"),
    ("13.4", "the check \"rings\" tells of records that were lost; the reader copes with either answer"),
    ("13.6, 13.14", "they need a guest of KVM"),
    ("13.11", "frames of POWER10 are at offsets that no catalog has, and the driver waits for none"),
    ("13.15", "it needs a machine with a pebibyte of memory"),
    ("13.17", "the driver looks whenever events of a task end counting, and its log has the answer"),
    ("13.18", "counts of cores are right with either answer; of threads nothing shows it"),
)
