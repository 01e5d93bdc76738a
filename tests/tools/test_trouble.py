# SPDX-License-Identifier: GPL-2.0-only
# all: it waits for programs that stand still
"""What goes wrong around the tools: disks, pipes, terminals, signals, files of others, perf, devices that vanish.

Each of it ends in a sentence, or in nothing at all, and leaves nothing behind.
"""
import contextlib
import itertools
import json
import os
import select
import signal
import stat
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import tree
from pmutools import files
from pmutools.check import checks, load, report
from pmutools.errors import ToolError
from pmutools.top import frames, power_imc, programs

TOOLS = tree.HERE.parents[1] / "tools"
RECORDS = tree.HERE.parents[1] / "Documentation/tools"
MESH, POWER = RECORDS / "cmn.jsonl", RECORDS / "power_imc.jsonl"


class Case(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory(prefix="pmu-trouble.")
        self.addCleanup(directory.cleanup)
        self.directory = Path(directory.name)

    def program(self, name, *arguments, shell="", **environment):
        """The program's run; @shell is what a shell has behind its arguments."""
        words = " ".join(map(str, (TOOLS / name, *arguments)))
        return subprocess.run(["/bin/bash", "-o", "pipefail", "-c", f"{words} {shell}"], capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, env={**os.environ, **environment}, timeout=120)

    def says(self, done, status, sentence):
        self.assertEqual((done.returncode, "Traceback" in done.stderr), (status, False), done.stderr)
        self.assertRegex(done.stderr, sentence)


class TestOutput(Case):
    def test_a_full_disk(self):
        for arguments, shell in (("--once",), "> /dev/full"), (("--json",), "> /dev/full"), (("--svg", "/dev/full"), ""), \
                (("--once", "--output", "/dev/full"), ""), (("--once", "--prometheus", "/dev/full"), ""):
            with self.subTest((arguments, shell)):
                done = self.program("pmu-top", "--replay", MESH, *arguments, shell=shell)
                self.says(done, 1, r"^pmu-top: (Cannot use /dev/full: )?No space left on device\.\n$")

    def test_a_record_on_a_full_disk(self):
        with self.assertRaises(OSError) as caught:
            frames.Recorder("/dev/full", {})
        self.assertEqual(caught.exception.filename, "/dev/full")

    def test_a_place_that_is_not_there(self):
        for option in "--svg", "--prometheus", "--output":
            with self.subTest(option):
                self.says(self.program("pmu-top", "--replay", MESH, "--once", option, "/nowhere/x"), 1,
                          r"pmu-top: Cannot use /nowhere/x: No such file or directory\.\n$")

    def test_a_pipe_that_closes(self):
        for words in ("pmu-top", "--replay", MESH, "--json"), ("pmu-top", "--replay", MESH, "--once"), ("pmu-check", "--list"):
            reader, writer = os.pipe()
            os.close(reader)
            with self.subTest(words), open(writer, "w") as pipe:
                done = subprocess.run([TOOLS / words[0], *words[1:]], stdout=pipe, stderr=subprocess.PIPE, text=True)
                self.says(done, 141, "^$")

    def test_nowhere_to_write_to(self):
        for shell in ">&-", "2>&-", ">&- 2>&-", "<&-":
            with self.subTest(shell):
                self.says(self.program("pmu-top", "--replay", MESH, "--once", shell=shell), 0, "^$")

    def test_an_encoding_without_bars(self):
        done = self.program("pmu-top", "--replay", POWER, "--once", PYTHONIOENCODING="latin-1")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"mcs01 +[0-9.]+ +#{10,}[#.]? +[0-9.]+ +#")
        done = self.program("pmu-top", "--replay", MESH, "--once", PYTHONIOENCODING="latin-1")
        self.assertRegex(done.stdout, r"hottest: XP 020 > ~[0-9.]+")

    def test_a_pipe_is_no_terminal(self):
        done = self.program("pmu-top", "--replay", POWER, FORCE_COLOR="1")
        self.assertNotIn("\x1b[?1049h", done.stdout)
        self.assertIn("memory: read ", done.stdout)

    def test_a_file_is_replaced_in_one_go(self):
        target = self.directory / "a.prom"
        target.write_text("old")
        with self.assertRaises(UnicodeEncodeError):
            files.replace(target, "\udc80")
        self.assertEqual([target.read_text(), os.listdir(self.directory)], ["old", ["a.prom"]])
        files.replace(target, "new")
        self.assertEqual([target.read_text(), os.listdir(self.directory)], ["new", ["a.prom"]])

    def test_who_may_read_a_file_may_read_the_next(self):
        """And nobody else, whatever the umask: an administrator has said who may read what takes a right to count."""
        target = self.directory / "a.prom"
        target.write_text("old")
        target.chmod(0o640)
        if not os.geteuid():
            os.chown(target, -1, 65534)
        before = target.stat()
        page = files.Page(target)
        for text in "one", "two":
            page.write(text)
        page.close()
        after = target.stat()
        self.assertEqual((target.read_text(), after.st_mode, after.st_gid), ("two", before.st_mode, before.st_gid))
        with mock.patch.object(os, "fchown", side_effect=PermissionError):      # of a group that is not this user's
            files.replace(target, "new")
        self.assertEqual(stat.S_IMODE(target.stat().st_mode), 0o600)
        if os.geteuid():
            self.skipTest("root alone gives a file to another user")
        target.chmod(0o666)
        os.chown(target, 65534, -1)
        files.replace(target, "new")
        self.assertEqual(stat.S_IMODE(target.stat().st_mode) & 0o022, 0)

    def test_what_is_no_file_is_not_replaced(self):
        pipe, link, target = (self.directory / name for name in ("pipe", "link", "target"))
        os.mkfifo(pipe)
        link.symlink_to(target)
        reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
        self.addCleanup(os.close, reader)
        files.replace(pipe, "text")
        self.assertEqual((os.read(reader, 9), stat.S_ISFIFO(pipe.lstat().st_mode)), (b"text", True))
        files.replace(link, "text")
        self.assertEqual((target.read_text(), link.is_symlink()), ("text", True))

    def test_no_link_of_others_is_followed(self):
        """The directory may be another user's, as that of node_exporter is; root writes there."""
        victim, target = self.directory / "victim", self.directory / "a.prom"
        victim.write_text("old")
        (self.directory / f".a.prom.{os.getpid()}").symlink_to(victim)
        files.replace(target, "new")
        self.assertEqual((victim.read_text(), target.read_text(), target.is_symlink()), ("old", "new", False))
        target.unlink()
        target.symlink_to(victim)
        victim.chmod(0o666)
        with mock.patch.object(files, "is_link", return_value=False):     # it comes after the look
            files.replace(target, "new")
        self.assertEqual(target.stat().st_mode & 0o002, 0)
        self.assertEqual((victim.read_text(), target.read_text(), target.is_symlink()), ("old", "new", False))
        target.unlink()
        target.symlink_to("/dev/null")
        with mock.patch.object(files, "is_link", return_value=False), self.assertRaises(OSError):
            files.replace(target, "new")
        if os.geteuid():
            self.skipTest("root alone gives a link to another user")
        target.unlink()
        target.symlink_to(victim)
        files.replace(target, "own")
        self.assertEqual(victim.read_text(), "own")
        os.lchown(target, 65534, 65534)
        with self.assertRaisesRegex(OSError, "link of another user"):
            files.replace(target, "new")
        self.says(self.program("pmu-top", "--replay", POWER, "--once", "--output", target), 1, "link of another user")
        self.assertRaisesRegex(OSError, "link of another user", frames.Recorder, target, {})
        self.assertEqual(victim.read_text(), "own")
        victim.unlink()
        (self.directory / "a.md").symlink_to(victim)
        os.lchown(self.directory / "a.md", 65534, 65534)
        self.assertRaisesRegex(OSError, "link of another user", report.can_be_written, str(self.directory / "a"))
        self.assertFalse(victim.exists())
        target.unlink()
        target.symlink_to("/dev/null")      # nor to what is no file, such as a disk
        os.lchown(target, 65534, 65534)
        with self.assertRaisesRegex(OSError, "link of another user"):
            files.replace(target, "new")

    def test_no_link_is_followed_where_another_user_can_replace_it(self):
        """Whose it is has been asked, and then it is another one."""
        place, victim = self.directory / "place", self.directory / "victim"
        place.mkdir()
        victim.write_text("old")
        (place / "a.prom").symlink_to(victim)
        place.chmod(0o777)
        for write, what in (files.replace, "new"), (frames.Recorder, {}):
            self.assertRaisesRegex(OSError, "another user can replace it", write, place / "a.prom", what)
        self.assertEqual(victim.read_text(), "old")
        place.chmod(0o1777)         # as /tmp
        files.replace(place / "a.prom", "new")
        self.assertEqual(victim.read_text(), "new")
        if os.geteuid():
            self.skipTest("root alone gives a directory to another user")
        place.chmod(0o755)
        os.chown(place, 65534, -1)
        self.assertRaisesRegex(OSError, "another user can replace it", files.replace, place / "a.prom", "newer")
        self.assertEqual(victim.read_text(), "new")

    def other(self, code):
        """Another process that does so with a.prom, and waits."""
        process = subprocess.Popen([sys.executable, "-c", f"import fcntl, sys; from pmutools import files; from pmutools.top import frames; {code}; "
                                    "print(flush=True); sys.stdin.read()"], cwd=TOOLS, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.addCleanup(process.communicate)
        process.stdout.readline()
        return process

    def test_one_alone_writes_a_file(self):
        """Of two, Prometheus would read the counters of the one and the other in turn: back and forth."""
        target = self.directory / "a.prom"
        first = self.other(f"page = files.Page('{target}'); page.write('first'); page.write('first')")
        for option in "--prometheus", "--openmetrics":
            self.says(self.program("pmu-top", "--replay", POWER, "--once", option, target), 1,
                      rf"pmu-top: {target} is being written by process {first.pid} \(python3?[^)]*\)\.\n.*[Cc]hoose another file")
        self.assertEqual(target.read_text(), "first")
        first.kill()
        first.wait()
        page = files.Page(target)
        page.write("second")
        page.write("second")
        # Two that began at once see each other in the next interval.
        other = self.other(f"files.free_for = lambda path: None; page = files.Page('{target}'); page.write('third')")
        self.assertRaisesRegex(ToolError, f"process {other.pid} ", page.write, "second")
        page.close()

    def test_a_reader_keeps_nobody_from_writing(self):
        target = self.directory / "a.prom"
        target.write_text("old")
        self.other(f"file = open('{target}'); fcntl.lockf(file, fcntl.LOCK_SH)")
        page = files.Page(target)
        page.write("new")
        page.close()
        self.assertEqual(target.read_text(), "new")

    def test_one_alone_writes_a_record(self):
        """Nor is it cut by another that begins meanwhile, and it stays the first one's."""
        target = self.directory / "record"
        first = self.other(f"one = frames.Recorder('{target}', {{}})")
        with target.open("a") as file:
            file.write("the first one's next line")
        for _ in range(2):
            self.assertRaisesRegex(ToolError, f"process {first.pid} ", frames.Recorder, target, {})
        for option in "--output", "--svg":
            self.says(self.program("pmu-top", "--replay", POWER, "--once", option, target), 1, f"process {first.pid} ")
        self.assertTrue(target.read_text().endswith("the first one's next line"))

    def test_two_that_begin_a_record_at_once(self):
        """Each has looked before the other claimed it."""
        target = self.directory / "record"
        first = self.other(f"one = frames.Recorder('{target}', {{}})")
        with target.open("ab") as file:
            self.assertRaisesRegex(ToolError, f"process {first.pid} ", files.claim, file, target)

    def test_a_device_is_everybody_s(self):
        self.other("one = frames.Recorder('/dev/null', {})")
        self.says(self.program("pmu-top", "--replay", POWER, "--once", "--output", "/dev/null"), 0, "^$")

    def test_one_file_is_not_two_things(self):
        target, link, other = (self.directory / name for name in ("target", "link", "other"))
        link.symlink_to(target)
        options = "--output", "--svg", "--prometheus", "--openmetrics", "--record"
        for _ in range(2):      # also where it is there already
            for one, more in itertools.combinations(options, 2):
                done = self.program("pmu-top", "--once", one, target, more, link)
                self.says(done, 2, f"{one} and {more} are one file")
            target.touch()
        os.link(target, other)
        self.says(self.program("pmu-top", "--replay", other, "--svg", target), 2, "--svg and --replay are one file")
        done = self.program("pmu-top", "--replay", POWER, "--once", "--output", "/dev/null", "--prometheus", "/dev/null")
        self.says(done, 0, "^$")


class TestSignals(Case):
    """A tracer that is left behind fills the disk, a command the machine."""

    def test_a_command_ends_with_the_program(self):
        live, begun, popen = frames.Live(None, None, 1.0), [], subprocess.Popen
        live._take_turns = mock.Mock(side_effect=SystemExit)
        with mock.patch.object(subprocess, "Popen", lambda *words, **more: begun.append(popen(*words, **more)) or begun[0]):
            self.assertRaises(SystemExit, list, live.run(["sleep", "600"]))
        self.assertEqual(begun[0].wait(60), -signal.SIGTERM)

    def test_a_child_ends_with_its_parent_that_was_killed(self):
        code = "import subprocess; from pmutools import count; " \
               "print(subprocess.Popen(['sleep', '600'], preexec_fn=count.end_with_parent).pid, flush=True); input()"
        parent = subprocess.Popen([sys.executable, "-c", code], cwd=TOOLS, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        child = os.pidfd_open(int(parent.stdout.readline()))
        parent.kill()
        parent.communicate()
        self.assertEqual(select.select([child], [], [], 60)[0], [child])
        os.close(child)

    def test_a_command_has_the_limits_that_the_user_has(self):
        done = subprocess.run([sys.executable, "-c", """
import resource
_, most = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (100, most))
from pmutools import count
from pmutools.top import frames
count.raise_file_limit()
assert resource.getrlimit(resource.RLIMIT_NOFILE) == (most, most)
live = frames.Live(None, None, 1.0)
live._take_turns, live.frame = lambda seconds, wait: wait(seconds), lambda: None
list(live.run(["sh", "-c", "ulimit -Sn"]))
"""], cwd=TOOLS, capture_output=True, text=True)
        self.assertEqual((done.stdout, done.stderr), ("100\n", ""))


class TestRecords(Case):
    def lines(self, source=MESH):
        return [json.loads(line) for line in source.read_text().splitlines()]

    def replay(self, content):
        path = self.directory / "record"
        path.write_text(content if isinstance(content, str) else "".join(json.dumps(line) + "\n" for line in content))
        return self.program("pmu-top", "--replay", path, "--once")

    def test_what_is_none(self):
        for content, sentence in (
                ("", "is not a record"), ("{}", "is not a record"), ("what", "is not a record"), ("\0\0", "is not a record"),
                ("[" * 100_000, "is not a record"), ('{"pmu-top": 99}', "another version"), ('{"pmu-top": 2, "info": []}\n', "has no"),
                ('{"pmu-top": 2, "info": {}}', "has no frame"), ('{"pmu-top": 2, "info": {}}\n{"start":', "has no frame"),
                ('{"pmu-top": 2, "info": {}}\n{"start":\n', "is damaged"), ('{"pmu-top": 2, "info": {}}\n[]\n', "is damaged")):
            with self.subTest(content[:40]):
                self.says(self.replay(content), 1, sentence)
        self.says(self.program("pmu-top", "--replay", self.directory), 1, "Cannot use .*: Is a directory")

    def test_what_a_view_can_make_nothing_of(self):
        def without(lines, name):
            del lines[0]["info"][name]

        def count_of(lines, *values):
            lines[-1]["counts"][next(iter(lines[-1]["counts"]))] = values
        for change in (lambda lines: without(lines, "meshes"), lambda lines: without(lines, "view"),
                       lambda lines: lines[0]["info"].update(view=[]), lambda lines: lines[0]["info"].update(meshes=3),
                       lambda lines: count_of(lines, "a", 1, 1), lambda lines: count_of(lines, None, 1, 1),
                       lambda lines: count_of(lines, 10**400, 1, 1), lambda lines: count_of(lines, float("inf"), 1, 1),
                       lambda lines: lines[-1].update(seconds=float("inf")), lambda lines: lines[-1].update(seconds=None),
                       lambda lines: lines[-1].update(seconds=-1), lambda lines: lines[-1].update(notes=3),
                       lambda lines: lines[-1].update(extra=3), lambda lines: lines[-1].update(extra={"info": 3}),
                       lambda lines: lines[-1].update(more=3)):
            lines = self.lines()
            change(lines)
            with self.subTest(json.dumps(lines)[-80:]):
                self.says(self.replay(lines), 1, r"record is damaged: it cannot be read as a record of pmu-top\.\n")

    def test_one_that_ends_in_the_middle(self):
        """The disk was full, or the machine went down: what was written before is there."""
        text = POWER.read_text()
        done = self.replay(text + text.splitlines()[1][:500])
        self.says(done, 0, "^$")
        self.assertIn("memory: read ", done.stdout)
        self.assertIn("the record ends within the interval behind this one", done.stdout)

    def test_commands_for_the_terminal(self):
        lines = self.lines()
        lines[0]["info"]["machine"] = "A\x1b]0;title\x07\x9b31mB[red]C"
        lines[1]["notes"] = ["\x1b[2Jnote", "process 1 \u202e)tini( 2\u2028of a line"]
        done = self.replay(lines)
        self.says(done, 0, "^$")
        self.assertIn("process 1 ?)tini( 2?of a line\n", done.stdout)
        self.assertIn("A?]0;title??31mB[red]C\n", done.stdout)
        self.assertIn("?[2Jnote\n", done.stdout)


class TestReports(Case):
    """pmu-check's: what is read, and what is written."""

    def test_what_cannot_be_compared(self):
        one = self.directory / "one.json"
        for content in '{"format": "pmu-check 1"}', '{"format": "pmu-check 1", "machine": [], "checks": 1, "events": 2}':
            one.write_text(content)
            with self.subTest(content):
                self.says(self.program("pmu-check", "--compare", one, one), 1, "One of the two is damaged")

    def test_one_thing_at_a_time(self):
        """Nothing that was asked for is left out in silence."""
        for words in ("--probe", "list", "--load"), ("--list", "--compare", "a", "b"), ("clock", "--probe", "list"), ("--list", "clock"):
            self.says(self.program("pmu-check", *words), 2, "error: .* not allowed with ")

    def test_a_name_is_enough(self):
        made = {"format": report.FORMAT, "machine": {name: {} for name in ("processor", "firmware", "kernel")} |
                {"devices": [], "pmus": []}, "checks": [], "events": []}
        name = str(self.directory / "db7.example")
        Path(name + ".json").write_text(json.dumps(made))
        for given in name, f"{name}.md", f"{name}.json":
            self.assertEqual(report.read(given), made)
            self.assertEqual([path.name for path in report.paths(given)], ["db7.example.md", "db7.example.json"])

    def test_a_place_that_is_not_there_is_told_first(self):
        done = self.program("pmu-check", "-o", "/nowhere/report")
        self.says(done, 1, "^pmu-check: Cannot use /nowhere/report.md: No such file or directory")
        self.assertEqual(done.stdout, "")
        report.can_be_written(str(self.directory / "new"))
        self.assertEqual(os.listdir(self.directory), [])

    def test_a_check_that_cannot_go_on_costs_no_other(self):
        def run(bench):
            raise OSError(5, "Input/output error")
            yield
        found = checks.judge(checks.Check("one", "?", "", run), None)
        self.assertEqual((found.verdict, found.said), (checks.FAIL, ["[Errno 5] Input/output error"]))


class TestLoad(Case):
    def test_no_compiler_is_no_fault_of_the_machine(self):
        with mock.patch.dict(os.environ, PATH=str(self.directory)):
            self.assertRaisesRegex(ToolError, "--load needs a C compiler. Install gcc", load.Load().prepare)
        compiler = self.directory / "cc"
        compiler.write_text("#!/bin/sh\nexit 1\n")
        compiler.chmod(0o755)
        with mock.patch.dict(os.environ, PATH=f"{self.directory}:/bin"):
            self.assertRaisesRegex(ToolError, "cannot be built: the compiler says nothing", load.Load().prepare)
        self.assertRaisesRegex(ToolError, "/nowhere is no program", load.Load().prepare, "/nowhere")

    def test_a_load_that_ends_too_early(self):
        program = self.directory / "load"
        program.write_text("#!/bin/sh\necho ready; exec 0<&- 1>&-; exit 0\n")
        program.chmod(0o755)
        one = load.Load()
        one.prepare(str(program))
        with one.ready("read") as (process, work):
            process.wait(60)
            self.assertRaisesRegex(ToolError, "The load 'read' did not end", work)


class TestDevices(Case):
    def test_a_pmu_that_goes_while_its_files_are_read(self):
        place = "sys/bus/event_source/devices/uncore_imc_"
        machine = tree.machine(self, "snbep", {f"{place}1/type": "", f"{place}2/events/gone/x": ""})
        self.assertEqual(list(machine.pmus), ["uncore_imc_0", "uncore_imc_3"])


PERF = """#!/bin/sh
# What perf does to files: record writes, and begins a new one when it is told to; script says of it what a test wrote.
here={here}
case $1 in
record)
	[ ! -e $here/refuses ] || {{ cat $here/refuses >&2; exit 129; }}
	while [ "$1" != -o ]; do
		case $1 in --control=fd:*) control=${{1#*:}} ;; esac
		shift
	done
	data=$2
	trap '' USR2
	trap 'exit 0' TERM
	echo > "$data"
	read -r word < /dev/fd/${{control%,*}}
	[ "$word" = enable ] && [ ! -e $here/silent ] || exit
	trap 'echo > "$here/new"; mv "$here/new" "$data.2026"' USR2
	echo ack > /dev/fd/${{control#*,}}
	while :; do sleep 0.05; done ;;
script)
	cat $here/script
	[ ! -e $here/fails ] || {{ echo "no such format" >&2; exit 1; }} ;;
esac
"""


def samples(*lines):
    """What perf script writes of (COMMAND, the rest): the kernel keeps 15 bytes of a command's name."""
    return b"".join(b"%16s  %s\n" % (command.encode()[:15], rest.encode()) for command, rest in lines)


class TestTracer(Case):
    """The functions' perf, which may be of any age, or none."""

    def setUp(self):
        super().setUp()
        perf = self.directory / "perf"
        perf.write_text(PERF.format(here=self.directory))
        perf.chmod(0o755)
        (self.directory / "script").write_bytes(samples(("spin", "10000a5c heavy"), ("x\x1b[2J", "10000a60 lig\x9bht")))
        patch = mock.patch.dict(os.environ, PATH=f"{self.directory}:{os.environ['PATH']}")
        patch.start()
        self.addCleanup(patch.stop)

    def test_functions(self):
        with contextlib.closing(power_imc.Tracer()) as tracer:
            for _ in range(2):
                self.assertEqual(tracer.functions(), {"samples": 2, "top": [["heavy", "spin", 1], ["lig?ht", "x?[2J", 1]]})
            self.assertEqual(os.listdir(tracer.directory.name), ["perf.data"])
        self.assertEqual(tracer.process.returncode, 0)
        self.assertFalse(Path(tracer.directory.name).exists())

    def test_programs(self):
        """A process has a name for each thread, of which the busiest counts; any user gives it, with blanks or worse."""
        (self.directory / "script").write_bytes(samples(("gcc", " 41 "), ("my job", "  7 "), ("x\x1b[2J", "  8 "), ("my job", "  7 "),
                                                        ("worker", "  7 "), ("swapper", " -1 ")) + b"rubbish\n")
        with contextlib.closing(programs.Misses()) as misses:
            for _ in range(2):
                said = misses.programs()
                self.assertTrue(0 < said.pop("seconds") < 600)
                self.assertEqual(said, {"samples": 6, "period": programs.PERIOD,
                                        "top": [["my job", 7, 3], ["gcc", 41, 1], ["x?[2J", 8, 1], ["swapper", -1, 1]]})

    def test_programs_as_perf_wrote_them(self):
        """By perf 6.1, of page faults: a machine with counters of misses was not at hand, and the lines name no event. A process
        changed its name."""
        (self.directory / "script").write_text(2 * "         python3 31810 \n" + 7 * "    my job (x) 7 31810 \n" +
                                               7 * "              dd 31811 \n")
        with contextlib.closing(programs.Misses()) as misses:
            said = misses.programs()
        self.assertEqual((said["samples"], said["top"]), (16, [["my job (x) 7", 31810, 9], ["dd", 31811, 7]]))

    def test_a_name_with_ends_of_lines(self):
        """perf writes it as it is. A sample is one sample, of its own process."""
        for name, shown in (("x 1\n  bash 4194", "x 1?  bash 4194"), ("\n", "?"), ("a\r\nbash 1 \n", "a??bash 1 ?"), ("", ""), (" é 1\nbash   1 \n", "é 1?bash   1"),
                            ("           1 \n\n", "1 ??")):
            with self.subTest(name):
                (self.directory / "script").write_bytes(samples((name, "31810 "), ("dd", "4194303 "), (name, "31810 ")))
                with contextlib.closing(programs.Misses()) as misses:
                    self.assertEqual(misses.programs()["top"], [[shown, 31810, 2], ["dd", 4194303, 1]])
                (self.directory / "script").write_bytes(samples((name, "    7f2deb96cb03 main"), ("dd", "ffffffff81b73418 read"),
                                                                (name, "    7f2deb96cb03 main")))
                with contextlib.closing(power_imc.Tracer()) as tracer:
                    self.assertEqual(tracer.functions()["top"], [["main", shown, 2], ["read", "dd", 1]])

    def test_an_event_that_is_not_there(self):
        """No right helps."""
        (self.directory / "refuses").write_text("Error:\nThe cache-misses event is not supported.\n")
        with self.assertRaises(ToolError) as caught:
            programs.Misses()
        self.assertEqual(str(caught.exception), "perf record of cache-misses failed: Error: The cache-misses event is not supported. "
                                                "Choose another --mode.")

    def test_many_cpus_have_fewer_samples_each(self):
        limit = self.directory / "limit"
        for cpus, rate, wanted in ((2, None, "4000"), (2, "100000\n", "4000"), (2, "1500\n", "1500"), (176, "100000\n", "113")):
            if rate:
                limit.write_text(rate)
            with mock.patch("os.cpu_count", lambda cpus=cpus: cpus):
                self.assertEqual(power_imc._frequency(limit), wanted)

    def test_no_perf(self):
        with mock.patch.dict(os.environ, PATH="/nowhere"):
            self.assertRaisesRegex(ToolError, "perf is not there.*apt install linux-perf", power_imc.Tracer)

    def test_one_that_is_too_old_or_refused(self):
        for said in "Error: unknown option `switch-output=signal'", "WARNING: perf not found for kernel 6.12", "":
            (self.directory / "refuses").write_text(said)
            with self.subTest(said):
                self.assertRaisesRegex(ToolError, said or "it says nothing", power_imc.Tracer)

    def test_one_that_does_not_answer(self):
        (self.directory / "silent").touch()
        self.assertRaisesRegex(ToolError, "it says nothing", power_imc.Tracer)

    def test_one_that_ends(self):
        with contextlib.closing(power_imc.Tracer()) as tracer:
            tracer.process.kill()
            tracer.process.wait()
            self.assertIn("perf record of trace_imc failed", tracer.functions()["error"])

    def test_a_file_that_cannot_be_read(self):
        (self.directory / "fails").touch()
        with contextlib.closing(power_imc.Tracer()) as tracer:
            self.assertEqual(tracer.functions(), {"error": "perf script failed: no such format"})


class TestPython(unittest.TestCase):
    def test_the_oldest_one_can_read_it(self):
        import ast
        for path in (*TOOLS.rglob("*.py"), TOOLS / "pmu-top", TOOLS / "pmu-check"):
            with self.subTest(path):
                ast.parse(path.read_text(), feature_version=(3, 9))
