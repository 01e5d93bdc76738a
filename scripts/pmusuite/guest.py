# SPDX-License-Identifier: GPL-2.0-only
"""Start a guest, pass its output on, and judge it: its exit status and its kernel's log.

Several commands may take turns in one guest, each with a driver of its own: run_in_turn().
"""
import contextlib
import dataclasses
import math
import os
import re
import shlex
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

from . import build, cache, coverage, initrd, kernels, kunit, races, secure_boot, specs, stuck, tsc
from .cache import TREE, Error, run as run_command
from .turns import Turns

DIED = 125          # no status came: the guest did not get that far
TIMEOUT = 124       # as of timeout(1)
UNSOUND = 99        # the kernel complained, whatever the command said
LOST = (DIED, TIMEOUT, UNSOUND)
STOP = threading.Event()    # set when the user interrupts: guests that run are killed
PMU_DRIVER = "scripts/packaging/pmu-driver"

# For an installed Debian: its systemd runs a command at the end of the boot, and then ends the machine.
INSTALLED = ("root=/dev/vda rw systemd.run_success_action=poweroff-force systemd.run_failure_action=poweroff-force "
             "systemd.run=\"/bin/sh -c 'udevadm settle; cd /dev/virtio-ports || exit; {} > out 2> err; echo $? > status'\"")

# Half of a boot's instructions are tests of ciphers and types of BPF programs for the network, which nothing here uses. And
# where the kernel has page tables of its own, an emulated CPU looks every address up again at each system call. Of what is
# left, an eighth is to clear memory that is given out, which Debian's kernels do for users' safety.
QUICK = "mitigations=off init_on_alloc=0 cryptomgr.notests " \
    "initcall_blacklist=jent_mod_init,bpf_tcp_ca_kfunc_init,bpf_dummy_struct_ops_init"
QUICK_SERIES = ("6.1", "6.1-cloud", "6.12", "kunit")     # what runs every day

# Time advances with executed instructions, and random numbers have a fixed seed.
ICOUNT = ("-icount", "shift=2,sleep=off", "-rtc", "base=2026-01-01T00:00:00,clock=vm", "-seed", "7")
TRACED = ("memory_region_ops_read", "memory_region_ops_write", "pci_cfg_read", "pci_cfg_write")

# A healthy kernel logs none of these. But up to 6.1 it warns of workqueues if NUMA nodes are emulated.
COMPLAINTS = re.compile(
    r"WARNING: (?!workqueue cpumask: online)|BUG: |Oops: |Kernel panic|general protection fault|"
    r"Unable to handle kernel|KASAN: |UBSAN: |INFO: possible|INFO: task .* blocked|possible circular locking|suspicious RCU usage|"
    r"unreferenced object|kmemleak: \d+ new|DEBUG_LOCKS_WARN_ON|ODEBUG: |rcu: INFO|Call Trace:|"
    r"refcount_t: |list_(add|del) corruption|sysfs: cannot create duplicate|"
    r"on deprecated workqueue")


# Where the kernel's own code was: that of a module has the module's name behind it.
STALE = re.compile(r"Oops: int3: (?:.*\n)*?.*\bRIP: \w+:(\S+)$", re.M)

BEGUN = b"Linux version"     # from here on the kernel speaks
INIT = b"init: the clock of every CPU goes"     # from here on what is tested may run: tests/guest/init
INSTALLED_INIT = b"Run /init"                   # of an installed Debian, which loads what it likes
STALL = b"rcu: INFO: "
# s. Of 393 boots on a busy machine of two CPUs none was silent for more than 23 before init, which then takes up to 16. A
# kernel whose clock goes tells of a task that waits for 120 s before 240 have passed.
SILENCE = 250
FIRST_LOGS = cache.ROOT / "begun-again"     # of guests that were started once more, the newest
FIRST_LOGS_KEPT = 20


