"""Number formats as rows. Everything else about a format is computed from its row.

Sources: IEEE 754-2019 (f64, f32, f16); OCP 8-bit floating point 1.0 (e4m3fn, e5m2); OCP MX 1.0 (e2m3fn, e3m2fn,
e2m1fn, e8m0fnu); CDNA3 ISA manual 7.2 (fnuz formats, xf32); bf16 as in the CDNA1 ISA manual.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["ROWS", "FormatRow"]


@dataclass(frozen=True)
class FormatRow:
    """Bit fields and special codes of one number format.

    ``special`` says which codes are not numbers:

    * ``ieee``: exponent all ones is Inf (mantissa 0) or NaN
    * ``fn``: only exponent and mantissa all ones is NaN, no Inf
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


#   name        bits  exp  man  bias  special   aliases                       source
ROWS: tuple[FormatRow, ...] = (
    FormatRow("f64",      64, 11, 52, 1023, "ieee",   ("fp64", "double"), "IEEE 754-2019, 3.6"),
    FormatRow("f32",      32,  8, 23,  127, "ieee",   ("fp32", "float"), "IEEE 754-2019, 3.6"),
    # xf32 travels as f32; the matrix core reads its top 19 bits (10 mantissa bits). The manual also speaks
    # of rounding; the hardware truncates (rocm-libraries #9176).
    FormatRow("xf32",     32,  8, 23,  127, "ieee",   ("tf32",), "CDNA3 ISA manual, 7.1.2", unread_bits=13),
    FormatRow("f16",      16,  5, 10,   15, "ieee",   ("fp16", "half"), "IEEE 754-2019, 3.6"),
    FormatRow("bf16",     16,  8,  7,  127, "ieee",   ("bfloat16",), "CDNA1 ISA manual"),
    FormatRow("e4m3fn",    8,  4,  3,    7, "fn",     ("float8_e4m3fn",), "OCP OFP8 1.0"),
    FormatRow("e4m3fnuz",  8,  4,  3,    8, "fnuz",   ("float8_e4m3fnuz",), "CDNA3 ISA manual, 7.2"),
    FormatRow("e5m2",      8,  5,  2,   15, "ieee",   ("float8_e5m2",), "OCP OFP8 1.0"),
    FormatRow("e5m2fnuz",  8,  5,  2,   16, "fnuz",   ("float8_e5m2fnuz",), "CDNA3 ISA manual, 7.2"),
    FormatRow("e2m3fn",    6,  2,  3,    1, "finite", ("fp6", "float6_e2m3fn"), "OCP MX 1.0, 5.3.2"),
    FormatRow("e3m2fn",    6,  3,  2,    3, "finite", ("bf6", "float6_e3m2fn"), "OCP MX 1.0, 5.3.2"),
    FormatRow("e2m1fn",    4,  2,  1,    1, "finite", ("fp4", "float4_e2m1fn"), "OCP MX 1.0, 5.3.3"),
    FormatRow("e8m0fnu",   8,  8,  0,  127, "scale",  ("e8m0", "float8_e8m0fnu"), "OCP MX 1.0, 5.4.1"),
    FormatRow("i4",        4,  0,  0,    0, "signed",   ("int4",), "RDNA3 ISA manual, 7.9"),
    FormatRow("u4",        4,  0,  0,    0, "unsigned", ("uint4",), "RDNA3 ISA manual, 7.9"),
    FormatRow("i8",        8,  0,  0,    0, "signed",   ("int8",), "CDNA1 ISA manual"),
    FormatRow("u8",        8,  0,  0,    0, "unsigned", ("uint8",), "RDNA3 ISA manual, 7.9"),
    FormatRow("i32",      32,  0,  0,    0, "signed",   ("int32",), "CDNA1 ISA manual"),
)  # fmt: skip
