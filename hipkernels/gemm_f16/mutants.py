"""Wrong f16 and bf16 GEMM kernels, and the checks that must catch each."""

from mfmasim.verify import Mutant

BOTH, OUT, RACES = ("outputs", "mapping"), ("outputs",), ("races",)
ROWS = "r / 4 * 4 * groups + 4 * group + r % 4"

MUTANTS = [
    Mutant("rows_of_the_smaller_shape", "f16_32x32x8", (ROWS, "4 * group + r"), BOTH, arch="gfx942"),
    Mutant("rows_in_register_order", "f16_16x16x16", (ROWS, "r * groups + group"), BOTH, arch="gfx942"),
    Mutant(
        "k_of_the_other_group_in_b",
        "f16_16x16x32",
        (
            "b_tile + READ_AT(Row, wave_n + size * i + line, k)",
            "b_tile + READ_AT(Row, wave_n + size * i + line, k ^ sizeof(part))",
        ),
        BOTH,
    ),
    Mutant("read_without_the_swizzle", "bf16_32x32x16", [("a_tile + READ_AT(Row", "a_tile + READ_AT(None")], BOTH),
    Mutant("elements_taken_for_bytes", "bf16_16x16x16", ("a_step = lda * ELEMENT", "a_step = lda"), BOTH),
    Mutant("half_of_k", "f16_32x32x16", ("k0 < K * ELEMENT", "k0 < K"), BOTH),
    Mutant("bf16_read_as_f16", "bf16_16x16x32", ("BF16_16_LONG, bf16)", "F16_16_LONG, bf16)"), (*BOTH, "executes")),
    Mutant(
        "c_of_bf16_truncated",
        "bf16_32x32x8",
        ("place = to_bf16(value);", "place = (bf16)(__builtin_bit_cast(unsigned, value) >> 16);"),
        OUT,
        data="normal",
    ),
    Mutant("overwritten_while_read", "f16_16x16x16", ("SYNC();  // read by all", "// read by all"), RACES),
    Mutant("fetched_by_others_too", "bf16_32x32x16", ("BARRIER();  // fetched by all", "// fetched by all"), RACES),
]
