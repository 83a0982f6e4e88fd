"""gfx908: CDNA1 (MI100).

Sources: CDNA1 ISA manual (AMD Instinct MI100); EF_AMDGPU_MACH from LLVM's AMDGPU usage guide.
AGPRs are a separate register file: only MFMA and v_accvgpr_* access them.
"""

from __future__ import annotations

from mfmasim.architectures import rates_cdna
from mfmasim.architectures.internal import CDNA1
from mfmasim.architectures.model import Arch, Conversions, Counters, Lds, Simd

ARCH = Arch(
    name="gfx908",
    family="CDNA1",
    products=("MI100",),
    encoding="CDNA1",
    elf_machine=0x30,
    wave_sizes=(64,),
    fp8="none",
    lds_bytes=65536,
    lds_granule=512,
    sgprs=102,
    vgprs=256,
    agprs=256,
    unified_vgprs=False,
    even_vgprs=False,
    packed_workitem_ids=False,
    workgroup_id_in_ttmp=False,
    simd=Simd(waves=10, vgprs=((64, 256, 4),), lds_bytes=65536, sgprs=800),
    counters=Counters("vmcnt", "vmcnt", "lgkmcnt", "lgkmcnt", {"vmcnt": 63, "lgkmcnt": 15}),
    lds=Lds(
        append_adds_m0=False,
        phases_as=("gfx942", "as gfx942: the ISA manual describes the same 32 banks; no test of the phases is public"),
        direct_bytes=(1, 2, 4),
        cmpst=True,
        wrap=True,
        gds_bytes=4096,
    ),
    conversions=Conversions(short_names=True),
    descriptor="GFX9",
    profile="CDNA",
    descriptor_vgprs={64: 4},
    features=("sramecc", "xnack"),
    scratch_resource=True,
    hardware_registers=CDNA1,
    rates=rates_cdna.CDNA1,
)
