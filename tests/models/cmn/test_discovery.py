# SPDX-License-Identifier: GPL-2.0-or-later
"""Discovery of the CMN models: conformance with
Documentation/hardware/cmn.md, 1.

Numbers in here are that page's, or computed from it; its sections are named
where a number comes from.
"""

import struct
import unittest

from models.common.qtest import CommandError, specs
from models.cmn import ssdt
from models.cmn.qtest import FIRST_SPI, Mesh, Node, VirtMachine

DN, CFG, DTC, HNI, HNF, XP, SBSX = 1, 2, 3, 4, 5, 6, 7
RNI, RND, RNSAM, MTSX, HNP = 0xa, 0xd, 0xf, 0x10, 0x11
CXRA, CXHA, CXLA, CCRA, CCHA, CCLA, CCLA_RNI = range(0x100, 0x107)
HNS, APB = 0x200, 0x1000


class CmnTest(unittest.TestCase):
    spec = "cmn600"
    product = None      # the key of Mesh.PRODUCTS unless it is the spec's

    def setUp(self):
        self.machine = VirtMachine(self.spec)
        self.addCleanup(self.machine.close)
        self.mesh = Mesh(self.machine,
                         self.product or self.spec.partition(",")[0])

    def assertRefused(self, text, *words):
        with self.assertRaises(CommandError) as caught:
            self.machine.control(*words)
        self.assertIn(text, str(caught.exception))


class MeshTest(unittest.TestCase):
    """A test starts the meshes it wants; spec is for the architecture."""
    spec = "cmn600"

    def machine(self, *all_specs):
        machine = VirtMachine(*all_specs)
        self.addCleanup(machine.close)
        return machine

    def mesh(self, spec, product=None, root=None):
        return Mesh(self.machine(spec), product or spec.partition(",")[0],
                    root=root)

    def discovered(self, *args, **kwargs):
        return self.mesh(*args, **kwargs).discover()


