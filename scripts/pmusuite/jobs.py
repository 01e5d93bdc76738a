# SPDX-License-Identifier: GPL-2.0-only
"""What scripts/test runs: jobs, each a command that prints KTAP, and the judgement of what it printed."""
import fnmatch
import itertools
import os
import shlex
from dataclasses import dataclass

from . import build, guest, kernel, ktap
from .arch import ARCHES
from .cache import TREE, Error

KUNIT_CONFIGS = "tests/kunit/configs"
TEST_LIBRARY = "tests/guest/lib.sh"
DEFAULTS = {"--arch": "x86_64", "--kernel": "6.1", "--driver": "ours"}
IN_NAME = ("--kernel", "--driver")
KUNIT_TIMEOUT = 900     # seconds: the checkers are slow, more so where CPUs are emulated two at a time
# insmod sleeps while a case runs, for which KUnit allows 300 s.
KUNIT_ARGUMENTS = "sysctl.kernel.hung_task_timeout_secs=360"
LOG_LINES = 25


@dataclass(frozen=True)
class Job:
    name: str
    command: tuple          # from the top of the tree
    guest: bool = False     # the command is scripts/vm


def python(name, directory, *arguments):
    return Job(name, ("env", "PYTHONPATH=scripts", "python3", "-m", "pmusuite.unittests", directory, *arguments))


def scripts():
    yield python("scripts", "tests/scripts")


def check():
    yield Job("check", ("scripts/check", *kernel.STOCK, "kunit"))


def models():
    for arch in ARCHES:
        yield python(f"models/{arch}", "tests/models", arch)


def perf_events():
    yield python("perf_events", "tests/perf_events")


def kunit():
    """A guest for each suite, so that one that crashes takes no other's results with it."""
    for arch in ARCHES.values():
        fragments = [f"{KUNIT_CONFIGS}/{name}.config" for name in ("common", arch.name)]
        copies = ["tests/guest/kunit.sh", TEST_LIBRARY, *fragments]
        for module in sorted(build.modules(arch, kernel.get(arch, "kunit")).glob("*_test.ko")):
            yield Job(f"kunit/{arch.name}/{module.stem}",
                      ("scripts/vm", "--arch", arch.name, "--kernel", "kunit", "--driver", "none",
                       "--timeout", str(KUNIT_TIMEOUT), "--append", KUNIT_ARGUMENTS,
                       "--load", module.stem, *(word for name in copies for word in ("--copy", name)),
                       "--", "sh", "kunit.sh"), guest=True)


def options(line):
    """[("--kernel", ["6.1", "6.12"]), ...] of the line "--kernel '6.1 6.12' ...", as it is given."""
    found = []
    for word in shlex.split(line):
        if word.startswith("--"):
            found.append((word, []))
        elif found and not found[-1][1]:
            found[-1][1].extend(word.split())
        else:
            raise Error(f"'# vm: {line}': '{word}' belongs to no option")
    return found


def expand(line):
    """The guests that a "# vm:" line asks for: the product of its options' values, as [(option, value), ...]."""
    given = options(line)
    names = [name for name, _ in given]
    given = [(name, [value]) for name, value in DEFAULTS.items() if name not in names] + given
    return [list(zip((name for name, _ in given), values))
            for values in itertools.product(*(values or [None] for _, values in given))]


def guest_jobs(name, file, lines):
    """The jobs of a test @file; its "# vm:" @lines may ask for several guests each."""
    rows = [row for line in lines for row in expand(line)]
    if not rows:
        raise Error(f"{file}: no '# vm:' line says which guests it runs in")
    for row in rows:
        named = [dict(row)[option] for option in IN_NAME]
        # What else tells this guest from the file's others.
        named += [value or option for option, value in row if option not in IN_NAME and
                  not all((option, value) in other for other in rows)]
        words = [word for pair in row for word in pair if word is not None]
        yield Job("/".join(["guest", name, *named]),
                  ("scripts/vm", *words, "--copy", TEST_LIBRARY, "--copy", os.path.dirname(file), "--",
                   "sh", f"{name}.sh"), guest=True)


def guests():
    tests = TREE / "tests/guest"
    for path in sorted(set(tests.glob("*/*.sh")) - set(tests.glob("*/lib.sh"))):
        lines = [line.removeprefix("# vm:").strip() for line in path.read_text().splitlines()
                 if line.startswith("# vm:")]
        yield from guest_jobs(str(path.relative_to(tests).with_suffix("")), str(path.relative_to(TREE)), lines)


GROUPS = {"scripts": scripts, "check": check, "models": models, "kunit": kunit,
          "perf_events": perf_events, "guest": guests}


def matches(name, pattern):
    return pattern in name or fnmatch.fnmatch(name, pattern)


def select(patterns):
    """The jobs that match any of @patterns; all without."""
    # Only what is listed has to be built: KUnit's suites are those that the debug kernel's build makes.
    wanted = {pattern.split("/")[0] for pattern in patterns}
    groups = wanted if wanted and wanted <= set(GROUPS) else set(GROUPS)
    jobs = [job for name, group in GROUPS.items() if name in groups for job in group()]
    for pattern in patterns:
        if not any(matches(job.name, pattern) for job in jobs):
            raise Error(f"no job matches '{pattern}'; scripts/test --list lists them")
    return [job for job in jobs if not patterns or any(matches(job.name, pattern) for pattern in patterns)]


def excerpt(log):
    """Of a kernel's log what explains most: from the first complaint on, or the end."""
    lines = log.splitlines()
    first = next((number for number, line in enumerate(lines) if guest.COMPLAINTS.search(line)),
                 max(0, len(lines) - LOG_LINES))
    return lines[first:first + LOG_LINES]


def judge(job, status, output, errors, log=""):
    """The results of a job that ended with @status."""
    results = ktap.results(output)
    lost = job.guest and status in (guest.UNSOUND, guest.TIMEOUT, guest.DIED)
    if lost or status and not any(result.status == ktap.FAILED for result in results):
        results.append(ktap.Result(ktap.FAILED, "guest" if job.guest else "command",
                                   [f"exit status {status}", *errors.splitlines(), *excerpt(log)]))
    return results
