"""Golden bits of GEMM families beside plain FP8, as seeds and hashes: scales, epilogues, shared tiles, sparse A.

python -m golden.kernels            write golden/kernels.json
python -m golden.kernels --check    make everything again and compare; exit 1 on any difference

``gemm_mx/scheduled``: C = alpha A B + beta C in FP4 with a scale for 32 of K. ``gemm_epilogue``: the same with a bias,
quantised to MXFP4. ``gemm_blockscale``: f32 scales for 128
of a row of A, and for 128x128 of B. ``gemm_fp8/streams``: K in parts. ``gemm_sparse``: two of four of a row of A. Where
the data are ``integers`` the sums of products are exact, so that any order of them leaves the same bits; the others are
in the order of the matrix instructions, and of the parts.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from golden import casts, gemm
from golden.cases import EIGHT_BIT, FAMILY_OF
from golden.inputs import Draws, draw
from golden.reference import models, wide
from golden.storage import sha256

if TYPE_CHECKING:
    from collections.abc import Iterator

    from golden.reference.formats import Codes

HERE = Path(__file__).parent / "kernels.json"
SIDE = 128
"""Elements of K of a scale of ``gemm_blockscale``, and of a step of ``gemm_fp8/streams``."""
MX, BLOCKS, STREAMS, SPARSE = "gemm_mx/scheduled", "gemm_blockscale", "gemm_fp8/streams", "gemm_sparse"
EPILOGUE, FP4 = "gemm_epilogue", "e2m1fn"
ARCHS = {MX: ("gfx950",), EPILOGUE: ("gfx950",), BLOCKS: ("gfx942", "gfx950", "gfx1201"), STREAMS: ("gfx942", "gfx950")}
ARCHS[SPARSE] = ARCHS[BLOCKS]
SHAPES = {
    MX: ((77, 208, 544), (256, 256, 512)),
    EPILOGUE: ((45, 96, 288), (40, 320, 544)),
    BLOCKS: ((77, 128, 128), (40, 256, 384)),
    STREAMS: ((77, 128, 640), (130, 136, 384)),
    SPARSE: ((77, 128, 128), (128, 256, 192)),
}


@dataclass(frozen=True)
class Problem:
    """One entry's problem: shape (M, N, K), data class, and of ``gemm_fp8/streams`` the parts of K."""

    family: str
    arch: str
    shape: tuple[int, int, int]
    data: str
    alpha: float = 1.0
    beta: float = 0.0
    parts: int = 1

    @property
    def id(self) -> str:
        """Name of the entry, from which its seed is made."""
        m, n, k = self.shape
        return f"{self.family}/{self.arch}/{m}x{n}x{k}/{self.data}/{self.alpha:g}/{self.beta:g}/{self.parts}"

    @property
    def seed(self) -> int:
        """Seed of its inputs."""
        return int(sha256(self.id.encode())[:15], 16)

    @property
    def format(self) -> str:
        """Of A and B."""
        return {MX: FP4, EPILOGUE: FP4, SPARSE: "f16"}.get(self.family) or EIGHT_BIT[self.arch]["fp8"]


def problems() -> Iterator[Problem]:
    """Every family on its architectures."""
    for family, archs in ARCHS.items():
        for arch in archs:
            for number, shape in enumerate(SHAPES[family]):
                for data in ("integers", "normal", "cancel"):
                    if data != "integers" and (family == SPARSE or arch == "gfx1201"):
                        continue  # how those sum is not among the rules of whole matrices
                    factors = (0.75, 0.5 if family == MX and number else 0.0) if family in (MX, STREAMS) else (1.0, 0.0)
                    if family == EPILOGUE:
                        factors = (0.75, 0.5)
                    yield Problem(family, arch, shape, data, *factors, parts=2 + number if family == STREAMS else 1)


