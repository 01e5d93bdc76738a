# SPDX-License-Identifier: GPL-2.0-or-later
"""Conformance of the engine model with
Documentation/hardware/power_imc.md, without a guest: cores, threads.

Numbers in here are that page's, or computed from it; its sections are named
where a number comes from. Nest and trace have files of their own.
"""

import unittest

from models.power_imc.qtest import (ACCUMULATE, HTM_OFF, HTM_ON, MS, PAGE,
                                    TRACE, PowerMachine, PowerTest)

THREAD_PAGE = 0x40010000

# Offsets in a page (3.3, 11.4)
NON_IDLE_INST, NON_IDLE_PCYC, CCYC, REF = 0x28, 0x30, 0x98, 0xa0
PCYC, CS_PCYC, NEST_REF_CLK = 0x18, 0x818, 0x118
LAST = 0x1ff0
QUIET = 0x58                # counts nothing by itself


class Registers(PowerTest):
    """11.2: where the registers of each core are."""

    machine = {"cores": 24, "threads": 1}

    ADDRESSES = {0: (0x1001220b, 0x10012200, 0x20010aa8, 0x20010aa9),
                 1: (0x1001230b, 0x10012300, 0x21010aa8, 0x21010aa9),
                 2: (0x1001260b, 0x10012600, 0x22010aa8, 0x22010aa9),
                 3: (0x1001270b, 0x10012700, 0x23010aa8, 0x23010aa9),
                 4: (0x1101220b, 0x11012200, 0x24010aa8, 0x24010aa9),
                 23: (0x1501270b, 0x15012700, 0x37010aa8, 0x37010aa9)}
    KEYS = ("pdbar", "htm", "event_mask", "trace")

    def test_every_register_belongs_to_its_core_alone(self):
        for core, addresses in self.ADDRESSES.items():
            for index, address in enumerate(addresses):
                value = (core + 1) << 32 | (index + 1) << 16
                self.vm.scom_write(address, value)
        for core, addresses in self.ADDRESSES.items():
            for index, address in enumerate(addresses):
                value = (core + 1) << 32 | (index + 1) << 16
                self.assertEqual(self.vm.scom_read(address), value)
                self.assertEqual(self.vm.get(f"core{core}", self.KEYS[index]),
                                 value)

    def test_every_access_is_counted_in_its_class(self):
        for core, addresses in self.ADDRESSES.items():
            for index, address in enumerate(addresses):
                for _ in range(index + 1):
                    self.vm.scom_write(address, 0)
                for _ in range(2 * index + 1):
                    self.vm.scom_read(address)
            self.assertEqual(self.vm.stats(f"core{core}"), {
                "pdbar": (1, 1), "htm": (3, 2), "event_mask": (5, 3),
                "trace": (7, 4), "post": (0, 0)})

    def test_other_registers_are_still_qemus(self):
        self.assertEqual(self.vm.scom_read(0x20050000), 0x26f024f023f0000)
        self.assertEqual(self.vm.scom_read(0x10012201), (1 << 64) - 1)
        self.assertEqual(self.vm.scom_read(0x20010aaa), 0)

    def test_they_reset_to_0(self):
        for addresses in self.ADDRESSES.values():
            for address in addresses:
                self.assertEqual(self.vm.scom_read(address), 0)

    def test_pdbar_keeps_the_bits_of_11_1(self):
        for value, kept in (
                (0x0000000000002000, 0x0000000000002000),
                (0x0000000012340000, 0x0000000012340000),
                (0x0000000123456000, 0x0000000123456000),
                (0xc000000012340000, 0x0000000012340000),
                (0xc0000007fe013abc, 0x00000007fe012000),
                (0x0001ffffffffe000, 0x0001ffffffffe000),
                (0x00020000c0ffe000, 0x00020000c0ffe000),
                (0x00040000c0ffe000, 0x00000000c0ffe000)):
            self.vm.scom_write(0x1001220b, value)
            self.assertEqual(self.vm.scom_read(0x1001220b), kept)

    def test_the_others_keep_every_bit(self):
        for address in self.ADDRESSES[1][1:]:
            self.vm.scom_write(address, 0xfedcba9876543210)
            self.assertEqual(self.vm.scom_read(address), 0xfedcba9876543210)

    def test_ibm_bit_4_of_the_htm_mode_starts_the_engine(self):
        for value, running in ((HTM_ON, 1), (HTM_OFF, 0),
                               (0x0800000000000000, 1),
                               (0xf7ffffffffffffff, 0)):
            self.vm.scom_write(0x10012200, value)
            self.assertEqual(self.vm.get("core0", "running"), running)
            self.assertEqual(self.vm.get("core1", "running"), 0)