@dataclass(frozen=True)
class Guest:
    """What to run, and where: the options of scripts/vm."""
    arch: object
    kernel: str = "6.1"
    driver: str = "ours"
    models: tuple = ()
    cpus: int = 0                       # 0: as the models want
    nodes: int = 0                      # of NUMA; 0: the machine is none
    timeout: int = 300
    shell: bool = False
    allow_warn: bool = False
    append: str = ""
    copies: tuple = ()                  # files and directories for the guest's working directory
    tools: bool = False                 # Python, and tools/ in the PATH
    modules: tuple = ()                 # more modules to load, after the driver
    ours: object = None                 # the directory of our modules, where they are not built from the tree
    races: bool = False                 # our modules tell of data races
    udev: bool = False                  # what finds drivers at boot is there, in initrd.UDEV_ROOT
    secure_boot: bool = False           # it starts nothing that is not signed
    enrolled: tuple = ()                # files of certificates that it trusts as its owner's
    installed: tuple = ()               # (image, initramfs): the Debian on this image boots, and runs the command
    parameters: tuple = ()              # of our modules, "MODULE.NAME=VALUE"
    command: tuple = ()
    icount: object = None               # a file for all accesses: time is counted in instructions, and a run is as the last

    def machine(self):
        """What cannot change while the guest runs: guests of the same machine can share it."""
        return (self.arch.name, self.kernel, self.models or (self.arch.default_model,), self.cpus, self.nodes, self.append,
                self.allow_warn, self.wants_built_in(), self.has_suites(), self.tools, self.udev, self.ours, self.races,
                self.secure_boot, self.enrolled, self.installed, self.icount)

    def wants_built_in(self):
        """Is the driver a part of the kernel, which begins before init does?"""
        return bool(self.arch.twin_initcall) and self.driver == "in-tree"

    def has_suites(self):
        """A KUnit suite needs all of our modules built for it."""
        return any(name.endswith("_test") for name in self.modules)


@dataclass
class Outcome:
    status: int
    log: str
    complaints: list = field(default_factory=list)
    out: str = ""           # what the command wrote, where nobody was given it as it came
    err: str = ""
    seconds: float = 0
    watch: object = None    # a ktap.Stopwatch of its tests, if it had turns


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
        needed = [other for other in depends.strip().split(",")
                  if (ours / f"{other}.ko").exists() and other not in (coverage.MODULE, races.MODULE)]
        order += [other for other in [*_with_dependencies(needed, ours), name] if other not in order]
    return order


def _modules_to_load(guest, ours):
    wanted = [*((guest.arch.driver,) if guest.driver == "ours" else ()), *guest.modules]
    names = [f"/vm/modules.d/{name}.ko" for name in _with_dependencies(wanted, ours)]
    if guest.driver == "in-tree":
        names[:0] = guest.arch.twins
    return "".join(" ".join([name, *_parameters(guest, Path(name).stem)]) + "\n" for name in names).encode()


def _shell(guest):
    """A shell on the user's terminal."""
    console = f"/dev/{guest.arch.console}"
    return f"echo 'A shell in the guest; exit powers it off.' > /dev/console\n" \
           f"setsid sh -c 'exec sh -l < {console} > {console} 2>&1'\n"


def _overlay(guests, ours, kernel, token):
    """The files of @guests, which share a machine; @token makes init mark what each says, None: there is one."""
    guest = guests[0]
    files = {f"/vm/modules.d/{module.name}": module for module in ours.glob("*.ko")}
    files["/init"] = TREE / "tests/guest/init"
    if guest.udev:
        files.update(initrd.udev(guest.arch, kernel, ours))
        files[f"{initrd.UDEV_ROOT}/usr/sbin/pmu-driver"] = TREE / PMU_DRIVER
    for name in build.guest_programs():
        files[f"/vm/bin/{name}"] = build.guest_program(guest.arch, name)
    if guest.tools:
        files.update(initrd.tools())
        files["/vm/bin/pmu-load"] = build.guest_program(guest.arch, "pmu-load", TREE / "tools/pmutools/check/load.c")
    for copy in dict.fromkeys(copy for one in guests for copy in one.copies):
        path = Path(copy)
        if not path.exists():
            raise Error(f"--copy {copy}: no such file")
        for file in [path] if path.is_file() else filter(Path.is_file, path.rglob("*")):
            files[f"/vm/work/{file.relative_to(path.parent)}"] = file
    for number, one in enumerate(guests, 1):
        files[f"/vm/turns/{number}/modules"] = _modules_to_load(one, ours)
        files[f"/vm/turns/{number}/command"] = (_shell(one) if one.shell else shlex.join(one.command) + "\n").encode()
    if token:
        files["/vm/token"] = token.encode()
    for index, spec in enumerate(guest.models):
        files.update(specs.guest_files(spec, index))
    return files


