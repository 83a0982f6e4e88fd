"""Generic targets: one code object for several processors, with the instructions that all of them have.

Source: LLVM's AMDGPU usage guide, "AMDGPU Generic Processors" and "AMDGPU ELF Header e_flags", those that LLVM 22 does
not know from its header ``llvm/BinaryFormat/ELF.h`` of 2026-08 (pull requests 183381, 218543); the instructions that
LLVM withholds besides (`Generic.without`) are those that its assembler refuses, with which a test compares them.
"""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase

VERSIONS = (1,)
"""Generic versions (EF_AMDGPU_GENERIC_VERSION) that exist."""


@dataclass(frozen=True)
class Generic:
    """A generic target."""

    name: str
    """LLVM's processor name, such as ``gfx11-generic``."""
    elf_machine: int
    """EF_AMDGPU_MACH."""
    processors: tuple[str, ...]
    """The processors that its code runs on, whether simulated or not."""
    features: tuple[str, ...] = ()
    """Target features that its code may choose."""
    without: frozenset[str] = frozenset()
    """Operations that it lacks although all its processors have them; ``*`` stands for the rest of a name."""

    @property
    def selectable(self) -> tuple[str, ...]:
        """Target features that a target id names."""
        return self.features

    def lacks(self, operation: str) -> bool:
        """Whether an operation that its processors have is none of its own."""
        return any(fnmatchcase(operation, pattern) for pattern in self.without)


def _fp8() -> frozenset[str]:
    """What CDNA3 and CDNA4 have for their FP8 formats, which differ."""
    pairs = [f"{a}_{b}" for a in ("fp8", "bf8") for b in ("fp8", "bf8")]
    shapes = ("mfma_f32_16x16x32", "mfma_f32_32x32x16", "smfmac_f32_16x16x64", "smfmac_f32_32x32x32")
    conversions = ("f32_{}", "pk_f32_{}", "pk_{}_f32", "sr_{}_f32")
    return frozenset(f"v_{shape}_{pair}" for shape in shapes for pair in pairs) | frozenset(
        f"v_cvt_{form.format(kind)}" for form in conversions for kind in ("fp8", "bf8")
    )


_VEGA20_ALONE = """
v_dot2_f32_f16 v_dot2_i32_i16 v_dot2_u32_u16 v_dot4_i32_i8 v_dot4_u32_u8 v_dot8_i32_i4 v_dot8_u32_u4 v_fma_mix_f32
v_fma_mixhi_f16 v_fma_mixlo_f16 v_fmac_f32 v_xnor_b32
"""
"""What gfx906 has and the other processors of GFX9 have not."""

_GFX125_LACKS = """
v_cubeid_f32 v_cubema_f32 v_cubesc_f32 v_cubetc_f32 v_cvt_pk_norm_i16_f32 v_cvt_pk_norm_u16_f32 v_lerp_u8 v_mqsad_*
v_msad_u8 v_qsad_pk_u16_u8 v_sad_* v_swmmac_*
"""
"""What LLVM's pull requests 198396 and 198406 take from gfx12-5-generic."""

_ROWS = (
    Generic(
        "gfx9-generic",
        0x51,
        ("gfx900", "gfx902", "gfx904", "gfx906", "gfx909", "gfx90c"),
        ("xnack",),
        frozenset(_VEGA20_ALONE.split()),
    ),
    Generic("gfx9-4-generic", 0x5F, ("gfx942", "gfx950"), ("sramecc", "xnack"), _fp8()),
    Generic("gfx10-1-generic", 0x52, ("gfx1010", "gfx1011", "gfx1012", "gfx1013"), ("xnack",)),
    Generic("gfx10-3-generic", 0x53, tuple(f"gfx103{n}" for n in range(7))),
    Generic("gfx11-generic", 0x54, (*(f"gfx110{n}" for n in range(4)), *(f"gfx115{n}" for n in range(4)))),
    Generic("gfx11-7-generic", 0x62, ("gfx1170", "gfx1171", "gfx1172")),
    Generic("gfx12-generic", 0x59, ("gfx1200", "gfx1201")),
    Generic("gfx12-5-generic", 0x5B, ("gfx1250", "gfx1251"), (), frozenset(_GFX125_LACKS.split())),
    Generic("gfx13-generic", 0x63, ("gfx1310",)),
)
GENERICS = {row.name: row for row in _ROWS}
"""By name."""


def generic_of_elf(machine: int) -> Generic | None:
    """Generic target of an EF_AMDGPU_MACH value."""
    return next((row for row in _ROWS if row.elf_machine == machine), None)
