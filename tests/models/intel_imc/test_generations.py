# SPDX-License-Identifier: GPL-2.0-or-later
"""Conformance of all Intel parts with Documentation/hardware/intel_imc.md.

No guest is needed. What the parts share is tested on snbep, in test_snbep.py;
here is in what they differ. Numbers are that page's, or computed from it; its
sections are named where a number comes from. Parts have its letters: J Sandy
Bridge-EP, I Ivy Bridge, H Haswell, B Broadwell-EP, D Broadwell-DE, S Skylake-SP,
C Cascade Lake.
"""

import unittest

from models.common.qtest import CommandError, specs
from models.intel_imc.qtest import Channel, Machine

EN, OV_EN, EDGE, RST, INV = 1 << 22, 1 << 20, 1 << 18, 1 << 17, 1 << 23
FRZ_EN, FRZ, BITS_17_16 = 1 << 16, 1 << 8, 3 << 16
RST_CTRS, RST_CTRL = 2, 1
CAS_RD, CAS_WR = 0x0304, 0x0c04
WRAP = 1 << 48
MS = 1000000


class Part:
    """Sections 1.2 to 1.4: ids, (device, function) and buses of both sockets.

    other has functions 0 that are neither UBOX nor channel.
    """

    def __init__(self, letter, ubox, ubox_slot, channels, other=(),
                 ubox_buses=(0x3f, 0x7f), imc_buses=(0x3f, 0x7f),
                 registers=(0x40, 0x54)):
        self.letter = letter
        self.ubox = ubox
        self.ubox_slot = ubox_slot
        self.channels = channels        # (id, slot), by number
        self.other = dict(other)
        self.ubox_buses = ubox_buses
        self.imc_buses = imc_buses
        self.nodeid, self.map = registers

    def ubox_address(self, socket):
        return (self.ubox_buses[socket], *self.ubox_slot)

    def channel(self, machine, number=0, socket=0):
        address = (self.imc_buses[socket], *self.channels[number][1])
        return Channel(machine, number, socket, address)


def haswell_channels(base):
    return ((base | 0xb0, (20, 0)), (base | 0xb1, (20, 1)),
            (base | 0xb4, (21, 0)), (base | 0xb5, (21, 1)),
            (base | 0xd0, (23, 0)), (base | 0xd1, (23, 1)),
            (base | 0xd4, (24, 0)), (base | 0xd5, (24, 1)))


SKYLAKE = dict(
    ubox=0x2014, ubox_slot=(8, 0), registers=(0xc0, 0xd4),
    channels=((0x2042, (10, 2)), (0x2046, (10, 6)), (0x204a, (11, 2)),
              (0x2042, (12, 2)), (0x2046, (12, 6)), (0x204a, (13, 2))),
    other={(10, 0): 0x2040, (11, 0): 0x2048, (12, 0): 0x2040,
           (13, 0): 0x2048},
    ubox_buses=(0x00, 0x81), imc_buses=(0x3a, 0xae))

PARTS = {
    "snbep": Part("J", 0x3ce0, (11, 0),
                  ((0x3cb0, (16, 0)), (0x3cb1, (16, 1)),
                   (0x3cb4, (16, 4)), (0x3cb5, (16, 5)))),
    "ivbep": Part("I", 0x0e1e, (11, 0),
                  ((0x0eb4, (16, 4)), (0x0eb5, (16, 5)),
                   (0x0eb0, (16, 0)), (0x0eb1, (16, 1)),
                   (0x0ef4, (30, 4)), (0x0ef5, (30, 5)),
                   (0x0ef0, (30, 0)), (0x0ef1, (30, 1)))),
    "hswep": Part("H", 0x2f1e, (16, 5), haswell_channels(0x2f00),
                  {(16, 0): 0x2f1d}),
    "bdxep": Part("B", 0x6f1e, (16, 5), haswell_channels(0x6f00),
                  {(16, 0): 0x6f1d}),
    "bdxde": Part("D", 0x6f1e, (16, 5), haswell_channels(0x6f00),
                  {(16, 0): 0x6f1d}),
    "skx": Part("S", **SKYLAKE),
    "clx": Part("C", **SKYLAKE),
}


