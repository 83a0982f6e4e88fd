"""One encoded instruction taken apart: every field must be asked for, and what nobody asked for must be zero."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mfmasim.isa.instruction import Operand
from mfmasim.isa.operands import INLINE_FLOATS, LDS_DIRECT, LITERAL, SPECIAL_NAMES, VGPR0, constant_bits, literal_bits

if TYPE_CHECKING:
    from mfmasim.isa.family import Family
    from mfmasim.isa.rows import Row, Slot

__all__ = ["Fields", "Refused", "implicit", "scalar_register", "vector_register"]


class Refused(Exception):  # noqa: N818 - a reason, not an error of its own: the decoder adds address and bytes
    """Why the bytes are no instruction."""


class Fields:
    """The fields of one instruction.

    Attributes:
        word: the instruction as one integer, without literal.
        size: bytes so far; grows by 4 when a literal is taken.
    """

    __slots__ = ("_left", "_literal", "_short", "_tail", "_vector", "family", "row", "size", "word")

    def __init__(
        self, word: int, size: int, fields: dict[str, tuple[int, int]], tail: bytes, row: Row, family: Family
    ) -> None:
        self.word = word
        self.size = size
        self._short = size == 4
        self._vector = row.name.startswith("v_")
        self.row = row
        self.family = family
        self._left = dict(fields)
        self._tail = tail
        self._literal: int | None = None

    def take(self, name: str) -> int:
        """Value of a field; it counts as used."""
        low, width = self._left.pop(name)
        return self.word >> low & ((1 << width) - 1)

    def peek(self, name: str) -> int:
        """Value of a field that stays unused."""
        low, width = self._left[name]
        return self.word >> low & ((1 << width) - 1)

    def rename(self, old: tuple[str, ...], new: dict[str, tuple[int, int]]) -> None:
        """Read some bits under the names they have in this opcode."""
        for name in old:
            del self._left[name]
        self._left.update(new)

    def literal(self) -> int:
        """The dword that follows the instruction."""
        if self._literal is None:
            if len(self._tail) < 4:
                raise Refused("its literal lies beyond the end of the code")
            self._literal = int.from_bytes(self._tail[:4], "little")
            self.size += 4
        return self._literal

    def finish(self) -> None:
        """Refuse when a field that this opcode does not have is not zero."""
        for name, (low, width) in self._left.items():
            if self.word >> low & ((1 << width) - 1):
                raise Refused(f"field {name} of {self.row.name} is not zero")

    def scalar(self, name: str, slot: Slot) -> Operand:
        """A source of the 8-bit scalar operand space."""
        return self._source(self.take(name), slot, name)

    def constant_or_scalar(self, name: str, slot: Slot, *, neg: bool, abs_: bool) -> Operand:
        """A source of an SDWA form that is no VGPR."""
        return self._source(self.take(name), slot, name, neg=neg, abs_=abs_)

    def source(self, name: str, slot: Slot, *, neg: bool = False, abs_: bool = False) -> Operand:
        """A source of the 9-bit vector operand space."""
        return self._source(self.take(name), slot, name, neg=neg, abs_=abs_)

    def _source(self, code: int, slot: Slot, name: str, *, neg: bool = False, abs_: bool = False) -> Operand:
        if code >= VGPR0:
            return vector_register("v", code - VGPR0, slot, name, self.family, neg=neg, abs_=abs_)
        if code < 128:
            return scalar_register(code, slot, name, self.family, neg=neg, abs_=abs_)
        kind = "b64" if slot.type in ("vcc", "exec") else slot.type
        if code <= 208 or code in INLINE_FLOATS:
            return Operand("const", code, slot.count, kind, constant_bits(code, kind), neg, abs_, field=name)
        if code == LITERAL and self._short:
            return Operand(
                "const", LITERAL, slot.count, kind, literal_bits(self.literal(), kind), neg, abs_, field=name
            )
        if code in SPECIAL_NAMES and (code != LDS_DIRECT or (name == "src0" and slot.count == 1 and self._vector)):
            return Operand("special", code, slot.count, kind, 0, neg, abs_, field=name)
        raise Refused(f"{name} of {self.row.name} has the reserved code {code}")


def _scalar_exists(code: int, count: int, sgprs: int) -> bool:
    """Whether these codes are SGPRs, one named pair, trap temporaries, M0 or EXEC."""
    last = code + count - 1
    return (
        last < sgprs
        or (count <= 2 and code >= 102 and last <= 107)
        or (code >= 108 and last <= 123)
        or (count == 1 and code == 124)
        or (code >= 126 and last <= 127)
    )


def scalar_register(
    code: int, slot: Slot, name: str, family: Family, *, neg: bool = False, abs_: bool = False
) -> Operand:
    """A scalar register, aligned and inside its group."""
    count = slot.count
    if count > 1 and code % (2 if count == 2 else 4):
        raise Refused(f"{name}: {count} scalar registers may not start at code {code}")
    if not _scalar_exists(code, count, family.arch.sgprs):
        raise Refused(f"{name} has the reserved code {code}")
    kind = "b64" if slot.type in ("vcc", "exec") else slot.type
    return Operand("s", code, count, kind, 0, neg, abs_, field=name, printed=slot.printed)


def vector_register(
    file: str, number: int, slot: Slot, name: str, family: Family, *, neg: bool = False, abs_: bool = False
) -> Operand:
    """A vector register, inside the file and aligned where the file is unified."""
    count = slot.count
    if number + count > 256:
        raise Refused(f"{name}: {file}{number} and {count - 1} more registers do not exist")
    if count > 1 and number % 2 and family.arch.unified_vgprs:
        raise Refused(f"{name}: {count} registers must start at an even one, not at {file}{number}")
    return Operand(file, number, count, slot.type, 0, neg, abs_, field=name, printed=slot.printed)


def implicit(slot: Slot, code: int) -> Operand:
    """VCC or EXEC where no field names it."""
    return Operand("s", code, 2, "b64", printed=slot.printed)
