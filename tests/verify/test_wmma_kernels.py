"""hipkernels/wmma: RDNA's GEMM kernels proved, equal to the model of the arithmetic, and equal to each other."""

import numpy as np
import pytest

import mfmasim
from mfmasim.errors import MfmasimError
from mfmasim.matrix import slow
from mfmasim.verify import find, select, verify_case
from mfmasim.verify.mutants import mutants_of, run_mutant
from mfmasim.verify.prebuilt import code_for

DECLARED = dict(find("wmma"))["wmma"]
CASES = [case for case in DECLARED if case.source.name != "split.hip"]
SPLIT = [case for case in DECLARED if case not in CASES]
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
ARCHS = ("gfx1151", "gfx1201")
INSTRUCTION = "v_wmma_f32_16x16x16_f16"
READS = {"quad": 2, "not_swizzled": 2, "swizzled_as_published": 2, "swizzled_by_8": 2}
"""Degree of the reads of fragments where it is not 1."""
SCATTERED = {"tile_128x128": 16, "high_occupancy": 4, "swizzled_by_8": 4}
"""Degree of the transposing stores of B: its pieces of 8 columns meet, where they are not 8."""
LDS = {
    "tile_64x64": 12288,
    "tile_128x64": 18432,
    "tile_256x64": 30720,
    "tile_128x128": 24576,
    "native_128x64": 18432,
    "no_prefetch": 18432,
    "k_unrolled": 30720,
    "quad": 24576,
    "high_occupancy": 4608,
    "swizzled": 12288,
    "swizzled_by_8": 12288,
    "swizzled_as_published": 12288,
    "not_swizzled": 12288,
    "any_64x64": 12288,
    "any_128x64": 18432,
    "any_k_unrolled": 30720,
}
MUTANTS = {mutant.name: (mutant, case) for mutant, case in mutants_of("wmma")}
TOLD = {
    "column_of_a_on_gfx12": {"mapping-wrong-element", "outputs-differ"},
    "column_of_a_symmetric": {"mapping-wrong-element"},
    "rows_of_gfx12": {"mapping-wrong-output", "outputs-differ"},
    "rows_of_gfx11": {"mapping-wrong-output", "outputs-differ"},
    "upper_lanes_hold_another_row": {"mapping-copies-differ"},
    "halves_of_k_on_rdna3": {"mapping-copies-differ"},
    "stale_a_times_zero": {"outputs-differ"},
    "k_of_a_not_guarded": {"bounds-outside-buffer"},
    "writes_nothing": {"mapping-no-result", "outputs-differ"},
    "next_tile_not_awaited": {"races-no-barrier"},
}
"""Exactly the errors of the wrong variants that run by default."""


def errors(result):
    return [f.message for f in result.findings if f.severity == "error"]


def halves(rng, shape, special=False):
    """f16 codes: normal numbers, or now and then an extreme one."""
    codes = rng.normal(size=shape).astype(np.float16).view(np.uint16)
    if special:
        extremes = np.array([0, 0x8000, 1, 0x8001, 0x7BFF, 0xFBFF, 0x7C00, 0xFC00, 0x7E01], np.uint16)
        codes = np.where(rng.random(shape) < 0.01, rng.choice(extremes, shape), codes)
    return codes


def in_order(arch, codes):
    """(..., 16) of K as a kernel takes it from a line of the LDS, in the order in which the instruction counts K."""
    if arch == "gfx1151":
        return codes
    place = np.arange(16)  # RDNA4: eight in a row in one half of the lanes count as 0 to 3 and 8 to 11
    return codes[..., 8 * (place >> 2 & 1) + (place & 3) + 4 * (place >> 3)]


