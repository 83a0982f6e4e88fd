"""The header of a DWARF line program: how its opcodes advance, and its files.

A header of a few bytes can promise any number of files, or refer to one long string from each: what is read counts
against a `Budget`, and the text of the names against `_NAMES_LIMIT`.
Source: DWARF 5 sections 6.2.4 and 7.5.6, and the same sections of DWARF 2 to 4.
"""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from dataclasses import dataclass

from mfmasim.visible import visible

ENTRY_STEPS = 16
"""What an entry of a table or an extended opcode costs, relative to a byte of the program."""

_NAMES_LIMIT = 1 << 24  # bytes of all names of a line program
_PATH, _DIRECTORY_INDEX = 1, 2  # DW_LNCT

# DW_FORM -> bytes of a number, of those that section 6.2.4.1 allows in a line program.
_NUMBERS = {0x05: 2, 0x06: 4, 0x07: 8, 0x0B: 1, 0x1E: 16}
_STRING, _BLOCK, _STRP, _UDATA, _LINE_STRP = 0x08, 0x09, 0x0E, 0x0F, 0x1F
_FORMS = {*_NUMBERS, _STRING, _BLOCK, _STRP, _UDATA, _LINE_STRP}
_SECTIONS = {_STRP: ".debug_str", _LINE_STRP: ".debug_line_str"}


class Budget:
    """Steps that reading all line programs of a file may take."""

    def __init__(self, steps: int) -> None:
        """Allow this many."""
        self.left = self.limit = steps

    def take(self, steps: int = 1) -> None:
        """Spend steps.

        Raises:
            ValueError: there are not as many left.
        """
        self.left -= steps
        if self.left < 0:
            raise ValueError(f"line programs of more than {self.limit:,} steps")


class Reader:
    """Numbers and strings one after another; past the end it raises."""

    def __init__(self, data: bytes, at: int, end: int) -> None:
        """Read `data` from `at` to before `end`."""
        self.data = data
        self.at = at
        self.end = end

    def number(self, size: int) -> int:
        """An unsigned number of some bytes."""
        self.skip(size)
        return int.from_bytes(self.data[self.at - size : self.at], "little")

    def skip(self, size: int) -> None:
        """Go past some bytes."""
        if self.at + size > self.end:
            raise ValueError(f"line program ends at byte {self.end}")
        self.at += size

    def uleb128(self) -> int:
        """An unsigned number in groups of seven bits."""
        value = shift = 0
        while True:
            byte = self.number(1)
            value |= (byte & 0x7F) << shift
            shift += 7
            if not byte & 0x80:
                return value
            if shift > 63:
                raise ValueError(f"number without end at byte {self.at} of the line programs")

    def sleb128(self) -> int:
        """A signed number in groups of seven bits."""
        start = self.at
        value = self.uleb128()
        bits = 7 * (self.at - start)
        return value - (1 << bits) if value >> (bits - 1) else value

    def string(self) -> bytes:
        """Bytes up to a zero byte, which is skipped."""
        end = self.data.find(b"\0", self.at, self.end)
        if end < 0:
            raise ValueError(f"name without end at byte {self.at} of the line programs")
        found = self.data[self.at : end]
        self.at = end + 1
        return found


@dataclass
class Header:
    """What the opcodes of a line program depend on."""

    version: int
    minimum_instruction_length: int
    maximum_operations: int
    is_stmt: bool
    """Before the first opcode that changes it."""
    line_base: int
    line_range: int
    opcode_base: int
    operands: tuple[int, ...]
    """Number of operands of each standard opcode, from opcode 1."""
    start: int
    """First byte of the program in the section."""
    end: int
    directories: list[str]
    files: list[str]

    def file(self, number: int) -> str:
        """Path of a file, numbered as the program does; ``?`` where there is none."""
        place = number - (0 if self.version >= 5 else 1)
        return self.files[place] if 0 <= place < len(self.files) else "?"

    def add_file(self, name: str, directory: int) -> None:
        """Append a file to those that the program may name."""
        known = self.directories[directory] if directory < len(self.directories) else ""
        self.files.append(posixpath.join(known, name))


