# SPDX-License-Identifier: GPL-2.0-only
"""What is otherwise on Ice Lake-SP's memory channels. Facts: Documentation/hardware/intel_imc.md, 14."""
import time

from .. import count, xeons
from ..errors import ToolError
from ..sysfs import OURS

MODELS = [model for model, row in xeons.MODELS.items() if row[3] == "icx"]      # of family 6

CLOCKS = 2              # DCLKs to a count of the fixed counter, which is HCLK

# Of page hits and power; a pseudo-channel each has a queue, so the latency is that of the first.
PAIRS = {
    "pages": {"act": "event=0x1,umask=0xb", "cas": "event=0x4,umask=0x3f"},
    "latency": {"occupancy": "event=0x80", "inserts": "event=0x10,umask=0x1"},
    "power": {"ppd": "event=0x85", "refresh": "event=0x43"},
}


def is_one(model):
    """Of (family, model, ...)"""
    return bool(model) and model[0] == 6 and model[1] in MODELS


def is_third(name):
    """Has a PMU the number of a third channel? Hardly any machine's controllers have one."""
    return int(name.rsplit("_", 1)[1]) % 3 == 2


def is_there(machine, pmu):
    """The in-tree driver has three PMUs for each controller, ours has those that there are."""
    return not is_third(pmu.name) or pmu.driver.kind == OURS or has_clock(machine, pmu)


def has_clock(machine, pmu):
    """Does a PMU's clock advance? Not if it may not be counted. Who got no turn to count it cannot say that it does not."""
    try:
        with count.Session([[count.want(cpu, pmu, "event=0x0", cpu)] for cpu in pmu.cpus], machine.paranoid) as session:
            session.enable()
            time.sleep(0.01)
            return any(reading.value or not reading.running for reading in session.read()[0].values())
    except ToolError:
        return False