def for_parts(letters):
    """Class decorator: run the cases on each of these parts."""
    def decorate(cases):
        for name, part in PARTS.items():
            if part.letter in letters:
                title = f"{cases.__name__}_{name}"
                globals()[title] = type(
                    title, (cases, unittest.TestCase),
                    {"part": part, "spec": name + cases.options,
                     "__module__": __name__})
        return cases
    return decorate


class PartTest:
    options = ""

    def setUp(self):
        self.machine = Machine(self.spec)
        self.addCleanup(self.machine.close)
        number = min(self.numbers())
        self.imc = self.part.channel(self.machine, number)

    def numbers(self):
        return range(len(self.part.channels))

    def start(self, index, ctl):
        self.imc.write(Channel.CTL[index], EN | ctl)

    def ctr(self, index):
        return self.imc.counter(Channel.CTR[index])

    def ctrs(self):
        return [self.ctr(index) for index in range(4)]

    def functions(self, bus):
        """{(device, function): id} of Intel's functions on a bus."""
        found = {}
        for slot in ((d, f) for d in range(32) for f in range(8)):
            ids = self.machine.config_read((bus, *slot), 0)
            if ids & 0xffff == 0x8086:
                found[slot] = ids >> 16
        return found


@for_parts("JIHBDSC")
class Identity(PartTest):
    options = ",sockets=2"

    def test_every_function_is_at_its_slot(self):
        channels = {slot: number for number, slot in self.part.channels}
        for socket in (0, 1):
            wanted = {**channels, **self.part.other}
            ubox_bus = self.part.ubox_buses[socket]
            if ubox_bus == self.part.imc_buses[socket]:
                wanted[self.part.ubox_slot] = self.part.ubox
            elif ubox_bus:
                self.assertEqual(self.functions(ubox_bus),
                                 {self.part.ubox_slot: self.part.ubox})
            self.assertEqual(self.functions(self.part.imc_buses[socket]),
                             wanted)

    def test_headers(self):
        for socket in (0, 1):
            for number in self.numbers():
                imc = self.part.channel(self.machine, number, socket)
                self.assertEqual(imc.read(8) >> 8, 0x088000)
                self.assertEqual(imc.read(0x0e, 1), 0x80)   # multifunction
                self.assertEqual(imc.read(0x3d, 1), 0)      # no interrupt pin

    def test_ubox_tells_the_node_id_and_the_map(self):
        for socket in (0, 1):
            ubox = self.part.ubox_address(socket)
            for register, value in ((0, self.part.ubox << 16 | 0x8086),
                                    (self.part.nodeid, socket),
                                    (self.part.map, 0x00fac688)):
                self.assertEqual(self.machine.config_read(ubox, register),
                                 value)
            for register in (self.part.nodeid, self.part.map):
                before = self.machine.config_read(ubox, register)
                self.machine.config_write(ubox, register, 0x5a5a5a)
                self.assertEqual(self.machine.config_read(ubox, register),
                                 before)

    def test_the_other_generations_registers_are_not_there(self):
        others = {0x40, 0x54, 0xc0, 0xd4} - {self.part.nodeid, self.part.map}
        for register in others:
            self.assertEqual(self.machine.config_read(
                self.part.ubox_address(0), register), 0, hex(register))

    def test_ubox_buses_are_not_above_their_channels(self):
        # 1.4: upward from the UBOX's bus on S and C, the same bus before
        ends = self.part.ubox_buses[1:] + (256,)
        for ubox, imc, end in zip(self.part.ubox_buses, self.part.imc_buses,
                                  ends):
            self.assertEqual(ubox == imc, self.part.letter not in "SC")
            self.assertTrue(ubox <= imc < end)

    def test_names_are_numbers_of_the_table(self):
        names = [line.split()[0]
                 for line in self.machine.control("list").splitlines()]
        self.assertEqual(names, [
            *(name for socket in (0, 1)
              for name in (f"ubox@{socket}",
                           *(f"imc{n}@{socket}" for n in self.numbers()))),
            "firmware"])

    def test_channels_do_not_share_anything(self):
        places = [(socket, number) for socket in (0, 1)
                  for number in self.numbers()]
        channels = [self.part.channel(self.machine, number, socket)
                    for socket, number in places]
        for imc in channels:
            imc.write(Channel.CTL[0], EN | CAS_RD)
        for count, imc in enumerate(channels, 1):
            imc.add("cas_rd", 1000 + count)
        self.assertEqual([imc.counter(Channel.CTR[0]) for imc in channels],
                         [1000 + n for n in range(1, len(channels) + 1)])


