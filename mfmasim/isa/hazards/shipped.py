"""How closely AMD's own kernels, which are in production use, follow the rows; made by tests/isa/count_hazards.py.

By encoding (of several steppings, with that one) and library: how many objects were walked, and of each row that any of
them breaks how many objects have which number of wait states somewhere, and none smaller. AITER: ROCm/aiter, hsa/.
hipBLASLt: CustomKernels at 7d9fb683 and, of RDNA3, two kernels of its generator. MIOpen: its Winograd convolutions at
2d1fd997, version 30 and Fury, and of CDNA1 every 36th of its implicit GEMMs instead.
"""

from __future__ import annotations

#   library: objects, {first, second, link: {present: objects}}
SHIPPED: dict[str, dict[str, tuple[int, dict[tuple[str, str, str], dict[int, int]]]]] = {
    "CDNA1": {"MIOpen": (84, {
        ("VALU writes EXEC", "MFMA or V_ACCVGPR_WRITE", ""): {3: 3},
        ("V_ACCVGPR_READ writes arch VGPR", "memory reads VGPR", ""): {0: 37},
    })},
    "CDNA3": {"AITER": (1432, {
        ("SALU writes M0", "uses M0", ""): {0: 1186},
        ("VALU writes SGPR", "VALU reads SGPR", ""): {0: 97, 1: 1040},
        ("VALU writes SGPR", "VMEM reads SGPR", ""): {2: 3},
        ("VALU writes VGPR", "DPP reads VGPR", ""): {0: 11, 1: 107},
        ("XDL writes D", "VALU uses VGPR", ""): {2: 6, 3: 3, 4: 37, 5: 6, 6: 30, 7: 24, 10: 6},
    }), "MIOpen": (12, {
        ("VALU writes SGPR", "VALU reads SGPR", ""): {0: 12},
        ("VALU writes VGPR", "DPP reads VGPR", ""): {0: 6},
        ("trans writes VGPR", "VALU but trans reads VGPR", ""): {0: 12},
    }), "hipBLASLt": (187, {
        ("VALU writes EXEC", "lane access", ""): {2: 187},
        ("VALU writes SGPR", "VALU reads SGPR", ""): {0: 186},
    })},
    "CDNA4": {"AITER": (1439, {
        ("SALU writes M0", "uses M0", ""): {0: 1196},
        ("VALU (no dot product) writes VGPR", "MFMA reads VGPR", ""): {0: 1, 1: 2},
        ("VALU writes SGPR", "VALU reads SGPR", ""): {0: 138, 1: 895},
        ("VALU writes VGPR", "DPP reads VGPR", ""): {0: 6, 1: 107},
        ("VALU writes VGPR", "V_PERMLANE reads VGPR", ""): {0: 1, 1: 19},
        ("XDL writes D", "VALU uses VGPR", ""): {2: 6, 3: 2, 4: 44, 5: 3, 6: 29, 9: 1, 10: 10, 15: 1, 17: 4, 18: 12},
    })},
    "CDNA5 B0": {"AITER": (38, {
        ("WMMA of 8 cycles reads A, B", "VALU but trans or WMMA writes VGPR", ""): {1: 2},
        ("trans reads VGPR", "VALU but trans writes VGPR", ""): {0: 36},
        ("trans writes VGPR", "VALU but trans reads VGPR", ""): {0: 36},
    })},
    "RDNA3": {"MIOpen": (14, {
        ("trans writes half", "VALU reads half", ""): {0: 4, 1: 10},
    }), "hipBLASLt": (2, {
        ("trans writes half", "VALU reads half", ""): {1: 2},
    })},
}  # fmt: skip
