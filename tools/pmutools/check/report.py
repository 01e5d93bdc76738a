# SPDX-License-Identifier: GPL-2.0-only
"""The report: Markdown for people, JSON for programs, and the difference of two."""
import json
import os
import re
import textwrap
import time
from pathlib import Path

from .. import files
from ..errors import ToolError

from .checks import ANSWER, FAIL, NOTE, OK, SKIP

FORMAT = "pmu-check 1"
FITS = 60_000           # characters of an issue's text: GitHub takes 65536


def make(looked, results, table):
    """What there is to report."""
    return {
        "format": FORMAT, "date": time.strftime("%Y-%m-%d", time.gmtime()), "machine": looked,
        "checks": [result._asdict() for result in results],
        "events": [[pmu, name, values] for (pmu, name), values in table.items()],
    }


def summary(results):
    number = {verdict: sum(one.verdict == verdict for one in results) for verdict in (OK, NOTE, FAIL, SKIP, ANSWER)}
    answers = f", {number[ANSWER]} answered" if number[ANSWER] else ""
    return f"{number[OK]} ok, {number[FAIL]} failed, {number[NOTE]} to look at, {number[SKIP]} skipped{answers}"


def text(result, width):
    """A result for the terminal."""
    first, *more = [textwrap.fill(line, width - 6, subsequent_indent="  ").replace("\n",
                                                                                   "\n      ") for line in result.said]
    return "\n".join([f"{result.verdict:4}  {result.name}", *(f"      {line}" for line in (first, *more))])


def markdown(report):
    machine = report["machine"]
    done = [f"# pmu-check: {machine['processor'].get('processor', '')}", "",
            f"{report['date']}, kernel {machine['kernel'].get('kernel', '')}. "
            "Serial numbers, addresses and the host's name are left out.", ""]
    for name in ("processor", "firmware", "kernel"):
        done += [f"## {name.capitalize()}", "", *_rows(("", ""), machine[name].items()), ""]
    done += ["## Devices", "", *_rows(("device", "what", "driver"), machine["devices"]), "",
             "## PMUs", "", *_rows(("PMU", "driver", "cpumask", "events", "fields"), machine["pmus"]), ""]
    done += ["## Checks", "", *_rows(("", "check", "found"), [
        (one["verdict"], one["name"], "<br>".join(one["said"])) for one in report["checks"]]), ""]
    said = [f"<{level}> {line}" for level,
            line in machine["log"]] or [machine["no log"] or "Nothing about these counters."]
    done += ["## Kernel's log", "", *_code(said), ""]
    counted = {name for _, name, values in report["events"] if any(values)}
    rows = [f"{pmu}/{name}/ {' '.join(map(str, values))}" for pmu, name, values in report["events"] if name in counted]
    still = list(dict.fromkeys(name for _, name, _ in report["events"] if name not in counted))
    if still:
        rows.append(f"0 everywhere: {' '.join(still)}")
    done += ["<details><summary>What each event counted in 50 ms, on each CPU of cpumask</summary>", "",
             *_code(_fitting(rows, FITS - sum(len(line) + 1 for line in done))), "", "</details>", ""]
    return "\n".join(done)


def _fitting(rows, room):
    """As many rows as an issue has room for."""
    for number, row in enumerate(rows):
        room -= len(row) + 1
        if room < 0:
            return [*rows[:number], f"... and {len(rows) - number} more, which are in the JSON file."]
    return rows


def _rows(head, rows):
    def line(cells):
        return f"| {' | '.join(str(cell).replace('|', chr(92) + '|') for cell in cells)} |"
    return [line(head), f"|{'---|' * len(head)}", *map(line, rows)]


def _code(lines):
    return ["```", *lines, "```"]


def paths(name):
    """(NAME.md, NAME.json), also of one of these."""
    stem = re.sub(r"\.(md|json)$", "", name)
    return Path(f"{stem}.md"), Path(f"{stem}.json")


def can_be_written(name):
    """Raises OSError if it cannot: better now than after minutes of work."""
    for path in paths(name):
        new = not os.path.lexists(path)
        files.begin(path, "a").close()
        if new:
            path.unlink()


def write(report, name):
    """NAME.md and NAME.json; each is written to the end, or not at all."""
    for path, content in zip(paths(name), (markdown(report), json.dumps(report, indent=1) + "\n")):
        files.replace(path, content)


def read(name):
    path = Path(name) if Path(name).is_file() and not name.endswith(".md") else paths(name)[1]
    try:
        found = files.printable(json.loads(path.read_text(encoding="utf-8")))
    except (ValueError, OSError, RecursionError) as error:
        raise ToolError(f"{path} is no report: {getattr(error, 'strerror', None) or 'it is not JSON'}.",
                        "Give the .json files that -o has written.") from error
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        raise ToolError(f"{path} is no report of this version of pmu-check.")
    return found


def compare(one, other):
    """Lines about what differs: the machine, checks, events."""
    try:
        yield from _differences(one, other)
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise ToolError("One of the two is damaged.",
                        "Give the .json files that -o has written.") from error


def _differences(one, other):
    for section in ("processor", "firmware", "kernel"):
        mine, theirs = one["machine"][section], other["machine"][section]
        for name in dict.fromkeys([*mine, *theirs]):
            if mine.get(name) != theirs.get(name):
                yield f"{name}: {mine.get(name, 'none')} | {theirs.get(name, 'none')}"
    for what, cells in (("devices", slice(1, 3)), ("pmus", slice(1, 4))):
        mine, theirs = ({row[0]: row[cells] for row in report["machine"][what]} for report in (one, other))
        for name in dict.fromkeys([*mine, *theirs]):
            if mine.get(name) != theirs.get(name):
                yield f"{name}: {', '.join(mine.get(name, ['none']))} | {', '.join(theirs.get(name, ['none']))}"
    mine, theirs = ({check["name"]: check for check in report["checks"]} for report in (one, other))
    for name in dict.fromkeys([*mine, *theirs]):
        verdicts = [report[name]["verdict"] if name in report else "not run" for report in (mine, theirs)]
        if verdicts[0] != verdicts[1]:
            yield f"check {name}: {verdicts[0]} | {verdicts[1]}"
            for report, verdict in zip((mine, theirs), verdicts):
                if verdict in (FAIL, NOTE):
                    yield from (f"    {line}" for line in report[name]["said"])
    mine, theirs = ({(pmu, name): sum(values) for pmu, name, values in report["events"]} for report in (one, other))
    for key in dict.fromkeys([*mine, *theirs]):
        label = f"{key[0]}/{key[1]}/"
        if key not in mine or key not in theirs:
            yield f"{label}: only in the {'first' if key in mine else 'second'}"
        elif bool(mine[key]) != bool(theirs[key]):
            yield f"{label}: {mine[key]} | {theirs[key]}"
