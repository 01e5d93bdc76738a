# SPDX-License-Identifier: GPL-2.0-or-later
"""Machine specs with POWER's in-memory collection: catalog and model."""
from pathlib import Path

from models.common.spec import Key, Machine, number
from pmusuite import data
from pmusuite.cache import Error

from . import pnor

_CATALOGS = Path(__file__).parent / "catalogs"


class _Generation:
    """A processor: its machine in QEMU, the catalog of real ones."""

    def __init__(self, text, machine, real):
        self.text = text
        self.machine = machine
        self.real = real


_GENERATIONS = {
    "p9": _Generation("POWER9", "powernv9", data.P9_CATALOG),
    "p10": _Generation("POWER10", "powernv10", data.P10_CATALOG),
}

_KEYS = {
    "chips": Key(1, "number of chips, 1 or 2", number(1, 2)),
    "catalog": Key("small", "counters that firmware finds: small, real or a"
                            " file .dts or .dtb", str),
}


def _real(name):
    path = data.path(name)
    if not path:
        raise Error(f"catalog=real: {data.missing(name)}")
    return path


def _catalogs(name, choice):
    """The flash of a machine fits all processors; a file is for this one."""
    if choice == "small":
        return {pnor.SUB_IDS[other]: _CATALOGS / f"{other}.dts"
                for other in _GENERATIONS}
    if choice == "real":
        return {pnor.SUB_IDS[other]: _real(generation.real)
                for other, generation in _GENERATIONS.items()}
    return {pnor.SUB_IDS[name]: choice}


def _imc(name):
    generation = _GENERATIONS[name]

    def device_args(values):
        flash = pnor.get(_catalogs(name, values["catalog"]))
        return ["-drive", f"if=mtd,format=raw,readonly=on,file={flash}",
                "-device", f"power-imc,generation={name}"]

    # The kernel's watchdog would watch the host: it complains where that stops
    # a CPU for 10 s.
    return Machine(f"{generation.text}: nest, core, thread and trace counters",
                   "ppc64le", generation.machine, None, _KEYS, device_args,
                   append="nowatchdog", sockets="chips")


MACHINES = {generation.machine.replace("powernv", "power"): _imc(name)
            for name, generation in _GENERATIONS.items()}
