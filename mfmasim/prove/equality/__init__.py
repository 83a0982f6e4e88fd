"""Equality of kernels: each byte of an output as an expression over the inputs."""

from __future__ import annotations

from mfmasim.prove.equality.follow import Expressions
from mfmasim.prove.equality.judged import Equality, Side, equal
from mfmasim.prove.equality.pool import Pool
from mfmasim.prove.equality.stopped import Stopped

__all__ = ["Equality", "Expressions", "Pool", "Side", "Stopped", "equal"]
