# SPDX-License-Identifier: GPL-2.0-only
"""pmu-check's options, and what they do."""
import argparse
import shutil
import sys
import textwrap

from .. import VERSION, Help, count, hardware
from ..errors import FAILED, NO_COUNTERS, ToolError
from ..sysfs import Machine

from ..top import icelake as ice_lake, rapids as later

from . import beside, cmn, common, icelake, intel_imc, load, look, power_imc, probe, rapids, report
from .checks import DENIED, FAIL, NOTE, OK, SKIP, Bench, Result, judge

TABLES = {"intel_imc": intel_imc.CHECKS, "cmn": cmn.CHECKS, "power_imc": power_imc.CHECKS}
EPILOG = """\
Nothing is changed. Counting needs root, CAP_PERFMON, or kernel.perf_event_paranoid of 0 or less; as root more can be
looked at, which each check says. Any driver of these counters will do. The exit status is 1 if something failed, which
is then no fault of this machine's user: please send the report."""


def parser():
    found = argparse.ArgumentParser(
        prog="pmu-check", formatter_class=Help, epilog=EPILOG, usage="pmu-check [OPTION]... [CHECK]...",
        description="Look whether this machine's counters outside of the cores, and their drivers, do what they should.")
    found.add_argument("--version", action="version", version=f"pmu-check {VERSION}")
    found.add_argument("check", nargs="*", metavar="CHECK", help="only these, by name")
    found.add_argument("-o", "--output", metavar="NAME",
                       help="write a report: NAME.md for people, NAME.json for programs")
    found.add_argument("--json", action="store_true", help="the report as JSON on stdout, and nothing else")
    instead = found.add_mutually_exclusive_group()
    instead.add_argument("--list", action="store_true",
                       help="all checks: what each asks, and why its limits are as they are")
    instead.add_argument("--probe", action="append", default=[], metavar="NAME",
                       help="instead, an experiment on an open question of the hardware; \"list\" shows them, \"all\" runs "
                            "those for this machine")
    found.add_argument("--beside", action="store_true",
                       help="instead, the in-tree driver and ours in turn; asks before it unloads one")
    found.add_argument("--yes", action="store_true", help="what --beside asks is answered by yes")
    found.add_argument("--modules", metavar="DIR",
                       help="where our modules are (drivers/ of the tree, else installed ones)")
    instead.add_argument("--load", action="store_true",
                       help="instead, work of known size, and whether counters say the same")
    found.add_argument("--load-program", metavar="FILE", help="load.c, built; else the C compiler builds it")
    instead.add_argument("--compare", nargs=2, metavar=("A", "B"), help="what differs between two reports")
    return found


def wrapped(text):
    return textwrap.fill(text, width(), initial_indent="      ", subsequent_indent="      ")


def width():
    return max(40, min(shutil.get_terminal_size((100, 24)).columns, 120))


def show_list():
    tables = {"every PMU": common.CHECKS, "intel_imc, Ice Lake-SP": icelake.CHECKS,
              "intel_imc, Sapphire to Granite Rapids": rapids.CHECKS,
              **{family: TABLES[family] + load.TABLES[family] for family in TABLES}}
    for family, checks in tables.items():
        print(f"{family}:")
        for one in checks:
            print(f"  {one.name}: {one.asks}")
            print(wrapped(one.why))


def devices(looked):
    """Of the look: hardware that nobody counts with."""
    found = [row for row in looked["devices"] if hardware.is_counter(row[1])]
    said = [f"{device} ({what}) has no driver." for device, what, driver in found if driver == "none"]
    leading = [driver for _, what, driver in looked["devices"] if "leads to memory channels" in what]
    if leading and not found:
        return Result("devices", SKIP, ["The memory channels are no devices. Functions that lead to them: "
                                        f"{len(leading)}, driver: {', '.join(sorted(set(leading)))}."])
    if not found:
        return Result("devices", SKIP, ["None of those that this program knows is on a bus that sysfs shows."])
    drivers = ", ".join(sorted({driver for _, _, driver in found}))
    return Result("devices", NOTE if said else OK, said or [f"{len(found)} found; they have a driver: {drivers}"],
                  "Has each device of these counters a driver?", "One without is told, no fault: nobody may want it.")


def kernel_log(looked):
    """Of the look: what drivers complained about."""
    if looked["no log"]:
        return Result("log", SKIP, [looked["no log"]])
    # Every module from outside of the kernel's tree taints it.
    said = [line for level, line in looked["log"] if level <= look.WARNING and "taint" not in line]
    return Result("log", NOTE if said else OK, said or ["No warning about these counters."],
                  "Does the kernel's log have warnings about these counters?",
                  "Drivers warn about what they found out themselves. It is told: it may be long ago, and mended.")


