"""Cases of plain arrays: what is drawn, what counts as equal, and what is reported of a wrong kernel or case."""

from collections import Counter
from types import SimpleNamespace

import numpy as np
import pytest

from mfmasim.errors import MfmasimError
from mfmasim.verify import In, InOut, Out, find, load_file, verify_case
from mfmasim.verify.arrays import ARRAY_CLASSES, draw_array
from mfmasim.verify.plain import compare_array, missing_instructions

FORMATS = ["i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64", "f16", "bf16", "f32", "f64", "e4m3fn", "e5m2fnuz"]
SOURCE = """
#include <hip/hip_runtime.h>
__global__ void add(const float* x, const float* y, float* sum, int* count, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) sum[i] = x[i] + y[i];
    if (i < n) count[i] += 3;
}
"""
CASE = """
from mfmasim.verify import case, In, InOut, Out
from nearby import reference

@case("add.hip", kernel="add", arch=["gfx942", "gfx950"], executes=["v_add_f32", "v_add_(nc_)?u32"])
def add(n=100, wave=0, arch=""):
    assert wave == 64 and arch in ("gfx942", "gfx950")
    x, y, s, c = In("f32", n), In("f32", n, "bits"), Out("f32", n), InOut("i32", n, "index")
    return dict(grid=2, block=64, args=[x, y, s, c, n], expect=reference)
"""
NEARBY = "def reference(x, y, c):\n    return x + y, c + 3\n"


@pytest.mark.parametrize("data", ARRAY_CLASSES)
@pytest.mark.parametrize("name", FORMATS)
def test_drawn_values_have_their_dtype_and_are_reproducible(name, data):
    array = In(name, (7, 300), data)
    values = draw_array(array, "seed")
    assert values.shape == (7, 300)
    assert values.dtype == array.dtype
    assert values.tobytes() == draw_array(array, "seed").tobytes()
    if data in ("bits", "special", "normal", "integers"):
        assert values.tobytes() != draw_array(array, "other seed").tobytes()


def test_extremes_are_among_the_special_values():
    x = draw_array(In("f32", 5000), "s")
    for wanted in (0.0, np.inf, -np.inf, 1.0, np.finfo(np.float32).max, np.float32(1e-45), np.finfo(np.float32).tiny):
        assert (x == wanted).sum() > 5
    assert (np.signbit(x) & (x == 0)).sum() > 5
    assert np.isnan(x).sum() > 50
    i = draw_array(In("i64", 5000), "s")
    for wanted in (0, 1, -1, np.iinfo(np.int64).min, np.iinfo(np.int64).max, 1 << 32):
        assert (i == wanted).sum() > 5
    assert len(np.unique(i)) > 2000


def test_an_output_starts_as_a_pattern():
    assert draw_array(Out("u32", 3), "s").tolist() == [0xA5A5A5A5] * 3


def f32(*codes):
    return np.array(codes, np.uint32).view(np.float32)


@pytest.mark.parametrize(
    ("array", "actual", "expected", "wrong"),
    [
        (Out("f32", 3), f32(0, 0x3F800000, 1), f32(0x80000000, 0x3F800001, 1), [1, 1, 0]),
        (Out("f32", 2), f32(0x7FC00000, 0x7F800000), f32(0xFF812345, 0x7FC00000), [0, 1]),
        (Out("f32", 2, nan="bits"), f32(0x7FC00000, 0x7FC00001), f32(0xFFC00000, 0x7FC00001), [1, 0]),
        (Out("f32", 3, ulp=2), f32(5, 5, 0x80000000), f32(7, 8, 0), [0, 1, 1]),
        (Out("f32", 2, ulp=1), f32(0x7F7FFFFF, 0x7F800001), f32(0x7F800000, 0x7F800000), [0, 1]),
        (Out("u64", 2), np.array([0, 5], np.uint64), np.array([2**64 - 1, 5], np.uint64), [1, 0]),
        (Out("i8", 2, ulp=1), np.array([-128, 1], np.int8), np.array([127, 2], np.int8), [1, 0]),
    ],
)
def test_what_counts_as_equal(array, actual, expected, wrong):
    found = compare_array(array, actual, expected)
    assert found.wrong.astype(int).tolist() == wrong
    assert found.mismatches == sum(wrong)


