# SPDX-License-Identifier: GPL-2.0-only
"""Run Python unit tests; the results on stdout are KTAP, one for each test method.

    python3 -m pmusuite.unittests DIRECTORY|FILE... [--arch ARCH] [-k NAME]...

Of a directory those in its files test*.py. With --arch, those that test models of that architecture; with -k those whose
name has each NAME.
"""
import argparse
import os
import signal
import subprocess
import unittest
from pathlib import Path

from . import arch, cache, specs


LONGEST = 1200      # seconds for a test, also on a busy host: what takes longer has stopped for good


def _too_long(_number, _frame):
    raise TimeoutError(f"it did not end within {LONGEST} s")


class Ktap(unittest.TestResult):
    """A test may fail in several ways (subtests, clean-up) and still has one result."""
    def __init__(self, tests):
        super().__init__()
        self.tests, self.failed, self.problems, self.directive = tests, 0, [], ""
        print(f"KTAP version 1\n1..{len(tests)}", flush=True)

    def startTest(self, test):
        super().startTest(test)
        self.problems, self.directive = [], ""
        signal.signal(signal.SIGALRM, _too_long)
        signal.alarm(LONGEST)

    def stopTest(self, test):
        signal.alarm(0)
        self.failed += bool(self.problems)
        for line in "\n".join(self.problems).splitlines():
            print(f"# {line}")
        # To the parser a failure that was also skipped would be skipped.
        print(f"not ok {self.testsRun} {test.id()}" if self.problems else f"ok {self.testsRun} {test.id()}{self.directive}", flush=True)
        super().stopTest(test)

    def addError(self, test, err):
        if issubclass(err[0], cache.Lost):      # there is nothing to test with
            self.addSkip(test, str(err[1]))
            return
        text = self._exc_info_to_string(err, test)
        self.problems.append(text)
        if not isinstance(test, unittest.TestCase):     # setUpClass: no test starts or stops
            print("\n".join(f"# {line}" for line in text.splitlines()), flush=True)

    addFailure = addError

    def addSubTest(self, test, subtest, err):
        if err:
            if not issubclass(err[0], cache.Lost):
                self.problems.append(f"{subtest}:")
            self.addError(test, err)

    def addSkip(self, test, reason):
        self.directive = f" # SKIP {' '.join(reason.split())}"
        if isinstance(test, unittest.TestCase):
            return
        for one in self.tests:      # setUpClass: none of them starts
            if test.id() == f"setUpClass ({unittest.util.strclass(type(one))})":
                self.startTest(one)
                self.addSkip(one, reason)
                self.stopTest(one)

    def addUnexpectedSuccess(self, test):
        self.problems.append("expected to fail, and did not")


def keep_log(test):
    """Options of scripts/vm for a @test's guest: its kernel's log is kept with the job's, under the test's name."""
    if "PMU_LOGS" not in os.environ:
        return []
    directory = Path(os.environ["PMU_LOGS"], test.id().rsplit(".", 1)[-1])
    directory.mkdir(exist_ok=True)
    return ["--log", directory / "kernel.log"]


def vm(test, *arguments):
    """scripts/vm for a @test, run to its end."""
    done = subprocess.run(cache.bound(["scripts/vm", *keep_log(test), *arguments]), cwd=cache.TREE, capture_output=True,
                          text=True,
                          env={name: value for name, value in os.environ.items() if name != "LD_PRELOAD"})
    if done.returncode == cache.Lost.status:
        raise cache.Lost(done.stderr.strip())
    return done


def cases(suite):
    for test in suite:
        if isinstance(test, unittest.TestSuite):
            yield from cases(test)
        else:
            yield test


def discovered(place):
    """The tests in a directory or file."""
    directory, pattern = os.path.split(place) if place.endswith(".py") else (place, "test*.py")
    # A package's tests import each other by its name, so what it lies in is on the path.
    package = os.path.exists(os.path.join(directory, "__init__.py"))
    top = os.path.dirname(directory) if package else directory
    return unittest.TestLoader().discover(directory, pattern, top_level_dir=top)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("places", nargs="+")
    parser.add_argument("--arch")
    parser.add_argument("-k", default=[], action="append", dest="parts")
    given = parser.parse_args()
    tests = [test for place in given.places for test in cases(discovered(place))]
    tests = [test for test in tests if all(part in test.id() for part in given.parts)]
    if given.arch:
        machine = arch.get(given.arch)
        tests = [test for test in tests if not hasattr(test, "spec") or specs.want(test.spec).arch == machine.name]
    result = Ktap(tests)
    unittest.TestSuite(tests).run(result)
    return bool(result.failed)


if __name__ == "__main__":
    cache.main(main)
