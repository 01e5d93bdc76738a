#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""In an installed Debian: PCP's pmdaperfevent, pmlogger and pmproxy while the model moves bytes. Prints JSON.

Memory has two nodes for each socket, as with sub-NUMA clusters.
"""
import csv
import io
import json
import re
import subprocess
import time
import urllib.request
from pathlib import Path

CONFIG = Path("/etc/pcp/perfevent/perfevent.conf")
READ, WRITE = (f"perfevent.derived.memory_{what}_bytes.value" for what in ("read", "write"))
RAW = "perfevent.hwcounters.uncore_imc_0.cas_count_read.value"
# What libpfm4 knows, counted as PCP's own perfevent.conf has it.
NODE = "snbep_unc_imc0::UNC_M_CAS_COUNT:RD"


def run(command):
    done = subprocess.run(command, shell=True, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    return done.returncode, done.stdout + done.stderr


def must(command):
    status, said = run(command)
    if status:
        raise RuntimeError(f"{command}: {status}\n{said}\n{run('tail -20 /var/log/pcp/pmcd/*.log')[1]}")
    return said


def install():
    return must("cd /var/lib/pcp/pmdas/perfevent && ./Install")


def values(metric):
    """{instance: value} of a metric, as a client of pmcd sees it."""
    return {name: float(value) for name, value in re.findall(r'or "(\w+)"\] value (\S+)', must(f"pminfo -f {metric}"))}


def move(lines):
    for channel, key in (("imc0@0", "cas_rd"), ("imc1@1", "cas_wr")):
        must(f"pmu-model add {channel} {key} {lines}")


def main():
    must("pmu-driver status")
    must(f"pmu-top --pcp-config --output {CONFIG}; systemctl restart pmcd")
    said = {"installed": install(), "units": must(f"pminfo -d {READ}")}
    # All agents read when they are asked, so what comes from now on is what is added now.
    before = values(READ), values(WRITE), values(RAW)
    move(1_000_000)
    said |= {name: {cpu: value - old[cpu] for cpu, value in values(metric).items()}
             for name, metric, old in zip(("read", "write", "raw"), (READ, WRITE, RAW), before)}
    said["shorter"] = len(values(RAW.replace("_read", "")))
    Path("/tmp/config").write_text(f"log mandatory on 1 sec {{ {READ} {WRITE} }}\n")
    logger = subprocess.Popen(["pmlogger", "-c", "/tmp/config", "-l", "/tmp/log", "/tmp/archive"])
    for _ in range(10):
        time.sleep(1)
        move(500_000)
    time.sleep(4)
    logger.terminate()
    logger.wait()
    said["archive"] = list(csv.reader(io.StringIO(must(f"pmrep -a /tmp/archive -r -t 1 -o csv --precision 12 {READ} {WRITE}"))))
    must(f"pmrep -s 2 -t 1 {READ}")
    must("systemctl start pmproxy")
    time.sleep(3)
    with urllib.request.urlopen(f"http://localhost:44322/metrics?names={READ}", timeout=60) as file:
        said["proxy"] = file.read().decode()
    said["busy"] = run("modprobe -r intel_imc_pmu")
    CONFIG.write_text(CONFIG.read_text().replace("[none]", f"[{NODE.partition(':')[0]}]\n{NODE} node"))
    must("systemctl restart pmcd")
    node = must("pminfo perfevent.hwcounters | grep 'snbep.*value'").strip()
    before = values(node)
    move(1_000_000)
    said["node"] = {cpu: value - before[cpu] for cpu, value in values(node).items()}
    must("systemctl stop pmcd")
    said["free"] = run("modprobe -r intel_imc_pmu")
    print(json.dumps(said))


main()
