"""A compiler that crashes gives one sentence; warnings are kept and shown."""

import pytest

import mfmasim
from mfmasim.cli.entry import main
from mfmasim.errors import MfmasimError
from mfmasim.toolchain.diagnostics import crash_of

PRINTED = """
#include <hip/hip_runtime.h>
typedef int words __attribute__((ext_vector_type(4)));
typedef __attribute__((address_space(3))) unsigned* shared;
__device__ void fetch(words rsrc, shared to, int size, int v, int s, int offset, int aux)
    __asm("llvm.amdgcn.raw.buffer.load.lds");
extern "C" __global__ void copy(const float* a, float* b) {
  __shared__ float tile[1024];
  words r = {(int)(unsigned long)a, (int)((unsigned long)a >> 32), 4096, 0x27000};
  fetch(r, (shared)tile, 16, threadIdx.x * 16, 0, 0, 0);
  __syncthreads();
  b[threadIdx.x] = tile[threadIdx.x];
}
"""


@pytest.mark.parametrize(
    ("arch", "reason"),
    [
        ("gfx942", "gfx942 has no 16-byte load to LDS: 1, 2, 4 bytes per lane; gfx950 has it"),
        ("gfx1100", "gfx1100 has no loads from global memory to LDS: load to registers, then ds_store"),
    ],
)
def test_a_crash_of_the_compiler_is_one_sentence(arch, reason, tmp_path):
    source = tmp_path / "copy.hip"
    source.write_text(PRINTED)
    with pytest.raises(MfmasimError) as error:
        mfmasim.compile(source, arch)
    assert str(error.value).endswith(reason)
    where = "" if "ziglang" in str(error.value) else " in copy"  # the wheel's clang prints no trace of its passes
    assert f"crashed for {arch}{where}: it has no instruction for llvm.amdgcn.raw.buffer.load.lds" in str(error.value)
    assert "\n" not in str(error.value)


def test_the_causes_of_crashes():
    assert crash_of("k.hip:3: error: expected ';'", 1) is None
    assert crash_of("", -9).reason == "it was terminated by signal 9"
    stack = (
        "fatal error: error in backend: out of registers\nStack dump:\n0. x\n4. Running pass 'P' on function '@gemm'\n"
    )
    assert (crash_of(stack, 1).reason, crash_of(stack, 1).function) == ("out of registers", "gemm")


def test_warnings_are_shown(tmp_path, capsys):
    source = tmp_path / "k.hip"
    source.write_text(
        '#include <hip/hip_runtime.h>\nextern "C" __global__ void k(float* a) { int spare = 3; a[threadIdx.x] = 1; }\n'
    )
    args = ["run", str(source), "--arch", "gfx942", "--flag=-Wall", "--arg", "f32:64", "--quiet"]
    assert main(args) == 0
    assert "k.hip:2:46: warning: unused variable 'spare'" in capsys.readouterr().err


def test_include_folders(tmp_path):
    (tmp_path / "inc").mkdir()
    (tmp_path / "inc" / "size.h").write_text("#define SIZE 4\n")
    source = tmp_path / "k.hip"
    source.write_text(
        '#include <hip/hip_runtime.h>\n#include "size.h"\nextern "C" __global__ void k(int* a) { *a = SIZE; }\n'
    )
    assert mfmasim.compile(source, "gfx942", include=[tmp_path / "inc"]).kernels == ("k",)
    with pytest.raises(MfmasimError, match="expected a list of folders"):
        mfmasim.compile(source, "gfx942", include="inc")
