# SPDX-License-Identifier: GPL-2.0-only
"""The terminal: the whole of it, redrawn for each frame, each key and each change of its size."""
import os
import re
import select
import signal
import sys
import termios
import time
import tty

from rich.console import Group
from rich.live import Live
from rich.segment import Segment, Segments
from rich.text import Text

from ..errors import ToolError

KEYS = {b"\x1b[A": "up", b"\x1bOA": "up", b"\x1b[B": "down", b"\x1bOB": "down", b"\x1b[C": "right", b"\x1bOC": "right",
        b"\x1b[D": "left", b"\x1bOD": "left", b"\x1b[5~": "page up", b"\x1b[6~": "page down", b" ": "p", b"\x03": "q",
        **dict.fromkeys((b"h", b"\x1bOP", b"\x1b[11~", b"\x1b[[A"), "?"), b"\x1b": "escape"}     # F1, by terminal
A_KEY = re.compile(rb"\x1b\[\[.|\x1b[\[O][?0-9;]*[A-Za-z~]|\x1b.|.", re.DOTALL)
HELP = """
q            quit
p, space     pause: the screen stays, counting goes on; again: go on
left, right  what the counters look at, where they cannot look at all at once
m            the next mesh, where there are several
up, down     scroll, where the window is too low; also Page Up, Page Down
?, h, F1     this text; again, or Esc: back

~ before a number: its counters took turns with others, and it is of that part
  of the interval alone. Such numbers are in no sum.
- there is no number: nothing happened that it could be made of, or the
  counter did not come to its turn.
! 80 % or more of what can be at most, which is a full bar where it is known.
▂▅█ the intervals since the start, at most the last 600; "most" is of all.
"""
LINE = "q quit  p pause  ←→ what  ↑↓ scroll  ? help"
TICK = 0.2          # seconds in which a change of the size is seen


class Quit(Exception):
    """The user has seen enough."""


class Keyboard:
    """Keys as they are pressed; none where stdin is no terminal."""

    def __init__(self):
        self.pressed = []           # and not asked for yet: several can come at once

    def __enter__(self):
        self.fd = sys.stdin.fileno() if sys.stdin and sys.stdin.isatty() else None
        if self.fd is not None:
            self.before = termios.tcgetattr(self.fd)
            self.take()
        return self

    def __exit__(self, *_):
        self.give_back()

    def take(self):
        if self.fd is not None:
            tty.setcbreak(self.fd)

    def give_back(self):
        if self.fd is not None:
            termios.tcsetattr(self.fd, termios.TCSADRAIN, self.before)

    def get(self, seconds):
        """The key that is pressed within @seconds, or None."""
        if self.fd is None:
            time.sleep(seconds)
            return None
        if not self.pressed:
            if not select.select([self.fd], [], [], seconds)[0]:
                return None
            self.pressed = A_KEY.findall(os.read(self.fd, 1024))
            if not self.pressed:
                raise Quit      # the terminal is gone
        data = self.pressed.pop(0)
        return KEYS.get(data, data.decode(errors="replace"))


class Screen:
    """@source's frames until the user quits; @keep(frame, rows) has each, also while the screen is paused."""

    def __init__(self, console, view, source, picture, keep):
        self.console, self.view, self.source, self.picture, self.keep = console, view, source, picture, keep
        self.paused = self.help = False
        self.refused = ""           # why the mode that was asked for cannot be
        self.offset, self.mode = 0, view.first
        self.frame = self.rows = None

    def _stop(self, number, _):
        """Ctrl-Z: the shell gets its terminal as it was, and it is the screen's again behind "fg"."""
        self.live.stop()
        self.keyboard.give_back()
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
        signal.signal(number, self._stop)
        self.keyboard.take()
        self.live.start()
        self._draw()

    def run(self, mode):
        self.mode = mode
        with Keyboard() as self.keyboard, Live(self._first(), console=self.console, screen=True, auto_refresh=False,
                                               transient=True) as self.live:
            signal.signal(signal.SIGTSTP, self._stop)
            try:
                while True:
                    frame = self.source.until(self._wait)
                    rows = self.view.rows(frame)
                    self.keep(frame, rows)
                    if not self.paused:
                        self.frame, self.rows = frame, rows
                        self._draw()
                    if self.source.replayed and self.source.over:
                        self._wait(float("inf"))        # the last one stays
            except Quit:
                return

    def _first(self):
        """What is shown until an interval has passed."""
        seconds = 0 if self.source.replayed else self.source.interval
        return Text(f"counting for {seconds:g} s ..." if seconds > 1 else "counting ...")

    def _wait(self, seconds):
        end, size, mode = time.monotonic() + seconds, self.console.size, self.mode
        while (left := end - time.monotonic()) > 0:
            key = self.keyboard.get(min(left, TICK))
            if key and self._press(key) or size != self.console.size:
                size = self.console.size
                self._draw()
            if self.mode != mode:
                return      # that interval is over: another one begins
            if self.paused and self.source.replayed:
                end = max(end, time.monotonic() + TICK)     # a record waits

    def _press(self, key):
        page = max(1, self.console.height - 8)
        if key == "q":
            raise Quit
        if key == "p":
            self.paused = not self.paused
        elif key == "m" and hasattr(self.view, "next"):
            self.view.next()
        elif key in ("?", "escape"):
            self.help = key == "?" and not self.help
        elif key in ("up", "down", "page up", "page down"):
            self.offset += {"up": -1, "down": 1, "page up": -page, "page down": page}[key]
        elif key in ("left", "right") and not self.source.replayed:
            self._switch(1 if key == "right" else -1)
        else:
            return False
        return True

    def _switch(self, step):
        """Look at the next mode; where that cannot be, say why and stay."""
        modes = self.view.modes
        wanted = modes[(modes.index(self.mode) + step) % len(modes)]
        try:
            self.source.look_at(wanted)
            self.mode, self.refused = wanted, ""
        except ToolError as error:
            self.refused = f"{wanted}: {error}"
            self.source.look_at(self.mode)

    def _draw(self):
        if self.frame is None:
            return
        width, height = self.console.size
        if self.help:
            parts = [Text("pmu-top", "bold"), Text(HELP), Text(LINE, "dim")]
        else:
            parts = self.picture(self.frame, self.rows, width, height, self.paused, self.mode)
            if self.refused:
                parts[-1] = Group(Text(self.refused, "red"), parts[-1])
        self.live.update(self._fitted(parts, width, height), refresh=True)

    def _fitted(self, parts, width, height):
        """Head and foot whole, of what is between them as much as there is room for."""
        options = self.console.options.update(width=width, height=None)
        head, body, foot = (self.console.render_lines(part, options, pad=False) for part in
                            (parts[0], Group(*parts[1:-1]), parts[-1]))
        room = max(0, height - len(head) - len(foot))
        self.offset = max(0, min(self.offset, len(body) - room))
        lines = [*head, *body[self.offset:self.offset + room], *foot][:height]
        segments = []
        for number, line in enumerate(lines):
            segments += ([Segment.line()] if number else []) + line
        return Segments(segments)
