# SPDX-License-Identifier: GPL-2.0-only
"""Metrics: formulas of events, in the format of perf's own tables (tools/perf/pmu-events)."""
import ast
import json
import operator

_OPERATORS = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv}
_TIME = "duration_time"         # seconds that were counted
# What a table's ScaleUnit says: (unit of pmutools.top.rows, what to multiply with).
_UNITS = {"100%": ("ratio", 1), "1MB/s": ("B/s", 1e6), "1clocks": ("", 1)}


class Metric:
    def __init__(self, row):
        self.name, self.text = row["MetricName"], row["BriefDescription"]
        self.unit, self._scale = _UNITS[row["ScaleUnit"]]
        self._tree = ast.parse(row["MetricExpr"], mode="eval").body
        self.events = sorted({node.id for node in ast.walk(self._tree) if isinstance(node, ast.Name)} - {_TIME})

    def value(self, rates):
        """Of {event: number in a second}; None if a number is missing, or if it would be a ratio to 0."""
        try:
            return self._value(self._tree, {**rates, _TIME: 1.0}) * self._scale
        except (KeyError, TypeError, ZeroDivisionError):
            return None

    def _value(self, node, values):
        if isinstance(node, ast.Constant):
            return node.value
        if isinstance(node, ast.Name):
            return values[node.id]
        return _OPERATORS[type(node.op)](self._value(node.left, values), self._value(node.right, values))


def load(path, events):
    """{name: Metric} of a table, those whose events are all among @events."""
    found = map(Metric, json.loads(path.read_text(encoding="utf-8")))
    return {metric.name: metric for metric in found if set(metric.events) <= set(events)}
