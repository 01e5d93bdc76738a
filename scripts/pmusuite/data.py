# SPDX-License-Identifier: GPL-2.0-only
"""Data that others made: not in the tree, below the directory that PMU_DATA names (../shared beside the tree).

Nothing else that the suite reads lies outside of the tree and of Debian's packages.
"""
import os
from pathlib import Path

from .cache import TREE

ROOT = Path(os.environ.get("PMU_DATA") or TREE.parent / "shared")

P9_CATALOG = "data/ima-catalog/81E00612.4E0200.dts"
P10_CATALOG = "data/ima-catalog/81E00612.800200.dts"
CMN_EVENTS = "hardware/cmn-events.csv"
XEON_EVENTS = "hardware/xeon-mmio-events.csv"

_OPEN_POWER = "it is in github.com/open-power/ima-catalog"

# Where people get them.
_ORIGINS = {
    P9_CATALOG: _OPEN_POWER,
    P10_CATALOG: _OPEN_POWER,
    CMN_EVENTS: "nobody publishes it; it can be made of the event lists in Arm's reference manuals or in Linux'"
                " drivers/perf/arm-cmn.c, with the columns that Documentation/testing.md names",
    XEON_EVENTS: "nobody publishes it; it can be made of the lists of uncore events in github.com/intel/perfmon, with the"
                 " columns that Documentation/testing.md names",
}

NAMES = tuple(_ORIGINS)


def path(name):
    """The file @name, one of those above; None where it is not."""
    found = ROOT / name
    return found if found.is_file() else None


def missing(name):
    """What to say where path() is None."""
    return f"{ROOT / name} is not there: {_ORIGINS[name]}; PMU_DATA may name another directory than {ROOT}"
