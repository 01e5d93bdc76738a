# SPDX-License-Identifier: GPL-2.0-only
"""What programs read: JSON, CSV, Prometheus' text; and a picture, SVG."""
import csv
import io
import json
import re

from rich.console import Console

# Prometheus wants the unit in the name: https://prometheus.io/docs/practices/naming/
_SUFFIX = {"B/s": "bytes_per_second", "B": "bytes", "Hz": "hertz", "s": "seconds", "ratio": "ratio", "1/s": "per_second",
           "": ""}


def as_json(view, frame, rows):
    """One line; a value is null where there is none, share is the part of the interval that it is of."""
    return json.dumps({"view": view.name, **{name: view.info[name] for name in ("machine", "kernel", "driver")},
                       "mode": frame.mode, "start": frame.start, "seconds": frame.seconds, "notes": frame.notes,
                       **frame.extra,
                       "rows": [{"name": row.name, **dict(row.labels), "value": row.value, "unit": row.unit,
                                 "share": row.share} for row in rows.all]})


class Csv:
    """Rows as lines; the first frame has the heading."""

    def __init__(self):
        self.labels = None

    def text(self, frame, rows):
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        if self.labels is None:
            self.labels = list(dict.fromkeys(label for row in rows.all for label, _ in row.labels))
            writer.writerow(["start", "seconds", "name", *self.labels, "value", "unit", "share"])
        for row in rows.all:
            labels = dict(row.labels)
            writer.writerow([f"{frame.start:.6f}", f"{frame.seconds:.6f}", row.name,
                             *(labels.get(label, "") for label in self.labels),
                             "" if row.value is None else repr(row.value), row.unit, f"{row.share:.6f}"])
        return out.getvalue()


def _quoted(text):
    return str(text).replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")


def as_prometheus(view, rows):
    """The text format of https://prometheus.io/docs/instrumenting/exposition_formats/, without values that are not there."""
    out, metrics = [], {}
    for row in rows.all:
        # Bytes of an interval are no counter and no gauge: whoever scrapes has other intervals.
        if row.value is not None and row.unit != "B":
            metrics.setdefault("_".join(filter(None, ("pmu_top", row.name, _SUFFIX[row.unit]))), []).append(row)
    for name, found in metrics.items():
        out.append(f"# TYPE {name} gauge")
        for row in found:
            out.append(f"{name}{{{_labels(view, row)}}} {row.value!r}")
    out.append("# HELP pmu_top_share part of the last interval that a value is of, where counters took turns")
    out.append("# TYPE pmu_top_share gauge")
    for name, found in metrics.items():
        out += [f'pmu_top_share{{metric="{name}",{_labels(view, row)}}} {row.share!r}' for row in found if not row.whole]
    return "\n".join(out) + "\n"


def _labels(view, row):
    return ",".join(f'{label}="{_quoted(text)}"' for label, text in (("view", view.name), *row.labels))


def svg(renderable, width, title):
    console = Console(record=True, width=width, file=io.StringIO(), force_terminal=True, color_system="truecolor",
                      legacy_windows=False)
    console.print(renderable)
    # Without rich's fonts, which a viewer would fetch from the network: every text has its length in the picture.
    return re.sub(r"\s*@font-face \{.*?\}", "", console.export_svg(title=title), flags=re.S)
