# SPDX-License-Identifier: GPL-2.0-only
"""What Prometheus makes of pmu-top's metrics, by promtool: rates against a record, and the alert rules."""
import json
import random
import re
import subprocess
import tempfile
import unittest
from pathlib import Path

import tree
from promtool import promtool
from pmutools.count import Reading
from pmutools.top import frames, main, output

TOOLS = tree.HERE.parents[1] / "tools"
RULES = TOOLS / "prometheus/pmu-top.rules.yml"
DASHBOARD = TOOLS / "prometheus/pmu-top.dashboard.json"
RECORDS = tree.HERE.parents[1] / "Documentation/tools"
SCRAPE = 15             # seconds
SAMPLE = re.compile(r"^(\w+\{.*\}) (\S+)$", re.M)


def quoted(text):
    """In YAML, where JSON is a part of."""
    return json.dumps(str(text))


class Server:
    """A day of Prometheus in one file: what it scraped, when, and what it has to say of that."""

    def __init__(self, test):
        self.test, self.series, self.tests = test, {}, []
        self.scrapes = 0

    def scrape(self, text, instance="node1"):
        """What pmu-top has written; None: nobody answered."""
        found = dict(SAMPLE.findall(text)) if text else {}
        for name in {**self.series, **{self.of(name, instance): None for name in found}}:
            self.series.setdefault(name, ["_"] * self.scrapes)
        for name, values in self.series.items():
            values.append("_")
        for name, value in found.items():
            self.series[self.of(name, instance)][-1] = value
        self.scrapes += 1

    @staticmethod
    def of(name, instance):
        return name.replace("{", '{instance="' + instance + '",', 1)

    def asks(self, expression, value, labels="{}"):
        """At the last scrape the expression has that value; None: nothing."""
        samples = "[]" if value is None else f"[{{labels: {quoted(labels)}, value: {value!r}}}]"
        self.tests.append(f"{{expr: {quoted(expression)}, eval_time: {(self.scrapes - 1) * SCRAPE}s, exp_samples: {samples}}}")

    def alerts(self, name, *labels):
        """At the last scrape these alerts fire, each with labels {...: ...}; what they say is not compared."""
        self.asks(f'count(ALERTS{{alertname="{name}",alertstate="firing"}})', float(len(labels)) if labels else None)
        for some in labels:
            matchers = ",".join(f'{key}="{value}"' for key, value in some.items())
            self.asks(f'count(ALERTS{{alertname="{name}",alertstate="firing",{matchers}}})', 1.0)

    def judge(self):
        series = "".join(f"      - {{series: {quoted(name)}, values: {quoted(' '.join(values))}}}\n"
                         for name, values in self.series.items())
        text = f"rule_files: [{quoted(RULES)}]\nevaluation_interval: {SCRAPE}s\ntests:\n" \
               f"  - interval: {SCRAPE}s\n    input_series:\n{series}    promql_expr_test:\n" + \
               "".join(f"      - {one}\n" for one in self.tests)
        with tempfile.TemporaryDirectory(prefix="pmu-prometheus.") as directory:
            path = Path(directory, "test.yml")
            path.write_text(text)
            done = subprocess.run([promtool(), "test", "rules", path], capture_output=True, text=True)
        self.test.assertEqual(done.returncode, 0, done.stdout[-3000:] + done.stderr[-3000:])


class Player:
    """pmu-top, as it plays a record again and again: an interval of a second after the other."""

    def __init__(self, name):
        record = frames.Replay(RECORDS / f"{name}.jsonl")
        self.view = main.VIEWS[record.info["view"]](record.info)
        self.one = record.frame()
        record.close()
        self.seconds = self.one.seconds
        self.restart()

    def restart(self):
        self.metrics = output.Metrics(self.view)

    def interval(self, times=1.0, lost=(), share=1.0):
        """An interval with that many times the traffic of the record, without the channels that are lost."""
        counts = {}
        for key, reading in self.one.counts.items():
            if not any(key.startswith(prefix) for prefix in lost):
                part = share if reading.enabled == reading.running else 1.0
                traffic = times if key.endswith(("/rd", "/wr")) else 1.0
                counts[key] = Reading(int(reading.value * traffic * part), reading.enabled, int(reading.running * part))
        frame = frames.Frame(0.0, self.seconds, self.one.mode, counts, extra=self.one.extra, time=self.one.time)
        self.metrics.add(frame, self.view.rows(frame))
        return frame

    def text(self):
        return self.metrics.text()


