"""gfx1250: CDNA5 (MI455X), stepping B0.

Sources: CDNA5 ISA manual of 27 July 2026, AMD's white paper on CDNA5; EF_AMDGPU_MACH and the kernel descriptor from
LLVM's AMDGPU usage guide; what they leave open as on RDNA4, whose instructions most of these are.
"""

from __future__ import annotations

from dataclasses import replace

from mfmasim.architectures import gfx1201, rates_cdna5
from mfmasim.architectures.buffers import GFX125
from mfmasim.architectures.internal import CDNA5
from mfmasim.architectures.model import Counters, Lds, Simd

_WIDE = "64 banks of 4 bytes; no measurement is public: as many contiguous lanes as they serve at once"
_TRANSPOSED = "by the addresses of the source lanes, as AMD's text on the LDS of MI450 says; no measurement is public"
_PHASES = (
    ("read b8", "C32", 64, "unknown", "none", _WIDE),
    ("read b32", "C32", 64, "unknown", "none", _WIDE),
    ("read b64", "C32", 64, "unknown", "none", _WIDE),
    ("read b96", "C16", 64, "unknown", "none", _WIDE),
    ("read b128", "C16", 64, "vendor", "B450", "16 lanes at once; that they are contiguous is assumed"),
    ("read2 b32", "C32", 64, "unknown", "none", _WIDE),
    ("read2 b64", "C16", 64, "unknown", "none", _WIDE),
    ("write b8", "C32", 64, "unknown", "none", _WIDE),
    ("write b32", "C32", 64, "unknown", "none", _WIDE),
    ("write b64", "C32", 64, "unknown", "none", _WIDE),
    ("write b96", "C16", 64, "unknown", "none", _WIDE),
    ("write b128", "C16", 64, "unknown", "none", _WIDE),
    ("write2 b32", "C32", 64, "unknown", "none", _WIDE),
    ("write2 b64", "C16", 64, "unknown", "none", _WIDE),
    ("atomic b32", "C32", 64, "unknown", "none", _WIDE),
    ("atomic b64", "C32", 64, "unknown", "none", _WIDE),
    ("atomic2 b32", "C32", 64, "unknown", "none", _WIDE),
    ("atomic2 b64", "C16", 64, "unknown", "none", _WIDE),
    ("read b64 tr", "C32", 64, "unknown", "none", _TRANSPOSED),
    ("read b96 tr", "C16", 64, "unknown", "none", _TRANSPOSED),
    ("read b128 tr", "C16", 64, "unknown", "none", _TRANSPOSED),
)

ARCH = replace(
    gfx1201.ARCH,
    name="gfx1250",
    family="CDNA5",
    variant="B0",
    products=("MI455X",),
    encoding="CDNA5",
    elf_machine=0x49,
    wave_sizes=(32,),
    lds_bytes=327680,
    lds_granule=2048,
    vgprs=1024,
    even_vgprs=True,
    simd=Simd(waves=16, vgprs=((32, 1024, 16),), lds_bytes=327680, barriers=32),
    counters=Counters(
        "loadcnt",
        "storecnt",
        "dscnt",
        "kmcnt",
        {"loadcnt": 63, "storecnt": 63, "dscnt": 63, "kmcnt": 31, "asynccnt": 63, "tensorcnt": 63, "xcnt": 63},
        asynchronous="asynccnt",
        tensor="tensorcnt",
        flat_in_order=True,
        writes_in_order=False,
    ),
    lds=Lds(
        phases=_PHASES,
        partition_bytes=65536,
        partition_source="B450",
        load_names=True,
        number_minimum=True,
        packed_add=True,
        add_f64=True,
        transposed_loads=True,
    ),
    conversions=replace(
        gfx1201.ARCH.conversions,
        bf16=True,
        eights=True,
        bf16_saturates=True,
        negative_nan=False,
        infinity_stays=False,
        floor_nan_by_sign=False,
    ),
    vector_mode=0xFF << 12,
    descriptor="GFX125",
    profile="CDNA5",
    captured_counters=(),
    descriptor_vgprs={32: 16},
    kernarg_preload=True,
    hardware_registers=CDNA5,
    buffers=GFX125,
    several_l2=True,
    signed_lane_offsets=True,
    max_cluster=16,
    named_barriers=16,
    floats=replace(
        gfx1201.ARCH.floats,
        division_checked=False,
        scalar_in_both_dwords=True,
        function_tables=False,
        pack_quiets=False,
        places_of_two_over_pi=1201,
    ),
    rates=rates_cdna5.CDNA5,
    features=("sramecc", "xnack"),
    fixed=("sramecc", "xnack"),
)
