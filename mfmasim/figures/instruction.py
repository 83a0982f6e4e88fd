"""A matrix instruction as an HTML table, and as a page with pictures of its operands."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from mfmasim.figures.fragment import fragment_svg
from mfmasim.figures.svg import page

if TYPE_CHECKING:
    from mfmasim.figures.subjects import Instruction


def instruction_table(op: Instruction) -> str:
    """HTML table of an instruction's properties."""
    lines = "".join(f"<tr><th>{escape(str(a))}</th><td>{escape(str(b))}</td></tr>" for a, b in op.details())
    return f"<table>{lines}</table>"


def instruction_page(op: Instruction) -> str:
    """HTML page: the table, and a picture of each operand to unfold."""
    pictures = "".join(
        f'<details><summary>{name}</summary><div class="figure">{fragment_svg(fragment)}</div></details>'
        for name, fragment in op.operands.items()
    )
    linked = f"<p>All operands linked: <code>mfmasim explorer {escape(f'{op.arch.name} {op.name}')} --open</code></p>"
    return page(op.name, f"<h1>{escape(op.name)}</h1>{linked}{instruction_table(op)}{pictures}")
