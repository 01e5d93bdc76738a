# SPDX-License-Identifier: GPL-2.0-only
# all: a minute and a half: each test starts programs, and waits for them
"""pmu-check --beside, as far as no module has to be loaded for it: guests do that."""
import fcntl
import io
import os
import pty
import signal
import sys
import tempfile
import unittest
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from unittest import mock

import tree
from pmutools import count, sysfs
from pmutools.check import beside
from pmutools.errors import ToolError


class TestModules(unittest.TestCase):
    """Modules are those of the tree that the program is run from; where it is installed they are modprobe's."""

    def setUp(self):
        directory = tempfile.TemporaryDirectory(prefix="pmu-beside.")
        self.addCleanup(directory.cleanup)
        self.root = Path(directory.name)
        # Whoever keeps his own files there has not built our modules.
        self.put("drivers/cmn/cmn_pmu.ko")

    def put(self, name):
        (self.root / name).parent.mkdir(parents=True, exist_ok=True)
        (self.root / name).touch()
        return self.root / name

    def loaded(self, program, modules=None):
        """How cmn_pmu is loaded by a program in this place."""
        drivers = beside.Drivers.__new__(beside.Drivers)
        drivers.family, drivers.directory, drivers.parameters = sysfs._BY_NAME["cmn"], modules, {"cmn_pmu": ["a=1"]}
        where = beside.built(self.put(program))
        with mock.patch.object(beside, "built", lambda: where), mock.patch.object(beside.Drivers, "_run") as run:
            drivers.load("cmn_pmu")
        return run.call_args.args

    def test_in_the_tree(self):
        self.put("include/pmu/version.h")
        self.assertEqual(self.loaded("tools/pmutools/check/beside.py"),
                         ("insmod", str(self.root / "drivers/cmn/cmn_pmu.ko"), "a=1"))

    def test_installed(self):
        self.assertEqual(self.loaded("pmu-suite/pmutools/check/beside.py"), ("modprobe", "cmn_pmu", "a=1"))

    def test_in_one_file(self):
        """What is beside pmu-check.pyz may be anybody's: root would load it."""
        self.put("include/pmu/version.h")
        self.put("pmu-check.pyz")
        self.assertIsNone(beside.built(self.root / "pmu-check.pyz/pmutools/check/beside.py"))

    def test_where_the_user_says(self):
        self.put("include/pmu/version.h")
        path = self.put("mine/cmn_pmu.ko")
        for program in "tools/pmutools/check/beside.py", "pmu-suite/pmutools/check/beside.py":
            self.assertEqual(self.loaded(program, str(path.parent)), ("insmod", str(path), "a=1"))

    def test_this_tree(self):
        self.assertEqual(beside.built(), tree.HERE.parents[1] / "drivers")


LOCK = beside.LOCK
# What loads and unloads a module: a directory for each. A test writes what else happens, by the number of the call.
PROGRAM = """#!/bin/sh
here={here}
echo "${{0##*/}} $1" >> $here/calls
number=$(wc -l < $here/calls)
module=${{1##*/}}
module=$(echo "${{module%.ko}}" | tr - _)
[ ! -e $here/at.$number ] || . $here/at.$number
case ${{0##*/}} in
rmmod) rm -r $here/module/$module ;;
*) [ "${{0##*/}} $module" != "modprobe intel_uncore" ] || [ ! -e $here/softdep ] || "$0" intel_imc_pmu
   mkdir -p $here/module/$module && echo live > $here/module/$module/initstate ;;
esac
"""


