# SPDX-License-Identifier: GPL-2.0-only
"""What is otherwise on the memory channels of Sapphire, Emerald and Granite Rapids. Facts:
Documentation/hardware/intel_imc.md, 15."""
from .. import xeons

# Of family 6: Granite Rapids, and those that the in-tree driver serves by the same code; Sapphire and Emerald Rapids, too
GRANITE = [model for model, row in xeons.MODELS.items() if row[3] == "gnr"]
MODELS = [model for model, row in xeons.MODELS.items() if row[3] in ("gnr", "spr")]

CLOCKS = 2              # DCLKs to a count of the fixed counter, if it is as on Ice Lake: no source says

# Of page hits and power; a pseudo-channel each has a queue, so the latency is that of the first.
PAIRS = {
    "pages": {"act": "event=0x2,umask=0xff", "cas": "event=0x5,umask=0xff"},
    "latency": {"occupancy": "event=0x80", "inserts": "event=0x10,umask=0x1"},
    "power": {"ppd": "event=0x85", "refresh": "event=0x43"},
}


# Of both sub-channels, each of which has a counter; our driver has one event for them.
HALVES = {"rd": ["event=0x05,umask=0xcf", "event=0x06,umask=0xcf"], "wr": ["event=0x05,umask=0xf0", "event=0x06,umask=0xf0"]}


# The in-tree driver of older kernels has no names.
FIELDS = {"rd": ["event=0x05,umask=0xcf"], "wr": ["event=0x05,umask=0xf0"]}


def lines(model, pmu):
    """What counts lines, if it is not by the names of other processors: older kernels have these for one sub-channel."""
    if not is_one(model) or "both" in pmu.formats:
        return None
    return HALVES if model[1] in GRANITE else None if "cas_count_read" in pmu.events else FIELDS


def is_one(model):
    """Of (family, model, ...)"""
    return bool(model) and model[0] == 6 and model[1] in MODELS


def pairs(model):
    """On Granite Rapids reads and writes of both sub-channels take all counters."""
    return {} if model[1] in GRANITE else PAIRS
