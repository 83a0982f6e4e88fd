"""gfx1200: RDNA4 (RX 9060 XT).

Sources: RDNA4 ISA manual; EF_AMDGPU_MACH from LLVM's AMDGPU usage guide. All other fields are those of gfx1201.
"""

from __future__ import annotations

from dataclasses import replace

from mfmasim.architectures import gfx1201, rates_rdna

ARCH = replace(
    gfx1201.ARCH,
    name="gfx1200",
    products=("RX 9060 XT",),
    elf_machine=0x48,
    captured_counters=(),
    lds=replace(gfx1201.ARCH.lds, phases=(), phases_as=("gfx1201", "as gfx1201; not measured")),
    rates=rates_rdna.RDNA4_SMALL,
)
