# SPDX-License-Identifier: GPL-2.0-only
"""The packages, in a root of Debian: built, what is in them, installed, removed; the same by make.

What takes longer, and Debian's other suite, is in everything.py.
"""
import re
import subprocess
import tempfile
import unittest
from pathlib import Path

from inroot import PASSPHRASE, VERSION, InRoot, make_key
from pmusuite import cache

DOCS = "/usr/share/doc/"
HOOKS = ["/etc/kernel/header_postinst.d/pmu-suite", "/etc/kernel/postinst.d/pmu-suite"]


class Packages(InRoot):
    def files(self, name):
        """What a package has, but for documentation."""
        said = self.inside(f"dpkg-deb --fsys-tarfile {self.deb(name=name)} | tar -t")
        return {line[1:] for line in said.splitlines() if not line.endswith("/") and not line[1:].startswith(DOCS)}

    def test_dkms_has_what_a_build_needs(self):
        files = self.files("pmu-suite-dkms")
        source = f"/usr/src/pmu-suite-{VERSION}/"
        self.assertEqual({name for name in files if not name.startswith(source)}, {
            "/usr/sbin/pmu-driver", "/usr/share/man/man8/pmu-driver.8.gz", "/usr/lib/pmu-suite/dkms-build",
            "/etc/kernel/header_postinst.d/pmu-suite", "/etc/kernel/postinst.d/pmu-suite",
            "/usr/lib/dracut/dracut.conf.d/50-pmu-suite.conf", "/usr/lib/dracut/modules.d/99pmu-suite/module-setup.sh"})
        needed = {"Kbuild", "Makefile", "dkms.conf", "scripts/conftest.sh",
                  *(name for name in cache.tree_files("drivers", "include") if Path(name).suffix in (".c", ".h", "")
                    and Path(name).name != "Kconfig")}
        self.assertEqual({name.removeprefix(source) for name in files if name.startswith(source)}, needed)

    def test_tools_has_the_programs_and_their_pages(self):
        files = self.files("pmu-suite-tools")
        programs = [name for name in cache.tree_files("tools") if name.count("/") == 1]
        self.assertTrue(programs)
        for name in programs:
            self.assertLessEqual({f"/usr/bin/{Path(name).name}", f"/usr/share/man/man1/{Path(name).name}.1.gz"}, files)
        self.assertEqual({name.removeprefix("/usr/share/pmu-suite/") for name in files if name.startswith("/usr/share/pmu-suite/")},
                         {name.removeprefix("tools/") for name in cache.tree_files("tools")})

    def test_installed_and_removed(self):
        """The modules are those of the architecture; nothing is chosen; what was chosen is given back."""
        self.inside(f"dpkg -i {self.deb()}")
        self.assertEqual({path.name.split(".")[0] for path in self.modules()}, {"pmu_core", "intel_imc_pmu"})
        self.assertEqual(self.inside("dkms status"), self.installed())
        self.assertEqual([name for name in self.left() if name.startswith("/etc/")], HOOKS)
        self.inside("pmu-driver ours --anyway; test -e /etc/modprobe.d/pmu-suite.conf; dpkg --remove pmu-suite-dkms")
        self.assertEqual(self.left(), HOOKS)
        self.inside(f"{HOOKS[0]} {self.kernel.release}; dpkg --purge pmu-suite-dkms")
        self.assertEqual(self.left(), [])

    def test_tools_run_and_are_removed(self):
        """On a machine without such counters each says so in a sentence."""
        self.inside(f"dpkg -i {self.deb(name='pmu-suite-tools')}")
        self.assertEqual(self.inside("pmu-top --version"), f"pmu-top {VERSION}\n")
        self.assertIn("--once", self.inside("pmu-top --help"))
        self.assertIn("SYNOPSIS", self.inside("man pmu-top; man pmu-check"))
        if any(Path("/sys/bus/event_source/devices").glob("*imc*")):
            self.skipTest("this host has such counters")
        self.assertRegex(self.inside("pmu-top --once", status=3), "not covered by these drivers|This machine shows no PMU")
        self.assertRegex(self.inside("pmu-check"), "(?m)^skip +pmus")
        self.inside("dpkg --purge pmu-suite-tools")
        self.assertEqual(self.left(), [])