class Cmn600(CmnTest):
    def setUp(self):
        super().setUp()
        self.mesh.discover()

    def test_words_of_section_9_2_1(self):
        self.assertEqual(self.mesh.root.read(0), 0x00000000000c0002)
        self.assertEqual(self.mesh.root.read(0x80), 0x01000008)
        self.assertEqual(self.mesh.xps[0x08].read(0), 0x0000000400080006)
        self.assertEqual(self.mesh.xps[0x68].read(0), 0x0000000700680006)
        hnf = self.mesh.nodes[HNF, 0x24]
        self.assertEqual(hnf.read(0), 0x0000000300240005)
        dtc = self.mesh.nodes[DTC, 0x68]
        self.assertEqual(dtc.read(0), 0x0000000100680003)

    def test_an_xp_with_three_children(self):
        three = [xp for xp in self.mesh.xps.values()
                 if len(xp.children(self.mesh.mask)) == 3]
        self.assertTrue(three)
        for xp in three:
            self.assertEqual(xp.read(0x80), 0x01000003)

    def test_xp_ids_and_logical_ids_of_section_9_2(self):
        self.assertEqual(
            {xp.id: xp.logical for xp in self.mesh.xps.values()},
            {0x00: 0, 0x20: 1, 0x40: 2, 0x60: 3,
             0x08: 4, 0x28: 5, 0x48: 6, 0x68: 7})

    def test_every_type_of_node_with_events_is_there(self):
        types = {node_type for node_type, _ in self.mesh.nodes}
        self.assertEqual(types, {DN, DTC, HNI, HNF, SBSX, RNI, RND, RNSAM,
                                 CXRA, CXHA})

    def test_hn_d_is_several_nodes_of_one_id(self):
        for node_type in (DN, DTC, HNI):
            self.assertIn((node_type, 0x0c), self.mesh.nodes)
        self.assertEqual(self.mesh.root.id, 0x0c)

    def test_logical_ids_count_the_nodes_of_a_type(self):
        for node_type in (HNF, HNI, SBSX, DTC):
            nodes = self.mesh.of_type(node_type)
            self.assertEqual([node.logical for node in nodes],
                             list(range(len(nodes))))

    def test_leaves_have_no_children(self):
        for node in self.mesh.nodes.values():
            self.assertEqual(node.read(0x80), 0)

    def test_two_devices_share_a_port_by_cal(self):
        xp = self.mesh.xps[0x00]
        self.assertEqual(xp.read32(0x10), 0x0e | 1 << 7)
        self.assertIn((HNF, 0x04), self.mesh.nodes)
        self.assertIn((HNF, 0x05), self.mesh.nodes)
        self.assertEqual(xp.read(0x908), 2)

    def test_connected_devices(self):
        codes = {0x00: (0x05, 0x8e), 0x20: (0x0e, 0x0e), 0x40: (0x01, 0x0e),
                 0x60: (0x02, 0x0e), 0x08: (0x05, 0x0a), 0x28: (0x0d, 0x0d),
                 0x48: (0x05, 0x09), 0x68: (0x08, 0x13)}
        for xp, connected in codes.items():
            self.assertEqual((self.mesh.xps[xp].read32(0x08),
                              self.mesh.xps[xp].read32(0x10)), connected)

    def test_there_is_no_third_port_and_no_domain(self):
        for xp in self.mesh.xps.values():
            for offset in (0x18, 0x20, 0x28, 0x30, 0x38, 0x40, 0x910, 0x960):
                self.assertEqual(xp.read(offset), 0)
            self.assertEqual(xp.ports, 0)

    def test_what_is_outside_the_mesh_says_so(self):
        # 3 RN-SAMs of RN-Fs, and the CXLA
        self.assertEqual(len(self.mesh.externals), 4)

    def test_nobody_answers_for_what_is_outside(self):
        self.machine.stats("cmn0")
        node = self.mesh.externals[0]
        self.assertEqual(node.read(0), (1 << 64) - 1)
        node.write(0x2000, 1)
        self.assertEqual(self.machine.stats("cmn0")["external64"], (1, 1))

    def test_halves_are_at_0_and_4(self):
        for node in [self.mesh.root, *self.mesh.xps.values(),
                     *self.mesh.nodes.values()]:
            whole = node.read(0)
            self.assertEqual(node.read32(0), whole & 0xffffffff)
            self.assertEqual(node.read32(4), whole >> 32)

    def test_what_does_not_exist_reads_0(self):
        for offset in (0x48, 0x88, 0xf8, 0x1000, 0x3ff8):
            self.assertEqual(self.mesh.root.read(offset), 0)
        self.assertEqual(self.mesh.read(0x3fffff8), 0)

    def test_discovery_is_read_only(self):
        xp = self.mesh.xps[0x08]
        for offset in (0, 8, 0x80, 0x100, 0x900):
            before = xp.read(offset)
            xp.write(offset, ~before & (1 << 64) - 1)
            self.assertEqual(xp.read(offset), before)

    def test_global_info_has_one_channel_of_each(self):
        self.assertEqual(self.mesh.root.read(0x900), 0x3303008)
        self.assertEqual(self.mesh.root.read(0x908), 0)


