"""Selection of the compiler: the named one, else ROCm's, else a clang with lld, else the ziglang wheel."""

from __future__ import annotations

import importlib.util
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from mfmasim.errors import MfmasimError
from mfmasim.toolchain.compilers import MINIMUM_CLANG, Compiler, Kind, compile_seconds, probe

VARIABLE = "MFMASIM_HIP_COMPILER"
"""Environment variable with the compiler's path or name."""

OURS = ".mfmasim"
"""A file in folders that are shaped as a ROCm installation and whose compilers call this package."""

_ROCM_PROGRAMS = ("hipcc", "amdclang++")
# Newest first; a future version costs one search of PATH.
_CLANG_PROGRAMS = ("clang", *(f"clang-{major}" for major in range(MINIMUM_CLANG + 9, MINIMUM_CLANG - 1, -1)))


def find_compiler(explicit: str | os.PathLike[str] | None = None) -> Compiler:
    """Find a HIP compiler.

    The order: `explicit`; the environment variable ``MFMASIM_HIP_COMPILER``; hipcc and amdclang++ on ``PATH``, in
    ``$ROCM_PATH/bin`` and in ``/opt/rocm/bin``; clang 21 or newer with its lld; the ziglang wheel.

    Args:
        explicit: a program's path, its name on ``PATH``, or ``ziglang`` for the wheel; no other compiler is tried then.

    Returns:
        The first usable compiler. Results are not cached between calls.

    Raises:
        MfmasimError: the named compiler cannot be used, its time is no number, or there is none; the message names a
            package to install.
    """
    named = os.fspath(explicit) if explicit is not None else os.environ.get(VARIABLE, "")
    if named:
        return _named(named, "" if explicit is not None else f"{VARIABLE}: ")
    compile_seconds()  # else each compiler would be refused for a wrong variable
    refused = []
    for kind, path in candidates():
        try:
            return probe(path, kind)
        except MfmasimError as error:
            refused.append(str(error))
    text = (
        f"no HIP compiler found: there is no hipcc, no amdclang++, no clang {MINIMUM_CLANG} or newer with lld, "
        "and no ziglang wheel; get one with: pip install ziglang"
    )
    raise MfmasimError("; ".join([text, *refused]))


def known_compiler(explicit: str | os.PathLike[str] | None = None) -> Compiler:
    """`find_compiler`, once per process, until its program or the variables that choose it change."""
    named = None if explicit is None else os.fspath(explicit)
    key = named, *map(os.environ.get, (VARIABLE, "PATH", "ROCM_PATH"))
    found = _known.get(key)
    if found is None or found[1] != _state(found[0]):
        tool = find_compiler(explicit)
        found = _known[key] = tool, _state(tool)
    return found[0]


_known: dict[tuple[str | None, ...], tuple[Compiler, object]] = {}


def _state(tool: Compiler) -> object:
    """Size and time of a compiler's program; of one that is gone None."""
    try:
        there = tool.path.stat()
    except OSError:
        return None
    return there.st_size, there.st_mtime_ns


def candidates() -> Iterator[tuple[Kind, Path]]:
    """Candidate compilers on this machine, in the order of `find_compiler`; none is started."""
    roots = [os.environ.get("ROCM_PATH", ""), "/opt/rocm"]
    folders = [None, *(os.path.join(root, "bin") for root in roots if root)]  # noqa: PTH118
    for folder in folders:
        for name in _ROCM_PROGRAMS:
            if (found := shutil.which(name, path=folder)) and not _is_ours(found):
                yield "hipcc", Path(found)
    for name in _CLANG_PROGRAMS:
        if (found := shutil.which(name)) and not _is_ours(found):
            yield "clang", Path(found)
    if zig := find_zig():
        yield "ziglang", zig


def _is_ours(program: str) -> bool:
    """Whether a program is a wrapper that calls this package."""
    return (Path(program).parents[1] / OURS).is_file()


def _named(name: str, origin: str) -> Compiler:
    if name == "ziglang":
        zig = find_zig()
        if zig is None:
            raise MfmasimError(f"{origin}the ziglang wheel is not installed: pip install ziglang")
        return probe(zig, "explicit")
    found = shutil.which(name)
    if found is None:
        raise MfmasimError(f"{origin}no compiler {name!r}; expected a program's path, its name on PATH, or 'ziglang'")
    return probe(Path(found).absolute(), "explicit")


def find_zig() -> Path | None:
    """The program inside the ziglang wheel; its launcher module is not imported."""
    spec = importlib.util.find_spec("ziglang")
    for place in (spec.submodule_search_locations or ()) if spec else ():
        for name in ("zig", "zig.exe"):
            if (Path(place) / name).is_file():
                return Path(place) / name
    return None
