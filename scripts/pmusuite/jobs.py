# SPDX-License-Identifier: GPL-2.0-only
"""What scripts/test runs: jobs, each of which prints KTAP, and the judgement of what it printed."""
import ast
import dataclasses
import fnmatch
import functools
import itertools
import os
import re
import shlex
from dataclasses import dataclass, field
from pathlib import Path

from . import build, cache, guest, host, kernel, ktap, mutation, options, pages as page_files
from .arch import ARCHES
from .cache import TREE, Error
from .guest import Guest

KUNIT = "tests/kunit"
KUNIT_CONFIGS = f"{KUNIT}/configs"
TEST_LIBRARY = "tests/guest/lib.sh"
# What files of several PMUs share; each names what it takes.
SHARED = ("tests/guest/rights.sh", "tests/guest/check.sh", "tests/guest/top.sh", "tests/guest/screen.py",
          "tests/guest/boot.sh", "tests/guest/ledger.sh", "tests/guest/faults.sh",
          "tests/guest/allocations.sh", "tests/guest/fuzz.sh", "tests/guest/at_once.sh", "tests/guest/answers.sh")
DEFAULTS = {"--arch": "x86_64", "--kernel": "6.1", "--driver": "ours"}
IN_NAME = ("--kernel", "--driver")
KUNIT_TIMEOUT = 900     # seconds: the checkers are slow, more so where CPUs are emulated two at a time
# insmod sleeps while a case runs, for which KUnit allows 300 s.
KUNIT_ARGUMENTS = "sysctl.kernel.hung_task_timeout_secs=360"
# What the suites of an architecture need, which share a guest: CPUs that go offline, as x86's first cannot, and a
# core beside the one that stays.
KUNIT_MACHINES = {"x86_64": {"models": ("snbep,sockets=2",), "cpus": 4, "nodes": 2}, "arm64": {"cpus": 2},
                  "ppc64le": {"cpus": 4}}
CORE_ARCH = "x86_64"    # where all cases of the core's run, and fastest
# How long jobs take, roughly, with two CPUs and two at a time, for a machine where none has run yet.
SECONDS = {"scripts": 60, "check/modules": 5, "check/all-modules": 870, "check/style": 90, "check/docs": 10, "differences": 390,
           "tools/quick": 60, "tools/slow": 240,
           "perf_events": 210, "kexec": 330, "packages": 60, "kunit": 30, "debug": 80, "kernels/packages": 300,
           "mutations": 30}
SECONDS_OF_GUEST = 25
LOG_LINES = 25
TURNS = 16              # at most in one guest
# Groups of guests that neither "make test" nor "make test-all" has.
APART = ("soak", "hostile", "kernels")
PROGRAM = re.compile(r"scripts/[\w.]+")


@functools.cache
def closure(*files):
    """The files of the tree that the Python @files import or name as a program of scripts/, and those of these, and so on."""
    found = list(files)
    for name in found:      # which grows
        if not name.endswith(".py") and b"python3" not in (TREE / name).read_bytes().partition(b"\n")[0]:
            continue
        here = os.path.dirname(name)
        for node in ast.walk(ast.parse((TREE / name).read_text())):
            imported = [one.name for one in getattr(node, "names", ())] if isinstance(node, (ast.Import, ast.ImportFrom)) else []
            module = getattr(node, "module", None)
            if isinstance(node, ast.ImportFrom):
                imported = [f"{module}.{one}" for one in imported] + [module] if module else imported
            places = [f"{folder}/{one.replace('.', '/')}.py" for one in imported for folder in (here, "scripts")]
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and PROGRAM.fullmatch(node.value):
                places = [node.value]
            found += [place for place in dict.fromkeys(places) if place not in found and (TREE / place).is_file()]
    return tuple(found)


# The scripts know the machines of all PMUs.
MACHINES = tuple(str(path.relative_to(TREE)) for path in sorted((TREE / "tests/models").rglob("*.py"))
                 if not path.name.startswith("test_"))
