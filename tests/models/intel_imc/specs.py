# SPDX-License-Identifier: GPL-2.0-or-later
"""Machine specs with Intel's memory controllers: UBOX and channels."""
import copy

from models.common.spec import Key, Machine, number


class _Part:
    """A processor: where its functions are, and what makes a CPU look like it.

    channels has the slots of the memory channels by number; or mmio is that of
    the function that leads to channels in memory space. The buses are one
    number a socket, or die. dummies has the ids of the functions 0 that are neither
    UBOX nor channel, by slot. tables are the buses of the functions with a table
    of the counters, nchannels the number of channels in memory. many are the
    buses of machines with more sockets. third: a controller may have one.
    bare: the table may be all that leads to the channels.
    """

    def __init__(self, text, cpu, ubox, channels=(), dummies=(),
                 ubox_buses=(0x3f, 0x7f), imc_buses=None, append="",
                 mmio=None, nchannels=0, tables=(), many=(), third=False,
                 bare=False):
        self.text = text
        self.cpu = cpu
        self.ubox = ubox
        self.channels = channels
        self.dummies = dict(dummies)
        self.ubox_buses = ubox_buses
        self.imc_buses = imc_buses or ubox_buses
        self.append = append
        self.mmio = mmio
        self.nchannels = len(channels) or nchannels
        self.tables = tables
        self.many = many
        self.third = third
        self.bare = bare

    def of(self, sockets):
        """The part as a machine with so many sockets has it."""
        if sockets <= len(self.ubox_buses):
            return self
        part = copy.copy(self)
        part.ubox_buses = part.imc_buses = self.many
        part.tables = self.tables and tuple(bus - 0x14 for bus in self.many)
        return part


_HSWEP_CHANNELS = ("14.0", "14.1", "15.0", "15.1",
                   "17.0", "17.1", "18.0", "18.1")

# The UBOX is on the socket's first bus, which is a root bus of the chipset for
# socket 0; the memory controllers are on a higher bus. Kernels know that this
# model needs IBRS, which TCG does not have, and would warn.
_SKX = dict(ubox="08.0",
            channels=("0a.2", "0a.6", "0b.2", "0c.2", "0c.6", "0d.2"),
            dummies={"0a": 0x2040, "0b": 0x2048, "0c": 0x2040, "0d": 0x2048},
            ubox_buses=(0x00, 0x81, 0xb1, 0xd8),
            imc_buses=(0x3a, 0xae, 0xd6, 0xfc),
            append="retbleed=off")

# More than two sockets have fewer buses each; up to 8 are in the UBOX's map.
_MANY = tuple(range(0x1e, 0x100, 0x20))

# The table is on a lower bus than the UBOX.
_SPR = dict(ubox="00.0", mmio="00.1", ubox_buses=(0x7e, 0xfe),
            tables=(0x6a, 0xea), many=_MANY)

_PARTS = {
    "snbep": _Part("Sandy Bridge-EP", "model=45", "0b.0",
                   ("10.0", "10.1", "10.4", "10.5")),
    "ivbep": _Part("Ivy Bridge-EP/EX", "model=62,stepping=4", "0b.0",
                   ("10.4", "10.5", "10.0", "10.1",
                    "1e.4", "1e.5", "1e.0", "1e.1")),
    "hswep": _Part("Haswell-EP/EX", "model=63,stepping=2", "10.5",
                   _HSWEP_CHANNELS, {"10": 0x2f1d}),
    "bdxep": _Part("Broadwell-EP/EX", "model=79,stepping=1", "10.5",
                   _HSWEP_CHANNELS, {"10": 0x6f1d}),
    "bdxde": _Part("Broadwell-DE", "model=86,stepping=3", "10.5",
                   _HSWEP_CHANNELS, {"10": 0x6f1d}),
    "skx": _Part("Skylake-SP", "model=85,stepping=4", **_SKX),
    "clx": _Part("Cascade Lake-SP", "model=85,stepping=7", **_SKX),
    "icx": _Part("Ice Lake-SP", "model=106,stepping=6", "00.0", mmio="00.1",
                 nchannels=8, ubox_buses=(0x7e, 0xfe), many=_MANY, third=True),
    "spr": _Part("Sapphire Rapids", "model=143,stepping=6", nchannels=8,
                 **_SPR),
    "emr": _Part("Emerald Rapids", "model=207,stepping=2", nchannels=8,
                 **_SPR),
    "gnr": _Part("Granite Rapids", "model=173,stepping=1", nchannels=12,
                 **_SPR),
    "gnrd": _Part("Granite Rapids-D", "model=174,stepping=1", nchannels=4,
                  **_SPR),
    "srf": _Part("Sierra Forest", "model=175,stepping=3", nchannels=8, **_SPR),
    "unlisted": _Part("a Xeon with a table that no list of models has",
                      "model=238,stepping=0", nchannels=5, bare=True, **_SPR),
    "icxd": _Part("Ice Lake-D", "model=108,stepping=1", "00.0", mmio="00.1",
                  nchannels=4, ubox_buses=(0x7e, 0xfe)),
    "snr": _Part("Snow Ridge", "model=134,stepping=1", "00.0", mmio="00.1",
                 nchannels=2, ubox_buses=(0x7e, 0xfe)),
}

