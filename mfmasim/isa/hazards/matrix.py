"""Wait states between matrix instructions and others, on CDNA.

Sources: CDNA1 and CDNA2 ISA manuals 7.2, CDNA3 7.5 and CDNA4 7.6, "Dependency Resolution", with which LLVM's
GCNHazardRecognizer was compared. The published text of CDNA2's table lacks most numbers; those are LLVM's.

CDNA1 has C and D in a register file of their own, so its rows name AGPRs and the moves from and to them. From CDNA2 on,
XDL is every matrix instruction except those of f32 (SGEMM) and f64 (DGEMM); CDNA2 counts f32 among XDL. A pass is four
cycles. Where C is the D of the previous instruction, the result is forwarded. Matrix instructions that write the same
registers need no wait states.
"""

from __future__ import annotations

from mfmasim.isa.hazards.row import Row

_1 = "CDNA1 ISA manual, 7.2"
_2 = "CDNA2 ISA manual 7.2; LLVM"
_3 = "CDNA3 ISA manual, 7.5"
_4 = "CDNA4 ISA manual, 7.6"
_ALL = "CDNA2 (7.2), CDNA3 (7.5) and CDNA4 (7.6) ISA manuals"
_LATE = "CDNA3 (7.5) and CDNA4 (7.6) ISA manuals"
_LLVM = "LLVM, GCNHazardRecognizer"
_MAI_1 = "checkMAIHazards908"
_MAI = "checkMAIHazards90A"
_USES = "checkMAIVALUHazards"

CDNA1 = (
    Row("VALU writes arch VGPR", "MFMA or V_ACCVGPR_WRITE reads arch VGPR", 2, _1, llvm=_MAI_1),
    Row("VALU writes EXEC", "MFMA or V_ACCVGPR_WRITE", 4, _1, llvm=_MAI_1),
    Row("MFMA writes D", "MFMA reads C", 2, _1, "part", llvm=_MAI_1),
    Row("MFMA writes D", "MFMA reads A, B", 4, _1, llvm=_MAI_1),
    Row("MFMA writes D", "V_ACCVGPR_READ", {2: 4, 8: 10, 16: 18}, _1, llvm=_MAI_1),
    Row("MFMA writes D", "V_ACCVGPR_WRITE", {2: 1, 8: 7, 16: 15}, _1, llvm=_MAI_1),
    Row("MFMA reads C", "V_ACCVGPR_WRITE", {8: 5, 16: 13}, _1, llvm=_MAI_1),
    Row("V_ACCVGPR_WRITE", "MFMA reads C", 1, _1, llvm=_MAI_1),
    Row("V_ACCVGPR_WRITE", "MFMA reads A, B", 3, _1, llvm=_MAI_1),
    Row("V_ACCVGPR_WRITE", "V_ACCVGPR_READ", 3, _1, llvm=_MAI_1),
    Row("V_ACCVGPR_READ writes arch VGPR", "memory reads VGPR", 2, _LLVM, llvm="checkMAILdStHazards"),
)

_COMMON = (
    Row("VALU (no dot product) writes VGPR", "MFMA reads VGPR", 2, _ALL, llvm=_MAI),
    Row("VALU writes EXEC", "MFMA", 4, _ALL, llvm=_MAI),
    Row("dot product writes VGPR", "dot product reads A, B", 3, _ALL, "same opcode", llvm=_USES),
    Row("dot product writes VGPR", "uses VGPR", 3, _ALL, "other opcode", llvm=_USES),
    Row("DGEMM", "FMA_F64", 2, _LLVM, llvm=_USES),
    Row("DGEMM 4x4x4 writes D", "DGEMM 4x4x4 reads C", 4, _ALL, "same", llvm=_MAI),
    Row("DGEMM 4x4x4 writes D", "DGEMM reads C", 4, _ALL, "part", llvm=_MAI),
    Row("DGEMM 4x4x4 writes D", "MFMA reads A, B", 6, _ALL, llvm=_MAI),
    Row("DGEMM 4x4x4 writes D", "VALU uses VGPR", 6, _ALL, llvm=_USES),
    Row("DGEMM 4x4x4 writes D", "memory reads VGPR", 9, _LATE + "; LLVM has it on CDNA2 as well", llvm=_USES),
    Row("DGEMM 16x16x4 writes D", "VALU writes VGPR after", 11, _ALL, llvm=_USES),
    Row("DGEMM 16x16x4 writes D", "memory reads VGPR", 18, _LATE + "; LLVM has it on CDNA2 as well", llvm=_USES),
)

# By passes of the first instruction.
_READ_2 = {2: 5, 8: 11, 16: 19}
_WAR = {2: 1, 4: 3, 8: 7, 16: 15}

