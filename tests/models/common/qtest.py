# SPDX-License-Identifier: GPL-2.0-or-later
"""A machine that runs no instruction, driven by its qtest port.

The test plays the firmware and the CPU: it numbers the buses, places the
control device's BAR, makes configuration accesses, and is the only one that
lets virtual time pass. Here is what every architecture has; each PMU's own
qtest.py adds its machine.
"""

import os
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "..", "scripts"))

from pmusuite import arch, build, specs  # noqa: E402 (its place is relative to this file)

# Offsets in the control device's BAR
DOORBELL, STATUS, LENGTH, LEFT = 8, 9, 0xc, 0x10
COMMAND, ANSWER = 0x1000, 0x2000

CONTROL_ID = 0x50c71b36


class CommandError(Exception):
    """A control command that the models refused; the text is their answer."""


class QtestMachine:
    """One stock QEMU with the models of a spec and the control device.

    An architecture's subclass says its name and where the control device's
    BAR goes, and has config_read() and config_write().
    """

    ARCH = None
    BAR = None
    ARGUMENTS = ()

    def __init__(self, spec):
        self.start(["-M", specs.want(spec).machine, *self.ARGUMENTS,
                    "-nodefaults", "-m", "128", *specs.qemu_args(spec),
                    *specs.control_args()])

    def start(self, arguments, **kwargs):
        self.now = 0
        self.stderr = tempfile.TemporaryFile("w+")
        self.qemu = subprocess.Popen(
            [*build.emulator(arch.get(self.ARCH)), *arguments, "-display",
             "none", "-accel", "pmu-halt", "-qtest", "stdio", "-qtest-log",
             "none"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.stderr,
            text=True, **kwargs)
        self.boot()

    def boot(self):
        """What the firmware would do."""
        self.place_control()

    def close(self):
        self.qemu.stdin.close()
        self.qemu.terminate()
        self.qemu.wait()
        self.qemu.stdout.close()
        self.stderr.close()

    def log(self):
        """What QEMU has written to stderr so far."""
        self.stderr.seek(0)
        return self.stderr.read()

    def qtest(self, command):
        try:
            self.qemu.stdin.write(command + "\n")
            self.qemu.stdin.flush()
        except BrokenPipeError:
            pass
        answer = self.qemu.stdout.readline().split()
        if not answer or answer[0] != "OK":
            raise RuntimeError(f"qtest: {command}: {answer} {self.log()}")
        return answer[1:]

    def step(self, nanoseconds):
        """Let virtual time pass."""
        self.now = int(self.qtest(f"clock_step {nanoseconds}")[0])

    # The control device's protocol.

    def place_control(self):
        for device in range(32):
            if self.config_read((0, device, 0), 0) == CONTROL_ID:
                self.config_write((0, device, 0), 0x10, self.BAR)
                self.config_write((0, device, 0), 4, 2)
                return
        raise RuntimeError("there is no control device")

    def read_number(self, register):
        data = self.qtest(f"read {self.BAR + register:#x} 4")[0]
        return int.from_bytes(bytes.fromhex(data[2:]), "little")

    def ring(self, line):
        data = line.encode() + b"\0"
        self.qtest(f"write {self.BAR + COMMAND:#x} {len(data)} 0x{data.hex()}")
        self.qtest(f"writeb {self.BAR + DOORBELL:#x} 1")

    def window(self):
        length = self.read_number(LENGTH)
        if not length:
            return b""
        answer = self.qtest(f"read {self.BAR + ANSWER:#x} {length}")[0]
        return bytes.fromhex(answer[2:])

    def control(self, *words):
        self.ring(" ".join(str(word) for word in words))
        failed = int(self.qtest(f"readb {self.BAR + STATUS:#x}")[0], 16)
        answer = self.window()
        while self.read_number(LEFT):
            self.ring("more")
            answer += self.window()
        if failed:
            raise CommandError(answer.decode())
        return answer.decode()

    def stats(self, device):
        """{class: (reads, writes)}, cleared."""
        lines = self.control("stats", device, "--reset").splitlines()
        return {name: (int(reads), int(writes))
                for name, reads, writes in map(str.split, lines)}
