# SPDX-License-Identifier: GPL-2.0-only
"""The cache outside the tree: every entry is a directory named by what went into it.

An entry is built once, in a temporary directory, and appears under its name only
when it is complete; an interrupted build leaves nothing that a later run would trust.
Each use of an entry leaves a stamp: prune.py removes what nobody has used for weeks.
"""
import collections
import contextlib
import ctypes
import errno
import fcntl
import hashlib
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
import traceback
from pathlib import Path

TREE = Path(__file__).resolve().parents[2]
ROOT = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "pmu-suite"
PARTIAL = ".partial"    # ends the name of an entry that is being built or removed

GRACE, LAST = 0.6, 1.4  # seconds after a signal: what was started is killed; this process ends whatever it waits for
PR_SET_CHILD_SUBREAPER = 36

LEAST = 20 << 20    # bytes: with less free space on the cache's disk, any failure is blamed on that
FULL = f"no space left: free some, or set XDG_CACHE_HOME to a larger disk (the cache is {ROOT})"


class Error(Exception):
    """A failure with a sentence for the user; no traceback is wanted."""
    status = 125        # of a script that ends with it


class Lost(Error):
    """Debian's archive lacks something today: what needs it is left out, and nothing is wrong with it."""
    status = 120


def say(message):
    print(f"== {message}", file=sys.stderr, flush=True)


def key_of(*parts):
    """A short digest of strings, bytes and files (Path objects: by content)."""
    digest = hashlib.sha256()
    for part in parts:
        if isinstance(part, Path):
            part = part.read_bytes()
        elif isinstance(part, str):
            part = part.encode()
        digest.update(len(part).to_bytes(8, "big") + part)
    return digest.hexdigest()[:16]


def tree_files(*roots):
    """The names, relative to the tree, of all files that git would see below @roots."""
    listed = subprocess.run(
        ["git", "-C", str(TREE), "ls-files", "-co", "--exclude-standard", "--", *map(str, roots)],
        capture_output=True, text=True)
    if listed.returncode == 0:
        names = set(listed.stdout.splitlines())
    else:                                   # a tarball, not a checkout
        names = {str(p.relative_to(TREE)) for root in roots
                 for p in ([TREE / root] if (TREE / root).is_file() else (TREE / root).rglob("*"))
                 if "__pycache__" not in p.parts}
    return sorted(n for n in names if (TREE / n).is_file())


def tree_digests(*roots):
    """{name: digest} of all files that git would see below @roots: of what git keeps of a file, its content and whether
    it is a program."""
    return {name: key_of("x" if os.access(TREE / name, os.X_OK) else "", TREE / name) for name in tree_files(*roots)}


def key_of_tree(*roots):
    return key_of(*[part for pair in tree_digests(*roots).items() for part in pair])


def lock_file(name):
    return ROOT / "locks" / name


@contextlib.contextmanager
def lock(name, wait=True):
    """Hold a lock, or say False if somebody else has it and this is not to @wait."""
    path = lock_file(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "w") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except BlockingIOError:
            yield False
        else:
            yield True


def stamp(name):
    """The file whose modification time says when @name was last used."""
    return ROOT / "used" / name