_KEYS = {"sockets": Key(1, "number of sockets, 1 or 2", number(1, 2))}
_MANY_KEYS = {"sockets": Key(1, "number of sockets, 1 to 8", number(1, 8))}

# Each die is like a socket: a UBOX and memory controllers. For the kernel to
# see dies, QEMU has CPUID leaf 1f, and dies itself if anybody asks for a
# subleaf that is none. SeaBIOS does, for leaves that do not exist and are
# answered as the last one: so there is one more.
_DIES = {"dies": Key(1, "number of dies a socket, 1 or 2", number(1, 2))}
_DIES_CPU = ",level=0x20"

_THIRD = {"third": Key(0, "bit for each controller whose third channel is "
                          "active, on all sockets", number(0, 15))}

# Ids that no driver knows, of the functions that lead to channels and tables
_BARE = {"bare": Key(0, "1: the table's function has an id that no driver "
                        "knows, and no other leads to the channels",
                     number(0, 1))}
_BARE_IDS = (0x3aa1, 0x0aa7)


def _expander(bus, name):
    """A bus of that number: only bridges fit on an expander's root bus."""
    return ["-device", f"pxb-pcie,id=root-{name},bus=pcie.0,bus_nr={bus - 1}",
            "-device", f"i82801b11-bridge,id={name},bus=root-{name}"]


def _express(bus, name):
    """The same for PCI Express, with what a scan wants at function 0."""
    return ["-device", f"pxb-pcie,id=root-{name},bus=pcie.0,bus_nr={bus - 1}",
            "-device", f"pcie-root-port,id={name},bus=root-{name},slot={bus},"
                       f"chassis={bus},hotplug=off",
            "-device", f"uncore-dummy,bus={name},addr=00.0,multifunction=on,"
                       "device-id=0x09a6"]


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
            args += ["-device", f"uncore-dummy,bus={bus},addr={device}.0,"
                                "multifunction=on,"
                                f"device-id={part.dummies[device]:#x}"]
    return args


def _device_id(values, which):
    return f",device-id={_BARE_IDS[which]}" if values.get("bare") else ""


def _socket_args(name, part, socket, values):
    args, ubox_bus, imc_bus = _buses(part, socket)
    args += ["-device", f"{name}-ubox,bus={ubox_bus},addr={part.ubox},"
                        f"multifunction=on,socket={socket}"]
    slots = list(part.channels)
    if ubox_bus == imc_bus:
        slots.append(part.ubox)
    args += _dummies(part, imc_bus, slots)
    for channel, slot in enumerate(part.channels):
        args += ["-device",
                 f"{name}-imc,bus={imc_bus},addr={slot},multifunction=on,"
                 f"socket={socket},channel={channel}"]
    if part.mmio:
        args += ["-device", f"{name}-mmio,bus={imc_bus},addr={part.mmio},"
                            f"multifunction=on,socket={socket},"
                            f"third={values.get('third', 0)}"
                            + _device_id(values, 0)]
    return args


def _table_args(name, part, socket, values):
    bus = part.tables[socket]
    return _express(bus, f"table{socket}") + [
        "-device", f"{name}-discovery,bus=table{socket},addr=00.1,"
                   f"multifunction=on,socket={socket}"
                   + _device_id(values, 1)]


def _intel(name):
    """The row of an Intel part: its sockets' UBOXes and channels.

    rdrand: without a source of randomness the first to read /dev/urandom has to
    gather some from jitter, which under load can take a guest minutes.
    """
    part = _PARTS[name]
    several = len(part.ubox_buses) > 2

    def device_args(values):
        nodes = values["sockets"] * values.get("dies", 1)
        machine = part.of(nodes)
        args = [argument for node in range(nodes)
                for argument in _socket_args(name, machine, node, values)]
        # QEMU tells the kernel of the last one first. On a real machine buses
        # come in ascending order, and the in-tree driver relies on that.
        for node in reversed(range(nodes if part.tables else 0)):
            args += _table_args(name, machine, node, values)
        return args

    return Machine(f"{part.text}: UBOX and {part.nchannels}"
                   " memory channels a socket", "x86_64", "q35",
                   f"SandyBridge,model-id=Intel Xeon ({part.text}),{part.cpu},"
                   "-hypervisor,-tsc-deadline,+rdrand"
                   + (_DIES_CPU if several else ""),
                   {**(_MANY_KEYS if part.many else _KEYS),
                    **(_DIES if several else {}),
                    **(_THIRD if part.third else {}),
                    **(_BARE if part.bare else {})}, device_args,
                   part.append)


MACHINES = {name: _intel(name) for name in _PARTS}
