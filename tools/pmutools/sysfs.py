# SPDX-License-Identifier: GPL-2.0-only
"""The machine as sysfs and procfs show it: PMUs, their events and drivers, CPUs and sockets.

A Machine reads below a root directory, "/" unless a test says otherwise.
"""
import os
import platform
import re
from pathlib import Path
from typing import NamedTuple

from . import hardware
from .errors import FAILED, NO_COUNTERS, ToolError

DEVICES = "sys/bus/event_source/devices"
OURS, IN_TREE = "pmu-suite", "in-tree"


class Family(NamedTuple):
    """PMUs of one kind: which names they have, and how to tell who serves them."""
    name: str               # also of our driver's folder
    pattern: str            # of the PMUs' names
    module: str             # of our driver
    twin: str               # the in-tree driver's module; "" if it is built in everywhere
    mark: str               # a file of the PMU that our driver has and the in-tree one lacks; "": no such file
    what: str               # for sentences
    load: str               # how to get the PMUs


FAMILIES = (
    Family("intel_imc", r"uncore_imc_\d+", "intel_imc_pmu", "intel_uncore", "channel",
           "memory channels of an Intel Xeon", "modprobe intel_imc_pmu, or the in-tree intel_uncore"),
    Family("cmn", r"arm_cmn_\d+", "cmn_pmu", "arm_cmn", "format/wp_chn_num",
           "an Arm mesh", "modprobe cmn_pmu, or the in-tree arm-cmn"),
    Family("power_imc", r"nest_\w+_imc|core_imc|thread_imc|trace_imc", "power_imc_pmu", "", "",
           "POWER's in-memory collection", "modprobe power_imc_pmu; the in-tree driver is part of the kernel"),
)
# Counted beside a mesh, where it is; a kernel's driver alone knows it, and nothing is checked of it.
DMC620 = Family("dmc620", r"arm_dmc620_[0-9a-f]+", "", "arm_dmc620_pmu", "", "Arm's memory controllers DMC-620",
                "modprobe arm_dmc620_pmu")
# Counters of a memory controller that always count, beside those of its channels. Both drivers have them, by the same names.
FREE = Family("free_running", r"uncore_imc_free_running_\d+", "intel_imc_pmu", "intel_uncore", "",
              "free-running counters of an Intel Xeon", "modprobe intel_imc_pmu, or the in-tree intel_uncore")
# Of what README does not cover, what /proc/cpuinfo tells: (pattern, its name, what counts there).
_NOT_COVERED = (
    (r"^vendor_id\s*: (AuthenticAMD|HygonGenuine)", "AMD EPYC",
     "perf's amd_umc has the memory channels, from Zen 4 and Linux 6.7 on; amd_df the data fabric: perf list amd_umc amd_df"),
    (r"^platform\s*: pSeries", "A partition of PowerVM, or a guest on POWER", "perf's hv_24x7 counts under PowerVM: perf list hv_24x7"),
    (r"^flags\s*:.*\bhypervisor\b", "A virtual machine", "Most hosts hide these counters from it: look there."),
)
_BY_NAME = {family.name: family for family in FAMILIES}


def numbers(text):
    """The CPUs of a list such as "0-3,8"."""
    found = []
    for part in text.strip().split(","):
        if part:
            first, _, last = part.partition("-")
            found += range(int(first), int(last or first) + 1)
    return found


def natural(name):
    """Sorts uncore_imc_10 behind uncore_imc_9."""
    return [int(word) if word.isdigit() else word for word in re.split(r"(\d+)", name)]


class Event(NamedTuple):
    """An event as events/ has it."""
    name: str
    text: str               # "event=0x04,umask=0x03"; fields that the user has to give have "?"
    unit: str = ""
    scale: float = 1.0


class Driver(NamedTuple):
    """Who serves a PMU."""
    kind: str               # OURS or IN_TREE
    module: str             # "" if it is built in

    def __str__(self):
        return f"{self.module or 'built into the kernel'} ({self.kind})"


