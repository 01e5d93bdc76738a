# SPDX-License-Identifier: GPL-2.0-or-later
"""Machine specs: from "snbep,sockets=2" to what QEMU has to be told.

A spec is the name of a machine in MACHINES and, after commas, KEY=VALUE pairs
to change it. qemu_args() gives the -device arguments for the model's devices,
want() what else the machine needs; the control device is control_args().
describe() is the text of --model help. Whatever is wrong with a spec is a
ValueError with a sentence that says what would be right.
"""
from models.cmn import specs as cmn
from models.common.spec import Machine
from models.intel_imc import specs as intel_imc
from models.power_imc import specs as power_imc

# A board without a PMU.
VIRT = Machine("QEMU's board, without an interconnect", "arm64",
               "virt,gic-version=3", "cortex-a57", {}, lambda values: [])

MACHINES = {**intel_imc.MACHINES, "virt": VIRT, **cmn.MACHINES, **power_imc.MACHINES}


class Want:
    """What a spec asks of the machine beside its devices; sockets is None where it does not say."""

    def __init__(self, machine, sockets, dies):
        self.arch = machine.arch
        self.machine = machine.machine
        self.cpu = machine.cpu
        self.append = machine.append
        self.sockets = sockets
        self.dies = dies


def parse(spec):
    """(Machine, {key: value}) of a spec."""
    name, *pairs = spec.split(",")
    if name not in MACHINES:
        raise ValueError(f"there is no model '{name}': there are "
                         + ", ".join(MACHINES))
    machine = MACHINES[name]
    values = {key: row.default for key, row in machine.keys.items()}
    for pair in pairs:
        key, equals, text = pair.partition("=")
        if key not in machine.keys:
            raise ValueError(f"{name} has no key '{key}': it has "
                             + ", ".join(machine.keys))
        if not equals:
            raise ValueError(f"'{key}' of {name} needs a value: {key}=VALUE,"
                             f" {machine.keys[key].text}")
        try:
            values[key] = machine.keys[key].parse(text)
        except ValueError as error:
            raise ValueError(f"{key}={text} is not possible for {name}: it"
                             f" has to be {error}") from None
    return machine, values


def qemu_args(spec):
    """The -device arguments of the spec's devices."""
    machine, values = parse(spec)
    return machine.device_args(values)


def want(spec):
    """What the spec asks of the machine beside its devices."""
    machine, values = parse(spec)
    machine.device_args(values)     # a spec that is wrong is wrong here too
    return Want(machine, values.get(machine.sockets), values.get("dies", 1))


def guest_files(spec, index):
    """{path: bytes} in the initramfs for the index-th spec of a machine."""
    machine, values = parse(spec)
    return machine.guest_files(values, index)


def control_args():
    """The -device arguments of the control device, once per machine."""
    return ["-device", "pmu-ctl,bus=pcie.0"]


def describe():
    """Lines that say which specs there are."""
    lines = []
    for name, machine in MACHINES.items():
        lines.append(f"{name} ({machine.arch}): {machine.text}")
        for key, row in machine.keys.items():
            lines.append(f"    {key}=...  {row.text} (default"
                         f" {row.shown})")
    return lines