class Identity(MeshTest):
    PARTS = {"cmn600": 0xb400000034, "cmn650": 0xb400000036,
             "cmn700": 0xb40000003c, "ci700": 0xb40000003a,
             "cmns3": 0xb40000003e, "cmn600ae": 0xb400000038}

    def test_part_numbers_of_section_9_2_1(self):
        for product, part in self.PARTS.items():
            mesh = self.mesh(product)
            root = Node(mesh, mesh.root_frame)
            self.assertEqual(root.type, CFG)
            self.assertEqual(root.read(0x08), part)
            self.assertEqual(root.read(0x18), 0xc4)
            self.assertEqual(root.read(0x20), 0)
            self.assertEqual(root.read(0x28), 0x000000f00000000d)
            self.assertEqual(root.read(0x30), 0x000000b100000005)

    def test_revision(self):
        for product, last in (("cmn600", 7), ("cmn650", 4), ("ci700", 2),
                              ("cmn700", 3), ("cmns3", 6)):
            for rev in {0, 2, last, 15}:
                mesh = self.mesh(f"{product},rev={rev}")
                self.assertEqual(mesh.read32(mesh.root_frame + 0x10),
                                 rev << 4 | 0xb)

    def test_unknown_revisions_are_as_the_last_one(self):
        for product, last in (("cmn600", 7), ("cmn700", 3), ("cmns3", 6)):
            known, unknown = (self.discovered(f"{product},rev={rev}")
                              for rev in (last, 15))
            self.assertEqual(known.nodes.keys(), unknown.nodes.keys())
            for offset in (0x900, 0x908):
                self.assertEqual(known.root.read(offset),
                                 unknown.root.read(offset))

    def test_every_type_with_events_is_in_the_mesh_of_the_product(self):
        common = {DN, DTC, HNI, HNF, SBSX, RNI, RND, HNP}
        for spec, types in (
                ("cmn650", {CXRA, CXHA}), ("ci700", {MTSX}),
                ("cmn700", {CXRA, CXHA, MTSX, CCRA, CCHA, CCLA, CCLA_RNI}),
                ("cmn700,rev=3", {CXRA, CXHA, MTSX, CCRA, CCHA, CCLA,
                                  CCLA_RNI, HNS}),
                ("cmns3", {CXRA, CXHA, MTSX, CCRA, CCHA, CCLA, CCLA_RNI, HNS,
                           APB})):
            mesh = self.discovered(spec)
            found = {node_type for node_type, _ in mesh.nodes}
            no_events = {8, 9, 0x201, 0x202, RNSAM}
            self.assertEqual(found - no_events, common | types, spec)

    def test_two_meshes_have_their_own_places(self):
        machine = self.machine("cmn600", "cmn700")
        first = Mesh(machine, "cmn600").discover()
        second = Mesh(machine, "cmn700", base=2 << 32).discover()
        self.assertEqual(first.root.read(0x08), self.PARTS["cmn600"])
        self.assertEqual(second.root.read(0x08), self.PARTS["cmn700"])
        self.assertEqual(machine.control("list").splitlines(),
                         ["cmn0 CMN-600", "cmn1 CMN-700"])