def inputs(problem: Problem) -> dict[str, Codes]:
    """Codes of A (M, K), sparse (M, K / 2), B (K, N); C (M, N) in BF16, NaN where beta is 0; scales; index; f32 bias.

    Scales of FP4 are E8M0 (M, K / 32) and (K / 32, N), those of ``gemm_blockscale`` f32 codes
    (K / 128, M) and (N / 128, K / 128); an index is the place of each kept element among its four, (M, K / 2).
    """
    m, n, k = problem.shape
    block = 32 if problem.format == FP4 else None
    formats = (problem.format, problem.format)
    drawn = draw(problem.data, problem.seed, formats, problem.shape, block, None if block is None else 0)
    draws = Draws(problem.seed ^ 1)
    found = {"A": drawn.a, "B": drawn.b}
    if drawn.scale_a is not None and drawn.scale_b is not None:
        found |= {"scale_A": drawn.scale_a[..., 0], "scale_B": drawn.scale_b[..., 0]}
        c = wide.to_bf16(draws.between(-64, 64, (m, n)).astype(np.float32))
        found["C"] = c if problem.beta else np.full_like(c, 0x7FC0)
    if problem.family == EPILOGUE:
        found["bias"] = draws.between(-64, 64, (n,)).astype(np.float32).view(np.uint32)
    if problem.family == BLOCKS:
        rest = 0 if problem.data == "integers" else (1 << 23) - 1
        for name, shape in (("scale_A", (k // SIDE, m)), ("scale_B", (n // SIDE, k // SIDE))):
            found[name] = (draws.between(124, 130, shape) << 23 | draws.below(1 << 23, shape) & rest).astype(np.uint32)
    if problem.family == SPARSE:
        first = draws.below(3, (m, k // 4))
        second = first + 1 + draws.below(3, (m, k // 4)) % (3 - first)
        found |= {"A": drawn.a[:, ::2], "index": np.stack([first, second], -1).reshape(m, k // 2).astype(np.uint8)}
    return found


def results(problem: Problem) -> dict[str, Codes]:
    """What kernels leave: BF16 or f32 codes (M, N) by kind; ``mxfp4``: E2M1 codes, then scales, (M, N + N / 32).

    ``bf16`` and ``f32`` are alpha times the whole sum, ``turn`` is f32 where a part after the other is multiplied by
    alpha and added to C.
    """
    found = inputs(problem)
    a, b = found["A"], found["B"]
    alpha = np.float32(problem.alpha)
    if problem.format == FP4:
        rule = models.RULES[FAMILY_OF[problem.arch], "f8f6f4"]
        sums = wide.matmul(a, b, (problem.format,) * 2, rule, found["scale_A"], found["scale_B"])
        if problem.family == EPILOGUE:
            x = wide.fma(alpha, sums.view(np.float32), found["bias"].view(np.float32))
            x = wide.fma(np.float32(problem.beta), (found["C"].astype(np.uint32) << 16).view(np.float32), x)
            made = casts.results(casts.Cast(problem.arch, FP4, problem.data, scaled=True), x.view(np.uint32))
            return {"mxfp4": np.concatenate([made["exact"], made["scale"]], axis=1)}
        return {"bf16": wide.finish(sums.view(np.float32), problem.alpha, problem.beta, found["C"])}
    if problem.family == SPARSE:
        dense = np.zeros(problem.shape[::2], a.dtype)
        fours = dense.reshape(len(a), -1, 4)
        np.put_along_axis(fours, found["index"].astype(np.int64).reshape(len(a), -1, 2), a.reshape(len(a), -1, 2), 2)
        return {"f32": wide.canonical(wide.exact(dense, b, (problem.format,) * 2).astype(np.float32))}
    if problem.family == BLOCKS:
        total = np.zeros((len(a), b.shape[1]), np.float32)
        for n, k in enumerate(range(0, a.shape[1], SIDE)):
            other = np.repeat(found["scale_B"].view(np.float32)[:, n], SIDE)
            scale = found["scale_A"].view(np.float32)[n][:, None] * other
            total = wide.fma(scale, summed(problem, a[:, k : k + SIDE], b[k : k + SIDE]), total)
        return {"bf16": wide.to_bf16(total)}
    depth = a.shape[1] // SIDE
    cuts = [SIDE * (depth * n // problem.parts) for n in range(problem.parts + 1)]
    parts = [summed(problem, a[:, x:y], b[x:y]) for x, y in pairwise(cuts)]
    total, turn = parts[0], alpha * parts[0]
    for part in parts[1:]:
        total, turn = total + part, wide.fma(alpha, part, turn)
    return {"bf16": wide.to_bf16(alpha * total), "turn": wide.canonical(turn)}


def summed(problem: Problem, a: Codes, b: Codes) -> Any:
    """A B in f32 in the order of the matrix instructions; where any order gives the same, as it is."""
    formats = (problem.format, problem.format)
    if problem.arch not in gemm.RULE:
        return wide.exact(a, b, formats).astype(np.float32)
    rule = models.RULES[FAMILY_OF[problem.arch], gemm.RULE[problem.arch]]
    return wide.matmul(*gemm.in_order(problem.arch, a, b), formats, rule).view(np.float32)


def entry(problem: Problem) -> dict[str, Any]:
    """The manifest's record of one problem."""
    hashes = {name: gemm.digest(codes) for name, codes in (inputs(problem) | results(problem)).items()}
    kind = {MX: "f8f6f4", EPILOGUE: "f8f6f4", SPARSE: ""}.get(problem.family, gemm.RULE.get(problem.arch, ""))
    fidelity = "specified" if problem.data == "integers" else models.RULES[FAMILY_OF[problem.arch], kind].fidelity
    return {
        "id": problem.id,
        "family": problem.family,
        "arch": problem.arch,
        "shape": dict(zip("MNK", problem.shape, strict=True)),
        "data": problem.data,
        "alpha": problem.alpha,
        "beta": problem.beta,
        "parts": problem.parts,
        "format": problem.format,
        "seed": problem.seed,
        "fidelity": fidelity,
        "sha256": {name: value[:16] for name, value in hashes.items()},
    }


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; returns the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m golden.kernels", description="Make or check hashes of GEMM families."
    )
    parser.add_argument("--check", action="store_true", help="write nothing, compare with what lies here")
    return gemm.write_or_check(HERE, [entry(problem) for problem in problems()], parser.parse_args(arguments).check)


if __name__ == "__main__":
    sys.exit(main())
