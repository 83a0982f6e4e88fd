"""hipkernels/wmma/scaled: gemm with alpha and beta into another C, in place, and without one."""

import runpy
from fractions import Fraction

import numpy as np
import pytest

import mfmasim
from mfmasim.errors import MfmasimError
from mfmasim.resources import folder
from mfmasim.verify import find, product_by, select, verify_case
from mfmasim.verify.prebuilt import code_for
from tests.hipkernels.family import caught, errors, mutants, passes, titled

CASES = dict(find("wmma/scaled"))["wmma/scaled"]
QUICK = {
    "gfx1151": ("any_gemm_k_unrolled", "gemm_64x64_apart[alpha=1.25,beta=-0.5]"),
    "gfx1201": ("gemm_64x64", "any_gemm_64x64_apart[alpha=1.25,beta=-0.5]"),
}
RUNS = titled(select(CASES, None), lambda case, arch: case.title in QUICK[arch])
REFERENCE = runpy.run_path(str(folder("hipkernels") / "wmma" / "scaled" / "reference.py"))
MUTANTS = mutants("wmma/scaled")
TOLD = {
    "c_read_with_beta_zero": {"outputs-differ", "uninitialised-stored"},
    "nan_of_c_leaks": {"outputs-differ"},
    "alpha_zero_multiplies": {"outputs-differ"},
    "alpha_used_twice": {"outputs-differ"},
    "alpha_ignored": {"outputs-differ"},
    "c_in_by_columns": {"outputs-differ", "races-between-workgroups", "races-global-no-barrier"},
    "neighbour_read_in_place": {"outputs-differ"},
    "added_after_rounding": set(),
    "added_after_rounding_apart": {"outputs-differ"},
}
"""Exactly the errors of every wrong variant."""
NAN = np.float32(np.nan)
M, N, K = 33, 19, 21


