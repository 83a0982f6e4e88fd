"""Draw the plots of pages from the tables below them, and a race: ``python -m docs.make_plots``."""

import math
import re

from docs import DOCS
from mfmasim.figures import svg

PICTURES = DOCS / "pictures"
BARS, ROW, LABEL, LEFT, TOP = 290, 15, 15, 10, 44
"""Pixels: the longest bar, heights of a bar and a label, margins on the left and above; so all fits on a phone."""
COLOURS = (svg.PALETTE[0], svg.PALETTE[5], svg.PALETTE[2])


def table(page, first, *, after=""):
    """Rows of the table of a page whose head begins with a cell, each a dict by column.

    Args:
        page: its name in docs.
        first: the head's first cells, as they stand there.
        after: text that stands before the table, where several have such a head.
    """
    text = (DOCS / page).read_text()
    text = text[text.index(after) :]
    lines = text[text.index(f"\n| {first}") + 1 :].split("\n\n")[0].splitlines()
    cells = [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in lines]
    return [dict(zip(cells[0], row, strict=True)) for row in cells[2:]]


def number(cell):
    """The first number of a cell, or None.

    >>> number("0.058 to 0.066 s"), number("1,039"), number("–")
    (0.058, 1039.0, None)
    """
    found = re.search(r"\d[\d,]*(?:\.\d+)?", cell)
    return float(found[0].replace(",", "")) if found else None


def plain(cell):
    """Text of a cell without marks of Markdown."""
    return re.sub(r"`|\[([^\]]*)\]\([^)]*\)", r"\1", cell)


def bars(title, below, rows, series, *, unit="", log=False):
    """A bar for each value, grouped by row.

    Args:
        title: what is shown.
        below: a line below the title: how the numbers came about.
        rows: label of each row, and its values, one for each series or None.
        series: names of the series; one series has no legend.
        unit: of the values, behind each number.
        log: whether lengths are logarithmic; the axis then begins at a power of ten.
    """
    values = [value for _, row in rows for value in row if value is not None]
    low = 10.0 ** math.floor(math.log10(min(values))) if log else 0.0
    most = max(values)

    def length(value):
        return BARS * (math.log(value / low) / math.log(most / low) if log else value / most)

    body = [svg.text(LEFT, 18, title, kind="head"), svg.text(LEFT, 35, below)]
    top, right = float(TOP), float(LEFT + BARS)
    if len(series) > 1:
        key, end = svg.legend(LEFT, top, zip(COLOURS, series, strict=False))
        body, top, right = body + key, top + 22, max(right, end)
    height = sum(LABEL + ROW * sum(value is not None for value in row) + 4 for _, row in rows)
    if log:
        for power in range(round(math.log10(low)), math.floor(math.log10(most)) + 1):
            x = LEFT + length(10.0**power)
            body += [
                f'<path class="grid" d="M{x:.1f} {top + 12:g}V{top + 14 + height:g}"/>',
                svg.text(x, top + 9, f"{10.0**power:g}", kind="small", anchor="middle" if x > LEFT else "start"),
            ]
        top += 16
    for label, row in rows:
        body.append(svg.text(LEFT, top + 11, label))
        right, top = max(right, LEFT + svg.text_width(label)), top + LABEL
        for n, value in enumerate(row):
            if value is None:
                continue
            said, long = f"{value:g}{unit}", length(value)
            body.append(svg.rect(LEFT, top, max(1.0, long), ROW - 2, COLOURS[n], title=f"{label}: {said}"))
            body.append(svg.text(LEFT + long + 5, top + 10, said, kind="small"))
            right, top = max(right, LEFT + long + 9 + svg.text_width(said, "small")), top + ROW
        top += 4
    width = max(right, LEFT + svg.text_width(title, "head"), LEFT + svg.text_width(below)) + 10
    return svg.document(round(width), top + 6, body, title) + "\n"


def other_simulators():
    """Launches here and in other simulators."""
    rows = [
        (plain(row["what"]), [number(row["here"]), number(row["here, all checks"]), number(row["their time"])])
        for row in table("performance.md", "what | here |")
    ]
    return bars(
        "CPU seconds beside other simulators",
        "a shorter bar is faster; logarithmic",
        rows,
        ("here", "here, all checks", "the other"),
        unit=" s",
        log=True,
    )


def native():
    """What compiled loops gain."""
    found, work = [], ""
    for row in table("performance.md", "work | checks |"):
        work = row["work"] or work
        checks = {"none": "no checks", "all": "all checks"}[row["checks"]]
        found.append((f"{work}, {checks}", [number(row["times"])]))
    return bars("Times faster with loops in C", "without C divided by with C; logarithmic", found, ("times",), log=True)


def ladder():
    """Estimates of the rungs of FP8 on RDNA4."""
    rows = [
        (plain(row["kernel"]).split(",")[0], [number(row["4096³, estimated"])])
        for row in table("gemm.md", "kernel | new in this step")
    ]
    return bars(
        "FP8 GEMM of 4096³ on gfx1201: estimated ms",
        "of mfmasim cost, rung by rung; logarithmic",
        rows[:11],
        ("ms",),
        unit=" ms",
        log=True,
    )


def softmax():
    """Pipes of the main loop of attention in FP8."""
    rows = [
        (plain(row[""]), [number(row["gfx942"]), number(row["gfx950"])])
        for row in table("attention.md", "| gfx942 | gfx950 |", after="What bounds the main loop is the softmax")
    ]
    return bars(
        "Attention in FP8: cycles of two tiles",
        "of mfmasim cost, by pipe; the longest bar bounds the loop",
        rows,
        ("gfx942", "gfx950"),
    )


WRITES, BARRIER, READS = (
    (svg.PALETTE[0], "writes its half"),
    (svg.PALETTE[7], "s_barrier"),
    (svg.PALETTE[2], "reads the other"),
)
RACES = (
    (
        "with the barrier: a wave waits for the other one",
        ((0, 110, *WRITES), (150, 70, *BARRIER), (260, 110, *READS)),
        ((30, 110, *WRITES), (150, 70, *BARRIER), (260, 110, *READS)),
    ),
    (
        "without: wave 0 may read what wave 1 has not written yet",
        ((0, 110, *WRITES), (112, 110, svg.PALETTE[3], READS[1])),
        ((140, 110, *WRITES), (252, 110, *READS)),
    ),
)
"""Two waves at a tile in the LDS: begin and length of each action in pixels, its colour and its name."""


def race():
    """What a barrier orders, at one possible time of each action."""
    title, top = "A race in the LDS", 36
    body = [svg.text(LEFT, 18, title, kind="head")]
    for above, *waves in RACES:
        body.append(svg.text(LEFT, top + 10, above))
        for wave, actions in enumerate(waves):
            y = top + 18 + 24 * wave
            body.append(svg.text(LEFT, y + 14, f"wave {wave}", kind="small"))
            body += [
                svg.rect(LEFT + 40 + begin, y, long, 20, colour, label=name) for begin, long, colour, name in actions
            ]
        top += 84
    return svg.document(LEFT + 40 + 370 + LEFT, top, body, title) + "\n"


PLOTS = {
    "race.svg": race,
    "simulators.svg": other_simulators,
    "native.svg": native,
    "ladder.svg": ladder,
    "softmax.svg": softmax,
}
"""What draws each picture."""


def main():
    """Draw every plot."""
    for name, draw in PLOTS.items():
        (PICTURES / name).write_text(draw(), encoding="utf-8")


if __name__ == "__main__":
    main()
