# SPDX-License-Identifier: GPL-2.0-only
"""Files that are written, and text from files that others wrote."""
import contextlib
import errno
import fcntl
import os
import re
import stat
import struct
from pathlib import Path

from .errors import ToolError

_FLOCK = "hhqqi4x"      # struct flock of fcntl(2)


def replace(path, text):
    """Write @path in one go: who reads it has the old text or the new one."""
    Page(path).write(text).close()


def claim(file, path):
    """Lock @file until any descriptor of it is closed, or this process ends. Raises a ToolError if another process has done so.

    Not a device or a pipe, which many write to."""
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        return
    try:
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        _refuse(file, path)
    except OSError:     # a file system without locks
        pass


def free_for(path):
    """Raise a ToolError if another process has claimed @path. Not for a file that this one has claimed: that would end it."""
    if os.path.isfile(path):
        with _open(path, "rb", os.O_NONBLOCK) as file:
            _refuse(file, path)


def begin(path, mode, **more):
    """@path, opened with this @mode that adds to it, and claimed."""
    file = _open(path, mode, 0 if is_link(path) else os.O_NOFOLLOW, **more)
    try:
        claim(file, path)
    except BaseException:
        file.close()
        raise
    return file


def is_link(path):
    """Whether @path is a link that may be followed. Raises an OSError if it is another user's, who would lead root anywhere, or
    if another user can put one in its place at any time."""
    linked = os.path.islink(path)
    own = (0, os.geteuid())
    if linked and os.lstat(path).st_uid not in own:
        raise PermissionError(errno.EPERM, "It is a link of another user", str(path))
    if linked:
        place = os.stat(os.path.dirname(path) or ".")
        if place.st_uid not in own or place.st_mode & (stat.S_IWOTH | stat.S_ISVTX) == stat.S_IWOTH:
            raise PermissionError(errno.EPERM, "It is a link in a directory where another user can replace it", str(path))
    return linked


def _open(path, mode, flags, **more):
    return open(path, mode, opener=lambda name, others: os.open(name, others | flags, 0o666), **more)


def _same_readers(fd, path):
    """Who may read the file that replaces @path: those who could read that, and nobody else."""
    with contextlib.suppress(FileNotFoundError, PermissionError):       # the latter of a file system without rights
        there = os.lstat(path)      # what a link leads to, which was put there since, says nothing
        if not stat.S_ISREG(there.st_mode):
            return
        mode = there.st_mode & 0o777
        if there.st_uid not in (0, os.geteuid()):       # what another user allows is no more than this one's umask
            mode &= os.fstat(fd).st_mode
        try:
            os.fchown(fd, -1, there.st_gid)
        except PermissionError:
            mode &= ~0o070
        os.fchmod(fd, mode)


def _refuse(file, path):
    """Raise a ToolError if another process has locked @file as claim() does. Who may only read the file keeps nobody from it."""
    # What a lock for reading would wait for: a lock for writing, which needs the right to write.
    kind, *_, pid = struct.unpack(_FLOCK, fcntl.fcntl(file, fcntl.F_GETLK, struct.pack(_FLOCK, fcntl.F_RDLCK, 0, 0, 0, 0)))
    if kind == fcntl.F_UNLCK:
        return
    try:
        name = printable(Path(f"/proc/{pid}/comm").read_text(errors="replace").strip())
    except OSError:
        name = "of another PID namespace, or hidden"
    raise ToolError(f"{path} is being written by process {pid or '?'} ({name}).",
                    "Choose another file, or end that process first: what two write to one file, nobody can tell apart.")


class Page:
    """A file that is replaced again and again, by one process: of two, readers would see now the one's text, now the other's."""

    def __init__(self, path):
        self.path, self.file = Path(path), None

    def write(self, text):
        is_link(self.path)
        if not (self.file and self.path.exists() and os.path.samestat(self.path.stat(), os.fstat(self.file.fileno()))):
            free_for(self.path)
        return self.put(text)

    def put(self, text):
        """Whoever reads the file has the old text or the new one. It is claimed until this is closed."""
        path = self.path
        try:
            linked = is_link(path)
            if path.exists() and not path.is_file():        # /dev/null, a pipe: no file may take its place
                with _open(path, "w", 0 if linked else os.O_NOFOLLOW, encoding="utf-8") as file:
                    file.write(text)
                return self
            # A link stays one. One that somebody has put there since is replaced, not followed.
            target = Path(os.path.realpath(path)) if linked else Path(os.path.realpath(path.parent), path.name)
            partial = target.with_name(f".{target.name}.{os.getpid()}")     # node_exporter takes *.prom alone
            with contextlib.suppress(FileNotFoundError):
                partial.unlink()
            file = open(partial, "x", encoding="utf-8")     # never through a link that somebody has put there since
            try:
                claim(file, partial)
                _same_readers(file.fileno(), target)
                file.write(text)
                file.flush()
                partial.replace(target)
            except BaseException:
                with contextlib.suppress(FileNotFoundError):
                    partial.unlink()
                with contextlib.suppress(OSError):      # what it could not write, once more
                    file.close()
                raise
        except OSError as error:        # of a full disk Python names no file
            raise OSError(error.errno, error.strerror, str(path)) from error
        self.close()
        self.file = file
        return self

    def close(self):
        if self.file:
            self.file.close()


def printable(value):
    """@value, as JSON has it, with "?" for what a terminal would take for a command, for what turns the order of a line's
    characters or ends it, and for bytes of a name that are no text."""
    if isinstance(value, str):
        return re.sub(r"[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]", "?", value)
    if isinstance(value, list):
        return [printable(one) for one in value]
    if isinstance(value, dict):
        return {printable(key): printable(one) for key, one in value.items()}
    return value
