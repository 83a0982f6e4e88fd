"""Numbers and listings of the published texts, extracted from them: ``python -m tests.seeds.extract`` where they are.

The repository holds what is extracted, `numbers/NUMBER.csv` and `numbers/listings.csv`, and not the texts.
"""

import csv
import hashlib
import re
from pathlib import Path

from mfmasim.lab.reports.statements import text_of
from mfmasim.verify.texts import sources
from tests.seeds.printed import text_of as published

FOLDER = Path(__file__).parent / "numbers"
NUMBER = re.compile(r"(?<![A-Za-z_0-9.])\d+(?:[.,]\d+)*(?:[x×]\d+)*%?")
"""A number that does not continue a name: ``1,166.41``, ``16x16x128``, ``53%``, but no ``FP8``."""
OPENING = "(opening)"
"""Section of what stands above the first heading."""
LINES = {
    "Cast-Only (flat kernel)": "The baseline uses a generic VectorizedUnaryKernel with per-element scalar processing "
    "and no FP8 hardware intrinsics.",
    "Tried and Rejected: Cast+Transpose": "Cast+Transpose",
    "Tried and Rejected: Cast-Only": "Cast-Only",
}
"""Lines of a text that begin sections with other names."""
# Text, name, first line and last line of each listing; a last line that ends in ... is the beginning of one.
LISTINGS = [
    ("000", "hipblaslt-bench", "hipblaslt-bench --api_method", "--lda 4096..."),
    ("000", "baseline_fp8_gemm_kernel", "__global__ void baseline_fp8_gemm_kernel", "}"),
    ("000", "lds_tiled_fp8_gemm_kernel", "__global__ void lds_tiled_fp8_gemm_kernel", "}"),
    ("000", "product", "accumulator = matrix_core_op", "accumulator = matrix_core_op..."),
    ("000", "lane mapping", "const int lane = lane_in_wave;", "const int k_chunk1 = ..."),
    ("000", "writeback", "const int output_col =", "}"),
    ("000", "load_fp8x16_u4", "using fp8x16_t =", "*reinterpret_cast<fp8x16_t*>(&Bs[r][k]) = b_vec;"),
    ("000", "lds_buffer_copy", "using i32x4 =", "dst[out + 3] = ..."),
    ("000", "swizzle_col", "int swizzle_col(", "}"),
    ("000", "double buffer", "// Double-buffered with K-tile pipeline", "}"),
    ("000", "two barriers", "// 8 waves per threadblock", "// code block 2"),
    ("000", "ping-pong", "__shared__ fp8 A_lds [2][2][128*128]", "write c_reg0, c_reg1, c_reg2, c_reg3 to vmem"),
    ("001", "outline of the kernel", "// A/B tiles in LDS are 256x128", "// Last two iterations (k..."),
    (
        "001",
        "interleaved_block",
        "// All operands (a, b, c) are already in",
        "// ... pattern continues for rows 1, 2, 3",
    ),
    ("001", "swizzle", "int2 swizzle(", "return {swizzled_offset..."),
    ("001", "remap_wgid", "int remap_wgid(", "const int block_n = ..."),
    ("002", "uses of matmul", "import torch", 'print(f"Max error...'),
    ("002", "uses of flash_attention", "import torch", "O_scaled = ..."),
    ("002", "uses of gemm", "import wmma_ops", "wmma_ops.gemm_inplace(A, B, C, alpha=1.5..."),
    ("002", "LDS_PAD", "#define LDS_PAD 8", "constexpr int A_STRIDE..."),
    ("002", "load called wrong", "// INCORRECT: Direct access ignores swizzle", "}"),
    ("002", "corrected load", "// CORRECT: Invert XOR swizzle", "}"),
    ("002", "load of B", "int frag_row_orig = lane % 16;", "}"),
    ("002", "stores of fragments", "// INCORRECT: Wrong fragment layout assumption", "if (gr1 < M && gc1 < N) C..."),
    ("002", "load_a_frag_swizzled", "template<typename SwzA>", "}"),
    ("002", "register counts", "# Extract from compiled kernel", "# Look for .vgprsnum value"),
    ("002", "compiler hints", "__launch_bounds__(256, 2)", "// Only amdgpu_waves_per_eu is supported..."),
    ("002", "four products", "s_waitcnt lgkmcnt(0)", "v_wmma_f32_16x16x16_f16 v[25:32]..."),
    ("002", "rocprof", "rocprof --stats", "cat profile.csv..."),
    ("002", "global to LDS", "buffer_load_dword v1", "s_waitcnt lgkmcnt(0)..."),
    ("004", "mfma_fp32_32x32x2_fp32", "#include <hip/hip_runtime.h>", "```"),
    ("004", "launch", "mfma_fp32_32x32x2_fp32<<<1, 64>>>", "```"),
    ("004", "mfma_fp32_16x16x16_fp16", "#include <hip/hip_runtime.h>", "```"),
    ("004", "mfma_fp32_32x32x16_fp8_fp8", "#include <hip/hip_runtime.h>", "```"),
    ("004", "mfma_fp32_32x32x64_fp8_fp8", "#include <hip/hip_runtime.h>", "```"),
    ("004", "mfma_fp32_32x32x64_fp4_fp4", "#include <hip/hip_runtime.h>", "```"),
    ("004", "__amd_extract_fp4", "uint8_t __amd_extract_fp4", "}"),
    ("004", "__amd_create_fp4x2", "__amd_fp4x2_storage_t __amd_create_fp4x2", "}"),
]


