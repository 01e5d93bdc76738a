# SPDX-License-Identifier: GPL-2.0-only
"""Tables of Documentation/hardware/: open questions, and what becomes of counts with each answer.

The page has each question and how to look. The answers are rows "# number | answer | commands | ours | in-tree" of
tests/guest/PMU/answers.sh, which a guest has counted with. Where the commands are "not run" no model can answer so, and
the next columns say what would become of counts, by reading.
"""
import collections
import re

from .cache import TREE, Error

HEAD = "| No. | Question, and what is assumed | If | ours | in-tree | How to look |\n|---|---|---|---|---|---|\n"
NOT_RUN = "not run"


def rows(pmu):
    """{number of a question: [[answer, commands, ours, in-tree] of each answer]}"""
    found = collections.defaultdict(list)
    for line in re.findall(r"(?m)^# (\d+\.\d+ \|.*)$", (TREE / "tests/guest" / pmu / "answers.sh").read_text()):
        number, *row = [word.strip() for word in line.split("|")]
        found[number].append(row)
    return found


def questions(table):
    """{number: (question, how to look)} of a page's table"""
    found = {}
    for line in table.splitlines():
        number, question, *_, look = [word.strip() for word in re.split(r"(?<!\\)\|", line)[1:-1]]
        if question:
            found[number] = question, look
    return found


def sums(answers):
    """A sentence that sums up what guests have counted with."""
    def of(column):
        words = collections.Counter(row[column].split(":")[0] for row in answers if NOT_RUN not in (row[1], row[column]))
        return ", ".join(f"{count} {word}" for word, count in sorted(words.items()))
    number = sum(row[1] != NOT_RUN for row in answers)
    return f"Of {number} answers that a guest has counted with, ours has {of(2)}; in-tree has {of(3)}.\n"


def table(pmu, asked):
    """The table of the questions in asked, and the sentence behind it."""
    answers, text = rows(pmu), HEAD
    if set(answers) != set(asked):
        raise Error(f"{pmu}: these have an answer or a question alone: {' '.join(sorted(set(answers) ^ set(asked)))}")
    for number, (question, look) in asked.items():
        for answer, commands, ours, in_tree in answers[number]:
            how = "" if commands in ("-", NOT_RUN) else f" (`{commands}`)"
            text += f"| {number} | {question} | {answer}{how} | {ours} | {in_tree} | {look} |\n"
            question = look = ""
    return f"{text}\n{sums([row for found in answers.values() for row in found])}"


def tables():
    """{page: (its text, what it is with the tables of today)}"""
    found = {}
    for path in sorted((TREE / "tests/guest").glob("*/answers.sh")):
        name = f"Documentation/hardware/{path.parent.name}.md"
        text = (TREE / name).read_text()
        begin = text.index(HEAD)
        first, end = text.index("\n\n", begin) + 2, f"{text}\n".index("\n\n", text.index("\nOf ", begin) + 1) + 1
        asked = questions(text[begin + len(HEAD):first - 2])
        found[name] = text, text[:begin] + table(path.parent.name, asked) + text[end:]
    return found
