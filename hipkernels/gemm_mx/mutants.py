"""Wrong scaled GEMM kernels, and the checks that must catch each; many are right where all scales are 1."""

from mfmasim.verify import Mutant

FP8, FP6, FP4 = (f"scaled[a={name},b={name}]" for name in ("e4m3fn", "e2m3fn", "e2m1fn"))
MIXED = "scaled[a=e4m3fn,b=e2m1fn]"
LARGE8, LARGE6 = (f"scaled_32x32x64[a={name},b=e5m2]" for name in ("e4m3fn", "e3m2fn"))
TILED, KITTENS, LANES, LT = (
    f"{name}[a=e4m3fn,b=e4m3fn]" for name in ("tiled", "hipkittens_rows", "hipkittens_lanes", "hipblaslt_32x8")
)
BOTH, OUT, MAP, RACES = ("outputs", "mapping"), ("outputs",), ("mapping",), ("races",)
OWN_LANE = (
    ("line + 16 * group);", "line + 32 * group);"),
    ("line + 16 * S::groups + 16 * group);", "line + 32 * group + 16);"),
)

BLOCK = "k0 / 32 + h * S::groups + lane / S::rows"

MUTANTS = [
    Mutant("k_map_of_fp4", FP8, OWN_LANE, BOTH, about="each lane would hold the elements that its own scale is for"),
    Mutant("k_map_of_fp4_uniform", FP8, OWN_LANE, MAP, data="uniform", about="one scale for all hides it"),
    Mutant("scale_of_the_first_block", FP8, (BLOCK, "k0 / 32"), BOTH),
    Mutant("scale_of_the_first_block_uniform", FP4, (BLOCK, "k0 / 32"), MAP, data="uniform"),
    Mutant("scale_of_the_first_tile", FP4, (BLOCK, "lane / S::rows"), BOTH),
    Mutant("scale_of_a_for_b", FP4, ("scale_a[i], scale_b[j]", "scale_a[i], scale_a[j]"), BOTH),
    Mutant(
        "scale_of_another_row",
        FP6,
        ("(row + wave_m + S::rows * i + lane % S::rows)", "(row + wave_m + lane % S::rows)"),
        BOTH,
    ),
    Mutant(
        "scales_of_zero",
        FP8,
        ("scale_a[i], scale_b[j]", "0, 0"),
        ("outputs", "executes"),
        about="two literal zeros: the instruction without scales",
    ),
    Mutant(
        "scale_of_a_is_zero",
        FP8,
        ("scale_a[i], scale_b[j]", "0, scale_b[j]"),
        BOTH,
        about="one literal zero is the scale 2^-127",
    ),
    Mutant("fp6_read_as_bf6", FP6, ("Format<6, 2> e2m3fn", "Format<6, 3> e2m3fn"), BOTH),
    Mutant("fp4_read_as_fp8", MIXED, ("FA::code, FB::code", "FA::code, FA::code"), BOTH),
    Mutant("fp6_in_steps_of_fp8", FP6, ("line + 24 * group", "line + 32 * group"), (*BOTH, "bounds", "uninitialised")),
    Mutant(
        "garbage_in_unused_registers",
        FP4,
        ("(int)all.w, 0, 0, 0, 0}", "(int)all.w, (int)all.x, 7, -1, 5}"),
        (),
        equivalent="FP4 takes the first four registers",
    ),
    Mutant("large_k_map_of_fp4", LARGE8, OWN_LANE, BOTH),
    Mutant("large_scales_of_the_first_half", LARGE8, ("h * S::groups + lane / S::rows", "lane / S::rows"), BOTH),
    Mutant("large_rows_of_the_small_one", LARGE6, ("t / 4 * 8 + lane / 32 * 4", "t / 4 * 4 + lane / 32 * 16"), BOTH),
    Mutant("rows_read_too_early", FP6, ("__syncthreads();  // complete", "// complete"), RACES),
    Mutant("rows_overwritten", MIXED, ("__syncthreads();  // read", "// read"), RACES),
    # --- tiled.h and orders.h
    Mutant(
        "tiled_without_a_fence", TILED, ("ARRIVED(sum[i][j]);", ";"), ("order",), about="multiplied behind the barrier"
    ),
    Mutant("tiled_waits_for_nothing", TILED, ("WAIT_DIRECT(0);  // next", "// next"), ("races", "order")),
    Mutant("tiled_without_a_barrier", TILED, ("BARRIER();       // next", "// next"), ("races", "order")),
    Mutant("swizzled_in_memory_only", TILED, ("return place<F>(row, chunk);", "return chunk;"), BOTH),
    Mutant("scales_of_the_same_slot", TILED, ("a_scales[O::slot(t)]", "a_scales[0]"), (*BOTH, "races")),
    Mutant(
        "perm_takes_the_other_dword_first",
        KITTENS,
        ("perm(w1, w0,", "perm(w0, w1,"),
        BOTH,
        about="of HipKittens' packing",
    ),
    Mutant(
        "perm_first_block_alone", KITTENS, ("const unsigned block = lane / S::rows;", "const unsigned block = 0;"), BOTH
    ),
    Mutant(
        "perm_first_block_alone_uniform",
        KITTENS,
        ("const unsigned block = lane / S::rows;", "const unsigned block = 0;"),
        MAP,
        data="uniform",
    ),
    Mutant("dwords_of_rows_taken_for_lanes", LANES, (), BOTH, parameters={"shuffle": "hipkittens_rows"}),
    Mutant("dwords_of_lanes_taken_for_rows", KITTENS, (), BOTH, parameters={"shuffle": "hipkittens_lanes"}),
    Mutant(
        "bytes_of_another_tile", LANES, ("byte(int i, int) { return i; }", "byte(int i, int) { return i ^ 1; }"), BOTH
    ),
    Mutant("tiles_of_scales_undivided", LT, (), BOTH, parameters={"shuffle": "hipblaslt_32x8_undivided"}),
    Mutant("halves_of_the_rows_exchanged", LT, ("return i % 2;", "return 1 - i % 2;"), BOTH),
    Mutant(
        "scales_of_the_first_of_two_tiles", LT, [("pair[0] >>= t % 2 * 16;", ""), ("pair[1] >>= t % 2 * 16;", "")], BOTH
    ),
    Mutant(
        "scales_fetched_late",
        LT,
        ("return t / 2 % 2;", "return 0;"),
        ("outputs", "races"),
        about="the next two tiles' replace them",
    ),
]
