"""Why an element of a plain array has its value: what stored it, and which inputs change it."""

import json

import pytest

from mfmasim.cli import main
from mfmasim.errors import MfmasimError
from mfmasim.verify import find, select
from mfmasim.verify.elements import why_arrays
from mfmasim.verify.elements.why_arrays import _ranges, why_array

KERNELS = """#include <hip/hip_runtime.h>
#ifndef SHIFT
#define SHIFT 0
#endif
extern "C" __global__ void window(const float* x, const int* at, float* out, int n) {
  int i = blockIdx.x * 64 + threadIdx.x;
  if (i >= 3 && i < n - 1) out[i] = x[i - 1] + x[i + SHIFT] * 2.f;
  if (i == 1) out[i] = x[at[0]];
}
extern "C" __global__ void turned(const short* x, short* out) {
  __shared__ short tile[32][33];
  int t = threadIdx.x;
  for (int k = 0; k < 32; k += 8) tile[k + t / 32][t % 32] = x[(k + t / 32) * 32 + t % 32];
  __syncthreads();
  for (int k = 0; k < 32; k += 8) out[(k + t / 32) * 32 + t % 32] = tile[t % 32][k + t / 32];
}
extern "C" __global__ void counted(const unsigned char* x, unsigned* out) { atomicAdd(&out[x[threadIdx.x] % 4], 1u); }
"""
CASES = """import numpy as np
from mfmasim.verify import In, InOut, Out, case
@case("k.hip", kernel="window", arch="gfx942", flags=["-DSHIFT=0"])
def window(n=100):
    def expect(x, at, out):
        out[3 : n - 1] = x[2 : n - 2] + x[3 : n - 1] * np.float32(2)
        out[1] = x[at[0]]
        return out
    args = [In("f32", n, "integers"), In("i32", 1, np.array([7], np.int32)), InOut("f32", n, "zeros"), n]
    return dict(grid=2, block=64, args=args, expect=expect)
@case("k.hip", kernel="turned", arch="gfx1201")
def turned():
    return dict(grid=1, block=256, args=[In("i16", (32, 32), "index"), Out("i16", (32, 32))],
                expect=lambda x: x.T.copy())
@case("k.hip", kernel="counted", arch="gfx950")
def counted():
    return dict(grid=1, block=64, args=[In("u8", 64, "index"), InOut("u32", 4, "zeros")],
                expect=lambda x, out: np.full(4, 16, np.uint32))
"""


SUMS = """#include <hip/hip_runtime.h>
extern "C" __global__ void sums(const float* a, const float* b, float* out, float* all) {
  int r = threadIdx.x / 8, c = threadIdx.x % 8;
  float sum = 0;
  for (int k = 0; k < 8; k++) sum += a[r * 8 + k] * b[k * 8 + c];
  out[threadIdx.x] = sum;
  if (threadIdx.x == 0) { sum = 0; for (int i = 0; i < 64; i++) sum += a[i]; all[0] = sum; }
}
"""
SUMS_CASE = """import numpy as np
from mfmasim.verify import In, Out, case
@case("k.hip", kernel="sums", arch="gfx942")
def sums():
    a, b = In("f32", (8, 8), "normal"), In("f32", (8, 8), "normal")
    expect = lambda a, b: (a @ b, a.sum().reshape(1))
    return dict(grid=1, block=64, args=[a, b, Out("f32", (8, 8), absolute=1e-3), Out("f32", 1, absolute=1e-3)],
                expect=lambda a, b: [*expect(a, b)])
"""


@pytest.fixture
def home(tmp_path):
    (tmp_path / "k.hip").write_text(KERNELS)
    (tmp_path / "cases.py").write_text(CASES)
    return tmp_path


def ask(home, name, element):
    """Why an element of a case has its value."""
    ((_, cases),) = find(str(home / "cases.py"))
    return why_array(*select(cases, None, name)[0], element)


def test_vector_code_names_its_store_and_the_elements_that_it_depends_on(home):
    found = ask(home, "window", "out[70]")
    assert found.ok
    assert found.depends == {"x": ("[69..70]",), "at": (), "out": ()}
    assert "global_store_dword" in found.stored
    assert "k.hip:7), workgroup (1, 0, 0) wave 0 lane 6" in found.stored
    assert found.stores == 1
    assert ask(home, "window", "out[1]").depends == {"x": ("[7]",), "at": ("[0]",), "out": ()}, "through an index"


