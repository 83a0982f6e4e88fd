"""LDS banks and phases by architecture and instruction, bank conflicts, swizzles that are proved and found.

Counts are passes and never a time: what a pass costs, and whether it is hidden, depends on everything around it.
"""

from __future__ import annotations

from mfmasim.lds.conflict import RULES, Conflicts, LdsModelWarning, Phase, conflicts
from mfmasim.lds.instructions import DsInstruction, ds_instruction, ds_instructions
from mfmasim.lds.lanes import CONFIDENCES, LANE_SETS, PhaseTable, lane_sets
from mfmasim.lds.tables import phase_table, phase_tables

__all__ = [
    "CONFIDENCES",
    "LANE_SETS",
    "RULES",
    "Conflicts",
    "DsInstruction",
    "LdsModelWarning",
    "Phase",
    "PhaseTable",
    "conflicts",
    "ds_instruction",
    "ds_instructions",
    "lane_sets",
    "phase_table",
    "phase_tables",
]
