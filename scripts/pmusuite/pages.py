# SPDX-License-Identifier: GPL-2.0-only
"""Pages whose commands are run in guests, and what these print compared with what the page says they do.

Commands are in blocks of "console", behind "$ "; what follows is their output. Comments say how they are run:

    <!-- guest: --model snbep,sockets=2       the next blocks are run in a guest with these options of scripts/vm,
    COMMAND...                                in one shell; commands that the page does not show, one a line
    -->
    <!-- run: COMMAND... -->                 the same, between blocks
    <!-- exact: PATTERN -->                   of the next block, the lines in which numbers must be as on the page

A command "scripts/vm OPTIONS --shell", the first of a block, says the same as a comment "guest:", for the reader as well:
what comes after it is run in that guest. If the first command of a block is any other "scripts/vm", the block is run by
a shell of the host: its guests need not survive.

Of other lines the words must be the same, numbers may differ.
"""
import re
import shlex
import subprocess
from dataclasses import dataclass, field

from . import guest, options
from .cache import TREE, Error, Lost

PROMPT = "$ "
BOOTS = re.compile(r"scripts/vm (.*) --shell", re.S)
PROGRESS = re.compile(r"^== .*\n", re.M)       # what a script builds before its guest starts
MARK = "--- pmu-pages"
_PIECE = re.compile(r"^<!-- (guest|run|exact): *(.*?)\s*-->$|^```console\n(.*?)^```$", re.M | re.S)
_NUMBER = re.compile(r"0x[0-9a-f]+|\b[0-9a-f]{16}\b|\d[\d,.]*")


@dataclass
class Command:
    text: str
    wanted: str = ""            # what the page says that it prints
    exact: str = ""             # a pattern of lines
    block: int = -1             # of the page; -1: not shown
    got: str = ""
    status: int = 0

    @property
    def boots(self):
        """Options of scripts/vm, if this is how the reader starts the guest that the next commands run in; else None."""
        found = BOOTS.fullmatch(self.text)
        return found and shlex.split(found[1].replace("\\\n", " "))

    @property
    def on_host(self):
        return self.text.startswith("scripts/vm ") and not self.boots


@dataclass
class Machine:
    words: list                 # options of scripts/vm
    commands: list = field(default_factory=list)

    def guest(self):
        given = options.parser().parse_args(self.words)
        return options.guest(given, ("sh", "-c", self.script()))

    def script(self):
        """All commands in one shell, so that one can use what another has set."""
        lines = ["export COLUMNS=100 PAGER=cat"]
        for number, command in enumerate(self.commands):
            lines += [f"printf '\\n%s %s\\n' '{MARK}' {number}", f"{{ {':' if command.boots else command.text}\n}} 2>&1",
                      f"printf '\\n%s end %s\\n' '{MARK}' $?"]
        return "\n".join(lines)

    def take(self, output):
        """What the guest has printed, to the commands."""
        for number, command in enumerate(self.commands):
            found = re.search(rf"^{MARK} {number}\n(.*?)\n{MARK} end (\d+)$", output, re.M | re.S)
            if not found:
                raise Error(f"'{command.text}' did not come to its end; what was printed last:\n{output[-2000:]}")
            command.got, command.status = found[1], int(found[2])
            if command.block < 0 and command.status:
                raise Error(f"'{command.text}' failed with status {command.status}:\n{command.got}")


@dataclass
class Host:
    """The commands of a block that start guests of their own."""
    commands: list

    def run(self):
        for command in self.commands:
            done = subprocess.run(("sh", "-c", command.text), cwd=TREE, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, text=True, check=False)
            command.got, command.status = PROGRESS.sub("", done.stdout), done.returncode
            if done.returncode == Lost.status:
                raise Lost(command.got.strip())


def _commands(text):
    """[(command, output)] of a block."""
    found = []
    for line in text.splitlines():
        if line.startswith(PROMPT):
            found.append([line.removeprefix(PROMPT), []])
        elif found and found[-1][0].endswith("\\") and not found[-1][1]:
            found[-1][0] += f"\n{line}"
        elif found:
            found[-1][1].append(line)
        else:
            raise Error(f"a block of console begins with '{line}', not with '{PROMPT}'")
    return [(command, "\n".join(output)) for command, output in found]


def machines(page):
    """The Machines and Hosts that the text of a @page asks for, with its commands."""
    found, machine, exact, block = [], None, "", -1
    for piece in _PIECE.finditer(page):
        kind, text, shown = piece.groups()
        if kind == "guest":
            first, *hidden = text.splitlines() or [""]
            machine = Machine(shlex.split(first))
            found.append(machine)
            text = "\n".join(hidden)
        elif kind == "exact":
            exact = text
            continue
        shows = [] if kind else [Command(*pair, exact, block + 1) for pair in _commands(shown)]
        if shows:
            block += 1
            exact = ""
            if late := next((one for one in shows[1:] if one.boots), None):
                raise Error(f"'{late.text}' is not the first command of its block")
            if shows[0].on_host:
                found.append(Host(shows))
                continue
            if shows[0].boots:
                machine = Machine(shows[0].boots)
                found.append(machine)
        if not machine:
            raise Error("neither '<!-- guest: -->' nor '$ scripts/vm ... --shell' before the first command")
        if kind and text.strip():
            machine.commands.append(Command(text))
        machine.commands += shows
    return found


def run(wanted):
    """Run Machines and Hosts; Machines that are alike share a guest."""
    groups = {}
    for machine in wanted:
        if isinstance(machine, Host):
            machine.run()
            continue
        groups.setdefault(machine.guest().machine(), []).append(machine)
    for group in groups.values():
        guests = [machine.guest() for machine in group]
        outcomes = guest.run_in_turn(guests)
        for machine, one, outcome in zip(group, guests, outcomes):
            if outcome.status in guest.LOST:
                raise Error(guest.explain(outcome, one) + f"\n{outcome.out[-2000:]}{outcome.err[-2000:]}")
            machine.take(outcome.out)
        if len(outcomes) < len(group):
            raise Error("a guest did not survive its commands")


def _shape(line, exact):
    """@line as it is compared: without the width of columns, and without numbers unless they are to be @exact."""
    line = " ".join(line.split())
    return line if exact and re.search(exact, line) else _NUMBER.sub("N", line)


def shape(text, exact):
    return [_shape(line, exact) for line in text.strip("\n").splitlines()]


def differences(command):
    """What a command has printed otherwise than its page says."""
    wanted, got = shape(command.wanted, command.exact), shape(command.got, command.exact)
    if wanted == got:
        return []
    return ["the page says:", *command.wanted.strip("\n").splitlines(), "it printed:", *command.got.strip("\n").splitlines()]


def updated(page, commands):
    """The text of the @page with what its @commands printed."""
    blocks = {}
    for command in commands:
        said = "\n".join(line.rstrip() for line in command.got.strip("\n").splitlines())
        blocks.setdefault(command.block, []).append(PROMPT + command.text + (f"\n{said}" if said else ""))
    numbers = iter(range(len(blocks) + 1))

    def replace(piece):
        if piece[1]:
            return piece[0]
        return "```console\n" + "\n".join(blocks[next(numbers)]) + "\n```"

    return _PIECE.sub(replace, page)


def names():
    """The pages with such commands, relative to the tree."""
    return [str(path.relative_to(TREE)) for path in sorted([*TREE.glob("*.md"), *TREE.glob("Documentation/**/*.md")])
            if re.search(r"^(<!-- guest:|\$ scripts/vm )", path.read_text(), re.M)]
