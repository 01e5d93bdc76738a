# SPDX-License-Identifier: GPL-2.0-or-later
"""Conformance of the nest model with
Documentation/hardware/power_imc.md, without a guest.

Numbers in here are that page's, or computed from it; its sections are named
where a number comes from.
"""

import unittest

from models.power_imc.qtest import MS, PowerTest

# Control block (2.5)
STATUS, COMMAND, SPEED, UAV, MODE, MODE_STATE = 0, 8, 0x10, 0x18, 0x20, 0x28
RESUME, PAUSE, CLEAR = 1, 2, 3
INITIALISING, RUNNING, PAUSED, BAD_SPEED, BAD_MODE = range(5)
SLOT = MS // 2

# Groups: head, tail (3.2)
FAST = {"G1": (0x000, 0x108), "G2": (0x110, 0x218), "G3": (0x220, 0x328)}
SLOW = {"G4": (0x330, 0x438), "G5": (0x440, 0x548), "G6": (0x550, 0x658),
        "G7": (0x660, 0x768)}
GROUPS = FAST | SLOW
# Those whose head and tail agree between two posts
GUARDED = [name for name in GROUPS if name not in ("G6", "G7")]
READS = 0xd0                    # 11.4: mcs01, 128B_RD_DISP_PORT01


class NestTest(PowerTest):
    def setUp(self):
        super().setUp()
        self.base = self.vm.homer() + 0x180000
        self.block = self.base + 0x3fc00

    def boot(self):
        """The microcode's four slots."""
        self.vm.step(4 * SLOT)

    def field(self, offset):
        return self.vm.load(self.block + offset)

    def put(self, offset, value):
        self.vm.store(self.block + offset, value)

    def counter(self, offset):
        return self.vm.load(self.base + offset)

    def flush(self):
        self.vm.set("nest", "flush", 1)


