"""The FP8 GEMM ladder, C = alpha A B^T + beta C, from one thread an element to large tiles in two slots of the LDS."""

from typing import Any

from hipkernels.gemm_fp8.problem import declare

MATRIX = "v_mfma_f32_16x16x(128_f8f6f4|32_fp8_fp8)"
DIRECT = [MATRIX, "buffer_load_dword.* lds"]
MASKED = {"bounds-buffer-range": "lanes beyond the matrices use an offset beyond the resource"}
SWIZZLES = ("none", "pairs", "offset", "row")
# The next tile is fetched before this one is read; the last turn fetches nothing.
AHEAD = {
    "gfx942": ("F16 R8 lgkmcnt(0) M16 vmcnt(0) B", "R8 lgkmcnt(0) M16"),
    "gfx950": ("F4 R8 lgkmcnt(0) M4 vmcnt(0) B", "R8 lgkmcnt(0) M4"),
}
GUARDED: dict[str, Any] = {"needs": "M > 0 and N > 0 and K > 0", "M": 17, "N": 33, "K": 65}
ELEMENT: dict[str, Any] = {"threads": (16, 16), "align": 1, "trace": False}

declare("naive", "simple.hip", tile=(16, 16, 1), **ELEMENT, **GUARDED)
declare("lds_tiled", "simple.hip", tile=(16, 16, 16), **ELEMENT, M=32, N=48, K=64)
declare("lds_tiled_guarded", "simple.hip", tile=(16, 16, 16), **ELEMENT, **GUARDED)
declare("one_wave_tile", "one_tile.hip", tile=(16, 16, 128), threads=64, align=1, M=32, N=48, executes=MATRIX)
for swizzle in SWIZZLES[:2]:
    declare(f"vectorised_{swizzle}", "one_tile.hip", tile=(32, 32, 128), threads=256, M=64, N=96, executes=MATRIX)
for swizzle in SWIZZLES:
    declare(f"direct_{swizzle}", "one_tile.hip", tile=(32, 32, 128), threads=256, M=64, N=96, executes=DIRECT)
for swizzle in SWIZZLES:
    declare(
        f"double_buffer_{swizzle}",
        "double_buffer.hip",
        tile=(64, 64, 128),
        threads=256,
        M=64,
        executes=DIRECT,
        order=AHEAD,
    )
declare("multi_wave_128x128_t512", "multi_wave.hip", tile=(128, 128, 128), threads=512, executes=DIRECT)
for threads in (512, 1024):
    declare(
        f"multi_wave_256x256_t{threads}",
        "multi_wave.hip",
        tile=(256, 256, 128),
        threads=threads,
        arch="gfx950",
        M=256,
        N=256,
        executes=DIRECT,
    )
declare(
    "general",
    "general.hip",
    tile=(64, 64, 128),
    threads=256,
    needs="M > 0 and N > 0 and K > 0",
    align=1,
    suppress=MASKED,
    each=[
        {"M": 17, "N": 16, "K": 127},
        {"M": 127, "N": 129, "K": 128, "lda": 144, "ldb": 128, "ldc": 131},
        {"M": 65, "N": 1, "K": 129, "lda": 137, "ldb": 130},
    ],
)
