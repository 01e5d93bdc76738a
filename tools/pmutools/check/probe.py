# SPDX-License-Identifier: GPL-2.0-only
"""Experiments on the open questions of Documentation/hardware/: what only a real machine can answer.

One for each question that can be asked without harm. None writes a register: they count, and make work of their own.
What is not here, and why, is in NOT_HERE. An answer is OK if it is what the drivers assume, a NOTE if it is not or
nobody has assumed anything, a SKIP if the machine cannot tell.
"""
import dataclasses
import re
import time
from dataclasses import dataclass

from .. import count
from ..errors import ToolError

from . import cmn, intel_imc
from .checks import awake, copying, note, ok, place, plain, skip, troubles

ENGINES = "sys/kernel/debug/power_imc_pmu/engines"


@dataclass(frozen=True)
class Probe:
    name: str
    family: str
    question: str           # with its number in Documentation/hardware/
    touches: str            # what it does to the machine
    seconds: int
    run: object


def _answer(said, told, assumed, but=""):
    """A SKIP if nothing was @told, OK if it is as @assumed; else a NOTE of what that means."""
    if not told:
        return skip(f"{said}.")
    return ok(said) if assumed else note(f"{said}: {but}." if but else f"{said}.")


def _cpus(bench):
    return sorted({cpu for _, cpu in bench.boxes()})


def _channels(bench, texts, seconds=0.5):
    """((PMU, CPU), values of a group of @texts) for each channel, under a load."""
    with copying(bench.machine, _cpus(bench)):
        found = bench.count([intel_imc.group(pmu, cpu, *texts) for pmu, cpu in bench.boxes()], seconds)
    for error in troubles(found):
        raise ToolError(error.said)
    for pmu, cpu in bench.boxes():
        keys = [(pmu.name, cpu, text) for text in texts]
        if found.whole(*keys):
            yield place(pmu, cpu), [found.value(key) for key in keys]


def sleep_clock(bench):
    boxes = bench.boxes()

    def rates(seconds):
        found = bench.count([intel_imc.group(pmu, cpu, intel_imc.FIXED) for pmu, cpu in boxes], seconds)
        return [found.rate((pmu.name, cpu, intel_imc.FIXED)) for pmu, cpu in boxes]
    idle = rates(5)
    with awake(_cpus(bench)):
        busy = rates(2)
    for (pmu, cpu), still, full in zip(boxes, idle, busy):
        if not still and not full:
            yield skip(f"{place(pmu, cpu)}: no clock at all.")
        elif still is not None and full:
            yield _answer(f"{place(pmu, cpu)}: the clock runs {100 * still / full:.1f} % of the time while nothing runs",
                          True, still > 0.99 * full, "it stops in the sleep of the package")


def freeze(bench):
    texts = [intel_imc.FIXED, *(f"event=0x00,umask={one:#x}" for one in (0, 1, 3, 5))]
    for where, (fixed, *general) in _channels(bench, texts):
        if not any(general):
            yield skip(f"{where}: event 0 counts nothing, so there is nothing to compare.")
        else:
            counting = [one for one in general if one]
            most = max(abs(one - fixed) for one in counting)
            yield _answer(f"{where}: {1 + len(counting)} counters of clocks stopped within {most} clocks, at {fixed}",
                          True, most <= 2, "they are not stopped as one")


def threshold(bench):
    for where, (one, two) in _channels(bench, ("event=0x11,thresh=0x1", "event=0x11,thresh=0x2")):
        if not one and not two:
            yield skip(f"{where}: the read queue was never in use.")
        else:
            yield _answer(f"{where}: clocks with one count or more {one}, with two or more {two}", True, one and not two,
                          "one is the most, so the comparison is another")


def umask(bench):
    for where, (zero, one) in _channels(bench, ("event=0x10,umask=0x00", "event=0x10,umask=0x01")):
        yield _answer(f"{where}: event 0x10 with umask 0 counts {zero}, with 1 {one}", one or zero, zero == one)


def increments(bench):
    texts = ["event=0x83,umask=0xff,thresh=" + hex(one) for one in (1, 9, 17)]
    for where, (some, nine, more) in _channels(bench, texts):
        yield _answer(f"{where}: power_cke_cycles of a clock reach 1 {some} times, 9 {nine}, 17 {more}", some, not more,
                      "16 is not the most")


