# SPDX-License-Identifier: GPL-2.0-only
"""Checks of Arm's meshes. Facts: Documentation/hardware/cmn.md."""
import re

from .. import mesh
from ..count import want

from .checks import TRIES, WINDOW_S, Check, busy_share, fail, nearest, note, ok, plain, skip, troubles

SLOWEST_HZ, FASTEST_HZ = 50e6, 4e9
EVEN = 0.05
PORTS = 16                  # XPs' ports that are looked at, each in a window of its own
HOMES = {"HN-F": ("hnf_cache_miss", "hnf_slc_sf_cache_access"),
         "HN-S": ("hns_cache_miss_all", "hns_slc_sf_cache_access_all")}
REQUESTS = ("hnf_mc_reqs", "hns_mc_reqs_remote_all", "hns_mc_reqs_local_all")
LINE = 64
BUSY_BYTES = 2e9


def wanted(pmu, name, **fields):
    return want((pmu.name, name, *sorted(fields.items())), pmu, name, pmu.cpus[0], **fields)


def two_of(pmu, name):
    """A group of an event twice, each with counters of its own: else one is enough for both, and they are always equal."""
    return wanted(pmu, name)._replace(exclusive=True), want((pmu.name, "again"), pmu, name, pmu.cpus[0])


def xps(bench, pmu):
    """Ids of the mesh's XPs, as far as a driver draws it, and for this user."""
    found = mesh.of(bench.machine, pmu.name)
    return [xp["id"] for xp in found["xps"]] if found else []


def off(bench, pmu):
    """What the mesh says that it may not count, as our driver draws it, for root; words to follow others."""
    # Of the drawing the title alone: one that cannot be read speaks not against a clock.
    title = bench.machine.read(mesh.places(pmu.name)[0]).partition("\n")[0]
    said = re.search(r"(SP)?NIDEN off", title)
    return f"; AUTHSTATUS: {said[0]}" if said else ""


def homes(bench, pmu):
    """(the event of misses, that of accesses, ids of the home nodes that have them), as far as they are known."""
    for kind, (miss, access) in HOMES.items():
        if miss in pmu.events and access in pmu.events:
            found = mesh.of(bench.machine, pmu.name)
            return miss, access, sorted({one for _, one, _ in mesh.nodes(found, kind)}) if found else []
    return None, None, []


def clock(bench):
    for pmu in bench.pmus:
        one = wanted(pmu, "dtc_cycles")
        tries = [bench.count([[one]]) for _ in range(TRIES)]
        yield from troubles(tries[0])
        rates = [found.rate(one.key) for found in tries]
        if None in rates:
            continue
        low, high = nearest(rates)
        if not SLOWEST_HZ <= high <= FASTEST_HZ:
            yield fail(f"{pmu.name}: its clock is {plain(high)}Hz; a mesh has {SLOWEST_HZ / 1e6:.0f} MHz to "
                       f"{FASTEST_HZ / 1e9:.0f} GHz{off(bench, pmu)}.")
        elif high - low > EVEN * high:
            yield note(f"{pmu.name}: {', then '.join(f'{plain(one)}Hz' for one in rates)}: the mesh's clock follows its "
                       "load, or this is wrong.")
        else:
            yield ok(f"{pmu.name}: {plain(high)}Hz, twice{off(bench, pmu)}")


def hits(bench):
    """There is no event of hits: what missed was an access."""
    for pmu in bench.pmus:
        miss, access, _ = homes(bench, pmu)
        if not miss:
            continue
        group = [wanted(pmu, miss), wanted(pmu, access)]
        found = bench.count([group])
        yield from troubles(found)
        if found.whole(*(one.key for one in group)):
            misses, accesses = (found.value(one.key) for one in group)
            said = f"{pmu.name}: {misses} misses of {accesses} accesses"
            yield ok(said) if misses <= accesses else fail(said + ".")


