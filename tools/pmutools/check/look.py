# SPDX-License-Identifier: GPL-2.0-only
"""Look at the machine: what it is, who has its devices, what the kernel said. Nothing is changed or opened."""
import os
import re

from .. import hardware
from .scrub import scrub

# Options of the kernel's command line that have to do with counters. No others are shown.
OPTIONS = r"(?:isolcpus|nohz_full|rcu_nocbs|initcall_blacklist|module_blacklist|modprobe\.blacklist|mitigations|nosmt|" \
          r"iomem|lockdown|pci|acpi_enforce_resources|intel_idle\.\S+|processor\.\S+|cpuidle\.off|powersave|perf\S*|" \
          r"numa|maxcpus|nr_cpus|(?:pmu_core|intel_imc_pmu|cmn_pmu|power_imc_pmu|intel_uncore|arm_cmn)\.\S+)(?:=\S*)?"
# Lines of the kernel's log that are about these counters or their drivers.
LOG = r"pmu_core|intel_imc|uncore|cmn|power_imc|imc[-_: ]|\bimc\b|arm-cmn|nest_|(?i:performance " \
      r"events)|\bPMU\b|lockdown|perf:"
# Lines with the name of a program, which its user has chosen: of its end, or of what ran.
PROGRAMS = r"^(?:traps: )?[^:]*\[\d+\](?:: | )|\btask=|Killed process |\bcomm=|\bComm: "
WARNING = 4
LOG_LINES = 60


def processor(machine):
    packages = {cpu.package for cpu in machine.cpus.values()}
    dies = {(cpu.package, cpu.die) for cpu in machine.cpus.values()}
    yield "processor", machine.processor
    model = machine.intel_model()
    if model:
        yield "family, model, stepping", ", ".join(map(str, model))
        yield "microcode", _line(machine, "proc/cpuinfo", r"^microcode\s*:\s*(.+)$")
    yield "revision", _line(machine, "proc/cpuinfo", r"^revision\s*:\s*(.+)$")
    # Without the zeros in front, which would make it look like an address.
    midr = machine.read("sys/devices/system/cpu/cpu0/regs/identification/midr_el1")
    yield "MIDR", midr and f"{int(midr, 16):#x}"
    yield "CPUs online", machine.read("sys/devices/system/cpu/online")
    yield "sockets, dies", f"{len(packages)}, {len(dies)}"
    yield "NUMA nodes", machine.read("sys/devices/system/node/online")
    yield "isolated CPUs", machine.read("sys/devices/system/cpu/isolated")
    kilobytes = int(_line(machine, "proc/meminfo", r"^MemTotal:\s*(\d+)") or 0)
    yield "memory", f"{kilobytes / (1 << 20):.0f} GiB"


def firmware(machine):
    for name in ("sys_vendor", "product_name", "bios_vendor", "bios_version", "bios_date"):
        yield name.replace("_", " "), machine.read(f"sys/class/dmi/id/{name}")
    yield "model", machine.read("proc/device-tree/model")
    versions = machine.root / "proc/device-tree/ibm,firmware-versions"
    if versions.is_dir():
        for path in sorted(versions.glob("*")):
            if path.name in ("skiboot", "occ", "hcode", "hostboot", "ima-catalog", "version"):
                yield path.name, machine.read(path.relative_to(machine.root))
    guest = _line(machine, "proc/cpuinfo", r"^flags\s*:.*(\bhypervisor)\b")
    yield "hypervisor", "yes: counters of a virtual machine may be models" if guest else ""


def kernel(machine):
    yield "kernel", f"{machine.kernel} {machine.arch}"
    yield "version", machine.read("proc/sys/kernel/version")
    yield "options", " ".join(word for word in machine.read("proc/cmdline").split() if re.fullmatch(OPTIONS, word))
    yield "perf_event_paranoid", machine.paranoid
    yield "lockdown", machine.read("sys/kernel/security/lockdown")
    yield "tainted", machine.read("proc/sys/kernel/tainted")
    yield "user", "root" if os.geteuid() == 0 else "not root"
    for module in ("pmu_core", "intel_imc_pmu", "cmn_pmu", "power_imc_pmu", "intel_uncore", "arm_cmn"):
        if (machine.root / "sys/module" / module).exists():
            parameters = sorted((machine.root / "sys/module" / module / "parameters").glob("*"))
            said = " ".join(f"{path.name}={machine.read(path.relative_to(machine.root))}" for path in parameters)
            source = machine.read(f"sys/module/{module}/srcversion")
            yield f"module {module}", " ".join(filter(None, ("loaded", source and f"srcversion {source}", said)))


def pmus(machine):
    for pmu in (*machine.pmus.values(), *machine.free_running().values()):
        yield (pmu.name, str(pmu.driver), machine.read(pmu.path.relative_to(machine.root) / "cpumask") or "none",
               str(len(pmu.events)), " ".join(sorted(pmu.formats)))


def log(machine, kmsg=None):
    """(lines of the kernel's log that are about counters, as (level, text), newest last; why there are none)"""
    try:
        said = kmsg if kmsg is not None else _kmsg(machine.root / "dev/kmsg")
    except OSError as error:
        return [], f"The kernel's log cannot be read ({error.strerror}): run this as root, or add the output of " \
                   "\"journalctl -k | grep -iE 'pmu|imc|cmn|uncore'\"."
    found = []
    for record in said:
        head, _, text = record.partition(";")
        text = text.split("\n")[0]
        if re.search(LOG, text) and not re.search(PROGRAMS, text):
            found.append((int(head.split(",")[0]) & 7, scrub(text)))
    return found[-LOG_LINES:], ""


def _kmsg(path):
    """The records of the kernel's log: each read is one."""
    records = []
    fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        while True:
            try:
                records.append(os.read(fd, 8192).decode(errors="replace"))
            except BlockingIOError:
                return records
            except BrokenPipeError:     # the kernel has overwritten what would have come next
                continue
    finally:
        os.close(fd)


def _line(machine, name, pattern):
    found = re.search(pattern, machine.read(name), re.M)
    return found[1].strip() if found else ""


def look(machine):
    """All of it, as the report has it."""
    lines, why = log(machine)
    return {
        "processor": _filled(processor(machine)), "firmware": _filled(firmware(machine)),
        "kernel": _filled(kernel(machine)),
        "devices": [[scrub(name), *more] for name, *more in hardware.devices(machine)], "pmus": [list(row) for row in pmus(machine)],
        "log": [list(line) for line in lines], "no log": why,
    }


def _filled(rows):
    return {name: scrub(str(value)) for name, value in rows if value}
