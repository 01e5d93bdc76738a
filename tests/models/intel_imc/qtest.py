# SPDX-License-Identifier: GPL-2.0-or-later
"""A PC without firmware, driven by the qtest port, and a memory channel on it.

Configuration accesses go through ports 0xCF8/0xCFC.
"""

import time

from models.common.qtest import QtestMachine

PCI_CLASS_BRIDGE = 0x0604


class Machine(QtestMachine):
    """A PC."""

    ARCH = "x86_64"
    BAR = 0xe0000000

    def boot(self):
        self.number_buses()
        self.place_control()

    # Configuration space; an address is (bus, device, function).

    def select(self, address, register):
        bus, device, function = address
        where = (1 << 31 | bus << 16 | device << 11 | function << 8
                 | register & 0xfc)
        self.qtest(f"outl 0xcf8 {where:#x}")

    def config_read(self, address, register, size=4):
        self.select(address, register)
        letter = {1: "b", 2: "w", 4: "l"}[size]
        return int(self.qtest(f"in{letter} {0xcfc + register % 4:#x}")[0], 16)

    def config_write(self, address, register, value, size=4):
        self.select(address, register)
        letter = {1: "b", 2: "w", 4: "l"}[size]
        self.qtest(f"out{letter} {0xcfc + register % 4:#x} {value:#x}")

    def number_buses(self):
        """Give the bridges of the expander buses the number after theirs."""
        self.bridges = [(bus, 0, 0) for bus in range(1, 256)
                        if self.config_read((bus, 0, 0), 8) >> 16
                        == PCI_CLASS_BRIDGE]
        for bridge in self.bridges:
            bus = bridge[0]
            self.config_write(bridge, 0x18, bus | bus + 1 << 8 | bus + 1 << 16)

    def reset(self):
        """Press the reset button of the chipset and set up everything again."""
        self.qtest("outb 0xcf9 6")
        while self.config_read(self.bridges[0], 0x18):
            time.sleep(0.01)    # the reset is the main loop's to do
        self.boot()

    def events(self, model):
        """{name: (code, umask, largest increment...)} of what can happen there"""
        listed = [line.split()[1:] for line in self.control("list", model).splitlines() if line.startswith("event ")]
        events = {name: tuple(int(word.partition("=")[2], 0) for word in numbers) for name, _, *numbers in listed}
        assert len(events) == len(listed), "two events have one name"
        return events

    def sleep(self):
        """Suspend to S3, be woken by the model, and set up everything again."""
        self.config_write((0, 31, 0), 0x40, 0x601)      # ACPI registers at 0x600
        self.config_write((0, 31, 0), 0x44, 0x80)
        self.control("set", "firmware", "wake", 1)
        self.config_write(self.bridges[0], 0x3c, 0xff)  # the interrupt line, which nobody keeps
        self.qtest("outw 0x604 0x2400")                 # PM1_CNT: sleep, type S3
        while self.config_read(self.bridges[0], 0x3c) & 0xff:
            time.sleep(0.01)    # waking up resets
        self.boot()


class Channel:
    """The registers of a memory channel, by section 2 of
    Documentation/hardware/intel_imc.md.

    address is where it is, on Sandy Bridge-EP unless given.
    """

    SLOTS = ((16, 0), (16, 1), (16, 4), (16, 5))
    CTR = (0xa0, 0xa8, 0xb0, 0xb8)
    CTL = (0xd8, 0xdc, 0xe0, 0xe4)
    FIXED_CTR, FIXED_CTL, BOX_CTL, BOX_STATUS = 0xd0, 0xf0, 0xf4, 0xf8

    def __init__(self, machine, channel=0, socket=0, address=None):
        self.machine = machine
        self.address = address or ((0x3f, 0x7f)[socket],
                                   *self.SLOTS[channel])
        self.name = f"imc{channel}@{socket}"

    def read(self, register, size=4):
        return self.machine.config_read(self.address, register, size)

    def write(self, register, value, size=4):
        self.machine.config_write(self.address, register, value, size)

    def counter(self, register):
        """Low, then high."""
        low = self.read(register)
        return low | self.read(register + 4) << 32

    def set(self, key, value):
        self.machine.control("set", self.name, key, value)

    def get(self, key):
        return int(self.machine.control("get", self.name, key))

    def add(self, event, *numbers):
        self.machine.control("add", self.name, event, *numbers)
