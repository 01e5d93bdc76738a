# SPDX-License-Identifier: GPL-2.0-only
"""What tools and packages know of Xeons is made from the driver's table."""
import unittest
import unittest.mock

from pmusuite import xeons
from pmusuite.cache import TREE


class Made(unittest.TestCase):
    def test_files_are_as_made(self):
        for name, text in xeons.files().items():
            self.assertEqual((TREE / name).read_text(), text, f"{name}: run scripts/xeons")

    def test_a_new_processor_is_a_row(self):
        """A row of the driver's table and nothing else: the README has its CPU model, and pmu-top its rows."""
        read, row = xeons._read, '''	[INTEL_IMC_NEW] = {
		.name = "New Lake", .models = { 0xe3 },
		.kind = &intel_imc_gnr_like_kind,
		.layout = &intel_imc_spr_layout, .blocks = &intel_imc_table_blocks,
		.ubox = 0x3250, .ubox_nodeid = 0xc0, .ubox_map = 0xd4,
	},
'''
        with unittest.mock.patch.object(xeons, "_read", lambda name: read(name).replace("\t[INTEL_IMC_SPR] = {", row + "\t[INTEL_IMC_SPR] = {")):
            made = xeons.files()
        self.assertIn('    227: ("New Lake", 1, {}, "gnr"),', made[xeons.MADE])
        self.assertIn("221 or 227: [Xeon D", made[xeons.README])
        self.assertEqual((TREE / xeons.DRIVER).read_text(), made[xeons.DRIVER])

    def test_every_processor_is_there(self):
        """By words of the driver's that the table is not made of."""
        text = (TREE / "drivers/intel_imc/main.c").read_text()
        self.assertEqual(len(list(xeons.rows())), text.count("\n\t[INTEL_IMC_"))
        self.assertEqual(len(xeons.ids()), text.count("INTEL_IMC_ID(0x"))
        self.assertEqual({row[5] for row in xeons.rows()}, {None, False, True})


if __name__ == "__main__":
    unittest.main()
