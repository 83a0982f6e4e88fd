"""Wrong ways to share a tile among workgroups, and the checks that must catch each; and equivalent variants."""

from typing import Any

from mfmasim.verify import Mutant

OUT, RACES = ("outputs",), ("races",)
LATE = (*OUT, *RACES)
SPLIT, TURN, ATOMIC = "split_k[parts=3,M=77]", "split_k_in_turn[parts=3,M=77]", "split_k_atomic[parts=2]"
STREAM, MANY, ADDED = "stream_k[parts=3]", "stream_k[parts=17]", "stream_k_atomic[parts=3]"
WHOLE = "stream_k_whole[M=60,lda=272,ldb=288,ldc=141]"
RELEASE = '__builtin_amdgcn_fence(__ATOMIC_RELEASE, "agent");  // {}: released'
ACQUIRE = '__builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "agent");  // {}: acquired'
STORE, TELL = "store_part(workspace + (size_t)me * SIDE * SIDE, sum, w);", "publish(flags + me, 1);"
DEVICE = "value, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);"
ADD = "__builtin_amdgcn_raw_ptr_buffer_atomic_fadd_f32(p.alpha * sum[i][j][t], to.c, at, 0, 0);"
SET = "__builtin_amdgcn_raw_buffer_store_b32(__builtin_bit_cast(unsigned, {}p.alpha * sum[i][j][t]), to.c, at, 0, 0);"
OLD = "__builtin_bit_cast(float, __builtin_amdgcn_raw_buffer_load_b32(to.c, at, 0, 0)) + "


def racy(name: str, case: str, old: str, new: str = "", caught: tuple[str, ...] = RACES, **more: Any) -> Mutant:
    """A variant whose result depends on the order in which workgroups run."""
    return Mutant(name, case, (old, new), caught, arch=more.pop("arch", "gfx942"), **more)


