"""Printed listings that are parts of a kernel: put into one, with what they leave out, executed, and judged.

The order of pseudo-code is read from the texts and compared with the orders that cases of `hipkernels` prove.
"""

import re
import shutil
import subprocess

import numpy as np
import pytest

import mfmasim
from hipkernels.gemm_fp8.scheduled.schedules import PRINTED, pingpong_order
from mfmasim import lds
from mfmasim.resources import folder
from mfmasim.verify import load_file, verify_case
from tests.seeds.printed import between, blocks, text_of

pytestmark = pytest.mark.oracle

GEMM_FP8 = folder("hipkernels") / "gemm_fp8"
CASE = """\
from mfmasim.verify import A, B, C, case

@case("printed.hip", kernel="printed", arch=["gfx950"], executes="v_mfma_f32_16x16x128_f8f6f4", flags=["-I{include}"])
def printed(M={m}, N={n}, K=384):
    a, b, c = A("fp8", (M, K), align=16), B("fp8", (K, N), order="column", align=16), C("bf16", (M, N))
    args = [a, b, c, M, N, K, K, K, N, 1.25, 0.5]
    return dict(grid=(N // {tile}, M // {tile}), block={block}, args=args, expect=1.25 * (a @ b) + 0.5 * c)
"""


def judged(folder_, source, **sizes):
    """The result of a GEMM whose source contains listings."""
    (folder_ / "printed.hip").write_text(source)
    (folder_ / "printed_cases.py").write_text(CASE.format(include=GEMM_FP8, **sizes))
    (case,) = load_file(folder_ / "printed_cases.py")
    return verify_case(case, "gfx950")


MAPPED = """\
#include <hip/hip_runtime.h>
#include <hip/hip_bf16.h>
#include <tile.h>
using fp8_t = unsigned char;
using bf16_t = __hip_bfloat16;
#define bf16 bf16_t
%(vector)s
static inline __device__ f32x4 matrix_core_op(const Fragment &a, const Fragment &b, f32x4 sum) {
  return multiply(sum, a, b);
}
extern "C" __global__ void printed(const fp8_t *A_storage, const fp8_t *B_storage, bf16 *C, int M, int N, int K,
                                   int lda, int ldb, int ldc, float alpha, float beta) {
  __shared__ __attribute__((aligned(16))) fp8_t As[16][128], Bs[16][128];
  const int lane_in_wave = threadIdx.x, a_tile_row_start = 0, b_tile_row_start = 0;
  const int base_m = 16 * blockIdx.y, base_n = 16 * blockIdx.x, output_tile_row = base_m, output_tile_col = base_n;
  f32x4 accumulator = {};
  %(mapping)s
  for (int k0 = 0; k0 < K; k0 += 128) {
    for (int piece = lane; piece < 128; piece += 64) {
      const int r = piece / 8, k = piece %% 8 * 16;
      %(stores)s
    }
    __syncthreads();
    const Fragment input_a_fragment = {*(const words4 *)&As[a_row][k_chunk0], *(const words4 *)&As[a_row][k_chunk1]};
    const Fragment input_b_fragment = {*(const words4 *)&Bs[b_row][k_chunk0], *(const words4 *)&Bs[b_row][k_chunk1]};
    %(product)s
    __syncthreads();
  }
  const f32x4 accum_fp32 = accumulator;
  %(store)s
}
"""


def test_the_printed_mapping_loads_and_writeback_of_the_fp8_gemm_are_right(tmp_path):
    """Lane mapping, vectorised loads and writeback in a kernel of one wave: every slot has the element of Figure 1."""
    source = MAPPED % {
        "vector": between("000", "using fp8x16_t =", "}"),
        "mapping": between("000", "const int lane = lane_in_wave;", "const int k_chunk1 = k_chunk0 + 64;", starts=True),
        "stores": between("000", "const fp8x16_t a_vec =", "*reinterpret_cast<fp8x16_t*>(&Bs[r][k]) = b_vec;"),
        "product": "accumulator = matrix_core_op(input_a_fragment, input_b_fragment, accumulator);",
        "store": between("000", "const int output_col =", "}"),
    }
    assert "accumulator = matrix_core_op(input_a_fragment, input_b_fragment, accumulator);" in text_of("000")
    result = judged(tmp_path, source, m=32, n=48, tile=16, block=64)
    assert (result.status, result.outputs["elements"]) == ("pass", 32 * 48 * 2)
    assert result.mapping["slots_checked"] > 0
    assert {f.severity for f in result.findings} <= {"info", "note"}


