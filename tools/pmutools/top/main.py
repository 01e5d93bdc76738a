# SPDX-License-Identifier: GPL-2.0-only
"""Options, and what they make of views, frames and outputs."""
import argparse
import contextlib
import itertools
import os
import sys

from .. import VERSION, Help, count, errors, files
from ..errors import ToolError
from ..sysfs import Machine
from . import draw, frames, output, pcp, pretty
from .cmn import View as Cmn
from .intel_imc import View as IntelImc
from .power_imc import View as PowerImc
from .rows import UNITS

VIEWS = {view.name: view for view in (IntelImc, Cmn, PowerImc)}
_FILES = ("output", "svg", "prometheus", "openmetrics", "record", "replay", "map")
EPILOG = """examples:
  pmu-top                              the screen, once a second; ? explains the keys
  pmu-top --once                       one interval, as text
  pmu-top --json -- ./benchmark        what the memory did while it ran
  pmu-top --interval 1 -- ./benchmark  the same by seconds, with peak and percentiles at the end
  pmu-top --record run.jsonl           to be looked at elsewhere: pmu-top --replay run.jsonl
  pmu-top --prometheus memory.prom     counters for node_exporter; pmu-top.service has a file of its own

Counting takes no root: CAP_PERFMON, or kernel.perf_event_paranoid at 0 or below. It works with the in-tree drivers
as well; the second line of the screen says which driver serves the counters.

A number with a ~ is of a part of the interval: its counters took turns with others. Such numbers are in no sum.

The exit status is 0, 1 where something is in the way (a message says what, and what to do), 2 where the options are
wrong, or 3 where this machine shows no device with such counters. With a COMMAND it is that of COMMAND, 127 where there is none of
this name, 126 where it cannot be run, and 125 in place of 1 to 3. What COMMAND writes goes to stderr if stdout has --json or --csv."""


def parser():
    found = argparse.ArgumentParser(
        prog="pmu-top", formatter_class=Help, epilog=EPILOG,
        usage="pmu-top [OPTION]... [-- COMMAND...]",
        description="Show what memory controllers, meshes and nests do: bandwidth, misses, latency, by perf events alone.")
    found.add_argument("--version", action="version", version=f"pmu-top {VERSION}")
    found.add_argument("--view", choices=sorted(VIEWS), help="what to look at, on a machine that has several")
    found.add_argument("--mode", metavar="MODE", help="what the counters look at first: all, pages, latency, power, programs "
                                                      "(memory channels); links, totals, metrics (a mesh); cores, functions, nest (POWER)")
    found.add_argument("--mesh", metavar="PMU", help="of several meshes, this one alone, such as arm_cmn_1")
    found.add_argument("--event", metavar="NAME", help="an event of the mesh, to be counted at each node by itself; "
                                                       "'perf list' has them")
    found.add_argument("--map", metavar="FILE", help="a copy of the mesh's drawing, for who may not read debugfs")
    found.add_argument("--interval", type=float, metavar="S", help="seconds of an interval (default: 1; with a COMMAND all "
                                                                   "of its time)")
    found.add_argument("--once", action="store_true", help="one interval, as text, and no screen")
    found.add_argument("--count", type=int, metavar="N", help="so many intervals, as text, and no screen")
    found.add_argument("--json", action="store_true", help="each interval as a line of JSON, in units of SI")
    found.add_argument("--csv", action="store_true", help="each interval as lines of CSV, in units of SI")
    found.add_argument("--wide", action="store_true", help="with --csv: an interval is one line, with a column for each "
                                                           "number")
    found.add_argument("--output", metavar="FILE", help="write text, JSON or CSV to FILE")
    found.add_argument("--svg", metavar="FILE", help="write a picture of the last interval to FILE")
    found.add_argument("--prometheus", metavar="FILE", help="write each interval to FILE, in one go, for node_exporter's "
                                                            "textfile collector: counters since this began. Of a mesh its "
                                                            "sums; with --mode links also each link, which are thousands of series")
    found.add_argument("--openmetrics", metavar="FILE", help="the same in the format of OpenMetrics")
    found.add_argument("--pcp-config", action="store_true", help="write what PCP's pmdaperfevent is to count on this machine, "
                                                                 "its perfevent.conf, and count nothing")
    found.add_argument("--record", metavar="FILE", help="keep what is seen in FILE, behind what it has already; in the modes "
                                                        "programs and functions with the names of what ran")
    found.add_argument("--replay", metavar="FILE", help="show what --record has kept, instead of this machine")
    found.add_argument("--width", type=int, metavar="N", help="columns of text and pictures where there is no terminal")
    found.add_argument("--no-color", action="store_true", help="no colours; NO_COLOR in the environment does the same")
    return found


