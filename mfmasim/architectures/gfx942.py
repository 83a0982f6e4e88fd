"""gfx942: CDNA3 (MI300A, MI300X, MI325X).

Sources: CDNA3 ISA manual; FP8 is FNUZ (section 7.2); EF_AMDGPU_MACH from LLVM's AMDGPU usage guide.
"""

from __future__ import annotations

from mfmasim.architectures.model import Arch, Counters, Simd

__all__ = ["ARCH"]

ARCH = Arch(
    name="gfx942",
    family="CDNA3",
    products=("MI300A", "MI300X", "MI325X"),
    encoding="gfx940",
    elf_machine=0x4C,
    wave_sizes=(64,),
    fp8="fnuz",
    lds_bytes=65536,
    lds_granule=512,
    sgprs=102,
    vgprs=256,
    agprs=256,
    unified_vgprs=True,
    packed_workitem_ids=True,
    workgroup_id_in_ttmp=False,
    simd=Simd(waves=8, vgprs=((64, 512, 8),), lds_bytes=65536, sgprs=800),
    counters=Counters("vmcnt", "vmcnt", "lgkmcnt", "lgkmcnt", {"vmcnt": 63, "lgkmcnt": 15}),
)
