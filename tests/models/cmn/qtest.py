# SPDX-License-Identifier: GPL-2.0-or-later
"""The arm64 board without firmware, driven by the qtest port, and a mesh on it.

Nothing here asks the model where something is: addresses, ids and layouts are
those of Documentation/hardware/cmn.md, or come out of the discovery that a
driver would do.
"""

import json
import socket

from models.common.qtest import QtestMachine, specs

GICD = 0x08000000
ISENABLER, ISPENDR = 0x100, 0x200
FIRST_SPI = 192


class VirtMachine(QtestMachine):
    """One stock QEMU with a mesh; configuration space is memory."""

    ARCH = "arm64"
    BAR = 0x10000000
    ECAM = 0x4010000000
    RAM = 0x40000000

    def __init__(self, *all_specs):
        ours, theirs = socket.socketpair()
        self.qmp = ours.makefile("rw")
        ours.close()
        args = ["-M", specs.want(all_specs[0]).machine, "-cpu", "cortex-a57",
                "-nodefaults", "-m", "128",
                "-chardev", f"socket,id=qmp,fd={theirs.fileno()}",
                "-mon", "chardev=qmp,mode=control"]
        for spec in all_specs:
            args += specs.qemu_args(spec)
        with theirs:
            self.start(args + specs.control_args(),
                       pass_fds=[theirs.fileno()])

    def boot(self):
        """A mesh that cannot be keeps the machine from starting."""
        try:
            self.place_control()
        except RuntimeError:
            self.close()
            raise

    def close(self):
        self.qmp.close()
        try:
            super().close()
        except BrokenPipeError:
            pass        # it is not there any more

    # Configuration space; an address is (bus, device, function).

    def config_address(self, address, register):
        bus, device, function = address
        return (self.ECAM + (bus << 20 | device << 15 | function << 12)
                + register)

    def config_read(self, address, register):
        return self.read32(self.config_address(address, register))

    def config_write(self, address, register, value):
        self.write32(self.config_address(address, register), value)

    # Memory and registers

    def read32(self, address):
        return int(self.qtest(f"readl {address:#x}")[0], 16)

    def read64(self, address):
        return int(self.qtest(f"readq {address:#x}")[0], 16)

    def write32(self, address, value):
        self.qtest(f"writel {address:#x} {value:#x}")

    def write64(self, address, value):
        self.qtest(f"writeq {address:#x} {value:#x}")

    def memory(self, address, length):
        return bytes.fromhex(self.qtest(f"read {address:#x} {length}")[0][2:])

    def interrupts(self, spi):
        """Is the interrupt's line high, as the GIC sees it?"""
        intid = spi + 32
        pending = self.read32(GICD + ISPENDR + 4 * (intid // 32))
        return bool(pending >> intid % 32 & 1)

    def reset(self):
        """Press the reset button and set up everything again."""
        for name in ("qmp_capabilities", "system_reset"):
            self.qmp.write(json.dumps({"execute": name}) + "\n")
        self.qmp.flush()
        while self.message().get("event") != "RESET":
            pass
        self.place_control()

    def message(self):
        line = self.qmp.readline()
        if not line:
            raise RuntimeError(f"no QMP answer: {self.log()}")
        return json.loads(line)


class Node:
    """A node as discovery sees it."""

    def __init__(self, mesh, frame, pointer=0):
        self.mesh = mesh
        self.frame = frame
        self.external = bool(pointer >> 31 & 1)
        self.isolated = bool(pointer >> 30 & 1)
        if not self.external:
            info = self.read(0)
            self.type = info & 0xffff
            self.id = info >> 16 & 0xffff
            self.logical = info >> 32 & 0xffff
            self.ports = info >> 48 & 0xf

    def read(self, offset):
        return self.mesh.read(self.frame + offset)

    def read32(self, offset):
        return self.mesh.read32(self.frame + offset)

    def write(self, offset, value):
        self.mesh.write(self.frame + offset, value)

    def write32(self, offset, value):
        self.mesh.write32(self.frame + offset, value)

    def children(self, mask):
        info = self.read(0x80)
        array = info >> 16 & 0xffff
        pointers = [self.read(array + 8 * n) for n in range(info & 0xffff)]
        return [Node(self.mesh, pointer & mask, pointer)
                for pointer in pointers]


class Mesh:
    """The registers of a mesh, by Documentation/hardware/cmn.md, 1 to 4."""

    # Product: root frame, PMU block of an XP and of other nodes, pointer mask
    PRODUCTS = {
        "cmn600": (0x104000, 0x2000, 0x2000, (1 << 28) - 1),
        "cmn600ae": (0x104000, 0x2000, 0x2000, (1 << 28) - 1),
        "cmn650": (0, 0x2000, 0x2000, (1 << 30) - 1),
        "ci700": (0, 0x2000, 0x2000, (1 << 30) - 1),
        "cmn700": (0, 0x2000, 0x2000, (1 << 30) - 1),
        "cmns3": (0, 0xd900, 0xd900, (1 << 30) - 1),
        "cmns3r1": (0, 0xa000, 0xd900, (1 << 30) - 1),
    }

    def __init__(self, machine, product, base=1 << 32, root=None):
        self.machine = machine
        self.base = base
        where, self.xp_pmu, self.pmu, self.mask = self.PRODUCTS[product]
        self.root_frame = where if root is None else root

    def read(self, address):
        return self.machine.read64(self.base + address)

    def read32(self, address):
        return self.machine.read32(self.base + address)

    def write(self, address, value):
        self.machine.write64(self.base + address, value)

    def write32(self, address, value):
        self.machine.write32(self.base + address, value)

    def discover(self):
        """The root, XPs by id, all other nodes by (type, id)."""
        self.root = Node(self, self.root_frame)
        xps = self.root.children(self.mask)
        self.xps = {xp.id: xp for xp in xps}
        self.nodes = {}
        self.externals = []
        for xp in xps:
            for node in xp.children(self.mask):
                if node.external:
                    self.externals.append(node)
                    continue
                node.xp = xp
                self.nodes[node.type, node.id] = node
        return self

    def of_type(self, node_type):
        return sorted((node for node in self.nodes.values()
                       if node.type == node_type), key=lambda n: n.logical)


class Dtm:
    """DTM number n of an XP."""

    CONFIG, COUNT = 0x210, 0x220

    def __init__(self, xp, n=0):
        self.xp = xp
        self.at = xp.mesh.xp_pmu + 0x200 * n

    def read(self, register):
        return self.xp.read(self.at + register)

    def write(self, register, value):
        self.xp.write(self.at + register, value)

    def watch(self, n, config, val=0, mask=(1 << 64) - 1):
        for offset, value in ((0x1a0, config), (0x1a8, val), (0x1b0, mask)):
            self.write(offset + 0x18 * n, value)

    def counters(self):
        count = self.read(self.COUNT)
        return [count >> 16 * k & 0xffff for k in range(4)]

    def count(self, *inputs, paired=None):
        """pmu_en and what the counters count; paired has their letters."""
        config = 1
        for k, source in enumerate(inputs):
            config |= source << 32 + 8 * k
        for k, letter in enumerate(paired or ()):
            config |= 1 << 4 + k | letter << 16 + 4 * k
        self.write(self.CONFIG, config)


class Dtc:
    """A DTC by its node."""

    CTL = 0xa00
    EN, CG_DISABLE = 1, 1 << 10
    COUNTERS = (0x00, 0x04, 0x10, 0x14, 0x20, 0x24, 0x30, 0x34)
    CYCLES, PMCR, OVS, OVS_CLR = 0x40, 0x100, 0x118, 0x120
    PMU_EN, INTR_EN = 1, 1 << 6

    def __init__(self, node):
        self.node = node
        self.at = node.mesh.pmu

    def enable(self, more=0):
        self.node.write32(self.CTL, self.EN)
        self.write32(self.PMCR, self.PMU_EN | more)

    def read(self, register):
        return self.node.read(self.at + register)

    def read32(self, register):
        return self.node.read32(self.at + register)

    def write(self, register, value):
        self.node.write(self.at + register, value)

    def write32(self, register, value):
        self.node.write32(self.at + register, value)

    def counter(self, letter):
        return self.read32(self.COUNTERS["ABCDEFGH".index(letter)])

    def set_counter(self, letter, value):
        self.write32(self.COUNTERS["ABCDEFGH".index(letter)], value)
