"""What a compiler's program is made of, and what of the environment it sees."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

# Variables that add flags or folders: the same source must give the same bytes everywhere.
_ADDING = re.compile(
    r"CCC_OVERRIDE_OPTIONS|QA_OVERRIDE_GCC3_OPTIONS|(C|CPLUS_INCLUDE_|C_INCLUDE_|OBJC_INCLUDE_|OBJCPLUS_INCLUDE_)PATH"
    r"|(COMPILER|LIBRARY)_PATH|GCC_EXEC_PREFIX|_?CL_?|INCLUDE|SOURCE_DATE_EPOCH|CLANG_CONFIG_FILE_.*"
    r"|(DEPENDENCIES_OUTPUT|SUNPRO_DEPENDENCIES|CC_(PRINT|LOG)_.*)|HIPCC_(COMPILE|LINK)_FLAGS_APPEND|HCC_AMDGPU_TARGET"
)
# What a program needs to run at all: places, and on Windows what every program needs.
_PLACES = re.compile(
    r"PATH|HOME|USER|LOGNAME|TMPDIR|TEMP|TMP|XDG_CACHE_HOME|ZIG_(LOCAL|GLOBAL)_CACHE_DIR"
    r"|SYSTEM(ROOT|DRIVE)|WINDIR|COMSPEC|PATHEXT|(LOCAL)?APPDATA|USERPROFILE|PROGRAM(DATA|FILES.*)"
)
# What selects the code that it runs.
_CODE = re.compile(r"(LD|DYLD|ZIG|HIP|ROCM|HSA|AMD|CUDA)_\w+|DEVICE_LIB_PATH")


def environment(program: str) -> dict[str, str]:
    """The environment variables that a tool sees: a fixed choice, so that no other can change what it writes.

    A script may be a wrapper that needs any variable: it sees all but those known to add flags or folders. What it
    runs is not known either, so that its results are not kept (`is_script`).

    Args:
        program: its path.
    """
    whole = {name: value for name, value in os.environ.items() if not _ADDING.fullmatch(name)}
    if not is_script(program):
        whole = {n: v for n, v in whole.items() if _PLACES.fullmatch(n.upper()) or _CODE.fullmatch(n)}
    return {**whole, "LC_ALL": "C"}


def deciding(program: str) -> list[str]:
    """The variables, with their values, that may change what a program writes.

    Args:
        program: its path.
    """
    seen = environment(program)
    return sorted(f"{name}={value}" for name, value in seen.items() if not _PLACES.fullmatch(name.upper()))


def is_script(program: str) -> bool:
    """Whether a program is a text that an interpreter runs."""
    return _head(program).startswith(b"#!")


def states(programs: Sequence[str]) -> dict[str, list[int]]:
    """Size and times of programs and of the shared libraries that are loaded with them.

    Args:
        programs: their paths.

    Raises:
        OSError: one of the programs is not there.
    """
    found = dict.fromkeys(programs)
    for program in programs:
        found.update(dict.fromkeys(_libraries(program)))
    return {name: state(name) for name in found}


def state(name: str) -> list[int]:
    """Size and times of a file, as JSON keeps them.

    Raises:
        OSError: it is not there.
    """
    there = Path(name).stat()
    return [there.st_size, there.st_mtime_ns, there.st_ctime_ns]


def _head(program: str) -> bytes:
    with suppress(OSError), Path(program).open("rb") as file:
        return file.read(4096)
    return b""


def _libraries(program: str) -> list[str]:
    """What the loader of an ELF program loads with it; nothing where there is no such loader."""
    if b"/ld-" not in _head(program):
        return []
    with suppress(OSError, subprocess.SubprocessError):
        asked = {**environment(program), "LD_TRACE_LOADED_OBJECTS": "1"}  # as ldd does
        ran = subprocess.run([program], env=asked, capture_output=True, check=False, timeout=60)
        found = re.findall(r"^\s.*=> (/.*) \(0x[0-9a-f]+\)$", os.fsdecode(ran.stdout), re.MULTILINE)
        return [str(name) for name in found]
    return []
