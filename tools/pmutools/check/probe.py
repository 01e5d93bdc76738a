# SPDX-License-Identifier: GPL-2.0-only
"""Experiments on the open questions of Documentation/hardware/: what only a real machine can answer.

One for each question that can be asked without harm. None writes a register: they count, and make work of their own. What is
not here, and why, is in NOT_HERE. It is a FAIL if the machine answers against what the drivers go by, OK if as they do; an
ANSWER where they are right either way, or only tell; a SKIP if the machine cannot tell.
"""
from . import probe_cmn, probe_intel_imc, probe_power_imc

_BY_FAMILY = {"intel_imc": probe_intel_imc, "cmn": probe_cmn, "power_imc": probe_power_imc}
PROBES = tuple(one for module in _BY_FAMILY.values() for one in module.PROBES)
NOT_HERE = tuple((family, numbers, why) for family, module in _BY_FAMILY.items() for numbers, why in module.NOT_HERE)
BY_NAME = {one.name: one for one in PROBES}


def listing():
    for one in PROBES:
        yield f"  {one.name} ({one.family} {one.number}, {one.seconds} s): {one.asks}", one.why
    for family, numbers, why in NOT_HERE:
        yield f"  not here: {family} {numbers}", f"{why}."
