# SPDX-License-Identifier: GPL-2.0-only
"""Where a memory channel of a Xeon is: its controller, and its NUMA node where a socket has several (SNC).

Our driver has files for this. With the in-tree one the number in the PMU's name tells, as far as sources do. Facts:
Documentation/hardware/intel_imc.md, 16.
"""
import re

from .. import xeons
from . import icelake

def _read(machine, pmu, name):
    return machine.read(pmu.path.relative_to(machine.root) / name) if pmu.path else ""


def _model(machine):
    """(name, numbers of a controller, clusters, events), or None"""
    model = machine.intel_model()
    return xeons.MODELS.get(model[1]) if model and model[0] == 6 else None


def controller(machine, pmu):
    """Its number in the socket, or None."""
    said, model = _read(machine, pmu, "controller"), _model(machine)
    if said.isdigit():
        return int(said)
    return int(pmu.name.rsplit("_", 1)[1]) // model[1] if model else None


def exists(machine, pmu):
    """Is a PMU a channel? Of the in-tree driver's on an Ice Lake not each is."""
    return not icelake.is_one(machine.intel_model()) or icelake.is_there(machine, pmu)


def node(machine, pmu, cpu):
    """The NUMA node of the channel on the socket of @cpu; None if that socket is one node, or nobody tells."""
    sockets = {}
    for one in machine.cpus.values():
        sockets.setdefault((one.package, one.die), set()).update(
            number for number, cpus in machine.nodes.items() if one.number in cpus)
    there = machine.cpus.get(cpu)
    own = sorted(sockets.get((there.package, there.die), ())) if there else []
    # Where CPUs are offline a node may be missing among those of a socket.
    if len(own) < 2 or len(own) * len(sockets) != len(set().union(*sockets.values())):
        return None
    said = re.search(rf"^socket {there.package}: (?:node (\d+)|unknown)$", _read(machine, pmu, "nodes"), re.M)
    if said:
        return int(said[1]) if said[1] else None
    order = (_model(machine) or (None, None, {}))[2].get(len(own))
    return own[order[int(pmu.name.rsplit("_", 1)[1]) // 2 % len(own)]] if order else None