# What starts a guest, and what reads its results.
SCRIPTS = (*closure("scripts/vm", "scripts/pmusuite/ktap.py", "scripts/pmusuite/turns.py"), *MACHINES)
# What every guest's outcome depends on; a PMU's own folders come to that.
MODEL_SOURCES = ("tests/models/Makefile", "tests/models/prepare-headers", "tests/models/common")
GUEST_SOURCES = ("Kbuild", "Makefile", "include", "drivers/core", *SCRIPTS, "tests/guest/init", TEST_LIBRARY, *MODEL_SOURCES,
                 *(str(path.relative_to(TREE)) for pattern in ("*.[ch]", "*/*.[ch]")
                   for path in sorted(build.GUEST_PROGRAMS.glob(pattern))))


# What any guest may have; a job that looks at files of the tree itself, as checks of the text do, depends on ALL of it.
EVERYTHING = (*GUEST_SOURCES, "drivers", "tests/guest", "tests/models", "tests/kunit", "tools", guest.PMU_DRIVER)
ALL = (".",)


@dataclass(frozen=True)
class Job:
    name: str
    command: tuple = ()         # from the top of the tree, or None: it is a guest
    guest: Guest = None
    sources: tuple = ()         # files and folders that its outcome depends on
    tests: tuple = ()           # names of its tests, as far as they are known before it runs
    select: str = ""            # run those tests alone whose name has this
    alone: bool = False         # it shares its guest with no other
    keep: bool = True           # what it depends on is here; else a pass is not kept for the next run
    every_change: bool = field(default=True, repr=False)    # "make test" has it; else "make test-all" and what is apart


def _module(path):
    """The name by which Python's results call the file @path."""
    parts, folder = [Path(path).stem], Path(path).parent
    while (TREE / folder / "__init__.py").exists():
        parts, folder = [folder.name, *parts], folder.parent
    return ".".join(parts)


def python_tests(paths, beside=()):
    """The tests in the files @paths, by the names that results have; a class has those of its bases, here or in files @beside."""
    classes = {}        # (name of a file without ".py", name): what it is derived from, its own tests
    for path in (*paths, *beside):
        own = []
        for found in re.finditer(r"(?m)^class (\w+)(?:\((.*)\))?:|^    def (test_\w+)", (TREE / path).read_text()):
            if found[1]:
                own = []
                classes[Path(path).stem, found[1]] = (re.findall(r"[\w.]+", found[2] or ""), own)
            else:
                own.append(found[3])

    def tests(file, name):
        bases, own = classes.get((file, name)) or next((known for key, known in classes.items() if key[1] == name), ((), ()))
        yield from own
        for base in bases:
            *_, there, base = (file, *base.split("."))
            if (there, base) != (file, name):
                yield from tests(there, base)

    return tuple(f"{_module(path)}.{name}.{test}" for path in paths for file, name in classes if file == Path(path).stem
                 for test in tests(file, name))


def python(name, *places, arguments=(), sources, interpreter="python3", every_change=False):
    """A job of Python unit tests in a folder or in files; @sources are of the tree, or those of the tests."""
    own = [source for source in sources if source.startswith(places[0])] or places
    files = [[path for path in cache.tree_files(*where) if path.endswith(".py")] for where in (own, [str(Path(places[0]).parent)])]
    return Job(name, ("env", "PYTHONPATH=scripts", interpreter, "-m", "pmusuite.unittests", *places, *arguments),
               sources=(*closure("scripts/pmusuite/unittests.py", *files[0]), *MACHINES, *sources), every_change=every_change,
               tests=python_tests(files[0], [path for path in files[1] if places[0].endswith(".py") and path not in files[0]]))


def in_two(folder, sources, **more):
    """Two jobs of the tests in a folder: "make test" leaves out the files with a line "# all: REASON"."""
    files = sorted(str(path.relative_to(TREE)) for path in (TREE / "tests" / folder).glob("test_*.py"))
    late = [path for path in files if lines((TREE / path).read_text(), "all")]
    for name, mine in ((f"{folder}/quick", [path for path in files if path not in late]), (f"{folder}/slow", late)):
        yield python(name, *mine, every_change=mine is not late, sources=sources, **more)


