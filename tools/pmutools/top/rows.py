# SPDX-License-Identifier: GPL-2.0-only
"""The numbers of an interval: rows, of which each kind of output makes its own."""
from dataclasses import dataclass, field

# Where a group counts for less of the time it took turns. What is left is perf's own time between the reads.
WHOLE = 0.999

# unit: (its name for people, what to multiply with)
UNITS = {"B/s": ("GB/s", 1e-9), "B": ("GB", 1e-9), "Hz": ("MHz", 1e-6), "s": ("ns", 1e9), "ratio": ("%", 100),
         "1/s": ("M/s", 1e-6), "": ("", 1)}


@dataclass(frozen=True)
class Row:
    name: str
    labels: tuple               # ((label, value), ...)
    value: float                # None: there is none
    unit: str                   # a key of UNITS; of SI, without a prefix
    share: float = 1.0          # the part of the interval that this is of
    total: bool = False         # a sum of others
    more: dict = field(default_factory=dict)    # of many intervals: peak and percentiles

    @property
    def whole(self):
        return self.value is not None and self.share >= WHOLE

    @property
    def identity(self):
        """In one word: read{socket=0,channel=1}"""
        return self.name + (f"{{{','.join('='.join(one) for one in self.labels)}}}" if self.labels else "")

    def text(self, digits=1):
        """For people: "3.2", "~3.2" where it is of a part of the interval, "-" where there is nothing."""
        if self.value is None:
            return "-"
        return f"{'' if self.whole else '~'}{self.value * UNITS[self.unit][1]:,.{digits}f}"


class Rows:
    """Rows by name and labels."""

    def __init__(self):
        self.all, self._index = [], {}
        self.history = None         # a draw.History, where there is one

    def add(self, name, value, unit, share=1.0, total=False, **labels):
        return self._add(Row(name, tuple((label, str(text)) for label, text in labels.items()), value, unit, share or 0.0, total))

    def _add(self, row):
        self.all.append(row)
        self._index.setdefault(row.name, {})[row.labels] = row
        return row

    def get(self, name, **labels):
        """The row that has these labels, and maybe more; one without a value where there is none."""
        labels = tuple((label, str(text)) for label, text in labels.items())
        found = self._index.get(name, {})
        return found.get(labels) or next((row for has, row in found.items() if set(labels) <= set(has)),
                                         Row(name, labels, None, ""))

    def total(self, name, parts, unit, **labels):
        """The sum of rows; without a value if one is missing or took turns: those are of different times."""
        parts = list(parts)
        whole = parts and all(part.whole for part in parts)
        return self._add(Row(name, tuple((label, str(text)) for label, text in labels.items()),
                             sum(part.value for part in parts) if whole else None, unit,
                             min((part.share for part in parts), default=0.0), total=True))


def both(pair):
    """The sum of reads and writes that were counted at the same time."""
    known = None not in (pair[0].value, pair[1].value)
    return Row("sum", (), pair[0].value + pair[1].value if known else None, "B/s", min(row.share for row in pair))


def ratio(above, below):
    return above / below if below else None
