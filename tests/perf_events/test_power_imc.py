# SPDX-License-Identifier: GPL-2.0-only
"""In-memory collection's events against the catalogs that firmware ships, and against our small one.

All files in sysfs are what the catalog says, and each event counts what happens at its own place and nothing else.
"""
import re
import tempfile
import unittest
from pathlib import Path

from pmusuite import data, unittests
from pmusuite.cache import TREE

SMALL = TREE / "tests/models/power_imc/catalogs"

TYPE_TRACE, TYPE_NEST = 0x2, 0x10
FORMATS = {"event": "config:0-61", "offset": "config:0-31", "rvalue": "config:32", "mode": "config:33-40"}
BATCH = 60          # events that are open at the same time
UNIT = 1 << 40      # far above what a counter counts by itself meanwhile

# POWER9's nest counters are in groups, the first and last word of which are counts of updates.
GROUP, GROUPS = 0x110, 7

# First what firmware has left of the catalog. Each line of "batches" is a PMU, a device of the model, and configs:
# the n-th gets n units, unless the model has no counter there.
IN_GUEST = r"""
. ./lib.sh
cd /proc/device-tree/imc-counters || exit
printf 'node %s\n' *
cd $PMUS || exit
for pmu in *_imc; do
	grep -r '' "$pmu/events" "$pmu/format"
	[ ! -e "$pmu/cpumask" ] || echo "$pmu/cpumask:$(cat "$pmu/cpumask")"
done
while read -r pmu device configs; do
	[ -e $pmu ] || continue
	n=0 events=
	for config in $configs; do
		n=$((n + 1))
		events="$events $pmu:$config"
		echo "pmu-model add $device $config $((n << 40)) 2> /tmp/said || grep -q 'no counter at' /tmp/said || exit"
	done > /tmp/add
	case $pmu in
	thread_imc) got=$(pmu-event --pid 0 --cpu -1 --inherit $events -x 'taskset -c 0 sh /tmp/add') ;;
	*) got=$(pmu-event $events -x "pmu-model set $device flush 1; sh /tmp/add; pmu-model set $device flush 1") ;;
	esac
	echo "counted $pmu $got"
done < /vm/work/batches
"""


def device_tree(text):
    """The nodes of a device tree's source, as [(label, name, {property: value}, [node, ...]), ...]."""
    tokens = iter(re.findall(r'"[^"]*"|[{};]|[^{};"]+', re.sub(r"/\*.*?\*/", "", text, flags=re.S)))

    def body():
        said, properties, nodes = "", {}, []
        for token in tokens:
            if token == "{":
                label, _, name = said.rpartition(":")
                nodes.append((label.strip(), name.strip(), *body()))
                said = ""
            elif token == "}":
                break
            elif token == ";":
                name, _, value = said.partition("=")
                properties[name.strip()] = value.strip()
                said = ""
            else:
                said += token
        return properties, nodes
    return body()[1]


def cell(value):
    return int(value.strip("<>").split()[0], 0)


def string(value):
    return value.strip('"')


def units(path):
    """(node's name, PMU, type, [(event, config, scale or None, unit or None), ...]) of each of a catalog's source."""
    [(_, _, _, nodes)] = [node for node in device_tree(path.read_text()) if node[3]]
    lists = {label: children for label, _, _, children in nodes}
    for _, name, properties, _ in nodes:
        if "type" not in properties:
            continue
        kind = cell(properties["type"])
        rows = [({**properties, **row}, cell(properties["reg"]) + cell(row["reg"]))
                for _, _, row, _ in lists[properties["events"].strip("<>& ")]]
        yield name, "nest_" * (kind == TYPE_NEST) + name.split("@")[0] + "_imc", kind, [
            (string(row["events-prefix"]) + string(row["event-name"]), config,
             *(string(row[key]) if key in row else None for key in ("scale", "unit"))) for row, config in rows]


def expected_files(pmu, rows, cpumask):
    """{path in sysfs: content} of a PMU that counts in memory, as the in-tree driver has it."""
    files = {f"{pmu}/format/{name}": bits for name, bits in FORMATS.items()}
    if pmu != "thread_imc":
        files[f"{pmu}/cpumask"] = cpumask
    for name, config, scale, unit in rows:
        files[f"{pmu}/events/{name}"] = f"event={config:#x}"
        files |= {f"{pmu}/events/{name}.{suffix}": text for suffix, text in (("scale", scale), ("unit", unit)) if text}
    return files


def is_counter(spec, pmu, offset):
    """The shipped catalog of POWER9 has events where no counter is."""
    nest = spec.startswith("power9") and pmu.startswith("nest_")
    return not nest or offset < GROUPS * GROUP and offset % GROUP not in (0, GROUP - 8)


