# SPDX-License-Identifier: GPL-2.0-only
"""Samples by perf record, which has symbols and the tasks' names: what no counter of this program's own tells."""
import collections
import os
import re
import select
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

from .. import count
from ..errors import ToolError
from ..files import printable


class Sampler:
    """perf record of all CPUs, without an end: it begins a new file when it is told to, so that nothing is missed."""
    PATIENCE = 60       # seconds for perf to start, or to finish a file

    def __init__(self, options, what, wanted, needs):
        """@options of perf record; @what is recorded, @wanted of it, and what that @needs: for sentences."""
        self.what, self.needs = what, needs
        if not shutil.which("perf"):
            raise ToolError(f"perf is not there, and {wanted} are what it records.",
                            "Install it (Debian: apt install linux-perf), or choose another --mode.")
        self.directory = tempfile.TemporaryDirectory(prefix="pmu-top.")
        self.data = Path(self.directory.name, "perf.data")
        self.said = tempfile.TemporaryFile("w+")        # a pipe that nobody reads would stop it
        theirs, self.control = os.pipe()
        self.answers, answers = os.pipe()
        # Without ids of builds: perf goes through each file once more for them, and symbols are those of this machine.
        self.process = subprocess.Popen(["perf", "record", "-B", "-N", "-a", *options, "--switch-output=signal", "-D", "-1",
                                         f"--control=fd:{theirs},{answers}", "-o", self.data],
                                        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=self.said,
                                        pass_fds=(theirs, answers), start_new_session=True, preexec_fn=count.end_with_parent)
        os.close(theirs)
        os.close(answers)
        if not self._enable():
            error = self._failure()
            self.close()
            raise error

    def _enable(self):
        """Whether perf records now. It answers when it listens to signals, too; before that it would lose them."""
        try:
            os.write(self.control, b"enable\n")
        except BrokenPipeError:
            return False
        return self._wait(lambda: select.select([self.answers], [], [], 0)[0]) and bool(os.read(self.answers, 16))

    def _wait(self, ready):
        end = time.monotonic() + self.PATIENCE
        while self.process.poll() is None and time.monotonic() < end:
            if ready():
                return True
            time.sleep(0.02)
        return False

    def _failure(self):
        self.said.seek(0)
        lines = [line.strip() for line in self.said if line.strip()]
        said = " ".join(lines[:3])
        # No right makes an event of a PMU that is not there.
        do = "Choose another --mode." if "not supported" in said else self.needs
        return ToolError(f"perf record of {self.what} failed: {said or 'it says nothing'}", do)

    def script(self, fields):
        """(what perf script says of the samples since it was asked before, bytes; ""), or (b"", why it says nothing)"""
        finished = []
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGUSR2)
            self._wait(lambda: finished.extend(self.data.parent.glob("perf.data.*")) or finished)
        if not finished and self.process.poll() is None:
            return b"", f"perf record did not finish a file within {self.PATIENCE} seconds: this machine has no time for it"
        if not finished:
            return b"", str(self._failure())
        script = subprocess.run(["perf", "script", "-i", finished[0], "-F", fields], capture_output=True,
                                stdin=subprocess.DEVNULL)
        for path in finished:
            path.unlink()
        if script.returncode:
            return b"", f"perf script failed: {printable(script.stderr.decode(errors='replace').strip()) or script.returncode}"
        return script.stdout, ""

    def close(self):
        self.process.terminate()
        try:
            self.process.wait(self.PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        for fd in self.control, self.answers:
            os.close(fd)
        self.said.close()
        self.directory.cleanup()


def samples(said, rest):
    """[(command, what the groups of @rest match, ...), ...] of perf script's lines "COMMAND REST".

    Any user gives a command its name, with ends of lines if he likes, and perf writes it as it is: right-aligned in 16
    bytes. A name has 15 at most, so nothing of it is taken for what comes behind.
    """
    found = re.findall(rb"(.{16,}?) +(?-s:" + rest + rb")\n", said, re.S)
    return [tuple(printable(part.decode(errors="replace")).strip() for part in parts) for parts in found]


def together(before, after):
    """What samples of two intervals that follow each other say: {"samples": N, "top": [[..., samples], ...], more numbers}. If
    one says why it has none, the other says it all."""
    if "samples" not in before or "samples" not in after:
        return after if "samples" in after or "samples" not in before else before
    found = collections.Counter()
    for *name, samples in [*before["top"], *after["top"]]:
        found[tuple(name)] += samples
    sums = {name: before[name] + after[name] for name in ("samples", "seconds") if name in after}
    most = max(len(before["top"]), len(after["top"]))
    return {**after, **sums, "top": [[*name, samples] for name, samples in found.most_common(most)]}
