# SPDX-License-Identifier: GPL-2.0-only
"""Programs of unpacked packages: the libraries that they need, or stubs of these."""
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from .cache import Error, run


def _readelf(binary, pattern):
    text = subprocess.run(["readelf", "-ld", binary], capture_output=True, text=True).stdout
    return re.findall(pattern, text)


def interpreter(program):
    """The path of its dynamic linker, without the first slash; None of a static one."""
    return next(iter(_readelf(program, r"program interpreter: /(\S+)\]")), None)


def resolve(source, path):
    """The file @path of the unpacked packages in @source, which may be a link; absolute links mean the root they are for.

    Since Debian 13 packages have all in usr, and the links to that at the top are of none.
    """
    def at(place):
        return source / place if os.path.lexists(source / place) else source / "usr" / place

    found = at(path)
    while found.is_symlink():
        found = at(os.path.normpath(Path("/", path).parent / os.readlink(found)).lstrip("/"))
    return found


def needed(source, program, unused=None):
    """({name: path in @source} of the libraries that @program needs, and these; the names of those that match @unused)"""
    there = {found.name: str(found.relative_to(source)) for found in source.rglob("*.so*")}
    todo, libraries, stubs = [program], {}, set()
    while todo:
        for name in set(_readelf(resolve(source, todo.pop()), r"Shared library: \[(\S+)\]")) - {*libraries}:
            if unused and unused.match(name):
                stubs.add(name)
            elif name not in there:
                raise Error(f"{program} needs {name}, which none of its packages has")
            else:
                libraries[name] = there[name]
                todo.append(there[name])
    return libraries, stubs


def copy_file(source, root, path):
    """Copy @path from the unpacked packages in @source to @root."""
    target = root / path
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(resolve(source, path), target)


def copy_program(source, root, program, unused=None, gcc=None):
    """Copy @program with its interpreter and the libraries it needs; in place of those that match @unused, which need not be
    there, stubs that @gcc makes."""
    libraries, stubs = needed(source, program, unused)
    for path in filter(None, (program, interpreter(resolve(source, program)), *libraries.values())):
        copy_file(source, root, path)
    for name in stubs:
        stub(gcc, name, source / program, [resolve(source, path) for path in libraries.values()],
             root / Path(libraries["libc.so.6"]).with_name(name))


_SYMBOL = re.compile(r"(\w+) (FUNC|OBJECT|TLS|NOTYPE) +GLOBAL +DEFAULT +(?:\[.*?\] +)?(\S+) ([^\s@]+)(?:@+(\S+)(?: \((\d+)\))?)?$", re.M)


def _symbols(binary):
    """(size, type, is it defined here, name, version, number of that among what is needed) of each dynamic symbol of a file."""
    text = subprocess.run(["readelf", "-W", "--dyn-syms", binary], capture_output=True, text=True, check=True).stdout
    for size, kind, section, name, version, number in _SYMBOL.findall(text):
        yield int(size, 0), kind, section != "UND", name, version, number


def _wanted(program, library, others):
    """[(size, type, name, version)] of what @program wants of @library; what has no version it wants if none of the @others has it."""
    said = subprocess.run(["readelf", "-W", "-r", "-V", program], capture_output=True, text=True, check=True).stdout
    # A variable of a library is the program's own where the linker copied it.
    copied = set(re.findall(r" R_\w+_COPY +\S+ ([^\s@]+)", said))
    of_file = next((rest for name, rest in re.findall(r"File: (\S+) (.*?)(?=File: |\Z)", said, re.S) if name == library), "")
    numbers = set(re.findall(r"Version: (\d+)", of_file))
    known = set() if numbers else {name for other in others for _, _, defined, name, *_ in _symbols(other) if defined}
    return [(size, kind, name, version) for size, kind, defined, name, version, number in _symbols(program)
            if (not defined or name in copied) and
            (number in numbers if numbers else not version and name not in known)]


def stub(gcc, library, program, others, target):
    """Make a library at @target that has what @program wants of @library, and does nothing: functions return 0.

    The library itself is not looked at. Of a variable that is not copied the program does not know the size.
    """
    code, versions = [], {}
    for size, kind, name, version in _wanted(program, library, others):
        code.append(f"{'__thread ' * (kind == 'TLS')}char {name}[{size or 64}];\n" if kind in ("OBJECT", "TLS") else
                    f"long {name}(void) {{ return 0; }}\n")
        versions.setdefault(version, []).append(name)
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="pmu-stub.") as scratch:
        source, script = Path(scratch, "stub.c"), Path(scratch, "stub.map")
        source.write_text("".join(code))
        script.write_text("".join(f"{version} {{ {'; '.join(names)}; }};\n" for version, names in versions.items()))
        run([gcc, "-shared", "-nostdlib", "-fPIC", "-fno-builtin", f"-Wl,-soname,{library}", f"-Wl,--version-script={script}",
             "-o", target, source], f"making a stub of {library}")
