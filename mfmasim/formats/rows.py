"""Number formats as rows, and values derived from a row: masks, special codes, range of exponents.

Sources: IEEE 754-2019 (f64, f32, f16); OCP 8-bit floating point 1.0 (e4m3fn, e5m2); OCP MX 1.0 (e2m3fn, e3m2fn,
e2m1fn, e8m0fnu); CDNA3 ISA manual 7.2 (fnuz formats, xf32); bf16 as in the CDNA1 ISA manual; CDNA5 ISA manual 7.12.6
(e5m3fnu).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np


@dataclass(frozen=True)
class FormatRow:
    """Bit fields and special codes of one number format.

    Codes are unsigned integers; a code of a format narrower than its carrier stands in the low bits.

    ``special`` says which codes are not numbers:

    * ``ieee``: exponent all ones is Inf (mantissa 0) or NaN
    * ``fn``, ``fnu``: only exponent and mantissa all ones is NaN, no Inf; ``fnu`` has no sign
    * ``fnuz``: only the code of -0 is NaN, no Inf, no -0
    * ``finite``: every code is a number
    * ``scale``: unsigned power of two, all ones is NaN, no zero
    * ``signed``, ``unsigned``: an integer, in two's complement or plain; it has no exponent and no mantissa
    """

    name: str
    bits: int
    exponent_bits: int
    mantissa_bits: int
    bias: int
    special: str
    aliases: tuple[str, ...] = ()
    source: str = ""
    """Where the encoding is defined."""
    unread_bits: int = 0
    """Lowest mantissa bits that the hardware does not read: decoding drops them, encoding leaves them zero."""

    @property
    def integer(self) -> bool:
        """Whether the values are integers, without exponent."""
        return self.special in {"signed", "unsigned"}

    @property
    def signed(self) -> bool:
        """Whether the top bit is a sign."""
        return self.special not in {"scale", "fnu", "unsigned"}

    @property
    def precision(self) -> int:
        """Mantissa bits that count (those that the hardware reads)."""
        return self.mantissa_bits - self.unread_bits

    @property
    def sign_bit(self) -> int:
        """Mask of the sign, 0 for an unsigned format."""
        return 1 << (self.bits - 1) if self.signed else 0

    @property
    def mask(self) -> int:
        """All bits of a code."""
        return (1 << self.bits) - 1

    @cached_property
    def carrier(self) -> np.dtype[Any]:
        """Smallest unsigned dtype that holds a code."""
        return np.dtype(f"u{next(size for size in (1, 2, 4, 8) if self.bits <= 8 * size)}")

    @cached_property
    def max_code(self) -> int:
        """Code of the largest finite value."""
        if self.integer:
            return self.mask >> int(self.signed)
        magnitude = self.mask >> int(self.signed)
        step = 1 << self.unread_bits
        if self.special == "ieee":
            return self.inf_code - step  # type: ignore[operator]  # an ieee format has Inf
        return magnitude - (1 if self.special in {"fn", "fnu", "scale"} else 0)

    @property
    def inf_code(self) -> int | None:
        """Code of +Inf, or None."""
        return ((1 << self.exponent_bits) - 1) << self.mantissa_bits if self.special == "ieee" else None

    @property
    def nan_code(self) -> int | None:
        """Code of the canonical quiet NaN with a clear sign, or None. With one NaN in the format, that one."""
        if self.special == "ieee":
            return ((1 << self.exponent_bits) - 1) << self.mantissa_bits | 1 << (self.mantissa_bits - 1)
        return {"fn": self.mask >> 1, "fnuz": 1 << (self.bits - 1), "scale": self.mask, "fnu": self.mask}.get(
            self.special
        )

    @property
    def zero_code(self) -> int | None:
        """Code of +0, or None where the format has no zero."""
        return None if self.special == "scale" else 0

    @property
    def negative_zero_code(self) -> int | None:
        """Code of -0, or None."""
        return 1 << (self.bits - 1) if self.special in {"ieee", "fn", "finite"} else None

    @property
    def min_exponent(self) -> int:
        """Exponent of the smallest normal value (of the smallest value for ``scale``)."""
        if self.integer:
            return 0
        return -self.bias if self.special == "scale" else 1 - self.bias

    @property
    def max_exponent(self) -> int:
        """Exponent of the largest finite value."""
        if self.integer:
            return self.max_code.bit_length() - 1
        return (self.max_code >> self.mantissa_bits) - self.bias


#   name        bits  exp  man  bias  special   aliases                       source
ROWS: tuple[FormatRow, ...] = (
    FormatRow("f64", 64, 11, 52, 1023, "ieee", ("fp64", "double"), "IEEE 754-2019, 3.6"),
    FormatRow("f32", 32, 8, 23, 127, "ieee", ("fp32", "float"), "IEEE 754-2019, 3.6"),
    # xf32 is stored as f32; the matrix core reads its top 19 bits (10 mantissa bits). The manual also mentions
    # rounding; the hardware truncates (rocm-libraries #9176).
    FormatRow("xf32", 32, 8, 23, 127, "ieee", ("tf32",), "CDNA3 ISA manual, 7.1.2", unread_bits=13),
    FormatRow("f16", 16, 5, 10, 15, "ieee", ("fp16", "half"), "IEEE 754-2019, 3.6"),
    FormatRow("bf16", 16, 8, 7, 127, "ieee", ("bfloat16",), "CDNA1 ISA manual"),
    FormatRow("e4m3fn", 8, 4, 3, 7, "fn", ("float8_e4m3fn",), "OCP OFP8 1.0"),
    FormatRow("e4m3fnuz", 8, 4, 3, 8, "fnuz", ("float8_e4m3fnuz",), "CDNA3 ISA manual, 7.2"),
    FormatRow("e5m2", 8, 5, 2, 15, "ieee", ("float8_e5m2",), "OCP OFP8 1.0"),
    FormatRow("e5m2fnuz", 8, 5, 2, 16, "fnuz", ("float8_e5m2fnuz",), "CDNA3 ISA manual, 7.2"),
    FormatRow("e2m3fn", 6, 2, 3, 1, "finite", ("fp6", "float6_e2m3fn"), "OCP MX 1.0, 5.3.2"),
    FormatRow("e3m2fn", 6, 3, 2, 3, "finite", ("bf6", "float6_e3m2fn"), "OCP MX 1.0, 5.3.2"),
    FormatRow("e2m1fn", 4, 2, 1, 1, "finite", ("fp4", "float4_e2m1fn"), "OCP MX 1.0, 5.3.3"),
    FormatRow("e8m0fnu", 8, 8, 0, 127, "scale", ("e8m0", "float8_e8m0fnu"), "OCP MX 1.0, 5.4.1"),
    FormatRow("e5m3fnu", 8, 5, 3, 15, "fnu", ("e5m3",), "CDNA5 ISA manual, 7.12.6"),
    FormatRow("u2", 2, 0, 0, 0, "unsigned", ("uint2",), "CDNA3 ISA manual, 7.4: position of a kept element of four"),
    FormatRow("i4", 4, 0, 0, 0, "signed", ("int4",), "RDNA3 ISA manual, 7.9"),
    FormatRow("u4", 4, 0, 0, 0, "unsigned", ("uint4",), "RDNA3 ISA manual, 7.9"),
    FormatRow("i8", 8, 0, 0, 0, "signed", ("int8",), "CDNA1 ISA manual"),
    FormatRow("u8", 8, 0, 0, 0, "unsigned", ("uint8",), "RDNA3 ISA manual, 7.9"),
    FormatRow("i32", 32, 0, 0, 0, "signed", ("int32",), "CDNA1 ISA manual"),
)