PRINTED, PARTS = "tests/seeds/test_printed_listings.py", "tests/seeds/test_printed_parts.py"
OTHERS = {
    "product": PARTS,
    "load_fp8x16_u4": PARTS,
    "launch": PRINTED,
    "uses of matmul": PRINTED,
    "uses of flash_attention": PRINTED,
    "uses of gemm": PRINTED,
    "load called wrong": PARTS,
    "load of B": PARTS,
    "stores of fragments": PRINTED,
    "load_a_frag_swizzled": PRINTED,
    "register counts": "commands of a profiler",
    "rocprof": "commands of a profiler",
    "__amd_extract_fp4": PARTS,
    "__amd_create_fp4x2": PARTS,
    "double buffer": PARTS,
    "two barriers": PARTS,
}
"""What judges a listing in which no row's words stand: a test that cuts it out; or why it is no claim."""


def flat(text: str) -> str:
    """A text with single blanks."""
    return " ".join(text.split())


def sections(number: str) -> list[tuple[str, str]]:
    """Heading and line of every line of a text."""
    (source,) = [one for one in sources() if one.number == number]
    left, here, found = list(text_of(source.families[0]).sections), OPENING, []
    for line in published(number).splitlines():
        bare = line.strip().strip("#*").strip().rstrip("#")
        if left and bare == LINES.get(left[0], left[0]):
            here = left.pop(0)
        found.append((here, line))
    if left:
        raise LookupError(f"text {number} has no line {left[0]!r}")
    return found


def listings(number: str) -> list[tuple[str, str, list[int]]]:
    """Name, section, and numbers of the lines of each listing, in the order of `LISTINGS`."""
    lines, start, found = sections(number), 0, []
    for text, name, first, last in LISTINGS:
        if text != number:
            continue
        begin = next(n for n in range(start, len(lines)) if lines[n][1].strip().startswith(first))
        end = next(n for n in range(begin, len(lines)) if _ends(lines[n][1], last))
        found.append((name, lines[begin][0], list(range(begin, end + 1))))
        start = end + 1
    return found


def _ends(line: str, last: str) -> bool:
    if last.endswith("..."):
        return line.strip().startswith(last.removesuffix("..."))
    return line.rstrip() == last if last == "}" else line.strip() == last


def numbers(number: str) -> dict[tuple[str, str], int]:
    """How often each number stands outside the listings of a section."""
    inside = {n for _, _, lines in listings(number) for n in lines}
    found: dict[tuple[str, str], int] = {}
    for n, (section, line) in enumerate(sections(number)):
        for token in NUMBER.findall(line) if n not in inside else ():
            found[section, token] = found.get((section, token), 0) + 1
    return found


def hashed(number: str) -> list[tuple[str, ...]]:
    """Text, section, name, what judges it, lines and SHA-256 of each listing, blanks and empty lines left out."""
    lines = sections(number)
    (family,) = [one.families[0] for one in sources() if one.number == number]
    statements = [one for one in text_of(family).statements if one.words]
    rows = []
    for name, section, places in listings(number):
        text = "\n".join(" ".join(lines[n][1].split()) for n in places if lines[n][1].strip())
        inside = [one.text for one in statements if one.place == section and flat(one.words) in flat(text)]
        judge = OTHERS.get(name) or inside[0]
        rows.append(
            (number, section, name, judge, str(len(text.splitlines())), hashlib.sha256(text.encode()).hexdigest())
        )
    return rows


def main() -> None:
    """Write what the repository holds."""
    FOLDER.mkdir(exist_ok=True)
    texts = [one.number for one in sources()]
    for number in texts:
        with (FOLDER / f"{number}.csv").open("w", encoding="utf-8", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows(
                [("section", "number", "count"), *((*key, str(count)) for key, count in numbers(number).items())]
            )
    with (FOLDER / "listings.csv").open("w", encoding="utf-8", newline="") as file:
        rows = [row for number in texts for row in hashed(number)]
        csv.writer(file, lineterminator="\n").writerows(
            [("text", "section", "name", "judged", "lines", "sha256"), *rows]
        )


if __name__ == "__main__":
    main()
