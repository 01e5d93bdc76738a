# SPDX-License-Identifier: GPL-2.0-only
"""The packages, on demand: test_packages.py on the newest kernel and its suite; upgraded, signed, booted from in a guest."""
import json
import platform
import re
import shutil
import subprocess
from pathlib import Path

import inroot
import test_packages
import test_tree
from inroot import NEXT, PASSPHRASE, VERSION, make_key
from pmusuite import build, cache, kernel as kernels, unittests


class Guests(inroot.InRoot):
    def copy_modules(self, name):
        """A directory with the modules that are installed."""
        modules = self.over / name
        modules.mkdir()
        for path in self.modules():
            shutil.copy(path, modules)
            if path.suffix == ".xz":
                cache.run(["unxz", modules / path.name], "unpacking a module")
        return modules

    def guest(self, *arguments):
        """scripts/vm with the modules that are installed."""
        return unittests.vm(self, "--kernel", self.series, "--driver", "none", "--modules", self.copy_modules("modules"),
                            *arguments)


class Packages(Guests):
    def test_an_upgrade_that_fails(self):
        """The modules of before come back."""
        made = f"/lib/modules/{self.kernel.release}/updates/pmu-suite"
        self.inside(f"dpkg -i {self.deb()}; mkdir {made}; touch {made}/pmu_core.ko")
        self.assertIn("is of no package", self.inside(f"dpkg -i {self.deb()}", status=1))
        # Debian 13's says as well that it keeps what was in the way.
        self.assertEqual(self.inside("dkms status").replace(" (Original modules exist)", ""), self.installed())
        self.assertEqual({path.name.split(".")[0] for path in self.modules()}, {"pmu_core", "intel_imc_pmu"})

    def test_kernels_that_come_later(self):
        """Whether it builds or not, the package manager goes on."""
        self.inside(f"dpkg -i {self.deb()}")
        said = self.inside(self.headers("9.9.9-broken", "false"))
        self.assertIn("is not installed for the kernel 9.9.9-broken, where the kernel's own driver counts", said)
        said = self.inside(self.headers("4.18.0-old", "false"))
        self.assertIn("BUILD_EXCLUSIVE", said)
        self.inside(self.headers("6.1.0-later", f"make -C /usr/src/linux-headers-{self.kernel.release} $@"))
        self.assertEqual(self.inside("dpkg --audit"), "")
        self.assertEqual(sorted(line for line in self.inside("dkms status pmu-suite").splitlines() if ": installed" in line),
                         sorted(f"pmu-suite/{VERSION}, {release}, x86_64: installed" for release in (self.kernel.release, "6.1.0-later")))

    def test_signed_by_dkms_with_a_key_that_nobody_knows(self):
        self.inside(f"dpkg -i {self.deb()}")
        self.assertIn("DKMS", self.inside(f"modinfo -F signer {self.dkms}/pmu_core.ko*"))
        done = self.guest("--append", "module.sig_enforce=1", "--", "sh", "-c", "insmod /vm/modules.d/pmu_core.ko || dmesg | tail")
        self.assertIn("Loading of module with unavailable key is rejected", done.stdout, done.stderr)

    def test_a_guest_boots_from_it(self):
        self.inside(f"dpkg -i {self.deb()}")
        done = self.guest("--udev", "--timeout", "900", "--copy", "tests/guest/lib.sh", "--copy", "tests/guest/boot.sh",
                          "--copy", "tests/guest/intel_imc", "--", "env", "TESTS=asked_for", "sh", "intel_imc/boot.sh")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("ok 1 ours_is_asked_for", done.stdout)

    def test_upgrade_and_downgrade(self):
        """There is one version at a time, and who drives stays as chosen."""
        self.inside(f"dpkg -i {self.deb()}; pmu-driver ours --anyway")
        for version in (NEXT, VERSION, VERSION):
            self.inside(f"dpkg -i --force-downgrade {self.deb(version)} {self.deb(version, 'pmu-suite-tools')}")
            self.assertEqual(self.inside("dkms status"), self.installed(version))
            self.assertEqual(self.inside("ls -d /usr/src/pmu-suite*"), f"/usr/src/pmu-suite-{version}\n")
            self.assertEqual(self.inside(f"modinfo -F version {self.dkms}/intel_imc_pmu.ko*"), f"{version}\n")
            self.assertEqual(self.inside("pmu-top --version"), f"pmu-top {version}\n")
            self.inside("test -e /etc/modprobe.d/pmu-suite.conf")
        self.inside("dpkg --purge pmu-suite-dkms pmu-suite-tools")
        self.assertEqual(self.left(), [])

    def test_each_byte_is_the_same_again(self):
        """Made twice, at once, elsewhere and with a umask that lets nobody else read."""
        self.inside(f"for place in one/tree two; do mkdir -p /tmp/$(dirname $place); cp -r {self.tree()} /tmp/$place; done; "
                    "(umask 077; make -C /tmp/one/tree deb) > /tmp/said 2>&1 & make -C /tmp/two deb > /tmp/said2 2>&1; wait $!; "
                    "cd /tmp/two/dist; for file in *.deb *.tar.xz *.dsc; do cmp $file /tmp/one/tree/dist/$file; done")

    def test_signed_by_the_key_of_all_machines(self):
        """Documentation/install.md, "One key for many machines"."""
        self.inside(f"mkdir /root/mok; {make_key('/root/mok', 'all')} -nodes; printf 'mok_signing_key=/root/mok/mok.key\nmok_certificate=/root/mok/mok.pub\n' "
                    f">> /etc/dkms/framework.conf; dpkg -i {self.deb()}")
        self.assertEqual(self.inside(f"modinfo -F signer {self.dkms}/pmu_core.ko*"), "all\n")

    def test_a_kernel_that_does_not_run(self):
        """DKMS builds for it without headers of the one that does, and cleans behind itself without a complaint."""
        said = self.inside(f"dpkg -i {self.deb()}")
        self.assertNotRegex(said, "(?i)bad exit status|error|deprecated")
        said = self.inside(f"dkms remove pmu-suite/{VERSION} --all; dkms add pmu-suite/{VERSION}; "
                           f"dkms install pmu-suite/{VERSION} -k {self.kernel.release} 2>&1")
        self.assertNotRegex(said, "(?i)bad exit status|error|deprecated")


