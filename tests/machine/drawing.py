"""Lines that the assembler takes, as many as wanted, for the rows of an architecture."""

from __future__ import annotations

from tests.machine import harness, lines
from tests.machine.spelling import split
from tests.slow.machine import interpreter

NOT_JUDGED = {
    "s_barrier_signal_isfirst": "which wave is first is not defined; test_rdna_barriers counts them",
    "s_get_barrier_state": "its counts depend on how far the other waves are",
    **dict.fromkeys(
        ("global_load_block", "global_store_block", "scratch_load_block", "scratch_store_block"),
        "M0 selects its registers; test_memory_blocks compares them with arrays",
    ),
    **dict.fromkeys(
        ("s_barrier_init", "s_barrier_join", "s_barrier_leave", "s_wakeup_barrier"),
        "test_cdna5_barriers counts the waves that pass",
    ),
    **dict.fromkeys(
        (
            *(
                f"global_{way}_b{size}"
                for way in ("load_async_to_lds", "store_async_from_lds")
                for size in (8, 32, 64, 128)
            ),
            "ds_atomic_async_barrier_arrive_b64",
            "ds_atomic_barrier_arrive_rtn_b64",
        ),
        "test_async_lds compares them with arrays",
    ),
    **dict.fromkeys(
        (
            *(f"cluster_load_async_to_lds_b{size}" for size in (8, 32, 64, 128)),
            *(f"cluster_load_b{size}" for size in (32, 64, 128)),
        ),
        "the workgroups of a cluster receive them: test_async_lds",
    ),
    **dict.fromkeys(
        ("tensor_load_to_lds", "tensor_store_from_lds"), "test_tensor_ops compares them with a model of the descriptor"
    ),
    **dict.fromkeys(("flat_prefetch_b8", "global_prefetch_b8"), "a hint to the caches without any result"),
    "s_set_vgpr_msb": "the registers of the instructions behind it tell; test_high_registers compares them",
    "global_load_tr_b64": "which lane holds what, only the manual's figures tell; held to the layouts of the matrices",
    "global_load_tr_b128": "as global_load_tr_b64",
    **dict.fromkeys(
        (f"{where}_load_tr{form}" for where in ("ds", "global") for form in ("16_b128", "8_b64", "6_b96", "4_b64")),
        "test_cdna5_transposed compares them with the manual's figures",
    ),
}
"""Operations of the machine without a comparison, and why."""


def probes(arch, rng, count, names=None):
    """At least `count` accepted lines a row and as many as it has forms; and the names no generator knows."""
    wanted, strange = [], []
    # A vector line compares every item, a scalar one a value for each workgroup.
    more = {**dict.fromkeys(("VOP1", "VOP2", "VOPC"), 5), **dict.fromkeys(("SOP1", "SOP2", "SOPC", "SOPK"), 6)}
    lines.aim(arch, harness.rows(arch))
    for name in names or harness.operations():
        for encoding, row in harness.rows(arch).get(name, ()):
            if not interpreter.models(name) or (encoding.startswith("VOPD") and split(arch)[1] == 64):
                continue
            most = max(count, more.get(encoding, 0)) if count > 2 else count
            drawn = [lines.probe(encoding, row, rng, k) for k in range(max(4 * most, 12))]
            if count == 1:
                rng.shuffle(drawn)  # any form, not always the short one
            if None in drawn:
                strange.append(f"{name} ({encoding})")
            else:
                wanted.append((most, drawn))
    good = set(harness.accepted([p.line for _, drawn in wanted for p in drawn], arch))
    chosen = []
    for most, drawn in wanted:
        fine = [p for p in drawn if p.line in good]
        assert fine, f"the assembler takes none of {[p.line for p in drawn]}"
        chosen += fine[:most]
    return chosen, strange
