# SPDX-License-Identifier: GPL-2.0-only
"""A guest that gdb debugs: where the two meet, and the symbols of kernel and modules.

Kernels have no debug information, Debian's because it is a gigabyte, ours because it takes long to
build. Each knows its own symbols, though: a guest prints them once, and they make a file for gdb.
Our modules are compiled with debug information. gdb runs two scripts of ours: gdb_modules.py tells
it where the guest has put a module, gdb_frames.py who called a function of the kernel.
"""
import dataclasses
import re
import struct
import sys
import tempfile
import time
from pathlib import Path

from . import build, cache, guest, kernels
from .cache import TREE, Error

HELPERS = tuple(Path(__file__).with_name(name) for name in ("gdb_modules.py", "gdb_frames.py"))
# Where the kernel is linked is where it runs.
APPEND = "nokaslr"

_HEADER, _SECTION, _SYMBOL = struct.Struct("<16sHHIQQQIHHHHHH"), struct.Struct("<IIQQQQIIQQ"), struct.Struct("<IBBHQQ")
_EXECUTABLE, _SYMTAB, _STRTAB, _NOBITS, _ALLOC_EXEC = 2, 2, 3, 8, 6
_TEXT_INDEX, _ABSOLUTE = 1, 0xfff1
_OBJECT, _FUNCTION, _GLOBAL = 1, 2, 1 << 4
_KERNEL_HALF = 1 << 63
FORMAT = "1"       # of what symbol_file() makes


def _symbols(kallsyms):
    """(address, type, name) of the kernel proper, of the lines of /proc/kallsyms."""
    for line in kallsyms.splitlines():
        match = re.fullmatch(r"([0-9a-f]+) ([a-zA-Z]) (\S+)", line)    # a module's name would follow
        if match and int(match[1], 16) >= _KERNEL_HALF:
            yield int(match[1], 16), match[2], match[3]


def symbol_file(arch, kallsyms):
    """An ELF file that has a kernel's symbols and nothing else, as bytes."""
    table, names, text = [_SYMBOL.pack(0, 0, 0, 0, 0, 0)], b"\0", []
    # Local symbols come first.
    found = sorted(_symbols(kallsyms), key=lambda symbol: symbol[1].isupper())
    for address, kind, name in found:
        function = kind in "tTwW"
        info = (_FUNCTION if function else _OBJECT) | _GLOBAL * kind.isupper()
        table.append(_SYMBOL.pack(len(names), info, 0, _TEXT_INDEX if function else _ABSOLUTE, address, 0))
        names += name.encode() + b"\0"
        text += [address] * function
    if not text:
        raise Error("the guest's kernel does not tell its symbols")
    section_names = b"\0.text\0.symtab\0.strtab\0.shstrtab\0"
    contents = [b"", b"", b"".join(table), names, section_names]
    offsets = [_HEADER.size + sum(map(len, contents[:index])) for index in range(len(contents) + 1)]
    first_global = 1 + sum(not kind.isupper() for _, kind, _ in found)

    def section(index, name, kind, flags=0, address=0, size=None, link=0, info=0, entry=0):
        return _SECTION.pack(section_names.index(name), kind, flags, address, offsets[index],
                             len(contents[index]) if size is None else size, link, info, 1, entry)

    sections = [bytes(_SECTION.size),
                section(1, b".text\0", _NOBITS, _ALLOC_EXEC, min(text), max(text) + 4 - min(text)),
                section(2, b".symtab\0", _SYMTAB, link=3, info=first_global, entry=_SYMBOL.size),
                section(3, b".strtab\0", _STRTAB), section(4, b".shstrtab\0", _STRTAB)]
    header = _HEADER.pack(b"\x7fELF\2\1\1", _EXECUTABLE, arch.elf_machine, 1, 0, 0, offsets[-1], arch.elf_flags,
                          _HEADER.size, 0, 0, _SECTION.size, len(sections), len(sections) - 1)
    return b"".join([header, *contents, *sections])


def _kernel_symbols(arch, series):
    """The path of such a file for a kernel."""
    def make(directory):
        cache.say("asking a guest for its kernel's symbols")
        said = bytearray()
        machine = guest.Guest(arch=arch, kernel=series, driver="none", append=APPEND, command=("cat", "/proc/kallsyms"))
        outcome = guest.run(machine, out=said.extend)
        if outcome.status:
            raise Error(guest.explain(outcome, machine) or "the guest does not tell its kernel's symbols")
        (directory / "kernel").write_bytes(symbol_file(arch, said.decode()))

    found = kernels.get(arch, series)
    return cache.entry("symbols", f"{arch.name}-{cache.key_of(FORMAT, found.release, found.version)}", make) / "kernel"


def without_addresses(module):
    """
    A .ko file as gdb needs it: the kernel's linker script leaves addresses in some sections, which
    mean nothing, and make gdb take every section's debug information for that of the first.
    """
    data = bytearray(module)
    start, = struct.unpack_from("<Q", data, 40)
    count, = struct.unpack_from("<H", data, 60)
    for index in range(count):
        struct.pack_into("<Q", data, start + index * _SECTION.size + 16, 0)
    return bytes(data)


class Session:
    """A directory with the socket where QEMU waits, and the commands that gdb begins with."""

    def __init__(self, machine):
        arch = machine.arch
        symbols = _kernel_symbols(arch, machine.kernel)
        self._directory = tempfile.TemporaryDirectory(prefix="pmu-gdb.")
        directory = Path(self._directory.name)
        self.socket, self.commands, modules = directory / "socket", directory / "commands", directory / "modules"
        modules.mkdir()
        for module in build.modules(arch, kernels.get(arch, machine.kernel), suites=machine.has_suites(),
                                    debug=True).glob("*.ko"):
            (modules / module.name).write_bytes(without_addresses(module.read_bytes()))
        lines = [*(f"source {helper}" for helper in HELPERS),
                 f"python watch({str(modules)!r}, {arch.first_argument!r}, {arch.entries!r}, {str(symbols)!r})",
                 f"python install({arch.name!r})", "set breakpoint pending on", f"directory {TREE}",
                 "set remotetimeout 60", f"target remote {self.socket}"]
        self.commands.write_text("".join(f"{line}\n" for line in lines))

    def qemu_args(self):
        return ["-S", "-chardev", f"socket,id=gdb,path={self.socket},server=on,wait=off", "-gdb", "chardev:gdb"]

    def invite(self, process):
        """Say how to start gdb, once QEMU has made its socket."""
        while not self.socket.exists() and process.poll() is None:
            time.sleep(0.1)
        print("scripts/vm: the guest waits for gdb (Debian's package gdb-multiarch); in another terminal:\n"
              f"    gdb-multiarch -x {self.commands}\n"
              "A breakpoint may be in a module that is not loaded yet; \"continue\" starts the guest.",
              file=sys.stderr, flush=True)


def attach(machine):
    """@machine, a guest.Guest, as one that waits for gdb."""
    return dataclasses.replace(machine, gdb=Session(machine), append=f"{machine.append} {APPEND}".strip())
