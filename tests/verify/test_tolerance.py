"""Outputs that are not exact: bounds of the errors, what a failure says, and cases that need them."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mfmasim.cli import main
from mfmasim.errors import MfmasimError
from mfmasim.formats import format as find_format
from mfmasim.testing import assert_same_bits
from mfmasim.verify import C, In, InOut, Out
from mfmasim.verify.compare import compare_codes
from mfmasim.verify.plain import compare_array
from mfmasim.verify.tolerance import DEFAULTS, Tolerance
from tests.oracles import module
from tests.verify.test_user_case import said, small

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "docs" / "example" / "norms"
floats = st.floats(width=32, allow_nan=True, allow_infinity=True)


@given(st.lists(st.tuples(floats, floats), min_size=1, max_size=8), st.floats(1e-30, 10), st.floats(0, 1))
def test_a_bound_is_that_of_numpy(pairs, absolute, relative):
    actual, expected = (np.array(side, np.float32) for side in zip(*pairs, strict=True))
    out = Out("f32", len(pairs), absolute=absolute, relative=relative)
    wrong = compare_array(out, actual, expected).wrong
    close = np.isclose(actual.astype(float), expected.astype(float), rtol=relative, atol=absolute, equal_nan=True)
    assert (wrong == ~close).all()


def test_ulp_and_bound_each_admit_an_element():
    actual, expected = np.float32([1, 1e30, -1e-9]), np.float32([1.5, np.nextafter(np.float32(1e30), 0), 1e-9])
    assert compare_array(Out("f32", 3, ulp=1, absolute=1e-8), actual, expected).wrong.tolist() == [True, False, False]
    assert compare_array(Out("f32", 3, absolute=1e-8), actual, expected).wrong.tolist() == [True, True, False]
    assert compare_array(Out("f32", 3, ulp=1), actual, expected).wrong.tolist() == [True, False, True]


def test_integers_of_64_bits_keep_their_lowest_bit():
    big = np.array([1 << 62, 1 << 62], np.int64)
    assert compare_array(Out("i64", 2, absolute=1), big, big + np.array([1, 2])).wrong.tolist() == [False, True]


@pytest.mark.oracle
def test_the_defaults_are_those_of_pytorch():
    torch = module("torch")
    from torch.testing._comparison import default_tolerances

    for name, (relative, absolute) in DEFAULTS.items():
        dtype = {"f16": torch.float16, "bf16": torch.bfloat16, "f32": torch.float32, "f64": torch.float64}[name]
        assert default_tolerances(dtype) == (relative, absolute)
        assert Out(name, 1, close=True).tolerance == Tolerance(absolute, relative, 0)
    assert len(DEFAULTS) == 4


@pytest.mark.parametrize(
    ("given_", "text"),
    [
        ({"absolute": -1}, "absolute -1 of Out: a number of 0 or more is expected, such as 1e-3"),
        ({"relative": float("nan")}, "relative nan of Out"),
        ({"relative": "0.1"}, "relative '0.1' of Out"),
        ({"absolute": True}, "absolute True of Out"),
        ({"ulp": 1.5}, "ulp 1.5: a number of units"),
        (
            {"atol": 1},
            "unknown argument 'atol' of Out; did you mean 'absolute'? allowed: absolute, relative, ulp, close",
        ),
        ({"close": True}, "close=True of Out of i32: PyTorch has tolerances for f16, bf16, f32, f64; give absolute="),
    ],
)
def test_a_wrong_tolerance_is_refused(given_, text):
    with pytest.raises(MfmasimError) as error:
        Out("i32", 4, **given_)
    assert text in str(error.value)


def test_every_output_takes_a_tolerance():
    for made in (Out("f16", 2, relative=0.1), InOut("f16", 2, relative=0.1), C("f16", (2, 2), relative=0.1)):
        assert made.tolerance == Tolerance(relative=0.1)
    assert In("f16", 2).tolerance.exact


def test_the_worst_element_is_named_beside_its_bound():
    f16 = find_format("f16")
    actual, expected = f16.encode(np.array([1.0, 2.5, 3, 8])), f16.encode(np.array([1.0, 2, 2, 9]))
    found = compare_codes(actual, expected, f16, Tolerance(absolute=0.25))
    assert found.mismatches == 3
    assert found.place == (2,)
    assert found.worst(actual, expected) == "the worst: error 1, at most 0.25 is allowed, 4 times"
    none = compare_codes(actual, expected, f16, Tolerance(relative=0.25))
    assert none.place == (2,)


# a user's cases

CASE = """
import numpy as np
from mfmasim.verify import In, Out, case
@case("k.hip", kernel="half", arch="gfx942", trace=False)
def c(n=64):
    x, out = In("f32", n, "normal"), OUT
    return dict(grid=1, block=64, args=[x, out], expect=EXPECT)
