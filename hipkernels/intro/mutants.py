"""Wrong variants of the introductory kernels, and the check that must catch each.

``mfmasim mutate intro`` compiles and runs them and prints which check caught each.
"""

from mfmasim.verify import Mutant

F32, F16, FP8 = "f32_32x32x2", "f16_16x16x16", "fp8_32x32x16[a=fp8,b=fp8]"
SCALED8, SCALED4 = "scaled_fp8_32x32x64[opsel=1]", "scaled_fp4_32x32x64[opsel=2]"
BOTH, MAP = ("outputs", "mapping"), ("mapping",)

K8 = "const unsigned k = 32 * part + 16 * half + i;"
STORE4 = "C[16 * (4 * group + r) + line] = c[r];"
ROW32 = "8 * (r / 4) + 4 * half + r % 4;"

MUTANTS = [
    # --- 32x32x2 f32
    Mutant("a_row_column_exchanged", F32, ("A[2 * line + half]", "A[line + 32 * half]"), BOTH),
    Mutant("b_row_column_exchanged", F32, ("B[32 * half + line]", "B[half + 2 * line]"), BOTH),
    Mutant("c_rows_in_register_order", F32, (ROW32, "16 * half + r;"), BOTH),
    Mutant("c_transposed", F32, ("C[32 * row + line]", "C[row + 32 * line]"), BOTH),
    Mutant("a_one_element_off", F32, ("A[2 * line + half]", "A[2 * line + half + 1]"), (*BOTH, "bounds")),
    Mutant("last_register_not_stored", F32, ("r < 16", "r < 15"), BOTH),
    Mutant("k_exchanged_in_a_only", F32, ("A[2 * line + half]", "A[2 * line + 1 - half]"), BOTH),
    Mutant("store_past_the_end", F32, ("C[32 * row + line]", "C[32 * row + line + 1]"), (*BOTH, "bounds")),
    # --- 16x16x16 f16
    Mutant("k_strided_in_b_only", F16, ("B[16 * (4 * group + i) + line]", "B[16 * (4 * i + group) + line]"), BOTH),
    Mutant("b_element_missing", F16, [("f16x4 b;", "f16x4 b = {};"), ("i < 4", "i < 3")], BOTH),
    Mutant("c_rows_strided", F16, (STORE4, "C[16 * (group + 4 * r) + line] = c[r];"), BOTH),
    Mutant(
        "a_transposed", F16, ("(A + 16 * line + 4 * group)", "(A + 16 * (line % 4 * 4 + group) + line / 4 * 4)"), BOTH
    ),
    Mutant(
        "a_transposed_but_symmetric",
        F16,
        (
            "*reinterpret_cast<const f16x4*>(A + 16 * line + 4 * group);",
            (
                "{A[16 * (4 * group) + line], A[16 * (4 * group + 1) + line], A[16 * (4 * group + 2) + line], "
                "A[16 * (4 * group + 3) + line]};"
            ),
        ),
        MAP,
        data="symmetric",
        about="A is symmetric here, so that its transpose gives the same product",
    ),
    Mutant(
        "k_reversed_in_both",
        F16,
        ("16x16x16f16(a, b, c", "16x16x16f16(a.wzyx, b.wzyx, c"),
        (),
        equivalent="K is permuted identically in A and B, inside one accumulation group",
    ),
    # --- 32x32x16 fp8
    Mutant("k_interleaved_in_a_only", FP8, ("(A + 16 * line + 8 * group)", "(A + 16 * line + 8 * (1 - group))"), BOTH),
    Mutant("b_bytes_swapped_in_pairs", FP8, ("b[i] = B", "b[i ^ 1] = B"), BOTH),
    Mutant(
        "read_as_bf8", FP8, ("_mfma_f32_32x32x16_##a_type##_##b_type(x.a", "_mfma_f32_32x32x16_bf8_##b_type(x.a"), BOTH
    ),
    Mutant("fnuz_data_on_ocp_hardware", FP8, (), BOTH, parameters={"a": "e4m3fnuz", "b": "e4m3fnuz"}, data="integers"),
    Mutant(
        "ocp_data_on_fnuz_hardware",
        FP8,
        (),
        BOTH,
        parameters={"a": "e4m3fn", "b": "e4m3fn"},
        data="integers",
        arch="gfx942",
    ),
    # --- scaled 32x32x64 fp8
    Mutant("k_map_of_fp4", SCALED8, (K8, "const unsigned k = 32 * half + 16 * part + i;"), BOTH),
    Mutant(
        "k_map_of_fp4_uniform_scales",
        SCALED8,
        (K8, "const unsigned k = 32 * half + 16 * part + i;"),
        MAP,
        data="uniform",
        about="one scale for all hides that elements are multiplied by another block's scale",
    ),
    Mutant("scale_lane_transposed", SCALED8, ("SA[2 * line + half]", "SA[line + 32 * half]"), BOTH),
    Mutant(
        "scale_lane_transposed_uniform",
        SCALED8,
        ("SA[2 * line + half]", "SA[line + 32 * half]"),
        MAP,
        data="uniform",
        about="one scale for all hides a wrong scale lane",
    ),
    Mutant("scale_of_other_block", SCALED8, ("SB[32 * half + line]", "SB[32 * (1 - half) + line]"), BOTH),
    Mutant("wrong_opsel_byte", SCALED8, ("Opsel, sa, Opsel, sb", "(Opsel + 1) % 4, sa, Opsel, sb"), BOTH),
    Mutant(
        "wrong_opsel_byte_uniform",
        SCALED8,
        ("Opsel, sa, Opsel, sb", "(Opsel + 1) % 4, sa, Opsel, sb"),
        MAP,
        data="uniform",
        about="four equal bytes hide which one is read",
    ),
    # --- scaled 32x32x64 fp4
    Mutant("nibbles_swapped_in_b", SCALED4, ("create_fp4x2(even, odd)", "create_fp4x2(odd, even)"), BOTH),
    Mutant("nibbles_swapped_in_a", SCALED4, ("a[i] = row[i];", "a[i] = row[i] << 4 | row[i] >> 4;"), BOTH),
    Mutant(
        "nibbles_swapped_in_both",
        SCALED4,
        [
            ("a[i] = row[i];", "a[i] = row[i] << 4 | row[i] >> 4;"),
            ("create_fp4x2(even, odd)", "create_fp4x2(odd, even)"),
        ],
        (),
        equivalent="K is permuted identically in A and B; every element still has its own scale",
        data="integers",
    ),
    Mutant("wrong_column_nibble", SCALED4, [("line / 2], line % 2)", "line / 2], 1 - line % 2)")], BOTH),
    Mutant("a_read_as_fp8", SCALED4, ("4, 4, Opsel", "0, 4, Opsel"), BOTH),
]
