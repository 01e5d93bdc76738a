# SPDX-License-Identifier: GPL-2.0-or-later
"""powernv9 and powernv10 without firmware, driven by the qtest port.

SCOM registers are reached through the chips' windows, as firmware does, and
HOMER, pages and buffers as memory. LDBAR, which only its thread can reach, is
set by a control command. Commands go through a socket (pmu-port): the PCI
function would need firmware to be reachable.
"""

import socket
import struct
import unittest

from models.common.qtest import CommandError, QtestMachine

HTM_ON, HTM_OFF = 0xE800000000000000, 0xE000000000000000
ACCUMULATE, TRACE = 1 << 63, 1 << 62
PAGE = 0x40000000           # of core 0, in tests
MS = 1000000


class PowerMachine(QtestMachine):
    """One stock QEMU with power-imc, cores of two threads each."""

    ARCH = "ppc64le"
    WINDOW = 0x000603fc00000000
    CHIP_SHIFT = {"p9": 42, "p10": 44}
    HOMER = {"p9": 0x203ffd800000, "p10": 0x300ffd800000}

    def __init__(self, generation="p9", chips=1, cores=2, threads=2,
                 board=None):
        self.generation = generation
        self.port, port = self.channel()
        self.monitor, monitor = self.channel()
        total = chips * cores * threads
        with port, monitor:
            self.start(
                ["-M", board or f"powernv{generation[1:]}", "-m", "2048",
                 "-smp", f"{total},sockets={chips},cores={cores},"
                         f"threads={threads}",
                 "-device", f"power-imc,generation={generation}",
                 "-chardev", f"socket,id=pmu,fd={port.fileno()}",
                 "-device", "pmu-port,chardev=pmu",
                 "-chardev", f"socket,id=monitor,fd={monitor.fileno()}",
                 "-mon", "chardev=monitor,mode=control"],
                pass_fds=[port.fileno(), monitor.fileno()])

    @staticmethod
    def channel():
        """Our end of a socket as a file, and QEMU's end."""
        ours, theirs = socket.socketpair()
        with ours:
            return ours.makefile("rwb", buffering=0), theirs

    def boot(self):
        """Nothing: the models are there from the start."""

    def close(self):
        self.port.close()
        self.monitor.close()
        super().close()

    def reset(self):
        """Returns when the machine has been reset."""
        self.monitor.write(b'{"execute": "qmp_capabilities"}'
                           b'{"execute": "system_reset"}')
        line = b" "
        while line and b'"RESET"' not in line:
            line = self.monitor.readline()
        if not line:
            raise RuntimeError(f"no reset: {self.log()}")

    def control(self, *words):
        self.port.write(" ".join(map(str, words)).encode() + b"\n")
        head = b""
        while not head.endswith(b"\n"):
            byte = self.port.read(1)
            if not byte:
                raise RuntimeError(f"no answer to {words}: {self.log()}")
            head += byte
        failed, length = map(int, head.split())
        answer = b""
        while len(answer) < length:
            answer += self.port.read(length - len(answer))
        if failed:
            raise CommandError(answer.decode())
        return answer.decode()

    def get(self, device, key):
        return int(self.control("get", device, key))

    def set(self, device, key, value):
        self.control("set", device, key, value)

    def add(self, device, event, *numbers):
        self.control("add", device, event, *numbers)

    # Memory; what the hardware writes is big-endian.

    def read(self, address, length):
        return bytes.fromhex(self.qtest(f"read {address:#x} {length}")[0][2:])

    def write(self, address, data):
        self.qtest(f"write {address:#x} {len(data)} 0x{data.hex()}")

    def load(self, address):
        return struct.unpack(">Q", self.read(address, 8))[0]

    def store(self, address, value):
        self.write(address, struct.pack(">Q", value))

    # SCOMs, one every eight bytes of a chip's window

    def scom_address(self, pcb, chip=0):
        return (self.WINDOW + (chip << self.CHIP_SHIFT[self.generation])
                + (pcb << 3))

    def scom_read(self, pcb, chip=0):
        address = self.scom_address(pcb, chip)
        return int(self.qtest(f"readq {address:#x}")[0], 16)

    def scom_write(self, pcb, value, chip=0):
        self.qtest(f"writeq {self.scom_address(pcb, chip):#x} {value:#x}")

    def homer(self, chip=0):
        return self.HOMER[self.generation] + chip * 0x400000


class PowerTest(unittest.TestCase):
    """One machine for each test; what tests do to core 0 of chip 0."""

    spec = "power9"         # for its architecture
    machine = {}

    # PDBAR, HTM mode, EVENT_MASK and TRACE:
    # Documentation/hardware/power_imc.md, 11.2
    SCOMS = {"power9": (0x1001220b, 0x10012200, 0x20010aa8, 0x20010aa9),
             "power10": (0x2001868b, 0x20018680, 0x20028400, 0x20028401)}

    def setUp(self):
        self.vm = PowerMachine(self.spec.replace("power", "p"), **self.machine)
        self.addCleanup(self.vm.close)

    def pdbar(self, value):
        self.vm.scom_write(self.SCOMS[self.spec][0], value)

    def htm(self, value):
        self.vm.scom_write(self.SCOMS[self.spec][1], value)

    def trace_scom(self, value):
        self.vm.scom_write(self.SCOMS[self.spec][3], value)

    def start(self):
        self.pdbar(PAGE)
        self.htm(HTM_ON)

    def page(self, offset, base=PAGE):
        return self.vm.load(base + offset)

    def ldbar(self, value, thread=0):
        self.vm.set(f"thread{thread}", "ldbar", value)

    def flush(self):
        self.vm.set("core0", "flush", 1)

    def pause_nest(self):
        self.vm.step(3 * MS)                # it starts up
        self.vm.store(self.vm.homer() + 0x1bfc08, 2)
        self.vm.step(MS)

    def assertNoTimer(self):
        """Nothing of ours is due soon: posts would be, within a millisecond."""
        before = self.vm.now
        self.vm.now = int(self.vm.qtest("clock_step")[0])
        self.assertGreater(self.vm.now - before, 10 * MS)

    def assertRefused(self, text, *words):
        with self.assertRaises(CommandError) as caught:
            self.vm.control(*words)
        self.assertIn(text, str(caught.exception))