class Specs(unittest.TestCase):
    def test_impossible_machines_are_refused(self):
        for spec, text in (
                ("skx,channels=0+1", "no key 'channels'"),
                ("ivbep,sockets=3", "from 1 to 2")):
            with self.assertRaisesRegex(ValueError, text):
                specs.qemu_args(spec)


@for_parts("JIHBDSC")
class BoxControl(PartTest):
    """2.1"""

    def idle(self):
        """Bits 17 and 16 read as 1 on S and C."""
        return BITS_17_16 if self.part.letter in "SC" else 0

    def test_registers_reset_to_0(self):
        for register in range(0xa0, 0xfc, 4):
            wanted = self.idle() if register == Channel.BOX_CTL else 0
            self.assertEqual(self.imc.read(register), wanted, hex(register))

    def test_reads_back_17_16_and_8(self):
        for written, read in ((0, 0), (0x3, 0), (0x10000, 0x10000),
                              (0x10003, 0x10000), (0x30100, 0x30100),
                              (0x100, 0x100), (0xffffffff, 0x30100)):
            self.imc.write(Channel.BOX_CTL, written)
            self.assertEqual(self.imc.read(Channel.BOX_CTL),
                             read | self.idle(), hex(written))

    def counted_with(self, box):
        self.imc.write(Channel.FIXED_CTL, EN)
        self.start(0, CAS_RD)
        self.imc.write(Channel.BOX_CTL, box)
        self.machine.step(MS)
        self.imc.add("cas_rd", 100)
        return self.imc.counter(Channel.FIXED_CTR), self.ctr(0)

    def test_frz_without_frz_en(self):
        # 9.3: J keeps counting, I and later stop
        goes_on = self.part.letter == "J"
        self.assertEqual(self.counted_with(FRZ),
                         (800000, 100) if goes_on else (0, 0))

    def test_frz_with_frz_en(self):
        self.assertEqual(self.counted_with(FRZ_EN | FRZ), (0, 0))

    def test_without_frz(self):
        self.assertEqual(self.counted_with(BITS_17_16), (800000, 100))

    def test_unfreezing_goes_on(self):
        self.counted_with(FRZ_EN | FRZ)
        self.imc.write(Channel.BOX_CTL, FRZ_EN)
        self.imc.add("cas_rd", 7)
        self.assertEqual(self.ctr(0), 7)


