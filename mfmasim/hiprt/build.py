"""The library: built once per version of its source, with any C compiler, in the user's cache folder."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from mfmasim.errors import MfmasimError
from mfmasim.hiprt import calls
from mfmasim.hiprt.registry import CALLS
from mfmasim.hiprt.tables.names import NAMES
from mfmasim.toolchain.clibrary import build_library

__all__ = ["LIBRARY", "OTHERS", "header", "library"]

LIBRARY = "libamdhip64.so"
"""The file name that hip-python loads, and the library's SONAME."""
OTHERS = ("libhiprtc.so",)
"""Further names of the same library."""
CACHE = "MFMASIM_CACHE"
"""Environment variable: folder of the library; by default ``mfmasim`` in the user's cache folder."""


def header() -> str:
    """The list of calls that the C source includes: supported calls with their number of arguments."""
    calls.load()
    counts = {name: len(call.readers) for name, call in CALLS.items()}
    return "".join(f"CALL{counts.get(name, 0)}({name})\n" for name in sorted({*NAMES, *counts}))


def library() -> Path:
    """Build the library unless it exists.

    Returns:
        Its path. Its folder is named ``lib`` and contains only the library under its names.

    Raises:
        MfmasimError: it cannot be built here, or its folder is not writable.
    """
    source = Path(__file__).with_name("runtime.c")
    listed = header()
    key = hashlib.sha256(source.read_bytes() + listed.encode()).hexdigest()[:16]
    base = os.environ.get(CACHE) or Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "mfmasim"
    folder = Path(base) / f"hiprt-{key}"
    path = folder / "lib" / LIBRARY
    seal = folder / "sha256"
    if _whole(path, seal) and all((path.parent / name).exists() for name in OTHERS):
        return path
    try:
        (folder / "include").mkdir(parents=True, exist_ok=True)
        _write(folder / "include" / "calls.h", listed)
        build_library(source, path, include=[folder / "include"], soname=LIBRARY)
        _write(seal, _digest(path))
        for name in OTHERS:
            link = path.with_name(f"{name}.{os.getpid()}")
            link.symlink_to(LIBRARY)
            link.replace(path.with_name(name))
    except OSError as error:
        text = f"{folder}: the simulated HIP runtime cannot be built there: {error.strerror or error}; set {CACHE}"
        raise MfmasimError(text) from None
    return path


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _whole(path: Path, seal: Path) -> bool:
    """Whether a library is the one that was built: a full disk or a crash may have cut it."""
    try:
        return seal.read_text() == _digest(path)
    except (OSError, ValueError):
        return False


def _write(path: Path, text: str) -> None:
    """Write a file whole or not at all."""
    unfinished = path.with_name(f"{path.name}.{os.getpid()}")
    with unfinished.open("w") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    unfinished.replace(path)
