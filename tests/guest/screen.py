# SPDX-License-Identifier: GPL-2.0-only
"""A terminal for a program that redraws the whole of it:

    screen.py WIDTHxHEIGHT STEP... -- COMMAND...

A step is "see:PATTERN", until a line of a picture behind the last one that was seen is like that; "key:KEYS", which
are pressed; "run:COMMAND", by a shell; "size:WIDTHxHEIGHT". At last the program has to end by itself. Prints the
pictures that were seen, and what it ended with.
"""
import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
import time

PATIENCE = 120      # seconds for a picture to come
KEYS = {"right": "\x1b[C", "left": "\x1b[D"}


class Terminal:
    def __init__(self, size, command):
        self.fd, inner = pty.openpty()
        self.process, self.text = None, ""
        self.resize(size)
        self.process = subprocess.Popen(command, stdin=inner, stdout=inner, stderr=inner, start_new_session=True,
                                        env=os.environ | {"TERM": "xterm"})
        os.close(inner)

    def resize(self, size):
        width, height = map(int, size.split("x"))
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", height, width, 0, 0))

    def pictures(self):
        """Those that have come: each begins at the terminal's first place."""
        return [re.sub(r"\x1b\[[?0-9;]*[A-Za-z]", "", one).replace("\r", "") for one in self.text.split("\x1b[H")]

    def read(self, seconds):
        """False when there is no more to come."""
        if select.select([self.fd], [], [], seconds)[0]:
            try:
                self.text += os.read(self.fd, 65536).decode(errors="replace")
            except OSError:         # the other end is closed
                return False
        return True

    def see(self, pattern):
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end and self.read(0.2):
            found = self.pictures()
            for number, picture in enumerate(found):
                if re.search(pattern, picture, re.M):
                    # What is still being drawn may be the same picture.
                    self.text = self.text.split("\x1b[H", number + 1)[number + 1] if number + 1 < len(found) else ""
                    print(picture, end="\n\n", flush=True)
                    return
        sys.exit(f"no '{pattern}' in:\n{self.pictures()[-1]}")


def main():
    words = sys.argv[1:]
    split = words.index("--")
    terminal = Terminal(words[0], words[split + 1:])
    for step in words[1:split]:
        what, _, rest = step.partition(":")
        if what == "see":
            terminal.see(rest)
        elif what == "key":
            os.write(terminal.fd, KEYS.get(rest, rest).encode())
        elif what == "size":
            terminal.resize(rest)
        else:
            subprocess.run(rest, shell=True, check=True)
    while terminal.read(1) and terminal.process.poll() is None:
        pass
    print(f"ended with {terminal.process.wait(PATIENCE)}")


main()
