"""Verification: kernel cases, comparison with golden data and the exact reference, mapping proofs, results.

A case file needs these names::

    from mfmasim.verify import case, A, B, C, ScaleA, ScaleB, Index, sparse, In, Out, InOut, Claim, ComesFrom, DependsOn
"""

from __future__ import annotations

from mfmasim.verify.arrays import In, InOut, Out
from mfmasim.verify.cases import Case, case
from mfmasim.verify.claims import Claim
from mfmasim.verify.elements.sources import ComesFrom, DependsOn
from mfmasim.verify.elements.why import why
from mfmasim.verify.elements.why_arrays import why_array
from mfmasim.verify.elementwise import elementwise, every
from mfmasim.verify.files import families, find, load_file
from mfmasim.verify.launch import LaunchDict
from mfmasim.verify.mutant import Mutant
from mfmasim.verify.products import k_order, product_by
from mfmasim.verify.result import Result
from mfmasim.verify.roles import A, B, C, Index, ScaleA, ScaleB, sparse
from mfmasim.verify.runner import select, verify_case

__all__ = [
    "A",
    "B",
    "C",
    "Case",
    "Claim",
    "ComesFrom",
    "DependsOn",
    "In",
    "InOut",
    "Index",
    "LaunchDict",
    "Mutant",
    "Out",
    "Result",
    "ScaleA",
    "ScaleB",
    "case",
    "elementwise",
    "every",
    "families",
    "find",
    "k_order",
    "load_file",
    "product_by",
    "select",
    "sparse",
    "verify_case",
    "why",
    "why_array",
]
