# SPDX-License-Identifier: GPL-2.0-only
"""The devices that have counters of ours, as the buses show them, with a driver or without."""
import re

CHANNELS = {
    "3cb0 3cb1 3cb4 3cb5": "Sandy Bridge-EP", "0eb4 0eb5 0eb0 0eb1 0ef4 0ef5 0ef0 0ef1": "Ivy Bridge-EP/EX",
    "2fb0 2fb1 2fb4 2fb5 2fd0 2fd1 2fd4 2fd5": "Haswell-EP/EX",
    "6fb0 6fb1 6fb4 6fb5 6fd0 6fd1 6fd4 6fd5": "Broadwell-EP/EX/DE", "2042 2046 204a": "Skylake-SP, Cascade Lake-SP",
}
# What is no counter itself, and need not have a driver
BESIDE = {
    **dict.fromkeys(("3ce0", "0e1e", "2f1e", "6f1e", "2014", "3450", "3250"), "UBOX"),
    "3451": "leads to memory channels, Ice Lake", "3251": "leads to memory channels, Sapphire Rapids and later",
    "09a7": "table of counters",
}
# Platform devices, by modalias. The name of an Arm CPU's own PMU is like that of a mesh.
PLATFORM = ((r"^acpi:.*(ARMHC003|ARMHC600|ARMHC650|ARMHC700|AMZN0070):", "mesh"),
            (r"^of:.*Carm,(cmn-600|cmn-650|cmn-700|cmn-s3|ci-700)(C|$)", "mesh"),
            (r"^of:.*Cibm,opal-in-memory-counters(C|$)", "POWER's counters"))


def devices(machine):
    """Who has the hardware: (device, what it is, driver)."""
    ids = {one: part for some, part in CHANNELS.items() for one in some.split()}
    for path in sorted((machine.root / "sys/bus/pci/devices").glob("*")):
        if machine.read(path.relative_to(machine.root) / "vendor") != "0x8086":
            continue
        device = machine.read(path.relative_to(machine.root) / "device").replace("0x", "", 1)
        what = f"memory channel, {ids[device]}" if device in ids else BESIDE.get(device)
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
