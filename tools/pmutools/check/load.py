# SPDX-License-Identifier: GPL-2.0-only
"""Work of known size, by load.c, and what counters have to say of it.

Models of memory channels and meshes know nothing of what a guest's CPUs do, so there a program takes load.c's
place that tells the model. POWER's model counts instructions and makes records of what really runs.
"""
import contextlib
import math
import os
import pkgutil
import re
import shutil
import subprocess
import tempfile

from ..errors import ToolError
from ..sysfs import numbers
from ..top import icelake as top_icelake, places, rapids as top_rapids

from . import cmn, icelake, intel_imc, power_imc, rapids
from .checks import Check, answer, command, fail, ok, plain, skip, spare_memory, troubles

BYTES = 1 << 30
LINE = 64
BEFORE_S = 0.5
CACHES = 16                 # so large is the buffer: 1/16 of it may be left from the last pass
LEAST, MOST = 0.9, 1.1      # of the bytes: 1/16 may be in caches; tables, prefetchers and others take their part
ROOM = 32 << 20             # bytes that others move meanwhile, beside what they moved before
MESH_MOST = 2.2             # each line that comes may push one out that is written
SLICE, HOMES = 4 << 20, 128 # bytes of the system cache at a home node, and home nodes, at most: CMN-700's manual
INSTRUCTIONS = 50_000_000
EXTRA = 1_000_000           # instructions of starting and ending
ROUNDS = 500
SIGMAS = 4
SHARE = 0.25                # of the busiest channel's lines: what others of the node have at least