class Make(InRoot):
    def test_install(self):
        """Twice is once; uninstalled, nothing is left."""
        self.make("install install-tools")
        first = self.left()
        self.make("install install-tools")
        self.assertEqual(self.left(), first)
        self.assertEqual([path.name for path in self.modules()], ["intel_imc_pmu.ko", "pmu_core.ko"])
        self.inside(f"modprobe -S {self.kernel.release} -n -v intel_imc_pmu; pmu-driver ours --anyway; pmu-top --version")
        said = self.inside(f"dpkg -i {self.deb()}", status=1)
        self.assertIn(f"{self.kernel.release}/updates/pmu-suite is of no package; 'make uninstall", said)
        self.make("uninstall uninstall-tools")
        self.assertEqual(self.left(), [])

    def test_a_service_that_runs_ends_with_its_programs(self):
        """One of a package, below /usr, goes on."""
        for place in "/usr/local", "/usr":
            self.program("systemctl", 'echo "$@" >> /tmp/asked; [ "$1" != show ] || '
                         f"echo {place}/lib/systemd/system/pmu-top.service")
            self.make("install-tools")
            self.assertEqual(self.inside("cat /tmp/asked 2> /dev/null || :"), "")
            self.make("uninstall-tools")
            self.assertEqual(self.inside("grep -v ^show /tmp/asked || :; rm /tmp/asked"),
                             "disable --now pmu-top.service\n" if place == "/usr/local" else "")

    def test_dkms_install_without_dkms(self):
        self.inside("rm /usr/sbin/dkms")
        before = self.left()
        self.assertIn("There is no dkms", self.make("dkms-install", status=2))
        self.assertEqual(self.left(), before)


