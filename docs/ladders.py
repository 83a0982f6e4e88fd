"""Published times of kernels beside the timeline: ladders of texts, and all of them together, for docs/cost.md."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from statistics import median

import numpy as np

import mfmasim
from docs import DOCS
from mfmasim.architectures import arch as find_arch
from mfmasim.cost import record_launch, timeline
from mfmasim.cost.cases import record_case
from mfmasim.cost.costed import Costed, product_of
from mfmasim.cost.estimate import ENDS, estimate, turns_for
from mfmasim.figures.svg import document, legend
from mfmasim.figures.svg import text as label
from mfmasim.verify import find


@dataclass(frozen=True)
class Rung:
    """A published kernel, and ours that is written from its description."""

    text: str
    case: str
    published: float
    """Milliseconds."""
    tile: tuple[int, int]
    """Rows and columns of C of a workgroup."""
    recorded: int
    """Length of the sums that are executed; the rest of the turns is extrapolated."""
    wanted: float = 0
    """Turns of the main loop in the published launch; 0: by the length of the sum."""


FP8 = [
    Rung("naive", "naive", 119.60282, (16, 16), 256),
    Rung("LDS tiling", "lds_tiled", 28.64486, (16, 16), 256),
    Rung("matrix cores", "one_wave_tile", 4.57335, (16, 16), 512),
    Rung("vectorised loads", "vectorised_none", 0.40797, (32, 32), 1024),
    Rung("direct-to-LDS loads", "direct_none", 0.27125, (32, 32), 1024),
    Rung("LDS swizzle", "direct_pairs", 0.27630, (32, 32), 1024),
    Rung("double buffering, no swizzle", "double_buffer_none", 0.1300, (64, 64), 1024),
    Rung("double buffering", "double_buffer_pairs", 0.11783, (64, 64), 1024),
    Rung("128x128, 512 threads", "multi_wave_128x128_t512", 0.07516, (128, 128), 1536),
    Rung("256x256, 512 threads", "multi_wave_256x256_t512", 0.06007, (256, 256), 1536),
    Rung("256x256, 1024 threads", "multi_wave_256x256_t1024", 0.06169, (256, 256), 1536),
    Rung("8-wave ping-pong", "pingpong_256", 0.0512, (256, 256), 1536),
]
WMMA = [
    Rung("zerocopy", "zero_copy", 3.33, (128, 64), 192),
    Rung("adaptive", "tile_128x64", 3.35, (128, 64), 192),
    Rung("asmOpt", "asm_optimised", 3.35, (128, 64), 192),
    Rung("matmul", "tile_128x64", 3.36, (128, 64), 192),
    Rung("coop", "cooperative", 3.44, (128, 64), 192),
    Rung("native", "native_128x64", 3.45, (128, 64), 192),
    Rung("kunroll", "k_unrolled", 3.75, (128, 64), 192),
    Rung("swizzled", "swizzled_as_published", 3.84, (128, 64), 192),
    Rung("noPrefetch", "no_prefetch", 3.90, (128, 64), 192),
    Rung("xor_optimized", "xor_optimised", 3.98, (128, 64), 192),
    Rung("quad", "quad", 4.04, (128, 64), 256),
    Rung("hilbert", "hilbert_128x64", 5.16, (128, 64), 192),
    Rung("highOcc", "high_occupancy", 6.68, (64, 32), 192),
]


JOURNEY = [
    ("baseline", "rung_baseline", 5.4, (64, 16)),
    ("64 columns", "rung_columns", 6.2, (64, 64)),
    ("2x2 blocking", "rung_blocking", 9.7, (64, 64)),
    ("wide loads", "rung_wide_loads", 11.5, (64, 64)),
    ("two slots", "rung_two_slots", 13.2, (64, 64)),
    ("128x64", "rung_tall", 16.5, (128, 64)),
    ("fetching ahead", "not_swizzled", 17.4, (128, 64)),
    ("padding", "tile_128x64", 20.9, (128, 64)),
]
"""Steps of the README of wmma_ops, and the TFLOPS after each; it does not say for which K."""
SIZES = [
    (512, 12.5, "tile_128x64"),
    (1024, 14.6, "k_unrolled"),
    (2048, 20.0, "tile_128x64"),
    (4096, 21.6, "tile_128x64"),
]
"""M, N and K of its last table, the TFLOPS, and the kernel that the text's rules choose."""


