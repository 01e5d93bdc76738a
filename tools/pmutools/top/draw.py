# SPDX-License-Identifier: GPL-2.0-only
"""Pieces of pictures, and the frame around a view's."""
import collections
import datetime

from . import pretty, resctrl
from .rows import both

AROUND = 9              # lines around what a view draws
WIDE = 150              # columns of a window that shows what was before, too
HISTORY = 20            # columns of a line of that
_EIGHTHS = " ▏▎▍▌▋▊▉"

# What is little, and what is much: as a map of heat, that also without colours has one order.
HEAT = ("grey50", "blue", "cyan", "green", "yellow", "red")


def bar(value, most, width, style):
    """A bar as long as @value of @most."""
    if not value or not most:
        return pretty.Text(" " * width)
    eighths = max(1, round(min(1.0, value / most) * width * 8))
    return pretty.Text(("█" * (eighths // 8) + (_EIGHTHS[eighths % 8] if eighths % 8 else "")).ljust(width), style)


def heat(value, most):
    """The colour of @value where @most is the hottest."""
    if not value or not most:
        return HEAT[0]
    return HEAT[min(len(HEAT) - 1, 1 + int(value / most * (len(HEAT) - 1.001)))]


SHORT = 0.8             # of a turn: below, others had a part of it
NEAR = 0.8              # of what can be at most: from here on it is marked


def near(row, digits=0):
    """A part of the most that can be, in percent; with a mark where it is near to it."""
    high = (row.value or 0) >= NEAR
    return pretty.Text(row.text(digits) + ("!" if high else ""), "bold red" if high else "")


class History:
    """What bandwidths were: a line of the last intervals, and the most since this began."""
    LENGTH = 600
    _LEVELS = "▁▂▃▄▅▆▇█"

    def __init__(self):
        self.values, self.most = collections.defaultdict(lambda: collections.deque(maxlen=self.LENGTH)), {}
        self.added = 0

    def add(self, rows):
        """Rows that differ by read and write are one line."""
        self.added += 1
        found = collections.defaultdict(list)
        for row in rows.all:
            if row.unit == "B/s" and row.name != resctrl.ROW:
                found[self._key(row)].append(row.value)
        for key, values in found.items():
            value = None if None in values else sum(values)
            self.values[key].append(value)
            if value is not None:
                self.most[key] = max(value, self.most.get(key, 0.0))

    @staticmethod
    def _key(row):
        return row.name.replace("write", "read"), row.labels

    def text(self, row, width):
        """A line of all that is kept of @row and its counterpart. A sign is the most of so many intervals that it fits."""
        values, most = self.values[self._key(row)], self.peak(row)
        if not most or width < 1:
            return ""
        each, signs = -(-len(values) // width), {}
        for number, value in enumerate(values, self.added - len(values)):
            signs[number // each] = max(signs.get(number // each, -1.0), -1.0 if value is None else value)
        return "".join(" " if value < 0 else self._LEVELS[min(7, int(value / most * 8))] for value in signs.values())[-width:]

    def peak(self, row):
        """The most of @row and its counterpart since the start; None if there was nothing."""
        return self.most.get(self._key(row))

    def said(self, row):
        """The same in GB/s."""
        most = self.peak(row)
        return "-" if most is None else f"{most / 1e9:,.2f}"


def before(history, row):
    """Cells of a line of a table: the most, and what was before."""
    return history.said(row), pretty.Text(history.text(row, HISTORY), "dim")


def totals(rows, width, prefix=""):
    """What the machine read and wrote, and the sum, in as many words as there is room for; behind them what was before."""
    pair = [rows.get(f"total_{name}") for name in ("read", "write")]
    read, write, total = (row.text(2) for row in (*pair, both(pair)))
    said = f"{prefix}read {read} GB/s   write {write} GB/s"
    if all(row.whole for row in pair):
        texts = f"{said}   sum {total} GB/s", f"{total} GB/s: read {read} write {write}", f"{total} GB/s"
    else:
        texts = f"{said}   (some counters took turns or are missing: there is no sum)", said, f"no sum: read {read} write {write}", "no sum"
    text = pretty.Text(next((one for one in texts if len(one) <= width), texts[-1]), "bold", no_wrap=True)
    most = f"   most {rows.history.said(pair[0])}   " if rows.history else ""
    if most and rows.history.peak(pair[0]) is not None and len(text) + len(most) < width:
        text.append(most + rows.history.text(pair[0], min(60, width - len(text) - len(most))), "dim")
    return text


def clock(time):
    """The time of day, here, of RFC 3339."""
    try:
        return datetime.datetime.fromisoformat(time.replace("Z", "+00:00")).astimezone().strftime(", %H:%M:%S")
    except ValueError:
        return ""


def head(view, frame, replayed, paused, mode_of, width):
    """Where this is from, and of when."""
    info = view.info
    text = pretty.Text(no_wrap=True, overflow="ellipsis")
    for mark, there in (("RECORD", replayed), ("PAUSED", paused)):
        if there:
            text.append(f"{mark}  ", "bold yellow")
    text.append(f"{info['machine']}\n", "bold")
    text.append(f"Linux {info['kernel']}, driver {info['driver']}\n", "dim")
    when = pretty.Text(f"{view.title}, {frame.seconds:.2f} s from {frame.start:.1f} s on{clock(frame.time)}")
    modes = pretty.Text("   ")
    for mode in view.modes:
        modes.append(f" {mode} ", "reverse" if mode == mode_of else "dim")
    if len(view.modes) == 1:
        modes = pretty.Text()
    elif len(when) + len(modes) > width:      # the one that is looked at is seen all the same
        modes = pretty.Text.assemble(" ", (f" {mode_of} ", "reverse"), (" ←→", "dim"))
        when.truncate(max(0, width - len(modes)), overflow="ellipsis")
    return text.append(when).append(modes)


def turns(rows, planned):
    """What to say of numbers that are of a part of the time; None if none is. @planned: {name of a row: the part that its turn is}"""
    partly = [row for row in rows.all if row.value is not None and not row.whole]
    # pmu-top's own turns are never quite as long as they should be.
    others = [row for row in partly if row.share < SHORT * planned.get(row.name, 1 / SHORT)]
    if not partly:
        return None
    least, most = (f"{limit(row.share for row in others or partly):.0%}" for limit in (min, max))
    said = f"{least if least == most else f'{least} to {most}'} of the time"
    if others:
        return pretty.Text(f"~ counters took turns with others: these numbers are of {said}, and are in no sum", "yellow")
    return pretty.Text(f"~ pmu-top counts these in turn, {said} each", "dim", no_wrap=True, overflow="ellipsis")
