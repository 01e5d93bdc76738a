# SPDX-License-Identifier: GPL-2.0-only
"""Results of tests, read from KTAP by the kernel's own parser."""
import importlib
import re
import sys
import textwrap
import threading
import time
import types
from dataclasses import dataclass, field

from . import linux_tools

OK, FAILED, SKIPPED = "ok", "FAIL", "skip"
SHOWN = "| "    # a note that begins with it is for people even if nothing failed
RESULT = re.compile(r"(?:not )?ok \d+ (?:- )?([^#]*)")


@dataclass
class Result:
    status: str
    name: str
    notes: list = field(default_factory=list)   # lines: diagnostics, or why it was skipped
    seconds: float = 0      # that the test took, where its line came when it had ended


class Stopwatch:
    """How long each test takes, given the lines of a KTAP document as they come: from the result before to its own."""
    def __init__(self, clock=time.monotonic):
        self.took, self._clock, self._last = [], clock, clock()

    def hear(self, line):
        now = self._clock()
        if match := RESULT.match(line):
            self.took.append((match[1].strip(), now - self._last))
        elif not line.startswith("KTAP version"):
            return
        self._last = now

    def tell(self, results):
        """Put the times into @results, which are in the order of their lines."""
        left = self.took
        for result in results:
            if found := next((number for number, (name, _) in enumerate(left, 1) if name == result.name), None):
                result.seconds = left[found - 1][1]
                left = left[found:]


class _Printer:
    """Stands in for the parser's printer: collects the parser's own complaints, prints nothing."""
    def __init__(self):
        self.errors = []

    def red(self, text):
        return text

    yellow = green = red

    def color_len(self):
        return 0

    def print_with_timestamp(self, line):
        if line.startswith("[ERROR]"):
            self.errors.append(line.removeprefix("[ERROR] Test: "))


_printer = _Printer()
_parsing = threading.Lock()     # the parser's printer is one for all


def _parser():
    sys.modules["kunit_printer"] = types.SimpleNamespace(stdout=_printer)
    path = str((linux_tools.directory() / linux_tools.KUNIT_PARSER).parent)
    if path not in sys.path:
        sys.path.append(path)
    return importlib.import_module("kunit_parser")


def _leaves(parser, test, path=()):
    """(name, test) of every result; a parent only if it failed by itself."""
    for number, child in enumerate(test.subtests, 1):
        promised = f" of {test.expected_count}" if test.expected_count else ""
        name = (*path, child.name or f"result {number}{promised} did not come")
        if child.subtests:
            yield from _leaves(parser, child, name)
        if not child.subtests or child.status == parser.TestStatus.FAILURE and \
                all(grandchild.ok_status() for grandchild in child.subtests):
            yield ".".join(name), child


def _diagnostics(test):
    return [line.removeprefix("# ") for line in textwrap.dedent("\n".join(test.log)).splitlines()]


def _document(parser, text):
    """The results of one KTAP document."""
    status = {parser.TestStatus.SUCCESS: OK, parser.TestStatus.SKIPPED: SKIPPED}
    # The parser does not keep why a test was skipped.
    reasons = {match[4]: match[5].strip() for line in text.splitlines()
               if (match := parser.TEST_RESULT_SKIP.match(line))}
    _printer.errors.clear()
    lines = parser.extract_tap_lines(text.splitlines())
    main = parser.parse_test(lines, 0, [], False)
    results = []
    for name, test in _leaves(parser, main):
        result = Result(status.get(test.status, FAILED), name, _diagnostics(test))
        if result.status == SKIPPED:
            result.notes = [reasons.get(test.name) or "no reason given"]
        results.append(result)
    # Missing results have a line of their own already.
    errors = [error for error in _printer.errors if "missing expected subtest" not in error]
    if main.expected_count is None:
        errors.append("there is no plan, so results may be missing")
    if any(parser.TEST_RESULT.match(line) for line in lines):
        errors.append("there are more results than the plan says")
    if errors:
        results.append(Result(FAILED, "KTAP", errors))
    return results


def results(text):
    """All results in @text, which may hold several KTAP documents one after the other."""
    documents = re.split(r"^(?=KTAP version )", text, flags=re.M)[1:]
    with _parsing:
        parser = _parser()
        found = [result for document in documents for result in _document(parser, document)]
    return found or [Result(FAILED, "KTAP", ["there are no results"])]
