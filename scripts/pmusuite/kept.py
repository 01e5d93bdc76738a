# SPDX-License-Identifier: GPL-2.0-only
"""Results of jobs that are kept by the content of all that they depend on, and how long jobs took.

Kept are the results of jobs that passed as a whole: a failure is to be seen again.
"""
import collections
import dataclasses
import functools
import json
import subprocess
import time
from pathlib import PurePath

from . import cache, choice, data, host, ktap

RESULTS = cache.ROOT / "results"
SECONDS = RESULTS / "seconds.json"
BEGAN = time.time()


@functools.cache
def _data():
    """What others made and a test may compare with."""
    return cache.key_of(*[part for name in data.NAMES if (path := data.path(name)) for part in (name, path)])


def _tags():
    """The tags of the commit, which have to be of the version in the tree."""
    return subprocess.run(["git", "-C", cache.TREE, "tag", "--points-at", "HEAD"], capture_output=True, text=True,
                          check=False).stdout


def _trees(wanted):
    """{sources: key} of what lies in the tree below each of @wanted, which are tuples of files and folders."""
    digests, below = cache.tree_digests("."), collections.defaultdict(set)
    for name in digests:
        for place in (name, *map(str, PurePath(name).parents)):
            below[place].add(name)
    return {sources: cache.key_of(*(part for name in sorted(set().union(*(below[place] for place in sources)))
                                    for part in (name, digests[name]))) for sources in wanted}


def keys(jobs):
    """{job: a key of all that it depends on as it is now}"""
    trees, tags = _trees({job.sources for job in jobs}), _tags()
    return {job: cache.key_of(repr(job), trees[job.sources], _data(), host.key(), tags if "." in job.sources else "") for job in jobs}


def _chosen(job):
    """What @job may have been run with of what was fetched, by this process or one of its own: a fresh machine chooses that
    meanwhile."""
    return choice.made(f"*-{job.guest.arch.name}*" if job.guest else "*", BEGAN)


def get(key):
    """(seconds that it took, results) of the job with @key when it last ran, with what is still chosen; or None."""
    path = RESULTS / f"{key}.json"
    try:
        found = json.loads(path.read_text())
        if not found["chosen"].items() <= choice.made("*").items():
            return None
        path.touch()
        choice.used(found["chosen"])
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
        "job": job.name, "seconds": seconds, "chosen": _chosen(job), "results": [dataclasses.asdict(result) for result in results]}))


def seconds():
    """{name of a job: seconds that it last took}"""
    try:
        return json.loads(SECONDS.read_text())
    except (FileNotFoundError, ValueError):
        return {}


def put_seconds(found):
    SECONDS.parent.mkdir(parents=True, exist_ok=True)
    with cache.lock("seconds"):     # several runs share it, and read it at any time
        partial = SECONDS.with_suffix(".partial")
        partial.write_text(json.dumps(seconds() | found))
        partial.rename(SECONDS)
