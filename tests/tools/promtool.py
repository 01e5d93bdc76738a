# SPDX-License-Identifier: GPL-2.0-only
"""Debian's promtool, which says whether Prometheus would take a file. It is unpacked into the cache, and not installed."""
import sys

import tree

sys.path.insert(0, str(tree.HERE.parents[1] / "scripts"))

from pmusuite import cache, debian  # noqa: E402: the path comes first


def promtool():
    arch = debian.host_arch()
    package = f"prometheus={debian.newest(arch, '', 'prometheus')['Version']}"
    unpacked = cache.entry("promtool", cache.key_of(package),
                           lambda target: debian.unpack(debian.download(arch, [package]), target))
    return unpacked / "usr/bin/promtool"
