# SPDX-License-Identifier: GPL-2.0-or-later
"""Machine specs with Intel's memory controllers: UBOX and channels."""
from models.common.spec import Key, Machine, number, numbers, switch


def _channels(text):
    try:
        channels = [tuple(int(n) for n in part.split("."))
                    for part in text.split("+")]
        if all(len(pair) == 2 and min(pair) >= 0 for pair in channels):
            return channels
    except ValueError:
        pass
    raise ValueError("SOCKET.CHANNEL, several joined by +, as in 0.2+1.3")


class _Part:
    """A processor: where its functions are, and what makes a CPU look like it.

    controllers has the slots of each memory controller's channels. The buses
    are one number a socket. dummies has the ids of the functions 0 that are
    neither UBOX nor channel, by slot.
    """

    def __init__(self, text, cpu, ubox, controllers, dummies=(),
                 ubox_buses=(0x3f, 0x7f), imc_buses=None, keys=(),
                 append=""):
        self.text = text
        self.cpu = cpu
        self.ubox = ubox
        self.controllers = controllers
        self.dummies = dict(dummies)
        self.ubox_buses = ubox_buses
        self.imc_buses = imc_buses or ubox_buses
        self.keys = keys
        self.append = append

    def channels(self, controllers):
        """{number: slot} of the first so many controllers, None: of all."""
        slots = [slot for controller in self.controllers[:controllers]
                 for slot in controller]
        return dict(enumerate(slots))


_HSWEP_CONTROLLERS = (("14.0", "14.1", "15.0", "15.1"),
                      ("17.0", "17.1", "18.0", "18.1"))

# The UBOX is on the socket's first bus, which is a root bus of the chipset for
# socket 0; the memory controllers are on a higher bus. Kernels know that this
# model needs IBRS, which TCG does not have, and would warn.
_SKX = dict(ubox="08.0",
            controllers=(("0a.2", "0a.6", "0b.2"), ("0c.2", "0c.6", "0d.2")),
            dummies={"0a": 0x2040, "0b": 0x2048, "0c": 0x2040, "0d": 0x2048},
            ubox_buses=(0x00, 0x81), imc_buses=(0x3a, 0xae),
            append="retbleed=off")

_PARTS = {
    "snbep": _Part("Sandy Bridge-EP", "model=45", "0b.0",
                   (("10.0", "10.1", "10.4", "10.5"),), keys=("reset-bits",)),
    "ivbep": _Part("Ivy Bridge-EP/EX", "model=62,stepping=4", "0b.0",
                   (("10.4", "10.5", "10.0", "10.1"),
                    ("1e.4", "1e.5", "1e.0", "1e.1"))),
    "hswep": _Part("Haswell-EP/EX", "model=63,stepping=2", "10.5",
                   _HSWEP_CONTROLLERS, {"10": 0x2f1d}),
    "bdxep": _Part("Broadwell-EP/EX", "model=79,stepping=1", "10.5",
                   _HSWEP_CONTROLLERS, {"10": 0x6f1d}),
    "bdxde": _Part("Broadwell-DE", "model=86,stepping=3", "10.5",
                   _HSWEP_CONTROLLERS, {"10": 0x6f1d}),
    "skx": _Part("Skylake-SP", "model=85,stepping=4", **_SKX),
    "clx": _Part("Cascade Lake-SP", "model=85,stepping=7", **_SKX),
}

_KEYS = {
    "sockets": Key(1, "number of sockets, 1 or 2", number(1, 2)),
    "controllers": Key(None, "number of memory controllers a socket, 1 or 2",
                       number(1, 2), "2"),
    "channels": Key(None, "numbers of the channels that are there, joined by"
                          " +, as in 0+1", numbers(0, 7), "all"),
    "dclk": Key(800000000, "DRAM clock in Hz", number(1, 2000000000)),
    "dead": Key([], "channels whose clock stands still, SOCKET.CHANNEL"
                    " joined by +, as in 0.2+1.3", _channels, "none"),
    "nodeids": Key(None, "node ids of the sockets joined by +, as in 1+0",
                   numbers(0, 7), "0+1"),
    "gidnidmap": Key(0x00fac688,
                     "package to node id map: bits 3i+2:3i hold the node id of"
                     " package i",
                     number(0, 0xffffff), "0x00fac688, the identity"),
    "reset-bits": Key("off", "on: BOX_CTL bits 1:0 reset counters and"
                             " controls; off: they are reserved", switch),
    "strict": Key("off", "on: report and count writes to reserved bits",
                  switch),
}


