# SPDX-License-Identifier: GPL-2.0-only
"""Counting with perf_event_open(2).

Not by "perf stat -I": it scales what took turns without being asked, its rows say nothing of a group having
been read at one moment, an errno becomes a text that differs between versions, and an event that its device
has left is one that was "not counted". The system call's interface is frozen, and is a page of code here.
"""
import contextlib
import ctypes
import errno
import mmap
import os
import platform
import resource
import signal
import struct
import time
from typing import NamedTuple

from . import errors
from .errors import ToolError

# asm/unistd.h
_SYSCALL = {"x86_64": 298, "aarch64": 241, "ppc64le": 319, "ppc64": 319}

# linux/perf_event.h
_TOTAL_TIME_ENABLED, _TOTAL_TIME_RUNNING, _GROUP = 1, 2, 8      # read_format
_SAMPLE_TIME, _SAMPLE_RAW = 1 << 2, 1 << 10     # sample_type
_RECORD_SAMPLE = 9
_HEAD = 1024            # of struct perf_event_mmap_page: data_head, data_tail, data_offset, data_size
_RING = 1 << 22         # bytes
_DISABLED, _EXCLUSIVE = 1 << 0, 1 << 3
_FLAG_FD_CLOEXEC = 8
_IOC_ENABLE, _IOC_DISABLE, _IOC_FLAG_GROUP = 0x2400, 0x2401, 1
if platform.machine().startswith("ppc"):        # where _IOC_NONE is 1
    _IOC_ENABLE, _IOC_DISABLE = 0x20002400, 0x20002401
_ATTR_SIZE = 112        # PERF_ATTR_SIZE_VER5: since Linux 4.1
_PR_SET_PDEATHSIG = 1   # linux/prctl.h
_LINK = "anon_inode:[perf_event]"       # of an open event in /proc/self/fd
_libc = ctypes.CDLL(None, use_errno=True)


def attr(type, config=0, config1=0, config2=0, flags=_DISABLED, period=0, sample=0):
    """A struct perf_event_attr that counts, or with a @period makes samples."""
    packed = struct.pack("=IIQQQQQIIQQ", type, _ATTR_SIZE, config, period, sample,
                         _TOTAL_TIME_ENABLED | _TOTAL_TIME_RUNNING | _GROUP, flags, 0, 0, config1, config2)
    return packed.ljust(_ATTR_SIZE, b"\0")


def _open(attributes, pid, cpu, leader):
    number = _SYSCALL.get(platform.machine())
    if number is None:
        raise ToolError(f"This program does not know perf_event_open(2) of {platform.machine()}.")
    fd = _libc.syscall(ctypes.c_long(number), ctypes.c_char_p(attributes), ctypes.c_long(pid), ctypes.c_long(cpu),
                       ctypes.c_long(leader), ctypes.c_ulong(_FLAG_FD_CLOEXEC))
    if fd < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return fd


def close_all():
    """Close all events that this process has open. A signal that ends it comes mostly while the kernel opens an event: its
    exception is raised before anybody has noted the file."""
    for fd in os.listdir("/proc/self/fd"):
        with contextlib.suppress(OSError):      # of the list itself
            if os.readlink(f"/proc/self/fd/{fd}") == _LINK:
                os.close(int(fd))


class Want(NamedTuple):
    """An event to be opened: on a CPU of a PMU, or for a task (pid) on any."""
    key: object                 # whatever the caller knows it by
    name: str                   # for sentences: "uncore_imc_0/cas_count_read/"
    type: int
    words: dict                 # config, config1, config2
    cpu: int = -1
    pid: int = -1
    exclusive: bool = False     # of a group's first: nobody else on its PMU meanwhile, and of equal events each has a counter

    @property
    def pmu(self):
        return self.name.split("/")[0]


def want(key, pmu, text, cpu, **values):
    """A Want of a sysfs.Pmu's event, by name or by fields."""
    label = ",".join([text, *(f"{name}={value:#x}" for name, value in values.items())])
    return Want(key, f"{pmu.name}/{label}/", pmu.type, pmu.encode(text, **values), cpu)


class Reading(NamedTuple):
    """What an event has counted since it was enabled; times in ns."""
    value: int
    enabled: int
    running: int

    def since(self, before):
        return Reading(self.value - before.value, self.enabled - before.enabled, self.running - before.running)

    @property
    def share(self):
        """The part of the time in which it counted; 1: it did not take turns. None: it was not enabled."""
        return self.running / self.enabled if self.enabled else None


class Loose(list):
    """Wants that are a group for its low cost alone: where that cannot be, or never counts, each is counted by itself."""


