# SPDX-License-Identifier: GPL-2.0-only
"""Who reads memory, as an estimate: the last cache's misses by process, which perf samples.

A miss that an instruction waits for is counted, and belongs to a task. What the caches fetch ahead is counted in part, and
what they write back is not. So these bytes are no part of the channels' bytes.
"""
import collections
import time

from ..errors import RIGHTS
from . import draw, pretty, sampler

MODE = "programs"
EVENT = "cache-misses"      # perf's name; on a Xeon the architectural event of the last cache's misses
PERIOD = 100_003            # misses of a sample: 10 GB/s make 1,600 interrupts a second on all CPUs together
LINE = 64
SHOWN = 12
ABSENT = f"perf has no event {EVENT} for these CPUs, as in most virtual machines."


def known(machine):
    """Arm's event of this name may be of the first cache, and POWER has its functions."""
    return machine.arch == "x86_64" and bool(machine.read(f"sys/bus/event_source/devices/cpu/events/{EVENT}"))


class Misses(sampler.Sampler):
    def __init__(self):
        super().__init__(["-e", EVENT, "-c", str(PERIOD)], EVENT, "the programs", f"Samples of all CPUs take CAP_PERFMON. {RIGHTS}")
        self.began = time.monotonic()

    def programs(self):
        """What count_programs() finds since it was asked before, or {"error": ...}"""
        said, error = self.script("comm,pid")
        before, self.began = self.began, time.monotonic()
        return {"error": error} if error else count_programs(said, self.began - before)


def count_programs(said, seconds):
    """{"samples": N, "period": misses of one, "seconds": S, "top": [[command, process, samples], ...]} of perf script's lines
    "COMMAND PROCESS"."""
    found = collections.Counter((name, int(process)) for name, process in sampler.samples(said, rb"(-?\d+) *"))
    # A process has a name for each of its threads.
    by_process, names = collections.Counter(), {}
    for (name, process), samples in found.most_common():
        by_process[process] += samples
        names.setdefault(process, name)
    return {"samples": sum(found.values()), "period": PERIOD, "seconds": seconds,
            "top": [[names[process], process, samples] for process, samples in by_process.most_common(SHOWN)]}


def picture(said, width):
    if "error" in said:
        yield pretty.Text(said["error"], "red")
        return
    if not said.get("top"):
        yield pretty.Text("no program missed the last cache often enough for a sample", "dim")
        return
    yield pretty.Text(f"an estimate: misses of the last cache, by {said['samples']} samples; no writes, and not all that caches fetch ahead",
               "dim", no_wrap=True, overflow="ellipsis")
    most, bars = said["top"][0][2], max(4, min(30, width - 62))
    table = pretty.Table(box=None, padding=(0, 1), header_style="bold")
    # The command's name has what the others leave.
    for heading, least in (("%", 5), ("about GB/s", 10), ("", bars), ("process", 7)):
        table.add_column(heading, justify="right" if heading else "left", no_wrap=True, min_width=least)
    table.add_column("command", no_wrap=True, overflow="ellipsis")
    for name, process, samples in said["top"]:
        table.add_row(f"{100 * samples / said['samples']:.1f}", f"{samples * said['period'] * LINE / said['seconds'] / 1e9:.2f}",
                      draw.bar(samples, most, bars, "yellow"), str(process), name)
    yield table
