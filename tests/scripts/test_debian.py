# SPDX-License-Identifier: GPL-2.0-only
"""Packages that have been downloaded."""
import tempfile
import unittest
import unittest.mock
from pathlib import Path

from pmusuite import cache, debian


class Shared(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.root = Path(directory.name)
        # No apt is asked: nothing is in any list.
        for target, name, value in ((cache, "ROOT", self.root), (debian, "_listed", lambda arch, packages: [])):
            patch = unittest.mock.patch.object(target, name, value)
            patch.start()
            self.addCleanup(patch.stop)

    def store(self, place):
        path = self.root / "debs" / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(place)

    def test_a_package_for_all_architectures_is_downloaded_once(self):
        self.store("amd64/headers_1%3a2_all.deb")
        self.assertEqual(debian.fetch("arm64", ["headers=1:2", "headers=1:3"]), ["headers=1:3"])
        self.assertEqual(debian.fetch("arm64", ["headers=1:2"]), [])

    def test_neither_is_half_a_package_nor_another_architecture_s(self):
        self.store("amd64/libc_2_amd64.deb")
        self.store(f"amd64/{cache.PARTIAL}/headers_2_all.deb")
        self.assertEqual(debian.fetch("arm64", ["libc=2", "headers=2"]), ["libc=2", "headers=2"])


class Absent(unittest.TestCase):
    def test_the_host_s_own_lists_are_fetched_once_to_see_that_an_architecture_is_absent(self):
        asked = []

        def update(arch, *now):
            asked.append((arch, *now))
            return None if arch == debian.host_arch() else "the mirror has nothing for it"

        with unittest.mock.patch.multiple(debian, _update=update, _updated={}, _absent=set()):
            for _ in range(3):
                self.assertRaisesRegex(cache.Lost, "nothing for it", debian.update, "other")
        self.assertEqual(asked, [("other",), (debian.host_arch(), "now")])