def time_arguments(arch):
    """What the kernel is to be told of its machine's time."""
    khz = tsc.khz() if arch.tsc else None
    return [*arch.emulated.split(), *([f"tsc=reliable tsc_early_khz={khz}"] if khz else [])]


def _kernel_arguments(guest, kernel, models):
    arguments = [f"console={guest.arch.console} panic=-1 oops=panic printk.time=1",
                 *(guest.arch.emulated.split() if guest.icount else time_arguments(guest.arch))]
    if not kernel.modules and not guest.allow_warn:
        arguments.append("panic_on_warn=1")
    if guest.arch.name == "x86_64":
        arguments.append(stuck.ARGUMENTS)
    # Instructions are counted with what users have, so without QUICK, and at the same addresses each time.
    if guest.icount:
        arguments.append("nokaslr")
    elif kernel.series in QUICK_SERIES and not guest.installed and not guest.secure_boot:
        arguments += [QUICK, *guest.arch.quick.split()]
    if guest.arch.twin_initcall and not guest.wants_built_in():
        arguments.append(f"initcall_blacklist={guest.arch.twin_initcall}")
    if guest.installed:
        command = " ".join(guest.command)
        if not re.fullmatch(r"[\w ./=-]+", command):
            raise Error(f"the command of what is installed has to be plain words, not: {command}")
        arguments.append(INSTALLED.format(command))
    return " ".join([*arguments, *(want.append for want in models if want.append), guest.append]).strip()


