# SPDX-License-Identifier: GPL-2.0-only
"""Options, and what they make of views, frames and outputs."""
import argparse
import contextlib
import sys

from rich.console import Console, Group
from rich.text import Text

from .. import VERSION, Help, count, errors, files
from ..errors import ToolError
from ..sysfs import Machine
from . import draw, frames, output, screen
from .cmn import View as Cmn
from .intel_imc import View as IntelImc
from .power_imc import View as PowerImc

VIEWS = {view.name: view for view in (IntelImc, Cmn, PowerImc)}
EPILOG = """examples:
  pmu-top                              the screen, once a second; ? explains the keys
  pmu-top --once                       one interval, as text
  pmu-top --json -- ./benchmark        what the memory did while it ran
  pmu-top --record run.jsonl           to be looked at elsewhere: pmu-top --replay run.jsonl
  pmu-top --prometheus /var/lib/prometheus/node-exporter/pmu.prom > /dev/null

Counting takes no root: CAP_PERFMON, or kernel.perf_event_paranoid at 0 or below. It works with the in-tree drivers
as well; the second line of the screen says which driver serves the counters.

A number with a ~ is of a part of the interval: its counters took turns with others. Such numbers are in no sum.

The exit status is 0, that of COMMAND, 1 where something is in the way (a message says what, and what to do), or
2 where the options are wrong."""


def parser():
    found = argparse.ArgumentParser(
        prog="pmu-top", formatter_class=Help, epilog=EPILOG,
        usage="pmu-top [OPTION]... [-- COMMAND...]",
        description="Show what memory controllers, meshes and nests do: bandwidth, misses, latency, by perf events alone.")
    found.add_argument("--version", action="version", version=f"pmu-top {VERSION}")
    found.add_argument("--view", choices=sorted(VIEWS), help="what to look at, on a machine that has several")
    found.add_argument("--mode", metavar="MODE", help="what the counters look at first, of those that the screen's second "
                                                      "line has")
    found.add_argument("--mesh", metavar="PMU", help="of several meshes, this one alone, such as arm_cmn_1")
    found.add_argument("--event", metavar="NAME", help="an event of the mesh, to be counted at each node by itself; "
                                                       "'perf list' has them")
    found.add_argument("--map", metavar="FILE", help="a copy of the mesh's drawing, for who may not read debugfs")
    found.add_argument("--interval", type=float, default=1.0, metavar="S", help="seconds of an interval (default: 1)")
    found.add_argument("--once", action="store_true", help="one interval, as text, and no screen")
    found.add_argument("--json", action="store_true", help="each interval as a line of JSON, in units of SI")
    found.add_argument("--csv", action="store_true", help="each interval as lines of CSV, in units of SI")
    found.add_argument("--output", metavar="FILE", help="write text, JSON or CSV to FILE")
    found.add_argument("--svg", metavar="FILE", help="write a picture of the last interval to FILE")
    found.add_argument("--prometheus", metavar="FILE", help="write each interval to FILE, in one go, for node_exporter's "
                                                            "textfile collector")
    found.add_argument("--record", metavar="FILE", help="keep what is seen in FILE")
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
    if not 0.01 <= options.interval <= 3600:
        parser().error("--interval is 0.01 to 3600 seconds")
    if options.width is not None and options.width < 40:
        parser().error("--width is 40 or more")
    if options.replay and (command or options.record):
        parser().error("--replay shows a record: nothing runs, and nothing is recorded")
    return options


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
        self.csv = output.Csv()
        self.record = frames.Recorder(options.record, view.info) if options.record else None
        self.last = None

    def picture(self, frame, rows, width, height=None, paused=False, mode=None):
        """[head, what the view draws ..., foot]"""
        notes = [Text(note, "red") for note in frame.notes]
        if turns := draw.turns(rows):
            notes.append(turns)
        if height:
            notes.append(Text(screen.LINE, "dim", no_wrap=True, overflow="ellipsis"))
        head = draw.head(self.view, frame, bool(self.options.replay), paused, mode or frame.mode)
        return [head, *self.view.draw(frame, rows, width, height), Group(*notes)]

    def keep(self, frame, rows):
        """What is made of each frame beside the text."""
        self.last = frame, rows
        if self.record:
            self.record.write(frame)
        if self.options.prometheus:
            files.replace(self.options.prometheus, output.as_prometheus(self.view, rows))

    def write(self, frame, rows):
        """The frame as text, or as what programs read."""
        if self.options.json:
            self.console.file.write(output.as_json(self.view, frame, rows) + "\n")
        elif self.options.csv:
            self.console.file.write(self.csv.text(frame, rows))
        else:
            self.console.print(Group(*self.picture(frame, rows, self.console.width)))
        self.console.file.flush()

    def close(self):
        # Each frame was written when it came. If that failed it was told, and fails here once more.
        for file in (self.record and self.record.file, self.options.output and self.console.file):
            with contextlib.suppress(OSError):
                if file:
                    file.close()
        if self.options.svg and self.last:
            width = self.options.width or 100
            files.replace(self.options.svg, output.svg(Group(*self.picture(*self.last, width)), width,
                                                       f"pmu-top: {self.view.title}"))


