# SPDX-License-Identifier: GPL-2.0-only
"""The table of kernels says what was run, and of the rest that it was not."""
import json
import subprocess
import tempfile
import unittest
import unittest.mock
from pathlib import Path

from pmusuite import arch, cache, guest, jobs, kernel, ktap, matrix

X86 = arch.get("x86_64")
ONE, TWO = (jobs.Job(f"guest/one/{name}/6.12/ours", guest=guest.Guest(arch=X86, kernel="6.12")) for name in "ab")
CHECK = jobs.Job("check/modules", ("scripts/check", "modules"))
PASSED = [ktap.Result(ktap.OK, "x"), ktap.Result(ktap.OK, "y")]


class Matrix(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.release = "6.12.1"
        for target, name, value in ((matrix, "NOTES", Path(directory.name)), (matrix, "_commit", lambda: "abc"),
                                    (matrix, "wanted", lambda: {(machine, series): self.names(machine, series)
                                                                for machine in arch.ARCHES for series in matrix.CHECKS}),
                                    (matrix, "version", lambda machine, series: self.release)):
            patch = unittest.mock.patch.object(target, name, value)
            patch.start()
            self.addCleanup(patch.stop)

    @staticmethod
    def names(machine, series):
        return [ONE.name, TWO.name] if (machine, series) == ("x86_64", "6.12") else []

    def row(self, series="6.12", machine="x86_64"):
        """(modules, guests, date)"""
        found, = [line for line in matrix.table() if line.startswith(f"| {series} |") and f"| {machine} |" in line]
        return tuple(word.strip() for word in found.split("|")[4:7])

    def test_what_was_not_run(self):
        rows = matrix.table()[len(matrix.HEAD):]
        self.assertEqual(len(rows), len(matrix.CHECKS) * len(arch.ARCHES))
        for row in rows:
            self.assertRegex(row, r"\| not run \| not run \|  \|$|no longer have it|Debian has none")

    def test_what_passed(self):
        for job in (ONE, TWO):
            matrix.record(job, PASSED)
        modules, guests, date = self.row()
        self.assertEqual((modules, guests), ("not run", "4 passed"))
        self.assertRegex(date, r"^\d{4}-\d\d-\d\d$")
        self.assertEqual(self.row("6.1"), ("not run", "not run", ""))
        self.assertEqual(self.row("6.12", "arm64"), ("not run", "not run", ""))

    def test_what_was_run_in_part_or_failed_or_was_skipped(self):
        matrix.record(ONE, [*PASSED, ktap.Result(ktap.FAILED, "z"), ktap.Result(ktap.SKIPPED, "s")])
        self.assertEqual(self.row()[1], "2 passed, 1 FAILED, 1 skipped, 1 of 2 jobs not run")

    def test_the_last_run_counts(self):
        matrix.record(ONE, [ktap.Result(ktap.FAILED, "x")])
        matrix.record(ONE, PASSED)
        self.assertEqual(self.row()[1], "2 passed, 1 of 2 jobs not run")

    def test_another_version_of_the_kernel_was_not_run(self):
        matrix.record(ONE, PASSED)
        self.release = "6.12.2"
        self.assertEqual(self.row(), ("not run", "not run", ""))

    def test_the_oldest_date_is_shown(self):
        for job in (ONE, TWO):
            matrix.record(job, PASSED)
        path = matrix._path(TWO.name)
        path.write_text(json.dumps(json.loads(path.read_text()) | {"date": "2020-01-01"}))
        self.assertEqual(self.row()[2], "2020-01-01")

    def test_what_was_built(self):
        matrix.record(CHECK, [ktap.Result(ktap.OK, "W=1 x86_64 6.12"), ktap.Result(ktap.FAILED, "W=1 arm64 6.12"),
                              ktap.Result(ktap.SKIPPED, "W=1 ppc64le 6.12")])
        self.assertEqual([self.row("6.12", machine)[0] for machine in arch.ARCHES], ["no warning", "FAILED", "not run"])
        self.assertEqual(self.row("6.1")[0], "not run")
        self.assertEqual(self.row("newest")[0], "not run")

    def test_a_changed_tree_is_no_run(self):
        with unittest.mock.patch.object(matrix, "_commit", lambda: None):
            matrix.record(ONE, PASSED)
        self.assertEqual(self.row()[1], "not run")

    def test_what_is_left_of_a_note_is_no_run(self):
        matrix.record(ONE, PASSED)
        matrix._path(ONE.name).write_text('{"date": "2020-01-01", ')
        self.assertEqual(self.row()[1], "not run")


class Commit(unittest.TestCase):
    def test_of_a_tree_without_changes_alone(self):
        with tempfile.TemporaryDirectory() as directory, unittest.mock.patch.object(matrix, "TREE", directory):
            def git(*arguments):
                subprocess.run(["git", "-C", directory, "-c", "user.name=n", "-c", "user.email=e", *arguments], check=True,
                               capture_output=True)

            with unittest.mock.patch.dict("os.environ", {"GIT_CEILING_DIRECTORIES": str(Path(directory).parent)}):
                self.assertIsNone(matrix._commit())
                Path(directory, "file").write_text("1")
                git("init")
                git("add", "file")
                git("commit", "-m", "m")
                self.assertRegex(matrix._commit(), "^[0-9a-f]{7,}$")
                Path(directory, "file").write_text("2")
                self.assertIsNone(matrix._commit())


class Tree(unittest.TestCase):
    def test_all_guests_with_our_driver_are_wanted(self):
        found = matrix.wanted()
        for group in ("guests", "kunit", "kernels"):
            for job in getattr(jobs, group)():
                if job.guest:
                    names = found[job.guest.arch.name, job.guest.kernel]
                    self.assertEqual(job.name in names, job.guest.driver != "in-tree", job.name)

    def test_checks_have_the_results_that_are_looked_for(self):
        for series, name in matrix.CHECKS.items():
            self.assertIn(name, {job.name for job in jobs.select(["check", "kernels/check"])}, series)
        self.assertEqual(set(matrix.CHECKS), {*kernel.STOCK, *kernel.OTHERS, matrix.DEBUG})

    def test_the_readme_has_a_row_for_each(self):
        table = (cache.TREE / "Documentation/kernels.md").read_text().split(matrix.BEGIN)[1].split(matrix.END)[0].splitlines()
        with unittest.mock.patch.object(matrix, "version", lambda machine, series: ""):
            today = matrix.table()
        self.assertEqual(table[:2], list(matrix.HEAD))
        columns = [[(words[1], words[3]) for words in (line.split("|") for line in lines[2:])] for lines in (table, today)]
        self.assertEqual(*columns)

    def test_what_it_writes_goes_between_the_marks(self):
        with unittest.mock.patch.object(matrix, "table", lambda: ["| new |"]):
            self.assertEqual(matrix.replaced(f"a\n{matrix.BEGIN}| old |\n{matrix.END}b\n"),
                             f"a\n{matrix.BEGIN}| new |\n{matrix.END}b\n")