def parse(argv):
    command = []
    if "--" in argv:
        split = argv.index("--")
        argv, command = argv[:split], argv[split + 1:]
        if not command:
            parser().error("there is no command behind --")
    options = parser().parse_args(argv)
    options.command = command
    if options.json and options.csv:
        parser().error("--json and --csv are two formats of the same output: choose one")
    options.series = bool(command) and options.interval is not None
    options.interval = 1.0 if options.interval is None else options.interval
    if options.wide and not options.csv:
        parser().error("--wide is a kind of --csv")
    if options.count is not None and (options.count < 1 or options.once or command):
        parser().error("--count is 1 or more, and not for --once or a command")
    if not 0.01 <= options.interval <= 3600:
        parser().error("--interval is 0.01 to 3600 seconds")
    if options.width is not None and options.width < 40:
        parser().error("--width is 40 or more")
    if options.pcp_config and (options.replay or command):
        parser().error("--pcp-config is of this machine")
    if options.replay and (command or options.record):
        parser().error("--replay shows a record: nothing runs, and nothing is recorded")
    for one, other in itertools.combinations(_FILES, 2):
        if _is_one_file(getattr(options, one), getattr(options, other)):
            parser().error(f"--{one} and --{other} are one file: choose another for one of them")
    return options


def _is_one_file(path, other):
    """Not of a pipe, nor of a terminal or /dev/null, which take what several write."""
    if not path or not other:
        return False
    if os.path.exists(path) and os.path.exists(other):
        return os.path.isfile(path) and os.path.samefile(path, other)
    return os.path.realpath(path) == os.path.realpath(other)


def view_of(machine, options):
    """The view that is asked for, or the first that this machine has counters for."""
    there = machine.families()
    if options.view:
        if VIEWS[options.view].family not in there:
            raise machine.nothing(VIEWS[options.view].family)
        return VIEWS[options.view].of(machine, options)
    for view in VIEWS.values():
        if view.family in there:
            return view.of(machine, options)
    raise machine.nothing()


class Outputs:
    """Where each frame goes, other than to the screen."""

    def __init__(self, view, options, console):
        self.view, self.options, self.console = view, options, console
        self.csv = output.Csv(options.wide)
        self.metrics = output.Metrics(view, all_of_it=bool(options.mode))
        self.record = frames.Recorder(options.record, view.info) if options.record else None
        self.pages = [(files.Page(path), strict) for path, strict in ((options.prometheus, False), (options.openmetrics, True)) if path]
        for path in (options.prometheus, options.openmetrics, options.svg):     # before an interval of a minute has passed
            files.free_for(path or os.devnull)
        self.last, self.history = None, draw.History()

    def picture(self, frame, rows, width, height=None, paused=False, mode=None):
        """[head, what the view draws ..., foot]"""
        from . import screen
        notes = [pretty.Text(note, "red") for note in frame.notes]
        if turns := draw.turns(rows, self.view.planned(frame)):
            notes.append(turns)
        if height:
            notes.append(pretty.Text(screen.LINE, "dim", no_wrap=True, overflow="ellipsis"))
        head = draw.head(self.view, frame, bool(self.options.replay), paused, mode or frame.mode, width)
        head = pretty.Group(head, *self.view.head(frame, rows, width, height))
        return [head, *self.view.draw(frame, rows, width, height), pretty.Group(*notes)]

    def keep(self, frame, rows):
        """What is made of each frame beside the text."""
        self.last = frame, rows
        self.history.add(rows)
        rows.history = self.history
        if self.record:
            self.record.write(frame)
        self.metrics.add(frame, rows)
        for page, strict in self.pages:
            page.write(self.metrics.text(strict))

    def write(self, frame, rows, summary=None):
        """The frame as text, or as what programs read; of a @summary its spread, too."""
        write = self.console.file.write
        if self.options.json:
            more = {"summary": {"intervals": summary.frames}} if summary else {}
            write(output.as_json(self.view, frame, rows, **more) + "\n")
        elif self.options.csv:
            if not summary:
                write(self.csv.text(frame, rows))
        elif pretty.missing():
            write(output.as_text(self.view, frame, rows))
        else:
            self.console.print(pretty.Group(*self.picture(frame, rows, self.console.width)))
        if summary and not self.options.json:
            print(*summary.text(rows), sep="\n", file=sys.stderr if self.options.csv else self.console.file)
        self.console.file.flush()

    def close(self):
        # Each frame was written when it came. If that failed it was told, and fails here once more.
        for file in (self.record and self.record.file, self.options.output and self.console.file, *(page for page, _ in self.pages)):
            with contextlib.suppress(OSError):
                if file:
                    file.close()
        if self.options.svg and self.last:
            width = self.options.width or 100
            files.replace(self.options.svg, output.svg(pretty.Group(*self.picture(*self.last, width)), width,
                                                       f"pmu-top: {self.view.title}", self._description()))

    def _description(self):
        """What the picture says, in words: the sums, and what has none."""
        frame, rows = self.last
        said = [f"{row.identity} {row.text(2)} {UNITS[row.unit][0]}" for row in rows.all
                if row.unit != "B" and (row.total or len(row.labels) <= 1)]
        return f"{self.view.info['machine']}, {frame.seconds:.1f} seconds: {'; '.join(said)}."


