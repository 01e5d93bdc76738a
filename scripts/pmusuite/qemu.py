# SPDX-License-Identifier: GPL-2.0-only
"""QEMU: Debian's, of the series that all tests were run with, whatever this host has.

It is unpacked into the cache, with its own libraries and firmware, and started by its own dynamic linker. The device models
are compiled against the headers of its very version, and against its suite's GLib.
"""
import functools
import shutil

from . import cache, debian, elf, pins
from .cache import TREE, Error, run

SERIES = "1:10.0."
# Where it may come from: backports of what guests are, whose lists are there anyway; or a later release.
SUITES = ("", "/trixie")
# Of each series' packages beside qemu-system-ARCH: its data, firmware of PCs; and GLib's headers, without what these depend on.
BESIDE = ("qemu-system-data", "qemu-system-common")
FIRMWARE, HEADERS = "seabios", "libglib2.0-dev"
DATA = ("usr/share/qemu", "usr/share/seabios")
# What no guest has: modules for sound, screens and cards, firmware of network cards, and a helper's account.
UNUSED = r"(qemu-system-common|ipxe-qemu|adduser)="


@functools.cache
def pin(arch):
    def find():
        errors = []
        for suffix in SUITES:
            suite = debian.host_arch() + suffix
            try:
                found = [f"{name}={debian.newest(suite, SERIES, name)['Version']}" for name in (arch.qemu_package, *BESIDE)]
                found += [f"{name}={debian.newest(suite, '', name)['Version']}" for name in (FIRMWARE, HEADERS)]
                debian.find_source(suite, "qemu", upstream(found))
                return {suite: found}
            except Error as error:
                errors.append(str(error))
        raise Error("; ".join(errors))

    return pins.Pin(f"qemu-{arch.name}", find, lambda found: found)


def upstream(packages):
    """The version of QEMU's source, of that of Debian's package: 10.0.2+ds of 1:10.0.2+ds-2+deb13u1~bpo12+1."""
    return packages[0].split(":", 1)[1].rsplit("-", 1)[0]


def _unpacked(arch):
    """The directory with the program, and in lib/ and share/ its libraries and data."""
    (suite, found), = pin(arch).get().items()
    packages = pins.with_libraries(pin(arch), suite, [package for package in found if not package.startswith(HEADERS)], UNUSED)

    def build(directory):
        cache.say(f"unpacking QEMU {upstream(found)} for {arch.name}")
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
    (suite, found), = pin(arch).get().items()
    script = TREE / "tests/models/prepare-headers"
    glib = [package for package in found if package.startswith(HEADERS)]

    def build(directory):
        cache.say(f"preparing the headers of QEMU {upstream(found)}")
        tarball = debian.source_tarball(suite, "qemu", upstream(found))
        run([script, tarball, directory], "preparing QEMU's headers")
        debian.unpack(debian.download(suite, glib), directory / "glib")

    root = cache.entry("qemu-headers", cache.key_of(upstream(found), *glib, script), build)
    config = next(root.glob("glib/usr/lib/*/glib-2.0/include"))
    return [f"HEADERS={root}", f"GLIB={root}/glib/usr/include/glib-2.0 {config}"]