PIPELINED = """\
#include <tile.h>
struct Tile {
  char bytes[32 * TILE_K];
};
#define LdsTile __shared__ __attribute__((aligned(16))) Tile
extern "C" __global__ void __launch_bounds__(256) printed(const fp8 *A, const fp8 *B, bf16 *C, int M, int N,
    int K, int lda, int ldb, int ldc, float alpha, float beta) {
  const Gemm g = {A, B, C, M, N, K, lda, ldb, ldc, alpha, beta};
  const unsigned wave = __builtin_amdgcn_readfirstlane(threadIdx.x / 64), lane = threadIdx.x %% 64;
  const int row = blockIdx.y * 32, column = blockIdx.x * 32, num_k_tiles = g.K / TILE_K;
  const auto a_rows = rows_of(g.A, row, 32, g.lda, g.K), b_rows = rows_of(g.B, column, 32, g.ldb, g.K);
  const auto prefetch_tile_to_lds = [&](Tile &a, Tile &b, int tile) {
    fetch<None, 32, 4>(a.bytes, a_rows, 0, g.lda, tile * TILE_K, wave, lane);
    fetch<None, 32, 4>(b.bytes, b_rows, 0, g.ldb, tile * TILE_K, wave, lane);
  };
  const auto prefetch_tile_to_lds_async = prefetch_tile_to_lds;
  const auto wait_for_global_loads = [] { WAIT_DIRECT(0); };
  const auto block_sync = [] { BARRIER(); };
  const auto mfma = [](f32x4 sum, const Fragment &a, const Fragment &b) { return multiply(sum, a, b); };
  Fragment fragments_a, fragments_b;
  f32x4 acc = {};
  unsigned first_row = wave / 2 * 16;
  const auto read_fragments_from_lds = [&](const Tile &tile) {
    Fragment found;
    start_read<None>(found, tile.bytes, first_row, lane);
    WAIT_LDS();
    arrived(found);
    first_row ^= (wave / 2 ^ wave %% 2) * 16;  // of A, then of B
    return found;
  };
  %s
  finish_tile(g, row + wave / 2 * 16, column + wave %% 2 * 16, acc, lane);
}
"""


def test_the_printed_double_buffer_is_right(tmp_path):
    """The pseudo-code is C++ once its helpers are there: no race with any number of tiles of K."""
    loop = between("000", "LdsTile A_lds[2], B_lds[2];", "}")
    result = judged(tmp_path, PIPELINED % loop, m=32, n=64, tile=32, block=256)
    assert (result.status, result.outputs["elements"]) == ("pass", 32 * 64 * 2)
    assert {f.severity for f in result.findings} <= {"info", "note"}


def test_the_printed_swizzle_of_the_fp8_gemm(tmp_path):
    """One-to-one in each row, and the layout `cdna4_gemm`."""
    listing = "__device__ " + between("000", "int swizzle_col(", "}")
    body = "out[threadIdx.x] = swizzle_col(threadIdx.x / 128, threadIdx.x % 128);"
    kernel = f'extern "C" __global__ void at(int *out) {{ {body} }}'
    source = tmp_path / "swizzle.hip"
    source.write_text(f"#include <hip/hip_runtime.h>\n{listing}\n{kernel}\n")
    found = np.full(1024, -1, np.int32)
    mfmasim.device("sim").launch(mfmasim.compile(source, arch="gfx950")["at"], 1, 1024, [found])
    row, column = np.divmod(np.arange(1024), 128)
    assert (found + 128 * row == lds.swizzle("cdna4_gemm").place(row, column)).all()
    assert all(sorted(line) == list(range(128)) for line in found.reshape(8, 128).tolist())


ALTERNATE = """\
#include <hip/hip_runtime.h>
extern "C" __global__ void halves(int *out) {
  __shared__ int held[256];
  %s
}
"""
BLOCK_1 = """\
if (wave_m == 0) {
  *(volatile int *)&held[threadIdx.x] = threadIdx.x;
  asm volatile("s_waitcnt lgkmcnt(0)" ::: "memory");
} else out[threadIdx.x - 256] = *(volatile int *)&held[threadIdx.x - 256];
"""


