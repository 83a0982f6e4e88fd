"""The kernel of a product that costs least, estimated instead of measured: the published library's autotune.py.

``python -m hipkernels.wmma.autotune --size 4096 4096 2048``. Each kernel of `ops`, or with ``--type fp8`` of
`hipkernels.wmma.fp8`, is executed for a few steps of K by as many workgroups as a unit holds; `mfmasim.cost` gives the
bound of its pipes and the time of its timeline, and the turns that were not executed are added. A result is a model of
one unit: caches that workgroups share are not in it.
"""

import argparse
import json
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from hipkernels.wmma.fp8 import candidates as fp8
from hipkernels.wmma.ops import TILED, VARIANTS, Variant, prepared, way_of
from mfmasim.architectures import arch as find_arch
from mfmasim.cost import bound_of, record_launch, timeline
from mfmasim.cost.costed import product_of
from mfmasim.cost.estimate import estimate, turns_for
from mfmasim.errors import MfmasimError, unknown
from mfmasim.verify.prebuilt import code_for

CANDIDATES: dict[str, Variant] = VARIANTS | {f"matmul_tiled({n})": way_of(name) for n, name in enumerate(TILED)}
SIZES = ((512, 512, 512), (1024, 1024, 1024), (2048, 2048, 2048), (4096, 4096, 4096))
"""Those of the text's table."""


@dataclass(frozen=True)
class Product:
    """Kernels that compute the same product."""

    arch: str
    candidates: Iterable[str]
    prepared: Callable[[str, int, int, int], tuple[Path, str, Any, Any, list[Any]]]
    """Source, kernel, grid, block and arguments for a name, M, N and K."""
    fits: Callable[[str, int, int], bool]
    """Whether a kernel takes N and K."""
    recorded: int
    """Length of the sums that are executed, a multiple of every kernel's step in a turn of its main loop."""
    largest: int
    """The largest of those steps."""


def _f16(name: str, m: int, n: int, k: int) -> tuple[Path, str, Any, Any, list[Any]]:
    a, b, c = np.zeros((m, k), np.float16), np.zeros((k, n), np.float16), np.zeros((m, n), np.float32)
    path, kernel, grid, args = prepared(CANDIDATES[name], a, b, c)
    return path, kernel, grid, CANDIDATES[name].threads, args


PRODUCTS = {
    "f16": Product("gfx1151", CANDIDATES, _f16, lambda *_: True, 192, 64),  # others take the kernel for any shape
    "fp8": Product("gfx1201", fp8.CANDIDATES, fp8.prepared, lambda x, n, k: fp8.CANDIDATES[x].fits(n, k), 1024, 128),
}


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


def try_kernel(
    name: str, m: int, n: int, k: int, *, arch: str = "", product: str | None = None, of: str = "f16"
) -> Trial:
    """The estimated cost of one kernel.

    Args:
        name: one of the candidates.
        m: rows of C.
        n: columns of C.
        k: length of the sums.
        arch: architecture of RDNA; empty takes the one that the kernels were written for.
        product: a GPU with it; None takes the first one.
        of: key of `PRODUCTS`.

    Raises:
        MfmasimError: a size below 1, no such product, or a kernel that does not take the shape or cannot be executed.
    """
    if min(m, n, k) < 1:
        raise MfmasimError(f"{m} x {n} x {k}: sizes of 1 or more are expected")
    if of not in PRODUCTS:
        raise unknown("type", of, PRODUCTS)
    kernels = PRODUCTS[of]
    if name not in kernels.candidates:
        raise unknown("kernel", name, kernels.candidates)
    if not kernels.fits(name, n, k):
        raise MfmasimError(f"{name} does not take N = {n} and K = {k}")
    target = find_arch(arch or kernels.arch)
    gpu = product_of(target, product)
    length = k if k <= kernels.recorded else kernels.recorded + k % kernels.largest
    path, kernel, grid, threads, args = kernels.prepared(name, m, n, length)
    recorded = record_launch(code_for(path, target.name)[kernel], grid, threads, args, units=gpu.units)
    bound = bound_of(recorded.trace, recorded.head)
    lines = {"value": timeline(recorded.trace)}
    turns = turns_for(bound, length, k, 16) if bound.looped else None
    a, b, c = (array.itemsize for array in args[:3])
    taken = estimate(recorded, bound, lines, gpu, turns=turns, operands=a * m * k + b * k * n + c * m * n)
    return Trial(name, kernel, taken.milliseconds["value"], taken.bound, bound.pipe)


def tune(m: int, n: int, k: int, names: Iterable[str] | None = None, *, arch: str = "", of: str = "f16") -> list[Trial]:
    """Kernels of a product that take the shape, the one that costs least first.

    Args:
        m: as the others, of `try_kernel`.
        n: likewise.
        k: likewise.
        names: of candidates; None takes all.
        arch: as of `try_kernel`.
        of: likewise.
    """
    fitting = (name for name in names or PRODUCTS[of].candidates if PRODUCTS[of].fits(name, n, k))
    return sorted(
        (try_kernel(name, m, n, k, arch=arch, of=of) for name in fitting), key=lambda one: (one.milliseconds, one.name)
    )


def main(argv: list[str] | None = None) -> int:
    """The command; its options are those of the published one."""
    parser = argparse.ArgumentParser(prog="hipkernels.wmma.autotune", description=__doc__.splitlines()[0])
    parser.add_argument("--size", nargs=3, type=int, metavar=("M", "N", "K"), help="one size instead of the table's")
    parser.add_argument("--quick", action="store_true", help="the smallest size alone")
    parser.add_argument("--trials", type=int, metavar="N", help="so many kernels, drawn at random, instead of all")
    parser.add_argument("--type", choices=PRODUCTS, default="f16", help="of A and B (default f16)")
    parser.add_argument("--arch", default="", help="architecture (default gfx1151; of fp8 gfx1201)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write what was found")
    args = parser.parse_args(argv)
    names = sorted(PRODUCTS[args.type].candidates)
    if args.trials is not None and not 1 <= args.trials <= len(names):
        parser.error(f"--trials {args.trials}: 1 to {len(names)} are possible")
    arch = args.arch or PRODUCTS[args.type].arch
    if args.trials:
        names = sorted(np.random.default_rng(42).choice(names, args.trials, replace=False).tolist())
    found = {}
    sizes = [tuple(args.size)] if args.size else SIZES[:1] if args.quick else SIZES
    for m, n, k in sizes:
        try:
            trials = found[f"{m}x{n}x{k}"] = tune(m, n, k, names, arch=arch, of=args.type)
        except MfmasimError as error:
            parser.error(str(error))
        print(f"{m} x {n} x {k} on {arch}: {trials[0].name}")
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