class OnNewest:
    suite, series = "trixie", kernels.NEWEST


class EverydayOnNewest(OnNewest, test_packages.Packages, test_tree.Lintian):
    pass


class ByDkms(inroot.InRoot):
    """What make has DKMS build."""

    def test_dkms_install_without_headers(self):
        """The running kernel's are missing: that is said, and DKMS builds when it is told that there are some."""
        self.inside("mv /lib/modules/*/build /tmp")
        before = self.left()
        said = self.make("dkms-install")
        running = platform.release()
        self.assertIn(f"linux-headers-{running}; Fedora, RHEL: kernel-devel-{running}), and DKMS builds", said)
        self.assertEqual(self.inside("dkms status"), f"pmu-suite/{VERSION}: added\n")
        # As Debian's package of headers does.
        self.inside(f"mv /tmp/build {self.dkms.removesuffix('/updates/dkms')}; "
                    f"run-parts --arg={self.kernel.release} /etc/kernel/header_postinst.d")
        self.assertEqual(self.inside("dkms status"), self.installed())
        self.make("dkms-uninstall")
        self.inside("mv /lib/modules/*/build /tmp")
        self.assertEqual(self.left(), before)

    def test_no_kernel_gets_the_modules_of_another(self):
        """On RHEL, DKMS has weak-modules link what it built for one kernel into others, and builds nothing for these."""
        self.program("weak-modules", 'echo "$@" >> /tmp/linked')
        self.inside("mv /usr/local/sbin/weak-modules /sbin")    # where DKMS looks
        self.make("dkms-install")
        # As weak-modules does by itself when a kernel is installed; DKMS then says "installed-weak".
        self.inside(f"cd /lib/modules; mkdir -p 6.1.0-later/weak-updates; ln -s /lib/modules/{self.kernel.release}/build 6.1.0-later; "
                    f"ln -s {self.dkms}/*.ko* 6.1.0-later/weak-updates")
        self.inside(f"/usr/lib/pmu-suite/dkms-build pmu-suite/{VERSION}")
        self.assertEqual(sorted(self.inside("dkms status").splitlines()),
                         sorted(f"pmu-suite/{VERSION}, {release}, x86_64: installed" for release in (self.kernel.release, "6.1.0-later")))
        self.inside("make -C /tmp/tree dkms-uninstall; test ! -e /tmp/linked; rm -r /sbin/weak-modules /lib/modules/6.1.0-later")
        self.assertEqual(self.left(), [])


class ByDkmsOnNewest(OnNewest, ByDkms):
    pass


class MakeOnNewest(OnNewest, test_packages.Make):
    pass


class PackagesOnNewest(OnNewest, Packages):
    pass


class OldDkms(inroot.InRoot):
    """DKMS 2.8 of Debian 11: Ubuntu 22.04 has 2.8, too. No guest runs this suite's packages."""

    suite, series = "bullseye", "5.10"

    def test_installed_and_removed(self):
        self.assertRegex(self.inside("dkms --version"), r"\b2\.8")
        self.inside(f"dpkg -i {self.deb()}; pmu-driver ours --anyway")
        self.assertEqual({path.name for path in self.modules()}, {"pmu_core.ko", "intel_imc_pmu.ko"})
        self.inside(f"dpkg -i {self.deb(NEXT)}; test -e /etc/modprobe.d/pmu-suite.conf")
        self.assertEqual(self.inside(f"modinfo -F version {self.dkms}/intel_imc_pmu.ko; ls -d /usr/src/pmu-suite*"),
                         f"{NEXT}\n/usr/src/pmu-suite-{NEXT}\n")
        self.inside("dpkg --remove pmu-suite-dkms")
        self.assertEqual(self.left(), test_packages.HOOKS)
        self.inside("dpkg --purge pmu-suite-dkms")
        self.assertEqual(self.left(), [])

    def test_a_kernel_for_which_it_does_not_build(self):
        self.inside(f"dpkg -i {self.deb()}")
        said = self.inside(self.headers("9.9.9-broken", "false"))
        self.assertIn("is not installed for the kernel 9.9.9-broken, where the kernel's own driver counts", said)

    def test_by_make(self):
        self.make("dkms-install")
        self.assertIn(f"{self.kernel.release}, x86_64: installed", self.inside("dkms status"))
        self.make("dkms-uninstall")
        self.assertEqual(self.left(), [])