def nodes(bench):
    for pmu in bench.pmus:
        _, access, ids = homes(bench, pmu)
        if not ids:
            yield skip(f"{pmu.name}: which nodes there are is in debugfs, for root.")
            continue
        batches = [ids]
        while batches:
            batch = batches.pop(0)
            group = [wanted(pmu, access), *(wanted(pmu, access, bynodeid=1, nodeid=one) for one in batch)]
            found = bench.count([group], 0.1)
            if found.refused and len(batch) > 1:
                # All counters of a domain are not enough: half of the nodes at a time.
                batches = [batch[:len(batch) // 2], batch[len(batch) // 2:], *batches]
                continue
            yield from troubles(found)
            if not found.whole(*(one.key for one in group)):
                continue
            whole, *some = (found.value(one.key) for one in group)
            said = f"{pmu.name}: {access} of all nodes is {whole}, of {len(batch)} of {len(ids)} one by one {sum(some)}"
            if sum(some) > whole or (len(batch) == len(ids) and sum(some) != whole):
                yield fail(f"{said}: {', '.join(f'{one:#x} {value}' for one, value in zip(batch, some))}.")
            else:
                yield ok(said)


def a_clock(bench):
    """What is one bit of a node can be 1 in each clock at most."""
    for pmu in bench.pmus:
        _, access, ids = homes(bench, pmu)
        if not ids:
            yield skip(f"{pmu.name}: how many nodes there are is in debugfs, for root.")
            continue
        group = [wanted(pmu, "dtc_cycles"), wanted(pmu, access)]
        found = bench.count([group])
        yield from troubles(found)
        if found.whole(*(one.key for one in group)):
            cycles, accesses = (found.value(one.key) for one in group)
            said = f"{pmu.name}: {accesses} accesses at {len(ids)} nodes in {cycles} clocks"
            yield ok(said) if accesses <= cycles * len(ids) else fail(said + ".")


def steady(bench):
    """A group that is read while it counts: our driver stops the mesh for that."""
    for pmu in bench.pmus:
        _, access, _ = homes(bench, pmu)
        if not access:
            continue
        if not bench.ours:
            yield skip("The in-tree driver reads a group while the mesh counts, so its members are of different "
                       "moments.")
            continue
        first, second = two_of(pmu, access)
        found = bench.count([[first, second]], 4 * WINDOW_S, steps=100)
        yield from troubles(found)
        unlike = [(step[first.key].value, step[second.key].value) for step in found.steps
                  if step and step[first.key].value != step[second.key].value]
        if unlike:
            yield fail(f"{pmu.name}: in {len(unlike)} of {len(found.steps)} reads {access} twice in a group differed, "
                       f"at first {unlike[0][0]} and {unlike[0][1]}, at most by {max(abs(a - b) for a, b in unlike)}.")
        elif found.steps[-1]:
            yield ok(f"{pmu.name}: equal in {len(found.steps)} reads, at last {found.value(first.key)}")


def ports(bench):
    """What a watchpoint sees on its way to a device, the XP has transmitted to it."""
    for pmu in bench.pmus:
        if "watchpoint_down" not in pmu.events:
            continue
        names = sorted(name for name in pmu.events if re.fullmatch(r"mxp_p\d_req_txflit_valid", name))
        if not xps(bench, pmu) or not names:
            yield skip(f"{pmu.name}: which XPs there are is in debugfs, for root.")
            continue
        seen = sent = 0
        for xp, name in [(xp, name) for xp in xps(bench, pmu) for name in names][:PORTS]:
            event = wanted(pmu, name, bynodeid=1, nodeid=xp)
            watch = wanted(pmu, "watchpoint_down", bynodeid=1, nodeid=xp, wp_dev_sel=int(name[5]), wp_chn_sel=0,
                           wp_grp=0,
                           wp_val=0, wp_mask=(1 << 64) - 1)
            found = bench.count([[event, watch]], 0.05)
            if not found.whole(event.key, watch.key):       # nothing is connected there
                continue
            values = found.value(watch.key), found.value(event.key)
            seen, sent = seen + values[0], sent + values[1]
            if values[0] > values[1] + 64 + values[1] // 100:
                yield note(f"{pmu.name}: XP {xp:#x}, {name}: {values[1]}, but a watchpoint saw {values[0]} pass.")
        yield ok(f"{pmu.name}: watchpoints saw {seen} of {sent} requests")


def idle(bench):
    for pmu in bench.pmus:
        names = [name for name in REQUESTS if name in pmu.events]
        if not names:
            continue
        share = busy_share(bench.machine)
        group = [wanted(pmu, name) for name in names]
        found = bench.count([[one] for one in group], 1.0)
        busy = share()
        if busy > 0.05:
            yield skip(f"The CPUs are {100 * busy:.0f} % busy: run this on a machine that does nothing.")
            return
        rate = LINE * sum(found.rate(one.key) or 0 for one in group)
        said = f"{pmu.name}: {plain(rate)}B/s to memory while nothing runs"
        yield note(f"{said}: a device may do that, or this is wrong.") if rate > BUSY_BYTES else ok(said)


CHECKS = (
    Check("clock", "Is the mesh's clock one that a mesh can have, and the same in two of three windows?",
          "Meshes run at 0.5 to 2.5 GHz; the bounds are far outside, for emulators and what comes. A clock that "
          "changes is told, no fault: some machines scale it.", clock),
    Check("hits", "Are no more home node accesses missed than made?",
          "A miss is the outcome of an access, and both are counted in the same clock of the first lookup.", hits),
    Check("nodes", "Is the count of all home nodes the sum of each one's?",
          "All count in one window that starts and stops with the mesh, so nothing is between them. If a domain's "
          "eight counters are not enough for all nodes, a part of them is to be no more than all.", nodes),
    Check("a-clock", "Is no more counted at a node than there are clocks?",
          "An event is a line of a node, and is 1 in a clock or not.", a_clock),
    Check("steady", "Are two equal events of a group equal in each read while they count?",
          "Our driver stops the mesh for a read, and waits for carries. One that is lost or late makes them differ by "
          "65536 (hardware/cmn, 11.1).", steady),
    Check("ports", "Does a watchpoint see no more requests go to a device than the XP sends?",
          "What is looked at is the first virtual channel. Nothing public says that both count in the same clock, so "
          "more by over 1 % is told, no fault.", ports),
    Check("idle", "Is little asked of memory while no CPU has work?",
          "2 GB/s are far more than housekeeping takes. Devices may copy, so more is told, no fault.", idle),
)
