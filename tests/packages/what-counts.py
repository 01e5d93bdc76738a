#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""In an installed Debian: pmu-top.service, node_exporter and Prometheus while the model moves bytes. Prints JSON.

Channel 0 of socket 0 reads, as often as its clock says, until the end; what it is told is the truth to compare with.
"""
import json
import subprocess
import threading
import time
import urllib.parse
import urllib.request
from pathlib import Path

RATE = 2_000_000        # lines a second
LINE = 64
WINDOW = 60             # seconds
SERVICES = ("prometheus-node-exporter", "prometheus")
LOCAL = Path("/etc/systemd/system/pmu-top.service.d/local.conf")
DEVICES = ("0x3cb0", "0x3cb1", "0x3cb4", "0x3cb5", "0x3ce0")    # the model's: channels, UBOX
CHANNEL = '{socket="0",channel="0"}'


def run(*command):
    return subprocess.run(command, capture_output=True, text=True)


def show(unit, name):
    return run("systemctl", "show", "--value", "-p", name, unit).stdout.strip()


class Flow(threading.Thread):
    """Lines that are read, for the time that has passed: how often this runs depends on the host."""

    def __init__(self):
        super().__init__(daemon=True)
        self.sent, self.ends = 0, False

    def run(self):
        begin = time.monotonic()
        while not self.ends:
            time.sleep(0.1)
            due = int(RATE * (time.monotonic() - begin))
            subprocess.run(["pmu-model", "add", "imc0@0", "cas_rd", str(due - self.sent)], check=True)
            self.sent = due


def ask(query):
    """The value of an instant query; None if there is none."""
    try:
        with urllib.request.urlopen("http://localhost:9090/api/v1/query?" + urllib.parse.urlencode({"query": query}), timeout=60) as file:
            found = json.load(file)["data"]["result"]
    except OSError:
        return None
    return float(found[0]["value"][1]) if found else None


def wait(condition, seconds):
    end = time.monotonic() + seconds
    while not (found := condition()) and time.monotonic() < end:
        time.sleep(1)
    return found


def setup():
    LOCAL.parent.mkdir(parents=True)
    LOCAL.write_text("[Service]\nGroup=prometheus\n")
    Path("/etc/textfile.d").mkdir()
    run("ln", "-sn", "/run/pmu-top", "/var/lib/prometheus/node-exporter", "/etc/textfile.d")
    with open("/etc/default/prometheus-node-exporter", "a") as file:
        file.write('ARGS="--collector.textfile.directory=/etc/textfile.d/*"\n')
    run("systemctl", "daemon-reload")


def status(pid):
    words = dict(line.split(":\t", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines() if ":\t" in line)
    return {name: words[name] for name in ("Uid", "CapEff", "CapPrm", "CapBnd", "Seccomp", "NoNewPrivs")}


def journal():
    return run("journalctl", "-b", "-u", "pmu-top", "-o", "cat", "--no-pager").stdout[-3000:]


def main():
    said = {"enabled": run("systemctl", "is-enabled", "pmu-top").stdout.strip()}
    # As Documentation/fleet.md has it.
    setup()
    Path("/proc/sys/kernel/perf_event_paranoid").write_text("2\n")
    run("systemctl", "start", "pmu-top")
    prom = Path("/run/pmu-top/pmu.prom")
    wait(prom.exists, 120)
    said["state"] = show("pmu-top", "ActiveState")
    said["status"] = status(show("pmu-top", "MainPID")) if said["state"] == "active" else journal()
    said["file"] = prom.exists()
    if said["file"]:
        said["readers"] = [name for name in ("nobody", "prometheus") if not run("runuser", "-u", name, "--", "cat", prom).returncode]
        said["mode"], said["driver"] = oct(prom.stat().st_mode), "(pmu-suite)" in prom.read_text()
    for service in SERVICES:
        run("systemctl", "start", service)
    # A sum that node_exporter has served, and Prometheus has kept.
    said["scraped"] = bool(wait(lambda: ask("pmu_top_info"), 300))
    flow = Flow()
    flow.start()
    time.sleep(WINDOW + 10)
    bytes_in, seconds_in = (f"rate(pmu_top_{name}_total{labels}[{WINDOW}s])" for name, labels in
                            (("read_bytes", CHANNEL), ("observed_seconds", "")))
    said["rate"] = (ask(bytes_in) or 0) / (RATE * LINE)
    said["rate in what was observed"] = (ask(f"sum({bytes_in}) / sum({seconds_in})") or 0) / (RATE * LINE)
    said["rule"] = (ask('sum(pmu_top:read_bytes:rate1m{socket="0"})') or 0) / (RATE * LINE)
    flow.ends = True
    flow.join()
    # The last interval, and the scrape behind it.
    wait(lambda: ask(f"pmu_top_read_bytes_total{CHANNEL}") == flow.sent * LINE, 60)
    said["total"] = (ask(f"pmu_top_read_bytes_total{CHANNEL}") or 0) - flow.sent * LINE
    said["series"] = ask('count({__name__=~"pmu_top_.*"})')
    said["bytes"] = prom.stat().st_size if prom.exists() else 0
    said["scrape error"] = ask("node_textfile_scrape_error")
    said["age"] = ask('time() - node_textfile_mtime_seconds{file=~".*/pmu.prom"}')
    # Another one begins at 0, and counts what comes then. It needs no value of the sysctl's that holds for all users.
    Path("/proc/sys/kernel/perf_event_paranoid").write_text("3\n")
    with LOCAL.open("a") as file:
        file.write("AmbientCapabilities=CAP_SYS_ADMIN\nCapabilityBoundingSet=CAP_SYS_ADMIN\n")
    run("systemctl", "daemon-reload")
    run("systemctl", "restart", "pmu-top")
    wait(lambda: ask(f"pmu_top_read_bytes_total{CHANNEL}") == 0, 120)
    subprocess.run(["pmu-model", "add", "imc0@0", "cas_rd", "1000000"], check=True)
    wait(lambda: ask(f"pmu_top_read_bytes_total{CHANNEL}") == 64e6, 120)
    said["after a restart"] = ask(f"pmu_top_read_bytes_total{CHANNEL}")
    said["resets"] = ask(f"resets(pmu_top_read_bytes_total{CHANNEL}[10m])")
    run("systemctl", "stop", "pmu-top")
    said["result"], said["left"] = show("pmu-top", "Result"), prom.exists()
    said["journal"] = journal()
    # A driver that comes late is found; without the devices it ends for good.
    run("rmmod", "intel_imc_pmu")
    run("systemctl", "start", "pmu-top")
    wait(lambda: show("pmu-top", "ExecMainStatus") == "1", 60)
    said["no driver"] = [show("pmu-top", name) for name in ("ActiveState", "ExecMainStatus")]
    run("modprobe", "intel_imc_pmu")
    said["a late driver"] = bool(wait(prom.exists, 120))
    run("systemctl", "stop", "pmu-top")
    run("rmmod", "intel_imc_pmu")
    for device in Path("/sys/bus/pci/devices").iterdir():
        if (device / "device").read_text().strip() in DEVICES:
            (device / "remove").write_text("1")
    run("systemctl", "start", "pmu-top")
    wait(lambda: show("pmu-top", "ActiveState") == "failed", 60)
    said["without"] = [show("pmu-top", name) for name in ("ActiveState", "ExecMainStatus", "NRestarts")]
    print(json.dumps(said))


main()