class NodeIds(MeshTest):
    """Sections 1.6 and 9.2"""

    def test_8x8_with_two_ports(self):
        mesh = self.discovered("cmn700,mesh=8x8,hnf=5.6.1.2+7.7.1.3+0.3.1.3")
        self.assertEqual(sorted(node.id for node in mesh.of_type(HNF)),
                         [0x01f, 0x176, 0x1ff])
        self.assertEqual(mesh.xps[0x008].logical, 8)

    def test_8x8_with_four_ports(self):
        mesh = self.discovered("cmn700,mesh=8x8,ports=4,"
                               "hnf=5.6.3+7.7.3.1+0.3.3.1")
        self.assertEqual(sorted(node.id for node in mesh.of_type(HNF)),
                         [0x01f, 0x176, 0x1ff])

    def test_ports_that_are_not_in_use(self):
        for more, ids in (("", [0x20, 0x22]), ("ids-by-use=on,", [0x20, 0x24])):
            mesh = self.discovered(f"cmn700,{more}mesh=4x2,ports=4,"
                                   "hnf=1.0.0+1.0.1")
            self.assertEqual(sorted(node.id for node in mesh.of_type(HNF)),
                             ids)

    def test_12x10(self):
        mesh = self.discovered("cmn700,mesh=12x10,hnf=11.9.1")
        self.assertEqual([node.id for node in mesh.of_type(HNF)], [0x5cc])
        self.assertEqual(len(mesh.xps), 120)
        self.assertEqual(mesh.xps[0x008].logical, 12)

    def test_14x14_is_the_largest(self):
        mesh = self.discovered("cmn700,mesh=14x14")
        self.assertEqual(len(mesh.xps), 196)
        with self.assertRaisesRegex(RuntimeError, "COLUMNSxROWS"):
            VirtMachine("cmn700,mesh=15x2")

    def test_a_real_mesh_with_four_bits_and_width_4(self):
        mesh = self.discovered("cmn700,mesh=4x9,ports=2+3@3.6,rni=3.6.2.1")
        self.assertEqual(mesh.xps[0x1b0].read(0), 0x0003001b01b00006)
        self.assertEqual(mesh.xps[0x1a8].logical, 23)
        self.assertEqual([node.id for node in mesh.of_type(RNI)], [0x1b5])
        self.assertEqual(mesh.xps[0x1a8].ports, 2)

    def test_a_port_3_wide_beside_one_2_wide(self):
        mesh = self.discovered("cmn700")
        xp2, xp3 = mesh.xps[0x00], mesh.xps[0x20]
        self.assertEqual((xp2.ports, xp3.ports), (2, 3))
        ids = [node.id for node in mesh.of_type(HNF)]
        # p1 d0 and d1 of the one; p0, p1, p2 d0 and d1 of the other
        self.assertEqual(ids[:6], [0x04, 0x05, 0x20, 0x22, 0x24, 0x25])
        self.assertEqual([node.xp.id for node in mesh.of_type(HNF)[:6]],
                         [0x00, 0x00, 0x20, 0x20, 0x20, 0x20])
        self.assertEqual([xp3.read32(offset) for offset in (8, 0x10, 0x18)],
                         [0x0e, 0x0e, 0x8e])

    def test_six_ports_among_others(self):
        mesh = self.discovered("cmn700,mesh=2x1,ports=6@0.0+2@1.0,"
                               "hnf=0.0.0+0.0.4+0.0.5+1.0.1")
        self.assertEqual([node.id for node in mesh.of_type(HNF)],
                         [0x00, 0x04, 0x05, 0x24])

    def test_one_xp_alone(self):
        mesh = self.discovered("ci700,mesh=1x1,ports=6,hnd=0.0.5,"
                               "hnf=0.0.1.3+0.0.4")
        self.assertEqual(list(mesh.xps), [0])
        self.assertEqual([node.id for node in mesh.of_type(HNF)],
                         [0x07, 0x10])
        self.assertEqual(mesh.root.id, 0x14)

    def test_at_least_two_bits(self):
        mesh = self.discovered("cmn700,mesh=2x2")
        self.assertEqual(sorted(mesh.xps), [0x00, 0x08, 0x20, 0x28])

    def test_n_by_1_has_no_id_8(self):
        mesh = self.discovered("cmn700,mesh=5x1")
        self.assertEqual(sorted(mesh.xps), [0x00, 0x40, 0x80, 0xc0, 0x100])

    def test_frames_of_section_9_2(self):
        mesh = self.discovered("cmn600,mesh=8x8,hnd=0.1.1,rnf=5.6.1")
        xp = mesh.xps[0x170]
        self.assertEqual(xp.read(0x100), 0x82e04000)
        mesh = self.discovered("cmn650,mesh=8x8,rnf=5.6.1")
        self.assertEqual(mesh.xps[0x170].read(0x100), 0x8b810000)

    def test_root_of_n1sdp(self):
        mesh = self.discovered("cmn600,mesh=4x2,hnd=3.1.0", root=0xd00000)
        self.assertEqual(mesh.root.type, CFG)
        self.assertEqual(mesh.root.id, 0x68)

    def test_devices_find_places_by_themselves(self):
        mesh = self.discovered("cmn700,mesh=4x4,dtc=4,hnf=12,rni=3")
        self.assertEqual(len(mesh.of_type(HNF)), 12)
        self.assertEqual(len(mesh.of_type(RNI)), 3)
        for dtc in mesh.of_type(DTC):
            self.assertEqual(dtc.xp.read32(0x960), dtc.logical)


