"""Golden bits of the FP8 GEMM, C = alpha A B^T + beta C, as seeds and hashes: the matrices would be megabytes.

python -m golden.gemm            write golden/gemm.json
python -m golden.gemm --check    make everything again and compare; exit 1 on any difference

An entry's inputs are made from its seed (`inputs`), and three results are hashed: `matrix`, what kernels built on
matrix instructions leave, by the instructions' accumulation; `sequential`, what one fused multiply-add after the other
leaves; `exact`, the exact product with alpha and beta, rounded to BF16 once. All are BF16 codes, little-endian, (M, N),
NaN 0x7fc0.
"""

from __future__ import annotations

import argparse
import itertools
import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from golden.cases import EIGHT_BIT, FAMILY_OF
from golden.inputs import Draws, draw, nearest
from golden.reference import models, wide
from golden.reference.formats import FORMATS
from golden.storage import sha256

if TYPE_CHECKING:
    from collections.abc import Iterator

    from golden.reference.formats import Codes

HERE = Path(__file__).parent / "gemm.json"
SIZES = (16, 17, 127, 128, 129, 256, 384, 512)
DATA = ("integers", "normal", "one_hot", "special", "cancel", "range")
FACTORS = ((1.0, 0.0), (1.25, 0.5), (-1.0, 1.0), (0.5, -1.0), (0.0, 0.5), (0.75, 0.0))
TILE_K = 128

# The order in which the instructions meet 128 elements of K. CDNA4 has one instruction for them. On CDNA3 a lane's 32
# bytes go to four instructions, eight bytes each: the lane group 0 to 3, and within it eight elements.
ORDER = {
    "gfx942": [64 * half + 16 * group + 8 * part + i for half in (0, 1) for part in (0, 1) for group in range(4)
               for i in range(8)],
    "gfx950": list(range(TILE_K)),
}  # fmt: skip
RULE = {"gfx942": "8bit", "gfx950": "f8f6f4"}


@dataclass(frozen=True)
class Problem:
    """One entry's problem: shape (M, N, K), data class, factors, architecture."""

    arch: str
    shape: tuple[int, int, int]
    data: str
    alpha: float
    beta: float

    @property
    def id(self) -> str:
        """Name of the entry, from which its seed is made."""
        m, n, k = self.shape
        return f"gemm_fp8/{self.arch}/{m}x{n}x{k}/{self.data}/{self.alpha:g}/{self.beta:g}"

    @property
    def seed(self) -> int:
        """Seed of its inputs."""
        return int(sha256(self.id.encode())[:15], 16)


