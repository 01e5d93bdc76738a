# SPDX-License-Identifier: GPL-2.0-or-later
"""Conformance of the trace model with
Documentation/hardware/power_imc.md, without a guest.

Numbers in here are that page's, or computed from it; its sections are named
where a number comes from.
"""

import struct
import unittest
from typing import NamedTuple

from models.power_imc.qtest import ACCUMULATE, HTM_OFF, HTM_ON, MS, TRACE, PowerTest

BUFFER = 0x12340000             # 11.5
ENTRIES = 4096
P9_DEFAULT = 0x7fffffc142020000         # 5, 11.3: CPMC2, 250, line 2
P10_DEFAULT = 0x3fffffc142020000        # CPMC1, 250, line 4
TB2_MASK = 0x000003ffffffffff
TICKS = 512                     # of the timebase, in a microsecond
NEVER = 1 << 40                 # instructions to a record


class Record(NamedTuple):
    tb1: int
    ip: int
    pidr: int
    cpmc1: int
    cpmc2: int
    cpmc3: int
    cpmc4: int
    tb2: int


class TraceTest(PowerTest):
    scom = P9_DEFAULT
    division = 1

    def setUp(self):
        super().setUp()
        self.vm.set("thread*", "trace-div", self.division)

    def trace(self, ldbar=TRACE | BUFFER):
        self.trace_scom(self.scom)
        self.ldbar(ldbar)
        self.htm(HTM_ON)

    def record(self, index, buffer=BUFFER):
        data = self.vm.read(buffer + 64 * index, 64)
        return Record(*struct.unpack(">8Q", data))

    def records(self, count, first=0):
        return [self.record(index) for index in range(first, first + count)]

    def get(self, key):
        return self.vm.get("thread0", key)

    def set(self, key, value):
        self.vm.set("thread0", key, value)


class Records(TraceTest):
    """3.4: what is in a record."""

    def test_a_valid_record_has_its_timebase_twice(self):
        self.trace()
        self.vm.step(MS)
        for record in self.records(128):
            self.assertEqual(record.tb1 & TB2_MASK, record.tb2)
            self.assertGreater(record.tb1, 0)
        self.assertEqual(self.record(128), Record(*[0] * 8))

    def test_the_second_timebase_has_42_bits(self):
        self.vm.step(9000 * 1000 * MS)      # 2^42 ticks are 8590 s
        self.trace()
        self.vm.step(MS)
        record = self.record(0)
        self.assertGreater(record.tb1, TB2_MASK)
        self.assertEqual(record.tb1 & TB2_MASK, record.tb2)

    def test_the_program_counter_is_the_threads(self):
        self.trace()
        self.vm.step(MS)
        self.assertEqual({record.ip for record in self.records(128)}, {0x10})

    def test_the_clock_may_be_another(self):
        self.set("tb-div", 16)
        self.set("tb-add", 1 << 50)
        self.trace()
        self.vm.step(MS)
        one, two = self.records(2)
        self.assertGreater(one.tb1, 1 << 50)
        self.assertAlmostEqual(two.tb1 - one.tb1, 250, delta=1)
        self.assertEqual(one.tb1 & TB2_MASK, one.tb2)

    def test_on_power9_doubleword_2_is_not_defined(self):
        self.trace()
        self.vm.step(MS)
        self.assertEqual(self.record(0).pidr, 0)

    def test_cpmcs_are_those_of_the_record(self):
        self.trace()
        self.vm.step(MS)
        one, two = self.records(2)
        self.assertEqual(two.cpmc2, 0xffffff05)     # just loaded again
        self.assertEqual(two.cpmc3, 0)              # no instruction executed
        self.assertAlmostEqual(two.cpmc4 - one.cpmc4, 2000 * 7.8125, delta=2)


class Power10Records(TraceTest):
    spec = "power10"
    scom = P10_DEFAULT

    def test_msr_hv_and_pr_are_bits_0_and_1(self):
        self.trace()
        self.vm.step(MS)
        self.assertEqual({record.pidr for record in self.records(128)},
                         {0x8000000000000000})      # HV, not PR, at reset

    def test_the_trigger_is_cpmc1(self):
        self.trace()
        self.vm.step(1000 * MS)
        self.assertEqual(self.get("total"), 128000)
        self.assertEqual(self.record(0).cpmc1, 0xffffff05)