def _smp(guest, models):
    sockets = max((want.sockets for want in models if want.sockets), default=guest.nodes or 1)
    dies = max((want.dies for want in models), default=1)
    threads = guest.arch.threads
    cpus = guest.cpus or sockets * dies * threads
    if cpus % (sockets * dies):
        raise Error(f"--cpus {cpus} cannot be spread over {sockets} sockets" + (f" of {dies} dies" if dies > 1 else ""))
    threads = math.gcd(cpus // sockets // dies, threads)
    # Not every machine knows dies.
    return f"{cpus},sockets={sockets}," + (f"dies={dies}," if dies > 1 else "") + \
        f"cores={cpus // sockets // dies // threads},threads={threads}"


def _numa(guest, models):
    """Nodes, each with its share of the CPUs and of the memory, of which the last has the rest; a socket each if the
    models do not say."""
    if not guest.nodes:
        return []
    cpus = int(_smp(guest, models).split(",")[0]) // guest.nodes
    total = int(guest.arch.memory.removesuffix("G")) * 1024
    size = total // guest.nodes
    sizes = [size] * (guest.nodes - 1) + [total - size * (guest.nodes - 1)]
    return [word for node in range(guest.nodes)
            for word in ("-object", f"memory-backend-ram,id=node{node},size={sizes[node]}M",
                         "-numa", f"node,nodeid={node},memdev=node{node},cpus={node * cpus}-{(node + 1) * cpus - 1}")]


def _qemu(guest, kernel, initramfs):
    models = [specs.want(spec) for spec in guest.models]
    for spec, want in zip(guest.models, models):
        if want.arch != guest.arch.name:
            raise Error(f"model {spec} is for {want.arch}, not {guest.arch.name}")
    first = models[0]
    arguments = _kernel_arguments(guest, kernel, models)
    boot = secure_boot.qemu_args(guest, kernel, initramfs, arguments) if guest.secure_boot else \
        ["-kernel", kernel.image, "-initrd", initramfs, "-append", arguments]
    command = [*build.emulator(guest.arch), *guest.arch.machine, "-no-user-config", "-no-reboot",
               "-M", first.machine, "-m", guest.arch.memory,
               "-smp", _smp(guest, models), *_numa(guest, models),
               "-accel", f"tcg,thread={'single' if guest.icount else 'multi'}", *boot,
               "-nographic" if guest.shell else "-display", *([] if guest.shell else ["none"]),
               "-device", f"virtio-serial-pci,bus={guest.arch.serial_bus}"]
    if guest.installed:
        command += ["-drive", f"if=none,id=disk,format=raw,snapshot=on,file={guest.installed[0]}",
                    "-device", f"virtio-blk-pci,bus={guest.arch.serial_bus},drive=disk"]
    if first.cpu:
        command += ["-cpu", first.cpu]
    for spec in guest.models:
        command += specs.qemu_args(spec)
    if guest.icount:
        command += [*ICOUNT, *(word for event in TRACED for word in ("-trace", event)), "-D", guest.icount]
    return [str(c) for c in command + specs.control_args()]


def _pump(descriptor, sink):
    """Forward a pipe until its other end closes, even if @sink fails: otherwise the guest would wait for ever."""
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


def wait(process, time_left):
    """Wait for @process. False if the time is over first, or STOP is set."""
    while (left := time_left()) > 0 and not STOP.is_set():
        try:
            process.wait(min(left, 1))
            return True
        except subprocess.TimeoutExpired:
            pass
    return False


def _run(command, time_left, sinks, shell, monitor=None):
    """Run QEMU with a port per sink; the console too, unless it is the user's terminal.

    If the time is over, QEMU is asked by the socket @monitor what the CPUs are doing. The answer goes to the console's
    sink, as does what QEMU itself has to say.
    """
    writers, pumps, seen, said = [], [], "", bytearray()

    def hear(data):
        said.extend(data)
        with contextlib.suppress(OSError):      # the log has it
            _write(sys.stderr, data)

    if monitor:
        command += stuck.qemu_args(monitor)
    for name, sink in sinks.items():
        reader, writer = os.pipe()
        writers.append(writer)
        pumps.append(_pump(reader, sink))
        command += ["-chardev", f"file,id={name},path=/dev/fd/{writer},append=on"]
        if name == "console":
            command += ["-serial", "mon:stdio" if shell else "chardev:console"]
        else:
            command += ["-device", f"pmu-guest-port,chardev={name},name={name}"]
    reader, stderr = os.pipe()
    writers.append(stderr)
    pumps.append(_pump(reader, hear))
    process = subprocess.Popen(cache.bound(command), pass_fds=writers, stdin=None if shell else subprocess.DEVNULL,
                               stderr=stderr)
    for writer in writers:
        os.close(writer)
    try:
        timed_out = not wait(process, time_left)
        if timed_out and monitor and not STOP.is_set():
            sinks["console"](stuck.MARK.encode())
            seen = stuck.look(monitor, process)
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
    for pump in pumps:
        pump.join()
    if seen:
        sinks["console"](f"\nits CPUs:\n{seen}".encode())
    if said:
        sinks["console"](b"\nQEMU says:\n" + said)
    return process.returncode, timed_out


def _stands(guests, log):
    """Has a guest for @guests a CPU that stands? It has failed then, and its time is over. It was seen where the emulator lost
    a timer's interrupt."""
    return STALL in log and not any(one.shell or one.allow_warn for one in guests)


def _begins(guest):
    """What the console shows before anything of @guest that is tested here may run."""
    if guest.wants_built_in():
        return BEGUN
    return INSTALLED_INIT if guest.installed else INIT


class _Console:
    """A sink for the console, which knows whether what is tested began, and whether the kernel fell silent before."""

    def __init__(self, begins=INIT, clock=time.monotonic):
        self.log, self._begins, self._clock, self._last = bytearray(), begins, clock, clock()
        self._silent = self._heard = False

    def __call__(self, data):
        self._last = self._clock()      # first, since silent() is asked by another thread
        self.log += data

    def noting(self, sink):
        """@sink, whose first data comes from what is tested, whatever the console shows."""
        def pass_on(data):
            self._heard = True
            sink(data)
        return pass_on

    def began(self):
        return self._heard or self._begins in self.log

    def silent(self):
        """Once it is, it remains so, whatever comes when its CPUs are looked at."""
        self._silent |= BEGUN in self.log and not self.began() and self._clock() - self._last > SILENCE
        return self._silent


def _failed_before_it_began(console, code, timed_out):
    """Did the emulator or firmware fail, where nothing that is tested here had begun?

    Seen: skiboot hung and reset the machine; a breakpoint that the kernel had taken back was executed (int3); QEMU asserted
    while a CPU moved BARs; CPUs slept for ever in the boot, or a timer stood (init looks for that). But where the kernel
    complains of something else, or QEMU does not answer, it may be the models' fault.
    """
    if console.began():
        return False
    log, _, seen = bytes(console.log).partition(stuck.MARK.encode())
    if not code and not timed_out and BEGUN not in log or b"Oops: int3" in log or b": iotlb_to_section: " in log:
        return True
    others = [line for line in log.decode(errors="replace").splitlines()
              if COMPLAINTS.search(line) and not re.search("rcu: INFO|Call Trace:", line)]
    return (console.silent() or STALL in log) and not others and stuck.NO_ANSWER.encode() not in seen


def _keep_first_log(log):
    FIRST_LOGS.mkdir(parents=True, exist_ok=True)
    path = FIRST_LOGS / time.strftime(f"%Y%m%d-%H%M%S-{os.getpid()}-{threading.get_ident()}.log")
    path.write_bytes(log)
    for old in sorted(FIRST_LOGS.iterdir())[:-FIRST_LOGS_KEPT]:
        old.unlink(missing_ok=True)
    return path


def begun_again(since):
    """Logs of the first try of guests that were started once more after the time @since."""
    return [path for path in sorted(FIRST_LOGS.glob("*.log")) if path.stat().st_mtime >= since]


def _try_twice(attempt, once, begins=INIT):
    """What @attempt of a _Console, and of whether it is the last, returns: (status of QEMU, is its time over); and the log.
    If @once is not set, a guest that failed before it said @begins is tried once more."""
    for last in (once, True):
        console = _Console(begins)
        code, timed_out = attempt(console, last)
        if last or not _failed_before_it_began(console, code, timed_out):
            return code, timed_out, console.log
        cache.say(f"the guest failed before anything of the suite ran: once more; {_keep_first_log(console.log)}")


def emulators_fault(outcome):
    """Did a command fail because the emulator lost an interrupt of a CPU's timer, or executed a breakpoint that the kernel had
    put into its own code, and had taken back meanwhile? The kernel may complain of nothing but tasks that wait, or of that
    breakpoint first, outside of all modules. If so, this keeps the log and says so: whoever asks is to start the guest again."""
    if outcome.status not in LOST:
        return False
    others = [line for line in outcome.complaints if not re.search("rcu: INFO|INFO: task .* blocked for|Call Trace:", line)]
    stale = STALE.search(outcome.log) if others and "Oops: int3: " in others[0] else None
    if not (stale or not others and stuck.lost_timer(outcome.log)):
        return False
    what = f"executed a stale breakpoint in {stale[1]}" if stale else "lost an interrupt of a CPU's timer"
    cache.say(f"the emulator {what}: once more; {_keep_first_log(outcome.log.encode())}")
    return True


def _judge(guest, log, status):
    """The Outcome of a command; @status is what init said of it, or how the guest ended."""
    complaints = [line for line in log.partition(stuck.MARK)[0].splitlines() if COMPLAINTS.search(line)]
    return Outcome(UNSOUND if complaints and not guest.allow_warn else status, log, complaints)


def _modules(guest, kernel):
    return guest.ours or build.modules(guest.arch, kernel, guest.has_suites() and kunit.get(guest.arch, kernel),
                                       find_races=guest.races)


def prepare(guest):
    """Fetch and build what takes longest of what @guest needs."""
    kernel = kernels.get(guest.arch, guest.kernel)
    initrd.base(guest.arch, kernel)
    build.emulator(guest.arch)
    _modules(guest, kernel)


def _start(guests, sinks, time_left, token=None):
    """Run a guest for @guests, which share its machine: (the kernel's log, DIED or TIMEOUT if it did not power off)."""
    guest = guests[0]
    try:
        for spec in guest.models:
            specs.want(spec)
    except ValueError as error:
        raise Error(str(error)) from error
    kernel = kernels.get(guest.arch, guest.kernel)
    if any(one.driver == "in-tree" for one in guests) and not kernel.modules:
        raise Error("the debug kernel has no in-tree drivers; use --kernel 6.1 or 6.12")
    once = any(one.shell or one.icount for one in guests)    # somebody is at work, or the same would come again
    with tempfile.TemporaryDirectory(prefix="pmu-vm.") as scratch:
        if guest.installed:
            initramfs = guest.installed[1]
        else:
            initramfs = Path(scratch) / "initramfs.cpio"
            ours = _modules(guest, kernel)
            sinks = {**sinks, **coverage.sinks(ours)}
            parts = [initrd.base(guest.arch, kernel), *([initrd.python(guest.arch)] if guest.tools else [])]
            initrd.with_overlay(parts, _overlay(guests, ours, kernel, token), initramfs)

        def attempt(console, last):
            begin = time.monotonic()

            def left():
                over = _stands(guests, console.log) or not last and console.silent()
                return 0 if over else time_left(begin)

            heard = {name: console.noting(sink) for name, sink in sinks.items()}
            return _run(_qemu(guest, kernel, initramfs), left, {"console": console, **heard}, guest.shell,
                        None if guest.shell else Path(scratch) / "monitor")

        code, timed_out, log = _try_twice(attempt, once, _begins(guest))
    if code:
        log += b"\nQEMU exited with status %d\n" % code
    end = TIMEOUT if timed_out else DIED if code else None
    return bytes(log).replace(b"\r", b""), end


def _with_model(guest):
    return dataclasses.replace(guest, models=tuple(guest.models) or (guest.arch.default_model,))


def run(guest, out=None, err=None):
    """Run @guest; out and err, functions of bytes, get what the command writes as it comes."""
    guest, status = _with_model(guest), bytearray()
    sinks = {"status": status.extend, "out": out or (lambda data: _write(sys.stdout, data)),
             "err": err or (lambda data: _write(sys.stderr, data))}
    log, end = _start([guest], sinks, lambda begin: 1 if guest.shell else begin + guest.timeout - time.monotonic())
    status = int(status) if status.strip().isdigit() else DIED
    # If the machine dies after the command, the command has failed.
    return _judge(guest, log.decode(errors="replace"), end or status)


def run_in_turn(guests):
    """Run @guests, which share a machine, in one guest, one after the other; returns their Outcomes.

    One that makes the kernel complain, does not end, or leaves a module that cannot be unloaded is the last
    that has an Outcome: nothing can be judged where it was.
    """
    guests = [_with_model(guest) for guest in guests]
    turns = Turns([guest.timeout for guest in guests])
    log, end = _start(guests, turns.sinks(), turns.time_left, turns.token)
    outcomes, ended = [], turns.ended(log)
    # If the machine dies after a turn, or does not begin the next one, that turn has failed.
    if end or len(ended) < len(guests):
        ended[-1].status = end or DIED
    for guest, turn in zip(guests, ended):
        outcome = _judge(guest, turn.log, DIED if turn.status is None else turn.status)
        outcome.out, outcome.err, outcome.seconds, outcome.watch = turn.out, turn.err, turn.seconds, turn.watch
        outcomes.append(outcome)
        if outcome.status in LOST:
            break
    return outcomes


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