class SecureBoot(Guests):
    """Modules in a guest with Secure Boot, and keys that its owner has enrolled."""

    # Clocks: under lockdown nobody reaches the model by its memory.
    LOAD = ("mount -t securityfs security /sys/kernel/security; cat /sys/kernel/security/lockdown; dmesg | grep secureboot:; "
            "cd /vm/modules.d; insmod pmu_core.ko && insmod intel_imc_pmu.ko && "
            "echo clocks: $(pmu-event uncore_imc_0:0xff -x 'sleep 0.1') || dmesg | grep 'Loading of'")

    def boot(self, script, *arguments):
        """What @script says in a guest, which has to say of itself that Secure Boot is on."""
        done = self.guest("--secure-boot", *arguments, "--", "sh", "-c", f"({script}) 2>&1")
        self.assertIn("secureboot: Secure boot enabled", done.stdout, done.stdout + done.stderr)
        self.assertIn("[integrity]", done.stdout)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def sign(self):
        """By a key of one's own, whose certificate is returned; installed is first what is not signed."""
        self.inside(make_key("/tmp", "mine"))
        self.make("install")
        unsigned = self.copy_modules("unsigned")
        self.make(f"sign KEY=/tmp/mok.key CERT=/tmp/mok.pub KBUILD_SIGN_PIN={PASSPHRASE}")
        self.make("install")
        return self.over / "upper/tmp/mok.pub", unsigned

    def test_own_key_enrolled(self):
        """What it signed loads and counts; what it did not sign is refused."""
        certificate, unsigned = self.sign()
        said = self.boot(f"insmod unsigned/pmu_core.ko; dmesg | grep 'Loading of'; {self.LOAD}", "--mok", certificate,
                         "--copy", unsigned)
        self.assertIn("can't insert 'unsigned/pmu_core.ko': Key was rejected by service", said)
        self.assertIn("Loading of unsigned module is rejected", said)
        self.assertNotIn("can't insert 'pmu_core.ko'", said)
        self.assertRegex(said, "clocks: [1-9]")

    def test_own_key_not_enrolled(self):
        self.sign()
        said = self.boot(self.LOAD)
        self.assertIn("can't insert 'pmu_core.ko': Key was rejected by service", said)
        self.assertIn("Loading of module with unavailable key is rejected", said)

    def test_key_of_dkms_enrolled(self):
        self.inside(f"dpkg -i {self.deb()}")
        self.assertRegex(self.boot(self.LOAD, "--mok", self.over / "upper/var/lib/dkms/mok.pub"), "clocks: [1-9]")


class Installed(Guests):
    """Debian with systemd, as it boots from a disk by an initramfs of dracut's."""

    # Not with what no boot reads.
    LEFT_OUT = "tmp boot var/cache usr/include usr/lib/gcc usr/share usr/src"

    def initramfs(self):
        """What of the suite a new initramfs has, which is for a machine with a disk."""
        self.inside("dracut -q --force --hostonly --nostrip --no-compress --add rootfs-block --filesystems ext4 "
                    f"--add-drivers 'virtio_pci virtio_blk' /boot/initramfs {self.kernel.release} 2> /tmp/said || {{ cat /tmp/said; false; }}")
        files = re.findall(r"(?m)\S+$", self.inside("lsinitrd /boot/initramfs"))
        self.assertIn("usr/lib/systemd/systemd-modules-load", files)
        return {Path(name).name.removesuffix(".xz") for name in files
                if re.search(r"pmu.*\.(ko|conf)", Path(name).name)}

    BLOCK = "(?:^    .*\n|^\n)+"

    def page(self, title):
        """The blocks of commands below a heading of Documentation/fleet.md, each in one string."""
        part = (cache.TREE / "Documentation/fleet.md").read_text().split(f"# {title}\n")[1].split("\n#")[0]
        return [re.sub("(?m)^    ", "", block).strip() for block in re.findall(rf"(?m){self.BLOCK}", part) if block.strip()]

    def boot(self, program, *arguments):
        """What @program says after a boot of what is installed, by the initramfs."""
        self.inside("mkdir -p /tmp/root; mount --bind / /tmp/root; cd /tmp/root; "
                    f"for name in {self.LEFT_OUT}; do mount -t tmpfs none $name; done; "
                    "mke2fs -q -t ext4 -d . /mnt/disk 4G")
        done = unittests.vm(self, "--kernel", self.series, "--driver", "none", "--timeout", "900", *arguments,
                            "--installed", self.work / "disk", self.over / "upper/boot/initramfs", "--", program)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout


