# SPDX-License-Identifier: GPL-2.0-only
"""What pmu-check is made of: a look at the machine, tables of checks, a report.

checks.py has what a check is, common.py those of every PMU, a file per family its own.
"""
