# SPDX-License-Identifier: GPL-2.0-only
# all: it draws many screens, in a tmux
"""pmu-top: its screen, keys and signals."""
import io
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path
from unittest import mock

import tree
from rich.console import Console
from top_cases import PROGRAM, SECOND, busy_xeon, options, xeon

from pmutools.count import Reading
from pmutools.errors import ToolError
from pmutools.top import frames, main, screen

RECORDS = tree.HERE.parents[1] / "Documentation/tools"


class TestScreen(unittest.TestCase):
    """What keys do, without a terminal."""

    def setUp(self):
        view = xeon(self)
        self.source = mock.Mock(replayed=False)
        outputs = main.Outputs(view, options(), None)
        self.screen = screen.Screen(Console(width=100, height=30, file=io.StringIO()), view, self.source, outputs.picture,
                                    outputs.keep)
        self.screen.frame = busy_xeon(view)
        self.screen.rows = view.rows(self.screen.frame)
        self.screen.live = mock.Mock()

    def shown(self):
        self.screen._draw()
        console = Console(width=100, file=io.StringIO())
        console.print(self.screen.live.update.call_args.args[0])
        return console.file.getvalue()

    def test_arrows_change_what_is_looked_at(self):
        for key, mode in (("right", "pages"), ("right", "latency"), ("left", "pages"), ("left", "all"), ("left", "power")):
            self.screen._press(key)
            self.source.look_at.assert_called_with(mode)
            self.assertEqual(self.screen.mode, mode)

    def test_a_long_interval_is_told_before_its_numbers(self):
        for interval, wanted in (1.0, "counting ..."), (60.0, "counting for 60 s ..."), (2.5, "counting for 2.5 s ..."):
            self.screen.source = mock.Mock(replayed=False, interval=interval)
            self.assertEqual(str(self.screen._first()), wanted)

    def test_m_leads_to_the_next_mesh(self):
        self.assertFalse(self.screen._press("m"))       # memory channels have none
        self.screen.view = mock.Mock(spec=["next"])
        self.assertTrue(self.screen._press("m"))
        self.screen.view.next.assert_called_once_with()

    def test_a_mode_that_cannot_be_is_told_and_left(self):
        self.source.look_at.side_effect = [ToolError("Somebody has it."), None]
        self.screen._press("right")
        self.assertEqual(self.screen.mode, "all")
        self.assertEqual(self.source.look_at.call_args.args, ("all",))
        self.assertIn("pages: Somebody has it.", self.shown())

    def test_scrolling_stays_within_the_picture(self):
        self.screen.console.height = 9
        for key, first in (("up", "read GB/s"), ("page down", "socket 0"), ("page up", "read GB/s")):
            self.screen._press(key)
            lines = self.shown().splitlines()
            self.assertEqual(len(lines), 9)
            self.assertIn("read 3.20", lines[3])        # the sum stays
            self.assertIn(first, lines[4])
            self.assertIn("q quit", lines[-1])


class TestKeyboard(unittest.TestCase):
    def test_keys_that_come_at_once_are_pressed_one_after_the_other(self):
        master, inner = os.openpty()
        self.addCleanup(os.close, master)
        with open(inner) as terminal, mock.patch.object(sys, "stdin", terminal), screen.Keyboard() as keyboard:
            os.write(master, b"p\x1b[D\x1bOC \x1b[6~xqh\x1bOP\x1b[11~\x1b[[A\x1b")
            keys = [keyboard.get(10) for _ in range(12)]
            self.assertEqual(keys, ["p", "left", "right", "p", "page down", "x", "q", *["?"] * 4, "escape"])
            self.assertIsNone(keyboard.get(0))


