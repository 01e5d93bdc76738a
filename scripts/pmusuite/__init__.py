# SPDX-License-Identifier: GPL-2.0-only
import sys
from pathlib import Path

# What a PMU's models need of Python (machine specs, tests) lies beside them, in tests/models.
sys.path.append(str(Path(__file__).resolve().parents[2] / "tests"))