class Driver(InRoot):
    """pmu-driver, where something is in the way."""

    NOBODY = "setpriv --reuid 65534 --clear-groups"

    def setUp(self):
        super().setUp()
        self.make("install-driver PREFIX=/usr")
        self.device("pci:v00008086d00003CB0sv00008086sd00000000bc08sc80i00")
        self.before = self.left()

    def device(self, modalias):
        """The machine has this PCI device, and no other."""
        self.inside(f"mkdir -p /sys/bus/pci/devices/0000:3f:10.0; echo {modalias} > /sys/bus/pci/devices/0000:3f:10.0/modalias")

    def did(self, script, status=0):
        """What is said besides who drives."""
        return re.sub(r"(?m)^pmu-driver: (at boot|now): .*\n", "", self.inside(script, status))

    def processor(self, family, model):
        return f"printf 'cpu family\t: {family}\nmodel\t\t: {model}\n' > /tmp/cpuinfo; mount --bind /tmp/cpuinfo /proc/cpuinfo; "

    def built_in(self):
        """The kernel's driver is part of the kernel that runs."""
        self.inside('lib=/lib/modules/$(uname -r); mkdir -p "$lib"; depmod; cd "$lib"; '
                    "echo kernel/arch/x86/events/intel/intel-uncore.ko > modules.builtin; "
                    "printf 'intel_uncore.description=x\\0intel_uncore.file=x\\0' > modules.builtin.modinfo; : > modules.order; depmod")

    def test_a_change_says_who_drives(self):
        """At the next boot, and now if that may have changed; also where nothing had to be done."""
        self.loaded(1)
        self.program("rmmod", 'rm -r "/sys/module/$1"; rm -rf "/sys/bus/pci/drivers/$1"')
        self.program("modprobe", "mkdir -p /sys/bus/event_source/devices/uncore_imc_0")
        for command, words in (("ours", ["at boot: intel_imc_pmu"]), ("ours --unbind", ["at boot: intel_imc_pmu, unbound from the kernel's driver"]),
                               ("unbind", ["now: intel_imc_pmu, version 1"]),
                               ("ours --now", ["at boot: intel_imc_pmu", "now: intel_imc_pmu, version 1"]),
                               ("in-tree", ["at boot: the kernel's driver"]),
                               ("in-tree --now", ["at boot: the kernel's driver", "now: the kernel's driver"])):
            self.assertEqual(re.findall("(?m)^pmu-driver: ((?:at boot|now): .*)", self.inside(f"pmu-driver {command}")), words)

    def test_wrong_arguments(self):
        for wrong in "their", "ours now", "--now ours", "in-tree --now again":
            self.assertIn("usage: pmu-driver", self.inside(f"pmu-driver {wrong}", status=2))
        self.assertEqual(self.left(), self.before)

    def test_users_may_look_and_not_change(self):
        user = f"{self.NOBODY} env PATH=/usr/bin:/bin /usr/sbin/pmu-driver"
        self.assertIn("at boot: the kernel's driver", self.inside(user))
        for change in "ours", "in-tree":
            self.assertIn("only root can change", self.inside(f"{user} {change}", status=1))
        self.assertEqual(self.left(), self.before)

    def test_no_other_user_holds_up_a_change(self):
        """Each may open the program, and lock what may be opened."""
        self.inside(f"{self.NOBODY} flock /usr/sbin/pmu-driver sleep 100 & sleep 1; timeout 20 pmu-driver ours; kill $!")
        self.assertIn("Permission denied", self.inside(f"{self.NOBODY} flock /run/pmu-driver.lock true", status=66))

    def test_a_change_that_does_not_end(self):
        self.program("flock", '[ "$1" = -w ] && exec /usr/bin/flock -w 1 "$3"')
        said = self.inside("umask 077; /usr/bin/flock /run/pmu-driver.lock sleep 100 & sleep 1; pmu-driver ours", status=1)
        self.assertIn("another change has not ended for 30 seconds", said)
        self.assertEqual([name for name in self.left() if name not in self.before], ["/usr/local/sbin/flock"])

    def test_a_machine_that_is_not_served(self):
        """Not by its processor alone. An image is for other machines."""
        for modalias, family, model in (("pci:v00001022d00001650sv00001022sd00001650bc08sc80i00", 25, 17),
                                        ("pci:v00008086d00003451sv00008086sd00000000bc08sc80i00", 6, 109),
                                        ("pci:v00008086d00003451sv00008086sd00000000bc08sc80i00", 19, 106)):
            self.device(modalias)
            for change in "ours", "ours --now", "ours --unbind", "unbind":
                said = self.inside(f"{self.processor(family, model)} pmu-driver {change}", status=4)
                self.assertIn("this machine has nothing that intel_imc_pmu serves", said)
                self.assertEqual("'--anyway'" in said, change != "unbind")
                self.assertEqual(self.left(), self.before)
            self.inside(f"{self.processor(family, model)} pmu-driver")
        for change, file in ("ours", "modprobe.d/pmu-suite.conf"), ("ours --unbind", "systemd/system/pmu-suite.service"):
            self.inside(f"pmu-driver {change} --anyway; test -e /etc/{file}; pmu-driver in-tree")
        self.inside(f"{self.processor(6, 106)} pmu-driver ours")
        # What has a table is served whatever the processor.
        self.device("pci:v00008086d00003251sv00008086sd00000000bc08sc80i00")
        self.inside(f"{self.processor(6, 238)} pmu-driver ours")

    def test_a_service_of_an_image_does_not_fail_elsewhere(self):
        self.device("pci:v00001022d00001650sv00001022sd00001650bc08sc80i00")
        self.inside("pmu-driver ours --unbind --anyway; grep -qx SuccessExitStatus=4 /etc/systemd/system/pmu-suite.service")
        self.inside("pmu-driver unbind", status=4)

    def test_root_runs_no_program_of_another_user_at_boot(self):
        """As one in a clone. Nor one that another user can put in its place."""
        self.inside("mkdir -p /home/user/clone; cp /usr/sbin/pmu-driver /home/user/clone; chown 65534 /home/user")
        for change in ("", "chown 0 /home/user; chmod 777 /home/user/clone", "chmod 775 /home/user/clone; chgrp 65534 /home/user/clone",
                       "chmod 755 /home/user/clone; chown 65534 /home/user/clone/*"):
            said = self.inside(f"{change or ':'}; /home/user/clone/pmu-driver ours --unbind", status=1)
            self.assertIn("others than root can write /home/user/clone/pmu-driver", said)
        # systemd would take a part of the name.
        said = self.inside("chown 0 /home/user/clone/*; mv /home/user/clone '/home/a clone'; '/home/a clone/pmu-driver' ours --unbind", status=1)
        self.assertIn("no unit can name /home/a clone/pmu-driver", said)
        self.inside("rm -r /home/user '/home/a clone'")
        self.assertEqual(self.left(), self.before)

    def test_who_reads_may_go_before_the_end(self):
        """A change is made as a whole although nobody reads what is said of it."""
        self.loaded(1)
        self.program("rmmod", 'rm -r "/sys/module/$1"; rm -rf "/sys/bus/pci/drivers/$1"')
        self.program("modprobe", "mkdir -p /sys/bus/event_source/devices/uncore_imc_0")
        self.inside("pmu-driver ours > /dev/null; { sleep 1; pmu-driver in-tree --now; } | true; "
                    "! ls /sys/module/intel_imc_pmu /etc/modprobe.d/pmu-suite.conf 2> /dev/null")

    def test_what_cannot_be_written(self):
        locked = "mount --bind /etc /etc; mount -o remount,ro,bind /etc; "
        self.assertIn("cannot write /etc/modules-load.d/pmu-suite.conf", self.inside(f"{locked} pmu-driver ours", status=1))
        # Nor is half of a choice made.
        for change, file in (("ours", "/etc/modules-load.d/pmu-suite.conf"), ("ours", "/etc/modprobe.d/pmu-suite.conf"),
                             ("ours --unbind", "/etc/systemd/system/sysinit.target.wants/pmu-suite.service")):
            said = self.inside(f"mkdir -p {Path(file).parent}; mount -t tmpfs -o ro none {Path(file).parent}; pmu-driver {change}", status=1)
            self.assertEqual(re.findall("cannot write .*", said), [f"cannot write {file}"])
            self.assertEqual(self.left(), self.before)
        self.inside("pmu-driver ours")
        self.assertIn("cannot remove", self.inside(f"{locked} pmu-driver in-tree", status=1))

    def test_files_that_are_called_like_pmus(self):
        """Another user's, where root happens to be."""
        self.inside("mkdir -p /sys/bus/event_source/devices/uncore_imc_0; cd /tmp; touch uncore_imc_a; "
                    "pmu-driver | grep -qx \"pmu-driver: now: the kernel's driver\"")

    def test_a_module_that_is_missing_is_told(self):
        for command, status in ("pmu-driver ours", 0), ("pmu-driver", 3):
            self.assertIn("intel_imc_pmu is not installed for the kernel", self.inside(command, status))

    def test_each_installed_kernel_is_asked(self):
        """The next boot may be of another one than runs."""
        self.loaded(1)
        self.inside("cd /lib/modules; for release in $(uname -r) 9.9-next; do mkdir -p $release; touch $release/modules.order; done")
        self.program("modinfo", 'case "$*" in *9.9*) exit 1 ;; *) echo 1 ;; esac')
        for command, status in ("pmu-driver ours", 0), ("pmu-driver", 3):
            self.assertEqual(re.findall("not installed for the kernel (.*)", self.inside(command, status)), ["9.9-next"])
        self.inside("rm /lib/modules/9.9-next/modules.order; pmu-driver")

    def loaded(self, installed, sources=None):
        """Version 1 of our driver has the PMU, of sources 1; what is @installed has this version."""
        self.inside("mkdir -p /sys/module/pmu_core /sys/module/intel_imc_pmu /sys/bus/pci/drivers/intel_imc_pmu/0000:3f:10.0/driver; "
                    "cd /sys/module; touch pmu_core/initstate intel_imc_pmu/initstate; for field in version srcversion; do "
                    "echo 1 | tee pmu_core/$field > intel_imc_pmu/$field; done")
        self.program("modinfo", f'case "$*" in *filename*) exec /usr/sbin/modinfo "$@" ;; '
                     f'*srcversion*) echo {sources or installed} ;; *) echo {installed} ;; esac')
        self.program("rmmod", 'echo "rmmod $1"; rm -r "/sys/module/$1"; rm -rf "/sys/bus/pci/drivers/$1"')
        self.program("modprobe", 'echo "modprobe $1"')

    def test_status_tells_whether_the_choice_is_what_is(self):
        self.loaded(1)
        self.assertIn("now: intel_imc_pmu, version 1\n", self.inside("pmu-driver", status=3))
        self.inside("pmu-driver ours")
        self.assertNotIn("another build", self.inside("pmu-driver status"))

    def test_an_old_module_that_is_loaded_is_told(self):
        self.loaded(2)
        self.inside("pmu-driver ours")
        said = self.inside("pmu-driver", status=3)
        self.assertIn("now: intel_imc_pmu, version 1\n", said)
        self.assertIn("installed is version 2, another build than is loaded: 'pmu-driver ours --now' loads it", said)
        self.assertEqual(self.did("pmu-driver ours --now"), "rmmod intel_imc_pmu\nrmmod pmu_core\nmodprobe intel_imc_pmu\n")

    def test_an_old_module_is_known_by_its_version_or_by_its_sources(self):
        """The sum of the sources leaves out headers of other folders; between commits the version stays."""
        for version, sources in (1, 2), (2, 1):
            self.loaded(version, sources)
            self.assertIn("another build than is loaded", self.inside("pmu-driver", status=3))

    def test_an_old_module_that_was_unbound_for_goes_by_unbinding(self):
        """Nothing of this gives the boot parameter, which would switch off all other units."""
        self.built_in()
        self.loaded(2)
        self.assertIn("'pmu-driver unbind' loads it", self.inside("pmu-driver", status=3))
        self.inside("pmu-driver ours --unbind")
        self.assertIn("'pmu-driver unbind' loads it", self.inside("pmu-driver", status=3))
        self.assertEqual(self.did("pmu-driver unbind"), "rmmod intel_imc_pmu\nrmmod pmu_core\n")
        self.loaded(1)
        self.assertEqual(self.did("pmu-driver unbind"), "")

    def test_a_new_module_that_does_not_load(self):
        """The kernel's driver gets what the old one had."""
        self.loaded(2)
        self.program("modprobe", 'echo "modprobe $1"; [ "$1" != intel_imc_pmu ]')
        self.inside("mkdir /sys/module/intel_uncore; touch /sys/module/intel_uncore/initstate")
        said = self.did("pmu-driver ours --now", status=1)
        self.assertIn("modprobe intel_imc_pmu\nrmmod intel_uncore\npmu-driver: intel_imc_pmu cannot be loaded", said)
        self.assertTrue(said.endswith("\nmodprobe intel_uncore\n"), said)

    def in_tree(self, *functions):
        """The kernel's driver has @functions, which are channels, and a function of another kind. What is written for others
        comes out."""
        self.inside("mkdir -p /sys/bus/pci/drivers/snbep_uncore; cd /sys/bus/pci/drivers/snbep_uncore; ln -s /dev/stdout unbind; "
                    f"mkdir 0000:3f:0e.1 {' '.join(functions)}; for one in {' '.join(functions)}; do "
                    "echo pci:v00008086d00003CB0sv00008086sd00000000bc08sc80i00 > $one/modalias; done; "
                    "echo pci:v00008086d00003C46sv00008086sd00000000bc11sc01i00 > 0000:3f:0e.1/modalias")

    def test_channels_that_would_be_unbound_for_nothing(self):
        """The module does not load, and what the log says is of an earlier time."""
        self.in_tree("0000:3f:10.0")
        self.program("modprobe", "echo 'Key was rejected by service' >&2; false")
        self.assertEqual(self.did("pmu-driver unbind", status=1), "Key was rejected by service\n"
                         "pmu-driver: intel_imc_pmu cannot be loaded; see the kernel's log\n")

    def test_channels_that_were_unbound_for_nothing(self):
        """The kernel's driver gets them if it is a module; otherwise it is told who has them."""
        self.in_tree("0000:3f:10.0")
        self.program("modprobe", 'echo "modprobe $1"; [ "$1" = intel_uncore ] || { echo Device or resource busy >&2; false; }')
        self.program("rmmod", 'echo "rmmod $1"')
        said = self.did("pmu-driver unbind", status=1)
        self.assertIn("0000:3f:10.0\nmodprobe intel_imc_pmu\n", said)
        self.assertIn("Until the next boot nobody has the memory channels\n", said)
        said = self.did("mkdir -p /sys/module/intel_uncore; touch /sys/module/intel_uncore/initstate; pmu-driver unbind", status=1)
        self.assertTrue(said.endswith("rmmod intel_uncore\npmu-driver: intel_imc_pmu cannot be loaded; see the kernel's log\n"
                                      "modprobe intel_uncore\n"), said)

    def test_channels_of_which_one_half_was_taken(self):
        """As by a call that was killed: it is told, and the next call takes the others."""
        self.loaded(1)
        self.in_tree("0000:3f:10.1")
        self.program("modprobe", 'echo "modprobe $1"; mkdir -p "/sys/module/$1"; touch "/sys/module/$1/initstate"; '
                     "[ ! -e /tmp/again ] || rm -r /sys/bus/pci/drivers/snbep_uncore/*:*; touch /tmp/again")
        self.inside("pmu-driver ours")
        told = "the kernel's driver has some of the memory channels: 'pmu-driver ours --now' takes them"
        self.assertIn(told, self.inside("pmu-driver", status=3))
        said = self.did("pmu-driver unbind")
        self.assertEqual(said, "rmmod intel_imc_pmu\nrmmod pmu_core\nrmmod intel_imc_pmu\n0000:3f:10.1\nmodprobe intel_imc_pmu\n")
        self.loaded(1)
        self.assertNotIn(told, self.inside("pmu-driver unbind; pmu-driver"))

    EVENT = """
import ctypes, os, struct, subprocess, sys
attr = struct.pack("=IIQQQQQ72x", 1, 112, 0, 0, 0, 0, 1 << 5)     # a clock of this process in user mode
event = ctypes.CDLL(None, use_errno=True).syscall(298, attr, 0, -1, -1, 0)
if event < 0:
    sys.exit(f"perf_event_open: {os.strerror(ctypes.get_errno())}")
sys.exit(subprocess.call(sys.argv[1:]))"""

    def test_channels_with_events_open_stay(self):
        """A kernel may crash of an event whose channel is unbound. Nobody knows of which PMU an event is."""
        self.in_tree("0000:3f:10.0")
        self.program("modprobe", "[ -e /tmp/again ] || { touch /tmp/again; echo Device or resource busy; exit 1; }; "
                     "rm -r /sys/bus/pci/drivers/snbep_uncore/*:*")
        self.inside(f"cat > /tmp/event.py <<'EOT'\n{self.EVENT}\nEOT\n")
        events = "rm -f /tmp/again; python3 /tmp/event.py pmu-driver unbind"
        said = self.inside(events, status=1)
        self.assertRegex(said, r"events are open: python3 \(\d+\)\. ")
        self.assertNotIn("\n0000:3f:10.0\n", f"\n{said}")
        # A name cannot colour or hide what root reads, nor blame another process.
        named = "rm -f /tmp/again; ln -s /usr/bin/python3 '/tmp/a\\0033[8m'; ln -s /usr/bin/python3 /tmp/$(printf 'b\\033\\233c'); " \
                "ln -s /usr/bin/python3 '/tmp/init (1) d'; " \
                "'/tmp/a\\0033[8m' /tmp/event.py /tmp/b* /tmp/event.py '/tmp/init (1) d' /tmp/event.py pmu-driver unbind"
        self.assertRegex(self.inside(named, status=1),
                         r"events are open: a\\0033\[8m \(\d+\) b\?\?c \(\d+\) init \?1\? d \(\d+\)\. ")
        self.assertEqual(self.did(f"{events} --force"), "0000:3f:10.0\n")

    def test_files_that_are_called_like_events(self):
        """Another user's file, whose name has lines as of the first process, is no event of anybody."""
        self.in_tree("0000:3f:10.0")
        self.program("modprobe", "[ -e /tmp/again ] || { touch /tmp/again; echo Device or resource busy; exit 1; }; "
                     "rm -r /sys/bus/pci/drivers/snbep_uncore/*:*")
        self.inside("chmod 1777 /tmp; cat > /tmp/open.sh <<'EOT'\nhere='/tmp/a\n/proc/1'\nmkdir -p \"$here\"\n"
                    "exec 8> \"$here/fd:\nx -> anon_inode:[perf_event]\" 9> '/tmp/anon_inode:[perf_event]'\nsleep 100\nEOT\n")
        said = self.did(f"{self.NOBODY} sh /tmp/open.sh & sleep 1; status=0; pmu-driver unbind || status=$?; kill $!; exit $status")
        self.assertEqual(said, "0000:3f:10.0\n")
        command = re.search("(?m)^    (find /proc.*)", (cache.TREE / "Documentation/symptoms.md").read_text())[1]
        self.inside(f"cat > /tmp/event.py <<'EOT'\n{self.EVENT}\nEOT\ncat > /tmp/who.sh <<'EOT'\n{command}\nEOT\n")
        said = self.inside(f"{self.NOBODY} sh /tmp/open.sh & fake=$!; sleep 1; python3 /tmp/event.py sh /tmp/who.sh > /tmp/said & real=$!; wait $real; "
                           "kill $fake; sed -n \"s,^/proc/$real/fd/.*,real,p; s,^/proc/$fake/.*,fake,p\" /tmp/said")
        self.assertEqual(said, "real\n")

    def test_nobody_can_say_who_has_events_open(self):
        self.in_tree("0000:3f:10.0")
        self.program("modprobe", "echo Device or resource busy; false")
        self.program("find", "false")
        self.assertIn("cannot see who has events open", self.inside("pmu-driver unbind", status=1))

    def test_channels_that_stay_where_they_are(self):
        """As if somebody else were at it: it is told, and not taken for success."""
        self.in_tree("0000:3f:10.0")
        self.program("modprobe", "[ -e /tmp/again ] || { touch /tmp/again; echo Device or resource busy; false; }")
        self.inside("rm -f /tmp/again; cd /sys/bus/pci/drivers/snbep_uncore; ln -sf /dev/full unbind")
        self.assertIn("the kernel's driver still has some of the memory channels", self.inside("pmu-driver unbind --force", status=1))

    def test_a_unit_goes_whole(self):
        """That of an unreleased version, too, which another target wanted. It does not hold up a boot."""
        self.built_in()
        self.inside("pmu-driver ours --unbind; cd /etc/systemd/system; mkdir multi-user.target.wants; "
                    "ln -s ../pmu-suite.service multi-user.target.wants")
        self.assertIn("TimeoutStartSec=60", self.inside("cat /etc/systemd/system/pmu-suite.service"))
        self.inside("pmu-driver in-tree; rmdir /etc/systemd/system/multi-user.target.wants")

    def test_a_change_that_is_interrupted(self):
        """It is made, and the kernel's driver loaded behind ours."""
        self.loaded(1)
        self.inside("rm -r /sys/bus/pci/drivers/intel_imc_pmu; mkdir /sys/module/intel_uncore; touch /sys/module/intel_uncore/initstate")
        for signal in "INT", "QUIT", "PIPE":
            self.program("rmmod", f'rm -r "/sys/module/$1"; kill -{signal} $PPID')
            for command, loaded in ("ours", "intel_imc_pmu\nmodprobe intel_uncore"), ("in-tree", "intel_uncore"):
                said = self.did(f"cd /sys/module; mkdir -p intel_imc_pmu intel_uncore; touch intel_imc_pmu/initstate intel_uncore/initstate; "
                                   f"pmu-driver {command} --now 2> /dev/null")
                self.assertEqual(said, f"modprobe {loaded}\n")

    def test_somebody_uses_the_core(self):
        """As who reads a file of its debugfs. Nobody is left without a driver."""
        used = 'echo "rmmod $1"; [ "$1" != pmu_core ] && rm -r "/sys/module/$1"'
        self.loaded(2)
        self.program("rmmod", used)
        said = self.did("pmu-driver ours --now")
        self.assertTrue(said.endswith("pmu_core stays loaded, since somebody uses it\nmodprobe intel_imc_pmu\n"), said)
        self.loaded(2)
        self.inside("cd /sys/module/pmu_core; mkdir -p holders/intel_imc_pmu; echo 2 > refcnt")
        for command in "ours --now", "in-tree --now", "unbind":
            self.assertIn("pmu_core is in use", self.inside(f"pmu-driver {command}", status=1))
            self.assertIn("initstate", self.inside("ls /sys/module/intel_imc_pmu"))
        self.inside("echo 1 > /sys/module/pmu_core/refcnt")
        self.program("rmmod", used)
        self.assertTrue(self.did("pmu-driver in-tree --now").endswith("somebody uses it\nmodprobe intel_uncore\n"))

    def test_nobody_to_give_it_back_to(self):
        """The kernel's driver is built in, and comes with the next boot; or the kernel has none."""
        self.built_in()
        self.loaded(1)
        self.assertIn("nobody has it until then\n", self.inside("pmu-driver in-tree --now"))
        self.inside("rm -r /lib/modules/*")
        self.loaded(1)
        self.program("modinfo", "false")
        self.assertEqual(self.did("pmu-driver in-tree --now"), "rmmod intel_imc_pmu\nrmmod pmu_core\n")

    def test_what_is_built_in_is_no_module(self):
        """It has a directory, too. With the boot parameter our driver is loaded, and nothing is unloaded."""
        self.built_in()
        self.program("modprobe", 'echo "modprobe $1"')
        self.program("rmmod", 'echo "rmmod $1"; false')
        said = self.did("mkdir -p /sys/module/intel_uncore; echo initcall_blacklist=intel_uncore_init > /tmp/line; "
                           "mount --bind /tmp/line /proc/cmdline; pmu-driver ours --now 2> /dev/null")
        self.assertEqual(said, "modprobe intel_imc_pmu\n")

    def test_a_boot_that_keeps_the_kernel_s_driver_away_is_told(self):
        for value in "intel_uncore_init", "one,intel_uncore_init,more":
            said = self.inside(f"echo quiet initcall_blacklist={value} > /tmp/line; mount --bind /tmp/line /proc/cmdline; pmu-driver",
                               status=3)
            self.assertIn("this boot was with the boot parameter initcall_blacklist=intel_uncore_init", said)
        self.inside("echo initcall_blacklist=no_intel_uncore_init > /tmp/line; mount --bind /tmp/line /proc/cmdline; pmu-driver")

    def test_in_an_image_its_own_kernels_decide(self):
        """The kernel that runs is another machine's."""
        self.built_in()
        self.inside("mv /lib/modules/$(uname -r) /lib/modules/9.9; rm -r /lib/modules/6*; mkdir /etc/default/grub.d")
        self.assertIn("your boot loader has to give it", self.inside("pmu-driver ours"))
        self.assertIn("initcall_blacklist=intel_uncore_init", self.inside("cat /etc/default/grub.d/pmu-suite.cfg"))
        self.inside("pmu-driver in-tree; mkdir -p /lib/modules/8.8; depmod 8.8; pmu-driver ours; test ! -e /etc/default/grub.d/pmu-suite.cfg")

    def test_a_boot_loader_that_was_not_told_is_told_the_next_time(self):
        self.built_in()
        self.inside("printf '#!/bin/sh\\nexit 3\\n' > /usr/sbin/update-grub; chmod 755 /usr/sbin/update-grub")
        self.assertIn("update-grub failed", self.inside("pmu-driver ours", status=1))
        self.inside("printf '#!/bin/sh\\necho told\\n' > /usr/sbin/update-grub")
        self.assertIn("told", self.inside("pmu-driver ours").split())
        self.assertIn("initcall_blacklist=intel_uncore_init", self.inside("cat /etc/default/grub.d/pmu-suite.cfg"))
        self.inside("cp /usr/sbin/update-grub /tmp; printf '#!/bin/sh\\ncat /etc/default/grub.d/pmu-suite.cfg; exit 3\\n' > /usr/sbin/update-grub")
        self.assertNotIn("initcall_blacklist=", self.inside("pmu-driver in-tree", status=1))
        self.assertIn("'pmu-driver in-tree' runs it again", self.inside("pmu-driver", status=3))
        self.inside("cp /tmp/update-grub /usr/sbin")
        self.assertIn("told", self.inside("pmu-driver in-tree").split())
        self.assertEqual(self.did("pmu-driver in-tree"), "")


