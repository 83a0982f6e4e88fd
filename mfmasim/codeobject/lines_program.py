"""The opcodes of a DWARF line program: rows of addresses, files and lines.

Source: DWARF 5 section 6.2.5, and the same section of DWARF 2 to 4.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from mfmasim.codeobject.lines_header import ENTRY_STEPS, Budget, Header, Reader

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
