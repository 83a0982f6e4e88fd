"""Wrong scalings of a product, and the checks that must catch each."""

from mfmasim.verify import Mutant

OUT, TILE = ("outputs",), "gemm_64x64"
KEPT, NOTHING = f"{TILE}_apart[alpha=0.0,beta=3.0]", f"{TILE}_apart[alpha=2.0,beta=0.0]"
READS = "g.beta * g.C_in[place]"

MUTANTS = [
    Mutant(
        "c_read_with_beta_zero",
        TILE,
        ("if (g.beta == 0.0f) return", "if (g.beta != g.beta) return"),
        (*OUT, "uninitialised"),
        parameters={"beta": 0.0},
        about="0 times NaN",
    ),
    Mutant("nan_of_c_leaks", NOTHING, ("if (g.beta == 0.0f) return", "if (g.beta != g.beta) return"), OUT),
    Mutant(
        "alpha_zero_multiplies",
        KEPT,
        [("if (g.alpha != 0.0f) return", "if (g.M > 0) return"), ("g.alpha == 0.0f ? old : __", "__")],
        OUT,
        about="0 + -0 is 0",
    ),
    Mutant("alpha_used_twice", TILE, (READS, f"g.alpha * {READS}"), OUT),
    Mutant("alpha_ignored", TILE, ("fmaf(g.alpha, sum", "fmaf(1.0f, sum"), OUT, arch="gfx1151"),
    Mutant("c_in_by_columns", TILE, ("(size_t)y * g.ld_in + x", "(size_t)x * g.ld_in + y"), (*OUT, "races")),
    Mutant("neighbour_read_in_place", TILE, (READS, "g.beta * g.C_in[place ^ 1]"), OUT, arch="gfx1151"),
    Mutant(
        "added_after_rounding",
        TILE,
        ("__builtin_fmaf(g.alpha, sum, old)", "__fadd_rn(__fmul_rn(g.alpha, sum), old)"),
        (),
        equivalent="1.25 times the sum is rounded, which the error bound of the matrices' case allows",
    ),
    Mutant(
        "added_after_rounding_apart",
        f"{TILE}_apart[alpha=1.25,beta=-0.5]",
        ("__builtin_fmaf(g.alpha, sum, old)", "__fadd_rn(__fmul_rn(g.alpha, sum), old)"),
        OUT,
    ),
]