def problems() -> Iterator[Problem]:
    """Every pair of sizes, in all three roles, with data classes and factors in turn."""
    chosen = [
        (m, n, k)
        for m, n, k in itertools.product(SIZES, repeat=3)
        if (SIZES.index(m) + SIZES.index(n) + 3 * SIZES.index(k)) % 8 == 0
    ]
    for arch in RULE:
        for number, shape in enumerate(chosen):
            yield Problem(arch, shape, DATA[number % 6], *FACTORS[(number + number // 6) % 6])
        for data, factors in itertools.product(DATA, FACTORS):
            yield Problem(arch, (64, 64, 128), data, *factors)
        # For kernels whose tiles are large and that need several tiles of K.
        for shape in ((128, 128, 256), (256, 256, 256), (256, 256, 512)):
            yield Problem(arch, shape, "normal", 1.25, 0.5)
            yield Problem(arch, shape, "cancel", 0.75, 0.0)


def inputs(problem: Problem) -> tuple[Codes, Codes, Codes]:
    """A (M, K) and B (K, N) in the architecture's E4M3, C (M, N) in BF16: raw codes. With beta 0, C is all NaN."""
    m, n, k = problem.shape
    name = EIGHT_BIT[problem.arch]["fp8"]
    draws = Draws(problem.seed ^ 1)
    if problem.data == "one_hot":
        a = np.zeros((m, k))
        a[np.arange(m), draws.below(k, (m,))] = 1
        fmt = FORMATS[name]
        codes = nearest(a, fmt), nearest(draws.between(1, 16, (k, n)).astype(float), fmt)
    else:
        # Some classes pair up elements along K.
        drawn = draw(problem.data, problem.seed, (name, name), (m, n, k + k % 2), None, None)
        codes = drawn.a[:, :k], drawn.b[:k]
    c = wide.to_bf16(draws.between(-64, 64, (m, n)).astype(np.float32))
    return *codes, np.full_like(c, 0x7FC0) if problem.beta == 0 else c


def results(problem: Problem) -> dict[str, Codes]:
    """BF16 codes (M, N) by kind."""
    a, b, c = inputs(problem)
    name = EIGHT_BIT[problem.arch]["fp8"]
    formats, factors = (name, name), (problem.alpha, problem.beta)
    sums = {
        "matrix": wide.matmul(
            *in_order(problem.arch, a, b), formats, models.RULES[FAMILY_OF[problem.arch], RULE[problem.arch]]
        ),
        "sequential": wide.sequential(a, b, formats),
    }
    found = {kind: wide.finish(codes.view(np.float32), *factors, c) for kind, codes in sums.items()}
    value = problem.alpha * wide.exact(a, b, formats)
    if problem.beta:
        value = value + problem.beta * (c.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    found["exact"] = nearest_bf16(value)
    return found


def in_order(arch: str, a: Codes, b: Codes) -> tuple[Codes, Codes]:
    """A and B with K filled up with zeros to whole tiles, in the order of the instructions."""
    more = -a.shape[1] % TILE_K
    a, b = np.pad(a, ((0, 0), (0, more))), np.pad(b, ((0, more), (0, 0)))
    order = np.concatenate([np.array(ORDER[arch]) + k for k in range(0, a.shape[1], TILE_K)])
    return a[:, order], b[order]


def nearest_bf16(values: np.ndarray) -> Codes:
    """Round float64 once to BF16: through f32 rounded to odd, which holds 16 bits more."""
    with np.errstate(over="ignore"):
        single = values.astype(np.float32)
    bits = single.view(np.uint32)
    inexact = np.isfinite(values) & (single.astype(np.float64) != values)
    # An even f32 beside the value: step to its odd neighbour on the value's side.
    step = np.where(np.abs(single.astype(np.float64)) < np.abs(values), 1, -1)
    odd = np.where(inexact & (bits & 1 == 0), bits + step, bits).astype(np.uint32)
    return wide.to_bf16(odd.view(np.float32))


def digest(codes: Codes) -> str:
    """SHA-256 of codes with one NaN, as they lie in memory."""
    nan = (codes & 0x7FFF) > 0x7F80 if codes.dtype == np.uint16 else np.zeros(codes.shape, bool)
    return sha256(np.where(nan, 0x7FC0, codes).astype(codes.dtype).tobytes())


def entry(problem: Problem) -> dict[str, Any]:
    """The manifest's record of one problem."""
    a, b, c = inputs(problem)
    hashes = {"A": digest(a), "B": digest(b), "C": digest(c)} | {k: digest(v) for k, v in results(problem).items()}
    return {
        "id": problem.id,
        "arch": problem.arch,
        "shape": dict(zip("MNK", problem.shape, strict=True)),
        "data": problem.data,
        "alpha": problem.alpha,
        "beta": problem.beta,
        "formats": {"A": EIGHT_BIT[problem.arch]["fp8"], "B": EIGHT_BIT[problem.arch]["fp8"], "C": "bf16"},
        "seed": problem.seed,
        "fidelity": models.RULES[FAMILY_OF[problem.arch], RULE[problem.arch]].fidelity,
        # 64 bits of each hash: against mistakes, not against malice.
        "sha256": {name: value[:16] for name, value in hashes.items()},
    }


def text(entries: list[dict[str, Any]]) -> str:
    """The manifest, one line per entry."""
    lines = ",\n".join("  " + json.dumps(each) for each in entries)
    return f'{{\n "schema_version": 1,\n "entries": [\n{lines}\n ]\n}}\n'


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m golden.gemm", description="Make or check the golden GEMM hashes.")
    parser.add_argument("--check", action="store_true", help="write nothing, compare with what lies here")
    return write_or_check(HERE, [entry(problem) for problem in problems()], parser.parse_args(arguments).check)


def write_or_check(path: Path, entries: list[dict[str, Any]], check: bool) -> int:
    """Write a list of entries, or compare it with what lies there; returns the exit code."""
    made = text(entries)
    if not check:
        path.write_text(made, encoding="utf-8")
        print(f"{len(entries)} entries written to {path.name}")
        return 0
    same = path.is_file() and path.read_text(encoding="utf-8") == made
    print(f"{path.name} is up to date" if same else f"{path.name}: differs from the generator's")
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