class TestRates(unittest.TestCase):
    """rate() of what is scraped is the record's bandwidth, within 1 %."""

    def test_rates_of_a_record(self):
        player, server = Player("intel_imc"), Server(self)
        wanted = {row.labels: row.value for row in player.view.rows(player.one).all if row.name == "read"}
        passed = 0.0
        for scrape in range(41):
            while passed < scrape * SCRAPE:
                player.interval()
                passed += player.seconds
            # A scrape is lost now and then.
            server.scrape(None if scrape in (7, 23, 24) else player.text())
        self.assertGreater(len(wanted), 6)
        for labels, value in wanted.items():
            matchers = ",".join(f'{label}="{text}"' for label, text in labels)
            server.asks(f"abs(sum(rate(pmu_top_read_bytes_total{{{matchers}}}[10m])) / {value!r} - 1) < bool 0.01", 1.0)
        # What the rules keep is the same, and of a socket.
        socket = sum(value for labels, value in wanted.items() if dict(labels)["socket"] == "0")
        server.asks(f'abs(sum(pmu_top:read_bytes:rate1m{{socket="0"}}) / {socket!r} - 1) < bool 0.1', 1.0)
        server.judge()

    def test_a_restart_costs_less_than_a_scrape(self):
        """What was counted since the last scrape before the service ended is in no series; all else is."""
        player, server = Player("intel_imc"), Server(self)
        total, passed = 0.0, 0.0
        key = {"socket": "0", "channel": "0"}
        each = player.view.rows(player.one).get("read_bytes", **key).value
        for scrape in range(41):
            while passed < scrape * SCRAPE:
                player.interval()
                passed += player.seconds
                total += each
            if scrape == 20:
                player.restart()
                player.interval()
                total += each
                passed += player.seconds
            server.scrape(player.text())
        found = 'sum(increase(pmu_top_read_bytes_total{socket="0",channel="0"}[10m]))'
        most = each * (SCRAPE / player.seconds + 1) * 2
        server.asks(f"{found} > bool {total - most!r}", 1.0)
        server.asks(f"{found} < bool {total * 1.02!r}", 1.0)
        server.judge()