def scripts():
    """They read ALL: of quick test_data.py looks through all code, and test_runner.py, test_campaign.py and test_mutation.py ask
    for jobs, which are made of guests' tests, suites and pages; of slow test_kept.py copies the tree."""
    yield from in_two("scripts", ALL)


def check():
    for part in ("style", "docs"):
        yield Job(f"check/{part}", ("scripts/check", part), sources=ALL)
    compiled = ("Kbuild", "Kconfig", "Makefile", "drivers", "include", KUNIT, *closure("scripts/check"))
    for part in ("modules", "all-modules"):
        yield Job(f"check/{part}", ("scripts/check", part), sources=compiled, every_change=part == "modules")


def models():
    for arch in ARCHES.values():
        yield python(f"models/{arch.name}", "tests/models", arguments=("--arch", arch.name), every_change=True,
                     sources=(*MODEL_SOURCES, f"tests/models/{arch.pmu}"))


def tools():
    yield from in_two("tools", ("tools", "tests/tools", "Makefile", "include/pmu/version.h", "Documentation/tools",
                                "scripts/packaging/pmu-top.service"), interpreter=host.DEBIAN_PYTHON)


def guest_sources(*pmus):
    """What the guests of @pmus depend on."""
    return (*GUEST_SOURCES, *(f"{folder}/{pmu}" for pmu in pmus for folder in ("drivers", "tests/models")))


def perf_events():
    yield python("perf_events", "tests/perf_events", sources=("tests/perf_events", *guest_sources("power_imc")))


def differences():
    yield python("differences", "tests/differences",
                 sources=("Kbuild", "Makefile", "drivers", "include", "tests/differences"))


def pages(group="pages"):
    """The pages whose commands are run, a job each; one with a line "<!-- kernels: REASON -->" is kernels'."""
    for name in page_files.names():
        page = name.removeprefix("Documentation/").removesuffix(".md")
        apart = "\n<!-- kernels: " in (TREE / name).read_text()
        if apart == (group == "kernels"):
            yield Job(f"kernels/pages/{page}" if apart else f"pages/{page}", ("scripts/pages", name), every_change=False,
                      sources=(*EVERYTHING, *closure("scripts/pages"), name))


def kexec():
    yield python("kexec", "tests/kexec", sources=("tests/kexec", *guest_sources("intel_imc", "power_imc")))


def packages_on_demand():
    """A job for each class of tests: all of them together take longer than a job may. None is kept, since they also ask Debian
    for the headers of today."""
    place = "tests/packages/everything.py"
    tests = python("kernels/packages", place, sources=ALL).tests
    for name in dict.fromkeys(test.split(".")[1] for test in tests):
        mine = f"everything.{name}."
        yield dataclasses.replace(python(f"kernels/packages/{name}", place, arguments=("-k", mine), sources=ALL), keep=False,
                                  tests=tuple(test for test in tests if test.startswith(mine)))


def packages():
    """What is made of all of the tree, and what only of these parts of it."""
    yield python("packages/tree", "tests/packages/test_tree.py", sources=ALL)
    yield python("packages/made", "tests/packages/test_packages.py",
                 sources=("Kbuild", "Makefile", "COPYING", "README.md", "CHANGELOG.md", "drivers", "include", "tools", "Documentation",
                          "scripts/conftest.sh", "scripts/packaging", "tests/packages"))


def suites(arch):
    """The KUnit modules for @arch: the core's and its PMU's."""
    text = (TREE / KUNIT / "Kbuild").read_text()
    return [name for name in re.findall(r"\+= *((?:\w+\.o *)+)$", text, re.M) for name in re.findall(r"\w+", name)
            if name.endswith("_test") and name.startswith(("pmu_core_", f"{arch.pmu}_"))]


def kunit_cases(folder):
    """The names of the cases in a folder of suites."""
    for path in (TREE / KUNIT / folder).glob("*.c"):
        yield from re.findall(r"KUNIT_CASE\w*\((\w+)", path.read_text())


