"""Opcodes of CDNA1 to CDNA4."""

from __future__ import annotations

from mfmasim.isa.tables.gfx9 import (
    ds,
    flat,
    mai,
    mtbuf,
    mubuf,
    scratch,
    smem,
    sop1,
    sop2,
    sopc,
    sopk,
    sopp,
    vop1,
    vop2,
    vop3,
    vop3p,
    vopc,
)
from mfmasim.isa.tables.gfx9 import global_ as global_table

TABLES = {
    "SOP1": sop1.ROWS,
    "SOP2": sop2.ROWS,
    "SOPC": sopc.ROWS,
    "SOPK": sopk.ROWS,
    "SOPP": sopp.ROWS,
    "SMEM": smem.ROWS,
    "VOP1": vop1.ROWS,
    "VOP2": vop2.ROWS,
    "VOPC": vopc.ROWS,
    "VOP3": vop3.ROWS,
    "VOP3P": vop3p.ROWS,
    "MAI": mai.ROWS,
    "DS": ds.ROWS,
    "FLAT": flat.ROWS,
    "SCRATCH": scratch.ROWS,
    "GLOBAL": global_table.ROWS,
    "MUBUF": mubuf.ROWS,
    "MTBUF": mtbuf.ROWS,
}
"""Table text by encoding."""