class TestADay(unittest.TestCase):
    """A scrape each 15 s for a day: the increases are what was counted, less what was not scraped before a restart."""
    DAY, INTERVAL, LINE = 86400, 19.0, 64

    def test_sums_of_a_day(self):
        player, server, dice = Player("intel_imc"), Server(self), random.Random(30)
        player.seconds = self.INTERVAL      # not that of the scrapes
        restarts = sorted(dice.sample(range(3600, self.DAY - 3600), 2))
        counted, kept, passed = [0], [0], 0.0       # lines, of one service after the other
        for scrape in range(self.DAY // SCRAPE + 1):
            while passed + self.INTERVAL <= scrape * SCRAPE:
                if restarts and passed >= restarts[0]:
                    restarts.pop(0)
                    player.restart()
                    counted, kept = [*counted, 0], [*kept, 0]
                # Mostly idle, with bursts.
                one = player.interval(times=dice.choice((0.01, 0.01, 0.01, 0.1, 1, 20)))
                counted[-1] += sum(reading.value for key, reading in one.counts.items() if key.endswith("/rd"))
                passed += self.INTERVAL
            if dice.random() < 0.01:
                server.scrape(None)
                continue
            server.scrape("".join(line for line in player.text().splitlines(True)
                                  if line.startswith("pmu_top_read_bytes_total{")))
            kept[-1] = counted[-1]
        self.assertEqual(len(counted), 3)
        self.assertGreater(sum(kept[:-1]), sum(counted[:-1]) * 0.99)
        # increase() guesses what was before the first scrape, and behind the last one.
        server.asks(f"abs(sum(increase(pmu_top_read_bytes_total[1d])) / {self.LINE * sum(kept)} - 1) < bool 0.0005", 1.0)
        server.judge()


class TestAlerts(unittest.TestCase):
    """Each alert fires where it has to, and nowhere else."""

    def play(self, minutes, **given):
        player, server = Player("intel_imc"), Server(self)
        passed = 0.0
        for scrape in range(minutes * 60 // SCRAPE + 1):
            while passed < scrape * SCRAPE:
                player.interval(**{name: value(passed) if callable(value) else value for name, value in given.items()})
                passed += player.seconds
            server.scrape(player.text() + 'node_textfile_mtime_seconds{file="/var/lib/prometheus/node-exporter/pmu.prom"} '
                          f"{scrape * SCRAPE}\n")
        return server

    def test_nothing_fires_where_all_is_well(self):
        server = self.play(30)
        for name in re.findall(r"alert: (\w+)", RULES.read_text()):
            server.alerts(name)
        server.judge()

    def test_near_the_limit(self):
        """With half as much again three channels of socket 0 are above 80 %, and no other is."""
        player = Player("intel_imc")
        busy = [dict(row.labels) for row in player.view.rows(player.one).all if row.name == "of_peak" and row.value * 1.5 > 0.8]
        self.assertEqual([(one["socket"], one["channel"]) for one in busy], [("0", "1"), ("0", "2"), ("0", "5")])
        server = self.play(30, times=1.5)
        server.alerts("MemoryChannelNearLimit", *busy)
        server.judge()

    def test_near_the_limit_between_scrapes(self):
        """The last interval before each scrape is idle, and all others are busy."""
        player, server, passed = Player("intel_imc"), Server(self), 0.0
        for scrape in range(30 * 60 // SCRAPE + 1):
            while passed < scrape * SCRAPE:
                passed += player.seconds
                player.interval(times=2.0 if passed < scrape * SCRAPE else 0.0)
            server.scrape(player.text())
        server.asks('max(pmu_top_of_peak_ratio{view="intel_imc"}) < bool 0.01', 1.0)
        server.alerts("MemoryChannelNearLimit", {"socket": "0", "channel": "5"}, {"socket": "0", "channel": "2"})
        server.judge()

    def test_a_channel_that_is_gone(self):
        server = self.play(30, lost=lambda passed: ("1/3/",) if passed > 600 else ())
        server.alerts("MemoryChannelGone", {"socket": "1", "channel": "3"})
        server.alerts("MemoryChannelNearLimit")
        server.judge()

    def test_turns(self):
        server = self.play(40, share=0.4)
        server.asks('count(ALERTS{alertname="CountersTakeTurns",alertstate="firing"}) > bool 11', 1.0)
        server.judge()

    def test_a_file_that_gets_old_and_a_service_that_ended(self):
        player, server = Player("intel_imc"), Server(self)
        player.interval()
        for scrape in range(2 * 3600 // SCRAPE):
            mtime = min(scrape * SCRAPE, 600)
            old = f'node_textfile_mtime_seconds{{file="/var/lib/prometheus/node-exporter/pmu.prom"}} {mtime}\n'
            server.scrape(player.text() + old if scrape * SCRAPE < 3600 else None)
            if scrape * SCRAPE == 3000:
                server.alerts("PmuTopStuck", {"instance": "node1"})
                server.alerts("PmuTopMissing")
        server.alerts("PmuTopStuck")
        server.alerts("PmuTopMissing", {"instance": "node1"})
        server.judge()

    def test_promtool_takes_the_rules(self):
        done = subprocess.run([promtool(), "check", "rules", RULES], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)


class TestDashboard(unittest.TestCase):
    """As far as it can be judged without Grafana: what its panels ask for is PromQL, of metrics that there are."""

    def test_what_the_panels_ask_for(self):
        board = json.loads(DASHBOARD.read_text())
        asked = [target["expr"].replace("$instance", ".+") for panel in board["panels"] for target in panel["targets"]]
        self.assertEqual(len({panel["id"] for panel in board["panels"]}), len(board["panels"]))
        rules = "groups:\n  - name: panels\n    rules:\n" + \
            "".join(f"      - {{record: panel{number}, expr: {quoted(expr)}}}\n" for number, expr in enumerate(asked))
        with tempfile.TemporaryDirectory(prefix="pmu-prometheus.") as directory:
            path = Path(directory, "panels.yml")
            path.write_text(rules)
            done = subprocess.run([promtool(), "check", "rules", path], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        there = set(re.findall(r"record: (\S+)", RULES.read_text()))
        for name in "intel_imc", "cmn", "power_imc":
            player = Player(name)
            player.interval()
            there |= set(re.findall(r"^# TYPE (\w+) ", player.text(), re.M))
        names = set(re.findall(r"\bpmu_top[\w:]+", " ".join(asked) + json.dumps(board["templating"])))
        self.assertEqual(names - there, set())
        # The rules ask for nothing that is not there, either.
        self.assertEqual(set(re.findall(r"\bpmu_top_\w+", RULES.read_text())) - there -
                         {"pmu_top_counted_seconds_total", "pmu_top_"}, set())


if __name__ == "__main__":
    unittest.main()