class Service(Installed):
    """pmu-top.service, under systemd."""

    packages = ("linux-headers-{}", "linux-image-{}", "systemd", "udev", "dracut", "prometheus", "prometheus-node-exporter")
    LEFT_OUT = "tmp boot var/cache usr/include usr/lib/gcc usr/share/doc usr/share/man usr/share/locale usr/src"
    PROMETHEUS = """global: {scrape_interval: 5s, evaluation_interval: 5s}
rule_files: [/usr/share/pmu-suite/prometheus/pmu-top.rules.yml]
scrape_configs: [{job_name: node, static_configs: [{targets: [localhost:9100]}]}]"""

    def test_what_prometheus_keeps_is_what_the_model_did(self):
        shutil.copy(build.guest_program(inroot.ARCH, "pmu-model"), self.work / "pmu-model")
        shutil.copy(cache.TREE / "tests/packages/what-counts.py", self.work / "what-counts")
        self.make("install install-tools PREFIX=/usr")
        self.inside("pmu-driver ours --anyway; install -m 755 /mnt/pmu-model /mnt/what-counts /usr/local/bin/; "
                    f"cat > /etc/prometheus/prometheus.yml <<'EOT'\n{self.PROMETHEUS}\nEOT\n")
        self.initramfs()
        said = json.loads(self.boot("what-counts", "--model", "snbep,sockets=2", "--cpus", "2"))
        print(f"# {said}")
        journal = said["journal"]
        self.assertEqual(said["enabled"], "disabled")
        self.assertEqual((said["state"], said["file"], said["readers"], said["mode"], said["driver"]),
                         ("active", True, ["prometheus"], "0o100640", True), journal)
        # One right alone: CAP_PERFMON is number 38.
        one = f"{1 << 38:016x}"
        self.assertEqual({said["status"][name] for name in ("CapEff", "CapPrm", "CapBnd")}, {one})
        self.assertNotIn("0", said["status"]["Uid"].split())
        self.assertEqual((said["status"]["Seccomp"], said["status"]["NoNewPrivs"]), ("2", "1"))
        self.assertTrue(said["scraped"], journal)
        self.assertEqual(said["total"], 0)
        self.assertAlmostEqual(said["rate in what was observed"], 1, delta=0.01)
        # A scrape sees the last interval that has ended, and in a guest on a busy host that may be some seconds ago.
        self.assertAlmostEqual(said["rate"], 1, delta=0.1)
        self.assertAlmostEqual(said["rule"], 1, delta=0.1)
        self.assertEqual((said["scrape error"], said["after a restart"]), (0, 64e6))
        self.assertLess(said["age"], 30)
        self.assertGreaterEqual(said["resets"], 1)
        self.assertEqual((said["result"], said["left"]), ("success", False), journal)
        self.assertEqual((said["no driver"], said["a late driver"]), (["activating", "1"], True))
        self.assertEqual(said["without"], ["failed", "3", "0"])


    def test_a_record_that_is_played(self):
        """Through a real node_exporter into a real Prometheus: rate() of each channel is the record's, within 1 %."""
        said = json.loads(self.inside(f"mkdir /tmp/played; python3 {self.tree()}/tests/packages/plays-a-record.py {self.tree()} "
                                      "/tmp/played || { tail /tmp/played/*.log; false; }"))
        self.assertEqual(set(said["found"]), set(said["wanted"]))
        for channel, value in said["wanted"].items():
            self.assertAlmostEqual(said["found"][channel] / value, 1, delta=0.01, msg=channel)
        self.assertEqual((said["error"], said["rules"], said["alerts"]), (0, 2, []))


