# SPDX-License-Identifier: GPL-2.0-only
"""What of this host decides how a test ends: the programs that scripts/setup installs, whichever PATH finds.

Guests have Debian's packages, of the versions that choice.py keeps. Everything else is the host's.
"""
import functools
import os
import re
import shutil
import subprocess
from pathlib import Path

from . import cache
from .cache import TREE

DEBIAN_PYTHON = "/usr/bin/python3"      # the one that Debian's packages are for
_PROGRAM = re.compile(r"(?:/usr)?/s?bin/([^/]+)")


def wanted():
    """The names of the packages in scripts/setup."""
    return re.findall(r"^\t([a-z0-9][a-z0-9+.-]+) +(?:start|first|demo|test|docs|all|coverage)\b", (TREE / "scripts/setup").read_text(), re.M)


def _query(*arguments):
    """What dpkg says, line by line; of a package that is not installed nothing."""
    return subprocess.run(["dpkg-query", *arguments], capture_output=True, text=True, check=False).stdout.splitlines()


def packages():
    """{name: version} of the packages that are wanted and of those that they depend on: gcc's own version is gcc-12's."""
    versions, names = {}, wanted()
    for _ in range(2):
        rows = [line.split("\t") for line in _query("-W", "-f", "${Package}\t${Version}\t${Depends}\n", *names)]
        versions.update((name, version) for name, version, _ in rows if version)
        names = sorted({name for *_, depends in rows for name in re.findall(r"(?:^|[,|]) *([a-z0-9][a-z0-9+.-]+)", depends)})
    return versions


def programs():
    """[(name, path, size, time of its last change), ...] of what PATH finds for the packages' programs."""
    names = sorted({found[1] for line in _query("-L", *packages()) if (found := _PROGRAM.fullmatch(line))})
    paths = [(name, path) for name in names if (path := shutil.which(name))]
    return [(name, path, (status := os.stat(path)).st_size, status.st_mtime_ns) for name, path in paths]


def libraries():
    """What Debian's Python finds, by folders that are named by a version: rich-13.3.1.dist-info, also one of pip's."""
    path = subprocess.run([DEBIAN_PYTHON, "-c", "import sys; print(*sys.path[1:], sep='\\n')"], capture_output=True, text=True,
                          check=False).stdout
    return sorted(str(info) for folder in path.splitlines() for info in Path(folder).glob("*.*-info"))


@functools.cache
def key():
    return cache.key_of(repr(packages()), repr(programs()), repr(libraries()))
