# SPDX-License-Identifier: GPL-2.0-only
"""Frames: what was counted in an interval. They come from this machine's counters, or from a record.

A record is lines of JSON: the first has what is known of the machine, each other one a frame. If another driver took over
since then, "info" in a frame's "extra" has what is otherwise; a pmu-top that does not know that names the first driver.
"""
import contextlib
import datetime
import errno
import itertools
import json
import os
import subprocess
import time
from dataclasses import asdict, dataclass, field, replace

from ..count import Reading, Session, restore_file_limit
from ..errors import NO_COMMAND, NO_START, ToolError
from ..files import begin, printable
from ..sysfs import Machine, natural
from . import resctrl, sampler

VERSION = 2
# What perf says of a device or a CPU that is not there; and of what somebody else has.
LOST, BUSY = (errno.ENODEV, errno.ENXIO, errno.ENOENT), (errno.EBUSY, errno.EAGAIN)
NOTES = 3               # of events that are refused, so many are named
PATIENCE_S = 0.25       # in which perf, which takes turns by some ms, lets everybody count who is not kept from it
ENABLED = 0.99          # of an interval; who was for less is looked at once more
LONGEST = 1e9           # seconds that a record may be of
CHANGES = "driver", "lines"     # of what is known of a machine, what another driver makes otherwise


@dataclass
class Frame:
    start: float                # seconds from the first one
    seconds: float
    mode: str                   # what the view was told to look at
    counts: dict                # {key: Reading}
    notes: list = field(default_factory=list)       # sentences: what is gone, what was refused
    extra: dict = field(default_factory=dict)       # what a view adds that is no count
    time: str = ""              # RFC 3339: when it began

    def rate(self, key):
        """(events a second while it counted, the part of the time that this was); (None, 0.0) if it never did."""
        reading = self.counts.get(key)
        if reading is None or not reading.running:
            return None, 0.0
        return reading.value * 1e9 / reading.running, reading.share

    def count(self, key):
        """What was counted, of something that took no turns; else None."""
        reading = self.counts.get(key)
        return reading.value if reading and reading.enabled == reading.running else None

    def to_json(self):
        counts = {key: [one.value, one.enabled, one.running] for key, one in self.counts.items()}
        return json.dumps({**asdict(self), "counts": counts})

    @classmethod
    def from_json(cls, data):
        """Raises ValueError, TypeError or KeyError if @data is no frame."""
        found = cls(**{**data, "counts": {key: Reading(*one) for key, one in data["counts"].items()}})
        for one in found.counts.values():
            # A difference may be negative, if a counter went backwards.
            if not all(type(number) is int and abs(number) < 1 << 64 for number in (one.value, one.enabled, one.running)):
                raise ValueError("no count")
        if not all(type(one) in (int, float) and 0 <= one <= LONGEST for one in (found.start, found.seconds)):
            raise ValueError("no time")
        if not isinstance(found.mode, str) or not isinstance(found.time, str) or not all(isinstance(note, str) for note in found.notes) or \
                not isinstance(found.extra, dict) or not isinstance(found.extra.get("info", {}), dict):
            raise ValueError("no frame")
        return found


def together(before, after):
    """The frame of two that follow each other; @before may be None."""
    if before is None:
        return after
    counts = {}
    for key in {**before.counts, **after.counts}:
        # What was lost, or came later, has counted for a part of the time alone.
        one, other = (frame.counts.get(key, Reading(0, int(frame.seconds * 1e9), 0)) for frame in (before, after))
        counts[key] = Reading(one.value + other.value, one.enabled + other.enabled, one.running + other.running)
    return Frame(before.start, before.seconds + after.seconds, after.mode, counts,
                 list(dict.fromkeys([*before.notes, *after.notes])), {name: sampler.together(before.extra.get(name, {}), said)
                                                                      for name, said in after.extra.items()}, before.time)


def now_text(seconds):
    """RFC 3339"""
    return datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc).isoformat(timespec="milliseconds") \
        .replace("+00:00", "Z")


def damaged(path):
    return ToolError(f"{path} is damaged: it cannot be read as a record of pmu-top.", "Make a new one with --record.")


