# SPDX-License-Identifier: GPL-2.0-only
"""Remove from the cache what no checkout has used for weeks, and what a build that was killed has left.

Several checkouts share the cache. Whoever uses an entry or a package leaves a stamp under its lock (cache.used), and
here it is removed under the same lock if the stamp is old. What has no stamp is of an older checkout: it gets one.
"""
import contextlib
import re
import shutil
import time
from collections import Counter
from pathlib import Path

from . import cache, choice, debian, kept
from .cache import PARTIAL

WEEKS = 4
LONGEST = WEEKS * 7 * 24 * 3600     # seconds


def _age(path):
    return time.time() - path.stat().st_mtime


def _old(name):
    """Has @name not been used for so long?"""
    stamp = cache.stamp(name)
    if not stamp.exists():
        cache.used(name)
    return _age(stamp) > LONGEST


def _mounted(path):
    """Does something lie mounted below @path, as in a root that somebody has entered by hand?"""
    def place(line):
        return re.sub(r"\\([0-7]{3})", lambda match: chr(int(match[1], 8)), line.split()[4])

    return any(place(line).startswith(f"{path.resolve()}/") for line in Path("/proc/self/mountinfo").read_text().splitlines())


def _size(path):
    """Bytes on the disk."""
    sizes = []
    for one in (path, *path.rglob("*")):
        with contextlib.suppress(OSError):
            sizes.append(one.lstat().st_blocks * 512)
    return sum(sizes)


def _remove(path, name, condition):
    """Remove @path if @condition() holds under the lock @name, and nobody has this; bytes, or None if it stays."""
    with cache.lock(name, wait=False) as got, contextlib.suppress(OSError):
        if not got or not condition() or _mounted(path):
            return None
        size = _size(path)
        if not path.is_dir():
            path.unlink()
            return size
        if not path.name.endswith(PARTIAL):     # what is removed by half is no entry
            shutil.rmtree(partial := path.with_name(f".{path.name}{PARTIAL}"), ignore_errors=True)
            path = path.rename(partial)
        shutil.rmtree(path)
        return size


def _entries():
    """(kind, path, name of its lock, condition) of each entry; a folder without a lock is no entry."""
    for path in cache.ROOT.glob("*/*"):
        kind, partial = path.parent.name, path.name.startswith(".") and path.name.endswith(PARTIAL)
        name = f"{kind}-{path.name[1:-len(PARTIAL)] if partial else path.name}"
        if kind != "debs" and path.is_dir() and cache.lock_file(name).exists():
            # While it is built its lock is held.
            yield kind, path, name, (lambda: True) if partial else (lambda name=name: _old(name))


def _packages():
    """Packages that were not chosen. The others stay: a run whose results are not kept leaves no stamp of use, and mirrors
    drop old versions."""
    wanted = choice.packages()
    for path in (cache.ROOT / "debs").glob("**/*.deb"):
        arch = str(path.parent.relative_to(cache.ROOT / "debs"))
        stamp = debian.stamp_of(arch, path)
        # What is partial is being downloaded.
        if PARTIAL not in path.parts and debian.name(path) not in wanted:
            yield "debs", path, debian.lock_name(arch), lambda stamp=stamp: path.exists() and _old(stamp)


def _copies():
    """What the job differences compiles against, of a run that was killed: it holds the lock while it runs."""
    for path in cache.ROOT.glob("differences-*"):
        yield "differences", path, path.name, path.exists


def _results():
    """The results of jobs. kept.get() touches a file that it uses, so that its age is the time since then."""
    for path in kept.RESULTS.glob("*.json"):
        if path != kept.SECONDS:
            yield "results", path, "results", lambda path=path: path.exists() and _age(path) > LONGEST


def _choices():
    """What was chosen by rules that no checkout has any more. Whoever uses a choice touches it, as kept.get() does."""
    for path in choice.CHOSEN.glob("*.json"):
        yield "chosen", path, f"choice-{path.stem.rpartition('-')[0]}", lambda path=path: path.exists() and _age(path) > LONGEST


def run():
    """Remove what is old, and say what it was."""
    counts, size = Counter(), 0
    for kind, path, name, condition in [*_entries(), *_packages(), *_copies(), *_results(), *_choices()]:
        if condition() and (removed := _remove(path, name, condition)) is not None:
            counts[kind] += 1
            size += removed
    if counts:
        cache.say(f"removed from {cache.ROOT}, since nobody has used it for {WEEKS} weeks or its build was ended: "
                  f"{', '.join(f'{kind} ({count})' for kind, count in sorted(counts.items()))}; {size / 1e6:.0f} MB")
