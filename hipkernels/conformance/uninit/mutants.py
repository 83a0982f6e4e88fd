"""Uses of uninitialised values, and the check that must report each. ``mfmasim mutate uninit`` runs them."""

from typing import Any

from mfmasim.verify import Mutant

SEEN = ("outputs", "uninitialised")


def without(line: str) -> tuple[str, str]:
    """A line with its remark, and the same line without what it does."""
    return line, line[line.index("//") :]


def unset(name: str, case: str, edits: tuple[str, str], caught: tuple[str, ...] = SEEN, **more: Any) -> Mutant:
    return Mutant(name, case, edits, caught, **more)


MUTANTS = [
    unset("tail_left_out", "tail", without("else tile[t] = 0;  // tail: zeros")),
    unset("tail_left_out_on_cdna", "tail", without("else tile[t] = 0;  // tail: zeros"), arch="gfx942"),
    unset("flag_not_cleared", "flag", without("if (t == 0) found = 0;  // flag: cleared")),
    unset("flag_not_cleared_on_cdna", "flag", without("if (t == 0) found = 0;  // flag: cleared"), arch="gfx950"),
    unset("padding_used", "padding", ("row.z * 5;", "row.z * 5 + row.w;")),
    unset("table_half_filled", "table", ("k < 16;", "k < 8;"), (*SEEN, "bounds")),
    unset(
        "c_times_zero",
        "scaled[beta=0.0]",
        ("beta == 0.0f ? alpha * x[t] :", "alpha == 0.0f ? 0.0f :"),
        ("uninitialised",),
        about="what C holds here is a number, and 0 times that is 0",
    ),
    unset("even_lanes_taken", "exchange", ("__shfl(y, t | 1)", "__shfl(y, t & ~1u)")),
    unset(
        "odd_lanes_left_out",
        "exchange",
        ("out[t] = __shfl(y, t | 1);", "if (t & 1) out[t] = x; else out[t] = __shfl(x, t | 1);"),
        ("outputs",),
        warned=("lanes-off",),
    ),
    unset("another_lane_read", "first", ("readlane(y, 0)", "readlane(y, 5)"), arch="gfx1151"),
    unset("beyond_the_end", "chosen", ("t < count ? x : 0;", "x;")),
    unset("one_bit_more", "merged", ("z & 0xff;", "z & 0x1ff;")),
    unset("a_byte_of_the_other_register", "permuted", ("0x04050607", "0x04050603"), arch="gfx942"),
    unset("counters_not_cleared", "counters", without("if (t < 32) count[t] = 0;  // counters: cleared")),
    unset("sum_not_cleared", "summed", ("// A sum", "// The sum"), parameters={"cleared": 0}),
    unset("rare_case_forgotten", "workspace", without("else *place = 7;  // workspace: the rare case")),
    unset("other_flags_forgotten", "flags_in_the_lds", without("else odd[t] = 0;  // flags: the others")),
    unset("columns_not_filled", "product", without("else tile[k] = 0;  // product: zeros")),
    unset("columns_not_filled_on_cdna", "product", without("else tile[k] = 0;  // product: zeros"), arch="gfx942"),
    unset(
        "accumulators_not_set",
        "product",
        ("for (unsigned k = 0; k < RESULTS; ++k) d[k] = 1.0f;", 'asm volatile("" : "={v[100:107]}"(d));'),
    ),
    unset(
        "accumulators_not_set_on_cdna",
        "product",
        ("for (unsigned k = 0; k < RESULTS; ++k) d[k] = 1.0f;", 'asm volatile("" : "={v[100:103]}"(d));'),
        arch="gfx950",
    ),
]
