# SPDX-License-Identifier: GPL-2.0-only
"""An Arm mesh: the SLC and memory in total; and, drawn as it is, what each link or each node does.

A mesh has eight counters for a domain, and far more links than that. So these take turns, each for the same part
of an interval: a number tells the rate in its turn, and no two of different turns are added up. A turn is one group,
since a mesh stands still for a moment when a group starts.
"""
import errno
import itertools
from pathlib import Path

from .. import count, mesh as meshes, metrics
from ..errors import ToolError
from . import dmc620, draw, pretty
from .rows import UNITS, Rows, ratio

LINE = 64               # bytes of a request to memory
FLIT = 32               # bytes of a DAT flit: as perf's metric rni_actual_read_bandwidth has it
LETTERS, DTM_COUNTERS = 6, 4     # of a domain's eight counters two are left to others
METRICS = Path(__file__).with_name("cmn.json")
CLOCK = "dtc_cycles"    # which has a counter of its own
CELL = 7                # columns of an XP's cell that has all of its links: an arrow and "100.00"
DIRECTIONS = {"e": (1, 0, "→"), "w": (-1, 0, "←"), "n": (0, 1, "↑"), "s": (0, -1, "↓")}
LINK = "mxp_{}_dat_txflit_valid"

# Of home nodes, by what this mesh has: accesses and misses of the SLC as perf's metric slc_miss_rate, requests to
# memory and those that it sent back as mc_message_retry_rate.
_HOMES = (
    {"access": "hnf_slc_sf_cache_access", "miss": "hnf_cache_miss", "reqs": "hnf_mc_reqs", "retries": "hnf_mc_retries"},
    {"access": "hns_slc_sf_cache_access_all", "miss": "hns_cache_miss_all", "reqs": "hns_mc_reqs_local_all",
     "retries": "hns_mc_retries_local"},
    # From CMN S3 r2 on retries have filters, too.
    {"access": "hns_slc_sf_cache_access_all", "miss": "hns_cache_miss_all", "reqs": "hns_mc_reqs_local_all",
     "retries": "hns_mc_retries_local_all"},
)


def pack(events, used=()):
    """Lists of @events, (key, domain, XP), of which each can be counted at one time, as few as it takes."""
    turns = []
    for key, domain, xp in events:
        for turn in turns:
            if sum(other[1] == domain for other in turn) < LETTERS and sum(other[2] == xp for other in turn) < DTM_COUNTERS:
                turn.append((key, domain, xp))
                break
        else:
            turns.append([(key, domain, xp)])
    return [[key for key, _, _ in turn] for turn in turns]