class Refusals(MeshTest):
    def refused(self, spec, text):
        with self.assertRaisesRegex(RuntimeError, text):
            VirtMachine(spec)

    def test_meshes_that_cannot_be(self):
        self.refused("cmn600,mesh=2x2,hnf=9", "no free port")
        self.refused("cmn600,mesh=2x2,hnf=2.0.0", "there is no 2.0.0")
        self.refused("cmn600,mesh=2x2,hnf=0.0.2", "fewer ports")
        self.refused("cmn600,mesh=2x2,hnf=0.0.0,rni=0.0.0", "already")
        self.refused("cmn600,mesh=2x2,hnf=0.0.0+0.0.0", "already")
        self.refused("cmn600,mesh=2x2,hnf=0.0.0.2", "at most 2")
        self.refused("cmn700,mesh=2x2,ports=3,hnf=0.0.0.2", "at most 2")
        self.refused("cmn600,mesh=2x2,ports=3", "1 to 2")
        self.refused("cmn700,mesh=2x2,ports=7", "1 to 6")
        self.refused("cmn700,mesh=2x2,ports=5,hnf=0.0.0.1", "at most 1")
        self.refused("cmn700,mesh=2x2,ports=2+3@2.0", "X is below 2")
        self.refused("cmn600,mesh=2x2,hnd=2", "hnd: there is 1")
        self.refused("cmn600,dtc=3,mesh=4x2,hnt=1", "hnt: there are 2")
        self.refused("cmn600,mesh=2x1,dtc=3", "too many")
        self.refused("cmns3,graviton5=on,mesh=10x14,dtc=3", "dtc=4")
        self.refused("cmns3,graviton5=on,mesh=4x4,dtc=4,hnd=0.0.0,"
                     "hnt=1.1.0+0.2.0+2.2.0", "a DTC of its own")
        self.refused("cmn700,graviton5=on,mesh=10x14,dtc=4", "is of cmns3")
        self.refused("cmn600,mtsx=1", "no mtsx")
        self.refused("cmn600,ccg=1", "no ccg")
        self.refused("ci700,cxg=1", "no cxg")
        self.refused("cmn600,multi-dtm=on", "multi-dtm")
        self.refused("cmn700,isolation=on", "isolation")
        self.refused("cmn700,isolated=9.0.0", "isolated")
        self.refused("cmn700,corrupt=nonsense", "there are loop")

    def test_texts_that_are_no_description(self):
        for text in ("mesh=4", "mesh=4x", "ports=2@1", "hnf=1.2",
                     "hnf=1.2.0+", "hnf=-1", "dtc=5", "rev=x"):
            with self.assertRaises(ValueError, msg=text):
                specs.qemu_args(f"cmn700,{text}")


class GlobalInfo(MeshTest):
    def words(self, spec):
        mesh = self.mesh(spec)
        return tuple(mesh.read(mesh.root_frame + offset)
                     for offset in (0x900, 0x908, 0x910))

    ONE = ",req-vcs=1,rsp-vcs=1,snp-vcs=1,dat-vcs=1,multi-dtm=off"

    def test_reset_values(self):
        self.assertEqual(self.words("cmn650" + self.ONE),
                         (0x4014000003303008, 0, 0))
        self.assertEqual(self.words("ci700" + self.ONE),
                         (0x4014000003303008, 0, 0))
        self.assertEqual(self.words("cmn700" + self.ONE),
                         (0x4014000003303008, 0x24205, 0))
        self.assertEqual(self.words("cmns3" + self.ONE),
                         (0x4014000003303008, 0x24205, 0))
        self.assertEqual(self.words("cmns3,rev=3" + self.ONE),
                         (0x0400000003303008, 0x1000908249, 0x24))

    def test_section_9_2_1(self):
        self.assertEqual(self.words("cmn700,snp-vcs=1")[0],
                         0xc028000003303008)
        self.assertEqual(self.words("cmn700,snp-vcs=1")[1] & 0xf, 0b0110)

    def test_moved_fields_of_s3_r2(self):
        info, info_1, _ = self.words("cmns3,rev=3,isolation=on")
        self.assertEqual(info & (1 << 59 | 1 << 63), 1 << 59)
        self.assertEqual(info >> 44 & 1, 1)
        self.assertEqual(info >> 50 & 0xf, 0)
        self.assertEqual(info_1 & 0xfff, 0o2222)

    def test_isolation_before_r2(self):
        self.assertEqual(self.words("cmns3,isolation=on")[0] >> 44 & 1, 1)