class _Names:
    """Names as text, within a limit."""

    def __init__(self, sections: Mapping[str, bytes]) -> None:
        self.sections = sections
        self.left = _NAMES_LIMIT

    def text(self, raw: bytes) -> str:
        self.left -= len(raw) + 1
        if self.left < 0:
            raise ValueError(f"line program with names of more than {_NAMES_LIMIT:,} bytes")
        return visible(raw.decode("utf-8", "replace"))

    def at(self, section: str, offset: int) -> bytes:
        data = self.sections.get(section, b"")
        end = data.find(b"\0", offset, offset + self.left + 1) if offset < len(data) else -1
        if end < 0:
            limit = f"names of more than {_NAMES_LIMIT:,} bytes"
            raise ValueError(f"line program with a name without end at byte {offset} of {section}, or with {limit}")
        return data[offset:end]


def read_header(data: bytes, at: int, strings: Mapping[str, bytes], budget: Budget) -> Header:
    """Read the header of a line program.

    Args:
        data: the section ``.debug_line``.
        at: where the header starts.
        strings: the sections ``.debug_str`` and ``.debug_line_str``.
        budget: what is read counts against it.

    Raises:
        ValueError: the header is of an unknown version or form, or claims more than there is.
    """
    reader = Reader(data, at, len(data))
    offset_size, length = 4, reader.number(4)
    if length == 0xFFFFFFFF:  # the 64-bit DWARF format
        offset_size, length = 8, reader.number(8)
    end = reader.at + length
    if end > len(data):
        raise ValueError(f"line program of {length} bytes in a section of {len(data)}")
    reader.end = end
    version = reader.number(2)
    if not 2 <= version <= 5:
        raise ValueError(f"line program of version {version}")
    if version >= 5:
        reader.skip(2)  # sizes of an address and of a segment selector
    start = reader.number(offset_size)
    start += reader.at
    minimum = reader.number(1)
    operations = reader.number(1) if version >= 4 else 1
    is_stmt = bool(reader.number(1))
    line_base = (reader.number(1) ^ 0x80) - 0x80
    line_range, opcode_base = reader.number(1), reader.number(1)
    if not (line_range and operations and opcode_base) or start > end:
        raise ValueError(
            f"line program with line_range {line_range}, {operations} operations, opcode_base {opcode_base}, "
            f"start {start}"
        )
    operands = tuple(reader.number(1) for _ in range(opcode_base - 1))
    header = Header(
        version, minimum, operations, is_stmt, line_base, line_range, opcode_base, operands, start, end, [], []
    )
    names = _Names(strings)
    if version >= 5:
        header.directories = [name for name, _ in _table(reader, "directories", offset_size, names, budget)]
        for name, directory in _table(reader, "files", offset_size, names, budget):
            header.add_file(name, directory)
    else:
        _old_tables(reader, header, names, budget)
    return header


def _old_tables(reader: Reader, header: Header, names: _Names, budget: Budget) -> None:
    """Directories and files before DWARF 5: each list ends with an empty name."""
    header.directories = [""]  # the compilation directory, which the line program does not spell
    while name := reader.string():
        budget.take(ENTRY_STEPS)
        header.directories.append(names.text(name))
    while name := reader.string():
        budget.take(ENTRY_STEPS)
        directory, _, _ = (reader.uleb128() for _ in range(3))
        header.add_file(names.text(name), directory)


def _table(reader: Reader, what: str, offset_size: int, names: _Names, budget: Budget) -> list[tuple[str, int]]:
    """A table of DWARF 5: name and number of the directory, by entry."""
    formats = [(reader.uleb128(), reader.uleb128()) for _ in range(reader.number(1))]
    unknown = [form for _, form in formats if form not in _FORMS]
    if unknown:
        raise ValueError(f"line program with form {unknown[0]:#x}")
    count = reader.uleb128()
    if count > len(reader.data) or (count and not formats):
        raise ValueError(f"line program of {len(reader.data)} bytes with {count} {what}")
    found = []
    for _ in range(count):
        name, directory = "", 0
        for content, form in formats:
            budget.take(ENTRY_STEPS)
            if form in _NUMBERS or form == _UDATA:
                number = reader.uleb128() if form == _UDATA else reader.number(_NUMBERS[form])
                directory = number if content == _DIRECTORY_INDEX else directory
            elif form == _BLOCK:
                reader.skip(reader.uleb128())
            else:
                raw = reader.string() if form == _STRING else names.at(_SECTIONS[form], reader.number(offset_size))
                name = names.text(raw) if content == _PATH else name
        found.append((name, directory))
    return found
