# SPDX-License-Identifier: GPL-2.0-only
"""Run by gdb: who called a function of the kernel proper, which has no debug information.

By what the kernel itself goes by when it prints a call trace: frame pointers, the back chain of
POWER's stacks, or ORC, the tables of an x86 kernel that has no frame pointers. Of the registers
only those come back that lead on to the next caller; so variables of our functions above a function
of the kernel may be wrong, and their lines are right.
"""
import struct

import gdb
import gdb.unwinder

ORC_ENTRY = struct.Struct("<hhBB")
ORC_BP, ORC_SP, ORC_PREVIOUS_SP = 4, 5, 1
# CALL: 0 until Linux 6.3 and 2 since. The others end at an entry of the kernel.
ORC_CALL = (0, 2)


def address_of(symbol):
    return int(gdb.parse_and_eval(f"(unsigned long)&{symbol}"))


def has(symbol):
    try:
        return bool(address_of(symbol))
    except gdb.error:
        return False


def number(address, size=8, signed=False):
    return int.from_bytes(gdb.selected_inferior().read_memory(address, size).tobytes(), "little", signed=signed)


class Orc:
    """The sorted tables of addresses and of what is on the stack there."""

    def __init__(self):
        self.addresses, end, self.entries = map(address_of, (
            "__start_orc_unwind_ip", "__stop_orc_unwind_ip", "__start_orc_unwind"))
        self.count = (end - self.addresses) // 4

    def _address(self, index):
        place = self.addresses + 4 * index
        return place + number(place, 4, signed=True)

    def caller(self, pc, sp, bp):
        low, high = 0, self.count - 1
        pc -= self.is_return(pc)
        while low < high:
            middle = (low + high + 1) // 2
            low, high = (middle, high) if self._address(middle) <= pc else (low, middle - 1)
        where = self.entries + ORC_ENTRY.size * low
        sp_offset, bp_offset, registers, kind = ORC_ENTRY.unpack(
            gdb.selected_inferior().read_memory(where, ORC_ENTRY.size).tobytes())
        base = {ORC_BP: bp, ORC_SP: sp}.get(registers & 15)
        if base is None or kind & 7 not in ORC_CALL:
            return 0, sp + 8, 0
        above = base + sp_offset
        if registers >> 4 == ORC_PREVIOUS_SP:
            bp = number(above + bp_offset)
        elif registers >> 4 == ORC_BP:
            bp = number(bp + bp_offset)
        return number(above - 8), above, bp

    @staticmethod
    def is_return(pc):
        """Whether a call is before it; the caller's state is that of the call."""
        before = gdb.selected_inferior().read_memory(pc - 5, 5).tobytes()
        return before[0] == 0xe8 or before[3] == 0xff


def x86_frames(_pc, _sp, fp):
    return number(fp + 8), fp + 16, number(fp)


def arm64_frames(_pc, _sp, fp):
    # A frame's record is the lowest of it.
    caller, back = number(fp), number(fp + 8)
    return back, caller or fp + 16, caller, back


def power_chain(_pc, sp, _fp):
    caller = number(sp)
    return number(caller + 16) if caller else 0, caller, 0


# Registers for program counter, stack, frame and what else is known; how to find the caller's.
RULES = {
    "x86_64": (("rip", "rsp", "rbp"), x86_frames),
    "arm64": (("pc", "sp", "x29", "x30"), arm64_frames),
    "ppc64le": (("pc", "r1", None), power_chain),
}


class FrameId:
    def __init__(self, sp, pc):
        self.sp, self.pc = sp, pc


class Kernel(gdb.unwinder.Unwinder):
    def __init__(self, arch):
        super().__init__("the kernel's functions")
        self.begin, self.end = map(address_of, ("_stext", "_etext"))
        self.registers, self.caller = RULES[arch]
        if has("__start_orc_unwind"):
            self.caller = Orc().caller

    def __call__(self, frame):
        values = [frame.read_register(name) if name else None for name in self.registers]
        pc, sp, fp = (0 if value is None else int(value) & (1 << 64) - 1 for value in values[:3])
        if not self.begin <= pc < self.end:
            return None
        try:
            found = self.caller(pc, sp, fp)
        except gdb.MemoryError:
            return None
        information = frame.create_unwind_info(FrameId(values[1], values[0]))
        for name, value, result in zip(self.registers, values, found):
            if name:
                information.add_saved_register(name, gdb.Value(result).cast(value.type))
        return information


def install(arch):
    gdb.unwinder.register_unwinder(None, Kernel(arch), replace=True)
