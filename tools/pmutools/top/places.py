# SPDX-License-Identifier: GPL-2.0-only
"""Where a memory channel of a Xeon is: its controller, and its NUMA node where a socket has several (SNC).

Our driver has files for this. With the in-tree one the number in the PMU's name tells, as far as sources do. Facts:
Documentation/hardware/intel_imc.md, 16.
"""
import re

from . import icelake

# Of model numbers (family 6): how many numbers a controller's channels have
_NUMBERS = {45: 4, 62: 4, 63: 4, 79: 4, 86: 4, 85: 3, 106: 3, 143: 2, 207: 2, 173: 1}
# Of model numbers: {nodes of a socket: which of them the first pairs of channels belong to, and so on}
_CLUSTERS = {143: {2: (0, 1)}, 207: {2: (0, 1)}, 173: {2: (1, 0), 3: (1, 0, 2)}}


def _read(machine, pmu, name):
    return machine.read(pmu.path.relative_to(machine.root) / name) if pmu.path else ""


def _model(machine):
    model = machine.intel_model()
    return model[1] if model and model[0] == 6 else None


def controller(machine, pmu):
    """Its number in the socket, or None."""
    said, model = _read(machine, pmu, "controller"), _model(machine)
    if said.isdigit():
        return int(said)
    return int(pmu.name.rsplit("_", 1)[1]) // _NUMBERS[model] if model in _NUMBERS else None


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
    order = _CLUSTERS.get(_model(machine), {}).get(len(own))
    return own[order[int(pmu.name.rsplit("_", 1)[1]) // 2 % len(own)]] if order else None
