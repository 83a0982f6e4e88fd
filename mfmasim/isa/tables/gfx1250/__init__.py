"""Opcodes of CDNA5."""

from __future__ import annotations

from mfmasim.isa.tables.gfx1250 import (
    ds,
    flat,
    mubuf,
    scratch,
    smem,
    sop1,
    sop2,
    sopc,
    sopk,
    sopp,
    vimage,
    vop1,
    vop2,
    vop3,
    vop3p,
    vopc,
    vopd3x,
    vopd3y,
    vopdx,
    vopdy,
    wmma,
)
from mfmasim.isa.tables.gfx1250 import global_ as global_table

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
    "WMMA": wmma.ROWS,
    "VOPDX": vopdx.ROWS,
    "VOPDY": vopdy.ROWS,
    "VOPD3X": vopd3x.ROWS,
    "VOPD3Y": vopd3y.ROWS,
    "DS": ds.ROWS,
    "FLAT": flat.ROWS,
    "SCRATCH": scratch.ROWS,
    "GLOBAL": global_table.ROWS,
    "MUBUF": mubuf.ROWS,
    "VIMAGE": vimage.ROWS,
}
"""Table text by encoding."""
