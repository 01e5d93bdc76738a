# SPDX-License-Identifier: GPL-2.0-only
"""Scripts of the kernel's source that we use: taken from Debian's source package, once."""
import functools
import shutil

from . import cache, choice, debian, kernel

CHECKPATCH = "scripts/checkpatch.pl"
KERNEL_DOC = "scripts/kernel-doc"
KUNIT_PARSER = "tools/testing/kunit/kunit_parser.py"
_MEMBERS = (CHECKPATCH, "scripts/spelling.txt", "scripts/const_structs.checkpatch", KERNEL_DOC, KUNIT_PARSER)


def _sources(arch):
    """Any version will do, so the best is one that is here: that of a kernel."""
    found = [f"{fields['Package']}={fields['Version']}" for series in reversed(kernel.STOCK)
             for fields in debian.stanzas(arch, f"linux-source-{series}")]
    return sorted(found, key=lambda package: not debian.is_stored(arch, package))


@functools.cache
def directory():
    """Where they are, each at its path in the source."""
    arch = debian.host_arch()
    chosen = choice.Choice("linux-tools", lambda: _sources(arch), lambda package, _: {"source": [arch, [package]]})
    package, parts = chosen.get()
    top = package.split("=")[0]

    def build(target):
        debian.unpack(debian.download(*parts["source"]), target / ".deb")
        cache.run(["tar", "-xf", target / f".deb/usr/src/{top}.tar.xz", "-C", target, "--strip-components=1",
                   *(f"{top}/{member}" for member in _MEMBERS)], f"unpacking {top}")
        shutil.rmtree(target / ".deb")

    return cache.entry("linux-tools", f"{package.split('=')[1]}-{cache.key_of(*_MEMBERS)}", build)
