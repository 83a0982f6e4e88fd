"""Processors that have the instruction set of an architecture, and those that only compilers to come know.

Sources: LLVM's AMDGPU usage guide, "Processors" and "AMDGPU ELF Header e_flags"; vector registers of a SIMD from its
``AMDGPU.td`` (Feature1_5xVGPRs). LLVM's assembler takes every instruction of the architecture for these, but what
`Arch.without` names; tests compare those that LLVM 22 or LLVM 24 knows. gfx1250-strict is stepping A0 of gfx1250
(LLVM pull request 218543); A0 also loads code for gfx1250, which does not say its stepping.
"""

from __future__ import annotations

from dataclasses import replace

from mfmasim.architectures import gfx908, gfx1030, gfx1100, gfx1151, gfx1170, gfx1250
from mfmasim.architectures.errata import Errata
from mfmasim.architectures.model import Arch, Simd
from mfmasim.architectures.rates import Rates

_VEGA20_LACKS = """
buffer_atomic_add_f32 buffer_atomic_pk_add_f16 global_atomic_add_f32 global_atomic_pk_add_f16 v_accvgpr_read_b32
v_accvgpr_write_b32 v_dot2c_f32_f16 v_dot2c_i32_i16 v_dot4c_i32_i8 v_dot8c_i32_i4 v_mfma_* v_pk_fmac_f16
"""
_B0_ALONE = """
v_wmma_*_16x16x128_fp8_* v_wmma_*_16x16x128_bf8_* v_wmma_f32_32x16x128_f4 v_wmma_scale_f32_32x16x128_f4
v_wmma_scale16_*
"""
"""What stepping A0 of gfx1250 lacks: ROCm/llvm-project pull request 2379, COMGR's ``wmma-split`` and ``wmma-scale16``,
LLVM pull request 222434."""
_VGPRS_1024 = replace(gfx1100.ARCH.simd, vgprs=((32, 1024, 16), (64, 512, 8)))


def _row(like: Arch, name: str, machine: int, products: tuple[str, ...], simd: Simd | None = None) -> Arch:
    """A processor with the data of an architecture; rates are measured for each alone."""
    return replace(
        like, name=name, isa=like.name, elf_machine=machine, products=products, simd=simd or like.simd, rates=Rates()
    )


_ROWS = (
    replace(
        _row(gfx908.ARCH, "gfx906", 0x2F, ("MI50", "MI60", "Radeon VII")),
        family="Vega 20",
        agprs=0,
        without=frozenset(_VEGA20_LACKS.split()),
    ),
    _row(gfx1030.ARCH, "gfx1031", 0x37, ("RX 6750 XT", "RX 6700 XT")),
    _row(gfx1030.ARCH, "gfx1032", 0x38, ("RX 6650 XT", "RX 6600 XT", "RX 6600", "PRO W6600")),
    _row(gfx1030.ARCH, "gfx1033", 0x39, ()),
    _row(gfx1030.ARCH, "gfx1034", 0x3E, ("RX 6500 XT", "RX 6400")),
    _row(gfx1030.ARCH, "gfx1035", 0x3D, ("Radeon 680M",)),
    _row(gfx1030.ARCH, "gfx1036", 0x45, ()),
    _row(gfx1100.ARCH, "gfx1101", 0x46, ("RX 7800 XT", "RX 7700 XT", "PRO W7700")),
    _row(gfx1100.ARCH, "gfx1102", 0x47, ("RX 7600",), _VGPRS_1024),
    _row(gfx1100.ARCH, "gfx1103", 0x44, ("Radeon 780M",), _VGPRS_1024),
    _row(gfx1151.ARCH, "gfx1150", 0x43, ("Radeon 890M",), _VGPRS_1024),
    _row(gfx1151.ARCH, "gfx1152", 0x55, ("Radeon 860M",), _VGPRS_1024),
    _row(gfx1151.ARCH, "gfx1153", 0x58, (), _VGPRS_1024),
    _row(gfx1151.ARCH, "gfx1154", 0x57, (), _VGPRS_1024),
    gfx1170.ARCH,
    _row(gfx1170.ARCH, "gfx1171", 0x5E, ()),
    _row(gfx1170.ARCH, "gfx1172", 0x5C, ()),
    replace(_row(gfx1250.ARCH, "gfx1251", 0x5A, ()), variant="12.51"),
    replace(
        _row(gfx1250.ARCH, "gfx1250-strict", 0xEB, ()),
        variant="A0",
        without=frozenset(_B0_ALONE.split()),
        elsewhere="another stepping, gfx1250 (B0), has it",
        runs=("gfx1250",),
        errata=Errata(
            cluster_mask=True, tensor_multicast=True, aligned_pairs=True, halt_before_scale=True, scale_blocks=True
        ),
        rates=gfx1250.ARCH.rates,
    ),
)
PROCESSORS = {row.name: row for row in _ROWS}
"""By name."""