class Pcp(Installed):
    """Performance Co-Pilot, as Documentation/fleet.md has it."""

    packages = ("linux-headers-{}", "linux-image-{}", "systemd", "udev", "dracut", "pcp")
    LEFT_OUT = Service.LEFT_OUT

    def test_what_pcp_keeps_is_what_the_model_did(self):
        shutil.copy(build.guest_program(inroot.ARCH, "pmu-model"), self.work / "pmu-model")
        shutil.copy(cache.TREE / "tests/packages/what-pcp-keeps.py", self.work / "what-pcp-keeps")
        self.make("install install-tools PREFIX=/usr")
        self.inside("pmu-driver ours --anyway; install -m 755 /mnt/pmu-model /mnt/what-pcp-keeps /usr/local/bin/")
        self.initramfs()
        said = json.loads(self.boot("what-pcp-keeps", "--model", "snbep,sockets=2", "--cpus", "4", "--nodes", "4"))
        print(f"# {said}")
        # An instance for each socket, by the CPU that owns its counters; bytes, though PCP takes them for counts.
        socket_0, socket_1 = said["read"]
        self.assertEqual((said["read"], said["write"]), ({socket_0: 64e6, socket_1: 0}, {socket_0: 0, socket_1: 64e6}))
        self.assertRegex(said["units"], "Semantics: counter  Units: count")
        self.assertEqual(said["raw"], {socket_0: 1e6, socket_1: 0})         # no scale
        self.assertEqual(said["shorter"], 2)                                # asked for is cas_count_read, not cas_count
        heading, *lines = said["archive"]
        self.assertEqual(len(heading), 5)
        seen = [[float(word) for word in line[1:]] for line in lines if "" not in line[1:]]
        self.assertEqual([last - first for first, last in zip([64e6, 0, 0, 64e6], seen[-1])], [320e6, 0, 0, 320e6])
        self.assertIn("# TYPE perfevent_derived_memory_read_bytes_value counter\n", said["proxy"])
        self.assertRegex(said["proxy"], rf'(?m)^perfevent_derived_memory_read_bytes_value\{{.*"{socket_0}".*\}} 384000000$')
        # While pmcd runs, the driver stays.
        self.assertNotEqual(said["busy"][0], 0)
        self.assertEqual(said["free"], [0, ""])
        # Each of a socket's two nodes has all of it.
        self.assertEqual(sorted(said["node"].values()), [0, 0, 1e6, 1e6])

    def test_what_pcp_costs(self):
        """What the page reckons a thousand machines with; and its commands for the machine that logs them."""
        title = "A thousand machines with PCP"
        (self.work / "farm").write_text(self.page(title)[0])
        said = json.loads(self.inside(f"unshare --net python3 {self.tree()}/tests/packages/what-pcp-costs.py {self.tree()} /mnt/farm"))
        print(f"# {said}")
        text = (cache.TREE / "Documentation/fleet.md").read_text().split(f"# {title}\n")[1].split("\n#")[0]
        rows = re.findall(r"(?m)^\| .* \| (\d+) \| (\d+) \| ([\d.]+) MB \| (\d+) GB \|$", text)
        self.assertEqual([metrics for metrics, *_ in rows], [metrics for metrics in said["weight"] if metrics != "1"])
        for metrics, sample, day, fortnight in rows:
            one = said["weight"][metrics]
            self.assertEqual(one["bytes"], float(sample))
            self.assertEqual((f"{one['bytes'] * 8640 / 1e6:.1f}", f"{one['bytes'] * 8640 * 14 / 1e6:.0f}"), (day, fortnight))
            # As the page has it, with room for a busy host.
            self.assertLess(one["pmdaperfevent"] + one["pmcd"], 5)
            self.assertLess(one["pmlogger"], 1)
            self.assertLess(one["memory"], 2400)
        self.assertEqual(set(said["farm"]), {"localhost", "127.0.0.1"})
        for heading in said["farm"].values():
            self.assertIn("perfevent.derived.memory_read_bytes.value-cpu0", heading)


class Dracut(Installed):
    """What RHEL and Fedora make an initramfs with, on Debian: their initramfs is for one machine and has what that loads."""

    packages = ("linux-headers-{}", "linux-image-{}", "systemd", "udev", "dracut")

    def test_a_boot_by_an_initramfs_of_before(self):
        """What is installed and chosen now is what drives, without a new initramfs."""
        # The functions of channel 0, of each socket.
        self.program("what-drives", 'for device in $(grep -lx 0x3cb0 /sys/bus/pci/devices/*/device); do '
                     'basename $(readlink ${device%/*}/driver); done; cd /sys/module; cat pmu_core/version intel_imc_pmu/version || :')
        self.inside(f"dpkg -i {self.deb()}; pmu-driver ours --anyway")
        self.initramfs()
        for change, found in ((f"dpkg -i {self.deb(NEXT)}", ["intel_imc_pmu", NEXT, NEXT]), ("pmu-driver in-tree", ["snbep_uncore"]),
                              ("pmu-driver ours --anyway; dpkg --remove pmu-suite-dkms", ["snbep_uncore"])):
            self.inside(change)
            self.assertEqual(self.boot("what-drives").splitlines(), found, change)

    def test_an_initramfs_has_nothing_of_the_suite(self):
        """Or it would load a module that is installed no more, whatever pmu-driver says."""
        self.inside(f"dpkg -i {self.deb()}")
        for command in "ours --anyway", "in-tree":
            self.inside(f"pmu-driver {command}")
            self.assertEqual(self.initramfs(), set(), command)
        self.inside("pmu-driver ours --anyway; mkdir /tmp/away; mv /usr/lib/dracut/dracut.conf.d/50-pmu-suite.conf /tmp/away")
        self.assertEqual(self.initramfs(), {"pmu_core.ko", "intel_imc_pmu.ko"})
        self.inside("mv /usr/lib/dracut/modules.d/99pmu-suite /tmp/away")
        self.assertEqual(self.initramfs(), {"pmu_core.ko", "intel_imc_pmu.ko", "pmu-suite.conf"})


