# SPDX-License-Identifier: GPL-2.0-only
"""Do the free-running counters of a memory controller say what those of its channels do?

They count for whoever reads them, and nobody programs them. Facts: Documentation/hardware/intel_imc.md, 14.5.
"""
from ..count import want
from ..top import places

from .checks import Check, note, ok, plain, skip, troubles
from .intel_imc import ROOM, awake, group

NEAR = 1000     # a part of so many: channels start one after the other


def agree(values, least, most):
    """Is the sum of @values what a counter that was read before and after has: @least or more, and @most or less?"""
    room = ROOM + most // NEAR
    return least - room <= sum(values) <= most + room


def look(bench, lines, clock):
    """@lines: {a free-running event: what counts the same on each channel}; @clock: the clock of a channel."""
    free = bench.machine.free_running()
    channels = {}
    for pmu, cpu in bench.boxes():
        controller = places.controller(bench.machine, pmu)
        if controller in free and cpu in free[controller].cpus and places.exists(bench.machine, pmu):
            channels.setdefault((controller, cpu), []).append(pmu)
    names = {controller: [name for name in (*lines, "dclk") if name in free[controller].events] for controller, _ in channels}
    groups = [group(pmu, cpu, *lines.values(), clock) for (_, cpu), pmus in channels.items() for pmu in pmus]
    around = [[want((free[controller].name, cpu, name), free[controller], name, cpu) for name in names[controller]]
              for controller, cpu in channels]
    with awake(sorted({cpu for _, cpu in channels})):
        found, ran = bench.within(groups, around)
    yield from troubles(found)
    for (controller, cpu), pmus in channels.items():
        for name in names[controller]:
            key, keys = (free[controller].name, cpu, name), [(pmu.name, cpu, lines.get(name, clock)) for pmu in pmus]
            if key not in ran or not found.whole(*keys):
                continue
            each = [found.value(one) for one in keys]
            where = f"{key[0]} on CPU {cpu}, {name}"
            if name in lines:
                yield judge(where, each, *ran[key], f"channels have {' + '.join(map(str, each))}")
            elif not any(each):
                yield skip(f"{where}: no clock.")
            else:
                yield judge(where, [max(each)], *ran[key], f"a channel has {max(each)} clocks")


def judge(where, values, least, most, said):
    if agree(values, least, most):
        return ok(f"{where}: {plain(least)} to {plain(most)}; {said}")
    return note(f"{where}: {least} to {most} while {said}. No source says exactly what free-running counters count.")


def check(lines, clock):
    what = "Lines and the clock" if lines else "The clock"
    return Check("free", "Do free-running counters of a controller say what its channels do?",
                 f"{what} of a controller, read before and after its channels have counted: what those have is between. A "
                 "difference is told, no fault, since no source says exactly what they count.",
                 lambda bench: look(bench, lines, clock))