CDNA2 = (
    *_COMMON,
    Row("XDL or SGEMM writes D", "XDL reads C after", {2: 2, 8: 8, 16: 16}, _2, "part", llvm=_MAI),
    Row("XDL or SGEMM writes D", "SGEMM reads C", {2: 2, 8: 8, 16: 16}, _2, "part", llvm=_MAI),
    Row("XDL or SGEMM writes D", "DGEMM reads C", {2: 3, 8: 9, 16: 17}, _2, "part", llvm=_MAI),
    Row("XDL or SGEMM writes D", "MFMA reads A, B", _READ_2, _2, llvm=_MAI),
    Row("XDL or SGEMM writes D", "VALU uses VGPR", _READ_2, _2, llvm=_USES),
    Row("XDL or SGEMM writes D", "memory reads VGPR", _READ_2, _2, llvm=_USES),
    Row("XDL or SGEMM reads C", "VALU writes VGPR after", _WAR, _2, llvm=_USES),
    Row("DGEMM 16x16x4 writes D", "DGEMM reads C", 9, _2, "part", llvm=_MAI),
    Row("DGEMM 16x16x4 writes D", "MFMA reads A, B", 11, _2, llvm=_MAI),
    Row("DGEMM 16x16x4 writes D", "VALU uses VGPR", 11, _2, llvm=_USES),
)

_SGEMM_C = {2: 2, 4: 4, 8: 8, 16: 16}
_SGEMM_READ = {2: 4, 4: 6, 8: 10, 16: 18}
_FORWARD = {2: 2}

_COMMON_3 = (
    *_COMMON,
    Row("XDL writes D", "XDL reads C after", _FORWARD, _LATE, "same", llvm=_MAI),
    Row("XDL writes D", "SGEMM reads C", _FORWARD, _LLVM, "same", llvm=_MAI),
    Row("DGEMM 4x4x4 writes D", "SGEMM reads C", 4, _LLVM, "part", llvm=_MAI),
    Row("SGEMM writes D", "SGEMM reads C", _FORWARD, _LATE, "same", llvm=_MAI),
    Row("SGEMM writes D", "SGEMM reads C", _SGEMM_C, _LATE, "part", llvm=_MAI),
    Row("SGEMM writes D", "DGEMM reads C", _SGEMM_C, _LATE, "part", llvm=_MAI),
    Row("SGEMM writes D", "MFMA reads A, B", _SGEMM_READ, _LATE, llvm=_MAI),
    Row("SGEMM writes D", "VALU uses VGPR", _SGEMM_READ, _LATE, llvm=_USES),
    Row("SGEMM writes D", "memory reads VGPR", _SGEMM_READ, _LATE, llvm=_USES),
    Row("XDL reads C", "VALU writes VGPR after", _WAR, _LATE, llvm=_USES),
)

_XDL_C_3 = {2: 3, 4: 5, 8: 9, 16: 17}
_XDL_READ_3 = {2: 5, 4: 7, 8: 11, 16: 19}

CDNA3 = (
    *_COMMON_3,
    Row("XDL writes D", "XDL reads C after", _XDL_C_3, _3, "part", llvm=_MAI),
    Row("XDL writes D", "SGEMM reads C", _XDL_C_3, _3, "part", llvm=_MAI),
    Row("XDL writes D", "DGEMM reads C", _XDL_C_3, _3, "part", llvm=_MAI),
    Row("XDL writes D", "MFMA reads A, B", _XDL_READ_3, _3, llvm=_MAI),
    Row("XDL writes D", "VALU uses VGPR", _XDL_READ_3, _3, llvm=_USES),
    Row("XDL writes D", "memory reads VGPR", _XDL_READ_3, _3, llvm=_USES),
    # LLVM has none here: it lets XDL read the C of SGEMM at once.
    Row("SGEMM writes D", "XDL reads C after", _SGEMM_C, _3, "part"),
    Row("DGEMM 16x16x4 writes D", "DGEMM reads C", 9, _3, "part", llvm=_MAI),
    Row("DGEMM 16x16x4 writes D", "SGEMM reads C", 9, _3, "part", llvm=_MAI),
    Row("DGEMM 16x16x4 writes D", "MFMA reads A, B", 11, _3, llvm=_MAI),
    Row("DGEMM 16x16x4 writes D", "VALU uses VGPR", 11, _3, llvm=_USES),
)

_XDL_C_4 = {2: 4, 4: 6, 8: 10, 16: 18}
_XDL_OTHER_C_4 = {2: 3, 4: 6, 8: 10, 16: 18}
_XDL_READ_4 = {2: 5, 4: 8, 8: 12, 16: 20}

CDNA4 = (
    *_COMMON_3,
    Row("XDL writes D", "XDL reads C after", _XDL_C_4, _4, "part", llvm=_MAI),
    Row("XDL writes D", "SGEMM reads C", _XDL_OTHER_C_4, _4, "part", llvm=_MAI),
    Row("XDL writes D", "DGEMM reads C", _XDL_OTHER_C_4, _4, "part", llvm=_MAI),
    Row("XDL writes D", "MFMA reads A, B", _XDL_READ_4, _4, llvm=_MAI),
    Row("XDL writes D", "VALU uses VGPR", _XDL_READ_4, _4, llvm=_USES),
    Row("XDL writes D", "memory reads VGPR", _XDL_READ_4, _4, llvm=_USES),
    Row("DGEMM 16x16x4 writes D", "DGEMM reads C", 17, _4, "part", llvm=_MAI),
    Row("DGEMM 16x16x4 writes D", "SGEMM reads C", 17, _4, "part", llvm=_MAI),
    Row("DGEMM 16x16x4 writes D", "MFMA reads A, B", 19, _4, llvm=_MAI),
    Row("DGEMM 16x16x4 writes D", "VALU reads VGPR", 19, _4, llvm=_USES),
)
