# SPDX-License-Identifier: GPL-2.0-only
"""Start a guest, pass its output on, and judge it: its exit status and its kernel's log."""
import math
import os
import re
import shlex
import subprocess
import sys
import tempfile
import threading
from dataclasses import dataclass, field
from pathlib import Path

from . import build, cache, initrd, kernel as kernels, specs
from .cache import TREE, Error, run as run_command

DIED = 125          # no status came: the guest did not get that far
TIMEOUT = 124       # as of timeout(1)
UNSOUND = 99        # the kernel complained, whatever the command said

# What a kernel that works does not say.
COMPLAINTS = re.compile(
    r"WARNING: |BUG: |Oops: |Kernel panic|general protection fault|Unable to handle kernel|KASAN: |UBSAN: |"
    r"INFO: possible|INFO: task .* blocked|possible circular locking|suspicious RCU usage|"
    r"unreferenced object|kmemleak: \d+ new|DEBUG_LOCKS_WARN_ON|ODEBUG: |rcu: INFO|Call Trace:|"
    r"refcount_t: |list_(add|del) corruption|sysfs: cannot create duplicate")


@dataclass
class Guest:
    """What to run, and where: the options of scripts/vm."""
    arch: object
    kernel: str = "6.1"
    driver: str = "ours"
    models: tuple = ()
    cpus: int = 0                       # 0: as the models want
    timeout: int = 300
    shell: bool = False
    allow_warn: bool = False
    append: str = ""
    copies: tuple = ()                  # files and directories for the guest's working directory
    modules: tuple = ()                 # more modules to load, after the driver
    parameters: tuple = ()              # of our modules, "MODULE.NAME=VALUE"
    command: tuple = ()
    gdb: object = None                  # a debugger.Session: the guest stops for it before anything runs


@dataclass
class Outcome:
    status: int
    log: str
    complaints: list = field(default_factory=list)


def _parameters(guest, module):
    """What is to be written behind @module when it is loaded."""
    return [parameter.split(".", 1)[1] for parameter in guest.parameters if parameter.startswith(f"{module}.")]


def _with_dependencies(names, ours):
    """Those of our modules, in the order to load them: each after what it depends on."""
    order = []
    for name in names:
        if not (ours / f"{name}.ko").exists():
            raise Error(f"there is no module {name}; there is {', '.join(sorted(ko.stem for ko in ours.glob('*.ko')))}")
        depends = run_command(["/sbin/modinfo", "-F", "depends", ours / f"{name}.ko"], "asking what a module needs")
        needed = [other for other in depends.strip().split(",") if (ours / f"{other}.ko").exists()]
        order += [other for other in [*_with_dependencies(needed, ours), name] if other not in order]
    return order


def _modules_to_load(guest, ours):
    wanted = [*(guest.arch.modules if guest.driver == "ours" else ()), *guest.modules]
    names = [f"/vm/modules.d/{name}.ko" for name in _with_dependencies(wanted, ours)]
    if guest.driver == "in-tree":
        names[:0] = guest.arch.twins
    return "".join(" ".join([name, *_parameters(guest, Path(name).stem)]) + "\n" for name in names).encode()


def _overlay(guest, kernel):
    ours = build.modules(guest.arch, kernel, debug=bool(guest.gdb))
    files = {f"/vm/modules.d/{module.name}": module for module in ours.glob("*.ko")}
    files["/init"] = TREE / "tests/guest/init"
    files["/vm/modules"] = _modules_to_load(guest, ours)
    for source in sorted((TREE / "tests/guest").glob("*.c")):
        files[f"/vm/bin/{source.stem}"] = build.guest_program(guest.arch, source.stem)
    for copy in guest.copies:
        path = Path(copy)
        if not path.exists():
            raise Error(f"--copy {copy}: no such file")
        for file in [path] if path.is_file() else filter(Path.is_file, path.rglob("*")):
            files[f"/vm/work/{file.relative_to(path.parent)}"] = file
    if guest.shell:
        files["/vm/shell"] = guest.arch.console.encode()
    files["/vm/command"] = (shlex.join(guest.command) + "\n").encode()
    for index, spec in enumerate(guest.models):
        files.update(specs.guest_files(spec, index))
    return files


def _kernel_arguments(guest, kernel, models):
    arguments = [f"console={guest.arch.console} panic=-1 oops=panic printk.time=1"]
    if not kernel.modules and not guest.allow_warn:
        arguments.append("panic_on_warn=1")
    if guest.arch.twin_initcall and guest.driver != "in-tree":
        arguments.append(f"initcall_blacklist={guest.arch.twin_initcall}")
    return " ".join([*arguments, *(want.append for want in models if want.append), guest.append]).strip()