class Power10Registers(Registers):
    spec = "power10"
    machine = {"cores": 32, "threads": 1}

    ADDRESSES = {0: (0x2001868b, 0x20018680, 0x20028400, 0x20028401),
                 1: (0x2001468b, 0x20014680, 0x20024400, 0x20024401),
                 5: (0x2101468b, 0x21014680, 0x21024400, 0x21024401),
                 31: (0x2701168b, 0x27011680, 0x27021400, 0x27021401)}

    def test_other_registers_are_still_qemus(self):
        self.assertEqual(self.vm.scom_read(0x20018681), (1 << 64) - 1)
        self.assertEqual(self.vm.scom_read(0x20028402), 0)

    def test_pdbar_keeps_the_bits_of_11_1(self):
        self.vm.scom_write(0x2001868b, 0xc0000007fe013abc)
        self.assertEqual(self.vm.scom_read(0x2001868b), 0x00000007fe012000)

    def test_ibm_bit_4_of_the_htm_mode_starts_the_engine(self):
        for value, running in ((HTM_ON, 1), (HTM_OFF, 0)):
            self.vm.scom_write(0x27011680, value)
            self.assertEqual(self.vm.get("core31", "running"), running)


class Chips(PowerTest):
    machine = {"chips": 2, "cores": 2, "threads": 2}

    def test_names_are_by_chip(self):
        names = [line.split()[0]
                 for line in self.vm.control("list").splitlines()]
        self.assertEqual(names, [
            name for chip in (0, 1) for name in (
                f"nest@{chip}", f"core0@{chip}", f"thread0@{chip}",
                f"thread1@{chip}", f"core1@{chip}", f"thread2@{chip}",
                f"thread3@{chip}")])

    def test_chips_share_nothing(self):
        self.vm.scom_write(0x1001230b, PAGE)
        self.vm.scom_write(0x1001230b, PAGE + 0x4000, chip=1)
        self.vm.scom_write(0x10012300, HTM_ON, chip=1)
        self.assertEqual(self.vm.get("core1@0", "running"), 0)
        self.vm.add("core1@1", CCYC, 5)
        self.vm.set("core1@1", "flush", 1)
        self.assertEqual(self.page(CCYC, PAGE + 0x4000), 5)
        self.assertEqual(self.page(CCYC), 0)


