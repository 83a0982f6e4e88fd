"""hipkernels/gemm_epilogue: what leaves a GEMM is the next one's operand, codes and scales alike."""

from dataclasses import replace

import numpy as np
import pytest

import mfmasim
from hipkernels.cast import mx_reference
from hipkernels.gemm_epilogue import reference
from hipkernels.gemm_epilogue.cases import fp4_codes, fp8_codes, scale_codes
from mfmasim.errors import MfmasimError
from mfmasim.lab.reports.profile import profile_case
from mfmasim.resources import folder
from mfmasim.verify import find, select, verify_case
from mfmasim.verify.prebuilt import code_for
from mfmasim.verify.shuffles import find_shuffle
from tests.hipkernels.family import caught, errors, mutants, passes, titled
from tests.longtier import turn
from tests.tiers import tiers

((_, CASES),) = find("gemm_epilogue")
RUNS = select(CASES, None)
MUTANTS = mutants("gemm_epilogue")
FP8_SHAPES = ((512, 256, 384), (256, 512, 512), (512, 512, 256))
MX_SHAPES = ((1, 64, 288), (300, 448, 544), (257, 64, 1056), (33, 704, 512))


@pytest.mark.parametrize(
    ("case", "arch"), titled(RUNS, lambda case, arch: (case.title, arch) == ("fp8_silu_fp8", "gfx942"))
)
def test_every_kernel_is_proved(case, arch):
    result = passes(case, arch)
    assert result.lds["worst_degree"] == 1
    assert {f.severity for f in result.findings} <= {"info"}
    if case.mapping is not None:
        assert result.mapping["slots_checked"] > 300_000
    if "matrices" not in case.title:
        assert result.compared_with == ("the reference function, bit for bit",)


@pytest.mark.parametrize("name", tiers(MUTANTS, ("amax_of_each_half_of_a_row",)))
def test_wrong_kernels_are_caught_by_the_checks_they_name(name):
    caught(*MUTANTS[name])


PLAIN = [run for run in RUNS if "[" not in run[0].title and "matrices" not in run[0].title]


@pytest.mark.long
@pytest.mark.parametrize(("case", "arch"), titled(PLAIN))
def test_larger_shapes(case, arch):
    shapes = turn(MX_SHAPES if case.title.startswith("mxfp4") else FP8_SHAPES, 2)
    assert len(shapes) >= 1
    for shape in shapes:
        larger = replace(case.with_parameters(dict(zip("MNK", shape, strict=True))), mapping=None)
        if shape[2] == 256:  # two steps: what is before and behind the main loop, which has no turn to be in order
            larger = replace(larger, order={})
        passes(larger, arch)


@pytest.mark.long
@pytest.mark.parametrize(("case", "arch"), titled([run for run in PLAIN if run[1] == "gfx950"]))
def test_the_main_loop_is_the_ping_pong_s(case, arch):
    """As many matrix instructions in a row, and as few register copies."""
    family = "gemm_mx/scheduled" if case.title.startswith("mxfp4") else "gemm_fp8/scheduled"
    name = "mx_pingpong" if case.title.startswith("mxfp4") else "pingpong_row_256"
    (original,) = (one for one in dict(find(family))[family] if one.title == name)
    depth = {"K": 2048}
    ours, theirs = (profile_case(one.with_parameters(depth), arch) for one in (case, original))
    for what in ("matrix instructions in a row", "register copies"):
        assert ours.turn.quantities()[what] == theirs.turn.quantities()[what]


def launched(source, kernel, grid, args, threads=512):
    """The report of a launch in which no check reports an error."""
    code = code_for(folder("hipkernels") / source, "gfx950", flags=("-DMXFP4",) if "pingpong" in source else ())
    report = mfmasim.device("sim").launch(code[kernel], grid, threads, args)
    assert errors(report) == []
    assert not report.stopped


def numbers(*sizes):
    """Sizes, alpha and beta as the kernels take them."""
    return [*map(np.int32, sizes[:-2]), *map(np.float32, sizes[-2:])]


