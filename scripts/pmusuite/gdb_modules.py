# SPDX-License-Identifier: GPL-2.0-only
"""Run by gdb: gives it the symbols of our modules, whenever the guest's kernel loads one.

The kernel calls do_init_module() when a module is in place and has not run yet. Its symbol table is
there with real addresses; compared with the file's, they tell where each section is.
"""
import struct
from pathlib import Path

import gdb

SYMBOL = struct.Struct("<IBBHQQ")
SECTION = struct.Struct("<IIQQQQIIQQ")
SYMTAB, ALLOC = 2, 2


class Module:
    """A .ko file: its sections, [(name, is it loaded)], and its symbols, [(section's number, value)]."""

    def __init__(self, path):
        data = path.read_bytes()
        start, = struct.unpack_from("<Q", data, 40)
        count, names = struct.unpack_from("<HH", data, 60)
        headers = [SECTION.unpack_from(data, start + index * SECTION.size) for index in range(count)]

        def name(header):
            begin = headers[names][4] + header[0]
            return data[begin:data.index(b"\0", begin)].decode()

        self.sections = [(name(header), bool(header[2] & ALLOC and header[5])) for header in headers]
        table = next(header for header in headers if header[1] == SYMTAB)
        self.symbols = [entry[3:5] for entry in SYMBOL.iter_unpack(data[table[4]:table[4] + table[5]])]


def offset(name, member):
    """Of a structure's member, in bytes."""
    return next(field.bitpos // 8 for field in gdb.lookup_type(f"struct {name}").fields() if field.name == member)


class Loading(gdb.Breakpoint):
    """Stops at nothing: what it is for happens on the way."""
    placed = {}     # {name: where its code is} of modules that gdb knows

    def __init__(self, where, modules, register, offsets):
        super().__init__(where, internal=True)
        self.silent = True
        self.modules, self.register, self.offsets = modules, register, offsets

    def read(self, address, size):
        return gdb.selected_inferior().read_memory(address, size).tobytes()

    def number(self, address, size=8):
        return int.from_bytes(self.read(address, size), "little")

    def addresses(self, module, path):
        """{section: address} of the module whose structure is at @module."""
        file = Module(path)
        kallsyms = self.number(module + self.offsets["kallsyms"])
        symtab = self.number(kallsyms + self.offsets["symtab"])
        loaded = SYMBOL.iter_unpack(self.read(symtab, SYMBOL.size * len(file.symbols)))
        found = {}
        for (index, value), symbol in zip(file.symbols, loaded):
            if index < len(file.sections) and file.sections[index][1]:
                found.setdefault(file.sections[index][0], symbol[4] - value)
        return found

    def stop(self):
        module = int(gdb.parse_and_eval(self.register)) & (1 << 64) - 1
        name = self.read(module + self.offsets["name"], 56).split(b"\0")[0].decode()
        path = self.modules / f"{name}.ko"
        if not path.exists():
            return False
        found = self.addresses(module, path)
        if self.placed.get(name) == found[".text"]:
            return False
        if name in self.placed:
            gdb.execute(f"remove-symbol-file -a {self.placed[name]:#x}", to_string=True)
        self.placed[name] = found[".text"]
        places = " ".join(f"-s {section} {address:#x}" for section, address in found.items())
        gdb.execute(f"add-symbol-file {path} {places}", to_string=True)
        print(f"{name} is at {found['.text']:#x}")
        return False


def watch(modules, register, entries, symbols):
    """@entries: where a function may begin, in bytes from its symbol; @symbols: the kernel's file."""
    modules = Path(modules)
    # A module knows the kernel's structures, and is in nobody's way before it has a place.
    gdb.execute(f"symbol-file {modules}/pmu_core.ko", to_string=True)
    offsets = {"name": offset("module", "name"), "kallsyms": offset("module", "kallsyms"),
               "symtab": offset("mod_kallsyms", "symtab")}
    gdb.execute(f"file {symbols}", to_string=True)
    for entry in entries:
        Loading(f"*(unsigned long)&do_init_module+{entry}", modules, f"${register}", offsets)
