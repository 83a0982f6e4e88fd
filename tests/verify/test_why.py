"""`mfmasim why`: an element of C back to the elements of A and B, through registers and the LDS to the loads."""

import json
import re

import pytest

import mfmasim
from mfmasim.cli import main
from mfmasim.errors import MfmasimError
from mfmasim.resources import folder
from mfmasim.verify import find, why
from mfmasim.verify.data import draw

SWIZZLED = """
#include <hip/hip_runtime.h>
typedef _Float16 half4 __attribute__((ext_vector_type(4)));
typedef float f16v __attribute__((ext_vector_type(16)));
extern "C" __global__ __launch_bounds__(64) void gemm(const _Float16* A, const _Float16* B, float* C, int K) {
  __shared__ _Float16 As[32*32], Bs[32*32];
  int t = threadIdx.x, r = t % 32, g = t / 32;
  f16v acc = {};
  for (int k0 = 0; k0 < K; k0 += 32) {
    for (int i = t; i < 256; i += 64) {
      int row = i / 8, c = (i % 8);
      *(half4*)&As[row*32 + (c ^ (row & 7))*4] = *(const half4*)&A[row*K + k0 + c*4];
      *(half4*)&Bs[row*32 + (c ^ (row & 7))*4] = *(const half4*)&B[row*K + k0 + c*4];
    }
    __syncthreads();
    for (int k = 0; k < 32; k += 8) {
      int c = k/4 + g;
      half4 a = *(half4*)&As[r*32 + (c ^ (r & 7))*4];
      half4 b = *(half4*)&Bs[r*32 + (c ^ (r & MASK))*4];
      acc = __builtin_amdgcn_mfma_f32_32x32x8f16(a, b, acc, 0, 0, 0);
    }
    __syncthreads();
  }
  for (int i = 0; i < 16; i++) C[((i/4)*8 + g*4 + i%4)*32 + r] = STORED;
}
"""
CASE = """
from mfmasim.verify import case, A, B, C
@case("k.hip", kernel="gemm", arch="gfx942")
def gemm(M=32, N=32, K=64):
    a, b, c = A("f16", (M, K)), B("f16", (K, N), order="column"), C("f32", (M, N))
    return dict(grid=1, block=64, args=[a, b, c, K], expect=a @ b)
"""


def file(tmp_path, mask=7, stored="acc[i]"):
    tmp_path /= f"mask{mask}"
    tmp_path.mkdir(exist_ok=True)
    (tmp_path / "k.hip").write_text(SWIZZLED.replace("MASK", str(mask)).replace("STORED", stored))
    (tmp_path / "case.py").write_text(CASE)
    return str(tmp_path / "case.py")


def loaded(factor, matrix, bits, line):
    """First byte of the element that the last step of a way loads, and the byte where the element lies."""
    held, row, col = re.fullmatch(r"([AB])\[(\d+), (\d+)\]", factor.holds).groups()
    number = int(row) * line + int(col) if matrix.order == "row" else int(col) * line + int(row)
    byte = int(re.search(r"byte (\d+) of argument \d+", factor.way[-1])[1])
    return held, byte, number * bits // 8


@pytest.mark.parametrize(
    ("family", "title", "arch", "bits"),
    [
        ("intro", "f32_32x32x2", "gfx942", 32),
        ("gemm_f16", "f16_32x32x8", "gfx942", 16),
        ("gemm_fp8", "double_buffer_row", "gfx950", 8),
        ("gemm_fp8", "double_buffer_pairs", "gfx942", 8),
        ("wmma", None, "gfx1201", 16),
    ],
)
def test_the_way_of_each_factor_ends_at_the_byte_of_its_element(family, title, arch, bits):
    """The labels say which element a register holds; the accesses, recorded apart, say which byte was loaded."""
    every = [case for _, cases in find(family) for case in cases if arch in case.arch and arch not in case.skip]
    case = next(c for c in every if title is None or title in c.title)
    launch = case.make(case.mapping)
    compared = 0
    for element in ("C[0, 0]", "C[13, 7]", "c [3,15]"):
        found = why(case, arch, element, ways=3)
        assert found.ok
        assert len({product.k for product in found.products} - {-1}) == launch.tensors["A"].shape[1]
        for product in found.products:
            for factor in product.factors:
                if not factor.way or "byte" not in factor.way[-1]:
                    continue
                matrix = launch.tensors[factor.holds[0]]
                if matrix.read or " of argument" not in factor.way[-1]:
                    continue
                held, byte, own = loaded(factor, matrix, bits, matrix.ld or matrix.line)
                assert held == matrix.role
                assert own - 3 <= byte <= own + 3, (factor, own)  # a load may begin at the dword of the element
                compared += 1
    assert compared >= 12


