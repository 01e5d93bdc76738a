# SPDX-License-Identifier: GPL-2.0-only
# all: it copies the tree, and looks for all jobs again and again
"""Results that are kept: what a job reads is in its key, so that no result outlives a change."""
import dataclasses
import fnmatch
import os
import random
import shutil
import subprocess
import tempfile
import unittest
import unittest.mock
from pathlib import Path

from pmusuite import cache, choice, host, jobs, kept, ktap

SEED = int(os.environ.get("SEED") or random.randrange(1 << 32))
# Of each kind of files so many are changed, beside those that once were in no key.
SAMPLE = 2
# (files, jobs that read each of them); checks of the text and source packages read all, and so do the scripts' own tests.
CHECKS = ("check/style", "check/docs", "scripts/quick", "scripts/slow", "packages/tree")
BUILDS = ("check/*modules",)
MADE = ("packages/made",)
GUESTS = ("guest/*", "kunit/*", "debug/*", "pages/*", "perf_events", "kexec")
READERS = [
    ("drivers/core/*", (*GUESTS, *BUILDS, *MADE)),
    *((f"drivers/{pmu}/*", (f"guest/{pmu}/*", f"kunit/{arch}/{pmu}*", "pages/*", *BUILDS, *MADE)) for pmu, arch in (
        ("cmn", "arm64"), ("intel_imc", "x86_64"), ("power_imc", "ppc64le"))),
    ("include/*", (*GUESTS, *BUILDS, *MADE)), ("Kbuild", (*GUESTS, *BUILDS, *MADE)), ("Makefile", (*GUESTS, *BUILDS, *MADE, "tools/*")), ("Kconfig", BUILDS),
    *((f"scripts/{name}", (*GUESTS, "models/*", *BUILDS)) for name in (
        "vm", "apt", "sparse", "conftest.sh", *(f"pmusuite/{name}.py" for name in (
            "arch", "build", "cache", "debian", "guest", "initrd", "kernel", "kernels", "ktap", "options", "qemu", "specs", "stuck",
            "turns")))),
    ("scripts/check", BUILDS), ("scripts/pages", ("pages/*",)), ("scripts/pmusuite/pages.py", ("pages/*",)),
    ("scripts/pmusuite/unittests.py", ("models/*", "tools/*", "differences", "kexec", "perf_events")),
    ("scripts/packaging/pmu-driver", ("guest/*/boot/*", "pages/*", *MADE)), ("scripts/packaging/pmu-top.service", ("tools/*", *MADE)),
    ("scripts/packaging/*", MADE),
    ("scripts/*", ()),
    ("tests/models/common/*", (*GUESTS, "models/*")), ("tests/models/*/specs.py", (*GUESTS, "models/*", "tools/*")),
    *((f"tests/models/{pmu}/*", (f"models/{arch}", f"guest/{pmu}/*", f"kunit/{arch}/*")) for pmu, arch in (
        ("cmn", "arm64"), ("intel_imc", "x86_64"), ("power_imc", "ppc64le"))),
    ("tests/models/*", ("models/*", "guest/*")),
    ("tests/kunit/core/*", ("kunit/x86_64/pmu_core_test",)), ("tests/kunit/cmn/*", ("kunit/arm64/cmn_test",)),
    ("tests/kunit/intel_imc/*", ("kunit/x86_64/intel_imc_test",)), ("tests/kunit/power_imc/*", ("kunit/ppc64le/power*",)),
    ("tests/kunit/configs/*", ("guest/*/kunit/*",)),
    ("tests/kunit/*", ("kunit/*",)),
    ("tests/guest/*.[ch]", GUESTS), ("tests/guest/init", GUESTS), ("tests/guest/lib.sh", ("guest/*",)),
    *((f"tests/guest/{pmu}/lib.sh", (f"guest/{pmu}/*",)) for pmu in ("cmn", "intel_imc", "power_imc")),
    ("tests/guest/kunit.sh", ("kunit/*",)), ("tests/guest/boot.sh", ("guest/*/boot/*",)),
    ("tests/guest/check.sh", ("guest/*/check/*",)), ("tests/guest/top.sh", ("guest/*/top/*",)),
    ("tests/guest/*/*.sh", ()), ("tests/guest/*", ()),
    ("tests/kexec/*", ("kexec",)), ("tests/perf_events/*", ("perf_events",)), ("tests/tools/*", ("tools/*",)),
    ("tests/scripts/*", ()), ("tests/packages/*", MADE), ("tests/mutations/*", ()), ("tests/bench/*", ()),
    ("tools/*", ("tools/*", "guest/*/top/*", "guest/*/check/*", "pages/*", *MADE)),
    ("Documentation/tools/*", ("tools/*", *MADE)), ("Documentation/*", MADE), ("README.md", MADE), ("CHANGELOG.md", MADE), ("COPYING", MADE),
    ("*", ()),
]
# (file, a job whose result was kept when it had changed)
ONCE_KEPT = [("CHANGELOG.md", "check/style"), (".reuse/dep5", "check/style"), ("Documentation/conf.py", "check/docs"),
             (".codespellrc", "check/docs"), ("COPYING", "packages/made"), ("tests/models/cmn/specs.py", "tools/quick")]
