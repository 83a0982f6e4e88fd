"""Dependencies that RDNA's hardware does not resolve; S_DELAY_ALU is a hint only.

Sources: RDNA3 (7.2.8, 7.9), RDNA3.5 and RDNA4 (7.2.8, 7.12.1) ISA manuals; where a line names LLVM, the
insertion of waits that compilers rely on (GCNHazardRecognizer) has the rule and the manuals do not. Distances here are
mostly in instructions of the vector ALU, to which S_NOP does not belong.
"""

from __future__ import annotations

from mfmasim.isa.hazards.row import Row

_WMMA_3 = "RDNA3 ISA manual, 7.9: back-to-back dependent WMMA"
_WMMA_4 = "RDNA4 ISA manual, 7.12.1"

RDNA2: tuple[Row, ...] = ()
"""LLVM inserts nothing on gfx10.3: the dependencies that it knows of gfx10 are errata of gfx10.1."""

RDNA3 = (
    Row("WMMA writes D", "WMMA reads A, B", 1, _WMMA_3, clock="vector", llvm="fixWMMAHazards"),
    Row("VALU writes EXEC", "V_PERMLANE", 1, "RDNA3 ISA manual, 7.2.8", clock="vector", llvm="fixVcmpxPermlaneHazards"),
    Row("trans writes half", "VALU reads half", 6, "LLVM, gfx11.0: fixVALUTransUseHazard", clock="trans",
        on="trans_use_hazard", llvm="fixVALUTransUseHazard"),
)  # fmt: skip

RDNA4 = (
    Row("WMMA writes D", "WMMA reads A, B", 1, _WMMA_4, clock="vector", llvm="fixWMMAHazards"),
    Row("VALU writes EXEC", "V_PERMLANE", 1, "RDNA4 ISA manual, 7.2.8", clock="vector", llvm="fixVcmpxPermlaneHazards"),
)
