# SPDX-License-Identifier: GPL-2.0-only
"""A guest's root: an uncompressed initramfs, in parts that the kernel unpacks one after the other.

The base holds Debian's busybox, perf and other clients with the libraries they need or stubs of these, and a
kernel's own modules that a guest may load. Python is a part of its own, for guests that want it.
The overlay, made for each run, holds what is tried.
"""
import functools
import re
import shutil
import subprocess
from pathlib import Path

from . import build, cache, choice, debian, elf
from .arch import ARCHES
from .cache import TREE, Error, run
from .kernel import STOCK

# Debian's Python, with the packages that our tools import, and the parts of its library that no guest needs; and PAPI, which
# finds events through libpfm4.
PYTHON, PAPI = "usr/bin/python3", "usr/bin/papi_command_line"
PYTHON_PACKAGES = ("python3-minimal", "python3", "python3-rich", "papi-tools")
PYTHON_UNUSED = ("ensurepip", "distutils", "lib2to3", "pydoc_data", "idlelib", "config-*", "pygments", "pkg_resources",
                 "setuptools", "markdown_it", "mdurl")

# What perf is linked with for nothing that is done in a guest: scripts in Python and Perl, traces of another format, and servers
# that are asked for debugging information, by way of 25 other libraries. An emulated CPU takes half of perf's start to link
# these. They are not even fetched.
UNUSED_BY_PERF = re.compile(r"libpython3|libperl\.|libbabeltrace|libdebuginfod\.")
UNUSED_PACKAGES = r"(perl|python3|libperl5\.|libpython3\.|libbabeltrace|libdebuginfod)[^=]*="

# What loads modules at boot, in a root of its own: it would replace what busybox has.
UDEV_ROOT = "/vm/debian"
UDEV = {"udev": ("bin/udevadm", "lib/systemd/systemd-udevd", "lib/udev/rules.d/80-drivers.rules"),
        "systemd": ("lib/systemd/systemd-modules-load",), "kmod": ("bin/kmod",), "dash": ("bin/dash",),
        "busybox-static": ("bin/busybox",), "findutils": ("usr/bin/find",)}
KMOD_NAMES = ("depmod", "insmod", "lsmod", "modinfo", "modprobe", "rmmod")
MODULE_LISTS = ("modules.order", "modules.builtin", "modules.builtin.modinfo")

# Modules of the stock kernel that the harness itself needs, where they are not built in.
HARNESS_MODULES = ("virtio_pci", "virtio_console")


def _cpio(directory, target):
    names = "\n".join(sorted(str(p.relative_to(directory)) for p in directory.rglob("*")))
    with open(target, "wb") as out:
        done = subprocess.run(["cpio", "--quiet", "-o", "-H", "newc", "-R", "0:0"], cwd=directory,
                              input=names.encode(), stdout=out, stderr=subprocess.PIPE)
    if done.returncode:
        raise Error(f"cpio failed: {done.stderr.decode(errors='replace')}")
    # A whole number of blocks, so that another archive can follow.
    with open(target, "ab") as out:
        out.write(b"\0" * (-out.tell() % 512))


def _module_closure(kernel, names):
    """The files of modules and of what they depend on; a name that is built in has none."""
    dependencies = {}
    for line in (kernel.modules / "modules.dep").read_text().splitlines():
        module, needs = line.split(":")
        dependencies[Path(module).stem.replace("-", "_")] = [module, *needs.split()]
    return sorted({path for name in names for path in dependencies.get(name.replace("-", "_"), ())})


def _copy_modules(kernel, root, names):
    target = root / "lib/modules" / kernel.release
    for module in _module_closure(kernel, names):
        (target / module).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(kernel.modules / module, target / module)
    target.mkdir(parents=True, exist_ok=True)
    for name in ("modules.order", "modules.builtin"):
        shutil.copy(kernel.modules / name, target)
    run(["/sbin/depmod", "-b", root, kernel.release], "depmod")


@functools.cache
def packages(arch, series):
    """perf of the kernel @series, if there is one of it, or else of the newest of these, or else any; and busybox."""
    series = next((one for one in STOCK if series.partition("-")[0] == one), STOCK[-1])

    def candidates():
        perfs = [fields["Version"] for fields in debian.stanzas(arch.debian, "linux-perf")]
        perfs.sort(key=lambda version: not version.startswith(f"{series}."))
        return [[f"linux-perf={version}", "busybox-static"] for version in perfs]

    return choice.of_programs(f"guest-{arch.name}-{series}", arch.debian, candidates, unused=UNUSED_PACKAGES)


def program(arch, package):
    """The .deb of a @package whose libraries perf has brought, or that needs none, for a test of its own."""
    def candidates():
        return [f"{package}={fields['Version']}" for fields in debian.stanzas(arch.debian, package)]

    chosen = choice.Choice(f"{package}-{arch.name}", candidates, lambda found, _: {"package": [arch.debian, [found]]})
    return debian.download(*chosen.get()[1]["package"])


@functools.cache
def _python(arch):
    return choice.of_programs(f"python-{arch.name}", arch.debian, lambda: [PYTHON_PACKAGES], *PYTHON_PACKAGES)


@functools.cache
def _udev(arch):
    return choice.of_programs(f"udev-{arch.name}", arch.debian, lambda: [[*UDEV]], *UDEV)