class Live:
    """This machine's counters, as @view wants them counted.

    What the view gives as groups() counts all the time, as far as perf lets it. Of turns(), lists of groups, one
    after the other is enabled within an interval: where there is far more to count than there are counters. perf
    would do that, too, but moves on by one event each 4 ms, so that of hundreds some would not come to their turn.
    """
    replayed = False

    def __init__(self, view, machine, interval, waits=False, look=Machine):
        """@waits: if all is gone, wait until it is back. @look() makes a Machine, as it is then."""
        self.view, self.machine, self.interval, self.waits, self._look = view, machine, interval, waits, look
        self.mode, self.begin, self.session, self.turns = None, None, None, []

    def look_at(self, mode):
        """Count what @mode of the view wants, from now on."""
        self.close()
        self.mode = mode
        self.view.begin(mode)
        self.session = self._open(self.view.groups(self.machine, mode))
        self.turns = [self._open(groups) for groups in self.view.turns(self.machine, mode)]
        refused = [one for session in self._sessions() for one in session.refused]
        # Functions are nobody's counters.
        if not any(session.groups for session in self._sessions()) and (refused or self.begin) and not (self.waits and self.begin):
            raise refused[0][1] if refused else ToolError("There is nothing to count: all PMUs are gone.",
                                                          "The kernel's log says why; start this again when they are back.")
        self.session.enable()
        self.groups = resctrl.Groups(self.machine)
        self.last, self.moment = self._read()
        self.begin, self.due, self.wall = self.begin or self.moment, self.moment, time.time()

    def _open(self, groups):
        return Session(groups, self.machine.paranoid, self.view.tolerate)

    def _sessions(self):
        return [self.session, *self.turns]

    def _read(self):
        found, begin = {}, time.monotonic_ns()
        for session in self._sessions():
            found.update(session.read()[0])
        return found, (begin + time.monotonic_ns()) // 2

    def frame(self):
        """What was counted since the last one."""
        now, moment = self._read()
        counts = {key: reading.since(self.last.get(key, Reading(0, 0, 0))) for key, reading in now.items()}
        counted, whole = bool(counts), moment - self.moment
        for group in self.session.groups:
            # It is enabled all the time, unless its CPU is offline, or was.
            if not group.gone and counts[group.wants[0].key].enabled < ENABLED * whole:
                group.gone = self._stands(group, now)
        groups = [group for session in self._sessions() for group in session.groups]
        places = {(group.pmu, group.wants[0].cpu) for group in groups if group.gone}
        for group in groups:
            group.gone |= (group.pmu, group.wants[0].cpu) in places
        # What it counted until then is of a part that nothing tells.
        for key in [one.key for group in groups if group.gone for one in group.wants]:
            counts.pop(key, None)
        raw = counts
        # Who has a turn is enabled for a part of the interval alone, which is what there is to tell.
        takes_turns = {one.key for session in self.turns for group in session.groups for one in group.wants}
        if len(self.turns) > 1:
            counts = {key: Reading(one.value, max(whole, one.running), one.running) if key in takes_turns else one
                      for key, one in counts.items()}
        frame = Frame((self.moment - self.begin) / 1e9, whole / 1e9, self.mode, counts | self.groups.since_last(),
                      extra=self.view.extra(self.mode), time=now_text(self.wall))
        self.last, self.moment, self.wall = now, moment, time.time()
        frame.notes = self._renew(counted) + self._starved(raw, frame.seconds)
        return frame

    @staticmethod
    def _stands(group, now):
        """Whether a group was switched off since: perf's time of it stands. A move to another CPU takes a part of it alone."""
        key, again = group.wants[0].key, group.read()
        return not again or again[key].enabled == now[key].enabled

    def _starved(self, counts, seconds):
        """A sentence about what was to count all the time and never did; [] if there is nothing."""
        if seconds < PATIENCE_S:
            return []
        found = [(session, group) for session in self._sessions() for group in session.groups
                 if not group.gone and (reading := counts.get(group.wants[0].key)) and reading.enabled and not reading.running]
        for session, group in found:
            if group.loose:     # for one of its events alone there may be room
                for one in session.split(group):
                    self._begins(session, one)
        names = sorted({group.pmu for _, group in found}, key=natural)
        if not names:
            return []
        return [f"{', '.join(names[:NOTES])}{' and others' if names[NOTES:] else ''}: what has no number found no counter "
                "free; somebody has pinned them"]

    def _begins(self, session, group):
        """What was opened anew counts from 0."""
        for one in group.wants:
            self.last.pop(one.key, None)
        if session is self.session:
            group.enable()

    def _refused(self, numbers):
        return [one for session in self._sessions() for one in session.refused if one[1].errno in numbers]

    def _lost(self):
        """Names of PMUs of which something is gone, or was not there to be opened."""
        wants = [one for session in self._sessions() for one in session.gone()]
        wants += [one for group, _ in self._refused(LOST) for one in group]
        return {one.pmu for one in wants} | self.view.missing(self.machine)

    def _renew(self, counted):
        """Look for what was lost, and open it where it is now. Sentences about what was, or is not there."""
        lost = self._lost()
        if lost:
            self.machine = self._look()
            self.view.look(self.machine)
            self.view.info["driver"] = self.machine.driver(self.view.family) or self.view.info["driver"]
        if lost or self._refused(BUSY):
            turns = list(self.view.turns(self.machine, self.mode))
            if len(turns) > len(self.turns):        # these were opened while something was gone
                self.look_at(self.mode)
            # A turn that there is not any more closes what it had.
            for session, groups in itertools.zip_longest(self._sessions(), [self.view.groups(self.machine, self.mode), *turns],
                                                         fillvalue=[]):
                for group in session.renew(list(groups)):
                    self._begins(session, group)
        gone = sorted(self._lost() & lost, key=natural)
        if lost and not counted and not self.waits:
            what = ", ".join(gone or sorted(lost, key=natural))
            raise ToolError(f"{what} {'are' if ',' in what else 'is'} gone: the device has vanished, or its driver was "
                            "unloaded.", "The kernel's log says which; start this again when the PMU is back.")
        # A PMU is that of all sockets: one of them may have it still.
        part = {name for name in gone if (pmu := self.machine.pmus.get(name)) and pmu.cpus}
        return [f"{'a part of ' if name in part else ''}{name} is gone: its numbers are missing" for name in gone] + \
               [f"{name} was lost, and is counted again from now on" for name in sorted(lost - set(gone), key=natural)] + \
               self._not_counted()

    def _not_counted(self):
        refused = [error for session in self._sessions() for _, error in session.refused if error.errno not in LOST]
        notes = [f"not counted: {error.what}" for error in refused[:NOTES]]
        return notes + ([f"not counted either: {len(refused) - NOTES} more"] if refused[NOTES:] else [])

    def _take_turns(self, seconds, wait):
        """One turn of each, in @seconds; wait(seconds) may begin something else: then once more. After one at whose end it says
        that all is over, no other begins."""
        turns = None
        while turns is not self.turns:
            turns = self.turns
            for turn in turns or [None]:
                try:
                    if turn:
                        turn.enable()
                    over = wait(seconds / max(1, len(turns)))
                finally:        # also at Ctrl-C, which a command may outlive
                    if turn and turns is self.turns:
                        turn.disable()
                if over or turns is not self.turns:
                    break

    def until(self, wait):
        """The frame of an interval; wait(seconds) may end it earlier. Its work is a part of it, so none is longer."""
        self.due += int(self.interval * 1e9)
        left = (self.due - time.monotonic_ns()) / 1e9
        if left < self.interval / 10:       # the machine had no time for it: begin anew
            self.due, left = time.monotonic_ns() + int(self.interval * 1e9), self.interval
        self._take_turns(left, wait)
        return self.frame()

    def run(self, command, series=False, **files):
        """The frames of a command's run, one, or a @series of intervals. Then self.status is its exit status."""
        try:
            process = subprocess.Popen(command, preexec_fn=restore_file_limit, **files)
        except OSError as error:
            raise ToolError(f"Cannot run {command[0]}: {error.strerror}.", "What comes behind -- is a command.",
                            NO_COMMAND if error.errno == errno.ENOENT else NO_START) from error

        def wait(seconds):
            try:
                process.wait(seconds if series or self.turns[1:] else None)
            except subprocess.TimeoutExpired:
                return False
            return True

        try:
            while process.poll() is None:
                try:
                    if series:
                        yield self.until(wait)
                    else:
                        self._take_turns(self.interval, wait)
                except KeyboardInterrupt:       # the command got it as well
                    pass
        finally:
            if process.poll() is None:
                process.terminate()
        status = process.returncode
        self.status = status if status >= 0 else 128 - status
        if not series:
            yield self.frame()

    def close(self):
        for session in self._sessions():
            if session:
                session.close()
        self.session, self.turns = None, []
        self.view.close()