def kunit(group="kunit"):
    """A turn in a guest for each suite: on the stock kernel, and on the debug kernel, whose checkers look on. The core's, which
    is the same code everywhere, is soak's but on one architecture."""
    for arch, debug in itertools.product(ARCHES.values(), (False, True)):
        checked = [f"{KUNIT_CONFIGS}/{name}.config" for name in ("common", arch.name)] if debug else []
        shown = ["tests/guest/kunit.sh", TEST_LIBRARY, *checked]
        for module in suites(arch):
            folder = "core" if module.startswith("pmu_core_") else arch.pmu
            name = f"{'debug' if debug else 'kunit'}/{arch.name}/{module}"
            if folder == "core" and arch.name != CORE_ARCH:
                name = f"soak/{name}"
            if not name.startswith(group):
                continue
            yield Job(name, guest=Guest(
                arch=arch, kernel="kunit" if debug else kernel.STOCK[-1], driver="none", timeout=KUNIT_TIMEOUT,
                append=KUNIT_ARGUMENTS, modules=(module,), copies=tuple(shown),
                command=("sh", "kunit.sh", *(["debug"] if debug else [])), **KUNIT_MACHINES[arch.name]),
                sources=(*GUEST_SOURCES, f"drivers/{arch.pmu}", f"tests/models/{arch.pmu}", *shown,
                         f"{KUNIT}/Kbuild", f"{KUNIT}/perf_open.h", f"{KUNIT}/stock", f"{KUNIT}/{folder}"),
                tests=tuple(kunit_cases(folder)), every_change=not debug)


def lines(text, word):
    """What comes behind "# WORD:" at the start of a line."""
    return re.findall(rf"^# {word}: *(.*)$", text, re.M)


def words_of(line):
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
    given = words_of(line)
    names = [name for name, _ in given]
    given = [(name, [value]) for name, value in DEFAULTS.items() if name not in names] + given
    return [list(zip((name for name, _ in given), values))
            for values in itertools.product(*(values or [None] for _, values in given))]


def mentioned(text, files):
    """Those of @files, {path: as what it is named}, that @text names, or one that it names, and so on."""
    found = []
    while more := [path for path, name in files.items() if path not in found and re.search(rf"\b{re.escape(name)}\b", text)]:
        found += more
        text = "".join((TREE / path).read_text() for path in more)
    return found


def guest_jobs(name, file, text, group="guest"):
    """The @group's jobs of a test @file with @text, whose "# vm:" lines may ask for several guests each.

    "make test" has the guests of a "# vm:" line, "make test-all" also those of an "# all vm:" line. The guests of a
    "# soak vm:" line are soak's, and so are all of a file with a "# soak:" line. So it is with "hostile" and "kernels".
    """
    usual = next((of for of in APART if lines(text, of)), "guest")
    asked = [(of, word == "vm", row) for word, of in (("vm", usual), ("all vm", usual), *((f"{of} vm", of) for of in APART))
             for line in lines(text, word) for row in expand(line)]
    rows = [row for _, _, row in asked]
    if not rows:
        raise Error(f"{file}: no '# vm:' line says which guests it runs in")
    tests = tuple(re.findall(r"^test_(\w+)\(\) \{$", text, re.M))
    folder = os.path.dirname(file)
    pmu = os.path.basename(folder)
    # What the files of the folder share.
    helpers = [f"{folder}/{path.name}" for path in sorted((TREE / folder).glob("*"))
               if path.name == "lib.sh" or path.suffix != ".sh"]
    said = "".join([text, *((TREE / path).read_text() for path in helpers if path.endswith(".sh"))])
    others = {f"{folder}/{path.name}": f"{pmu}/{path.name}" for path in sorted((TREE / folder).glob("*.sh"))
              if path.name != "lib.sh"}
    shared = mentioned(said, {path: os.path.basename(path) for path in SHARED} | others)
    for every_change, row in ((first, row) for of, first, row in asked if of == group):
        named = [dict(row)[option] for option in IN_NAME]
        # What else tells this guest from the file's others with that kernel and driver.
        alike = [other for other in rows if all(dict(other)[option] == dict(row)[option] for option in IN_NAME)]
        named += [value or option for option, value in row if not all((option, value) in other for other in alike)]
        words = [word for pair in row for word in pair if word is not None]
        copies = [word for copy in (TEST_LIBRARY, *SHARED, folder) for word in ("--copy", copy)]
        found = options.parser().parse_args([*words, *copies])
        yield Job("/".join([group, name, *named]), guest=options.guest(found, ("sh", f"{name}.sh")),
                  sources=(*GUEST_SOURCES, f"drivers/{pmu}", f"tests/models/{pmu}", file, *shared, *helpers,
                           *(["tools"] if found.tools else []),
                           *([guest.PMU_DRIVER] if found.udev else []),
                           *(["tests/races"] if found.races else []),
                           *(["tests/kunit/configs"] if found.kernel == "kunit" else [])),
                  tests=tests, alone=bool(lines(text, "fresh")), every_change=every_change)


