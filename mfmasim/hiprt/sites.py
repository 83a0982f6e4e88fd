"""The place of a call in the program: the line of a Python program, or of a compiled program by its line table."""

from __future__ import annotations

import contextlib
import ctypes
import sys
from functools import lru_cache
from pathlib import Path
from types import FrameType

from mfmasim.codeobject.lines import LineTable, read_line_table
from mfmasim.errors import MfmasimError

PACKAGE = str(Path(__file__).resolve().parents[1])
CONTEXTS = contextlib.__file__
MOST_BYTES = 1 << 28
"""A larger program's line table is not read."""
FIXED = 2
"""e_type of a program that is not relocated."""


class _Info(ctypes.Structure):
    """Dl_info of dlfcn.h."""

    _fields_ = (
        ("file", ctypes.c_char_p), ("base", ctypes.c_void_p), ("symbol", ctypes.c_char_p), ("at", ctypes.c_void_p),
    )  # fmt: skip


@lru_cache(maxsize=16)
def _table(file: str) -> tuple[LineTable, bool]:
    """The line table of a program or library, and whether its addresses are those of the process."""
    try:
        path = Path(file)
        if path.stat().st_size > MOST_BYTES:
            return LineTable.of([]), False
        data = path.read_bytes()
        return read_line_table(data, file), int.from_bytes(data[16:18], "little") == FIXED
    except (OSError, MfmasimError):
        return LineTable.of([]), False


@lru_cache(maxsize=4096)
def _written(address: int) -> str:
    """``file:line`` of an instruction; if it is unknown, the offset in its file."""
    info = _Info()
    if not ctypes.CDLL(None).dladdr(ctypes.c_void_p(address), ctypes.byref(info)) or not info.file:
        return f"{address:#x}"
    file = info.file.decode(errors="replace")
    base = info.base or 0
    table, fixed = _table(str(Path(file).resolve()) if Path(file).exists() else "/proc/self/exe")
    found = table.at(address if fixed else address - base)
    if found is not None:
        return f"{Path(found[0]).name}:{found[1]}"
    symbol = f"{info.symbol.decode(errors='replace')} in " if info.symbol else ""
    return f"{symbol}{Path(file).name}+{address - base:#x}"


class Sites:
    """Call sites of a process that has loaded the library."""

    def __init__(self, library: str) -> None:
        """Use the library at a path; without it only lines of Python are known.

        Raises:
            MfmasimError: the library is an older mfmasim's, with which the program was linked.
        """
        loaded = ctypes.CDLL(library) if library else None
        try:
            asked = ("launched", "caller") if loaded else ()
            self._sources = [getattr(loaded, f"mfmasim_hiprt_{name}") for name in asked]
        except AttributeError:
            raise MfmasimError(
                f"{library} was built by an older mfmasim than {PACKAGE}: link the program again, or start it by "
                "`mfmasim hiprt -- PROGRAM`"
            ) from None
        for source in self._sources:
            source.restype = ctypes.c_uint64

    def here(self) -> str | int:
        """The place of the current call: a line of Python, or a return address."""
        frame: FrameType | None = sys._getframe()  # noqa: SLF001
        while frame is not None and frame.f_code.co_filename.startswith((PACKAGE, CONTEXTS)):
            frame = frame.f_back
        if frame is not None:
            return f"{Path(frame.f_code.co_filename).name}:{frame.f_lineno}"
        return next((place for source in self._sources if (place := source())), 0)

    def by_chevrons(self) -> bool:
        """Whether the call belongs to ``<<< >>>``, which ignores its result."""
        return bool(self._sources and self._sources[0]())

    @staticmethod
    def text(site: str | int) -> str:
        """A call site as text; empty if it is unknown."""
        return site if isinstance(site, str) else _written(site - 1) if site else ""
