"""Source lines by address, from the DWARF line programs that ``-gline-tables-only`` leaves in the file.

Reading is bounded, whatever the file claims: a finding never waits for its source line longer than a moment.
Source: DWARF 5 section 6.2 (and DWARF 2 to 4, the same section); ELF's section headers are read with pyelftools.
"""

from __future__ import annotations

import zlib
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from mfmasim.codeobject.elf import open_elf
from mfmasim.codeobject.guard import parsing
from mfmasim.codeobject.lines_header import ENTRY_STEPS, Budget, Header, Reader, read_header
from mfmasim.errors import UnsupportedError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from elftools.elf.elffile import ELFFile

    from mfmasim.codeobject.lines_header import Header

_COPY, _ADVANCE_PC, _ADVANCE_LINE, _SET_FILE, _SET_COLUMN, _NEGATE_STMT = range(1, 7)
_OTHER_STEPS = 2  # what a standard opcode costs, beside its bytes
_CONST_ADD_PC, _FIXED_ADVANCE_PC = 8, 9
_END_SEQUENCE, _SET_ADDRESS, _DEFINE_FILE = 1, 2, 3  # extended opcodes


Row: TypeAlias = tuple[int, int, int, int, bool]
"""Address, number of the file, line, column, and whether a breakpoint is recommended."""


@dataclass(slots=True)
class _State:
    """The registers of the line machine, those of them that a source line needs."""

    is_stmt: bool
    address: int = 0
    operation: int = 0
    """Operation of a VLIW instruction (op_index)."""
    file: int = 1
    line: int = 1
    column: int = 0

    def advance(self, operations: int, header: Header) -> None:
        """Go forward by some operations."""
        total = self.operation + operations
        self.address += header.minimum_instruction_length * (total // header.maximum_operations)
        self.operation = total % header.maximum_operations


def covered(data: bytes, header: Header, budget: Budget) -> Iterator[tuple[Row, int]]:
    """Run a line program.

    Args:
        data: the section ``.debug_line``.
        header: its header; files that the program defines are added to it.
        budget: each byte of the program counts as one step, an opcode that takes longer as more.

    Yields:
        Every row that covers code, and the first address after it.

    Raises:
        ValueError: the program is damaged, or the budget is used up.
    """
    budget.take(header.end - header.start)
    reader = Reader(data, header.start, header.end)
    state = _State(header.is_stmt)
    advances, steps = _special(header)
    before: Row | None = None
    at, address, line = reader.at, state.address, state.line  # locals: one program may have a million opcodes
    while at < header.end:
        opcode = data[at]
        at += 1
        if opcode in steps:  # most opcodes: advance and append a row
            address += advances[opcode]
            line += steps[opcode]
        elif opcode != _COPY:
            reader.at, state.address, state.line = at, address, line
            budget.take(_OTHER_STEPS if opcode else ENTRY_STEPS)
            row, ending = _other(opcode, reader, state, header)
            at, address, line = reader.at, state.address, state.line
            if not row:
                continue
            if ending:
                if before is not None and address > before[0]:
                    yield before, address
                before, state = None, _State(header.is_stmt)
                address, line = state.address, state.line
                continue
        if before is not None and address > before[0]:
            yield before, address
        before = (address, state.file, line, state.column, state.is_stmt)


def _special(header: Header) -> tuple[dict[int, int], dict[int, int]]:
    """What special opcodes add to address and line; none where an address has several operations."""
    if header.maximum_operations != 1:
        return {}, {}
    parts = {
        opcode: divmod(opcode - header.opcode_base, header.line_range) for opcode in range(header.opcode_base, 256)
    }
    advances = {opcode: header.minimum_instruction_length * operations for opcode, (operations, _) in parts.items()}
    return advances, {opcode: header.line_base + lines for opcode, (_, lines) in parts.items()}


def _other(opcode: int, reader: Reader, state: _State, header: Header) -> tuple[bool, bool]:
    """Any other opcode; returns whether it appends a row, and whether that ends the sequence."""
    if opcode >= header.opcode_base:
        operations, lines = divmod(opcode - header.opcode_base, header.line_range)
        state.advance(operations, header)
        state.line += header.line_base + lines
        return True, False
    if opcode == 0:
        ending = _extended(reader, state, header)
        return ending, ending
    _standard(opcode, reader, state, header)
    return False, False


def _standard(opcode: int, reader: Reader, state: _State, header: Header) -> None:
    if opcode == _ADVANCE_PC:
        state.advance(reader.uleb128(), header)
    elif opcode == _ADVANCE_LINE:
        state.line += reader.sleb128()
    elif opcode == _SET_FILE:
        state.file = reader.uleb128()
    elif opcode == _SET_COLUMN:
        state.column = reader.uleb128()
    elif opcode == _NEGATE_STMT:
        state.is_stmt = not state.is_stmt
    elif opcode == _CONST_ADD_PC:
        state.advance((255 - header.opcode_base) // header.line_range, header)
    elif opcode == _FIXED_ADVANCE_PC:
        state.address += reader.number(2)
        state.operation = 0
    else:  # one that says nothing about lines, or of a later version: the header has its number of operands
        for _ in range(header.operands[opcode - 1]):
            reader.uleb128()


def _extended(reader: Reader, state: _State, header: Header) -> bool:
    """An opcode after a zero byte; returns whether it ends the sequence."""
    length = reader.uleb128()
    end = reader.at + length
    if not length or end > header.end:
        raise ValueError(f"extended opcode of {length} bytes at byte {reader.at} of the line programs")
    opcode = reader.number(1)
    if opcode == _SET_ADDRESS:
        state.address, state.operation = reader.number(min(length - 1, 8)), 0
    elif opcode == _DEFINE_FILE and header.version < 5:
        header.add_file(reader.string().decode("utf-8", "replace"), reader.uleb128())
    reader.at = end
    return opcode == _END_SEQUENCE


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