class Pmu(NamedTuple):
    name: str
    type: int
    family: Family
    driver: Driver
    cpus: list              # of its cpumask: one for each of its boxes
    events: dict
    formats: dict           # field: [(word of the attr, first bit, last bit), ...]
    path: Path = None

    @property
    def device(self):
        """The name of the device that it counts, "" where sysfs does not tell: it stays, the PMU's may be another next time."""
        link = self.path / "device"
        place = link.resolve() if link.exists() else self.path.resolve().parent
        return place.name if place.name != "devices" else ""

    def encode(self, text, **values):
        """{word: value} of "event=0x4,umask=0x3" or of an event's name; @values are for what it leaves open."""
        event = self.events.get(text)
        words = {}
        for part in (event.text if event else text).split(","):
            name, _, value = part.partition("=")
            if value == "?" and name not in values:
                raise ToolError(f"{self.name}: the event {text} needs a value for '{name}'.")
            self._put(words, name, values.pop(name) if name in values else int(value, 0) if value else 1)
        for name, value in values.items():
            self._put(words, name, value)
        return words

    def _put(self, words, name, value):
        if name in ("config", "config1", "config2", "config3"):
            words[name] = words.get(name, 0) | value
            return
        if name not in self.formats:
            raise ToolError(f"{self.name} has no event or field '{name}'.",
                            f"'perf list {self.name}' or {self.path}/events has its events.")
        left = value
        for word, first, last in self.formats[name]:
            width = last - first + 1
            words[word] = words.get(word, 0) | (left & ((1 << width) - 1)) << first
            left >>= width
        if left:
            raise ToolError(f"{self.name}: {value:#x} is too large for the field '{name}'.")


def _texts(directory):
    """{name: text} of all files in a directory. A mesh has more than a thousand, which take pathlib most of a start."""
    found = {}
    for name in sorted(os.listdir(directory)) if os.path.isdir(directory) else ():
        with open(f"{directory}/{name}", "rb", buffering=0) as file:
            found[name] = file.read().decode(errors="replace").strip()
    return found


def _formats(directory):
    found = {}
    for name, text in _texts(directory).items():
        word, _, bits = text.partition(":")
        found[name] = [(word, run[0], run[-1]) for run in map(numbers, bits.split(",")) if run]
    return found


def _events(directory):
    texts = _texts(directory)
    return {name: Event(name, text, texts.get(f"{name}.unit", ""), float(texts.get(f"{name}.scale", 1.0)))
            for name, text in texts.items() if not name.endswith((".unit", ".scale", ".snapshot", ".per-pkg"))}


class Cpu(NamedTuple):
    number: int
    package: int
    die: int
    core: int


