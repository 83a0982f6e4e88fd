"""gfx950: CDNA4 (MI350X, MI355X).

Sources: CDNA4 ISA manual; FP8 is OCP (section 7.3, table 30), LDS 160 KiB in blocks of 1,280 bytes;
EF_AMDGPU_MACH from LLVM's AMDGPU usage guide.
"""

from __future__ import annotations

from mfmasim.architectures import rates_cdna
from mfmasim.architectures.internal import CDNA4
from mfmasim.architectures.model import Arch, Conversions, Counters, FloatRules, Lds, Simd
from mfmasim.architectures.remarks import ATOMIC, BY_DWORD, PAIR

_READ = "one phase of 64 lanes was measured, the banks were not swept; another source counts 32 banks"
_TRANSPOSED = "assumed as the plain read by the source lanes' addresses; no test of the phases is public"
_PHASES = (
    ("read b8", "C32", 32, "measured", "CKT (MI355X, one tile); RR (64 banks for b64 and b128 reads only)", BY_DWORD),
    ("read b8", "C64", 64, "inferred", "as read b32", ""),
    ("read b32", "C64", 64, "measured", "SHARK", _READ),
    ("read b32", "C32", 32, "inferred", "RR (64 banks only for b64 and b128 reads)", ""),
    ("read b64", "C32", 64, "measured", "HK, SHARK", ""),
    ("read b96", "X8", 32, "measured", "HK", ""),
    ("read b128", "X16", 64, "vendor", "G4, RR, TRI; measured by HK, SHARK, PMC", ""),
    ("read2 b32", "C64", 64, "unknown", "none", PAIR),
    ("read2 b64", "C32", 64, "unknown", "none", PAIR),
    ("read b64 tr", "C32", 64, "unknown", "none", _TRANSPOSED),
    ("read b96 tr", "X8", 32, "unknown", "none", _TRANSPOSED),
    ("write b8", "C32", 32, "inferred", "as write b32; measured on gfx942", BY_DWORD),
    ("write b32", "C32", 32, "inferred", "RR; two phases measured: PMC", ""),
    ("write b64", "C16", 32, "measured", "HK", ""),
    ("write b96", "C8", 32, "inferred", "RR", ""),
    ("write b128", "C8", 32, "inferred", "RR: 4 lanes a clock and port, 32 banks; CK for gfx942", ""),
    ("write2 b32", "C32", 32, "unknown", "none", PAIR),
    ("write2 b64", "C16", 32, "unknown", "none", PAIR),
    ("atomic b32", "C32", 32, "unknown", "none", ATOMIC),
    ("atomic b64", "C16", 32, "unknown", "none", ATOMIC),
    ("atomic2 b32", "C32", 32, "unknown", "none", ATOMIC),
    ("atomic2 b64", "C16", 32, "unknown", "none", ATOMIC),
)

ARCH = Arch(
    name="gfx950",
    family="CDNA4",
    products=("MI350X", "MI355X"),
    encoding="CDNA4",
    elf_machine=0x4F,
    wave_sizes=(64,),
    fp8="ocp",
    lds_bytes=163840,
    lds_granule=1280,
    sgprs=102,
    vgprs=256,
    agprs=256,
    unified_vgprs=True,
    even_vgprs=True,
    packed_workitem_ids=True,
    workgroup_id_in_ttmp=False,
    simd=Simd(waves=8, vgprs=((64, 512, 8),), lds_bytes=163840, sgprs=800),
    counters=Counters("vmcnt", "vmcnt", "lgkmcnt", "lgkmcnt", {"vmcnt": 63, "lgkmcnt": 15}),
    lds=Lds(
        phases=_PHASES,
        direct_bytes=(1, 2, 4, 12, 16),
        cmpst=True,
        wrap=True,
        add_f64=True,
        packed_add=True,
        transposed=True,
    ),
    floats=FloatRules(dot_keeps_f16=True),
    conversions=Conversions(short_names=True, fp8_by_sdwa=True, bf16=True, half_and_scaled=True),
    descriptor="GFX9",
    profile="CDNA",
    captured_counters=("SQ_INSTS_VALU", "SQ_INSTS_SALU", "SQ_LDS_IDX_ACTIVE", "SQ_LDS_BANK_CONFLICT"),
    descriptor_vgprs={64: 8},
    features=("sramecc", "xnack"),
    kernarg_preload=True,
    several_l2=True,
    hardware_registers=CDNA4,
    ttmp_reads_zero=True,
    rates=rates_cdna.CDNA4,
)
