"""gfx90a: CDNA2 (MI210, MI250, MI250X).

Sources: CDNA2 ISA manual; EF_AMDGPU_MACH from LLVM's AMDGPU usage guide.
"""

from __future__ import annotations

from mfmasim.architectures import rates_cdna
from mfmasim.architectures.internal import CDNA2
from mfmasim.architectures.model import Arch, Conversions, Counters, Lds, Simd

ARCH = Arch(
    name="gfx90a",
    family="CDNA2",
    products=("MI210", "MI250", "MI250X"),
    encoding="CDNA2",
    elf_machine=0x3F,
    wave_sizes=(64,),
    fp8="none",
    lds_bytes=65536,
    lds_granule=512,
    sgprs=102,
    vgprs=256,
    agprs=256,
    unified_vgprs=True,
    even_vgprs=True,
    packed_workitem_ids=True,
    workgroup_id_in_ttmp=False,
    simd=Simd(waves=8, vgprs=((64, 512, 8),), lds_bytes=65536, sgprs=800),
    counters=Counters("vmcnt", "vmcnt", "lgkmcnt", "lgkmcnt", {"vmcnt": 63, "lgkmcnt": 15}),
    lds=Lds(
        phases_as=("gfx942", "as gfx942: the ISA manual describes the same 32 banks; no test of the phases is public"),
        direct_bytes=(1, 2, 4),
        cmpst=True,
        wrap=True,
        add_f64=True,
    ),
    conversions=Conversions(short_names=True),
    descriptor="GFX9",
    profile="CDNA",
    descriptor_vgprs={64: 8},
    features=("sramecc", "xnack"),
    scratch_resource=True,
    kernarg_preload=True,
    hardware_registers=CDNA2,
    rates=rates_cdna.CDNA2,
)
