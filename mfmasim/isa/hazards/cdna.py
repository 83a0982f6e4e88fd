"""Wait states that software has to insert on CDNA, except for matrix instructions (`mfmasim.isa.hazards.matrix`).

Sources: CDNA1 to CDNA4 ISA manuals, 4.5, "Required Software-inserted Wait States"; where a source names LLVM,
the insertion of wait states that compilers rely on (GCNHazardRecognizer) has the rule and the manuals do not. `llvm`
names its function for the row; LLVM never makes EXECZ or VCCZ a source of the vector ALU, and never sets VSKIP.

Left out: instructions that the machine does not execute (S_RFE); VCC under the number of the SGPRs that hold it
(assemblers write it by name); and the replay of clauses with XNACK, which does not depend on wait states.
"""

from __future__ import annotations

from mfmasim.isa.hazards.row import NOT_EMITTED, Row

_ALL = "CDNA1 to CDNA4 ISA manuals, 4.5"
_12 = "CDNA1 and CDNA2 ISA manuals, 4.5"
_3 = "CDNA3 and CDNA4 ISA manuals, 4.5"
_4 = "CDNA4 ISA manual, 4.5"

#   first                        second                          states  source
_COMMON = (
    Row("S_SETREG", "S_GETREG", 2, _ALL, llvm="checkGetRegHazards"),
    Row("S_SETREG", "S_SETREG", 2, _ALL, llvm="checkSetRegHazards"),
    Row("S_SETVSKIP", "S_GETREG", 2, _ALL, llvm=NOT_EMITTED),
    Row("S_SETREG writes VSKIP", "vector instruction", 2, _ALL, llvm=NOT_EMITTED),
    Row("VALU writes VCC or EXEC", "VALU reads EXECZ or VCCZ", 5, _ALL, llvm=NOT_EMITTED),
    Row("VALU writes SGPR", "lane select reads SGPR", 4, _ALL, llvm="checkRWLaneHazards"),
    Row("VALU writes VCC", "V_DIV_FMAS", 4, _ALL, llvm="checkDivFMasHazards"),
    Row("VALU writes SGPR", "VMEM reads SGPR", 5, _ALL, llvm="checkVMEMHazards"),
    Row("VALU writes VGPR", "DPP reads VGPR", 2, _ALL, llvm="checkDPPHazards"),
    Row("VALU writes EXEC", "DPP", 5, _ALL, llvm="checkDPPHazards"),
    Row("SALU writes M0", "uses M0", 1, _ALL, llvm="checkReadM0Hazards"),
)

CDNA1 = (*_COMMON, Row("wide store of VGPR", "VALU writes store data", 1, _12, llvm="checkVALUHazardsHelper"))

CDNA2 = (
    *CDNA1,
    Row("VALU writes VGPR",         "memory reads VGPR",             2, "LLVM, gfx90a: DGEMM before VMEM",
        link="after DGEMM", llvm="checkMAIVALUHazards"),
)  # fmt: skip

CDNA3 = (
    *_COMMON,
    Row("wide store of VGPR", "VALU writes store data", 2, _3, llvm="checkVALUHazardsHelper"),
    Row("VALU writes SGPR", "VALU reads SGPR", 2, _3, llvm="checkVALUHazards"),
    Row("VALU writes EXEC", "lane access", 4, _3, llvm="checkVALUHazards"),
    Row("VALU writes VGPR", "V_READLANE reads VGPR", 1, _3, llvm="checkVALUHazards"),
    Row("VALU writes part of VGPR", "VALU reads VGPR", 1, _3, llvm="checkVALUHazards"),
    Row("trans writes VGPR", "VALU but trans reads VGPR", 1, _3, llvm="checkVALUHazards"),
)

CDNA4 = (
    *CDNA3,
    Row("VALU writes EXEC", "V_PERMLANE", 4, _4, llvm="checkPermlaneHazards"),
    Row("VALU writes VGPR", "V_PERMLANE reads VGPR", 2, _4, llvm="checkPermlaneHazards"),
)