class TestTerminal(unittest.TestCase):
    """The screen itself, in a tmux."""

    def setUp(self):
        directory = tempfile.TemporaryDirectory(prefix="pmu-top.")
        self.addCleanup(directory.cleanup)
        self.directory = Path(directory.name)
        view = xeon(self)
        recorder = frames.Recorder(self.directory / "record", view.info)
        for number in range(1, 40):
            one = busy_xeon(view)
            one.seconds = 0.25
            one.counts["0/0/rd"] = Reading(number * 1_000_000_000 // 64, SECOND, SECOND)
            recorder.write(one)
        recorder.file.close()

    def tmux(self, *words):
        return subprocess.run(["tmux", "-f", "/dev/null", "-S", self.socket, *words], capture_output=True,
                              text=True, stdin=subprocess.DEVNULL)

    def start(self, width, height, environment="", record=None):
        self.open(width, height, f"{environment} sh -c 'echo $$ > {self.directory}/pid; exec /usr/bin/python3 {PROGRAM} "
                                 f"--replay {record or self.directory / 'record'}'; echo ended $?; exec cat")

    def open(self, width, height, command):
        self.socket = tempfile.mktemp(prefix="socket.", dir=self.directory)
        self.addCleanup(subprocess.run, ["tmux", "-S", self.socket, "kill-server"], capture_output=True)
        done = self.tmux("new-session", "-d", "-x", str(width), "-y", str(height), command)
        self.assertEqual(done.returncode, 0, done.stderr)

    def screen(self):
        return self.tmux("capture-pane", "-p").stdout

    def shows(self, wanted, there=True, seconds=120):     # a busy host draws slowly
        end = time.monotonic() + seconds
        while (wanted in self.screen()) != there:
            self.assertLess(time.monotonic(), end, f"{'no ' if there else ''}'{wanted}' in:\n{self.screen()}")
            time.sleep(0.1)

    def ends(self, status):
        """The program has ended, and the terminal is as it was before."""
        self.shows(f"ended {status}")
        self.assertEqual(self.tmux("display-message", "-p", "#{alternate_on} #{cursor_flag}").stdout, "0 1\n")
        self.tmux("send-keys", "seen")
        self.shows("seen")      # the terminal echoes

    def test_ctrl_c_while_it_starts(self):
        """It comes in an import, and nobody is told where; also where whoever runs the tests ignores it, as shells in the background do."""
        self.addCleanup(signal.signal, signal.SIGINT, signal.signal(signal.SIGINT, signal.default_int_handler))
        for name in "argparse", "pathlib", "signal":
            imported = self.directory / f"{name}.py"
            imported.write_text("import os\nos.kill(os.getpid(), 2)\n")
            for program in PROGRAM, PROGRAM.with_name("pmu-check"):
                done = subprocess.run(["/usr/bin/python3", program], capture_output=True, text=True,
                                      env={**os.environ, "PYTHONPATH": str(self.directory)})
                self.assertEqual((done.returncode, done.stderr), (-signal.SIGINT, ""), f"{program}, {name}")
            imported.unlink()

    def test_ctrl_c(self):
        self.start(80, 24)
        self.shows("q quit")
        self.tmux("send-keys", "C-c")
        self.ends(130)

    def test_ctrl_z(self):
        self.open(80, 24, "PS1=ready\\> bash --norc")
        self.tmux("send-keys", f"/usr/bin/python3 {PROGRAM} --replay {self.directory}/record", "Enter")
        for _ in range(2):
            self.shows("q quit")
            self.tmux("send-keys", "C-z")
            self.shows("Stopped")
            self.assertEqual(self.tmux("display-message", "-p", "#{alternate_on} #{cursor_flag}").stdout, "0 1\n")
            self.tmux("send-keys", "clear; fg", "Enter")
        self.shows("q quit")
        self.tmux("send-keys", "q")
        self.shows("ready>")
        self.tmux("send-keys", "echo ended $?", "Enter")
        self.ends(0)

    def test_signals(self):
        for sent in signal.SIGTERM, signal.SIGHUP:
            with self.subTest(sent):
                self.start(80, 24)
                self.shows("q quit")
                os.kill(int((self.directory / "pid").read_text()), sent)
                self.ends(128 + sent)

    def test_terminals_that_are_too_small(self):
        for record in None, RECORDS / "cmn.jsonl":
            with self.subTest(record):
                self.start(80, 24, record=record)
                self.shows("q quit")
                for width, height in (39, 10), (20, 5), (10, 3), (2, 1), (80, 24):
                    self.tmux("resize-window", "-x", str(width), "-y", str(height))
                    time.sleep(0.5)     # it is to redraw, and not to end
                self.shows("q quit")
                self.tmux("send-keys", "q")
                self.ends(0)

    def test_keys_at_80x24(self):
        self.start(80, 24)
        self.shows("q quit")
        self.assertEqual(len(self.screen().splitlines()), 24)
        self.tmux("send-keys", "p")
        self.shows("PAUSED")
        self.tmux("send-keys", "?")
        self.shows("up, down     scroll")
        self.tmux("send-keys", "?")
        self.shows("PAUSED")
        before = self.screen()
        time.sleep(1)
        self.assertEqual(self.screen(), before)
        self.tmux("send-keys", "p")
        self.shows("read 39.00 GB/s")
        self.tmux("send-keys", "q")
        self.ends(0)

    def test_each_machine_at_two_sizes(self):
        """All of the head and the foot are there; what there is no room for is where the arrows lead to."""
        for name, head, last in (("intel_imc", "write 21.17 GB/s", " 3.22 "), ("cmn", "hottest: XP 020", "p1 HN-F"),
                                 ("power_imc", "write 5.07 GB/s", "1/256")):
            for width, height in (80, 24), (200, 60):
                with self.subTest((name, width)):
                    self.start(width, height, record=RECORDS / f"{name}.jsonl")
                    self.shows("q quit")
                    lines = self.screen().rstrip("\n").splitlines()
                    self.assertEqual([line for line in lines if line.startswith(("RECORD", "Linux 6.12"))], lines[:2])
                    self.assertTrue(any(head in line for line in lines[2:7]), lines)
                    self.assertTrue(lines[-1].startswith("q quit"))
                    self.assertLessEqual(len(lines), height)
                    if width == 80:
                        self.tmux("send-keys", *["Down"] * 40)
                        self.shows(last)
                        self.assertIn(head, self.screen())
                    else:
                        self.assertIn(last, self.screen())
                    self.assertIn("q quit", self.screen())
                    self.tmux("send-keys", "q")
                    self.ends(0)

    def test_another_size(self):
        self.start(80, 14, "NO_COLOR=1")
        self.shows("socket 1")
        self.assertNotIn("channel 5", self.screen())
        for _ in range(40):
            self.tmux("send-keys", "Down")
        self.shows("channel 5")
        self.tmux("resize-window", "-x", "200", "-y", "60")
        self.shows("self-refresh %")
        # Keys are worked off in their order: when this one has been, none of those is left.
        self.tmux("send-keys", "?")
        self.shows("Page Down")
        self.tmux("send-keys", "?")
        self.shows("channel 5")
        # Where all of it was seen, nothing is scrolled.
        self.tmux("resize-window", "-x", "60", "-y", "12")
        self.shows("channel 5", False)
        self.shows("q quit")
