# SPDX-License-Identifier: GPL-2.0-only
"""POWER's in-memory collection: bandwidth of each chip's memory controllers, and what its cores do.

Cores are counted or traced, never both: the hardware has one engine for the two. So there is a mode for each, and one
that leaves the engines to others.
"""
import collections
import errno
import os
import re
from pathlib import Path

from .. import count
from ..errors import RIGHTS, ToolError
from . import draw, pretty, sampler
from .rows import Rows, both, ratio

# As perf's metric Memory-bandwidth-MCS for POWER9, which leaves reads of 64 bytes out; POWER10's names say the same
# of blocks that were moved. A count times its scale times these bytes.
_MEMORY = re.compile(r"PM_MCS\d*_(\d+)B_(RD|WR)_(?:DISP|DATA_BLOCKS)_.*")
_BYTES = {"RD": ("128",), "WR": ("128", "64")}
# Of a core, all its threads, while they are not idle: in the catalogs of POWER9 and POWER10.
_CORE = {"inst": "CPM_NON_IDLE_INST", "cycles": "CPM_NON_IDLE_PCYC"}
NARROW = 46             # columns of a table of controllers with reads, writes and their sum
FUNCTIONS = 12
FREQUENCY, SAMPLES = 4000, 20_000       # samples a second of a CPU, which is perf's default, and of all of them


