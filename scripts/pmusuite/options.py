# SPDX-License-Identifier: GPL-2.0-only
"""The options of scripts/vm, which are those of a test file's "# vm:" lines as well."""
import argparse
from pathlib import Path

from . import arch, kernel
from .cache import Error
from .guest import Guest

ABOUT = """Run a command in a guest with modelled PMU hardware: the one way into a guest.

Only the command's output is on stdout; the exit status is the command's. It is 99 if the
guest's kernel warned or oopsed, 124 on a timeout, 125 if the guest did not get that far,
120 if Debian's archive lacks what it is made of, and 1 for a command's own 120.
"""


def at_least(least):
    def number(text):
        if int(text) < least:
            raise ValueError
        return int(text)
    return number


def parser():
    found = argparse.ArgumentParser(
        prog="scripts/vm", description=ABOUT, formatter_class=argparse.RawDescriptionHelpFormatter,
        usage="scripts/vm --arch ARCH [OPTION]... [-- CMD...]",
        epilog="example:\n  scripts/vm --arch x86_64 --model snbep,sockets=2 -- \\\n"
               "      perf stat -a -e uncore_imc/cas_count_read/ -- pmu-model add imc0 cas_rd 16384")
    found.add_argument("--arch", default="x86_64", choices=sorted(arch.ARCHES), help="default: %(default)s")
    found.add_argument("--kernel", default="6.1", choices=[*kernel.STOCK, kernel.CLOUD, *kernel.OTHERS, "kunit"],
                       help="a stock Debian kernel, or the debug kernel with KUnit (default: %(default)s)")
    found.add_argument("--driver", default="ours", choices=["ours", "in-tree", "none"],
                       help="which driver to load (default: %(default)s)")
    found.add_argument("--model", action="append", default=[], metavar="SPEC",
                       help="machine to model, NAME[,KEY=VALUE]...; 'help' lists them")
    found.add_argument("--cpus", type=at_least(0), default=0, metavar="N", help="number of CPUs (default: a core for each socket)")
    found.add_argument("--nodes", type=at_least(0), default=0, metavar="N", help="NUMA nodes, each with its share of the CPUs")
    found.add_argument("--timeout", type=at_least(1), default=300, metavar="S", help="seconds (default: %(default)s)")
    found.add_argument("--log", type=Path, metavar="FILE", help="write the guest kernel's log to FILE")
    found.add_argument("--copy", action="append", default=[], metavar="FILE",
                       help="put FILE, or a directory with all that is in it, into the guest's working directory")
    found.add_argument("--tools", action="store_true", help="Python, PAPI, and the programs of tools/ in the PATH")
    found.add_argument("--load", action="append", default=[], metavar="MODULE",
                       help="load another of our modules after the driver, such as a KUnit suite")
    found.add_argument("--udev", action="store_true",
                       help="Debian's udev and kmod, with the modules of both drivers, in /vm/debian")
    found.add_argument("--modules", type=Path, metavar="DIR", help="our modules are those in DIR, not built from the tree")
    found.add_argument("--secure-boot", action="store_true",
                       help="boot by firmware with Secure Boot on, Debian's shim and GRUB (x86_64)")
    found.add_argument("--mok", action="append", default=[], type=Path, metavar="CERT",
                       help="with --secure-boot: the certificate, in DER, of a key that the machine's owner has enrolled")
    found.add_argument("--installed", nargs=2, default=(), type=Path, metavar=("IMAGE", "INITRAMFS"),
                       help="boot the Debian on IMAGE, which stays as it is, by its own INITRAMFS; CMD is one of its programs")
    found.add_argument("--param", action="append", default=[], metavar="MODULE.NAME=VALUE",
                       help="parameter of one of our modules")
    found.add_argument("--append", action="append", default=[], metavar="ARGS", help="add to the kernel command line")
    found.add_argument("--races", action="store_true", help="our modules look for data races, which the log tells of")
    found.add_argument("--allow-warn", action="store_true", help="a kernel warning does not make the run fail")
    found.add_argument("--icount", type=Path, metavar="FILE",
                       help="the guest's time is counted in instructions, on one CPU; FILE gets all accesses to devices")
    found.add_argument("--shell", action="store_true", help="a shell on the terminal instead of CMD")
    return found


def guest(options, command):
    """The Guest that parsed options ask for."""
    if options.mok and not options.secure_boot:
        raise Error("--mok is for --secure-boot: without it, the kernel asks nobody for keys")
    for path in options.mok:
        if not path.is_file() or path.read_bytes()[:1] != b"\x30":
            raise Error(f"--mok {path}: this is no certificate in DER; openssl x509 -outform DER makes one of PEM")
    if options.installed and options.driver != "none":
        raise Error("--installed needs --driver none: what is installed decides")
    if options.icount and options.cpus != 1:
        raise Error("--icount is for a guest of one CPU: add --cpus 1")
    return Guest(
        arch=arch.get(options.arch), kernel=options.kernel, driver=options.driver, models=tuple(options.model),
        cpus=options.cpus, nodes=options.nodes, timeout=options.timeout, shell=options.shell, allow_warn=options.allow_warn,
        append=" ".join(options.append), copies=tuple(options.copy), tools=options.tools, races=options.races, modules=tuple(options.load),
        udev=options.udev, ours=options.modules, secure_boot=options.secure_boot, enrolled=tuple(options.mok),
        installed=tuple(options.installed), parameters=tuple(options.param), command=tuple(command),
        icount=options.icount)