@for_parts("IHBDSC")
class Resets(PartTest):
    """2.1, 2.2, 2.3: write-1-pulses that read 0"""

    def prepare(self):
        self.start(0, CAS_RD)
        self.start(1, CAS_RD)
        self.imc.write(Channel.FIXED_CTL, EN)
        self.imc.add("cas_rd", 5)
        self.machine.step(MS)

    def state(self):
        return (self.imc.read(Channel.CTL[0]),
                self.imc.read(Channel.FIXED_CTL), self.ctr(0),
                self.imc.counter(Channel.FIXED_CTR))

    def test_box_bit_1_clears_the_counters(self):
        self.prepare()
        self.imc.write(Channel.BOX_CTL, BITS_17_16 | RST_CTRS)
        self.assertEqual(self.imc.read(Channel.BOX_CTL), BITS_17_16)
        self.assertEqual(self.state(), (EN | CAS_RD, EN, 0, 0))

    def test_box_bit_0_clears_the_controls(self):
        self.prepare()
        self.imc.write(Channel.BOX_CTL, BITS_17_16 | RST_CTRL)
        self.assertEqual(self.imc.read(Channel.BOX_CTL), BITS_17_16)
        self.assertEqual(self.state(), (0, 0, 5, 800000))

class SandyBridgeControls(PartTest, unittest.TestCase):
    """2.2: bits 20 and 17 came later."""
    part, spec = PARTS["snbep"], "snbep"

    def test_ctl_bit_17_is_reserved(self):
        self.start(0, CAS_RD)
        self.imc.add("cas_rd", 5)
        self.imc.write(Channel.CTL[0], EN | RST | OV_EN | CAS_RD)
        self.assertEqual(self.imc.read(Channel.CTL[0]), EN | CAS_RD)
        self.assertEqual(self.ctr(0), 5)
        self.imc.write(Channel.FIXED_CTL, EN | OV_EN)
        self.assertEqual(self.imc.read(Channel.FIXED_CTL), EN)


@for_parts("IHBDSC")
class Controls(PartTest):
    """2.2"""

    def test_implemented_bits(self):
        inv = 0 if self.part.letter == "I" else INV
        for register in Channel.CTL:
            self.imc.write(register, 0xffffffff)
            self.assertEqual(self.imc.read(register), 0xff54ffff | inv)
        self.imc.write(Channel.FIXED_CTL, 0xffffffff)
        self.assertEqual(self.imc.read(Channel.FIXED_CTL), 0x00500000)

    def test_invert_is_not_for_ivy_bridge(self):
        # 9.1 rows 10 and 11, with an event that all of these have
        self.imc.write(Channel.CTL[0], 0x04c00085)
        self.machine.step(MS)
        self.imc.add("power_channel_ppd", 1000, 4)
        self.imc.add("power_channel_ppd", 1000, 3)
        self.machine.step(MS)
        if self.part.letter == "I":
            self.assertEqual(self.imc.read(Channel.CTL[0]), 0x04400085)
            self.assertEqual(self.ctr(0), 1000)
        else:
            self.assertEqual(self.imc.read(Channel.CTL[0]), 0x04c00085)
            self.assertEqual(self.ctr(0), 1600000 - 1000)

    def test_edge_and_threshold(self):
        self.start(0, 0x85 | 4 << 24)
        self.start(1, 0x85 | 4 << 24 | EDGE)
        self.start(2, 0x85)
        self.start(3, 0x11 | EDGE)
        self.imc.add("power_channel_ppd", 10, 4)
        self.imc.add("power_channel_ppd", 10, 1)
        self.imc.add("rpq_cycles_ne", 3)
        self.assertEqual(self.ctrs(), [10, 10, 50, 3])


