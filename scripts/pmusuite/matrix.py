# SPDX-License-Identifier: GPL-2.0-only
"""Which kernels the tests were run on, and how that went: what scripts/test notes of each job that it runs as a whole.

A note counts for the kernel's exact version alone. What has none was not run, and the table says so.
"""
import collections
import json
import re
import subprocess
import time
from dataclasses import dataclass

from . import cache, jobs, kernel, ktap
from .arch import ARCHES
from .cache import TREE

NOTES = cache.ROOT / "ran"
DEBUG = "kunit"
CHECKS = {series: "check/modules" for series in (*kernel.STOCK, DEBUG)} | \
         {series: "kernels/check" for series in kernel.OTHERS}
HEAD = ("| kernel | version | architecture | modules | guests | since |", "|---|---|---|---|---|---|")
NOT_RUN = "not run"
BEGIN, END = "<!-- scripts/matrix begins -->\n", "<!-- scripts/matrix ends -->\n"


def _path(name):
    return NOTES / f"{cache.key_of(name)}.json"


def version(arch, series):
    """The version of Debian's package; the debug kernel is built from one."""
    return kernel.pin(arch, kernel.STOCK[-1] if series == DEBUG else series).known()["version"]


def _versions(job):
    """{kernel: version} of what @job runs on, or builds for."""
    pairs = [(job.guest.arch, job.guest.kernel)] if job.guest else \
        [(arch, series) for series, name in CHECKS.items() if name == job.name
         for arch in ARCHES.values() if (series, arch.name) not in kernel.NOWHERE]
    return {f"{arch.name} {series}": version(arch, series) for arch, series in pairs}


def _commit():
    """The commit that the tree is of; None if it was changed, or has none, as what scripts/mutate breaks."""
    described = subprocess.run(["git", "-C", TREE, "describe", "--always", "--dirty", "--exclude=*"],
                               capture_output=True, text=True)
    found = described.stdout.strip()
    return None if not found or found.endswith("-dirty") else found


def record(job, results):
    """Note that @job was run as a whole, now and on this tree."""
    if not (commit := _commit()):
        return
    NOTES.mkdir(parents=True, exist_ok=True)
    _path(job.name).write_text(json.dumps({
        "job": job.name, "date": time.strftime("%Y-%m-%d", time.gmtime()), "commit": commit,
        "versions": _versions(job), "results": [(result.status, result.name) for result in results]}))


@dataclass
class Note:
    date: str
    results: list       # [(status, name), ...]


def _note(name, arch, series):
    """The Note of the job @name, if it ran with the very kernel that there is now."""
    try:
        found = json.loads(_path(name).read_text())
        if found["versions"].get(f"{arch.name} {series}") == version(arch, series):
            return Note(found["date"], found["results"])
    except (FileNotFoundError, ValueError, KeyError):
        pass
    return None


def wanted():
    """{(architecture, kernel): names of the jobs that have guests there, with our driver}"""
    found = collections.defaultdict(list)
    for group in (jobs.guests, jobs.kunit, jobs.kernels):
        for job in group():
            if job.guest and job.guest.driver != "in-tree":
                found[job.guest.arch.name, job.guest.kernel].append(job.name)
    return found


def _built(arch, series):
    """(what there is to say of the compiler's check, its Note or None)"""
    note = _note(CHECKS[series], arch, series)
    status = dict((name, status) for status, name in note.results).get(f"W=1 {arch.name} {series}") if note else None
    return {None: NOT_RUN, ktap.OK: "no warning", ktap.SKIPPED: NOT_RUN}.get(status, "FAILED"), status and note


def _guests(arch, series, names):
    """(what there is to say of these jobs, Notes of those that were run)"""
    notes = [note for name in names if (note := _note(name, arch, series))]
    if not notes:
        return NOT_RUN, []
    counts = collections.Counter(status for note in notes for status, _ in note.results)
    said = [f"{counts[ktap.OK]} passed"] + [f"{counts[status]} {word}" for status, word in (
        (ktap.FAILED, "FAILED"), (ktap.SKIPPED, "skipped")) if counts[status]]
    if len(notes) < len(names):
        said.append(f"{len(names) - len(notes)} of {len(names)} jobs {NOT_RUN}")
    return ", ".join(said), notes


def _row(arch, series, names):
    if why := kernel.NOWHERE.get((series, arch.name)):
        return [series, "", arch.name, why, "", ""]
    (built, by), (run, notes) = _built(arch, series), _guests(arch, series, names)
    return ["6.12, debug" if series == DEBUG else series, version(arch, series), arch.name, built, run,
            min((note.date for note in [by, *notes] if note), default="")]


def table():
    """The lines of the matrix, in Markdown."""
    found = wanted()
    order = sorted(CHECKS, key=lambda series: (series == DEBUG, series == kernel.NEWEST,
                                               [int(part) for part in re.findall(r"\d+", series)]))
    return [*HEAD, *(f"| {' | '.join(_row(arch, series, found[arch.name, series]))} |"
                     for series in order for arch in ARCHES.values())]


def replaced(text):
    """@text with the table of today between its marks."""
    before, rest = text.split(BEGIN)
    return before + BEGIN + "".join(f"{line}\n" for line in table()) + END + rest.split(END)[1]
