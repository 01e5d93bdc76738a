# SPDX-License-Identifier: GPL-2.0-only
"""What tests of pmu-top share: options, and seconds in which somebody counted."""
import argparse
import io

import tree
from rich.console import Console, Group

from pmutools.count import Reading
from pmutools.top import frames, intel_imc, main

PROGRAM = tree.HERE.parents[1] / "tools/pmu-top"
SECOND = 1_000_000_000
WHEN = "2026-01-02T03:04:05.678Z"


def options(**given):
    return argparse.Namespace(**{"mesh": None, "mode": None, "event": None, "map": None, "replay": None, "record": None, "svg": None,
                                 "prometheus": None, "openmetrics": None, "wide": False, "json": False, "csv": False,
                                 "output": None, "command": [], "series": False, **given})


def frame(counts, mode, share=1.0, **more):
    """A second in which @counts came, in @share of it."""
    return frames.Frame(0.0, 1.0, mode, time=WHEN, counts={key: one if isinstance(one, Reading) else
                                         Reading(one, SECOND, int(SECOND * share)) for key, one in counts.items()}, **more)


def text(view, one, width=100, height=None, paused=False):
    """The picture as text, as it is without a terminal."""
    outputs = main.Outputs(view, options(), None)
    console = Console(width=width, file=io.StringIO(), legacy_windows=False)
    console.print(Group(*outputs.picture(one, view.rows(one), width, height, paused)))
    return console.file.getvalue()


def xeon(test, name="skx"):
    return intel_imc.View.of(tree.machine(test, name), options())


def busy_xeon(view, mode="all"):
    counts = {}
    for number, (socket, channel, *_) in enumerate(view.info["boxes"]):
        key = f"{socket}/{channel}"
        counts |= {f"{key}/rd": 50_000_000 if number == 0 else 0, f"{key}/wr": 1_000_000, f"{key}/clk": 1_200_000_000,
                   f"{key}/cas": Reading(400, SECOND, SECOND // 3), f"{key}/act": Reading(100, SECOND, SECOND // 3),
                   f"{key}/occupancy": Reading(9600, SECOND, SECOND // 3),
                   f"{key}/inserts": Reading(100, SECOND, SECOND // 3),
                   f"{key}/ppd": Reading(100_000_000, SECOND, SECOND // 3), f"{key}/refresh": Reading(0, SECOND, SECOND // 3)}
    return frame(counts, mode)
