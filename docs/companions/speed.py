"""Published times of the texts beside the bound and the timeline of `mfmasim cost`, as tables of Markdown."""

from docs.ladders import LADDERS, MORE, Ladder, cast_rows, correlation, inside, run_ladder
from mfmasim.lab.reports.roofline import teraflops

FP8 = (LADDERS[0], MORE[0])
JOURNEY, FINALS = (MORE[1],), tuple(MORE[2:])
"""Ladders of the texts, by their tables."""
HEAD = [
    "| kernel | text: ms | TFLOPS | bound: ms | timeline: ms | low to high | TFLOPS | timeline / text |",
    "|---|---|---|---|---|---|---|---|",
]


def table(*ladders: Ladder) -> list[str]:
    """Lines of a table of ladders, and what it amounts to.

    Args:
        ladders: one or more of `docs.ladders`.
    """
    rows = [(rung, one.size, taken, bound) for one in ladders for rung, _, taken, bound in run_ladder(one)]
    lines = list(HEAD)
    for rung, size, taken, bound in rows:
        low, high = min(taken.values()), max(taken.values())
        own, ours = teraflops(*size, rung.published / 1e3), teraflops(*size, taken["value"] / 1e3)
        lines.append(
            f"| {rung.text} | {rung.published:.4g} | {own:.4g} | {bound:.3g} | {taken['value']:.3g} | "
            f"{low:.3g} to {high:.3g} | {ours:.4g} | {taken['value'] / rung.published:.2f} |"
        )
    published, timed = [rung.published for rung, *_ in rows], [taken["value"] for _, _, taken, _ in rows]
    within = sum(inside(rung.published, taken) for rung, _, taken, _ in rows)
    below = sum(bound <= rung.published for rung, _, _, bound in rows)
    text = f"Bounds below the published time: {below} of {len(rows)}. "
    text += f"Published times within low to high: {within} of {len(rows)}"
    order = f"; rank correlation of both times: {correlation(published, timed):.2f}" if len(rows) > 4 else ""
    return [*lines, "", f"{text}{order}."]


def casts() -> list[str]:
    """The same for the flat cast of 131072x5760 elements, whose text has times."""
    lines = [
        "| workgroups | text: ms | bound: ms | timeline: ms | low to high | timeline / text |",
        "|---|---|---|---|---|---|",
    ]
    rows = cast_rows()
    for rung, taken, bound in rows:
        low, high = min(taken.values()), max(taken.values())
        lines.append(
            f"| {rung.case} | {rung.published} | {bound:.3g} | {taken['value']:.3g} | {low:.3g} to {high:.3g} | "
            f"{taken['value'] / rung.published:.2f} |"
        )
    (chosen, quick, _), (rejected, slow, _) = rows
    text, ours = rejected.published / chosen.published, slow["value"] / quick["value"]
    return [*lines, "", f"The rejected grid is {text:.2f} times as slow by the text, {ours:.2f} by the timeline."]
