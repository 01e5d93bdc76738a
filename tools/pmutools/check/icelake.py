# SPDX-License-Identifier: GPL-2.0-only
"""Checks of Ice Lake-SP's memory channels. Facts: Documentation/hardware/intel_imc.md, 14."""
from ..top import icelake, places

from . import free
from .checks import Check, again, fail, note, ok, place, plain, skip, troubles
from .intel_imc import FASTEST_HZ, FIXED, GENERAL, SLOWEST_HZ, add_up, near, window

READ, WRITE, ALL = "event=0x04,umask=0x0f", "event=0x04,umask=0x30", "event=0x04,umask=0x3f"
PARTS = {"all": (ALL, READ, WRITE),
         "reads": (READ, "event=0x04,umask=0x05", "event=0x04,umask=0x0a"),
         "writes": (WRITE, "event=0x04,umask=0x10", "event=0x04,umask=0x20")}


@again
def clocks(bench):
    found = window(bench, FIXED, GENERAL)
    yield from troubles(found)
    for pmu, cpu in bench.boxes():
        where, keys = place(pmu, cpu), [(pmu.name, cpu, text) for text in (FIXED, GENERAL)]
        half, clock = (found.value(key) for key in keys)
        if half is None or clock is None:
            continue
        rate = found.rate(keys[1])
        if icelake.is_third(pmu.name) and not half and not clock:
            yield note(f"{where}: a channel that does not exist: a controller has two, and the in-tree driver three.")
        elif not half and not clock:
            yield skip(f"{where}: no clock.")
        elif not SLOWEST_HZ <= rate <= FASTEST_HZ:
            yield fail(f"{where}: the DRAM clock is {plain(rate)}Hz; memory has {SLOWEST_HZ / 1e6:.0f} to "
                       f"{FASTEST_HZ / 1e6:.0f} MHz.")
        elif near(clock, icelake.CLOCKS * half, bench.ours):
            yield ok(f"{where}: {plain(rate)}Hz, DDR-{2 * rate / 1e6:.0f}, and half of it on the fixed counter")
        else:
            yield fail(f"{where}: the fixed counter has {half} half clocks, a general one {clock} clocks.")


def parts(bench):
    return add_up(bench, PARTS, lambda pmu: not places.exists(bench.machine, pmu))


CHECKS = (
    Check("clocks", "Has each channel a clock that memory has, and its fixed counter half of it?",
          "Intel's list calls the fixed counter HCLOCKTICKS. They start and stop in one clock; 64 counts, and 0.1 % "
          "with the in-tree driver, which starts one after the other, are allowed. Channels 2, 5, 8 and 11 seldom exist, which is told, no fault.",
          clocks),
    Check("parts", "Are reads + writes all lines, and are kinds of reads all reads?",
          "A clock has one CAS command at most, so bits of a umask never meet and counts of one window add up.", parts),
    free.check({"read": READ, "write": WRITE}, GENERAL),
)
