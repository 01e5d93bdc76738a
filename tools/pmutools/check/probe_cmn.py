# SPDX-License-Identifier: GPL-2.0-only
"""Probes of Arm's meshes. Questions: Documentation/hardware/cmn.md, 11."""
import re
import statistics

from . import cmn
from .checks import Probe, answer, copying, fail, ok, plain, relied_on, skip

_COPIES = "all CPUs copy memory"
CYCLES = 1 << 39            # of a clock until its counter overflows: both drivers begin in its middle
LAPS = 1.5                  # of that time: one overflow, or two of a clock that is faster than the slowest
LONGEST_S = 1800
STORM = 3                   # interrupts that are more than one overflow can make
CHANNELS = "req", "rsp", "snp", "dat"     # by wp_chn_sel
ALL_FLITS, NO_FLIT = {"wp_val": 0, "wp_mask": (1 << 64) - 1}, {"wp_val": (1 << 64) - 1, "wp_mask": 0}


def _under_load(bench, groups, *args, **kwargs):
    with copying(bench.machine, sorted(bench.machine.cpus)):
        return bench.count(groups, *args, **kwargs)


def carry(bench, seconds=60):
    """Two equal events of a group, each with counters of its own, read each 10 ms under load."""
    if not bench.ours:
        yield skip("The in-tree driver reads a group while the mesh counts, so its members are of different moments.")
        return
    for pmu in bench.pmus:
        _, access, _ = cmn.homes(bench, pmu)
        if not access:
            continue
        first, second = cmn.two_of(pmu, access)
        found = _under_load(bench, [[first, second]], seconds, steps=seconds * 100)
        pairs = [(step[first.key].value, step[second.key].value) for step in found.steps if second.key in step]
        unlike = [abs(one - other) for one, other in pairs if one != other]
        said = f"{pmu.name}: {len(unlike)} of {len(pairs)} reads differed, {access} at last " \
               f"{pairs[-1][0] if pairs else 0}"
        if not pairs or not pairs[-1][0]:
            yield skip(f"{pmu.name}: nothing was counted.")
            continue
        carries = sum(abs(one - 65536 * round(one / 65536)) < 1000 for one in unlike)
        yield relied_on(not unlike, said, f"{carries} by about a multiple of 65536, which are carries, at most by "
                        f"{max(unlike, default=0)}")


def interrupts(bench):
    """The clock's counter overflows after 2^39 cycles, so no register has to be written for it. All meshes at once."""
    events = [(pmu, cmn.wanted(pmu, "dtc_cycles")) for pmu in bench.pmus]
    found = bench.count([[one] for _, one in events], 1.0)
    rates = [(pmu, one, found.rate(one.key)) for pmu, one in events if found.rate(one.key)]
    slowest = min((rate for *_, rate in rates), default=1)
    wait = LAPS * CYCLES / slowest
    if wait > LONGEST_S:
        yield skip(f"A clock of {plain(slowest)}Hz overflows after {wait / 60:.0f} minutes." if rates else "There is no clock.")
        return
    before = [_interrupts(bench.machine, pmu) for pmu, *_ in rates]
    found = bench.count([[one] for _, one, _ in rates], wait)
    for (pmu, one, rate), number in zip(rates, before):
        number, later = _interrupts(bench.machine, pmu) - number, found.rate(one.key) or 0
        said = f"{pmu.name}: {number} interrupts in {wait:.0f} s, in which its clock overflowed; it had {plain(rate)}Hz, and " \
               f"{plain(later)}Hz in all"
        if abs(later - rate) > cmn.EVEN * rate:
            yield fail(f"{said}: the overflow was lost.")
        elif number > STORM:
            yield fail(f"{said}: an interrupt that was served comes again.")
        else:
            yield ok(said) if number else answer(f"{said}: no interrupt comes, and the driver's timer has seen it")


