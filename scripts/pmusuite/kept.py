# SPDX-License-Identifier: GPL-2.0-only
"""Results of jobs that are kept by the content of all that they depend on, and how long jobs took.

Kept are the results of jobs that passed as a whole: a failure is to be seen again.
"""
import dataclasses
import functools
import json

from . import build, cache, data, ktap, pins
from .arch import ARCHES

RESULTS = cache.ROOT / "results"
SECONDS = RESULTS / "seconds.json"


@functools.cache
def _data():
    """What others made and a test may compare with."""
    return cache.key_of(*[part for name in data.NAMES if (path := data.path(name)) for part in (name, path)])


@functools.cache
def _tools(arch):
    return cache.key_of(build.qemu_version(arch), *(build.compiler_version(name) for name in
                                                    ("gcc", build.compiler(arch) + "gcc")))


def keys(jobs):
    """{job: a key of all that it depends on as it is now}"""
    trees = {sources: cache.key_of_tree(*sources) for sources in {job.sources for job in jobs}}

    def key(job):
        arches = [job.guest.arch] if job.guest else ARCHES.values()
        fetched = pins.key(f"*-{job.guest.arch.name}*" if job.guest else "*")
        return cache.key_of(repr(job), trees[job.sources], fetched, _data(), *map(_tools, arches))

    return {job: key(job) for job in jobs}


def get(key):
    """(seconds that it took, results) of the job with @key when it last ran, or None."""
    try:
        found = json.loads((RESULTS / f"{key}.json").read_text())
        return found["seconds"], [ktap.Result(**result) for result in found["results"]]
    except (FileNotFoundError, ValueError, KeyError):
        return None


def put(job, key, seconds, results):
    """Keep the results of @job, whose key was @key when it began: unless something has changed since."""
    # What was skipped may be there the next time.
    if not job.keep or any(result.status != ktap.OK for result in results) or keys([job])[job] != key:
        return
    RESULTS.mkdir(parents=True, exist_ok=True)
    (RESULTS / f"{key}.json").write_text(json.dumps({
        "job": job.name, "seconds": seconds, "results": [dataclasses.asdict(result) for result in results]}))


def seconds():
    """{name of a job: seconds that it last took}"""
    try:
        return json.loads(SECONDS.read_text())
    except (FileNotFoundError, ValueError):
        return {}


def put_seconds(found):
    SECONDS.parent.mkdir(parents=True, exist_ok=True)
    SECONDS.write_text(json.dumps(seconds() | found))
