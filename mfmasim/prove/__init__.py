"""Proofs for all sizes: symbolic execution of the machine code of one workgroup.

`prove_case` executes a kernel with symbols for workgroup numbers, sizes, strides and pointers, and judges each
obligation as ``proved``, ``refuted`` or ``unknown``; `prove_kernel` does so without a case. docs/prove.md has the basis
of a proof.
"""

from __future__ import annotations

from mfmasim.prove.objects import prove_kernel
from mfmasim.prove.proof import KINDS, Obligation, Proof, Reason, prove_case

__all__ = ["KINDS", "Obligation", "Proof", "Reason", "prove_case", "prove_kernel"]