class Group:
    """Events that count at the same time, on one CPU, and are read at one moment."""

    def __init__(self, wants, paranoid="unknown"):
        self.wants, self.fds, self.gone = list(wants), [], False
        self.loose = isinstance(wants, Loose) and len(self.wants) > 1
        try:
            for one in self.wants:
                leader = self.fds[0] if self.fds else -1
                # Members follow their leader.
                flags = 0 if self.fds else _DISABLED | _EXCLUSIVE * one.exclusive
                packed = attr(one.type, flags=flags, **one.words)
                try:
                    self.fds.append(_open(packed, one.pid, one.cpu, leader))
                except OSError as error:
                    raise errors.opening(one.name, error.errno, paranoid) from error
        except BaseException:
            self.close()
            raise

    @property
    def pmu(self):
        return self.wants[0].pmu

    def enable(self):
        self._ioctl(_IOC_ENABLE)

    def disable(self):
        self._ioctl(_IOC_DISABLE)

    def _ioctl(self, request):
        if _libc.ioctl(ctypes.c_int(self.fds[0]), ctypes.c_ulong(request), ctypes.c_ulong(_IOC_FLAG_GROUP)) < 0:
            number = ctypes.get_errno()
            if number != errno.ENODEV:
                raise errors.opening(self.wants[0].name, number)
            self.gone = True        # its PMU was unregistered: since Linux 6.15 perf says so

    def read(self):
        """{key: Reading} of all members; {} from the moment on when the device is gone: perf reads end of file."""
        data = os.read(self.fds[0], 8 * (3 + len(self.fds))) if not self.gone else b""
        if not data:
            self.gone = True
            return {}
        _, enabled, running, *values = struct.unpack(f"={len(data) // 8}Q", data)
        return {one.key: Reading(value, enabled, running) for one, value in zip(self.wants, values)}

    def close(self):
        for fd in reversed(self.fds):
            os.close(fd)
        self.fds = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def now():
    """ns of CLOCK_MONOTONIC."""
    if hasattr(time, "monotonic_ns"):
        return time.monotonic_ns()
    return round(time.monotonic() * 1e9)        # Python 3.6; of 100 days a float has them exactly


class Session:
    """Groups that are opened, enabled and read together."""

    def __init__(self, groups, paranoid="unknown", tolerate=()):
        """@groups: lists of Wants. Those that cannot be opened with an errno of @tolerate are left out: self.refused."""
        self.groups, self.refused, self.paranoid = [], [], paranoid
        try:
            self._open(groups, tolerate)
        except BaseException:
            self.close()
            raise

    def _open(self, groups, tolerate):
        for wants in groups:
            try:
                self.groups.append(Group(wants, self.paranoid))
            except ToolError as error:
                if getattr(error, "errno", None) not in tolerate:
                    raise
                if isinstance(wants, Loose) and len(wants) > 1:
                    self._open([[one] for one in wants], tolerate)
                else:
                    self.refused.append((wants, error))

    def split(self, group):
        """Count the events of a Loose group each by itself. Returns their Groups."""
        group.close()
        self.groups.remove(group)
        before = len(self.groups)
        self._open([[one] for one in group.wants], errno.errorcode)
        return self.groups[before:]

    def renew(self, groups):
        """Open those of @groups that are not open, or are gone. Returns the Groups that were opened."""
        for group in [group for group in self.groups if group.gone]:
            group.close()
            self.groups.remove(group)
        before = list(self.groups)
        there = {one.key for group in before for one in group.wants}
        self.refused = []
        self._open([wants for wants in groups if wants[0].key not in there], errno.errorcode)
        return self.groups[len(before):]

    def enable(self):
        for group in self.groups:
            group.enable()

    def disable(self):
        for group in self.groups:
            group.disable()

    def read(self):
        """({key: Reading}, the moment in ns of CLOCK_MONOTONIC: the middle of the reads)"""
        begin = now()
        found = {key: reading for group in self.groups for key, reading in group.read().items()}
        return found, (begin + now()) // 2

    def gone(self):
        """The Wants whose devices have vanished."""
        return [one for group in self.groups if group.gone for one in group.wants]

    def close(self):
        for group in self.groups:
            group.close()
        self.groups = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def samples(want, seconds, paranoid="unknown"):
    """[(ns, raw data)] of each sample that an event makes in a while, of period 1: a trace has one for each record."""
    packed = attr(want.type, period=1, sample=_SAMPLE_TIME | _SAMPLE_RAW, **want.words)
    try:
        fd = _open(packed, want.pid, want.cpu, -1)
    except OSError as error:
        raise errors.opening(want.name, error.errno, paranoid) from error
    found = []
    try:
        with mmap.mmap(fd, mmap.PAGESIZE + _RING) as ring:
            _libc.ioctl(ctypes.c_int(fd), ctypes.c_ulong(_IOC_ENABLE), ctypes.c_ulong(0))
            end = time.monotonic() + seconds
            while time.monotonic() < end:
                time.sleep(0.02)
                found += _samples_of(ring)
            _libc.ioctl(ctypes.c_int(fd), ctypes.c_ulong(_IOC_DISABLE), ctypes.c_ulong(0))
            return found + list(_samples_of(ring))
    finally:
        os.close(fd)


def _samples_of(ring):
    """What has come since the last time; the kernel may have its place again."""
    head, tail, begin, size = struct.unpack_from("=4Q", ring, _HEAD)
    data = ring[begin + tail % size:begin + min(tail % size + head - tail, size)]
    data += ring[begin:begin + head - tail - len(data)]
    struct.pack_into("=Q", ring, _HEAD + 8, head)
    at = 0
    while at < len(data):
        kind, _, length = struct.unpack_from("=IHH", data, at)
        if kind == _RECORD_SAMPLE:
            moment, raw = struct.unpack_from("=QI", data, at + 8)
            yield moment, data[at + 20:at + 20 + raw]
        at += length


_file_limit = resource.getrlimit(resource.RLIMIT_NOFILE)


def raise_file_limit():
    """A large mesh takes thousands of events: as many open files as the user may have."""
    resource.setrlimit(resource.RLIMIT_NOFILE, (_file_limit[1], _file_limit[1]))


def end_with_parent():
    """For a process that would go on for ever: it gets SIGTERM when the one that began it is gone, however it went."""
    _libc.prctl(ctypes.c_int(_PR_SET_PDEATHSIG), ctypes.c_ulong(signal.SIGTERM))


def restore_file_limit():
    """For a command of the user's, which may go through all files that it could have open, or use select()."""
    resource.setrlimit(resource.RLIMIT_NOFILE, _file_limit)
