"""Wrong fragments of CDNA5, and the checks that must catch each; products over permuted or uniform data hide many."""

from mfmasim.verify import Mutant

BOTH, MAP, OUT = ("outputs", "mapping"), ("mapping",), ("outputs",)
SCALED, SCALED16, MIXED = "scale32[a=0,b=0]", "scale16[a=4,b=4]", "scale32[a=0,b=4]"
OTHER_ROW = ("int sa = row == row_a", "int sa = row != row_a")
ALL_ROWS = ("SB[line] : 0x01234567;", "SB[(line + 1) % 16] : 0x01234567;")
SWAPPED = (
    "long sa = row == row_a ? SA[line]",
    "long sa = row == row_a ? SA[line] << 32 | (unsigned long)SA[line] >> 32",
)
EXCHANGED = ("load<16, i32x8>(A), high = load<16, i32x8>(A, 16)", "load<16, i32x8>(A, 16), high = load<16, i32x8>(A)")
BESIDE = (
    "index[2 * line + half]",
    "((index[2 * line] >> 16 * half & 0xFFFF) | (index[2 * line + 1] >> 16 * half) << 16)",
)
PLAIN = (
    "i32x2{(int)(first & 0xFFFF | second << 16), (int)(first >> 16 | second & 0xFFFF0000)}",
    "i32x2{(int)first, (int)second}",
)

MUTANTS = [
    Mutant("scales_in_the_other_lanes", SCALED, OTHER_ROW, BOTH),
    Mutant("scales_of_the_next_column", "scale32[a=1,b=1]", ALL_ROWS, BOTH),
    Mutant(
        "scales_of_the_next_column_uniform", "scale32[a=1,b=1]", ALL_ROWS, MAP, data="uniform", about="hidden by ones"
    ),
    Mutant("dwords_of_scale16_swapped", SCALED16, SWAPPED, BOTH),
    Mutant(
        "scale16_taken_as_scale32",
        "scale16[a=0,b=0]",
        ("SB[line] : 0x0123456789ABCDEF;", "(SB[line] & 0xFFFF) * 0x100010001 : 0x0123456789ABCDEF;"),
        BOTH,
    ),
    Mutant(
        "fp8_in_runs_of_8",
        MIXED,
        ("run = words == 12 ? 24 : 16;", "run = words == 12 ? 24 : words == 16 ? 8 : 16;"),
        BOTH,
    ),
    Mutant(
        "fp6_in_runs_of_16", "small[a=2,b=4]", ("run = words == 12 ? 24 : 16;", "run = words == 12 ? 12 : 16;"), BOTH
    ),
    Mutant("rows_in_halves_of_eight", "four", EXCHANGED, BOTH),
    Mutant(
        "e5m3_read_as_e4m3",
        "mantissas32[scales=e5m3_e5m3]",
        ("MANTISSA(e5m3_e5m3, 4, 4, 1, 1)", "MANTISSA(e5m3_e5m3, 4, 4, 2, 2)"),
        OUT,
    ),
    Mutant("index_in_the_lane_of_its_elements", "sparse_halves[d=f32,a=f16]", BESIDE, OUT),
    Mutant("index_words_of_8_bits_plain", "sparse_eight[d=f32,ab=fp8_fp8]", PLAIN, OUT),
    Mutant(
        "signs_of_a_and_b_exchanged",
        "integers",
        ("iu8(true, a, false, b, load_c", "iu8(false, a, true, b, load_c"),
        BOTH,
    ),
    Mutant(
        "transposed_columns_of_the_other_half",
        "transposed[space=lds,bits=8]",
        (": Bits == 8 ? lane % 4 + 4 * (lane / 8 % 2)", ": Bits == 8 ? lane % 8"),
        BOTH,
    ),
    Mutant(
        "transposed_fp6_in_lane_order",
        "transposed[space=global,bits=6]",
        ("Bits > 6 ? lane / 16 : Bits == 6 ? lane / 4 % 2", "Bits >= 6 ? lane / 16"),
        BOTH,
    ),
]
