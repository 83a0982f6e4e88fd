"""gfx1030: RDNA2 (RX 6800 XT).

Sources: RDNA2 ISA manual of November 2020; EF_AMDGPU_MACH, kernel descriptor and initial state from LLVM's AMDGPU usage
guide. Neither captures nor measurements of this generation are public in the form that this package compares: where
the manual leaves floating point, LDS phases and times open, they are `assumed`.
"""

from __future__ import annotations

from mfmasim.architectures import rates_rdna
from mfmasim.architectures.buffers import GFX10
from mfmasim.architectures.internal import RDNA2
from mfmasim.architectures.model import Arch, Conversions, Counters, FloatRules, Lds, Simd

ARCH = Arch(
    name="gfx1030",
    family="RDNA2",
    products=("RX 6800", "RX 6800 XT", "RX 6900 XT", "PRO W6800", "PRO V620"),
    encoding="RDNA2",
    elf_machine=0x36,
    wave_sizes=(32, 64),
    fp8="none",
    lds_bytes=65536,
    lds_granule=512,
    sgprs=106,
    vgprs=256,
    agprs=0,
    unified_vgprs=False,
    even_vgprs=False,
    packed_workitem_ids=False,
    workgroup_id_in_ttmp=False,
    simd=Simd(waves=16, vgprs=((32, 1024, 16), (64, 512, 8)), lds_bytes=131072, barriers=32),
    counters=Counters(
        "vmcnt", "vscnt", "lgkmcnt", "lgkmcnt", {"vmcnt": 63, "lgkmcnt": 63, "vscnt": 63}, flat_in_order=True
    ),
    lds=Lds(
        phases_as=("gfx1100", "as gfx1100, which has the same 32 banks; not measured"),
        cmpst=True,
        wrap=True,
        direct_bytes=(1, 2, 4),
        permute_lanes=32,
        gds_bytes=4096,
    ),
    conversions=Conversions(short_names=True),
    descriptor="GFX10",
    descriptor_vgprs={32: 8, 64: 4},
    scratch_resource=True,
    keeps_halves=True,
    vector_mode=0,
    path_stack=False,
    hardware_registers=RDNA2,
    buffers=GFX10,
    floats=FloatRules(constant_in_both_halves=True),
    rates=rates_rdna.RDNA2,
)
