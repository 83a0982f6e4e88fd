"""PyTorch's C++ extensions under `mfmasim hiprt`, and what of it needs no PyTorch."""

import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import mfmasim
from mfmasim import extensions, verify
from mfmasim.errors import MfmasimError
from mfmasim.extensions import backend, distributed, precompiled
from mfmasim.toolchain import find_compiler

HERE = Path(__file__).parent


def run(verb, program, *arguments):
    """Run a program of this folder under a verb."""
    pytest.importorskip("torch")
    if find_compiler().style != "clang":
        pytest.skip("extensions need a clang")
    command = [sys.executable, "-m", "mfmasim", verb, "--", sys.executable, str(HERE / program), *arguments]
    environment = {name: text for name, text in os.environ.items() if name != "PYTHONPATH"}
    environment["PYTHONPATH"] = str(HERE.parents[1])
    return subprocess.run(command, capture_output=True, text=True, env=environment, check=False)


@pytest.mark.long
def test_tensors_of_cuda_compute_as_those_of_the_cpu():
    """Every result lies in device memory of the runtime, with the bits and strides of the CPU's."""
    done = run("hiprt", "inside_tensors.py")
    assert done.stdout == "tensors 25\n", done.stdout + done.stderr
    assert done.returncode == 0


@pytest.mark.long
@pytest.mark.parametrize("verb", ["hiprt", "triton"])
def test_extensions_run_unmodified(tmp_path, verb):
    """`load_inline`, `load` of several sources, a library of operators; hipified, checked, and built once."""
    done = run(verb, "inside_extension.py", str(tmp_path), "right")
    assert "extensions done" in done.stdout, done.stdout + done.stderr
    assert done.returncode == 0
    assert "error" not in done.stderr
    library = tmp_path / "inside_right.so"
    built = library.stat().st_mtime_ns
    assert run(verb, "inside_extension.py", str(tmp_path), "right").returncode == 0
    assert library.stat().st_mtime_ns == built


@pytest.mark.long
def test_a_read_past_a_tensor_is_a_finding(tmp_path, monkeypatch):
    """A tensor has its own allocation: PyTorch's rounding hides nothing; the program goes on after the fault."""
    done = run("hiprt", "inside_extension.py", str(tmp_path), "wrong")
    assert done.returncode == 1, done.stdout
    assert "bounds-outside-buffer" in done.stderr
    assert "0 bytes past the end of hipMalloc" in done.stderr
    assert "RuntimeError: HIP error" in done.stderr
    monkeypatch.setenv("MFMASIM_HIPRT_AFTER_FAULT", "continue")
    done = run("hiprt", "inside_extension.py", str(tmp_path), "wrong")
    assert "went on" in done.stdout, done.stderr
    assert "error bounds-outside-buffer" in done.stderr
    assert "the load returned 0" in done.stderr


@pytest.mark.long
def test_ranks_share_memory_and_a_group(tmp_path, monkeypatch):
    """Two processes: operations of torch.distributed, and a kernel in each that waits for the other's."""
    monkeypatch.setenv("MFMASIM_HIPRT_ARCH", "gfx942,gfx942")
    monkeypatch.setenv("MFMASIM_HIPRT_CHECKS", "all")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    done = run("hiprt", "inside_ranks.py", str(tmp_path), port)
    assert sorted(done.stdout.splitlines()) == ["rank 0 done", "rank 1 done"], done.stdout + done.stderr
    assert done.returncode == 0
    assert not [line for line in done.stderr.splitlines() if line.startswith("mfmasim: error")]


@pytest.mark.parametrize(
    ("asked", "given"),
    [
        ("nccl", "gloo"),
        ("NCCL", "gloo"),
        ("gloo", "gloo"),
        ("cpu:gloo,cuda:nccl", "cpu:gloo,cuda:gloo"),
        ("fake", "fake"),
        (None, None),
    ],
)
def test_groups_use_gloo(asked, given):
    assert distributed.backend_of(asked) == given


def test_the_starter_comes_first_in_the_path():
    """Python imports the starter; the program's own folders stay."""
    made = extensions.changes("hiprt", {"PYTHONPATH": "/own"})
    assert made["PYTHONPATH"].split(os.pathsep)[1:] == ["/own"]
    assert made["MFMASIM_EXTENSIONS"] == "hiprt"
    assert (Path(made["PYTHONPATH"].split(os.pathsep)[0]) / "sitecustomize.py").is_file()