class XpInfo(MeshTest):
    """Section 1.8"""

    PORTS = "mesh=4x2,ports=4,dtc=2,hnf=1.0.0+3.0.3,rni=1.0.1,sbsx=1.0.2," \
            "hni=1.0.3.0+1.0.3.1"
    CODES = [0x0e, 0x01, 0x0d, 0x89]

    def test_connect_info_of_four_ports(self):
        for product, offsets in (("cmn650", (0x08, 0x10, 0x28, 0x30)),
                                 ("ci700", (0x08, 0x10, 0x28, 0x30)),
                                 ("cmn700", (0x08, 0x10, 0x18, 0x20)),
                                 ("cmns3", (0x08, 0x10, 0x18, 0x20))):
            xp = self.discovered(f"{product},{self.PORTS}").xps[0x20]
            self.assertEqual([xp.read32(offset) for offset in offsets],
                             self.CODES)

    def test_port_info_counts_devices(self):
        for product, offsets in (("cmn650", (0x900, 0x908, 0x928, 0x930)),
                                 ("cmn700", (0x900, 0x910, 0x920, 0x930))):
            xp = self.discovered(f"{product},{self.PORTS}").xps[0x20]
            self.assertEqual([xp.read(offset) for offset in offsets],
                             [1, 1, 1, 2])

    def test_virtual_channels_of_a_port(self):
        xp = self.discovered("cmn700,req-vcs=1,dat-vcs=1").xps[0]
        self.assertEqual(xp.read(0x908), 0x1221)

    def test_domains(self):
        for product, first in (("cmn650", 0x910), ("ci700", 0x910),
                               ("cmn700", 0x960), ("cmns3", 0x960)):
            mesh = self.discovered(f"{product},{self.PORTS},multi-dtm=on")
            for xp in mesh.xps.values():
                domain = int(xp.id >= 0x40)
                self.assertEqual(xp.read32(first), domain)
                self.assertEqual(xp.read32(first + 8), domain)
                self.assertEqual(xp.read32(first + 16), 0)

    def test_graviton5_of_section_1_10_1(self):
        """Zeros for domains, and DTCs where they were put."""
        mesh = self.discovered("cmns3,graviton5=on,mesh=10x14,ports=2,dtc=4,"
                               "rev=3,hnd=9.0.0,hnt=4.6.0+0.13.0+5.7.0")
        self.assertEqual(len(mesh.xps), 140)
        self.assertEqual({xp.read32(0x960) for xp in mesh.xps.values()}, {0})
        dtcs = mesh.of_type(DTC)
        self.assertEqual({node.id & ~7 for node in dtcs},
                         {9 << 7, 4 << 7 | 6 << 3, 13 << 3, 5 << 7 | 7 << 3})
        self.assertEqual({node.read(0) >> 32 & 0xffff for node in dtcs}, {0})
        listed = mesh.machine.control("list", "cmn0")
        for x, y, domain in ((4, 6, 0), (5, 6, 1), (4, 7, 2), (5, 7, 3)):
            self.assertRegex(listed, rf"node mxp {x << 7 | y << 3:#x} "
                                     rf".*dtc={domain} ")

    def test_types_of_processors_differ(self):
        for product, rnf, snf in (("cmn600", 0x05, 0x0c),
                                  ("cmn650", 0x15, 0x10),
                                  ("ci700", 0x19, 0x0f),
                                  ("cmn700", 0x19, 0x0f),
                                  ("cmns3", 0x21, 0x22)):
            xp = self.discovered(f"{product},mesh=2x2,hnd=0.1.1,rnf=0.0.0,"
                           "snf=0.0.1").xps[0]
            self.assertEqual((xp.read32(0x08), xp.read32(0x10)), (rnf, snf))

    def test_isolated_nodes(self):
        mesh = self.discovered("cmns3,rev=3,isolation=on,isolated=1.0.0",
                               "cmns3r1")
        isolated = [node for xp in mesh.xps.values()
                    for node in xp.children(mesh.mask) if node.isolated]
        self.assertEqual({node.frame for node in isolated},
                         {node.frame for node in
                          mesh.xps[0x20].children(mesh.mask)
                          if node.frame in {n.frame for n in isolated}})
        self.assertEqual(len(isolated), 3)      # HN-F and its MPAM nodes
        mesh.machine.stats("cmn0")
        self.assertEqual(isolated[0].read(0), (1 << 64) - 1)
        self.assertEqual(mesh.machine.stats("cmn0")["isolated64"], (1, 0))

    def test_isolated_pointers_say_so_from_r2_on(self):
        mesh = self.discovered("cmns3,rev=2,isolation=on,isolated=1.0.0",
                               "cmns3r1")
        self.assertFalse([node for xp in mesh.xps.values()
                          for node in xp.children(mesh.mask)
                          if node.isolated])


