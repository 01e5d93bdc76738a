# SPDX-License-Identifier: GPL-2.0-only
"""Run by gdb: gives it the symbols of our modules, whenever the guest's kernel loads one.

The kernel calls do_init_module() when a module is in place and has not run yet. Its symbol table is
there with real addresses; compared with the file's, they tell where each section is. (The kernel's
own lx-symbols looks into a structure that only a kernel with debug information tells.)
"""
import re
import subprocess
from pathlib import Path

import gdb


def symbols(path):
    """{section: (number, offset)}: a symbol in each section that is loaded of a .ko file."""
    said = subprocess.run(["readelf", "-SsW", path], stdout=subprocess.PIPE, text=True, check=True).stdout
    names = dict(re.findall(r"(?m)^ +\[ *(\d+)\] (\S+) .* W?A\w* +\d+ +\d+ +\d+$", said))
    return {names[section]: (int(number), int(offset, 16))
            for number, offset, section in re.findall(r"(?m)^ +(\d+): (\w{16}) .* (\d+)(?: \S+)?$", said) if section in names}


class Loading(gdb.Breakpoint):
    """Stops at nothing: what it is for happens on the way."""
    placed = {}     # {name: where its code is} of modules that gdb knows

    def __init__(self, where, modules, register, module):
        super().__init__(where, internal=True)
        self.silent = True
        self.modules, self.register, self.module = modules, register, module

    def stop(self):
        module = gdb.parse_and_eval(self.register).cast(self.module)
        name = module["name"].string()
        path = self.modules / f"{name}.ko"
        if not path.exists():
            return False
        loaded = module["kallsyms"]["symtab"]
        found = {section: int(loaded[number]["st_value"]) - offset for section, (number, offset) in symbols(path).items()}
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
    # A module has the types of the kernel's structures, and does no harm before it has an address.
    gdb.execute(f"symbol-file {modules}/pmu_core.ko", to_string=True)
    module = gdb.lookup_type("struct module").pointer()
    gdb.execute(f"file {symbols}", to_string=True)
    for entry in entries:
        Loading(f"*(unsigned long)&do_init_module+{entry}", modules, f"${register}", module)
