# SPDX-License-Identifier: GPL-2.0-only
"""What goes wrong in a script is a sentence with exit status 125; the details are where it says."""
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from pmusuite import cache

SCRIPTS = cache.TREE / "scripts"
# How each script is called; anything that makes it begin.
CALLS = {"vm": ["--", "true"], "test": ["models"], "demo": [], "bench": ["cmn"], "check": ["6.1"],
         "mutate": ["core-poll"], "pages": ["nowhere"], "coverage": ["models"],
         "pnor": ["/dev/null/image", f"p9={cache.TREE}/tests/models/power_imc/catalogs/p9.dts"]}


class Errors(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.home = Path(directory.name)

    def start(self, command, home=None, **variables):
        environment = {key: value for key, value in os.environ.items() if key not in ("LD_PRELOAD", "PMU_DEBUG")}
        return subprocess.run(command, capture_output=True, text=True, env={
            **environment, "XDG_CACHE_HOME": str(home or self.home), "PYTHONPATH": str(SCRIPTS), **variables})

    def run_main(self, body, **kwargs):
        """A script whose main function has that body."""
        return self.start([sys.executable, "-c", "import json, os, subprocess, sys\nfrom pmusuite import cache\n"
                           f"def main():\n    {body}\ncache.main(main)"], **kwargs)

    def sentence(self, body, **kwargs):
        done = self.run_main(body, **kwargs)
        self.assertEqual(done.returncode, 125)
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        return done.stderr

    def test_a_plain_chroot_is_named(self):
        mounts = self.home / "mountinfo"
        mounts.write_text("36 35 254:0 /root /proc rw,relatime - proc proc rw\n")
        body = f"from pmusuite import build; build.own_mounts({str(mounts)!r})"
        self.assertRegex(self.sentence(body), r"/ is no mount point, .* run mount --bind ROOT ROOT")
        mounts.write_text("35 1 254:0 / / rw,relatime - ext4 /dev/vda rw\n")
        self.assertEqual(self.run_main(body).returncode, 0)

    def test_what_was_expected_is_said_as_it_is(self):
        self.assertEqual(self.sentence("raise cache.Error('no bread')"), "-c: no bread\n")
        self.assertEqual(list(self.home.iterdir()), [])

    def test_files_and_programs(self):
        self.assertIn("cannot use /no/file: No such file or directory", self.sentence("open('/no/file')"))
        self.assertIn("there is no program no-program; scripts/setup all", self.sentence("subprocess.run(['no-program'])"))
        self.assertIn("-c: nowhere to write", self.sentence("raise FileNotFoundError(2, 'nowhere to write')"))
        self.assertIn("'false' failed (exit status 1)", self.sentence("subprocess.run(['false'], check=True)"))

    def test_a_full_disk(self):
        self.assertIn("no space left: free some, or set XDG_CACHE_HOME",
                      self.sentence("raise OSError(28, 'No space left on device')"))

    def test_a_full_disk_of_which_a_program_says_something_else(self):
        done = self.run_main("cache.LEAST = 1 << 62; raise cache.Error('make failed')")
        self.assertRegex(done.stderr, "^-c: make failed\nno space left: free some, or set XDG_CACHE_HOME")

    def test_options_that_cannot_be(self):
        """Of a guest: before anything is fetched or built for it."""
        for words, status, sentence in (
                ("--cpus -1", 2, "--cpus: invalid number value: '-1'"), ("--nodes -1", 2, "--nodes: invalid"), ("--timeout 0", 2, "--timeout: inv"),
                ("--modules /nowhere", 2, "--modules /nowhere: no such directory"), ("--copy /nowhere", 2, "--copy /nowhere: no such file"),
                ("--log /nowhere/log", 125, "cannot use /nowhere/log: No such file")):
            with self.subTest(words):
                done = self.start([SCRIPTS / "vm", *words.split(), "--", "true"], http_proxy="http://127.0.0.1:9")
                self.assertEqual(done.returncode, status)
                self.assertIn(sentence, done.stderr)

    def test_a_cache_in_which_nothing_can_be_built(self):
        for home in "a b", "a:b":
            self.assertIn(f"/{home}/pmu-suite cannot be the cache", self.sentence("pass", home=self.home / home))
        self.assertIn("relative/pmu-suite cannot be the cache", self.sentence("pass", home="relative"))

    def test_an_argument_too_many(self):
        done = self.start([SCRIPTS / "demo", "--fast"])
        self.assertEqual((done.returncode, done.stderr), (125, "demo: make demo, and this, take no arguments\n"))

    def test_what_nobody_thought_of(self):
        self.assertIn("this should not happen: KeyError: 'Depends', in <string>, line 4",
                      self.sentence("{}['Depends']"))
        self.assertRegex(self.sentence("json.loads('{')"), r"JSONDecodeError: .*, in decoder\.py, line \d+")
        self.assertRegex(self.sentence("assert 0"), r"AssertionError, in ")

    def test_the_details_are_kept(self):
        said = self.sentence("{}['Depends']")
        details = Path(re.search(r"\(details: (.*)\)$", said)[1])
        self.assertTrue(details.is_relative_to(self.home), details)
        self.assertIn("Traceback", details.read_text())
        self.assertIn("KeyError: 'Depends'", details.read_text())

    def test_no_place_for_details(self):
        self.assertIn("(PMU_DEBUG=1 shows where)", self.sentence("{}['Depends']", home="/dev/null"))

    def test_details_on_request(self):
        self.assertIn("Traceback", self.run_main("{}['Depends']", PMU_DEBUG="1").stderr)

    def test_room_is_asked_for_once(self):
        """Of a host that has all packages, and little room."""
        for name, text in (("df", "echo; echo disk 0 0 1000000"), ("dpkg", "echo amd64"),
                           ("dpkg-query", 'for one; do echo "installed $one installed"; done')):
            (program := self.home / name).write_text(f"#!/bin/sh\n{text}\n")
            program.chmod(0o755)
        for goal, last in (("demo", "qemu-headers"), ("test", "kunit"), ("all", "debug-kernel")):
            with self.subTest(goal):
                call = [SCRIPTS / "setup", goal], self.home / goal
                path = f"{self.home}:{os.environ['PATH']}"
                self.assertRegex(self.start(*call, PATH=path).stderr, "needs [0-9]+ MB and its disk has 976 MB left|is not supported: use Debian")
                (self.home / goal / "pmu-suite" / last).mkdir(parents=True)
                self.assertNotIn("MB", self.start(*call, PATH=path).stderr)

    def test_output_that_nobody_reads(self):
        done = self.start(["bash", "-c", f"{SCRIPTS}/vm --model help | true; echo ${{PIPESTATUS[0]}}"])
        self.assertEqual(done.stderr, "")
        self.assertIn(done.stdout.strip(), ("0", "141"))
        done = self.run_main("sys.stdout.close(); sys.stdout = os.fdopen(os.open('/dev/null', os.O_RDONLY)); "
                             "raise BrokenPipeError")
        self.assertEqual((done.returncode, done.stderr), (141, ""))

    def test_every_script_without_a_cache(self):
        calling = {path.name for path in SCRIPTS.iterdir() if path.is_file() and "cache.main(" in path.read_text()}
        self.assertEqual(calling, set(CALLS))
        for name, arguments in CALLS.items():
            with self.subTest(name):
                done = self.start([SCRIPTS / name, *arguments], home="/dev/null")
                self.assertEqual(done.returncode, 125, done.stderr)
                self.assertNotIn("Traceback", done.stderr)
                self.assertRegex(done.stderr.splitlines()[-1], rf"^{name}: .+")


if __name__ == "__main__":
    unittest.main()
