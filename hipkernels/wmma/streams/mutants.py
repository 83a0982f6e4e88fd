"""Wrong stream-K kernels, and the checks that must catch each."""

from mfmasim.verify import Mutant

OUT, FOUR, MANY = ("outputs",), "stream_k[workgroups=4]", "stream_k[workgroups=40]"
ADD = "add_streams[workgroups={}]".format

MUTANTS = [
    Mutant(
        "lds_not_awaited",
        "stream_k_whole[workgroups=1]",
        ("__syncthreads();  // the LDS is free", "// the LDS is free"),
        ("races",),
        arch="gfx1151",
    ),
    Mutant("one_slot_for_both_ends", FOUR, ("(2 * me + (first == 0))", "(2 * me)"), OUT, arch="gfx1151"),
    Mutant(
        "steps_left_over",
        "any_stream_k[workgroups=7]",
        ("end = steps.begin(me + 1, all);", "end = steps.begin(me, all) + steps.total / all;"),
        OUT,
    ),
    Mutant(
        "part_stored_as_whole", MANY, ("const bool whole = first == 0 &&", "const bool whole ="), OUT, arch="gfx1151"
    ),
    Mutant(
        "end_of_k_not_cut",
        "any_stream_k[workgroups=4]",
        ("min(16 * last, g.K) - k", "16 * last - k"),
        (*OUT, "bounds"),
        arch="gfx1151",
    ),
    Mutant("idle_workgroup_added", ADD(40), ("if (from >= steps.begin(w + 1, workgroups)) continue;", ""), OUT),
    Mutant(
        "added_backwards",
        ADD(40),
        (
            "for (int w = owner; w < workgroups && steps.begin(w, workgroups) < last; ++w) {",
            "for (int w = workgroups - 1; w >= owner; --w) {\n      if (steps.begin(w, workgroups) >= last) continue;",
        ),
        OUT,
        about="the last bits alone show it",
    ),
    Mutant("first_part_left_out", ADD(4), ("int w = owner; w", "int w = owner + 1; w"), OUT),
]
