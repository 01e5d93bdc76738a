# SPDX-License-Identifier: GPL-2.0-only
"""The end of a kernel while engines are on: what comes after it finds its memory alone.

A guest starts another kernel from within itself, and that one tells what it finds; or the machine is switched off
or started anew. Engines are slow to stop (the model's "linger"), and a CPU is offline, which kexec wakes when the
drivers have been shut down. Where a kernel panics nobody shuts drivers down: then the engines go on, into memory of
that kernel, and the next one, which has memory of its own, stops them.
"""
import gzip
import re
import tempfile
import unittest
from pathlib import Path

from pmusuite import arch, debian, guest, initrd, unittests
from test_intel_imc import second

ARCH = arch.get("ppc64le")
LINGER = 40000000       # ns; the driver waits 50 ms

# Of a CPU, and of a task: for pmu-event
TRACE = "--period 250 --cpu 0 trace_imc:0x10200000"
THREAD = "--pid 0 --cpu -1 --inherit thread_imc:0x798"

# Both kernels' programs write to the kernel's log. The time of an entry, added to what is added up here, is the
# model's time, or a little later.
FIRST = r"""
echo on > /proc/sys/kernel/printk_devkmsg
exec > /dev/kmsg 2>&1
for _ in 1 2 3 4 5; do
	echo "first: before"
	echo "first: now $(pmu-model get core0 now)"
done
echo 0 > /sys/devices/system/cpu/cpu1/online
{prepare}
pmu-model set core0 linger {linger}
pmu-model set 'thread*' linger {linger}
pmu-event {event} -x 'echo "first: engine $(pmu-model get core0 running)" > /dev/kmsg; sleep 0.3; {end}'
"""

LOAD = r"""
gunzip -c /vm/work/kernel.gz > /tmp/kernel
./kexec {how} /tmp/kernel --initrd=/vm/work/second.cpio --append='console=hvc0 panic=-1 nowatchdog initcall_blacklist=opal_imc_driver_init {quick}' || exit
"""

# What the kernel has set aside for that which comes after a panic: whoever writes there is told.
FENCE = r"""
for what in base size; do
	pmu-model set core0 fence-$what 0x$(hexdump -e '8/1 "%02x"' /proc/device-tree/chosen/linux,crashkernel-$what)
	echo "first: crash kernel $what $(pmu-model get core0 fence-$what)"
done
pmu-model set core0 fence 1
"""

SECOND = r"""#!/bin/busybox sh
/bin/busybox --install -s /bin
mount -t devtmpfs dev /dev
mount -t proc proc /proc
mount -t sysfs sys /sys
echo on > /proc/sys/kernel/printk_devkmsg
exec > /dev/kmsg 2>&1
tell() {
	echo "second: $1 engine $(pmu-model get core0 running), stray $(pmu-model get core0 stray), LDBAR $(pmu-model get thread0 ldbar) $(pmu-model get thread1 ldbar), page $(pmu-model get core0 pdbar)"
}
[ -e /proc/vmcore ] || pmu-model set core0 fence 1
echo "second: wrote $(pmu-model get core0 wrote)"
tell start
sleep 1
echo "second: now wrote $(pmu-model get core0 wrote)"
tell later
pmu-model set core0 fence 0
pmu-model set core0 linger 0
pmu-model set 'thread*' linger 0
insmod /pmu_core.ko
insmod /power_imc_pmu.ko
tell loaded
pmu-event core_imc:0x118 -x 'pmu-model add core0 0x118 5; pmu-model set core0 flush 1' > /tmp/count
echo "second: count $(cat /tmp/count)"
poweroff -f
"""


def kexec_tools(directory):
    """Debian's program for the guest; perf has brought its libraries."""
    debian.unpack(initrd.program(ARCH, "kexec-tools"), directory)
    return directory / "sbin/kexec"


def split(log):
    """[(seconds, text), ...] of the kernel's log."""
    return [(float(match[1]), match[2]) for match in re.finditer(r"^\[ *([0-9.]+)\] (.*)$", log, re.M)]


