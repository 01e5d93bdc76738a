# SPDX-License-Identifier: GPL-2.0-only
"""Who moves the bytes: memory bandwidth monitoring by resctrl's groups, where somebody has mounted it and made groups.

Linux' Documentation/filesystems/resctrl.rst has the files. A control group's numbers include those of the monitor groups
in it, so these are taken away from it: each task is in one number.
"""
import time
from pathlib import Path

from ..count import Reading
from ..files import printable

KEY = "resctrl/"
ROW = "group"               # of each group and cache. Others make and remove them, so none is kept for long
ROOT, FILE = "sys/fs/resctrl", "mbm_total_bytes"
NOT_GROUPS = ("info", "mon_data", "mon_groups")
REST = "(the rest)"         # what is in no group that somebody has made
SHOWN = 6


def _directories(path):
    try:
        return sorted(one for one in path.iterdir() if one.is_dir())
    except OSError:
        return []


def _bytes(group):
    """{L3 cache: bytes since the group is there} of a group's directory; without those that say "Unavailable"."""
    found = {}
    for domain in _directories(group / "mon_data"):
        try:
            found[domain.name.rpartition("_")[2]] = int((domain / FILE).read_text())
        except (OSError, ValueError):
            pass
    return found


def _name(directory):
    """As text. Bytes that are none are shown as such, so that two groups stay two."""
    return printable(directory.name.encode(errors="surrogateescape").decode(errors="backslashreplace"))


class Groups:
    def __init__(self, machine):
        self.root = Path(machine.root) / ROOT
        self.last, self.moment = {}, 0
        self.since_last()

    def read(self):
        """{(group, L3 cache): bytes}"""
        found = {}
        for control in [self.root, *(one for one in _directories(self.root) if one.name not in NOT_GROUPS)]:
            name = REST if control == self.root else _name(control)
            own = _bytes(control)
            for monitor in _directories(control / "mon_groups"):
                parts = _bytes(monitor)
                label = _name(monitor) if control == self.root else f"{name}/{_name(monitor)}"
                found |= {(label, cache): value for cache, value in parts.items()}
                # Without one part the rest is not known.
                own = {cache: value - parts[cache] for cache, value in own.items() if cache in parts}
            found |= {(name, cache): value for cache, value in own.items()}
        return found

    def since_last(self):
        """{key of a frame: Reading}; a group that is new, or was made anew, has none."""
        if not self.root.is_dir():
            return {}
        now, moment = self.read(), time.monotonic_ns()
        passed = moment - self.moment
        counts = {f"{KEY}{cache}/{group}": Reading(value - self.last[group, cache], passed, passed)
                  for (group, cache), value in now.items() if value >= self.last.get((group, cache), value + 1)}
        self.last, self.moment = now, moment
        return counts


def rows(frame, rows):
    for key in frame.counts:
        if key.startswith(KEY):
            cache, _, group = key.removeprefix(KEY).partition("/")
            value, share = frame.rate(key)
            rows.add(ROW, value, "B/s", share, group=group, cache=cache)
            rows.add(f"{ROW}_bytes", frame.count(key), "B", group=group, cache=cache)


def line(rows):
    """The groups that move most, for people; "" if nobody has made one."""
    found = {}
    for row in rows.all:
        if row.name == ROW and row.value is not None:
            labels = dict(row.labels)
            found.setdefault(labels["group"], {})[labels["cache"]] = row.value
    if not set(found) - {REST}:
        return ""
    # What has no number of one cache has none of all.
    caches = {cache for values in found.values() for cache in values}
    sums = {group: sum(values.values()) if values.keys() == caches else None for group, values in found.items()}
    most = sorted(sums.items(), key=lambda one: -(one[1] or 0.0))
    said = ", ".join(f"{name} " + ("-" if value is None else f"{value / 1e9:,.2f}") for name, value in most[:SHOWN])
    return f"by resctrl's groups: {said}{' ...' if most[SHOWN:] else ''} GB/s"
