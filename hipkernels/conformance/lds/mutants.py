"""Wrong copies and swizzles, and the check that must catch each.

``mfmasim mutate lds`` compiles and runs them and prints which check caught each.
"""

from mfmasim.verify import Mutant

COPY1, COPY1_512, COPY2 = "copy[base=0,waves=1]", "copy[base=512,waves=1]", "copy[base=0,waves=2]"
ELEMENTS = ("((lane) * (bytes))", "((lane) * 4)")
TWICE = (
    "((unsigned)(__UINTPTR_TYPE__)(lds_void*)((tile) + 4 * (lane)))",
    "((unsigned)(__UINTPTR_TYPE__)(lds_void*)((tile) + 4 * (lane)) * 4)",
)
STORED = ("STORE_AT(S, row, column) S::at(row, column)", "STORE_AT(S, row, column) ((row) * S::pitch + (column))")
LOADED = ("LOAD_AT(S, row, column) S::at(row, column)", "LOAD_AT(S, row, column) ((row) * S::pitch + (column))")
FETCHED = ("(S::at(row, column) % ROW_BYTES)", "(column)")
PAIRS, OFFSET, DIRECT = (
    "tile[swizzle=pairs,direct=]",
    "tile[swizzle=offset,direct=]",
    "tile[swizzle=row,direct=_direct]",
)
BOTH = ("outputs", "mapping")

MUTANTS = [
    # --- copy: the offset of the load counts elements instead of bytes, the address of the read is scaled twice
    Mutant("copy_as_printed", COPY1, [ELEMENTS, TWICE], ("outputs", "bounds"), about="64 of 256 floats are right"),
    Mutant("copy_as_printed_base_512", COPY1_512, [ELEMENTS, TWICE], ("outputs", "bounds"), about="none is right"),
    Mutant("copy_load_in_elements", COPY1, ELEMENTS, ("outputs",), about="4 of 256 floats are right"),
    Mutant("copy_read_scaled_twice", COPY1, TWICE, ("outputs", "bounds"), about="4 of 256 floats are right"),
    Mutant(
        "copy_read_scaled_twice_cdna3",
        COPY1,
        TWICE,
        ("outputs", "bounds"),
        arch="gfx942",
        about="loads of 4 bytes: the offset in elements is right, the read is not",
    ),
    Mutant(
        "copy_waves_share_a_base", COPY2, ("((tile) + 256 * (wave))", "(tile)"), ("outputs", "races", "uninitialised")
    ),
    # --- transposed read: rows and columns of the tile exchanged, an ordinary read in its place
    Mutant(
        "transposed_addresses",
        "transposed_b",
        ("tile + 16 * row + column", "tile + 16 * (line % 4 + 4 * group) + line / 4 * 4"),
        BOTH,
    ),
    Mutant(
        "read_not_transposed",
        "transposed_b",
        (
            "__builtin_amdgcn_ds_read_tr16_b64_v4i16((lds_i16x4*)(tile + 16 * row + column))",
            "*(lds_i16x4*)(tile + 16 * row + column)",
        ),
        (*BOTH, "executes"),
    ),
    Mutant(
        "transposed_rows_in_lane_order",
        "transposed_b",
        ("row = 8 * half + lane % 8, column = line / 8 * 8", "row = line, column = 8 * half"),
        BOTH,
        arch="gfx1201",
    ),
    # --- tiles: a swizzle on one side only
    Mutant("store_without_swizzle", PAIRS, STORED, BOTH),
    Mutant("load_without_swizzle", OFFSET, LOADED, BOTH),
    Mutant("fetch_without_swizzle", DIRECT, FETCHED, BOTH),
    Mutant("fetch_without_swizzle_cdna3", DIRECT, FETCHED, BOTH, arch="gfx942"),
    Mutant(
        "neither_side_swizzled",
        OFFSET,
        [STORED, LOADED],
        (),
        equivalent="the tile is linear on both sides: only slower",
    ),
    Mutant(
        "row_only_swizzle_on_load",
        OFFSET,
        ("LOAD_AT(S, row, column) S::at(row, column)", "LOAD_AT(S, row, column) Row::at(row, column)"),
        BOTH,
    ),
]
