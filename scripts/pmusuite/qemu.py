# SPDX-License-Identifier: GPL-2.0-only
"""QEMU: Debian's, of the series that all tests were run with, whatever this host has.

It is unpacked into the cache, with its own libraries and firmware, and started by its own dynamic linker. The device models
are compiled against the headers of its very version, and against its suite's GLib.
"""
import functools
import shutil

from . import cache, debian, elf
from .cache import TREE, run
from .choice import Choice, in_turn

SERIES = "1:10.0."
# Where it may come from: backports of what guests are, whose lists are there anyway; or a later release.
SUITES = ("", "/trixie")
# Of each series' packages beside qemu-system-ARCH: its data, firmware of PCs; and GLib's headers, without what these depend on.
BESIDE = ("qemu-system-data", "qemu-system-common")
FIRMWARE = "seabios"
HEADERS = ("libglib2.0-dev", "libgio-2.0-dev")      # the second one since trixie
DATA = ("usr/share/qemu", "usr/share/seabios")
# What no guest has: modules for sound, screens and cards, firmware of network cards, and a helper's account.
UNUSED = r"(qemu-system-common|ipxe-qemu|adduser)="


@functools.cache
def _choice(arch):
    """[suite, version], with the packages of the program and of GLib's headers; its source is then in the cache, too."""
    def candidates(suffix):
        suite = debian.host_arch() + suffix
        return [[suite, fields["Version"]] for fields in debian.stanzas(suite, arch.qemu_package)
                if fields["Version"].startswith(SERIES)]

    def packages(found, lost):
        suite, version = found
        newest = {}
        for fields in debian.stanzas(suite, FIRMWARE, *HEADERS):
            if (package := f"{fields['Package']}={fields['Version']}") not in lost:
                newest.setdefault(fields["Package"], package)
        program = debian.closure(suite, [*(f"{name}={version}" for name in (arch.qemu_package, *BESIDE)), newest.get(FIRMWARE, FIRMWARE)],
                                 lost, UNUSED)
        debian.source_tarball(suite, "qemu", upstream(version))
        return {"program": [suite, program], "glib": [suite, [newest[name] for name in HEADERS if name in newest] or [*HEADERS]]}

    return Choice(f"qemu-{arch.name}", lambda: in_turn(SUITES, candidates), packages, (SERIES, *BESIDE, FIRMWARE, *HEADERS, UNUSED))


def upstream(version):
    """The version of QEMU's source, of that of Debian's package: 10.0.2+ds of 1:10.0.2+ds-2+deb13u1~bpo12+1."""
    return version.split(":", 1)[1].rsplit("-", 1)[0]


def _unpacked(arch):
    """The directory with the program, and in lib/ and share/ its libraries and data."""
    (_, version), parts = _choice(arch).get()
    suite, packages = parts["program"]

    def build(directory):
        cache.say(f"unpacking QEMU {upstream(version)} for {arch.name}")
        source, program = directory / "packages", f"usr/bin/qemu-system-{arch.qemu}"
        debian.unpack(debian.download(suite, packages), source)
        libraries, _ = elf.needed(source, program)
        (directory / "lib").mkdir()
        for name, path in libraries.items():
            shutil.copy(elf.resolve(source, path), directory / "lib" / name)
        shutil.copy(source / program, directory)
        for data in DATA:
            shutil.copytree(source / data, directory / "share", ignore_dangling_symlinks=True, dirs_exist_ok=True)
        shutil.rmtree(source)
        run([*_command(arch, directory), "--version"], "starting QEMU")

    return cache.entry("qemu", f"{arch.qemu}-{cache.key_of(*packages)}", build)


def _command(arch, directory, preload=None):
    name = f"qemu-system-{arch.qemu}"
    linker = next(directory.glob("lib/ld-linux*"))
    return [str(linker), "--library-path", f"{directory}/lib", *(["--preload", str(preload)] if preload else []), "--argv0", name,
            str(directory / name), "-L", f"{directory}/share"]


def command(arch, preload=None):
    """The first words of a command that runs QEMU for @arch, with the shared object @preload."""
    return _command(arch, _unpacked(arch), preload)


def headers(arch):
    """The headers of QEMU and those of its GLib, as make takes them."""
    (suite, version), parts = _choice(arch).get()
    script = TREE / "tests/models/prepare-headers"
    _, glib = parts["glib"]

    def build(directory):
        cache.say(f"preparing the headers of QEMU {upstream(version)}")
        tarball = debian.source_tarball(suite, "qemu", upstream(version))
        run([script, tarball, directory], "preparing QEMU's headers")
        debian.unpack(debian.download(suite, glib), directory / "glib")

    root = cache.entry("qemu-headers", cache.key_of(upstream(version), *glib, script), build)
    config = next(root.glob("glib/usr/lib/*/glib-2.0/include"))
    return [f"HEADERS={root}", f"GLIB={root}/glib/usr/include/glib-2.0 {config}"]
