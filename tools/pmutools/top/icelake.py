# SPDX-License-Identifier: GPL-2.0-only
"""What is otherwise on Ice Lake-SP's memory channels. Facts: Documentation/hardware/intel_imc.md, 14."""
MODEL = 106             # of family 6
NAME = "Ice Lake"

CLOCKS = 2              # DCLKs to a count of the fixed counter, which is HCLK

# Of page hits and power; a pseudo-channel each has a queue, so the latency is that of the first.
PAIRS = {
    "pages": {"act": "event=0x1,umask=0xb", "cas": "event=0x4,umask=0x3f"},
    "latency": {"occupancy": "event=0x80", "inserts": "event=0x10,umask=0x1"},
    "power": {"ppd": "event=0x85", "refresh": "event=0x43"},
}


def is_one(model):
    """Of (family, model, ...)"""
    return bool(model) and tuple(model[:2]) == (6, MODEL)


def is_phantom(name):
    """The in-tree driver has three PMUs for each controller, which has two channels."""
    return int(name.rsplit("_", 1)[1]) % 3 == 2
