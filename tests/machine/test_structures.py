"""Structures as kernel arguments: pointers within them, by value and behind a pointer."""

from __future__ import annotations

import numpy as np
import pytest

import mfmasim
from mfmasim.errors import MfmasimError

SOURCE = """
#include <hip/hip_runtime.h>
struct Inner { short a; double scale; };
struct Table { const float* in; int n; float* out; Inner inner; unsigned char last; };
__device__ void work(const Table& t) {
  int i = threadIdx.x;
  if (i < t.n) t.out[i] = t.in[i] * (float)t.inner.scale + t.inner.a + t.last;
}
extern "C" __global__ void by_value(Table t) { work(t); }
extern "C" __global__ void behind(const Table* t) { work(*t); }
extern "C" __global__ void batched(const float* const* in, float* const* out) {
  out[blockIdx.x][threadIdx.x] = in[blockIdx.x] ? in[blockIdx.x][threadIdx.x] * 2 : -1;
}
struct __align__(16) Wide { float x; };
extern "C" __global__ void aligned(int* out) { out[0] = sizeof(Wide); out[1] = __alignof__(Wide); }
"""


@pytest.fixture(scope="module", params=["gfx942", "gfx1201"])
def code(request, tmp_path_factory):
    path = tmp_path_factory.mktemp("structures") / "structures.hip"
    path.write_text(SOURCE)
    return mfmasim.compile(path, request.param)


def launch(code, name, args, grid=1):
    return mfmasim.device("sim").launch(code[name], grid, 64, args)


@pytest.mark.parametrize("name", ["by_value", "behind"])
def test_pointers_within_a_structure_are_buffers(code, name):
    x, y = np.arange(50, dtype=np.float32), np.zeros(50, np.float32)
    report = launch(code, name, [[x, np.int32(40), y, [np.int16(-3), np.float64(0.5)], np.uint8(7)]])
    assert not report.findings
    np.testing.assert_array_equal(y, np.where(np.arange(50) < 40, x * np.float32(0.5) + 4, 0))


def test_a_list_of_arrays_is_an_array_of_pointers(code):
    x, y = [np.full(64, 3, np.float32), None], [np.zeros(64, np.float32) for _ in range(2)]
    assert not launch(code, "batched", [x, y], grid=2).findings
    assert (y[0] == 6).all()
    assert (y[1] == -1).all()


def test_a_buffer_within_a_structure_ends_where_it_ends(code):
    report = launch(code, "batched", [[np.zeros(64, np.float32)], [np.zeros(60, np.float32)]])
    assert [f.check for f in report.findings] == ["bounds"]
    assert "past the end of argument 1" in report.findings[0].message
    assert "[0]" in report.findings[0].message


def test_align_is_known(code):
    out = np.zeros(2, np.int32)
    launch(code, "aligned", [out])
    assert out.tolist() == [16, 16]


ITSELF: list = [np.int32(1)]
ITSELF.append(ITSELF)


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ([np.zeros(4, np.float32), 5], ("[1]", "int", "np.int32")),
        ([np.zeros(4, np.float32), np.int32(5)], ("48 bytes", "16")),
        ([], ("empty list",)),
        (ITSELF, ("deep",)),
        (["x"], ("[0]", "str")),
        ([np.zeros((4, 4), np.float32).T[1:]], ("[0]", "not contiguous")),
    ],
)
def test_what_is_no_structure_is_refused(code, value, words):
    with pytest.raises(MfmasimError) as caught:
        launch(code, "by_value", [value])
    assert "\n" not in str(caught.value)
    assert all(word in str(caught.value) for word in words), str(caught.value)
