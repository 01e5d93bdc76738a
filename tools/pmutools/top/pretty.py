# SPDX-License-Identifier: GPL-2.0-only
"""Python's library rich, which draws: the screen, and pictures. All else works without it, or with one that is too old.

To import it takes as long as all else that a start does. So it is imported when somebody first asks for a part of it.
"""
import importlib
import re
import sys
from pathlib import Path

OLDEST = (12, 1)        # 9.11 fails in the midst of the screen, 11.2 when it writes a picture
INSTALL = "Install it: apt install python3-rich, dnf install python3-rich, or pip install rich."
PARTS = {"Console": "console", "Group": "console", "Table": "table", "Text": "text"}


def __getattr__(name):
    if name in PARTS:
        globals()[name] = getattr(importlib.import_module(f"rich.{PARTS[name]}"), name)
    elif name == "VERSION":
        globals()[name] = _version()
    else:
        raise AttributeError(name)
    return globals()[name]


def _version():
    """"" if there is none. A name beside a package says what importlib.metadata takes long to say."""
    try:
        importlib.import_module("rich.console")
    except ImportError:
        return ""
    for place in sys.path:
        try:
            names = [path.name for kind in ("dist", "egg") for path in Path(place or ".").glob(f"rich-*.{kind}-info")]
        except OSError:     # where the user may not look, Python does not find anything, either
            continue
        if names:
            return re.match(r"rich-(.*?)(-py[0-9.]+)?\.[a-z]+-info$", names[0])[1]
    metadata = importlib.import_module("importlib.metadata")
    try:
        return metadata.version("rich")     # in a zip, or an egg
    except metadata.PackageNotFoundError:
        return "unknown"    # a copy of rich alone


def missing():
    """Why nothing can be drawn: a sentence; "" if it can be."""
    version = __getattr__("VERSION")
    if not version:
        return "Python's library rich is not installed."
    numbers = tuple(int(word) for word in version.split(".")[:2] if word.isdigit())
    if numbers and numbers < OLDEST:
        return f"Python's library rich is version {version} here, and {'.'.join(map(str, OLDEST))} or newer is needed."
    return ""


def output(**options):
    """What is drawn goes there."""
    class Output(__getattr__("Console")):
        def on_broken_pipe(self):
            raise       # what it is: rich of Debian 13 would end the program, in a way of its own

    return Output(**options)


class Plain:
    """Where text goes without rich."""
    is_dumb_terminal = False

    def __init__(self, file):
        self.file = file