def guests(group="guest"):
    """The jobs of all test files; "soak" are those that take long, or depend on how busy the host is, and "hostile" those
    that try to break the drivers by everything that can be made to fail."""
    tests = TREE / "tests/guest"
    for path in sorted(set(tests.glob("*/*.sh")) - set(tests.glob("*/lib.sh"))):
        yield from guest_jobs(str(path.relative_to(tests).with_suffix("")), str(path.relative_to(TREE)), path.read_text(), group)


def soak():
    yield from guests("soak")
    yield from kunit("soak")


def hostile():
    yield from guests("hostile")


def kernels():
    """The guests of "make test-all" with our driver and its newest stock kernel, on the kernels that it does not use;
    packages; and what files and pages ask for."""
    yield Job("kernels/check", ("scripts/check", "kernels"), sources=ALL, every_change=False)
    yield from packages_on_demand()
    yield python("kernels/upstream", "tests/upstream",
                 sources=("tests/upstream", "Documentation/upstream", *guest_sources("intel_imc", "cmn", "power_imc")))
    for job in guests():
        if job.guest.kernel == kernel.STOCK[-1] and job.guest.driver != "in-tree":
            for series in kernel.others(job.guest.arch):
                _, *words = [series if word == kernel.STOCK[-1] else word for word in job.name.split("/")]
                yield dataclasses.replace(job, name="/".join(["kernels", *words]),
                                          guest=dataclasses.replace(job.guest, kernel=series))
    yield from guests("kernels")
    yield from pages("kernels")


def mutations():
    """Each of tests/mutations: the tests that it names have to notice."""
    for one in mutation.select([]):
        of = select(*one.selection())
        yield Job(f"mutations/{one.name}", ("scripts/mutate", one.name), tests=(one.name,), every_change=False,
                  sources=(*sorted({*closure("scripts/mutate", "scripts/test"), *(source for job in of for source in job.sources)}),
                           str(one.path.relative_to(TREE))))


GROUPS = {"scripts": scripts, "check": check, "differences": differences, "tools": tools, "models": models, "kunit": kunit,
          "debug": lambda: kunit("debug"), "perf_events": perf_events, "pages": pages, "kexec": kexec, "packages": packages, "guest": guests, "soak": soak,
          "hostile": hostile, "kernels": kernels, "mutations": mutations}
ON_DEMAND = (*APART, "mutations")   # not among all jobs, only where a pattern names the group


@functools.cache
def _of_group(name):
    """Its jobs, as the tree is when somebody asks first: to look through all test files takes a second."""
    return tuple(GROUPS[name]())


def matches(name, pattern):
    return pattern in name or fnmatch.fnmatch(name, pattern)


def _selected(job, test):
    """@job with those of its tests alone whose name has @test; None if it knows that there is none."""
    if job.tests and not any(test in name for name in job.tests):
        return None
    of_guest = job.guest
    if of_guest and of_guest.has_suites():
        # KUnit is a part of the debug kernel, and a module for the stock one.
        chosen = f"kunit.filter_glob=*.*{test}*"
        of_guest = dataclasses.replace(of_guest, append=f"{of_guest.append} {chosen}") if of_guest.kernel == "kunit" else \
            dataclasses.replace(of_guest, parameters=(chosen,))
    elif of_guest:
        of_guest = dataclasses.replace(of_guest, command=("env", f"TESTS={test}", *of_guest.command))
    command = job.command and (*job.command, "-k", test) if job.name.split("/")[0] not in ("check", "mutations") else job.command
    return dataclasses.replace(job, guest=of_guest, command=command, select=test)


