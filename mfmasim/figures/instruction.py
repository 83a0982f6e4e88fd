"""Everything about a matrix instruction as rows, as an HTML table, and as a page with its operands' pictures."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

from mfmasim.figures.fragment import fragment_svg
from mfmasim.figures.svg import page

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mfmasim.matrix import MatrixInstruction

__all__ = ["detail_rows", "instruction_page", "instruction_table"]


def detail_rows(op: MatrixInstruction) -> Iterator[list[Any]]:
    """Property and value of everything that is known about an instruction."""
    unit = op.generation.ops_unit
    yield from (
        ["architecture", f"{op.arch.name} ({op.arch.family})"],
        ["instruction", op.name],
        ["shape M x N x K", f"{op.m} x {op.n} x {op.k}"],
        ["blocks", op.blocks],
        ["A", op.a],
        ["B", op.b],
        ["C and D", op.d],
        ["A is sparse 4:2", "yes" if op.sparse else "no"],
        ["wave", op.wave],
        ["cycles", op.cycles],
    )
    if op.passes is not None:
        yield ["passes of four cycles", op.passes]
    yield from (
        ["operations", op.flops],
        [f"operations per {unit} and cycle", op.ops_per_cycle],
        ["peak", f"{op.ops_per_cycle} x {unit}s x clock"],
        ["modifiers", op.row.modifiers or "none"],
        ["arithmetic", f"{op.fidelity}: {op.evidence}"],
        ["arithmetic source", op.source],
        ["accumulation model", f"{op.model.name} ({op.model.algorithm}, groups of {op.model.group})"],
    )
    for fragment in op.operands.values():
        registers = f"{fragment.vgprs} VGPR{'s' * (fragment.vgprs > 1)}"
        where = " (the registers of D)" if op.sparse and fragment.name == "C" else ""
        yield from (
            [f"{fragment.name} registers", f"{fragment.shape_text} {fragment.format} in {registers}{where}"],
            [f"{fragment.name} lane and item", fragment.layout.formula],
            [f"{fragment.name} coordinates", fragment.layout.inverse],
            [f"{fragment.name} layout source", fragment.source],
        )
    if op.sparse:
        yield ["index sets in the register", op.index_sets]


def instruction_table(op: MatrixInstruction) -> str:
    """HTML table of `detail_rows`."""
    lines = "".join(f"<tr><th>{escape(str(a))}</th><td>{escape(str(b))}</td></tr>" for a, b in detail_rows(op))
    return f"<table>{lines}</table>"


def instruction_page(op: MatrixInstruction) -> str:
    """HTML page: the table, and a picture of each operand to unfold."""
    pictures = "".join(
        f'<details><summary>{name}</summary><div class="figure">{fragment_svg(fragment)}</div></details>'
        for name, fragment in op.operands.items()
    )
    return page(op.name, f"<h1>{escape(op.name)}</h1>{instruction_table(op)}{pictures}")