class Corrupt(MeshTest):
    """What section 1 says is wrong, at XP 0x20 of 4x2 or in the root"""

    def corrupt(self, how, product="cmn700"):
        mesh = self.mesh(f"{product},corrupt={how}")
        mesh.root = Node(mesh, mesh.root_frame)
        return mesh

    def victim(self, mesh):
        return Node(mesh, mesh.root.read(0x108) & mesh.mask)

    def test_pointers(self):
        mesh = self.corrupt("loop")
        victim = self.victim(mesh)
        self.assertEqual(victim.read(0x100), victim.frame)
        mesh = self.corrupt("xp-loop", "cmn600")
        self.assertEqual(mesh.root.read(0x100), mesh.root_frame)

    def test_pointers_out_of_range(self):
        for product, size in (("cmn600", 64 << 20), ("cmn700", 256 << 20)):
            mesh = self.corrupt("range+xp-range", product)
            self.assertGreaterEqual(mesh.root.read(0x100) & mesh.mask, size)
            victim = self.victim(mesh)
            self.assertGreaterEqual(victim.read(0x100) & mesh.mask, size)
            self.assertEqual(victim.type, XP)

    def test_counts(self):
        mesh = self.corrupt("count")
        self.assertEqual(self.victim(mesh).read(0x80), 0x0100ffff)

    def test_arrays_outside_the_frame(self):
        mesh = self.corrupt("array")
        self.assertEqual(self.victim(mesh).read(0x80) >> 16, 0xfff8)

    def test_more_children_than_pointers(self):
        whole = self.victim(self.corrupt("domain")).read(0x80) & 0xffff
        victim = self.victim(self.corrupt("zero"))
        self.assertEqual(victim.read(0x80) & 0xffff, whole + 2)
        self.assertNotEqual(victim.read(0x100 + 8 * (whole - 1)), 0)
        self.assertEqual(victim.read(0x100 + 8 * whole), 0)

    def test_fewer_children_than_pointers(self):
        whole = self.victim(self.corrupt("domain")).read(0x80) & 0xffff
        victim = self.victim(self.corrupt("hidden"))
        self.assertEqual(victim.read(0x80) & 0xffff, whole - 1)
        self.assertNotEqual(victim.read(0x100 + 8 * (whole - 1)), 0)

    def test_the_same_twice(self):
        mesh = self.corrupt("xp-twice")
        self.assertEqual(mesh.root.read(0x108), mesh.root.read(0x100))
        victim = self.victim(self.corrupt("twice"))
        self.assertEqual(victim.read(0x108), victim.read(0x100))

    def test_nodes_that_are_not_what_they_should_be(self):
        self.assertEqual(self.corrupt("other-part").root.read(8), 0xb4_0000_003a)
        self.assertEqual(self.victim(self.corrupt("xp-type")).type, HNF)
        self.assertEqual(self.victim(self.corrupt("logical")).logical, 0x1ff)

    def test_an_xp_that_fits_no_grid(self):
        self.assertEqual(self.victim(self.corrupt("xp-id")).id, 0x3f8)

    def test_a_second_dtm_without_a_domain(self):
        """1.8: each DTM has the register, all say the same; here they do not.
        XP 0x48 is in domain 1."""
        for how, second in (("xp-id", 1), ("dtm-domain", 0)):
            mesh = self.corrupt(how)
            xp = Node(mesh, mesh.root.read(0x130) & mesh.mask)
            self.assertEqual((xp.id, xp.read(0x960), xp.read(0x968)),
                             (0x48, 1, second))

    def test_first_child(self):
        mesh = self.mesh("cmn700,mesh=2x2,rni=1.0.0,corrupt=type+id")
        mesh.root = Node(mesh, 0)
        xp = Node(mesh, mesh.root.read(0x108) & mesh.mask)
        child = Node(mesh, xp.read(0x100) & mesh.mask)
        self.assertEqual((child.type, child.id), (0xabc, 0xfff8))

    def test_domains_without_a_dtc(self):
        self.assertEqual(self.victim(self.corrupt("domain")).read(0x960), 3)
        self.assertEqual(self.victim(self.corrupt("domain", "cmn650"))
                         .read(0x910), 3)
        self.assertEqual(self.victim(self.corrupt("domain", "cmn600"))
                         .read(0x910), 0)
        mesh = self.corrupt("dtc").discover()
        self.assertEqual([dtc.logical for dtc in mesh.of_type(DTC)], [3, 3])


