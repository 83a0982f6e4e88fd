"""The README of wmma_ops."""

from docs.companions import speed
from docs.companions.page import Companion, Part

LONG = "(long) "
"""Prefix of slow commands: they run for the page and in the long tier of tests."""
PAGE = Companion(
    "002",
    """wmma_ops is a public library of GEMM kernels for gfx1151 (RDNA3.5, WMMA in f16). Its README explains their
    development, the gain of each step, and what was tried without success, which few texts do. The kernels in
    `hipkernels/wmma` were written from its description; none of its code is included. Of its standard kernel (128x64
    of C for 8 waves, two slots in the LDS, the next tile prefetched into registers) outputs are compared bit for bit
    with the arithmetic of the instruction, which captures from hardware confirm, and each slot of every fragment is
    traced to its element:""",
    (("verify wmma --arch gfx1151 --case tile_128x64", "^PASS"),),
    ("Where each lane holds A of v_wmma_f32_16x16x16_f16 on gfx1151: lanes l and l + 16 alike", "wmma_fragment.svg"),
    {
        "Correctness Tests": Part(
            "Outputs and the LDS are poisoned before a launch, and tails are tested with surrounding NaNs: a kernel "
            "that writes nothing, or that multiplies a stale Inf by zero, cannot pass; neither can a transposition "
            "by lane exchanges that broadcasts the diagonal.",
            (
                ("mutate wmma --name writes_nothing", "elements differ|hold no result|caught,"),
                ("mutate wmma --name stale_a_times_zero", "C.* needs|elements differ|caught,"),
                (f"{LONG}mutate wmma --name diagonal_broadcast_on_gfx12", "elements differ|caught,"),
            ),
        ),
        "Flash Attention": Part(
            "`hipkernels/attention` has kernels with one thread per query and with tiles on WMMA and MFMA.",
            (("verify attention --arch gfx1151 --case wmma[causal=1]", "^PASS"),),
        ),
        "WMMA Fragment Layout": Part(
            "On gfx11 the lanes l and l + 16 hold the same row of A; on gfx12 each holds a half of K, and C lies "
            "otherwise.",
            (
                ("show gfx1151 v_wmma_f32_16x16x16_f16 A 3 5", "."),
                ("show gfx1151 v_wmma_f32_16x16x16_f16 D 3 5", "."),
                ("show gfx1201 v_wmma_f32_16x16x16_f16 D 3 5", "."),
            ),
        ),
        "LDS Bank Conflict Elimination": Part(
            "Eight lanes of a 16-byte read share a phase. With 16 bytes of padding between rows of 32 bytes they use "
            "each bank once. An exchange of halves by row & 1 changes no conflict; by row >> 2 & 1 it removes them.",
            (
                ("lds gfx1151 ds_load_b128 --address 'lane % 16 * 48'", "degrees"),
                ("lds gfx1151 ds_load_b128 --address 'lane % 16 * 32'", "degrees"),
                ("lds gfx1151 ds_load_b128 --address 'lane % 16 * 32 + (lane & 1) * 16'", "degrees"),
                ("lds gfx1151 ds_load_b128 --address 'lane % 16 * 32 + (lane >> 2 & 1) * 16'", "degrees"),
            ),
            ("Banks of the padded read, by phases", "wmma_padding.svg"),
        ),
        "Critical Implementation Fixes for XOR Swizzle": Part(
            "Fix 1 takes a column where its heading says row. A symmetric A hides it from outputs; the mapping check "
            "does not need another A:",
            (("mutate wmma --name column_of_a_symmetric", "needs|places wrong|caught by$|caught,"),),
        ),
        "L2 Cache Tile Rasterization": Part(
            "A map from workgroups to tiles must be a permutation on every grid. `hipkernels/grid_maps` has the "
            "published maps under descriptive names: `chunked_clamped` is the chunked column-major map, "
            "`xcd_forgotten` the chiplet swizzle, `super_clamped` the L2-aware map, `grouped` the swizzle.",
            (
                ("lds grid hilbert --every 40", "."),
                ("lds grid column --every 40", "."),
                ("lds grid grouped --every 40", "."),
                ("lds grid snake --every 40", "."),
                ("lds grid chunked_clamped --xcds 1 --every 19", "."),
                ("lds grid xcd_forgotten --window 8 --chunk 32", "permutation"),
                ("lds grid xcd_forgotten --rows 6 --cols 5 --xcds 1", "permutation"),
                ("lds grid super_clamped --rows 5 --cols 5", "permutation"),
            ),
        ),
        "Roofline Analysis": Part("59.4 TFLOPS over 256 GB/s are 232 operations per byte."),
        "ISA Analysis": Part(
            "The loop is found in the graph of executed instructions, and counts are per wave and iteration; K is 48 "
            "here. Every wait of the compiler with an operation in flight is needed: if it is removed or weakened by "
            "one, a check reports an error.",
            (
                ("report wmma --arch gfx1151 --case tile_128x64",
                 r"^│ (v_wmma|global_load|ds_load|ds_store)\w+ +│ [0-9.]+ +│$"),
                (f"{LONG}mutate wmma --binary --arch gfx1151 --case tile_64x64 --kind wait", "^wait|^total"),
            ),
        ),
    },
    "[gemm.md](../gemm.md), [attention.md](../attention.md), [cost.md](../cost.md)",
    """First the steps of the journey, then the final benchmarks; the README prints no K for the journey, 2,048 is
    that of its table of variants, which [cost.md](../cost.md) has. The timeline orders the steps nearly as the text
    does, and takes about half of its times from the second step on; the bound of our first step is above the text's
    time, so that our kernel is heavier there.""",
    lambda: [*speed.table(*speed.JOURNEY), "", *speed.table(*speed.FINALS)],
)  # fmt: skip
