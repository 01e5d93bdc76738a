# SPDX-License-Identifier: GPL-2.0-only
"""Memory channels of Intel Xeons: bandwidth, pages, read latency, clock, power-down.

Each channel has four general counters and one for its clock. Reads, writes and the clock are counted all the
time. The other two counters look at one pair after the other, or at one alone if the user says so. Nothing is
pinned: others need these counters, too, and then all take turns.
"""
import errno

from .. import count, xeons
from ..errors import ToolError
from . import draw, free, icelake, places, pretty, programs, rapids, resctrl
from .rows import Rows, both, ratio

WIDTH = 16              # bytes that a channel moves in a clock at most: 8 with each of its edges
LINE = 64               # bytes that a CAS command moves: Intel's uncore guides, CAS_COUNT
CLOCK = "event=0xff"    # the fixed counter: DCLK, or a part of it
# What counts lines; where it is several events, their sum does.
LINES = {"rd": ["cas_count_read"], "wr": ["cas_count_write"]}
NAME, NUMBER = 13, 12   # columns of a table for what a line is of, and for a bandwidth
HALF = 80               # columns that a table needs beside another

# Of model numbers (family 6): the umask of all activations, and whether RPQ_OCCUPANCY is there. Haswell and
# Broadwell have no event for it; see the event tables of Documentation/hardware/intel_imc.md.
_GENERATIONS = {45: (0x00, True), 62: (0x0b, False), 63: (0x0b, False), 79: (0x0b, False), 86: (0x0b, False),
                85: (0x0b, True)}