class CorePage(PowerTest):
    """3.3, 9.3: the page at PDBAR, while the engine runs."""

    def test_nothing_is_written_unless_the_engine_runs(self):
        self.pdbar(PAGE)
        self.ldbar(ACCUMULATE | THREAD_PAGE)
        self.vm.step(100 * MS)
        self.htm(HTM_OFF)
        self.vm.step(100 * MS)
        for base in (PAGE, THREAD_PAGE):
            self.assertEqual(self.vm.read(base, 0x2000), bytes(0x2000))

    def test_a_second_has_32_million_reference_clocks(self):
        self.start()
        self.vm.step(1000 * MS)
        self.assertEqual(self.page(REF), 32000000 // 512)

    def test_cycles_are_those_of_the_cores_clock(self):
        self.start()
        self.vm.step(1000 * MS)
        self.assertEqual(self.page(CCYC), 2000000000 // 512)

    def test_every_thread_has_cycles_idle_or_not(self):
        self.start()
        self.ldbar(ACCUMULATE | THREAD_PAGE)
        self.vm.set("thread1", "idle", 1)
        self.vm.step(1000 * MS)
        for offset in (PCYC, CS_PCYC):
            self.assertEqual(self.page(offset), 2 * 2000000000 // 512)
            self.assertEqual(self.page(offset, THREAD_PAGE), 2000000000 // 512)

    def test_non_idle_cycles_are_the_sum_of_the_threads_that_run(self):
        self.start()
        self.vm.set("thread1", "idle", 1)
        self.vm.step(1000 * MS)
        self.assertEqual(self.page(NON_IDLE_PCYC), 2000000000 // 512)
        self.vm.set("thread1", "idle", 0)
        self.vm.step(1000 * MS)
        self.assertEqual(self.page(NON_IDLE_PCYC), 3 * 2000000000 // 512)
        self.vm.control("set", "thread*", "idle", 1)
        self.vm.step(1000 * MS)
        self.assertEqual(self.page(NON_IDLE_PCYC), 3 * 2000000000 // 512)
        self.assertEqual(self.page(CCYC), 3 * 2000000000 // 512)

    def test_counts_are_posted_every_millisecond(self):
        self.start()
        self.vm.step(MS - 1)
        self.assertEqual(self.page(REF), 0)
        self.vm.step(1)
        self.assertEqual(self.page(REF), 32000 // 512)      # 62.5
        self.vm.step(MS - 1)
        self.assertEqual(self.page(REF), 32000 // 512)
        self.vm.step(1)
        self.assertEqual(self.page(REF), 64000 // 512)

    def test_the_rest_of_a_unit_is_never_lost(self):
        self.start()
        for second in range(1, 4):
            self.vm.step(1000 * MS)
            self.assertEqual(self.page(REF), second * 32000000 // 512)

    def test_a_pause_counts_nothing_and_keeps_the_rest(self):
        self.start()
        for _ in range(2):                  # 62.5 units each
            self.vm.step(MS)
            self.htm(HTM_OFF)
            self.vm.step(777 * MS)
            self.htm(HTM_ON)
        self.flush()
        self.assertEqual(self.page(REF), 125)

    def test_stopping_posts_what_is_due(self):
        self.start()
        self.vm.step(MS // 2)
        self.htm(HTM_OFF)
        self.assertEqual(self.page(REF), 16000 // 512)

    def test_counts_add_to_what_memory_holds(self):
        self.vm.store(PAGE + REF, 0xfffffffffffffff0)
        self.start()
        self.vm.step(MS)
        self.flush()
        self.assertEqual(self.page(REF), 62 - 0x10)
        self.vm.store(PAGE + REF, 1000)
        self.vm.step(1000 * MS)
        self.assertEqual(self.page(REF), 1000 + 62562 - 62)

    def test_nothing_but_counters_is_touched(self):
        self.vm.write(PAGE, b"\xa5" * 0x2000)
        self.start()
        for line in range(128):
            for slot in range(4):
                self.vm.add("core0", 64 * line + 0x18 + 8 * slot, 1)
        self.flush()
        page = self.vm.read(PAGE, 0x2000)
        for offset in range(0, 0x2000, 8):
            word = int.from_bytes(page[offset:offset + 8], "big")
            counter = 0x18 <= offset % 64 < 0x38
            self.assertEqual(word, 0xa5a5a5a5a5a5a5a5 + counter, hex(offset))

    def test_the_page_can_be_moved(self):
        self.start()
        self.vm.add("core0", LAST, 3)
        self.flush()
        self.pdbar(PAGE + 0x2000)
        self.vm.add("core0", LAST, 4)
        self.flush()
        self.assertEqual(self.page(LAST), 3)
        self.assertEqual(self.page(LAST, PAGE + 0x2000), 4)

    def test_without_pdbar_nothing_is_written_anywhere(self):
        low = self.vm.read(0, 0x2000)
        self.htm(HTM_ON)
        self.vm.step(100 * MS)
        self.assertEqual(self.vm.read(0, 0x2000), low)
        self.assertRefused("PDBAR has not been set", "add", "core0", CCYC, 1)

    def test_posts_are_counted(self):
        self.start()
        self.ldbar(ACCUMULATE | THREAD_PAGE)
        self.vm.step(10 * MS)
        self.assertEqual(self.vm.stats("core0")["post"], (0, 10))
        self.assertEqual(self.vm.stats("thread0")["post"], (0, 10))
        self.assertEqual(self.vm.stats("thread1")["post"], (0, 0))

    def test_an_engine_that_is_off_costs_nothing(self):
        self.pause_nest()
        self.start()
        self.vm.step(10 * MS)
        self.htm(HTM_OFF)
        self.assertNoTimer()


class Power10Page(PowerTest):
    spec = "power10"

    def test_counters_count_single_events(self):
        self.start()
        self.vm.step(1000 * MS)
        self.assertEqual(self.page(NEST_REF_CLK), 32000000)
        self.assertEqual(self.page(NON_IDLE_PCYC), 2 * 2000000000)
        self.assertEqual(self.page(CCYC), 0)
        self.assertEqual(self.page(REF), 0)


class Add(PowerTest):
    def test_memory_grows_by_exactly_what_is_added(self):
        self.start()
        self.vm.add("core0", QUIET, 1)
        self.vm.add("core0", "0x1fd8", 1000)        # 11.4: last event
        self.vm.add("core0", 0x1fd8, 234)
        self.vm.add("core0", LAST, 3, 7)
        self.flush()
        self.assertEqual([self.page(offset) for offset in
                          (QUIET, 0x60, 0x1fd8, LAST)], [1, 0, 1234, 21])

    def test_it_is_seen_at_the_next_post(self):
        self.start()
        self.vm.add("core0", QUIET, 9)
        self.vm.step(MS - 1)
        self.assertEqual(self.page(QUIET), 0)
        self.vm.step(1)
        self.assertEqual(self.page(QUIET), 9)

    def test_it_adds_to_what_counts_by_itself(self):
        self.start()
        self.vm.step(1000 * MS)
        self.vm.add("core0", "32mhz_cyc", 1000)
        self.vm.add("core0", REF, 1)
        self.flush()
        self.assertEqual(self.page(REF), 62500 + 1001)

    def test_cores_and_threads_are_apart(self):
        self.start()
        self.ldbar(ACCUMULATE | THREAD_PAGE, 1)
        self.vm.add("core0", QUIET, 1)
        self.vm.add("thread1", QUIET, 2)
        self.flush()
        self.assertEqual(self.page(QUIET), 1)
        self.assertEqual(self.page(QUIET, THREAD_PAGE), 2)

    def test_what_is_off_refuses_with_a_sentence(self):
        off = "core0@0 counts nothing: its engine is off (HTM mode)"
        self.assertRefused(off, "add", "core0", QUIET, 1)
        self.ldbar(ACCUMULATE | THREAD_PAGE)
        self.assertRefused("the engine of its core is off", "add", "thread0",
                           QUIET, 1)
        self.assertRefused("its engine is off", "set", "core0", "flush", 1)
        self.start()
        self.assertRefused("LDBAR does not accumulate", "add", "thread1", QUIET,
                           1)
        self.ldbar(TRACE | THREAD_PAGE, 1)
        self.assertRefused("LDBAR does not accumulate", "add", "thread1", QUIET,
                           1)

    def test_what_is_no_counter_is_refused(self):
        self.start()
        for offset in (0, 0x10, 0x17, 0x19, 0x38, 0x40, 0x1ff8, 0x2000,
                       0x2018, 1 << 63):
            self.assertRefused(f"there is no counter at {offset:#x}", "add",
                               "core0", offset, 1)
        for event in ("ccycs", "-8", "0x", "CCYC"):
            self.assertRefused(f"event '{event}' is not the offset", "add",
                               "core0", event, 1)

    def test_the_list_names_what_counts_by_itself(self):
        lines = self.vm.control("list", "core0").splitlines()
        events = dict(line.split()[1:3] for line in lines
                      if line.startswith("event") and "itself" in line)
        self.assertEqual(events, {
            "non_idle_inst": "0x28", "non_idle_pcyc": "0x30", "ccyc": "0x98",
            "32mhz_cyc": "0xa0", "pcyc": "0x18", "inst": "0x20",
            "cs_pcyc": "0x818", "cs_inst": "0x820", "cs_inst_user": "0x1020",
            "cs_inst_kernel": "0x1820", "cs_32mhz_cyc": "0x8e0",
            "cs_1plus_ppc_cmpl": "0xad8", "cs_1plus_ppc_cmpl_user": "0x12d8",
            "cs_1plus_ppc_cmpl_kernel": "0x1ad8"})
        self.start()
        for name, offset in events.items():
            self.vm.add("core0", name, 11)
        self.flush()
        self.assertEqual({self.page(int(offset, 0))
                          for offset in events.values()}, {11})


class ThreadPage(PowerTest):
    """4, 9.3: the page at LDBAR, with bit 0 and the engine on."""

    def test_it_counts_while_ldbar_says_so(self):
        self.start()
        self.vm.step(MS // 4)
        self.ldbar(ACCUMULATE | THREAD_PAGE)
        self.vm.step(1000 * MS)
        self.ldbar(THREAD_PAGE)             # only bit 0 cleared
        self.vm.step(1000 * MS)
        self.assertEqual(self.page(REF, THREAD_PAGE), 62500)
        self.assertEqual(self.page(NON_IDLE_PCYC, THREAD_PAGE),
                         2000000000 // 512)

    def test_mode_is_by_bits_0_and_1(self):
        for value, mode in ((0, 0), (THREAD_PAGE, 0),
                            (ACCUMULATE | THREAD_PAGE, 1),
                            (TRACE | THREAD_PAGE, 2),
                            (ACCUMULATE | TRACE | THREAD_PAGE, 3)):
            self.ldbar(value)
            self.assertEqual(self.vm.get("thread0", "mode"), mode)
            self.assertEqual(self.vm.get("thread0", "ldbar"), value)

    def test_the_address_is_bits_8_to_50(self):
        self.start()
        self.ldbar(ACCUMULATE | THREAD_PAGE | 0x3f00000000001fff)
        self.vm.add("thread0", QUIET, 5)
        self.flush()
        self.assertEqual(self.page(QUIET, THREAD_PAGE), 5)

    def test_what_is_due_when_ldbar_is_written_goes_to_the_old_page(self):
        self.start()
        self.ldbar(ACCUMULATE | THREAD_PAGE)
        self.vm.add("thread0", QUIET, 5)
        self.ldbar(ACCUMULATE | THREAD_PAGE + 0x2000)
        self.vm.add("thread0", QUIET, 6)
        self.ldbar(0)
        self.assertEqual(self.page(QUIET, THREAD_PAGE), 5)
        self.assertEqual(self.page(QUIET, THREAD_PAGE + 0x2000), 6)

    def test_stopping_the_engine_posts_what_is_due(self):
        self.start()
        self.ldbar(ACCUMULATE | THREAD_PAGE)
        self.vm.add("thread0", QUIET, 5)
        self.htm(HTM_OFF)
        self.assertEqual(self.page(QUIET, THREAD_PAGE), 5)

    def test_many_short_windows_lose_nothing(self):
        self.start()
        for _ in range(64):
            self.ldbar(ACCUMULATE | THREAD_PAGE)
            self.vm.step(2500)              # 80 clocks, less than a unit
            self.ldbar(0)
            self.vm.step(10 * MS)
        self.assertEqual(self.page(REF, THREAD_PAGE), 64 * 80 // 512)

    def test_threads_have_ldbars_of_their_own(self):
        self.ldbar(ACCUMULATE | THREAD_PAGE, 1)
        self.assertEqual([self.vm.get(f"thread{n}", "mode")
                          for n in range(4)], [0, 1, 0, 0])

    def test_a_deaf_thread_goes_by_what_was_written_before(self):
        self.start()
        self.vm.set("thread0", "deaf", 1)
        self.ldbar(ACCUMULATE | THREAD_PAGE)
        self.vm.step(1000 * MS)
        self.assertEqual(self.vm.get("thread0", "mode"), 0)
        self.assertEqual(self.page(REF, THREAD_PAGE), 0)
        self.vm.set("thread0", "deaf", 0)
        self.ldbar(ACCUMULATE | THREAD_PAGE)
        self.assertEqual(self.vm.get("thread0", "mode"), 1)

    def test_ldbar_writes_are_counted(self):
        self.ldbar(0)
        self.ldbar(ACCUMULATE | THREAD_PAGE)
        self.ldbar(ACCUMULATE | THREAD_PAGE)
        self.assertEqual(self.vm.stats("thread0")["ldbar"], (0, 3))


class Slow(PowerTest):
    """What is under way when something stops."""

    def test_an_engine_that_lingers_goes_on_to_post(self):
        self.start()
        self.vm.set("core0", "linger", 5 * MS)
        self.htm(HTM_OFF)
        self.assertEqual(self.vm.get("core0", "running"), 1)
        self.vm.stats("core0")
        self.vm.step(20 * MS)
        self.assertEqual(self.vm.get("core0", "running"), 0)
        self.assertEqual(self.vm.stats("core0")["post"], (0, 5))
        self.assertEqual(self.vm.get("core0", "now")
                         - self.vm.get("core0", "wrote"), 15 * MS)

    def test_starting_it_meanwhile_keeps_it_on(self):
        self.start()
        self.vm.set("core0", "linger", 5 * MS)
        self.htm(HTM_OFF)
        self.vm.step(2 * MS)
        self.htm(HTM_ON)
        self.vm.step(20 * MS)
        self.assertEqual(self.vm.get("core0", "running"), 1)

    def test_ldbar_may_take_effect_later(self):
        self.start()
        self.ldbar(ACCUMULATE | THREAD_PAGE)
        self.vm.set("thread0", "linger", 3 * MS)
        self.ldbar(0)
        self.vm.add("thread0", QUIET, 5)
        self.vm.step(2 * MS)
        self.assertEqual(self.page(QUIET, THREAD_PAGE), 5)
        self.vm.step(MS)
        self.assertRefused("LDBAR does not accumulate",
                           "add", "thread0", QUIET, 1)

    def test_a_second_write_ends_the_first(self):
        self.start()
        self.vm.set("thread0", "linger", 3 * MS)
        self.ldbar(ACCUMULATE | THREAD_PAGE)
        self.ldbar(0)
        self.assertEqual(self.vm.get("thread0", "mode"), 1)
        self.vm.step(3 * MS)
        self.assertEqual(self.vm.get("thread0", "mode"), 0)

    def test_every_write_behind_the_fence_is_stray(self):
        self.start()
        self.ldbar(ACCUMULATE | THREAD_PAGE)
        self.vm.step(5 * MS)
        self.assertEqual(self.vm.get("core0", "stray"), 0)
        self.vm.set("core0", "fence", 1)
        self.vm.step(5 * MS)
        self.assertEqual(self.vm.get("core0", "stray"), 10)
        self.vm.set("core0", "fence", 0)
        self.vm.step(5 * MS)
        self.assertEqual(self.vm.get("core0", "stray"), 10)

    def test_a_fence_may_be_of_some_memory(self):
        self.start()
        self.ldbar(ACCUMULATE | THREAD_PAGE)
        self.vm.set("core0", "fence", 1)
        for base, size, stray in ((PAGE, 1, 5), (PAGE - 8, 8, 0),
                                  (THREAD_PAGE, 8, 5), (0, 1 << 40, 10),
                                  (THREAD_PAGE + 8, 1 << 40, 0)):
            before = self.vm.get("core0", "stray")
            self.vm.set("core0", "fence-base", base)
            self.vm.set("core0", "fence-size", size)
            self.vm.step(5 * MS)
            self.assertEqual(self.vm.get("core0", "stray") - before, stray,
                             hex(base))

    def test_an_engine_that_is_on_in_the_end_is_told(self):
        self.start()
        self.htm(HTM_OFF)
        self.vm.reset()
        self.assertNotIn("where the machine ends", self.vm.log())
        self.start()
        self.vm.reset()
        self.assertIn("core0@0: its engine is on where the machine ends",
                      self.vm.log())


class Mute(PowerTest):
    def test_the_switch_does_not_tell(self):
        self.start()
        self.vm.set("core0", "mute", 1)
        self.assertEqual(self.vm.scom_read(0x10012200), 0)
        self.assertEqual(self.vm.get("core0", "running"), 1)
        self.assertEqual(self.vm.get("core0", "htm"), HTM_ON)
        self.assertEqual(self.vm.scom_read(0x1001220b), PAGE)
        self.vm.set("core0", "mute", 0)
        self.assertEqual(self.vm.scom_read(0x10012200), HTM_ON)


class Refused(PowerTest):
    def test_a_register_that_is_refused_keeps_its_value(self):
        self.start()
        self.vm.set("core0", "refuse", 2)
        self.htm(HTM_OFF)
        self.pdbar(THREAD_PAGE)
        self.assertEqual(self.vm.get("core0", "running"), 1)
        self.assertEqual(self.vm.get("core0", "htm"), HTM_ON)
        self.assertEqual(self.vm.get("core0", "pdbar"), THREAD_PAGE)
        self.vm.set("core0", "refuse", 0)
        self.htm(HTM_OFF)
        self.assertEqual(self.vm.get("core0", "running"), 0)


class DeepSleep(PowerTest):
    """10.2: firmware has all restored but the HTM mode."""

    def test_the_htm_mode_is_lost_on_request(self):
        self.start()
        self.vm.set("core0", "lost", 1)
        self.assertEqual([self.vm.get("core0", key) for key in
                          ("running", "htm", "pdbar", "lost")],
                         [0, 0, PAGE, 1])

    def test_it_is_lost_when_all_threads_sleep(self):
        self.start()
        self.vm.set("thread1", "idle", 1)
        self.vm.set("thread0", "idle", 1)
        self.assertEqual(self.vm.get("core0", "running"), 1)
        self.vm.set("core0", "deep", 1)
        self.vm.set("thread0", "idle", 1)       # at level 0: not deep enough
        self.assertEqual(self.vm.get("core0", "running"), 1)


class LparPerCore(PowerTest):
    """4: the threads of a core share LDBAR."""

    machine = {"board": "powernv9,lpar-per-core=on"}

    def test_a_write_is_to_all_threads_of_the_core(self):
        self.start()
        self.ldbar(ACCUMULATE | THREAD_PAGE, 1)
        self.assertEqual([self.vm.get(f"thread{n}", "mode")
                          for n in range(4)], [1, 1, 0, 0])
        self.vm.add("thread0", QUIET, 1)
        self.vm.add("thread1", QUIET, 2)
        self.flush()
        self.assertEqual(self.page(QUIET, THREAD_PAGE), 3)


class Through(PowerTest):
    def test_what_was_counted_while_off_is_posted_after_a_start(self):
        self.start()
        self.htm(0)
        before = self.page(QUIET)
        self.vm.set("core0", "through", 1)
        self.vm.add("core0", QUIET, 5)
        self.vm.step(10 * MS)
        self.assertEqual(self.page(QUIET), before)
        self.start()
        self.vm.step(MS)
        self.assertEqual(self.page(QUIET), before + 5)


class Shares(PowerTest):
    def test_a_key_has_the_threads_share_it(self):
        self.vm.set("core0", "shares", 1)
        self.ldbar(ACCUMULATE | THREAD_PAGE, 1)
        self.assertEqual(self.vm.get("thread0", "ldbar"),
                         ACCUMULATE | THREAD_PAGE)


class Reset(PowerTest):
    def test_everything_is_off_again(self):
        self.start()
        self.ldbar(ACCUMULATE | THREAD_PAGE)
        self.vm.add("core0", QUIET, 1)
        self.vm.add("thread0", QUIET, 1)
        self.vm.step(MS // 2)
        self.vm.reset()
        low = self.vm.read(0, 0x2000)
        for scom in self.SCOMS[self.spec]:
            self.assertEqual(self.vm.scom_read(scom), 0)
        self.assertEqual([self.vm.get("core0", "running"),
                          self.vm.get("thread0", "ldbar"),
                          self.vm.get("thread0", "mode")], [0, 0, 0])
        self.start()
        self.ldbar(ACCUMULATE | THREAD_PAGE)
        self.flush()
        self.assertEqual([self.page(QUIET), self.page(REF),
                          self.page(QUIET, THREAD_PAGE)], [0, 0, 0])
        self.assertEqual(self.vm.read(0, 0x2000), low)

    def test_a_trace_is_off_again(self):
        self.start()
        self.trace_scom(0x7fffffc142020000)
        self.ldbar(TRACE | THREAD_PAGE)
        self.vm.set("thread0", "burst", 10)
        self.vm.reset()
        self.vm.step(10 * MS)
        self.assertEqual([self.vm.get("thread0", key)
                          for key in ("total", "head", "mode")], [0, 0, 0])

    def test_the_microcode_starts_up_again(self):
        block = self.vm.homer() + 0x1bfc00
        self.vm.step(2 * MS)
        self.vm.store(block + 8, 1)
        self.vm.step(MS)
        self.vm.add("nest", 0xd0, 7)
        self.vm.store(block + 8, 2)
        self.vm.step(MS // 4)               # it has not been taken up
        self.vm.reset()
        self.assertEqual(self.vm.get("nest", "starts"), 0)
        self.vm.step(2 * MS - 1)
        self.assertEqual(self.vm.load(block), 0)
        self.vm.step(1)
        self.assertEqual(self.vm.load(block), 1)
        self.vm.set("nest", "flush", 1)
        self.assertEqual(self.vm.load(self.vm.homer() + 0x1800d0), 0)


class Hazards(PowerTest):
    """10.1: what can stop a real machine by a checkstop is noticed."""

    def checkstops(self):
        return self.vm.get("core0", "checkstop")

    def test_two_threads_in_different_modes(self):
        self.start()
        self.ldbar(ACCUMULATE | THREAD_PAGE, 0)
        self.assertEqual(self.checkstops(), 0)
        self.ldbar(TRACE | THREAD_PAGE + 0x40000, 1)
        self.assertEqual(self.checkstops(), 1)
        self.assertIn("core0@0: one thread accumulates", self.vm.log())
        self.ldbar(TRACE | THREAD_PAGE + 0x80000, 1)
        self.assertEqual(self.checkstops(), 1)      # still the same one
        self.ldbar(0, 1)
        self.ldbar(TRACE | THREAD_PAGE + 0x40000, 1)
        self.assertEqual(self.checkstops(), 2)

    def test_starting_the_engine_over_both(self):
        self.ldbar(ACCUMULATE | THREAD_PAGE, 0)
        self.ldbar(TRACE | THREAD_PAGE + 0x40000, 1)
        self.assertEqual(self.checkstops(), 0)
        self.start()
        self.assertEqual(self.checkstops(), 1)

    def test_switching_one_thread_under_way(self):
        self.start()
        self.ldbar(ACCUMULATE | THREAD_PAGE)
        self.ldbar(TRACE | THREAD_PAGE)
        self.assertEqual(self.checkstops(), 1)
        self.ldbar(ACCUMULATE | THREAD_PAGE)
        self.assertEqual(self.checkstops(), 2)
        self.ldbar(0)
        self.ldbar(TRACE | THREAD_PAGE)
        self.assertEqual(self.checkstops(), 2)

    def test_switching_while_the_engine_is_off(self):
        self.pdbar(PAGE)
        self.ldbar(ACCUMULATE | THREAD_PAGE)
        self.ldbar(TRACE | THREAD_PAGE)
        self.ldbar(ACCUMULATE | THREAD_PAGE)
        self.htm(HTM_ON)
        self.assertEqual(self.checkstops(), 0)

    def test_a_trace_that_ends_while_the_engine_is_on(self):
        self.start()
        self.ldbar(TRACE | THREAD_PAGE)
        self.ldbar(TRACE | THREAD_PAGE)     # the same
        self.ldbar(TRACE | THREAD_PAGE + 0x40000)
        self.assertEqual(self.vm.get("core0", "untraced"), 0)
        self.ldbar(0)
        self.assertEqual(self.vm.get("core0", "untraced"), 1)
        self.assertIn("core0@0: LDBAR of thread0@0 ends a trace",
                      self.vm.log())
        self.ldbar(ACCUMULATE | THREAD_PAGE)
        self.ldbar(0)
        self.assertEqual(self.vm.get("core0", "untraced"), 1)
        self.ldbar(TRACE | THREAD_PAGE)
        self.htm(HTM_OFF)
        self.ldbar(0)
        self.assertEqual(self.vm.get("core0", "untraced"), 1)

    def test_the_mode_may_drop(self):
        self.vm.set("core0", "drops", 10 * MS)
        self.start()
        self.assertEqual(self.vm.scom_read(0x10012200), HTM_ON)
        self.vm.step(11 * MS)
        self.assertEqual(self.vm.scom_read(0x10012200), 0)
        self.assertEqual(self.vm.get("core0", "running"), 1)

    def test_a_write_of_ldbar_while_the_engine_is_on(self):
        def hot():
            return self.vm.get("core0", "hot")
        self.pdbar(PAGE)
        self.ldbar(TRACE | THREAD_PAGE)
        self.htm(HTM_ON)
        self.ldbar(TRACE | THREAD_PAGE)     # the same
        self.assertEqual(hot(), 0)
        self.ldbar(TRACE | THREAD_PAGE + 0x40000)
        self.assertEqual(hot(), 1)
        self.assertIn("LDBAR of thread0@0 is written while the engine is on",
                      self.vm.log())
        self.ldbar(0)
        self.assertEqual(hot(), 2)
        self.htm(HTM_OFF)
        self.ldbar(THREAD_PAGE)
        self.htm(HTM_ON)
        self.ldbar(ACCUMULATE | THREAD_PAGE)
        self.ldbar(THREAD_PAGE)
        self.assertEqual(hot(), 2)

    def test_other_cores_do_not_matter(self):
        self.start()
        self.vm.scom_write(0x10012300, HTM_ON)
        self.ldbar(ACCUMULATE | THREAD_PAGE, 0)
        self.ldbar(ACCUMULATE | THREAD_PAGE + 0x2000, 1)
        self.ldbar(TRACE | THREAD_PAGE + 0x40000, 2)
        self.ldbar(TRACE | THREAD_PAGE + 0x80000, 3)
        self.assertEqual([self.checkstops(), self.vm.get("core1", "checkstop")],
                         [0, 0])

    def test_both_bits_are_not_defined_and_write_nothing(self):
        self.start()
        self.ldbar(ACCUMULATE | TRACE | THREAD_PAGE)
        self.vm.step(100 * MS)
        self.assertEqual(self.vm.get("thread0", "undefined"), 1)
        self.assertIn("both accumulates and traces", self.vm.log())
        self.assertEqual(self.vm.read(THREAD_PAGE, 0x2000), bytes(0x2000))


class Creation(unittest.TestCase):
    spec = "power9"

    def assertFails(self, text, *args, **kwargs):
        with self.assertRaises(RuntimeError) as caught:
            vm = PowerMachine(*args, **kwargs)
            self.addCleanup(vm.close)
            vm.step(1)
        self.assertIn(text, str(caught.exception))

    def test_the_generation_has_to_be_the_machines(self):
        self.assertFails("generation p10 is not that of the machine", "p10",
                         board="powernv9")
        self.assertFails("generation is p9 or p10, not p8", "p8",
                         board="powernv9")

    def test_the_machine_has_to_be_powernv(self):
        self.assertFails("for machines powernv9 and powernv10",
                         board="pseries")


if __name__ == "__main__":
    unittest.main()
