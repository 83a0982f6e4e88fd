"""The introduction to Matrix Cores."""

from docs.companions.page import Companion, Part

FP8 = "v_mfma_f32_32x32x16_fp8_fp8"
SCALED = "v_mfma_scale_f32_32x32x64_f8f6f4"
PAGE = Companion(
    "004",
    """The post introduces the Matrix Cores of CDNA3 and CDNA4: peaks, number formats, instructions, and five kernels
    with the places of their elements. Its five kernels pass as they are printed (`tests/seeds` cuts them out of the
    text): every output is right, and every slot of every operand holds the element that it should. `hipkernels/intro`
    has kernels of ours that do the same. The notebook `docs/notebooks/4_introduction_to_matrix_cores.ipynb` follows the
    post, too.""",
    (("verify text:004 --arch gfx950", "^PASS"),),
    ("Where each lane holds A of v_mfma_f32_32x32x2_f32 (Figure 5)", "layout.svg"),
    {
        "1. Matrix Cores": Part(
            "Peaks follow from the cycles of the instructions, and from units and clock of the product.",
            (("list gfx942 --units 304 --mhz 2100 --match 32x32x8_f16", "v_mfma_f32"),
             ("list gfx950 --units 256 --mhz 2400 --match f8f6f4", "v_mfma_f32")),
        ),
        "2. Low-Precision Floating-Point Types": Part(
            "Figures 1 to 4: a code and its value, for any format and any code.",
            (("show e4m3fnuz 0b01011001", "."), ("show e8m0fnu 130", ".")),
        ),
        "3. Matrix fused-multiply-add (MFMA) Instructions": Part(
            "Of CDNA3's dense instructions with one block the table leaves out those for XF32:",
            (("list gfx942 --match xf32", "v_mfma"),),
        ),
        "5.1. __builtin_amdgcn_mfma_f32_32x32x2f32": Part(
            "Figure 5 for one element, and for the whole operand (`--view matrix`, `--format svg`):",
            (("show gfx950 v_mfma_f32_32x32x2_f32 C 8 3", "."),),
        ),
        "5.2. __builtin_amdgcn_mfma_f32_16x16x16f16": Part(
            "Figure 6 for one element:", (("show gfx950 v_mfma_f32_16x16x16_f16 A 3 5", "."),)
        ),
        "5.3. __builtin_amdgcn_mfma_f32_32x32x16_fp8_fp8": Part(
            "Figure 7:", (), ("Where each lane holds A of v_mfma_f32_32x32x16_fp8_fp8 (Figure 7)", "intro_fp8.svg")
        ),
        "5.4. __builtin_amdgcn_mfma_scale_f32_32x32x64_f8f8": Part(
            "Figure 9; Figure 8 is `mfmasim show gfx950 v_mfma_scale_f32_32x32x64_f8f6f4 --operand scale_A --view "
            "matrix`. A wrong K map of A and B alike changes no output while all scales are equal; the mapping check "
            "finds it:",
            (("mutate intro --name k_map_of_fp4_uniform_scales", "needs|places wrong|caught,"),),
            ("Where each lane holds A of v_mfma_scale_f32_32x32x64_f8f6f4 with FP8 (Figure 9)", "intro_scaled.svg"),
        ),
        "5.5. __builtin_amdgcn_mfma_scale_f32_32x32x64_f4f4": Part(
            "Figure 10:", (), ("Where each lane holds A of the same instruction with FP4 (Figure 10)", "intro_fp4.svg")
        ),
    },
    "[layouts.md](../layouts.md), [formats.md](../formats.md)",
)  # fmt: skip
