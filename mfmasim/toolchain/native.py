"""C functions that are compiled for speed, where a compiler is at hand: text to a shared library that is loaded.

What they compute is defined elsewhere, in NumPy, and runs there without a compiler. Libraries are kept in the cache by
the SHA-256 of text, compiler and options; they are loaded only if no other user can write to them.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import platform
import shutil
import sys
from functools import cache

from mfmasim.errors import MfmasimError, unknown
from mfmasim.files import write_file
from mfmasim.resources import cache_folder, is_own
from mfmasim.toolchain.clibrary import build_library, c_compiler
from mfmasim.toolchain.seals import seal_of, whole

NATIVE = "MFMASIM_NATIVE"
SETTINGS = ("off", "on", "forced")
"""Never; where it pays; wherever it is possible, from the first time on."""
FLAGS = ("-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math", "-fno-strict-aliasing", "-ftree-vectorize", "-w")
"""Products and sums are rounded one by one, and floats obey IEEE 754; no instructions of a particular processor."""

CLANGS = ("clang", "clang-22", "clang-21", "clang-20", "clang-19")
"""Programs that come before other C compilers: what they make of loops over lanes takes half of the time."""


def setting() -> str:
    """One of `SETTINGS`: `NATIVE`, else ``on``.

    Raises:
        MfmasimError: it is none of them.
    """
    chosen = os.environ.get(NATIVE) or "on"
    if chosen not in SETTINGS:
        raise unknown(f"setting of {NATIVE}", chosen, SETTINGS)
    return chosen


@cache
def _compiler() -> tuple[str, ...] | None:
    """The command of a C compiler; None where there is none, or no library can be built."""
    if not sys.platform.startswith("linux"):
        return None
    found = None if os.environ.get("CC") else next(filter(None, map(shutil.which, CLANGS)), None)
    try:
        return (found,) if found else c_compiler()
    except MfmasimError:
        return None


def library_of(text: str, *, build: bool = True) -> ctypes.CDLL | None:
    """The library that a C text makes; None where it cannot be had.

    Args:
        text: a C file.
        build: whether it is compiled where the cache does not have it.
    """
    command = _compiler()
    if command is None:
        return None
    words = "\n".join([*command, *FLAGS, platform.machine(), text])
    name = hashlib.sha256(words.encode()).hexdigest()
    folder = cache_folder() / "native"
    path, seal = folder / f"{name}.so", folder / f"{name}.sha256"
    try:
        if not whole(path, seal):
            if not build:
                return None
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            source = folder / f"{name}.{os.getpid()}.c"
            write_file(source, text.encode())
            try:
                build_library(source, path, flags=FLAGS, compiler=command)
            finally:
                source.unlink(missing_ok=True)
            write_file(seal, seal_of(path).encode())
        if not all(is_own(one) for one in (folder, path, seal)):
            return None  # it would run with the rights of this process
        return ctypes.CDLL(str(path))
    except (MfmasimError, OSError, RuntimeError):
        return None


class Hot:
    """A library of one text, which is looked for and compiled once it is worth it."""

    CACHED, BUILT = 1 << 21, 1 << 26
    """Elements that were computed without it, after which it is looked for in the cache, and compiled: thousandths of a
    second, and some tenths."""

    def __init__(self, text: str) -> None:
        """A C file that is not compiled yet."""
        self.text = text
        self._work = self._next = 0
        self._library: ctypes.CDLL | None = None
        self._settled = False

    def library(self, work: int) -> ctypes.CDLL | None:
        """The library, if regions are on and it is there.

        Args:
            work: elements that are about to be computed.
        """
        chosen = setting()
        if chosen == "off":
            return None
        if not self._settled:
            self._work += work
            built = chosen == "forced" or self._work >= self.BUILT
            if built or self._work >= max(self.CACHED, self._next):
                self._next = self.BUILT
                self._library = library_of(self.text, build=built)
                self._settled = built or self._library is not None
        return self._library