class Fleet(Installed):
    """Documentation/fleet.md with two machines, which have no compiler: built once, installed, asked, and back."""

    packages = Dracut.packages
    # ssh runs here what it would run there; what the loop over all machines prints is the answer.
    ROUND = """cd /root; echo node > hosts
ssh() {{ shift; sh -c "$*"; }}
ask() {{
    echo "$1: $(
    {ask}
    )"
    for file in $(grep -lx {device} /sys/bus/pci/devices/*/device); do basename "$(readlink "${{file%/*}}/driver")"; done | sort -u
}}
ask "as it booted"
pmu-driver {first} 2> /dev/null
ask "after {first}"
pmu-driver {last}
ask "after {last}"
dmesg | grep -c -e 'BUG:' -e 'WARNING:' || :
"""
    def image(self):
        """What the page builds, in the place that all machines see."""
        self.inside(f"cp -r {self.tree()} /tmp/tree; cd /tmp/tree; RELEASE={self.kernel.release}; "
                    f"{make_key('.', 'fleet')}; " + self.page("Build once")[0] + "; mv pmu-suite-*.tar /mnt")

    def machine(self, model, device, first, last):
        """A machine of its own: it gets the image, is told to have our driver, and boots. What its round says."""
        self.over = self.work.parent / f"machine-{model}"
        self.addCleanup(shutil.rmtree, self.over)
        self.inside(f"rm -rf /usr/lib/ccache; rm -f /usr/bin/*gcc* /usr/bin/cc /usr/bin/make; cd /mnt; RELEASE={self.kernel.release}; {self.page('Build once')[1]}; "
                    "pmu-driver ours --anyway")
        ask = next(block for block in self.page("Roll out, and ask") if block.startswith("for host"))
        self.program("round", self.ROUND.format(ask=ask, device=device, first=first, last=last))
        self.initramfs()
        return self.boot("round", "--model", f"{model},sockets=2", "--cpus", "2").splitlines()

    def test_two_machines(self):
        self.image()
        back = self.page("Back")[0].splitlines()[0].partition("#")[0].removeprefix("pmu-driver ").strip()
        # One is told to go back at the next boot, and is not as chosen until then; or goes back at once, as the page has it.
        self.assertEqual(self.machine("snbep", "0x3cb0", "in-tree", "ours --now"), [
            "as it booted: ", "intel_imc_pmu", "after in-tree: node: 3", "intel_imc_pmu",
            "after ours --now: ", "intel_imc_pmu", "0"])
        self.assertEqual(self.machine("skx", "0x2042", back, "ours --now"), [
            "as it booted: ", "intel_imc_pmu", f"after {back}: ", "skx_uncore", "after ours --now: ", "intel_imc_pmu", "0"])


class SecureBootOnNewest(OnNewest, SecureBoot):
    pass


