"""Wrong epilogues, and the checks that must catch each.

Those of the main loop are in gemm_fp8/scheduled and gemm_mx/scheduled.
"""

from typing import Any

from mfmasim.verify import Mutant

OUT, BOTH = ("outputs",), ("outputs", "mapping")
BF16, F32, FP8 = "fp8_linear_bf16_matrices", "fp8_linear_f32", "fp8_linear_fp8"
MX8, GATED8 = "fp8_linear_mxfp8", "fp8_silu_mxfp8"
MX4, GATED4 = "mxfp4_linear_mxfp4", "mxfp4_silu_mxfp4"


def wrong(name: str, case: str, old: str, new: str, caught: tuple[str, ...] = OUT, **more: Any) -> Mutant:
    return Mutant(name, case, (old, new), caught, **more)


MUTANTS = [
    # --- Values
    wrong("bias_of_the_left_half", "fp8_linear_bf16", "first + j * apart + 16 * t", "first + 16 * t"),
    wrong("bias_of_the_first_tile", F32, "first + j * apart + 16 * t", "first + j * apart"),
    wrong(
        "c_without_its_factor", "fp8_linear_f16", "__builtin_fmaf(linear.beta, wide[e], x[t][e])", "x[t][e] + wide[e]"
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
    wrong("values_half_a_tile_down", GATED8, "if (half) into.first = values;", ";"),
    wrong("scales_of_half_a_tile_down", GATED4, "this->move_scales(values - HALF);", ";"),
    # --- Exchange between lanes
    wrong("half_of_the_row_s_lanes", MX4, "return max(lower, upper);", "return x;"),
    wrong("two_of_the_row_s_lanes", MX8, "  swap_rows(x, y);\n  x = max(x, y);", "  x = max(x, y);"),
    wrong("columns_not_exchanged", "fp8_linear_bf16", "swap_rows(a, c);", ";"),
    wrong("tiles_of_nibbles_exchanged", MX4, "0x07060302u : 0x05040100u", "0x05040100u : 0x07060302u"),
    wrong("four_columns_apart", "fp8_linear_f16", "lane / 32 * 8; }", "lane / 32 * 4; }"),
    wrong("amax_of_one_row_of_lanes", FP8, "EXCHANGE(0x140);", ""),
    # --- FP8
    wrong("amax_of_each_half_of_a_row", FP8, "j == 1 ? max(row_most, most) : most", "most", arch="gfx942"),
    wrong("amax_of_the_last_row", "fp8_gelu_fp8", "all = max(all, row_most);", "all = row_most;"),
    wrong("amax_stored", "fp8_silu_fp8", "atomicMax(to.amax, (int)all)", "*to.amax = (int)all", ("outputs", "races")),
    wrong("amax_of_the_signed", FP8, "casts::magnitude(x[t][e])", "__builtin_bit_cast(int, x[t][e])"),
    wrong("not_scaled", "fp8_silu_fp8", "x[t] * to.scale", "x[t]"),
    # --- Codes and scales of blocks
    wrong("scales_in_rows_of_blocks", MX4, "block % 4 * 64 + lane % 16 * 4", "block % 4 * 4 + lane % 16 * 16"),
]