class Load:
    """The program, which is built unless there is one."""

    def __init__(self):
        self.program, self.directory = None, None

    def prepare(self, program=None):
        """Before the first check: what is missing on this machine is no fault that a check has found."""
        if program and not os.access(program, os.X_OK):
            raise ToolError(f"{program} is no program that this user may run.", "Give what was built from load.c.")
        self.program = program or self._build()

    def _build(self):
        compiler = shutil.which("cc") or shutil.which("gcc")
        if not compiler:
            raise ToolError("--load needs a C compiler.", "Install gcc and libc6-dev, or use --load-program.")
        self.directory = tempfile.TemporaryDirectory(prefix="pmu-check.")
        program = f"{self.directory.name}/load"
        done = command([compiler, "-O2", "-x", "c", "-o", program, "-"], input=pkgutil.get_data(__package__, "load.c").decode())
        if done.returncode:
            raise ToolError(f"load.c cannot be built: {(done.stderr.strip().splitlines() or ['the compiler says nothing'])[-1]}",
                            "Install gcc and libc6-dev, or use --load-program.")
        return program

    @contextlib.contextmanager
    def ready(self, *words):
        """A process that is ready to work, and a function that lets it, and returns when it has."""
        process = subprocess.Popen([self.program, *map(str, words)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   universal_newlines=True)
        try:
            if process.stdout.readline() != "ready\n":
                raise ToolError(f"The load '{' '.join(map(str, words))}' did not get ready.")

            def work():
                with contextlib.suppress(BrokenPipeError):      # what is said then is not "done"
                    process.stdin.write("\n")
                    process.stdin.flush()
                if not process.stdout.readline().startswith("done "):
                    raise ToolError(f"The load '{' '.join(map(str, words))}' did not end.")
            yield process, work
        finally:
            process.kill()
            process.communicate()


LOAD = Load()


def buffer_size(machine, system_cache=0):
    """Bytes; 0 if this machine has not so much memory to spare. The @system_cache is one that sysfs does not list."""
    caches = [machine.read(f"sys/devices/system/cpu/cpu0/cache/index{one}/size", "0K") for one in range(5)]
    largest = max(*(int(re.sub(r"\D", "", one) or 0) << 10 for one in caches), system_cache) or 32 << 20
    spare = spare_memory(machine) // 4
    # What is not read again cannot be found in a cache.
    return min(CACHES * largest, BYTES + largest, spare) if spare >= 4 * largest else 0


def near_memory(machine, units):
    """Whether a CPU's memory is known to be that of its own of so many units: else it may be that of any."""
    return units == 1 or len(numbers(machine.read("sys/devices/system/node/online", "0"))) >= units


def _compare(bench, what, kind, cpu, size, groups, keys, most=MOST):
    """What the lines of @keys, of @groups, are while the load runs on @cpu, beside what it moves."""
    before = bench.count(groups, BEFORE_S)
    with LOAD.ready(kind, cpu, BYTES, size) as (_, work):
        found = bench.during(groups, work)
    yield from troubles(found)
    if not before.whole(*keys) or not found.whole(*keys):
        yield skip(f"{what}: others have events open, so these did not count all of the time.")
        return
    moved, others = (LINE * sum(one.value(key) for key in keys) for one in (found, before))
    others *= found.seconds / before.seconds
    said = f"{what}: {plain(moved)}B counted of {plain(BYTES)}B; in as long when nothing was done {plain(others)}B"
    if LEAST * BYTES <= moved <= most * BYTES + ROOM + 1.5 * others:
        yield ok(said)
    else:
        yield fail(f"{said}. {LEAST:.0%} to {most:.0%} are right.")


def lines_of(machine, kind):
    """What counts all lines that a channel reads, or writes; of Granite Rapids each half has an event."""
    model = machine.intel_model()
    if not top_rapids.is_one(model):
        table = icelake if top_icelake.is_one(model) else intel_imc
        return (table.READ if kind == "read" else table.WRITE,)
    umask = rapids.READ if kind == "read" else rapids.WRITE
    return tuple(f"event={code:#04x},umask={umask:#x}" for code in ((5, 6) if model[1] in top_rapids.GRANITE else (5,)))


def channels(bench):
    size = buffer_size(bench.machine)
    if not size:
        yield skip("There is too little memory for a buffer that no cache holds.")
        return
    boxes = bench.boxes()
    texts = {kind: lines_of(bench.machine, kind) for kind in ("read", "write")}
    groups = [intel_imc.group(pmu, cpu, *texts["read"], *texts["write"]) for pmu, cpu in boxes]
    packages = sorted({bench.machine.package(cpu) for _, cpu in boxes})
    near = near_memory(bench.machine, len(packages))
    for package in packages:
        worker = next(cpu for _, cpu in boxes if bench.machine.package(cpu) == package)
        for kind in texts:
            keys = [(pmu.name, cpu, text) for pmu, cpu in boxes if not near or bench.machine.package(cpu) == package
                    for text in texts[kind]]
            where = "" if near else ", at the channels of all sockets"
            yield from _compare(bench, f"{kind} on socket {package}{where}", kind, worker, size, groups, keys)


def of_nodes(bench):
    """Memory of each NUMA node of a socket that is several: which channels it is on, and what the driver says of these."""
    machine, size = bench.machine, buffer_size(bench.machine)
    if not size:
        yield skip("There is too little memory for a buffer that no cache holds.")
        return
    texts = lines_of(machine, "read")
    for package in sorted({machine.package(cpu) for _, cpu in bench.boxes()}):
        workers = {node: min(own) for node, own in ((node, [cpu for cpu in cpus if machine.package(cpu) == package])
                                                    for node, cpus in machine.nodes.items()) if own}
        boxes = [(pmu, cpu) for pmu, cpu in bench.boxes() if machine.package(cpu) == package]
        for node, worker in sorted(workers.items() if len(workers) > 1 else ()):
            with LOAD.ready("read", worker, BYTES, size) as (_, work):
                found = bench.during([intel_imc.group(pmu, cpu, *texts) for pmu, cpu in boxes], work)
            yield from troubles(found)
            lines = [sum(found.value((pmu.name, cpu, text)) or 0 for text in texts) for pmu, cpu in boxes]
            busy = [box for box, number in zip(boxes, lines) if number > SHARE * max(lines)]
            other = [pmu.name for pmu, cpu in busy if places.node(machine, pmu, cpu) not in (None, node)]
            said = f"socket {package}, node {node}: memory is on {', '.join(pmu.name for pmu, _ in busy)}"
            if len(busy) == len(boxes):
                yield skip(f"{said}, which is all of the socket's: nothing tells them apart.")
            else:
                yield fail(f"{said}; {', '.join(other)} said to be of another node.") if other else answer(said)


def mesh(bench):
    found = []              # (PMU, its groups, its home nodes)
    for pmu in bench.pmus:
        names = [name for name in cmn.REQUESTS if name in pmu.events]
        if names:
            found.append((pmu, [[cmn.wanted(pmu, name)] for name in names], len(cmn.homes(bench, pmu)[2]) or HOMES))
        else:
            yield skip(f"{pmu.name}: no event of requests to memory.")
    size = buffer_size(bench.machine, sum(homes for *_, homes in found) * SLICE)
    if found and not size:
        yield skip("There is too little memory for a buffer that no cache holds.")
    if not found or not size:
        return
    # Where firmware has no nodes, a CPU's buffer may be at any mesh.
    near = near_memory(bench.machine, len(bench.pmus))
    for some in [[one] for one in found] if near else [found]:
        groups = [group for _, groups, _ in some for group in groups]
        yield from _compare(bench, f"{' + '.join(pmu.name for pmu, *_ in some)}, read", "read", some[0][0].cpus[0], size,
                            groups, [group[0].key for group in groups], MESH_MOST)


def thread(bench):
    pmu, name = power_imc.of_instructions(bench)
    if not pmu:
        yield skip("There is no thread_imc with an event of a program's instructions.")
        return
    cpu = min(bench.machine.cpus)
    with LOAD.ready("instructions", cpu, INSTRUCTIONS) as (process, work):
        found = bench.during([[power_imc.of_a_task(pmu, name, process.pid)]], work)
    yield from troubles(found)
    got = (found.value(name) or 0) * pmu.events[name].scale
    said = f"{got:,.0f} instructions counted of a program that has {INSTRUCTIONS:,}"
    yield ok(said) if 0.99 * INSTRUCTIONS <= got <= 1.01 * INSTRUCTIONS + EXTRA else fail(said + ".")


def shares(bench):
    """heavy() and light() in perf's own profile of them."""
    if "trace_imc" not in bench.machine.pmus:
        yield skip("There is no trace_imc.")
        return
    if not shutil.which("perf"):
        yield skip("It needs perf.")
        return
    with tempfile.TemporaryDirectory(prefix="pmu-check.") as directory:
        data = os.path.join(directory, "perf.data")
        cpu = min(bench.machine.cpus)
        done = command(["perf", "record", "-q", "-o", data, "-e", "trace_imc/trace_cycles/", "-c", "1",
                    LOAD.program, "shares", str(cpu), str(ROUNDS)], input="\n")
        if done.returncode:
            yield fail(f"perf record: {done.stderr.strip().splitlines()[-1] if done.stderr.strip() else 'failed'}")
            return
        said = command(["perf", "script", "-i", data, "-F", "ip,sym"]).stdout
    heavy, light = (len(re.findall(rf"\b{name}\b", said)) for name in ("heavy", "light"))
    number = heavy + light
    if number < 100:
        yield fail(f"{number} records of a program that ran for a while: {heavy} of heavy(), {light} of light().")
        return
    room = SIGMAS * math.sqrt(0.75 * 0.25 / number) + 0.01
    text = f"heavy() has {100 * heavy / number:.1f} % of {number} records; 75 % would be right, and " \
           f"{100 * room:.1f} more or less"
    yield ok(text) if abs(heavy / number - 0.75) <= room else fail(text + ".")


TABLES = {
    "intel_imc": (Check("load-memory", "Is what a program reads and writes what the channels of its socket count?",
                        f"A buffer of {CACHES} times the largest cache is gone through line by line, so at most "
                        f"1/{CACHES} is in a cache. Page tables and prefetchers add some percent; what others do is "
                        "counted before.",
                        channels),
                  Check("load-nodes", "Is the memory of a NUMA node on the channels that are said to be the node's?",
                        "Of sockets that are several nodes (SNC). A CPU of each reads memory of its own node, which is spread "
                        f"over the node's channels, so one that has less than {SHARE:.0%} of the busiest is another's.", of_nodes)),
    "cmn": (Check("load-memory", "Is what a program reads what the mesh asks of memory?",
                  "As for memory channels; each line that comes may push one out that has to be written. The system cache "
                  f"has {SLICE >> 20} MiB at each home node at most, and firmware need not list it. Where firmware does "
                  "not say which memory is near, all meshes together are looked at.", mesh),),
    "power_imc": (
        Check("load-thread", "Are the instructions of a program those that its thread counts?",
              "A loop of known length in the processor's own words; 1 % and a million are for its start and its "
              "end, and for counts of 512 at a time.", thread),
        Check("load-shares", "Has a trace three records of heavy() for each of light()?",
              f"So have their times. {SIGMAS} standard deviations of so many records, and 1 %.", shares),
    ),
}