def test_a_compiler_of_another_library_is_refused(monkeypatch):
    """The ziglang wheel's C++ library is not PyTorch's: one line says which compiler is."""

    class Zig:
        style, description = "zig", "clang 21 (ziglang)"

    monkeypatch.setattr(backend, "find_compiler", Zig)
    with pytest.raises(MfmasimError, match=r"extensions need a clang 21 or newer .* not clang 21 \(ziglang\)"):
        backend.compiler()


def test_options_that_change_the_language_choose_the_headers(tmp_path):
    """Macros and folders do not; and a source that does not read PyTorch's headers uses none."""
    chosen = [
        word
        for word in ["-O3", "-DX=1", "-ffast-math", "-Iq", "-std=c++17", "-w"]
        if precompiled.LANGUAGE.fullmatch(word)
    ]
    assert chosen == ["-O3", "-ffast-math", "-std=c++17"]
    assert precompiled.without_optimisation(chosen) == ["-ffast-math", "-std=c++17"]
    source = tmp_path / "a.hip"
    for text, reads in (
        ("#include <torch/extension.h>\n", True),
        ("//\n #  include <ATen/ATen.h>", True),
        ("int a;", False),
    ):
        source.write_text(text)
        assert precompiled.reads_torch(source) == reads


COMPLEX = r"""
#include <thrust/complex.h>
extern "C" __global__ void apply(const double* in, double* out) {
  thrust::complex<double> z(in[2 * threadIdx.x], in[2 * threadIdx.x + 1]), made[7] = {
    thrust::exp(z), thrust::log(z), thrust::sqrt(z), thrust::tanh(z), thrust::pow(z, z), thrust::conj(z),
    thrust::polar(thrust::abs(z), thrust::arg(z))};
  for (int i = 0; i < 7; ++i) {
    out[(threadIdx.x * 7 + i) * 2] = made[i].real();
    out[(threadIdx.x * 7 + i) * 2 + 1] = made[i].imag();
  }
}
"""


@pytest.mark.long
def test_complex_numbers_of_thrust(tmp_path):
    """What PyTorch's headers use of rocThrust computes as NumPy does."""
    source = tmp_path / "c.hip"
    source.write_text(COMPLEX)
    given = np.array([1 + 2j, -0.5 + 0.25j, 3 - 1j, -2 - 2j])
    out = np.zeros((4, 7), complex)
    kernel = mfmasim.compile(source, arch="gfx942")["apply"]
    mfmasim.device("sim").launch(kernel, 1, 4, [given, out])
    expected = [np.exp(given), np.log(given), np.sqrt(given), np.tanh(given), given**given, given.conj(), given]
    np.testing.assert_allclose(out, np.stack(expected, 1), rtol=1e-12)


EXAMPLE = HERE.parents[1] / "docs" / "example" / "challenge"


@pytest.mark.long
def test_kernels_of_the_challenge_pass(tmp_path):
    """Every case of the example passes, at ragged sizes, too."""
    shutil.copytree(EXAMPLE, tmp_path / "challenge")
    ran = [
        (case.name, verify.verify_case(case, arch))
        for case in verify.load_file(tmp_path / "challenge" / "cases.py")
        for arch in case.arch
    ]
    assert [name for name, result in ran if result.status != "pass"] == []
    assert len(ran) == 13
    assert sum(result.mapping["slots_checked"] for _, result in ran) > 0


@pytest.mark.long
def test_submissions_of_the_challenge_compute_what_is_asked():
    """`custom_kernel` of each against plain PyTorch, by the command that docs/challenge.md has."""
    done = run("hiprt", "inside_challenge.py", str(EXAMPLE))
    assert [line for line in done.stdout.splitlines() if line in ("fp8_mm", "moe", "mla_decode")] == [
        "fp8_mm",
        "moe",
        "mla_decode",
    ], done.stdout + done.stderr
    assert "error" not in done.stderr


def test_a_lock_ends_with_its_process(tmp_path):
    """Of a build that was interrupted nothing is left that later ones wait for."""
    pytest.importorskip("torch")
    from mfmasim.extensions.loader import Baton

    place, first = str(tmp_path / "lock"), Baton(str(tmp_path / "lock"))
    assert first.try_acquire()
    assert not Baton(place).try_acquire()
    first.release()
    child = os.fork()
    if not child:
        Baton(place).try_acquire()
        os._exit(0)
    os.waitpid(child, 0)
    Baton(place).wait()
    again = Baton(place)
    assert again.try_acquire()
    again.release()
