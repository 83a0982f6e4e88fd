"""A user's own kernel: tiled, in several waves, through LDS, with a K loop and an epilogue; right and wrong."""

import json
from pathlib import Path

import pytest

from mfmasim.cli import main

KERNEL = """
#include <hip/hip_runtime.h>
#include <hip/hip_fp16.h>
typedef _Float16 f16x4 __attribute__((ext_vector_type(4)));
typedef float f32x16 __attribute__((ext_vector_type(16)));

__global__ void gemm(const _Float16* A, const _Float16* Bt, float* C, int M, int N, int K, float alpha, float beta) {
    __shared__ _Float16 sa[64][36], sb[64][36];
    const int wave = threadIdx.x / 64, lane = threadIdx.x % 64;
    const int m0 = blockIdx.y * 64, n0 = blockIdx.x * 64;
    f32x16 acc = {};
    for (int k0 = 0; k0 < K; k0 += 32) {
        const int r = threadIdx.x / 4, c = threadIdx.x % 4 * 8;
        for (int i = 0; i < 8; i++) {
            sa[r][c + i] = A[(m0 + r) * K + k0 + c + i];
            sb[r][c + i] = Bt[(n0 + r) * K + k0 + c + i];
        }
        __syncthreads();
        for (int k = 0; k < 32; k += 8) {
            f16x4 a, b;
            for (int i = 0; i < 4; i++) {
                a[i] = sa[wave / 2 * 32 + lane % 32][k + 4 * (lane / 32) + i];
                b[i] = sb[wave % 2 * 32 + lane % 32][k + 4 * (lane / 32) + i];
            }
            acc = __builtin_amdgcn_mfma_f32_32x32x8f16(a, b, acc, 0, 0, 0);
        }
        __syncthreads();
    }
    for (int r = 0; r < 16; r++) {
        const int row = m0 + wave / 2 * 32 + 8 * (r / 4) + 4 * (lane / 32) + r % 4, col = n0 + wave % 2 * 32 + lane % 32;
        float v = alpha * acc[r];
        if (beta != 0) v += beta * C[row * N + col];
        C[row * N + col] = v;
    }
}
"""
CASE = """
from mfmasim.verify import case, A, B, C

@case("gemm.hip", kernel="gemm", arch=["gfx942", "gfx950"], needs="M % 64 == 0 and N % 64 == 0 and K % 32 == 0")
def gemm(M=64, N=128, K=64, alpha=1.0, beta=0.5):
    a = A("f16", (M, K))
    b = B("f16", (K, N), order="column")
    c = C("f32", (M, N))
    args = [a, b, c, M, N, K, alpha, beta]
    return dict(grid=(N // 64, M // 64), block=256, args=args, expect=alpha * (a @ b) + beta * c)
"""


def verify(folder: Path, kernel=KERNEL, case=CASE, *options):
    (folder / "gemm.hip").write_text(kernel)
    (folder / "my_case.py").write_text(case)
    out = folder / "out.json"
    code = main(["verify", str(folder / "my_case.py"), "--json", str(out), *options])
    return code, json.loads(out.read_text())


def test_right_kernel(tmp_path):
    code, results = verify(tmp_path)
    assert code == 0
    assert [r["status"] for r in results] == ["pass", "pass"]
    # integers and normal data; slots of A, B and C of 8 instructions in each of 8 waves, results and outputs
    assert results[0]["outputs"]["elements"] == 2 * 64 * 128
    assert results[0]["mapping"] == {"slots_checked": 8 * 8 * (32 * 8 * 2 + 1024) + 2 * 64 * 128, "mismatches": 0}


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("k += 8", "k += 16", "K 8..15, 24..31, 40..47, 56..63 of 64 never multiplied"),
        ("k0 = 0; k0 < K;", "k0 = 32; k0 < K;", "K 0..31 of 64 never multiplied"),
        ("sb[wave % 2 * 32 + lane % 32][k", "sb[wave % 2 * 32 + (lane ^ 1) % 32][k", "neighbouring columns"),
        ("sa[r][c + i] = A[", "sa[r][(c + i) ^ 2] = A[", "K is permuted in this operand only"),
        ("C[row * N + col] = v", "C[col * M + row] = v", "exchanging row and column in the address"),
    ],
)
def test_wrong_kernels(tmp_path, old, new, words):
    assert old in KERNEL
    code, results = verify(tmp_path, KERNEL.replace(old, new), CASE, "--arch", "gfx942")
    assert code == 1
    messages = [f["message"] for f in results[0]["findings"] if f["check"] == "mapping"]
    assert any(words in message for message in messages), messages


def test_consistent_permutation_is_told_apart(tmp_path):
    text = KERNEL.replace("[k + 4 * (lane / 32) + i]", "[k + 4 * (lane / 32) + (3 - i)]")
    assert text.count("(3 - i)") == 2
    code, results = verify(tmp_path, text, CASE, "--arch", "gfx942")
    assert code == 0
    assert [f["severity"] for f in results[0]["findings"]] == ["info"]
    assert "K is permuted alike in A and B" in results[0]["findings"][0]["message"]


def test_contract_is_refused_by_name(tmp_path, capsys):
    code, results = verify(tmp_path, KERNEL, CASE, "--arch", "gfx942", "--set", "K=100")
    assert code == 2
    assert results[0]["status"] == "error"
    assert "does not hold for K=100" in results[0]["findings"][0]["message"]
    assert "Traceback" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("case", "words"),
    [
        (CASE.replace('kernel="gemm"', 'kernel="gemmm"'), "gemmm"),
        (CASE.replace("gfx942", "gfx943"), "unknown architecture 'gfx943'"),
        (CASE.replace('"f16", (M, K)', '"f17", (M, K)'), "f17"),
        (CASE.replace("K, alpha, beta]", "K, alpha]"), "takes 8 arguments"),
        (CASE.replace("block=256", "block=2048"), "2048 work-items, at most"),
        (CASE.replace("gemm.hip", "gone.hip"), "no such file"),
        (CASE.replace("expect=", "expects="), "'expects'"),
        (CASE.replace("return dict", "retrun dict"), "my_case.py"),
    ],
)
def test_bad_cases_are_one_clear_line(tmp_path, capsys, case, words):
    (tmp_path / "gemm.hip").write_text(KERNEL)
    (tmp_path / "my_case.py").write_text(case)
    assert main(["verify", str(tmp_path / "my_case.py"), "--arch", "gfx950"]) == 2
    told = capsys.readouterr()
    assert words in told.out + told.err
    assert "Traceback" not in told.out + told.err


def test_compile_error_shows_the_compilers_message(tmp_path, capsys):
    (tmp_path / "gemm.hip").write_text(KERNEL.replace("acc[r]", "accu[r]"))
    (tmp_path / "my_case.py").write_text(CASE)
    assert main(["verify", str(tmp_path / "my_case.py"), "--arch", "gfx942"]) == 2
    told = capsys.readouterr()
    assert "accu" in told.out + told.err
    assert "gemm.hip:" in told.out + told.err


def test_unknown_target(capsys):
    assert main(["verify", "intor"]) == 2
    assert "did you mean 'intro'" in capsys.readouterr().err