class Rate(TraceTest):
    """11.3, 3.4: 32 MHz / 250 is a record every 4000 ticks."""

    def test_firmwares_rate_is_128_khz(self):
        self.trace()
        self.vm.step(MS)
        self.assertEqual(self.get("total"), 128)
        times = [record.tb1 for record in self.records(128)]
        for one, two in zip(times, times[1:]):
            self.assertAlmostEqual(two - one, 4000, delta=1)
        self.assertEqual(times[127] - times[1], 126 * 4000)

    def test_it_laps_in_32_ms(self):
        self.trace()
        self.vm.step(32 * MS)
        self.assertEqual((self.get("total"), self.get("head")), (ENTRIES, 0))
        self.vm.step(MS)
        self.assertEqual((self.get("total"), self.get("head")),
                         (ENTRIES + 128, 128))

    def test_it_is_programmed_by_cpmc_load(self):
        self.scom = 0x7fffe0bfc2020000      # 11.3: 32000 counts, 1 ms
        self.trace()
        self.vm.step(100 * MS)
        self.assertEqual(self.get("total"), 100)
        one, two = self.records(2)
        self.assertEqual(two.tb1 - one.tb1, 1000 * TICKS)

    def test_the_division_can_be_changed(self):
        self.trace()
        self.set("trace-div", 64)
        self.vm.step(100 * MS)
        self.assertEqual(self.get("total"), 200)
        one, two = self.records(2)
        self.assertEqual(two.tb1 - one.tb1, 64 * 4000)
        self.assertRefused("at least 1", "set", "thread0", "trace-div", 0)

    def test_a_write_of_trace_takes_effect_at_once(self):
        self.trace()
        self.vm.step(MS)
        self.trace_scom(0x7fffe0bfc2020000)
        self.vm.step(10 * MS)
        self.assertEqual(self.get("total"), 128 + 10)

    def test_a_count_of_0_is_one_of_1(self):
        self.scom = 0x7fffffffc2020000      # loaded with 0xffffffff
        self.trace()
        self.vm.step(1000)
        self.assertEqual(self.get("total"), 32)

    def test_other_clocks_can_be_the_trigger(self):
        for scom, records in (
                (0x3fffe0bfc1020000, 62500),    # CPMC1, line 2: CCYC
                (0xffffe0bfc2020000, 62500)):   # CPMC4: cycles
            self.scom = scom
            before = self.get("total")
            self.trace()
            self.vm.step(1000 * MS)
            self.assertEqual(self.get("total") - before, records)
            self.htm(HTM_OFF)

    def test_what_is_no_clock_triggers_nothing(self):
        for scom in (0x3fffffc142020000,    # CPMC1, line 4: instructions
                     0x7fffffc142030000,    # CPMC2, line 3
                     0xbfffffc142020000):   # CPMC3: instructions
            self.scom = scom
            self.trace()
            self.vm.step(10 * MS)
            self.assertEqual(self.get("head"), 0)
            self.set("burst", 2)
            self.assertEqual(self.get("head"), 2)
            self.htm(HTM_OFF)

    def test_by_instructions_the_clock_triggers_nothing(self):
        self.set("every", 1000)
        self.trace()
        self.vm.step(10 * MS)
        self.assertEqual(self.get("total"), 0)
        self.set("every", 0)
        self.vm.step(MS)
        self.assertEqual(self.get("total"), 128)


class DefaultRate(PowerTest):
    def test_emulation_divides_by_64(self):
        self.trace_scom(P9_DEFAULT)
        self.ldbar(TRACE | BUFFER)
        self.htm(HTM_ON)
        self.vm.step(1000 * MS)
        self.assertEqual(self.vm.get("thread0", "total"), 2000)