@pytest.mark.parametrize("apart", [True, False])
def test_the_printed_barriers_let_half_of_the_waves_go_first(apart, tmp_path):
    """Waves 4 to 7 enter code block 1 after waves 0 to 3 have left it; without the printed barrier 0 that is a race."""
    listing = between("000", "// 8 waves per threadblock", "// code block 2")
    assert listing.count("__builtin_amdgcn_s_barrier();") == 2
    listing = listing.replace("// code block 1\n", BLOCK_1)
    if not apart:
        listing = listing.replace("__builtin_amdgcn_s_barrier(); // barrier 0", "")
    source = tmp_path / "halves.hip"
    source.write_text(ALTERNATE % listing)
    out = np.full(256, -1, np.int32)
    report = mfmasim.device("sim").launch(
        mfmasim.compile(source, arch="gfx950")["halves"], 1, 512, [out], checks=["races", "barrier"]
    )
    found = {f.check for f in report.findings if f.severity in {"error", "warning"}}
    assert found == ({"barrier"} if apart else {"races"})
    assert not apart or (out == np.arange(256)).all()


def written(lines, meanings):
    """Steps of pseudo-code: for each line that matches a pattern its step; equal ones in a row are one."""
    steps = []
    for line in lines:
        for pattern, step in meanings:
            match = re.search(pattern, line)
            if match:
                name, count = step, 0
                if step in {"R", "F", "M"}:
                    count = int(match[1]) if match.groups() else 8
                    if steps and steps[-1][0] == step:
                        count += steps.pop()[1]
                elif match.groups():
                    name = match[1]
                steps.append((name, count))
                break
    return " ".join(f"{name}{count}" if count > 1 else name for name, count in steps)


def test_the_hot_loop_of_the_ping_pong_has_the_proved_order():
    """What its pseudo-code issues and waits for is the order that the case `pingpong_256` proves."""
    lines = between("000", "// HOT LOOP", "// END HOT LOOP").splitlines()
    steps = [
        (r"ds_read_b128 reads.*lgkmcnt \+= (\d)", "R"),
        (r"buffer loads.*vmcnt \+= (\d)", "F"),
        (r"s_waitcnt (\w+\(\d\))", "wait"),
        (r"amdgcn_s_barrier", "B"),
        (r"\bmma\(", "M"),
    ]
    assert written(lines, steps) == pingpong_order("gfx950")


def test_the_block_of_the_interleave_begins_in_the_printed_order():
    """The post prints a block up to its third read: the case `interleave_printed_256` goes on in this way."""
    lines = between(
        "001", "mfma_ABt(c, a, b, c, 0, 0);", "load_one_rt<1, 0>(lds_src, rt_dst, lds_swizzle);"
    ).splitlines()
    steps = [(r"^mfma_ABt", "one"), (r"^load_one_lds", "fetch"), (r"^load_one_rt", "read")]
    short = {"one": "M", "fetch": "F", "read": "R"}
    printed = "".join(short[step] for step in written(lines, steps).split())
    assert printed == "MMFRMRMFR"
    ours = re.sub(r"([MFR])(\d)", lambda match: match[1] * int(match[2]), PRINTED).replace(" ", "")
    assert ours.startswith(printed)


FRAGMENT = """\
#include <hip/hip_runtime.h>
#include <hip/hip_fp16.h>
using half16 = _Float16 __attribute__((ext_vector_type(16)));
using float8 = float __attribute__((ext_vector_type(8)));
struct Swizzle {
  static constexpr int K_GROUPS_MASK = 1;
  static __device__ int to_flat(int row, int col) { return row * 16 + col; }
};
using SwzA = Swizzle;
using SwzB = Swizzle;
extern "C" __global__ void tile(const _Float16 *A, const _Float16 *B, float *C, int M, int N) {
  __shared__ _Float16 A_lds[1][256], B_lds[1][256];
  const int lane = threadIdx.x, curr = 0, warp_m_base = 0, warp_n_base = 0, gr0 = 0, gc0 = 0;
  for (int i = lane; i < 256; i += 32) {
    const int row = i / 16, place = row * 16 + (i %% 16 / 8 ^ row & 1) * 8 + i %% 8;
    A_lds[0][place] = A[i];
    B_lds[0][place] = B[i %% 16 * 16 + row];  // transposed
  }
  __syncthreads();
  half16 a0, b0;
  for (int k = 0; k < 16; ++k) a0[k] = A[lane %% 16 * 16 + k], b0[k] = B[k * 16 + lane %% 16];
  {
%s
  }
  float8 c00 = {};
  c00 = __builtin_amdgcn_wmma_f32_16x16x16_f16_w32(a0, b0, c00);
  %s
}
"""
STORE = "for (int i = 0; i < 8; ++i) C[(i * 2 + lane / 16) * N + lane % 16] = c00[i];"