class ControlBlock(NestTest):
    def test_addresses_are_those_of_11_4(self):
        self.boot()
        self.put(MODE_STATE, 0x1234)
        self.vm.add("nest", READS, 7)
        self.flush()
        self.assertEqual(self.vm.load(0x203ffd9bfc00), RUNNING)
        self.assertEqual(self.vm.load(0x203ffd9bfc28), 0x1234)
        self.assertEqual(self.vm.load(0x203ffd9800d0), 7)

    def test_start_up_takes_four_slots(self):
        self.vm.step(4 * SLOT - 1)
        self.assertEqual(self.field(STATUS), INITIALISING)
        self.vm.step(1)
        self.assertEqual(self.field(STATUS), RUNNING)

    def test_all_units_are_there(self):
        self.assertEqual(self.field(UAV), 0xffffffffffffe000)

    def test_pause_stops_posts_and_is_taken_back(self):
        self.boot()
        self.put(COMMAND, PAUSE)
        self.vm.step(SLOT - 1)
        self.assertEqual((self.field(COMMAND), self.field(STATUS)),
                         (PAUSE, RUNNING))
        self.vm.step(1)
        self.assertEqual((self.field(COMMAND), self.field(STATUS)),
                         (0, PAUSED))
        before = self.vm.read(self.base, 0x1000)
        self.vm.step(100 * MS)
        self.assertEqual(self.vm.read(self.base, 0x1000), before)

    def test_a_second_write_does_not_delay_the_first(self):
        self.boot()
        self.put(COMMAND, PAUSE)
        self.vm.step(SLOT // 2)
        self.put(COMMAND, PAUSE)
        self.vm.step(SLOT // 2)
        self.assertEqual(self.field(STATUS), PAUSED)

    def test_resume_starts_posts_again(self):
        self.boot()
        self.put(COMMAND, PAUSE)
        self.vm.step(SLOT)
        self.put(COMMAND, RESUME)
        self.vm.step(SLOT)
        self.assertEqual((self.field(COMMAND), self.field(STATUS)),
                         (0, RUNNING))
        head = self.counter(0)
        self.vm.step(10 * MS)
        self.assertEqual(self.counter(0), head + 10)

    def test_clear_zeroes_238_doublewords_and_restarts(self):
        self.boot()
        for offset in range(0, 0x1000, 8):
            self.vm.store(self.base + offset, 5)
        self.vm.add("nest", READS, 1000)
        self.put(COMMAND, CLEAR)
        self.vm.step(SLOT)
        self.assertEqual((self.field(COMMAND), self.field(STATUS)),
                         (0, INITIALISING))
        self.assertEqual(self.vm.read(self.base, 238 * 8), bytes(238 * 8))
        self.assertEqual(self.counter(238 * 8), 5)
        self.vm.step(4 * SLOT)
        self.assertEqual(self.field(STATUS), RUNNING)
        self.flush()
        self.assertEqual(self.counter(READS), 0)

    def test_other_commands_do_nothing_and_are_taken_back(self):
        self.boot()
        for command in (0, 4, 1 << 63):
            self.put(COMMAND, command)
            self.vm.step(SLOT)
            self.assertEqual((self.field(COMMAND), self.field(STATUS)),
                             (0, RUNNING))

    def test_commands_wait_for_the_start_up(self):
        self.put(COMMAND, PAUSE)
        self.vm.step(4 * SLOT)
        self.assertEqual((self.field(COMMAND), self.field(STATUS)),
                         (PAUSE, RUNNING))
        self.vm.step(SLOT)
        self.assertEqual((self.field(COMMAND), self.field(STATUS)),
                         (0, PAUSED))

    def test_speeds_up_to_11_are_powers_of_two(self):
        for speed in (1, 3, 11):
            self.put(SPEED, speed)
            self.boot()
            head = self.counter(0)
            self.vm.step((1 << speed) * 10 * MS)
            self.assertEqual(self.counter(0) - head, 10, speed)

    def test_a_changed_speed_zeroes_the_counters(self):
        for field, left in ((MODE, 7), (UAV, 7), (SPEED, 0)):
            self.boot()
            if field == MODE:
                self.vm.add("nest", READS, 7)
                self.flush()
            self.put(field, self.field(field) ^ 1)
            self.assertEqual(self.counter(READS), left)

    def test_a_speed_above_11_is_an_error_until_it_changes(self):
        self.put(SPEED, 12)
        self.boot()
        self.assertEqual(self.field(STATUS), BAD_SPEED)
        self.put(COMMAND, RESUME)
        self.vm.step(SLOT)
        self.assertEqual((self.field(COMMAND), self.field(STATUS)),
                         (0, BAD_SPEED))
        self.put(SPEED, 0)
        self.boot()
        self.assertEqual(self.field(STATUS), RUNNING)

    def test_the_mode_is_echoed_and_above_1_an_error(self):
        for mode, status in ((1, RUNNING), (2, BAD_MODE), (0, RUNNING)):
            self.put(MODE, mode)
            self.boot()
            self.assertEqual((self.field(STATUS), self.field(MODE_STATE)),
                             (status, mode))

    def test_changes_of_speed_units_and_mode_initialise_again(self):
        for field in (SPEED, UAV, MODE):
            self.boot()
            self.assertEqual(self.field(STATUS), RUNNING)
            self.put(field, self.field(field))
            self.assertEqual(self.field(STATUS), RUNNING)
            self.put(field, self.field(field) ^ 1)
            self.assertEqual(self.field(STATUS), INITIALISING)

    def test_it_is_memory_of_any_width(self):
        self.boot()
        self.vm.write(self.block + COMMAND, bytes(7))
        self.vm.write(self.block + COMMAND + 7, bytes([PAUSE]))
        self.vm.step(SLOT)
        self.assertEqual(self.field(STATUS), PAUSED)
        self.vm.write(self.block - 0x100, b"any bytes will do")
        self.assertEqual(self.vm.read(self.block - 0x100, 17),
                         b"any bytes will do")

    def test_commands_and_writes_are_counted(self):
        self.boot()
        self.vm.stats("nest")
        for command in (PAUSE, RESUME, PAUSE):
            self.put(COMMAND, command)
            self.vm.step(SLOT)
        self.put(SPEED, 0)
        self.put(UAV, self.field(UAV))
        self.put(MODE, 0)
        self.put(STATUS, PAUSED)
        self.put(-8, 0)
        self.assertEqual(self.vm.stats("nest"), {
            "status": (0, 1), "command": (0, 3), "speed": (0, 1),
            "uav": (0, 1), "mode": (0, 1), "other": (0, 1), "post": (0, 0)})
        self.assertEqual([self.vm.get("nest", key) for key in
                          ("starts", "stops")], [1, 2])

    def test_keys_show_the_fields(self):
        self.put(SPEED, 2)
        self.put(MODE, 1)
        self.put(UAV, 0x123)
        self.boot()
        self.assertEqual([self.vm.get("nest", key) for key in (
            "status", "speed", "uav", "mode")], [RUNNING, 2, 0x123, 1])


class Groups(NestTest):
    def counts(self):
        return {name: (self.counter(head), self.counter(tail))
                for name, (head, tail) in GROUPS.items() if name in GUARDED}

    def test_update_counts_go_up_by_one_a_post(self):
        self.boot()
        self.vm.step(80 * MS)
        self.assertEqual(self.counts(), {
            name: (80, 80) if name in FAST else (10, 10) for name in GUARDED})
        self.assertEqual(self.vm.stats("nest")["post"], (0, 80))

    def test_g7_counts_up_the_head_of_g6(self):
        self.boot()
        for posts in range(1, 4):
            self.flush()
            self.assertEqual([self.counter(offset) for offset in
                              GROUPS["G6"] + GROUPS["G7"]],
                             [2 * posts, posts, 0, posts])

    def test_slow_groups_take_turns(self):
        self.boot()
        seen = []
        for _ in range(8):
            before = {name: self.counter(SLOW[name][1]) for name in SLOW}
            self.vm.step(MS)
            seen.append([name for name in SLOW
                         if self.counter(SLOW[name][1]) != before[name]])
        self.assertEqual(sorted(sum(seen, [])), sorted(SLOW))
        self.assertLessEqual(max(map(len, seen)), 1)

    def test_every_counter_of_a_group_can_be_added_to(self):
        self.boot()
        expected = {}
        for head, tail in GROUPS.values():
            for offset in range(head + 8, tail, 8):
                expected[offset] = offset + 1
                self.vm.add("nest", offset, offset + 1)
        self.flush()
        self.assertEqual({offset: self.counter(offset) for offset in expected},
                         expected)
        self.assertEqual(set(self.counts().values()), {(1, 1)})

    def test_nothing_else_is_a_counter(self):
        self.boot()
        for offset in [*sum(GROUPS.values(), ()), 0x770, 0xd1, 0x3fc08,
                       1 << 40]:
            self.assertRefused(f"there is no counter at {offset:#x}", "add",
                               "nest", offset, 1)
        self.assertRefused("'ccyc' is not the offset", "add", "nest", "ccyc",
                           1)

    def test_added_events_appear_with_the_next_post(self):
        self.boot()
        self.vm.add("nest", READS, 5)
        self.vm.add("nest", "0xd0", 3, 100)
        self.vm.step(MS - 1)
        self.assertEqual(self.counter(READS), 0)
        self.vm.step(1)
        self.assertEqual(self.counter(READS), 305)

    def test_counts_add_to_what_memory_holds_and_wrap(self):
        self.boot()
        self.vm.store(self.base + READS, 0xfffffffffffffff0)    # 11.6
        self.vm.add("nest", READS, 0x20)
        self.flush()
        self.assertEqual(self.counter(READS), 0x10)

    def test_a_microcode_that_does_not_run_refuses(self):
        self.assertRefused("its microcode is initialising", "add", "nest",
                           READS, 1)
        self.boot()
        self.put(COMMAND, PAUSE)
        self.vm.step(SLOT)
        self.assertRefused("its microcode is paused", "add", "nest", READS, 1)
        self.assertRefused("its microcode is paused", "set", "nest", "flush",
                           1)
        for field, text in ((SPEED, "by its speed"), (MODE, "by its mode")):
            self.put(field, 99)
            self.boot()
            self.assertRefused(text, "add", "nest", READS, 1)
            self.put(field, 0)

    def test_flush_does_first_what_a_command_has_left_to_do(self):
        self.boot()
        self.put(COMMAND, PAUSE)
        self.vm.step(SLOT)
        self.put(COMMAND, RESUME)
        self.flush()
        self.assertEqual((self.field(COMMAND), self.field(STATUS)),
                         (0, RUNNING))
        self.put(COMMAND, CLEAR)
        self.flush()
        self.assertEqual(set(self.counts().values()), {(1, 1)})

    def test_an_update_can_be_left_halfway(self):
        self.boot()
        early, late = 0x10, 0xf0
        self.vm.add("nest", early, 5)
        self.vm.add("nest", late, 5)
        self.vm.set("nest", "half", 1)
        self.assertEqual(set(self.counts().values()), {(1, 0)})
        self.assertEqual((self.counter(early), self.counter(late)), (5, 0))
        before = self.vm.read(self.base, 0x1000)
        self.vm.step(100 * MS)
        self.assertEqual(self.vm.read(self.base, 0x1000), before)
        self.vm.set("nest", "half", 0)
        self.assertEqual(set(self.counts().values()), {(1, 1)})
        self.assertEqual((self.counter(early), self.counter(late)), (5, 5))
        self.vm.step(MS)
        self.assertEqual(self.counts()["G1"], (2, 2))

    def test_what_ends_an_update_ends_one_that_was_left(self):
        self.boot()
        self.vm.set("nest", "half", 1)
        self.flush()
        self.assertEqual(set(self.counts().values()), {(2, 2)})
        self.vm.set("nest", "half", 1)
        self.put(COMMAND, PAUSE)
        self.vm.step(SLOT)
        self.assertEqual(set(self.counts().values()), {(3, 3)})
        self.assertRefused("its microcode is paused", "set", "nest", "half", 1)

    def test_traffic_is_even_and_exact(self):
        self.boot()
        self.vm.step(10 * MS + 300000)
        self.vm.set("nest", "traffic", 1234567)
        self.vm.add("nest", READS, 10)
        self.vm.step(1000 * MS)
        self.flush()
        self.assertEqual(self.counter(READS), 1234567 + 10)
        self.assertEqual(self.counter(READS + 8), 1234567)
        self.assertEqual(self.counter(0x660 + 8), 1234567)      # G7
        self.vm.set("nest", "traffic", 0)
        self.vm.step(1000 * MS)
        self.assertEqual(self.counter(READS + 8), 1234567)

    def test_without_traffic_nothing_counts_by_itself(self):
        self.boot()
        self.vm.step(1000 * MS)
        ends = set(sum(GROUPS.values(), ()))
        for offset in range(0, 0x1000, 8):
            if offset not in ends:
                self.assertEqual(self.counter(offset), 0, hex(offset))


class SlowPosts(NestTest):
    """3.2: head != tail means that an update is in progress."""

    def boot(self):
        self.vm.set("nest", "slow", 300000)
        super().boot()

    def test_half_of_the_counters_are_late(self):
        self.boot()
        head, tail = GROUPS["G1"]
        for offset in range(head + 8, tail, 8):
            self.vm.add("nest", offset, 1)
        self.vm.step(MS)
        seen = [self.counter(offset) for offset in range(head + 8, tail, 8)]
        self.assertEqual((self.counter(head), self.counter(tail)), (1, 0))
        self.assertEqual(seen, [1] * 16 + [0] * 16)
        self.vm.step(300000 - 1)
        self.assertEqual(self.counter(tail), 0)
        self.vm.step(1)
        seen = [self.counter(offset) for offset in range(head + 8, tail, 8)]
        self.assertEqual((self.counter(head), self.counter(tail)), (1, 1))
        self.assertEqual(seen, [1] * 32)

    def test_a_pause_ends_the_post_first(self):
        self.boot()
        self.vm.step(MS // 2 + 10)
        self.put(COMMAND, PAUSE)
        self.vm.step(SLOT - 5)              # the post has begun, no more
        self.assertEqual((self.counter(0), self.counter(0x108)), (1, 0))
        self.vm.step(5)
        self.assertEqual(self.field(STATUS), PAUSED)
        self.assertEqual((self.counter(0), self.counter(0x108)), (1, 1))

    def test_flush_is_whole(self):
        self.boot()
        self.vm.step(MS)
        self.vm.add("nest", 0x100, 3)
        self.flush()
        self.assertEqual((self.counter(0), self.counter(0x108)), (2, 2))
        self.assertEqual(self.counter(0x100), 3)

    def test_posts_longer_than_the_period_follow_each_other(self):
        self.boot()
        self.vm.set("nest", "slow", 3 * MS)
        self.vm.step(10 * MS)
        self.assertEqual((self.counter(0), self.counter(0x108)), (10, 9))


class Chips(NestTest):
    machine = {"chips": 2}

    def test_the_second_chip_is_4_mib_further(self):
        self.boot()
        self.vm.add("nest@1", READS, 9)
        self.vm.set("nest@1", "flush", 1)
        self.assertEqual(self.vm.load(0x203ffd9800d0 + 0x400000), 9)
        self.assertEqual(self.counter(READS), 0)
        self.vm.store(self.block + 0x400000 + COMMAND, PAUSE)
        self.vm.step(SLOT)
        self.assertEqual(self.vm.get("nest@1", "status"), PAUSED)
        self.assertEqual(self.field(STATUS), RUNNING)


class Power10(NestTest):
    """POWER10's groups (3.2) are not modelled: counters, no update counts."""

    spec = "power10"

    def test_units_are_those_of_2_5(self):
        # pb, mcs0-7, pec0-1; three links of each kind but otl; phb, ocmb, nx
        links = (5, 5, 5, 6, 6, 6, 7, 7)
        expected = sum(1 << 63 - bit for bit in (*range(11), *range(35, 58)))
        expected |= sum(kind << 29 + 3 * (7 - link)
                        for link, kind in enumerate(links))
        self.assertEqual(self.field(UAV), expected)

    def test_counters_are_posted_without_frames(self):
        self.boot()
        for offset, count in ((0x8, 3), (0xd28, 4), (0xff8, 5)):
            self.vm.add("nest", offset, count)
        self.vm.step(MS)
        self.assertEqual([self.counter(offset) for offset in
                          (0, 0x8, 0x108, 0xd28, 0xff8)], [0, 3, 0, 4, 5])
        self.assertRefused("there is no counter at 0x1000", "add", "nest",
                           0x1000, 1)


if __name__ == "__main__":
    unittest.main()