def milliseconds(m: int, n: int, k: int, teraflops: float) -> float:
    """Of a product at a rate."""
    return 2e-9 * m * n * k / teraflops


@dataclass(frozen=True, eq=False)
class Ladder:
    """Kernels of one text."""

    text: str
    family: str
    arch: str
    rungs: list[Rung]
    size: tuple[int, int, int]
    """M, N and K of the published times."""
    unit: int
    """Smallest step along K."""
    operands: int
    """Bytes of A, B and C together."""
    parameters: dict[str, float]


LADDERS = [
    Ladder(
        "FP8 GEMM on CDNA4",
        "gemm_fp8",
        "gfx950",
        FP8,
        (4096, 4096, 4096),
        1,
        4096**2 * (1 + 1 + 2),
        {"lda": 4096, "ldb": 4096, "beta": 0.0},
    ),
    Ladder(
        "wmma_ops, variants",
        "wmma",
        "gfx1151",
        WMMA,
        (4096, 4096, 2048),
        16,
        4096 * 2048 * 2 * 2 + 4096**2 * 4,
        {"lda": 2048},
    ),
]


MORE = [
    Ladder(
        "FP8 GEMM on CDNA4",
        "gemm_fp8",
        "gfx950",
        [Rung("ping-pong, 8192", "pingpong_256", 0.343, (256, 256), 1536)],
        (8192, 8192, 8192),
        1,
        8192**2 * 4,
        {"lda": 8192, "ldb": 8192, "beta": 0.0},
    ),
    Ladder(
        "wmma_ops, journey",
        "wmma",
        "gfx1151",
        [Rung(text, case, milliseconds(4096, 4096, 2048, tf), tile, 192) for text, case, tf, tile in JOURNEY],
        (4096, 4096, 2048),
        16,
        4096 * 2048 * 2 * 2 + 4096**2 * 4,
        {"lda": 2048},
    ),
    *(
        Ladder(
            "wmma_ops, sizes",
            "wmma",
            "gfx1151",
            [Rung(f"{size}", case, milliseconds(size, size, size, tf), (128, 64), 192)],
            (size, size, size),
            16,
            size * size * 8,
            {"lda": size},
        )
        for size, tf, case in SIZES
    ),
]
"""Published times that have no table of their own."""
CAST = 131072 * 5760
"""Elements of the published cast from f32: 16 of a thread in a turn, workgroups of 256."""
CASTS = [
    Rung(f"{blocks} workgroups", str(blocks), ms, (0, 0), 4, CAST / (16 * 256 * blocks))
    for blocks, ms in ((256, 0.668), (128, 1.004))
]
Timed = tuple[str, str, float, dict[str, float]]
"""Family, kernel, published milliseconds, and those of the timeline by end."""


