# SPDX-License-Identifier: GPL-2.0-or-later
"""Machine specs for Arm's mesh networks: one mesh on QEMU's arm64 board.

The model makes nodes out of the description; here only its form is checked.
"""
import os
import re

from models.common.spec import Key, Machine, number, switch

from . import ssdt

MiB = 1 << 20
BASE_STEP = 1 << 32     # from one mesh of a machine to the next
FIRST_INTERRUPT, INTERRUPTS = 192 + 32, 4
FIRMWARE = "/usr/share/qemu-efi-aarch64/QEMU_EFI.fd"


class _Product:
    """hid is its name in ACPI, None: it has none; block_shift the size of the
    frames of one XP and its devices, of which region() is made."""

    def __init__(self, text, hid, block_shift=22, rooted=False):
        self.text = text
        self.hid = hid
        self.rooted = rooted    # firmware says where the root is
        self.block_shift = block_shift


_PRODUCTS = {
    "cmn600": _Product("CMN-600", "ARMHC600", block_shift=20, rooted=True),
    "cmn600ae": _Product("CMN-600AE", "ARMHC600", block_shift=20,
                         rooted=True),
    "cmn650": _Product("CMN-650", "ARMHC650"),
    "ci700": _Product("CI-700", None),
    "cmn700": _Product("CMN-700", "ARMHC700"),
    "cmns3": _Product("CMN S3", "ARMHC003"),
}

_DEVICES = {
    "hnd": "HN-D, with DTC 0", "hnt": "HN-T, with the other DTCs",
    "hnf": "HN-F", "hns": "HN-S", "rni": "RN-I", "rnd": "RN-D",
    "sbsx": "SBSX", "hni": "HN-I", "hnv": "HN-V", "hnp": "HN-P",
    "mtsx": "MTSX", "cxra": "CXRA", "cxha": "CXHA", "cxg": "CXRA with CXHA",
    "ccg": "CCG", "ccgrni": "CCG whose CCLA has an RN-I", "rnf": "RN-F",
    "snf": "SN-F",
}


def _shape(pattern, sentence):
    whole = re.compile(rf"(?:{pattern})(?:\+(?:{pattern}))*")

    def parse(text):
        if not whole.fullmatch(text):
            raise ValueError(sentence)
        return text
    return parse


def _acpi(text):
    if text not in ("on", "off", "two", "odd", "before"):
        raise ValueError("on, off, two, odd or before")
    return text


_PLACE = r"\d+\.\d+\.\d+(?:\.\d+)?"

_KEYS = {
    "mesh": Key(None, "COLUMNSxROWS, up to 14x14; without this, ports, dtc and"
                      " devices it is the product's own", _shape(
        r"\d+x\d+", "COLUMNSxROWS, as in 4x2"), "4x2"),
    "ports": Key(None, "device ports of the XPs: N, and N@X.Y for those that"
                       " differ, joined by +, as in 2+3@1.0", _shape(
        r"\d+(?:@\d+\.\d+)?", "N or N@X.Y, several joined by +"), "2"),
    "dtc": Key(None, "number of DTC domains, 1 to 4", number(1, 4), "1"),
    **{name: Key(None, f"{text}: how many, or X.Y.PORT[.DEVICE] joined by +",
                 _shape(rf"\d+|{_PLACE}", "a number, or X.Y.PORT[.DEVICE],"
                                          " several joined by +"),
                 {"hnd": "1", "hnt": "as many as dtc says"}.get(name, "0"))
       for name, text in _DEVICES.items()},
    "isolated": Key(None, "isolated ports, X.Y.PORT joined by +", _shape(
        r"\d+\.\d+\.\d+", "X.Y.PORT, several joined by +"), "none"),
    "isolation": Key(None, "on: device isolation is configured", switch,
                     "off"),
    "rev": Key(None, "revision code", number(0, 15), "as the product"),
    "multi-dtm": Key(None, "on: a DTM for every two ports of an XP", switch,
                     "as the product"),
    **{f"{channel}-vcs": Key(None, f"virtual channels of {channel.upper()}",
                             number(1, 2), "2 where possible")
       for channel in ("req", "rsp", "snp", "dat")},
    "shared-irq": Key(None, "on: all DTCs have the same interrupt", switch,
                      "off"),
    "graviton5": Key(None, "on: CMN S3 of 10x14 with 4 DTCs, whose domains"
                           " read 0, and a name of its own in ACPI", switch,
                     "off"),
    "ids-by-use": Key(None, "on: node ids go by the ports of an XP that are in"
                            " use", switch, "off"),
    "niden": Key(None, "off: nothing counts", switch, "on"),
    "spniden": Key(None, "off: watchpoints do not see secure flits", switch,
                   "on"),
    "secure-disable": Key(None, "off: they do so without spniden", switch,
                          "on"),
    "carry-delay": Key(None, "ns that a carry takes from a DTM to its DTC",
                       number(0, 10**9), "0"),
    "node": Key(None, "NUMA node, for the device tree", number(0, 63),
                "it does not say"),
    "acpi": Key(None, "on: UEFI firmware and an ACPI table instead of a device"
                      " tree; two: the table has the root's frame as a second"
                      " region, whatever the part; odd: and that is four"
                      " bytes further on; before: and the first"
                      " begins 1 MiB before that", _acpi, "off"),
    "corrupt": Key(None, "how discovery is broken, several joined by +; the"
                         " model names them", _shape(
        r"[a-z-]+", "names joined by +, as in loop+count"), "not at all"),
}


