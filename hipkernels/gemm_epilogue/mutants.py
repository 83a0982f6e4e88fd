"""Wrong epilogues, and the checks that must catch each.

Those of the main loop are in gemm_fp8/scheduled and gemm_mx/scheduled.
"""

from typing import Any

from mfmasim.verify import Mutant

OUT, BOTH = ("outputs",), ("outputs", "mapping")
BF16, F32, FP8 = "fp8_linear_bf16_matrices", "fp8_linear_f32", "fp8_linear_fp8"
MX8, GATED8 = "fp8_linear_mxfp8", "fp8_silu_mxfp8"
MX4, GATED4 = "mxfp4_linear_mxfp4", "mxfp4_silu_mxfp4"
RULE = "[M=161,N=320,K=608,lda=640,rule=even]"


def wrong(name: str, case: str, old: str, new: str, caught: tuple[str, ...] = OUT, **more: Any) -> Mutant:
    return Mutant(name, case, (old, new), caught, **more)


MUTANTS = [
    # --- Values
    wrong("bias_of_the_left_half", "fp8_linear_bf16", "first + j * apart + 16 * t", "first + 16 * t"),
    wrong("bias_of_the_first_tile", MX4, "first + j * apart + 16 * t", "first + j * apart", BOTH),
    wrong("bias_of_the_row_s_lane", F32, "16 * t + lane / 16 * 4) * 4, 0, 0)", "16 * t + lane % 4 * 4) * 4, 0, 0)"),
    wrong(
        "c_without_its_factor", "fp8_linear_f16", "__builtin_fmaf(linear.beta, wide[e], x[t][e])", "x[t][e] + wide[e]"
    ),
    wrong(
        "c_of_the_left_half",
        MX8,
        "with_c(values, y, row, line, column + HALF, lane)",
        "with_c(values, y, row, line, column, lane)",
        BOTH,
    ),
    wrong(
        "c_has_d_s_columns",
        "mxfp4_linear_bf16",
        "const unsigned place = c.at(line, column + 16 * t",
        "const unsigned place = c.at(line, 16 * t",
    ),
    wrong(
        "operands_as_they_were",
        BF16,
        "multiply(sum, b.of[n % COLUMNS], a.of[n / COLUMNS])",
        "multiply(sum, a.of[n / COLUMNS], b.of[n % COLUMNS])",
        BOTH,
    ),
    wrong("gelu_without_the_cube", "fp8_gelu_fp8", "GELU_S * 0.044715f", "0.0f"),
    wrong("values_are_gates", GATED8, "silu(x[t][e]) * y[t][e]", "silu(y[t][e]) * x[t][e]"),
    wrong("values_half_a_tile_down", GATED8, "if (half) into.first = values;", ";", BOTH),
    wrong(
        "resource_of_the_gates_alone",
        GATED4,
        "rows_of(g.B, column, g.N - column,",
        "rows_of(g.B, column, g.N / 2 - column,",
        BOTH,
    ),
    wrong("scales_of_half_a_tile_down", GATED4, "this->move_scales(values - HALF);", ";", BOTH),
    wrong("value_of_the_next_gate", GATED8, "silu(x[t][e]) * y[t][e]", "silu(x[t][e]) * y[t][e ^ 1]", BOTH),
    wrong(
        "gates_of_a_whole_tile",
        GATED8 + "[rule=rceil,ldd=272]",
        "static constexpr int COLUMNS = HALF;",
        "static constexpr int COLUMNS = 2 * HALF;",
        ("outputs", "races"),
    ),
    # --- Exchange between lanes
    wrong("half_of_the_row_s_lanes", MX4, "return max(lower, upper);", "return x;", BOTH),
    wrong("two_of_the_row_s_lanes", MX8, "  swap_rows(x, y);\n  x = max(x, y);", "  x = max(x, y);", BOTH),
    wrong("lanes_of_the_other_half_left_out", FP8, "^ 32) * 4, (int)x));", "^ 16) * 4, (int)x));", BOTH, arch="gfx942"),
    wrong("columns_not_exchanged", "fp8_linear_bf16", "swap_rows(a, c);", ";"),
    wrong("second_columns_not_exchanged", BF16, "swap_rows(b, d);", ";", BOTH),
    wrong("codes_not_exchanged", MX8, "      } else {\n        swap_rows(codes[0], codes[1]);", "      } else {", BOTH),
    wrong("nibbles_not_exchanged", MX4, "swap_rows(codes[0], codes[1]);\n        const", "const", BOTH),
    wrong("tiles_of_nibbles_exchanged", MX4, "0x07060302u : 0x05040100u", "0x05040100u : 0x07060302u", BOTH),
    wrong("four_columns_apart", "fp8_linear_f16", "lane / 32 * 8; }", "lane / 32 * 4; }"),
    wrong("amax_of_one_row_of_lanes", FP8, "EXCHANGE(0x140);", ""),
    # --- FP8
    wrong("amax_of_each_half_of_a_row", FP8, "j == 1 ? max(row_most, most) : most", "most", BOTH, arch="gfx942"),
    wrong("amax_of_the_last_row", "fp8_gelu_fp8", "all = max(all, row_most);", "all = row_most;"),
    wrong("amax_stored", "fp8_silu_fp8", "atomicMax(to.amax, (int)all)", "*to.amax = (int)all", ("outputs", "races")),
    wrong("amax_of_the_signed", FP8, "casts::magnitude(x[t][e])", "__builtin_bit_cast(int, x[t][e])", BOTH),
    wrong("not_clamped", FP8, "casts::clamp>(four)", "casts::plain>(four)"),
    wrong("not_scaled", "fp8_silu_fp8", "x[t] * to.scale", "x[t]"),
    # --- Codes and scales of blocks
    wrong("scale_of_the_tile", MX8, "largest(x)), to.rule)", "largest({x[0], x[0]})), to.rule)", BOTH),
    wrong("rule_ignored", MX4 + RULE, "to.rule);", "0);"),
    wrong("codes_do_not_saturate", MX8, "casts::enter_scaled();", ""),
    wrong("scales_of_rows_exchanged", MX4, "+ i % 2 * 8)", "+ (1 - i % 2) * 8)", BOTH),
    wrong("scales_of_blocks_exchanged", MX8, "(j == 1 ? 16 : 0)", "(j == 1 ? 0 : 16)", BOTH),
    wrong("scales_in_rows_of_blocks", MX4, "block % 4 * 64 + lane % 16 * 4", "block % 4 * 4 + lane % 16 * 16", BOTH),
    wrong("scales_of_whole_tiles", MX4 + RULE, "(N + 255) / 256, block", "N / 256, block", ("outputs", "races")),
    wrong("padding_has_scales", MX4, "row + line < M && column < N", "true"),
]
