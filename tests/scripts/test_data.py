# SPDX-License-Identifier: GPL-2.0-only
"""Data outside of the tree: one place, and a sentence where it is not."""
import re
import tempfile
import unittest
import unittest.mock
from pathlib import Path

from pmusuite import cache, data, specs


class Place(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.root = Path(directory.name)
        patch = unittest.mock.patch.object(data, "ROOT", self.root)
        patch.start()
        self.addCleanup(patch.stop)

    def test_what_is_there(self):
        file = self.root / data.P9_CATALOG
        file.parent.mkdir(parents=True)
        file.touch()
        self.assertEqual(data.path(data.P9_CATALOG), file)

    def test_what_is_not_there_has_an_origin(self):
        for name, origin in ((data.P9_CATALOG, "open-power/ima-catalog"), (data.P10_CATALOG, "open-power/ima-catalog"),
                             (data.CMN_EVENTS, "arm-cmn.c"), (data.XEON_EVENTS, "intel/perfmon")):
            with self.subTest(name):
                self.assertIsNone(data.path(name))
                for part in (str(self.root / name), origin, "PMU_DATA"):
                    self.assertIn(part, data.missing(name))

    def test_a_guest_that_wants_it_says_so(self):
        for model in ("power9", "power10"):
            with self.subTest(model), self.assertRaisesRegex(cache.Error, "catalog=real: .*open-power/ima-catalog"):
                specs.qemu_args(f"{model},catalog=real")

    def test_nothing_else_reaches_out_of_the_tree(self):
        outside = re.compile(r"TREE[.]parent|[.][.]/shared/")
        code = cache.tree_files("scripts", "tests", "drivers", "include", "Makefile", "Kbuild", ".ci")
        reaching = [name for name in code if outside.search((cache.TREE / name).read_text(errors="replace"))]
        self.assertEqual(reaching, ["scripts/pmusuite/data.py"])
