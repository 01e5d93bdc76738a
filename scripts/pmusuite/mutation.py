# SPDX-License-Identifier: GPL-2.0-only
"""Mutations of the tree that tests must notice: patches, each behind a line "Tests: PATTERN... [-k NAME]"."""
import argparse
import os
import re
import shlex
import subprocess
from dataclasses import dataclass
from pathlib import Path

from .cache import TREE, Error

DIRECTORY = TREE / "tests/mutations"
# Failures that scripts/test adds to those of tests: a machine that died is one, a build that failed is none.
ADDED = ("guest", "command", "scripts/test")
DIED = "exit status 99"     # the kernel warned


@dataclass(frozen=True)
class Mutation:
    path: Path
    tests: tuple            # arguments of scripts/test: which jobs must notice

    @property
    def name(self):
        return self.path.stem

    def selection(self):
        """(patterns, name of a test or ""), as jobs.select() takes them"""
        parser = argparse.ArgumentParser(prog=self.path.name)
        parser.add_argument("patterns", nargs="+")
        parser.add_argument("-k", default="", dest="test")
        given = parser.parse_args(self.tests)
        return given.patterns, given.test

    def apply(self, tree, *options):
        """Apply it to @tree; with "--check" only see whether it would.

        The lines that it removes say where, so of those around them the nearest alone have to be as they were. What is
        only added needs all of them.
        """
        context = ["-C1"] if re.search(r"^-(?!-- )", self.path.read_text(), re.M) else []
        # @tree may lie inside another repository, which git must not use.
        done = subprocess.run(["git", "apply", *context, *options, self.path], cwd=tree, text=True, capture_output=True,
                              env={**os.environ, "GIT_CEILING_DIRECTORIES": str(tree.parent)}, check=False)
        if done.returncode:
            raise Error(f"it does not apply, renew it: {done.stderr.strip()}")


def read(path):
    found = re.match(r"Tests: *(\S.*)\n", path.read_text())
    if not found:
        raise Error(f"{path.name}: the first line is not 'Tests: PATTERN... [-k NAME]'")
    return Mutation(path, tuple(shlex.split(found[1])))


def select(patterns):
    """Those whose name contains one of @patterns, all without."""
    every = [read(path) for path in sorted(DIRECTORY.glob("*.patch"))]
    for pattern in patterns:
        if not any(pattern in one.name for one in every):
            raise Error(f"no mutation matches '{pattern}'; scripts/mutate --list lists them")
    return [one for one in every if not patterns or any(pattern in one.name for pattern in patterns)]


def failures(results):
    """{"JOB: TEST": first line of what it said} of what failed in an ElementTree of JUnit's XML."""
    return {f"{case.get('classname')}: {case.get('name')}": failure.get("message")
            for case in results.iter("testcase") if (failure := case.find("failure")) is not None}


def skipped(results):
    """Why nothing was tested, where all in an ElementTree of JUnit's XML was skipped; else None."""
    cases = [*results.iter("testcase")]
    reasons = [found.get("message") for case in cases if (found := case.find("skipped")) is not None]
    return "; ".join(dict.fromkeys(reasons)) if cases and len(reasons) == len(cases) else None


def is_verdict(name, message):
    """Has a test or the kernel noticed the mutation?"""
    return name.rpartition(": ")[2] not in ADDED or message.startswith(DIED)
