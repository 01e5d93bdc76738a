# SPDX-License-Identifier: GPL-2.0-only
"""What tools and packages know of Xeons is made from the driver's table."""
import unittest

from pmusuite import xeons
from pmusuite.cache import TREE


class Made(unittest.TestCase):
    def test_files_are_as_made(self):
        for name, text in xeons.files().items():
            self.assertEqual((TREE / name).read_text(), text, f"{name}: run scripts/xeons")

    def test_every_processor_is_there(self):
        """By words of the driver's that the table is not made of."""
        text = (TREE / "drivers/intel_imc/main.c").read_text()
        self.assertEqual(len(list(xeons.rows())), text.count("\n\t[INTEL_IMC_"))
        self.assertEqual(len(xeons.ids()), text.count("INTEL_IMC_ID(0x"))
        self.assertEqual({row[5] for row in xeons.rows()}, {None, False, True})


if __name__ == "__main__":
    unittest.main()
