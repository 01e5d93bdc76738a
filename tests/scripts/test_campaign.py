# SPDX-License-Identifier: GPL-2.0-only
"""Rounds of "make hostile", and what its page says."""
import re
import unittest
import unittest.mock

from pmusuite import campaign, jobs


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

    def test_the_page_names_every_errno_of_the_fuzzer(self):
        source = (jobs.TREE / "tests/guest/pmu-fuzz.c").read_text()
        page = (jobs.TREE / "Documentation/hostile.md").read_text()
        known = {name: set(re.findall(r"E[A-Z0-9]+", errnos))
                 for name, errnos in re.findall(r'^\t\[\w+\] *= \{ "([\w ]+)", \d+, \{ (.*) \} \},$', source, re.M)}
        self.assertGreater(len(known), 20)
        said = {name: set(re.findall(r"E[A-Z0-9]+", errnos))
                for names, errnos in re.findall(r"^\| (`[\w`, ]+`) \| (.*) \|$", page, re.M)
                for name in re.findall("`([^`]+)`", names)}
        self.assertEqual({name: errnos for name, errnos in said.items() if name in known}, known)


if __name__ == "__main__":
    unittest.main()
