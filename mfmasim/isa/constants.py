"""Inline constants and literals as LLVM 22 prints them.

A literal whose value would assemble to an inline constant is printed as ``lit(...)``; these values depend
on the operand's type. Source: every kind of value in every type of operand, as llvm-mc 22 prints it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mfmasim.isa.operands import DWORDS, INLINE_FLOATS, LITERAL, LITERAL64, inline_integer

if TYPE_CHECKING:
    from mfmasim.isa.record import Operand

_F16, _BF16, _F32, _F64 = ({row[i]: row[0] for row in INLINE_FLOATS.values()} for i in (1, 2, 3, 4))
_LONG_1_2PI = "0.15915494309189532"


def inline_text(value: int) -> str | None:
    """Text of the inline constant of a 32-bit operand that has this value, or None."""
    if value <= 64:
        return str(value)
    if value >= 0xFFFFFFF0:
        return str(value - (1 << 32))
    return _F32.get(value)


def _small16(value: int) -> bool:
    return value <= 64 or value >= 0xFFF0


def _small32(value: int) -> bool:
    return value <= 64 or value >= 0xFFFFFFF0


def _literal_text(operand: Operand) -> str:
    kind, bits = operand.type, operand.bits
    value = bits & 0xFFFFFFFF
    low = value & 0xFFFF
    plain, wrapped = f"0x{value:x}", f"lit(0x{value:x})"
    if operand.field == "literal":
        return plain
    if kind == "raw":
        return inline_text(value) or plain if value not in _F32 else plain
    if kind == "f64":
        return _F64.get(bits) or ("0" if not bits else f"0x{bits >> 32:x}")
    if kind in ("i64", "u64", "b64"):
        return wrapped if value <= 64 else plain
    if kind == "f16":
        return wrapped if _small16(low) or low in _F16 else f"0x{low:x}"
    if kind == "bf16":
        return wrapped if _small16(low) or low in _BF16 else plain
    if kind == "splat_f16":
        alike = low == value >> 16 and (low <= 64 or low in _F16)
        return wrapped if alike or _small32(value) else plain
    if kind in ("pk_f16", "pk_bf16"):
        inline = _small32(value) or value in (_F16 if kind == "pk_f16" else _BF16)
        return wrapped if inline else plain
    if inline_text(value) is not None:
        return wrapped
    return f"0x{low:x}" if kind in ("i16", "u16", "b16") else plain


def _literal64_text(operand: Operand) -> str:
    """A literal of 64 bits: marked where its upper half is zero, else as the operand's type reads it."""
    kind, bits = operand.type, operand.bits
    if not bits >> 32:
        return f"lit64(0x{bits:x})"
    if DWORDS.get(kind, 1) == 2 and not kind.startswith("pk_"):
        small = bits - (1 << 64)
        if kind == "f64" and not bits & 0xFFFFFFFF and (operand.field == "literal" or bits not in _F64):
            return f"0x{bits >> 32:x}"
        inline = None if operand.field == "literal" else str(small) if small >= -16 else _F64.get(bits)
        return _LONG_1_2PI if inline == INLINE_FLOATS[248][0] else inline or f"0x{bits:x}"
    value, low = bits & 0xFFFFFFFF, bits & 0xFFFF
    if kind in ("f16", "i16", "u16", "b16"):
        if _small16(low):
            return str(low - (1 << 16) if low > 64 else low)
        return (_F16.get(low) if kind == "f16" else None) or f"0x{low:x}"
    if kind.startswith("pk_") or kind == "bf16":
        return inline_text(value) or f"0x{value:x}" if _small32(value) else f"0x{value:x}"
    return inline_text(value) or f"0x{value:x}"


def constant_text(operand: Operand) -> str:
    """A constant operand without its sign modifiers."""
    code, kind = operand.index, operand.type
    if code == LITERAL:
        return _literal_text(operand)
    if code == LITERAL64:
        return _literal64_text(operand)
    if code not in INLINE_FLOATS:
        return str(inline_integer(code))
    if kind == "raw":
        return f"0x{INLINE_FLOATS[code][3]:x}"
    if kind in ("i16", "u16", "b16"):
        # LLVM prints the half-precision bits here, although the hardware gives a single-precision value.
        return f"0x{INLINE_FLOATS[code][1]:x}"
    wide = DWORDS.get(kind, 1) == 2 and not kind.startswith("pk_")
    return _LONG_1_2PI if wide and code == 248 else INLINE_FLOATS[code][0]
