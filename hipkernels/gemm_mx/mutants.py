"""Wrong scaled GEMM kernels, and the checks that must catch each; many are right where all scales are 1."""

from mfmasim.verify import Mutant

FP8, FP6, FP4 = (f"scaled[a={name},b={name}]" for name in ("e4m3fn", "e2m3fn", "e2m1fn"))
MIXED = "scaled[a=e4m3fn,b=e2m1fn]"
BOTH, OUT, MAP, RACES = ("outputs", "mapping"), ("outputs",), ("mapping",), ("races",)
OWN_LANE = ("line + 16 * group);", "line + 32 * group);"), ("line + 64 + 16 * group);", "line + 32 * group + 16);")

MUTANTS = [
    Mutant("k_map_of_fp4", FP8, OWN_LANE, BOTH, about="each lane would hold the elements that its own scale is for"),
    Mutant("k_map_of_fp4_uniform", FP8, OWN_LANE, MAP, data="uniform", about="one scale for all hides it"),
    Mutant("scale_of_the_first_block", FP8, ("k0 / 32 + lane / 16", "k0 / 32"), BOTH),
    Mutant("scale_of_the_first_block_uniform", FP4, ("k0 / 32 + lane / 16", "k0 / 32"), MAP, data="uniform"),
    Mutant("scale_of_the_first_tile", FP4, ("k0 / 32 + lane / 16", "lane / 16"), BOTH),
    Mutant("scale_of_a_for_b", FP4, ("scale_a[i], 0, scale_b[j]", "scale_a[i], 0, scale_a[j]"), BOTH),
    Mutant(
        "scale_of_another_row",
        FP6,
        ("(row + wave_m + 16 * i + lane % 16) * blocks", "(row + wave_m + lane % 16) * blocks"),
        BOTH,
    ),
    Mutant(
        "scales_of_zero",
        FP8,
        (
            "0,\n                                                                     scale_a[i], 0, scale_b[j]",
            "0, 0, 0, 0",
        ),
        ("outputs", "executes"),
        about="two literal zeros: the instruction without scales",
    ),
    Mutant(
        "scale_of_a_is_zero",
        FP8,
        ("scale_a[i], 0, scale_b[j]", "0, 0, scale_b[j]"),
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
    Mutant("rows_read_too_early", FP6, ("__syncthreads();  // complete", "// complete"), RACES),
    Mutant("rows_overwritten", MIXED, ("__syncthreads();  // read", "// read"), RACES),
]
