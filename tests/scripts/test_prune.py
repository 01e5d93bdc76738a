# SPDX-License-Identifier: GPL-2.0-only
"""What is removed from the cache, and what is not: what somebody uses."""
import contextlib
import io
import json
import multiprocessing
import os
import tempfile
import time
import unittest
import unittest.mock
from pathlib import Path

from pmusuite import cache, choice, debian, kept, prune


def build(directory):
    (directory / "file").write_text("1" * 10000)


class Prune(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.root = Path(directory.name)
        for target, name, value in ((cache, "ROOT", self.root), (kept, "RESULTS", self.root / "results"),
                                    (choice, "CHOSEN", self.root / "chosen")):
            patch = unittest.mock.patch.object(target, name, value)
            patch.start()
            self.addCleanup(patch.stop)
        self.entry = cache.entry("kernel", "x86_64-6.1", build)

    def run_it(self):
        with contextlib.redirect_stderr(io.StringIO()) as said:
            prune.run()
        return said.getvalue()

    def age(self, path, weeks=prune.WEEKS + 1):
        then = time.time() - weeks * 7 * 24 * 3600
        os.utime(path, (then, then))

    def age_entry(self, **weeks):
        self.age(cache.stamp("kernel-x86_64-6.1"), **weeks)

    def test_what_is_old_goes_and_that_is_said(self):
        self.age_entry()
        said = self.run_it()
        self.assertEqual(list(self.entry.parent.iterdir()), [])
        self.assertIn(f"removed from {self.root}, since nobody has used it for 4 weeks", said)
        self.assertRegex(said, r"kernel \(1\); \d+ MB")
        self.assertEqual(self.run_it(), "")

    def test_what_is_young_stays(self):
        self.age_entry(weeks=prune.WEEKS - 1)
        self.assertEqual(self.run_it(), "")
        self.assertTrue((self.entry / "file").exists())

    def test_what_was_used_stays(self):
        self.age_entry()
        self.assertEqual(cache.entry("kernel", "x86_64-6.1", self.fail), self.entry)
        self.assertEqual(self.run_it(), "")
        self.assertTrue((self.entry / "file").exists())

    def test_what_another_checkout_has_under_its_lock_stays(self):
        self.age_entry()
        begun, over = multiprocessing.Event(), multiprocessing.Event()

        def other():
            with cache.lock("kernel-x86_64-6.1"):
                begun.set()
                over.wait(60)

        process = multiprocessing.Process(target=other)
        process.start()
        self.assertTrue(begun.wait(60))
        self.assertEqual(self.run_it(), "")
        self.assertTrue((self.entry / "file").exists())
        over.set()
        process.join()
        self.assertIn("kernel (1)", self.run_it())

    def test_what_was_used_between_two_looks_stays(self):
        self.age_entry()
        real = prune._remove

        def remove(*arguments):
            cache.entry("kernel", "x86_64-6.1", self.fail)
            return real(*arguments)

        with unittest.mock.patch.object(prune, "_remove", remove):
            self.assertEqual(self.run_it(), "")
        self.assertTrue((self.entry / "file").exists())

    def test_an_entry_of_an_older_checkout_gets_its_weeks(self):
        cache.stamp("kernel-x86_64-6.1").unlink()
        self.age(self.entry)
        self.assertEqual(self.run_it(), "")
        self.age_entry()
        self.assertIn("kernel (1)", self.run_it())

    def test_a_build_that_was_killed(self):
        partial = self.root / "debug-kernel" / f".key{cache.PARTIAL}"
        partial.mkdir(parents=True)
        (partial / "vmlinux").touch()
        with cache.lock("debug-kernel-key"):
            self.assertEqual(self.run_it(), "")     # it is being built
        self.assertIn("debug-kernel (1)", self.run_it())
        self.assertFalse(partial.exists())

    def test_what_is_no_entry_stays(self):
        for name in ("logs/today", "root-of-a-test/upper"):
            path = self.root / name
            path.mkdir(parents=True)
            self.age(path)
        self.assertEqual(self.run_it(), "")
        self.assertTrue((self.root / "logs/today").exists())

    def test_packages(self):
        store = self.root / "debs/amd64/trixie"
        store.mkdir(parents=True)
        for name in ("old_1_amd64.deb", "new_1%3a2_amd64.deb"):
            (store / name).touch()
        self.assertEqual(debian.fetch("amd64/trixie", ["old=1", "new=1:2"]), [])
        for path in (self.root / "used").glob("debs*"):
            self.age(path)
        self.assertEqual(debian.fetch("amd64/trixie", ["new=1:2"]), [])
        self.age(store / "new_1%3a2_amd64.deb")     # apt gives it the mirror's time
        self.assertIn("debs (1)", self.run_it())
        self.assertEqual([path.name for path in store.iterdir()], ["new_1%3a2_amd64.deb"])

    def test_packages_that_were_chosen_stay(self):
        """The mirror may have dropped them."""
        store = self.root / "debs/amd64"
        for directory in store, choice.CHOSEN:
            directory.mkdir(parents=True)
        (choice.CHOSEN / "udev-0.json").write_text(json.dumps(["udev", {"a": ["amd64", ["udev=1:1"]], "b": ["amd64", ["linux-image=3"]]}]))
        names = ["udev_1%3a1_amd64.deb", "udev_1_amd64.deb", "linux-image_3_amd64.deb"]
        for name in names:
            (store / name).touch()
            cache.used(debian.stamp_of("amd64", store / name))
            self.age(cache.stamp(debian.stamp_of("amd64", store / name)))
        self.assertIn("debs (1)", self.run_it())
        self.assertEqual(sorted(path.name for path in store.iterdir()), sorted({*names} - {names[1]}))

    def test_what_was_chosen_by_nobody_s_rules_any_more(self):
        """Not so what a run uses, nor what a result that is kept was seen with."""
        choice.CHOSEN.mkdir()
        for name in ("udev-x86_64-old", "udev-x86_64-used", "udev-x86_64-kept"):
            path = choice.CHOSEN / f"{name}.json"
            path.write_text(json.dumps(["udev", {}]))
            self.age(path)
        kept.RESULTS.mkdir()
        (kept.RESULTS / "key.json").write_text(json.dumps({"seconds": 1, "results": [], "chosen": choice.made("*-kept")}))
        self.assertTrue(kept.get("key"))
        used = choice.Choice("udev-x86_64", None, None)
        with unittest.mock.patch.object(choice.Choice, "file", choice.CHOSEN / "udev-x86_64-used.json"):
            self.assertEqual(used.get(), ["udev", {}])
        self.assertIn("chosen (1)", self.run_it())
        self.assertEqual(sorted(choice.made("*")), ["udev-x86_64-kept", "udev-x86_64-used"])

    def test_a_mount_is_found_by_its_real_place(self):
        (self.root / "a b").mkdir()
        (self.root / "link").symlink_to("a b")
        place = str((self.root / "a b").resolve()).replace(" ", "\\040")
        line = f"1 2 0:3 / {place}/proc rw - proc proc rw\n"
        with unittest.mock.patch.object(Path, "read_text", return_value=line):
            self.assertTrue(prune._mounted(self.root / "link"))
            self.assertFalse(prune._mounted(self.root / "a"))

    def test_results(self):
        kept.RESULTS.mkdir()
        for name in ("old", "new"):
            path = kept.RESULTS / f"{name}.json"
            path.write_text('{"seconds": 1, "chosen": {}, "results": []}')
            self.age(path)
        self.assertTrue(kept.get("new"))
        self.assertIn("results (1)", self.run_it())
        self.assertEqual([path.name for path in kept.RESULTS.iterdir()], ["new.json"])
