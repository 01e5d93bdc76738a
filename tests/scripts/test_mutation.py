# SPDX-License-Identifier: GPL-2.0-only
"""scripts/mutate: what a mutation is, and what counts as a test that noticed it."""
import contextlib
import io
import tempfile
import unittest
import unittest.mock
import xml.etree.ElementTree as xml
from pathlib import Path

from pmusuite import jobs, mutation
from pmusuite.cache import Error, Lost
from test_runner import script

PATCH = """Tests: kunit/x86_64 models -k poll
Why it matters.

--- a/number
+++ b/number
@@ -1 +1 @@
-1
+2
"""
RESULTS = """<testsuites><testsuite name="job">
<testcase classname="job" name="good"/>
<testcase classname="job" name="bad"><failure message="it is 3">it is 3</failure></testcase>
<testcase classname="job" name="left out"><skipped message="why"/></testcase>
</testsuite></testsuites>"""


class Mutations(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.tree = Path(directory.name) / "tree"
        self.tree.mkdir()
        (self.tree / "number").write_text("1\n")

    def patch(self, text=PATCH):
        path = self.tree.parent / "area-what.patch"
        path.write_text(text)
        return mutation.read(path)

    def test_first_line_names_tests(self):
        self.assertEqual(self.patch().tests, ("kunit/x86_64", "models", "-k", "poll"))
        self.assertEqual(self.patch().selection(), (["kunit/x86_64", "models"], "poll"))

    def test_without_tests_it_is_refused(self):
        with self.assertRaisesRegex(Error, "first line"):
            self.patch("Why it matters.\n")

    def test_it_is_applied_to_the_tree_that_is_named(self):
        self.patch().apply(self.tree, "--check")
        self.assertEqual((self.tree / "number").read_text(), "1\n")
        self.patch().apply(self.tree)
        self.assertEqual((self.tree / "number").read_text(), "2\n")

    def test_what_has_changed_is_told(self):
        (self.tree / "number").write_text("7\n")
        with self.assertRaisesRegex(Error, "renew it"):
            self.patch().apply(self.tree)

    def test_lines_further_off_may_change(self):
        around = self.patch(PATCH.replace("@@ -1 +1 @@\n-1\n+2\n", "@@ -1,5 +1,5 @@\n a\n b\n-1\n+2\n c\n d\n"))
        (self.tree / "number").write_text("new\nA\nb\n1\nc\nD\n")
        around.apply(self.tree)
        self.assertEqual((self.tree / "number").read_text(), "new\nA\nb\n2\nc\nD\n")
        (self.tree / "number").write_text("a\nB\n1\nc\nd\n")
        with self.assertRaisesRegex(Error, "renew it"):
            around.apply(self.tree)

    def test_where_lines_are_only_added_all_around_them_count(self):
        added = self.patch(PATCH.replace("@@ -1 +1 @@\n-1\n+2\n", "@@ -1,4 +1,5 @@\n a\n b\n+2\n c\n d\n"))
        (self.tree / "number").write_text("A\nb\nc\nd\n")
        with self.assertRaisesRegex(Error, "renew it"):
            added.apply(self.tree)
        (self.tree / "number").write_text("a\nb\nc\nd\n")
        added.apply(self.tree)
        self.assertEqual((self.tree / "number").read_text(), "a\nb\n2\nc\nd\n")

    def test_one_is_a_job_that_depends_on_what_its_tests_read(self):
        name = mutation.select(["core-one-freezes-all"])[0].name
        job, = jobs.select([f"mutations/{name}"])
        tests, = jobs.select(mutation.select([name])[0].selection()[0])
        self.assertEqual(job.command, ("scripts/mutate", name))
        self.assertEqual({*tests.sources, "scripts/mutate", f"tests/mutations/{name}.patch"} - {*job.sources}, set())
        self.assertNotIn("drivers/cmn", job.sources)

    def test_they_are_run_only_if_asked_for(self):
        self.assertEqual([job for job in jobs.select([]) if job.name.startswith("mutations")], [])

    def test_failures_alone_count(self):
        self.assertEqual(mutation.failures(xml.parse(io.StringIO(RESULTS))), {"job: bad": "it is 3"})

    def test_what_was_only_skipped_shows_nothing(self):
        """As where the archive lacks what the guests are made of: that is no fault of a test."""
        def why(*kinds):
            cases = {"good": "", "bad": '<failure message="it is 3"/>', "left out": '<skipped message="no kernel"/>'}
            return mutation.skipped(xml.parse(io.StringIO("".join(["<testsuites>", *(
                f'<testcase classname="job" name="{kind}">{cases[kind]}</testcase>' for kind in kinds), "</testsuites>"]))))

        self.assertEqual(why("left out", "left out"), "no kernel")
        for kinds in ((), ("good",), ("left out", "good"), ("left out", "bad")):
            self.assertIsNone(why(*kinds))

    def test_a_mutation_whose_tests_were_skipped_is_skipped(self):
        mutate = script("mutate")
        for error, line in (Lost("no\nkernel"), "ok 1 core-one-freezes-all # SKIP no kernel\n"), (Error("every test passed"), "not ok 1 core-one-freezes-all\n"):
            with unittest.mock.patch.object(mutate, "noticed", side_effect=error), contextlib.redirect_stdout(io.StringIO()) as said, \
                    unittest.mock.patch("sys.argv", ["mutate", "core-one-freezes-all"]):
                self.assertEqual(mutate.main(), int(line.startswith("not")))
            self.assertTrue(said.getvalue().endswith(f"\n{line}"), said.getvalue())

    def test_a_failed_build_is_no_verdict(self):
        self.assertTrue(mutation.is_verdict("job: bad", "it is 3"))
        self.assertTrue(mutation.is_verdict("job: guest", "exit status 99"))
        self.assertFalse(mutation.is_verdict("job: guest", "building modules failed (exit status 2):"))
        self.assertFalse(mutation.is_verdict("job: guest", "exit status 125"))