class Served(unittest.TestCase):
    SCRIPT = (cache.TREE / "scripts/packaging/pmu-driver").read_text()

    def served(self, machine, modaliases):
        """Those of @modaliases that pmu-driver takes for devices of ours on this @machine, by its uname."""
        block = re.search(r"^case \$\(uname -m\) in\n.*?^esac\n", self.SCRIPT, re.M | re.S)[0]
        done = subprocess.run(["sh", "-ec", f"uname() {{ echo {machine}; }}\n{block}\ngrep -E \"^($devices)\""], text=True,
                              input="\n".join(modaliases), stdout=subprocess.PIPE, check=False)
        return done.stdout.split()

    def test_pmu_driver_knows_the_devices_of_the_drivers(self):
        """Whatever id a driver's table has, in the words of sysfs; and no other."""
        ids = re.findall(r"\bINTEL_IMC_ID\(0x(\w{4}),", (cache.TREE / "drivers/intel_imc/main.c").read_text())
        every = [f"pci:v00008086d{number:08X}sv00008086sd00000000bc08sc80i00" for number in range(0x10000)]
        self.assertEqual(self.served("x86_64", every), [every[int(number, 16)] for number in sorted(ids)])
        self.assertEqual(self.served("x86_64", [name.replace("v00008086d", "v00001022d") for name in every]), [])
        for machine, file, more in ("aarch64", "cmn/main.c", 5), ("ppc64le", "power_imc/main.c", 0):
            text = (cache.TREE / "drivers" / file).read_text()
            nodes = [f"of:NpmuT(null)C{name}" for name in re.findall(r'\.compatible = "(.*?)"', text)]
            acpi = [f"acpi:{name}:" for name in re.findall(r'\{ "(\w+)", ', text)]
            self.assertEqual(len(acpi), more)
            self.assertEqual(self.served(machine, [*nodes, *acpi, "acpi:ARMHC601:", "of:NpmuT(null)Carm,cmn-6000", "platform:cmn-600"]),
                             nodes + acpi)


class Key(unittest.TestCase):
    def test_a_key_of_one_s_own_signs_modules_alone(self):
        """Not a boot loader, which shim would start; and it lies nowhere without its passphrase."""
        with tempfile.TemporaryDirectory() as directory:
            script = f"{make_key(directory, 'mine').replace('/tmp/said', '/dev/null')}; cd {directory}; " \
                     "openssl x509 -inform DER -in mok.pub -noout -ext basicConstraints,keyUsage,extendedKeyUsage; head -n 1 mok.key"
            said = subprocess.run(["sh", "-ec", script], check=True, capture_output=True, text=True).stdout
        self.assertEqual(re.findall("(?m)^ +(.*?) *$|^(-.*)", said),
                         [(text, "") for text in ("CA:FALSE", "Digital Signature", "1.3.6.1.4.1.2312.16.1.2")] +
                         [("", "-----BEGIN ENCRYPTED PRIVATE KEY-----")])
        self.assertNotIn(PASSPHRASE, said)
