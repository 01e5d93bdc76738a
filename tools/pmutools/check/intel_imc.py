# SPDX-License-Identifier: GPL-2.0-only
"""Checks of the memory channels of Intel's Xeons. Facts: Documentation/hardware/intel_imc.md."""
from ..count import want

from .checks import FAIL, TRIES, Check, again, awake, busy_share, fail, nearest, note, ok, place, plain, skip, troubles

# By fields, as both drivers take them: the in-tree one has three of these names alone.
FIXED, GENERAL = "event=0xff", "event=0x00"
READ, WRITE, ALL = "event=0x04,umask=0x03", "event=0x04,umask=0x0c", "event=0x04,umask=0x0f"
PARTS = {"all": (ALL, READ, WRITE),
         "reads": (READ, "event=0x04,umask=0x01", "event=0x04,umask=0x02"),
         "writes": (WRITE, "event=0x04,umask=0x04", "event=0x04,umask=0x08")}

SLOWEST_HZ, FASTEST_HZ = 350e6, 1700e6      # DDR3-800 is 400 MHz, DDR4-3200 1600; a few percent for the clock's chip
CLOCKS_TO_A_LINE = 4                        # 64 bytes are 8 beats of 8 bytes, two beats to a clock
EVEN = 0.01
ROOM = 64                                   # counts, for what starts a few accesses later


