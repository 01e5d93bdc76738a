# SPDX-License-Identifier: GPL-2.0-only
"""Which of Debian's packages are fetched: those whose versions scripts/pins names, and not the newest of the day.

Pinned is what decides a result: kernels and the programs that tests run. The libraries of these are what the mirror has
when a machine needs them first: with_libraries().

A mirror keeps old versions as long as it likes. Where it lacks one of a pin's, what the pin would be today takes its
place on this machine, and that is said. If the mirror drops what had taken its place before this was downloaded, it
is decided again. `scripts/pin` makes the files.
"""
import functools
import json
import os
import re
from dataclasses import dataclass
from typing import Callable

from . import cache, debian
from .cache import TREE, Error

DIRECTORY = TREE / "scripts" / "pins"
TAKEN = cache.ROOT / "taken"        # what is used of a pin, by name and content


def dump(value):
    return json.dumps(value, indent=1) + "\n"


def _load(path):
    try:
        return json.loads(path.read_text())
    except ValueError as error:
        raise Error(f"{path} is no JSON: {error}") from error


@dataclass(frozen=True)
class Pin:
    name: str               # KIND-ARCH[-SERIES]
    find: Callable          # what to pin today, a JSON value
    packages: Callable      # {architecture, as scripts/apt has it: ["NAME=VERSION", ...]} of such a value

    @property
    def file(self):
        return DIRECTORY / f"{self.name}.json"

    def pinned(self):
        """What the tree says, or None."""
        return _load(self.file) if self.file.exists() else None

    def known(self):
        """What is used, or, where that has not been decided yet, what is pinned."""
        path = _taken(self.name, pinned := self.pinned())
        return json.loads(path.read_text()) if path.exists() else pinned

    def differences(self, old, new):
        """Lines that tell what @new has for @old; either may be None."""
        def versions(value):
            return {(arch, name): version for arch, packages in (self.packages(value) if value else {}).items()
                    for name, version in (package.split("=") for package in packages)}

        before, after = versions(old), versions(new)
        return [f"{name} {before.get((arch, name), 'none')} -> {after.get((arch, name), 'none')}"
                for arch, name in sorted({*before, *after}) if before.get((arch, name)) != after.get((arch, name))]

    def get(self):
        """What to use: the pin, or what takes its place. What was decided once is kept while its packages can be had; once
        these are downloaded, later runs need no network."""
        return _get(self)

    def lost(self, value):
        """Packages of such a value that cannot be had any more."""
        return [package for arch, packages in self.packages(value).items() for package in debian.lost(arch, packages)]

    def _decide(self, pinned, known):
        """What to use, given what is @pinned and what was decided before, or None for either."""
        for found in [known] * (known != pinned) + [pinned]:
            if found is not None:
                if not (lost := self.lost(found)):
                    return found
                cache.say(f"{self.name}: the mirror has no {', '.join(lost)}: looking for what is nearest")
        return self.find()


@functools.cache
def _get(pin):
    pinned = pin.pinned()
    path = _taken(pin.name, pinned)
    known = json.loads(path.read_text()) if path.exists() else None
    try:
        found = pin._decide(pinned, known)
    except Error:
        # Without lists nobody knows what the mirror has. What was decided may have been made already.
        if known is None:
            raise
        found = known
    if found != known:
        path.parent.mkdir(parents=True, exist_ok=True)
        partial = path.with_name(f".{path.name}.{os.getpid()}")
        partial.write_text(dump(found))
        partial.rename(path)    # half of it would be an error for ever
    if pinned is not None and (changed := pin.differences(pinned, found)):
        more = f" and {len(changed) - 3} more" * (len(changed) > 3)
        cache.say(f"{pin.name} is not as pinned: {', '.join(changed[:3])}{more}")
    return found


def _taken(name, pinned):
    return TAKEN / f"{name}-{cache.key_of(dump(pinned))}.json"


def with_libraries(pin, arch, named=None, unused=None):
    """["NAME=VERSION", ...] of @named, of which @pin has what is pinned (None: it is a list of all), and of all that
    these depend on, without what is @unused, which is decided once."""
    named = named or pin.get()
    return Pin(f"{pin.name}-libraries-{cache.key_of(*named, unused or '')}", lambda: debian.closure_names(arch, named, unused),
               lambda found: {arch: found}).get()


def words():
    """What a pin, or what has taken its place, names: each "name=version" and, of kernels, the version of all packages."""
    return {word for directory in (DIRECTORY, TAKEN) for path in directory.glob("*.json")
            for word in re.findall(r'"([^"]+)"', path.read_text())}


def key(pattern):
    """A key of what is fetched for pins whose names match."""
    parts = []
    for path in sorted(DIRECTORY.glob(f"{pattern}.json")):
        pinned = _load(path)
        taken = _taken(path.stem, pinned)
        parts += [path.stem, taken.read_text() if taken.exists() else dump(pinned)]
    return cache.key_of(*parts)