@for_parts("IHBDSC")
class Reserved(PartTest):
    """2.1 to 2.3, 13: what software must not write"""

    def wrong(self, register, value):
        """The bits of a write that the model remembers as forbidden."""
        self.imc.set("reserved", 0)
        self.imc.write(register, value)
        reserved = self.imc.get("reserved")
        self.assertIn(reserved >> 32, (0, register))
        return reserved & 0xffffffff

    def test_control_bits(self):
        reserved = {21, 16} | ({23} if self.part.letter == "I" else set())
        for bit in range(32):
            self.assertEqual(self.wrong(Channel.CTL[1], 1 << bit),
                             1 << bit if bit in reserved else 0)
            self.assertEqual(self.wrong(Channel.FIXED_CTL, 1 << bit),
                             0 if bit in (22, 20, 19) else 1 << bit)

    def test_box_bits(self):
        # 31:18, 15:9 and 7:2: ignored on I and H, reserved on S and C
        reserved = self.part.letter in "SC"
        for bit in set(range(32)) - {17, 16}:
            self.assertEqual(
                self.wrong(Channel.BOX_CTL, BITS_17_16 | 1 << bit),
                1 << bit if reserved and bit not in (8, 1, 0) else 0)

    def test_box_bits_17_and_16_have_to_be_written_as_1(self):
        # Documented for I and H, whose slots and registers B and D share
        documented = self.part.letter in "IHBD"
        for value, zeros in ((BITS_17_16, 0), (FRZ_EN | 3, 1 << 17),
                             (3, BITS_17_16)):
            self.assertEqual(self.wrong(Channel.BOX_CTL, value),
                             zeros if documented else 0, hex(value))


class IvyBridgeBanks(PartTest, unittest.TestCase):
    """5.3: a umask bit for each of 8 banks of 8 ranks"""
    part, spec = PARTS["ivbep"], "ivbep"

    def test_bits_are_banks(self):
        for rank in range(8):
            for kind, base in (("rd", 0xb0), ("wr", 0xb8)):
                for bank in range(8):
                    self.start(0, 1 << bank << 8 | base + rank)
                    self.start(1, (0xff ^ 1 << bank) << 8 | base + rank)
                    self.imc.write(Channel.BOX_CTL, RST_CTRS)
                    self.imc.add(f"{kind}_cas_rank{rank}.bank{bank}", 3)
                    self.assertEqual([self.ctr(0), self.ctr(1)], [3, 0])

    def test_rank_0_bank_3_is_row_14(self):
        self.imc.write(Channel.CTL[0], 0x004008b0)
        for bank in range(8):
            self.imc.add(f"rd_cas_rank0.bank{bank}", 10 ** bank)
        self.assertEqual(self.ctr(0), 1000)

    def test_umask_10_is_bank_4(self):
        self.start(0, 0x10b0)
        self.imc.add("rd_cas_rank0.bank4", 1)
        self.imc.add("rd_cas_rank0.bank0", 10)
        self.assertEqual(self.ctr(0), 1)


@for_parts("HBDSC")
class Banks(PartTest):
    """5.3: numbers of 16 banks, all, and groups of four"""

    def ranks(self):
        """(name, code) of the ranks of which all banks are listed."""
        ranks = range(8) if self.part.letter in "SC" else (0, 1, 4, 5, 6, 7)
        return [(f"{kind}_cas_rank{rank}", base + rank) for rank in ranks
                for kind, base in (("rd", 0xb0), ("wr", 0xb8))]

    def test_a_bank_counts_as_itself_as_all_and_in_its_group(self):
        for name, code in self.ranks()[::5]:
            for bank in range(16):
                group = bank // 4
                for index, umask in enumerate((bank, 0x10, 0x11 + group,
                                               0x11 + (group + 1) % 4)):
                    self.start(index, umask << 8 | code)
                self.imc.write(Channel.BOX_CTL, RST_CTRS)
                self.imc.add(f"{name}.bank{bank}", 3)
                self.assertEqual(self.ctrs(), [3, 3, 3, 0], (name, bank))

    def test_nothing_else_selects_a_bank(self):
        for umask in (0x04, 0x15, 0x20, 0x23, 0xff):
            self.start(0, umask << 8 | 0xb0)
            self.imc.add("rd_cas_rank0.bank3", 1)
            self.assertEqual(self.ctr(0), 0, hex(umask))

    def test_all_banks_of_rank_0_is_row_13(self):
        self.imc.write(Channel.CTL[0], 0x004010b0)
        for bank in range(16):
            self.imc.add(f"rd_cas_rank0.bank{bank}", 1 << bank)
        self.assertEqual(self.ctr(0), 0xffff)

    def test_every_rank_has_its_code(self):
        for name, code in self.ranks():
            self.start(0, 0x1000 | code)
            self.start(1, 0x1000 | code ^ 1)
            self.imc.write(Channel.BOX_CTL, RST_CTRS)
            self.imc.add(f"{name}.bank5", 2)
            self.assertEqual([self.ctr(0), self.ctr(1)], [2, 0], name)


