# SPDX-License-Identifier: GPL-2.0-only
"""Rounds of "make hostile"."""
import contextlib
import tempfile
import types
import unittest
import unittest.mock
from pathlib import Path

from pmusuite import campaign, guest, jobs, ktap
from test_runner import script


class Campaign(unittest.TestCase):
    def test_a_seed_and_a_size_reach_the_guests(self):
        selected = jobs.select(["hostile/cmn", "guest/cmn/ledger"])
        for before, job in zip(selected, campaign.of_round(selected, 7, 4)):
            if not job.name.startswith("hostile/"):
                self.assertEqual(job, before)
                continue
            self.assertEqual(job.guest.command, ("env", "SEED=7", "SIZE=4", *before.guest.command))
            self.assertEqual(job.guest.timeout, 4 * before.guest.timeout)
            self.assertFalse(job.keep)

    def test_every_campaign_takes_both(self):
        for job in jobs.select(["hostile/*"]):
            if job.guest.races:     # which accesses wait is up to chance, whatever runs
                continue
            text = "".join((jobs.TREE / path).read_text() for path in job.sources
                           if path.startswith("tests/guest/") and path.endswith(".sh"))
            self.assertTrue("SEED=${SEED:-" in text and "${SIZE:-1}" in text, job.name)

    def test_rounds_grow_as_time_allows(self):
        self.assertEqual(campaign.next_size(1, 600, 100000), 2)
        self.assertEqual(campaign.next_size(4, 2400, 3700), 6)
        self.assertEqual(campaign.next_size(4, 2400, 599), 0)

    def ran(self, hours, seconds):
        """(seed, size) of each round where one of size 1 takes so many @seconds."""
        job, clock, found = jobs.select(["hostile/power_imc/ledger"])[0], [0], []

        def run(selected, seed):
            size = int(selected[0].guest.command[2].removeprefix("SIZE="))
            clock[0] += size * seconds
            found.append((seed, size))
            return selected

        with unittest.mock.patch.object(campaign.time, "monotonic", lambda: clock[0]):
            self.assertEqual(len(campaign.rounds(run, [job], 7, hours)), len(found))
        return found

    def test_without_hours_there_is_one_round(self):
        self.assertEqual(self.ran(0, 600), [(7, 1)])

    def test_each_round_has_its_seed_and_all_are_in_time(self):
        found = self.ran(2, 600)
        self.assertEqual(found, [(7, 1), (8, 2), (9, 4), (10, 5)])
        self.assertLessEqual(sum(size for _, size in found) * 600, 7200)

    def test_a_round_of_any_size_can_be_run_again(self):
        selected = jobs.select(["hostile/power_imc/ledger", "guest/power_imc/ledger"])
        one, other = campaign.of_round(selected, 7, 4), campaign.of_round(selected, 8)
        self.assertEqual(campaign.again([*one, *other, *one]), ["SEED=7 SIZE=4", "SEED=8 SIZE=1"])
        with unittest.mock.patch.object(campaign.time, "monotonic", lambda: 0):
            self.assertEqual(campaign.rounds(lambda its, seed: its, selected, 7, size=4), one)

    def test_guests_of_all_rounds_are_run(self):
        runner, selected = script("test"), jobs.select(["hostile/power_imc/ledger"])
        outcome = types.SimpleNamespace(out="", err="", log="", status=0, seconds=1)
        result = ktap.Result(ktap.OK, "a")
        with tempfile.TemporaryDirectory() as logs, contextlib.ExitStack() as patches:
            for where, name, value in ((guest, "run_in_turn", lambda guests: [outcome for _ in guests]),
                                       (jobs, "judge", lambda *told: [result]), (runner.kept, "put", lambda *told: None),
                                       (runner, "report", lambda *told: None),
                                       (runner.Progress, "say", lambda *told: None)):
                patches.enter_context(unittest.mock.patch.object(where, name, value))
            for seed in 7, 8:
                jobs_now = campaign.of_round(selected, seed)
                done = runner.run_all([jobs_now], Path(logs), 1, {job: None for job in jobs_now}, usual=False)
                self.assertEqual([one.job for one in done], jobs_now)


if __name__ == "__main__":
    unittest.main()