class Machine:
    def __init__(self, root="/", arch=None):
        self.root = Path(root)
        self.arch = arch or platform.machine()
        self.pmus, self.others = {}, {}
        for path in sorted((self.root / DEVICES).glob("*"), key=lambda path: natural(path.name)):
            for family in FAMILIES:
                if re.fullmatch(family.pattern, path.name):
                    self._add(self.pmus, path, family)
            for family in DMC620, FREE:
                if re.fullmatch(family.pattern, path.name):
                    self._add(self.others, path, family)
        self.cpus = {cpu.number: cpu for cpu in self._cpus()}
        self.nodes = {number: cpus for number, cpus in self._nodes() if cpus}

    def read(self, name, default=""):
        """A file's text, without what is around it; @default if it is not there or may not be read."""
        try:
            return (self.root / name).read_text(errors="replace").strip("\n\0 ")
        except OSError:
            return default

    def _add(self, pmus, path, family):
        try:
            mask = self.read(path.relative_to(self.root) / "cpumask")
            pmus[path.name] = Pmu(path.name, int((path / "type").read_text()), family, self._driver(path, family),
                                  numbers(mask), _events(path / "events"), _formats(path / "format"), path)
        except (OSError, ValueError):       # it went while we looked: a file is not there, or gives an error or nothing
            pass

    def _driver(self, path, family):
        """Our module may be loaded beside the in-tree one, which has other PMUs then, so it alone says nothing."""
        if family.module and (self.root / "sys/module" / family.module).exists() and (not family.mark or (path / family.mark).exists()):
            return Driver(OURS, family.module)
        loaded = family.twin and (self.root / "sys/module" / family.twin / "initstate").exists()
        return Driver(IN_TREE, family.twin if loaded else "")

    def _cpus(self):
        for number in numbers(self.read("sys/devices/system/cpu/online", "0")):
            topology = f"sys/devices/system/cpu/cpu{number}/topology"
            package, die, core = (int(self.read(f"{topology}/{name}", "0") or 0)
                                  for name in ("physical_package_id", "die_id", "core_id"))
            # Where firmware does not say it is -1.
            yield Cpu(number, max(package, 0), max(die, 0), core)

    def _nodes(self):
        """(number, CPUs that are online) of each NUMA node."""
        for path in sorted((self.root / "sys/devices/system/node").glob("node[0-9]*"), key=lambda path: natural(path.name)):
            yield int(path.name[4:]), numbers(self.read(path.relative_to(self.root) / "cpulist"))

    def of(self, family):
        """The PMUs of a family, in their order."""
        return [pmu for pmu in self.pmus.values() if pmu.family.name == family]

    def driver(self, family):
        """Who serves a family's PMUs, as text; "" if there are none. One without a CPU may be what a driver has left."""
        return str(max(self.of(family), key=lambda pmu: bool(pmu.cpus)).driver) if self.of(family) else ""

    def free_running(self):
        """{number of a controller: its PMU}"""
        return {int(pmu.name.rsplit("_", 1)[1]): pmu for pmu in self.others.values() if pmu.family == FREE}

    def families(self):
        """The names of those that this machine has PMUs of."""
        return [family.name for family in FAMILIES if self.of(family.name)]

    def package(self, cpu):
        return self.cpus[cpu].package if cpu in self.cpus else 0

    @property
    def paranoid(self):
        return self.read("proc/sys/kernel/perf_event_paranoid", "not there")

    @property
    def kernel(self):
        return self.read("proc/sys/kernel/osrelease")

    @property
    def processor(self):
        """The processor's name, as far as the kernel has one."""
        text = self.read("proc/cpuinfo")
        named = re.search(r"^(?:model name|cpu)\s*: *(.+)$", text, re.M)
        return named[1].strip() if named else self.arch

    def intel_model(self):
        """(family, model, stepping) of an Intel processor; None elsewhere."""
        text = self.read("proc/cpuinfo")
        found = [re.search(rf"^{name}\s*: *(\d+)$", text, re.M) for name in ("cpu family", "model", "stepping")]
        if "GenuineIntel" not in text or not all(found):
            return None
        return tuple(int(number[1]) for number in found)

    def nothing(self, *names):
        """The ToolError where there are no PMUs of the families @names, or of any; where there are devices, a driver may come."""
        waits = any(hardware.devices(self))
        if self.elsewhere and not waits:
            return ToolError(*self.elsewhere, NO_COUNTERS)
        wanted = [_BY_NAME[name] for name in names] or FAMILIES
        what = " or of ".join(family.what for family in wanted)
        loads = "; ".join(family.load for family in wanted)
        return ToolError(f"This machine shows no PMU of {what} in {self.root / DEVICES}.",
                         f"Load a driver ({loads}). If that fails, the kernel's log says why.", FAILED if waits else NO_COUNTERS)

    @property
    def elsewhere(self):
        """(why nothing here is for these drivers, what counts instead); None if that is not known."""
        text = self.read("proc/cpuinfo")
        for pattern, name, instead in _NOT_COVERED:
            if re.search(pattern, text, re.M):
                return f"{name}: not covered by these drivers.", instead
        return None