# 5.2 and 5.4: (code, {letters: umask bits, or 0 for no sub-events})
EVENTS = (
    (0x01, {"J": 0, "IHBDSC": 0x0b}), (0x02, {"J": 0x03, "IHBDSC": 0x1f}),
    (0x04, {"J": 0x0f, "IHBD": 0x3f, "SC": 0xff}), (0x05, {"JIHBDS": 0x06}),
    (0x06, {"JIHBDSC": 0}), (0x07, {"JIHBDSC": 0x0f}),
    (0x08, {"JIHBDSC": 0x03}), (0x09, {"JIHBDSC": 0}), (0x10, {"JIHBDSC": 0}),
    (0x11, {"JIHBDSC": 0}), (0x12, {"JSC": 0}), (0x20, {"JISC": 0}),
    (0x21, {"JIHBDSC": 0}), (0x22, {"JIHBDSC": 0}), (0x23, {"JIHBDSC": 0}),
    (0x24, {"JIHBDSC": 0}), (0x41, {"JIHBDSC": 0xff}), (0x42, {"IHBDSC": 0}),
    (0x43, {"JIHBDSC": 0}), (0x80, {"JSC": 0}), (0x81, {"JSC": 0}),
    (0x83, {"JIHBDSC": 0xff}), (0x84, {"JIHBDSC": 0}), (0x85, {"JIHBDSC": 0}),
    (0x86, {"JIHBDSC": 0}), (0x90, {"IHBD": 0x03}), (0x91, {"IHBD": 0}),
    (0xa0, {"IHBDSC": 0x0f}), (0xa1, {"IHBDSC": 0x07}),
    (0xc0, {"IHBDSC": 0x07}), (0xc1, {"IHBDSC": 0}),
    (0xd0, {"C": 0}), (0xd1, {"C": 0}), (0xd2, {"C": 0xff}),
    (0xd3, {"C": 0x07}), (0xd4, {"C": 0x07}), (0xd5, {"C": 0xef}),
    (0xd6, {"C": 0xff}), (0xd7, {"C": 0xff}), (0xd8, {"C": 0x0f}),
    (0xd9, {"C": 0xff}), (0xdd, {"C": 0xff}), (0xe0, {"C": 0x05}),
    (0xe1, {"C": 0}), (0xe2, {"C": 0}), (0xe3, {"C": 0}), (0xe4, {"C": 0x07}),
    (0xe5, {"C": 0}), (0xe6, {"C": 0}), (0xe7, {"C": 0}), (0xe8, {"C": 0}),
    (0xe9, {"C": 0}), (0xea, {"C": 0xff}), (0xeb, {"C": 0x7f}),
    (0xec, {"C": 0x67}), (0xed, {"C": 0x0f}))

