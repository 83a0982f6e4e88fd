"""gfx950: CDNA4 (MI350X, MI355X).

Sources: CDNA4 ISA manual; FP8 is OCP (section 7.3, table 30), LDS 160 KiB in blocks of 1,280 bytes;
EF_AMDGPU_MACH from LLVM's AMDGPU usage guide.
"""

from __future__ import annotations

from mfmasim.architectures.model import Arch, Counters, Simd

__all__ = ["ARCH"]

ARCH = Arch(
    name="gfx950",
    family="CDNA4",
    products=("MI350X", "MI355X"),
    encoding="gfx950",
    elf_machine=0x4F,
    wave_sizes=(64,),
    fp8="ocp",
    lds_bytes=163840,
    lds_granule=1280,
    sgprs=102,
    vgprs=256,
    agprs=256,
    unified_vgprs=True,
    packed_workitem_ids=True,
    workgroup_id_in_ttmp=False,
    simd=Simd(waves=8, vgprs=((64, 512, 8),), lds_bytes=163840, sgprs=800),
    counters=Counters("vmcnt", "vmcnt", "lgkmcnt", "lgkmcnt", {"vmcnt": 63, "lgkmcnt": 15}),
)
