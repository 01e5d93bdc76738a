#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""node_exporter and Prometheus, while a record is played as pmu-top would write it. Prints JSON.

    plays-a-record.py TREE DIRECTORY
"""
import json
import subprocess
import sys
import time
import urllib.parse
import urllib.request
from pathlib import Path

TREE, HERE = map(Path, sys.argv[1:])
sys.path.insert(0, str(TREE / "tests/tools"))

from test_prometheus import Player  # noqa: E402: the path comes first
from pmutools import files  # noqa: E402

EXPORTER, SERVER = "127.0.0.1:19100", "127.0.0.1:19090"
CONFIG = f"""global: {{scrape_interval: 1s, evaluation_interval: 1s}}
rule_files: [{TREE}/tools/prometheus/pmu-top.rules.yml]
scrape_configs: [{{job_name: node, static_configs: [{{targets: ['{EXPORTER}']}}]}}]
"""
STEP, SECONDS, WINDOW = 0.2, 50, 40


def ask(query):
    """[({label: value}, value), ...]"""
    with urllib.request.urlopen(f"http://{SERVER}/api/v1/query?" + urllib.parse.urlencode({"query": query}), timeout=30) as file:
        return [(one["metric"], float(one["value"][1])) for one in json.load(file)["data"]["result"]]


def start(*command):
    with (HERE / f"{command[0]}.log").open("w") as log:
        return subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT)


def main():
    (HERE / "text").mkdir()
    (HERE / "prometheus.yml").write_text(CONFIG)
    programs = [start("prometheus-node-exporter", f"--web.listen-address={EXPORTER}", f"--collector.textfile.directory={HERE}/text"),
                start("prometheus", f"--web.listen-address={SERVER}", f"--config.file={HERE}/prometheus.yml",
                      f"--storage.tsdb.path={HERE}/data")]
    try:
        player = Player("intel_imc")
        wanted = {dict(row.labels)["pmu"] + "/" + dict(row.labels)["socket"]: row.value
                  for row in player.view.rows(player.one).all if row.name == "read"}
        # An interval of the record is played in STEP of the clock, as often as time passes; what it is of is told.
        begin, played, most = time.monotonic(), 0, SECONDS + 10
        while (passed := time.monotonic() - begin) < most:
            while played < int(passed / STEP):
                player.interval()
                played += 1
            files.replace(HERE / "text/pmu.prom", player.text())
            time.sleep(STEP / 4)
        speed = player.seconds / STEP
        found = {labels["pmu"] + "/" + labels["socket"]: value / speed for labels, value in ask(f"rate(pmu_top_read_bytes_total[{WINDOW}s])")}
        print(json.dumps({"wanted": wanted, "found": found, "error": ask("node_textfile_scrape_error")[0][1],
                          "rules": len(ask("pmu_top:read_bytes:rate1m")), "alerts": [labels["alertname"] for labels, _ in ask("ALERTS")]}))
    finally:
        for program in programs:
            program.terminate()
            program.wait()


main()