class Mesh:
    """One of a machine's meshes; @info is what a record keeps of it."""

    def __init__(self, info):
        self.info, self.name, self.mesh = info, info["pmu"], info["mesh"]
        self._planned = {}
        self.device, self.now = "", self.name       # bound again, a mesh has another number
        self.metrics = metrics.load(METRICS, info.get("metrics", ()))
        self.title = self.name + (f" {self.mesh['width']}x{self.mesh['height']}" if self.mesh else "")

    @classmethod
    def of(cls, machine, pmu, options):
        """None if nothing of it is known that could be counted."""
        if options.map:
            mesh = meshes.parse(Path(options.map).read_text(encoding="utf-8", errors="replace"), options.map)
        else:
            mesh = meshes.of(machine, pmu.name)
        homes = next((texts for texts in _HOMES if all(text in pmu.events for text in texts.values())), None)
        event = options.event if options.event in pmu.events else None
        links = cls._links(pmu, mesh) if mesh else {}
        clock = CLOCK if CLOCK in pmu.events else None
        derived = sorted({text for metric in metrics.load(METRICS, pmu.events).values() for text in metric.events})
        if not homes and not links and not event and not derived:
            return None
        found = cls({"pmu": pmu.name, "mesh": mesh, "homes": homes, "links": links, "event": event,
                     "metrics": derived, "clock": clock, "at": cls._nodes(pmu, mesh, event) if event else {}})
        found.device = pmu.device
        return found

    @staticmethod
    def _links(pmu, mesh):
        """{"0x20/e": [XP's id, event, DTC], ...}: what leaves an XP, to neighbours and to its own ports."""
        found = {}
        for xp in mesh["xps"]:
            ways = [way for way, (dx, dy, _) in DIRECTIONS.items()
                    if 0 <= xp["x"] + dx < mesh["width"] and 0 <= xp["y"] + dy < mesh["height"]]
            for way in [*ways, *(f"p{port}" for port in xp["ports"])]:
                if LINK.format(way) in pmu.events:
                    found[f"{xp['id']:#x}/{way}"] = [xp["id"], LINK.format(way), xp["dtc"]]
        return found

    @staticmethod
    def _nodes(pmu, mesh, event):
        """{"0x24": [node id, its name, XP's id, DTC], ...}: the nodes that count @event."""
        if mesh is None:
            return {}
        words = dict(part.split("=") for part in pmu.events[event].text.split(",") if "=" in part)
        if "?" in words.values() or "type" not in words:
            raise ToolError(f"{event} is no event that nodes count by themselves.", "Choose one without parameters.")
        kind = meshes.KINDS.get(int(words["type"], 0))
        nodes = meshes.nodes(mesh, kind) if kind else []
        # A port's event is there where something is connected to it.
        port = event[5] if event.startswith("mxp_p") else None
        return {f"{node:#x}": [node, name, xp["id"], xp["dtc"]] for xp, node, name in nodes
                if port is None or port in xp["ports"]}

    def pmu(self, machine):
        """None while it is gone: a driver that lets a device go leaves the PMU without a CPU, or none."""
        pmu = machine.pmus.get(self.now)
        return pmu if pmu and pmu.cpus else None

    def look(self, machine):
        if self.device and not self.pmu(machine):
            self.now = next((pmu.name for pmu in machine.of("cmn") if pmu.cpus and pmu.device == self.device), self.now)

    def _homes(self, pmu):
        for pair in ("access", "miss"), ("reqs", "retries"):
            yield [count.want(f"{self.name}:{what}", pmu, self.info["homes"][what], pmu.cpus[0]) for what in pair]

    def groups(self, machine, mode):
        pmu = self.pmu(machine)
        if not pmu:
            return
        if self.info["clock"]:
            yield [count.want(f"{self.name}:clock", pmu, self.info["clock"], pmu.cpus[0])]
        if self.info["homes"] and (mode == "totals" or not self.mesh and mode != "metrics"):
            yield from self._homes(pmu)
        if mode == self.info["event"] and not self.mesh:
            yield [count.want(f"{self.name}:all", pmu, self.info["event"], pmu.cpus[0])]

    def turns(self, machine, mode):
        """The totals have turns of their own: where an XP has two home nodes they take all of its counters."""
        pmu = self.pmu(machine)
        if pmu and mode == "metrics":
            return [[[count.want(f"{self.name}:{name}/{text}", pmu, text, pmu.cpus[0]) for text in metric.events]]
                    for name, metric in self.metrics.items()]
        if not pmu or mode == "totals" or not self.mesh:
            return []
        if mode == "links":
            wanted = {key: (dtc, xp, text, xp) for key, (xp, text, dtc) in self.info["links"].items()}
        elif mode == self.info["event"]:
            wanted = {key: (dtc, xp, mode, node) for key, (node, _, xp, dtc) in self.info["at"].items()}
        else:
            wanted = {}

        def single(key):
            _, _, text, node = wanted[key]
            return count.want(f"{self.name}:{mode}/{key}", pmu, text, pmu.cpus[0], bynodeid=1, nodeid=node)

        turns = [[count.Loose(map(single, turn))]
                 for turn in pack([(key, dtc, xp) for key, (dtc, xp, *_) in wanted.items()])]
        return turns + [[group] for group in self._homes(pmu)] if self.info["homes"] else turns

    def planned(self, mode):
        """Turns of an interval; 1 if nothing takes turns."""
        if mode not in self._planned:
            links = [(key, dtc, xp) for key, (xp, _, dtc) in self.info["links"].items()] if mode == "links" else \
                [(key, dtc, xp) for key, (_, _, xp, dtc) in self.info["at"].items()] if mode == self.info["event"] else []
            self._planned[mode] = len(self.metrics) if mode == "metrics" else 1 if mode == "totals" or not self.mesh else \
                len(pack(links)) + 2 * bool(self.info["homes"])
        return self._planned[mode] or 1

    def rows(self, frame, rows):
        def rate(key):
            return frame.rate(f"{self.name}:{key}")

        if self.info["clock"]:
            value, share = rate("clock")
            rows.add("clock", value, "Hz", share, pmu=self.name)
        if frame.mode == "metrics":
            for name, metric in self.metrics.items():
                rates = {text: rate(f"{name}/{text}") for text in metric.events}
                rows.add(name, metric.value({text: value for text, (value, _) in rates.items()}), metric.unit,
                         min(share for _, share in rates.values()), pmu=self.name)
        elif self.info["homes"]:
            access, share = rate("access")
            miss = rate("miss")[0]
            rows.add("slc_access", access, "1/s", share, pmu=self.name)
            rows.add("slc_miss_rate", ratio(miss or 0, access), "ratio", share, pmu=self.name)
            reqs, share = rate("reqs")
            retries = rate("retries")[0]
            rows.add("memory", None if reqs is None else max(0.0, reqs - (retries or 0)) * LINE, "B/s", share, pmu=self.name)
            rows.add("memory_retry_rate", ratio(retries or 0, reqs), "ratio", share, pmu=self.name)
        if frame.mode == "links":
            for key in self.info["links"]:
                value, share = rate(f"links/{key}")
                xp, way = key.split("/")
                rows.add("link", None if value is None else value * FLIT, "B/s", share, pmu=self.name, xp=xp, to=way)
        elif frame.mode == self.info["event"]:
            for key, (_, name, xp, _) in self.info["at"].items():
                value, share = rate(f"{frame.mode}/{key}")
                rows.add("event", value, "1/s", share, pmu=self.name, event=frame.mode, node=key, node_name=name,
                         xp=f"{xp:#x}")
            if not self.mesh:
                value, share = rate("all")
                rows.add("event", value, "1/s", share, pmu=self.name, event=frame.mode, node="all", node_name="all",
                         xp="")

    def head(self, frame, rows, width):
        """What stays on the screen, wherever the arrows lead to."""
        if frame.mode != "metrics":
            yield self._totals(rows)
        if self.mesh and frame.mode not in ("metrics", "totals"):
            yield self._hottest(frame, rows, width)

    def draw(self, frame, rows, width, height):
        if frame.mode == "metrics":
            yield self._metrics(rows)
        elif self.mesh is None:
            yield pretty.Text(f"The mesh cannot be drawn: root alone may read /{meshes.places(self.name)[0]} "
                       f"or /{meshes.places(self.name)[1]}.\nHave root copy one of them to a file, and use --map.",
                       "yellow")
            if self.info["event"]:
                yield pretty.Text(f"{self.info['event']}: {rows.get('event', pmu=self.name, node='all').text(3)} M/s at all nodes")
        elif frame.mode != "totals":
            yield pretty.Text(f"GB/s of DAT flits ({FLIT} bytes) that leave each XP: to neighbours, and to ports"
                       if frame.mode == "links" else f"{frame.mode} at each node, millions a second", "dim")
            room = None if height is None else height - draw.AROUND
            grid = self._grid(frame, rows, width)
            if room is None or self._height(width) <= room:
                yield grid
            else:               # all of the mesh first; each number is below, where the arrows lead to
                yield self._overview(frame, rows, width)
                yield grid

    def _metrics(self, rows):
        if not self.metrics:
            return pretty.Text("This mesh has no events of HN-S. perf has metrics of HN-F.", "dim")
        table = pretty.Table("metric", "value", "unit", "of all home nodes", box=None, header_style="bold")
        table.columns[1].justify = "right"
        for name, metric in self.metrics.items():
            row = rows.get(name, pmu=self.name)
            table.add_row(name, row.text(2), UNITS[metric.unit][0] or "clocks", pretty.Text(metric.text, "dim"))
        return table

    def _totals(self, rows):
        if not self.info["homes"]:
            return pretty.Text("")
        access, miss, memory, retries = (rows.get(name, pmu=self.name) for name in
                                         ("slc_access", "slc_miss_rate", "memory", "memory_retry_rate"))
        return pretty.Text.assemble(("SLC: ", "bold"), f"{access.text(2)} M accesses/s, misses {miss.text(1)} %   ",
                             ("memory: ", "bold"), f"{memory.text(2)} GB/s, sent back {retries.text(1)} %",
                             f"   most {rows.history.said(memory)} {rows.history.text(memory, 20)}" if rows.history else "",
                             no_wrap=True, overflow="ellipsis")

    def _of_xp(self, frame, rows):
        """{XP's id: [(what, row), ...]}, and what is the hottest: as hot as a link can be, or else the hottest there is"""
        found = {xp["id"]: [] for xp in self.mesh["xps"]}
        if frame.mode == "links":
            for key, (xp, _, _) in self.info["links"].items():
                way = key.split("/")[1]
                found[xp].append((way, rows.get("link", pmu=self.name, xp=f"{xp:#x}", to=way)))
        else:
            for key, (_, name, xp, _) in self.info["at"].items():
                found[xp].append((name, rows.get("event", pmu=self.name, node=key)))
        values = [row.value or 0 for parts in found.values() for _, row in parts]
        return found, self._most(frame, rows) or max(values, default=0)

    def _most(self, frame, rows):
        """What a link can carry with the mesh's clock; None if that is not known, or no such thing."""
        clock = rows.get("clock", pmu=self.name).value
        return clock * FLIT if clock and frame.mode == "links" else None

    def _cells(self, width):
        """(columns of a cell, and around it)"""
        for padding in 1, 0:
            # Borders, and a column with Y.
            cell = max(2, min(28, (width - 4 - 2 * padding) // self.mesh["width"] - 2 * padding - 1))
            if cell >= CELL:
                break
        return cell, padding

    def _height(self, width):
        """Lines of the grid."""
        cell, _ = self._cells(width)
        most = 2
        if cell >= CELL:
            pairs = 2 if cell >= 2 * CELL + 1 else 4
            most = max(pairs + max(len(xp["ports"]), len(self.info["at"]) // len(self.mesh["xps"]) + 1)
                       for xp in self.mesh["xps"])
        return (most + 2) * self.mesh["height"] + 3

    def _overview(self, frame, rows, width):
        """A cell of one line for each XP: its hottest way, and how much."""
        found, most = self._of_xp(frame, rows)
        cell = max(4, min(12, (width - 3) // self.mesh["width"]))
        by_place = {(xp["x"], xp["y"]): found[xp["id"]] for xp in self.mesh["xps"]}
        text = pretty.Text(no_wrap=True, overflow="crop")
        for y in reversed(range(self.mesh["height"])):
            text.append(f"{y:2} ", "dim")
            for x in range(self.mesh["width"]):
                name, row = max(by_place[x, y], key=lambda one: one[1].value or 0, default=("", None))
                mark = DIRECTIONS[name][2] if name in DIRECTIONS else "p" if name[:1] == "p" else ""
                said = mark + self._number(row, short=True) if row else ""
                text.append(f"{said:>{cell - 1}} ", draw.heat(row and row.value, most))
            text.append("\n")
        return text.append("   " + "".join(f"{x:>{cell - 1}} " for x in range(self.mesh["width"])), "dim")

    def _grid(self, frame, rows, width):
        found, most = self._of_xp(frame, rows)
        cell, padding = self._cells(width)
        fill = self._cell if cell >= CELL else self._small_cell
        table = pretty.Table(show_header=False, show_lines=True, padding=(0, padding), border_style="dim")
        table.add_column(no_wrap=True, style="dim", width=2)
        for _ in range(self.mesh["width"]):
            table.add_column(width=cell, no_wrap=True)
        by_place = {(xp["x"], xp["y"]): xp for xp in self.mesh["xps"]}
        for y in reversed(range(self.mesh["height"])):
            table.add_row(str(y), *(fill(by_place[x, y], found[by_place[x, y]["id"]], most, cell)
                                    for x in range(self.mesh["width"])))
        table.add_row("", *(pretty.Text(str(x), "dim") for x in range(self.mesh["width"])))
        return table

    def _cell(self, xp, parts, most, width):
        text = pretty.Text(no_wrap=True, overflow="crop")
        hottest = max((row.value or 0 for _, row in parts), default=0)
        text.append(f"XP {xp['id']:03x}", f"bold {draw.heat(hottest, most)}")
        shown = dict(parts)
        links = [(DIRECTIONS[way][2], shown.pop(way)) for way in DIRECTIONS if way in shown]
        for number, (arrow, row) in enumerate(links):
            # Two in a line, where there is room.
            text.append("\n" if number % 2 == 0 or width < 2 * CELL + 1 else " ")
            text.append(f"{arrow}{self._number(row):>{CELL - 1}}", draw.heat(row.value, most))
        for name, row in shown.items():
            port = xp["ports"].get(name[1:]) if name.startswith("p") and name[1:].isdigit() else None
            label = f"{name} {port['type'].split('_E')[0]}" if port else name
            number = self._number(row)
            room = max(0, width - len(number) - 1)
            if len(label) > room:       # "HN-" before a number is a minus
                label = label.replace("-", "")
            text.append(f"\n{(label if room >= 5 else label[:2])[:room]:{room}} {number}", draw.heat(row.value, most))
        return text

    def _small_cell(self, xp, parts, most, width):
        """Where there is no room for more: the hottest way to a neighbour, and the hottest port or node."""
        text = pretty.Text(f"{xp['id']:03x}", "bold", no_wrap=True, overflow="crop")
        for ways in [one for one in parts if one[0] in DIRECTIONS], [one for one in parts if one[0] not in DIRECTIONS]:
            if ways:
                name, row = max(ways, key=lambda one: one[1].value or 0)
                mark = DIRECTIONS[name][2] if name in DIRECTIONS else "p" if name[0] == "p" else ""
                number = self._number(row, short=True)
                if len(mark + number) > width:      # "0." would be no number
                    number = number.split(".")[0]
                text.append(f"\n{mark}{number:>{width - len(mark)}}", draw.heat(row.value, most))
        return text

    @staticmethod
    def _number(row, short=False):
        """As short as a cell wants it: that it is of a part of the interval is said below."""
        if row.value is None:
            return "-"
        value = row.value * UNITS[row.unit][1]
        return f"{value:.0f}" if value >= (10 if short else 100) else f"{value:.1f}" if short else f"{value:.2f}"

    def _hottest(self, frame, rows, width):
        """Three, or as many as a line has room for."""
        found, most = self._of_xp(frame, rows)
        all_of = sorted(((row.value or 0, xp, name, row) for xp, parts in found.items() for name, row in parts),
                        key=lambda one: -one[0])
        limit = self._most(frame, rows)

        def near(value):
            return f" ({value / limit:.0%}{' of the link!' if value >= draw.NEAR * limit else ''})" if limit else ""

        names = [f"XP {xp:03x} {DIRECTIONS[name][2] if name in DIRECTIONS else name} {row.text(2)}{near(value)}"
                 for value, xp, name, row in all_of[:3] if value]
        while len("hottest: " + "; ".join(names)) > width and names[1:]:
            names.pop()
        return pretty.Text("hottest: " + ("; ".join(names) if names else "nothing happens"), "bold", no_wrap=True, overflow="ellipsis")


class View:
    name, family = "cmn", "cmn"
    tolerate = (errno.EINVAL,)
    many = ("link",)
    HELP = {"clock": "clocks of the mesh", "slc_access": "accesses to the system cache", "slc_miss_rate": "part of these that missed",
            "memory": "bytes of requests to memory, at most", "memory_retry_rate": "part of these that were sent back",
            "link": "bytes of data that left a crosspoint, by neighbour or port", "event": "an event, by node"}

    def __init__(self, info):
        self.info, self.meshes, self.shown = info, [Mesh(one) for one in info["meshes"]], 0
        self.controllers = dmc620.Controllers(info.get("dmc620", []))
        drawn = (["links"] if any(one.info["links"] for one in self.meshes) else []) + \
            ([info["event"]] if info["event"] else [])
        self.modes = drawn + (["totals"] if any(one.info["homes"] for one in self.meshes) else []) + \
            (["metrics"] if any(one.metrics for one in self.meshes) else [])
        self.first = info["event"] or self.modes[0]
        self.scraped = "totals" if "totals" in self.modes else self.first   # what goes to Prometheus, unless a mode is named
        self.help = self.HELP | dmc620.HELP | {name: metric.text for one in self.meshes for name, metric in one.metrics.items()}

    @property
    def title(self):
        several = f" ({self.shown + 1} of {len(self.meshes)}; m: the next)" if len(self.meshes) > 1 else ""
        return self.meshes[self.shown].title + several

    def next(self):
        """The screen shows the next mesh."""
        self.shown = (self.shown + 1) % len(self.meshes)

    @classmethod
    def of(cls, machine, options):
        pmus = machine.of("cmn")
        if options.mesh:
            pmus = [pmu for pmu in pmus if pmu.name == options.mesh]
            if not pmus:
                raise ToolError(f"There is no mesh {options.mesh}.",
                                f"There is: {', '.join(pmu.name for pmu in machine.of('cmn'))}.")
        if options.map and len(pmus) > 1:
            raise ToolError("There are several meshes.", "Say with --mesh which one the map is of.")
        there = [pmu for pmu in pmus if pmu.cpus]
        if not there:
            raise ToolError(f"{pmus[0].name} has no CPU: its device is gone.", "Unload the driver, and load it again.")
        if options.event and not any(options.event in pmu.events for pmu in there):
            raise ToolError(f"{there[0].name} has no event '{options.event}'.",
                            f"{there[0].path}/events has them, as 'perf list' shows.")
        found = [mesh for pmu in there if (mesh := Mesh.of(machine, pmu, options))]
        if not found:
            raise ToolError(f"{there[0].name} has no event that pmu-top knows.",
                            f"Choose one of {there[0].path}/events with --event.")
        titles = dict.fromkeys(mesh.mesh["title"].partition(": ")[2] for mesh in found if mesh.mesh)
        view = cls({"view": cls.name, "machine": "; ".join(filter(None, titles)) or machine.processor,
                    "kernel": machine.kernel, "driver": machine.driver("cmn"), "event": options.event,
                    "meshes": [mesh.info for mesh in found], "dmc620": dmc620.Controllers.of(machine).info})
        view.meshes = found
        return view

    def look(self, machine):
        for one in self.meshes:
            one.look(machine)

    def missing(self, machine):
        return {one.now for one in self.meshes if not one.pmu(machine)} | self.controllers.missing(machine)

    def groups(self, machine, mode):
        for one in self.meshes:
            yield from one.groups(machine, mode)
        yield from self.controllers.groups(machine)

    def turns(self, machine, mode):
        """Those of all meshes at the same time: they share no counters."""
        together = itertools.zip_longest(*(one.turns(machine, mode) for one in self.meshes), fillvalue=[])
        return [[group for groups in some for group in groups] for some in together]

    def begin(self, mode):
        pass

    def extra(self, mode):
        return {}

    def close(self):
        pass

    def planned(self, frame):
        """All but the clock: what a mesh has to count is more than it has counters for."""
        part = 1 / max(one.planned(frame.mode) for one in self.meshes)
        return dict.fromkeys([name for name in self.help if name != "clock"], part) if part < 1 else {}

    def rows(self, frame):
        rows = Rows()
        for one in self.meshes:
            one.rows(frame, rows)
        if len(self.meshes) > 1:
            rows.total("total_memory", [rows.get("memory", pmu=one.name) for one in self.meshes], "B/s")
        self.controllers.rows(frame, rows)
        return rows

    def head(self, frame, rows, width, height):
        if self.controllers.info:
            yield self.controllers.summary(rows)
        if height is not None:
            yield from self.meshes[self.shown].head(frame, rows, width)

    def draw(self, frame, rows, width, height):
        """One mesh on a screen; all where there is no end to the lines."""
        if self.controllers.info:
            height = height and height - 1
        if height is not None and len(self.meshes) > 1 and frame.mode == "totals":
            yield self._all(rows, width)
        for one in self.meshes if height is None else [self.meshes[self.shown]]:
            if height is None and len(self.meshes) > 1:
                yield pretty.Text(one.title, "bold")
            if height is None:
                yield from one.head(frame, rows, width)
            yield from one.draw(frame, rows, width, height)
        if height is not None and len(self.meshes) > 1 and frame.mode not in ("totals", "metrics"):
            yield self._all(rows, width)
        if self.controllers.info:
            yield self.controllers.draw(rows, width)

    _COLUMNS = (("memory", "GB/s", 2), ("slc_miss_rate", "miss %", 1), ("slc_access", "SLC M/s", 2), ("memory_retry_rate", "back %", 1), ("clock", "MHz", 0))

    def _all(self, rows, width):
        """A line for each mesh, and one for all of them; columns that have no room are left out."""
        table = pretty.Table("mesh", box=None, header_style="bold", padding=(0, 1), collapse_padding=True)
        taken = list(itertools.accumulate((max(len(heading), 7) + 1 for _, heading, _ in self._COLUMNS),
                                          initial=max(len(one.name) for one in self.meshes) + 2))
        columns = [column for column, end in zip(self._COLUMNS, taken[1:]) if end <= width]
        for _, heading, _ in columns:
            table.add_column(heading, justify="right", no_wrap=True)
        for one in self.meshes:
            table.add_row(one.name, *(rows.get(name, pmu=one.name).text(digits) for name, _, digits in columns))
        table.add_row("all", rows.get("total_memory").text(2), style="bold")
        return table
