"""Find a C compiler, and build shared libraries with it.

Any C compiler is sufficient: the sources are small, plain C, and use only the C library.
"""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from mfmasim.errors import MfmasimError
from mfmasim.toolchain.compilers import run
from mfmasim.toolchain.discovery import find_zig

NO_UNWINDING = ("-fno-exceptions", "-fno-unwind-tables", "-fno-asynchronous-unwind-tables")
"""A C++ exception must not pass these libraries, which call Python: it would leave Python's lock taken. Without unwind
tables the search for a handler ends at them, and the C++ runtime ends the program (std::terminate) as for any exception
that leaves a thread's function; HIP calls host functions on threads of its own."""
PROGRAMS = ("cc", "gcc", "clang", "clang-22", "clang-21")


def c_compiler() -> tuple[str, ...]:
    """The command of a C compiler: ``$CC``, one of `PROGRAMS`, or the one in the ziglang wheel.

    Raises:
        MfmasimError: there is none; the message names a package to install.
    """
    named = shlex.split(os.environ.get("CC", ""))
    if named:
        if shutil.which(named[0]) is None:
            raise MfmasimError(f"CC: no compiler {named[0]!r}; expected a program's path or its name on PATH")
        return tuple(named)
    for name in PROGRAMS:
        if found := shutil.which(name):
            return (found,)
    if zig := find_zig():
        return (str(zig), "cc")
    raise MfmasimError("no C compiler found: install gcc or clang, or: pip install ziglang")


def build_library(
    source: Path,
    output: Path,
    *,
    include: Sequence[Path] = (),
    soname: str = "",
    flags: Sequence[str] = (),
    compiler: Sequence[str] = (),
) -> None:
    """Compile a C file to a shared library, which is written atomically.

    Args:
        source: the C file.
        output: the library; its folder is created.
        include: folders of headers.
        soname: the library's SONAME.
        flags: further options of the compiler.
        compiler: its command; without, that of `c_compiler`.

    Raises:
        MfmasimError: no compiler, a system without ELF libraries, or the compiler's first error.
    """
    if not sys.platform.startswith("linux"):
        raise MfmasimError(f"shared libraries can be built on Linux only, not on {sys.platform}")
    output.parent.mkdir(parents=True, exist_ok=True)
    unfinished = output.with_name(f"{output.name}.{os.getpid()}")
    command = [
        *(compiler or c_compiler()),
        "-shared",
        "-fPIC",
        "-O2",
        *NO_UNWINDING,
        *flags,
        *(f"-I{folder}" for folder in include),
    ]
    command += ([f"-Wl,-soname,{soname}"] if soname else []) + ["-o", str(unfinished), str(source), "-ldl", "-lm"]
    ran = run(command)
    if ran.returncode:
        lines = [line for line in ran.stderr.splitlines() if "error" in line] or ran.stderr.splitlines() or ["?"]
        unfinished.unlink(missing_ok=True)
        raise MfmasimError(f"{command[0]} cannot build {output.name}: {lines[0]}")
    with unfinished.open("rb") as file:
        os.fsync(file.fileno())  # else a crash may leave the name without the bytes
    unfinished.replace(output)