@pytest.mark.long
@pytest.mark.parametrize("rounding", ["", "_sr"])
def test_two_gemms_in_a_row_with_mxfp4_between(rounding):
    """Codes and scales of the first are A and its scales of the second, in the same memory."""
    M, hidden, K, N = 45, 320, 288, 48
    gated = not rounding
    first_n = 2 * hidden if gated else hidden
    a, b, b2 = fp4_codes((M, K // 2), 1), fp4_codes((first_n, K // 2), 2), fp4_codes((N, hidden // 2), 3)
    sa, sb, sb2 = (scale_codes(rows, k // 32, 7 + rows) for rows, k in ((M, K), (first_n, K), (N, hidden)))
    bias = np.linspace(-1, 1, first_n, dtype=np.float32)
    codes, scales = np.zeros((M, hidden // 2), np.uint8), np.full(2 * 2 * 256, 0xFF, np.uint8)
    kernel = "mxfp4_silu_mxfp4" if gated else "mxfp4_linear_mxfp4_sr"
    sizes = numbers(M, first_n, K, K, K, hidden, hidden, 0.01, 0.0)
    more = [np.int32(3), np.uint32(99)]
    grid = (-(-first_n // 256), 1)
    launched("gemm_epilogue/mxfp4.hip", kernel, grid, [a, b, sa, sb, None, bias, codes, scales, *sizes, *more])

    sums = reference.linear(reference.scaled_products(a, b, sa, sb), 0.01, bias)
    if gated:
        expected = mx_reference.quantise(reference.silu("gfx950", *np.split(sums, 2, axis=1)), "e2m1", "row", "even")
    else:
        expected = reference.stochastic(sums, "e2m1", "even", 99)
    assert np.array_equal(codes, expected[0])
    stored = reference.stored(expected[1], 12 if gated else 16)
    assert np.array_equal(scales, stored)

    second = reference.linear(reference.scaled_products(codes, b2, stored, sb2), 0.5, np.zeros(N, np.float32))
    c = np.zeros((M, N), np.uint16)
    sizes = numbers(M, N, hidden, hidden, hidden, N, 0.5, 0.0)
    launched("gemm_fp8/scheduled/pingpong.hip", "mx_pingpong", (1, 1), [codes, b2, scales, sb2, c, *sizes])
    assert np.array_equal(c, reference_bf16(second))

    x = np.repeat(mx_reference.powers(expected[1]), 32, axis=1) * mfmasim.format("e2m1fn").decode(
        reference.nibbles(codes)
    )
    w = mfmasim.format("e2m1fn").decode(reference.nibbles(b2)) * np.repeat(
        mx_reference.powers(find_shuffle(reference.ORDER).loaded(sb2, (N, hidden // 32))), 32, axis=1
    )
    exact = 0.5 * (x @ w.T)
    assert np.abs(second - exact).max() <= 2.0**-16 * np.abs(x).max() * np.abs(w).max() * hidden


@pytest.mark.long
def test_two_gemms_in_a_row_with_mxfp8_between():
    """The second one is gemm_mx's, which reads the same order of scales."""
    M, hidden, K, N = 256, 256, 256, 128
    a, b, b2 = (fp8_codes("e4m3fn", shape, seed) for seed, shape in enumerate(((M, K), (2 * hidden, K), (N, hidden))))
    b2 = b2 & 0xBF  # below 2, so that sums stay within bf16
    sb2 = scale_codes(N, hidden // 32, 5)
    bias = np.linspace(-1, 1, 2 * hidden, dtype=np.float32)
    codes, scales = np.zeros((M, hidden), np.uint8), np.zeros(M // 32 * 256, np.uint8)
    sizes = numbers(M, 2 * hidden, K, K, K, hidden, hidden, 2.0**-16, 0.0)
    args = [a, b, None, bias, codes, scales, *sizes, np.int32(0), np.uint32(0)]
    launched("gemm_epilogue/fp8_blocks.hip", "fp8_silu_mxfp8", (2, 1), args)
    x = reference.linear(reference.products("gfx950", a, b), 2.0**-16, bias)
    expected = mx_reference.quantise(reference.silu("gfx950", *np.split(x, 2, axis=1)), "e4m3", "row", "ocp")
    assert np.array_equal(codes, expected[0])
    assert np.array_equal(scales, reference.stored(expected[1], 8))

    c = np.zeros((M, N), np.uint16)
    sizes = numbers(M, N, hidden, hidden, hidden, N, 1.0, 0.0)
    kernel = "hipblaslt_32x8_e4m3fn_e4m3fn"
    launched("gemm_mx/shuffled.hip", kernel, (1, 2), [codes, b2, scales, sb2, c, *sizes], threads=256)
    left = mfmasim.format("e4m3fn").decode(codes) * np.repeat(mx_reference.powers(expected[1]), 32, axis=1)
    loaded = find_shuffle(reference.ORDER).loaded(sb2, (N, hidden // 32))
    right = mfmasim.format("e4m3fn").decode(b2) * np.repeat(mx_reference.powers(loaded), 32, axis=1)
    exact, size = left @ right.T, np.abs(left) @ np.abs(right).T
    found = (c.astype(np.uint32) << 16).view(np.float32)
    assert (np.abs(found - exact) <= 2 * hidden * 2.0**-24 * size + 2.0**-8 * np.abs(exact) + 2.0**-130).all()


def reference_bf16(x):
    """bf16 codes of f32."""
    import ml_dtypes

    return x.astype(ml_dtypes.bfloat16).view(np.uint16)


def test_random_words_differ_and_round_without_a_bias():
    words = reference.random_words(7, np.arange(1 << 16))
    assert len(np.unique(words)) == 1 << 16
    assert np.abs(np.array([(words >> bit & 1).mean() for bit in range(32)]) - 0.5).max() < 0.01
    x = np.full((64, 1024), 0.3, np.float32)
    x[:, ::32] = 4.0
    for target, between in (("e4m3", (0.28125, 0.3125)), ("e2m1", (0.0, 0.5))):
        codes, scales = reference.stochastic(x, target, "ocp", 1)
        codes = reference.nibbles(codes) if target == "e2m1" else codes
        found = mfmasim.format(mx_reference.FORMATS[target]).decode(codes) * np.repeat(
            mx_reference.powers(scales), 32, axis=1
        )
        rest = found[x < 1]
        assert set(np.unique(rest)) == set(between)
        spread = (between[1] - between[0]) / 2 / np.sqrt(rest.size)
        assert abs(rest.mean() - 0.3) < 5 * spread


def test_the_contract():
    found = {case.title: case for case in CASES}
    for name, wrong in (
        ("mxfp4_silu_mxfp4", {"N": 96}),
        ("mxfp4_linear_mxfp4", {"N": 48}),
        ("mxfp4_linear_mxfp4", {"K": 256}),
        ("fp8_silu_mxfp8", {"N": 384}),
        ("fp8_linear_fp8", {"K": 128}),
    ):
        with pytest.raises(MfmasimError):
            verify_case(found[name].with_parameters(wrong), "gfx950")
