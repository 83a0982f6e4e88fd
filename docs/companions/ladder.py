"""The post on FP8 GEMM kernels of CDNA4."""

from docs.companions import speed
from docs.companions.page import Companion, Part

READ = "lds gfx950 ds_read_b128 --address 'lane % 16 * 128 + lane // 16 * 16'"
PAGE = Companion(
    "000",
    """The post develops an FP8 GEMM for CDNA4 from one thread an element to eight waves that take turns. Each of its
    steps is a kernel in `hipkernels/gemm_fp8`, written from its description; its printed listings are executed as
    they stand where they are complete ([listings](../listings.md)); the notebook
    `docs/notebooks/5_the_gemm_ladder.ipynb` follows it, too. Of its fastest kernel, the 8-wave ping-pong, every
    output, every slot, every LDS access and the order of its loop are proved:""",
    (("verify gemm_fp8/scheduled --arch gfx950 --case pingpong_256", "^PASS"),),
    ("Which wave fills, computes and reads what, from the accesses of an executed launch (Figure 7)", "waves.svg"),
    {
        "hipBLASLt Benchmark": Part("No kernel of hipBLASLt is executed here; its rates are the text's."),
        "Matrix Core Instructions": Part(
            "Table 2's counters were measured; their ratio can be counted. In one wave of the kernel at K = 4096 "
            "there are 4,096 / 128 = 32 matrix instructions, and 4 fused multiply-adds that store C: 0.125, as in "
            "the table."
        ),
        "Wave-Lane Mapping in Practice": Part(
            "Figure 1 for one element:",
            (("show gfx950 v_mfma_f32_16x16x128_f8f6f4 A 3 70", "."),),
        ),
        "Direct Global-to-LDS Load": Part(
            "Figure 3's two data flows are the kernels `vectorised_*` and `direct_*`. The printed `lds_buffer_copy` "
            "needs two mended addresses; a kernel of ours with the printed ones shows it."
        ),
        "LDS Access: Bank Conflicts and Swizzling": Part(
            "Figure 4: the accesses of each phase by bank.",
            ((READ, "degrees"),),
            ("Banks of an unswizzled 16-byte read, by phases (Figure 4)", "conflicts.svg"),
        ),
        "Swizzle method": Part(
            "Figure 5: the same with the swizzle.",
            ((f"{READ} --swizzle cdna4_gemm", "degrees"),),
            ("Banks of the swizzled read, by phases (Figure 5)", "conflicts_swizzled.svg"),
        ),
        "Software Pipelining with Double Buffering": Part(
            "Figure 6's two timelines are drawn by `mfmasim cost gemm_fp8 --arch gfx950 --case direct_pairs --case "
            "double_buffer_pairs --html FILE`. That the pipeline is right for all M, N, K and strides is proved, not "
            "tried:",
            (("prove gemm_fp8 --arch gfx950 --case double_buffer_pairs", "proved|refuted|unknown"),),
        ),
        "8-Wave Ping-Pong Scheduling": Part(
            "Figure 8 is drawn by `mfmasim cost gemm_fp8/scheduled --arch gfx950 --case pingpong_256 --html FILE`. "
            "The loop in the printed order is executed, too:",
            (("verify hipkernels/gemm_fp8/scheduled/wrong_cases.py --arch gfx950 --case pingpong_printed_loop_256",
              "^FAIL|races|not waited|may still"),),
        ),
    },
    "[gemm.md](../gemm.md), [schedules.md](../schedules.md), [cost.md](../cost.md)",
    """All times at 4096x4096x4096 but for the last one. The bound is a lower one; the timeline is a model of one unit
    with a range of latencies, and that range is no error bar. What does not fit: the swizzle gains 10 % by the text
    when two slots are there, and nothing by the timeline, whose range is wide there; of the three multi-wave kernels
    (Table 4) the timeline has the slowest right, and exchanges the other two, which are 3 % apart by the text. The high
    rank correlation comes from the span of the first steps.""",
    lambda: speed.table(*speed.FP8),
)  # fmt: skip