# The names of some, (code, umask) by sub-event
NAMES = {
    "act_count.byp": (0x01, 0x08), "pre_count.byp": (0x02, 0x10),
    "cas_count.rd_wmm": (0x04, 0x10), "cas_count.rd_rmm": (0x04, 0x20),
    "cas_count.wr_isoch": (0x04, 0x80), "dram_refresh.high": (0x05, 0x04),
    "power_pcu_throttling": (0x42, 0), "power_throttle_cycles.rank6":
    (0x41, 0x40), "vmse_wr_push.rmm": (0x90, 0x02), "rd_cas_prio.panic":
    (0xa0, 0x08), "byp_cmds.pre": (0xa1, 0x04), "wmm_to_rmm.starve":
    (0xc0, 0x02), "wrong_mm": (0xc1, 0), "sb_occupancy.block_wrs":
    (0xd5, 0x40), "sb_inserts.dealloc": (0xd6, 0x40), "tagchk.miss_dirty":
    (0xd3, 0x04), "pmm_rpq_occupancy.all": (0xe0, 0x01),
    "pmm_rpq_inserts": (0xe3, 0), "pmm_wpq_inserts": (0xe7, 0),
    "pmm_cmd1.misc": (0xea, 0x80), "pmm_majmode1.partial_wr_exit":
    (0xec, 0x40), "majmode2.dram_enter": (0xed, 0x08)}


def bank_events(letter):
    """5.3: {(code, umask)} of single banks."""
    if letter == "J":
        return set()
    if letter == "I":
        return {(0xb0 + n, 1 << bank) for n in range(16) for bank in range(8)}
    missing = () if letter in "SC" else (0xb2, 0xb3, 0xba, 0xbb)
    return {(code, bank) for code in range(0xb0, 0xc0) for bank in range(16)
            if code not in missing} | {(0xb2, 0)}


@for_parts("JIHBDSC")
class Events(PartTest):
    def listed(self):
        return self.machine.events(self.imc.name)

    def expected(self):
        letter, common = self.part.letter, set()
        for code, rows in EVENTS:
            for letters, umask in rows.items():
                if letter in letters:
                    bits = [1 << n for n in range(8) if umask >> n & 1]
                    common |= {(code, bit) for bit in bits or (0,)}
        return common | bank_events(letter)

    def test_exactly_the_documented_events(self):
        seen = [event[:2] for event in self.listed().values()]
        self.assertEqual(len(seen), len(set(seen)))
        self.assertEqual(set(seen), self.expected())

    def test_names(self):
        listed = self.listed()
        for name, encoding in NAMES.items():
            if encoding in self.expected():
                self.assertEqual(listed[name][:2], encoding, name)
            else:
                self.assertNotIn(name, listed)

    def test_each_counts_its_own(self):
        for name, (code, umask, _) in self.listed().items():
            self.imc.set("ctr0", 0)
            self.start(0, umask << 8 | code)
            self.start(1, umask << 8 | code ^ 0x08)
            self.imc.add(name, 3)
            self.assertEqual(self.ctr(0), 3, name)
        self.assertEqual(self.ctr(1), 0)

    def test_short_names_mean_the_same_everywhere(self):
        self.start(0, CAS_RD)
        self.start(1, CAS_WR)
        self.start(2, 0x0f04)
        self.imc.add("cas_rd", 16384)       # 9.3: 1 MiB of reads
        self.imc.add("cas_wr", 5)
        self.assertEqual(self.ctrs(), [16384, 5, 16389, 0])

    def test_largest_increments(self):
        # 5.2; where none is published, what 8 bits hold
        letter, listed = self.part.letter, self.listed()
        bounds = {"power_cke_cycles.rank0": 16, "power_channel_ppd": 4,
                  "cas_count.rd_reg": 1}
        if letter in "JSC":
            bounds["rpq_occupancy"] = 22 if letter == "J" else 255
            bounds["wpq_occupancy"] = 32 if letter == "J" else 255
        if letter in "IHBD":
            bounds["vmse_mxb_wr_occupancy"] = 32
        if letter == "C":
            bounds["pmm_rpq_occupancy.all"] = 255
        for name, bound in bounds.items():
            self.assertEqual(listed[name][2], bound, name)
            with self.assertRaises(CommandError):
                self.imc.add(name, 1, bound + 1)

    def test_event_0_is_the_clock(self):
        self.start(0, 0)
        self.machine.step(MS)
        self.assertEqual(self.ctr(0), 800000)


if __name__ == "__main__":
    unittest.main()
