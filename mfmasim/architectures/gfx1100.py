"""gfx1100: RDNA3 (RX 7900 XTX, PRO W7900).

Sources: RDNA3 ISA manual; EF_AMDGPU_MACH from LLVM's AMDGPU usage guide.
"""

from __future__ import annotations

from mfmasim.architectures.model import Arch, Counters, FloatRules, Simd

__all__ = ["ARCH"]

ARCH = Arch(
    name="gfx1100",
    family="RDNA3",
    products=("RX 7900 XTX", "PRO W7900"),
    encoding="gfx11",
    elf_machine=0x41,
    wave_sizes=(32, 64),
    fp8="none",
    lds_bytes=65536,
    lds_granule=1024,
    sgprs=106,
    vgprs=256,
    agprs=0,
    unified_vgprs=False,
    packed_workitem_ids=True,
    workgroup_id_in_ttmp=False,
    simd=Simd(waves=16, vgprs=((32, 1536, 24), (64, 768, 12)), lds_bytes=131072, barriers=32),
    counters=Counters(
        "vmcnt", "vscnt", "lgkmcnt", "lgkmcnt", {"vmcnt": 63, "lgkmcnt": 63, "vscnt": 63}, flat_in_order=True
    ),
    m0=125,
    keeps_halves=True,
    clock_registers=((29, 0, 20),),
    buffer_range_field=True,
    floats=FloatRules(
        first_nan=True, clamp_positive_zero=True, atomic_rules=True, atomic_add_flushes=True, dot_steps=True
    ),
)
