"""What is asked of sums that fit, where the hardware does not keep them: RDNA3's WMMA."""

from dataclasses import replace

import pytest

from mfmasim.verify import find, select, verify_case
from mfmasim.verify.reports.terminal import Progress

PUBLISHED = """
from mfmasim.verify import A, B, C, case

@case("tile.hip", kernel="tile", arch=["gfx1151", "gfx1201"], data=["integers", "one_hot", "symmetric"])
def tile(M=16, N=16, K=16):
    a, b, c = A("f16", (M, K)), B("f16", (K, N), order="column"), C("f32", (M, N))
    return dict(grid=1, block=32, args=[a, b, c], expect=a @ b)
"""
TILE = """#include <hip/hip_runtime.h>
typedef _Float16 frag __attribute__((ext_vector_type(HALVES)));
typedef float acc __attribute__((ext_vector_type(8)));
extern "C" __global__ void tile(const frag *a, const frag *b, float *c) {
  int l = threadIdx.x % 16, h = threadIdx.x / 16;
  acc r = {};
  WMMA
  for (int i = 0; i < 8; ++i) c[ROW * 16 + l] = r[i];
}
"""
GFX11 = {"HALVES": "16", "WMMA": "r = __builtin_amdgcn_wmma_f32_16x16x16_f16_w32(a[l], b[l], r);", "ROW": "(2 * i + h)"}
GFX12 = {
    "HALVES": "8",
    "WMMA": "r = __builtin_amdgcn_wmma_f32_16x16x16_f16_w32_gfx12(a[2 * l + h], b[2 * l + h], r);",
    "ROW": "(8 * h + i)",
}


@pytest.mark.parametrize(("arch", "words"), [("gfx1151", GFX11), ("gfx1201", GFX12)])
def test_small_integers_are_asked_bit_for_bit_only_where_the_hardware_keeps_them(tmp_path, capsys, arch, words):
    """RDNA3 leaves -12.9999971 of a sum of -13 and zeros: that is no mistake of the kernel."""
    text = TILE
    for word, meaning in words.items():
        text = text.replace(word, meaning)
    (tmp_path / "tile.hip").write_text(text)
    (tmp_path / "cases.py").write_text(PUBLISHED)
    ((case, _),) = select([c for _, cases in find(str(tmp_path / "cases.py")) for c in cases], arch)
    result = verify_case(case, arch)
    assert result.status == "pass", [f.message for f in result.findings]
    how = "bit for bit" if arch == "gfx1201" else "within the error bound"
    assert [said.endswith(how) for said in result.compared_with] == [True] * 3
    assert ("do not add small integers" in result.record().get("remark", "")) == (arch == "gfx1151")
    progress = Progress()
    progress.show(result)
    progress.show(result)
    said = "RDNA3 do not add small integers exactly"
    assert capsys.readouterr().out.count(said) == (arch == "gfx1151"), "once a run"
    wrong = case.source.with_name("wrong.hip")
    wrong.write_text(text.replace("* 16 + l]", "* 16 + (l ^ 1)]"))
    assert verify_case(replace(case, source=wrong), arch).outputs["mismatches"] > 100


DOTS = """#include <hip/hip_runtime.h>
typedef _Float16 pair __attribute__((ext_vector_type(2)));
extern "C" __global__ void tile(const pair *a, const pair *b, float *c) {
  int n = threadIdx.x % 16, m = threadIdx.x / 16;
  float r = 0;
  for (int k = 0; k < 8; ++k) r = __builtin_amdgcn_fdot2(a[m * 8 + k], b[n * 8 + k], r, false);
  c[m * 16 + n] = r;
}
"""


@pytest.mark.parametrize(("arch", "how"), [("gfx1151", "within the error bound"), ("gfx1201", "bit for bit")])
def test_the_dot_product_of_one_lane_is_the_same_unit(tmp_path, arch, how):
    (tmp_path / "tile.hip").write_text(DOTS)
    (tmp_path / "cases.py").write_text(
        PUBLISHED.replace("block=32", "block=256").replace(", data=", ", trace=False, data=")
    )
    ((case, _),) = select([c for _, cases in find(str(tmp_path / "cases.py")) for c in cases], arch)
    result = verify_case(case, arch)
    assert any(name.startswith("v_dot2") for name in result.executed)
    assert result.status == "pass", [f.message for f in result.findings]
    assert [said.endswith(how) for said in result.compared_with] == [True] * 3
