"""Bit fields of the encodings of RDNA2 (gfx10.3), RDNA3 and RDNA3.5 (gfx11) and RDNA4 (gfx12), from the ISA manuals."""

from __future__ import annotations

from mfmasim.isa.encodings import SHORT, Encoding, EncodingSet

_SRC = {"src0": (32, 9), "src1": (41, 9), "src2": (50, 9)}
_VOP3P = {
    "vdst": (0, 8), "neg_hi": (8, 3), "op_sel": (11, 3), "op_sel_hi2": (14, 1), "clamp": (15, 1), **_SRC,
    "op_sel_hi": (59, 2), "neg_lo": (61, 3),
}  # fmt: skip

DPP16_WORD = {
    "dpp_src0": (0, 8), "dpp_ctrl": (8, 9), "fi": (18, 1), "bound_ctrl": (19, 1), "src0_neg": (20, 1),
    "src0_abs": (21, 1), "src1_neg": (22, 1), "src1_abs": (23, 1), "bank_mask": (24, 4), "row_mask": (28, 4),
}  # fmt: skip
"""Fields of the dword that follows an instruction whose src0 is 250."""
DPP8_WORD = {"dpp_src0": (0, 8), "dpp8": (8, 24)}
"""Fields of the dword that follows an instruction whose src0 is 233 or 234: eight lane selectors of three bits."""

_OLDEST = (
    *SHORT,
    Encoding("VOP3P", 8, "110011000", (16, 7), _VOP3P),
    Encoding("VOP3", 8, "110101", (16, 10), {
        "vdst": (0, 8), "abs": (8, 3), "op_sel": (11, 4), "clamp": (15, 1), **_SRC, "omod": (59, 2), "neg": (61, 3),
    }),
    Encoding("DS", 8, "110110", (18, 8), {
        "offset0": (0, 8), "offset1": (8, 8), "gds": (17, 1), "addr": (32, 8), "data0": (40, 8), "data1": (48, 8),
        "vdst": (56, 8),
    }),
    Encoding("EXP", 8, "111110", (4, 6), {}, refused=True),
)  # fmt: skip
_COMMON = (
    *_OLDEST,
    Encoding("VOPD", 8, "110010", (22, 4), {
        "opy": (17, 5), "src0x": (0, 9), "src1x": (9, 8), "src0y": (32, 9), "src1y": (41, 8), "vdsty": (49, 7),
        "vdstx": (56, 8),
    }),
    Encoding("VINTERP", 8, "11001101", (16, 7), {
        "vdst": (0, 8), "wait_exp": (8, 3), "op_sel": (11, 4), "clamp": (15, 1), **_SRC, "neg": (61, 3),
    }),
    Encoding("LDSDIR", 4, "11001110", (20, 2), {}, refused=True),
)  # fmt: skip

GFX10 = EncodingSet((
    *_OLDEST,
    Encoding("SMEM", 8, "111101", (18, 8), {
        "sbase": (0, 6), "sdata": (6, 7), "dlc": (14, 1), "glc": (16, 1), "offset": (32, 21), "soffset": (57, 7),
    }, reader="SMEM_RDNA"),
    Encoding("FLAT", 8, "110111", (18, 7), {
        "offset": (0, 12), "dlc": (12, 1), "lds": (13, 1), "seg": (14, 2), "glc": (16, 1), "slc": (17, 1),
        "vaddr": (32, 8), "data": (40, 8), "saddr": (48, 7), "vdst": (56, 8),
    }),
    Encoding("MUBUF", 8, "111000", (18, 8), {
        "offset": (0, 12), "offen": (12, 1), "idxen": (13, 1), "glc": (14, 1), "dlc": (15, 1), "lds": (16, 1),
        "vaddr": (32, 8), "vdata": (40, 8), "srsrc": (48, 5), "slc": (54, 1), "tfe": (55, 1), "soffset": (56, 8),
    }),
    # Bit 53 is the uppermost of the opcode.
    Encoding("MTBUF", 8, "111010", (16, 3), {
        "offset": (0, 12), "offen": (12, 1), "idxen": (13, 1), "glc": (14, 1), "dlc": (15, 1), "format": (19, 7),
        "vaddr": (32, 8), "vdata": (40, 8), "srsrc": (48, 5), "slc": (54, 1), "tfe": (55, 1), "soffset": (56, 8),
    }, reader="MUBUF", op_high=(53, 1)),
    Encoding("VINTRP", 4, "110010", (16, 2), {}, refused=True),
    Encoding("MIMG", 8, "111100", (18, 7), {}, refused=True),
))  # fmt: skip
"""RDNA2 ISA manual, chapter 13."""

