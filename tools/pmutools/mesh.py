# SPDX-License-Identifier: GPL-2.0-only
"""The shape of an Arm mesh, from what its driver draws in debugfs.

Ours draws it for people, with all ids; both drivers have a map for programs, where ids follow from places.
Both are for root alone. A mesh here is a dictionary, so that it can be kept with a record:

    {"title": ..., "width": W, "height": H, "xps": [XP, ...]}
    XP: {"x", "y", "id", "dtc": number or None, "ports": {port: {"type", "devices": [{"id", "nodes": [name, ...]}]}}}
"""
import re

from .errors import ToolError

# Of events' texts (type=0x5), the kind of node: as the drawing and the map name it.
KINDS = {0x1: "DN", 0x4: "HN-I", 0x5: "HN-F", 0x6: "XP", 0x7: "SBSX", 0xa: "RN-I", 0xd: "RN-D", 0x10: "MTSX", 0x11: "HN-P",
         0x100: "CXRA", 0x101: "CXHA", 0x103: "CCRA", 0x104: "CCHA", 0x105: "CCLA", 0x106: "CCLA_RNI", 0x200: "HN-S"}
# Types that are counted by another's events: RN-Ds by those of RN-Is, and CCLA_RNIs by CCLAs'.
ALSO = {"RN-I": ("RN-D",), "CCLA": ("CCLA_RNI",)}


def places(name):
    """Where the drivers draw the mesh @name, the better one first."""
    number = name.rsplit("_", 1)[1]
    return f"sys/kernel/debug/cmn_pmu/{name}", f"sys/kernel/debug/arm-cmn/map{'' if number == '0' else '_' + number}"


def of(machine, name):
    """The mesh of a PMU; None where nobody draws it, or not for this user."""
    for place in places(name):
        text = machine.read(place)
        if text:
            return parse(text, f"/{place}")
    return None


def parse(text, source):
    """The mesh that is drawn in @text, in either way; @source is for sentences."""
    try:
        mesh = _drawing(text) if "\ny=" in text else _map(text)
        if len(mesh["xps"]) == mesh["width"] * mesh["height"] > 0:
            return mesh
    except (ValueError, IndexError, KeyError, TypeError):
        pass
    raise ToolError(f"{source} is no drawing of a mesh.",
                    "It has to be a copy of a file in /sys/kernel/debug/cmn_pmu, or of /sys/kernel/debug/arm-cmn/map.")


def _drawing(text):
    xps, row, y = [], [], None
    for line in text.splitlines()[1:]:
        found = re.match(r"y=(\d+)", line)
        if found:
            y, row = int(found[1]), [{"ports": {}} for _ in line.split("|")[1:-1]]
        if "|" not in line or y is None:
            continue
        for x, (xp, cell) in enumerate(zip(row, line.split("|")[1:-1])):
            point = re.match(r"\s*XP (0x\w+)(?: DTC (\d+))?", cell)
            place = re.match(r"\s*p(\d) (\S+)(?: (0x\w+))?", cell)
            if point:
                xp.update(x=x, y=y, id=int(point[1], 16), dtc=int(point[2]) if point[2] else None)
                xps.append(xp)
            elif place:
                port = xp["ports"].setdefault(place[1], {"type": place[2], "devices": []})
                if place[3]:
                    port["devices"].append({"id": int(place[3], 16), "nodes": []})
                xp["port"] = port
            elif cell.strip() and xp["port"]["devices"]:
                xp["port"]["devices"][-1]["nodes"] += cell.split()
    for xp in xps:
        xp.pop("port", None)
    xps.sort(key=lambda xp: (xp["y"], xp["x"]))
    return {"title": text.splitlines()[0], "width": xps[-1]["x"] + 1, "height": xps[-1]["y"] + 1, "xps": xps}


def _map(text):
    rows, row, port = {}, None, None
    for line in text.splitlines():
        label, *cells = line.split("|")
        cells = [cell.strip() for cell in cells[:-1]]
        if cells and cells[0].startswith("XP #"):
            row = [{"x": x, "y": int(label), "dtc": None, "ports": {}} for x in range(len(cells))]
            rows[int(label)] = row
        elif row and cells and cells[0].startswith("DTC"):
            for xp, cell in zip(row, cells):
                xp["dtc"] = int(cell.split()[1]) if cell.split()[1].isdigit() else None
        elif row and re.fullmatch(r"  \d  ", label):
            port = label.strip()
            for xp, cell in zip(row, cells):
                if cell:
                    xp["ports"][port] = {"type": cell, "devices": []}
        elif row and re.fullmatch(r" +\d", label):
            for xp, cell in zip(row, cells):
                # At a port that an XP lacks there can be the number of a neighbour's device.
                if cell and port in xp["ports"]:
                    xp["ports"][port]["devices"].append({"device": int(label), "number": cell})
    xps = [xp for y in sorted(rows) for xp in rows[y]]
    width, height = len(rows[0]), len(rows)
    _give_ids(xps, max(2, (max(width, height) - 1).bit_length()))
    return {"title": "", "width": width, "height": height, "xps": xps}


def _give_ids(xps, bits):
    """X, Y, and 3 bits of port and device: see Documentation/hardware/cmn.md. The map has places alone."""
    for xp in xps:
        xp["id"] = xp["x"] << (3 + bits) | xp["y"] << 3
        device_bits = 1 if any(int(port) > 1 for port in xp["ports"]) else 2
        for number, port in xp["ports"].items():
            port["devices"] = [{"id": xp["id"] | int(number) << device_bits | device["device"],
                                "nodes": [port["type"] + device["number"]]} for device in port["devices"]]


def nodes(mesh, kind):
    """[(XP, node id, its name), ...] of all nodes of a kind."""
    if kind == "XP":
        return [(xp, xp["id"], "XP") for xp in mesh["xps"]]
    kinds = (kind, *ALSO.get(kind, ()))
    found = {}
    for xp in mesh["xps"]:
        for port in xp["ports"].values():
            for device in port["devices"]:
                for name in device["nodes"]:
                    # The map has what is connected: "RN-F_E_E".
                    if name.split("#")[0].split("_E")[0] in kinds:
                        found[device["id"]] = (xp, device["id"], name)
    return list(found.values())
