# SPDX-License-Identifier: GPL-2.0-or-later
"""A channel whose registers are a block in memory, for the tests of its
models: where they are is in Documentation/hardware/intel_imc.md, 14.3."""

import unittest

from models.intel_imc.qtest import Machine

BOX_CTL, FIXED_CTR, FIXED_CTL = 0x00, 0x38, 0x54
CTR = (0x08, 0x10, 0x18, 0x20)
CTL = (0x40, 0x44, 0x48, 0x4c)


class BlockTest(unittest.TestCase):
    """Of the machine self.spec; self.block is an address, of what is meant
    unless another is given."""

    def setUp(self):
        self.machine = Machine(self.spec)
        self.addCleanup(self.machine.close)

    def read(self, address, size):
        letter = {4: "l", 8: "q"}[size]
        return int(self.machine.qtest(f"read{letter} {address:#x}")[0], 16)

    def readq(self, register, block=None):
        return self.read((block or self.block) + register, 8)

    def readl(self, register, block=None):
        return self.read((block or self.block) + register, 4)

    def writel(self, register, value, block=None):
        address = (block or self.block) + register
        self.machine.qtest(f"writel {address:#x} {value:#x}")

    def ctrs(self, block=None):
        return [self.readq(register, block) for register in CTR]

    def get(self, device, key):
        return int(self.machine.control("get", device, key))

    def set(self, device, key, value):
        self.machine.control("set", device, key, value)

    def add(self, device, *words):
        self.machine.control("add", device, *words)
