"""What names the cause of wrong outputs, all inputs of an elementwise kernel, and FP8 of the other flavour."""

from dataclasses import replace

import numpy as np
import pytest

import mfmasim
from mfmasim.errors import MfmasimError
from mfmasim.verify import A, B, C, elementwise, every, find, select, verify_case
from mfmasim.verify.cases import collecting
from mfmasim.verify.causes import FEWEST, of_other_flavour, saturated
from mfmasim.verify.runner import set_parameters

E4M3 = mfmasim.format("e4m3fn")
SOURCE = """
#include <hip/hip_runtime.h>
extern "C" __global__ void cast(const {given} *x, unsigned char *y, int n) {{
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float value = {widened};
  {limit}
  y[i] = __builtin_amdgcn_cvt_pk_fp8_f32(value, value, 0, false);
}}
"""
LIMIT = "value = value != value ? value : fminf(fmaxf(value, -{most}.0f), {most}.0f);"


def numbers(*values):
    return np.array(values, float)


def test_a_limit_that_is_too_low_or_too_early_is_named():
    want = np.arange(250, 250 + 2 * FEWEST, 2.0)
    assert saturated(np.full(FEWEST, 240.0), want, E4M3).startswith("no result exceeds 240, though up to 264")
    assert "become 448: the limit is reached too early" in saturated(np.full(FEWEST, 448.0), want, E4M3)
    assert "the largest number of e4m3fn is 448" in saturated(np.full(FEWEST, 448.0), want, E4M3)


@pytest.mark.parametrize(
    ("have", "want"),
    [
        (np.full(FEWEST - 1, 240.0), np.arange(250.0, 250 + FEWEST - 1)),
        (np.r_[np.full(FEWEST, 240.0), 224.0], np.arange(250.0, 251 + FEWEST)),
        (np.full(FEWEST, 240.0), np.arange(240.0 - FEWEST // 2, 240 + FEWEST // 2)),
        (-np.full(FEWEST, 240.0), np.arange(250.0, 250 + FEWEST)),
        (np.zeros(FEWEST), np.arange(1.0, 1 + FEWEST)),
        (np.full(FEWEST, 240.0), np.full(FEWEST, 448.0)),
    ],
    ids=["few", "two magnitudes", "both sides", "signs", "zeros", "one number expected"],
)
def test_what_has_another_cause_is_not_named(have, want):
    assert saturated(have, want, E4M3) == ""


def test_every_code_of_16_bits_and_ties_of_the_target_among_32():
    assert np.array_equal(np.unique(every("bf16")), np.arange(1 << 16))
    assert every("f16").dtype == np.float16
    assert np.unique(every("e5m2")).size == 256
    found = every("f32", "e4m3fn")
    assert found.dtype == np.float32
    assert {432.0, 448.0, 2.0**-10, float(np.nextafter(np.float32(432), np.float32(0)))} <= set(found.tolist())
    exponents = found.view(np.uint32) >> 23
    assert set(exponents.tolist()) == set(range(512))
    assert np.array_equal(found.view(np.uint32), every("f32", "e4m3fn").view(np.uint32))
    with pytest.raises(MfmasimError, match="formats of up to 16 bits, and f32"):
        every("f64")


@pytest.mark.parametrize(
    ("given", "declared", "widened"),
    [("bf16", "unsigned short", "__uint_as_float((unsigned)x[i] << 16)"), ("f32", "float", "x[i]")],
)
@pytest.mark.parametrize("most", [448, 240])
def test_one_line_verifies_a_cast_on_all_inputs(tmp_path, given, declared, widened, most):
    """The right limit passes, FNUZ's is named."""
    limit = LIMIT.format(most=most)
    (tmp_path / "cast.hip").write_text(SOURCE.format(given=declared, widened=widened, limit=limit))
    with collecting(tmp_path / "cases.py") as cases:
        elementwise("cast.hip", kernel="cast", arch="gfx950", given=given, target="e4m3fn")
    (case,) = cases
    result = verify_case(case, "gfx950")
    assert result.outputs["elements"] >= 1 << 14
    ids = {finding.id for finding in result.findings}
    assert ids == (set() if most == 448 else {"outputs-differ", "outputs-saturated"})


def zoo(title):
    return next(case for _, cases in find("zoo") for case, _ in select(cases, None) if case.title == title)


@pytest.mark.parametrize(("fmt", "count"), [("e4m3fn", 0), ("e5m2", 0), ("fp8", 0), ("e4m3fnuz", 2), ("e5m2fnuz", 2)])
def test_fp8_of_the_other_flavour_is_found_before_anything_runs(fmt, count):
    case = zoo("fbgemm_4280[version=after]")

    def build(version="after"):
        a, b, c = A(fmt, (16, 32)), B(fmt, (32, 16), order="column"), C("f32", (16, 16))
        return {"grid": 1, "block": 64, "args": [a, b, c], "expect": a @ b}

    kernel = case.compiled("gfx950")
    found = list(of_other_flavour(kernel, set_parameters(replace(case, build=build), arch="gfx950").make()))
    assert len(found) == count
    for finding in found:
        assert (finding.id, finding.severity) == ("formats-fp8-flavour", "warning")
        assert "v_mfma_f32_16x16x32_fp8_fp8 of gfx950 read and write OCP codes" in finding.message


def test_codes_of_a_cache_that_are_read_in_the_other_flavour_are_named():
    ids = {finding.id for finding in verify_case(zoo("vllm_45562[version=before]"), "gfx942").findings}
    assert ids == {"outputs-differ", "outputs-fp8-flavour"}
    assert not verify_case(zoo("vllm_45562[version=after]"), "gfx942").findings
