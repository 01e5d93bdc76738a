# SPDX-License-Identifier: GPL-2.0-only
"""A mesh, read from what the drivers draw."""
import unittest

import tree
from pmutools import mesh
from pmutools.errors import ToolError

DRAWING, MAP = mesh.places("arm_cmn_0")


class TestMesh(unittest.TestCase):
    def test_our_drawing(self):
        found = mesh.of(tree.machine(self, "cmn700"), "arm_cmn_0")
        self.assertEqual((found["width"], found["height"]), (4, 2))
        self.assertIn("CMN-700 r2p0", found["title"])
        self.assertEqual([xp["id"] for xp in found["xps"]], [0x00, 0x20, 0x40, 0x60, 0x08, 0x28, 0x48, 0x68])
        self.assertEqual([xp["dtc"] for xp in found["xps"]], [0, 0, 1, 1, 0, 0, 1, 1])
        self.assertEqual(found["xps"][1]["ports"]["2"], {"type": "HN-F", "devices": [
            {"id": 0x24, "nodes": ["HN-F#4"]}, {"id": 0x25, "nodes": ["HN-F#5"]}]})
        self.assertEqual(found["xps"][0]["ports"]["0"], {"type": "RN-F_E_E", "devices": []})

    def test_the_map_has_the_same_home_nodes(self):
        ours = mesh.of(tree.machine(self, "cmn700"), "arm_cmn_0")
        other = mesh.of(tree.machine(self, "cmn700", {DRAWING: None}), "arm_cmn_0")
        self.assertEqual([xp["id"] for xp in other["xps"]], [xp["id"] for xp in ours["xps"]])
        self.assertEqual([xp["dtc"] for xp in other["xps"]], [xp["dtc"] for xp in ours["xps"]])
        self.assertEqual([(node, name) for _, node, name in mesh.nodes(other, "HN-F")],
                         [(node, name) for _, node, name in mesh.nodes(ours, "HN-F")])
        self.assertEqual(len(mesh.nodes(ours, "HN-F")), 7)

    def test_nodes_of_a_kind(self):
        found = mesh.of(tree.machine(self, "cmn700"), "arm_cmn_0")
        self.assertEqual([(node, name) for _, node, name in mesh.nodes(found, "RN-I")],
                         [(0x40, "RN-I#0"), (0x60, "RN-D#0"), (0x4e, "RN-I#0")])
        self.assertEqual(len(mesh.nodes(found, "XP")), 8)

    def test_a_user_who_may_not_look(self):
        self.assertIsNone(mesh.of(tree.machine(self, "cmn700", {DRAWING: None, MAP: None}), "arm_cmn_0"))

    def test_what_is_no_mesh(self):
        for text in "nonsense", "a\ny=0 |x|\n", "1    | XP #1  | XP #2  |\n0    | XP #0  |\n":
            with self.subTest(text), self.assertRaisesRegex(ToolError, "no drawing of a mesh"):
                mesh.of(tree.machine(self, "cmn700", {DRAWING: text}), "arm_cmn_0")

    def test_places_of_further_meshes(self):
        self.assertEqual(mesh.places("arm_cmn_2")[1], "sys/kernel/debug/arm-cmn/map_2")
