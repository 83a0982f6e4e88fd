"""LDS banks and phases by architecture and instruction, bank conflicts, and the proof and search of swizzles.

Counts are passes, never times: the cost of a pass, and whether it is hidden, depend on the surrounding code.
"""

from __future__ import annotations

from mfmasim.lds.accounting import Account, Accounts
from mfmasim.lds.advice import Advice, advise, considered
from mfmasim.lds.conflict import RULES, Conflicts, LdsModelWarning, Phase, conflicts
from mfmasim.lds.direct import direct_sizes, direct_to_lds, fetch
from mfmasim.lds.instructions import DsInstruction, ds_instruction, ds_instructions
from mfmasim.lds.lanes import CONFIDENCES, LANE_SETS, PhaseTable, lane_sets
from mfmasim.lds.layouts import layout_offsets
from mfmasim.lds.library import NAMES, ck_tile, linear, padding, row_xor, swizzle
from mfmasim.lds.partitions import PARTITION_CONFIDENCE, pair_of_wave, partition_note, partitions
from mfmasim.lds.patterns import Pattern
from mfmasim.lds.samples import Sample
from mfmasim.lds.search import Proof, SwizzleSearch, find_swizzle, prove
from mfmasim.lds.swizzles import Swizzle, Term, terms_of
from mfmasim.lds.tables import SOURCES, phase_table, phase_tables

__all__ = [
    "CONFIDENCES",
    "LANE_SETS",
    "NAMES",
    "PARTITION_CONFIDENCE",
    "RULES",
    "SOURCES",
    "Account",
    "Accounts",
    "Advice",
    "Conflicts",
    "DsInstruction",
    "LdsModelWarning",
    "Pattern",
    "Phase",
    "PhaseTable",
    "Proof",
    "Sample",
    "Swizzle",
    "SwizzleSearch",
    "Term",
    "advise",
    "ck_tile",
    "conflicts",
    "considered",
    "direct_sizes",
    "direct_to_lds",
    "ds_instruction",
    "ds_instructions",
    "fetch",
    "find_swizzle",
    "lane_sets",
    "layout_offsets",
    "linear",
    "padding",
    "pair_of_wave",
    "partition_note",
    "partitions",
    "phase_table",
    "phase_tables",
    "prove",
    "row_xor",
    "swizzle",
    "terms_of",
]
