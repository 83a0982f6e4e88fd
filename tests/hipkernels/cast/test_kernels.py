"""hipkernels/cast, without transposition: right on every corner, and wrong kernels are caught."""

from itertools import pairwise

import numpy as np
import pytest

from hipkernels.cast import operands, plan, reference
from mfmasim.lab.mutation.mutants import compile_mutant
from mfmasim.verify import verify_case
from tests.hipkernels.cast.family import caught, mutants, passes, right, runs, wrong
from tests.slow import cast

FORMATS = sorted(cast.DTYPES)


QUICK = {
    "first_version", "first_version_cdna3", "nan_becomes_a_number", "mode_not_entered", "ordinary_stores",
    "amax_drops_nan", "amax_without_barrier", "tail_one_too_far",
}  # fmt: skip


@pytest.mark.parametrize(("case", "arch"), right("cast.hip", lambda i, *_: (i + i // 3) % 3 == 0))
def test_right_kernels_pass(case, arch):
    passes(case, arch)


@pytest.mark.parametrize("name", wrong("cast.hip", QUICK))
def test_wrong_kernels_are_caught_by_the_checks_they_name(name):
    caught("cast.hip", name)


def test_there_are_enough_of_both():
    assert {arch for _, arch in runs("cast.hip")} == {"gfx942", "gfx950", "gfx1201"}
    assert len(runs("cast.hip")) >= 250
    assert sum(not mutant.equivalent for mutant, _ in mutants("cast.hip").values()) >= 30


@pytest.mark.parametrize("how", ["clamp", "plain"])
@pytest.mark.parametrize("fmt", FORMATS)
def test_the_reference_agrees_with_one_that_knows_nothing_of_ours(fmt, how):
    x = np.concatenate([operands.values("f32", 600, "special"), np.array([-0.0, np.inf, -np.inf], np.float32)])
    pairs, after = cast.positive(fmt)
    edges = [float(v) for v, _ in pairs] + [float(after)]
    middles = np.array([(a + b) / 2 for a, b in pairwise(edges)], np.float32)
    around = [middles, np.nextafter(middles, np.float32(0)), np.nextafter(middles, np.float32(np.inf))]
    x = np.concatenate([x, *around, *(-m for m in around)]).astype(np.float32)
    ours = reference.cast(x, 1.0, fmt, how)
    slow = np.array([cast.encode(float(v), fmt, how == "clamp") for v in x], np.uint8)
    # The sign of a NaN is kept, but Python's float does not carry it safely.
    number = ~np.isnan(x)
    np.testing.assert_array_equal(ours[number], slow[number])
    assert number.sum() >= 1200


@pytest.mark.parametrize(
    ("count", "given_bytes", "units", "blocks"),
    [
        (0, 4, 256, 0),
        (1, 4, 256, 1),
        (4096, 4, 256, 1),
        (4097, 4, 256, 2),
        (1 << 24, 4, 256, 256),
        (1 << 24, 2, 304, 304),
        ((1 << 27) - 1, 2, 256, 256),
        (1 << 27, 2, 256, 512),
        (1 << 27, 4, 256, 256),
        (1 << 33, 2, 64, 128),
    ],
)
def test_the_grid_follows_the_compute_units(count, given_bytes, units, blocks):
    assert plan.plan_cast(count, given_bytes, units) == plan.Flat(blocks, count)


def test_a_negative_count_is_refused():
    with pytest.raises(ValueError, match="-1 elements: 0 or more"):
        plan.plan_cast(-1, 4, 256)


CROOKED = [
    # arch, title, what is reported: size, multiple, lanes
    ("gfx942", "given=f32,input_at=4,output_at=0", set()),
    ("gfx950", "given=f32,input_at=2,output_at=0", {("read of 16", 4, 257), ("read of 4", 4, 5)}),
    ("gfx1201", "given=f32,input_at=0,output_at=1", {("write of 16", 4, 257)}),
    ("gfx950", "given=bf16,input_at=2,output_at=2", {("read of 16", 4, 257), ("write of 16", 4, 257)}),
    ("gfx942", "given=bf16,input_at=1,output_at=0", {("read of 16", 4, 257), ("read of 2", 2, 5)}),
    ("gfx942", "given=f32,input_at=0,output_at=4", set()),
]


@pytest.mark.parametrize(("arch", "title", "reported"), CROOKED)
def test_addresses_that_are_not_aligned_are_served_and_told(arch, title, reported):
    case = next(case for case, _ in runs("cast.hip") if case.title == f"cast_crooked[{title}]")
    result = verify_case(case, arch)
    assert result.status == "pass"
    found = [f for f in result.findings if f.check == "alignment"]
    assert all(f.severity == "info" and f.id == "alignment-global" for f in found)
    seen = {
        (" ".join(f.message.split()[:3]), int(f.message.split("multiple of ")[1].split(";")[0]), f.count) for f in found
    }
    assert seen == reported


@pytest.mark.trap("T43")
def test_only_a_flag_of_one_skips_the_cast():
    found = [case for case, arch in runs("cast.hip") if case.title.startswith("cast_noop") and arch == "gfx950"]
    assert {case.parameters["noop"] for case in found} >= {0.0, 0.999, 1.0, 2.0}
    for case in found:
        passes(case, "gfx950")


@pytest.mark.trap("T44")
def test_inputs_of_the_casts_hold_what_uniform_numbers_do_not():
    x = operands.values("f32", 600, "special").astype(np.float64)
    size = np.abs(x)
    for kind in (
        np.isnan(x),
        np.isinf(x),
        (size > 0) & (size < 2.0**-126),
        size > 61440,
        (x == 0) & np.signbit(x),
        size == 464,
        size == 448,
        (x < 0) & (size == 240),
    ):
        assert kind.any()


@pytest.mark.trap("T42")
@pytest.mark.parametrize("side", ["above", "below"])
def test_the_inverse_of_the_scale_does_not_depend_on_the_last_bit_of_a_reciprocal(side):
    """V_RCP_F32 may be one unit off. A division corrects it; the approximation alone does not."""
    found = [case for case, arch in runs("cast.hip") if case.title.startswith("cast_scale") and arch == "gfx950"]
    assert {case.parameters["scale"] for case in found} >= {0.0, 3.0, 7.0, 2.0**-126, float("inf")}
    for case in found[::2]:
        assert verify_case(case, "gfx950", approximations=side).status == "pass", case.title
    mutant, case = mutants("cast.hip")["scale_inv_approximated"]
    kernel = compile_mutant(mutant, case, "gfx950")[case.kernel_name()]
    assert verify_case(case, "gfx950", kernel=kernel).status == "pass"
    (difference,) = verify_case(case, "gfx950", kernel=kernel, approximations=side).findings
    assert difference.element.startswith("argument ")
    assert "1 of 1 elements differ, the worst by 1 ulp" in difference.message