@cache
def run_ladder(ladder: Ladder) -> list[tuple[Rung, Costed, dict[str, float], float]]:
    """Each kernel with its cost, its estimated milliseconds by end of the latencies' ranges, and the bound's."""
    cases = {case.title: case for _, cases in find(ladder.family) for case in cases if ladder.arch in case.arch}
    m, n, k = ladder.size
    product = product_of(find_arch(ladder.arch), None)
    done: dict[str, Costed] = {}
    found = []
    for rung in ladder.rungs:
        if rung.case not in done:
            case = cases[rung.case].with_parameters({"M": m, "N": n, "K": rung.recorded, **ladder.parameters})
            done[rung.case] = Costed(record_case(case, ladder.arch, units=product.units), product, rung.case)
        cost = done[rung.case]
        wanted = rung.wanted or turns_for(cost.bound, rung.recorded, k, 128 if rung.recorded >= 1024 else ladder.unit)
        workgroups = -(-m // rung.tile[0]) * -(-n // rung.tile[1])
        taken = estimate(
            cost.recorded,
            cost.bound,
            cost.drawn,
            product,
            turns=wanted,
            workgroups=workgroups,
            operands=ladder.operands,
        )
        found.append((rung, cost, taken.milliseconds, taken.bound))
    return found


def ranks(values: list[float]) -> np.ndarray:
    """Ranks, equal values sharing the mean of theirs."""
    array = np.array(values)
    return np.array([(array < value).sum() + ((array == value).sum() + 1) / 2 for value in array])


def correlation(one: list[float], other: list[float]) -> float:
    """Spearman's rank correlation."""
    return float(np.corrcoef(ranks(one), ranks(other))[0, 1])


def ladder_table(ladder: Ladder) -> str:
    """The ladder as a Markdown table, and what it amounts to."""
    rows = run_ladder(ladder)
    lines = [
        (
            "| published | kernel here | published ms | bound ms | timeline ms (low to high) | timeline / published | "
            "bound by | waves a SIMD | matrix cores busy |"
        ),
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for rung, cost, taken, bound in rows:
        share = cost.drawn["value"].matrix_share(cost.recorded.head)
        lines.append(
            f"| {rung.text} | `{rung.case}` | {rung.published:.4g} | {bound:.3g} | {taken['value']:.3g} "
            f"({min(taken.values()):.3g} to {max(taken.values()):.3g}) | {taken['value'] / rung.published:.2f} | "
            f"{cost.bound.pipe} | {cost.bound.waves / 4:g} | {share:.0%} |"
        )
    published = [rung.published for rung, *_ in rows]
    ratios = [taken["value"] / rung.published for rung, _, taken, _ in rows]
    within = sum(1 / 1.5 <= ratio <= 1.5 for ratio in ratios)
    below = sum(bound <= rung.published for rung, _, _, bound in rows)
    lines += [
        "",
        (
            f"Rank correlation of timeline and published: "
            f"{correlation(published, [taken['value'] for _, _, taken, _ in rows]):.2f}; of bound and published: "
            f"{correlation(published, [bound for *_, bound in rows]):.2f}. {within} of {len(rows)} kernels are within "
            f"a factor of 1.5, {inside_of(rows)} inside the range; {below} of {len(rows)} bounds are below what was "
            "published."
        ),
    ]
    return "\n".join(lines)


def inside_of(rows: list[tuple[Rung, Costed, dict[str, float], float]]) -> int:
    """Kernels whose published time is in the timeline's range."""
    return sum(inside(rung.published, taken) for rung, _, taken, _ in rows)


def inside(published: float, taken: dict[str, float]) -> bool:
    """Whether a published time is in the range."""
    return min(taken.values()) <= published <= max(taken.values())


@cache
def cast_rows() -> list[tuple[Rung, dict[str, float], float]]:
    """The flat casts of a large matrix: estimated milliseconds by end of the latencies' ranges, and the bound's."""
    cases = {case.title: case for _, cases in find("cast") for case in cases}
    product = product_of(find_arch("gfx950"), None)
    found = []
    for rung in CASTS:
        blocks = int(rung.case)
        case = cases["rejected_grid[blocks=128]"].with_parameters(
            {"n": rung.recorded * 16 * 256 * blocks, "blocks": blocks}
        )
        cost = Costed(record_case(case, "gfx950", units=product.units), product, rung.text)
        taken = estimate(
            cost.recorded, cost.bound, cost.drawn, product, turns=rung.wanted, workgroups=blocks, operands=CAST * 5
        )
        found.append((rung, taken.milliseconds, taken.bound))
    return found


def casts() -> list[Timed]:
    """The same, as rows of the table of all published times."""
    return [("casts to FP8", rung.text, rung.published, taken) for rung, taken, _ in cast_rows()]


@cache
def timed() -> list[Timed]:
    """All published times that have a kernel here."""
    ladders = [
        (ladder.text, rung.text, rung.published, taken)
        for ladder in [*LADDERS, *MORE]
        for rung, _, taken, _ in run_ladder(ladder)
    ]
    return ladders + casts()


LOOPS = [
    ("dependent_fma", 8, 8.30),
    ("dependent_mfma", 8, 18.25),
    ("four_mfma", 32, 16.62),
    ("lds_chain", 8, 68.16),
    ("four_lds_chains", 32, 28.17),
]
"""Kernels of tests/cost/loops.hip, what an iteration does, and the published ticks of each."""


@cache
def loops() -> list[Timed]:
    """Loops of an MI350X, in clocks of each thing that an iteration does."""
    code = mfmasim.compile(DOCS.parent / "tests" / "cost" / "loops.hip", arch="gfx950")
    found: list[Timed] = []
    for name, times, published in LOOPS:
        out = np.zeros(1024, np.int32 if "chain" in name else np.float32)
        recorded = record_launch(code[name], 1, 256, [out, np.int32(8)])
        taken = {end: timeline(recorded.trace, end).turn(recorded.head) / times for end in ENDS}
        found.append(("loops of an MI350X, clocks", name, published, taken))
    return found


def everything_table(others: list[Timed]) -> str:
    """Of each family how its published times lie to the timeline.

    Args:
        others: further families: captures and loops, in clocks.
    """
    found = timed() + others
    lines = [
        "| published | times | inside the range | median width | timeline / published, median | rank correlation |",
        "|---|---|---|---|---|---|",
    ]
    families = dict.fromkeys(one[0] for one in found)
    lines += [row_of(family, [one for one in found if one[0] == family]) for family in families]
    lines.append(row_of("all", found, ranked=False))
    outside = [
        f"{name} ({family}: {published:.3g}, timeline {min(taken.values()):.3g} to {max(taken.values()):.3g})"
        for family, name, published, taken in found
        if not inside(published, taken)
    ]
    return "\n".join([*lines, "", f"Outside are {len(outside)}: {'; '.join(outside)}."])


def row_of(family: str, found: list[Timed], *, ranked: bool = True) -> str:
    """One row of the table."""
    hits = sum(inside(published, taken) for _, _, published, taken in found)
    width = median(max(taken.values()) / min(taken.values()) for *_, taken in found)
    ratio = median(taken["value"] / published for _, _, published, taken in found)
    order = ""
    if ranked and len(found) > 2:
        order = f"{correlation([one[2] for one in found], [one[3]['value'] for one in found]):.2f}"
    return f"| {family} | {len(found)} | {hits} ({hits / len(found):.0%}) | {width:.2f} | {ratio:.2f} | {order} |"


def log_axes(at: Callable[[float], float], marks: dict[float, str], corner: tuple[int, int], size: int) -> list[str]:
    """Grid, labels and diagonal of a square plot, as SVG.

    Args:
        at: distance of a number from the lower left corner, in pixels.
        marks: labelled numbers.
        corner: left and top, in pixels.
        size: of the square, in pixels.
    """
    left, top = corner
    body = []
    for number, words in marks.items():
        x, y = left + at(number), top + size - at(number)
        body += [
            f'<path class="grid" d="M{x:.1f} {top}V{top + size}M{left} {y:.1f}H{left + size}"/>',
            label(x, top + size + 14, words, anchor="middle"),
            label(left - 6, y + 4, words, anchor="end"),
        ]
    return [*body, f'<path d="M{left} {top + size}L{left + size} {top}" stroke="#999"/>']


def everything_picture() -> str:
    """Published milliseconds against the timeline's with its range, by family, as SVG."""
    colours = ("#d9600a", "#2b6cb0", "#2f855a", "#6b46c1", "#b83280")
    families = list(dict.fromkeys(one[0] for one in timed()))
    left, top, size, low, decades = 70, 40, 480, 0.01, 4.2

    def at(ms: float) -> float:
        return size * math.log10(max(low, ms) / low) / decades

    head = label(left, 20, "Milliseconds: published across, timeline and its range up", kind="head")
    body = [head, *log_axes(at, {10.0**power: f"{10.0**power:g}" for power in range(-2, 3)}, (left, top), size)]
    for family, _, published, taken in timed():
        colour = colours[families.index(family)]
        x, y = left + at(published), top + size - at(taken["value"])
        a, b = (top + size - at(edge(taken.values())) for edge in (min, max))
        body.append(f'<path d="M{x:.1f} {a:.1f}V{b:.1f}" stroke="{colour}" stroke-width="2" opacity=".4"/>')
        body.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}" opacity=".8"/>')
    for line, entry in enumerate(zip(colours, families, strict=False)):
        body += legend(left + 12, top + 12 + 20 * line, [entry])[0]
    return document(left + size + 20, top + size + 30, dict.fromkeys(body), "Published times against the model") + "\n"
