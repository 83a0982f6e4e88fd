"""Dependencies that CDNA5's hardware does not resolve, because it executes several instructions of a wave at a time.

Sources: CDNA5 ISA manual, 5.7.2 (transcendental instructions, S_SETREG), 7.2.7 (V_PERMLANE) and 7.12.1 (matrix
instructions). The numbers of the last table are not in the public text; they are those of LLVM 22's
GCNHazardRecognizer, on which compilers rely. Distances are mostly in instructions of the vector ALU.
"""

from __future__ import annotations

from mfmasim.isa.hazards.row import DEFECT, Row

_MATRIX = "CDNA5 ISA manual, 7.12.1; numbers: LLVM"
_TRANS = "CDNA5 ISA manual, 5.7.2"
_C = "LLVM issue 222932: C is read as late as A and B; number: that of A and B"
_LATER = "LLVM pull request 186269, later than LLVM 22; number: that of other vector instructions"
_COEXECUTION, _TRANS_LLVM = "checkWMMACoexecutionHazards", "fixVALUTransCoexecutionHazards"

#   first instruction          then a matrix instruction, another vector instruction
_DISTANCES = (
    ("WMMA of 8 cycles", 5, 4),
    ("WMMA of 16 cycles", 9, 8),
    ("SWMMAC of 8 cycles", 3, 2),
    ("SWMMAC of 16 cycles", 5, 4),
)

CDNA5 = (
    *(row for name, matrix, vector in _DISTANCES for row in (
        Row(f"{name} writes D", "XDL WMMA reads A, B", matrix, _MATRIX, clock="vector", llvm=_COEXECUTION),
        Row(f"{name} writes D", "VALU but trans or WMMA uses VGPR", vector, _MATRIX, clock="vector", llvm=_COEXECUTION),
        Row(f"{name} reads A, B", "VALU but trans or WMMA writes VGPR", vector, _MATRIX, clock="vector",
            llvm=_COEXECUTION),
        Row(f"{name} writes D", "trans uses VGPR", vector, _LATER, clock="vector"),
        Row(f"{name} reads A, B", "trans writes VGPR after", vector, _LATER, clock="vector"),
    )),
    *(Row(f"{name} reads C", "VALU but trans or WMMA writes VGPR", vector, _C, clock="vector", llvm=DEFECT)
      for name, _, vector in _DISTANCES if not name.startswith("SWMMAC")),  # its C is D
    Row("trans writes VGPR", "VALU but trans reads VGPR", 1, _TRANS, clock="vector", llvm=_TRANS_LLVM),
    Row("trans reads VGPR", "VALU but trans writes VGPR", 1, _TRANS, clock="vector", llvm=_TRANS_LLVM),
    Row("VALU writes EXEC", "V_PERMLANE", 1, "CDNA5 ISA manual, 7.2.7", clock="vector", llvm="fixVcmpxPermlaneHazards"),
    Row("S_SETREG writes MODE", "S_SET_VGPR_MSB", 1, "CDNA5 ISA manual, 5.7.2", llvm="fixSetRegMode"),
    Row("S_SETPRIO", "S_GETREG", 1, "CDNA5 ISA manual, 5.7.2"),
)  # fmt: skip