# What no guest reads. Jobs that build or read all of the tree run, and no other.
READ_BY_NO_GUEST = ("scripts/packaging/pmu-driver.8", "scripts/packaging/debian/changelog", "scripts/pictures", "scripts/bench",
                    "scripts/demo", "scripts/coverage", "scripts/mutate", "scripts/Containerfile", "scripts/checkpatch.exceptions",
                    "scripts/pmusuite/prune.py", "scripts/pmusuite/campaign.py", "scripts/pmusuite/jobs.py", "scripts/pmusuite/kept.py",
                    "scripts/test", "scripts/setup", "scripts/check", "tests/scripts/test_kept.py", "tests/bench/reads.sh",
                    "tests/packages/inroot.py", "CHANGELOG.md", "README.md", ".ci/run", "Kconfig")


class Kept(unittest.TestCase):
    """Results that are not made again"""

    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.root, self.host = Path(directory.name), "programs"
        for target, name, value in ((kept, "RESULTS", self.root / "results"), (cache, "TREE", self.root),
                                    (choice, "CHOSEN", self.root / "chosen"), (host, "key", lambda: self.host)):
            patch = unittest.mock.patch.object(target, name, value)
            patch.start()
            self.addCleanup(patch.stop)
        (self.root / "source").write_text("1")
        self.job = jobs.Job("job", ("true",), sources=("source",))

    def key(self, job):
        return kept.keys([job])[job]

    def get(self, job):
        return kept.get(self.key(job))

    def test_until_something_changes(self):
        results = [ktap.Result(ktap.OK, "a", ["note"]), ktap.Result(ktap.OK, "b")]
        self.assertIsNone(self.get(self.job))
        kept.put(self.job, self.key(self.job), 1.5, results)
        self.assertEqual(self.get(self.job), (1.5, results))
        self.assertIsNone(self.get(dataclasses.replace(self.job, command=("false",))))
        (self.root / "other").write_text("2")
        self.assertEqual(self.get(self.job), (1.5, results))
        (self.root / "source").write_text("2")
        self.assertIsNone(self.get(self.job))

    def test_until_a_program_of_the_host_changes(self):
        kept.put(self.job, self.key(self.job), 1.5, [ktap.Result(ktap.OK, "a")])
        self.assertTrue(self.get(self.job))
        self.host = "others"
        self.assertIsNone(self.get(self.job))

    def test_until_something_else_is_chosen(self):
        """A fresh machine chooses while the job runs, and more while others run; that is no change."""
        choice.CHOSEN.mkdir()
        key = self.key(self.job)
        (choice.CHOSEN / "kernel-x86_64-6.1-0.json").write_text("1")
        kept.put(self.job, key, 1.5, [ktap.Result(ktap.OK, "a")])
        (choice.CHOSEN / "kernel-x86_64-6.12-0.json").write_text("1")
        self.assertTrue(self.get(self.job))
        (choice.CHOSEN / "kernel-x86_64-6.1-0.json").write_text("2")
        self.assertIsNone(self.get(self.job))

    def test_what_nobody_asks_for_any_more_may_go(self):
        choice.CHOSEN.mkdir()
        (old := choice.CHOSEN / "kernel-x86_64-6.1-0.json").write_text("1")
        os.utime(old, (kept.BEGAN - 1, kept.BEGAN - 1))
        kept.put(self.job, self.key(self.job), 1.5, [ktap.Result(ktap.OK, "a")])
        old.unlink()
        self.assertTrue(self.get(self.job))

    def test_what_did_not_pass_is_not_kept(self):
        for status in (ktap.FAILED, ktap.SKIPPED):
            kept.put(self.job, self.key(self.job), 1.5, [ktap.Result(ktap.OK, "a"), ktap.Result(status, "b")])
            self.assertIsNone(self.get(self.job))

    def test_what_depends_on_more_than_is_here_is_not_kept(self):
        job = dataclasses.replace(self.job, keep=False)
        kept.put(job, self.key(job), 1.5, [ktap.Result(ktap.OK, "a")])
        self.assertIsNone(self.get(job))

    def test_what_changed_while_it_ran_is_not_kept(self):
        key = self.key(self.job)
        (self.root / "source").write_text("2")
        kept.put(self.job, key, 1.5, [ktap.Result(ktap.OK, "a")])
        self.assertIsNone(kept.get(key))
        self.assertIsNone(self.get(self.job))


