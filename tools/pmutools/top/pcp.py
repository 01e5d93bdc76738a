# SPDX-License-Identifier: GPL-2.0-only
"""perfevent.conf(5) of Performance Co-Pilot for this machine: what its memory moves, and clocks.

Facts are of pmdaperfevent 6.0.3, by trying it (tests/packages): it reads a derived metric only behind a section that is
none and before [dynamic]; adds the events of one up by their CPUs' order, so all need the same; and takes each event
whose name another one that is asked for begins with, too.
"""
from . import dmc620, intel_imc, rapids

HEAD = """# perfevent.conf for PCP's pmdaperfevent, by pmu-top --pcp-config:
# {machine}, {driver}
#
# An event below [dynamic] is counted on the CPUs of its PMU's cpumask: once for each socket or chip. Its .scale and .unit
# are ignored, so the values are counts. Those that are derived are bytes.
"""


def _channels(view, machine):
    """(PMU, event, derived metric or None, bytes of a count) of each event, here of memory channels."""
    for pmu in {name: machine.pmus[name] for *_, name, _ in view.info["boxes"]}.values():
        for kind in "read", "write":
            # The in-tree driver has no name for both sub-channels of Granite Rapids.
            halves = [f"cas_count_{kind}_sch{half}" for half in range(2)]
            for name in halves if view.info["lines"] == rapids.HALVES else [f"cas_count_{kind}"]:
                if name in pmu.events:      # older in-tree drivers have no names
                    yield pmu, name, f"memory_{kind}_bytes", intel_imc.LINE
        clock = next((event.name for event in pmu.events.values() if "?" not in event.text
                      and pmu.encode(event.name) == pmu.encode(intel_imc.CLOCK)), None)
        # It is to cost no other counter.
        if clock and not any(clock.startswith(name) and clock != name for name in pmu.events):
            yield pmu, clock, None, 1


def _meshes(view, machine):
    """Requests to memory less those that were sent back are no sum, which is all that can be derived."""
    for mesh in view.meshes:
        for event in [*(mesh.info["homes"] or {}).values(), *filter(None, [mesh.info["clock"]])]:
            yield machine.pmus[mesh.name], event, None, 1
    for name in view.controllers.info:
        if machine.others[name].cpus:       # or it would be counted on all CPUs
            yield machine.others[name], dmc620.COMMANDS, "memory_bytes", dmc620.LINE
            yield machine.others[name], dmc620.CLOCK, None, 1


def _nests(view, machine):
    events = {(name, event): (what, size) for _, name, event, _, what, size in view.info["nests"]}
    for (name, event), (what, size) in events.items():
        yield machine.pmus[name], event, f"memory_{what}_bytes", size


def config(view, machine):
    found = list({"intel_imc": _channels, "cmn": _meshes, "power_imc": _nests}[view.name](view, machine))
    derived = {}
    for pmu, event, name, size in found:
        if name:
            derived.setdefault(name, []).append((pmu, event, size))
    out = [HEAD.format(**view.info)]
    if derived:
        out.append("[none]\n")
    for name, parts in derived.items():
        if len({tuple(pmu.cpus) for pmu, *_ in parts}) > 1:
            out.append(f"# No {name}: these PMUs do not all have the same CPUs.\n")
            continue
        out += [f"[{name}:derived]", *(f"{pmu.name}.{event} {float(size)!r}" for pmu, event, size in parts), ""]
    return "\n".join([*out, "[dynamic]", *(f"{pmu.name}.{event}" for pmu, event, *_ in found)]) + "\n"
