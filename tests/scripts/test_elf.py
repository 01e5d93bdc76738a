# SPDX-License-Identifier: GPL-2.0-only
"""Libraries that do nothing."""
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

from pmusuite import arch, build, elf

X86_64 = arch.get("x86_64")

LIBRARY = """
int plain(void) { return 1; }
int newer(void) { return 2; }
int unused(void) { return 3; }
int table[300] = { [4] = 4 };
__thread int mine = 8;
"""
VERSIONS = "OLD { plain; table; unused; }; NEW { newer; mine; };"
PROGRAM = """
int plain(void), newer(void), other(void);
extern int table[300];
extern __thread int mine;
int main(void) { return plain() + newer() + table[4] + mine + other(); }
"""


class Files(unittest.TestCase):
    def test_where_all_lies_in_usr(self):
        """As in Debian 13's packages, whose programs name their interpreter as ever."""
        with tempfile.TemporaryDirectory() as directory:
            top = Path(directory)
            for folder in "bin", "usr/bin", "usr/lib/x", "usr/lib64":
                (top / folder).mkdir(parents=True)
            for name in "bin/old", "usr/bin/new", "usr/lib/x/ld.so":
                (top / name).write_text(name)
            (top / "usr/lib64/ld.so").symlink_to("../lib/x/ld.so")
            for name, found in ("bin/old", "bin/old"), ("bin/new", "usr/bin/new"), ("lib64/ld.so", "usr/lib/x/ld.so"):
                self.assertEqual(elf.resolve(top, name).read_text(), found)


class Stub(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = Path(directory.name)
        self.library, self.stub = self.directory / "real/libthing.so.1", self.directory / "stub/libthing.so.1"

    def compile(self, source, target, *options):
        file = self.directory / "source.c"
        file.write_text(source)
        target.parent.mkdir(exist_ok=True)
        subprocess.run([build.compiler(X86_64) + "gcc", "-o", target, file, *options], check=True)
        return target

    def run_with(self, program, library):
        done = subprocess.run([program], env={**os.environ, "LD_LIBRARY_PATH": str(library.parent)}, capture_output=True)
        return done.returncode, done.stderr

    def test_a_program_starts_with_a_stub_in_its_library_s_place(self):
        """Functions and variables of several versions, of the thread, and copied into the program where it is no PIE."""
        other = self.compile("int other(void) { return 1; }", self.directory / "libother.so", "-shared", "-fPIC")
        for versions in VERSIONS, "{ global: *; };":
            script = self.directory / "versions"
            script.write_text(versions)
            self.compile(LIBRARY, self.library, "-shared", "-fPIC", f"-Wl,--version-script={script}",
                         "-Wl,-soname,libthing.so.1")
            for options in ["-fPIE", "-pie"], ["-fno-pic", "-no-pie"]:
                with self.subTest(versions=versions, options=options):
                    program = self.compile(PROGRAM, self.directory / "program", *options, self.library, other)
                    hidden = self.library.rename(self.directory / "hidden")
                    elf.stub(build.compiler(X86_64) + "gcc", self.library.name, program, [other], self.stub)
                    hidden.rename(self.library)
                    self.assertEqual(self.run_with(program, self.library), (16, b""))
                    self.assertEqual(self.run_with(program, self.stub), (1, b""))
                    # Neither what the program does not want, nor what another library has.
                    self.assertTrue({name for _, _, _, name, *_ in elf._symbols(self.stub)}.isdisjoint({"unused", "other"}))
