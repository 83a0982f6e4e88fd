"""gfx942: CDNA3 (MI300A, MI300X, MI325X).

Sources: CDNA3 ISA manual; FP8 is FNUZ (section 7.2); EF_AMDGPU_MACH from LLVM's AMDGPU usage guide.
"""

from __future__ import annotations

from mfmasim.architectures import rates_cdna
from mfmasim.architectures.internal import CDNA3
from mfmasim.architectures.model import Arch, Conversions, Counters, Lds, Simd
from mfmasim.architectures.remarks import ATOMIC, BY_DWORD, PAIR

_PHASES = (
    ("read b8", "C32", 32, "measured", "CKT; CK (same bank, same slot is a broadcast)", BY_DWORD),
    ("read b32", "C32", 32, "measured", "SHARK", ""),
    ("read b64", "C16", 32, "measured", "SHARK, PYHIP", ""),
    ("read b96", "X8", 32, "inferred", "HK on gfx950; RR: gfx950 keeps gfx942's throughput", ""),
    ("read b128", "X8", 32, "vendor", "CK; measured by SHARK, PYHIP", ""),
    ("read2 b32", "C32", 32, "measured", "CKT (of f32: 15,360 with half as many reads)", ""),
    ("read2 b64", "C16", 32, "measured", "SHARK (optimisation guide)", ""),
    ("write b8", "C32", 32, "measured", "CKT (its deck)", BY_DWORD),
    ("write b32", "C32", 32, "inferred", "RR; review of hipBLASLt 1180: 32 lanes a cycle", ""),
    ("write b64", "C16", 32, "inferred", "HK on gfx950", ""),
    ("write b96", "C8", 32, "inferred", "RR: 4 lanes a clock and port", ""),
    ("write b128", "C8", 32, "vendor", "CK", ""),
    ("write2 b32", "C32", 32, "measured", "CKT (its deck)", ""),
    ("write2 b64", "C16", 32, "unknown", "none", PAIR),
    ("atomic b32", "C32", 32, "unknown", "none", ATOMIC),
    ("atomic b64", "C16", 32, "unknown", "none", ATOMIC),
    ("atomic2 b32", "C32", 32, "unknown", "none", ATOMIC),
    ("atomic2 b64", "C16", 32, "unknown", "none", ATOMIC),
)

ARCH = Arch(
    name="gfx942",
    family="CDNA3",
    products=("MI300A", "MI300X", "MI325X"),
    encoding="CDNA3",
    elf_machine=0x4C,
    wave_sizes=(64,),
    fp8="fnuz",
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
    lds=Lds(phases=_PHASES, direct_bytes=(1, 2, 4), cmpst=True, wrap=True, add_f64=True, packed_add=True),
    conversions=Conversions(short_names=True, fp8_by_sdwa=True),
    descriptor="GFX9",
    profile="CDNA",
    descriptor_vgprs={64: 8},
    features=("sramecc", "xnack"),
    kernarg_preload=True,
    several_l2=True,
    hardware_registers=CDNA3,
    ttmp_reads_zero=True,
    rates=rates_cdna.CDNA3,
)