def near(value, wanted, exact=False):
    return abs(value - wanted) <= ROOM + (0 if exact else wanted // 1000)


def group(pmu, cpu, *texts):
    return [want((pmu.name, cpu, text), pmu, text, cpu) for text in texts]


def window(bench, *texts, **kwargs):
    """Count these events in a group on every channel while a CPU of each socket is awake: DCLK may stand else."""
    boxes = bench.boxes()
    with awake(sorted({cpu for _, cpu in boxes})):
        return bench.count([group(pmu, cpu, *texts) for pmu, cpu in boxes], **kwargs)


def clock(bench):
    """A host that has other work spoils many windows in a row, so what fails is counted once more, and two are to agree of all."""
    tries = []
    for _ in range(2):
        tries += [window(bench, FIXED, ALL) for _ in range(TRIES)]
        found = [*troubles(tries[-TRIES]), *clock_of(bench, tries)]
        if not any(one.verdict == FAIL for one in found):
            break
    return found


def clock_of(bench, tries):
    sockets = {}
    clocked = any(found.value((pmu.name, cpu, FIXED)) for found in tries for pmu, cpu in bench.boxes())
    for pmu, cpu in bench.boxes():
        rates = [found.rate((pmu.name, cpu, FIXED)) for found in tries]
        rates = [one for one in rates if one is not None]
        if len(rates) < TRIES:
            continue
        where = place(pmu, cpu)
        low, high = nearest(rates)
        if not bench.ours and clocked and not any(found.value((pmu.name, cpu, text)) for found in tries
                                                  for text in (FIXED, ALL)):
            yield note(f"{where}: no clock, and no lines. A channel without a memory module is like this; the in-tree "
                       "driver shows it all the same.")
        elif not SLOWEST_HZ <= high <= FASTEST_HZ:
            yield fail(f"{where}: the DRAM clock is {plain(high)}Hz; memory has {SLOWEST_HZ / 1e6:.0f} to "
                       f"{FASTEST_HZ / 1e6:.0f} MHz.")
        elif high - low > EVEN * high:
            yield fail(f"{where}: the DRAM clock was {', '.join(f'{plain(one)}Hz' for one in rates)}.")
        else:
            sockets.setdefault(bench.machine.package(cpu), {})[where] = high
    for package, rates in sockets.items():
        low, high = min(rates, key=rates.get), max(rates, key=rates.get)
        if rates[high] - rates[low] > EVEN * rates[high]:
            yield fail(f"{low} has {plain(rates[low])}Hz, {high} {plain(rates[high])}Hz.")
        else:
            yield ok(f"socket {package}: {len(rates)} channels at {plain(rates[high])}Hz, "
                     f"DDR-{2 * rates[high] / 1e6:.0f}")


@again
def two_clocks(bench):
    found = window(bench, FIXED, GENERAL)
    yield from troubles(found)
    model = bench.machine.intel_model()
    for pmu, cpu in bench.boxes():
        fixed, general = (found.value((pmu.name, cpu, text)) for text in (FIXED, GENERAL))
        if fixed is None or general is None:
            continue
        if not fixed and not general:
            yield skip(f"{place(pmu, cpu)}: no clock.")
        elif not general and model and model[1] == 45:
            yield note(f"{place(pmu, cpu)}: event 0 counts nothing. Sandy Bridge may have none (hardware/intel_imc, "
                       "12.9).")
        elif near(general, fixed, bench.ours):
            yield ok(f"{place(pmu, cpu)}: {plain(fixed)} clocks by both")
        else:
            yield fail(f"{place(pmu, cpu)}: the fixed counter has {fixed} clocks, a general one {general}.")


def add_up(bench, table, passed_over=lambda pmu: False):
    """@table: what counts lines, by name: all of them, and two parts. Some PMUs may be passed over."""
    for name, texts in table.items():
        found = window(bench, *texts)
        yield from troubles(found)
        for pmu, cpu in bench.boxes():
            keys = [(pmu.name, cpu, text) for text in texts]
            if passed_over(pmu) or not found.whole(*keys):
                continue
            whole, one, other = (found.value(key) for key in keys)
            said = f"{place(pmu, cpu)}, {name}: {whole} lines, its parts {one} + {other}"
            yield ok(said) if near(one + other, whole) else fail(f"{said} = {one + other}.")


def parts(bench):
    return add_up(bench, PARTS)


def rank_events(model, kind):
    """Events of the ranks' reads (or writes), by model; those that the generation has."""
    ranks = (0, 1, 4, 5, 6, 7) if model[1] in (63, 79, 86) else range(8)
    umask = 0xff if model[1] == 62 else 0x10
    return [f"event={(0xb0 if kind == READ else 0xb8) + rank:#x},umask={umask:#x}" for rank in ranks]


def ranks(bench):
    model = bench.machine.intel_model()
    if not model or model[1] == 45:
        yield skip("Sandy Bridge has no events of ranks.")
        return
    for kind, name in ((READ, "reads"), (WRITE, "writes")):
        texts = rank_events(model, kind)
        for few in (texts[at:at + 3] for at in range(0, len(texts), 3)):
            found = window(bench, kind, *few, seconds=0.1)
            yield from troubles(found)
            for pmu, cpu in bench.boxes():
                keys = [(pmu.name, cpu, text) for text in (kind, *few)]
                if not found.whole(*keys):
                    continue
                whole, *some = (found.value(key) for key in keys)
                codes = f"{few[0][6:10]} to {few[-1][6:10]}"
                if sum(some) > whole and not near(sum(some), whole):
                    yield fail(f"{place(pmu, cpu)}: ranks ({codes}) have {sum(some)} {name}, the channel {whole}.")
                elif sum(some):
                    yield ok(f"{place(pmu, cpu)}: ranks ({codes}) have {sum(some)} of {whole} {name}")
                else:
                    yield ok(f"{place(pmu, cpu)}: none of {whole} {name} at ranks ({codes})")


def bus(bench):
    """What cannot be more than the bus has clocks for."""
    queues = ("event=0x11", "event=0x21")
    found = window(bench, FIXED, ALL, *queues)
    yield from troubles(found)
    for pmu, cpu in bench.boxes():
        clocks, lines, *busy = (found.value((pmu.name, cpu, text)) for text in (FIXED, ALL, *queues))
        if None in (clocks, lines, *busy):
            continue
        if lines * CLOCKS_TO_A_LINE > clocks + ROOM + clocks // 1000:
            yield fail(f"{place(pmu, cpu)}: {lines} lines in {clocks} clocks; a line takes {CLOCKS_TO_A_LINE}.")
        for text, cycles in zip(("read", "write"), busy):
            if cycles > clocks and not near(cycles, clocks):
                yield fail(f"{place(pmu, cpu)}: the {text} queue was not empty in {cycles} of {clocks} clocks.")
        yield ok(f"{place(pmu, cpu)}: {100 * lines * CLOCKS_TO_A_LINE / max(clocks, 1):.1f} % of the bus, "
                 f"{plain(lines * 64 / found.seconds)}B/s")


def idle(bench):
    share = busy_share(bench.machine)
    boxes = bench.boxes()
    found = bench.count([group(pmu, cpu, ALL) for pmu, cpu in boxes], 1.0)
    busy = share()
    if busy > 0.05:
        yield skip(f"The CPUs are {100 * busy:.0f} % busy: run this on a machine that does nothing.")
        return
    for pmu, cpu in boxes:
        rate = found.rate((pmu.name, cpu, ALL))
        if rate is None:
            continue
        if rate * CLOCKS_TO_A_LINE > SLOWEST_HZ / 10:
            yield note(f"{place(pmu, cpu)}: {plain(rate * 64)}B/s while the CPUs do nothing: a device may, or this "
                       "is wrong.")
        else:
            yield ok(f"{place(pmu, cpu)}: {plain(rate * 64)}B/s while nothing runs")


CHECKS = (
    Check("clock", "Is the DRAM clock one that memory has, steady, and the same on all channels of a socket?",
          "DDR3-800 to DDR4-3200 have 400 to 1600 MHz. A memory controller sets one speed for all of a socket; 1 % "
          "is for spread spectrum and for the time of starts and stops. What fails is counted once more. A CPU of the socket is "
          "kept awake meanwhile. A channel without memory has no clock: our driver leaves it out, with the in-tree driver it is "
          "told, no fault.", clock),
    Check("two-clocks", "Does a general counter count as many clocks as the fixed one?",
          "They start and stop in one clock, for which 64 counts are allowed, and with the in-tree driver, which starts one "
          "after the other, 0.1 % and a second try.",
          two_clocks),
    Check("parts", "Are reads + writes all lines, and are kinds of reads all reads?",
          "A clock has one CAS command at most, so bits of a umask never meet and counts of one window add up.", parts),
    Check("ranks", "Have ranks of a channel no more reads and writes than the channel?",
          "There are more ranks than counters, so three are held against the whole at a time. Less is no fault: "
          "nobody has published whether underfills and scrubs count for a rank.", ranks),
    Check("bus", "Is no more counted than there are clocks for?",
          "A line of 64 bytes takes the data bus for 4 clocks, and a queue is not empty in each clock at most.", bus),
    Check("idle", "Is little read and written while no CPU has work?",
          "Refresh is no read. A tenth of the slowest bus is more than housekeeping takes; devices may copy, so more "
          "than that is told, no fault.", idle),
)