def parse_fdt(blob):
    """{path: {property: bytes}} of a flattened device tree."""
    offset, strings = struct.unpack(">II", blob[8:16])
    path, nodes = [], {}
    while True:
        token, = struct.unpack(">I", blob[offset:offset + 4])
        offset += 4
        if token == 1:
            name = blob[offset:blob.index(b"\0", offset)].decode()
            path.append(name)
            nodes["/".join(path)] = {}
            offset += len(name) + 1 + 3 & ~3
            offset = offset + 3 & ~3
        elif token == 2:
            path.pop()
        elif token == 3:
            length, name = struct.unpack(">II", blob[offset:offset + 8])
            end = blob.index(b"\0", strings + name)
            key = blob[strings + name:end].decode()
            nodes["/".join(path)][key] = blob[offset + 8:offset + 8 + length]
            offset = offset + 8 + length + 3 & ~3
        elif token == 9:
            return nodes


class DeviceTree(MeshTest):
    """Section 1.9; the board puts the tree where RAM starts."""

    def node(self, spec, base=1 << 32):
        machine = self.machine(spec)
        magic, size = struct.unpack(">II",
                                    machine.memory(VirtMachine.RAM, 8))
        self.assertEqual(magic, 0xd00dfeed)
        nodes = parse_fdt(machine.memory(VirtMachine.RAM, size))
        return nodes[f"/pmu@{base:x}"]

    def test_cmn600(self):
        node = self.node("cmn600")
        self.assertEqual(node["compatible"], b"arm,cmn-600\0")
        self.assertEqual(struct.unpack(">QQ", node["reg"]),
                         (1 << 32, 64 << 20))
        self.assertEqual(struct.unpack(">6I", node["interrupts"]),
                         (0, FIRST_SPI, 4, 0, FIRST_SPI + 1, 4))
        self.assertEqual(struct.unpack(">I", node["arm,root-node"]),
                         (0x104000,))

    def test_others_have_no_root_node(self):
        for product, name in (("cmn650", "arm,cmn-650"),
                              ("ci700", "arm,ci-700"),
                              ("cmn700", "arm,cmn-700"),
                              ("cmns3", "arm,cmn-s3")):
            node = self.node(f"{product},mesh=4x2")
            self.assertEqual(node["compatible"], name.encode() + b"\0")
            self.assertEqual(len(node["interrupts"]), 12)
            self.assertNotIn("arm,root-node", node)

    def test_a_shared_interrupt_is_named_for_each(self):
        node = self.node("cmn700,shared-irq=on")
        self.assertEqual(struct.unpack(">6I", node["interrupts"]),
                         (0, FIRST_SPI, 4) * 2)

    def test_region_sizes(self):
        for spec, size in (("cmn600,mesh=5x2", 256 << 20),
                           ("cmn600,mesh=4x4", 64 << 20),
                           ("cmn700,mesh=4x2", 256 << 20),
                           ("cmn700,mesh=12x12", 1 << 30)):
            self.assertEqual(struct.unpack(">QQ", self.node(spec)["reg"])[1],
                             size, spec)


    def test_acpi_says_the_same(self):
        """What the table of acpi=on is made of, computed from the spec alone"""
        for spec in ("cmn600", "cmn600,mesh=5x3,hnd=4.2.1,dtc=2",
                     "cmn600,mesh=4x4,hnd=3.0.0", "cmn650", "cmn700,mesh=12x12",
                     "cmn700,mesh=9x2,dtc=4", "cmns3,shared-irq=on"):
            node = self.node(spec)
            table, = specs.guest_files(f"{spec},acpi=on", 0).values()
            base, size = struct.unpack(">QQ", node["reg"])
            self.assertIn(ssdt.memory(base, size), table, spec)
            if "arm,root-node" in node:
                root, = struct.unpack(">I", node["arm,root-node"])
                self.assertIn(ssdt.memory(base + root, 0x4000), table, spec)
            cells = struct.unpack(f">{len(node['interrupts']) // 4}I",
                                  node["interrupts"])
            self.assertIn(b"".join(ssdt.interrupt(spi + 32)
                                   for spi in cells[1::3]) + b"\x79", table)


if __name__ == "__main__":
    unittest.main()
