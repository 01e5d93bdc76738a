# SPDX-License-Identifier: GPL-2.0-only
"""What pages quote: commands and what these print, and lines of the log."""
import unittest

from pmusuite import cache, messages, pages

PAGE = """# A page

<!-- guest: --model snbep,sockets=2
pmu-model add imc0 cas_rd 1
-->
<!-- exact: MiB -->
```console
$ perf stat \\
      -e this
   7.00 MiB  this
   0.5 seconds
$ true
```
Text, and a block of something else:
```text
$ not this
```
<!-- run: pmu-model add imc0 cas_rd 2 -->
```console
$ date
today
```
<!-- guest: --arch arm64 -->
```console
$ uname
Linux
```
"""


class Pages(unittest.TestCase):
    def setUp(self):
        self.machines = pages.machines(PAGE)

    def command(self, number):
        return [one for machine in self.machines for one in machine.commands if one.block >= 0][number]

    def test_machines_and_commands(self):
        self.assertEqual([machine.words for machine in self.machines], [["--model", "snbep,sockets=2"], ["--arch", "arm64"]])
        self.assertEqual([(command.text, command.block) for command in self.machines[0].commands],
                         [("pmu-model add imc0 cas_rd 1", -1), ("perf stat \\\n      -e this", 0), ("true", 0),
                          ("pmu-model add imc0 cas_rd 2", -1), ("date", 1)])
        self.assertEqual([command.exact for command in self.machines[0].commands], ["", "MiB", "MiB", "", ""])

    def test_a_block_without_a_guest(self):
        with self.assertRaisesRegex(cache.Error, "neither '<!-- guest"):
            pages.machines("```console\n$ true\n```\n")

    def test_a_guest_that_the_reader_starts(self):
        page = "```console\n$ scripts/vm --arch arm64 \\\n      --model cmn700 --shell\n$ uname\nLinux\n```\n"
        machine, = pages.machines(page)
        self.assertEqual(machine.words, ["--arch", "arm64", "--model", "cmn700"])
        self.assertNotIn("scripts/vm", machine.script())
        machine.take("".join(f"\n{pages.MARK} {number}\n{said}\n{pages.MARK} end 0\n"
                             for number, said in ((0, ""), (1, "Linux\n"))))
        self.assertEqual([pages.differences(command) for command in machine.commands], [[], []])
        self.assertEqual(pages.updated(page, machine.commands), page)
        with self.assertRaisesRegex(cache.Error, "is not the first command of its block"):
            pages.machines("```console\n$ scripts/vm --shell\n$ true\n$ scripts/vm --arch arm64 --shell\n```\n")

    def test_a_guest_that_need_not_survive(self):
        block = ("```console\n$ scripts/vm -- \\\n      false; echo $((2 + 3)) and 0123456789abcdef\n"
                 "5 and fedcba9876543210\n$ true\n```\n")
        page = PAGE.replace("<!-- run:", block + "<!-- run:")
        first, host, last = pages.machines(page)
        self.assertEqual([command.text for command in first.commands[-2:]], ["pmu-model add imc0 cas_rd 2", "date"])
        self.assertEqual(last.words, ["--arch", "arm64"])
        self.assertEqual([command.block for command in host.commands], [1, 1])
        # What a script builds before is no output of the command.
        host.commands[0].text = "echo == building >&2; " + host.commands[0].text.replace("scripts/vm --", "")
        host.run()
        self.assertEqual([pages.differences(command) for command in host.commands], [[], []])
        host.commands[0].text = "echo another; exit 99"
        host.run()
        self.assertEqual((host.commands[0].got, host.commands[0].status), ("another\n", 99))
        self.assertIn("it printed:", pages.differences(host.commands[0]))
        with self.assertRaisesRegex(cache.Error, "neither '<!-- guest"):
            pages.machines(block + "```console\n$ true\n```\n")

    def test_output_goes_to_its_command(self):
        self.machines[1].take(f"noise\n\n{pages.MARK} 0\nLinux\n\n{pages.MARK} end 0\n")
        self.assertEqual((self.command(3).got, self.command(3).status), ("Linux\n", 0))
        with self.assertRaisesRegex(cache.Error, "did not come to its end"):
            self.machines[1].take(f"\n{pages.MARK} 0\nLin")

    def test_a_command_that_is_not_shown_must_succeed(self):
        said = "".join(f"\n{pages.MARK} {number}\n\n{pages.MARK} end {int(not number)}\n" for number in range(5))
        with self.assertRaisesRegex(cache.Error, "failed with status 1"):
            self.machines[0].take(said)

    def test_numbers_and_columns_may_differ(self):
        self.command(0).got = "  7.00 MiB this\n  17.25   seconds\n"
        self.assertEqual(pages.differences(self.command(0)), [])

    def test_exact_numbers_and_words_may_not(self):
        for said in ("7.01 MiB this\n0.5 seconds", "7.00 MiB this\n0.5 minutes", "7.00 MiB this", ""):
            with self.subTest(said):
                self.command(0).got = said
                self.assertIn("it printed:", pages.differences(self.command(0)))

    def test_update(self):
        shown = [self.command(number) for number in range(4)]
        for command in shown:
            command.got = command.wanted + "\n"
        self.assertEqual(pages.updated(PAGE, shown), PAGE)
        shown[2].got = "\ntomorrow  \n"
        self.assertEqual(pages.updated(PAGE, shown), PAGE.replace("today", "tomorrow"))

    def test_every_page_can_be_read(self):
        self.assertIn(messages.PAGE, pages.names())
        for name in pages.names():
            for machine in pages.machines((cache.TREE / name).read_text()):
                if isinstance(machine, pages.Machine):
                    machine.guest()


class Messages(unittest.TestCase):
    def test_the_drivers(self):
        found = list(messages.of_drivers())
        self.assertGreater(len(found), 90)
        self.assertEqual({message.level for message in found}, {"err", "warn", "notice", "info", "refused"})
        # In one call there may be two to choose from, and words that are but arguments.
        texts = [message.text for message in found]
        self.assertIn("%s: event refused: it counts for tasks alone", texts)
        self.assertIn("%s: event refused: type 0x%x is not known", texts)
        self.assertNotIn("%s: event refused: this XP", texts)

    def test_problems(self):
        said = [messages.Message("a.c", "err", "chip %u: %#llx is gone (%pe)"), messages.Message("a.c", "info", "hello")]
        good = "```text\npower_imc_pmu x: chip 3: 0x12 is gone (-EIO)\n```\n"
        self.assertEqual(list(messages.problems(said, good)), [])
        self.assertEqual(len(list(messages.problems(said, good.replace("gone", "there")))), 2)
        self.assertEqual(len(list(messages.problems(said, ""))), 1)
        self.assertEqual(len(list(messages.problems([], good))), 1)

    def test_a_quote_may_leave_out_names_in_front_and_the_end(self):
        said = [messages.Message("a.c", "err", "%s: event refused: type 0x%x is not known, and never was")]
        for line, amiss in (("arm_cmn_0: event refused: type 0x42 is not known, and never was", 0), ("type 0x42 is not ...", 0),
                            ("type 0x42 is not", 2), ("type 0x42 was not ...", 2), ("type ...", 2)):
            self.assertEqual(len(list(messages.problems(said, f"```text\n{line}\n```\n"))), amiss, line)


if __name__ == "__main__":
    unittest.main()
