# SPDX-License-Identifier: GPL-2.0-only
"""What the drivers write into the kernel's log, and what Documentation/symptoms.md quotes of it."""
import re
from dataclasses import dataclass

from .cache import TREE, tree_files

PAGE = "Documentation/symptoms.md"
# In comments and at their definitions these names have no text, and so make no message.
_CALL = re.compile(r"\b(?:(?:dev|pci|pr)_(err|warn|notice|info)(?:_ptr)?(?:_probe)?(?:_once|_ratelimited)?|"
                   r"(?:cmn|pmu)_refuse)\(")
_REFUSED = "%s: event refused: "
_NAMES = re.compile(r"^(?:%s|uncore_imc(?:_free_running)?_%[du]|pmu_core|\w+_pmu): (?:event refused: )?")
_LITERAL = re.compile(r'"(?:[^"\\]|\\.)*"(?:\s*"(?:[^"\\]|\\.)*")*')
_STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')
_STOPS = ",:;"
FIRST = 4           # so many words of a message are quoted at least
_CONVERSION = re.compile(r"%(?:%|[-+ #0]*(?:\*|\d+)?(?:\.(?:\*|\d+))?(?:hh|h|ll|l|z|t)?(?:p[a-zA-Z]*|[a-zA-Z]))")


@dataclass(frozen=True)
class Message:
    file: str
    level: str      # err, warn, notice, info; refused: why an event was, a notice
    text: str       # as it is in the source, one string

    def pattern(self, words=None):
        """What a line of the log looks like that this makes, or its first @words; names in front of it may be left out."""
        text = _NAMES.sub("", self.text)
        if words:
            text = " ".join(text.split(" ")[:words]).rstrip(_STOPS)
        parts = [re.escape(part) for part in _CONVERSION.split(text)]
        return re.compile(rf"(?:.*: )?{'.*'.join(parts)}(?:: error .*)?")

    def makes(self, line):
        """Whether @line is this, or ends with "..." where the rest of this is left out."""
        if not line.endswith(" ..."):
            return bool(self.pattern().fullmatch(line))
        return any(self.pattern(words).fullmatch(line[:-4].rstrip(_STOPS)) for words in range(FIRST, self.text.count(" ") + 1))


def _first_text(text, start):
    """The first argument with a text of the call whose arguments begin at @start; there may be several to choose from."""
    depth, begin = 1, start
    for match in re.finditer(r'"(?:[^"\\]|\\.)*"|[(),]', text[start:]):
        depth += {"(": 1, ")": -1}.get(match[0], 0)
        if not depth or depth == 1 and match[0] == ",":
            found = text[begin:start + match.start()]
            if not depth or '"' in found:
                return found
            begin = start + match.end()
    return ""


def of_drivers():
    """Every Message of the drivers' sources."""
    for name in tree_files("drivers"):
        if not name.endswith((".c", ".h")):
            continue
        text = (TREE / name).read_text()
        for call in _CALL.finditer(text):
            for literal in _LITERAL.finditer(_first_text(text, call.end())):
                said = "".join(_STRING.findall(literal[0])).removesuffix("\\n").replace('\\"', '"')
                if not call[1]:
                    yield Message(name, "refused", _REFUSED + said)
                elif not said.startswith(_REFUSED):
                    yield Message(name, call[1], said)


def quoted(page):
    """The lines of the log that @page quotes: those in its blocks of "text"."""
    for block in re.findall(r"^```text\n(.*?)^```", page, re.M | re.S):
        yield from filter(None, block.splitlines())


def problems(messages, page):
    """What is amiss between the drivers' @messages and the text of the @page."""
    lines = list(quoted(page))
    for line in lines:
        if not any(message.makes(line) for message in messages):
            yield f"{PAGE}: no driver says '{line}'"
    for message in messages:
        if message.level in ("err", "warn", "refused") and not any(message.makes(line) for line in lines):
            yield f"{PAGE}: lacks what {message.file} says: {message.text}"
