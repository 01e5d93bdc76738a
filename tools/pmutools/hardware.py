# SPDX-License-Identifier: GPL-2.0-only
"""The devices that have counters of ours, as the buses show them, with a driver or without."""
import re

from . import xeons

# What is no counter itself, and need not have a driver
BESIDE = {
    **dict.fromkeys(xeons.UBOXES, "UBOX"), "09a7": "table of counters",
    **{one: what for one, what in xeons.FUNCTIONS.items() if what.startswith("leads to ")},
}
# Platform devices, by modalias. The name of an Arm CPU's own PMU is like that of a mesh.
PLATFORM = ((r"^acpi:.*(ARMHC003|ARMHC600|ARMHC650|ARMHC700|AMZN0070):", "mesh"),
            (r"^of:.*Carm,(cmn-600|cmn-650|cmn-700|cmn-s3|ci-700)(C|$)", "mesh"),
            (r"^of:.*Cibm,opal-in-memory-counters(C|$)", "POWER's counters"))


def devices(machine):
    """Who has the hardware: (device, what it is, driver)."""
    for path in sorted((machine.root / "sys/bus/pci/devices").glob("*")):
        if machine.read(path.relative_to(machine.root) / "vendor") != "0x8086":
            continue
        device = machine.read(path.relative_to(machine.root) / "device").replace("0x", "", 1)
        what = BESIDE.get(device) or xeons.FUNCTIONS.get(device)
        if what:
            yield path.name, f"8086:{device} {what}", _driver(path)
    for path in sorted((machine.root / "sys/bus/platform/devices").glob("*")):
        alias = machine.read(path.relative_to(machine.root) / "modalias")
        for pattern, what in PLATFORM:
            if re.search(pattern, alias):
                yield path.name, what, _driver(path)


def is_counter(what):
    """Is a device of devices() counters itself?"""
    return not what.endswith(tuple(set(BESIDE.values())))


def _driver(path):
    link = path / "driver"
    return link.resolve().name if link.exists() else "none"
