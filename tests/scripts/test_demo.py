# SPDX-License-Identifier: GPL-2.0-only
"""What scripts/demo decides where Debian's archive lacks something."""
import contextlib
import io
import sys
import unittest
import unittest.mock

from pmusuite import cache, guest, kernel
from test_runner import script

GUESTS = ("x86_64", "ppc64le", "arm64")


class LeftOut(unittest.TestCase):
    def run_without(self, *lost, wrong=(), series=()):
        """(what main() returns, what it prints) if the kernels of the architectures @lost are, and of all these @series."""
        demo, said = script("demo"), io.StringIO()

        def get(arch, wanted):
            if arch.name in lost or wanted in series:
                raise cache.Lost(f"no kernel for {arch.name}")

        self.addCleanup(guest.STOP.clear)
        with contextlib.ExitStack() as patches:
            for target, name, value in (
                    (demo.kernels, "get", get), (demo.qemu, "headers", lambda arch: None), (demo.qemu, "command", lambda arch: None),
                    (demo.initrd, "packages", lambda arch, series: None), (demo, "installed", lambda goal: None),
                    (demo, "tell_progress", lambda ended: None), (demo.os, "nice", lambda by: None), (sys, "argv", ["demo"]),
                    # A guest needs its kernel, too.
                    (demo, "demonstrate", lambda machine: demo.smallest_kernel(machine.arch) and machine.arch.name),
                    (demo, "compare", lambda text: text not in wrong), (demo, "shown", lambda text, checks: text not in wrong)):
                patches.enter_context(unittest.mock.patch.object(target, name, value))
            patches.enter_context(contextlib.redirect_stdout(said))
            patches.enter_context(contextlib.redirect_stderr(io.StringIO()))
            return demo.main(), said.getvalue()

    def test_any_architecture_may_be_left_out(self):
        for lost in GUESTS:
            failed, said = self.run_without(lost)
            self.assertFalse(failed, said)
            self.assertIn(f"{lost} is left out: no kernel for {lost}", said)
            self.assertIn("perf shows what was done", said)

    def test_any_stock_kernel_will_do(self):
        """A mirror of Debian 13 alone has none of the series 6.1."""
        for series in (kernel.CLOUD,), (kernel.CLOUD, kernel.STOCK[0]):
            failed, said = self.run_without(series=series)
            self.assertFalse(failed, said)
            self.assertNotIn("left out", said)

    def test_the_verdict_is_on_the_rest(self):
        failed, said = self.run_without("x86_64", wrong=("arm64",))
        self.assertTrue(failed, said)
        self.assertIn("perf does NOT show what was done", said)

    def test_nothing_shown_is_no_success(self):
        with self.assertRaisesRegex(cache.Error, "lacks something for each"):
            self.run_without(*GUESTS)
