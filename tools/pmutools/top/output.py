# SPDX-License-Identifier: GPL-2.0-only
"""What programs read: JSON, CSV, Prometheus' text; text without any layout; and a picture, SVG."""
import csv
import io
import json
import re

from .. import VERSION
from . import pretty, resctrl
from .rows import UNITS, WHOLE, Row

# Of a ratio and of a time the unit in the name: https://prometheus.io/docs/practices/naming/
_GAUGES = {"ratio": "ratio", "s": "seconds", "": ""}
# What a rate is the growth of, which is what Prometheus wants: it makes rates of it for any time.
_COUNTERS = {"B/s": "bytes", "Hz": "cycles", "1/s": ""}
FORGET_S = 300          # the counter of a resctrl group that was removed is kept so long: a scrape is to see the end of it
QUANTILES = {"p50": 0.50, "p95": 0.95, "p99": 0.99}


def as_json(view, frame, rows, **more):
    """One line; a value is null where there is none, share is the part of the interval that it is of."""
    return json.dumps({"view": view.name, **{name: view.info[name] for name in ("machine", "kernel", "driver")},
                       "mode": frame.mode, "time": frame.time, "start": frame.start, "seconds": frame.seconds,
                       "notes": frame.notes, **frame.extra, **more,
                       "rows": [{"name": row.name, **dict(row.labels), "value": row.value, "unit": row.unit,
                                 "share": row.share, **row.more} for row in rows.all]})


class Csv:
    """Rows as lines, or intervals as lines if it is @wide; the first has the heading.

    The columns are those of the first interval. A row that has no place in them, as a resctrl group's where nobody had mounted
    it then, is left out: without its labels it would be anybody's.
    """

    def __init__(self, wide=False):
        self.wide, self.labels = wide, None

    def text(self, frame, rows):
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        when = [frame.time, f"{frame.start:.6f}", f"{frame.seconds:.6f}"]
        if self.wide:
            self._line(writer, when, rows)
        else:
            self._lines(writer, when, rows)
        return out.getvalue()

    def _lines(self, writer, when, rows):
        if self.labels is None:
            self.labels = list(dict.fromkeys(label for row in rows.all for label, _ in row.labels))
            writer.writerow(["time", "start", "seconds", "name", *self.labels, "value", "unit", "share"])
        for row in rows.all:
            labels = dict(row.labels)
            if not labels.keys() <= set(self.labels):
                continue
            writer.writerow([*when, row.name, *(labels.get(label, "") for label in self.labels),
                             _number(row.value), row.unit, f"{row.share:.6f}"])

    def _line(self, writer, when, rows):
        found = {row.identity: _number(row.value) for row in rows.all}
        if self.labels is None:
            self.labels = list(found)
            writer.writerow(["time", "start", "seconds", *self.labels])
        writer.writerow([*when, *(found.get(name, "") for name in self.labels)])


def _number(value):
    return "" if value is None else repr(value)


def _quoted(text):
    return str(text).replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")


def _labelled(name, labels):
    return name + "{" + ",".join(f'{label}="{_quoted(text)}"' for label, text in labels) + "}"


class Metrics:
    """What Prometheus reads: counters, which begin when this begins, and gauges of the last interval.

    Sums are left out: PromQL makes them, and so that a part that is missing for a time costs nothing.
    """

    def __init__(self, view, all_of_it=True):
        """Unless @all_of_it: without the rows that the view has thousands of."""
        self.view, self.left_out = view, () if all_of_it else getattr(view, "many", ())
        self.counters, self.counted, self.gauges = {}, {}, {}       # {family: {labels: value}}
        self.partly = set()                                         # (family, labels) of what did not always count
        self.observed = 0.0
        self.families = {}                                          # {family: (unit, help)}
        self.seen = {}                                              # {labels of a resctrl group: seconds observed}

    def add(self, frame, rows):
        self.gauges = {}
        self.observed += frame.seconds
        self._forget(rows)
        for row in rows.all:
            labels = self._labels(row)
            if row.total or row.name in self.left_out:
                continue
            if row.unit in _COUNTERS:
                self._count(frame, rows, row, labels)
            elif row.unit in _GAUGES and row.value is not None:
                family = self._family(row.name, _GAUGES[row.unit])
                self.gauges.setdefault(family, {})[labels] = row.value
                if not row.whole:
                    metric = (("metric", family), *labels)
                    self.gauges.setdefault("pmu_top_share_ratio", {})[metric] = row.share

    def _labels(self, row):
        return (("view", self.view.name), *row.labels)

    def _forget(self, rows):
        """Resctrl groups that were removed: there is no end of new ones. The counters of all else stay while it is lost."""
        family = self._family(resctrl.ROW, _COUNTERS["B/s"])
        self.seen |= {self._labels(row): self.observed for row in rows.all if row.name == resctrl.ROW}
        for labels in [labels for labels, seen in self.seen.items() if self.observed - seen > FORGET_S]:
            del self.seen[labels], self.counters[family][labels], self.counted[family][labels]
            self.partly.discard((family, labels))

    def _family(self, name, unit):
        family = "_".join(filter(None, ("pmu_top", name, unit if not name.endswith(unit) else "")))
        self.families[family] = unit, self.view.help.get(name, name.replace("_", " "))
        return family

    def _count(self, frame, rows, row, labels):
        family = self._family(row.name, _COUNTERS[row.unit])
        if not row.whole:
            self.partly.add((family, labels))
        exact = rows.get(f"{row.name}_bytes", **dict(row.labels)).value
        amount = exact if exact is not None else (row.value or 0.0) * frame.seconds
        for found, more in (self.counters, amount), (self.counted, frame.seconds * row.share if row.value is not None else 0.0):
            of = found.setdefault(family, {})
            of[labels] = of.get(labels, 0.0) + more

    def text(self, strict=False):
        """In Prometheus' text format; if @strict in OpenMetrics, where a counter's family has no _total in its name."""
        out = []

        def write(family, kind, unit, text, samples):
            total = "_total" if kind == "counter" else ""
            head = family if strict else family + total
            out.append(f"# HELP {head} {text}")
            out.append(f"# TYPE {head} {kind}")
            if strict and unit:
                out.append(f"# UNIT {head} {unit}")
            out.extend(f"{_labelled(family + total, labels)} {value!r}" for labels, value in samples.items())

        info = self.view.info
        write("pmu_top_info", "gauge", "", "what is counted, and by which driver",
              {(("view", self.view.name), ("version", VERSION),
                *((name, info[name]) for name in ("machine", "kernel", "driver"))): 1})
        write("pmu_top_observed_seconds", "counter", "seconds", "seconds since pmu-top began",
              {(("view", self.view.name),): self.observed})
        for family, samples in self.counters.items():
            unit, text = self.families[family]
            write(family, "counter", unit, f"{text}, since pmu-top began", samples)
        # After a month a lost hour is little of the time, and is to be seen in its minute.
        parts = {(("metric", f"{family}_total"), *labels): seconds for family, found in self.counted.items()
                 for labels, seconds in found.items() if (family, labels) in self.partly or seconds < WHOLE * self.observed}
        if parts:
            write("pmu_top_counted_seconds", "counter", "seconds",
                  "seconds in which a counter really counted, where it took turns or was lost", parts)
        for family, samples in self.gauges.items():
            unit, text = self.families.get(family, ("ratio", "part of the last interval that a value is of"))
            write(family, "gauge", unit, text, samples)
        return "\n".join([*out, *(["# EOF"] if strict else [])]) + "\n"