def base(arch, kernel):
    wanted = packages(arch, kernel.series)
    key = cache.key_of(*wanted, kernel.release, kernel.version, *arch.twins, *HARNESS_MODULES, Path(__file__),
                       build.compiler_version(build.compiler(arch) + "gcc"))

    def make(directory):
        cache.say(f"making the guest's root for {kernel.release}")
        source, root = directory / "packages", directory / "root"
        debian.unpack(debian.download(arch.debian, wanted), source)
        for name in ("bin", "dev", "etc", "proc", "sys", "tmp", "root", "run", "usr/bin"):
            (root / name).mkdir(parents=True, exist_ok=True)
        elf.copy_file(source, root, "bin/busybox")
        elf.copy_program(source, root, "usr/bin/perf", UNUSED_BY_PERF, build.compiler(arch) + "gcc")
        if kernel.modules:
            _copy_modules(kernel, root, HARNESS_MODULES + arch.twins)
        _cpio(root, directory / "base.cpio")
        shutil.rmtree(source)
        shutil.rmtree(root)

    return cache.entry("initrd", f"{arch.name}-{kernel.series}-{key}", make) / "base.cpio"


def _interpreter():
    """(packages, the command) of Python as guests have it, for the host's processor, whatever Python the host has."""
    arch = next(arch for arch in ARCHES.values() if arch.debian == debian.host_arch())
    packages = _python(arch)
    root = cache.entry("python", f"{arch.name}-{cache.key_of(*packages)}",
                       lambda directory: debian.unpack(debian.download(arch.debian, packages), directory))
    libraries = [f"{root}/{place}/x86_64-linux-gnu" for place in ("lib", "usr/lib")]
    return packages, ["env", "-i", f"PYTHONHOME={root}/usr", str(elf.resolve(root, elf.interpreter(root / PYTHON))), "--library-path",
                      ":".join(libraries), f"{root}/{PYTHON}", "-S"]


def _compile(root, place, top):
    """Compile the Python below @root/@place, which a guest has below @top/@place: under emulation that takes half a minute.

    The bytecode is the same for all processors. Nobody changes the source in a guest, so it is not looked at again.
    """
    run([*_interpreter()[1], "-m", "compileall", "-q", "--invalidation-mode", "unchecked-hash", "-s", root, "-p", top,
         root / place], "compiling Python")


def tools():
    """{path in the guest: file} of tools/, with bytecode."""
    names = cache.tree_files("tools")

    def make(directory):
        for name in names:
            (directory / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(TREE / name, directory / name)
        _compile(directory, "tools", "/vm")

    directory = cache.entry("tools", cache.key_of(cache.key_of_tree("tools"), *_interpreter()[0], Path(__file__)), make)
    return {f"/vm/{path.relative_to(directory)}": path for path in directory.rglob("*") if path.is_file()}


def python(arch):
    """PAPI, and Python and rich without what nobody imports: the kernel unpacks all of it before anything runs."""
    packages = _python(arch)

    def make(directory):
        cache.say(f"making Python for {arch.name} guests")
        source, root = directory / "packages", directory / "root"
        debian.unpack(debian.download(arch.debian, packages), source)
        for program in PYTHON, PAPI:
            elf.copy_program(source, root, program)
        unused = shutil.ignore_patterns(*PYTHON_UNUSED)
        for library in [*source.glob("usr/lib/python3.*"), source / "usr/lib/python3"]:
            shutil.copytree(library, root / library.relative_to(source), ignore=unused, symlinks=True, dirs_exist_ok=True)
        for extension in root.rglob("lib-dynload/*.so"):
            elf.copy_program(source, root, str(extension.relative_to(root)))
        _compile(root, "usr/lib", "/")
        _cpio(root, directory / "python.cpio")
        shutil.rmtree(source)
        shutil.rmtree(root)

    key = cache.key_of(*packages, *_interpreter()[0], Path(__file__))
    return cache.entry("initrd", f"{arch.name}-python-{key}", make) / "python.cpio"


def udev(arch, kernel, ours):
    """{path in the guest: file} of a root with udev, the kernel's drivers and the modules in the directory @ours."""
    packages = _udev(arch)

    def make(directory):
        cache.say(f"unpacking udev for guests of {arch.name}")
        source, root = directory / "packages", directory / "root"
        debian.unpack(debian.download(arch.debian, packages), source)
        for path in (path for paths in UDEV.values() for path in paths):
            elf.copy_program(source, root, path)
        shutil.rmtree(source)

    root = cache.entry("udev", f"{arch.name}-{cache.key_of(*packages, Path(__file__))}", make) / "root"
    files = {f"{UDEV_ROOT}/{path.relative_to(root)}": path for path in root.rglob("*") if path.is_file()}
    files.update({f"{UDEV_ROOT}/usr/sbin/{name}": root / "bin/kmod" for name in KMOD_NAMES})
    modules = f"{UDEV_ROOT}/lib/modules/{kernel.release}"
    for name in (*_module_closure(kernel, arch.twins), *MODULE_LISTS):
        files[f"{modules}/{name}"] = kernel.modules / name
    files.update({f"{modules}/updates/{module.name}": module for module in ours.glob("*.ko")})
    return files


def with_overlay(parts, files, target):
    """Write @target: @parts and, over them, @files, a dictionary from path in the guest to a Path or bytes."""
    work = target.parent / "overlay"
    for name, content in files.items():
        path = work / name.lstrip("/")
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, bytes):
            path.write_bytes(content)
        else:
            shutil.copy(content, path)
        path.chmod(0o755)
    overlay = target.parent / "overlay.cpio"
    _cpio(work, overlay)
    with open(target, "wb") as out:
        for part in (*parts, overlay):
            with open(part, "rb") as data:
                shutil.copyfileobj(data, out)