def test_lines_and_columns_are_one_range(home, monkeypatch):
    (home / "k.hip").write_text(SUMS)
    (home / "cases.py").write_text(SUMS_CASE)
    found = ask(home, "sums", "out[2, 5]")
    assert found.depends == {"a": ("[2, 0..7]",), "b": ("[0..7, 5]",)}
    assert ask(home, "sums", "all[0]").depends == {"a": ("[0..7, 0..7]",), "b": ()}
    monkeypatch.setattr(why_arrays, "MOST", 10)
    assert ask(home, "sums", "all[0]").depends["a"] == ("some of [0..7, 0..7], 64 elements",)


def test_elements_with_a_factor_of_0_are_named(home, capsys):
    """Of a sum of products, those are read whose other factor is 0; a[2, 3] is, for example."""
    (home / "k.hip").write_text(SUMS)
    given = "np.where(np.eye(8) == 1, 0, 2).astype(np.float32)"
    (home / "cases.py").write_text(SUMS_CASE.replace('"normal")\n', f'{given}, drawn="normal")\n'))
    found = ask(home, "sums", "out[2, 5]")
    assert found.depends == {"a": ("[2, 0..4]", "[2, 6..7]"), "b": ("[0..7, 5]",)}
    assert found.zeroed == {"a": ("[2, 5]",)}
    assert "  reads a: [2, 5], with a factor of 0 in these inputs" in list(found.lines())


def test_an_element_that_nothing_stored_says_so(home):
    found = ask(home, "window", "out[0]")
    assert (found.stored, found.stores, found.ok) == ("", 0, True)
    assert list(found.lines())[-1] == "  no instruction stored it"


def test_a_wrong_element_says_what_it_needs_and_what_it_depends_on(home, capsys):
    text = (home / "cases.py").read_text()
    (home / "cases.py").write_text(text.replace('"-DSHIFT=0"', '"-DSHIFT=1"'))
    assert main(["why", str(home / "cases.py"), "out[ 5 ]", "--case", "window", "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert found["holds"] != found["needs"]
    assert found["depends"]["x"] == ["[4]", "[6]"]
    assert main(["why", str(home / "cases.py"), "out[5]", "--case", "window"]) == 1
    out = capsys.readouterr().out
    assert f"out[5] holds {found['holds']}, needs {found['needs']}" in out
    assert "depends on x: [4], [6]" in out


def test_a_copy_through_the_lds_is_followed_to_its_load(home):
    found = ask(home, "turned", "out[3, 17]")
    assert found.depends == {"x": ("[17, 3]",)}
    texts = [step.partition(" ")[0] for step in found.way]
    assert texts[0].startswith("ds_load_u16")
    assert texts[1].startswith("ds_store_b16")
    assert texts[-1].startswith("global_load_")
    assert f"byte {2 * (17 * 32 + 3)} of argument 0 (x)" in found.way[-1]


def test_atomics_store_often(home):
    found = ask(home, "counted", "out[2]")
    assert found.stores == 16
    ranges = [text.strip("[]").split("..") for text in found.depends["x"]]
    named = {n for first, *last in ranges for n in range(int(first), int((last or [first])[0]) + 1)}
    assert named >= set(range(2, 64, 4)), "those that count there"
    assert found.depends["out"] == ("[2]",)


@pytest.mark.parametrize(
    ("element", "message"),
    [
        ("out", r"'out' is no element of an output: NAME\[index, ...\] is expected, such as 'out\[0\]'"),
        ("ot[3]", "did you mean 'out'"),
        ("out[100]", r"'out\[100\]' is outside out, whose shape is \(100,\)"),
        ("out[1,1]", "is outside out"),
        ("x[1]", "unknown output 'x'"),
    ],
)
def test_what_is_no_element_is_one_line(home, element, message):
    with pytest.raises(MfmasimError, match=message):
        ask(home, "window", element)


def test_ranges_run_along_the_last_index():
    assert _ranges([0, 1, 2, 5, 8, 9], (2, 5)) == ("[0, 0..2]", "[1, 0]", "[1, 3..4]")
    assert _ranges([], (4,)) == ()
    assert _ranges([3], (4,)) == ("[3]",)