def _part_keys(part):
    absent = {"reset-bits"} - set(part.keys)
    if len(part.controllers) == 1:
        absent.add("controllers")
    return {key: row for key, row in _KEYS.items() if key not in absent}


def _expander(bus, name):
    """A bus of that number: only bridges fit on an expander's root bus."""
    return ["-device", f"pxb-pcie,id=root-{name},bus=pcie.0,bus_nr={bus - 1}",
            "-device", f"i82801b11-bridge,id={name},bus=root-{name}"]


def _buses(part, socket):
    """(arguments, name of the UBOX's bus, name of the channels' bus)."""
    ubox, imc = part.ubox_buses[socket], part.imc_buses[socket]
    args = _expander(imc, f"uncore{socket}")
    if ubox == imc:
        return args, f"uncore{socket}", f"uncore{socket}"
    if ubox == 0:
        return args, "pcie.0", f"uncore{socket}"
    return (_expander(ubox, f"first{socket}") + args,
            f"first{socket}", f"uncore{socket}")


def _dummies(part, bus, slots):
    """What is at function 0 where there are others: a scan starts there."""
    devices = {slot.partition(".")[0] for slot in slots}
    args = []
    for device in sorted(devices):
        if f"{device}.0" not in slots:
            device_id = part.dummies.get(device, 0)
            args += ["-device", f"uncore-dummy,bus={bus},addr={device}.0,"
                                f"multifunction=on,device-id={device_id:#x}"]
    return args


def _populated(part, values):
    """{number: slot} of the channels that a spec asks for."""
    there = part.channels(values.get("controllers"))
    numbers = values["channels"]
    if numbers is None:
        return there
    if absent := sorted(set(numbers) - set(there)):
        raise ValueError(f"channels names {absent[0]}: there are 0 to"
                         f" {len(there) - 1}")
    return {number: there[number] for number in sorted(set(numbers))}


def _check_sockets(values, channels):
    sockets = values["sockets"]
    if values["nodeids"] and len(values["nodeids"]) != sockets:
        raise ValueError(f"nodeids names {len(values['nodeids'])} of {sockets}"
                         " sockets: give one for each, joined by +")
    for socket, channel in values["dead"]:
        if socket >= sockets or channel not in channels:
            raise ValueError(
                f"dead names channel {socket}.{channel}: there are sockets 0"
                f" to {sockets - 1} and channels "
                + ", ".join(map(str, channels)))


def _socket_args(name, values, channels, socket):
    part = _PARTS[name]
    args, ubox_bus, imc_bus = _buses(part, socket)
    nodeid = (values["nodeids"] or (0, 1))[socket]
    args += ["-device", f"{name}-ubox,bus={ubox_bus},addr={part.ubox},"
                        f"multifunction=on,socket={socket},nodeid={nodeid},"
                        f"gidnidmap={values['gidnidmap']:#x}"]
    slots = list(channels.values())
    if ubox_bus == imc_bus:
        slots.append(part.ubox)
    args += _dummies(part, imc_bus, slots)
    for channel, slot in channels.items():
        dead = "on" if (socket, channel) in values["dead"] else "off"
        reset_bits = values.get("reset-bits", "off")
        args += ["-device",
                 f"{name}-imc,bus={imc_bus},addr={slot},multifunction=on,"
                 f"socket={socket},channel={channel},dclk={values['dclk']},"
                 f"dead={dead},reset-bits={reset_bits},"
                 f"strict={values['strict']}"]
    return args


def _intel(name):
    """The row of an Intel part: its sockets' UBOXes and channels.

    rdrand: without a source of randomness the first to read /dev/urandom has to
    gather some from jitter, which under load can take a guest minutes.
    """
    part = _PARTS[name]

    def device_args(values):
        channels = _populated(part, values)
        _check_sockets(values, channels)
        return [argument for socket in range(values["sockets"])
                for argument in _socket_args(name, values, channels, socket)]

    counts = " + ".join(str(len(slots)) for slots in part.controllers)
    return Machine(f"{part.text}: UBOX and {counts} memory channels a socket",
                   "x86_64", "q35",
                   f"SandyBridge,{part.cpu},-hypervisor,-tsc-deadline,+rdrand",
                   _part_keys(part), device_args, part.append)


MACHINES = {name: _intel(name) for name in _PARTS}