def _interrupts(machine, pmu):
    """Of all lines of the mesh, on all CPUs. Both drivers give them the name of the device."""
    lines = [line.split() for line in machine.read("proc/interrupts").splitlines()]
    return sum(int(word) for words in lines if words and words[-1] == pmu.device for word in words[1:] if word.isdigit())


def home_nodes(bench):
    """Addresses are hashed, so a load that asks many has requests for each home node of a mesh, or for none."""
    for pmu in bench.pmus:
        _, access, ids = cmn.homes(bench, pmu)
        if not ids:
            yield skip(f"{pmu.name}: which nodes there are is in debugfs, for root.")
            continue
        some = {}
        for one in ids:
            event = cmn.wanted(pmu, access, bynodeid=1, nodeid=one)
            some[one] = _under_load(bench, [[event]], 0.1).value(event.key)
        silent = [f"{one:#x}" for one, value in some.items() if value == 0]
        said = f"{pmu.name}: {access} at {len(some) - len(silent)} of {len(some)} home nodes"
        if not any(some.values()):
            yield skip(f"{said}.")
        else:
            yield relied_on(not silent, said, f"nothing is counted at {', '.join(silent)}: a wrong port, or no memory behind them")


def filters(bench):
    """Accesses alone, and beside each kind of another event of the same nodes that has a filter, in turns."""
    for pmu in bench.pmus:
        _, access, _ = cmn.homes(bench, pmu)
        kinds = sorted(name for name in pmu.events if re.fullmatch(r"hn[fs]_qos_pocq_occupancy_(?!all)\w+", name)
                       and name[:3] == (access or "")[:3])
        if not kinds:
            continue
        plain_one, alone, beside = cmn.wanted(pmu, access), [], {}
        for _ in range(5):
            for kind in ("", *kinds):
                more = [cmn.wanted(pmu, kind)] if kind else []
                value = _under_load(bench, [[plain_one, *more]], 0.1).value(plain_one.key)
                (beside.setdefault(kind, []) if kind else alone).append(value or 0)
        usual, least = statistics.median(alone), min((statistics.median(some), kind) for kind, some in beside.items())
        said = f"{pmu.name}: {access} {plain(usual)} alone, at least {plain(least[0])} beside {least[1]}"
        yield relied_on(least[0] > 0.7 * usual, said, "a filter acts on other events of its node") if usual else skip(f"{said}.")


def _watch(pmu, xp, port, channel=0, **fields):
    return cmn.wanted(pmu, "watchpoint_down", bynodeid=1, nodeid=xp, wp_dev_sel=port, wp_chn_sel=channel, **fields)


