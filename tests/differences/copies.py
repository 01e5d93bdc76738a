# SPDX-License-Identifier: GPL-2.0-only
"""Copies of a kernel's headers that differ in a few places, and our sources as they compile against these."""
import re
import shlex
import subprocess
from pathlib import Path

from pmusuite import build, cache
from pmusuite.cache import run

ANSWERS = "pmu_conftest.h"


class Copy:
    """The headers of @kernel: links, but for the files that were edited and the directories above them."""

    def __init__(self, kernel, directory):
        self.original, self.top = kernel.kdir.parents[2], Path(directory)
        self.kdir = self.top / kernel.kdir.relative_to(self.original)
        self.common = "/".join((*self.kdir.parent.relative_to(self.top).parts,
                                next(path.name for path in kernel.kdir.parent.glob("*-common*"))))
        self.top.mkdir()
        for path in ("usr", "usr/src", self.common, self.kdir.relative_to(self.top)):
            self._unfold(Path(path))

    def _unfold(self, path):
        """Make the directory at @path one of the copy's own, of links."""
        here = self.top / path
        here.unlink(missing_ok=True)
        here.mkdir()
        for child in (self.original / path).iterdir():
            (here / child.name).symlink_to(child)

    def _own(self, name):
        """The file @name of the common headers, as one of the copy's own."""
        path = Path(self.common) / name
        for parent in reversed(path.parents):
            if (self.top / parent).is_symlink():
                self._unfold(parent)
        file = self.top / path
        if file.is_symlink():
            text = file.read_text()
            file.unlink()
            file.write_text(text)
        return file

    def substitute(self, name, pattern, text):
        """In the file @name; something has to match, lest an edit be none with a later kernel."""
        file = self._own(name)
        edited, times = re.subn(pattern, text, file.read_text(), flags=re.M)
        assert times, f"{name} has nothing like {pattern!r} any more"
        file.write_text(edited)

    def rename(self, name, word):
        """Take @word from the file @name, with whatever of that file refers to it."""
        self.substitute(name, rf"\b{word}\b", f"{word}_of_another_kernel")

    def exports(self, word):
        """Have the kernel export @word."""
        self._edit_exports(lambda text: f"{text}0x00000000\t{word}\tvmlinux\tEXPORT_SYMBOL_GPL\t\n")

    def withholds(self, word):
        """Have the kernel no longer export @word."""
        self._edit_exports(lambda text: re.sub(rf".*\t{word}\t.*\n", "", text))

    def _edit_exports(self, edit):
        file = self.kdir / "Module.symvers"
        text = file.read_text()
        file.unlink()
        file.write_text(edit(text))

    def append(self, name, text):
        """Put @text into the header @name, behind all that it has itself."""
        self.substitute(name, r"(#endif[^\n]*\n*)\Z", lambda found: f"{text}\n{found[1]}")


def copy_sources(directory):
    for name in cache.tree_files(*build.DRIVER_SOURCES):
        target = directory / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes((cache.TREE / name).read_bytes())


def complaints(said):
    """What a build says beside its progress."""
    return [line for line in said.splitlines() if re.search(r"\b(warning|error|WARNING|ERROR)\b", line) and
            "the compiler differs" not in line]


class Build:
    """Our modules, built by kbuild against a copy; then single files, as kbuild compiled them, against another one."""

    def __init__(self, arch, copy, directory):
        self.arch, self.copy, self.tree = arch, copy, directory
        copy_sources(directory)
        self.said = self.make()

    def make(self):
        variables = (f"{name}={value}" for name, value in build.kbuild(self.arch).items())
        return run(build.make("-C", self.tree, f"KDIR={self.copy.kdir}", "W=1", *variables, "modules"),
                   f"building the modules for {self.arch.name}")

    def modules(self):
        return {path.stem for path in self.tree.rglob("*.ko")}

    def answers(self):
        """The features that the kernel has, by conftest.sh."""
        return set(re.findall(r"^#define (\w+)", (self.tree / ANSWERS).read_text(), re.M))

    def _command(self, target, copy):
        """How kbuild made @target, for the headers of @copy."""
        saved = (self.tree / target).with_name(f".{Path(target).name}.cmd").read_text().splitlines()[0]
        saved = saved.split(" := ", 1)[1].split(" ; ")[0].replace(str(self.copy.top), str(copy.top))
        return shlex.split(saved.replace(r"\#", "#"))

    def _run(self, command, copy):
        return subprocess.run(command, cwd=copy.kdir, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def ask(self, copy, features, compiler=None):
        """The features that @copy has, of these; those of the others as before. Returns what went wrong, or None."""
        header = copy.top / ANSWERS
        shell, script, _, nm, symvers, *flags = self._command(ANSWERS, copy)
        answer = copy.top / "compiler"
        # What is behind conftest.sh's own flags is the snippet, named by its macro.
        answer.write_text(f"""#!/bin/sh
            for file; do :; done
            macro=$(basename "$file" .c)
            case " PMU_CONFTEST_WORKS {' '.join(features)} " in *" $macro "*) exec "$@" ;; esac
            grep -q "define $macro " {self.tree / ANSWERS} && exit
            echo "$file:1:1: error: as before"
            exit 1
        """)
        done = self._run([shell, script, header, nm, symvers, *(compiler or ["sh", answer]), *flags], copy)
        return done.stdout if done.returncode else None

    def has(self, copy, feature):
        return f"#define {feature} " in (copy.top / ANSWERS).read_text()

    def files(self, words):
        """Those of our modules' sources that have one of @words."""
        pattern = re.compile("|".join(words))
        return [path.relative_to(self.tree) for path in sorted(self.tree.glob("drivers/*/*.c"))
                if path.with_suffix(".o").exists() and pattern.search(path.read_text())]

    def compile(self, copy, file, source=None):
        """(what the compiler says, the object) of a @file of ours, or of a @source instead, against @copy."""
        command = self._command(file.with_suffix(".o"), copy)
        place, target = command.index("-o"), copy.top / f"{file.stem}.o"
        command = [word for number, word in enumerate(command)
                   if number not in (place, place + 1) and not word.startswith("-Wp,-MMD")]
        if source:
            command[-1] = copy.top / f"{file.stem}-check.c"
            command[-1].write_text(source)
            command.insert(1, f"-I{self.tree / file.parent}")
        # Before the directory that has the answers for the kernel as it is.
        command.insert(1, f"-I{copy.top}")
        done = self._run([*command, "-o", target], copy)
        return done.stdout, target
