# SPDX-License-Identifier: GPL-2.0-only
"""What pmu-top and pmu-check share: the machine's PMUs as sysfs shows them, and counting with perf events.

Nothing here needs root, and nothing depends on which driver serves a PMU: ours or the in-tree one.
"""
import argparse

VERSION = "0.2"


class Help(argparse.RawDescriptionHelpFormatter):
    """Help as help2man wants it, which makes the manual pages."""

    def add_usage(self, usage, actions, groups, prefix="Usage: "):
        super().add_usage(usage, actions, groups, prefix)
