# SPDX-License-Identifier: GPL-2.0-only
"""Scripts of the kernel's source that we use: taken from Debian's source package, once."""
from . import cache, debug_kernel
from .arch import ARCHES

CHECKPATCH = "scripts/checkpatch.pl"
KERNEL_DOC = "scripts/kernel-doc"
KUNIT_PARSER = "tools/testing/kunit/kunit_parser.py"
_MEMBERS = (CHECKPATCH, "scripts/spelling.txt", "scripts/const_structs.checkpatch", KERNEL_DOC, KUNIT_PARSER)


def directory():
    """Where they are, each at its path in the source."""
    arch = next(iter(ARCHES.values()))      # the source is the same for all
    return cache.entry("linux-tools", f"{debug_kernel.version(arch)}-{cache.key_of(*_MEMBERS)}",
                       lambda target: debug_kernel.unpack(arch, target, *_MEMBERS))