def files(folder, *, source=SOURCE, case=CASE, nearby=NEARBY):
    (folder / "add.hip").write_text(source)
    (folder / "nearby.py").write_text(nearby)
    (folder / "cases.py").write_text(case)
    return load_file(folder / "cases.py")[0]


def test_a_right_kernel_passes(tmp_path):
    result = verify_case(files(tmp_path), "gfx950")
    assert result.status == "pass", result.findings
    assert result.outputs == {"elements": 200, "mismatches": 0, "max_ulp": 0}
    assert result.executed["v_add_f32"] == 2
    assert result.compared_with == ("the reference function, bit for bit",)


@pytest.mark.parametrize(
    ("old", "new", "check", "text"),
    [
        ("x[i] + y[i]", "x[i] - y[i]", "outputs", "sum["),
        ("if (i < n) sum[i]", "if (i < 70) sum[i]", "outputs", "sum[70]"),
        ("+= 3", "+= 2", "outputs", "count[0]"),
        ("sum[i] = x[i]", "sum[i] = ((float*)x)[i] *= 1.5f", "inputs", "changed its input x"),
        ("if (i < n) count", "count", "bounds", ""),
        ("x[i] + y[i]", "__builtin_fmaf(y[i], n == 5 ? 2 : 1, x[i])", "executes", "v_add_f32"),
    ],
)
def test_wrong_kernels_are_caught(tmp_path, old, new, check, text):
    assert old in SOURCE
    result = verify_case(files(tmp_path, source=SOURCE.replace(old, new)), "gfx942")
    assert result.status == "fail"
    found = [f for f in result.findings if f.check == check and f.severity == "error"]
    assert found
    assert text in f"{found[0].element} {found[0].message}"


@pytest.mark.parametrize(
    ("old", "new", "text"),
    [
        ('In("f32", n)', 'In("f33", n)', "unknown format 'f33' of an array"),
        ('In("f32", n)', 'In("e2m1fn", n)', "e2m1fn"),
        ('"bits"', '"bitz"', "unknown data class 'bitz' of an array; did you mean 'bits'"),
        ('Out("f32", n)', 'Out("f32", n, nan="all")', "any"),
        ('Out("f32", n)', 'Out("f32", n, ulp=-1)', "ulp -1"),
        ('Out("f32", n)', 'Out("f32", 0)', "positive sizes"),
        ('In("f32", n)', 'In("x", "f32", n)', "an array has no name, as in In"),
        ('Out("f32", n)', 'Out("f64", n)', "argument 2 (sum) is float*: an array of float32 is expected"),
        ("expect=reference", "expect=lambda x, y, c: x", "expect gives 1 arrays, the kernel has 2 outputs"),
        ("expect=reference", "expect=lambda x: x", "its reference fails: TypeError"),
        (", expect=reference", "", "'expect'|function of the input arrays"),
        ("v_add_f32", "v_add_(f32", "executes pattern"),
        ('arch=["', 'skip={"gfx1201": "x"}, arch=["', "needs one of arch= and a reason"),
    ],
)
def test_wrong_cases_are_refused(tmp_path, old, new, text):
    assert old in CASE
    with pytest.raises(MfmasimError) as refused:
        verify_case(files(tmp_path, case=CASE.replace(old, new)), "gfx942")
    assert any(part in str(refused.value) for part in text.split("|")), refused.value
    assert "\n" not in str(refused.value)


def test_a_skipped_architecture_says_why(tmp_path):
    case = files(tmp_path, case=CASE.replace('arch=["', 'skip={"gfx950": "has no such thing"}, arch=["'))
    result = verify_case(case, "gfx950")
    assert result.status == "skipped"
    assert [f.message for f in result.findings] == ["has no such thing"]
    assert verify_case(case, "gfx942").status == "pass"


