# SPDX-License-Identifier: GPL-2.0-only
"""A guest that gdb debugs: where the two meet, and the symbols of kernel and modules.

Kernels have no debug information, Debian's because it is a gigabyte, ours because it takes long to
build. Each knows its own symbols, though: a guest prints them once, and they make a file for gdb.
The file also tells gdb by DWARF's rules, one for the whole kernel, how to find a function's caller.
Our modules are compiled with debug information; gdb_modules.py tells gdb where the guest has put them.
"""
import collections
import dataclasses
import re
import sys
import tempfile
import time
from pathlib import Path

from . import build, cache, guest, kernels
from .cache import TREE, Error, run

HELPER = Path(__file__).with_name("gdb_modules.py")
# Where the kernel is linked is where it runs.
APPEND = "nokaslr"

_KERNEL_HALF = 1 << 63
FORMAT = "3"       # of what symbol_file() makes


def _symbols(kallsyms):
    """(address, type, name) of the kernel proper, of the lines of /proc/kallsyms."""
    for line in kallsyms.splitlines():
        match = re.fullmatch(r"([0-9a-f]+) ([a-zA-Z]) (\S+)", line)    # a module's name would follow
        if match and int(match[1], 16) >= _KERNEL_HALF:
            yield int(match[1], 16), match[2], match[3]


def symbol_file(arch, kallsyms, path):
    """Make @path an ELF file that has a kernel's symbols, says where each of its functions finds its caller, and no more."""
    found, times = sorted(_symbols(kallsyms)), collections.Counter()
    if not found:
        raise Error("the guest's kernel does not tell its symbols")
    first, last = found[0][0], found[-1][0]
    caller = arch.orc if "__start_orc_unwind" in {name for _, _, name in found} else arch.caller
    lines = ['.section .kernel, "ax", @nobits', ".cfi_sections .debug_frame", ".cfi_startproc simple", *caller,
             f".Lkernel: .space {last + 4 - first}", ".cfi_endproc"]
    for address, kind, name in found:
        times[name] += 1
        # The assembler wants each name once.
        name = f'"{name}"' if times[name] == 1 else f'"{name}~{times[name]}"'
        # The linker would leave local ones out.
        lines += [f".globl {name}", f".type {name}, %{'function' if kind in 'tTwW' else 'object'}",
                  f".set {name}, .Lkernel + {address - first}"]
    source = path.with_suffix(".s")
    source.write_text("".join(f"{line}\n" for line in lines))
    run([f"{build.compiler(arch)}gcc", "-nostdlib", "-static", f"-Wl,-e,0,--build-id=none,--section-start=.kernel={first:#x}",
         "-o", path, source], "assembling the kernel's symbols")
    source.unlink()


def _kernel_symbols(arch, series):
    """The path of such a file for a kernel."""
    def make(directory):
        cache.say("asking a guest for its kernel's symbols")
        said = bytearray()
        # There are no modules in @directory, and none are needed.
        machine = guest.Guest(arch=arch, kernel=series, driver="none", ours=directory, append=APPEND,
                              command=("cat", "/proc/kallsyms"))
        outcome = guest.run(machine, out=said.extend)
        if outcome.status:
            raise Error(guest.explain(outcome, machine) or "the guest does not tell its kernel's symbols")
        symbol_file(arch, said.decode(), directory / "kernel")

    found = kernels.get(arch, series)
    return cache.entry("symbols", f"{arch.name}-{cache.key_of(FORMAT, found.release, found.version)}", make) / "kernel"


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
            # The kernel's linker script leaves addresses in some sections, which mean nothing, and make gdb take every
            # section's debug information for that of the first.
            run([f"{build.compiler(arch)}objcopy", "--change-section-address", "*=0", module, modules / module.name],
                "preparing the modules for gdb")
        lines = [f"source {HELPER}",
                 f"python watch({str(modules)!r}, {arch.first_argument!r}, {arch.entries!r}, {str(symbols)!r})",
                 "set breakpoint pending on", f"directory {TREE}", "set remotetimeout 60", f"target remote {self.socket}"]
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
