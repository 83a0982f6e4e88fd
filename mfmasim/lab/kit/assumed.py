"""Every row of an architecture that rests on an assumption, found in the tables themselves."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from mfmasim.architectures import arch as find_arch
from mfmasim.isa.family import family
from mfmasim.isa.rows import Row as OpcodeRow
from mfmasim.lds import phase_tables
from mfmasim.machine import ops  # noqa: F401  (fills the table of operations)
from mfmasim.machine.opcodes.registry import OPERATIONS
from mfmasim.matrix import instruction, instructions

GUESSED = ("inferred", "unknown")
"""Confidences of LDS phases that no document and no measurement supports."""


@dataclass(frozen=True)
class AssumedRow:
    """A row that a measurement can settle."""

    kind: str
    """``model`` (how a matrix instruction rounds), ``phase`` (LDS), ``operation``, ``reach`` (lanes of DS permutes)."""
    name: str
    """Its key in its table."""
    place: str
    """File of the table, below the package."""
    why: str
    """The basis of the assumption."""

    @property
    def title(self) -> str:
        """Kind and name."""
        return f"{self.kind} {self.name}"


@cache
def opcode_rows(arch: str) -> dict[str, tuple[str, OpcodeRow]]:
    """Encoding and opcode row of every assumed operation of an architecture, in the order of its tables."""
    found: dict[str, tuple[str, OpcodeRow]] = {}
    made = find_arch(arch)
    for encoding, rows in family(arch).rows.items():
        for row in rows.values():
            operation = OPERATIONS.get(row.name)
            if operation is None or row.opcode.matrix or encoding.startswith("VOPD"):
                continue
            if operation.level(made, row.name) == "assumed":
                found.setdefault(row.name, (encoding, row))
    return found


@cache
def assumed_rows(arch: str) -> tuple[AssumedRow, ...]:
    """The assumed rows of an architecture: accumulation models, LDS phases, operations.

    Args:
        arch: its name.
    """
    models = {}
    for name in instructions(arch):
        model = instruction(arch, name).model
        if model.fidelity == "assumed":
            models[model.name] = AssumedRow("model", model.name, "mfmasim/matrix/models.py", model.evidence)
    phases = [
        AssumedRow("phase", access, f"mfmasim/architectures/{arch}.py", f"{table.confidence}: {table.source}")
        for access, table in phase_tables(arch).items()
        if table.confidence in GUESSED or table.alternatives
    ]
    operations = [
        AssumedRow("operation", name, _place(name), "the manual leaves it open, or its text cannot be meant literally")
        for name in opcode_rows(arch)
    ]
    return (*models.values(), *phases, *operations, *_reach(arch))


def _reach(arch: str) -> list[AssumedRow]:
    """Lanes that DS permutes reach in waves with more lanes; cases of the family isa/lanes measure this."""
    made = find_arch(arch)
    if max(made.wave_sizes) <= made.lds.permute_lanes:
        return []
    why = "the manual's chapter and its pseudocode name different halves"
    return [AssumedRow("reach", "DS permutes of wave64", "mfmasim/architectures/groups.py", why)]


def _place(name: str) -> str:
    """File that registers an operation."""
    body = getattr(OPERATIONS[name].body, "func", OPERATIONS[name].body)
    return f"{body.__module__.replace('.', '/')}.py"