class Summary:
    """What a series of frames comes to: counts of all, and of each row the peak and how it was spread.

    The last one ends with the command. One of less than half of the @interval is in the counts alone: among whole ones its
    rate would weigh as much as theirs, and a moment's is easily the peak.
    """

    def __init__(self, frame_of, interval):
        self.frame_of, self.interval = frame_of, interval
        self.frames, self.short, self.values = 0, 0, {}
        self.sum = None

    def add(self, frame, rows):
        self.frames += 1
        self.sum = self.frame_of(self.sum, frame)
        if frame.seconds < self.interval / 2:
            self.short += 1
            return
        for row in rows.all:
            if row.value is not None:
                self.values.setdefault((row.name, row.labels), []).append(row.value)

    def spread(self, row):
        """{"peak": ..., "p50": ...} of a row's values by intervals; "intervals": their number, where it is less than all."""
        values = sorted(self.values.get((row.name, row.labels), ()))
        # The smallest value that so many are not above.
        found = {"peak": values[-1]} | {name: values[max(0, -int(-part * len(values) // 1) - 1)]
                                        for name, part in QUANTILES.items()} if values else {}
        return found | ({"intervals": len(values)} if len(values) < self.frames else {})

    def rows(self, view):
        rows = view.rows(self.sum)
        rows.all = [Row(**{**row.__dict__, "more": self.spread(row)}) for row in rows.all]
        return rows

    def text(self, rows):
        """Lines for people: of sums, and of what has none."""
        but = f" but {self.short} of less than {self.interval / 2:g} s" if self.short else ""
        yield f"{self.frames} intervals; peak, median, 95 % and 99 % of them{but}:"
        for row in rows.all:
            if row.unit != "B" and (row.total or len(row.labels) <= 1):
                name, factor = UNITS[row.unit]
                said = ", ".join(f"{row.more[one] * factor:,.2f}" for one in ("peak", *QUANTILES) if one in row.more)
                number = row.more.get("intervals", self.frames)
                # A sum has no value where counters took turns, which may be where most happened.
                few = f" (of {number} that have a number)" if number < self.frames - self.short else ""
                yield f"  {row.identity}: {said or '-'} {name}{few}"


def as_text(view, frame, rows):
    """Without rich: no bars and no drawing."""
    out = [view.info["machine"], f"Linux {view.info['kernel']}, driver {view.info['driver']}",
           f"{view.title}, {frame.seconds:.2f} s from {frame.start:.1f} s on"]
    for row in rows.all:
        if row.unit != "B":
            out.append(f"{row.identity:60} {row.text(2):>12} {UNITS[row.unit][0]}".rstrip())
    return "\n".join([*out, *frame.notes]) + "\n"


def svg(renderable, width, title, description):
    console = pretty.Console(record=True, width=width, file=io.StringIO(), force_terminal=True, color_system="truecolor",
                             legacy_windows=False)
    console.print(renderable)
    # Without rich's fonts, which a viewer would fetch from the network: every text has its length in the picture.
    text = re.sub(r"\s*@font-face \{.*?\}", "", console.export_svg(title=title), flags=re.S)
    # For those who cannot see it.
    for name, said in ("desc", description), ("title", title):
        said = said.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
        text = re.sub(r"(<svg [^>]*>)", lambda found: f"{found[1]}\n    <{name}>{said}</{name}>", text, count=1)
    return text
