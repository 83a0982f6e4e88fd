"""hipkernels/wmma: RDNA's GEMM kernels proved, equal to the model of the arithmetic, and equal to each other."""

import numpy as np
import pytest

import mfmasim
from mfmasim.errors import MfmasimError
from mfmasim.lab.mutation.mutants import run_mutant
from mfmasim.verify import select, verify_case
from mfmasim.verify.prebuilt import code_for
from tests.hipkernels.family import caught, mutants, passes
from tests.slow import matrix as slow
from tests.slow.wmma import ARCHS, BASIC, DECLARED, INSTRUCTION, halves, in_order, launch, model
from tests.tiers import tiers

CASES = BASIC
SPLIT = [case for case in DECLARED if case.source.stem == "split"]
SECOND = {"tile_256x64", "no_prefetch", "swizzled_by_8", "not_swizzled", "any_128x64", "any_k_unrolled"}
"""Cases like another one, which are proved on RDNA4 in the long tier."""
RUNS = [
    pytest.param(
        case,
        arch,
        id=f"{case.title}-{arch}",
        marks=[pytest.mark.long] if arch == "gfx1201" and case.title in SECOND else [],
    )
    for case, arch in select(CASES, None)
]
READS = {"quad": 2, "high_occupancy": 2, "not_swizzled": 2, "swizzled_as_published": 2, "swizzled_by_8": 2}
"""Degree of the reads of fragments where it is not 1."""
SCATTERED = {"tile_128x128": 16, "high_occupancy": 4, "swizzled_by_8": 4}
"""Degree of the transposing stores of B: its pieces of 8 columns meet, where they are not 8."""
LDS = {
    "tile_64x64": 12288,
    "tile_128x64": 18432,
    "tile_256x64": 30720,
    "tile_128x128": 24576,
    "native_128x64": 18432,
    "no_prefetch": 9216,
    "k_unrolled": 30720,
    "quad": 24576,
    "high_occupancy": 3072,
    "swizzled": 12288,
    "swizzled_by_8": 12288,
    "swizzled_as_published": 12288,
    "not_swizzled": 12288,
    "any_64x64": 12288,
    "any_128x64": 18432,
    "any_k_unrolled": 30720,
}
MUTANTS = mutants("wmma")
TOLD = {
    "column_of_a_on_gfx12": {"mapping-wrong-element", "outputs-differ"},
    "column_of_a_symmetric": {"mapping-wrong-element"},
    "rows_of_gfx12": {"mapping-wrong-output", "outputs-differ"},
    "rows_of_gfx11": {"mapping-wrong-output", "outputs-differ"},
    "upper_lanes_hold_another_row": {"mapping-copies-differ"},
    "halves_of_k_on_rdna3": {"mapping-copies-differ"},
    "upper_lanes_hold_garbage": {"mapping-copies-differ"},
    "symmetric_column_of_a_on_gfx11": {"mapping-wrong-element"},
    "stale_a_times_zero": {"mapping-stale-padding", "outputs-differ"},
    "stale_finite_a_times_zero": {"mapping-stale-padding"},
    "stale_lds_times_zero": {"uninitialised-matrix"},
    "slices_of_28": {"bounds-outside-buffer", "outputs-differ"},
    "slices_of_28_one_by_one": {
        "bounds-outside-buffer",
        "mapping-wrong-element",
        "mapping-wrong-sum",
        "outputs-differ",
    },
    "no_half_loads_b": {"mapping-wrong-element", "outputs-differ", "uninitialised-matrix"},
    "next_turn_not_awaited": {"races-no-barrier"},
    "tiles_moved_to_the_edge": {"mapping-no-result", "outputs-differ"},
    "stored_outside": {"bounds-outside-buffer"},
    "k_of_gathered_b_not_guarded": {"bounds-outside-buffer"},
    "k_of_a_not_guarded": {"bounds-outside-buffer", "mapping-stale-padding"},
    "writes_nothing": {"mapping-no-result", "outputs-differ"},
    "next_tile_not_awaited": {"races-no-barrier"},
}
"""Exactly the errors of wrong variants."""
LATER = {"no_half_loads_b", "next_turn_not_awaited", "stored_outside", "slices_of_28"}
"""Those that run in the long tier, as the ones do of which only the checks are known."""
QUICK = TOLD.keys() - LATER


@pytest.mark.parametrize(("case", "arch"), RUNS)
def test_every_kernel_is_proved(case, arch):
    result = passes(case, arch)
    assert result.mapping["slots_checked"] > 10_000
    assert result.matrix_fidelity == "hardware"
    permuted = [f.id for f in result.findings if f.check == "mapping"]
    assert permuted == (["mapping-k-permuted"] if arch == "gfx1201" else [])
    sites = result.lds["sites"]
    reads = {degree for s in sites if s["instruction"].startswith("ds_load_b128") for degree in s["degrees"]}
    assert reads == {READS.get(case.title, 1)}
    scattered = {degree for s in sites if s["instruction"].startswith("ds_store_b16") for degree in s["degrees"]}
    assert scattered == {SCATTERED.get(case.title, 8)}
    assert code_for(case.source, arch)[case.kernel_name()].info.group_segment_fixed_size == LDS[case.title]


