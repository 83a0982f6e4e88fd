"""Dependencies that CDNA5's hardware does not resolve, because it executes several instructions of a wave at a time.

Sources: CDNA5 ISA manual, 5.7.2 (transcendental instructions, S_SETREG), 7.2.7 (V_PERMLANE) and 7.12.1 (matrix
instructions). The numbers of the last table are not in the public text; they are those of LLVM's GCNHazardRecognizer,
on which compilers rely, by the cycles of the instruction (`mfmasim.matrix.rows.cdna5.CYCLES`): 8 and 16 as in LLVM 22,
4 as in ROCm/llvm-project pull request 3197, gfx1251 as in LLVM pull request 203145. Distances are mostly in
instructions of the vector ALU. Where SCHED_MODE disables co-execution, a matrix instruction needs one, others none
(7.12.1; ROCm/rocm-libraries, ``shared/stinkytofu``, InsertCoexecHazardPass). Scales are not among the registers that
the table names.
"""

from __future__ import annotations

from collections.abc import Iterator

from mfmasim.isa.hazards.row import DEFECT, NOT_EMITTED, Row

_MATRIX = "CDNA5 ISA manual, 7.12.1; numbers: LLVM"
_TRANS = "CDNA5 ISA manual, 5.7.2"
_C = "LLVM issue 222932: C is read as late as A and B; number: that of A and B"
_LATER = "LLVM pull request 186269, later than LLVM 22; number: that of other vector instructions"
_HALT = "ROCm/llvm-project, COMGR's sethalt-fix for stepping A0"
_COEXEC, _TRANS_LLVM = "checkWMMACoexecutionHazards", "fixVALUTransCoexecutionHazards"

#   first instruction          then a matrix instruction, another vector instruction
_DISTANCES = (
    ("WMMA of 4 cycles", 2, 1),
    ("WMMA of 8 cycles", 5, 4),
    ("WMMA of 16 cycles", 9, 8),
    ("SWMMAC of 8 cycles", 3, 2),
    ("SWMMAC of 16 cycles", 5, 4),
)
_DISTANCES_GFX1251 = (
    ("WMMA of 16 cycles", 9, 8),
    ("WMMA of 32 cycles", 17, 16),
    ("SWMMAC of 16 cycles", 9, 8),
    ("SWMMAC of 32 cycles", 17, 16),
)


def _after_matrix(distances: tuple[tuple[str, int, int], ...]) -> Iterator[Row]:
    """Rows of each class of matrix instructions: its name, and the distances to a matrix and a vector instruction."""
    use, write = "VALU but trans or WMMA uses VGPR", "VALU but trans or WMMA writes VGPR"
    for name, matrix, vector in distances:
        #   first instruction      then                      distance                      co-execution disabled
        yield Row(f"{name} writes D", "XDL WMMA reads A, B", matrix, _MATRIX, clock="vector", serial=1, llvm=_COEXEC)
        yield Row(f"{name} writes D", use, vector, _MATRIX, clock="vector", serial=0, llvm=_COEXEC)
        yield Row(f"{name} reads A, B", write, vector, _MATRIX, clock="vector", serial=0, llvm=_COEXEC)
        yield Row(f"{name} writes D", "trans uses VGPR", vector, _LATER, clock="vector", serial=0)
        yield Row(f"{name} reads A, B", "trans writes VGPR after", vector, _LATER, clock="vector", serial=0)
    for name, _, vector in distances:
        if not name.startswith("SWMMAC"):  # its C is D
            yield Row(f"{name} reads C", write, vector, _C, clock="vector", serial=0, llvm=DEFECT)


_OTHERS = (
    Row("trans writes VGPR", "VALU but trans reads VGPR", 1, _TRANS, clock="vector", llvm=_TRANS_LLVM),
    Row("trans reads VGPR", "VALU but trans writes VGPR", 1, _TRANS, clock="vector", llvm=_TRANS_LLVM),
    Row("VALU writes EXEC", "V_PERMLANE", 1, "CDNA5 ISA manual, 7.2.7", clock="vector", llvm="fixVcmpxPermlaneHazards"),
    Row("S_SETREG writes MODE", "S_SET_VGPR_MSB", 1, "CDNA5 ISA manual, 5.7.2", llvm="fixSetRegMode"),
    Row("S_SETPRIO", "S_GETREG", 1, "CDNA5 ISA manual, 5.7.2"),
)
_HALTED = Row("S_SETHALT", "matrix instruction with scales", 1, _HALT, llvm=NOT_EMITTED)

CDNA5 = {
    "B0": (*_after_matrix(_DISTANCES), *_OTHERS),
    "A0": (*_after_matrix(_DISTANCES), *_OTHERS, _HALTED),
    "12.51": (*_after_matrix(_DISTANCES_GFX1251), *_OTHERS),
}
"""Rows by `mfmasim.architectures.Arch.variant`."""
