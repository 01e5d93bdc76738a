# SPDX-License-Identifier: GPL-2.0-only
"""What is fetched: the versions in the tree, and what takes the place of those that the mirror has dropped."""
import contextlib
import importlib.machinery
import importlib.util
import io
import tempfile
import unittest
import unittest.mock
from pathlib import Path

from pmusuite import cache, debian, pins

NAME = "program-arm64"


def every():
    """The pins that scripts/pin knows."""
    loader = importlib.machinery.SourceFileLoader("pin", str(cache.TREE / "scripts/pin"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("pin", loader))
    with unittest.mock.patch.object(cache, "main"):
        loader.exec_module(module)
    return list(module.every())


class Tree(unittest.TestCase):
    def test_all_that_is_fetched_is_pinned(self):
        self.assertEqual({pin.file for pin in every()}, set(pins.DIRECTORY.iterdir()))

    def test_every_pin_names_exact_versions(self):
        for pin in every():
            with self.subTest(pin.name):
                packages = [package for found in pin.packages(pin.pinned()).values() for package in found]
                self.assertTrue(packages)
                for package in packages:
                    self.assertRegex(package, r"^[a-z0-9][a-z0-9+.-]+=(\d+:)?\d[\w.+~-]*$")
                self.assertEqual(pin.differences(pin.pinned(), pin.pinned()), [])


class Pins(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        root = Path(directory.name)
        (root / "pins").mkdir()
        self.lost, self.offered = [], ["a=2", "b=2"]
        for target, name, value in ((pins, "DIRECTORY", root / "pins"), (pins, "TAKEN", root / "taken"),
                                    (debian, "lost", lambda arch, packages: sorted({*packages} & {*self.lost}))):
            patch = unittest.mock.patch.object(target, name, value)
            patch.start()
            self.addCleanup(patch.stop)
        self.looked = 0
        self.write(["a=1", "b=1"])

    def write(self, value):
        (pins.DIRECTORY / f"{NAME}.json").write_text(pins.dump(value))

    def find(self):
        self.looked += 1
        return self.offered

    def get(self):
        """(what is used, what is said), of a script that has just begun"""
        with contextlib.redirect_stderr(io.StringIO()) as said:
            found = pins.Pin(NAME, self.find, lambda value: {"arm64": value}).get()
        return found, said.getvalue()

    def test_what_is_pinned_is_used_whatever_is_newer(self):
        self.assertEqual(self.get(), (["a=1", "b=1"], ""))
        self.assertEqual(self.looked, 0)

    def test_a_pin_that_is_broken_is_named(self):
        (pins.DIRECTORY / f"{NAME}.json").write_text('["a=1"x"b=1"]')
        for ask in self.get, lambda: pins.key("*"):
            with self.assertRaisesRegex(cache.Error, f"{NAME}.json is no JSON: .*column"):
                ask()

    def test_what_the_mirror_has_lost_is_replaced_and_that_is_said(self):
        self.lost = ["a=1"]
        found, said = self.get()
        self.assertEqual(found, ["a=2", "b=2"])
        self.assertIn("the mirror has no a=1", said)
        self.assertIn(f"{NAME} is not as pinned: a 1 -> 2, b 1 -> 2\n", said)

    def test_it_is_kept_and_said_each_time(self):
        self.lost = ["a=1"]
        self.get()
        self.lost, self.offered = [], ["a=3", "b=3"]
        self.assertEqual(self.get(), (["a=2", "b=2"], f"== {NAME} is not as pinned: a 1 -> 2, b 1 -> 2\n"))
        self.assertEqual(self.looked, 1)

    def test_what_has_taken_its_place_may_be_lost_as_well(self):
        self.lost = ["a=1"]
        self.get()
        self.lost, self.offered = ["a=1", "b=2"], ["a=3", "b=3"]
        found, said = self.get()
        self.assertEqual(found, ["a=3", "b=3"])
        self.assertIn(f"{NAME}: the mirror has no b=2: looking for what is nearest\n", said)
        self.assertIn(f"{NAME} is not as pinned: a 1 -> 3, b 1 -> 3\n", said)
        self.lost, self.offered = [], ["a=4", "b=4"]
        self.assertEqual(self.get()[0], ["a=3", "b=3"])

    def test_a_pin_that_was_there_may_be_lost_before_it_is_downloaded(self):
        self.assertEqual(self.get()[0], ["a=1", "b=1"])
        self.lost = ["b=1"]
        found, said = self.get()
        self.assertEqual(found, ["a=2", "b=2"])
        self.assertEqual(said.count("the mirror has no b=1"), 1)

    def test_a_pin_that_comes_back(self):
        self.lost = ["a=1"]
        self.get()
        self.lost = ["a=2"]
        self.assertEqual(self.get()[0], ["a=1", "b=1"])

    def test_what_was_decided_holds_while_there_is_no_mirror(self):
        def nobody(arch, packages):
            raise cache.Error("no network")

        with unittest.mock.patch.object(debian, "lost", nobody):
            with self.assertRaises(cache.Error):
                self.get()
        self.get()
        with unittest.mock.patch.object(debian, "lost", nobody):
            self.assertEqual(self.get()[0], ["a=1", "b=1"])

    def test_another_pin_is_tried_anew(self):
        self.lost = ["a=1"]
        self.get()
        self.lost = []
        self.write(["a=4", "b=4"])
        self.assertEqual(self.get(), (["a=4", "b=4"], ""))

    def test_what_is_not_pinned_is_found_once(self):
        (pins.DIRECTORY / f"{NAME}.json").unlink()
        self.assertEqual(self.get(), (["a=2", "b=2"], ""))
        self.assertEqual(self.get(), (["a=2", "b=2"], ""))
        self.assertEqual(self.looked, 1)

    def test_results_of_tests_depend_on_what_is_used(self):
        pinned = pins.key("*-arm64*")
        self.get()
        self.assertEqual(pins.key("*-arm64*"), pinned)
        self.assertNotEqual(pins.key("*-x86_64*"), pinned)
        self.write(["a=5"])
        changed = pins.key("*-arm64*")
        self.assertNotEqual(changed, pinned)
        self.lost = ["a=5"]
        self.get()
        self.assertNotEqual(pins.key("*-arm64*"), changed)

    def test_libraries_are_found_once_for_what_is_pinned(self):
        def libraries():
            with contextlib.redirect_stderr(io.StringIO()) as said:
                return pins.with_libraries(pins.Pin(NAME, self.find, lambda value: {"arm64": value}), "arm64"), said.getvalue()

        offered = ["libc=1"]
        with unittest.mock.patch.object(debian, "closure_names", lambda arch, packages, unused: [*offered, *packages]):
            self.assertEqual(libraries(), (["libc=1", "a=1", "b=1"], ""))
            key, offered[:] = pins.key("*-arm64*"), ["libc=2"]
            self.assertEqual(libraries(), (["libc=1", "a=1", "b=1"], ""))
            self.lost = ["libc=1"]      # before it was downloaded
            found, said = libraries()
            self.assertEqual(found, ["libc=2", "a=1", "b=1"])
            self.assertIn("the mirror has no libc=1", said)
            self.assertEqual(pins.key("*-arm64*"), key)     # no library decides a result
            self.write(["a=4"])
            self.assertEqual(libraries()[0], ["libc=2", "a=4"])

    def test_what_has_changed(self):
        pin = pins.Pin(NAME, self.find, lambda value: {"arm64": value})
        self.assertEqual(pin.differences(["a=1", "b=1", "c=1"], ["b=1", "c=1:2~3", "d=1"]),
                         ["a 1 -> none", "c 1 -> 1:2~3", "d none -> 1"])
        self.assertEqual(pin.differences(None, ["a=1"]), ["a none -> 1"])


class Mirror(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.root = Path(directory.name)
        # An apt that knows of one version of each of two packages, one of them as a source alone.
        apt = self.root / "apt"
        apt.write_text("#!/bin/sh\necho \"$@\" >> ${0}.called\n[ \"$2\" != cache ] || cat << EOT\n"
                       " there |  1:2+b1 | http://mirror bookworm/main amd64 Packages\n"
                       "source |      1.0 | http://mirror bookworm/main Sources\nEOT\n")
        apt.chmod(0o755)
        for target, name, value in ((debian, "APT", apt), (cache, "ROOT", self.root)):
            patch = unittest.mock.patch.object(target, name, value)
            patch.start()
            self.addCleanup(patch.stop)

    def test_lists_are_asked(self):
        self.assertEqual(debian.lost("amd64", ["there=1:2+b1", "there=1:1", "source=1.0", "gone=1"]),
                         ["gone=1", "source=1.0", "there=1:1"])

    def test_what_was_downloaded_needs_no_mirror(self):
        store = self.root / "debs/amd64"
        store.mkdir(parents=True)
        (store / "gone_1%3a2_amd64.deb").touch()
        self.assertEqual(debian.lost("amd64", ["gone=1:2"]), [])
        self.assertFalse((self.root / "apt.called").exists())
