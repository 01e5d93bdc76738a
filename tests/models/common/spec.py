# SPDX-License-Identifier: GPL-2.0-or-later
"""What rows of machine specs are made of: keys, their parsers, machines."""


class Key:
    """One KEY of a spec: parse(text) gives its value or raises ValueError.

    shown is the default as a user would write it, or in words.
    """

    def __init__(self, default, text, parse, shown=None):
        self.default = default
        self.text = text
        self.parse = parse
        self.shown = shown or str(default)


class Machine:
    """A row of the table.

    device_args(values) gives QEMU arguments; arch, cpu (for -cpu, or None),
    machine (for -machine) and append (for the kernel's command line) go to
    whoever starts QEMU. sockets is the key that says how many there are.
    guest_files(values, index) gives {path: bytes} that the guest's initramfs
    needs for the index-th spec of a machine.
    """

    def __init__(self, text, arch, machine, cpu, keys, device_args, append="",
                 sockets="sockets",
                 guest_files=lambda values, index: {}):
        self.text = text
        self.arch = arch
        self.machine = machine
        self.cpu = cpu
        self.keys = keys
        self.device_args = device_args
        self.append = append
        self.sockets = sockets
        self.guest_files = guest_files


def number(low, high):
    def parse(text):
        try:
            value = int(text, 0)
        except ValueError:
            value = None
        if value is None or not low <= value <= high:
            raise ValueError(f"a number from {low} to {high}")
        return value
    return parse


def switch(text):
    if text not in ("on", "off"):
        raise ValueError("on or off")
    return text