def _smp(guest, models):
    sockets = max((want.sockets for want in models), default=1)
    cpus = guest.cpus or sockets * guest.arch.threads
    if cpus % sockets:
        raise Error(f"--cpus {cpus} cannot be spread over {sockets} sockets")
    threads = math.gcd(cpus // sockets, guest.arch.threads)
    return f"{cpus},sockets={sockets},cores={cpus // sockets // threads},threads={threads}"


def _qemu(guest, kernel, initramfs):
    models = [specs.want(spec) for spec in guest.models]
    for spec, want in zip(guest.models, models):
        if want.arch != guest.arch.name:
            raise Error(f"model {spec} is for {want.arch}, not {guest.arch.name}")
    first = models[0]
    command = [f"qemu-system-{guest.arch.qemu}", *guest.arch.machine, "-no-user-config", "-no-reboot",
               "-M", first.machine, "-m", guest.arch.memory if kernel.modules else "2G",
               "-smp", _smp(guest, models), "-accel", "tcg,thread=multi",
               "-kernel", kernel.image, "-initrd", initramfs, "-append", _kernel_arguments(guest, kernel, models),
               "-nographic" if guest.shell else "-display", *([] if guest.shell else ["none"]),
               "-device", f"virtio-serial-pci,bus={guest.arch.serial_bus}"]
    if first.cpu:
        command += ["-cpu", first.cpu]
    for spec in guest.models:
        command += specs.qemu_args(spec)
    if guest.gdb:
        command += guest.gdb.qemu_args()
    return [str(c) for c in command + specs.control_args()]


def _pump(descriptor, sink):
    """Pass a pipe on until its other end closes, even if nobody wants it: or the guest would wait for ever."""
    def loop():
        wanted = True
        while data := os.read(descriptor, 65536):
            try:
                if wanted:
                    sink(data)
            except OSError as error:
                wanted = False
                if not isinstance(error, BrokenPipeError):
                    cache.say(f"a guest's output is lost: {error.strerror}")
        os.close(descriptor)
    thread = threading.Thread(target=loop, daemon=True)
    thread.start()
    return thread


def _run(command, preload, timeout, sinks, shell):
    """Run QEMU with a port per sink; the console too, unless it is the user's terminal."""
    writers, pumps = [], []
    for name, sink in sinks.items():
        reader, writer = os.pipe()
        writers.append(writer)
        pumps.append(_pump(reader, sink))
        command += ["-chardev", f"file,id={name},path=/dev/fd/{writer},append=on"]
        if name == "console":
            command += ["-serial", "mon:stdio" if shell else "chardev:console"]
        else:
            command += ["-device", f"virtserialport,chardev={name},name={name}"]
    # Preloaded into QEMU alone: nothing between here and there may inherit it.
    process = subprocess.Popen(command, pass_fds=writers, env={**os.environ, "LD_PRELOAD": str(preload)},
                               stdin=None if shell else subprocess.DEVNULL)
    for writer in writers:
        os.close(writer)
    try:
        process.wait(None if shell else timeout)
        timed_out = False
    except subprocess.TimeoutExpired:
        timed_out = True
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
    for pump in pumps:
        pump.join()
    return process.returncode, timed_out


def _firmware_gave_up(log, code, timed_out):
    """Skiboot has once hung and reset the machine, where nothing that is tested here had begun."""
    return not code and not timed_out and b"Linux version" not in log


def run(guest, out=None, err=None):
    """Run @guest; out and err, functions of bytes, get what the command writes."""
    try:
        guest.models = tuple(guest.models) or (guest.arch.default_model,)
        for spec in guest.models:
            specs.want(spec)
    except ValueError as error:
        raise Error(str(error)) from error
    kernel = kernels.get(guest.arch, guest.kernel)
    if guest.driver == "in-tree" and not kernel.modules:
        raise Error("the debug kernel has no in-tree drivers; use --kernel 6.1 or 6.12")
    preload = build.models(guest.arch)
    base = initrd.base(guest.arch, kernel)

    log, status = bytearray(), bytearray()
    sinks = {"console": log.extend, "status": status.extend,
             "out": out or (lambda data: _write(sys.stdout, data)),
             "err": err or (lambda data: _write(sys.stderr, data))}
    with tempfile.TemporaryDirectory(prefix="pmu-vm.") as scratch:
        initramfs = Path(scratch) / "initramfs.cpio"
        initrd.with_overlay(base, _overlay(guest, kernel), initramfs)
        for last in (False, True):
            code, timed_out = _run(_qemu(guest, kernel, initramfs), preload, guest.timeout, sinks, guest.shell)
            if last or guest.shell or guest.gdb or not _firmware_gave_up(log, code, timed_out):
                break
            cache.say("the firmware gave up before the kernel began: once more")
            log.clear()

    text = log.decode(errors="replace").replace("\r", "")
    complaints = [line for line in text.splitlines() if COMPLAINTS.search(line)]
    if timed_out:
        result = TIMEOUT
    elif not status.strip().isdigit():
        result = DIED
    else:
        result = int(status)
    if complaints and not guest.allow_warn:
        result = UNSOUND
    if code:
        text += f"\nQEMU exited with status {code}\n"
    return Outcome(result, text, complaints)


def _write(stream, data):
    stream.buffer.write(data)
    stream.flush()


def explain(outcome, guest):
    """One line for the person who reads the outcome, or None."""
    if outcome.status == UNSOUND:
        return "the guest's kernel complained: " + outcome.complaints[0].strip()
    if outcome.status == TIMEOUT:
        return f"the guest did not finish within {guest.timeout} s"
    if outcome.status == DIED:
        return "the guest did not get as far as the command; the end of its log:\n" + \
            "\n".join(outcome.log.splitlines()[-15:])
    return None
