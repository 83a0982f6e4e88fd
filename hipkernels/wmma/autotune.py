"""The kernel of a product that costs least, estimated instead of measured: the published library's autotune.py.

``python -m hipkernels.wmma.autotune --size 4096 4096 2048``. Each kernel of `ops` is executed for a few steps of K by
as many workgroups as a unit holds; `mfmasim.cost` gives the bound of its pipes and the time of its timeline, and the
turns that were not executed are added. A result is a model of one unit: caches that workgroups share are not in it.
"""

import argparse
import json
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from hipkernels.wmma.ops import TILED, VARIANTS, Variant, prepared, way_of
from mfmasim.architectures import arch as find_arch
from mfmasim.cost import bound_of, record_launch, timeline
from mfmasim.cost.costed import product_of
from mfmasim.cost.estimate import estimate, turns_for
from mfmasim.errors import MfmasimError
from mfmasim.verify.prebuilt import code_for

CANDIDATES: dict[str, Variant] = VARIANTS | {f"matmul_tiled({n})": way_of(name) for n, name in enumerate(TILED)}
SIZES = ((512, 512, 512), (1024, 1024, 1024), (2048, 2048, 2048), (4096, 4096, 4096))
"""Those of the text's table."""
RECORDED = 192
LARGEST = 64
"""Length of the sums that are executed, a multiple of every kernel's step, and the largest of those steps."""


@dataclass(frozen=True)
class Trial:
    """One kernel at one size."""

    name: str
    kernel: str
    milliseconds: float
    """By the timeline with the values of the rates."""
    bound: float
    """Milliseconds that the pipes must spend at least."""
    pipe: str
    """What bounds it."""


def try_kernel(name: str, m: int, n: int, k: int, *, arch: str = "gfx1151", product: str | None = None) -> Trial:
    """The estimated cost of one kernel.

    Args:
        name: one of `CANDIDATES`.
        m: rows of C.
        n: columns of C.
        k: length of the sums.
        arch: architecture of RDNA.
        product: a GPU with it; None takes the first one.

    Raises:
        MfmasimError: a size below 1, no such product, or a kernel that cannot be executed.
    """
    if min(m, n, k) < 1:
        raise MfmasimError(f"{m} x {n} x {k}: sizes of 1 or more are expected")
    variant, gpu = CANDIDATES[name], product_of(find_arch(arch), product)
    length = k if k <= RECORDED else RECORDED + k % LARGEST
    a, b, c = np.zeros((m, length), np.float16), np.zeros((length, n), np.float16), np.zeros((m, n), np.float32)
    path, kernel, grid, args = prepared(variant, a, b, c)
    recorded = record_launch(code_for(path, arch)[kernel], grid, variant.threads, args, units=gpu.units)
    bound = bound_of(recorded.trace, recorded.head)
    lines = {"value": timeline(recorded.trace)}
    turns = turns_for(bound, length, k, 16) if bound.looped else None
    moved = 2 * (m * k + k * n) + 4 * m * n
    taken = estimate(recorded, bound, lines, gpu, turns=turns, operands=moved)
    return Trial(name, kernel, taken.milliseconds["value"], taken.bound, bound.pipe)


def tune(m: int, n: int, k: int, names: list[str] | None = None, *, arch: str = "gfx1151") -> list[Trial]:
    """Kernels of a product, the one that costs least first.

    Args:
        m: as the others, of `try_kernel`.
        n: likewise.
        k: likewise.
        names: of `CANDIDATES`; None takes all.
        arch: as of `try_kernel`.
    """
    return sorted(
        (try_kernel(name, m, n, k, arch=arch) for name in names or CANDIDATES),
        key=lambda one: (one.milliseconds, one.name),
    )


def main(argv: list[str] | None = None) -> int:
    """The command; its options are those of the published one."""
    parser = argparse.ArgumentParser(prog="hipkernels.wmma.autotune", description=__doc__.splitlines()[0])
    parser.add_argument("--size", nargs=3, type=int, metavar=("M", "N", "K"), help="one size instead of the table's")
    parser.add_argument("--quick", action="store_true", help="the smallest size alone")
    parser.add_argument("--trials", type=int, metavar="N", help="so many kernels, drawn at random, instead of all")
    parser.add_argument("--arch", default="gfx1151", help="architecture (default gfx1151)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write what was found")
    args = parser.parse_args(argv)
    if args.trials is not None and not 1 <= args.trials <= len(CANDIDATES):
        parser.error(f"--trials {args.trials}: 1 to {len(CANDIDATES)} are possible")
    names = sorted(CANDIDATES)
    if args.trials:
        names = sorted(np.random.default_rng(42).choice(names, args.trials, replace=False).tolist())
    found = {}
    sizes = [tuple(args.size)] if args.size else SIZES[:1] if args.quick else SIZES
    for m, n, k in sizes:
        try:
            trials = found[f"{m}x{n}x{k}"] = tune(m, n, k, names, arch=args.arch)
        except MfmasimError as error:
            parser.error(str(error))
        print(f"{m} x {n} x {k} on {args.arch}: {trials[0].name}")
        for one in trials:
            rate = 2 * m * n * k / one.milliseconds / 1e9
            about = f"bound {one.bound:.4g} ms, {one.pipe}  {one.kernel}"
            print(f"  {one.name:22} {one.milliseconds:9.4g} ms  {rate:5.1f} TFLOPS  {about}")
    if args.json:
        record = {size: [asdict(one) for one in trials] for size, trials in found.items()}
        args.json.write_text(json.dumps(record, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