class TestGivingBack(unittest.TestCase):
    """Whatever comes between, the modules that were loaded are loaded again, and no others."""
    FAMILY = sysfs._BY_NAME["intel_imc"]
    WHOLE = ["rmmod intel_uncore", "modprobe pmu_core", "modprobe intel_imc_pmu",
             "rmmod intel_imc_pmu", "rmmod pmu_core", "insmod /lib/intel-uncore.ko"]

    def setUp(self):
        directory = tempfile.TemporaryDirectory(prefix="pmu-beside.")
        self.addCleanup(directory.cleanup)
        self.here = Path(directory.name)
        for name in "rmmod", "modprobe", "insmod":
            self.program(name, PROGRAM.format(here=self.here))
        self.program("modinfo", "#!/bin/sh\necho /lib/intel-uncore.ko\n")
        for patch in (mock.patch.dict(os.environ, PATH=f"{self.here}:{os.environ['PATH']}"),
                      mock.patch.object(beside, "MODULES", str(self.here / "module")),
                      mock.patch.object(beside, "built", lambda: None), mock.patch.object(beside, "PATIENCE_S", 0.3),
                      mock.patch.object(beside, "Machine", self.machine), mock.patch.object(beside, "SETTLE_S", 0.3),
                      mock.patch.object(beside, "LOCK", str(self.here / "lock")),
                      mock.patch.object(beside, "measure", lambda checks, say: ({}, {}))):
            patch.start()
            self.addCleanup(patch.stop)
        for number in beside.Signals.ENDING:
            self.addCleanup(signal.signal, number, signal.getsignal(number))
        for number in signal.SIGTERM, signal.SIGHUP:        # as errors.main() has it
            signal.signal(number, lambda number, _: sys.exit(128 + number))
        # Whoever runs the tests in the background may have them ignored.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.signal(signal.SIGQUIT, signal.SIG_DFL)

    def program(self, name, text):
        (self.here / name).write_text(text)
        (self.here / name).chmod(0o755)

    def machine(self):
        """The PMU is that of the module that was loaded first."""
        modules = sorted((self.here / "module").iterdir(), key=lambda path: path.stat().st_ctime_ns)
        first = next((path.name for path in modules if path.name != "pmu_core"), None)
        files = {f"sys/module/{name}/initstate": None for name in ("intel_imc_pmu", "pmu_core")}
        if first == "intel_imc_pmu":
            files = {"sys/module/intel_imc_pmu/initstate": "live\n"}
        elif first:
            files |= {"sys/module/intel_uncore/initstate": "live\n"}
        return tree.machine(self, "snbep", files)

    def beside(self, kind=sysfs.IN_TREE, **at):
        """What ends a run, with @at the call of this number, such as _2="kill -TERM $PPID"; and what it says."""
        before = ["intel_uncore"] if kind == sysfs.IN_TREE else ["intel_imc_pmu", "pmu_core"]
        for path in self.here.glob("module/*/initstate"):
            path.unlink()
            path.parent.rmdir()
        for module in before:
            (self.here / "module" / module).mkdir(parents=True)
            (self.here / "module" / module / "initstate").touch()
        (self.here / "calls").write_text("")
        for path in self.here.glob("at.*"):
            path.unlink()
        for number, text in at.items():
            (self.here / f"at.{number[1:]}").write_text(text)
        said, ended = io.StringIO(), None
        try:
            with redirect_stderr(said):
                beside.measure_both(self.FAMILY, kind, [], None, None)
        except BaseException as error:
            ended = error
        return ended, said.getvalue(), sorted(os.listdir(self.here / "module")) == before

    def test_nothing_happens(self):
        ended, said, as_before = self.beside()
        self.assertEqual((ended, as_before), (None, True))
        self.assertIn("is served by", said)
        self.assertEqual((self.here / "calls").read_text().splitlines(), self.WHOLE)

    def test_one_change_at_a_time(self):
        """pmu-driver locks the same file, which no other user can open."""
        self.assertIn(f"\nlock={LOCK} ", (tree.HERE.parents[1] / "scripts/packaging/pmu-driver").read_text())
        with open(beside.LOCK, "w") as other:
            fcntl.flock(other, fcntl.LOCK_EX)
            ended, _, as_before = self.beside()
        self.assertRegex(str(ended), "is changing who drives")
        self.assertEqual(((self.here / "calls").read_text(), as_before), ("", True))
        os.unlink(beside.LOCK)
        self.assertIsNone(self.beside()[0])
        self.assertEqual(os.stat(beside.LOCK).st_mode & 0o777, 0o600)

    def test_a_signal_at_each_step(self):
        for kind in sysfs.IN_TREE, sysfs.OURS:
            for step in range(1, len(self.WHOLE) + 1):
                for sent, wanted in (("TERM", SystemExit), ("INT", KeyboardInterrupt), ("HUP", SystemExit), ("QUIT", SystemExit)):
                    with self.subTest((kind, step, sent)):
                        ended, said, as_before = self.beside(kind, **{f"_{step}": f"kill -{sent} $PPID; sleep 0.05"})
                        self.assertEqual((type(ended), as_before), (wanted, True), said)

    def test_two_signals_at_each_two_steps(self):
        for first in range(1, len(self.WHOLE) + 1):
            for second in range(first, len(self.WHOLE) + 1):
                with self.subTest((first, second)):
                    ended, said, as_before = self.beside(**{f"_{first}": "kill -INT $PPID", f"_{second}": "kill -INT $PPID"})
                    self.assertEqual((type(ended), as_before), (KeyboardInterrupt, True), said)

    def test_a_signal_while_an_event_is_opened(self):
        """What is open keeps its module, also if its number was never noted."""
        def measure(*_):
            if (self.here / "calls").read_text():
                os.eventfd(0)
                os.kill(os.getpid(), signal.SIGTERM)
            return {}, {}
        in_use = "! ls -l /proc/$PPID/fd | grep -qF '[eventfd]' || { echo in use >&2; exit 1; }"
        with mock.patch.object(beside, "measure", measure), mock.patch.object(count, "_LINK", "anon_inode:[eventfd]"):
            ended, said, as_before = self.beside(**{f"_{call}": in_use for call in range(4, 40)})
        self.assertEqual((type(ended), as_before), (SystemExit, True), said)

    def test_a_step_that_fails(self):
        """The second rmmod among them, of a core that somebody else holds for a moment."""
        for kind in sysfs.IN_TREE, sysfs.OURS:
            for step in range(1, 4):
                with self.subTest((kind, step)):
                    ended, said, as_before = self.beside(kind, **{f"_{step}": "echo in use >&2; exit 1"})
                    self.assertEqual((type(ended), as_before), (ToolError, True), said)
                    self.assertIn("in use", str(ended))
        for step in 4, 5:
            ended, said, as_before = self.beside(**{f"_{step}": "echo in use >&2; exit 1"})
            self.assertEqual((ended, as_before), (None, True), said)

    def test_what_cannot_be_given_back_is_told(self):
        ended, said, as_before = self.beside(_6="echo no such module >&2; exit 1")
        self.assertFalse(as_before)
        self.assertRegex(said, "'insmod /lib/intel-uncore.ko' failed: no such module")
        self.assertIn("intel_uncore should be loaded", said)

    def test_ours_is_loaded_before_the_other(self):
        """By a softdep, as 'pmu-driver ours' writes it: each driver is measured all the same, and given back."""
        (self.here / "softdep").touch()
        for kinds in (sysfs.IN_TREE, sysfs.OURS), (sysfs.OURS, sysfs.IN_TREE):
            measured = []
            with self.subTest(kinds), mock.patch.object(
                    beside, "measure", lambda checks, say: (measured.append(self.machine().of("intel_imc")[0].driver.kind), {})):
                ended, said, as_before = self.beside(kinds[0])
                self.assertEqual((ended, as_before, tuple(measured)), (None, True, kinds), said)
                self.assertIn(f"({kinds[0]}) again", said)

    def test_something_else_loads_ours(self):
        """Then ours is not taken for the in-tree driver, nor is that said to be back."""
        ours = self.here / "module/intel_imc_pmu"
        loads = f"mkdir -p {ours} && echo live > {ours}/initstate; sleep 0.05"
        ended, said, as_before = self.beside(sysfs.OURS, _3=loads)
        self.assertEqual((type(ended), as_before), (ToolError, True), said)
        self.assertEqual(ended.what, "intel_uncore is loaded, but uncore_imc_0 is served by intel_imc_pmu (pmu-suite).")
        ended, said, as_before = self.beside(sysfs.IN_TREE, _6=loads)
        self.assertEqual((ended, as_before), (None, False), said)
        self.assertIn("Not all is as it was", said)

    def test_the_other_is_built_in(self):
        self.program("modinfo", "#!/bin/sh\necho '(builtin)'\n")
        ended, said, as_before = self.beside(sysfs.OURS)
        self.assertEqual((type(ended), as_before), (ToolError, True), said)
        self.assertEqual(ended.what, "intel_uncore is built into this kernel, so it cannot be loaded.")

    def test_the_question(self):
        """Ctrl-D is no yes; and it is asked with what is known of real machines."""
        for typed, refused in ((b"\x04", True), (b"\n", True), (b"no\n", True), (b"yes\n", False)):
            master, inner = pty.openpty()
            self.addCleanup(os.close, master)
            os.write(master, typed)
            said = io.StringIO()
            with self.subTest(typed), open(inner) as terminal, mock.patch("sys.stdin", terminal), redirect_stdout(said):
                if refused:
                    self.assertRaisesRegex(ToolError, "Nothing was changed", beside.agree, self.FAMILY, sysfs.IN_TREE, False)
                else:
                    beside.agree(self.FAMILY, sysfs.IN_TREE, False)
            self.assertIn("nothing yet on a real machine", said.getvalue())


