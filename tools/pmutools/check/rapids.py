# SPDX-License-Identifier: GPL-2.0-only
"""Checks of the memory channels of Sapphire, Emerald and Granite Rapids. Facts: Documentation/hardware/intel_imc.md, 15."""
from ..top import rapids

from . import free
from .checks import Check, again, fail, note, ok, place, plain, skip, troubles
from .intel_imc import FIXED, SLOWEST_HZ, add_up, near, window

HALF, CLOCK = "event=0x01,umask=0x00", "event=0x01,umask=0x01"
FASTEST_HZ = 4700e6     # DDR5-8800 is 4400 MHz; a few percent for the clock's chip
ALL, READ, WRITE = 0xff, 0xcf, 0xf0
PARTS = {"all": (ALL, READ, WRITE), "reads": (READ, 0xc5, 0xca), "writes": (WRITE, 0xd0, 0xe0)}


@again
def clocks(bench):
    found = window(bench, FIXED, HALF, CLOCK)
    yield from troubles(found)
    for pmu, cpu in bench.boxes():
        where, keys = place(pmu, cpu), [(pmu.name, cpu, text) for text in (FIXED, HALF, CLOCK)]
        fixed, half, clock = (found.value(key) for key in keys)
        if None in (fixed, half, clock):
            continue
        rate = found.rate(keys[2])
        if not fixed and not half and not clock:
            yield skip(f"{where}: no clock.")
        elif not SLOWEST_HZ <= rate <= FASTEST_HZ:
            yield fail(f"{where}: the DRAM clock is {plain(rate)}Hz; memory has {SLOWEST_HZ / 1e6:.0f} to "
                       f"{FASTEST_HZ / 1e6:.0f} MHz.")
        elif not near(clock, 2 * half, bench.ours):
            yield fail(f"{where}: {half} half clocks, {clock} clocks.")
        elif near(fixed, half, bench.ours):
            yield ok(f"{where}: {plain(rate)}Hz, DDR-{2 * rate / 1e6:.0f}, and half of it, also on the fixed counter")
        else:
            yield note(f"{where}: the fixed counter has {fixed}, where there were {half} half clocks. No source says what "
                       "it counts.")


def parts(bench):
    model = bench.machine.intel_model()
    codes = (5, 6) if model and model[1] in rapids.GRANITE else (5,)
    return add_up(bench, {f"{name} (event {code:02x})": [f"event={code:#04x},umask={umask:#04x}" for umask in umasks]
                          for code in codes for name, umasks in PARTS.items()})


CHECKS = (
    Check("clocks", "Has each channel a clock that memory has, and half of it?",
          "Intel's list has DCLK and HCLK; the in-tree driver calls the latter clockticks. They start and stop in one clock; "
          "64 counts, and 0.1 % with the in-tree driver, which starts one after the other, are allowed. What the fixed counter has is told.",
          clocks),
    Check("parts", "Are reads + writes all lines, and are kinds of reads all reads?",
          "A clock has one CAS command of a sub-channel at most, so bits of a umask never meet and counts of one window "
          "add up.", parts),
    free.check({}, CLOCK),
)
