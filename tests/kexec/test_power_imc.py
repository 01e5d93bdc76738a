# SPDX-License-Identifier: GPL-2.0-only
"""The end of a kernel while engines are on: what comes after it finds its memory alone.

A guest starts another kernel from within itself, and that one tells what it finds. Engines are slow to stop
(the model's "linger"), and a CPU is offline, which kexec wakes when the drivers have been shut down.
"""
import gzip
import re
import subprocess
import tempfile
import unittest
from pathlib import Path

from pmusuite import arch, build, debian, initrd, kernel as kernels, unittests

ARCH = arch.get("ppc64le")
LINGER = 40000000       # ns; the driver waits 50 ms

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
gunzip -c /vm/work/kernel.gz > /tmp/kernel
./kexec -l /tmp/kernel --initrd=/vm/work/second.cpio --append='console=hvc0 panic=-1 nowatchdog initcall_blacklist=opal_imc_driver_init' || exit
pmu-model set core0 linger {linger}
pmu-model set 'thread*' linger {linger}
pmu-event {event} -x 'echo "first: engine $(pmu-model get core0 running)" > /dev/kmsg; sleep 0.3; ./kexec -e'
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
pmu-model set core0 fence 1
echo "second: wrote $(pmu-model get core0 wrote)"
tell start
sleep 1
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
    debian.unpack(debian.download(ARCH.debian, initrd.pin_of_program(ARCH, "kexec-tools").get()), directory)
    return directory / "sbin/kexec"


class Kexec(unittest.TestCase):
    def second(self, directory):
        """The root of the kernel that comes after: no more than what it is to tell."""
        kernel = kernels.get(ARCH, self.kernel)
        busybox = subprocess.run(["cpio", "--quiet", "-i", "--to-stdout", "bin/busybox"],
                                 stdin=initrd.base(ARCH, kernel).open("rb"), stdout=subprocess.PIPE, check=True).stdout
        empty = directory / "empty"
        empty.write_bytes(b"")
        files = {"/init": SECOND.encode(), "/bin/busybox": busybox}
        for name in ("dev", "proc", "sys", "tmp"):
            files[f"/{name}/.keep"] = b""
        for program in ("pmu-model", "pmu-event"):
            files[f"/bin/{program}"] = build.guest_program(ARCH, program)
        for module in ("pmu_core", "power_imc_pmu"):
            files[f"/{module}.ko"] = build.modules(ARCH, kernel) / f"{module}.ko"
        target = directory / "second.cpio"
        initrd.with_overlay(empty, files, target)
        return kernel.image, target

    kernel = "6.12"

    def run_both(self, event):
        """The lines of the log that both kernels wrote: [(seconds, text), ...] of each."""
        with tempfile.TemporaryDirectory() as scratch:
            directory = Path(scratch)
            image, root = self.second(directory)
            # QEMU takes no more than 128 MiB for a root.
            (directory / "kernel.gz").write_bytes(gzip.compress(image.read_bytes(), 1))
            (directory / "first").write_text(FIRST.format(linger=LINGER, event=event))
            log = directory / "log"
            done = unittests.vm(self, "--arch", "ppc64le", "--kernel", self.kernel, "--driver", "ours", "--allow-warn",
                                "--log", log, "--copy", directory / "kernel.gz", "--copy", root,
                                "--copy", kexec_tools(directory / "tools"),
                                "--copy", directory / "first", "--", "sh", "first")
            text = log.read_text() if log.exists() else ""
        said = [(float(match[1]), match[2]) for match in re.finditer(r"^\[ *([0-9.]+)\] (.*)$", text, re.M)]
        starts = [index for index, (_, line) in enumerate(said) if line.startswith("Linux version")] or \
            [index for index, (time, _) in enumerate(said) if not time and (not index or said[index - 1][0])]
        self.assertGreaterEqual(len(starts), 2, f"no second kernel: {done.stderr}\n{text[-3000:]}")
        return said[:starts[-1]], said[starts[-1]:]

    def told(self, said, what):
        """The first line of a kernel's programs that begins so, without that."""
        for _, line in said:
            if f"{what} " in line and ("first: " in line or "second: " in line):
                return line.partition(f"{what} ")[2]
        return self.fail(f"nobody said '{what}':\n" + "\n".join(line for _, line in said[-40:]))

    def check_is_off(self, second, when):
        told = self.told(second, f"second: {when}")
        self.assertRegex(told, r"^engine 0, stray 0, LDBAR 0 0, ")

    def check(self, event):
        first, second = self.run_both(event)
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
        self.check("--period 250 --cpu 0 trace_imc:0x10200000")

    def test_a_kernel_that_follows_thread_counts(self):
        self.check("--pid 0 --cpu -1 --inherit thread_imc:0x798")


if __name__ == "__main__":
    unittest.main()
