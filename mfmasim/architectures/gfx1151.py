"""gfx1151: RDNA3.5 (Radeon 8060S).

Sources: RDNA3.5 ISA manual; EF_AMDGPU_MACH from LLVM's AMDGPU usage guide. All other fields are those of gfx1100.
"""

from __future__ import annotations

from dataclasses import replace

from mfmasim.architectures import gfx1100, rates_rdna
from mfmasim.architectures.model import Conversions

ARCH = replace(
    gfx1100.ARCH,
    name="gfx1151",
    family="RDNA3.5",
    products=("Radeon 8060S",),
    elf_machine=0x4A,
    captured_counters=(),
    lds=replace(gfx1100.ARCH.lds, phases=(), phases_as=("gfx1100", "as gfx1100; not measured")),
    conversions=Conversions(long_names=True, scalar=True),
    trans_use_hazard=False,
    rates=rates_rdna.RDNA35,
)
