# SPDX-License-Identifier: GPL-2.0-only
"""scripts/vm --gdb with a real gdb: breakpoints in our modules while they load and while they count."""
import re
import shutil
import subprocess
import unittest

from pmusuite import cache, unittests

MINUTES = 10    # for a guest, on a host that is busy


@unittest.skipUnless(shutil.which("gdb-multiarch"), "no gdb-multiarch; scripts/setup test installs it")
class Session(unittest.TestCase):
    def debug(self, machine, commands, *words):
        """What gdb says to @commands, of a guest that then goes on to its end."""
        guest = subprocess.Popen(["scripts/vm", *unittests.keep_log(self), "--gdb", *machine, "--", *words],
                                 cwd=cache.TREE, text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE)
        self.addCleanup(guest.communicate)
        self.addCleanup(guest.terminate)       # which ends QEMU, too
        said = ""
        while " -x " not in (line := guest.stderr.readline()):
            said += line
            self.assertTrue(line, said)
        done = subprocess.run([*line.split(), "-batch", *(word for command in commands for word in ("-ex", command))],
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60 * MINUTES,
                              start_new_session=True)    # no terminal, which gdb would look for
        said = "".join([done.stdout, done.stderr])
        self.assertNotIn("Error in sourced command file", said)     # else the guest waits for ever
        self.assertEqual(guest.wait(60 * MINUTES), 0, said)
        return said

    def check(self, machine, init, start, words, frames=True):
        """@init and @start, {function: file}: that run when the module is loaded, and when an event is started; @frames:
        does gdb know the callers of the kernel's functions."""
        # Beside other guests gdb was seen to stop a second time at the instruction that it went on from.
        said = self.debug(machine, [*(f"break {name}" for name in (*init, *start)), "continue", "bt", "delete 1",
                                    "continue", "bt", "info source", "delete", "detach"], *words)
        for name, file in {**init, **start}.items():
            line = re.search(rf"(?m)^#0 +{name} \(.*\) at {re.escape(file)}:(\d+)$", said)
            self.assertTrue(line, said)
            above = "\n".join((cache.TREE / file).read_text().splitlines()[:int(line[1])])
            self.assertEqual(re.findall(r"(?m)^\w.*?(\w+)\(", above)[-1], name)
            self.assertIn(f"Located in {cache.TREE / file}" if name in start else file, said)
        # The kernel's functions have names, and lead on to their callers; or the first of them is the last that is known.
        first, second = (re.findall(r"(?m)^#\d+ +(?:0x\w+ in )?(\w+) \(", trace) for trace in said.split("\n#0 ")[1:])
        self.assertEqual(first[:2], ["do_one_initcall", "do_init_module"] if frames else ["do_one_initcall"], said)
        self.assertRegex(said, r"(?m)^#\d+ +(0x\w+ in )?pmu_event_\w+ \(.* at drivers/core/perf.c:\d+$")
        ours = max(index for index, name in enumerate(second) if name.startswith("pmu_"))
        self.assertRegex(second[ours + 1], r"^(perf_event|__perf_event|event)_")
        if frames:
            self.assertTrue([name for name in second if name.endswith("sys_perf_event_open")], said)
        else:
            self.assertEqual(len(second), ours + 2, said)

    def xeon(self, kernel, frames):
        self.check(["--kernel", kernel], {"intel_imc_init": "drivers/intel_imc/main.c"},
                   {"intel_imc_event_start": "drivers/intel_imc/pmu.c"},
                   ["pmu-event", "uncore_imc_0:0x304", "-x", "true"], frames)

    def test_x86_64(self):
        self.xeon("6.12", frames=False)

    def test_debug_kernel(self):
        self.xeon("kunit", frames=True)

    def test_arm64(self):
        self.check(["--arch", "arm64", "--kernel", "6.12"], {"cmn_init": "drivers/cmn/main.c"},
                   {"cmn_member_start": "drivers/cmn/dtm.c"}, ["pmu-event", "arm_cmn_0:0x10005", "-x", "true"])