class View:
    name, family, title = "power_imc", "power_imc", "in-memory collection"
    tolerate = (errno.ENODEV, errno.ENXIO, errno.EBUSY)     # cores, while somebody traces: the nest is free
    help = {"read": "bytes read from memory", "write": "bytes written to memory",
            "cycles": "cycles of a core's threads that were not idle", "ipc": "instructions for each of these cycles"}

    def __init__(self, info):
        self.info = info
        # A catalog has one of them at least.
        self.modes = [mode for mode, what in (("cores", "cores"), ("functions", "functions"), ("nest", "nests")) if info[what]]
        self.first = self.modes[0]
        self.tracer = None

    @classmethod
    def of(cls, machine, options):
        core, trace = machine.pmus.get("core_imc"), machine.pmus.get("trace_imc")
        nests, cores = cls._nests_of(machine), cls._cores_of(machine)
        if not nests and not cores and not trace:
            raise ToolError("The catalog of this machine's firmware has no memory controllers, no cores and no trace.",
                            "The kernel's log says what the driver made of the catalog.")
        return cls({"view": cls.name, "machine": machine.processor, "kernel": machine.kernel,
                    "driver": machine.driver("power_imc"), "nests": nests, "cores": cores,
                    "scales": {what: core.events[name].scale for what, name in _CORE.items()} if cores else {},
                    "functions": bool(trace)})

    @staticmethod
    def _nests_of(machine):
        """[key, PMU, event, CPU, what, bytes of a count] of what memory controllers count."""
        nests = []
        for pmu in machine.of("power_imc"):
            for event in pmu.events.values():
                found = _MEMORY.fullmatch(event.name)
                if found and found[1] in _BYTES[found[2]]:
                    nests += [[f"{machine.package(cpu)}/{pmu.name}/{event.name}", pmu.name, event.name, cpu,
                               "read" if found[2] == "RD" else "write", int(found[1]) * event.scale]
                              for cpu in pmu.cpus]
        return nests

    @staticmethod
    def _cores_of(machine):
        """[chip/core, CPU] of each core that can be counted."""
        core = machine.pmus.get("core_imc")
        if not core or not all(name in core.events for name in _CORE.values()):
            return []
        return [[f"{machine.package(cpu)}/{machine.cpus[cpu].core}", cpu] for cpu in core.cpus if cpu in machine.cpus]

    def look(self, machine):
        """Chips and cores are counted on the CPUs that @machine has for them now; or on none."""
        nests, cores = ({key: one for key, *one in found} for found in (self._nests_of(machine), self._cores_of(machine)))
        for one in self.info["nests"]:
            one[3] = nests[one[0]][2] if one[0] in nests else None
        for one in self.info["cores"]:
            one[1] = cores[one[0]][0] if one[0] in cores else None

    def missing(self, machine):
        found = {pmu for _, pmu, _, cpu, *_ in self.info["nests"] if cpu is None or pmu not in machine.pmus}
        return found | ({"core_imc"} if any(cpu is None for _, cpu in self.info["cores"]) else set())

    def begin(self, mode):
        if mode == "functions":
            self.tracer = Tracer()

    def groups(self, machine, mode):
        by_box = collections.defaultdict(list)
        for key, pmu, event, cpu, *_ in self.info["nests"]:
            if pmu in machine.pmus and cpu is not None:
                by_box[pmu, cpu].append(count.want(key, machine.pmus[pmu], event, cpu))
        yield from by_box.values()
        if mode == "cores":
            for key, cpu in self.info["cores"]:
                if cpu is not None:
                    yield [count.want(f"{key}/{what}", machine.pmus["core_imc"], name, cpu) for what, name in _CORE.items()]

    def turns(self, machine, mode):
        return []

    def close(self):
        if self.tracer:
            self.tracer.close()
            self.tracer = None

    def extra(self, mode):
        return {"functions": self.tracer.functions()} if self.tracer else {}

    @staticmethod
    def planned(frame):
        return {}

    def rows(self, frame):
        rows, parts = Rows(), collections.defaultdict(list)
        for key, pmu, _, _, what, size in self.info["nests"]:
            chip = key.split("/")[0]
            value, share = frame.rate(key)
            parts[chip, pmu, what].append((None if value is None else value * size, frame.count(key), size, share))
        for (chip, pmu, what), found in parts.items():
            # Members of a group: they were counted at the same time.
            missing = any(value is None for value, *_ in found)
            labels = {"chip": chip, "controller": pmu.removeprefix("nest_").removesuffix("_imc"), "pmu": pmu}
            rows.add(what, None if missing else sum(value for value, *_ in found), "B/s", min(one[3] for one in found), **labels)
            counted = None if any(one is None for _, one, *_ in found) else sum(one * size for _, one, size, _ in found)
            rows.add(f"{what}_bytes", counted, "B", 0 if counted is None else 1, **labels)
        chips = sorted({chip for chip, *_ in parts}, key=int)
        for name, unit in (("read", "B/s"), ("write", "B/s"), ("read_bytes", "B"), ("write_bytes", "B")):
            for chip in chips:
                rows.total(f"chip_{name}", [row for row in rows.all if row.name == name and dict(row.labels)["chip"] == chip],
                           unit, chip=chip)
            if chips:
                rows.total(f"total_{name}", [rows.get(f"chip_{name}", chip=chip) for chip in chips], unit)
        if frame.mode == "cores":
            for key, _ in self.info["cores"]:
                chip, core = key.split("/")
                cycles, share = frame.rate(f"{key}/cycles")
                inst = frame.rate(f"{key}/inst")[0]
                scales = self.info["scales"]
                rows.add("cycles", None if cycles is None else cycles * scales["cycles"], "Hz", share, chip=chip, core=core,
                         pmu="core_imc")
                rows.add("ipc", ratio((inst or 0) * scales["inst"], (cycles or 0) * scales["cycles"]), "", share,
                         chip=chip, core=core, pmu="core_imc")
        return rows

    def head(self, frame, rows, width, height):
        """What stays on the screen, wherever the arrows lead to."""
        if self.info["nests"]:
            yield draw.totals(rows, width, "memory: ")

    def draw(self, frame, rows, width, height):
        if self.info["nests"]:
            yield self._nests(rows, width)
        if frame.mode == "cores":
            yield self._cores(rows, width)
        elif frame.mode == "functions":
            yield from self._functions(frame.extra.get("functions") or {}, width)

    def _nests(self, rows, width):
        table = pretty.Table(box=None, padding=(0, 1), header_style="bold", collapse_padding=True)
        history = rows.history if width >= draw.WIDE else None
        # Where there is no room for two numbers it is their sum.
        shown = ("read", "write", "sum") if width >= NARROW else ("sum",)
        table.add_column("", min_width=12 if shown[1:] else 0, no_wrap=True)
        bars = max(0, min(40, (width - NARROW - (draw.HISTORY + 12 if history else 0)) // 2 - 1))
        for name in shown:
            table.add_column(f"{name} GB/s", justify="right", no_wrap=True)
            if bars >= 4 and name != "sum":
                table.add_column("", width=bars, no_wrap=True)
        if history:
            table.add_column("most GB/s", justify="right", no_wrap=True)
            table.add_column("", width=draw.HISTORY, no_wrap=True)
        chips = [dict(row.labels)["chip"] for row in rows.all if row.name == "chip_read"]
        # Nothing tells how much a chip can move: a full bar is the most that one has moved.
        most = max((rows.history and rows.history.peak(rows.get("chip_read", chip=chip)) or
                    sum(rows.get(f"chip_{name}", chip=chip).value or 0 for name in ("read", "write")) for chip in chips), default=0)

        def line(name, pair, style):
            cells = [pretty.Text(name, style)]
            for row, colour in zip((*pair, both(pair)) if shown[1:] else [both(pair)], ("green", "magenta", "")):
                cells.append(pretty.Text(row.text(2), style))
                if bars >= 4 and colour:
                    cells.append(draw.bar(row.value, most, bars, colour))
            table.add_row(*cells, *(draw.before(history, pair[0]) if history else ()))

        for chip in chips:
            line(f"chip {chip}", [rows.get(f"chip_{name}", chip=chip) for name in ("read", "write")], "bold")
            controllers = dict.fromkeys(dict(row.labels)["controller"] for row in rows.all
                                        if row.name in ("read", "write") and dict(row.labels)["chip"] == chip)
            for controller in controllers:
                line(f"  {controller}", [rows.get(name, chip=chip, controller=controller) for name in ("read", "write")], "")
        return table

    def _cores(self, rows, width):
        found = [(row, rows.get("ipc", **dict(row.labels))) for row in rows.all if row.name == "cycles"]
        most = max((cycles.value or 0 for cycles, _ in found), default=0)
        columns = max(1, min(4, width // 38, len(found)))
        bar, heading = 6 if width >= 36 else 0, "instr./cycle" if width >= 28 else "IPC"
        table = pretty.Table(box=None, padding=(0, 1), header_style="bold", collapse_padding=True)
        for _ in range(columns):
            for name, justify in (("core", "left"), ("MHz", "right"), *([("", "left")] if bar else []), (heading, "right")):
                table.add_column(name, justify=justify, no_wrap=True)
        height = -(-len(found) // columns)
        for number in range(height):
            cells = []
            for cycles, ipc in found[number::height]:
                labels = dict(cycles.labels)
                cells += [f"{labels['chip']}/{labels['core']}", cycles.text(0),
                          *([draw.bar(cycles.value, most, bar, "cyan")] if bar else []), ipc.text(2)]
            table.add_row(*cells)
        return table

    @staticmethod
    def _functions(said, width):
        if "error" in said:
            yield pretty.Text(said["error"], "red")
            return
        if not said.get("top"):
            yield pretty.Text("no samples: all threads were idle", "dim")
            return
        yield pretty.Text(f"where {said['samples']} records of trace_imc were made, for which no counter interrupted anybody", "dim")
        table = pretty.Table(box=None, padding=(0, 1), header_style="bold")
        table.add_column("%", justify="right", no_wrap=True)
        table.add_column("", width=max(4, min(30, width - 58)), no_wrap=True)
        table.add_column("function", no_wrap=True, overflow="ellipsis")
        table.add_column("command", no_wrap=True)
        most = said["top"][0][2]
        for function, command, samples in said["top"]:
            table.add_row(f"{100 * samples / said['samples']:.1f}", draw.bar(samples, most, max(4, min(30, width - 58)), "yellow"),
                          function, command)
        yield table


def _frequency(limit=Path("/proc/sys/kernel/perf_event_max_sample_rate")):
    """Samples a second of each CPU, so that perf script is done with those of all in less than an interval."""
    most = int(limit.read_text()) if limit.exists() else FREQUENCY
    return str(max(1, min(FREQUENCY, most, SAMPLES // os.cpu_count())))


class Tracer(sampler.Sampler):
    """Of trace_imc."""

    def __init__(self):
        super().__init__(["-e", "trace_imc/trace_cycles/", "-F", _frequency()], "trace_imc", "the functions",
                         f"Tracing takes CAP_PERFMON, and that nobody counts core or thread events. {RIGHTS}")

    def functions(self):
        """{"samples": N, "top": [(function, command, samples), ...]} since it was asked before, or {"error": ...}"""
        said, error = self.script("comm,ip,sym")
        return {"error": error} if error else count_functions(said)


def count_functions(said):
    """Of perf script's lines "COMMAND ADDRESS FUNCTION": where most samples are."""
    found = collections.Counter((function if function != "[unknown]" else f"0x{address}", command)
                                for command, address, function in sampler.samples(said, rb"([0-9a-f]{4,16}) +(\S.*?)"))
    return {"samples": sum(found.values()), "top": [[function, command, samples]
                                                    for (function, command), samples in found.most_common(FUNCTIONS)]}
