# SPDX-License-Identifier: GPL-2.0-only
"""What becomes of a guest: turns of several tests, a boot that never came to its tests, one that stands or was lost."""
import contextlib
import dataclasses
import io
import signal
import subprocess
import tempfile
import time
import unittest
import unittest.mock
from pathlib import Path

from pmusuite import arch, build, cache, guest, jobs, ktap, stuck, turns
from test_runner import script


class Turns(unittest.TestCase):
    """What is said in a guest that several share"""

    def setUp(self):
        self.turns = turns.Turns([100, 200, 300])

    def mark(self, number):
        self.turns.out(f"\n{self.turns.token} {number}\n".encode())
        self.turns.err.extend(f"\n{self.turns.token} {number}\n".encode())
        return f"[    1.000000] {self.turns.token} {number}\n".encode()

    def test_each_has_its_own(self):
        log = b"[    0.1] boot\n" + self.mark(1)
        self.turns.out(b"one\n")
        log += b"[    1.1] first\n"
        self.turns.status.extend(b"0\n")
        log += self.mark(2) + b"[    2.2] second\n"
        self.turns.out(b"two, no newline")
        self.turns.err.extend(b"error\n")
        self.turns.status.extend(b"3\n")
        log += self.mark(3)
        first, second, third = self.turns.ended(log)
        self.assertEqual((first.out, first.err, first.log, first.status),
                         ("one\n", "", "[    0.1] boot\n[    1.1] first\n", 0))
        self.assertEqual((second.out, second.err, second.log, second.status),
                         ("two, no newline", "error\n", "[    2.2] second\n", 3))
        self.assertEqual((third.out, third.status), ("", None))

    def test_a_guest_that_never_began(self):
        turn, = self.turns.ended(b"skiboot\n")
        self.assertEqual((turn.out, turn.log, turn.status), ("", "skiboot\n", None))

    def test_time_is_each_one_s_own(self):
        started = time.monotonic()
        self.assertLessEqual(self.turns.time_left(started), 100)
        self.mark(1)
        self.assertLessEqual(self.turns.time_left(started), 100)
        self.mark(2)
        self.assertGreater(self.turns.time_left(started), 100)
        self.assertLessEqual(self.turns.time_left(started), 200)

    def test_times_of_tests_are_those_of_their_turn(self):
        self.mark(1)
        self.turns.out(b"KTAP version 1\n1..2\nok 1 a\nok 2")
        self.turns.out(b" b\n")
        self.mark(2)
        self.turns.out(b"KTAP version 1\n1..1\nok 1 a\n")
        self.assertEqual([[name for name, _ in turn.watch.took] for turn in self.turns.ended(b"")], [["a", "b"], ["a"]])

    def test_building_a_kernel_takes_no_time_of_the_first(self):
        self.turns.begun[0] -= 1000
        self.assertGreater(self.turns.time_left(time.monotonic()), 90)
        turn, = self.turns.ended(b"")
        self.assertLess(turn.seconds, 90)


class Ends(unittest.TestCase):
    """How a guest ends is the last turn's affair"""

    def outcomes(self, statuses, end, turns_begun=None):
        machine = guest.Guest(arch=arch.get("arm64"))

        def start(guests, sinks, time_left, token):
            for number in range(1, 1 + (turns_begun or len(statuses))):
                sinks["out"](f"\n{token} {number}\n".encode())
                sinks["status"](b"".join(f"{status}\n".encode() for status in statuses[number - 1:number]))
            return b"", end

        with unittest.mock.patch.object(guest, "_start", start):
            return [outcome.status for outcome in guest.run_in_turn([machine] * 3)]

    def test_all_had_their_turn(self):
        self.assertEqual(self.outcomes([0, 1, 0], None), [0, 1, 0])

    def test_a_machine_that_dies_behind_a_turn(self):
        self.assertEqual(self.outcomes([0, 0, 0], guest.DIED), [0, 0, guest.DIED])
        self.assertEqual(self.outcomes([0, 0, 0], guest.TIMEOUT), [0, 0, guest.TIMEOUT])

    def test_a_machine_that_has_no_next_turn(self):
        self.assertEqual(self.outcomes([0, 0], None), [0, guest.DIED])

    def test_a_turn_that_does_not_end(self):
        self.assertEqual(self.outcomes([0], guest.TIMEOUT, turns_begun=2), [0, guest.TIMEOUT])


class Standing(unittest.TestCase):
    def test_a_guest_whose_cpu_stands_has_no_time_left(self):
        log = b"[   22.1] rcu: INFO: rcu_preempt detected stalls on CPUs/tasks:\n"
        machine = guest.Guest(arch=arch.get("x86_64"))
        self.assertTrue(guest._stands([machine, machine], log))
        self.assertFalse(guest._stands([machine], b"[    0.1] rcu: Hierarchical RCU implementation.\n"))
        # Somebody looks at it, or wants it to go on.
        for patient in ({"shell": True}, {"allow_warn": True}):
            self.assertFalse(guest._stands([machine, dataclasses.replace(machine, **patient)], log))