@pytest.mark.parametrize("arch", ARCHS)
def test_the_model_is_the_slow_one(arch):
    rng = np.random.default_rng(9)
    a, b = halves(rng, (16, 32), special=True), halves(rng, (32, 16), special=True)
    op, c = mfmasim.instruction(arch, INSTRUCTION), np.zeros((16, 16), np.uint32)
    for k in (0, 16):
        x, y = in_order(arch, a[:, k : k + 16]), in_order(arch, b[k : k + 16].T).T
        c = slow.multiply(op.model, "f16", "f16", "f32", x[None], y[None], c[None])[0]
    assert (model(arch, a, b) == c).all()


@pytest.mark.trap("T30")
@pytest.mark.parametrize("arch", ARCHS)
def test_tails_of_every_kind_with_nan_all_around(arch, monkeypatch):
    """Also in the LDS before the launch; whatever a lane multiplies beside the matrices has to be 0 in A and in B."""
    monkeypatch.setattr("mfmasim.machine.execution.initial_state.POISON_BYTE", 0xFF)
    rng = np.random.default_rng(10)
    shapes = [(1, 1, 1), (17, 5, 8), (64, 64, 16), (3, 70, 20), (65, 1, 36), (130, 66, 40), (2, 9, 100), (15, 31, 33)]
    for m, n, k in shapes:
        a, b = halves(rng, (m, k), special=True), halves(rng, (k, n), special=True)
        want = model(arch, a, b)
        for name in ("any_64x64", "any_128x64", "any_k_unrolled") if k in (20, 36) else ("any_64x64",):
            found = launch(name, arch, a, b, (1, 3, 2), checks=["bounds", "uninitialised"])
            assert (found == want).all(), (name, m, n, k)


@pytest.mark.parametrize(("case", "arch"), select(SPLIT, None))
def test_slices_of_k_and_their_sum_in_order(case, arch):
    result = passes(case, arch)
    assert result.outputs["elements"] >= 300


def test_a_slice_that_is_no_multiple_of_16_counts_elements_twice_and_is_refused():
    case = SPLIT[0].with_parameters({"K": 80, "slice": 20})
    with pytest.raises(MfmasimError, match="slice % 16 == 0"):
        verify_case(case, "gfx1151")
    a, b = np.ones((16, 80), np.float16), np.ones((80, 16), np.float16)
    partial = np.full((4, 16, 16), np.nan, np.float32)
    kernel = code_for(case.source, "gfx1151")["split_k"]
    args = [a, b, partial, *map(np.int32, (16, 16, 80, 20))]
    report = mfmasim.device("sim").launch(kernel, (1, 1, 4), 128, args)
    assert (partial[:3] == 32).all()  # 12 of the next slice, too
    assert {f.check for f in report.findings if f.severity == "error"} >= {"bounds"}


@pytest.mark.parametrize(
    ("name", "changes", "part"),
    [
        ("tile_128x64", {"N": 70}, "N % 8 == 0"),
        ("tile_128x64", {"K": 36}, "K % 16 == 0"),
        ("k_unrolled", {"K": 48}, "K % 32 == 0"),
        ("quad", {"K": 96}, "K % 64 == 0"),
        ("native_128x64", {"lda": 52}, "multiple of 16"),
        ("any_64x64", {"lda": 36}, "ld 36"),
    ],
)
def test_what_a_contract_excludes_is_refused_before_the_launch(name, changes, part):
    ((case, arch), *_) = select(CASES, "gfx1151", name)
    with pytest.raises(MfmasimError, match=part):
        verify_case(case.with_parameters(changes), arch)


@pytest.mark.parametrize("name", tiers(MUTANTS, QUICK))
def test_wrong_kernels_are_caught_by_the_checks_they_name(name):
    verdict = caught(*MUTANTS[name])
    if name in TOLD:
        assert {f.id for f in verdict.result.findings if f.severity == "error"} == TOLD[name]


def test_copies_that_differ_are_told_with_the_lane_that_holds_the_wrong_one():
    result = run_mutant(*MUTANTS["upper_lanes_hold_another_row"]).result
    (found,) = [f for f in result.findings if f.id == "mapping-copies-differ"]
    assert (found.lane, found.expected, found.actual) == (16, "A[0, 0]", "A[16, 0]")
    assert "the copy in lanes 16 to 31" in found.message
    (outputs,) = {key for key in result.compared_with if "normal" in key}
    assert "within the error bound" in outputs  # the values cannot show it
