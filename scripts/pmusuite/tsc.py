# SPDX-License-Identifier: GPL-2.0-only
"""The rate of an x86 guest's time stamp counter, which is this host's.

A kernel compares the counter with a timer when it boots. Where its CPU waits for the host meanwhile, it is wrong, by a
factor of six at times. Then it finds out, and its clock stands still for most of each tick: sleeps are too short, and the
times of perf's events are equal where they differ.
"""
import ctypes
import functools
import mmap
import platform
import time

_RDTSC = bytes.fromhex("0f31 48c1e220 4809d0 c3")      # rdtsc; shl $32, %rdx; or %rdx, %rax; ret
_SECONDS = .05


def _moment(rdtsc):
    """(time in ns, counter) of one moment: of some tries the one that took the shortest time."""
    def once():
        before = time.monotonic_ns()
        counter = rdtsc()
        after = time.monotonic_ns()
        return after - before, (before + after) // 2, counter
    return min(once() for _ in range(20))[1:]


@functools.cache
def khz():
    """None if the host has another counter, or lets no program make code."""
    if platform.machine() != "x86_64":
        return None
    try:
        code = mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    except OSError:
        return None
    code.write(_RDTSC)
    # PYFUNCTYPE keeps Python's lock, so no other Python thread runs in between.
    rdtsc = ctypes.PYFUNCTYPE(ctypes.c_uint64)(ctypes.addressof(ctypes.c_char.from_buffer(code)))
    first = _moment(rdtsc)
    time.sleep(_SECONDS)
    last = _moment(rdtsc)
    return round((last[1] - first[1]) * 1_000_000 / (last[0] - first[0]))