"""
KERNEL = """
extern "C" __global__ void half(const float *x, TYPE *y) { y[threadIdx.x] = (TYPE)(x[threadIdx.x] * 0.5f); }
"""


def verified(tmp_path, out, expect, kind="float"):
    (tmp_path / "k.hip").write_text("#include <hip/hip_runtime.h>\n" + KERNEL.replace("TYPE", kind))
    (tmp_path / "case.py").write_text(CASE.replace("OUT", out).replace("EXPECT", expect))
    code = main(["verify", str(tmp_path / "case.py"), "--json", str(tmp_path / "r.json"), "--jobs", "1"])
    return code, json.loads((tmp_path / "r.json").read_text())[0]


@pytest.mark.parametrize(
    ("out", "expect", "kind"),
    [
        ('Out("f32", n, absolute=1e-6)', "lambda x: x / 2 + 5e-7", "float"),
        ('Out("f32", n)', "lambda x: (x / 2 + 5e-7, 1e-6)", "float"),
        ('Out("f32", n)', "lambda x: [(x / 2 + 5e-7, np.full(n, 1e-6))]", "float"),
        ('Out("f32", n, relative=1e-6)', "lambda x: x.astype(float) / 2 * 1.0000005", "float"),
        ('Out("f16", n, relative=1e-3, absolute=1e-6)', "lambda x: x / 2", "_Float16"),
        ('Out("bf16", n, relative=4e-3)', "lambda x: x / 2", "__bf16"),
        ('Out("bf16", n)', "lambda x: (x / 2).astype(__import__('ml_dtypes').bfloat16)", "__bf16"),
        ('Out("i32", n, absolute=1)', "lambda x: x / 2", "int"),
    ],
)
def test_a_case_with_a_tolerance_passes_and_says_its_margin(tmp_path, out, expect, kind):
    code, result = verified(tmp_path, out, expect, kind)
    assert code == 0, result["findings"]
    assert result["outputs"]["elements"] == 64
    if "ml_dtypes" in expect:
        assert "of_bound" not in result["outputs"]
    else:
        assert 0 < result["outputs"]["of_bound"] <= 1
        assert "within" in result["compared_with"][0]


def test_a_case_beyond_its_tolerance_fails_with_the_error_beside_the_bound(tmp_path, capsys):
    code, result = verified(
        tmp_path, 'Out("f32", n, absolute=1e-6)', "lambda x: x / 2 + np.where(np.arange(n) == 7, 1, 0)"
    )
    assert code == 1
    finding = result["findings"][0]
    assert finding["id"] == "outputs-differ"
    assert finding["element"] == "y[7]"
    assert "1 of 64 elements differ by more than their bound" in finding["message"]
    assert "error 1, at most 1e-06 is allowed, 1e+06 times" in finding["message"]
    assert "FAIL" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("out", "expect", "text"),
    [
        ('Out("f32", n)', "lambda x: (x / 2, -1)", "a negative number or a NaN: 0 or more is expected"),
        (
            'Out("f32", n)',
            "lambda x: (x / 2, np.zeros(3))",
            "returns is (3,): a number, or an array (64,), is expected",
        ),
        ('Out("f32", n)', "lambda x: (x / 2, 'x')", "returns is str: a number"),
        ('Out("f32", n)', "lambda x: x.astype(float)", "y is float64 (64,), the array of f32 needs float32 (64,)"),
        ('Out("f32", n, absolute=1)', "lambda x: x[:3]", "needs float32 (64,)"),
        ('Out("f32", n, absolut=1)', "None", "unknown argument 'absolut' of Out; did you mean 'absolute'?"),
    ],
)
def test_a_wrong_reference_is_refused_in_one_line(tmp_path, capsys, out, expect, text):
    code, result = verified(tmp_path, out, expect)
    assert code == 2
    assert text in result["findings"][0]["message"]
    assert "Traceback" not in capsys.readouterr().err


def test_a_product_takes_a_tolerance_too(tmp_path):
    """What rounds towards zero is wrong by half a unit: within a bound that says so, right."""
    code, _ = small(tmp_path, "truncates", output="bf16")
    assert code == 1
    code, result = small(tmp_path, "truncates", "(a @ b, 0.5)", output="bf16")
    assert code == 0, said(result)
    assert 0 < result["outputs"]["of_bound"] <= 1


def test_comparison_in_tests_takes_the_same_bounds():
    have, want = np.float32([1, 2.001]), np.float32([1, 2])
    assert_same_bits(have, want, absolute=0.01)
    with pytest.raises(
        AssertionError, match=r"1 of 2 elements .*\n  the worst: error 0.001, at most 0.0001 is allowed"
    ):
        assert_same_bits(have, want, absolute=1e-4)


# the examples of the documentation


def test_the_examples_pass_and_each_case_is_short():
    cases = (EXAMPLE / "cases.py").read_text().split("\n@case")[1:]
    assert len(cases) == 3
    assert all(len(text.strip().splitlines()) <= 20 for text in cases)
    assert main(["verify", str(EXAMPLE / "cases.py"), "--jobs", "1"]) == 0


WRONG = [
    ("sum * shrink + over_wave", "sum + over_wave", "flash_attention"),
    ("result[c] * shrink", "result[c]", "flash_attention"),
    ("v[(first + group * 4 + j)", "v[(first + group * 4 + (j ^ 1))", "flash_attention"),
    ("* gamma[i] + beta[i]", "* gamma[i]", "layernorm"),
    ("(float(x[i]) - mean) * (float(x[i]) - mean)", "float(x[i]) * float(x[i])", "layernorm"),
    ("y[i] = __expf(x[i] - top) / sum", "y[i] = __expf(x[i]) / sum", "softmax"),
    ("for (int i = threadIdx.x; i < columns; i += 64) top", "for (int i = threadIdx.x; i < 64; i += 64) top", "none"),
]


@pytest.mark.parametrize(("right", "wrong", "name"), WRONG)
def test_a_wrong_kernel_is_beyond_its_bound(tmp_path, right, wrong, name):
    """The last one is right: a softmax needs no exact maximum."""
    for file in EXAMPLE.glob("*.*"):
        shutil.copy(file, tmp_path)
    source = tmp_path / "kernels.hip"
    text = source.read_text()
    assert right in text
    source.write_text(text.replace(right, wrong, 1))
    code = main(
        ["verify", str(tmp_path / "cases.py"), "--arch", "gfx942", "--jobs", "1", "--json", str(tmp_path / "r")]
    )
    failed = [r["case"] for r in json.loads((tmp_path / "r").read_text()) if r["status"] != "pass"]
    assert failed == ([] if name == "none" else [name])
    assert code == (0 if name == "none" else 1)


def test_the_other_verbs_take_such_cases(tmp_path, capsys):
    file = str(EXAMPLE / "cases.py")
    chosen = ["--case", "softmax", "--arch", "gfx942"]
    assert main(["explore", file, *chosen, "--examples", "3", "--jobs", "1"]) == 0
    assert main(["report", file, *chosen, "--jobs", "1"]) == 0
    assert main(["verify", file, *chosen, "--sarif", str(tmp_path / "s.sarif"), "--jobs", "1"]) == 0
    assert main(["mutate", file, *chosen, "--textual", "--limit", "4", "--jobs", "1"]) in (0, 1)
    assert "by check: outputs" in capsys.readouterr().out


@pytest.mark.oracle
def test_the_examples_with_tensors_pass():
    module("torch")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(EXAMPLE / "test_kernels.py")]
    made = subprocess.run(command, capture_output=True, text=True, cwd=EXAMPLE, check=False)
    assert "4 passed" in made.stdout, made.stdout


def test_an_expected_value_of_ml_dtypes_is_its_bits():
    out = Out("bf16", 2)
    codes = out.check("x", np.array([1, 2], ml_dtypes.bfloat16))
    assert codes.dtype == np.uint16
    assert codes.tolist() == [0x3F80, 0x4000]