def batches(rows, pmu):
    """Configs of the events, some at a time; several names may stand for one counter."""
    configs = sorted({config for _, config, _, _ in rows})
    device = "nest@0" if pmu.startswith("nest_") else pmu.replace("_imc", "0@0")
    return [(pmu, device, configs[start:start + BATCH]) for start in range(0, len(configs), BATCH)]


def large_catalog(nest, core):
    """Our small POWER9 catalog with so many names more, of a nest unit and of the core; several stand for a counter."""
    def rows(offsets, count):
        return "".join(f'many@{n:x} {{ event-name = "E{n}"; reg = <{offsets[n % len(offsets)]:#x} 8>; }};\n'
                       for n in range(count))

    nest_offsets = [offset for offset in range(0, GROUP * GROUPS, 8) if is_counter("power9", "nest_", offset)]
    core_offsets = [64 * line + 8 * slot for line in range(128) for slot in range(4)]     # from the unit's 0x18
    small = (SMALL / "p9.dts").read_text()
    end = small.index("};", small.rindex("event@", 0, small.index("core@18 {"))) + len("};")
    return f"""{small[:end]}{rows(core_offsets, core)}{small[end:].rstrip().removesuffix("};")}
MANY: many-events {{ #address-cells = <1>; #size-cells = <1>;
{rows(nest_offsets, nest)}}};
many@0 {{ compatible = "ibm,imc-counters"; type = <0x10>; events-prefix = "PM_"; events = <&MANY>; reg = <0 8>;
    size = <0x40000>; offset = <0x180000>; cb_offset = <0x3fc00>; }};
}};
"""


def in_guest(test, spec, driver, kernel, work):
    """What IN_GUEST says, with a line of a batch for each of @work."""
    with tempfile.TemporaryDirectory() as directory:
        script, listing = Path(directory) / "script", Path(directory) / "batches"
        script.write_text(IN_GUEST)
        listing.write_text("".join(f"{pmu} {device} {' '.join(map(hex, configs))}\n" for pmu, device, configs in work))
        done = unittests.vm(test, "--arch", "ppc64le", "--kernel", kernel, "--driver", driver, "--model", spec,
                            "--copy", "tests/guest/lib.sh", "--copy", script, "--copy", listing, "--", "sh", "script")
    if done.returncode:
        raise RuntimeError(done.stdout + done.stderr)
    return done.stdout.splitlines()


class Catalogs(unittest.TestCase):
    maxDiff = 4000

    def check(self, spec, path, least, driver="ours", kernel="6.12"):
        found = {pmu: (node, rows) for node, pmu, kind, rows in units(path) if kind != TYPE_TRACE}
        # Where QEMU has the nest's counters the in-tree driver's reads are an oops.
        work = [batch for pmu, (_, rows) in found.items() for batch in batches(rows, pmu)
                if driver == "ours" or not pmu.startswith("nest_")]
        lines = [line for line in in_guest(self, spec, driver, kernel, work) if not line.startswith("trace_imc/")]
        there = {line.split()[1] for line in lines if line.startswith("node ")}
        wanted, opened = {}, 0
        for pmu, (node, rows) in found.items():
            if node in there:
                wanted |= expected_files(pmu, rows, "0")
                opened += len(rows)
        self.assertGreaterEqual(opened, least)
        files = dict(line.split(":", 1) for line in lines if re.match(r"\w+_imc/", line))
        self.assertEqual(files, wanted)
        counted = [line.split()[1:] for line in lines if line.startswith("counted ")]
        self.assertEqual([(pmu, [int(count) // UNIT for count in counts]) for pmu, *counts in counted],
                         [(pmu, [n if is_counter(spec, pmu, config) else 0 for n, config in enumerate(configs, 1)])
                          for pmu, _, configs in work if found[pmu][0] in there])

    def test_small_power9_by_the_in_tree_driver(self):
        self.check("power9", SMALL / "p9.dts", 60, driver="in-tree")

    def test_small_power10(self):
        self.check("power10", SMALL / "p10.dts", 60, kernel="6.1")

    def test_small_power9_and_thousands_of_events(self):
        with tempfile.TemporaryDirectory() as directory:
            path = Path(directory) / "large.dts"
            path.write_text(large_catalog(1800, 1000))
            self.check(f"power9,catalog={path}", path, 2860)

    def shipped(self, name):
        return data.path(name) or self.skipTest(data.missing(name))

    def test_shipped_power9(self):
        self.check("power9,catalog=real", self.shipped(data.P9_CATALOG), 470)

    def test_shipped_power10(self):
        self.check("power10,catalog=real", self.shipped(data.P10_CATALOG), 200)
