"""Candidate accumulation models against figures of public GEMMs: a likelihood, not a reference.

    python -m mfmasim.lab.agreement.model_ranking gfx1250 --outputs 8192

AITER's table of tuned FP8 GEMMs has, for each, the share of outputs outside of 0.01 + 0.01 |reference|; its generator
draws normal values, scales each row and column by its largest one, and rounds to bf16. The same is done here for each
candidate. None of this is evidence for one model: several may fit, and the right one may not be among them.
"""

from __future__ import annotations

import argparse
import csv
import math
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from mfmasim.architectures import arch as find_arch
from mfmasim.errors import MfmasimError
from mfmasim.formats import format as number_format
from mfmasim.matrix import arithmetic
from mfmasim.matrix.candidates import CANDIDATES
from mfmasim.matrix.models import MODELS, Model, model_for
from mfmasim.matrix.request import Formats, Operands

if TYPE_CHECKING:
    from numpy.typing import NDArray

ABSOLUTE, RELATIVE = 0.01, 0.01
"""AITER's tolerance."""
LEAST = 5e-5
"""A share that is printed as 0.0000."""
ROWS, LARGEST = 16, 448.0
"""Rows of A that are drawn; largest E4M3 number, to which AITER scales."""


@dataclass(frozen=True)
class Constraint:
    """A published number that depends on the rounding of sums."""

    arch: str
    k: int
    """Products of an output."""
    instruction: str
    share: float
    """Outputs outside of the tolerance."""
    source: str


def _read() -> tuple[Constraint, ...]:
    with Path(__file__).with_name("public_gemms.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    return tuple(
        Constraint(row["arch"], int(row["k"]), row["instruction"], float(row["share"]), row["source"]) for row in rows
    )


CONSTRAINTS = _read()
"""Public numbers, one row each in ``public_gemms.csv``."""


@dataclass(frozen=True)
class Ranked:
    """A candidate and its shares."""

    name: str
    shares: tuple[float, ...]
    """Outputs outside of the tolerance, by constraint."""
    likelihood: float
    """Natural logarithm of the probability of these counts if the shares were those of the constraints."""


def candidates(row: Model) -> Iterator[tuple[str, Model]]:
    """The row of the table, every candidate, and sums rounded to nearest to fewer bits."""
    yield "assumed", row
    for name, one in CANDIDATES.items():
        if (made := one.applied(row)) is not None:
            yield name, made
    for group in (32, 64):
        for bits in (12, 13, 14, 15, 16):
            made = replace(row, group=group, partial_sums=1, drop_addend_below=None, final_bits=bits)
            yield f"nearest{bits}by{group}", replace(made, final_rounding="nearest_even")


def rank(arch: str, outputs: int = 8192) -> list[Ranked]:
    """Candidates for an architecture, the likeliest first.

    Args:
        arch: architecture with constraints.
        outputs: outputs that are computed for each constraint, a multiple of 16.

    Raises:
        MfmasimError: there is no constraint for it.
    """
    found = [one for one in CONSTRAINTS if one.arch == arch]
    if not found:
        known = ", ".join(sorted({one.arch for one in CONSTRAINTS}))
        raise MfmasimError(f"no public number constrains sums of {arch}; there are some for {known}")
    family = find_arch(arch)
    kind = "mfma" if family.agprs else "wmma"
    row = MODELS[model_for(family, kind, "e4m3fn", "e4m3fn", "f32", _depth(found[0])).name]
    ranked = []
    for name, model in candidates(row):
        shares = tuple(share(model, one, outputs) for one in found)
        pairs = zip(shares, found, strict=True)
        ranked.append(Ranked(name, shares, sum(_logarithm(part, one.share, outputs) for part, one in pairs)))
    return sorted(ranked, key=lambda one: -one.likelihood)


def share(model: Model, constraint: Constraint, outputs: int) -> float:
    """Share of outputs outside of the tolerance.

    Args:
        model: accumulation model.
        constraint: K and the instruction, which is repeated along K.
        outputs: number of computed outputs.
    """
    a, b, scales, reference = _problem(constraint.k, outputs)
    c = np.zeros(reference.shape, np.uint32)
    formats = Formats("e4m3fn", "e4m3fn", "f32")
    sums = arithmetic.multiply(model, formats, Operands(a, b, c), k=_depth(constraint)).view(np.float32)
    wrong = np.abs(_bf16(sums * scales) - reference) > ABSOLUTE + RELATIVE * np.abs(reference)
    return float(wrong.mean())


@cache
def _problem(
    k: int, outputs: int
) -> tuple[NDArray[np.uint8], NDArray[np.uint8], NDArray[np.float32], NDArray[np.float32]]:
    """Codes of A and B, the product of their scales, and the reference."""
    rng = np.random.default_rng(k)
    a, scale_a = _scaled(_bf16(rng.normal(size=(ROWS, k)).astype(np.float32)))
    b, scale_b = _scaled(_bf16(rng.normal(size=(outputs // ROWS, k)).astype(np.float32)))
    decode = number_format("e4m3fn").decode
    reference = _bf16(((decode(a) * scale_a) @ (decode(b) * scale_b).T).astype(np.float32))
    return a, np.ascontiguousarray(b.T), scale_a * scale_b.T, reference


def _scaled(values: NDArray[np.float32]) -> tuple[NDArray[np.uint8], NDArray[np.float32]]:
    scale = np.abs(values).max(axis=1, keepdims=True) / np.float32(LARGEST)
    return number_format("e4m3fn").encode((values / scale).astype(np.float64)).astype(np.uint8), scale


def _bf16(values: NDArray[np.float32]) -> NDArray[np.float32]:
    """Values rounded to bf16, to nearest even."""
    bits = values.astype(np.float32).view(np.uint32)
    return ((bits + np.uint32(0x7FFF) + (bits >> np.uint32(16) & np.uint32(1))) & np.uint32(0xFFFF0000)).view(
        np.float32
    )


def _depth(constraint: Constraint) -> int:
    """K of its instruction."""
    return int(constraint.instruction.split("x")[2].partition("_")[0])


def _logarithm(found: float, wanted: float, outputs: int) -> float:
    """Logarithm of the binomial probability of a share, if the true one is `wanted`."""
    hits, chance = round(found * outputs), max(wanted, LEAST)
    ways = math.lgamma(outputs + 1) - math.lgamma(hits + 1) - math.lgamma(outputs - hits + 1)
    return ways + hits * math.log(chance) + (outputs - hits) * math.log1p(-chance)


def main() -> None:
    """Print the ranking."""
    parser = argparse.ArgumentParser(description="rank candidate accumulation models by public numbers")
    parser.add_argument("arch")
    parser.add_argument("--outputs", type=int, default=8192)
    args = parser.parse_args()
    heads = [f"K={one.k}: {one.share}" for one in CONSTRAINTS if one.arch == args.arch]
    lines = [["candidate", *heads, "log-likelihood"]]
    lines += [
        [r.name, *(f"{part:.4f}" for part in r.shares), f"{r.likelihood:.0f}"] for r in rank(args.arch, args.outputs)
    ]
    sys.stdout.write("".join("\t".join(line) + "\n" for line in lines))


if __name__ == "__main__":
    main()
