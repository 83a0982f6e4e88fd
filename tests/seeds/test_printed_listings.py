"""Printed listings as they stand: compiled from the texts, executed, judged. What a listing lacks is added here.

What `hipkernels` changed against them is a table in docs/listings.md.
"""

import subprocess
import sys

import numpy as np
import pytest

import mfmasim
from mfmasim import grids, lds
from mfmasim.verify import load_file, verify_case
from tests.seeds.printed import between, blocks

pytestmark = pytest.mark.oracle

CASES = """\
from mfmasim.verify import A, B, C, case

"""
INTRO = (
    CASES
    + """\
@case("{file}", kernel="{kernel}", arch={arch})
def printed():
    a, b, c = A("{fmt}", ({m}, {k})), B("{fmt}", ({k}, {m})), C("f32", ({m}, {m}))
    return dict(grid=1, block=64, args=[a, b, c], expect=a @ b)
"""
)
LISTINGS = [
    ("mfma_fp32_32x32x2_fp32", "f32", 32, 2, ["gfx908", "gfx90a", "gfx942", "gfx950"]),
    ("mfma_fp32_16x16x16_fp16", "f16", 16, 16, ["gfx942", "gfx950"]),
    ("mfma_fp32_32x32x16_fp8_fp8", "fp8", 32, 16, ["gfx942", "gfx950"]),
    ("mfma_fp32_32x32x64_fp8_fp8", "fp8", 32, 64, ["gfx950"]),
    ("mfma_fp32_32x32x64_fp4_fp4", "e2m1fn", 32, 64, ["gfx950"]),
]
GEMM_ARGS = "args=[a, b, c, M, N, K, K, K, N, 1.25, 0.5], expect=1.25 * (a @ b) + 0.5 * c"
GEMM = (
    CASES
    + f"""\
@case("gemm.hip", kernel="{{kernel}}", arch=["gfx942", "gfx950"], trace=False)
def printed(M=48, N=64, K=48):
    a, b, c = A("fp8", (M, K)), B("fp8", (K, N), order="column"), C("bf16", (M, N))
    return dict(grid=(N // 16, M // 16), block=(16, 16), {GEMM_ARGS})
"""
)
TYPES = """\
#include <hip/hip_runtime.h>
#include <hip/hip_bf16.h>
#include <hip/hip_fp8.h>
#define TILE_M 16
#define TILE_N 16
#define TILE_K 16
#if defined(__gfx942__)
using fp8e4m3 = __hip_fp8_e4m3_fnuz;
#else
using fp8e4m3 = __hip_fp8_e4m3;
#endif
using bf16 = __hip_bfloat16;
"""
"""What the listings of the FP8 GEMM leave to the reader: types and the sides of a tile."""


def judged(folder, source, cases, name="gemm.hip"):
    """Results of a case file whose source is a listing, one for each architecture."""
    (folder / name).write_text(source)
    (folder / "printed_cases.py").write_text(cases)
    (case,) = load_file(folder / "printed_cases.py")
    return [verify_case(case, arch) for arch in case.arch]


@pytest.mark.parametrize("number", range(5))
def test_kernels_of_the_introduction_pass_as_printed(number, tmp_path):
    kernel, fmt, m, k, arch = LISTINGS[number]
    listing = [block for block in blocks("004") if "#include" in block][number]
    cases = INTRO.format(file="printed.hip", kernel=kernel, fmt=fmt, m=m, k=k, arch=arch)
    results = judged(tmp_path, listing, cases, "printed.hip")
    assert [(one.status, one.findings) for one in results] == [("pass", [])] * len(arch)
    assert all(one.mapping["slots_checked"] > 0 and one.outputs["elements"] % (m * m) == 0 for one in results)


def test_the_printed_launch_of_the_introduction_runs(tmp_path):
    """The kernel and its launch by <<<1, 64>>>, in a program that has what the text leaves out: copies and a check."""
    (launch,) = [block for block in blocks("004") if "<<<" in block]
    kernel = next(block for block in blocks("004") if "#include" in block)
    program = (
        kernel
        + f"""
#include <cstdio>
int main() {{
  float A[64], B[64], C[1024], *A_device, *B_device, *C_device;
  for (int i = 0; i < 64; ++i) A[i] = i % 7 - 3, B[i] = i % 5 - 2;
  hipMalloc((void **)&A_device, sizeof A), hipMalloc((void **)&B_device, sizeof B);
  hipMalloc((void **)&C_device, sizeof C);
  hipMemcpy(A_device, A, sizeof A, hipMemcpyHostToDevice), hipMemcpy(B_device, B, sizeof B, hipMemcpyHostToDevice);
  {launch}
  hipMemcpy(C, C_device, sizeof C, hipMemcpyDeviceToHost);
  int wrong = 0;
  for (int i = 0; i < 32; ++i)
    for (int j = 0; j < 32; ++j) wrong += C[32 * i + j] != A[2 * i] * B[j] + A[2 * i + 1] * B[32 + j];
  printf("wrong %d\\n", wrong);
  return wrong != 0;
}}
"""
    )
    source = tmp_path / "host.hip"
    source.write_text(program)
    run = [sys.executable, "-m", "mfmasim"]
    subprocess.run(
        [*run, "hipcc", "--offload-arch=gfx950", str(source), "-o", str(tmp_path / "host")], check=True, timeout=300
    )
    command = [*run, "hiprt", "--arch", "gfx950", "--checks", "all", "--", str(tmp_path / "host")]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "wrong 0" in done.stdout