class Tree(unittest.TestCase):
    """The tree's own jobs, in a copy of it that is changed"""

    @classmethod
    def setUpClass(cls):
        directory = tempfile.TemporaryDirectory()
        cls.addClassCleanup(directory.cleanup)
        cls.root = Path(directory.name) / "tree"
        cls.names = cache.tree_files(".")
        for name in cls.names:
            (cls.root / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(cache.TREE / name, cls.root / name)
        subprocess.run(["git", "init", "-q", cls.root], check=True)
        cls.jobs = jobs.select([])
        patch = unittest.mock.patch.object(cache, "TREE", cls.root)
        patch.start()
        cls.addClassCleanup(patch.stop)
        cls.before = kept.keys(cls.jobs)
        print(f"# | SEED={SEED}")

    def anew(self):
        """The names of the jobs that would be run."""
        after = kept.keys(self.jobs)
        return {job.name for job in self.jobs if after[job] != self.before[job]}

    def changed(self, name):
        """The names of the jobs that would be run if one character of the file @name were another."""
        path, chance = self.root / name, random.Random(f"{SEED} {name}")
        text = path.read_bytes()
        place = chance.randrange(len(text) or 1)
        path.write_bytes(text[:place] + (b"y" if text[place:place + 1] == b"x" else b"x") + text[place + 1:])
        try:
            return self.anew()
        finally:
            path.write_bytes(text)

    def readers(self, name):
        """The names of the jobs that read it."""
        patterns = next(patterns for files, patterns in READERS if fnmatch.fnmatch(name, files))
        found = {job.name for pattern in (*CHECKS, *patterns) for job in self.jobs if fnmatch.fnmatch(job.name, pattern)}
        file = name.removeprefix("tests/").removesuffix(".sh")
        return found | {job.name for job in self.jobs if job.name.startswith(f"{file}/") or f"{job.name}.md" ==
                        name.replace("Documentation/", "pages/")}

    def sample(self):
        """Of each kind of file some: by place, and by how the name ends."""
        kinds = {}
        for name in self.names:
            place = next(files for files, _ in READERS if fnmatch.fnmatch(name, files))
            kinds.setdefault((place, os.path.splitext(name)[1]), []).append(name)
        return [name for kind, names in kinds.items()
                for name in random.Random(f"{SEED} {kind}").sample(names, min(SAMPLE, len(names)))]

    def test_one_character_of_any_file_runs_the_jobs_that_read_it(self):
        for name in sorted({*self.sample(), *(name for name, _ in ONCE_KEPT)}):
            with self.subTest(name, seed=SEED):
                self.assertEqual(self.readers(name) - self.changed(name), set())
        self.assertEqual(self.anew(), set())

    def test_what_was_kept_once(self):
        for name, job in ONCE_KEPT:
            with self.subTest(name):
                self.assertIn(job, self.changed(name))

    def test_what_no_guest_reads_runs_none(self):
        every = {job.name for job in self.jobs if any(fnmatch.fnmatch(job.name, pattern) for pattern in (*CHECKS, *BUILDS, *MADE))}
        for name in READ_BY_NO_GUEST:
            with self.subTest(name):
                self.assertEqual(self.changed(name) - every, set())

    def test_what_is_in_no_package_makes_none(self):
        for name in ("scripts/bench", "scripts/demo", "tests/guest/cmn/counts.sh", "tests/kunit/Kbuild", "tests/scripts/test_kept.py", ".ci/run"):
            with self.subTest(name):
                self.assertNotIn(*MADE, self.changed(name))

    def test_a_page_runs_no_guest_but_its_own(self):
        found = self.changed("Documentation/tasks.md")
        self.assertEqual(found, {*CHECKS, *MADE, "pages/tasks"})

    def test_a_program_that_is_none_any_more(self):
        programs = [name for name in self.names if os.access(self.root / name, os.X_OK)]
        for name in ("scripts/packaging/export", *random.Random(SEED).sample(programs, 3), "README.md"):
            mode = (path := self.root / name).stat().st_mode
            path.chmod(mode ^ 0o111)
            with self.subTest(name, seed=SEED):
                self.assertLessEqual({*CHECKS}, self.anew())
            path.chmod(mode)

    def test_a_file_that_comes_and_one_that_goes(self):
        (self.root / "drivers/new.c").touch()
        self.assertLessEqual({*CHECKS, "pages/cmn"}, self.anew())
        (self.root / "drivers/new.c").rename(path := self.root / "new.md")
        self.assertEqual({*CHECKS}, self.anew())
        path.unlink()
        (self.root / "COPYING").rename(path)
        self.assertEqual({*CHECKS, *MADE}, self.anew())
        path.rename(self.root / "COPYING")

    def test_a_tag_has_to_be_of_the_version(self):
        git = ["git", "-C", self.root, "-c", "user.name=test", "-c", "user.email=test@example.org"]
        subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "test"], check=True)
        self.assertEqual(self.anew(), set())
        subprocess.run([*git, "tag", "v99"], check=True)
        self.addCleanup(subprocess.run, [*git, "tag", "-d", "v99"], check=True, stdout=subprocess.DEVNULL)
        self.assertEqual({*CHECKS}, self.anew())

    def test_what_a_job_depends_on_is_there(self):
        for job in (*self.jobs, *jobs.select(["soak", "kernels"])):
            missing = [source for source in job.sources if not (cache.TREE / source).exists()]
            self.assertEqual(missing, [], job.name)