def test_two_case_files_have_neighbours_of_the_same_name(tmp_path):
    first, second = tmp_path / "a", tmp_path / "b"
    first.mkdir()
    second.mkdir()
    right = files(first)
    wrong = files(second, nearby=NEARBY.replace("c + 3", "c + 4"))
    assert verify_case(right, "gfx942").status == "pass"
    assert verify_case(wrong, "gfx942").status == "fail"


def test_a_folder_of_families_is_a_target():
    names = [name for name, _ in find("isa")]
    assert names
    assert all(name.startswith("isa/") for name in names)
    assert [name for name, _ in find(names[0])] == names[:1]
    with pytest.raises(MfmasimError, match="unknown target"):
        find("isah")


def test_values_may_be_given():
    values = np.arange(4, dtype=np.int16)
    assert draw_array(InOut("i16", 4, values), "s").tolist() == [0, 1, 2, 3]
    with pytest.raises(MfmasimError, match="int16"):
        In("i32", 4, values)


TABLE = """
#include <hip/hip_runtime.h>
struct table { const float* in[3]; float* out[3]; int n[3]; };
__global__ void several(table t) {
    const int k = blockIdx.x;
    if ((int)threadIdx.x < t.n[k]) t.out[k][threadIdx.x] = 2 * t.in[k][threadIdx.x];
}
"""
TABLE_CASE = """
import numpy as np
from mfmasim.verify import case, In, Out

@case("add.hip", kernel="several", arch="gfx950")
def several():
    sizes = (5, 64, 33)
    x = [In("f32", n, "normal", offset=4 * k) for k, n in enumerate(sizes)]
    out = [Out("f32", n, offset=8) for n in sizes]
    table = [x, out, [np.int32(n) for n in sizes]]
    return dict(grid=3, block=64, args=[table], expect=lambda *x: [2 * v for v in x])
"""


def test_fields_of_a_structure_may_be_arrays(tmp_path):
    result = verify_case(files(tmp_path, source=TABLE, case=TABLE_CASE), "gfx950")
    assert result.status == "pass", result.findings
    assert result.outputs["elements"] == 5 + 64 + 33


@pytest.mark.parametrize(
    ("old", "new", "checks", "element"),
    [
        ("2 * t.in[k]", "2 * t.in[0]", {"bounds", "outputs"}, "t[1][1][0]"),
        ("< t.n[k])", "<= t.n[k])", {"bounds"}, ""),
        ("2 * t.in[k]", "2 * t.out[k]", {"outputs", "uninitialised"}, "t[1][0][0]"),
        ("t.out[k][threadIdx.x] =", "((float*)t.in[k])[threadIdx.x] =", {"inputs", "outputs"}, "t[1][0][0]"),
    ],
)
def test_wrong_kernels_over_structures_are_caught(tmp_path, old, new, checks, element):
    assert old in TABLE
    result = verify_case(files(tmp_path, source=TABLE.replace(old, new), case=TABLE_CASE), "gfx950")
    assert {f.check for f in result.findings if f.severity == "error"} == checks
    assert element in [f.element for f in result.findings if f.check == "outputs"] or not element


def test_an_array_stands_for_one_argument(tmp_path):
    case = TABLE_CASE.replace("[x, out,", "[[x[0]] * 3, out,")
    with pytest.raises(MfmasimError, match="one array twice"):
        verify_case(files(tmp_path, source=TABLE, case=case), "gfx950")
    with pytest.raises(MfmasimError, match="offset 4096: 0 to 4095 bytes"):
        In("f32", 4, offset=4096)


def test_a_missing_instruction_names_what_was_executed_and_is_like_it():
    wanted = SimpleNamespace(executes=("v_max_f32_dpp", "s_sleep"))
    ran = SimpleNamespace(name="k", instructions=())
    dpp, sleep = missing_instructions(wanted, Counter(["v_max_f32", "v_mov_b32_dpp", "ds_read_b64"]), ran)
    assert dpp.message == "no instruction that was executed matches 'v_max_f32_dpp'; nearest: v_max_f32, v_mov_b32_dpp"
    assert sleep.message == "no instruction that was executed matches 's_sleep'"
