"""Bit fields of the encodings of CDNA5 (gfx1250), from chapter 14 of the ISA manual."""

from __future__ import annotations

from mfmasim.isa.encodings import SHORT, Encoding, EncodingSet
from mfmasim.isa.encodings_rdna import GFX12

_SRC = {"src0": (32, 9), "src1": (41, 9), "src2": (50, 9)}
_SAME = GFX12.by_name

GFX1250 = EncodingSet((
    *SHORT,
    # VOPD3 lies inside the longer prefix of VINTERP, which this generation does not have.
    Encoding("VOPD3", 12, "11001111", (18, 6), {
        "opy": (12, 6), "src0x": (0, 9), "src0y": (32, 9), "negx": (41, 3), "negy": (44, 3), "src1x": (48, 8),
        "src2x": (56, 8), "vdstx": (64, 8), "src1y": (72, 8), "src2y": (80, 8), "vdsty": (88, 8),
    }),
    Encoding("VOP3P", 8, "11001100", (16, 8), {
        "vdst": (0, 8), "neg_hi": (8, 3), "op_sel": (11, 3), "op_sel_hi2": (14, 1), "clamp": (15, 1), **_SRC,
        "op_sel_hi": (59, 2), "neg_lo": (61, 3),
    }),
    _SAME["VOP3"],
    _SAME["VOPD"],
    Encoding("DS", 8, "110110", (18, 8), {
        "offset0": (0, 8), "offset1": (8, 8), "addr": (32, 8), "data0": (40, 8), "data1": (48, 8), "vdst": (56, 8),
    }),
    _SAME["SMEM"],
    _SAME["FLAT"],
    _SAME["SCRATCH"],
    _SAME["GLOBAL"],
    _SAME["MUBUF"],
    Encoding("VIMAGE", 12, "110100", (14, 8), {
        "vdata": (32, 8), "rsrc": (41, 9), "scope": (50, 2), "th": (52, 3), "r128": (4, 1), "tfe": (55, 1),
        "vaddr4": (56, 8), "vaddr0": (64, 8), "vaddr1": (72, 8), "vaddr2": (80, 8), "vaddr3": (88, 8),
        "dim": (0, 3), "d16": (5, 1), "a16": (6, 1), "nv": (7, 1), "dmask": (22, 4),
    }, reader="TENSOR"),
))  # fmt: skip
