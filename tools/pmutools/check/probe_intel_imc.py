# SPDX-License-Identifier: GPL-2.0-only
"""Probes of the memory channels of Intel's Xeons. Questions: Documentation/hardware/intel_imc.md, 12."""
import functools
import time

from .. import count, xeons
from ..errors import ToolError

from .checks import Probe, answer, awake, copying, place, plain, relied_on, skip, troubles
from .intel_imc import FIXED, GENERAL, group
from .load import lines_of, near_memory
from .rapids import CLOCK

_COPIES = "a CPU of each socket copies memory for a second"


# Of whose events (xeons.MODELS): clocks in which there is a read in the queue, and how many there are in each clock
_QUEUE = {"snbep": ("event=0x11", "event=0x80"), "ivbep": ("event=0x11", None), "hswep": ("event=0x11", None),
          "skx": ("event=0x11", "event=0x80"), "icx": ("event=0x11,umask=0x1", "event=0x80")}


def _kind(machine):
    model = machine.intel_model()
    return xeons.MODELS.get(model[1], [""])[-1] if model and model[0] == 6 else ""


def _asked_of(*kinds):
    """A probe of events that processors of these kinds have: others have the codes for something else."""
    def of(ask):
        @functools.wraps(ask)
        def asked(bench):
            if _kind(bench.machine) in kinds:
                yield from ask(bench)
            else:
                yield skip("This processor has no events that could tell.")
        return asked
    return of


def _cpus(bench):
    return sorted({cpu for _, cpu in bench.boxes()})


def _channels(bench, texts, seconds=0.5):
    """((PMU, CPU), values of a group of @texts) for each channel, under a load."""
    with copying(bench.machine, _cpus(bench)):
        found = bench.count([group(pmu, cpu, *texts) for pmu, cpu in bench.boxes()], seconds)
    for error in troubles(found):
        raise ToolError(error.said)
    for pmu, cpu in bench.boxes():
        keys = [(pmu.name, cpu, text) for text in texts]
        if found.whole(*keys):
            yield place(pmu, cpu), [found.value(key) for key in keys]


def sleep_clock(bench):
    boxes = bench.boxes()

    def rates(seconds):
        found = bench.count([group(pmu, cpu, FIXED) for pmu, cpu in boxes], seconds)
        return [found.rate((pmu.name, cpu, FIXED)) for pmu, cpu in boxes]
    idle = rates(5)
    with awake(_cpus(bench)):
        busy = rates(2)
    for (pmu, cpu), still, full in zip(boxes, idle, busy):
        if not still and not full:
            yield skip(f"{place(pmu, cpu)}: no clock at all.")
        elif still is not None and full:
            stops = "" if still > 0.99 * full else ": it stops in the sleep of the package"
            yield answer(f"{place(pmu, cpu)}: the clock runs {100 * still / full:.1f} % of the time while nothing runs{stops}")


def freeze(bench):
    for where, (fixed, *general) in _channels(bench, [FIXED, *(f"event=0x00,umask={one:#x}" for one in (0, 1, 3, 5))]):
        counting = [one for one in general if one]
        if not counting:
            yield skip(f"{where}: event 0 counts nothing, so there is nothing to compare.")
            continue
        most = max(abs(one - fixed) for one in counting)
        yield relied_on(most <= 2, f"{where}: {1 + len(counting)} counters of clocks stopped within {most} clocks, at {fixed}",
                        "they are not stopped as one")


@_asked_of(*_QUEUE)
def threshold(bench):
    event, _ = _QUEUE[_kind(bench.machine)]
    for where, (busy, one, two) in _channels(bench, (event, f"{event},thresh=0x1", f"{event},thresh=0x2")):
        if busy:
            yield relied_on(one and not two, f"{where}: {busy} counts, of one in a clock; clocks with one or more {one}, with two "
                            f"or more {two}", "the comparison is another")
        else:
            yield skip(f"{where}: the read queue was never in use.")


@_asked_of("snbep", "ivbep", "hswep", "skx")
def umask(bench):
    for where, (zero, one) in _channels(bench, ("event=0x10,umask=0x00", "event=0x10,umask=0x01")):
        if one or zero:
            yield relied_on(zero == one, f"{where}: event 0x10 with umask 0 counts {zero}, with 1 {one}",
                            "events without sub-events need a umask")
        else:
            yield skip(f"{where}: nothing was read.")


@_asked_of("snbep", "ivbep", "hswep", "skx")
def increments(bench):
    for where, (some, nine, more) in _channels(bench, ["event=0x83,umask=0xff,thresh=" + hex(one) for one in (1, 9, 17)]):
        if some:
            yield relied_on(not more, f"{where}: power_cke_cycles of a clock reach 1 {some} times, 9 {nine}, 17 {more}",
                            "16 is not the most")
        else:
            yield skip(f"{where}: no clock was ever off.")


