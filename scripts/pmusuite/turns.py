# SPDX-License-Identifier: GPL-2.0-only
"""Commands that take turns in one guest: what each said, how it ended, and how long it may still take.

The guest's init writes a mark where a turn begins, a line "TOKEN NUMBER", to the command's output, to its
errors and to the kernel's log. On the port "status" it writes a number for each turn that has ended.
"""
import re
import secrets
import time
from dataclasses import dataclass

from . import ktap


@dataclass
class Turn:
    out: str
    err: str
    log: str            # the kernel's; what it said when it booted is the first one's
    status: int         # None: it did not end
    seconds: float
    watch: ktap.Stopwatch


def _text(data):
    return data.decode(errors="replace")


class Turns:
    def __init__(self, timeouts):
        """@timeouts: seconds that each turn may take, the first one's boot included."""
        self.token = f"pmu-vm-{secrets.token_hex(8)}"
        self.timeouts = timeouts
        self.output, self.err, self.status = bytearray(), bytearray(), bytearray()
        self.begun = [time.monotonic()]
        self.watches, self._line = [ktap.Stopwatch()], b""

    def out(self, data):
        self.output.extend(data)
        *lines, self._line = (self._line + data).split(b"\n")
        for line in lines:
            self.watches[-1].hear(_text(line))
            # The first mark is that of the first turn.
            if line.startswith(self.token.encode()) and not line.endswith(b" 1"):
                self.begun.append(time.monotonic())
                self.watches.append(ktap.Stopwatch())

    def sinks(self):
        """What takes the guest's output, by port."""
        return {"out": self.out, "err": self.err.extend, "status": self.status.extend}

    def time_left(self, started):
        """Of the turn that it is; the guest was @started then, which may have been long after this was made."""
        self.begun[0] = started
        return self.begun[-1] + self.timeouts[len(self.begun) - 1] - time.monotonic()

    def _parts(self, data, mark=rb"\n%s \d+\n"):
        """What was said in each turn that began; what came before the first is the first one's."""
        before, *rest = re.split(mark % self.token.encode(), bytes(data), flags=re.M)
        return [before + b"".join(rest[:1]), *rest[1:]]

    def ended(self, log):
        """The Turn of each that began, given the kernel's @log."""
        logs = self._parts(log, rb"^[^\n]*%s \d+\n")
        outs, errs = self._parts(self.output), self._parts(self.err)
        statuses = [int(line) for line in self.status.split()]
        ends = [*self.begun[1:], time.monotonic()]
        count = len(self.begun)
        return [Turn(_text(out), _text(err), _text(part), status, end - begin, watch)
                for out, err, part, status, begin, end, watch in zip(
                    outs, errs + [b""] * count, logs + [b""] * count, statuses + [None] * count, self.begun, ends, self.watches)]
