# SPDX-License-Identifier: GPL-2.0-only
"""The logic of scripts/test: which guests there are, what counts as failed, what the last line says."""
import argparse
import collections
import contextlib
import importlib.machinery
import importlib.util
import io
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import unittest.mock
from pathlib import Path

from pmusuite import arch, cache, guest, jobs, kept, kernel, ktap, linux_tools, unittests

GOOD = "KTAP version 1\n1..2\nok 1 a\nok 2 b\n"
COMMAND = jobs.Job("job", ("true",))
GUEST = jobs.Job("job", ("scripts/vm",), guest=True)


def script(name):
    """A script without .py as a module; its main does not run."""
    loader = importlib.machinery.SourceFileLoader(name, str(cache.TREE / "scripts" / name))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(name, loader))
    with unittest.mock.patch.object(cache, "main"):
        loader.exec_module(module)
    return module


def outcome(results):
    return [(result.status, result.name) for result in results]


class Guests(unittest.TestCase):
    """The jobs of a test file"""

    def jobs(self, *lines, more=""):
        return list(jobs.guest_jobs("cmn/x", "tests/guest/cmn/x.sh", "".join(f"# vm: {line}\n" for line in lines) + more))

    def names(self, *lines):
        return [job.name for job in self.jobs(*lines)]

    def test_one_guest_with_defaults(self):
        job, = self.jobs("--model snbep")
        self.assertEqual(job.name, "guest/cmn/x/6.1/ours")
        self.assertEqual(job.guest, guest.Guest(
            arch=arch.get("x86_64"), kernel="6.1", driver="ours", models=("snbep",),
            copies=("tests/guest/lib.sh", *jobs.SHARED, "tests/guest/cmn"), command=("sh", "cmn/x.sh")))

    def test_lists_are_multiplied(self):
        self.assertEqual(self.names("--kernel '6.1 6.12' --driver 'ours in-tree'"),
                         ["guest/cmn/x/6.1/ours", "guest/cmn/x/6.1/in-tree",
                          "guest/cmn/x/6.12/ours", "guest/cmn/x/6.12/in-tree"])

    def test_what_differs_is_in_the_name(self):
        self.assertEqual(self.names("--kernel '6.1 6.12' --cpus 4", "--param m.p=1 --cpus 4"),
                         ["guest/cmn/x/6.1/ours", "guest/cmn/x/6.12/ours", "guest/cmn/x/6.1/ours/m.p=1"])
        self.assertEqual(self.names("--model 'snbep ivbep'"),
                         ["guest/cmn/x/6.1/ours/snbep", "guest/cmn/x/6.1/ours/ivbep"])

    def test_options_without_a_value(self):
        job, = self.jobs("--allow-warn --cpus 2")
        self.assertTrue(job.guest.allow_warn)
        self.assertEqual(job.guest.cpus, 2)

    def test_a_file_that_asks_for_no_guest_is_a_mistake(self):
        with self.assertRaisesRegex(cache.Error, "no '# vm:' line"):
            self.names()

    def test_some_guests_are_for_soak_alone(self):
        more = "# soak vm: --kernel 6.12 --append 'boots=20'\n"
        for group, names in (("guest", ["guest/cmn/x/6.1/ours"]), ("soak", ["soak/cmn/x/6.12/ours"])):
            found = jobs.guest_jobs("cmn/x", "tests/guest/cmn/x.sh", f"# vm: --cpus 2\n{more}", group)
            self.assertEqual([job.name for job in found], names)

    def test_a_shared_file_is_a_source_of_those_that_name_it(self):
        for more, named in (("", []), (". ./top.sh\npython3 screen.py\n", ["tests/guest/top.sh", "tests/guest/screen.py"])):
            job, = self.jobs("--cpus 2", more=more)
            self.assertEqual([path for path in jobs.SHARED if path in job.sources], named)

    def test_a_test_that_is_another_one_depends_on_it(self):
        found = [job for job in jobs.guests("soak") if "stress_soak" in job.name]
        self.assertTrue(found)
        for job in found:
            self.assertIn("tests/guest/intel_imc/stress.sh", job.sources)

    def test_what_a_mentioned_file_mentions_is_mentioned(self):
        with tempfile.TemporaryDirectory() as directory, unittest.mock.patch.object(jobs, "TREE", Path(directory)):
            for name, text in (("a", "run b.sh"), ("b", "a.sh c.sh"), ("c", ""), ("d", "")):
                (Path(directory) / f"{name}.sh").write_text(text)
            files = {f"{name}.sh": f"{name}.sh" for name in "abcd"}
            self.assertEqual(jobs.mentioned(". ./a.sh", files), ["a.sh", "b.sh", "c.sh"])
            self.assertEqual(jobs.mentioned(". ./da.sh", files), [])

    def test_a_word_that_belongs_nowhere_is_a_mistake(self):
        with self.assertRaisesRegex(cache.Error, "'6.12' belongs to no option"):
            self.names("--kernel 6.1 6.12")

    def test_every_test_in_the_tree_has_its_own_name(self):
        names = [job.name for group in ("guest", "soak") for job in jobs.guests(group)]
        self.assertEqual(sorted(set(names)), sorted(names))

    def test_the_core_has_its_kunit_suite_on_one_architecture_every_day(self):
        core = [[job.name for job in jobs.kunit(group) if "core" in job.name] for group in ("kunit", "soak")]
        self.assertEqual(core, [["kunit/x86_64/pmu_core_test"],
                                [f"soak/{group}/{arch}/pmu_core_test" for arch in ("arm64", "ppc64le")
                                 for group in ("kunit", "debug")]])
        self.assertEqual([job for job in jobs.kunit("soak") if "core" not in job.name], [])

    def test_what_shares_a_machine_shares_a_guest(self):
        found = [job for name in ("arm64", "ppc64le") for job in self.jobs(
            f"--arch {name} --driver 'in-tree ours none'", f"--arch {name} --param m.p=1", f"--arch {name} --cpus 2")]
        self.assertEqual([[job.name.split("/6.1/")[1] for job in group] for group in jobs.together(found)], [
            ["ours", "none", "ours/m.p=1", "in-tree"], ["ours/2"],
            # The in-tree driver of POWER is built in: whether it is there is the machine's.
            ["in-tree"], ["ours", "none", "ours/m.p=1"], ["ours/2"]])

    def test_a_file_that_wants_a_fresh_guest_gets_one(self):
        found = self.jobs("--driver 'ours none'", more="# fresh: it breaks things\n")
        self.assertEqual([len(group) for group in jobs.together(found)], [1, 1])

    def test_a_guest_is_not_shared_by_too_many(self):
        found = self.jobs(*(f"--param m.p={number}" for number in range(jobs.TURNS + 1)))
        self.assertEqual([len(group) for group in jobs.together(found)], [jobs.TURNS // 2 + 1, jobs.TURNS // 2])


class Order(unittest.TestCase):
    def test_what_says_something_soon_begins_and_then_debug_kernels_and_what_takes_long(self):
        def group(name, **of_guest):
            return [jobs.Job(name, guest=guest.Guest(arch.get("arm64"), **of_guest) if of_guest else None)]

        groups = [group("unknown"), group("short"), group("stock", kernel="6.12"), group("second", kernel="6.12"),
                  group("debug", kernel="kunit"), group("long"), group("packages"), group("check/style")]
        with unittest.mock.patch.object(kept, "seconds", return_value={"short": 1, "debug": 2, "stock": 70, "second": 80, "long": 100}):
            found = script("test").in_order(iter(groups))
        self.assertEqual([job.name for job, in found], ["check/style", "stock", "debug", "long", "second", "packages", "unknown", "short"])

    def test_a_job_that_was_not_run_has_failed(self):
        test, job = script("test"), jobs.Job("lost", ("true",))
        given = argparse.Namespace(fresh=True, test="", parallel=1, hours=0, size=1)
        with unittest.mock.patch.object(test, "run_all", return_value=[]), contextlib.redirect_stdout(io.StringIO()):
            [done] = test.run_selected([job], given, None)
        self.assertEqual(done.counts(), {ktap.FAILED: 1})

    def test_every_name_with_a_usual_time_is_that_of_jobs(self):
        names = {job.name for pattern in ([], ["kernels", "mutations"]) for job in jobs.select(pattern)}
        for name in jobs.SECONDS:
            self.assertTrue([one for one in names if one == name or one.startswith(f"{name}/")], name)


class Selection(unittest.TestCase):
    def test_substrings_and_patterns(self):
        self.assertTrue(jobs.matches("guest/cmn/x/6.1/ours", "cmn/x"))
        self.assertTrue(jobs.matches("guest/cmn/x/6.1/ours", "guest/*/ours"))
        self.assertFalse(jobs.matches("guest/cmn/x/6.1/ours", "x/6.12"))

    def test_a_pattern_that_matches_nothing_is_a_mistake(self):
        with self.assertRaisesRegex(cache.Error, "no job matches 'guest/nowhere'"):
            jobs.select(["guest/nowhere"])

    def test_other_kernels_are_run_on_demand_alone(self):
        self.assertFalse([job for job in jobs.select([]) if job.name.startswith("kernels")])
        found = {job.name: job for job in jobs.select(["kernels"])}
        for series in kernel.OTHERS:
            self.assertEqual(found[f"kernels/cmn/counts/{series}/ours"].guest.kernel, series)
        # The in-tree driver is asked there on what files ask for, or "make test" has left out.
        self.assertFalse([name for name in found.keys() - {job.name for job in jobs.guests("kernels")}
                          if "in-tree" in name and not {*kernel.STOCK} & {*name.split("/")}])
        for series, name in kernel.NOWHERE:
            self.assertFalse([job for job in found.values() if job.guest and job.guest.kernel == series and
                              job.guest.arch.name == name])

    def test_two_tiers(self):
        """Of a file's guests, by the words of its lines; and on stock kernels only."""
        for group, names in (("guest", {"6.12": True, "6.1": False}), ("kernels", {"kunit": False})):
            found = jobs.guest_jobs("cmn/x", "tests/guest/cmn/x.sh",
                                    "# vm: --kernel 6.12\n# all vm: --kernel 6.1\n# kernels vm: --kernel kunit\n", group)
            self.assertEqual({job.guest.kernel: job.every_change for job in found}, names)
        first, every = ({job.name: job for job in jobs.select([], every=every)} for every in (False, True))
        self.assertLess(first.keys(), every.keys())
        self.assertEqual(jobs.select(["guest/cmn/counts/6.1/"], every=False)[0].name, "guest/cmn/counts/6.1/ours")
        self.assertEqual({job.guest.kernel for job in first.values() if job.guest}, {kernel.STOCK[-1]})
        table = "\n".join(jobs.table())
        self.assertRegex(table, r"\n\| `guest/cmn` \| [^|]*\bcounts [^|]* \| [^|]*\bcounts [^|]* \|\n")
        self.assertIn("\n| `kexec` |  | kexec |\n", table)

    def test_every_pmu_has_a_referee_for_every_change(self):
        found = {job.guest.arch.pmu for job in jobs.guests() if job.guest.driver == "in-tree" and job.every_change}
        self.assertEqual(found, {machine.pmu for machine in arch.ARCHES.values()})

    def test_soak_is_run_on_demand_alone(self):
        self.assertFalse([job for job in jobs.select([]) if job.name.startswith("soak")])

    def test_kunit_runs_on_the_debug_kernel_as_well(self):
        for group, kernels in (("kunit", {"6.12"}), ("debug", {"kunit"}), ("soak", {"6.12", "kunit"})):
            self.assertEqual({job.guest.kernel for job in jobs.kunit(group)}, kernels)
        names = [[job.name for job in jobs.kunit(group)] for group in ("kunit", "debug")]
        self.assertEqual([name.replace("kunit", "debug", 1) for name in names[0]], names[1])

    def test_nothing_is_built_to_list_jobs(self):
        names = [job.name for job in jobs.select(["kunit"])]
        for name in ("kunit/x86_64/pmu_core_test", "kunit/x86_64/intel_imc_test", "kunit/arm64/cmn_test",
                     "kunit/ppc64le/power_imc_trace_test"):
            self.assertIn(name, names)

    def test_failed_jobs_are_exactly_those(self):
        name = "guest/intel_imc/probes/6.12/ours"     # another begins so
        self.assertLess(1, len(jobs.select([name])))
        self.assertEqual([job.name for job in jobs.select([], names=[name])], [name])
        self.assertEqual({job.name for job in jobs.select(["models"], names=["scripts/slow", "kernels/check"])},
                         {"scripts/slow", "kernels/check", *(f"models/{machine}" for machine in arch.ARCHES)})
        with self.assertRaisesRegex(cache.Error, "no job guest/cmn/gone any more"):
            jobs.select([], names=["guest/cmn/gone"])

    def test_one_test_of_a_job(self):
        job, = jobs.select(["kunit"], "reads_at_2")
        self.assertEqual(job.name, "kunit/x86_64/intel_imc_test")
        self.assertEqual(job.guest.parameters, ("kunit.filter_glob=*.*reads_at_2*",))
        job, = jobs.select(["debug"], "reads_at_2")
        self.assertEqual(job.name, "debug/x86_64/intel_imc_test")
        self.assertIn("kunit.filter_glob=*.*reads_at_2*", job.guest.append)
        found = jobs.select(["guest/cmn/counts"], "watchpoint")
        self.assertEqual({job.guest.command for job in found}, {("env", "TESTS=watchpoint", "sh", "cmn/counts.sh")})
        with self.assertRaisesRegex(cache.Error, "has 'no_such_test' in its name"):
            jobs.select([], "no_such_test")

    def test_one_test_by_the_name_that_its_result_has(self):
        for job in "tools", "differences", "packages", "kernels/packages", "perf_events":
            found, *others = jobs.select([job])
            tests = [test for one in (found, *others) for test in one.tests]
            path = next(part for part in found.command if part.startswith("tests/"))
            folder, pattern = os.path.split(path) if path.endswith(".py") else (path, "test*.py")
            asked = f"""import sys, unittest
from pmusuite import unittests
top = {os.path.dirname(folder)!r} if {os.path.exists(cache.TREE / folder / "__init__.py")} else {folder!r}
print(*(test.id() for test in unittests.cases(unittest.defaultTestLoader.discover({folder!r}, {pattern!r}, top))), sep="\\n")"""
            interpreter = found.command[:found.command.index("-m")]
            ids = cache.run([*interpreter, "-c", asked], "asking Python", cwd=cache.TREE).split()
            self.assertTrue(ids)
            self.assertEqual(set(ids) - set(tests), set(), job)
            self.assertEqual(len(tests), len(set(tests)), job)

    def test_a_class_of_packages_has_a_job_of_its_own(self):
        found, = jobs.select(["kernels/packages/EverydayOnNewest"])
        self.assertIn("everything.EverydayOnNewest.test_installed_and_removed", found.tests)
        found, *others = jobs.select(["kernels/packages"], "dkms_has_what")
        self.assertEqual((found.name, others), ("kernels/packages/EverydayOnNewest", []))
        self.assertEqual(found.command[-4:], ("-k", "everything.EverydayOnNewest.", "-k", "dkms_has_what"))


class Results(unittest.TestCase):
    def test_passed_failed_skipped(self):
        results = ktap.results("KTAP version 1\n1..3\nok 1 a\n# got 1\n# wanted 2\nnot ok 2 b\n"
                               "# noise\nok 3 c # SKIP no such device\n")
        self.assertEqual(outcome(results), [("ok", "a"), ("FAIL", "b"), ("skip", "c")])
        self.assertEqual(results[1].notes, ["got 1", "wanted 2"])
        self.assertEqual(results[2].notes, ["no such device"])

    def test_suites_of_kunit(self):
        suite = "KTAP version 1\n1..1\n    KTAP version 1\n    # Subtest: s\n    1..2\n" \
                "        KTAP version 1\n        # Subtest: p\n        ok 1 eight\n        not ok 2 nine\n" \
                "    not ok 1 p\n    ok 2 q\nnot ok 1 s\n"
        self.assertEqual(outcome(ktap.results(suite + GOOD)),
                         [("ok", "s.p.eight"), ("FAIL", "s.p.nine"), ("ok", "s.q"), ("ok", "a"), ("ok", "b")])

    def test_a_suite_that_fails_though_its_tests_pass(self):
        self.assertEqual(outcome(ktap.results("KTAP version 1\n1..1\n    KTAP version 1\n    # Subtest: s\n    1..1\n"
                                              "    ok 1 t\nnot ok 1 s\n")), [("ok", "s.t"), ("FAIL", "s")])

    def test_promised_results_that_did_not_come(self):
        self.assertEqual(outcome(ktap.results("KTAP version 1\n1..3\nok 1 a\n")),
                         [("ok", "a"), ("FAIL", "result 2 of 3 did not come"), ("FAIL", "result 3 of 3 did not come")])

    def test_how_long_each_took(self):
        now = 100
        watch = ktap.Stopwatch(lambda: now)
        lines = ["boot", "KTAP version 1", "1..4", "ok 1 a", "# noise", "ok 2 b # SKIP no such device", "not ok 3 - c d", "ok 4 e"]
        for line, seconds in zip(lines, (7, 1, 0, 2, 1, 1, 3.5, 4)):
            now += seconds
            watch.hear(line)
        text = "".join(f"{line}\n" for line in lines if line != "ok 4 e")      # lost: the others have theirs
        self.assertEqual([(result.name, result.seconds) for result in ktap.results(text)], [
            ("a", 0), ("b", 0), ("c d", 0), ("result 4 of 4 did not come", 0)])
        results = ktap.results(text)
        watch.tell(results)
        self.assertEqual([result.seconds for result in results], [2, 2, 3.5, 0])

    def test_no_plan_no_results_too_many(self):
        for text in ("", "hello\n", "KTAP version 1\n", "KTAP version 1\n1..0\n", "KTAP version 1\nok 1 a\n",
                     "KTAP version 1\n1..1\nok 1 a\nok 2 b\n", "KTAP version 1\n1..2\nok 1 a\nok 1 b\n"):
            with self.subTest(text):
                self.assertIn(("FAIL", "KTAP"), outcome(ktap.results(text)))


class Judgement(unittest.TestCase):
    def failures(self, *arguments):
        return [result.name for result in jobs.judge(*arguments) if result.status == ktap.FAILED]

    def test_all_is_well(self):
        self.assertEqual(self.failures(COMMAND, 0, GOOD, ""), [])

    def test_a_command_that_fails_without_a_failed_test(self):
        self.assertEqual(self.failures(COMMAND, 1, GOOD, "no disk"), ["command"])
        self.assertEqual(self.failures(COMMAND, 1, GOOD.replace("ok 2", "not ok 2"), ""), ["b"])

    def test_a_guest_that_is_lost_fails_whatever_its_tests_said(self):
        for status in (guest.UNSOUND, guest.TIMEOUT, guest.DIED):
            self.assertEqual(self.failures(GUEST, status, GOOD, ""), ["guest"])
            self.assertEqual(self.failures(GUEST, status, GOOD.replace("ok 2", "not ok 2"), ""), ["b", "guest"])

    def test_a_command_that_ends_as_if_its_guest_could_not_be(self):
        """It has failed; who is told that the archive lacks something would skip it."""
        vm = script("vm")
        for status, told in (0, 0), (7, 7), (cache.Lost.status, 1):
            with unittest.mock.patch("sys.argv", ["vm", "--", "true"]), \
                    unittest.mock.patch.object(guest, "run", return_value=guest.Outcome(status, "")):
                self.assertEqual(vm.main(), told)

    def test_without_a_parser_each_job_says_why(self):
        test, job = script("test"), jobs.Job("job", ("echo", "KTAP version 1"))
        with tempfile.TemporaryDirectory() as directory, unittest.mock.patch.object(
                linux_tools, "directory", side_effect=cache.Lost("the archive has no linux-source-6.12")):
            [one] = test.run([job], Path(directory), unittest.mock.Mock())
        self.assertEqual([(result.status, result.notes) for result in one.results],
                         [(ktap.FAILED, ["the archive has no linux-source-6.12"])])

    def test_the_log_is_shown_from_the_complaint_or_its_end(self):
        lines = [f"line {number}" for number in range(100)]
        self.assertEqual(jobs.excerpt("\n".join(lines))[-1], "line 99")
        lines[10] = "BUG: sleeping"
        self.assertEqual(jobs.excerpt("\n".join(lines))[0], "BUG: sleeping")
        self.assertEqual(jobs.excerpt(""), [])


class Report(unittest.TestCase):
    def test_a_test_that_passes_says_what_it_was_told_to_show(self):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            script("test").report(COMMAND, ktap.results(
                "KTAP version 1\n1..2\n# noise\n# | 7 of 7\nok 1 a\n# | 6 of 7\n# got 6\nnot ok 2 b\n"))
        self.assertEqual(out.getvalue(), "ok   job: a\n       | 7 of 7\n"
                                         "FAIL job: b\n       | 6 of 7\n       got 6\n")


def runs(process):
    """Is there a process of that number? A zombie has ended: in a container nobody may wait for it."""
    try:
        return "\nState:\tZ" not in Path(f"/proc/{process}/status").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False


def name(process):
    try:
        return Path(f"/proc/{process}/comm").read_text().strip()
    except (FileNotFoundError, ProcessLookupError):
        return None


class Stopped(unittest.TestCase):
    """Whatever ends a script ends what it has started."""
    LIMIT = 60      # seconds, on a busy host

    # What is started writes its process' number, and waits.
    GUEST = "guest._run(['sh', '-c', script], lambda: 1000, {'console': print}, False)"
    JOB = "test_runner.script('test').run_all([[jobs.Job('job', ('sh', '-c', script))]], Path(directory), 1, {}, False)"
    UNIT_TEST = "subprocess.run(cache.bound(['sh', '-c', script]))"
    # As make and its compilers in a thread of their own, one of which heeds no signal, and one that is nobody's child any more.
    BUILD = ("concurrent.futures.ThreadPoolExecutor().submit(cache.run, ['sh', '-c', f'(trap \"\" TERM; sleep 1000; sleep 1000) & "
             "(setsid sleep 1000 &); sh -c \"{script}\"; sleep 1000'], 'building').result()")
    # A script heeds none of these that whoever runs the tests ignores, as nohup and shells in the background do.
    SIGNALS = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)

    def setUp(self):
        for number in self.SIGNALS:
            self.addCleanup(signal.signal, number, signal.signal(
                number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL))

    def wait(self, condition, limit=LIMIT):
        last = time.monotonic() + limit
        while not (found := condition()):
            self.assertLess(time.monotonic(), last, "waited in vain")
            time.sleep(0.05)
        return found

    def end(self, body, number):
        """The exit status of a script with that @body, after a signal; fails if what it had started goes on."""
        with tempfile.TemporaryDirectory() as directory:
            said = Path(directory) / "pid"
            script = f"echo $$ > {said}.new; mv {said}.new {said}; exec sleep 1000"
            process = subprocess.Popen(
                [sys.executable, "-c", "import concurrent.futures, subprocess\nfrom pathlib import Path\nimport test_runner\n"
                 "from pmusuite import cache, guest, jobs\n"
                 f"script, directory = {script!r}, {directory!r}\ncache.main(lambda: {body})"],
                env={**os.environ, "PYTHONPATH": f"{cache.TREE}/scripts:{Path(__file__).parent}"},
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            self.wait(lambda: said.exists() and said.read_text())
            return self.stop(process, lambda: process.send_signal(number))

    def stop(self, process, kill):
        """The exit status of @process when it has been told to end; fails if what it had started goes on."""
        started, began = cache.descendants(process.pid), time.monotonic()
        try:
            kill()
            status = process.wait(self.LIMIT)
            self.wait(lambda: not any(map(runs, started)))
        finally:
            for one in filter(runs, started):
                os.kill(one, signal.SIGKILL)
        self.took = time.monotonic() - began
        return status

    def soon(self):
        self.assertLess(self.took, 2 if os.getloadavg()[0] < 2 * os.cpu_count() else 10)

    def test_a_guest(self):
        for number in self.SIGNALS:
            self.assertEqual(self.end(self.GUEST, number), 128 + number)
        self.assertEqual(self.end(self.GUEST, signal.SIGKILL), -signal.SIGKILL)

    def test_a_job_on_the_host(self):
        self.assertEqual(self.end(self.JOB, signal.SIGTERM), 128 + signal.SIGTERM)
        self.assertEqual(self.end(self.JOB, signal.SIGKILL), -signal.SIGKILL)

    def test_what_a_test_has_started(self):
        self.assertEqual(self.end(self.UNIT_TEST, signal.SIGKILL), -signal.SIGKILL)

    def test_a_build(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            self.assertEqual(self.end(self.BUILD, number), 128 + number)
            self.soon()

    def test_make_and_a_compiler(self):
        """make test, while kbuild has gcc compile the modules: without an end, and for a compiler that nobody else has."""
        with tempfile.TemporaryDirectory() as directory:
            gcc = Path(directory) / "gcc"
            gcc.write_text('#!/bin/sh\n[ "$*" != --version ] || exec echo endless\nwhile /usr/bin/gcc "$@"; do :; done\n')
            gcc.chmod(0o755)
            for kill, number in (os.kill, signal.SIGTERM), (os.killpg, signal.SIGINT):
                process = subprocess.Popen(
                    ["make", "-C", cache.TREE, "test", "TESTFLAGS=--fresh --aside -j 1 check/modules"], start_new_session=True,
                    env={**os.environ, "PATH": f"{directory}:{os.environ['PATH']}"}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                self.wait(lambda: any(name(one) == "cc1" for one in cache.descendants(process.pid)), 10 * self.LIMIT)
                self.assertNotEqual(self.stop(process, lambda: kill(process.pid, number)), 0)
                self.soon()

    def test_guests_in_other_threads(self):
        guest.STOP.set()
        self.addCleanup(guest.STOP.clear)
        with subprocess.Popen(["sleep", "1000"]) as process:
            self.assertFalse(guest.wait(process, lambda: 1000))
            process.kill()


class Arguments(unittest.TestCase):
    def test_it_may_be_started_anywhere(self):
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir("/tmp")
        with unittest.mock.patch.object(sys, "argv", ["test", "--junit", "results.xml"]):
            self.assertEqual(script("test").arguments().junit, "/tmp/results.xml")
        self.assertTrue(Path("tests/guest/lib.sh").exists())


class LastLine(unittest.TestCase):
    def verdict(self, *statuses):
        return script("test").verdict(collections.Counter(statuses))

    def test_counts(self):
        self.assertEqual(self.verdict("ok", "ok"), ("2 passed, 0 failed", 0))
        self.assertEqual(self.verdict("ok", "FAIL"), ("1 passed, 1 failed", 1))
        self.assertEqual(self.verdict("ok", "skip"), ("1 passed, 0 failed, 1 skipped", 0))

    def test_nothing_that_ran_is_a_failure(self):
        self.assertEqual(self.verdict(), ("0 passed, 0 failed", 1))
        self.assertEqual(self.verdict("skip"), ("0 passed, 0 failed, 1 skipped", 1))


    def test_without_any_guest_nothing_was_shown(self):
        """One that the archive lacks is left out; of all of them that is no success."""
        def lacks(*of_guests):
            test = script("test")
            return test.lacks_guests([test.Done(COMMAND, 1, [ktap.Result(ktap.OK, "a")]),
                                      *(test.Done(GUEST, 1, [ktap.Result(status, "a")]) for status in of_guests)])

        self.assertTrue(lacks(ktap.SKIPPED))
        self.assertFalse(lacks())
        self.assertFalse(lacks(ktap.SKIPPED, ktap.OK))
        self.assertFalse(lacks(ktap.SKIPPED, ktap.FAILED))


class Workflow(unittest.TestCase):
    def test_what_it_writes_is_no_file_of_the_tree(self):
        """Or the checks of the text, which read all of them, find fault with it: it is written before they run."""
        if not (cache.TREE / ".git").exists():
            self.skipTest("a tarball, without git")
        written = re.findall(r"--junit (\S+?)\"", (cache.TREE / ".github/workflows/test.yml").read_text())
        self.assertTrue(written)
        for name in written:
            self.assertEqual(subprocess.run(["git", "-C", cache.TREE, "check-ignore", "-q", name], check=False).returncode, 0, name)


class UnitTests(unittest.TestCase):
    """Python's results in KTAP: one for each test, however it ends."""
    def run_case(self, case):
        tests = list(unittests.cases(unittest.defaultTestLoader.loadTestsFromTestCase(case)))
        with contextlib.redirect_stdout(io.StringIO()) as text:
            unittest.TestSuite(tests).run(unittests.Ktap(tests))
        return [(result.status, result.name.rsplit(".", 1)[1] if "." in result.name else result.name)
                for result in ktap.results(text.getvalue())]

    def test_every_ending(self):
        class Case(unittest.TestCase):
            def test_a(self):
                pass

            def test_b(self):
                self.fail("# not KTAP\nok 1 this either")

            def test_c(self):
                raise OSError

            def test_d(self):
                self.skipTest("why not")

            def test_e(self):
                for number in range(3):
                    with self.subTest(number):
                        self.assertEqual(number, 0)

        self.assertEqual(self.run_case(Case), [("ok", "test_a"), ("FAIL", "test_b"), ("FAIL", "test_c"),
                                               ("skip", "test_d"), ("FAIL", "test_e")])

    def test_one_that_does_not_end(self):
        class Case(unittest.TestCase):
            def test_a(self):
                time.sleep(1000)

            def test_b(self):
                subprocess.run(["sleep", "1000"], check=False)

            def test_c(self):
                pass

        with unittest.mock.patch.object(unittests, "LONGEST", 1):
            self.assertEqual(self.run_case(Case), [("FAIL", "test_a"), ("FAIL", "test_b"), ("ok", "test_c")])

    def test_what_the_archive_lacks_is_left_out(self):
        class Case(unittest.TestCase):
            def test_a(self):
                raise cache.Lost("no kernel # today")

            def test_b(self):
                with self.subTest(1):
                    raise cache.Lost("no kernel")

        self.assertEqual(self.run_case(Case), [("skip", "test_a"), ("skip", "test_b")])
        Case.setUpClass = Case(methodName="test_a").test_a
        self.assertEqual(self.run_case(Case), [("skip", "test_a"), ("skip", "test_b")])

    def test_a_failure_is_no_skip(self):
        """Of a test that failed in one place, and lacked something in another."""
        class Case(unittest.TestCase):
            def test_a(self):
                with self.subTest(1):
                    self.fail()
                with self.subTest(2):
                    raise cache.Lost("no kernel")

            def test_b(self):
                self.addCleanup(self.skipTest, "why not")
                self.fail()

        self.assertEqual(self.run_case(Case), [("FAIL", "test_a"), ("FAIL", "test_b")])

    def test_a_class_that_cannot_be_set_up(self):
        class Case(unittest.TestCase):
            @classmethod
            def setUpClass(cls):
                raise OSError

            def test_a(self):
                pass

        self.assertEqual(self.run_case(Case), [("FAIL", "result 1 of 1 did not come")])