class Host(unittest.TestCase):
    """The programs that decide, beside the tree"""

    def key(self):
        host.key.cache_clear()
        self.addCleanup(host.key.cache_clear)
        return host.key()

    def test_what_setup_installs_is_known(self):
        wanted = host.wanted()
        for name in ("shellcheck", "sparse", "pyflakes3", "codespell", "python3-sphinx", "python3-rich", "gcc",
                     "mmdebstrap", "clang"):
            self.assertIn(name, wanted)
        lines = (cache.TREE / "scripts/setup").read_text().split("<<-EOT")[1].split("EOT")[0].splitlines()
        self.assertEqual(len(wanted), sum(bool(line.split("#")[0].strip()) for line in lines))
        versions = host.packages()
        for name in ("gcc", "make", "git"):
            self.assertRegex(versions[name], r"\d")
        self.assertTrue([name for name in versions if name.startswith("gcc-1")])     # what gcc depends on

    def test_another_version_of_a_package(self):
        before, versions = self.key(), host.packages()
        for name in ("shellcheck", "python3-sphinx", "python3-rich", "codespell", "pyflakes3", "sparse"):
            with unittest.mock.patch.object(host, "packages", lambda name=name: versions | {name: "0"}):
                self.assertNotEqual(self.key(), before)
        self.assertEqual(self.key(), before)

    def test_a_program_that_comes_first_in_path(self):
        before = self.key()
        with tempfile.TemporaryDirectory() as directory:
            program = Path(directory) / "make"
            program.write_text("#!/bin/sh\n")
            with unittest.mock.patch.dict(os.environ, PATH=f"{directory}:{os.environ['PATH']}"):
                self.assertEqual(self.key(), before)        # nobody can run it
                program.chmod(0o755)
                first = self.key()
                self.assertNotEqual(first, before)
                program.write_text("#!/bin/sh\nexit 1\n")
                self.assertNotEqual(self.key(), first)
        self.assertEqual(self.key(), before)
