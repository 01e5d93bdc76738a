# SPDX-License-Identifier: GPL-2.0-only
"""Which of Debian's packages are fetched: of the candidates, the best first, the first that is whole.

Whole is what has been downloaded with all its packages. Archives change each day, and not all at once: a kernel may be listed
before its headers, or a file be gone that the lists still have. What was chosen is kept, so that later runs need no network,
guests stay the same, and results of tests can be kept: until a package of it is neither in the cache nor to be had.
"""
import contextlib
import functools
import json
import os
from dataclasses import dataclass, field
from typing import Callable

from . import cache, debian
from .debian import Lost

CHOSEN = cache.ROOT / "chosen"


@dataclass(frozen=True)
class Choice:
    name: str               # KIND-ARCH[-SERIES]
    candidates: Callable    # () -> JSON values, the best first
    # (a candidate, packages that are lost) -> {part: [architecture, as scripts/apt has it, ["NAME=VERSION", ...]]}
    packages: Callable = field(compare=False)
    asked: tuple = ()       # what else than the name decides what was asked for: strings

    @property
    def file(self):
        return CHOSEN / f"{self.name}-{cache.key_of(*self.asked)}.json"

    def get(self):
        """What was chosen, and its packages by parts; all of them have been downloaded."""
        return _get(self)

    def _decide(self):
        lost = []
        for candidate in self.candidates():
            try:
                found = [candidate, self._whole(candidate)]
            except Lost as error:
                if debian.renew():
                    return self._decide()
                lost.append(str(error))
            else:
                if lost:
                    cache.say(f"{self.name}: {_title(candidate)}, since {lost[0]}")
                return found
        raise Lost(f"{self.name}: {'; '.join(lost) or 'the archive has none'}")

    def _whole(self, candidate):
        """The packages of @candidate, now downloaded; in place of one that is lost an older one may do."""
        lost = set()
        while True:
            parts = self.packages(candidate, sorted(lost))
            if again := lost.intersection(package for _, packages in parts.values() for package in packages):
                raise Lost(f"the archive has no {', '.join(sorted(again))}")
            missing = [package for arch, packages in parts.values() for package in debian.fetch(arch, packages)]
            if not missing:
                return parts
            lost.update(missing)


def _title(candidate):
    """The words for one; of programs the package of which there are several versions comes first."""
    if isinstance(candidate, dict):
        return candidate["version"]
    return candidate if isinstance(candidate, str) else candidate[0] if "=" in candidate[0] else " ".join(candidate)


@functools.cache
def _get(choice):
    with cache.lock(f"choice-{choice.name}"):
        path = choice.file
        known = json.loads(path.read_text()) if path.exists() else None
        if known:
            try:
                if not any(debian.fetch(arch, packages) for arch, packages in known[1].values()):
                    path.touch()
                    return known
            except Lost:
                pass
        try:
            found = choice._decide()
        except Lost:
            if not debian.renew():      # a suite may have been left out when the lists were fetched
                raise
            found = choice._decide()
        path.parent.mkdir(parents=True, exist_ok=True)
        partial = path.with_name(f".{path.name}.{os.getpid()}")
        partial.write_text(json.dumps(found, indent=1))
        partial.rename(path)    # half of it would be an error for ever
        return found


def in_turn(suites, candidates):
    """The @candidates, a function of a suite, of each; one that the mirror has not has none."""
    lost = []
    for suite in suites:
        if lost:
            cache.say(lost[-1])
        try:
            yield from candidates(suite)
        except Lost as error:
            lost.append(str(error))
    if lost:
        raise Lost("; ".join(lost))


def of_programs(name, arch, candidates, *asked, unused=""):
    """["NAME=VERSION", ...] of the first of @candidates, lists of packages, that can be had with all that it depends on, without
    what is @unused."""
    choice = Choice(name, candidates, lambda packages, lost: {"programs": [arch, debian.closure(arch, packages, lost, unused)]},
                    (*asked, unused))
    return choice.get()[1]["programs"][1]


def packages():
    """All that was chosen, "NAME=VERSION" each."""
    return {package for path in CHOSEN.glob("*.json") for _, named in json.loads(path.read_text())[1].values() for package in named}


def made(pattern, since=0):
    """{name: a key of what was chosen} of the choices that were made for what @pattern names, and used @since a time."""
    return {path.stem: cache.key_of(path) for path in CHOSEN.glob(f"{pattern}.json") if path.stat().st_mtime >= since}


def used(names):
    """Of these choices results are kept."""
    for name in names:
        with contextlib.suppress(FileNotFoundError):
            os.utime(CHOSEN / f"{name}.json")