def table_of(machine, family):
    """The checks of a family; a processor may have its own."""
    if family == "intel_imc" and ice_lake.is_one(machine.intel_model()):
        return icelake.CHECKS
    if family == "intel_imc" and later.is_one(machine.intel_model()):
        return rapids.CHECKS
    return TABLES[family]


def checks(machine, wanted):
    """(family, Check) of those that are wanted."""
    tables = (common.CHECKS, icelake.CHECKS, rapids.CHECKS, *TABLES.values())
    known = {one.name for table in tables for one in table} | {"devices", "log"}
    for name in wanted:
        if name not in known:
            raise ToolError(f"There is no check '{name}'.", f"There is: {', '.join(sorted(known))}.")
    return [(family, one) for family in machine.families() for one in (*common.CHECKS, *table_of(machine, family))
            if not wanted or one.name in wanted]


def probes(machine, names):
    """(family, Check) of experiments."""
    if "all" in names:
        return [(one.family, one) for one in probe.PROBES if machine.of(one.family)]
    for name in names:
        one = probe.BY_NAME.get(name)
        if not one:
            raise ToolError(f"There is no experiment '{name}'.", "\"--probe list\" shows them.")
        if not machine.of(one.family):
            raise machine.nothing(one.family)
    return [(probe.BY_NAME[name].family, probe.BY_NAME[name]) for name in names]


def loads(machine):
    return [(family, one) for family in machine.families() for one in load.TABLES[family]]


def run(machine, todo, say):
    """(results, table of events) of [(family, Check)]"""
    results, table, benches = [], {}, {}
    for family, one in todo:
        bench = benches.setdefault(family, Bench(machine, family))
        result = judge(one, bench)
        if len(machine.families()) > 1:
            result = result._replace(name=f"{family}/{result.name}")
        say(result)
        results.append(result)
        table.update(bench.table)
    return results, table


def may_count(machine):
    """One sentence if this user may not, not one for each event."""
    for family in machine.families():
        for pmu, cpu in Bench(machine, family).boxes():
            name = next(iter(common.named(None, pmu)), None)
            if name:
                try:
                    with count.Group([count.want(name, pmu, name, cpu)], machine.paranoid):
                        return
                except ToolError as error:
                    if getattr(error, "errno", None) in DENIED:
                        raise
                    return      # a check will tell


def introduce(looked):
    for section in ("processor", "kernel"):
        for name, value in looked[section].items():
            print(f"{name}: {value}")
    for name, driver, cpumask, events, _ in looked["pmus"]:
        print(f"{name}: {driver}, cpumask {cpumask}, {events} events")
    print(flush=True)


def show(lines):
    for head, more in lines:
        print(head)
        print(wrapped(more))


def main():
    options = parser().parse_args()
    if options.check and (options.list or options.probe or options.load or options.compare):
        parser().error("CHECK: not allowed with what is done instead of checks")
    if options.list:
        return show_list()
    if "list" in options.probe:
        return show(probe.listing())
    if options.compare:
        print("\n".join(report.compare(*map(report.read, options.compare))) or "The two are alike.")
        return 0
    machine = Machine()
    count.raise_file_limit()
    say = (lambda _: None) if options.json else lambda result: print(report.text(result, width()), flush=True)
    if options.output:
        report.can_be_written(options.output)
    if options.load:
        load.LOAD.prepare(options.load_program)
    todo = (probes(machine, options.probe) if options.probe else loads(machine) if options.load else
            checks(machine, options.check))
    looked = look.look(machine)
    if not options.json:
        introduce(looked)
        for _, one in todo if options.probe else ():
            print(f"{one.name}: {one.asks} ({one.number}) {one.why}", flush=True)
    alone = options.probe or options.load or options.beside
    results = [result for result in (devices(looked), kernel_log(looked))
               if not alone and (not options.check or result.name in options.check)]
    if not machine.pmus:
        # Where no hardware is seen that could be counted, nothing is broken.
        nothing = machine.nothing()
        results.append(Result("pmus", SKIP if nothing.status == NO_COUNTERS else FAIL, [str(nothing)]))
    for result in results:
        say(result)
    may_count(machine)
    if options.beside:
        more, table = beside.run(machine, lambda family: [one for one in todo if one[0] == family], options.yes,
                                 options.modules, say), {}
    else:
        more, table = run(machine, todo, say)
    made = report.make(looked, results + more, table)
    if options.json:
        print(report.json.dumps(made, indent=1))
    else:
        print(f"\n{report.summary(results + more)}")
    if options.output:
        report.write(made, options.output)
        print(f"The report is in {' and '.join(map(str, report.paths(options.output)))}.", file=sys.stderr)
    return FAILED if any(result.verdict == FAIL for result in results + more) else 0
