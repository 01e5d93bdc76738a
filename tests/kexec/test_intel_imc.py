# SPDX-License-Identifier: GPL-2.0-only
"""A kernel that follows another by kexec while events are open: nothing counts any more, and it counts exactly.

perf stops all events before another kernel is started. The driver has nothing to do then; the next one takes over what
it finds.
"""
import re
import subprocess
import tempfile
import unittest
from pathlib import Path

from pmusuite import arch, build, guest, initrd, kernels, unittests

ARCH = arch.get("x86_64")
KERNEL = "6.12"
HERE = Path(__file__).parent

# Both kernels' programs write to the kernel's log.
FIRST = r"""
echo on > /proc/sys/kernel/printk_devkmsg
exec > /dev/kmsg 2>&1
pmu-event uncore_imc_0:{reads} uncore_imc_0:0xff -x 'pmu-model add imc0 cas_rd 100; ./pmu-kexec image second.cpio \
	"console=ttyS0 panic=-1 {arguments}"'
"""

SECOND = r"""#!/bin/busybox sh
/bin/busybox --install -s /bin
mount -t devtmpfs dev /dev
mount -t proc proc /proc
mount -t sysfs sys /sys
echo on > /proc/sys/kernel/printk_devkmsg
exec > /dev/kmsg 2>&1
echo "second: left $(pmu-model get imc0 ctr0)"
pmu-model add imc0 cas_rd 5
echo "second: runs $(pmu-model get imc0 ctr0)"
insmod /pmu_core.ko
insmod /intel_imc_pmu.ko
pmu-event uncore_imc_0:{reads} -x 'pmu-model add imc0 cas_rd 7' > /tmp/count
echo "second: count $(cat /tmp/count)"
pmu-event uncore_imc_0:{reads} -x 'pmu-model add imc0 cas_rd 8' > /tmp/count
echo "second: again $(cat /tmp/count)"
poweroff -f
"""


def second(of, series, init, driver, directory):
    """The kernel that comes after, and its root: no more than what it is to tell."""
    kernel = kernels.get(of, series)
    busybox = subprocess.run(["cpio", "--quiet", "-i", "--to-stdout", "bin/busybox"],
                             stdin=initrd.base(of, kernel).open("rb"), stdout=subprocess.PIPE, check=True).stdout
    files = {"/init": init.encode(), "/bin/busybox": busybox}
    for name in ("dev", "proc", "sys", "tmp"):
        files[f"/{name}/.keep"] = b""
    for program in ("pmu-model", "pmu-event"):
        files[f"/bin/{program}"] = build.guest_program(of, program)
    for module in ("pmu_core", driver):
        files[f"/{module}.ko"] = build.modules(of, kernel) / f"{module}.ko"
    target = directory / "second.cpio"
    initrd.with_overlay((), files, target)
    return kernel.image, target


class Kexec(unittest.TestCase):
    def check(self, model, reads):
        with tempfile.TemporaryDirectory() as scratch:
            directory = Path(scratch)
            image, root = second(ARCH, KERNEL, SECOND.format(reads=reads), "intel_imc_pmu", directory)
            (directory / "image").write_bytes(Path(image).read_bytes())
            arguments = " ".join([*guest.time_arguments(ARCH), guest.QUICK])
            (directory / "first").write_text(FIRST.format(reads=reads, arguments=arguments))
            log = directory / "log"
            copies = [word for file in (directory / "image", root, directory / "first",
                                        build.guest_program(ARCH, "pmu-kexec", HERE / "pmu-kexec.c"))
                      for word in ("--copy", file)]
            done = unittests.vm(self, "--kernel", KERNEL, "--driver", "ours", "--model", model, "--allow-warn",
                                "--log", log, *copies, "--", "sh", "first")
            text = log.read_text() if log.exists() else ""
        said = dict(re.findall(r"second: (\w+) (\w+)", text))
        self.assertEqual(said.get("left"), "100", f"{done.stderr}\n{text[-3000:]}")
        self.assertEqual(said["runs"], "100")
        self.assertEqual((said["count"], said["again"]), ("7", "8"))
        self.assertNotIn("another program writes", text)

    def test_a_kernel_that_follows_counts_on_ice_lake(self):
        self.check("icx", "0xf04")

    def test_a_kernel_that_follows_counts_on_granite_rapids(self):
        self.check("gnr", "0xcf05")
