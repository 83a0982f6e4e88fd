"""The fields of one encoded instruction: each is read, known to be ignored by the opcode, or zero."""

from __future__ import annotations

from functools import lru_cache

from mfmasim.isa.family import Family
from mfmasim.isa.instruction import Operand
from mfmasim.isa.opcode import Slot
from mfmasim.isa.operands import INLINE_FLOATS, LDS_DIRECT, LITERAL, LITERAL64, VGPR0, constant_bits, literal_bits
from mfmasim.isa.rows import Row
from mfmasim.isa.unread import absent_sources, unread_bits


class Refused(Exception):  # noqa: N818 - a reason, not a complete error: the decoder adds address and bytes
    """Why the bytes are not an instruction."""


class Fields:
    """The fields of one instruction.

    Attributes:
        word: the instruction as one integer, without literal.
        size: bytes so far; grows by 4 when a literal or a dword of DPP controls is taken.
        encoding: name of the format.
        controlled: whether a dword of DPP controls was taken.
        op_sel: halves that the register numbers of a short encoding select, as bits of VOP3's op_sel.
        ignored: fields that the opcode does not read and that are not zero, with their values.
    """

    __slots__ = (
        "_left",
        "_literal",
        "_literal_size",
        "_literals",
        "_short",
        "_tail",
        "_vector",
        "controlled",
        "encoding",
        "family",
        "ignored",
        "op_sel",
        "row",
        "size",
        "word",
    )

    def __init__(
        self,
        word: int,
        size: int,
        fields: dict[str, tuple[int, int]],
        tail: bytes,
        row: Row,
        family: Family,
        encoding: str = "",
    ) -> None:
        """Split one instruction into fields.

        Args:
            word: the instruction as one integer, without literal.
            size: its bytes.
            fields: (lowest bit, width) by the field's name.
            tail: bytes that follow: a literal or DPP controls.
            row: row of the opcode.
            family: instruction set.
            encoding: name of the format.
        """
        self.word = word
        self.size = size
        self._short = size == 4
        self.encoding = encoding
        self.op_sel = 0
        self.controlled = False
        self.ignored: list[tuple[str, int]] = []
        self._literals = size == 4 or family.dialect.long_literals
        self._vector = row.opcode.unit == "VALU"
        self.row = row
        self.family = family
        self._left = dict(fields)
        self._tail = tail
        self._literal: int | None = None
        self._literal_size = 0

    def take(self, name: str) -> int:
        """Value of a field; it counts as read."""
        low, width = self._left.pop(name)
        return self.word >> low & ((1 << width) - 1)

    def peek(self, name: str) -> int:
        """Value of a field, which does not count as read."""
        low, width = self._left[name]
        return self.word >> low & ((1 << width) - 1)

    def width(self, name: str) -> int:
        """Bits of a field that has not been taken."""
        return self._left[name][1]

    def half(self, number: int, slot: Slot, bit: int) -> int:
        """Register of a 16-bit operand; in a short encoding bit 7 of its number selects the half.

        Args:
            number: register number in the encoding.
            slot: the operand's place in the row.
            bit: bit of `op_sel` that notes the half.

        Raises:
            Refused: the operand lies in v0 to v127 only.
        """
        if slot.file not in ("h", "l") or not self._short:
            return number
        if number & 128 and slot.file == "l":
            raise Refused(f"16-bit operands of {self.row.name} lie in v0 to v127")
        if number & 128:
            self.op_sel |= 1 << bit
        return number & 127

    def has(self, name: str) -> bool:
        """Whether the encoding has this field and it has not been taken."""
        return name in self._left

    def rename(self, old: tuple[str, ...], new: dict[str, tuple[int, int]]) -> None:
        """Read some bits under the names they have in this opcode."""
        for name in old:
            del self._left[name]
        self._left.update(new)

    def literal(self) -> int:
        """The dword that follows the instruction."""
        return self._take_literal(4)

    def constant(self, kind: str) -> Operand:
        """The literal that the operation itself has (v_fmamk)."""
        if kind == "f64":
            return Operand("const", LITERAL64, 2, kind, self.literal64(), field="literal")
        return Operand("const", LITERAL, 1, kind, literal_bits(self.literal(), kind), field="literal")

    def literal64(self) -> int:
        """The two dwords that follow the instruction."""
        return self._take_literal(8)

    def _take_literal(self, size: int) -> int:
        if self._literal is None:
            if len(self._tail) < size:
                raise Refused("its literal lies beyond the end of the code")
            self._literal, self._literal_size = int.from_bytes(self._tail[:size], "little"), size
            self.size += size
        if self._literal_size != size:
            raise Refused(f"{self.row.name} cannot have literals of 32 and 64 bits")
        return self._literal

    def ignore(self, name: str, value: int, usual: int = 0) -> None:
        """Record bits that the opcode does not read.

        Args:
            name: field of the encoding.
            value: its bits.
            usual: the assemblers' value, which is not recorded.
        """
        if value != usual:
            self.ignored.append((name, value))

    def skip(self, *names: str) -> None:
        """Ignore the fields that this encoding has and that have not been taken."""
        for name in names:
            if name in self._left:
                self.ignore(name, self.take(name))

    def of_sources(self, name: str, allowed: int, why: str = "") -> int:
        """Value of a modifier with a bit per source; those of sources that the opcode does not have are ignored.

        Args:
            name: field of the encoding.
            allowed: bits that this opcode reads.
            why: error for other bits.

        Raises:
            Refused: another bit is set.
        """
        value = self.take(name)
        unread = value & absent_sources(self.row) & ~allowed
        self.ignore(name, unread)
        if value & ~allowed & ~unread:
            raise Refused(why or f"{name} {value:#x} of {self.row.name} has bits that it does not take")
        return value & allowed

    def finish(self) -> None:
        """Record the fields that this opcode does not read.

        Raises:
            Refused: another field that was not taken is not zero.
        """
        for name, (low, width) in self._left.items():
            value = self.word >> low & ((1 << width) - 1)
            if value:
                if value & ~unread_bits(name, self.row):
                    raise Refused(f"field {name} of {self.row.name} is not zero")
                self.ignore(name, value)

    def scalar(self, name: str, slot: Slot) -> Operand:
        """A source of the 8-bit scalar operand space."""
        return self._source(self.take(name), slot, name)

    def source(self, name: str, slot: Slot, *, neg: bool = False, abs_: bool = False) -> Operand:
        """A source of the 9-bit vector operand space, or of an SDWA form that is not a VGPR.

        Args:
            name: field of the encoding.
            slot: the operand's place in the row.
            neg: whether it is negated.
            abs_: whether its sign is dropped.

        Raises:
            Refused: the code is reserved, or not for this operand.
        """
        return self._source(self.take(name), slot, name, neg=neg, abs_=abs_)

    def _source(self, code: int, slot: Slot, name: str, *, neg: bool = False, abs_: bool = False) -> Operand:
        if code >= VGPR0:
            number = self.half(code - VGPR0, slot, 0)
            return vector_register("v", number, slot, name, self.family, neg=neg, abs_=abs_)
        if code < 128:
            return scalar_register(code, slot, name, self.family, neg=neg, abs_=abs_)
        kind = _plain(slot)
        if code <= 208 or code in INLINE_FLOATS:
            return Operand("const", code, slot.count, kind, constant_bits(code, kind), neg, abs_, field=name)
        if code == LITERAL and self.controlled:
            raise Refused(f"{self.row.name} cannot have a literal beside DPP controls")
        if code == LITERAL and self._literals:
            return Operand(
                "const", LITERAL, slot.count, kind, literal_bits(self.literal(), kind), neg, abs_, field=name
            )
        if code == LITERAL64 and self.family.dialect.literal64 and self._short:
            bits = self.literal64()
            value = bits if slot.count > 1 else bits & 0xFFFFFFFF
            return Operand("const", LITERAL64, slot.count, kind, value, neg, abs_, field=name)
        if code in self.family.dialect.codes.special and (
            code != LDS_DIRECT or (name == "src0" and slot.count == 1 and self._vector)
        ):
            return Operand("special", code, slot.count, kind, 0, neg, abs_, field=name)
        raise Refused(f"{name} of {self.row.name} has the reserved code {code}")