class Ends(unittest.TestCase):
    """What tests of all ways to end a kernel share."""

    kernel = "6.12"

    def run_first(self, event, prepare, end, *options, files=()):
        """The log of a guest in which that happens, and what QEMU said."""
        with tempfile.TemporaryDirectory() as scratch:
            directory = Path(scratch)
            (directory / "first").write_text(FIRST.format(linger=LINGER, event=event, prepare=prepare, end=end))
            log = directory / "log"
            copies = [word for file in (*files, directory / "first") for word in ("--copy", file)]
            done = unittests.vm(self, "--arch", "ppc64le", "--kernel", self.kernel, "--driver", "ours", "--allow-warn",
                                "--log", log, *options, *copies, "--", "sh", "first")
            return log.read_text() if log.exists() else "", done.stderr

    def run_both(self, event, prepare, end, *options):
        """The lines of the log that both kernels wrote: [(seconds, text), ...] of each."""
        with tempfile.TemporaryDirectory() as scratch:
            directory = Path(scratch)
            image, root = second(ARCH, self.kernel, SECOND, "power_imc_pmu", directory)
            # QEMU takes no more than 128 MiB for a root.
            (directory / "kernel.gz").write_bytes(gzip.compress(image.read_bytes(), 1))
            text, errors = self.run_first(event, prepare, end, *options, files=(
                directory / "kernel.gz", root, kexec_tools(directory / "tools")))
        said = split(text)
        starts = [index for index, (_, line) in enumerate(said) if line.startswith("Linux version")] or \
            [index for index, (time, _) in enumerate(said) if not time and (not index or said[index - 1][0])]
        self.assertGreaterEqual(len(starts), 2, f"no second kernel: {errors}\n{text[-3000:]}")
        return said[:starts[-1]], said[starts[-1]:]

    def told(self, said, what):
        """The first line of a kernel's programs that begins so, without that."""
        for _, line in said:
            if f"{what} " in line and ("first: " in line or "second: " in line):
                return line.partition(f"{what} ")[2]
        return self.fail(f"nobody said '{what}':\n" + "\n".join(line for _, line in said[-40:]))

class Kexec(Ends):
    def check_is_off(self, second, when):
        told = self.told(second, f"second: {when}")
        self.assertRegex(told, r"^engine 0, stray 0, LDBAR 0 0, ")

    def check(self, event):
        first, second = self.run_both(event, LOAD.format(how="-l", quick=guest.QUICK), "./kexec -e")
        self.assertEqual(self.told(first, "first: engine"), "1")
        self.check_is_off(second, "start")
        self.check_is_off(second, "later")
        self.check_is_off(second, "loaded")
        self.assertEqual(self.told(second, "second: count"), "5")
        # The model's time less the log's, at most
        begin, ahead = None, []
        for time, line in first:
            if "first: before" in line:
                begin = time
            elif "first: now" in line:
                ahead.append(int(line.split()[-1]) - begin * 1e9)
        [end] = [time for time, line in first if "Starting new kernel" in line]
        self.assertLess(int(self.told(second, "second: wrote")), min(ahead) + end * 1e9)

    def test_a_kernel_that_follows_a_trace(self):
        self.check(TRACE)

    def test_a_kernel_that_follows_thread_counts(self):
        self.check(THREAD)


class Kdump(Ends):
    def check(self, event):
        first, second = self.run_both(event, LOAD.format(how="-p", quick=guest.QUICK) + FENCE, "echo c > /proc/sysrq-trigger",
                                      "--append", "crashkernel=768M")
        self.assertEqual(self.told(first, "first: engine"), "1")
        self.assertGreaterEqual(int(self.told(first, "first: crash kernel size")), 512 << 20)
        # It goes on, but not into memory that was set aside.
        for when in ("start", "later"):
            self.assertRegex(self.told(second, f"second: {when}"), r"^engine 1, stray 0, ")
        self.assertGreater(int(self.told(second, "second: now wrote")), int(self.told(second, "second: wrote")))
        self.assertRegex(self.told(second, "second: loaded"), r"^engine 0, stray 0, LDBAR 0 ")
        self.assertTrue(any("there are no PMUs in a kdump kernel" in line for _, line in second))

    def test_a_kernel_that_follows_a_panic_in_a_trace(self):
        self.check(TRACE)

    def test_a_kernel_that_follows_a_panic_in_thread_counts(self):
        self.check(THREAD)


class Machine(Ends):
    """The model tells of an engine that is on when the machine is switched off, or started anew."""

    def check(self, event, end):
        log, errors = self.run_first(event, "", end)
        said = split(log)
        self.assertEqual(self.told(said, "first: engine"), "1")
        self.assertTrue(any("reboot: " in line for _, line in said), log[-2000:])
        self.assertNotIn("its engine is on where the machine ends", errors)

    def test_power_off(self):
        for event in (TRACE, THREAD):
            with self.subTest(event=event):
                self.check(event, "poweroff -f")

    def test_reboot(self):
        for event in (TRACE, THREAD):
            with self.subTest(event=event):
                self.check(event, "reboot -f")


if __name__ == "__main__":
    unittest.main()