@_asked_of(*(kind for kind, (_, depth) in _QUEUE.items() if depth))
def occupancy(bench):
    for where, (busy, depth) in _channels(bench, _QUEUE[_kind(bench.machine)]):
        if busy:
            yield relied_on(depth >= busy, f"{where}: the read queue's depths add up to {depth} in {busy} clocks in which it was "
                            "not empty", "an occupancy does not start from the queue's real depth")
        else:
            yield skip(f"{where}: the read queue was never in use.")


def starts(bench):
    boxes, tries, zero = bench.boxes(), 1000, {}
    clock = CLOCK if _kind(bench.machine) in ("spr", "gnr") else GENERAL
    with awake(_cpus(bench)):
        with count.Session([group(pmu, cpu, clock) for pmu, cpu in boxes]) as session:
            before, _ = session.read()
            for _ in range(tries):
                session.enable()
                session.disable()
                now, _ = session.read()
                for key, reading in now.items():
                    zero[key] = zero.get(key, 0) + (reading.value == before[key].value)
                before = now
    for pmu, cpu in boxes:
        number = zero.get((pmu.name, cpu, clock), tries)
        said = f"{place(pmu, cpu)}: {number} of {tries} starts of a clock counted nothing"
        yield relied_on(not number, said, "a control may have to be written twice") if number < tries else skip(f"{said}.")


def sockets(bench):
    cpus = bench.machine.cpus
    several = len({(one.package, one.die) for one in cpus.values()}) > len({one.package for one in cpus.values()})
    unit_of = {cpu: str(bench.machine.package(cpu)) + (f", die {cpus[cpu].die}" if several and cpu in cpus else "") for cpu in _cpus(bench)}
    units, lines_read = sorted(set(unit_of.values())), lines_of(bench.machine, "read")
    if not near_memory(bench.machine, len(units)):
        yield skip("Firmware does not say which memory is near.")
        return
    for own in units:
        worker = next(cpu for cpu in _cpus(bench) if unit_of[cpu] == own)
        boxes = bench.boxes()
        with copying(bench.machine, [worker]):
            time.sleep(0.5)         # until its memory is there
            found = bench.count([group(pmu, cpu, *lines_read) for pmu, cpu in boxes], 1.0)
        lines = {}
        for pmu, cpu in boxes:
            unit = unit_of[cpu]
            lines[unit] = lines.get(unit, 0) + sum(found.value((pmu.name, cpu, text)) or 0 for text in lines_read)
        moved = ", ".join(f"{plain(lines[unit] * 64)}B on {unit}" for unit in sorted(lines))
        said = f"work on socket {own} moves {moved}"
        yield (relied_on(max(lines, key=lines.get) == own, said, "another one's counts are shown for it")
               if any(lines.values()) else skip(f"{said}."))


PROBES = (
    Probe("sleep-clock", "intel_imc", "12.7", "Is a channel's clock off in the package's deep sleep?",
          "nothing; the machine should have nothing to do", 7, sleep_clock),
    Probe("freeze", "intel_imc", "12.2", "Do all five counters of a channel freeze as one?", _COPIES, 1, freeze),
    Probe("threshold", "intel_imc", "12.5", "Does a threshold compare for greater or equal?", _COPIES, 1, threshold),
    Probe("umask", "intel_imc", "12.9", "Is umask 0 enough for events without sub-events?", _COPIES, 1, umask),
    Probe("increments", "intel_imc", "12.10", "Is 16 the most that power_cke_cycles grow by in a clock?", _COPIES, 1, increments),
    Probe("occupancy", "intel_imc", "12.11", "Does an occupancy start from the queue's real depth?", _COPIES, 1, occupancy),
    Probe("starts", "intel_imc", "12.14", "Does each start of an event count?",
          "the channels are started and stopped a thousand times", 5, starts),
    Probe("sockets", "intel_imc", "12.12", "Are counts those of the socket, or die, that they are shown for?",
          "one CPU after the other copies memory", 4, sockets),
)
NOT_HERE = (
    ("12.1, 12.3, 12.6, 12.15", "they need writes to registers of the channels, and the driver does not go by the answer"),
    ("12.4", "where it is not so no event can be read: the check \"events\" fails"),
    ("12.8", "the check \"clock\" shows each channel's clock; compare it with where the DIMMs are"),
    ("12.13", "nothing goes by the answer; \"lspci -nn\" shows it"),
    ("12.16, 12.17", "nothing in the driver goes by the answer; with the in-tree driver compare counts with and without the field"),
    ("13", "thresholds apart (12.5), nothing in the driver goes by these rules of the model"),
    ("14.2, 14.6, 15.4, 15.5", "the check \"clocks\" tells which channels there are, and what the fixed counter has"),
    ("14.5", "48 or 64 bits differ after weeks alone"),
    ("16", "\"--load\" answers it: it reads memory of each node"),
)