class Replay:
    """Frames of a record, which may be of a day: each is read when it is looked at."""
    replayed = True

    def __init__(self, path):
        self.path, self.file, self.next = path, open(path, "rb"), 0
        try:
            head = printable(json.loads(self.file.readline()))
        except (ValueError, RecursionError):
            head = None
        if not isinstance(head, dict) or "pmu-top" not in head:
            raise ToolError(f"{path} is not a record of pmu-top.", "Make one with --record.")
        if head["pmu-top"] != VERSION:
            raise ToolError(f"{path} was made by another version of pmu-top.", "Use that one, or record again.")
        self.info = head.get("info")
        self.first = {name: self.info[name] for name in CHANGES if name in self.info} if isinstance(self.info, dict) else {}
        self.places, place, line = [], self.file.tell(), b"\n"
        for line in self.file:
            self.places.append(place)
            place += len(line)
        # A line that has no end is one that the disk had no room for, or a kill left.
        self.cut = not line.endswith(b"\n")
        if self.cut:
            self.places.pop()
        if not self.places:
            raise ToolError(f"{path} has no frame: the recording ended before its first interval.")

    def _frame(self):
        self.file.seek(self.places[self.next])
        try:
            frame = Frame.from_json(printable(json.loads(self.file.readline())))
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise damaged(self.path) from error
        if self.cut and self.next == len(self.places) - 1:
            frame.notes.append("the record ends within the interval behind this one")
        return frame

    @property
    def mode(self):
        """Of the frame that comes next."""
        return self._frame().mode

    def look_at(self, mode):
        pass

    def frame(self):
        """The next one. What is known of the machine is from then on as it was then."""
        frame = self._frame()
        self.next += 1
        changed = frame.extra.pop("info", {})
        self.info.update(self.first | {name: changed[name] for name in CHANGES if name in changed})
        return frame

    def to_the_last(self):
        self.next = len(self.places) - 1

    @property
    def over(self):
        return self.next >= len(self.places)

    def until(self, wait):
        if self.next:       # nobody waits for the first, which was counted long ago
            wait(self._frame().seconds)
        return self.frame()

    def close(self):
        self.file.close()


