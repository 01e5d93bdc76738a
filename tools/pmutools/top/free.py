# SPDX-License-Identifier: GPL-2.0-only
"""Lines that a memory controller of a Xeon moved, by its free-running counters, beside its channels.

Nobody programs them, so they count on where the channels' counters are taken. Ice Lake-SP has them; later processors
have none of lines. Facts: Documentation/hardware/intel_imc.md, 14.5.
"""
from .. import count

LINE = 64               # bytes
KINDS = "read", "write"
HELP = {"free_read": "bytes read from memory, by a controller's free-running counter",
        "free_write": "bytes written to memory, by a controller's free-running counter"}


def pmus(machine):
    return [pmu for _, pmu in sorted(machine.free_running().items()) if pmu.events.keys() >= set(KINDS)]


def groups(boxes, machine):
    """@boxes: [socket, controller, PMU, CPU] of each that was found."""
    for socket, controller, name, cpu in boxes:
        if cpu is not None and (pmu := machine.others.get(name)):
            yield count.Loose(count.want(f"{socket}/free{controller}/{kind}", pmu, kind, cpu) for kind in KINDS)


def rows(boxes, frame, rows):
    for kind in KINDS if boxes else ():
        parts = []
        for socket, controller, *_ in boxes:
            labels, key = {"socket": socket, "controller": controller}, f"{socket}/free{controller}/{kind}"
            lines, share = frame.rate(key)
            parts.append(rows.add(f"free_{kind}", None if lines is None else lines * LINE, "B/s", share, **labels))
            lines = frame.count(key)
            rows.add(f"free_{kind}_bytes", None if lines is None else lines * LINE, "B", 0 if lines is None else 1, **labels)
        rows.total(f"total_free_{kind}", parts, "B/s")


def line(rows):
    """For people, where the channels have no sum; else ""."""
    found = [rows.get(f"total_free_{kind}") for kind in KINDS]
    if all(rows.get(f"total_{kind}").whole for kind in KINDS) or not all(row.whole for row in found):
        return ""
    return f"by free-running counters: read {found[0].text(2)} GB/s   write {found[1].text(2)} GB/s"
