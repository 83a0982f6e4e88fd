"""Write docs/instructions.md from the rows: python -m docs.make_instructions."""

from itertools import groupby

import mfmasim
from docs import DOCS
from mfmasim.architectures import DISTINCT
from mfmasim.cli.list import fidelity_rows, operations

PAGE = DOCS / "instructions.md"

HEAD = """\
# Matrix instructions

Which matrix instructions exist, what do they cost, and how far are they trusted?

How to read a layout: [layouts.md](layouts.md). `mfmasim list ARCH` and `mfmasim list ARCH --fidelity` print the same
and more. `python -m docs.make_instructions` makes this page from the rows.

Registers are those of A, B and D (C has D's). Peak operations per second are operations per cycle times compute units
(CDNA) or work-group processors (RDNA) times clock. f8f6f4 has 25 pairs of formats; the tables show one for each
number of registers. Layouts are those of A and D; B has j for i, and for a sparse A twice its k.

Arithmetic is `hardware` (equal to published captures), `reference` (equal to a published model that was validated on
hardware), `specified` (the manual defines it fully) or `assumed`.
"""

SHAPES = ["instruction", "blocks", "formats", "cycles", "ops/cycle", "VGPRs", "modifiers", "A", "D"]
TRUST = ["instructions", "arithmetic", "evidence", "source", "layout of inputs"]


def markdown(columns, rows):
    lines = [columns, ["---"] * len(columns), *rows]
    return "".join("| " + " | ".join(map(str, line)) + " |\n" for line in lines)


def shape(op):
    wave = f" wave{op.wave}" if len(op.arch.wave_sizes) > 1 else ""
    formats = f"{op.a} x {op.b} → {op.d}"
    registers = f"{op.A.vgprs} {op.B.vgprs} {op.D.vgprs}"
    layouts = (f"`{op.A.layout}`", f"`{op.D.layout}`")
    return [
        f"`{op.name}`{wave}",
        op.blocks,
        formats,
        op.cycles,
        op.ops_per_cycle,
        registers,
        op.row.modifiers,
        *layouts,
    ]


def trust(arch):
    """What several instructions share is said once, with their names together."""
    rows = sorted(fidelity_rows(arch), key=lambda row: (row[4:], row[0]))
    for key, found in groupby(rows, key=lambda row: row[4:]):
        names = (f"{row[0]} ({row[1]})" if row[0].endswith("f8f6f4") else row[0] for row in found)
        yield [", ".join(dict.fromkeys(names)), *key]


def section(arches):
    first = arches[0]
    title = f"{', '.join(dict.fromkeys(DISTINCT[name].family for name in arches))} ({', '.join(arches)})"
    shapes = markdown(SHAPES, map(shape, operations(first)))
    count = len(mfmasim.instructions(first))
    return f"\n## {title}\n\n{count} instructions.\n\n{shapes}\n### Trust\n\n{markdown(TRUST, trust(first))}"


def page():
    groups = {}
    for name in filter(mfmasim.instructions, DISTINCT):
        rows = repr((list(map(shape, operations(name))), list(fidelity_rows(name))))
        groups.setdefault(rows, []).append(name)
    return HEAD + "".join(section(arches) for arches in groups.values())


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