@pytest.mark.parametrize("kernel", ["baseline_fp8_gemm_kernel", "lds_tiled_fp8_gemm_kernel"])
def test_the_first_kernels_of_the_fp8_gemm_pass_as_printed(kernel, tmp_path):
    """Types and the sides of a tile are added; M, N and K are multiples of the tile."""
    listing = between("000", f"__global__ void {kernel}(", "}")
    results = judged(tmp_path, TYPES + listing, GEMM.format(kernel=kernel))
    assert [(one.status, one.outputs["elements"]) for one in results] == [("pass", 6144)] * 2
    assert {f.severity for one in results for f in one.findings} <= {"info", "note"}


def test_the_printed_copy_through_the_lds_is_wrong(tmp_path):
    """`ds_read_b128` takes four times the byte address that the load has written; the resource has odd flags."""
    head = "#include <hip/hip_runtime.h>\n#define NUM_ELEM 256\n"
    parts = [
        ("using i32x4", "};"),
        ("__device__ inline i32x4 make_srsrc", "}"),
        ("__global__ void lds_buffer_copy", "}"),
    ]
    source = tmp_path / "copy.hip"
    source.write_text(head + "\n".join(between("000", *part) for part in parts))
    kernel = mfmasim.compile(source, arch="gfx950")["lds_buffer_copy"]
    numbers, copied = np.arange(256, dtype=np.float32), np.full(256, -1, np.float32)
    report = mfmasim.device("sim").launch(kernel, 1, 64, [numbers, copied], checks="all")
    assert (copied == numbers).sum() <= 64
    assert {"bounds"} <= {f.check for f in report.findings if f.severity == "error"}
    assert sum(f.check == "strides" for f in report.findings) == 2


GRID = """\
extern "C" __global__ void swizzled(int *out) {
  const int2 at = swizzle(blockIdx.x, 16 * threadIdx.x);
  out[blockIdx.x * 8 + threadIdx.x] = at.x * 128 + at.y;
}
extern "C" __global__ void remapped(int *out, int M, int N) {
%s
  out[2 * blockIdx.x] = block_m, out[2 * blockIdx.x + 1] = block_n;
}
"""