def _output(path):
    """It begins anew, once it is known that nobody else writes it."""
    file = files.begin(path, "a", encoding="utf-8")
    if os.path.isfile(path):
        file.truncate(0)
    return file


def _console(options):
    """Where text goes. A command's own output is on stdout, so what is for people goes to stderr then."""
    if options.output:
        file = _output(options.output)
    else:
        file = sys.stderr if options.command and not (options.json or options.csv) else sys.stdout
    if options.json or options.csv or pretty.missing():
        return pretty.Plain(file)
    return pretty.output(file=file, no_color=options.no_color or None, highlight=False, width=options.width,
                         soft_wrap=False, legacy_windows=False)


@contextlib.contextmanager
def _of_a_record(path):
    """What a view can make nothing of is no fault of the view's where a record @path is looked at."""
    try:
        yield
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
        if path:
            raise frames.damaged(path) from error
        raise


def run(options):
    if options.svg and pretty.missing():
        raise ToolError(f"No picture can be made. {pretty.missing()}", pretty.INSTALL)
    with _of_a_record(options.replay):
        if options.replay:
            source = frames.Replay(options.replay)
            if source.info["view"] not in VIEWS:
                raise ToolError(f"{options.replay} is of a view that this pmu-top does not have.", "Use a newer one.")
            view = VIEWS[source.info["view"]](source.info)
        else:
            machine = Machine()
            view = view_of(machine, options)
            if options.pcp_config:
                with contextlib.nullcontext(sys.stdout) if not options.output else _output(options.output) as file:
                    file.write(pcp.config(view, machine))
                return 0
            count.raise_file_limit()
            source = frames.Live(view, machine, options.interval, waits=not (options.once or options.command))
        return _show(options, source, view)


def _show(options, source, view):
    scraped = options.prometheus or options.openmetrics
    mode = options.mode or (source.mode if options.replay else view.first if not scraped or options.event else getattr(view, "scraped", view.first))
    if mode not in view.modes:
        why = getattr(view, "absent", {}).get(mode, "")
        raise ToolError(f"There is no mode '{mode}' here. {why}".rstrip(), f"There is: {', '.join(view.modes)}.")
    console = _console(options)
    outputs = Outputs(view, options, console)
    with contextlib.closing(outputs), contextlib.closing(source):
        source.look_at(mode)
        return _loop(options, source, view, mode, outputs)


def _run_command(options, source, view, outputs):
    """What @source counts while a command runs, and the command's exit status."""
    # Programs read our stdout then, and nothing else is to be there.
    mixed = (options.json or options.csv) and not options.output
    summary = output.Summary(frames.together, source.interval)
    for frame in source.run(options.command, options.series, **({"stdout": sys.stderr} if mixed else {})):
        rows = view.rows(frame)
        outputs.keep(frame, rows)
        outputs.write(frame, rows)
        summary.add(frame, rows)
    if options.series and summary.frames:
        outputs.write(summary.sum, summary.rows(view), summary)
    return source.status


def _loop(options, source, view, mode, outputs):
    if options.command:
        return _run_command(options, source, view, outputs)
    text = options.once or options.count or options.json or options.csv or options.output or options.svg and options.replay
    # Not what rich takes for one: FORCE_COLOR makes a terminal of any pipe.
    terminal = outputs.console.file.isatty()
    if not text and terminal and not outputs.console.is_dumb_terminal:
        if pretty.missing():
            raise ToolError(f"The screen cannot be drawn. {pretty.missing()}",
                            f"{pretty.INSTALL} --once, --count and all that programs read do without.")
        from . import screen
        screen.Screen(outputs.console, view, source, outputs.picture, outputs.keep).run(mode)
        return 0
    silent = options.svg and options.replay and not (options.once or options.count or options.json or options.csv) or \
        (options.prometheus or options.openmetrics) and not text and not terminal
    if options.once and options.replay:     # of a record the last frame, as a picture would have it
        source.to_the_last()
    left = 1 if options.once or options.svg and not source.replayed and not options.count else options.count
    while True:
        frame = source.until(frames.sleep) if not source.replayed else source.frame()
        rows = view.rows(frame)
        outputs.keep(frame, rows)
        if not silent:
            outputs.write(frame, rows)
        left = left and left - 1
        if left == 0 or source.replayed and source.over:
            return 0


def main():
    argv = sys.argv[1:]
    ours = errors.OURS if "--" in argv else errors.FAILED

    def parsed():
        try:
            return parse(argv)
        except SystemExit as error:
            sys.exit(errors.OURS if error.code == errors.USAGE and ours == errors.OURS else error.code)

    errors.main(lambda: run(parsed()), ours)
