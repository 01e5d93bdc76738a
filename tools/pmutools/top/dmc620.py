# SPDX-License-Identifier: GPL-2.0-only
"""Arm's memory controller DMC-620, as Ampere Altra has it behind the mesh, by the kernel's driver arm_dmc620_pmu.

The driver refuses groups, so each event is counted by itself. Its PMUs are named after their addresses; nothing says
which socket one is of.
"""
from .. import count
from . import draw, pretty
from .rows import ratio

COMMANDS, CLOCK = "clkdiv2_rdwr", "clk_cycle_count"
# Both by the script of AmpereComputing/ampere-lts-kernel, issue 9. A transfer is of 8 bytes, as a DDR4 channel has it.
LINE = 64               # bytes of a read or write
PER_CLOCK = 16          # bytes: two transfers
ENTRY = 28              # columns of a controller's numbers
HELP = {"dmc": "bytes that a DMC-620 memory controller read and wrote", "dmc_clock": "clocks of its memory",
        "dmc_of_peak": "part of what it can move"}


class Controllers:
    """Those of a machine; a record keeps @info, their names."""

    def __init__(self, info):
        self.info = info

    @classmethod
    def of(cls, machine):
        names = [name for name, pmu in machine.others.items() if {COMMANDS, CLOCK} <= set(pmu.events)]
        return cls(sorted(names, key=lambda name: int(name.rpartition("_")[2], 16)))

    def missing(self, machine):
        return {name for name in self.info if name not in machine.others}

    def groups(self, machine):
        for name in self.info:
            if pmu := machine.others.get(name):
                # An older driver shows no mask. It counts on its own CPU, whichever is asked for.
                cpu = (pmu.cpus or [min(machine.cpus)])[0]
                for what, event in ("rdwr", COMMANDS), ("clock", CLOCK):
                    yield [count.want(f"{name}:{what}", pmu, event, cpu)]

    def rows(self, frame, rows):
        parts = []
        for name in self.info:
            (commands, share), (clock, whole) = frame.rate(f"{name}:rdwr"), frame.rate(f"{name}:clock")
            moved = None if commands is None else commands * LINE
            parts.append(rows.add("dmc", moved, "B/s", share, pmu=name))
            exact = frame.count(f"{name}:rdwr")
            rows.add("dmc_bytes", None if exact is None else exact * LINE, "B", pmu=name)
            rows.add("dmc_clock", clock, "Hz", whole, pmu=name)
            rows.add("dmc_of_peak", None if moved is None else ratio(moved, (clock or 0) * PER_CLOCK), "ratio",
                     min(share, whole), pmu=name)
        if parts:
            rows.total("total_dmc", parts, "B/s")

    def summary(self, rows):
        clocks = sorted(row.value * 1e-6 for name in self.info if (row := rows.get("dmc_clock", pmu=name)).value)
        said = f"{clocks[0]:,.0f}" + (f" to {clocks[-1]:,.0f}" if clocks[-1] - clocks[0] > 1 else "") if clocks else "-"
        total = rows.get("total_dmc")
        return pretty.Text.assemble(("DMC-620: ", "bold"), f"{total.text(2)} GB/s read and written, clock {said} MHz",
                             f"   most {rows.history.said(total)} {rows.history.text(total, 20)}" if rows.history else "",
                             no_wrap=True, overflow="ellipsis")

    def draw(self, rows, width):
        """The controllers, in as many columns as there is room for."""
        text = pretty.Text(no_wrap=True, overflow="crop")
        columns = max(1, width // ENTRY)
        for number, name in enumerate(self.info):
            moved, part = rows.get("dmc", pmu=name), rows.get("dmc_of_peak", pmu=name)
            text.append("\n" if number and number % columns == 0 else "")
            text.append(f"{name.rpartition('_')[2]:>10} {moved.text(2):>7}", draw.heat(part.value, 1.0))
            text.append(" GB/s ").append(pretty.Text.assemble(draw.near(part), "%" if part.value is not None else ""))
            text.pad_right(ENTRY * (number % columns + 1) - len(text.plain.rpartition("\n")[2]))
        return text
