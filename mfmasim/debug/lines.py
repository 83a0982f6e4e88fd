"""Source lines and inlined frames of addresses, and the beginnings of lines on a wave's path."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from mfmasim.debug.dwarf import Information
from mfmasim.devices.coverage import SUFFIXES, source_lines
from mfmasim.errors import MfmasimError, unknown

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from mfmasim.codeobject.lines import LineRange
    from mfmasim.kernels import Kernel


@dataclass(frozen=True)
class Frame:
    """A function on the stack of inlined calls."""

    name: str
    file: str
    line: int
    scope: int = -1
    """Number of its scope in the debug information; -1 where there is none."""

    @property
    def source(self) -> str:
        """``file:line``, or empty."""
        return f"{self.file}:{self.line}" if self.line else ""


class Lines:
    """Source lines of a kernel's code object."""

    def __init__(self, kernel: Kernel, folders: Iterable[Path] = ()) -> None:
        """Sources are looked for in `folders` first: the working directory may hold others of these names."""
        self.kernel = kernel
        self.folders = [*folders, Path()]
        self.texts: dict[str, list[str]] = {}
        """Lines of sources by name; a recording adds its own."""

    @cached_property
    def information(self) -> Information:
        """Debug information; empty without any in the code object."""
        return Information.read(self.kernel.code.object.data, self.kernel.code.object.name)

    @cached_property
    def rows(self) -> Sequence[LineRange]:
        """Rows of the line table; none where it is damaged."""
        try:
            return [row for row in self.kernel.code.object.line_table() if row.line]
        except MfmasimError:
            return []

    def row(self, pc: int) -> LineRange | None:
        """The row of an address that belongs to a line."""
        try:
            found = self.kernel.code.object.line_table().row(pc)
        except MfmasimError:
            return None
        return found if found is not None and found.line else None

    def frames(self, pc: int) -> list[Frame]:
        """Inlined calls at an address, the innermost first; at least one."""
        row = self.row(pc)
        place = (row.file.removeprefix("./"), row.line) if row is not None else ("", 0)
        out = []
        for scope in self.information.frames(pc):
            out.append(Frame(scope.name or self.kernel.title, *place, scope.number))
            place = (scope.call_file.removeprefix("./"), scope.call_line)
        return out or [Frame(self.kernel.title, *place)]

    def begins(self, pc: int) -> bool:
        """Whether code of a line begins at an address."""
        row = self.row(pc)
        return row is not None and row.start == pc and row.is_stmt

    def text(self, file: str, line: int) -> str:
        """A line of a source, empty where it is not found."""
        lines = self.source(file)
        return lines[line - 1] if 0 < line <= len(lines) else ""

    def path(self, file: str) -> Path | None:
        """Path of a source; None if it is not found."""
        if not file.endswith(SUFFIXES):
            return None
        tried = (path for folder in self.folders for path in (folder / file, folder / Path(file).name))
        found = next((path for path in tried if path.is_file()), None)
        return None if found is None else found.absolute()

    def source(self, file: str) -> list[str]:
        """All lines of a source, none where it is not found."""
        if file not in self.texts:
            self.texts[file] = source_lines(file, self.folders)
        return self.texts[file]

    @property
    def files(self) -> list[str]:
        """Names of the sources."""
        return sorted({row.file.removeprefix("./") for row in self.rows})

    def addresses(self, file: str, line: int) -> tuple[int, frozenset[int]]:
        """Addresses at which code of a line begins; for a line without code, those of the next line with code.

        Args:
            file: name of the source, or its end; empty means the source of the kernel's entry.
            line: from 1.

        Returns:
            The line, and addresses in the code object.

        Raises:
            MfmasimError: there is no such source, or no line with code from there on.
        """
        if not self.rows:
            raise MfmasimError(
                f"{self.kernel.title} has no source lines: compile with -gline-tables-only or -g; "
                "addresses, mnemonics and kernel names work without"
            )
        if not file:
            entry = self.row(self.kernel.info.entry)
            file = entry.file if entry is not None else self.rows[0].file
        own = file.removeprefix("./")
        inside = [
            row
            for row in self.rows
            if (name := row.file.removeprefix("./")) == own or name.endswith("/" + own) or own.endswith("/" + name)
        ]
        if not inside:
            raise unknown("source", file, self.files)
        with_code = sorted({row.line for row in inside if row.line >= line})
        if not with_code:
            raise MfmasimError(
                f"{own}:{line}: no code from there on; the last line with code is {max(row.line for row in inside)}"
            )
        chosen = [row for row in inside if row.line == with_code[0]]
        starts = [row.start for row in chosen if row.is_stmt] or [row.start for row in chosen]
        return with_code[0], frozenset(starts)