def occupancy(bench):
    for where, (depth, busy) in _channels(bench, ("event=0x80", "event=0x11")):
        yield _answer(f"{where}: the read queue's depths add up to {depth} in {busy} clocks in which it was not empty",
                      busy, depth >= busy, "an occupancy does not start from the queue's real depth")


def starts(bench):
    boxes, tries, zero = bench.boxes(), 1000, {}
    with awake(_cpus(bench)):
        with count.Session([intel_imc.group(pmu, cpu, intel_imc.GENERAL) for pmu, cpu in boxes]) as session:
            before, _ = session.read()
            for _ in range(tries):
                session.enable()
                session.disable()
                now, _ = session.read()
                for key, reading in now.items():
                    zero[key] = zero.get(key, 0) + (reading.value == before[key].value)
                before = now
    for pmu, cpu in boxes:
        number = zero.get((pmu.name, cpu, intel_imc.GENERAL), tries)
        yield _answer(f"{place(pmu, cpu)}: {number} of {tries} starts of a clock counted nothing", number < tries, not number)


def sockets(bench):
    for package in sorted({bench.machine.package(cpu) for cpu in _cpus(bench)}):
        worker = next(cpu for cpu in _cpus(bench) if bench.machine.package(cpu) == package)
        boxes = bench.boxes()
        with copying(bench.machine, [worker]):
            time.sleep(0.5)         # until its memory is there
            found = bench.count([intel_imc.group(pmu, cpu, intel_imc.ALL) for pmu, cpu in boxes], 1.0)
        lines = {}
        for pmu, cpu in boxes:
            unit = bench.machine.package(cpu)
            lines[unit] = lines.get(unit, 0) + (found.value((pmu.name, cpu, intel_imc.ALL)) or 0)
        moved = ", ".join(f"{plain(lines[unit] * 64)}B on {unit}" for unit in sorted(lines))
        yield _answer(f"work on socket {package} moves {moved}", any(lines.values()), max(lines, key=lines.get) == package)


def carry(bench, seconds=60):
    """Two equal events of a group, each with counters of its own, read each 10 ms under load."""
    if not bench.ours:
        yield skip("The in-tree driver reads a group while the mesh counts, so its members are of different moments.")
        return
    for pmu in bench.pmus:
        _, access, _ = cmn.homes(bench, pmu)
        if not access:
            continue
        # Otherwise one counter is enough for both, and they are equal whatever gets lost.
        first = dataclasses.replace(cmn.wanted(pmu, access), exclusive=True)
        second = count.want("again", pmu, access, pmu.cpus[0])
        with copying(bench.machine, sorted(bench.machine.cpus)):
            found = bench.count([[first, second]], seconds, steps=seconds * 100)
        pairs = [(step[first.key].value, step["again"].value) for step in found.steps if "again" in step]
        unlike = [abs(one - other) for one, other in pairs if one != other]
        said = f"{pmu.name}: {len(unlike)} of {len(pairs)} reads differed, {access} at last " \
               f"{pairs[-1][0] if pairs else 0}"
        if not pairs or not pairs[-1][0]:
            yield skip(f"{pmu.name}: nothing was counted.")
        elif unlike:
            carries = sum(abs(one - 65536 * round(one / 65536)) < 1000 for one in unlike)
            yield note(f"{said}; {carries} by about a multiple of 65536, which are carries, at most by {max(unlike)}.")
        else:
            yield ok(said)


