"""gfx1170: RDNA 4m, RDNA3.5 with the matrix instructions, FP8 and names of minima of RDNA4.

Sources: EF_AMDGPU_MACH, instructions, kernel descriptor (without DX10_CLAMP and IEEE), occupancy and inserted waits as
LLVM 24 assembles and compiles them; its pull requests 180185, 180731 (matrix instructions), 182107 (MODE) and 185878.
No manual, product, capture or measurement is public: floating point is as RDNA3.5, without the bits that MODE lacks
and for FP8 as RDNA4, and `assumed`; so are LDS phases and times.
"""

from __future__ import annotations

from dataclasses import replace

from mfmasim.architectures import gfx1100, gfx1151, rates_rdna

ARCH = replace(
    gfx1151.ARCH,
    name="gfx1170",
    family="RDNA4m",
    products=(),
    elf_machine=0x5D,
    fp8="ocp",
    simd=replace(gfx1100.ARCH.simd, vgprs=((32, 1024, 16), (64, 512, 8))),
    conversions=replace(gfx1151.ARCH.conversions, fp8_by_op_sel=True, negative_nan=True, infinity_stays=True),
    floats=replace(gfx1151.ARCH.floats, mode_bits=False, quiets_in_ieee=False, omod_flushes=True),
    rates=rates_rdna.RDNA4M,
)
