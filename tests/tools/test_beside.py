# SPDX-License-Identifier: GPL-2.0-only
"""pmu-check --beside, as far as no module has to be loaded for it: guests do that."""
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import tree
from pmutools import count
from pmutools.check import beside


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
        drivers.directory, drivers.parameters = modules, {"cmn_pmu": ["a=1"]}
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

    def test_where_the_user_says(self):
        self.put("include/pmu/version.h")
        path = self.put("mine/cmn_pmu.ko")
        for program in "tools/pmutools/check/beside.py", "pmu-suite/pmutools/check/beside.py":
            self.assertEqual(self.loaded(program, str(path.parent)), ("insmod", str(path), "a=1"))

    def test_this_tree(self):
        self.assertEqual(beside.built(), tree.HERE.parents[1] / "drivers")


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