def test_the_printed_swizzle_and_remap_of_the_interleave(tmp_path):
    """One-to-one in 16 rows; a permutation of the tiles of every grid tried, the one of `mfmasim.grids`."""
    head = "#include <hip/hip_runtime.h>\n#define BLOCK_M 1\n#define BLOCK_N 1\n"
    head += "__device__ int ceil_div(int a, int b) { return (a + b - 1) / b; }\n"
    swizzle = "__device__ " + between("001", "int2 swizzle(", "}")
    remap = "__device__ " + between("001", "int remap_wgid(", "}")
    grid = between("001", "constexpr int NUM_XCDS", "const int block_n = pos_within_group / group_size_m;")
    source = tmp_path / "grid.hip"
    source.write_text("\n".join([head, swizzle, remap, GRID % grid]))
    code = mfmasim.compile(source, arch="gfx950")
    device = mfmasim.device("sim")
    places = np.full(128, -1, np.int32)
    device.launch(code["swizzled"], 16, 8, [places], checks="all")
    row, column = np.divmod(places, 128)
    assert sorted((row * 8 + column // 16).tolist()) == list(range(128))
    twin = lds.swizzle("cdna4_4wave")
    rows, columns = np.divmod(np.arange(128), 8)
    assert (places == twin.place(rows, 16 * columns)).all()
    for m, n in [(4, 6), (16, 16), (16, 17), (5, 5), (1, 40), (40, 1), (7, 13), (32, 32)]:
        tiles = np.full((m * n, 2), -1, np.int32)
        device.launch(code["remapped"], m * n, 1, [tiles, np.int32(m), np.int32(n)], checks="none")
        assert sorted(map(tuple, tiles.tolist())) == [(i, j) for i in range(m) for j in range(n)]
        assert (tiles == grids.layout("xcd_grouped", m, n, xcds=8, window=4, chunk=8).tiles).all()


HELPER = """\
#include <hip/hip_runtime.h>
#include <hip/hip_fp16.h>
using half16 = _Float16 __attribute__((ext_vector_type(16)));
using float8 = float __attribute__((ext_vector_type(8)));
struct Swz {
  static constexpr int K_GROUPS_MASK = 1;
  static __device__ int to_flat(int row, int col) { return row * 16 + col; }
};
%s
extern "C" __global__ void tile(const _Float16 *A, const _Float16 *B, float *C, int M, int N) {
  __shared__ __half a[256];
  const int lane = threadIdx.x, block_m = 0, block_n = 0, warp_m_base = 0, warp_n_base = 0;
  for (int i = lane; i < 256; i += 32) {
    const int row = i / 16, group = i %% 16 / 8;
    reinterpret_cast<_Float16 *>(a)[row * 16 + (group ^ (row & 1)) * 8 + i %% 8] = A[i];
  }
  __syncthreads();
  half16 a_frag, b_frag;
  load_a_frag_swizzled<Swz>(a_frag, a, warp_m_base, lane %% 16);
  for (int k = 0; k < 16; ++k) b_frag[k] = B[k * 16 + lane %% 16];
  float8 c00 = {}, c01 = {}, c10 = {}, c11 = {};
  c00 = __builtin_amdgcn_wmma_f32_16x16x16_f16_w32(a_frag, b_frag, c00);
%s
}
"""


def test_the_printed_fragment_helper_takes_columns_and_the_printed_epilogue_is_right(tmp_path):
    """Fix 1 transposes A: the product is that of A transposed. Fix 2 stores where gfx1151 holds C."""
    helper = between("002", "template<typename SwzA>", "}")
    epilogue = between("002", "int frag_col = lane % 16;           // Column is fixed per lane", "}")
    source = tmp_path / "helper.hip"
    source.write_text(HELPER % (helper, epilogue))
    kernel = mfmasim.compile(source, arch="gfx1151")["tile"]
    rng = np.random.default_rng(5)
    a, b = (rng.integers(-4, 5, (16, 16)).astype(np.float16) for _ in "ab")
    c = np.full((16, 16), np.nan, np.float32)
    mfmasim.device("sim").launch(kernel, 1, 32, [a, b, c, np.int32(16), np.int32(16)])
    # WMMA of f16 on RDNA3 rounds sums of small integers, too, as captures show.
    assert np.allclose(c, a.T.astype(np.float32) @ b, atol=1e-4)
    assert not np.allclose(c, a.astype(np.float32) @ b, atol=1)


class Smaller:
    """PyTorch on the CPU, whose random matrices have a sixteenth of the printed rows and columns; of heads all."""

    def __init__(self, torch):
        self.torch, self.float16, self.matmul = torch, torch.float16, lambda a, b: torch.matmul(a.float(), b.float())

    def randn(self, *shape, device, dtype):
        assert device == "cuda"
        small = [max(n // 16, 16) if n > 64 else n for n in shape]
        return self.torch.randn(*small, dtype=dtype)


@pytest.mark.parametrize("first", ["# Create test tensors", "# Input: Q, K, V tensors", "# C = 2.0 * (A @ B)"])
def test_the_printed_uses_of_wmma_ops_run(first, capsys):
    """The Python of the README with `hipkernels.wmma.ops` as `wmma_ops`, on smaller tensors of the CPU."""
    torch = pytest.importorskip("torch")
    from hipkernels.wmma import ops

    last = {"# Cr": 'print(f"Max error', "# In": "O_scaled = ", "# C ": "wmma_ops.gemm_inplace(A, B, C, alpha=1.5"}[
        first[:4]
    ]
    printed = between("002", first, last, starts=True)
    torch.manual_seed(3)
    a, b = torch.randn(48, 32, dtype=torch.float16), torch.randn(32, 40, dtype=torch.float16)
    names = {"torch": Smaller(torch), "wmma_ops": ops, "A": a, "B": b, "C_prev": torch.randn(48, 40)}
    exec(printed, names)
    if "Create" in first:
        assert float(capsys.readouterr().out.removeprefix("Max error: ")) < 1e-3
        assert names["C"].shape == (256, 256)
    elif "Input" in first:
        q, k, v = (names[name].float() for name in "QKV")
        attention = torch.nn.functional.scaled_dot_product_attention
        for found, more in (
            (names["O"], {}),
            (names["O_causal"], {"is_causal": True}),
            (names["O_scaled"], {"scale": 0.1}),
        ):
            assert (found.float() - attention(q, k, v, **more)).abs().max() < 2e-3
    else:
        product = a.double() @ b.double()
        wanted = 1.5 * product + 0.3 * (2 * product + 0.5 * names["C_prev"].double())
        assert (names["C"].double() - wanted).abs().max() < 1e-3