def product(folder_, fragment="", store=STORE):
    """C of one tile by a kernel with a printed load of a fragment or a printed store; A, B."""
    source = folder_ / "tile.hip"
    source.write_text(FRAGMENT % (fragment, store))
    rng = np.random.default_rng(5)
    a, b = (rng.integers(-4, 5, (16, 16)).astype(np.float16) for _ in "ab")
    c = np.full((16, 16), np.nan, np.float32)
    kernel = mfmasim.compile(source, arch="gfx1151")["tile"]
    mfmasim.device("sim").launch(kernel, 1, 32, [a, b, c, np.int32(16), np.int32(16)])
    return c, a.astype(np.float32), b.astype(np.float32)


def test_the_printed_loads_of_fragments(tmp_path):
    """Of B it is right; that of A takes a column, before its correction as after it."""
    right = between("002", "int frag_row_orig = lane % 16;", "}")
    c, a, b = product(tmp_path, right)
    assert np.allclose(c, a @ b, atol=1e-4)
    corrected = between("002", "int frag_col_orig = lane % 16;", "}")
    c, a, b = product(tmp_path, corrected)
    assert np.allclose(c, a.T @ b, atol=1e-4)
    before = between("002", "int frag_col = lane % 16;", "}")
    c, a, b = product(tmp_path, before)
    assert not np.allclose(c, a @ b, atol=1)
    assert not np.allclose(c, a.T @ b, atol=1)


def test_the_printed_store_that_is_called_wrong_is_wrong(tmp_path):
    """Eight elements of a row to one place of C, as printed."""
    listing = between("002", "int frag_row = lane % 16;", "}")
    assert "WRONG!" in listing
    c, a, b = product(tmp_path, store=listing)
    assert np.isnan(c).sum() == 255
    assert np.abs(a @ b - c[0, 0]).min() < 1e-3


def test_the_printed_instructions_of_wmma_assemble_and_are_decoded(tmp_path):
    """The wait and the four products of the README, by LLVM's assembler and the decoder here."""
    assembler = shutil.which("llvm-mc-22") or pytest.skip("llvm-mc-22 is not installed")
    listing = between("002", "s_waitcnt lgkmcnt(0)   ", "v_wmma_f32_16x16x16_f16 v[25:32]", starts=True)
    command = [assembler, "-triple=amdgcn-amd-amdhsa", "-mcpu=gfx1151", "-filetype=obj", "-o", str(tmp_path / "p.o")]
    subprocess.run(command, input=listing, text=True, check=True, timeout=60)
    shown = subprocess.run(
        ["llvm-objdump-22", "-d", "--mcpu=gfx1151", str(tmp_path / "p.o")],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    ).stdout
    found = re.findall(r"v_wmma_f32_16x16x16_f16 v\[\d+:\d+\], v\[\d+:\d+\], v\[\d+:\d+\], v\[\d+:\d+\]", shown)
    assert found == re.findall(r"v_wmma_f32_16x16x16_f16 [^;]*\]", listing)
    assert len(found) == 4


def test_the_printed_functions_for_fp4_are_those_of_the_header(tmp_path):
    """`__amd_extract_fp4` and `__amd_create_fp4x2`, for every byte and every pair."""
    listings = [
        block for block in blocks("004") if block.startswith(("uint8_t __amd_extract", "__amd_fp4x2_storage_t __amd"))
    ]
    assert len(listings) == 2
    printed = "\n".join(f"__device__ {one}" for one in listings)
    printed = printed.replace("__amd_extract_fp4", "printed_extract").replace("__amd_create_fp4x2", "printed_create")
    source = tmp_path / "fp4.hip"
    source.write_text(
        f"""#include <hip/hip_runtime.h>
#include <hip/hip_ext_ocp.h>
{printed}
extern "C" __global__ void both(unsigned char *ours, unsigned char *theirs) {{
  const int i = threadIdx.x;
  ours[3 * i] = __amd_extract_fp4(i, 0), theirs[3 * i] = printed_extract(i, 0);
  ours[3 * i + 1] = __amd_extract_fp4(i, 1), theirs[3 * i + 1] = printed_extract(i, 1);
  ours[3 * i + 2] = __amd_create_fp4x2(i % 16, i / 16), theirs[3 * i + 2] = printed_create(i % 16, i / 16);
}}
"""
    )
    ours, theirs = np.full(768, 1, np.uint8), np.full(768, 2, np.uint8)
    mfmasim.device("sim").launch(mfmasim.compile(source, arch="gfx950")["both"], 1, 256, [ours, theirs])
    assert (ours == theirs).all()
    assert (ours.reshape(256, 3)[:, 2] == np.arange(256)).all()
