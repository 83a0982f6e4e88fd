"""Source lines by address, from the DWARF line programs that ``-gline-tables-only`` leaves in the file.

Source: DWARF 5 section 6.2 (and DWARF 4, the same section), read with pyelftools.
"""

from __future__ import annotations

import posixpath
from bisect import bisect_right
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from mfmasim.codeobject.elf import open_elf
from mfmasim.codeobject.guard import parsing
from mfmasim.codeobject.lines_header import check_header
from mfmasim.errors import MfmasimError
from mfmasim.visible import visible

if TYPE_CHECKING:
    from collections.abc import Iterator

    from elftools.elf.elffile import ELFFile

__all__ = ["LineRange", "LineTable", "read_line_table"]

# Most bytes of one compressed debug section.
_SECTION_LIMIT = 1 << 28

_ELFCOMPRESS_ZSTD = (2).to_bytes(4, "little")


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
        MfmasimError: the debug information is damaged.
    """
    elf = open_elf(data, name)
    rows: list[LineRange] = []
    with parsing(name, "debug information"):
        if elf.get_section_by_name(".debug_line") is None or elf.get_section_by_name(".debug_info") is None:
            return LineTable.of([])
        _check_sections(elf, data, name)
        dwarf = elf.get_dwarf_info(relocate_dwarf_sections=False, follow_links=False)
        programs: set[int] = set()
        for unit in dwarf.iter_CUs():
            attribute = unit.get_top_DIE().attributes.get("DW_AT_stmt_list")
            if attribute is None or attribute.value in programs:
                continue
            programs.add(attribute.value)
            section = dwarf.debug_line_sec
            assert section is not None
            section.stream.seek(0)
            check_header(section.stream.read(), attribute.value)
            program = dwarf.line_program_for_CU(unit)
            if program is not None:
                rows.extend(_rows(program))
    return LineTable.of(rows)


def _check_sections(elf: ELFFile, data: bytes, name: str) -> None:
    """Check sections that pyelftools copies against the file's size; it would allocate any size they claim."""
    for section in elf.iter_sections():
        if not section.name.startswith((".debug", ".zdebug", ".eh_frame", ".gnu_debug")):
            continue
        offset = section["sh_offset"]
        stored = 0 if section["sh_type"] == "SHT_NOBITS" else offset + section["sh_size"]
        limit = max(len(data), _SECTION_LIMIT if section.compressed else 0)
        if stored > len(data) or section.data_size > limit:
            raise ValueError(f"section {section.name} of {section.data_size} bytes")
        if section.compressed and data[offset : offset + 4] == _ELFCOMPRESS_ZSTD:
            raise MfmasimError(f"{name}: debug information compressed with zstd is unsupported; compile with -gz=zlib")


def _rows(program: Any) -> Iterator[LineRange]:
    files = _files(program.header)
    # File numbers count from 0 in DWARF 5 and from 1 before it.
    first = 0 if program.header["version"] >= 5 else 1
    before: Any = None
    for entry in program.get_entries():
        state = entry.state
        if state is None:
            continue
        if before is not None and state.address > before.address:
            place = before.file - first
            yield LineRange(
                start=before.address,
                end=state.address,
                file=files[place] if 0 <= place < len(files) else "?",
                line=before.line,
                column=before.column,
                is_stmt=bool(before.is_stmt),
            )
        before = None if state.end_sequence else state


def _files(header: Any) -> list[str]:
    """Path of every file of a line program, joined with its directory as the compiler recorded both."""
    directories = [_text(one) for one in header["include_directory"]]
    # Before DWARF 5 directory 0 is the compilation directory, which the line program does not spell.
    if header["version"] < 5:
        directories.insert(0, "")
    return [
        posixpath.join(directories[one["dir_index"]] if one["dir_index"] < len(directories) else "", _text(one["name"]))
        for one in header["file_entry"]
    ]


def _text(value: bytes | str) -> str:
    return visible(value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value))