def select(patterns, test="", names=(), every=True):
    """The jobs that match any of @patterns or have one of @names; without both those of "make test-all", or if not @every
    those of "make test". Of each the tests whose name has @test."""
    wanted = [*patterns, *names]
    groups = [name for name in GROUPS if name not in ON_DEMAND or any(pattern.startswith(name) for pattern in wanted)]
    jobs = [job for name in groups for job in _of_group(name)]
    for pattern in patterns:
        if not any(matches(job.name, pattern) for job in jobs):
            raise Error(f"no job matches '{pattern}'; scripts/test --list lists them")
    for name in set(names) - {job.name for job in jobs}:
        raise Error(f"there is no job {name} any more; scripts/test --list lists them")
    jobs = [job for job in jobs if not wanted and (every or job.every_change) or job.name in names or
            any(matches(job.name, pattern) for pattern in patterns)]
    if test:
        jobs = [found for job in jobs if job.tests or wanted if (found := _selected(job, test))]
        if not jobs:
            raise Error(f"no test of these jobs has '{test}' in its name")
    return jobs


def table():
    """The lines of a table of what "make test" runs, and what "make test-all" runs as well: for each PMU the files of its
    guests, for each other group of jobs what follows in their names."""
    rows = {}
    for job in select([]):
        words = job.name.split("/")
        heading = 2 if job.guest and words[0] == "guest" else 1
        one = words[2] if heading == 2 else "/".join(words[1:]) or words[0]
        rows.setdefault("/".join(words[:heading]), ({}, {}))[not job.every_change][one] = None
    yield from ("| jobs | `make test` | `make test-all`, too |", "|---|---|---|")
    for name, cells in rows.items():
        yield f"| `{name}` | {' | '.join(' '.join(cell) for cell in cells)} |"


def together(jobs):
    """Lists of @jobs that run one after the other: those that can share a guest, in-tree drivers last.

    An in-tree driver leaves registers as it likes; ours must not depend on what it has set up.
    """
    groups = {}
    for job in jobs:
        key = job.name if job.alone or not job.guest else job.guest.machine()
        groups.setdefault(key, []).append(job)
    for group in groups.values():
        group.sort(key=lambda job: bool(job.guest) and job.guest.driver == "in-tree")
        size = -(-len(group) // -(-len(group) // TURNS))
        yield from (group[start:start + size] for start in range(0, len(group), size))


def usual_seconds(job):
    """How long @job takes where nobody has seen it run."""
    names = ("/".join(job.name.split("/")[:parts]) for parts in (3, 2, 1))
    return next((SECONDS[name] for name in names if name in SECONDS), SECONDS_OF_GUEST)


def excerpt(log):
    """The part of a kernel's log that explains most: from the first complaint on, or the end."""
    lines = log.splitlines()
    first = next((number for number, line in enumerate(lines) if guest.COMPLAINTS.search(line)),
                 max(0, len(lines) - LOG_LINES))
    return lines[first:first + LOG_LINES]


def judge(job, status, output, errors, log="", watch=None):
    """The results of a job that ended with @status; @watch: a ktap.Stopwatch that heard its output as it came."""
    results = ktap.results(output)
    if watch:
        watch.tell(results)
    lost = job.guest and status in guest.LOST
    # If only some cases were selected, a suite without any of them has no results.
    if job.select and not status and "KTAP version" not in output:
        return []
    if lost or status and not any(result.status == ktap.FAILED for result in results):
        results.append(ktap.Result(ktap.FAILED, "guest" if job.guest else "command",
                                   [f"exit status {status}", *errors.splitlines(), *excerpt(log)]))
    return results