def model(arch, a, b):
    """A (M, K) times B (K, N), both f16 codes, tile after tile of K by the arithmetic of the instruction -> f32."""
    op = mfmasim.instruction(arch, INSTRUCTION)
    (m, k), n = a.shape, b.shape[1]
    rows, depth, columns = -(-m // 16), -(-k // 16), -(-n // 16)
    wide_a = np.zeros((16 * rows, 16 * depth), np.uint16)
    wide_b = np.zeros((16 * columns, 16 * depth), np.uint16)
    wide_a[:m, :k], wide_b[:n, :k] = a, b.T
    tiles_a = in_order(arch, wide_a.reshape(rows, 1, 16, depth, 16))
    tiles_b = in_order(arch, wide_b.reshape(1, columns, 16, depth, 16))
    c = np.zeros((rows, columns, 16, 16), np.uint32)
    for step in range(depth):
        x, y = (np.broadcast_to(t[:, :, :, step], c.shape) for t in (tiles_a, tiles_b))
        c = op.multiply(x, y.swapaxes(-1, -2), c)
    return c.swapaxes(1, 2).reshape(16 * rows, 16 * columns)[:m, :n]


def launch(name, arch, a, b, gaps=(0, 0, 0), checks=None):
    """C of a kernel with NaN everywhere around the matrices."""
    ((case, _), *_) = select(CASES, arch, name)
    (m, k), n = a.shape, b.shape[1]
    lda, ldb, ldc = k + gaps[0], n + gaps[1], n + gaps[2]
    wide_a, wide_b = np.full((m, lda), 0x7E00, np.uint16), np.full((k, ldb), 0x7E00, np.uint16)
    wide_a[:, :k], wide_b[:, :n] = a, b
    c = np.full((m, ldc), 0x7FC00000, np.uint32)
    built = case.with_parameters({"M": m, "N": n, "K": k}).make()
    args = [wide_a, wide_b, c, *map(np.int32, (m, n, k, lda, ldb, ldc))]
    kernel = code_for(case.source, arch)[case.kernel_name()]
    report = mfmasim.device("sim").launch(kernel, built["grid"], built["block"], args, checks=checks)
    assert [f.message for f in report.findings if f.severity == "error"] == []
    assert (c[:, n:] == 0x7FC00000).all()
    return c[:, :n]


@pytest.mark.parametrize(("case", "arch"), RUNS)
def test_every_kernel_is_proved(case, arch):
    result = verify_case(case, arch)
    assert result.status == "pass", errors(result)
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
def test_all_variants_leave_the_bytes_of_the_model(arch):
    rng = np.random.default_rng(8)
    a, b = halves(rng, (136, 64), special=True), halves(rng, (64, 72), special=True)
    want = model(arch, a, b)
    assert 0.05 < ((want & 0x7FFFFFFF) >= 0x7F800000).mean() < 0.7
    for name in LDS:
        assert (launch(name, arch, a, b, (8, 16, 3)) == want).all(), name


@pytest.mark.parametrize("arch", ARCHS)
def test_the_model_is_the_slow_one(arch):
    rng = np.random.default_rng(9)
    a, b = halves(rng, (16, 32), special=True), halves(rng, (32, 16), special=True)
    op, c = mfmasim.instruction(arch, INSTRUCTION), np.zeros((16, 16), np.uint32)
    for k in (0, 16):
        x, y = in_order(arch, a[:, k : k + 16]), in_order(arch, b[k : k + 16].T).T
        c = slow.multiply(op.model, "f16", "f16", "f32", x[None], y[None], c[None])[0]
    assert (model(arch, a, b) == c).all()


@pytest.mark.parametrize("arch", ARCHS)
def test_tails_of_every_kind_with_nan_all_around(arch, monkeypatch):
    """Also in the LDS before the launch; whatever a lane multiplies beside the matrices has to be 0 in A and in B."""
    monkeypatch.setattr("mfmasim.machine.start.POISON_BYTE", 0xFF)
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
    result = verify_case(case, arch)
    assert result.status == "pass", errors(result)
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


@pytest.mark.parametrize("name", [pytest.param(n, marks=() if n in TOLD else pytest.mark.long) for n in MUTANTS])
def test_wrong_kernels_are_caught_by_the_checks_they_name(name):
    verdict = run_mutant(*MUTANTS[name])
    assert verdict.as_expected, (verdict.caught, errors(verdict.result))
    if name in TOLD:
        assert {f.id for f in verdict.result.findings if f.severity == "error"} == TOLD[name]


def test_copies_that_differ_are_told_with_the_lane_that_holds_the_wrong_one():
    result = run_mutant(*MUTANTS["upper_lanes_hold_another_row"]).result
    (found,) = [f for f in result.findings if f.id == "mapping-copies-differ"]
    assert (found.lane, found.expected, found.actual) == (16, "A[0, 0]", "A[16, 0]")
    assert "the copy in lanes 16 to 31" in found.message
    (outputs,) = {key for key in result.compared_with if "normal" in key}
    assert "within the error bound" in outputs  # the values cannot show it
