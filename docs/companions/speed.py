"""Published times of the texts beside the bound and the timeline of `mfmasim cost`, as tables of Markdown."""

from dataclasses import replace
from functools import cache

import mfmasim
from docs.make_cost import FP8, LADDERS, Ladder, Rung, correlation, run_ladder
from mfmasim.cost.cases import record_case
from mfmasim.cost.costed import Costed, product_of
from mfmasim.cost.estimate import estimate
from mfmasim.lab.reports.roofline import teraflops
from mfmasim.verify import load_file
from mfmasim.verify.files import families


def milliseconds(rate: float, size: tuple[int, int, int]) -> float:
    """What a rate in TFLOPS takes for a product of this size."""
    return teraflops(*size, 1e-3) / rate


EIGHT = (8192, 8192, 8192)
FP8_LADDERS = (
    replace(
        LADDERS[0],
        rungs=[
            *FP8[:6],
            Rung(
                "double buffering without swizzle",
                "double_buffer_none",
                milliseconds(1056.95, (4096,) * 3),
                (64, 64),
                1024,
            ),
            *FP8[6:],
        ],
    ),
    Ladder(
        "gemm_fp8",
        "gfx950",
        [Rung("8-wave ping-pong, 8192", "pingpong_256", 0.343, (256, 256), 1536)],
        EIGHT,
        1,
        8192**2 * 4,
        {"lda": 8192, "ldb": 8192, "beta": 0.0},
    ),
)
# The README prints no K for its journey: that of its table of variants is taken.
TABLE = (4096, 4096, 2048)
JOURNEY = [
    ("baseline", "rung_baseline", 5.4, (64, 16)),
    ("64 columns a block", "rung_columns", 6.2, (64, 64)),
    ("2x2 register blocking", "rung_blocking", 9.7, (64, 64)),
    ("wide loads", "rung_wide_loads", 11.5, (64, 64)),
    ("two slots", "rung_two_slots", 13.2, (64, 64)),
    ("128x64 tile", "rung_tall", 16.5, (128, 64)),
    ("fetching ahead", "not_swizzled", 17.4, (128, 64)),
    ("padding of the LDS", "tile_128x64", 20.9, (128, 64)),
]
FINALS = [
    (512, 12.5, "tile_128x64"),
    (1024, 14.6, "k_unrolled"),
    (2048, 20.0, "tile_128x64"),
    (4096, 21.6, "tile_128x64"),
]
WMMA_JOURNEY = replace(
    LADDERS[1], rungs=[Rung(name, case, milliseconds(rate, TABLE), tile, 192) for name, case, rate, tile in JOURNEY]
)
WMMA_FINALS = tuple(
    Ladder(
        "wmma",
        "gfx1151",
        [Rung(f"{size}x{size}x{size}", case, milliseconds(rate, (size,) * 3), (128, 64), 192)],
        (size,) * 3,
        16,
        size * size * 8,
        {"lda": size},
    )
    for size, rate, case in FINALS
)
HEAD = [
    "| kernel | text: ms | TFLOPS | bound: ms | timeline: ms | low to high | TFLOPS | timeline / text |",
    "|---|---|---|---|---|---|---|---|",
]


@cache
def _rows(ladders: tuple[int, ...]) -> list[tuple[Rung, tuple[int, int, int], dict[str, float], float]]:
    chosen = [ALL[n] for n in ladders]
    return [(rung, one.size, taken, bound) for one in chosen for rung, _, taken, bound in run_ladder(one)]


ALL = (*FP8_LADDERS, WMMA_JOURNEY, *WMMA_FINALS, LADDERS[1])
"""Every ladder; a table names them by number."""


def table(*ladders: int) -> list[str]:
    """Lines of a table of ladders, and what it amounts to.

    Args:
        ladders: numbers in `ALL`.
    """
    rows, lines = _rows(ladders), list(HEAD)
    for rung, size, taken, bound in rows:
        low, high = min(taken.values()), max(taken.values())
        own, ours = teraflops(*size, rung.published / 1e3), teraflops(*size, taken["value"] / 1e3)
        lines.append(
            f"| {rung.text} | {rung.published:.4g} | {own:.4g} | {bound:.3g} | {taken['value']:.3g} | "
            f"{low:.3g} to {high:.3g} | {ours:.4g} | {taken['value'] / rung.published:.2f} |"
        )
    published, timed = [rung.published for rung, *_ in rows], [taken["value"] for _, _, taken, _ in rows]
    inside = sum(min(t.values()) <= rung.published <= max(t.values()) for rung, _, t, _ in rows)
    below = sum(bound <= rung.published for rung, _, _, bound in rows)
    text = f"Bounds below the published time: {below} of {len(rows)}. "
    text += f"Published times within low to high: {inside} of {len(rows)}"
    order = f"; rank correlation of both times: {correlation(published, timed):.2f}" if len(rows) > 4 else ""
    return [*lines, "", f"{text}{order}."]


CAST = [("flat cast from f32, 256 workgroups", 256, 0.668), ("with 128 workgroups, which was rejected", 128, 1.004)]


def casts() -> list[str]:
    """The same for the flat cast of 131072x5760 elements, whose text has times."""
    (case,) = [case for case in load_file(families()["cast"]) if case.title == "cast_grid[blocks=1]"]
    product, n = product_of(mfmasim.arch("gfx950"), None), 131072 * 5760
    lines = [
        "| kernel | text: ms | bound: ms | timeline: ms | low to high | timeline / text |",
        "|---|---|---|---|---|---|",
    ]
    times = []
    for name, blocks, published in CAST:
        wanted = case.with_parameters({"n": blocks * 4096 * 8, "blocks": blocks})
        cost = Costed(record_case(wanted, "gfx950", units=product.units), product, name)
        turns = n / (blocks * 4096)
        taken = estimate(cost.recorded, cost.bound, cost.drawn, product, turns=turns, workgroups=blocks, operands=n * 5)
        times.append(taken.milliseconds["value"])
        low, high = min(taken.milliseconds.values()), max(taken.milliseconds.values())
        lines.append(
            f"| {name} | {published} | {taken.bound:.3g} | {times[-1]:.3g} | {low:.3g} to {high:.3g} | "
            f"{times[-1] / published:.2f} |"
        )
    text, ours = 1.004 / 0.668, times[1] / times[0]
    return [*lines, "", f"The rejected grid is {text:.2f} times as slow by the text, {ours:.2f} by the timeline."]
