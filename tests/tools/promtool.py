# SPDX-License-Identifier: GPL-2.0-only
"""Debian's Prometheus: promtool, which says whether it would take a file, and the server. They are unpacked into the cache, and
not installed."""
import sys

import tree

sys.path.insert(0, str(tree.HERE.parents[1] / "scripts"))

from pmusuite import cache, debian, initrd  # noqa: E402: the path comes first
from pmusuite.arch import ARCHES  # noqa: E402


def _program(name):
    arch = ARCHES["x86_64"]         # the host's
    debs = initrd.program(arch, "prometheus")
    unpacked = cache.entry("promtool", cache.key_of(*(deb.name for deb in debs)), lambda target: debian.unpack(debs, target))
    return unpacked / "usr/bin" / name


def promtool():
    return _program("promtool")


def prometheus():
    return _program("prometheus")