class Recorder:
    """A record that is begun, or gone on with: what is there stays."""

    def __init__(self, path, info):
        self.path, head = path, json.dumps({"pmu-top": VERSION, "info": info})
        self.info, self.first = info, {name: info.get(name) for name in CHANGES}
        regular = os.path.isfile(path) or not os.path.exists(path)
        # The only descriptor of it: whichever is closed ends the claim.
        self.file = begin(path, "a+b" if regular else "ab")
        try:
            if not (regular and self._there(head)):
                self._line(head)
        except BaseException:
            with contextlib.suppress(OSError):      # what it could not write, once more
                self.file.close()
            raise

    def _there(self, head):
        """Whether the file has a record of this machine already. A line without an end is cut off."""
        self.file.seek(0)
        first = self.file.readline()
        if not first:
            return False
        if first != head.encode() + b"\n":
            raise ToolError(f"{self.path} is there, and it is no record of this machine with this kernel and driver.",
                            "Choose another file, or remove it.")
        end = len(first)
        for line in self.file:
            end += len(line) if line.endswith(b"\n") else 0
        self.file.truncate(end)
        return True

    def _line(self, text):
        try:
            self.file.write(text.encode() + b"\n")
            self.file.flush()       # what was seen is kept, however this ends
        except OSError as error:
            raise OSError(error.errno, error.strerror, str(self.path)) from error

    def write(self, frame):
        # In each frame, not only in the first: any may be looked at alone.
        changed = {name: self.info[name] for name, before in self.first.items() if self.info.get(name) != before}
        self._line((replace(frame, extra={**frame.extra, "info": changed}) if changed else frame).to_json())


def sleep(seconds):
    time.sleep(seconds)
