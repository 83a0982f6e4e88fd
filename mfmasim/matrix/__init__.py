"""Matrix instructions: rows, lane layouts and accumulation."""

from __future__ import annotations

from mfmasim.matrix.catalogue import instruction, instructions
from mfmasim.matrix.fragment import Element, Fragment, Place
from mfmasim.matrix.instruction import MatrixInstruction

__all__ = ["Element", "Fragment", "MatrixInstruction", "Place", "instruction", "instructions"]
