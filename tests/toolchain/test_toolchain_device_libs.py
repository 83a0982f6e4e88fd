"""Mathematics from ROCm's device libraries: a stand-in for them, made of bitcode here, is linked and runs."""

import subprocess

import numpy as np
import pytest

import mfmasim
from mfmasim.errors import MfmasimError
from mfmasim.toolchain import compile_hip
from mfmasim.toolchain.device_libs import VARIABLE
from tests.toolchain.toolchain_helpers import other_clang

# Not what the names say, so that a test sees whose function ran; it uses a control constant, as the real one does.
LIBRARY = """
extern const __attribute__((address_space(4))) unsigned char __oclc_wavefrontsize64;
double __ocml_sin_f64(double x) { return x + 100.0; }
float __ocml_sin_f32(float x) { return x + (__oclc_wavefrontsize64 ? 64.0f : 32.0f); }
double __ocml_ncdf_f64(double x) { return -x; }
double __ocml_j0_f64(double x) { return 2.0 * x; }
"""
CONSTANT = (
    'const __attribute__((address_space(4), visibility("hidden"), weak)) unsigned char __oclc_wavefrontsize64 = {};\n'
)
KERNEL = """
#include <hip/hip_runtime.h>
__global__ void k(double* d, float* f) {
  int i = threadIdx.x;
  f[i] = sinf(f[i]) + sin(f[i]);
  d[i] = sin(d[i]) + normcdf(d[i]) + j0(d[i]) + sqrt(4.0);
}
"""


@pytest.fixture(scope="module")
def libraries(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bitcode")
    empty = "int nothing_{};\n"
    sources = {
        "ocml": LIBRARY,
        "oclc_isa_version_942": empty.format("a"),
        "oclc_isa_version_1201": empty.format("b"),
        "oclc_abi_version_600": empty.format("c"),
        "oclc_wavefrontsize64_on": CONSTANT.format(1),
        "oclc_wavefrontsize64_off": CONSTANT.format(0),
    }
    for name, text in sources.items():
        command = [
            other_clang(),
            "-x",
            "c",
            "-target",
            "amdgcn-amd-amdhsa",
            "-nogpulib",
            "-O1",
            "-emit-llvm",
            "-c",
            "-",
        ]
        output = folder / f"{name}.bc"
        subprocess.run([*command, "-o", str(output)], input=text.encode(), check=True, capture_output=True)
    return folder


@pytest.fixture
def source(tmp_path):
    file = tmp_path / "k.hip"
    file.write_text(KERNEL)
    return file


def run(code):
    d, f = np.arange(64, dtype=np.float64), np.arange(64, dtype=np.float32)
    assert mfmasim.device("sim").launch(code["k"], 1, 64, [d, f]).ok
    return d, f


@pytest.mark.oracle
@pytest.mark.parametrize("compiler", ["ziglang", "clang-22"])
def test_the_libraries_functions_take_the_place_of_ours(libraries, source, compiler):
    name = other_clang() if compiler == "clang-22" else compiler
    d, f = run(mfmasim.compile(source, "gfx942", compiler=name, device_libs=libraries))
    i = np.arange(64)
    assert np.array_equal(f, 2 * i + 128)
    assert np.array_equal(d, i + 100 - i + 2 * i + 2)
    assert compile_hip(source, "gfx1201", name, device_libs=libraries).data


@pytest.mark.oracle
def test_the_variable_names_the_folder_as_well(libraries, source, monkeypatch):
    plain = source.read_text().replace(" + j0(d[i])", "")
    source.write_text(plain)
    monkeypatch.setenv(VARIABLE, str(libraries))
    assert run(mfmasim.compile(source, "gfx942", compiler="ziglang"))[1][1] == 130
    monkeypatch.delenv(VARIABLE)
    assert np.allclose(run(mfmasim.compile(source, "gfx942", compiler="ziglang"))[1][1], 2 * np.sin(1.0))


def test_missing_files_are_named(tmp_path, source):
    (tmp_path / "ocml.bc").write_bytes(b"BC")
    with pytest.raises(MfmasimError) as caught:
        compile_hip(source, "gfx90a:xnack-", "ziglang", device_libs=tmp_path)
    said = "oclc_isa_version_90a.bc, oclc_abi_version_600.bc, oclc_wavefrontsize64_on.bc"
    assert str(caught.value) == f"device libraries in {tmp_path}: missing for gfx90a:xnack-: {said}"
    with pytest.raises(MfmasimError, match=r"oclc_wavefrontsize64_off\.bc"):
        compile_hip(source, "gfx1201", "ziglang", device_libs=tmp_path)
    with pytest.raises(MfmasimError, match=r"oclc_wavefrontsize64_on\.bc"):
        compile_hip(source, "gfx1201", "ziglang", flags=["-mwavefrontsize64"], device_libs=tmp_path)
    with pytest.raises(MfmasimError, match=r"oclc_isa_version_9_4_generic\.bc.*oclc_wavefrontsize64_on\.bc"):
        compile_hip(source, "gfx9-4-generic", "ziglang", device_libs=tmp_path)
    with pytest.raises(MfmasimError, match=r"is not a folder; ROCm's bitcode is in <ROCm>/amdgcn/bitcode"):
        compile_hip(source, "gfx942", "ziglang", device_libs=tmp_path / "nowhere")
