# SPDX-License-Identifier: GPL-2.0-only
"""A picture of Prometheus' own page, with what it keeps of pmu-top: for scripts/pictures.

A record is played for an hour, with more and less traffic, as pmu-top would write it and Prometheus would scrape it. Debian's
prometheus and chromium, in a root of their own, do the rest. The time is always the same, so the graph is, too.
"""
import re
import shutil
import sys
import tempfile
import urllib.parse
from pathlib import Path

from . import cache, roots
from .cache import TREE, Error

PACKAGES = ("prometheus", "chromium", "fonts-dejavu-core")
METRIC = "pmu_top_read_bytes_total"
QUERY = f"sum by (socket) (rate({METRIC}[1m]))"
END = 1767225600            # 2026-01-01 00:00 UTC
HOUR, SCRAPE = 3600, 15     # seconds
SIZE = "1000,820"
LISTEN = "127.0.0.1:19091"

# A page that is loaded asks for its numbers and draws them: by a clock that runs on as soon as nothing is under way.
INSIDE = f"""
cd /mnt
promtool tsdb create-blocks-from openmetrics series data > /dev/null
echo 'global: {{scrape_interval: {SCRAPE}s}}' > prometheus.yml
prometheus --web.listen-address={LISTEN} --config.file=prometheus.yml --storage.tsdb.path=data \
	--storage.tsdb.retention.time=100y > prometheus.log 2>&1 &
server=$!
for _ in $(seq 100); do
	! grep -q 'ready to receive' prometheus.log || break
	sleep 0.2
done
chromium --headless --no-sandbox --disable-gpu --hide-scrollbars --window-size={SIZE} --virtual-time-budget=30000 \
	--screenshot=/mnt/picture.png "http://{LISTEN}$1" > chromium.log 2>&1
kill $server
wait
"""


def load(seconds):
    """How many times the record's traffic: two jobs, and little else."""
    return 1.0 if 600 <= seconds < 1800 else 0.6 + seconds % 240 / 1000 if 2300 <= seconds < 3300 else 0.05


def series():
    """An hour of scrapes, in OpenMetrics with times."""
    sys.path.insert(0, str(TREE / "tests/tools"))
    from test_prometheus import Player
    player, found = Player("intel_imc"), []
    each, player.seconds = player.seconds, 1.0
    for second in range(HOUR + 1):
        player.interval(times=load(second) / each)
        if second % SCRAPE == 0:
            found += [f"{sample} {END - HOUR + second}" for sample in re.findall(rf"(?m)^{METRIC}{{.*$", player.text())]
    return "".join([f"# TYPE {METRIC.removesuffix('_total')} counter\n", *(f"{line}\n" for line in found), "# EOF\n"])


def page():
    """The address of the page with the graph."""
    end = "2026-01-01 00:00:00"
    return "/graph?" + urllib.parse.urlencode({"g0.expr": QUERY, "g0.tab": 0, "g0.stacked": 0, "g0.range_input": "1h",
                                               "g0.end_input": end, "g0.moment_input": end})


def make(target):
    root = roots.get("bookworm", *PACKAGES)
    cache.ROOT.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="picture.", dir=cache.ROOT) as scratch:     # an overlay's, and what both sides see
        over, work = Path(scratch, "over"), Path(scratch, "work")
        over.mkdir()
        work.mkdir()
        (work / "series").write_text(series())
        done = roots.run(root, over, work, "sh", "-ec", INSIDE, "sh", page())
        if done.returncode or not (work / "picture.png").exists():
            logs = "".join(path.read_text()[-2000:] for path in work.glob("*.log"))
            raise Error(f"no picture was made: {done.stdout[-2000:]}{logs}")
        shutil.copy(work / "picture.png", target)


if __name__ == "__main__":
    cache.main(lambda: make(sys.argv[1]))
