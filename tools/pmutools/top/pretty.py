# SPDX-License-Identifier: GPL-2.0-only
"""Python's library rich, which draws: the screen, and pictures. All else works without it, or with one that is too old."""
import importlib.metadata

OLDEST = (12, 1)        # 9.11 fails in the midst of the screen, 11.2 when it writes a picture
INSTALL = "Install it: apt install python3-rich, dnf install python3-rich, or pip install rich."

try:
    from rich.console import Console, Group
    from rich.table import Table
    from rich.text import Text
except ImportError:
    Console, Group, Table, Text, VERSION = object, None, None, None, ""
else:
    try:
        VERSION = importlib.metadata.version("rich")
    except ImportError:         # a copy of rich alone
        VERSION = "unknown"


def missing():
    """Why nothing can be drawn: a sentence; "" if it can be."""
    if not VERSION:
        return "Python's library rich is not installed."
    numbers = tuple(int(word) for word in VERSION.split(".")[:2] if word.isdigit())
    if numbers and numbers < OLDEST:
        return f"Python's library rich is version {VERSION} here, and {'.'.join(map(str, OLDEST))} or newer is needed."
    return ""


class Output(Console):
    def on_broken_pipe(self):
        raise       # what it is: rich of Debian 13 would end the program, in a way of its own


class Plain:
    """Where text goes without rich."""
    is_dumb_terminal = False

    def __init__(self, file):
        self.file = file