def _is_own(values):
    """The product's own mesh: nothing of it is described."""
    return all(values[key] is None
               for key in ("mesh", "ports", "dtc", *_DEVICES))


def _size(values):
    """(columns, rows, bits that each has in an address)"""
    columns, rows = map(int, (values["mesh"] or "4x2").split("x"))
    return columns, rows, max(2, (max(columns, rows) - 1).bit_length())


def _region(name, values):
    """How many bytes of address space the mesh has."""
    columns, rows, bits = _size(values)
    if _PRODUCTS[name].rooted:
        return 64 * MiB if max(columns, rows) <= 4 else 256 * MiB
    shift = _PRODUCTS[name].block_shift
    end = (columns - 1 << shift + bits | rows - 1 << shift) + (1 << shift)
    return max(256 * MiB, 1 << (end - 1).bit_length())


def _root_node(name, values):
    """Where the root of a CMN-600 is: firmware has to know."""
    place = values["hnd"] or ("0.1.1" if _is_own(values) else None)
    if not place or "." not in place:
        raise ValueError(f"{name} with acpi=on needs hnd=X.Y.PORT, since the"
                         " table says where the root is")
    x, y, port = map(int, place.split(".")[:3])
    shift = _PRODUCTS[name].block_shift
    return y << shift | x << shift + _size(values)[2] | port << 14


def _resources(name, values, index):
    base = BASE_STEP * (index + 1)
    before = MiB if values["acpi"] == "before" else 0
    region = [ssdt.memory(base - before, _region(name, values) + before)]
    if _PRODUCTS[name].rooted:
        region.append(ssdt.memory(base + _root_node(name, values), 1 << 14))
    elif values["acpi"] != "on":
        odd = 4 if values["acpi"] == "odd" else 0
        region.append(ssdt.memory(base + odd, 1 << 16))
    first = FIRST_INTERRUPT + INTERRUPTS * index
    count = values["dtc"] or (2 if _is_own(values) else 1)
    step = 0 if values["shared-irq"] == "on" else 1
    return region + [ssdt.interrupt(first + step * n) for n in range(count)]


def _guest_files(name, values, index):
    if values["acpi"] in (None, "off"):
        return {}
    hid = "AMZN0070" if values["graviton5"] == "on" else _PRODUCTS[name].hid
    mesh = ssdt.device(f"CMN{index}", hid, index,
                       _resources(name, values, index))
    return {ssdt.PATH.format(f"cmn{index}"): ssdt.table(f"CMN{index}", mesh)}


def _firmware(name, values):
    """Only UEFI hands ACPI tables on."""
    if values["acpi"] in (None, "off"):
        return []
    if not _PRODUCTS[name].hid:
        raise ValueError(f"{name} is not known to ACPI: leave out acpi=on")
    if values["node"] is not None:
        raise ValueError("node is for the device tree: with acpi=on the board's"
                         " flash is memory of no node, and kernels then take"
                         " the machine for one node")
    if not os.path.exists(FIRMWARE):
        raise ValueError(f"acpi=on needs {FIRMWARE}, of the package"
                         " qemu-efi-aarch64")
    return ["-bios", FIRMWARE]


def _cmn(name):
    def device_args(values):
        pairs = [f"{key}={value}" for key, value in values.items()
                 if value is not None and key != "acpi"]
        return ["-device", ",".join([name, *pairs]),
                *_firmware(name, values)]

    return Machine(f"{_PRODUCTS[name].text} coherent mesh network", "arm64",
                   "virt,gic-version=3", "cortex-a57", _KEYS, device_args,
                   guest_files=lambda values, index: _guest_files(name, values,
                                                                  index))


MACHINES = {name: _cmn(name) for name in _PRODUCTS}
