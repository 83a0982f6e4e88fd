"""mapping: elements are followed through the 16-bit registers of RDNA, and one moved to the wrong half is found."""

import pytest

import mfmasim
from mfmasim.isa.patching import with_fields
from mfmasim.lab.mutation.binary import patched
from mfmasim.verify import load_file, verify_case
from mfmasim.verify.prebuilt import code_for

KERNEL = """#include <hip/hip_runtime.h>
typedef _Float16 half8 __attribute__((ext_vector_type(8)));
typedef float float8 __attribute__((ext_vector_type(8)));

extern "C" __global__ void gemm(const _Float16* a, const _Float16* b, float* c, int rows) {
  int row = threadIdx.x % 16, first = threadIdx.x / 16 * 8;
  half8 x, y;
  for (int i = 0; i < 8; ++i) {
    _Float16 left = a[row * 16 + first + i], right = b[(first + i) * 16 + row];
    x[i] = row < rows ? left : (_Float16)0.0f;
    y[i] = row < rows ? right : (_Float16)0.0f;
  }
  float8 d = __builtin_amdgcn_wmma_f32_16x16x16_f16_w32_gfx12(x, y, float8{});
  for (int i = 0; i < 8; ++i) c[(first + i) * 16 + row] = d[i];
}
"""
CASE = """from mfmasim.verify import A, B, C, case

TRUE16 = ["-Xclang", "-target-feature", "-Xclang", "+real-true16"]


@case("gemm.hip", kernel="gemm", arch="gfx1201", flags=TRUE16)
def gemm():
    a, b, c = A("f16", (16, 16)), B("f16", (16, 16)), C("f32", (16, 16))
    return dict(grid=1, block=32, args=[a, b, c, 16], expect=a @ b)
"""
SELECT = "v_cndmask_b16"


@pytest.fixture(scope="module")
def gemm(tmp_path_factory):
    """The case and its kernel."""
    folder = tmp_path_factory.mktemp("halves")
    (folder / "gemm.hip").write_text(KERNEL)
    (folder / "case.py").write_text(CASE)
    (found,) = load_file(folder / "case.py")
    return found, code_for(found.source, "gfx1201", None, found.flags)["gemm"]


def test_elements_are_followed_into_both_halves(gemm):
    case, kernel = gemm
    moved = [ins for ins in kernel.instructions if ins.name == SELECT]
    assert {ins.modifiers["op_sel"] for ins in moved} == {0, 0b1010}
    assert {"global_load_d16_b16", "global_load_d16_hi_b16"} <= {ins.name for ins in kernel.instructions}
    result = verify_case(case, "gfx1201", kernel=kernel)
    assert result.status == "pass"
    assert result.mapping["slots_checked"] >= 1024
    assert not result.mapping["mismatches"]


@pytest.mark.parametrize("place", [0, 3, 9])
def test_the_wrong_half_is_found(gemm, place):
    """A selection that takes the other half of its source: the neighbour in K."""
    case, kernel = gemm
    instruction = [ins for ins in kernel.instructions if ins.name == SELECT][place]
    changed = with_fields(instruction, {"op_sel": instruction.modifiers["op_sel"] ^ 2}, kernel.wave)
    code = mfmasim.load(patched(kernel.code.object.data, instruction.pc, changed), "gfx1201")
    result = verify_case(case, "gfx1201", kernel=code["gemm"])
    assert result.status == "fail"
    assert result.mapping["mismatches"] >= 32
    assert "mapping-wrong-element" in {finding.id for finding in result.findings}