class Beginning(unittest.TestCase):
    def setUp(self):
        self.now = 1000.0
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.kept = Path(directory.name) / "begun-again"
        patch = unittest.mock.patch.object(guest, "FIRST_LOGS", self.kept)
        patch.start()
        self.addCleanup(patch.stop)

    INIT = guest.INIT.decode()

    def console(self, *said, silent=False, begins=guest.INIT):
        console = guest._Console(begins, lambda: self.now)
        for line in said:
            console(line.encode() + b"\n")
        self.now += (guest.SILENCE + 1) * silent
        console.silent()
        return console

    def again(self, *said, code=0, timed_out=False, **options):
        return guest._failed_before_it_began(self.console(*said, **options), code, timed_out)

    def test_only_a_guest_whose_init_never_began_is_started_again(self):
        self.assertTrue(self.again("STB: secure boot"))
        self.assertTrue(self.again("Linux version 6", "Oops: int3: 0000"))
        self.assertTrue(self.again("Linux version 6", "rcu: INFO: ", "Call Trace:", timed_out=True))
        self.assertTrue(self.again("Linux version 6", timed_out=True, silent=True))
        moved = "QEMU says:", "qemu-system-x86_64: system/physmem.c:2678: iotlb_to_section: Assertion `i < n' failed."
        self.assertTrue(self.again("Linux version 6", *moved, code=-6))
        for said, options in ((["Linux version 6"], {}), ([], {"code": 1}), ([], {"timed_out": True}),
                              (["Linux version 6"], {"timed_out": True}), (["Linux version 6", "Oops: 0002"], {}),
                              (["Linux version 6", self.INIT], {"timed_out": True, "silent": True}),
                              (["Linux version 6", self.INIT, *moved], {"code": -6}),
                              (["Linux version 6", "QEMU says:", "malloc(): corrupted"], {"code": -6}),
                              (["Linux version 6", self.INIT, "rcu: INFO: "], {"timed_out": True}),
                              (["Linux version 6", self.INIT, "Oops: int3: 0000"], {})):
            with self.subTest(said=said, **options):
                self.assertFalse(self.again(*said, **options))

    def test_a_clock_that_stood_before_init_tried_it(self):
        """Nothing of ours has run then; but an installed Debian loads modules on its own."""
        said = "Linux version 6", "Run /init", "rcu: INFO: "
        self.assertTrue(self.again(*said, timed_out=True))
        self.assertFalse(self.again(*said, timed_out=True, begins=guest.INSTALLED_INIT))
        self.assertIn(self.INIT, (cache.TREE / "tests/guest/init").read_text())

    def test_what_is_built_into_the_kernel_begins_with_it(self):
        machine = guest.Guest(arch=arch.get("ppc64le"))
        self.assertEqual(guest._begins(machine), guest.INIT)
        self.assertEqual(guest._begins(dataclasses.replace(machine, installed=("image", "initramfs"))), guest.INSTALLED_INIT)
        begins = guest._begins(dataclasses.replace(machine, driver="in-tree"))
        self.assertTrue(self.again("NVRAM: Failed to load", begins=begins))
        self.assertFalse(self.again("Linux version 6", timed_out=True, silent=True, begins=begins))
        modules = guest.Guest(arch=arch.get("x86_64"), driver="in-tree")
        self.assertEqual(guest._begins(modules), guest.INIT)

    def test_what_may_be_ours_is_not_tried_again(self):
        """A complaint of the kernel's before it fell silent, and an emulator that does not answer."""
        for said in "BUG: KASAN: in imc", "INFO: task swapper/0:1 blocked for more than 120 seconds", "WARNING: CPU: 0 PID: 1 at imc-pmu.c":
            self.assertFalse(self.again("Linux version 6", said, timed_out=True, silent=True), said)
        console = self.console("Linux version 6", silent=True)
        console(f"{stuck.MARK}{stuck.NO_ANSWER}: timed out".encode())
        self.assertFalse(guest._failed_before_it_began(console, 0, True))
        # What it says when its CPUs are looked at is no complaint.
        console = self.console("Linux version 6", silent=True)
        console(f"{stuck.MARK}Oops: System Reset".encode())
        self.assertTrue(guest._failed_before_it_began(console, 0, True))

    def test_a_kernel_that_falls_silent_on_its_way_to_init(self):
        self.assertFalse(self.console("OPAL v7.1", silent=True).silent())       # firmware may be
        console = self.console("OPAL v7.1", "Linux version 6")
        self.now += guest.SILENCE
        self.assertFalse(console.silent())
        self.now += 1
        self.assertTrue(console.silent())
        console(b"its CPUs\n")
        self.assertTrue(console.silent())

    def test_after_init_silence_is_for_whoever_waits(self):
        self.assertFalse(self.console("Linux version 6", self.INIT, silent=True).silent())
        console, got = self.console("Linux version 6"), []      # the kernel does not say that it runs init
        console.noting(got.append)(b"1..3")
        self.now += guest.SILENCE + 1
        self.assertFalse(console.silent())
        self.assertEqual(got, [b"1..3"])

    def tries(self, *logs, once=False):
        """How often a guest is tried that says the one and then the other, and the log that is returned."""
        lasts = []

        def attempt(console, last):
            lasts.append(last)
            console(logs[len(lasts) - 1])
            return 0, False

        with contextlib.redirect_stderr(io.StringIO()):
            _, _, log = guest._try_twice(attempt, once)
        return lasts, bytes(log)

    def test_a_guest_is_tried_twice_at_most(self):
        begin = time.time() - 1
        began = b"Linux version 6\n" + guest.INIT
        self.assertEqual(self.tries(b"STB", began), ([False, True], began))
        first, = guest.begun_again(begin)
        self.assertEqual(first.read_bytes(), b"STB")
        self.assertEqual(self.tries(b"STB", b"STB 2"), ([False, True], b"STB 2"))
        self.assertEqual(self.tries(began), ([False], began))
        self.assertEqual(self.tries(b"STB", once=True), ([True], b"STB"))
        self.assertEqual(guest.begun_again(time.time() + 60), [])

    # What the emulator said of a CPU of a machine that had woken up, and hung.
    LOST = """CPU#2
RIP=ffffffffb40e5fff RFL=00000206 [-----P-] CPL=0 II=0 A20=1 SMM=0 HLT=1
interrupts of CPU 2:
LVTT 0x000000ec active-hi edge one-shot Fixed (vec 236)
Timer DCR=0x3 (divide by 16) initial_count = 97256 current_count = 0
ISR (none)
IRR (none)
"""
    LOST_TWICE = f"{LOST}a second later:\n{LOST}"

    def lost(self, told, status=guest.TIMEOUT, complaint="INFO: task rmmod:3704 blocked for more than 125 seconds."):
        log = f"{complaint}{stuck.MARK}{told}"
        with contextlib.redirect_stderr(io.StringIO()):
            return guest.emulators_fault(guest._judge(guest.Guest(arch=arch.get("x86_64")), log, status))

    def test_an_interrupt_that_the_emulator_lost(self):
        begin = time.time() - 1
        self.assertTrue(self.lost(self.LOST_TWICE))
        self.assertIn(self.LOST_TWICE, guest.begun_again(begin)[-1].read_text())
        self.assertTrue(self.lost(self.LOST_TWICE, complaint="fine"))
        # Another one woke up, and the next interrupts waited for the end of this one.
        self.assertTrue(self.lost(self.LOST_TWICE.replace("ISR (none)", "ISR 236").replace("IRR (none)", "IRR 35 236")))
        self.assertFalse(self.lost(self.LOST_TWICE, complaint="BUG: KASAN: in imc"))
        self.assertFalse(self.lost(self.LOST_TWICE, 0, "fine"))
        self.assertFalse(self.lost(self.LOST))

    def test_a_stale_breakpoint_in_the_kernel_s_own_code(self):
        for first, place, stale in (("Oops: int3: 0000 [#1]", "finish_task_switch.isra.0+0x68/0x2f0", True),
                                    ("Oops: int3: 0000 [#1]", "pmu_box_read+0x68/0x2f0 [pmu_core]", False),
                                    ("Oops: 0002", "finish_task_switch.isra.0+0x68/0x2f0", False),
                                    ("BUG: KASAN: in pmu\nOops: int3: 0000", "finish_task_switch.isra.0+0x68/0x2f0", False)):
            log = f"[   11.3] {first}\n[   11.3] CPU: 0\n[   11.3] RIP: 0010:{place}\n[   11.3] Call Trace:\n"
            with self.subTest(first=first, place=place), contextlib.redirect_stderr(io.StringIO()):
                judged = guest._judge(guest.Guest(arch=arch.get("x86_64")), log, guest.UNSOUND)
                self.assertEqual(guest.emulators_fault(judged), stale)

    def test_what_a_kernel_may_be_at_is_no_lost_interrupt(self):
        """As a handler that never returns: the kernel ends the interrupt first, and starts the timer last."""
        for was, now in (("0x000000ec", "0x000100ec"), ("97256", "0"), ("current_count = 0", "current_count = 7"),
                         ("ISR (none)", "ISR 236"), ("IRR (none)", "IRR 236"), ("one-shot", "periodic"),
                         ("HLT=1", "HLT=0"), ("RFL=00000206", "RFL=00000006"), ("of CPU 2", "of CPU 12")):
            other = self.LOST.replace(was, now)
            self.assertNotEqual(other, self.LOST)
            for told in (f"{other}a second later:\n{self.LOST}", f"{self.LOST}a second later:\n{other}"):
                self.assertFalse(self.lost(told), now)

    def test_what_the_archive_lacks_is_skipped(self):
        for error, status in (cache.Lost("no kernel"), ktap.SKIPPED), (cache.Error("no network"), ktap.FAILED):
            group = [jobs.Job(f"job {number}", (), guest.Guest(arch=arch.get("x86_64"))) for number in range(2)]
            with tempfile.TemporaryDirectory() as directory, unittest.mock.patch.object(guest, "run_in_turn", side_effect=error):
                done = script("test").run_guests(group, Path(directory), unittest.mock.Mock())
            self.assertEqual([(one.job, one.results[0].status, one.results[0].notes) for one in done],
                             [(job, status, [str(error)]) for job in group])

    def test_whoever_lost_one_gets_another_guest_once(self):
        """The others need none; and their results are those of the guest that they were in."""
        lost = guest.Outcome(guest.TIMEOUT, f"{stuck.MARK}{self.LOST_TWICE}")
        fine = guest.Outcome(0, "", out="KTAP version 1\n1..1\nok 1 counts\n")
        for outcomes, failed in ([[fine, lost], [fine, fine]], [False, False, False]), \
                ([[fine, lost], [lost], [fine]], [False, True, False]):
            group = [jobs.Job(f"job {number}", (), guest.Guest(arch=arch.get("x86_64"))) for number in range(3)]
            with tempfile.TemporaryDirectory() as directory, contextlib.redirect_stderr(io.StringIO()), \
                    unittest.mock.patch.object(guest, "run_in_turn", side_effect=outcomes) as starts:
                done = script("test").run_guests(group, Path(directory), unittest.mock.Mock())
            self.assertEqual([len(call.args[0]) for call in starts.mock_calls], [3, 2, 1][:len(outcomes)])
            self.assertEqual([one.job.name for one in done], [job.name for job in group])
            self.assertEqual([bool(one.counts()[ktap.FAILED]) for one in done], failed)