class _Console(Console):
    def on_broken_pipe(self):
        raise       # what it is: rich of Debian 13 would end the program, in a way of its own


def _console(options):
    """Where text goes. A command's own output is on stdout, so what is for people goes to stderr then."""
    if options.output:
        file = open(options.output, "w", encoding="utf-8")
    else:
        file = sys.stderr if options.command and not (options.json or options.csv) else sys.stdout
    return _Console(file=file, no_color=options.no_color or None, highlight=False, width=options.width,
                   soft_wrap=False, legacy_windows=False)


@contextlib.contextmanager
def _of_a_record(path):
    """What a view can make nothing of is no fault of the view's where a record @path is looked at."""
    try:
        yield
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
        if path:
            raise frames.damaged(path, f"{type(error).__name__} {error}") from error
        raise


def run(options):
    with _of_a_record(options.replay):
        if options.replay:
            source = frames.Replay(options.replay)
            if source.info["view"] not in VIEWS:
                raise ToolError(f"{options.replay} is of a view that this pmu-top does not have.", "Use a newer one.")
            view = VIEWS[source.info["view"]](source.info)
        else:
            machine = Machine()
            view = view_of(machine, options)
            count.raise_file_limit()
            source = frames.Live(view, machine, options.interval, waits=not (options.once or options.command))
        return _show(options, source, view)


def _show(options, source, view):
    mode = options.mode or (view.first if not options.replay else source.mode)
    if mode not in view.modes:
        raise ToolError(f"There is no mode '{mode}' here.", f"There is: {', '.join(view.modes)}.")
    console = _console(options)
    outputs = Outputs(view, options, console)
    with contextlib.closing(outputs), contextlib.closing(source):
        source.look_at(mode)
        return _loop(options, source, view, mode, outputs)


def _loop(options, source, view, mode, outputs):
    if options.command:
        frame, status = source.run(options.command)
        rows = view.rows(frame)
        outputs.keep(frame, rows)
        outputs.write(frame, rows)
        return status
    text = options.once or options.json or options.csv or options.output or options.svg and options.replay
    # Not what rich takes for one: FORCE_COLOR makes a terminal of any pipe.
    if not text and outputs.console.file.isatty() and not outputs.console.is_dumb_terminal:
        screen.Screen(outputs.console, view, source, outputs.picture, outputs.keep).run(mode)
        return 0
    if options.once and options.replay:     # of a record the last frame, as a picture would have it
        source.to_the_last()
    while True:
        frame = source.until(frames.sleep) if not source.replayed else source.frame()
        rows = view.rows(frame)
        outputs.keep(frame, rows)
        if not (options.svg and options.replay and not (options.once or options.json or options.csv)):
            outputs.write(frame, rows)
        if options.once or source.replayed and source.over or options.svg and not source.replayed:
            return 0


def main():
    errors.main(lambda: run(parse(sys.argv[1:])))
