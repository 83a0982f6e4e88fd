"""Test helpers, for mfmasim and for users. hypothesis is imported only when it is used."""

from __future__ import annotations

from mfmasim.testing.bits import assert_same_bits
from mfmasim.testing.codes import CODE_KINDS, Code, cancellation_pairs, code_arrays, codes
from mfmasim.testing.trials import smallest, trials

__all__ = ["CODE_KINDS", "Code", "assert_same_bits", "cancellation_pairs", "code_arrays", "codes", "smallest", "trials"]
