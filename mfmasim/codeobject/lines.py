"""Source lines by address, from the DWARF line programs that ``-gline-tables-only`` leaves in the file.

Reading is bounded, whatever the file claims: a finding never waits for its source line longer than a moment.
Source: DWARF 5 section 6.2 (and DWARF 2 to 4, the same section); ELF's section headers are read with pyelftools.
"""

from __future__ import annotations

import zlib
from bisect import bisect_right
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mfmasim.codeobject.elf import open_elf
from mfmasim.codeobject.guard import parsing
from mfmasim.codeobject.lines_header import Budget, read_header
from mfmasim.codeobject.lines_program import covered
from mfmasim.errors import UnsupportedError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from elftools.elf.elffile import ELFFile

    from mfmasim.codeobject.lines_header import Header

_SECTION_LIMIT = 1 << 26  # bytes of one decompressed section
_STEPS = 1 << 21  # of all line programs together, see `Budget`: about two seconds
_ROWS = 1 << 18

_NAMES = (".debug_line", ".debug_str", ".debug_line_str")
_COMPRESSION = {1: "zlib", 2: "zstd"}  # ELFCOMPRESS
_COMPRESSION_HEADER = 24  # bytes of Elf64_Chdr: type, reserved, size, alignment


@dataclass(frozen=True)
class LineRange:
    """Consecutive code that one row of the line table covers."""

    start: int
    end: int
    """First address after it."""
    file: str
    line: int
    """0 for generated code that belongs to no line."""
    column: int
    is_stmt: bool
    """Whether the compiler recommends it as a place for a breakpoint."""


@dataclass(frozen=True)
class LineTable:
    """The rows of all line programs of a file, by ascending address, without overlaps."""

    rows: tuple[LineRange, ...]
    _starts: tuple[int, ...] = field(repr=False)

    @classmethod
    def of(cls, rows: list[LineRange]) -> LineTable:
        """Sort rows; where two overlap, the one that starts later wins from its start on."""
        ordered: list[LineRange] = []
        for row in sorted(rows, key=lambda one: one.start):
            if ordered and ordered[-1].end > row.start:
                last = ordered.pop()
                if last.start < row.start:
                    ordered.append(LineRange(last.start, row.start, last.file, last.line, last.column, last.is_stmt))
            ordered.append(row)
        return cls(tuple(ordered), tuple(row.start for row in ordered))

    def row(self, address: int) -> LineRange | None:
        """The row that covers an address, also where it belongs to no line; None outside every row."""
        at = bisect_right(self._starts, address) - 1
        if at < 0 or address >= self.rows[at].end:
            return None
        return self.rows[at]

    def at(self, address: int) -> tuple[str, int] | None:
        """Source file and line of an instruction.

        Args:
            address: virtual address in the file's own address space.

        Returns:
            The file as the compiler recorded it and the line from 1, or None where no line is known.
        """
        row = self.row(address)
        return (row.file, row.line) if row is not None and row.line else None

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[LineRange]:
        return iter(self.rows)


def read_line_table(data: bytes, name: str) -> LineTable:
    """Read every line program of an ELF file.

    Args:
        data: the file.
        name: for the error.

    Returns:
        The table; empty when the file has no line programs.

    Raises:
        MfmasimError: the debug information is damaged, or exceeds what is read of it.
    """
    elf = open_elf(data, name)
    rows: list[LineRange] = []
    with parsing(name, "debug information"):
        sections = {title: _section(elf, data, title, name) for title in _NAMES}
        program, budget, at = sections[".debug_line"], Budget(_STEPS), 0
        while at < len(program):
            header = read_header(program, at, sections, budget)
            rows.extend(_rows(program, header, budget, _ROWS - len(rows)))
            at = header.end
    return LineTable.of(rows)


def _section(elf: ELFFile, data: bytes, title: str, name: str) -> bytes:
    """Bytes of a section, decompressed; empty when there is none."""
    section = elf.get_section_by_name(title)
    if section is None:
        return b""
    offset, size = int(section["sh_offset"]), int(section["sh_size"])
    if size > len(data) or offset + size > len(data):
        raise ValueError(f"section {title} of {size} bytes")
    if section["sh_type"] == "SHT_NOBITS":
        return b""
    stored = data[offset : offset + size]
    if not section.compressed:
        return stored
    method = _COMPRESSION.get(int.from_bytes(stored[:4], "little"), "an unknown method")
    if method != "zlib":
        raise UnsupportedError(
            f"{name}: debug information compressed with {method} is unsupported; compile with -gz=zlib"
        )
    claimed = int.from_bytes(stored[8:16], "little")
    if claimed > _SECTION_LIMIT:
        raise ValueError(f"section {title} of {claimed} bytes, decompressed; {_SECTION_LIMIT} are read")
    plain = zlib.decompressobj().decompress(stored[_COMPRESSION_HEADER:], claimed + 1)
    if len(plain) != claimed:
        raise ValueError(f"section {title} does not decompress to {claimed} bytes")
    return plain


def _rows(data: bytes, header: Header, budget: Budget, most: int) -> Iterator[LineRange]:
    """Rows of one line program; ValueError where there are more than `most`."""
    for (start, file, line, column, is_stmt), end in covered(data, header, budget):
        most -= 1
        if most < 0:
            raise ValueError(f"line programs of more than {_ROWS:,} rows")
        yield LineRange(start, end, header.file(file), line, column, is_stmt)
