"""gfx1200: RDNA4 (RX 9060 XT).

Sources: RDNA4 ISA manual; EF_AMDGPU_MACH from LLVM's AMDGPU usage guide.
"""

from __future__ import annotations

from mfmasim.architectures.model import Arch, Counters, FloatRules, Simd

__all__ = ["ARCH"]

ARCH = Arch(
    name="gfx1200",
    family="RDNA4",
    products=("RX 9060 XT",),
    encoding="gfx12",
    elf_machine=0x48,
    wave_sizes=(32, 64),
    fp8="ocp",
    lds_bytes=65536,
    lds_granule=1024,
    sgprs=106,
    vgprs=256,
    agprs=0,
    unified_vgprs=False,
    packed_workitem_ids=True,
    workgroup_id_in_ttmp=True,
    simd=Simd(waves=16, vgprs=((32, 1536, 24), (64, 768, 12)), lds_bytes=131072, barriers=32),
    counters=Counters(
        "loadcnt",
        "storecnt",
        "dscnt",
        "kmcnt",
        {"loadcnt": 63, "storecnt": 63, "dscnt": 63, "kmcnt": 31},
        flat_in_order=True,
    ),
    m0=125,
    keeps_halves=True,
    clock_registers=((29, 0, 32), (30, 32, 32)),
    buffer_range_field=True,
    buffer_stride_scale=True,
    lds_parts=True,
    floats=FloatRules(
        mode_bits=False, first_nan=True, clamp_positive_zero=True, atomic_rules=True, dot_steps=True, omod_flushes=True
    ),
)
