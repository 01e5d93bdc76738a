# SPDX-License-Identifier: GPL-2.0-only
"""What the CPUs of a guest are doing when its time is over, to find out why.

QEMU is asked for their registers, twice, so that one sees whether they move. Then all get an interrupt that none can
mask: a kernel that is told to (ARGUMENTS), and POWER's always, prints where they are, and panics.
"""
import json
import re
import socket
import time

# 64: a panic prints what all CPUs are at.
ARGUMENTS = "unknown_nmi_panic panic_print=64"

MARK = "\nits time is over\n"        # in the guest's log: what comes behind is no complaint

NO_ANSWER = "QEMU's monitor does not answer"

_PATIENCE = 10      # seconds for QEMU to answer, and for the kernel to print
_TELLING = re.compile(r"CPU#|[ER]IP=|NIP |PC=|PSTATE")
_INTERRUPTS = re.compile(r"^(Timer|LVTT|ISR|IRR)\b")
_LATER = "a second later:\n"
# A CPU that is halted with interrupts on (bit 9), so that no handler of one is under way there; and one whose timer has run
# down, and whose interrupt is neither masked (bit 16) nor requested nor in service, or is in service, so that the next one
# waits for its end.
_IDLE = re.compile(r"^CPU#(\d+)\n.IP=\w+ RFL=\w+[2367abef]\w\w .*HLT=1$", re.MULTILINE)
_LOST = re.compile(r"^interrupts of CPU (\d+):\nLVTT 0x0000[0-9a-f]{4} .*one-shot.*\n"
                   r"Timer .*initial_count = [1-9]\d* current_count = 0\n"
                   r"(?:ISR \(none\)\nIRR \(none\)|ISR 236\nIRR (?:\d+ )*236)$", re.MULTILINE)


def qemu_args(path):
    """Where look() can ask."""
    return ["-qmp", f"unix:{path},server=on,wait=off"]


class _Monitor:
    """QEMU's, behind the socket at @path."""

    def __init__(self, path):
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.settimeout(_PATIENCE)
        self._socket.connect(str(path))
        self._lines = self._socket.makefile()
        self._lines.readline()      # the greeting
        self.ask("qmp_capabilities")

    def ask(self, command, **arguments):
        """Its answer, or why there is none."""
        self._socket.sendall(json.dumps({"execute": command, "arguments": arguments}).encode() + b"\n")
        for line in self._lines:
            answer = json.loads(line)
            if "error" in answer:
                return answer["error"]["desc"]
            if "return" in answer:
                return answer["return"]
        return "QEMU has ended"

    def _command(self, line, telling, **of_cpu):
        """What it says of a command of its own, with what matters."""
        said = self.ask("human-monitor-command", **{"command-line": line}, **of_cpu)
        return "".join(f"{' '.join(found.split())}\n" for found in said.splitlines() if telling.search(found))

    def registers(self):
        return self._command("info registers -a", _TELLING)

    def interrupts(self):
        """What each CPU of a PC waits for, and may not be interrupted by: its timer, and the vectors in service and requested."""
        cpus = self.ask("query-cpus-fast")
        return "".join(f"interrupts of CPU {cpu['cpu-index']}:\n" +
                       self._command("info lapic", _INTERRUPTS, **{"cpu-index": cpu["cpu-index"]})
                       for cpu in cpus if isinstance(cpu, dict) and cpu["target"] == "x86_64")


def look(path, process, patience=_PATIENCE):
    """Some lines for the guest's log. What the kernel itself prints comes by its console meanwhile, and in so many seconds."""
    said = ""
    try:
        monitor = _Monitor(path)
        said += monitor.registers() + monitor.interrupts()
        time.sleep(1)
        said += _LATER + monitor.registers() + monitor.interrupts()
        if refused := monitor.ask("inject-nmi"):
            said += f"no interrupt that none can mask: {refused}\n"
    except OSError as error:
        return f"{said}{NO_ANSWER}: {error}\n"
    end = time.monotonic() + patience
    while process.poll() is None and time.monotonic() < end:
        time.sleep(0.1)
    return said


def lost_timer(log):
    """Does a guest's @log, with what look() said, show a PC's CPU that is idle, both times, while its timer has run down
    without an interrupt, or with one that does not end? Then the emulator has lost that, or the kernel's write that was to
    start the timer again, or to end the interrupt: a kernel does both before it is idle."""
    samples = log.partition(MARK)[2].split(_LATER)
    lost = [set(_IDLE.findall(sample)).intersection(_LOST.findall(sample)) for sample in samples]
    return len(lost) == 2 and bool(lost[0] & lost[1])