class Make(inroot.InRoot):
    """The same by make alone, of the tree."""

    def test_destdir(self):
        self.make("install DESTDIR=/tmp/into INSTALL_MOD_PATH=/tmp/modules PREFIX=/usr")
        self.assertEqual(self.left(), [])
        self.assertEqual(self.inside("cd /tmp; find into modules -type f | sort").split(), [
            "into/usr/lib/dracut/dracut.conf.d/50-pmu-suite.conf", "into/usr/lib/dracut/modules.d/99pmu-suite/module-setup.sh",
            "into/usr/sbin/pmu-driver", "into/usr/share/man/man8/pmu-driver.8",
            f"modules/lib/modules/{self.kernel.release}/updates/pmu-suite/intel_imc_pmu.ko",
            f"modules/lib/modules/{self.kernel.release}/updates/pmu-suite/pmu_core.ko"])
        self.make("uninstall DESTDIR=/tmp/into INSTALL_MOD_PATH=/tmp/modules PREFIX=/usr")
        self.assertEqual(self.inside("cd /tmp; find into modules -type f"), "")

    def test_an_image_for_machines_without_a_compiler(self):
        """Documentation/fleet.md, "Build once". The links and rights of the machine stay as they are, and nothing is whoever's
        has built it."""
        page = (cache.TREE / "Documentation/fleet.md").read_text()
        build_it, unpack = (re.findall(r"(?m)^    (.+)$", part) for part in
                            page.split("## Build once")[1].split("## One machine first")[0].split("On each machine, as root:"))
        build_it.insert(-1, "chown -R 65534 image")
        self.inside(f"cp -r {self.tree()} /tmp/tree; mkdir -m 700 /tmp/tree/image; cd /tmp/tree; RELEASE={self.kernel.release}; "
                    f"{make_key('.', 'fleet')}; " + "; ".join(build_it))
        self.assertEqual(self.left(), [])
        self.inside(f"RELEASE={self.kernel.release}; cd /tmp/tree; {unpack[0]}")
        self.assertEqual(self.inside("find /usr/sbin/pmu-driver /lib/modules/*/updates /usr/lib/dracut ! -user 0"), "")
        self.assertEqual(self.inside("readlink /lib; stat -c %a / /usr"), "usr/lib\n755\n755\n")
        self.assertEqual(self.inside(f"modinfo -k {self.kernel.release} -F signer intel_imc_pmu; command -v pmu-driver"),
                         "fleet\n/usr/sbin/pmu-driver\n")
        remove = re.search(r"(?m)^    (tar -tf .*)$", page.split("## Back")[1])[1]
        self.inside(f"RELEASE={self.kernel.release}; cd /tmp/tree; {remove}")
        self.assertEqual(self.left(), [])

    def test_umask(self):
        """What root installs with a umask that lets nobody else read, others can read as ever."""
        self.inside(f"cp -r {self.tree()} /tmp/tree")
        self.inside("cd /tmp/tree; umask 077; make install-driver install-tools dkms-source dkms-hooks PREFIX=/usr DESTDIR=/tmp/into")
        self.assertEqual(self.inside("cd /tmp/into; find . -type d ! -perm 755 -o -type f ! -perm -444"), "")
        self.inside(f"cd /tmp/tree; umask 077; make install KDIR=/lib/modules/{self.kernel.release}/build")
        self.assertEqual(self.inside(f"cd /lib/modules/{self.kernel.release}; find . -type f ! -perm -444; find updates -type d ! -perm 755"), "")

    def test_dkms(self):
        """Another version takes the place of the first; uninstalled, nothing is left."""
        for version in (VERSION, NEXT, VERSION):
            self.inside("rm -rf /tmp/tree")
            self.make("dkms-install", version)
            self.assertEqual(self.inside("dkms status"), self.installed(version))
        self.assertIn(f"/usr/src/pmu-suite-{VERSION} is of no package", self.inside(f"dpkg -i {self.deb(NEXT)}", status=1))
        self.make("dkms-uninstall")
        self.assertEqual(self.left(), [])

    def test_a_package_is_not_touched(self):
        self.inside(f"dpkg -i {self.deb()}")
        for goal in "dkms-install", "dkms-uninstall":
            self.assertIn("is of a package (pmu-suite-dkms)", self.make(goal, status=2))
        self.inside("pmu-driver ours --anyway")
        before = self.left()
        self.make("uninstall PREFIX=/usr")
        self.assertEqual((self.left(), self.inside("dpkg --verify pmu-suite-dkms")), (before, ""))

    def test_a_package_of_programs_is_not_touched(self):
        """Beside it, below another PREFIX, make installs and removes its own."""
        self.inside(f"dpkg -i {self.deb(name='pmu-suite-tools')}")
        before = self.left()
        for goal in "install-tools", "uninstall-tools":
            self.assertIn("/usr/share/pmu-suite is of a package: remove pmu-suite-tools first",
                          self.make(f"{goal} PREFIX=/usr", status=2))
            self.make(goal)
        self.assertEqual((self.left(), self.inside("dpkg --verify pmu-suite-tools")), (before, ""))

    def test_sign(self):
        """By a key of one's own: signed is what was built, and the certificate says that it is genuine."""
        self.inside(make_key("/tmp", "mine"))
        self.make("modules")
        self.assertIn("No key: name it with KEY=", self.make("sign", status=2))
        self.make(f"sign KEY=/tmp/mok.key CERT=/tmp/mok.pub KBUILD_SIGN_PIN={PASSPHRASE}")
        self.make("install")
        for module in ("pmu_core", "intel_imc_pmu"):
            self.assertEqual(self.inside(f"modinfo -k {self.kernel.release} -F signer {module}"), "mine\n")

    def test_build_leaves_nothing_that_git_sees(self):
        self.make("modules")
        upper = self.over / "upper/tmp/tree"
        subprocess.run(["git", "init", "-q", upper], check=True)
        seen = subprocess.run(["git", "-C", upper, "ls-files", "--others", "--exclude-standard"], check=True,
                              capture_output=True, text=True).stdout.splitlines()
        self.assertEqual(set(seen) - set(cache.tree_files(".")), set())
        shutil.rmtree(upper / ".git")
        self.make("clean")
        names = {str(path.relative_to(upper)) for path in upper.rglob("*") if path.is_file()}
        self.assertEqual(names - set(cache.tree_files(".")), set())

    def test_without_what_it_needs_it_says_so(self):
        self.inside("rm /usr/bin/help2man /usr/bin/dh_dkms; rm -r /lib/modules/*/build; cp -r " + self.tree() + " /tmp/tree")
        before = self.left()
        for goal, sentence in (("install-tools", "The pages need help2man"), ("dist", "is no clone of the repository"),
                               ("install", "No kernel headers in /lib/modules/"),
                               ("install KDIR=/nowhere", "No kernel headers in /nowhere")):
            self.assertIn(sentence, self.inside(f"cd /tmp/tree; make {goal}", status=2))
        self.assertEqual(self.left(), before)
        self.inside(f"dpkg -i {self.deb()}")
        self.assertEqual(self.inside("dkms status"), f"pmu-suite/{VERSION}: added\n")
        self.inside("dpkg --purge pmu-suite-dkms")
        self.assertEqual(self.left(), before)


