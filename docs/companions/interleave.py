"""The post on the 4-wave interleave."""

from docs.companions.page import Companion, Part

READ = "lds gfx950 ds_read_b128 --address 'lane % 16 * 128 + lane // 16 * 16'"
PAGE = Companion(
    "001",
    """The post puts one wave on each SIMD, which mixes matrix instructions with the loads for those to come, and orders
    workgroups for the caches of eight dies. `hipkernels/gemm_fp8/scheduled` has the kernel, written from its
    description: in the printed order (`interleave_printed`) and with its loads spread evenly (`interleave`). Every
    output, slot and LDS access, and the order of the loop are proved:""",
    (("verify text:001 --arch gfx950 --case interleave_256 --case interleave_printed", "^PASS"),),
    ("Tiles of 4 x 6 by XCD, three XCDs, window 2, chunks of 4 (Figure 8)", "grid.svg"),
    {
        "Algorithm Breakdown": Part(
            "Which half of which tile a call fetches and reads is taken from the executed accesses to the LDS; it is "
            "the rotation of the printed arguments."
        ),
        "LDS Swizzling": Part(
            "Figures 4 and 5, in numbers; pictures of both are on the page of the [first post](fp8-gemm.md).",
            ((READ, "degrees"), (f"{READ} --swizzle cdna4_4wave", "degrees")),
        ),
        "Appendix A: Optimizing Cache Reuse": Part(
            "Figures 7 and 8 are `mfmasim lds grid row` and `xcd_grouped`. `xcd_divided` is the map of the source "
            "that was published beside the post.",
            (
                ("lds grid xcd_grouped --rows 16 --cols 16 --chunk 8", "permutation|rectangle"),
                ("lds grid xcd_grouped --rows 16 --cols 16 --chunk 6", "permutation|rectangle"),
                ("lds grid xcd_divided --rows 5 --cols 5", "permutation"),
            ),
            ("The naive grid of 4 x 6 tiles by XCD, three XCDs (Figure 7)", "grid_naive.svg"),
        ),
    },
    "[schedules.md](../schedules.md)",
)  # fmt: skip
