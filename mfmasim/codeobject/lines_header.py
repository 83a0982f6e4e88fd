"""Check of a line program's header before a parser allocates by its counts.

A DWARF 5 header says how many directories and files follow and in which forms. A damaged count together with
forms that take no bytes would make a parser build a list of any length, so counts are checked first.
Source: DWARF 5 section 6.2.4 and 7.5.6.
"""

from __future__ import annotations

__all__ = ["check_header"]

_OFFSET = 0  # as many bytes as an offset has

# DW_FORM -> bytes, of the forms section 6.2.4.1 allows in a line program; None is read in place.
_FORM_BYTES: dict[int, int | None] = {
    0x05: 2,  # data2
    0x06: 4,  # data4
    0x07: 8,  # data8
    0x08: None,  # string, up to its zero byte
    0x09: None,  # block, with its length before it
    0x0B: 1,  # data1
    0x0E: _OFFSET,  # strp
    0x0F: None,  # udata
    0x1E: 16,  # data16
    0x1F: _OFFSET,  # line_strp
}


class _Reader:
    """Numbers one after another; past the end it raises."""

    def __init__(self, data: bytes, at: int) -> None:
        self.data = data
        self.at = at
        self.offset_size = 4

    def number(self, size: int) -> int:
        if self.at + size > len(self.data):
            raise ValueError(f"line program ends at byte {len(self.data)}")
        value = int.from_bytes(self.data[self.at : self.at + size], "little")
        self.at += size
        return value

    def uleb128(self) -> int:
        value = shift = 0
        while True:
            byte = self.number(1)
            value |= (byte & 0x7F) << shift
            shift += 7
            if not byte & 0x80:
                return value
            if shift > 63:
                raise ValueError(f"number without end at byte {self.at} of the line programs")

    def skip(self, form: int) -> None:
        size = _FORM_BYTES[form]
        if size is not None:
            self.number(size or self.offset_size)
        elif form == 0x0F:
            self.uleb128()
        elif form == 0x09:
            self.number(self.uleb128())
        else:
            while self.number(1):
                pass


def check_header(data: bytes, at: int) -> None:
    """Check the counts of a line program's header against the bytes available.

    Args:
        data: the section ``.debug_line``.
        at: where the header starts.

    Raises:
        ValueError: the header is of an unknown version or form, or its counts exceed the bytes available.
    """
    reader = _Reader(data, at)
    length = reader.number(4)
    if length == 0xFFFFFFFF:  # the 64-bit DWARF format
        reader.offset_size = 8
        length = reader.number(8)
    if reader.at + length > len(data):
        raise ValueError(f"line program of {length} bytes in a section of {len(data)}")
    version = reader.number(2)
    if not 2 <= version <= 5:
        raise ValueError(f"line program of version {version}")
    if version < 5:
        return  # its tables end with an empty name: no counts to trust
    # Address and selector size, header length, minimum_instruction_length to line_range.
    reader.number(2 + reader.offset_size + 5)
    opcode_base = reader.number(1)
    reader.number(max(0, opcode_base - 1))
    for what in ("directories", "files"):
        forms = []
        for _ in range(reader.number(1)):
            reader.uleb128()
            forms.append(reader.uleb128())
        unknown = [form for form in forms if form not in _FORM_BYTES]
        if unknown:
            raise ValueError(f"line program with form {unknown[0]:#x}")
        count = reader.uleb128()
        if count > len(data) or (count and not forms):
            raise ValueError(f"line program of {len(data)} bytes with {count} {what}")
        for _ in range(count):
            for form in forms:
                reader.skip(form)