GFX11 = EncodingSet((
    *_COMMON,
    Encoding("SMEM", 8, "111101", (18, 8), {
        "sbase": (0, 6), "sdata": (6, 7), "dlc": (13, 1), "glc": (14, 1), "offset": (32, 21), "soffset": (57, 7),
    }, reader="SMEM_RDNA"),
    Encoding("FLAT", 8, "110111", (18, 7), {
        "offset": (0, 13), "dlc": (13, 1), "glc": (14, 1), "slc": (15, 1), "seg": (16, 2), "vaddr": (32, 8),
        "data": (40, 8), "saddr": (48, 7), "sve": (55, 1), "vdst": (56, 8),
    }),
    Encoding("MUBUF", 8, "111000", (18, 8), {
        "offset": (0, 12), "slc": (12, 1), "dlc": (13, 1), "glc": (14, 1), "vaddr": (32, 8), "vdata": (40, 8),
        "srsrc": (48, 5), "tfe": (53, 1), "offen": (54, 1), "idxen": (55, 1), "soffset": (56, 8),
    }),
    Encoding("MTBUF", 8, "111010", (15, 4), {
        "offset": (0, 12), "slc": (12, 1), "dlc": (13, 1), "glc": (14, 1), "format": (19, 7), "vaddr": (32, 8),
        "vdata": (40, 8), "srsrc": (48, 5), "tfe": (53, 1), "offen": (54, 1), "idxen": (55, 1), "soffset": (56, 8),
    }, reader="MUBUF"),
    Encoding("MIMG", 8, "111100", (18, 8), {}, refused=True),
))  # fmt: skip

# The non-volatile bit and the scaled offset belong to gfx1250; LLVM prints them for all, so here they must be zero.
_FLAT12 = {
    "saddr": (0, 7), "nv": (7, 1), "vdst": (32, 8), "scale_offset": (48, 1), "sve": (49, 1), "scope": (50, 2),
    "th": (52, 3), "data": (55, 8), "vaddr": (64, 8), "offset": (72, 24),
}  # fmt: skip
_VBUFFER = {
    "soffset": (0, 7), "nv": (7, 1), "tfe": (22, 1), "vdata": (32, 8), "srsrc": (41, 9), "scope": (50, 2),
    "th": (52, 3), "format": (55, 7), "offen": (62, 1), "idxen": (63, 1), "vaddr": (64, 8), "offset": (72, 24),
}  # fmt: skip

GFX12 = EncodingSet((
    *_COMMON,
    Encoding("SMEM", 8, "111101", (13, 6), {
        "sbase": (0, 6), "sdata": (6, 7), "nv": (20, 1), "scope": (21, 2), "th": (23, 2), "offset": (32, 24),
        "scale_offset": (56, 1), "soffset": (57, 7),
    }, reader="SMEM_RDNA"),
    Encoding("FLAT", 12, "11101100", (14, 8), _FLAT12, reader="VFLAT"),
    Encoding("SCRATCH", 12, "11101101", (14, 8), _FLAT12, reader="VFLAT"),
    Encoding("GLOBAL", 12, "11101110", (14, 8), _FLAT12, reader="VFLAT"),
    Encoding("MUBUF", 12, "110001", (14, 8), _VBUFFER, reader="VBUFFER"),
    Encoding("VIMAGE", 12, "110100", (14, 8), {}, refused=True),
    Encoding("VSAMPLE", 12, "111001", (14, 8), {}, refused=True),
))  # fmt: skip