class Ring(TraceTest):
    """11.5: entry k at base + 64 k, 4096 entries."""

    def test_record_5_is_at_its_place(self):
        self.trace(0x4000000012340000)
        self.set("burst", 6)
        self.assertNotEqual(self.vm.read(0x12340140, 64), bytes(64))
        self.assertEqual(self.vm.read(0x12340180, 64), bytes(64))

    def test_record_4096_is_at_the_base_again_and_nothing_beyond(self):
        self.vm.step(MS)
        self.trace()
        end = BUFFER + 64 * ENTRIES
        self.set("burst", ENTRIES)
        first = self.record(0)
        self.set("burst", 1)
        self.assertGreater(self.record(0).tb1, self.record(4095).tb1)
        self.assertGreater(self.record(4095).tb1, first.tb1)
        self.assertEqual(self.vm.read(end, 64), bytes(64))
        self.assertEqual(self.get("head"), 1)

    def test_buffersize_makes_it_larger(self):
        for size, scom in ((1, 0x7fffffc142022000), (2, 0x7fffffc142024000),
                           (4, 0x7fffffc142028000)):
            self.scom = scom
            self.trace()
            self.set("burst", (ENTRIES << size) - 1)
            self.assertEqual(self.get("head"), (ENTRIES << size) - 1)
            self.set("burst", 2)
            self.assertEqual(self.get("head"), 1)
            self.htm(HTM_OFF)

    def test_writing_ldbar_restarts_at_the_base(self):
        self.vm.step(MS)
        self.trace()
        self.set("burst", 100)
        self.ldbar(TRACE | BUFFER)          # the same value
        self.assertEqual((self.get("head"), self.get("total")), (0, 100))
        old = self.record(0)
        self.set("burst", 1)
        self.assertGreater(self.record(0).tb1, old.tb1)

    def test_stopping_and_starting_the_engine_does_not(self):
        self.trace()
        self.set("burst", 100)
        self.htm(HTM_OFF)
        self.htm(HTM_ON)
        self.set("burst", 1)
        self.assertEqual((self.get("head"), self.get("total")), (101, 101))

    def test_a_buffer_can_be_anywhere_but_must_be_memory(self):
        self.trace(TRACE | 0x00ff000000000000)
        self.vm.step(MS)
        self.assertEqual(self.get("total"), 0)
        self.assertIn("thread0@0: there is no memory at LDBAR", self.vm.log())


