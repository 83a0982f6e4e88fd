"""Source operand codes: the 9-bit field of a source, and the bits of a constant for each type.

Sources: CDNA3 ISA manual, table 12 (scalar operands) and section 6.2.1 (vector operands), CDNA4 likewise; the bits of
inline constants in packed and 16-bit operands as LLVM's AMDGPU back end documents the hardware.
"""

from __future__ import annotations

from dataclasses import dataclass

VCC, EXEC = 106, 126
DPP8, DPP8_FI = 233, 234
SDWA, DPP, LDS_DIRECT, LITERAL, VGPR0 = 249, 250, 254, 255, 256
LITERAL64 = 254
"""CDNA5, where there is no LDS_DIRECT."""

DWORDS = {"i64": 2, "u64": 2, "f64": 2, "b64": 2, "b96": 3, "b128": 4, "b256": 8, "b512": 16, "pk_f32": 2, "pk_b32": 2}
"""Registers that one value of a type fills, where it is not one."""

_SPECIAL = {
    235: "src_shared_base", 236: "src_shared_limit", 237: "src_private_base", 238: "src_private_limit",
    239: "src_pops_exiting_wave_id", 251: "src_vccz", 252: "src_execz", 253: "src_scc", 254: "src_lds_direct",
}  # fmt: skip


@dataclass(frozen=True)
class ScalarCodes:
    """Meaning of the scalar operand codes that are neither SGPRs nor constants."""

    names: dict[int, str]
    """First code of each named register, to its name."""
    special: dict[int, str]
    """Codes of read-only hardware values."""
    m0: int
    null: int | None
    """The register that reads as 0 and drops writes."""

    @property
    def named(self) -> int:
        """First code that is not an SGPR."""
        return min(self.names)


GFX9_CODES = ScalarCodes(
    {102: "flat_scratch", 104: "xnack_mask", 106: "vcc", 108: "ttmp", 124: "m0", 126: "exec"}, _SPECIAL, 124, None
)
# RDNA2 ISA manual, likewise.
RDNA2_CODES = ScalarCodes({106: "vcc", 108: "ttmp", 124: "m0", 125: "null", 126: "exec"}, _SPECIAL, 124, 125)
# RDNA3 and RDNA4 ISA manuals, table of scalar operands; 230 and 231 as llvm-mc 22 reads them.
RDNA_CODES = ScalarCodes(
    {106: "vcc", 108: "ttmp", 124: "null", 125: "m0", 126: "exec"},
    {230: "src_flat_scratch_base_lo", 231: "src_flat_scratch_base_hi"} | _SPECIAL,
    125,
    124,
)

# CDNA5 ISA manual, 4.1; of the codes that it reserves, 237 to 239, 251 and 252 as llvm-mc 22 reads them.
CDNA5_CODES = ScalarCodes(
    RDNA_CODES.names,
    {code: name for code, name in RDNA_CODES.special.items() if code != LDS_DIRECT},
    RDNA_CODES.m0,
    RDNA_CODES.null,
)

INLINE_FLOATS: dict[int, tuple[str, int, int, int, int]] = {
    # code: (text, f16, bf16, f32, f64)
    240: ("0.5", 0x3800, 0x3F00, 0x3F000000, 0x3FE0000000000000),
    241: ("-0.5", 0xB800, 0xBF00, 0xBF000000, 0xBFE0000000000000),
    242: ("1.0", 0x3C00, 0x3F80, 0x3F800000, 0x3FF0000000000000),
    243: ("-1.0", 0xBC00, 0xBF80, 0xBF800000, 0xBFF0000000000000),
    244: ("2.0", 0x4000, 0x4000, 0x40000000, 0x4000000000000000),
    245: ("-2.0", 0xC000, 0xC000, 0xC0000000, 0xC000000000000000),
    246: ("4.0", 0x4400, 0x4080, 0x40800000, 0x4010000000000000),
    247: ("-4.0", 0xC400, 0xC080, 0xC0800000, 0xC010000000000000),
    248: ("0.15915494", 0x3118, 0x3E22, 0x3E22F983, 0x3FC45F306DC9C882),
}
"""Inline float constants; 248 is 1/(2*pi) in each format."""

_COLUMN = {"f16": 0, "pk_f16": 0, "bf16": 1, "pk_bf16": 1, "f64": 3, "i64": 3, "u64": 3, "b64": 3}


def inline_integer(code: int) -> int:
    """Value of an inline integer constant, codes 128..208."""
    return code - 128 if code <= 192 else 192 - code


def constant_bits(code: int, kind: str) -> int:
    """Raw bits of an inline constant in an operand.

    Args:
        code: source code 128..208 or 240..248.
        kind: type of the operand.

    Returns:
        64 bits for 64-bit types, otherwise 32; a 16-bit float stands in the low half, the high half being 0.
    """
    if code in INLINE_FLOATS:
        return INLINE_FLOATS[code][1:][_COLUMN.get(kind, 2)]
    wide = DWORDS.get(kind, 1) == 2 and not kind.startswith("pk_")
    return inline_integer(code) & (0xFFFFFFFFFFFFFFFF if wide else 0xFFFFFFFF)


def literal_bits(literal: int, kind: str) -> int:
    """Raw bits of a 32-bit literal in an operand: the high dword of f64, sign-extended for i64."""
    if kind == "f64":
        return literal << 32
    if kind == "i64" and literal >> 31:
        return literal | 0xFFFFFFFF00000000
    return literal