class Autopkgtest(inroot.InRoot):
    """Debian's runner of the tests that the source package declares; one needs a network, and boots a guest from nothing."""

    packages = ("linux-headers-amd64", "autopkgtest", "dctrl-tools")

    def test_what_is_declared_passes(self):
        # 2: one was skipped.
        said = self.inside(f"cd {self.dist()}; apt-get update -q; autopkgtest *.dsc *.deb -- null 2>&1 || [ $? = 2 ]")
        for name in "dkms", "tools":
            self.assertRegex(said, rf"(?m)^{name} +PASS")
        if re.search("(?m)^guest +SKIP", said):
            self.skipTest("the headers that Debian has now are of no kernel that guests have")
        self.assertRegex(said, "(?m)^guest +PASS")


class Rpm(inroot.InRoot):
    """What Debian's rpm makes of the spec file, installed by that rpm with Debian's DKMS."""

    packages = (*inroot.InRoot.packages, "rpmlint")

    def rpm(self, version=VERSION):
        self.inside(f"rm -rf /tmp/tree; cp -r {self.tree(version)} /tmp/tree; make -C /tmp/tree rpm")
        return f"/tmp/tree/dist/*-{version}-1.noarch.rpm"

    def test_installed_upgraded_and_removed(self):
        # Where rpm looks for programs.
        self.program("systemctl", 'echo "$@" >> /tmp/asked')
        self.inside(f"mv /usr/local/sbin/systemctl /usr/sbin; rpm -i --nodeps {self.rpm()}; pmu-driver ours --anyway; test ! -e /tmp/asked")
        self.assertEqual(self.inside("dkms status"), self.installed())
        self.assertEqual({path.name.split(".")[0] for path in self.modules()}, {"pmu_core", "intel_imc_pmu"})
        self.inside(f"rpm -U --nodeps {self.rpm(NEXT)}; test -e /etc/modprobe.d/pmu-suite.conf")
        self.assertEqual(self.inside("dkms status"), self.installed(NEXT))
        self.assertEqual(self.inside("ls -d /usr/src/pmu-suite*"), f"/usr/src/pmu-suite-{NEXT}\n")
        self.assertEqual(self.inside("pmu-top --version"), f"pmu-top {NEXT}\n")
        self.assertEqual(self.inside("cat /tmp/asked; rm /tmp/asked"), "daemon-reload\ntry-restart pmu-top.service\n")
        self.inside("rpm -e pmu-suite-dkms pmu-suite-tools")
        self.assertEqual(self.inside("cat /tmp/asked; rm /usr/sbin/systemctl"), "disable --now pmu-top.service\n")
        self.assertEqual(self.left(), [])

    def test_modules_that_are_not_built_are_told(self):
        """There is no kernel-devel of the running kernel, and for another one the build fails. The installation goes on."""
        self.inside("mv /lib/modules/*/build /tmp; mkdir /lib/modules/9.9.9-broken /tmp/broken; ln -s /tmp/broken /lib/modules/9.9.9-broken/build; "
                    f"cp /usr/src/linux-headers-{self.kernel.release}/.config /tmp/broken; mkdir /tmp/broken/include; "
                    "printf '%%:\n\tfalse\n' > /tmp/broken/Makefile")
        said = self.inside(f"rpm -i --nodeps {self.rpm()}")
        self.assertIn(f"kernel-devel-{platform.release()}), and DKMS builds", said)
        self.assertIn("is not installed for the kernel 9.9.9-broken, where the kernel's own driver counts", said)
        self.assertEqual(self.inside("dkms status"), f"pmu-suite/{VERSION}: added\n")

    def test_the_source_package_makes_the_same_packages(self):
        """As mock does it, from what it has alone."""
        self.inside(f"ls {self.rpm()} > /tmp/made; rpmbuild --rebuild --nodeps --define '_topdir /tmp/again' /tmp/tree/dist/*.src.rpm > /tmp/said 2>&1")
        self.assertEqual([Path(name).name for name in self.inside("cat /tmp/made").split()],
                         [Path(name).name for name in self.inside("ls /tmp/again/RPMS/noarch/*.rpm").split()])

    def test_rpmlint_has_nothing_to_say(self):
        said = self.inside(f"ls {self.rpm()}; cd /tmp/tree; "
                           "rpmlint -r scripts/packaging/pmu-suite.rpmlintrc scripts/packaging/pmu-suite.spec dist/*.rpm")
        self.assertIn("3 packages and 1 specfiles checked; 0 errors, 0 warnings", said)

    def test_what_is_in_it(self):
        files = self.inside(f"rpm -qlp {self.rpm()}").split()
        source = f"/usr/src/pmu-suite-{VERSION}"
        self.assertLessEqual({"/usr/sbin/pmu-driver", "/usr/bin/pmu-top", f"{source}/dkms.conf", f"{source}/drivers/core/event.c",
                              "/usr/share/man/man1/pmu-check.1"}, set(files))
        self.assertEqual([name for name in files if name.startswith(("/etc", "/lib"))], [])