def launch(a, b, c_in, c_out, alpha, beta, *, kernel="any_gemm_64x64", arch="gfx1151"):
    """Run a gemm over views whose rows may have gaps; what it reports."""
    (m, k), n = a.shape, b.shape[1]
    ld_in = n if c_in is None else c_in.strides[0] // 4
    sizes = map(np.int32, (m, n, k, k, n, ld_in, c_out.strides[0] // 4))
    args = [a, b, None if c_in is None else whole(c_in), whole(c_out), *sizes, np.float32(alpha), np.float32(beta)]
    code = code_for(CASES[0].source, arch)[kernel]
    report = mfmasim.device("sim").launch(code, (-(-n // 64), -(-m // 64)), 128, args, checks="all")
    assert errors(report) == []


def whole(view):
    """The contiguous memory that a view of some columns lies in."""
    return view if view.base is None else view.base


@pytest.fixture
def problem():
    rng = np.random.default_rng(3)
    a, b = rng.normal(size=(M, K)).astype(np.float16), rng.normal(size=(K, N)).astype(np.float16)
    return a, b, rng.normal(size=(M, N)).astype(np.float32)


@pytest.mark.parametrize(("case", "arch"), RUNS)
def test_every_kernel_is_proved_and_leaves_the_bits_of_the_reference(case, arch):
    result = passes(case, arch)
    if "apart" in case.title:
        assert result.compared_with == ("the reference function, bit for bit",)
    else:
        assert result.mapping["slots_checked"] > 10_000
        assert result.matrix_fidelity == "hardware"


def test_in_place_leaves_the_bytes_of_apart_and_updates_rows_with_gaps_where_they_are(problem):
    a, b, c = problem
    apart = np.full((M, N), NAN)
    launch(a, b, c, apart, 1.5, 0.3)
    wide = np.full((M, N + 5), NAN)
    wide[:, :N] = c
    view = wide[:, :N]
    launch(a, b, view, view, 1.5, 0.3)
    assert (view.view(np.uint32) == apart.view(np.uint32)).all()
    assert np.isnan(wide[:, N:]).all()
    assert (apart == REFERENCE["gemm"]("gfx1151", a, b, c, 1.5, 0.3)).all()


@pytest.mark.trap("T33")
def test_columns_with_gaps_are_refused_and_no_copy_is_updated(problem):
    a, b, c = problem
    for view in (c.T, np.zeros((M, 2 * N), np.float32)[:, ::2]):
        with pytest.raises(MfmasimError, match="not contiguous"):
            mfmasim.device("sim").launch(
                code_for(CASES[0].source, "gfx1151")["any_gemm_64x64"],
                1,
                128,
                [a, b, view, view, *map(np.int32, (M, N, K, K, N, N, N)), np.float32(1), np.float32(1)],
            )


def test_one_and_zero_leave_the_bytes_of_the_plain_product(problem):
    a, b, _ = problem
    out = np.full((M, N), NAN)
    launch(a, b, None, out, 1, 0)
    want = product_by("gfx1151", "v_wmma_f32_16x16x16_f16", a.view(np.uint16), b.view(np.uint16))
    assert (out.view(np.uint32) == want).all()


@pytest.mark.parametrize("beta", [0.0, -0.0])
def test_beta_zero_reads_no_c(problem, beta):
    a, b, _ = problem
    with_none, with_nan = np.full((M, N), NAN), np.full((M, N), NAN)
    launch(a, b, None, with_none, 2, beta)
    launch(a, b, np.full((M, N), NAN), with_nan, 2, beta)
    assert np.isfinite(with_none).all()
    assert (with_none == with_nan).all()
    in_place = np.full((M, N), NAN)
    launch(a, b, in_place, in_place, 2, beta)
    assert (with_none == in_place).all()


def test_alpha_zero_reads_neither_a_nor_b(problem):
    a, b, c = problem
    a[:], b[:], c[0, 0] = np.nan, np.inf, -0.0
    out = np.full((M, N), NAN)
    launch(a, b, c, out, 0, 3)
    assert (out.view(np.uint32) == (np.float32(3) * c).view(np.uint32)).all()
    launch(a, b, None, out, 0, 0)
    assert (out.view(np.uint32) == 0).all()


def test_every_other_nan_goes_its_way(problem):
    a, b, c = problem
    a[3, 2], b[5, 7], c[11, 13] = np.nan, np.nan, np.nan
    out = np.zeros((M, N), np.float32)
    launch(a, b, c, out, 2, 0.5)
    want = np.zeros((M, N), bool)
    want[3], want[:, 7], want[11, 13] = True, True, True
    assert (np.isnan(out) == want).all()
    for alpha, beta in ((np.nan, 0), (1, np.nan), (0, np.nan)):
        launch(a, b, c, out, alpha, beta)
        assert np.isnan(out).all()


def test_no_c_is_refused_unless_beta_is_zero():
    ((case, _),) = select(CASES, "gfx1151", "any_gemm_64x64_apart[alpha=1.25,beta=-0.5]")
    with pytest.raises(MfmasimError, match="C_in or beta == 0"):
        verify_case(case.with_parameters({"C_in": 0}), "gfx1151")
    assert verify_case(case.with_parameters({"C_in": 0, "beta": 0.0}), "gfx1151").status == "pass"


def test_the_fused_reference_rounds_once():
    rng = np.random.default_rng(4)
    x, y, z = (rng.normal(size=4000).astype(np.float32) * np.float32(2.0) ** rng.integers(-30, 30, 4000) for _ in "xyz")
    z[:2000] = -(x[:2000] * y[:2000])  # almost everything cancels
    found = REFERENCE["fused"](x, y, z)
    assert found.shape == (4000,)
    for p, q, r, got in zip(x, y, z, found, strict=True):
        exact = Fraction(float(p)) * Fraction(float(q)) + Fraction(float(r))
        around = [np.nextafter(got, np.float32(side)) for side in (-np.inf, np.inf)]
        assert all(abs(Fraction(float(got)) - exact) <= abs(Fraction(float(other)) - exact) for other in around)


@pytest.mark.parametrize("name", [pytest.param(n, marks=() if "c_in" in n else pytest.mark.long) for n in MUTANTS])
def test_wrong_kernels_are_caught_by_the_checks_they_name(name):
    verdict = caught(*MUTANTS[name])
    assert {f.id for f in verdict.result.findings if f.severity == "error"} == TOLD[name]
