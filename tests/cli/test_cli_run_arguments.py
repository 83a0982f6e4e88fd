"""mfmasim run: buffers, kernels and arguments by name, compiler flags, and what is refused before anything runs."""

import numpy as np
import pytest

from mfmasim.cli.entry import main

SOURCE = """
#include <hip/hip_runtime.h>
#include "scale.h"
extern "C" __global__ void copy(const float* a, float* b, int n, float spare) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) b[i] = a[i] * SCALE + OFFSET;
}
template <typename T, int N> __global__ void gk(const T* a, T* b) { b[threadIdx.x] = a[threadIdx.x] * (T)N; }
template __global__ void gk<float, 3>(const float*, float*);
template __global__ void gk<int, 4>(const int*, int*);
extern "C" __global__ void shift(float* x) {
  __shared__ float tile[64];
  tile[threadIdx.x] = x[threadIdx.x];
  x[threadIdx.x + 1] = tile[threadIdx.x ^ 1];
}
"""


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    folder = tmp_path_factory.mktemp("kernels")
    (folder / "inc").mkdir()
    (folder / "inc" / "scale.h").write_text("#define OFFSET 0.5f\n")
    (folder / "k.hip").write_text(SOURCE)
    return folder / "k.hip"


@pytest.fixture
def run(source, capsys):
    def run(kernel, *args):
        flags = ["--arch", "mi300x", "-D", "SCALE=2", "-I", str(source.parent / "inc")]
        code = main(["run", str(source), kernel, *flags, *args])
        out, err = capsys.readouterr()
        return code, out, err

    return run


def test_a_buffer_without_contents_is_undefined(run):
    code, out, _ = run("copy", "--arg", "f32:64", "--arg", "f32:64", "--arg", "64", "--arg", "f32=0")
    assert code == 1
    assert "uninitialised-stored" in out
    assert "k.hip:6" in out, out
    assert "comes from a[0], which was never written" in out


def test_arguments_by_name_and_printed_buffers(run):
    named = ["--arg", "n=60", "--arg", "b=f32:8x8", "--arg", "a=f32:64=range", "--arg", "spare=1.5"]
    code, out, err = run("copy", *named, "--print", "b")
    assert code == 0
    assert "note: argument 3 (spare) is never read" in err
    assert "b: float32 8x8" in out
    assert "[0, 0]   0.5   2.5" in out
    assert out.rstrip().endswith("--    --    --    --"), "nothing wrote the last four"


@pytest.mark.parametrize(("name", "factor", "kind"), [("gk<float,3>", 3, "f32"), ("gk<int, 4>", 4, "i32")])
def test_templates_by_their_names(run, name, factor, kind, tmp_path):
    args = ["--arg", f"{kind}:64=2", "--arg", f"b={kind}:64", "--out", str(tmp_path), "--quiet"]
    assert run(name, *args)[0] == 0
    assert (np.load(tmp_path / "arg1.npy") == 2 * factor).all()


def test_a_block_that_is_no_multiple_of_the_wave_is_remarked(run):
    args = ["--arg", "f32:99=1", "--arg", "f32:99", "--block", "99"]
    code, _, err = run("gk<float, 3>", *args)
    assert code == 0
    assert "note: a block of 99 work-items is no multiple of the wave of 64: 35 of 64 lanes" in err


def test_elements_are_named(run):
    code, out, _ = run("shift", "--arg", "x=f32:8x8=1", "--quiet", "--checks", "bounds,races")
    assert code == 1
    assert "outside every buffer: x[8, 0] at address" in out


@pytest.mark.parametrize(
    ("kernel", "args", "message"),
    [
        ("copy", ["f32:64=1", "f32:64", "1000.5", "0.5"], "(n) is int: a whole number is expected, not 1000.5"),
        ("copy", ["f64:64=1", "f32:64", "64", "0.5"], "(a) is const float*: an array of float32 is expected"),
        ("gk<int,4>", ["f64:64=1", "i32:64"], "(a) is const int*: an array of int32 is expected, not float64"),
        ("gk<int,4>", ["i64:64=1", "i32:64"], "(a) is const int*: an array of int32 is expected, not int64"),
        ("copy", ["m=64"], "unknown argument 'm' in --arg m=64; allowed: a, b, n, spare"),
        ("copy", ["a=f32:64"], "copy: 3 arguments are missing: b, n, spare; it takes a (const float*)"),
        ("copy", ["a=null", "a=null"], "argument 0 (a) is given twice"),
        ("gk", ["null", "null"], "kernel 'gk' is ambiguous; give one of gk<float, 3>, gk<int, 4>"),
        ("gk<float,4>", [], "unknown kernel 'gk<float,4>'"),
        ("copy", ["f32:64=1", "f32:64", "64", "z"], "argument 'z': expected"),
    ],
)
def test_what_is_refused_before_anything_runs(run, kernel, args, message):
    code, out, err = run(kernel, *(part for arg in args for part in ("--arg", arg)))
    assert code == 2
    assert message in err
    assert "wave-instructions" not in out
    assert len(err.strip().splitlines()) == 1


def test_an_unknown_buffer_to_print(run):
    code, _, err = run("gk<float,3>", "--arg", "f32:64=1", "--arg", "f32:64", "--print", "c")
    assert code == 2
    assert "unknown buffer 'c'" in err