class TestCost(unittest.TestCase):
    """What a read costs is a number only if it is not what noise makes of nothing."""

    def cost(self, event, dummy):
        """Of reads that take so many ns: a number, or a function of the round."""
        rounds = {"event": 0, "dummy": 0}

        def reads(group):
            name = group.fds
            rounds[name] += 1
            one = {"event": event, "dummy": dummy}[name]
            return one(rounds[name]) if callable(one) else one

        def group(wants):
            found = mock.MagicMock(fds=wants)
            found.__enter__.return_value = found
            return found
        with mock.patch.object(count, "Group", group), mock.patch.object(beside, "_reads", reads):
            found = str(beside.Cost.of(beside._differences("event", "dummy")))
        self.assertEqual(set(rounds.values()), {beside.ROUNDS})
        return found

    def test_what_is_above_the_noise(self):
        self.assertEqual(self.cost(1500, 700), "800 ns")
        self.assertEqual(self.cost(lambda n: 1500 + n % 5, 700), "802 ns")

    def test_what_is_not(self):
        self.assertEqual(self.cost(700, 700), "below the noise of 1 ns")
        # As often less as more, by up to 70 ns.
        self.assertEqual(self.cost(lambda n: 700 + 10 * (n - 8), 700), "below the noise of 40 ns")
        # A read of hardware is not faster than none: that is noise, too.
        self.assertEqual(self.cost(640, 700), "below the noise of 60 ns")
        self.assertEqual(self.cost(lambda n: 700 + (300 if n % 3 else -20), 700), "below the noise of 300 ns")

    def test_a_round_that_was_interrupted(self):
        self.assertEqual(self.cost(lambda n: 1e6 if n in (3, 9) else 1500, 700), "800 ns")
        self.assertEqual(self.cost(1500, lambda n: 1e6 if n in (3, 9) else 700), "800 ns")

    def test_what_drifts(self):
        """A CPU whose clock comes down: both take longer."""
        self.assertEqual(self.cost(lambda n: 1500 + 100 * n, lambda n: 700 + 100 * n), "800 ns")

    def test_sentences(self):
        mine = {"one event": beside.Cost(810.4, 800, 820), "a group of 3": beside.Cost(9, 8, 10)}
        theirs = {"one event": beside.Cost(5, -3, 9.2), "a group of 2": beside.Cost(9, 8, 10)}
        self.assertEqual(beside.costs(mine, theirs),
                         ["a read of one event: 810 ns by ours, below the noise of 10 ns by the in-tree driver"])


if __name__ == "__main__":
    unittest.main()