def _plain(slot: Slot) -> str:
    """Type of an operand; that of a lane mask follows from its width."""
    return f"b{32 * slot.count}" if slot.type in _MASKS else slot.type


_MASKS = ("vcc", "exec", "exec32", "exec64")


def _scalar_exists(code: int, count: int, family: Family) -> bool:
    """Whether these codes are SGPRs, one named pair, trap temporaries, M0 or EXEC."""
    last = code + count - 1
    return (
        last < family.arch.sgprs
        or (count <= 2 and code >= family.dialect.codes.named and last <= 107)
        or (code >= 108 and last <= 123 and count != 3)
        or (count == 1 and code == family.dialect.codes.m0)
        or (code >= 126 and last <= 127)
    )


def scalar_register(
    code: int, slot: Slot, name: str, family: Family, *, neg: bool = False, abs_: bool = False
) -> Operand:
    """A scalar register, aligned and inside its group.

    Args:
        code: hardware code.
        slot: the operand's place in the row.
        name: field of the encoding.
        family: instruction set.
        neg: whether it is negated.
        abs_: whether its sign is dropped.

    Raises:
        Refused: the code is reserved, or the registers are not aligned.
    """
    count = slot.count
    if code == family.dialect.codes.null:
        return Operand("null", code, count, _plain(slot), 0, neg, abs_, field=name, printed=slot.printed)
    if count > 1 and code % (2 if count == 2 else 4):
        raise Refused(f"{name}: {count} scalar registers may not start at code {code}")
    if not _scalar_exists(code, count, family):
        raise Refused(f"{name} has the reserved code {code}")
    return _register("s", code, count, _plain(slot), neg, abs_, name, slot.printed, False)


def vector_register(
    file: str, number: int, slot: Slot, name: str, family: Family, *, neg: bool = False, abs_: bool = False
) -> Operand:
    """A vector register, inside the file and aligned where the file is unified.

    Args:
        file: ``v`` or ``a``.
        number: first register.
        slot: the operand's place in the row.
        name: field of the encoding.
        family: instruction set.
        neg: whether it is negated.
        abs_: whether its sign is dropped.

    Raises:
        Refused: the registers do not exist, or are not aligned.
    """
    count = slot.count
    if number + count > max(256, family.arch.vgprs):
        raise Refused(f"{name}: {file}{number} and {count - 1} more registers do not exist")
    if count > 1 and number % 2 and family.arch.even_vgprs and slot.file != "odd":
        raise Refused(f"{name}: {count} registers must start at an even one, not at {file}{number}")
    return _register(file, number, count, slot.type, neg, abs_, name, slot.printed, slot.file == "h")


@lru_cache(maxsize=1 << 14)
def _register(
    kind: str, index: int, count: int, type_: str, neg: bool, abs_: bool, name: str, printed: bool, half: bool
) -> Operand:
    """One object for equal operands: most instructions name the same registers."""
    return Operand(kind, index, count, type_, 0, neg, abs_, field=name, printed=printed, half=half)


def implicit(slot: Slot, code: int) -> Operand:
    """VCC or EXEC where no field names it."""
    return Operand("s", code, slot.count, _plain(slot), printed=slot.printed)
