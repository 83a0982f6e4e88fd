"""The library itself: built once for each version of its source, by any C compiler, into a folder of the user's."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from mfmasim.errors import MfmasimError
from mfmasim.hiprt import calls
from mfmasim.hiprt.registry import CALLS
from mfmasim.hiprt.tables.names import NAMES
from mfmasim.toolchain.clibrary import build_library

__all__ = ["CACHE", "LIBRARY", "OTHERS", "header", "library"]

LIBRARY = "libamdhip64.so"
"""The name that hip-python looks for, and the library's SONAME."""
OTHERS = ("libhiprtc.so",)
"""Further names of the same library."""
CACHE = "MFMASIM_CACHE"
"""Environment variable: the folder for what is built; without it ``mfmasim`` in the user's cache folder."""


def header() -> str:
    """The list of calls as the C source includes it: those that are served with the number of their arguments."""
    calls.load()
    counts = {name: len(call.readers) for name, call in CALLS.items()}
    return "".join(f"CALL{counts.get(name, 0)}({name})\n" for name in sorted({*NAMES, *counts}))


def library() -> Path:
    """The library; built when it is not there yet.

    Returns:
        Its path. Its folder is called ``lib`` and holds nothing but the library under its names.

    Raises:
        MfmasimError: it cannot be built here, or its folder cannot be written to.
    """
    source = Path(__file__).with_name("runtime.c")
    listed = header()
    key = hashlib.sha256(source.read_bytes() + listed.encode()).hexdigest()[:16]
    base = os.environ.get(CACHE) or Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "mfmasim"
    folder = Path(base) / f"hiprt-{key}"
    path = folder / "lib" / LIBRARY
    if path.is_file() and all((path.parent / name).exists() for name in OTHERS):
        return path
    try:
        (folder / "include").mkdir(parents=True, exist_ok=True)
        unfinished = folder / "include" / f"calls.h.{os.getpid()}"
        unfinished.write_text(listed)
        unfinished.replace(folder / "include" / "calls.h")
        build_library(source, path, include=[folder / "include"], soname=LIBRARY)
        for name in OTHERS:
            link = path.with_name(f"{name}.{os.getpid()}")
            link.symlink_to(LIBRARY)
            link.replace(path.with_name(name))
    except OSError as error:
        text = f"{folder}: the simulated HIP runtime cannot be built there: {error.strerror or error}; set {CACHE}"
        raise MfmasimError(text) from None
    return path
