# SPDX-License-Identifier: GPL-2.0-only
"""The jobs of "make hostile": one seed for all of them, and rounds that grow while there is time."""
import dataclasses
import secrets
import time

GROUP = "hostile/"


def new_seed():
    return secrets.randbelow(1 << 24)


def of_round(jobs, seed, size=1):
    """@jobs, of which those of campaigns have @seed, and @size times as much to do, and as much time for it."""
    def one(job):
        if not job.name.startswith(GROUP):
            return job
        guest = dataclasses.replace(job.guest, timeout=job.guest.timeout * size,
                                    command=("env", f"SEED={seed}", f"SIZE={size}", *job.guest.command))
        # With another seed it is something else; with the same somebody wants to see it again.
        return dataclasses.replace(job, guest=guest, keep=False)

    return [one(job) for job in jobs]


def next_size(size, took, left):
    """The size of the next round, if one of @size took @took seconds, and @left seconds are left; 0: no time for one.

    Twice the size: from some round on nothing is left out any more.
    """
    return min(2 * size, int(left / max(took / size, 1)))


def again(jobs):
    """What "make hostile" needs to run the rounds of @jobs again, each once."""
    return list(dict.fromkeys(" ".join(job.guest.command[1:3]) for job in jobs if job.name.startswith(GROUP)))


def rounds(run, jobs, seed, hours=0, size=1):
    """Run rounds of @jobs by run(jobs, seed), which returns what it has done, until @hours are over: at least one.

    The round of number N, from 0, has the seed @seed + N. The first has the @size.
    """
    end, done = time.monotonic() + hours * 3600, []
    while size:
        begin = time.monotonic()
        done += run(of_round(jobs, seed, size), seed)
        now = time.monotonic()
        size = next_size(size, now - begin, end - now) if hours and end > now else 0
        seed += 1
    return done