class Stuck(unittest.TestCase):
    """What a guest is at whose time is over."""

    def test_registers_of_its_cpus(self):
        with tempfile.TemporaryDirectory() as directory:
            monitor = Path(directory) / "monitor"
            # Numbers of CPUs and of their APICs differ.
            process = subprocess.Popen([*build.emulator(arch.get("x86_64")), "-nodefaults", "-M", "q35", "-smp", "6,sockets=2,cores=3", "-display", "none", "-S",
                                        *stuck.qemu_args(monitor)])
            try:
                while not monitor.exists() and process.poll() is None:
                    time.sleep(0.05)
                said = stuck.look(monitor, process, 0)
            finally:
                process.kill()
                process.wait()
        cpus = [word for number in range(6) for word in (f"CPU#{number}", "EIP=0000fff0")]
        once = cpus + 6 * ["interrupts", "LVTT", "Timer", "ISR", "IRR"]
        self.assertEqual([line.split()[0] for line in said.splitlines()], [*once, "a", *once])

    def test_what_the_emulator_says_as_it_ends(self):
        """Why it does, most likely: it is in the log, and on the screen."""
        def said(screen):
            log, script = bytearray(), "echo bad >&2; sleep 0.5; echo luck >&2; kill -ABRT $$"
            with contextlib.redirect_stderr(screen):
                status, _ = guest._run(["sh", "-c", script], lambda: 1000, {"console": log.extend}, False)
            self.assertEqual((status, log.decode().splitlines()[-3:]), (-signal.SIGABRT, ["QEMU says:", "bad", "luck"]))

        screen = unittest.mock.Mock()
        said(screen)
        self.assertEqual(b"".join(call.args[0] for call in screen.buffer.write.mock_calls), b"bad\nluck\n")
        screen.buffer.write.side_effect = BrokenPipeError       # nobody looks at it any more
        said(screen)

    def test_a_monitor_that_is_not_there(self):
        self.assertIn("does not answer", stuck.look("/nowhere", None))

    def test_what_the_kernel_says_of_it_is_no_complaint(self):
        machine = guest.Guest(arch=arch.get("x86_64"))
        for log, status in ((f"fine{stuck.MARK}Kernel panic", guest.TIMEOUT), (f"BUG: bad{stuck.MARK}", guest.UNSOUND)):
            self.assertEqual(guest._judge(machine, log, guest.TIMEOUT).status, status)
