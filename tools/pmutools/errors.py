# SPDX-License-Identifier: GPL-2.0-only
"""Every failure is a sentence, with what to do about it."""
import codecs
import errno
import io
import os
import signal
import sys

FAILED = 1          # exit status: something is in the way, and the message says what to do
USAGE = 2           # as argparse has it
NO_COUNTERS = 3     # this machine shows no device that has such counters: to try again is no use
# Where a command is run, whose status is the program's: as env(1) and timeout(1) have it.
OURS, NO_START, NO_COMMAND = 125, 126, 127


class ToolError(Exception):
    """@what went wrong, and what to @do; both are whole sentences. @status: the program's, if not as always."""

    def __init__(self, what, do="", status=0):
        super().__init__(f"{what} {do}".strip())
        self.what, self.do, self.status = what, do, status


RIGHTS = ("Run this as root, or, for all users until the next boot: sysctl kernel.perf_event_paranoid=0. Or give the "
          "program CAP_PERFMON; if the value is above 2, as on Debian and Ubuntu, set it to 2 as well.")

# What perf_event_open() means by an error where the event is of a PMU outside the cores.
_OPENING = {
    errno.EACCES: ("this user may not count system-wide (kernel.perf_event_paranoid is {paranoid}).", RIGHTS),
    errno.EPERM: ("this user may not count system-wide (kernel.perf_event_paranoid is {paranoid}), or this container "
                  "forbids it.", RIGHTS),
    errno.EBUSY: ("somebody else has what it needs.",
                  "Look for other users of the counters: perf, PCP, PAPI; on POWER core, thread and trace events "
                  "exclude each other."),
    errno.ENODEV: ("its device or its CPU is gone.",
                   "Look at the kernel's log, and whether the driver's module is still loaded."),
    errno.ENXIO: ("its device or its CPU is gone.",
                  "Look at the kernel's log, and whether the driver's module is still loaded."),
    errno.ENOENT: ("the kernel no longer has this PMU.", "Load the driver's module again."),
    errno.EINVAL: ("the driver refuses it: this machine cannot count that.", "The kernel's log may say why."),
    errno.EOPNOTSUPP: ("the driver cannot count that.", "The kernel's log may say why."),
    errno.EMFILE: ("this program may open no more files.", "It has raised its limit as far as it may. As root: ulimit -Hn 65536, or LimitNOFILE= of a service."),
    errno.ENFILE: ("the system may open no more files.", "Raise fs.file-max."),
    errno.EIO: ("the firmware or the hardware did not start the counter.", "Look at the kernel's log."),
    errno.ENOSYS: ("this kernel has no perf events, or this container forbids them.",
                   "Run outside of the container, or allow perf_event_open(2) in its seccomp profile."),
}


def opening(event, number, paranoid="unknown"):
    """The ToolError of a perf_event_open() for @event that failed with errno @number."""
    what, do = _OPENING.get(number, (f"{os.strerror(number)}.", "Look at the kernel's log."))
    error = ToolError(f"Cannot count {event}: {what.format(paranoid=paranoid)}", do)
    error.errno = number
    return error


# For a terminal whose encoding lacks what pictures are made of.
_PLAIN = {**dict.fromkeys("█▉▊▋▌", "#"), **dict.fromkeys("▍▎▏▁▂▃", "."), **dict.fromkeys("▄▅▆▇", "-"), **dict(zip("←→↑↓…", "<>^v."))}


def _plain(error):
    """An error handler of codecs: see codecs.register_error()."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return "".join(_PLAIN.get(character, "?") for character in error.object[error.start:error.end]), error.end


def _lenient(stream):
    """The stream, with "plain" as its error handler."""
    if hasattr(stream, "reconfigure"):
        stream.reconfigure(errors="plain")
        return stream
    encoding, by_line = stream.encoding, stream.line_buffering      # Python 3.6
    return io.TextIOWrapper(stream.detach(), encoding, "plain", line_buffering=by_line)


def _prepare():
    """Whatever ends the program, what it has begun is ended, too; and what it prints can be printed."""
    if signal.getsignal(signal.SIGINT) == signal.SIG_DFL:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) == signal.SIG_DFL:      # nohup ignores one
            signal.signal(number, lambda number, _: sys.exit(128 + number))
    codecs.register_error("plain", _plain)
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:      # closed, as by ">&-"
            setattr(sys, name, open(os.devnull, "w"))
        setattr(sys, name, _lenient(getattr(sys, name)))


def _give_up_stdout():
    """Nobody reads it, or there is no room: the interpreter is not to try again, and complain, when it ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def main(function, failed=FAILED):
    """Run a program's main function; what goes wrong becomes one message, and the status @failed."""
    name = os.path.basename(sys.argv[0])
    _prepare()
    try:
        status = function()
        sys.stdout.flush()
        sys.exit(status)
    except ToolError as error:
        print(f"{name}: {error.what}", file=sys.stderr)
        if error.do:
            print(error.do, file=sys.stderr)
        sys.exit(max(error.status, failed))     # OURS has no finer ones
    except KeyboardInterrupt:
        sys.exit(128 + 2)
    except BrokenPipeError:
        _give_up_stdout()
        sys.exit(128 + 13)
    except OSError as error:
        what = f"Cannot use {os.fsdecode(error.filename)}: " if error.filename is not None else ""
        print(f"{name}: {what}{error.strerror}.", file=sys.stderr)
        _give_up_stdout()
        sys.exit(failed)
