# SPDX-License-Identifier: GPL-2.0-only
"""The debug kernel: Debian's kernel source with KUnit and the run-time checkers, and without the fair server; built once."""
import collections
import os
import re
import shutil
import subprocess
import time
from pathlib import Path

from . import build, cache, debian, kernel
from .cache import TREE, Error, run

SERIES = "6.12"
CONFIGS = TREE / "tests" / "kunit" / "configs"
LINKED_INTO_MODULES = ("arch/powerpc/lib/crtsavres.o",)
# Where the scheduler's fair server gets its share of each second, and what gives it none. 6.12 counts it as a task that a
# CPU still has while it goes offline, and warns (Documentation/hostile.md).
FAIR_SERVER = "kernel/sched/deadline.c", r"(u64 runtime =\s+)50 \* NSEC_PER_MSEC;", r"\g<1>0;"


def version(arch):
    """The version of Debian's source package: that of the stock kernel."""
    return kernel.packages(arch, SERIES)["version"]


def unpack(arch, directory, *members):
    """Unpack Debian's kernel source, or only some @members of it, to @directory."""
    top = f"linux-source-{SERIES}"
    outer = directory / ".deb"
    outer.mkdir(parents=True)
    debian.unpack(debian.download(debian.host_arch(), [f"{top}={version(arch)}"]), outer)
    run(["tar", "-xf", outer / "usr/src" / f"{top}.tar.xz", "-C", directory, "--strip-components=1",
         *(f"{top}/{member}" for member in members)], f"unpacking {top}")
    shutil.rmtree(outer)


def _without_fair_server(tree):
    name, share, none = FAIR_SERVER
    text, found = re.subn(share, none, (tree / name).read_text())
    if found != 1:
        raise Error(f"Debian's {name} gives the fair server its share in {found} places, not in one; see what it does now, and "
                    f"mend {Path(__file__).relative_to(TREE)}")
    (tree / name).write_text(text)


def _requested(fragments):
    """{option: value} of configuration files; an option that is not set is "n"."""
    found = {}
    for fragment in fragments:
        for line in fragment.read_text().splitlines():
            if match := re.match(r"(CONFIG_\w+)=(.*)|# (CONFIG_\w+) is not set", line):
                found[match[1] or match[3]] = match[2] or "n"
    return found


def _configure(tree, environment, fragments):
    """Write .config: what the fragments ask for on top of nothing."""
    run(["scripts/kconfig/merge_config.sh", "-n", *fragments], "configuring the debug kernel", cwd=tree,
        env=os.environ | environment)
    got = _requested([tree / ".config"])
    # Kconfig drops what has unmet dependencies without an error.
    lost = [f"{name}={value} (is {got.get(name, 'n')})" for name, value in _requested(fragments).items()
            if got.get(name, "n") != value]
    if lost:
        raise Error(f"the debug kernel's configuration loses {', '.join(lost)}; "
                    f"see what they depend on, and mend {CONFIGS.relative_to(TREE)}")


def _compile(tree, environment):
    objects, tail = 0, collections.deque(maxlen=40)
    start = last = time.monotonic()
    with subprocess.Popen(["make", f"-j{os.cpu_count()}"], cwd=tree, env=os.environ | environment, text=True,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:
        for line in process.stdout:
            tail.append(line)
            objects += line.startswith(("  CC ", "  AS "))
            if time.monotonic() - last >= 15:
                last = time.monotonic()
                cache.say(f"debug kernel: {objects} objects after {last - start:.0f} s")
    if process.returncode:
        raise Error(f"building the debug kernel failed:\n{''.join(tail)}")
    cache.say(f"debug kernel: built in {time.monotonic() - start:.0f} s")


def _keep(arch, tree, kdir):
    """Move what boots, and what builds modules, from @tree to @kdir."""
    ours = f"arch/{arch.kernel}"
    for pattern in (".config", "Makefile", "Module.symvers", "include", "scripts", "tools/objtool/objtool",
                    f"{ours}/include", f"{ours}/Makefile*", *LINKED_INTO_MODULES, arch.image):
        for path in list(tree.glob(pattern)):
            target = kdir / path.relative_to(tree)
            target.parent.mkdir(parents=True, exist_ok=True)
            path.rename(target)


def get(arch):
    fragments = [CONFIGS / "common.config", CONFIGS / f"{arch.name}.config"]
    if not fragments[-1].exists():
        raise Error(f"there is no debug kernel for {arch.name}: it has no {fragments[-1].relative_to(TREE)}")
    key = cache.key_of(version(arch), build.compiler_version(build.compiler(arch) + "gcc"),
                       Path(__file__), *fragments)

    def make(directory):
        environment = build.kbuild(arch)
        tree = directory / "source"
        cache.say(f"building the debug kernel for {arch.name} from Debian's {version(arch)}: minutes, but only once")
        unpack(arch, tree)
        _without_fair_server(tree)
        _configure(tree, environment, fragments)
        _compile(tree, environment)
        _keep(arch, tree, directory / "kdir")
        shutil.rmtree(tree)

    kdir = cache.entry("debug-kernel", f"{arch.name}-{key}", make) / "kdir"
    release = (kdir / "include/config/kernel.release").read_text().strip()
    return kernel.Kernel("kunit", release, kdir / arch.image, None, kdir, key)
