"""What the interpreter has to know about an architecture.

Source: ISA manuals, scalar operand tables (code of M0), MODE, "16-bit math" and "output operand modifiers".
"""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Facts:
    """One generation."""

    m0: int
    """Scalar code of M0; 124 is NULL from gfx11 on."""
    mode: int
    """MODE at the start of a kernel of ours: nearest even, all denormals; DX10_CLAMP and IEEE where they exist."""
    keeps_halves: bool
    """A 16-bit result leaves the other half of the register alone, whatever the operation."""
    clears_halves: bool
    """A D16 load clears the other half: SRAM ECC is on, or not said to be off (LLVM, d16PreservesUnusedBits)."""
    ieee: bool
    """MODE has DX10_CLAMP and IEEE; without them a clamped NaN is 0, and OMOD works always."""
    quiets_in_ieee: bool = False
    """Sums and products quiet a signalling NaN in IEEE mode alone."""
    clamps_to_plus_zero: bool = True
    """The clamp modifier makes -0 positive (field CM of VOP3); of gfx9 no manual says it."""
    vector_mode: bool = False
    """MODE has GPR_IDX_EN (27), VSKIP (28) and CSP (31:29)."""
    split_barrier: bool = False
    four_products: bool = False
    """A step of the matrix unit, which dot products are, has four products as on gfx12; else two as on gfx11."""
    pairs_of_scalars: bool = True
    """A packed f32 operation reads two scalar registers; else one, for both results."""
    ttmp_ids: bool = False
    """The workgroup's numbers are in TTMP9 and TTMP7."""
    function_tables: bool = False
    """Approximations of f32 come from tables (captures of gfx1100 and gfx1201)."""
    negative_nan: bool = False
    """NaN in FP8 and BF8 is 0xff and 0xfe, whatever its sign."""
    permutes_halves: bool = False
    """DS permutes treat a wave of 64 lanes as two of 32 (RDNA3 and RDNA3.5 ISA manuals, 12.5.2)."""
    rdna3: bool = False
    """What captures of gfx1100 and gfx1201 showed: invalid fused operations give the negative NaN, V_DIV_FIXUP_F16
    overflows, of two NaNs V_MIN and V_MAX give the first, dot products are a step of the matrix unit."""
    resource: str = "gfx9"
    """Layout of a buffer resource."""
    dot_flushes_f16: bool = True
    """V_DOT2 takes denormal f16 factors as zeros."""


OWN_AGPRS = {"gfx908"}
"""Architectures whose AGPRs are registers of their own."""

GFX9 = Facts(124, 0x3F0, keeps_halves=False, clears_halves=True, ieee=True, clamps_to_plus_zero=False, vector_mode=True)
GFX10 = Facts(
    124, 0x3F0, keeps_halves=True, clears_halves=False, ieee=True, clamps_to_plus_zero=False, permutes_halves=True,
    resource="gfx10",
)  # fmt: skip
GFX11 = Facts(
    125, 0x3F0, keeps_halves=True, clears_halves=False, ieee=True, rdna3=True, resource="gfx11",
    function_tables=True, quiets_in_ieee=True, permutes_halves=True,
)  # fmt: skip
GFX117 = replace(GFX11, mode=0xF0, ieee=False, quiets_in_ieee=False, negative_nan=True, four_products=True)
"""MODE lacks DX10_CLAMP and IEEE (LLVM pull request 182107); FP8 as gfx12."""
GFX12 = Facts(
    125, 0xF0, keeps_halves=True, clears_halves=False, ieee=False, rdna3=True, resource="gfx12", split_barrier=True,
    four_products=True, ttmp_ids=True, function_tables=True, negative_nan=True,
)  # fmt: skip
GFX125 = replace(GFX12, pairs_of_scalars=False, clears_halves=True, function_tables=False, negative_nan=False)


def facts(arch):
    """The generation of an architecture."""
    own = {"gfx950": replace(GFX9, dot_flushes_f16=False), "gfx1170": GFX117, "gfx1250": GFX125}
    return own.get(arch) or {"gfx10": GFX10, "gfx11": GFX11, "gfx12": GFX12}.get(arch[:5], GFX9)
