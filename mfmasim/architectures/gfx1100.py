"""gfx1100: RDNA3 (RX 7900 XTX, PRO W7900).

Sources: RDNA3 ISA manual; EF_AMDGPU_MACH from LLVM's AMDGPU usage guide.
"""

from __future__ import annotations

from mfmasim.architectures import rates_rdna
from mfmasim.architectures.buffers import GFX11
from mfmasim.architectures.internal import RDNA3
from mfmasim.architectures.model import Arch, Conversions, Counters, FloatRules, Lds, Simd
from mfmasim.architectures.remarks import ATOMIC, BY_DWORD, PAIR

_WRITE = "no measurement of writes is public; contiguous lanes as on CDNA"
_PHASES = (
    ("read b8", "C32", 32, "inferred", "as read b32", BY_DWORD),
    ("read b32", "C32", 32, "measured", "SHARK (W7900), PMC", ""),
    ("read b64", "C16", 32, "measured", "SHARK (W7900)", ""),
    ("read b96", "X8", 32, "inferred", "as read b128; TRI names b96 and b128 together", ""),
    ("read b128", "X8", 32, "measured", "SHARK (W7900), PMC", ""),
    ("read2 b32", "C32", 32, "unknown", "none", PAIR),
    ("read2 b64", "C16", 32, "unknown", "none", PAIR),
    ("write b8", "C32", 32, "unknown", "none", _WRITE),
    ("write b32", "C32", 32, "measured", "PMC: one phase, so all lanes share it", ""),
    ("write b64", "C16", 32, "unknown", "none", _WRITE),
    ("write b96", "C8", 32, "unknown", "none", _WRITE),
    ("write b128", "C8", 32, "unknown", "none", _WRITE),
    ("write2 b32", "C32", 32, "unknown", "none", PAIR),
    ("write2 b64", "C16", 32, "unknown", "none", PAIR),
    ("atomic b32", "C32", 32, "unknown", "none", ATOMIC),
    ("atomic b64", "C16", 32, "unknown", "none", ATOMIC),
    ("atomic2 b32", "C32", 32, "unknown", "none", ATOMIC),
    ("atomic2 b64", "C16", 32, "unknown", "none", ATOMIC),
)

ARCH = Arch(
    name="gfx1100",
    family="RDNA3",
    products=("RX 7900 XTX", "RX 7900 XT", "PRO W7900", "PRO W7800"),
    encoding="RDNA3",
    elf_machine=0x41,
    wave_sizes=(32, 64),
    fp8="none",
    lds_bytes=65536,
    lds_granule=1024,
    sgprs=106,
    vgprs=256,
    agprs=0,
    unified_vgprs=False,
    even_vgprs=False,
    packed_workitem_ids=True,
    workgroup_id_in_ttmp=False,
    simd=Simd(waves=16, vgprs=((32, 1536, 24), (64, 768, 12)), lds_bytes=131072, barriers=32),
    counters=Counters(
        "vmcnt", "vscnt", "lgkmcnt", "lgkmcnt", {"vmcnt": 63, "lgkmcnt": 63, "vscnt": 63}, flat_in_order=True
    ),
    lds=Lds(
        phases=_PHASES,
        load_names=True,
        cmpstore_float=True,
        wrap=True,
        permute_lanes=32,
        gds_bytes=4096,
        gds_one_lane=True,
    ),
    conversions=Conversions(long_names=True),
    descriptor="GFX11",
    captured_counters=("SQ_INSTS_VALU", "SQ_INSTS_SALU", "SQC_LDS_IDX_ACTIVE", "SQC_LDS_BANK_CONFLICT"),
    descriptor_vgprs={32: 8, 64: 4},
    m0=125,
    keeps_halves=True,
    vector_mode=0,
    path_stack=False,
    hardware_registers=RDNA3,
    ttmp_reads_zero=True,
    buffers=GFX11,
    trans_use_hazard=True,
    floats=FloatRules(
        first_nan=True,
        clamp_positive_zero=True,
        atomic_rules=True,
        atomic_add_flushes=True,
        dot_steps=True,
        fused_invalid_first=True,
        mix_rounds_once=True,
        quiets_in_ieee=True,
        fixup_overflows=True,
        function_tables=True,
        division_checked=True,
        constant_in_both_halves=True,
    ),
    rates=rates_rdna.RDNA3,
)
