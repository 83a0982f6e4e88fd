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
        const int row = m0 + wave / 2 * 32 + 8 * (r / 4) + 4 * (lane / 32) + r % 4;
        const int col = n0 + wave % 2 * 32 + lane % 32;
        float v = alpha * acc[r];
        if (beta != 0) v += beta * C[row * N + col];
        C[row * N + col] = v;
    }
}
"""
CASE = """
from mfmasim.verify import case, A, B, C

@case("gemm.hip", kernel="gemm", arch=["gfx942", "gfx950"], needs="M % 64 == 0 and N % 64 == 0 and K % 32 == 0")
def gemm(M=64, N=128, K=64, alpha=1.25, beta=0.5):
    a = A("f16", (M, K))
    b = B("f16", (K, N), order="column")
    c = C("f32", (M, N))
    args = [a, b, c, M, N, K, alpha, beta]
    return dict(grid=(N // 64, M // 64), block=256, args=args, expect=alpha * (a @ b) + beta * c)
"""


def said(result):
    """Findings but those about bank conflicts, which are for information and not what these tests are about."""
    return [finding for finding in result["findings"] if finding["check"] != "conflicts"]


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
        ("float v = alpha * acc[r];", "float v = alpha * alpha * acc[r];", None),
        ("sb[wave % 2 * 32 + lane % 32][k", "sb[wave % 2 * 32 + (lane ^ 1) % 32][k", "neighbouring columns"),
        ("sa[r][c + i] = A[", "sa[r][(c + i) ^ 2] = A[", "K is permuted in this operand only"),
        (
            "[k + 4 * (lane / 32) + i]",
            "[k + 4 * (lane % 2) + i]",
            "the group of 4 in K depends on lane % 2, and by the layout on lane // 32",
        ),
        ("C[row * N + col] = v", "C[col * M + row] = v", "exchanging row and column in the address"),
    ],
)
def test_wrong_kernels(tmp_path, old, new, words):
    assert old in KERNEL
    code, results = verify(tmp_path, KERNEL.replace(old, new), CASE, "--arch", "gfx942")
    assert code == 1
    messages = [f["message"] for f in said(results[0]) if f["check"] == "mapping"]
    if words is None:  # nothing wrong with the fragments
        assert [f["check"] for f in said(results[0])] == ["outputs"]
        return
    assert any(words in message for message in messages), messages


EPILOGUE = "float v = alpha * acc[r];", "v += beta * C[row * N + col]"
FACTORS = {
    "beta": (EPILOGUE[0], "v += C[row * N + col]", "C is added with a factor of 1, not beta = 0.5"),
    "no C": (EPILOGUE[0], "", "C is added with a factor of 0, not beta = 0.5"),
    "alpha": ("float v = acc[r];", EPILOGUE[1], "the product is taken with a factor of 1, not alpha = 1.25"),
    "half of the columns": (
        EPILOGUE[0],
        "v += (2 * col < N ? 1 : beta) * C[row * N + col]",
        "C is added with a factor of 1, not beta = 0.5, in a part of the output",
    ),
    "another beta in half of them": (EPILOGUE[0], "v += (2 * col < N ? 0.25f : beta) * C[row * N + col]", ""),
    "another beta": (EPILOGUE[0], "v += 0.25f * C[row * N + col]", ""),
    "one row": (
        EPILOGUE[0],
        "v += (row == 3 ? 1 : beta) * C[row * N + col]",
        "C is added with a factor of 1, not beta = 0.5, in a part of the output",
    ),
    "a few elements": (EPILOGUE[0], "v += (row == 3 && col < 8 ? 1 : beta) * C[row * N + col]", ""),
}


@pytest.mark.parametrize("name", FACTORS)
def test_a_factor_that_is_not_applied_is_named(tmp_path, name):
    first, second, words = FACTORS[name]
    text = KERNEL.replace(EPILOGUE[0], first).replace(EPILOGUE[1], second)
    code, results = verify(tmp_path, text, CASE, "--arch", "gfx942")
    assert code == 1
    found = [f["message"] for f in said(results[0]) if f["id"] == "outputs-factor"]
    assert [message.partition(":")[0] for message in found] == [words] * bool(words)


def test_consistent_permutation_is_told_apart(tmp_path):
    text = KERNEL.replace("[k + 4 * (lane / 32) + i]", "[k + 4 * (lane / 32) + (3 - i)]")
    assert text.count("(3 - i)") == 2
    code, results = verify(tmp_path, text, CASE, "--arch", "gfx942")
    assert code == 0
    assert [f["severity"] for f in said(results[0])] == ["info"]
    assert "K is permuted identically in A and B" in said(results[0])[0]["message"]


def test_contract_is_refused_by_name(tmp_path, capsys):
    code, results = verify(tmp_path, KERNEL, CASE, "--arch", "gfx942", "--set", "K=100")
    assert code == 2
    assert results[0]["status"] == "error"
    assert "does not hold for K=100" in said(results[0])[0]["message"]
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
        (CASE.replace("args = [", "1 / 0; args = ["), "my_case.py:9: ZeroDivisionError"),
        (CASE.replace("return dict(", "return list("), "my_case.py:10: TypeError"),
        (CASE.replace("    return dict", "    return 5; dict"), "returns int, a dict"),
        (CASE.replace("args=args", "args=5"), "args has to be a list"),
        (CASE.replace("+ beta * c", "+ beta * C('f32', (M, N))"), "expect uses a matrix C that is not among args"),
        (CASE.replace("alpha * (a @ b) + beta * c", "a"), "expect has shape (64, 64), C has (64, 128)"),
        (CASE.replace("expect=alpha * (a @ b) + beta * c", "expect=7"), "expect has to be a matrix expression"),
        (CASE.replace("alpha * (a @ b)", "float('nan') * (a @ b)"), "is not a finite number"),
        (CASE.replace("needs=", "data=[], needs="), "data names no class"),
        (CASE.replace("needs=", "checks='all,hazard', needs="), "unknown check"),
        (CASE.replace("needs=", "data=['norml'], needs="), "did you mean 'normal'"),
        (CASE.replace("M=64, N", "M, N"), "parameter M needs a default value"),
        (CASE.replace('kernel="gemm"', 'kernel="{Z}"'), "cannot be filled"),
        (CASE.replace("M % 64 == 0 and", "M % 0 == 0 and"), "cannot be judged"),
        (CASE.replace("needs=", "mapping={'Q': 1}, needs="), "unknown parameter 'Q'"),
        (CASE + "import sys; sys.exit(0)", "ends the program"),
    ],
)
def test_bad_cases_are_one_clear_line(tmp_path, capsys, case, words):
    (tmp_path / "gemm.hip").write_text(KERNEL)
    (tmp_path / "my_case.py").write_text(case)
    assert main(["verify", str(tmp_path / "my_case.py"), "--arch", "gfx950"]) == 2
    reported = capsys.readouterr()
    assert words in reported.out + reported.err
    assert "Traceback" not in reported.out + reported.err


def test_nothing_expected_is_said(tmp_path):
    code, results = verify(
        tmp_path, KERNEL, CASE.replace(", expect=alpha * (a @ b) + beta * c", ""), "--arch", "gfx942"
    )
    assert code == 0
    assert [f["severity"] for f in said(results[0])] == ["warning"]
    assert "outputs are not compared" in said(results[0])[0]["message"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--set", "M=1.5"], "int is expected"),
        (["--set", "M="], "int is expected"),
        (["--set", "Q=3"], "unknown parameter 'Q'"),
        (["--set", "M=64000000000"], "more than"),
        (["--device", "cuda"], "unknown device 'cuda'"),
        (["--compiler", "nope"], "nope"),
        (["--arch", "gfx1100"], "no case matches"),
    ],
)
def test_bad_options_are_one_clear_line(tmp_path, capsys, options, words):
    (tmp_path / "gemm.hip").write_text(KERNEL)
    (tmp_path / "my_case.py").write_text(CASE)
    assert main(["verify", str(tmp_path / "my_case.py"), *options]) == 2
    reported = capsys.readouterr()
    assert words in reported.out + reported.err
    assert "Traceback" not in reported.out + reported.err


def test_compile_error_shows_the_compilers_message(tmp_path, capsys):
    (tmp_path / "gemm.hip").write_text(KERNEL.replace("acc[r]", "accu[r]"))
    (tmp_path / "my_case.py").write_text(CASE)
    assert main(["verify", str(tmp_path / "my_case.py"), "--arch", "gfx942"]) == 2
    reported = capsys.readouterr()
    assert "accu" in reported.out + reported.err
    assert "gemm.hip:" in reported.out + reported.err


def test_unknown_target(capsys):
    assert main(["verify", "intor"]) == 2
    assert "did you mean 'intro'" in capsys.readouterr().err


SMALL = """
#include <hip/hip_runtime.h>
typedef float f32x16 __attribute__((ext_vector_type(16)));
#ifndef ROWS
#define ROWS 16
#endif
#define LOADS                                                                           \\
    const unsigned line = threadIdx.x % 32, half = threadIdx.x / 32;                    \\
    const float a = A[2 * line + half], b = B[32 * half + line];                        \\
    f32x16 c = {};
#define ROW (8 * (r / 4) + 4 * half + r % 4)

extern "C" __global__ void plain(const float* A, const float* B, float* C) {
    LOADS
    c = __builtin_amdgcn_mfma_f32_32x32x2f32(a, b, c, 0, 0, 0);
    for (unsigned r = 0; r < ROWS; r++) C[32 * ROW + line] = c[r];
}
extern "C" __global__ void exchanged(const float* A, const float* B, float* C) {
    LOADS
    c = __builtin_amdgcn_mfma_f32_32x32x2f32(b, a, c, 0, 0, 0);
    for (unsigned r = 0; r < 16; r++) C[32 * line + ROW] = c[r];
}
extern "C" __global__ void accumulate(const float* A, const float* B, float* C) {
    LOADS
    for (unsigned r = 0; r < 16; r++) c[r] = C[32 * ROW + line];
    c = __builtin_amdgcn_mfma_f32_32x32x2f32(a, b, c, 0, 0, 0);
    for (unsigned r = 0; r < 16; r++) C[32 * ROW + line] = c[r];
}
extern "C" __global__ void accumulate_wrong(const float* A, const float* B, float* C) {
    LOADS
    for (unsigned r = 0; r < 16; r++) c[r] = C[32 * (ROW ^ 1) + line];
    c = __builtin_amdgcn_mfma_f32_32x32x2f32(a, b, c, 0, 0, 0);
    for (unsigned r = 0; r < 16; r++) C[32 * ROW + line] = c[r];
}
extern "C" __global__ void doubled(const float* A, const float* B, float* C) {
    LOADS
    c = __builtin_amdgcn_mfma_f32_32x32x2f32(a, b, c, 0, 0, 0);
    for (unsigned r = 0; r < 16; r++) C[32 * ROW + line] = 2.0f * c[r];
}
extern "C" __global__ void reads_c(const float* A, const float* B, float* C) {
    LOADS
    c = __builtin_amdgcn_mfma_f32_32x32x2f32(a, b, c, 0, 0, 0);
    for (unsigned r = 0; r < 16; r++) C[32 * ROW + line] = c[r] + 0.0f * C[32 * ROW + line];
}
"""
SMALL += """
extern "C" __global__ void clobbers(float* A, const float* B, float* C) {
    LOADS
    c = __builtin_amdgcn_mfma_f32_32x32x2f32(a, b, c, 0, 0, 0);
    for (unsigned r = 0; r < 16; r++) C[32 * ROW + line] = c[r];
    A[2 * line + half] = 7.0f;
}
extern "C" __global__ void scaled(const float* A, const float* B, float* C, float alpha) {
    LOADS
    c = __builtin_amdgcn_mfma_f32_32x32x2f32(a, b, c, 0, 0, 0);
    for (unsigned r = 0; r < 16; r++) C[32 * ROW + line] = alpha * c[r];
}
extern "C" __global__ void nothing(const float* A, const float* B, int* C) { C[threadIdx.x] = 1; }
extern "C" __global__ void converts(const float* A, const float* B, float* C) {
    typedef _Float16 f16x4 __attribute__((ext_vector_type(4)));
    const unsigned line = threadIdx.x % 32, half = threadIdx.x / 32;
    f16x4 a, b;
    for (unsigned i = 0; i < 4; i++) {
        a[i] = A[8 * line + 4 * half + i];
        b[i] = B[32 * (4 * half + i) + line];
    }
    f32x16 c = {};
    c = __builtin_amdgcn_mfma_f32_32x32x8f16(a, b, c, 0, 0, 0);
    for (unsigned r = 0; r < 16; r++) C[32 * ROW + line] = c[r];
}
extern "C" __global__ void truncates(const float* A, const float* B, unsigned short* C) {
    LOADS
    c = __builtin_amdgcn_mfma_f32_32x32x2f32(a, b, c, 0, 0, 0);
    for (unsigned r = 0; r < 16; r++) C[32 * ROW + line] = __float_as_uint(c[r]) >> 16;
}
extern "C" __global__ void rounds(const float* A, const float* B, __bf16* C) {
    LOADS
    c = __builtin_amdgcn_mfma_f32_32x32x2f32(a, b, c, 0, 0, 0);
    for (unsigned r = 0; r < 16; r++) {
        const unsigned x = __float_as_uint(c[r]);
        C[32 * ROW + line] = __builtin_bit_cast(__bf16, (unsigned short)((x + 0x7fff + (x >> 16 & 1)) >> 16));
    }
}
"""
SMALL_CASE = """
from mfmasim.verify import case, A, B, C

@case("small.hip", kernel="KERNEL", arch="gfx942", flags=[FLAGS])
def small(M=32, N=32, K=DEPTH, alpha=0.3):
    a, b, c = A("f32", (M, K)READ), B("f32", (K, N)READ), C("FORMAT", (M, N))
    return dict(grid=1, block=64, args=[a, b, cMORE], expect=EXPECT)
"""


def small(folder, kernel, expect="a @ b", flags="", output="f32", read="", depth="2", more=""):
    (folder / "small.hip").write_text(SMALL)
    text = SMALL_CASE.replace("KERNEL", kernel).replace("EXPECT", expect).replace("FLAGS", flags)
    text = text.replace("FORMAT", output).replace("READ", read).replace("DEPTH", depth).replace("MORE", more)
    (folder / "case.py").write_text(text)
    out = folder / "out.json"
    code = main(["verify", str(folder / "case.py"), "--json", str(out)])
    return code, json.loads(out.read_text())[0]


def test_flags_reach_the_compiler(tmp_path):
    assert small(tmp_path, "plain")[0] == 0
    code, result = small(tmp_path, "plain", flags='"-DROWS=12"')
    assert code == 1
    assert any("256 of 1024 output elements hold no result" in f["message"] for f in said(result))


def test_exchanged_operands_are_a_transposed_product(tmp_path):
    code, result = small(tmp_path, "exchanged")
    assert code == 0
    assert not said(result)
    assert result["mapping"]["slots_checked"] == 2 * 64 + 3 * 1024


def test_an_accumulator_loaded_from_c(tmp_path):
    code, result = small(tmp_path, "accumulate", "a @ b + c")
    assert code == 0
    assert not said(result)
    code, result = small(tmp_path, "accumulate_wrong", "a @ b + c")
    assert code == 1
    finding = next(f for f in said(result) if f["check"] == "mapping")
    assert finding["element"] == "C[0, 0]"
    assert (finding["expected"], finding["actual"]) == ("C[0, 0]", "C[1, 0]")
    assert "neighbouring rows" in finding["message"]


def test_a_computed_epilogue_is_said_to_be_unfollowed_and_no_error(tmp_path):
    code, result = small(tmp_path, "doubled", "2.0 * (a @ b)")
    assert code == 0
    assert [f["severity"] for f in said(result)] == ["info"]
    assert "1024 of 1024 output elements are computed" in said(result)[0]["message"]


def test_reading_an_output_shows_even_with_a_factor_of_zero(tmp_path):
    code, result = small(tmp_path, "reads_c")
    assert code == 1
    finding = next(f for f in said(result) if f["check"] == "outputs")
    assert "nan" in finding["actual"]


def test_changed_inputs_are_told(tmp_path):
    code, result = small(tmp_path, "clobbers")
    assert code == 1
    assert [f["check"] for f in said(result)] == ["inputs"]
    assert said(result)[0]["element"] == "A[0, 0]"


def test_rounding_of_the_output_counts(tmp_path):
    assert small(tmp_path, "rounds", output="bf16")[0] == 0
    code, result = small(tmp_path, "truncates", output="bf16")
    assert code == 1
    assert [f["check"] for f in said(result)] == ["outputs"]


def test_a_factor_is_the_f32_that_the_kernel_gets(tmp_path):
    code, result = small(tmp_path, "scaled", "alpha * (a @ b)", more=", alpha")
    assert code == 0, said(result)
    code, result = small(tmp_path, "scaled", "0.301 * (a @ b)", more=", alpha")
    assert code == 1


def test_no_matrix_instruction_is_said(tmp_path):
    code, result = small(tmp_path, "nothing", output="i32")
    assert code == 1
    assert any("no matrix instruction was executed" in f["message"] for f in said(result))


def test_a_declared_conversion_is_not_followed_and_no_error(tmp_path):
    code, result = small(tmp_path, "converts", read=", read='f16'", depth="8")
    assert code == 0, said(result)
    assert [f["severity"] for f in said(result)] == ["info"]
    assert small(tmp_path, "converts", depth="8")[0] == 1


def test_equal_sizes_are_named_unless_a_variant_tells_them_apart(tmp_path, capsys):
    """With M equal to N, C[row * M + col] is right: one line says so, and none where another size is verified, too."""
    wrong = KERNEL.replace("C[row * N + col]", "C[row * M + col]")
    assert wrong.count("row * M") == 2
    assert verify(tmp_path, wrong, CASE, "--arch", "gfx942", "--set", "M=128")[0] == 0
    line = "M and N are equal in gemm: a kernel that takes one for the other passes"
    assert line in capsys.readouterr().out
    assert verify(tmp_path, wrong, CASE, "--arch", "gfx942")[0] == 1
    assert verify(tmp_path, KERNEL, CASE, "--arch", "gfx942")[0] == 0
    assert line not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("old", "new", "text"),
    [
        (", alpha, beta]\n", ", alpha]\n", "my_case.py:4: gemm: _Z4gemmPKDF16_S0_Pfiiiff takes 8 arguments (A, "),
        ("block=256", "blocks=256", "unknown key 'blocks' in what my_case.py:4: gemm returns; did you mean 'block'?"),
        (
            "expect=alpha * (a @ b) + beta * c",
            "expect=lambda a, b, c: a @ b",
            "my_case.py:4: gemm: expect has to be a matrix expression such as a @ b, not function; a function is for ",
        ),
    ],
)
def test_a_case_that_is_wrong_says_where(tmp_path, capsys, old, new, text):
    assert old in CASE
    (tmp_path / "gemm.hip").write_text(KERNEL)
    (tmp_path / "my_case.py").write_text(CASE.replace(old, new))
    assert main(["verify", str(tmp_path / "my_case.py"), "--arch", "gfx942"]) == 2
    lines = capsys.readouterr().out.splitlines()
    assert text in lines[2]
    assert lines[0].startswith("ERROR")
    assert lines[1].strip().startswith("case-wrong")  # one word for one state