class View:
    name, family = "intel_imc", "intel_imc"
    title = "memory channels"
    tolerate = (errno.ENODEV, errno.ENXIO)
    absent = {programs.MODE: programs.ABSENT}       # why a mode is not there
    help = {"read": "bytes read from memory", "write": "bytes written to memory", "clock": "clocks of the memory",
            "group": "bytes that a group of resctrl moved beyond an L3 cache",
            "of_peak": "part of what a channel can move with its clock",
            "socket_of_peak": "part of what a socket's channels can move with their clocks",
            "node_of_peak": "part of what a NUMA node's channels can move with their clocks",
            "controller_of_peak": "part of what a controller's channels can move with their clocks",
            "page_hit": "part of the commands that found their page open",
            "read_latency": "time of a read in the controller's queue alone",
            "power_down": "part of the clocks in power-down", "self_refresh": "part of the clocks in self-refresh", **free.HELP}

    def __init__(self, info):
        self.info = info
        self.modes = (["all", *info["pairs"]] if len(info["pairs"]) > 1 else ["all"]) + \
            ([programs.MODE] if info.get("programs") else [])
        self.first = self.modes[0]
        self.misses = None

    @classmethod
    def of(cls, machine, options):
        pmus = machine.of("intel_imc")
        model = machine.intel_model()
        lines = rapids.lines(model, pmus[0]) or LINES
        if lines == LINES and not {"cas_count_read", "cas_count_write"} <= pmus[0].events.keys():
            raise ToolError(f"{pmus[0].name} has no events cas_count_read and cas_count_write: pmu-top does not know the "
                            "memory controllers of this processor.", "perf stat -M memory_bandwidth_total may.")
        known = _GENERATIONS.get(model[1]) if model and model[0] == 6 else None
        pairs = {}
        if known:
            umask, latency = known
            # A CAS that found its page open needed no activation: 1 - hit = ACT / CAS. Misses and empty pages
            # together, which is "page miss" + "page empty" of Intel's guides.
            pairs["pages"] = {"act": f"event=0x1,umask={umask:#x}", "cas": "event=0x4,umask=0xf"}
            if latency:
                # Little's law, as perf's tma_info_system_mem_dram_read_latency.
                pairs["latency"] = {"occupancy": "event=0x80", "inserts": "event=0x10"}
            # As Intel's metrics: POWER_CHANNEL_PPD and POWER_SELF_REFRESH by clockticks.
            pairs["power"] = {"ppd": "event=0x85", "refresh": "event=0x43"}
        clocks = 1
        if icelake.is_one(model):
            pairs, clocks = icelake.PAIRS, icelake.CLOCKS
        elif rapids.is_one(model):
            pairs, clocks = rapids.pairs(model), rapids.CLOCKS
        dies = len({(cpu.package, cpu.die) for cpu in machine.cpus.values()}) > \
            len({cpu.package for cpu in machine.cpus.values()})
        boxes = cls._boxes(machine, dies, [pmu for pmu in pmus if places.exists(machine, pmu)])
        if not boxes:
            raise ToolError("No CPU of a socket with memory channels is online.", "Bring one online.")
        return cls({"view": cls.name, "machine": machine.processor, "kernel": machine.kernel,
                    "driver": machine.driver("intel_imc"), "boxes": boxes, "dies": dies,
                    "free": cls._boxes(machine, dies, free.pmus(machine)), "places": cls._places(machine, boxes),
                    "pairs": pairs, "clocks": clocks, "lines": lines,
                    "programs": programs.known(machine), "generation": xeons.MODELS.get(model[1], ("",))[0] if model else ""})

    @staticmethod
    def _boxes(machine, dies, pmus):
        """[socket, number in the name, PMU, CPU] of each channel, or controller; a socket that has several @dies is as many."""
        def socket(number):
            cpu = machine.cpus.get(number)
            return "?" if cpu is None else f"{cpu.package}.{cpu.die}" if dies else str(cpu.package)

        return [[socket(cpu), pmu.name.rsplit("_", 1)[1], pmu.name, cpu] for pmu in pmus for cpu in pmu.cpus]

    @staticmethod
    def _places(machine, boxes):
        """{"socket/channel": [controller, node]}; None for what nobody tells, and for the node of a socket that is one."""
        return {f"{socket}/{channel}": [places.controller(machine, machine.pmus[name]), places.node(machine, machine.pmus[name], cpu)]
                for socket, channel, name, cpu in boxes}

    def look(self, machine):
        """The channels are where @machine has them now, on other CPUs perhaps; or nowhere. Another driver has other names."""
        channels = machine.of("intel_imc")
        if channels:
            self.info["lines"] = rapids.lines(machine.intel_model(), channels[0]) or LINES
        for boxes, pmus in (self.info["boxes"], channels), (self.info.get("free", ()), free.pmus(machine)):
            now = {(socket, number): cpu for socket, number, _, cpu in self._boxes(machine, self.info["dies"], pmus)}
            for box in boxes:
                box[3] = now.get((box[0], box[1]))

    def missing(self, machine):
        boxes = [*self.info["boxes"], *self.info.get("free", ())]
        return {name for *_, name, cpu in boxes if cpu is None or name not in machine.pmus and name not in machine.others}

    def groups(self, machine, mode):
        """Who counts clocks alone takes the clock's only counter, which is to cost no reads: it is no member of theirs."""
        for key, want in self._channels(machine):
            yield [want(f"{what}{at or ''}", text) for what, texts in self.info["lines"].items() for at, text in enumerate(texts)]
            yield [want("clk", CLOCK)]
            if mode in self.info["pairs"]:
                yield [want(what, text) for what, text in self.info["pairs"][mode].items()]
        yield from free.groups(self.info.get("free", ()), machine)

    def turns(self, machine, mode):
        """Pair by pair: were all open at once, perf would have reads and writes take turns with them."""
        if mode != "all":
            return []
        return [[[want(what, text) for what, text in events.items()] for _, want in self._channels(machine)]
                for events in self.info["pairs"].values()]

    def _channels(self, machine):
        """(key, a function that makes Wants) of each channel that is there."""
        for socket, channel, name, cpu in self.info["boxes"]:
            pmu = machine.pmus.get(name)
            if pmu is None or cpu is None:
                continue
            key = f"{socket}/{channel}"

            yield key, lambda what, text, key=key, pmu=pmu, cpu=cpu: count.want(f"{key}/{what}", pmu, text, cpu)

    def begin(self, mode):
        if mode == programs.MODE:
            self.misses = programs.Misses()

    def extra(self, mode):
        return {programs.MODE: self.misses.programs()} if self.misses else {}

    def close(self):
        if self.misses:
            self.misses.close()
            self.misses = None

    def sockets(self):
        return sorted({socket for socket, *_ in self.info["boxes"]}, key=lambda text: [*map(int, text.split("."))]
                      if text != "?" else [1 << 30])

    def channels(self, socket):
        return sorted((channel for found, channel, *_ in self.info["boxes"] if found == socket), key=int)

    def place(self, socket, channel):
        """{"controller": ..., "node": ...} of a channel, where this tells it from others of its socket."""
        found = [self.info.get("places", {}).get(f"{socket}/{one}", (None, None)) for one in self.channels(socket)]
        own = self.info.get("places", {}).get(f"{socket}/{channel}", (None, None))
        return {word: own[at] for at, word in enumerate(("controller", "node")) if len({one[at] for one in found}) > 1}

    def groups_of(self, socket):
        """[(word, labels, channels), ...] in the order of the screen: nodes of a socket, and controllers with several channels."""
        where = {channel: self.place(socket, channel) for channel in self.channels(socket)}
        found = {}
        for channel, place in sorted(where.items(), key=lambda one: (one[1].get("node", 0), one[1].get("controller", 0), int(one[0]))):
            for words in ("node",), ("node", "controller"):
                if words[-1] in place:
                    labels = tuple((word, place[word]) for word in words if word in place)
                    found.setdefault((words[-1], labels), []).append(channel)
        nodes = [channels for (word, _), channels in found.items() if word == "node"]
        # A node that is one controller is named once.
        return [(word, dict(labels), channels) for (word, labels), channels in found.items()
                if word == "node" or len(channels) > 1 and channels not in nodes]

    def rows(self, frame):
        rows = Rows()
        for socket in self.sockets():
            for channel in self.channels(socket):
                node = {word: number for word, number in self.place(socket, channel).items() if word == "node"}
                self._channel(rows, frame, {"socket": socket, "channel": channel, "pmu": f"uncore_imc_{channel}", **node})
            self._sum(rows, frame, "socket", self.channels(socket), socket=socket)
            for word, labels, channels in self.groups_of(socket):
                self._sum(rows, frame, word, channels, socket=socket, **labels)
        for name, unit in (("read", "B/s"), ("write", "B/s"), ("read_bytes", "B"), ("write_bytes", "B")):
            rows.total(f"total_{name}", [rows.get(f"socket_{name}", socket=socket) for socket in self.sockets()], unit)
        free.rows(self.info.get("free", ()), frame, rows)
        resctrl.rows(frame, rows)
        return rows

    _MEANS = (("page_hit", "cas"), ("read_latency", "inserts"), ("clock", None), ("power_down", "clk"), ("self_refresh", "clk"))

    def planned(self, frame):
        """The pairs take turns in the mode "all"."""
        pairs = len(self.info["pairs"])
        return {f"{word}{name}": 1 / pairs for word in ("", "socket_", "node_", "controller_") for name, _ in self._MEANS
                if name != "clock"} if frame.mode == "all" and pairs > 1 else {}

    def _sum(self, rows, frame, word, channels, socket, **labels):
        """Of a socket or a part of it. A channel without a number is in no sum."""
        labels = {"socket": socket, **labels}
        for name, weight in self._MEANS:
            parts = [rows.get(name, socket=socket, channel=channel) for channel in channels]
            # A channel weighs as much as what its number is of: commands, reads, clocks. All of a pair have one turn.
            weights = [frame.rate(f"{socket}/{channel}/{weight}")[0] or 0 if weight else 1 for channel in channels]
            if any(part.unit for part in parts):
                known = [(part.value, one) for part, one in zip(parts, weights) if part.value is not None]
                rows.add(f"{word}_{name}", ratio(sum(value * one for value, one in known), sum(one for _, one in known)),
                         next(part.unit for part in parts if part.unit), min(part.share for part in parts if part.unit), True, **labels)
        channels = [{"socket": socket, "channel": channel} for channel in channels]
        for name, unit in (("read", "B/s"), ("write", "B/s"), ("read_bytes", "B"), ("write_bytes", "B")):
            rows.total(f"{word}_{name}", [rows.get(name, **one) for one in channels], unit, **labels)
        clocks = [rows.get("clock", **one).value for one in channels]
        moved = [rows.get(f"{word}_{name}", **labels) for name in ("read", "write")]
        known = all(clocks) and all(row.whole for row in moved)
        rows.add(f"{word}_of_peak", sum(row.value for row in moved) / (WIDTH * sum(clocks)) if known else None, "ratio",
                 **labels)

    def _channel(self, rows, frame, labels):
        socket, channel = labels["socket"], labels["channel"]

        def rate(what):
            return frame.rate(f"{socket}/{channel}/{what}")

        # A record of before has no such names.
        lines = self.info.get("lines", LINES)
        for name, what in (("read", "rd"), ("write", "wr")):
            parts = [f"{what}{at or ''}" for at in range(len(lines[what]))]
            values, shares = zip(*map(rate, parts))
            rows.add(name, None if None in values else sum(values) * LINE, "B/s", min(shares), **labels)
            values = [frame.count(f"{socket}/{channel}/{part}") for part in parts]
            rows.add(f"{name}_bytes", None if None in values else sum(values) * LINE, "B", 0 if None in values else 1, **labels)
        clock, share = rate("clk")
        # A record of before has no such number.
        clock = None if clock is None else clock * self.info.get("clocks", 1)
        rows.add("clock", clock, "Hz", share, **labels)
        moved = [rows.get(name, **labels) for name in ("read", "write")]
        known = clock and None not in (moved[0].value, moved[1].value)
        rows.add("of_peak", sum(row.value for row in moved) / (WIDTH * clock) if known else None, "ratio",
                 min(share, *(row.share for row in moved)), **labels)
        if "pages" in self.info["pairs"] and frame.mode in ("all", "pages"):
            activations, share = rate("act")
            found = ratio(activations or 0, rate("cas")[0])
            # Activations ahead of their CAS can outnumber these in a short time.
            rows.add("page_hit", None if found is None else max(0.0, 1 - found), "ratio", share, **labels)
        if "latency" in self.info["pairs"] and frame.mode in ("all", "latency"):
            occupancy, share = rate("occupancy")
            clocks = ratio(occupancy or 0, rate("inserts")[0])
            rows.add("read_latency", None if clocks is None else ratio(clocks, clock), "s", share, **labels)
        if "power" in self.info["pairs"] and frame.mode in ("all", "power"):
            for name, what in (("power_down", "ppd"), ("self_refresh", "refresh")):
                value, share = rate(what)
                rows.add(name, None if value is None else ratio(value, clock), "ratio", share, **labels)

    # Columns behind the bandwidth: row, heading, the same where there is little room, digits. The last ones go first.
    _COLUMNS = (("sum", "sum GB/s", "sum GB/s", 2), ("of_peak", "of peak %", "peak %", 0), ("page_hit", "page hit %", "hit %", 1),
                ("read_latency", "read queue ns", "queue ns", 0),
                ("clock", "clock MHz", "MHz", 0), ("power_down", "power-down %", "down %", 1),
                ("self_refresh", "self-refresh %", "refr. %", 1))

    def head(self, frame, rows, width, height):
        """What stays on the screen, wherever the arrows lead to."""
        yield draw.totals(rows, width)
        for said in filter(None, (free.line(rows), resctrl.line(rows))):
            yield pretty.Text(said, no_wrap=True, overflow="ellipsis")

    def draw(self, frame, rows, width, height):
        """A line for each channel; side by side where these do not fit in the height; or else for each socket."""
        sockets = self.sockets()
        # The programs are what is looked at then; the arrows lead to the channels.
        if frame.mode == programs.MODE:
            height = height and max(0, height - programs.SHOWN - 2)
        room = None if height is None else height - draw.AROUND - bool(free.line(rows)) - bool(resctrl.line(rows))
        parts, fine = [sockets], True
        if room is not None and self._lines(sockets, fine) > room and width >= 2 * HALF and len(sockets) > 1:
            middle = (len(sockets) + 1) // 2
            parts = [sockets[:middle], sockets[middle:]]
        if room is not None and max(self._lines(part, fine) for part in parts) > room:
            fine = False
        brief = room is not None and max(self._lines(part, fine) for part in parts) > room
        if brief:
            parts = [sockets]
        if frame.mode == programs.MODE:
            yield from programs.picture(frame.extra.get(programs.MODE) or {}, width)
        beside = pretty.Table.grid()
        beside.add_row(*(self._table(rows, part, width // len(parts), brief, fine) for part in parts))
        yield beside
        if brief:       # below the sums, where the arrows lead to
            yield pretty.Text("channels: below, by the arrows", "dim")
            yield self._table(rows, sockets, width, False, True)

    def _lines(self, sockets, fine):
        return sum(1 + len(self.channels(socket)) + (len(self.groups_of(socket)) if fine else 0) for socket in sockets)

    def _table(self, rows, sockets, width, brief, fine):
        columns, room = [], width - NAME - 2 * NUMBER
        for name, long, short, digits in self._COLUMNS:
            heading = long if width >= 140 else short
            if name == "sum" or any(row.name == name for row in rows.all):
                room -= len(heading) + 2
                if room < 0:
                    break
                columns.append((name, heading, digits))
        # Where there is no room for two numbers it is their sum.
        numbers = ("read GB/s", "write GB/s") if width >= NAME + 2 * NUMBER else ("sum GB/s",)
        history = rows.history if width >= draw.WIDE else None
        # The columns of numbers take what they take; bars have the rest.
        taken = NAME + 2 * NUMBER + sum(max(len(heading), 6) + 2 for _, heading, _ in columns) + (draw.HISTORY + 12 if history else 0)
        bars = max(0, min(40, (width - taken) // 2 - 2))
        table = pretty.Table(box=None, padding=(0, 1), header_style="bold", collapse_padding=True)
        table.add_column("", min_width=NAME - 2 if numbers[1:] else 8, no_wrap=True)
        for heading in numbers:
            table.add_column(heading, justify="right", no_wrap=True)
            if bars >= 4:
                table.add_column("", width=bars, no_wrap=True)
        for _, heading, _ in columns:
            table.add_column(heading, justify="right", no_wrap=True)
        if history:
            table.add_column("most GB/s", justify="right", no_wrap=True)
            table.add_column("", width=draw.HISTORY, no_wrap=True)

        def line(name, pair, get, style=""):
            cells, use = [pretty.Text(name if numbers[1:] else name.replace("channel", "ch").replace("controller", "mc"), style)], get("of_peak").value
            total = both(pair)
            pair = pair if numbers[1:] else [total]
            # A full bar is what the clock lets through.
            most = sum(row.value or 0 for row in pair) / use if use else 0
            for row, colour in zip(pair, ("green", "magenta")):
                cells.append(pretty.Text(row.text(2), style))
                if bars >= 4:
                    cells.append(draw.bar(row.value, most, bars, "red" if use and use >= draw.NEAR else colour))
            cells += [draw.near(get(column)) if column == "of_peak" else pretty.Text(total.text(2), style) if column == "sum" else pretty.Text(get(column).text(digits) if get(column).unit else "")
                      for column, _, digits in columns]
            if history:
                cells += draw.before(history, pair[0])
            table.add_row(*cells)

        for socket in sockets:
            line(f"socket {socket}", [rows.get(f"socket_{name}", socket=socket) for name in ("read", "write")],
                 lambda name, socket=socket: rows.get(f"socket_{name}", socket=socket), "bold")
            for word, number, labels in self._lines_of(socket, fine) if not brief else ():
                prefix = "" if word == "channel" else f"{word}_"
                line(f"  {word} {number}", [rows.get(f"{prefix}{name}", **labels) for name in ("read", "write")],
                     lambda name, labels=labels, prefix=prefix: rows.get(f"{prefix}{name}", **labels),
                     "" if word == "channel" else "italic")
        return table

    def _lines_of(self, socket, fine):
        """(word, number, labels) of the lines below a socket's: nodes and controllers, each above its channels."""
        groups = self.groups_of(socket) if fine else []
        for channel in sorted(self.channels(socket), key=lambda channel: next(
                (at for at, (*_, channels) in enumerate(groups) if channel in channels), 0)):
            for word, labels, channels in groups:
                if channel == channels[0]:
                    yield word, labels[word], {"socket": socket, **labels}
            yield "channel", channel, {"socket": socket, "channel": channel}
