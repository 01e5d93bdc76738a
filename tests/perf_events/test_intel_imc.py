# SPDX-License-Identifier: GPL-2.0-only
"""Our memory controller events against perf's own tables, every row of every generation.

Each row can be counted by its config, and what has a name in sysfs is the same event.
"""
import json
import re
import tempfile
import unittest
from pathlib import Path

from pmusuite import linux_tools, unittests

# The model of each generation, and perf's table for it.
GENERATIONS = {
    "snbep": "jaketown", "ivbep": "ivytown", "hswep": "haswellx", "bdxep": "broadwellx",
    "bdxde": "broadwellde", "skx": "skylakex", "clx": "cascadelakex",
}

# Ours are the in-tree driver's names, or one name for all sub-events.
OTHER_NAMES = {
    "cas_count_rd": "cas_count_read", "cas_count_wr": "cas_count_write", "cas_count_all": "cas_count",
    "llc_misses_mem_read": "cas_count_read", "llc_misses_mem_write": "cas_count_write",
    "pmm_bandwidth_read": "pmm_rpq_inserts", "pmm_bandwidth_write": "pmm_wpq_inserts",
}

# Countable by config, without a name of their own: some hundred events of ranks and banks, and
# the clock, whose names say fixed here and general there.
UNNAMED = re.compile(r"(rd|wr)_cas_rank\d_|d?clockticks")

IN_GUEST = r"""
for file in /sys/bus/event_source/devices/uncore_imc_0/events/*; do
	echo "event ${file##*/} $(cat "$file")"
done
while read -r config; do
	echo "open $config $(pmu-event "uncore_imc_0:$config" && echo ok)"
done < configs
"""


def perf_table(name):
    """[(our name, config)] of the rows of perf's table that one counter can count."""
    path = linux_tools.directory() / linux_tools.PMU_EVENTS.format(name)
    for row in json.loads(path.read_text()):
        if row.get("Unit") != "iMC" or "MetricExpr" in row:
            continue
        name = re.sub(r"^unc_m_", "", row["EventName"].lower()).replace(".", "_")
        yield OTHER_NAMES.get(name, name), int(row.get("EventCode", "0"), 0) | int(row.get("UMask", "0"), 0) << 8


def in_guest(test, model, configs):
    """({name: config} of sysfs, {config: "ok" or an errno's name}) as the guest has it."""
    with tempfile.TemporaryDirectory() as directory:
        script, listing = Path(directory) / "script", Path(directory) / "configs"
        script.write_text(IN_GUEST)
        listing.write_text("".join(f"{config:#x}\n" for config in sorted(configs)))
        done = unittests.vm(test, "--kernel", "6.12", "--model", model, "--copy", script, "--copy", listing,
                            "--", "sh", "script")
    if done.returncode:
        raise RuntimeError(done.stderr)
    named = {name: int(event, 16) | int(umask, 16) << 8 for name, event, umask in
             re.findall(r"^event (\S+) event=(\w+),umask=(\w+)$", done.stdout, re.M)}
    opened = {int(config, 16): answer for config, answer in re.findall(r"^open (\w+) (.*)$", done.stdout, re.M)}
    return named, opened


class PerfTables(unittest.TestCase):
    def check(self, model):
        rows = list(perf_table(GENERATIONS[model]))
        self.assertGreater(len(rows), 40)
        named, opened = in_guest(self, model, {config for _, config in rows})
        self.assertGreater(len(named), 24)
        refused = {name: opened.get(config) for name, config in rows if opened.get(config) != "ok"}
        self.assertEqual(refused, {}, "rows of perf's table that cannot be opened")
        different = {name: (hex(named[name]), hex(config)) for name, config in rows
                     if name in named and not UNNAMED.match(name) and named[name] != config}
        self.assertEqual(different, {}, "names that mean something else in perf's table")
        missing = [name for name, _ in rows if name not in named and not UNNAMED.match(name)]
        self.assertEqual(missing, [], "events of perf's table without a name in sysfs")


for _model in GENERATIONS:
    setattr(PerfTables, f"test_{_model}", lambda self, model=_model: self.check(model))