def used(name):
    """Leave a stamp; the caller has the lock under which @name is removed."""
    path = stamp(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()


def entry(kind, key, build):
    """The directory of entry @key; build(directory) fills it when it does not exist."""
    target, name = ROOT / kind / key, f"{kind}-{key}"
    with lock(name):
        used(name)
        if target.is_dir():
            return target
        partial = ROOT / kind / f".{key}{PARTIAL}"
        shutil.rmtree(partial, ignore_errors=True)
        try:
            partial.mkdir(parents=True)
            build(partial)
            partial.rename(target)
        finally:
            shutil.rmtree(partial, ignore_errors=True)
    return target


def bound(command):
    """@command, which the kernel kills when the thread that started it ends, for whatever reason."""
    return ["setpriv", "--pdeathsig", "KILL", *map(str, command)]


def run(command, what, **kwargs):
    """Run @command; on failure raise an Error that says @what failed and shows the end of its output."""
    done = subprocess.run([str(c) for c in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          stdin=subprocess.DEVNULL, text=True, errors="replace", **kwargs)
    if done.returncode:
        tail = "\n".join(done.stdout.splitlines()[-40:])
        raise Error(f"{what} failed (exit status {done.returncode}):\n{tail}")
    return done.stdout


def _sentence(error):
    """What happened, for a person who does not know the scripts."""
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
        return FULL
    if isinstance(error, FileNotFoundError) and error.filename and "/" not in os.fsdecode(error.filename):
        return f"there is no program {os.fsdecode(error.filename)}; scripts/setup all installs what is missing"
    if isinstance(error, OSError) and error.filename is not None:
        return f"cannot use {os.fsdecode(error.filename)}: {error.strerror}"
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    if isinstance(error, subprocess.CalledProcessError):
        command = error.cmd if isinstance(error.cmd, str) else " ".join(map(str, error.cmd))
        return f"'{command}' failed (exit status {error.returncode})"
    where = traceback.extract_tb(error.__traceback__)[-1]
    return (f"this should not happen: {type(error).__name__}{': ' * bool(str(error))}{error}, "
            f"in {Path(where.filename).name}, line {where.lineno}")


def is_full():
    """Is there no room for the cache? A program that we have started may have said so in its own way."""
    try:
        return shutil.disk_usage(next(path for path in (ROOT, *ROOT.parents) if path.exists())).free < LEAST
    except OSError:
        return False


def _keep_traceback():
    """Keep the traceback of the exception that is being handled; returns the words that say where, for the message."""
    text = traceback.format_exc()
    if os.environ.get("PMU_DEBUG"):
        return f"\n{text}"
    directory = ROOT / "logs" / time.strftime(f"%Y%m%d-%H%M%S-{os.getpid()}-error")
    try:
        directory.mkdir(parents=True)
        (directory / "traceback").write_text(f"{' '.join(sys.argv)}\n{text}")
    except OSError:
        return " (PMU_DEBUG=1 shows where)"
    return f" (details: {directory}/traceback)"


def descendants(pid):
    """The processes that @pid has started, those that these have, and so on, as far as they live."""
    children, found = collections.defaultdict(list), [pid]
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):      # it has ended meanwhile
            state, parent = path.read_text().rpartition(")")[2].split()[:2]
            if state not in "ZX":
                children[int(parent)].append(int(path.parent.name))
    for one in found:       # which grows
        found += children[one]
    return found[1:]


_ending, _cleared_up = [], threading.Event()


def _end_descendants(status):
    """End all that was started, and what is started meanwhile, until this process has cleared up."""
    begin, told = time.monotonic(), set()
    while (left := descendants(os.getpid())) or not _cleared_up.is_set():
        took = time.monotonic() - begin
        for pid in left if took > GRACE else set(left) - told:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL if took > GRACE else signal.SIGTERM)
        told |= {*left}
        if took > LAST:
            os._exit(status)
        time.sleep(0.05)


def _end(number, _frame):
    """End this process as Ctrl-C does, so that what is under way is cleared up, and all that a thread may wait for."""
    if not _ending:     # several may tell of the same
        _ending.append(threading.Thread(target=_end_descendants, args=(128 + number,), daemon=True))
        _ending[0].start()
        raise KeyboardInterrupt(number)


def main(function):
    """Run a script's main function; whatever goes wrong becomes one message and exit status 125, or an Error's own."""
    # Orphans become this process's children, so that it finds them.
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) != signal.SIG_IGN:      # as nohup wants it
            signal.signal(number, _end)
    try:
        _run(function)
    finally:
        _cleared_up.set()
        for thread in _ending:
            thread.join()


def _run(function):
    failed = Error.status
    try:
        if not ROOT.is_absolute() or not {" ", ":"}.isdisjoint(str(ROOT)):      # the kernel's build takes none of these
            raise Error(f"{ROOT} cannot be the cache: set XDG_CACHE_HOME to an absolute path without a space or a colon")
        status = function()
        sys.stdout.flush()
        sys.exit(status)
    except Error as error:
        message, failed = str(error), error.status
        if is_full() and FULL not in message:
            message += f"\n{FULL}"
    except KeyboardInterrupt as signalled:
        sys.exit(128 + signalled.args[0])
    except BrokenPipeError:
        # The reader has closed the pipe. Keep the interpreter from reporting that when it flushes.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(128 + signal.SIGPIPE)
    except Exception as error:
        message = f"{_sentence(error)}{_keep_traceback()}"
    print(f"{Path(sys.argv[0]).name}: {message}", file=sys.stderr)
    sys.exit(failed)
