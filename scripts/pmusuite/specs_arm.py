# SPDX-License-Identifier: GPL-2.0-or-later
"""The machine spec for arm64 without a PMU."""
from .spec import Machine

MACHINES = {
    "virt": Machine("QEMU's board, without an interconnect", "arm64",
                    "virt,gic-version=3", "cortex-a57", {}, lambda values: []),
}
