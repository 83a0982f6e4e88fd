"""gfx1201: RDNA4 (RX 9070 XT, AI PRO R9700).

Sources: RDNA4 ISA manual; EF_AMDGPU_MACH from LLVM's AMDGPU usage guide.
"""

from __future__ import annotations

from mfmasim.architectures import rates_rdna
from mfmasim.architectures.buffers import GFX12
from mfmasim.architectures.internal import RDNA4
from mfmasim.architectures.model import Arch, Conversions, Counters, FloatRules, Lds, Simd

_PHASES = (
    ("read b32", "C32", 32, "measured", "SHARK (RX 9070 XT), PMC", ""),
    ("read b64", "C16", 32, "measured", "SHARK (RX 9070 XT)", ""),
    ("read b96", "C8", 32, "vendor", "TRI", ""),
    ("read b128", "C8", 32, "vendor", "TRI; measured by SHARK (RX 9070 XT), PMC", ""),
    ("write b32", "C32", 32, "measured", "PMC: one phase, so all lanes share it", ""),
)

ARCH = Arch(
    name="gfx1201",
    family="RDNA4",
    products=("RX 9070 XT", "RX 9070", "AI PRO R9700"),
    encoding="RDNA4",
    elf_machine=0x4E,
    wave_sizes=(32, 64),
    fp8="ocp",
    lds_bytes=65536,
    lds_granule=1024,
    sgprs=106,
    vgprs=256,
    agprs=0,
    unified_vgprs=False,
    even_vgprs=False,
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
        writes_in_order=False,
    ),
    lds=Lds(
        phases=_PHASES,
        phases_as=("gfx1100", "as gfx1100; not measured"),
        load_names=True,
        number_minimum=True,
        packed_add=True,
    ),
    conversions=Conversions(
        long_names=True, scalar=True, fp8_by_op_sel=True, negative_nan=True, infinity_stays=True, floor_nan_by_sign=True
    ),
    descriptor="GFX12",
    captured_counters=("SQ_INSTS_VALU", "SQ_INSTS_SALU", "SQC_LDS_IDX_ACTIVE", "SQC_LDS_BANK_CONFLICT"),
    descriptor_vgprs={32: 8, 64: 4},
    m0=125,
    keeps_halves=True,
    hardware_registers=RDNA4,
    buffers=GFX12,
    lds_parts=True,
    floats=FloatRules(
        mode_bits=False,
        mode_exceptions=False,
        first_nan=True,
        clamp_positive_zero=True,
        atomic_rules=True,
        dot_steps=True,
        omod_flushes=True,
        constant_in_both_halves=True,
        fused_invalid_first=True,
        mix_rounds_once=True,
        fixup_overflows=True,
        function_tables=True,
        division_checked=True,
        pack_quiets=True,
        places_of_two_over_pi=1184,
    ),
    rates=rates_rdna.RDNA4,
)
