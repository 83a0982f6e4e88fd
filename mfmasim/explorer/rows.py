"""The rows that the page evaluates: matrix instructions, LDS phases and number formats, as plain data.

Layouts travel as digits and are evaluated in the page (80 distinct texts instead of 10 MB of tables). Every text that
repeats stands once, in `Texts`.
"""

from __future__ import annotations

import json
import tomllib
from dataclasses import dataclass, field
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from mfmasim.architectures import DISTINCT, Arch
from mfmasim.formats import FORMATS
from mfmasim.lds import NAMES, SOURCES, ds_instructions, phase_tables, swizzle
from mfmasim.lds.instructions import ds_instruction
from mfmasim.lds.lanes import LANE_SETS, PhaseTable
from mfmasim.matrix import instruction, instructions
from mfmasim.matrix.catalogue import format_choices
from mfmasim.matrix.request import F8F6F4
from mfmasim.matrix.rows import TABLES, other_spelling

if TYPE_CHECKING:
    from mfmasim.matrix import Fragment

FORMAT_FIELDS = (
    "name",
    "bits",
    "exponent_bits",
    "mantissa_bits",
    "bias",
    "special",
    "unread_bits",
    "aliases",
    "source",
)
"""Fields of a format's row that the page needs."""


@dataclass
class Texts:
    """Texts by number, each once."""

    every: list[str] = field(default_factory=list)
    numbers: dict[str, int] = field(default_factory=dict)

    def number(self, text: str) -> int:
        """Number of a text, which is added where it is new."""
        if text not in self.numbers:
            self.numbers[text] = len(self.every)
            self.every.append(text)
        return self.numbers[text]


def all_rows() -> dict[str, Any]:
    """Everything that the page evaluates.

    Returns:
        ``texts``: sources, layouts and other texts, by number; ``formats``: a row each; ``f8f6f4``: formats by their
        code in CBSZ and BLGP; ``archs``: by name, with ``matrix`` (instructions) and ``lds`` (instructions, phase
        tables); ``lane_sets``, ``lds_sources`` and ``swizzles`` as `mfmasim.lds` has them; ``puzzles``: those of
        ``puzzles.toml``, whose answers the page computes from the other rows; ``slides``: those of ``slides.toml``;
        ``runs``: what the recorded runs show, by their titles.
    """
    texts = Texts()
    archs = {name: architecture_rows(target, texts) for name, target in DISTINCT.items() if instructions(target)}
    return {
        "texts": texts.every,
        "formats": [[getattr(row, name) for name in FORMAT_FIELDS] for row in FORMATS.values()],
        "f8f6f4": F8F6F4,
        "archs": archs,
        "lane_sets": LANE_SETS,
        "lds_sources": SOURCES,
        "swizzles": [swizzle_row(name) for name in NAMES],
        "puzzles": tomllib.loads((files(__package__) / "puzzles.toml").read_text("utf-8"))["puzzle"],
        "runs": {run["case"]: run["about"] for run in shipped_runs()},
        "slides": tomllib.loads((files(__package__) / "slides.toml").read_text("utf-8"))["slide"],
    }


def shipped_runs() -> list[dict[str, str]]:
    """The runs that the page ships: ``case``, ``arch``, ``from`` (a family; empty: the explorer's own), ``about``."""
    rows: list[dict[str, str]] = json.loads((files(__package__) / "examples" / "runs.json").read_text("utf-8"))
    return rows


def architecture_rows(target: Arch, texts: Texts) -> dict[str, Any]:
    """Rows of one architecture.

    Args:
        target: the architecture.
        texts: where its texts go.
    """
    return {
        "family": target.family,
        "products": target.products,
        "waves": target.wave_sizes,
        "lds_bytes": target.lds_bytes,
        "fp8": [target.fp8_format, target.bf8_format],
        "matrix": [matrix_row(target, name, texts) for name in instructions(target)],
        "lds": lds_rows(target, texts),
    }


def matrix_row(target: Arch, name: str, texts: Texts) -> dict[str, Any]:
    """One matrix instruction, with its operands for each format and wave size.

    Args:
        target: the architecture.
        name: LLVM's spelling.
        texts: where its texts go.

    Returns:
        Fields of its row, and ``operands``: by wave size, by operand, by format of A or B, a fragment (see
        `fragment_row`); ``trust``: numbers of the texts of fidelity, evidence and source for each A, B and wave size.
    """
    first = instruction(target, name)
    row, table = first.row, TABLES[target.generation]
    choices = [(a, b) for a in format_choices(row.a, target) for b in format_choices(row.b, target)]
    operands: dict[int, dict[str, dict[str, list[Any]]]] = {}
    trust: dict[str, list[int]] = {}
    for wave in target.wave_sizes:
        here = operands.setdefault(wave, {})
        for a, b in choices:
            op = instruction(target, name, a, b, wave)
            trust[f"{a} {b}"] = [texts.number(text) for text in (op.fidelity, op.evidence, op.source)]
            for fragment in op.operands.values():
                chosen = {"A": a, "index": a, "scale_A": "", "B": b, "scale_B": ""}.get(fragment.name, "")
                here.setdefault(fragment.name, {}).setdefault(chosen, fragment_row(fragment, texts))
    found = {
        "name": name,
        "alias": other_spelling(row, joined=table.joined) or "",
        "kind": row.kind,
        "shape": [row.m, row.n, row.k, row.blocks],
        "words": row.modifiers,
        "a": list(dict.fromkeys(a for a, _ in choices)),
        "b": list(dict.fromkeys(b for _, b in choices)),
        "d": row.d,
        "input": row.a,
        "scales": list(table.scale_formats) if row.scaled else [],
        "cycles": [row.cycles, row.small_cycles, row.four_cycles],
        "operands": operands,
    }
    first_trust, *others = trust.values()
    found["trust"] = trust if any(other != first_trust for other in others) else first_trust
    return found


def fragment_row(fragment: Fragment, texts: Texts) -> list[Any]:
    """Format, rows, columns, letters of both, layout, width, stride, registers and source of a fragment."""
    layout = fragment.layout
    return [
        fragment.format,
        fragment.rows,
        fragment.cols,
        "".join(fragment.axes),
        texts.number(str(layout)),
        layout.width,
        layout.stride,
        fragment.vgprs,
        texts.number(fragment.source),
    ]


def lds_rows(target: Arch, texts: Texts) -> dict[str, Any]:
    """LDS instructions and phase tables of an architecture."""
    rows = [ds_instruction(target, name) for name in ds_instructions(target)]
    return {
        "instructions": [[row.name, row.row, row.size, row.parts, row.stride, row.alignment] for row in rows],
        "tables": {access: table_row(table, texts) for access, table in phase_tables(target).items()},
    }


def table_row(table: PhaseTable, texts: Texts) -> list[Any]:
    """Lane sets, banks, confidence, source, remark, alternatives and wave size of a phase table."""
    return [
        table.lanes,
        table.banks,
        table.confidence,
        texts.number(table.source),
        texts.number(table.remark),
        [table_row(other, texts) for other in table.alternatives],
        table.wave,
    ]


def swizzle_row(name: str) -> list[Any]:
    """Name, rows, bytes of a row, padding, terms (shift, mask, left) and source of a published swizzle."""
    found = swizzle(name)
    terms = [[term.shift, term.mask, term.left] for term in found.terms]
    return [name, found.rows, found.row_bytes, found.pad, terms, found.source]
