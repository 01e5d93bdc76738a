# SPDX-License-Identifier: GPL-2.0-or-later
"""Machine specs: from "snbep,sockets=2" to what QEMU has to be told.

A spec is the name of a machine in MACHINES and, after commas, KEY=VALUE pairs
to change it. qemu_args() gives the -device arguments for the model's devices,
want() what else the machine needs; the control device is control_args().
describe() is the text of --model help. Whatever is wrong with a spec is a
ValueError with a sentence that says what would be right.
"""


class Key:
    """One KEY of a spec: parse(text) gives its value or raises ValueError.

    shown is the default as a user would write it, or in words.
    """

    def __init__(self, default, text, parse, shown=None):
        self.default = default
        self.text = text
        self.parse = parse
        self.shown = shown or str(default)


class Machine:
    """A row of the table.

    device_args(values) gives QEMU arguments; arch, cpu (for -cpu, or None)
    and machine (for -machine) go to whoever starts QEMU.
    """

    def __init__(self, text, arch, machine, cpu, keys, device_args):
        self.text = text
        self.arch = arch
        self.machine = machine
        self.cpu = cpu
        self.keys = keys
        self.device_args = device_args


class Want:
    """What a spec asks of the machine beside its devices."""

    def __init__(self, arch, machine, cpu, sockets):
        self.arch = arch
        self.machine = machine
        self.cpu = cpu
        self.sockets = sockets


def _number(low, high):
    def parse(text):
        try:
            value = int(text, 0)
        except ValueError:
            value = None
        if value is None or not low <= value <= high:
            raise ValueError(f"a number from {low} to {high}")
        return value
    return parse


def _switch(text):
    if text not in ("on", "off"):
        raise ValueError("on or off")
    return text


def _numbers(low, high):
    one = _number(low, high)

    def parse(text):
        try:
            return [one(part) for part in text.split("+")]
        except ValueError as error:
            raise ValueError(f"{error}, several joined by +") from None
    return parse


def _channels(text):
    try:
        channels = [tuple(int(n) for n in part.split("."))
                    for part in text.split("+")]
        if all(len(pair) == 2 and min(pair) >= 0 for pair in channels):
            return channels
    except ValueError:
        pass
    raise ValueError("SOCKET.CHANNEL, several joined by +, as in 0.2+1.3")


# The bus numbers of a two-socket Sandy Bridge-EP, and its slots.
_SNBEP_BUSES = (0x3f, 0x7f)
_SNBEP_UBOX = "0b.0"
_SNBEP_CHANNELS = ("10.0", "10.1", "10.4", "10.5")

_SNBEP_KEYS = {
    "sockets": Key(1, "number of sockets, 1 or 2", _number(1, 2)),
    "dclk": Key(800000000, "DRAM clock in Hz", _number(1, 2000000000)),
    "dead": Key([], "channels whose clock stands still, SOCKET.CHANNEL"
                    " joined by +, as in 0.2+1.3", _channels, "none"),
    "nodeids": Key(None, "node ids of the sockets joined by +, as in 1+0",
                   _numbers(0, 7), "0+1"),
    "gidnidmap": Key(0x00fac688,
                     "package to node id map: bits 3i+2:3i hold the node id of"
                     " package i",
                     _number(0, 0xffffff), "0x00fac688, the identity"),
    "reset-bits": Key("off", "on: BOX_CTL bits 1:0 reset counters and"
                             " controls; off: they are reserved", _switch),
    "strict": Key("off", "on: report and count writes to reserved bits",
                  _switch),
}


def _snbep(values):
    sockets = values["sockets"]
    nodeids = values["nodeids"] or list(range(sockets))
    if len(nodeids) != sockets:
        raise ValueError(f"nodeids names {len(nodeids)} of {sockets}"
                         " sockets: give one for each, joined by +")
    for socket, channel in values["dead"]:
        if socket >= sockets or channel >= len(_SNBEP_CHANNELS):
            raise ValueError(
                f"dead names channel {socket}.{channel}: there are sockets 0"
                f" to {sockets - 1} and channels 0 to"
                f" {len(_SNBEP_CHANNELS) - 1}")
    args = []
    for socket in range(sockets):
        bus = f"uncore{socket}"
        args += ["-device", f"pxb-pcie,id=root{socket},bus=pcie.0,"
                            f"bus_nr={_SNBEP_BUSES[socket] - 1}",
                 "-device", f"i82801b11-bridge,id={bus},bus=root{socket}"]
        args += ["-device", f"snbep-ubox,bus={bus},addr={_SNBEP_UBOX},"
                            f"multifunction=on,socket={socket},"
                            f"nodeid={nodeids[socket]},"
                            f"gidnidmap={values['gidnidmap']:#x}"]
        for channel, addr in enumerate(_SNBEP_CHANNELS):
            dead = "on" if (socket, channel) in values["dead"] else "off"
            args += ["-device",
                     f"snbep-imc,bus={bus},addr={addr},multifunction=on,"
                     f"socket={socket},channel={channel},"
                     f"dclk={values['dclk']},dead={dead},"
                     f"reset-bits={values['reset-bits']},"
                     f"strict={values['strict']}"]
    return args


MACHINES = {
    "snbep": Machine("Sandy Bridge-EP: UBOX and four memory channels a socket",
                     "x86_64", "q35",
                     "SandyBridge,model=45,-hypervisor,-tsc-deadline",
                     _SNBEP_KEYS, _snbep),
}


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
    """What the spec asks of the machine: arch, machine, cpu, sockets."""
    machine, values = parse(spec)
    machine.device_args(values)     # a spec that is wrong is wrong here too
    return Want(machine.arch, machine.machine, machine.cpu,
                values.get("sockets", 1))


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