MUTANTS = [
    # --- partial sums and their flags
    racy("not_released", STREAM, RELEASE.format("publish")),
    Mutant("flag_before_data", STREAM, [(STORE, ""), (TELL, f"{TELL}\n      {STORE}")], RACES, arch="gfx942"),
    racy("not_awaited", STREAM, "await(flags + other, 1);"),
    Mutant(
        "not_acquired",
        STREAM,
        (ACQUIRE.format("await"), ""),
        (),
        warned=("races-stale",),
        arch="gfx942",
        about="the caches of this unit may hold the workspace as it was",
    ),
    racy("published_by_one_wave", STREAM, "__syncthreads();  // publish: all waves have stored"),
    racy("awaited_by_one_wave", STREAM, "__syncthreads();  // await: for all waves"),
    racy("flag_for_the_workgroup_alone", STREAM, DEVICE, DEVICE.replace("AGENT", "WORKGROUP")),
    Mutant("flag_not_taken_back", STREAM, ("if (threadIdx.x == 0) flags[other] = 0;", ""), OUT),
    Mutant("another_place", STREAM, (STORE, STORE.replace("(size_t)me", "(size_t)(me + 1)")), LATE),
    # --- who adds what
    Mutant("one_range_twice", STREAM, ("from = max(begin, start);\n    product", "from = start;\n    product"), OUT),
    Mutant(
        "first_part_left_out", STREAM, ("&& steps.begin(other + 1) > start;", "&& steps.begin(other) > start;"), OUT
    ),
    Mutant("own_part_left_out", STREAM, ("* SIDE * SIDE, true, w);", "* SIDE * SIDE, false, w);"), OUT),
    Mutant("part_stored_as_whole", STREAM, ("if (end < start + steps.depth) {", "if (end < start) {"), ("endless",)),
    Mutant(
        "added_in_the_order_of_k",
        MANY,
        (
            "for (int other = me - 1; from > start && steps.begin(other + 1) > start; --other) {",
            "for (int other = ((start + 1) * gridDim.x - 1) / steps.total; from > start && other < me; ++other) {",
        ),
        OUT,
        about="the last bits alone show it",
    ),
    Mutant(
        "idle_workgroup_awaited",
        MANY,
        ("if (steps.begin(other) == steps.begin(other + 1)) continue;", ""),
        ("endless",),
        about="it has no partial sums for another",
    ),
    Mutant(
        "steps_left_over",
        MANY,
        ("return total * workgroup / gridDim.x;", "return total / gridDim.x * workgroup;"),
        (*OUT, "executes"),
    ),
    Mutant("k_of_a_slice_twice", SPLIT, ("p.depth() * part / parts, last", "(p.depth() / parts) * part, last"), OUT),
    # --- split-K: the last one to come
    racy("ticket_not_released", SPLIT, RELEASE.format("ticket")),
    racy("ticket_before_data", SPLIT, "__syncthreads();  // ticket: all waves have stored"),
    racy("ticket_of_one_wave", SPLIT, "__syncthreads();  // ticket: for all waves"),
    Mutant("ticket_not_acquired", SPLIT, (ACQUIRE.format("ticket"), ""), (), warned=("races-stale",), arch="gfx942"),
    racy("first_one_adds", SPLIT, "!= (unsigned)parts - 1) return", "!= 0) return"),
    racy("everyone_adds", SPLIT, "!= (unsigned)parts - 1) return", "== (unsigned)parts) return"),
    Mutant(
        "last_part_left_out", SPLIT, ("for (int n = 0; n < parts; ++n) add", "for (int n = 1; n < parts; ++n) add"), OUT
    ),
    Mutant("counter_not_taken_back", SPLIT, ("if (threadIdx.x == 0) counters[tile] = 0;", ""), OUT),
    # --- split-K: in turn
    racy("turn_not_awaited", TURN, "if (part > 0) await(turns + tile, part);", caught=LATE),
    Mutant("next_turn_skipped", TURN, ("part + 1 < parts ? part + 1 : 0", "part + 1"), OUT),
    Mutant("alpha_added", TURN, ("__builtin_fmaf(p.alpha, sum[i][j][t], old", "(p.alpha + sum[i][j][t] + old"), OUT),
    # --- atomic additions
    racy("added_without_atomics", ATOMIC, ADD, SET.format(OLD)),
    racy("stored_by_each", ADDED, ADD, SET.format(""), LATE),
    Mutant("added_twice", ADDED, (ADD, f"{ADD} {ADD}"), OUT),
    # --- orders for XCDs
    Mutant(
        "shares_without_the_rest",
        "stream_k_atomic_shares[parts=19,N=200]",
        ("remap_shares(blockIdx.x, gridDim.x, XCDS)", "blockIdx.x % XCDS * (gridDim.x / XCDS) + blockIdx.x / XCDS"),
        OUT,
    ),
    Mutant(
        "parts_of_one_column_alike",
        "split_k_by_columns[M=400,N=500,K=256,parts=2]",
        ("strip / parts, strip % parts}", "strip / parts, 0}"),
        OUT,
    ),
    # --- the product
    racy("first_tile_not_fetched", STREAM, "WAIT_DIRECT(0);  // first tile: fetched"),
    racy("first_tile_of_one_wave", STREAM, "BARRIER();       // first tile: by all waves", caught=LATE),
    racy(
        "next_tile_of_one_wave",
        STREAM,
        "BARRIER();       // next tile: by all waves, and no wave reads this one any more",
    ),
    Mutant("rows_beyond_a", SPLIT, ("min(SIDE, p.M - row)", "SIDE"), (*OUT, "bounds")),
    Mutant(
        "columns_of_c_not_guarded",
        SPLIT,
        ("what(y < rows && x < columns ?", "what(y < rows ?"),
        LATE,
        parameters={"N": 100},
    ),
    Mutant("lda_ignored", WHOLE, ("lds.a[slot], a_rows, 0, p.lda", "lds.a[slot], a_rows, 0, p.K"), (*OUT, "mapping")),
    Mutant("k_from_the_start", STREAM, ("FETCH(0, first)", "FETCH(0, 0)"), OUT),
]