def test_a_swizzle_on_one_side_is_seen_at_the_element(tmp_path, capsys):
    name = file(tmp_path, mask=3)
    assert main(["why", name, "C[5, 7]"]) == 1
    text = capsys.readouterr().out
    assert "64 of the products are wrong" in text
    assert "WRONG K 0: A[5, 0] in lane 5 v" in text
    assert "(needs B[0, 7])" in text
    assert "ds_read_b64" in text
    assert "LDS byte" in text
    assert "of argument 1" in text
    assert main(["why", name, "C[5, 2]"]) == 0, "rows 0 to 3 of the tile are read where they were written"
    assert "each is of the elements that it should be of" in capsys.readouterr().out
    assert main(["why", file(tmp_path), "C[5, 7]", "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert record["ok"] is True
    assert len(record["products"]) == 64
    assert record["missing"] == record["twice"] == record["wrong"] == []


@pytest.mark.parametrize(
    ("stored", "text"),
    [
        ("K > 1000 ? acc[i] : 0.0f", "holds the constant 0"),
        ("acc[i] * 2.5f + 1.0f", "holds a value that is computed from results"),
        ("acc[15 - i]", "C[5, 7] is D["),
    ],
)
def test_what_is_no_result_is_said(tmp_path, capsys, stored, text):
    assert main(["why", file(tmp_path, stored=stored), "C[5,7]"]) == 1
    assert text in capsys.readouterr().out


def test_missing_k_is_said(tmp_path, capsys):
    name = file(tmp_path)
    source = tmp_path / "mask7" / "k.hip"
    source.write_text(source.read_text().replace("k0 < K; k0 += 32", "k0 < K; k0 += 64"))
    assert main(["why", name, "C[5,7]"]) == 1
    assert "K 32, 33, 34, 35, 36, 37, 38, 39, ...: never multiplied" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["C[32,0]"], "'C[32,0]' is outside C, which has 32 rows and 32 columns"),
        (["A[0,0]"], "'A[0,0]' is no element of the output: C[row, column] is expected, such as 'C[17,3]'"),
        (["17,3"], "is no element of the output"),
        (["C[0,0]", "--ways", "-1"], "--ways -1: a whole number of 0 or more is expected"),
        (["C[0,0]", "--arch", "gfx950"], "no case matches --arch gfx950"),
        (["C[0,0]", "--set", "K=zz"], "int is expected"),
    ],
)
def test_what_cannot_be_asked_says_why(tmp_path, capsys, words, text):
    assert main(["why", file(tmp_path), *words]) == 2
    assert text in capsys.readouterr().err


def test_of_several_cases_one_is_to_be_chosen(capsys):
    assert main(["why", "gemm_f16", "C[0,0]"]) == 2
    assert re.search(r"gemm_f16 has \d+ cases: choose one by --case: f16_16x16x16, ", capsys.readouterr().err)


def test_a_case_of_plain_arrays_says_what_to_use():
    case = next(case for _, cases in find("cast") for case in cases if case.make().arrays)
    with pytest.raises(MfmasimError, match="has no matrix C: why follows cases of matrices"):
        why(case, case.arch[0], "C[0,0]")


@pytest.mark.parametrize(("title", "arch"), [("sparse_gemm", "gfx942"), ("sparse_wave32", "gfx1201")])
def test_the_index_selects_which_elements_of_b_take_part(title, arch):
    """Kept element c of a row is multiplied with row 4 (c / 2) + position of B, whatever lane holds it."""
    ((_, cases),) = find("gemm_sparse")
    case = next(case for case in cases if case.title == title)
    found = why(case, arch, "C[37, 101]", ways=1)
    index = case.make(case.mapping).tensors["index"]
    positions = draw(index, case.data[0], case.title, mfmasim.arch(arch))[37].tolist()
    wanted = {(f"A[37, {c}]", f"B[{c // 2 * 4 + position}, 101]") for c, position in enumerate(positions)}
    assert {tuple(factor.holds for factor in product.factors) for product in found.products} == wanted
    assert len(found.products) == len(positions) == 64
    assert found.ok
    way = found.products[0].factors[1].way
    assert any(step.startswith(("buffer_load", "ds_write", "ds_store")) for step in way)


def test_an_index_of_another_lane_selects_wrong_elements(tmp_path, capsys):
    """The whole name of a case chooses it alone."""
    source = folder("hipkernels") / "gemm_sparse"
    for name in ("cases.py", "sparse.hip", "tile.h"):
        text = (source / name).read_text(encoding="utf-8")
        (tmp_path / name).write_text(text.replace("half ? 0x07050301 : 0x06040200", "half ? 0x06040200 : 0x07050301"))
    words = ["C[0,0]", "--case", "sparse_gemm", "--arch", "gfx942", "--json"]
    assert main(["why", str(tmp_path / "cases.py"), *words]) == 1
    found = json.loads(capsys.readouterr().out)
    assert len(found["wrong"]) > 16
    assert not found["ok"]
    assert all(product["factors"][0]["holds"] == product["factors"][0]["needs"] for product in found["products"])
