# SPDX-License-Identifier: GPL-2.0-only
"""scripts/coverage: what guests say becomes what gcov reads."""
import json
import subprocess
import tempfile
import unittest
from pathlib import Path

from test_runner import script

SOURCE = """int main(int argc, char **argv)
{
	int i, sum = 0;

	for (i = 0; i < 5; i++)
		sum += i;
	if (argc > 7)
		sum += **argv;
	return sum;
}
"""


class Counts(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.place = Path(directory.name)
        self.coverage = script("coverage")

    def counts(self, *texts):
        """Of guests that have said these texts."""
        place = self.place / "build"
        place.mkdir()
        for number, text in enumerate(texts):
            (place / str(number)).write_text(text)
        return self.coverage.counts(place)

    def test_guests_are_added_up(self):
        line = "/any/build/drivers/core/a.gcda 1 2 3 4 5 6 {}\n"
        self.assertEqual(self.counts(line.format("1 0"), line.format("10 1")),
                         {"drivers/core/a.gcda": (1, 2, 3, {(4, 5, 6): [11, 1]})})

    def test_a_guest_says_all_so_far_each_time(self):
        line = "drivers/a.gcda 1 2 3 4 5 6 {}\n"
        self.assertEqual(self.counts(line.format("1") + line.format("3"))["drivers/a.gcda"][3], {(4, 5, 6): [3]})

    def test_a_guest_that_died_has_said_half_a_line(self):
        self.assertEqual(self.counts("drivers/a.gcda 1 2 3 4 5 6 7\ndrivers/a.gcda 1 2 3 4 5 6 1")["drivers/a.gcda"][3],
                         {(4, 5, 6): [7]})

    def test_gcov_reads_what_is_written(self):
        """What a program has counted itself is written again, twofold: gcov shows twice as much, line by line."""
        (self.place / "a.c").write_text(SOURCE)
        subprocess.run(["gcc", "--coverage", "-o", "a", "a.c"], cwd=self.place, check=True)
        subprocess.run(["./a"], cwd=self.place, check=False)
        data, = self.place.glob("*.gcda")
        before = self.lines(data)
        self.assertEqual(before["6"], 5)
        self.assertEqual(before["8"], 0)
        words = memoryview(data.read_bytes()).cast("I").tolist()
        at = words.index(0x01000000)
        function, length = words[at + 2:at + 5], words[at + 6] // 8
        values = memoryview(data.read_bytes())[4 * (at + 7):][:8 * length].cast("q").tolist()
        self.coverage.write_gcda(data, *words[1:4], {tuple(function): [2 * value for value in values]})
        self.assertEqual(self.lines(data), {line: 2 * count for line, count in before.items()})

    def lines(self, data):
        said = subprocess.run(["gcov", "--json-format", "--stdout", data.name], cwd=self.place, check=True,
                              stdout=subprocess.PIPE, text=True).stdout
        return {str(line["line_number"]): line["count"] for line in json.loads(said)["files"][0]["lines"]}


if __name__ == "__main__":
    unittest.main()