class Switches(TraceTest):
    def test_nothing_is_written_unless_engine_and_ldbar_say_so(self):
        self.trace_scom(P9_DEFAULT)
        self.ldbar(TRACE | BUFFER)
        self.vm.step(MS)
        self.htm(HTM_ON)
        for value in (BUFFER, ACCUMULATE | TRACE | BUFFER, 0):
            self.ldbar(value)
            self.vm.step(MS)
        self.htm(HTM_OFF)
        self.ldbar(TRACE | BUFFER)
        self.vm.step(MS)
        self.assertEqual(self.get("total"), 0)
        self.assertEqual(self.record(0), Record(*[0] * 8))
        self.assertRefused("the engine of its core is off", "set", "thread0",
                           "burst", 1)
        self.htm(HTM_ON)
        self.ldbar(0)
        self.assertRefused("LDBAR does not say so", "set", "thread0", "burst",
                           1)

    def test_an_idle_thread_makes_no_records(self):
        self.trace()
        self.set("idle", 1)
        self.vm.step(MS)
        self.assertEqual(self.get("total"), 0)
        self.set("idle", 0)
        self.vm.step(MS)
        self.assertEqual(self.get("total"), 128)

    def test_a_trace_that_is_off_costs_nothing(self):
        self.pause_nest()
        self.set("idle", 1)
        self.trace()
        self.vm.step(MS)
        self.htm(HTM_OFF)
        self.assertNoTimer()

    def test_threads_trace_on_their_own(self):
        self.trace()
        self.ldbar(TRACE | BUFFER + 0x40000, 1)
        self.set("idle", 1)
        self.vm.step(MS)
        self.assertEqual(self.vm.get("thread1", "total"), 128)
        self.assertEqual(self.get("total"), 0)
        self.assertEqual(self.vm.get("core0", "checkstop"), 0)

    def test_a_burst_can_be_all_that_there_is(self):
        self.trace()
        self.set("every", NEVER)
        self.vm.step(MS)
        self.set("burst", 5)
        self.vm.step(MS)
        self.assertEqual(self.get("total"), 5)

    def test_records_of_a_burst_are_of_now(self):
        self.vm.step(MS)
        self.trace()
        self.set("every", NEVER)
        self.vm.step(MS)
        self.set("burst", 10)
        self.vm.step(MS)
        self.set("burst", 1000)
        times = [record.tb1 for record in self.records(1010)]
        self.assertTrue(all(one < two for one, two in zip(times, times[1:])))
        self.assertEqual(times[10] - times[9], TICKS * 1000 - 999)

    def test_records_of_a_burst_are_spread_over_the_time_since_the_last(self):
        self.vm.step(MS)
        self.trace()
        self.set("every", NEVER)
        self.set("spread", 1)
        self.vm.step(MS)
        self.set("burst", 1000)
        self.vm.step(MS)
        self.set("burst", 1000)
        times = [record.tb1 for record in self.records(2000)]
        for one, two in zip(times, times[1:]):
            self.assertEqual(two - one, TICKS * 1000 // 1000)
        self.assertEqual(times[0], times[999] - 999 * TICKS)

    def test_corrupt_records_have_a_wrong_second_timebase(self):
        self.trace()
        self.set("corrupt", 3)
        self.set("burst", 5)
        valid = [record.tb1 & TB2_MASK == record.tb2
                 for record in self.records(5)]
        self.assertEqual(valid, [False, False, False, True, True])
        self.assertEqual(self.get("corrupt"), 0)

    def test_a_burst_is_in_order_and_not_in_the_future(self):
        self.trace()
        self.vm.step(MS + 5000)
        self.set("burst", 1000)
        self.vm.step(7813 - 5000)           # the next one programmed
        times = [record.tb1 for record in self.records(128 + 1000 + 1)]
        self.assertTrue(all(one < two for one, two in zip(times, times[1:])))
        self.assertAlmostEqual(times[-1] - times[-2], 4000 - 5 * TICKS,
                               delta=1)

    def test_bursts_without_a_pause_stay_in_order(self):
        self.vm.step(MS)
        self.trace()
        for _ in range(3):
            self.set("burst", 1000)
        times = [record.tb1 for record in self.records(3000)]
        self.assertTrue(all(one < two for one, two in zip(times, times[1:])))

    def test_every_record_is_in_the_counts(self):
        self.trace()
        self.vm.step(MS)
        self.set("burst", 72)
        self.assertEqual(self.get("total"), 200)
        self.assertEqual(self.vm.stats("thread0")["record"], (0, 200))


class UnderWay(TraceTest):
    """A record is written word by word, and may stop halfway."""

    ORDERS = "01234567", "76543210", "07123456"

    def begin(self, words, order="01234567"):
        self.trace()
        self.set("order", int(order, 16))
        self.set("hold", words)
        self.vm.step(MS)
        return [bool(word) for word in self.record(0)]

    def test_words_come_in_the_order_that_was_chosen(self):
        for order in self.ORDERS:
            for words in (1, 2, 7):
                # Doubleword 2 is 0 on POWER9, and so is CPMC3 here.
                seen = self.begin(words, order)
                wanted = [str(i) in order[:words] and i not in (2, 3, 5)
                          for i in range(8)]
                self.assertEqual([word and i not in (2, 3, 5) for i, word in
                                  enumerate(seen)], wanted, (order, words))
                self.set("hold", 0)
                self.ldbar(0)
                self.vm.write(BUFFER, bytes(64 * 128))

    def test_what_is_no_order_is_refused(self):
        for order in (0, 0x01234566, 0x12345678):
            self.assertRefused("each of the digits", "set", "thread0", "order",
                               order)

    def test_no_other_record_comes_until_it_goes_on(self):
        self.begin(4)
        total = self.get("total")
        self.vm.step(MS)
        self.assertEqual(self.get("total"), total)
        self.set("hold", 0)
        record = self.record(0)
        self.assertEqual(record.tb1 & TB2_MASK, record.tb2)
        self.assertEqual(self.get("total"), total + 1)
        self.vm.step(MS)
        self.assertGreater(self.get("total"), total + 100)

    def test_a_write_of_ldbar_completes_it_at_its_place(self):
        self.begin(4)
        self.ldbar(TRACE | BUFFER + 0x40000)
        record = self.record(0)
        self.assertEqual(record.tb1 & TB2_MASK, record.tb2)

    def test_or_loses_the_rest(self):
        for end in (lambda: self.ldbar(0), lambda: self.htm(HTM_OFF)):
            self.vm.write(BUFFER, bytes(64 * 128))
            self.begin(4)
            self.set("lossy", 1)
            end()
            self.set("hold", 0)
            self.assertGreater(self.record(0).tb1, 0)
            self.assertEqual(self.record(0).tb2, 0)
            self.set("lossy", 0)
            self.ldbar(0)


if __name__ == "__main__":
    unittest.main()