def channels_of_flits(bench):
    """Of each kind that has two. Where SPNIDEN is off watchpoints see nothing of some, which tells nothing of wp_chn_num."""
    for pmu in bench.pmus:
        for kind, port in [(kind, port) for kind in enumerate(CHANNELS) for port in range(6)]:
            events = [f"mxp_p{port}_{kind[1]}{second}_txflit_valid" for second in ("", "2")]
            if events[1] not in pmu.events or "wp_chn_num" not in pmu.formats:
                continue
            for xp in cmn.xps(bench, pmu):
                watches = [_watch(pmu, xp, port, kind[0], wp_grp=0, wp_chn_num=one, **ALL_FLITS) for one in (0, 1)]
                sent = [cmn.wanted(pmu, name, bynodeid=1, nodeid=xp) for name in events]
                found = _under_load(bench, [[*watches, *sent]], 0.2)
                if not found.whole(*(one.key for one in (*watches, *sent))):
                    continue
                seen, went = ([found.value(one.key) for one in some] for some in (watches, sent))
                if sum(went) and (sum(seen) or not kind[0]):
                    yield relied_on(all(abs(a - b) <= 64 + b // 100 for a, b in zip(seen, went)),
                                    f"{pmu.name}: XP {xp:#x} port {port}: channels 0 and 1 seen {seen}, sent {went}, of {kind[1]}",
                                    "wp_chn_num does not select")


def pairs(bench):
    """All flits inverted, and none: of a pair whose halves are inverted each this is none, else all."""
    for pmu in bench.pmus:
        if "wp_combine" not in pmu.formats:
            continue
        for xp, port in [(xp, port) for xp in cmn.xps(bench, pmu) for port in range(2)]:
            one = _watch(pmu, xp, port, wp_grp=0, **ALL_FLITS)
            pair = [_watch(pmu, xp, port, wp_grp=0, wp_combine=1, wp_exclusive=1, **ALL_FLITS),
                    _watch(pmu, xp, port, wp_grp=1, wp_combine=1, **NO_FLIT)]
            seen, both = (_under_load(bench, [some], 0.2).value(some[0].key) for some in ([one], pair))
            if seen and both is not None:
                each = "each half is inverted" if both < seen // 100 else "the pair is inverted"
                yield answer(f"{pmu.name}: wp_exclusive of half of a pair: {each} ({both} where {seen} flits passed)")
                break


def nothing_to_see(bench):
    for pmu in bench.pmus:
        names = sorted(name for name in pmu.events if re.fullmatch(r"mxp_.*_(req|rsp|snp|dat)2?_txflit_valid", name))
        by_channel = {}
        for name in names:
            one = cmn.wanted(pmu, name)
            channel = name.split("_")[2].rstrip("2")
            by_channel[channel] = by_channel.get(channel, 0) + (_under_load(bench, [[one]], 0.1).value(one.key) or 0)
        flits = ", ".join(f"{name} {plain(value)}" for name, value in by_channel.items())
        hidden = [name for name in ("req", "rsp", "dat") if not by_channel.get(name)]
        if names:
            yield relied_on(not hidden, f"{pmu.name}: flits by channel: {flits}{cmn.off(bench, pmu)}",
                            f"who copies memory has flits of {', '.join(hidden)}, so firmware lets nothing of them be counted")


def isolation(bench):
    from .look import log      # what the driver has found out when it was loaded
    lines, why = log(bench.machine)
    said = [text for _, text in lines if "isolat" in text]
    if why:
        yield skip(why)
    for text in said:
        yield answer(text)
    if not said and not why:
        yield ok("No node is isolated, as far as the driver's lines in the log are still there")


PROBES = (
    Probe("carry", "cmn", "11.1", "Does a carry get lost, or late, while the mesh stands?",
          "all CPUs copy memory for a minute, and the mesh is stopped for some microseconds each 10 ms", 60, carry),
    Probe("interrupts", "cmn", "11.3", "Does an overflow interrupt, once?",
          "nothing but that the clock counts until it overflows", 600, interrupts),
    Probe("home-nodes", "cmn", "11.7", "Is something counted at each home node, so that its port is right?", _COPIES, 10, home_nodes),
    Probe("virtual-channels", "cmn", "11.12", "Does chn_num select a virtual channel?", _COPIES, 10, channels_of_flits),
    Probe("filters", "cmn", "11.13", "Does a filter act on events that have none?", _COPIES, 10, filters),
    Probe("visible", "cmn", "11.15", "Are there channels of which nothing is counted?", _COPIES, 10, nothing_to_see),
    Probe("isolation", "cmn", "11.9", "What does isolation say?", "nothing: what the driver said is looked up", 0, isolation),
    Probe("pairs", "cmn", "11.19", "What does wp_exclusive invert in a pair?", _COPIES, 10, pairs),
)
NOT_HERE = (
    ("11.2, 11.4, 11.5, 11.17", "they need writes to registers of the mesh, or a kexec"),
    ("11.6", "it needs work that makes a known number of events at two nodes of one port"),
    ("11.8, 11.10, 11.11", "\"home-nodes\" answers them of such a mesh, by what it counts"),
    ("11.14, 11.16", "they need what the manual of the SoC says"),
    ("11.18", "where firmware has switched the PMU off the driver's line in the log says so, and the check \"clock\" fails"),
    ("11.20", "the driver is right whichever way it is, and nothing that can be counted tells"),
)
