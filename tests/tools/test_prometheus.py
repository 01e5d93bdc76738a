# SPDX-License-Identifier: GPL-2.0-only
# all: Debian's Prometheus has to be fetched
"""What Prometheus makes of pmu-top's metrics: rates against a record and the alert rules, by promtool; the dashboard."""
import contextlib
import http.server
import itertools
import json
import random
import re
import socket
import subprocess
import tempfile
import threading
import time
import unittest
import urllib.parse
import urllib.request
from pathlib import Path

import tree
from promtool import cache, prometheus, promtool
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

    def test_two_that_scrape_the_same_machine(self):
        """As two Prometheus whose series a third one has, told apart by a label: the rules add none to the other."""
        player, server, passed = Player("intel_imc"), Server(self), 0.0
        for scrape in range(41):
            while passed < scrape * SCRAPE:
                player.interval(share=0.9)
                passed += player.seconds
            server.scrape("".join(re.sub(r"^(pmu_top_\w+){", rf'\1{{replica="{one}",', player.text(), flags=re.M) for one in "ab"))
        socket = sum(row.value for row in player.view.rows(player.one).all if row.name == "read" and dict(row.labels)["socket"] == "0")
        for one in "ab":
            server.asks(f'abs(sum(pmu_top:read_bytes:rate1m{{socket="0",replica="{one}"}}) / {socket!r} - 1) < bool 0.1', 1.0)
            server.asks(f'count(pmu_top:counted:ratio5m{{metric="pmu_top_read_bytes_total",replica="{one}"}} < 0.95) > bool 6', 1.0)
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

    @staticmethod
    def busiest(player, number):
        """The labels of so many channels, and with how many times the record's traffic they are above 80 %, and no other."""
        ordered = sorted((row for row in player.view.rows(player.one).all if row.name == "of_peak"), key=lambda row: -row.value)
        times = 2 * 0.8 / (ordered[number - 1].value + ordered[number].value)
        return [{name: text for name, text in row.labels if name in ("socket", "channel")} for row in ordered[:number]], times

    def test_near_the_limit(self):
        busy, times = self.busiest(Player("intel_imc"), 3)
        server = self.play(30, times=times)
        server.alerts("MemoryChannelNearLimit", *busy)
        server.judge()

    def test_near_the_limit_between_scrapes(self):
        """The last interval before each scrape is idle, and all others are busy."""
        player, server, passed = Player("intel_imc"), Server(self), 0.0
        busy, times = self.busiest(player, 2)
        times /= 1 - player.seconds / SCRAPE        # on the average one interval of a scrape is idle
        for scrape in range(30 * 60 // SCRAPE + 1):
            while passed < scrape * SCRAPE:
                passed += player.seconds
                player.interval(times=times if passed < scrape * SCRAPE else 0.0)
            server.scrape(player.text())
        server.asks('max(pmu_top_of_peak_ratio{view="intel_imc"}) < bool 0.01', 1.0)
        server.alerts("MemoryChannelNearLimit", *busy)
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

    def test_two_that_write_one_file(self):
        """A scrape meets the counters of the one or the other."""
        players, server = [Player("intel_imc") for _ in range(2)], Server(self)
        for _ in range(10):         # the first one has counted for longer
            players[0].interval()
        for scrape in range(20 * 60 // SCRAPE):
            for player in players:
                player.interval()
            server.scrape(players[scrape // 2 % 2].text())
        server.alerts("PmuTopStartsOver", {"instance": "node1"})
        server.judge()

    def test_promtool_takes_the_rules(self):
        done = subprocess.run([promtool(), "check", "rules", RULES], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)


class Live:
    """Debian's Prometheus, with the rules, while it scrapes machines that play a record each: {machine: Player}.

    Its clock is the real one, so it is asked what there is. Which numbers these are, is asked of a Server.
    """
    STEP = "500ms"  # between scrapes, each of which has an interval more
    PATIENCE = 120  # seconds

    def __init__(self, players):
        machines = self

        class Machine(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                player = machines.players[self.path.strip("/")]
                player.interval(share=0.9)
                self.send_response(200)
                self.send_header("Content-Type", "text/plain; version=0.0.4")
                self.end_headers()
                self.wfile.write(player.text().encode())

            def log_message(self, *_):
                pass

        self.players = players
        self.site = http.server.HTTPServer(("127.0.0.1", 0), Machine)
        threading.Thread(target=self.site.serve_forever, daemon=True).start()
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.address = f"127.0.0.1:{free.getsockname()[1]}"
        self.directory = tempfile.TemporaryDirectory(prefix="pmu-prometheus.")
        targets = "".join(f"      - {{targets: ['127.0.0.1:{self.site.server_port}'], labels: {{instance: {name}, "
                          f"__metrics_path__: /{name}}}}}\n" for name in players)
        config = Path(self.directory.name, "prometheus.yml")
        config.write_text(f"global: {{scrape_interval: {self.STEP}, scrape_timeout: {self.STEP}, evaluation_interval: {self.STEP}}}\n"
                          f"rule_files: [{quoted(RULES)}]\n"
                          f"scrape_configs:\n  - job_name: node\n    static_configs:\n{targets}")
        self.log = Path(self.directory.name, "log").open("w+")
        self.process = subprocess.Popen(cache.bound([prometheus(), f"--web.listen-address={self.address}", f"--config.file={config}",
                                         f"--storage.tsdb.path={self.directory.name}/data"]),
                                        stdout=self.log, stderr=subprocess.STDOUT)

    def close(self):
        self.process.terminate()
        self.process.wait()
        self.site.shutdown()
        self.site.server_close()
        self.log.close()
        self.directory.cleanup()

    def get(self, path, **query):
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(f"http://{self.address}/api/v1/{path}?{urllib.parse.urlencode(query)}", timeout=30) as file:
            return json.load(file)["data"]

    def wait(self, query):
        """Until something is the answer."""
        end = time.monotonic() + self.PATIENCE
        while time.monotonic() < end and self.process.poll() is None:
            with contextlib.suppress(OSError):
                if self.get("query", query=query)["result"]:
                    return
            time.sleep(0.1)
        self.log.seek(0)
        raise AssertionError(f"Prometheus has no answer to {query} in {self.PATIENCE} s: {self.log.read()[-2000:]}")


class TestDashboard(unittest.TestCase):
    """As far as it can be judged without Grafana: Prometheus answers what it would ask."""
    VIEWS = ("intel_imc", "cmn", "power_imc")
    # Panels that have nothing to show of a view.
    NOTHING = {"intel_imc": {"Mesh: requests to memory, at most", "Mesh: misses of the system cache"},
               "cmn": {"Memory bandwidth by socket or chip", "How near each channel is to its limit", "Queue of reads, in the controller alone",
                       "Page hits"},
               "power_imc": {"How near each channel is to its limit", "Queue of reads, in the controller alone", "Page hits",
                             "Mesh: requests to memory, at most", "Mesh: misses of the system cache", "Clocks"}}
    BOARD = json.loads(DASHBOARD.read_text())

    def test_each_panel_has_an_answer(self):
        """For each machine, and a legend that tells its lines apart."""
        variable, = [one for one in self.BOARD["templating"]["list"] if one["type"] == "query"]
        metric, label = re.fullmatch(r"label_values\((\w+), (\w+)\)", variable["query"]).groups()
        with contextlib.closing(Live({name: Player(name) for name in self.VIEWS})) as live:
            for machine in self.VIEWS:
                live.wait(f'pmu_top:counted:ratio5m{{instance="{machine}"}}')
            self.assertEqual(live.get(f"label/{label}/values", **{"match[]": metric}), sorted(self.VIEWS))
            now = time.time()
            for machine, panel in itertools.product(self.VIEWS, self.BOARD["panels"]):
                legends = []
                for target in panel["targets"]:
                    asked = target["expr"].replace(f"${variable['name']}", machine)
                    self.assertNotIn("$", asked)
                    found = live.get("query_range", query=asked, start=now - 10, end=now, step=1)["result"]
                    legends += [re.sub(r"{{(\w+)}}", lambda name, one=one: one["metric"].get(name[1], ""), target["legendFormat"])
                                for one in found]
                with self.subTest(machine=machine, panel=panel["title"]):
                    self.assertEqual(bool(legends), panel["title"] not in self.NOTHING[machine], legends)
                    self.assertEqual(len(set(legends)), len(legends), legends)

    def test_numbers(self):
        """By promtool, whose time is exact: what a panel shows is the record's. A minute may begin and end in an interval."""
        player, server, passed = Player("intel_imc"), Server(self), 0.0
        for scrape in range(41):
            while passed < scrape * SCRAPE:
                player.interval()
                passed += player.seconds
            server.scrape(player.text())
        shown = {panel["title"]: [target["expr"] for target in panel["targets"]] for panel in self.BOARD["panels"]}
        bandwidth = shown["Memory bandwidth by socket or chip"]
        rows = player.view.rows(player.one).all
        for expression, name in ((bandwidth[0], "socket_read"), (bandwidth[1], "socket_write"), (shown["Clocks"][0], "clock"),
                                 (shown["How near each channel is to its limit"][0], "of_peak"), (shown["Page hits"][0], "page_hit"),
                                 (shown["Queue of reads, in the controller alone"][0], "read_latency")):
            wanted = [row for row in rows if row.name == name and row.value]
            self.assertGreaterEqual(len(wanted), 2, name)
            for row in wanted:
                matchers = ",".join(f'{label}="{text}"' for label, text in (("instance", "node1"), *row.labels))
                one = expression.replace('instance=~"$instance"', matchers)
                self.assertNotEqual(one, expression)
                server.asks(f"abs(sum({one}) / {row.value!r} - 1) < bool 0.1", 1.0)
        server.judge()

    def test_what_grafana_requires(self):
        """Of what its schemas require (Documentation/fleet.md), what was missing once."""
        self.assertEqual(len({panel["id"] for panel in self.BOARD["panels"]}), len(self.BOARD["panels"]))
        self.assertEqual(self.BOARD["annotations"], {"list": []})

    def test_the_rules_ask_for_what_there_is(self):
        there = set()
        for name in self.VIEWS:
            player = Player(name)
            player.interval()
            there |= set(re.findall(r"^# TYPE (\w+) ", player.text(), re.M))
        self.assertEqual(set(re.findall(r"\bpmu_top_\w+", RULES.read_text())) - there -
                         {"pmu_top_counted_seconds_total", "pmu_top_"}, set())


if __name__ == "__main__":
    unittest.main()
