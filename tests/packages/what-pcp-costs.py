#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""In a root of Debian: what PCP costs a machine of two sockets of twelve channels, and one that logs others. Prints JSON.

    what-pcp-costs.py TREE FARM

The machine's files are those of a recorded one. Its PMUs have the type of the kernel's own software events, so that the host's
kernel counts: page faults and the like of two CPUs, in place of lines of memory. FARM is a file with the page's commands.
"""
import fcntl
import json
import os
import re
import socket
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

TREE, COMMANDS = map(Path, sys.argv[1:])
sys.path.insert(0, str(TREE / "tools"))

from pmutools import sysfs  # noqa: E402: the path comes first
from pmutools.top import main, pcp  # noqa: E402

CHANNELS = 12
PMUS = Path("/sys/bus/event_source/devices")
ALL = [f"perfevent.derived.memory_{what}_bytes.value" for what in ("read", "write")]
EACH = [f"perfevent.hwcounters.uncore_imc_{channel}.cas_count_{what}.value" for channel in range(CHANNELS) for what in ("read", "write")]
FEW, MANY = 20, 1020            # samples
SOFTWARE = 1                    # PERF_TYPE_SOFTWARE
SIOCSIFFLAGS, IFF_UP = 0x8914, 1


def must(command):
    done = subprocess.run(["sh", "-ec", command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        logs = "".join(path.read_text()[-1500:] for path in Path("/var/log/pcp").rglob("*.log"))
        raise RuntimeError(f"{command}: {done.returncode}\n{done.stdout[-1500:]}\n{logs}")
    return done.stdout


def write(top, files):
    for path, text in files.items():
        target = Path(top, path)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)


def machine():
    """perfevent.conf for it; and its PMUs, as this kernel has them."""
    recorded = json.loads((TREE / "tests/tools/trees/skx.json").read_text())
    files = {path: text for path, text in recorded.items() if "/uncore_imc_" not in path}
    for channel in range(CHANNELS):
        files |= {path.replace("/uncore_imc_0/", f"/uncore_imc_{channel}/"): text for path, text in recorded.items() if "/uncore_imc_0/" in path}
    with tempfile.TemporaryDirectory() as directory:
        write(directory, files)
        found = sysfs.Machine(directory, "x86_64")
        config = pcp.config(main.view_of(found, main.parse(["--pcp-config"])), found)
    events = [path for path in files if "/events/" in path and not path.endswith((".scale", ".unit"))]
    write("/", {path: f"event={number % 6:#x}\n" for number, path in enumerate(events)})
    for channel in range(CHANNELS):
        write(PMUS / f"uncore_imc_{channel}", {"type": f"{SOFTWARE}\n", "cpumask": "0-1\n", "format/event": "config:0-63\n"})
    return config


def start(config):
    """pmcd with this one agent, as Install and the init script have it, in a network of its own."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as lo:
        fcntl.ioctl(lo, SIOCSIFFLAGS, struct.pack("16sh22x", b"lo", IFF_UP))
    must("mkdir -p /tmp/sys /sys/devices; mount -t sysfs none /tmp/sys; mount --bind /tmp/sys/devices /sys/devices")
    Path("/etc/pcp/perfevent/perfevent.conf").write_text(config)
    conf = Path("/etc/pcp/pmcd/pmcd.conf")
    conf.write_text(re.sub(r"(?m)^(?!pmcd\b)\w+\t\d+\t.*\n", "", conf.read_text()))
    must("mkdir -p /run/pcp; chown pcp:pcp /run/pcp; cd /var/lib/pcp/pmns; ./Rebuild -s")
    with open("/var/log/pcp/pmcd/out.log", "w") as log:
        subprocess.Popen(["/usr/lib/pcp/bin/pmcd", "-f"], stdout=log, stderr=log)
    must("for _ in $(seq 100); do ! pminfo -f pmcd.version > /dev/null 2>&1 || exit 0; sleep 0.1; done; exit 1")
    must("cd /var/lib/pcp/pmdas/perfevent; ./Install")


def cpu(pid):
    """Seconds that a process has had."""
    user, system = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def private(pid):
    """kB that are a process' own; of one that ends just now none."""
    try:
        said = Path(f"/proc/{pid}/smaps_rollup").read_text()
    except ProcessLookupError:
        return 0
    return sum(map(int, re.findall(r"(?m)^Private_\w+: +(\d+) kB", said)))


def logged(metrics, samples):
    """The bytes of an archive, and CPU and memory of those who make it."""
    must("rm -f /tmp/archive.*")
    Path("/tmp/config").write_text(f"log mandatory on 10 msec {{ {' '.join(metrics)} }}\n")
    agents = {name: int(must(f"pgrep -o -x {name}")) for name in ("pmcd", "pmdaperfevent")}
    before = {name: cpu(pid) for name, pid in agents.items()}
    logger = subprocess.Popen(["pmlogger", "-c", "/tmp/config", "-l", "/tmp/log", "-s", str(samples), "/tmp/archive"])
    memory = 0
    while logger.poll() is None:
        memory = private(logger.pid) or memory
        time.sleep(0.05)
    usage = os.times()
    return {"bytes": Path("/tmp/archive.0").stat().st_size, "pmlogger": usage.children_user + usage.children_system, "memory": memory,
            **{name: cpu(pid) - before[name] for name, pid in agents.items()}}


def weight(metrics):
    """Of one sample, by two archives: its bytes, and ms of CPU."""
    begin = os.times()
    few = logged(metrics, FEW)
    many = logged(metrics, MANY)
    few["pmlogger"], many["pmlogger"] = (few["pmlogger"] - begin.children_user - begin.children_system,
                                         many["pmlogger"] - few["pmlogger"])
    return {"bytes": (many["bytes"] - few["bytes"]) / (MANY - FEW), "memory": many["memory"],
            **{name: 1000 * (many[name] - few[name]) / (MANY - FEW) for name in ("pmlogger", "pmcd", "pmdaperfevent")}}


def farm():
    """A pmlogger for each of two machines, which are this one: what its archive has."""
    Path("/tmp/hosts").write_text("localhost\n127.0.0.1\n")
    # No systemd is here to start the farm's service, which calls this.
    commands = COMMANDS.read_text().replace("systemctl restart pmlogger_farm",
                                            "su -s /bin/sh -c '/usr/lib/pcp/bin/pmlogger_check --skip-primary --quick' pcp")
    must(f"cd /tmp\n{commands}")
    end, found = time.monotonic() + 120, {}
    while len(found) < 2 and time.monotonic() < end:
        time.sleep(1)
        for host in "localhost", "127.0.0.1":
            for index in Path("/var/log/pcp/pmlogger", host).glob("*.index"):
                said = subprocess.run(["pmrep", "-a", index.with_suffix(""), "-r", "-s", "1", "-o", "csv", ALL[0]], capture_output=True, text=True)
                if said.returncode == 0 and len(said.stdout.splitlines()) == 2:
                    found[host] = said.stdout.splitlines()[0]
    return found


start(machine())
print(json.dumps({"events": int(must("pminfo -F perfevent.active | sed -n 's/.*value //p'")),
                  "weight": {len(metrics): weight(metrics) for metrics in (ALL[:1], ALL, [*ALL, *EACH])}, "farm": farm()}))
