# SPDX-License-Identifier: GPL-2.0-only
"""What a guest's gdb is given: the kernel's symbols, and when to begin."""
import contextlib
import io
import re
import subprocess
import tempfile
import unittest
import unittest.mock
from pathlib import Path

from pmusuite import arch, cache, debugger

KALLSYMS = """\
0000000000000000 A fixed_percpu_data
ffffffff81000000 T _text
ffffffff81000040 t do_init_module
ffffffff81000080 t do_init_module
ffffffff82000000 D jiffies
ffffffffc0000000 t virtio_init\t[virtio]
"""
ORC = "ffffffff82000010 D __start_orc_unwind\n"
CALLERS = {     # as readelf says them
    "x86_64": ("DW_CFA_def_cfa: r6 (rbp) ofs 16", "r6 (rbp) at cfa-16", "r16 (rip) at cfa-8"),
    "arm64": ("DW_CFA_def_cfa_expression (DW_OP_breg29 (x29): 0; DW_OP_deref)", "r29 (x29) (DW_OP_breg29 (x29): 0)",
              "r30 (x30) (DW_OP_breg29 (x29): 8)"),
    "ppc64le": ("DW_CFA_def_cfa_expression (DW_OP_breg1 (r1): 0; DW_OP_deref)", "r65 at cfa+16"),
}
MACHINES = {"x86_64": "X86-64", "arm64": "AArch64", "ppc64le": "PowerPC64"}


class Symbols(unittest.TestCase):
    """The kernel's symbols as the binutils read them."""

    def test_the_kernel_proper(self):
        for name, row in arch.ARCHES.items():
            with self.subTest(name):
                with tempfile.TemporaryDirectory() as directory:
                    debugger.symbol_file(row, KALLSYMS, Path(directory, "kernel"))
                    done = subprocess.run(["readelf", "-hsW", Path(directory, "kernel")], capture_output=True)
                self.assertEqual(done.stderr, b"")
                found = re.findall(r"\d+: (\w{16}) +0 (\w+) +(\w+) +\w+ +(\w+) ([\w~]+)", done.stdout.decode())
                self.assertEqual([symbol for symbol in sorted(found) if symbol[1] in ("FUNC", "OBJECT")],
                                 [("ffffffff81000000", "FUNC", "GLOBAL", "1", "_text"),
                                  ("ffffffff81000040", "FUNC", "GLOBAL", "1", "do_init_module"),
                                  ("ffffffff81000080", "FUNC", "GLOBAL", "1", "do_init_module~2"),
                                  ("ffffffff82000000", "OBJECT", "GLOBAL", "1", "jiffies")])
                self.assertIn(MACHINES[name], done.stdout.decode())

    def frames(self, name, kallsyms):
        with tempfile.TemporaryDirectory() as directory:
            debugger.symbol_file(arch.get(name), kallsyms, Path(directory, "kernel"))
            return subprocess.run(["readelf", "--debug-dump=frames", Path(directory, "kernel")], check=True,
                                  capture_output=True, text=True).stdout

    def test_where_callers_are(self):
        for name in arch.ARCHES:
            with self.subTest(name):
                said = self.frames(name, KALLSYMS)
                self.assertIn("pc=ffffffff81000000..ffffffff82000004\n", said)
                for rule in CALLERS[name]:
                    self.assertIn(rule, said)

    def test_a_kernel_without_frame_pointers(self):
        """Its callers are unknown, and not what its registers happen to be."""
        said = self.frames("x86_64", KALLSYMS + ORC)
        self.assertIn("DW_CFA_undefined: r16 (rip)", said)
        self.assertNotIn("at cfa", said)

    def test_a_kernel_that_hides_them(self):
        with self.assertRaisesRegex(cache.Error, "does not tell its symbols"):
            debugger.symbol_file(arch.get("x86_64"), KALLSYMS.replace("ffffffff8", "000000000"), Path("kernel"))


class Invitation(unittest.TestCase):
    def test_not_before_there_is_somebody_to_talk_to(self):
        session, said = object.__new__(debugger.Session), io.StringIO()
        with tempfile.TemporaryDirectory() as directory, contextlib.redirect_stderr(said):
            session.socket, session.commands = Path(directory, "socket"), Path(directory, "commands")

            def poll():     # QEMU takes a while, in which nothing may be said
                self.assertEqual(said.getvalue(), "")
                session.socket.touch()

            session.invite(unittest.mock.Mock(poll=poll))
        self.assertIn(f"-x {session.commands}\n", said.getvalue())


if __name__ == "__main__":
    unittest.main()