def channels_of_flits(bench):
    for pmu in bench.pmus:
        for port in range(6):
            events = [f"mxp_p{port}_{name}_txflit_valid" for name in ("req", "req2")]
            if events[1] not in pmu.events or "wp_chn_num" not in pmu.formats:
                continue
            for xp in cmn.xps(bench, pmu):
                watches = [cmn.wanted(pmu, "watchpoint_down", bynodeid=1, nodeid=xp, wp_dev_sel=port, wp_chn_sel=0,
                                      wp_grp=0,
                                      wp_chn_num=one, wp_val=0, wp_mask=(1 << 64) - 1) for one in (0, 1)]
                sent = [cmn.wanted(pmu, name, bynodeid=1, nodeid=xp) for name in events]
                with copying(bench.machine, sorted(bench.machine.cpus)):
                    found = bench.count([[*watches, *sent]], 0.2)
                if not found.whole(*(one.key for one in (*watches, *sent))):
                    continue
                seen, went = ([found.value(one.key) for one in some] for some in (watches, sent))
                if sum(went):
                    yield _answer(f"{pmu.name}: XP {xp:#x} port {port}: channels 0 and 1 seen {seen}, sent {went}", True,
                                  all(abs(a - b) <= 64 + b // 100 for a, b in zip(seen, went)))


def nothing_to_see(bench):
    for pmu in bench.pmus:
        names = sorted(name for name in pmu.events if re.fullmatch(r"mxp_.*_(req|rsp|snp|dat)2?_txflit_valid", name))
        with copying(bench.machine, sorted(bench.machine.cpus)):
            some = {name: bench.count([[one]], 0.1).value(one.key) for name in names for one in [cmn.wanted(pmu, name)]}
        by_channel = {}
        for name, value in some.items():
            channel = name.split("_")[2]
            by_channel[channel] = by_channel.get(channel, 0) + (value or 0)
        flits = ", ".join(f"{name} {plain(value)}" for name, value in by_channel.items())
        yield _answer(f"{pmu.name}: flits by channel: {flits}", True, by_channel and all(by_channel.values()),
                      "what is 0 firmware may hide")


def isolation(bench):
    from .look import log      # what the driver has found out when it was loaded
    lines, why = log(bench.machine)
    said = [text for _, text in lines if "isolat" in text]
    if why:
        yield skip(why)
    for text in said:
        yield note(text)
    if not said and not why:
        yield ok("No node is isolated, as far as the driver's lines in the log are still there")


def _changes(bench, pmu, cpu, name, seconds=2.0):
    """Times in ms between changes of a counter that is read again and again."""
    one = count.want("posts", pmu, name, cpu)
    moments, last = [], None
    with awake([cpu]), count.Session([[one]], bench.machine.paranoid) as session:
        session.enable()
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            values, moment = session.read()
            value = values["posts"].value if values else None
            if value != last:
                moments.append(moment)
            last = value
    return [(after - before) / 1e6 for before, after in zip(moments[1:], moments[2:])]


def posts(bench):
    import statistics
    boxes = [(name, pmu, cpu) for name in ("CPM_32MHZ_CYC", "PM_PB_CYC") for pmu, cpu in bench.boxes(name)]
    for name, pmu, cpu in boxes[:8]:
        times = _changes(bench, pmu, cpu, name)
        if len(times) < 3:
            yield skip(f"{place(pmu, cpu)}: {name} changed {len(times)} times in two seconds.")
        else:
            yield note(f"{place(pmu, cpu)}: {name} changes each {statistics.median(times):.2f} ms (least "
                       f"{min(times):.2f}, most {max(times):.2f}, {len(times)} times)")


def restarts(bench, seconds=20):
    """Of engines that the driver has found to be off, while a core is busy (13.16), or idle (13.8)."""
    text = bench.machine.read(ENGINES)
    if "restarts" not in text:
        yield skip("Engines are in /sys/kernel/debug/power_imc_pmu, for root, with our driver.")
        return
    latency = bench.machine.read("sys/module/power_imc_pmu/parameters/max_latency")
    boxes = [(pmu, cpu) for pmu, cpu in bench.boxes("CPM_32MHZ_CYC") if pmu.name == "core_imc"]
    for what, keep in (("idle", []), ("busy", [cpu for _, cpu in boxes])):
        before = _restarts(bench)
        with awake(keep):
            found = bench.count([[count.want((pmu.name, cpu), pmu, "CPM_32MHZ_CYC", cpu)] for pmu, cpu in boxes],
                                seconds)
        number = _restarts(bench) - before
        rates = [found.rate((pmu.name, cpu)) * pmu.events["CPM_32MHZ_CYC"].scale / 1e6 for pmu, cpu in boxes
                 if found.rate((pmu.name, cpu)) is not None]
        yield _answer(f"{what} cores, max_latency={latency}: {number} engines were found off in {seconds} s; the clock of 32 "
                      f"MHz had {min(rates, default=0):.2f} to {max(rates, default=0):.2f} MHz", True, not number)
    if latency != "0":
        yield skip("Deep sleep was held off: load power_imc_pmu with max_latency=0 to see whether engines survive it.")


def _restarts(bench):
    return sum(map(int, re.findall(r"restarts (\d+)", bench.machine.read(ENGINES))))


def frames(bench):
    pmu = bench.machine.pmus.get("nest_mba0_imc")
    if not pmu or not pmu.cpus:
        yield skip("There is no nest_mba0_imc.")
        return
    wants = [count.want(offset, pmu, f"event={offset:#x}", pmu.cpus[0]) for offset in (0x550, 0x658)]
    found = bench.count([wants], 2.0)
    yield from troubles(found)
    values = [found.value(one.key) for one in wants]
    if all(values):
        yield _answer(f"update counts of G6 and G7 grew by {values[0]} and {values[1]} in two seconds", True,
                      abs(values[0] - 2 * values[1]) <= 2 + values[0] // 20, "not two to one")


_COPIES = "a CPU of each socket copies memory for a second"
PROBES = (
    Probe("sleep-clock", "intel_imc", "Is a channel's clock off in the package's deep sleep? (12, 7)",
          "nothing; the machine should have nothing to do", 7, sleep_clock),
    Probe("freeze", "intel_imc", "Do all five counters of a channel freeze as one? (12, 2)",
          _COPIES, 1, freeze),
    Probe("threshold", "intel_imc", "Does a threshold compare for greater or equal? (12, 5)",
          _COPIES, 1, threshold),
    Probe("umask", "intel_imc", "Is umask 0 enough for events without sub-events? (12, 9)",
          _COPIES, 1, umask),
    Probe("increments", "intel_imc", "Is 16 the most that power_cke_cycles grow by in a clock? (12, 10)",
          _COPIES, 1, increments),
    Probe("occupancy", "intel_imc", "Does an occupancy start from the queue's real depth? (12, 11)",
          _COPIES, 1, occupancy),
    Probe("starts", "intel_imc", "Does each start of an event count? (12, 14)",
          "the channels are started and stopped a thousand times", 5, starts),
    Probe("sockets", "intel_imc", "Are counts those of the socket, or die, that they are shown for? (12, 12)",
          "one CPU after the other copies memory", 4, sockets),
    Probe("carry", "cmn", "Does a carry get lost, or late, while the mesh stands? (11.1)",
          "all CPUs copy memory for a minute, and the mesh is stopped for some microseconds each 10 ms", 60, carry),
    Probe("virtual-channels", "cmn", "Does chn_num select a virtual channel? (11.12)", "all CPUs copy memory", 10,
          channels_of_flits),
    Probe("visible", "cmn", "Are there channels of which nothing is counted? (11.15)", "all CPUs copy memory", 10,
          nothing_to_see),
    Probe("isolation", "cmn", "What does isolation say? (11.9)", "nothing: what the driver said is looked up", 0,
          isolation),
    Probe("posts", "power_imc", "How often are counters posted? (13.3, 13.12)",
          "a thread of some cores is kept awake, and counters are read all the time", 16, posts),
    Probe("engines", "power_imc", "Do engines survive deep sleep, and does their mode read back? (13.8, 13.16)",
          "nothing; with the module's max_latency=0 cores sleep deeply", 40, restarts),
    Probe("frames", "power_imc", "Do G6 and G7 of POWER9's nest never agree? (13.10)", "nothing", 2, frames),
)
NOT_HERE = (
    ("intel_imc 12, 1, 3, 4, 6, 15", "they need writes to registers of the channels"),
    ("intel_imc 12, 8", "the check \"clock\" shows each channel's clock; compare it with where the DIMMs are"),
    ("cmn 11.2, 11.3, 11.4, 11.5, 11.17", "they need writes to registers of the mesh, or a kexec"),
    ("cmn 11.6 to 11.11, 11.14, 11.16", "they need what the manual of the SoC says"),
    ("power_imc 13.1, 13.4 to 13.7", "they trace, and a trace that ends may stop a machine: 13 tells how to look"),
    ("power_imc 13.2, 13.9, 13.11, 13.13 to 13.15", "they need work of known length, or guests"),
)
BY_NAME = {one.name: one for one in PROBES}


def listing():
    for one in PROBES:
        yield f"  {one.name} ({one.family}, {one.seconds} s): {one.question}", f"It touches: {one.touches}."
    for what, why in NOT_HERE:
        yield f"  not here: {what}", f"{why}."
