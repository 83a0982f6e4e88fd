"""``mfmasim list``: architectures, and their matrix instructions with shapes or fidelity."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

from mfmasim.cli.numbers import positive, whole
from mfmasim.cli.output import add_formats, table, wanted_format
from mfmasim.cli.products import operations

if TYPE_CHECKING:
    from mfmasim.matrix import MatrixInstruction

SHAPE_COLUMNS = (
    "instruction", "m", "n", "k", "blocks", "a", "b", "d", "wave", "cycles", "passes", "flops", "ops_per_cycle",
    "vgprs_a", "vgprs_b", "vgprs_c", "vgprs_d", "modifiers",
)  # fmt: skip
SHAPE = SHAPE_COLUMNS[:10]
"""Columns of every list but that of fidelity."""
FIDELITY_COLUMNS = ("instruction", "a", "b", "d", "arithmetic", "evidence", "source", "layout")


def add(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Register the verb."""
    parser = subparsers.add_parser("list", help="list architectures, or matrix instructions")
    default = "default: list the architectures, or with --match or --fidelity the instructions of all"
    parser.add_argument("arch", nargs="?", help=f"architecture, such as gfx942, or product, such as mi355x ({default})")
    parser.add_argument("--match", default="", metavar="TEXT", help="only instructions whose name contains TEXT")
    parser.add_argument("--fidelity", action="store_true", help="show fidelity and evidence of arithmetic and layout")
    parser.add_argument(
        "--units", type=whole(1, 1_000_000), help="compute units of a product; with --mhz: its peak by each instruction"
    )
    parser.add_argument("--mhz", type=positive(1_000_000), help="clock of a product, such as 2400")
    add_formats(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Print the list, which is empty of RDNA2; an unknown architecture or a --match without results is an error."""
    from mfmasim.architectures import ARCHITECTURES
    from mfmasim.errors import unknown
    from mfmasim.matrix import instructions

    form = wanted_format(args)
    peak = _product(args)
    if args.arch is None and not (args.fidelity or args.match):
        print(table(("arch", "family", "products", "waves", "instructions"), _architectures(), form), end="")
        return 0
    columns: tuple[str, ...]
    rows: Callable[[str], Iterator[list[Any]]]
    columns, rows = (FIDELITY_COLUMNS, fidelity_rows) if args.fidelity else (SHAPE_COLUMNS, shape_rows)
    if peak is not None:
        columns, rows = (*SHAPE, "tflops"), partial(peak_rows, units=peak[0], hertz=peak[1])
    everywhere = args.arch is None  # each row then begins with its architecture
    archs = ARCHITECTURES if everywhere else (args.arch,)
    rows_of = ((arch, row) for arch in archs for row in rows(arch) if args.match.lower() in row[0])
    found = [[arch, *row] if everywhere else row for arch, row in rows_of]
    if not found and not args.match:  # without a filter an architecture may have none
        print(f"{args.arch} has no matrix instructions\n" if form == "terminal" else table(columns, [], form), end="")
        return 0
    if not found:
        names = dict.fromkeys(name for arch in archs for name in instructions(arch))
        raise unknown("instruction", args.match, names, "on any architecture" if everywhere else f"on {args.arch}")
    if form == "terminal" and columns[: len(SHAPE)] == SHAPE:
        lead = int(everywhere)
        short = [_short(dict(zip(columns, row[lead:], strict=True))) for row in found]
        columns = tuple(short[0])
        found = [[*row[:lead], *one.values()] for row, one in zip(found, short, strict=True)]
    print(table(("arch", *columns) if everywhere else columns, found, form), end="")
    return 0


def _shape(op: MatrixInstruction) -> list[Any]:
    """Columns of `SHAPE`."""
    return [op.name, op.m, op.n, op.k, op.blocks, op.a, op.b, op.d, op.wave, op.cycles]


def shape_rows(arch: str) -> Iterator[list[Any]]:
    """Rows of `SHAPE_COLUMNS`: one per wave size, for f8f6f4 one per register count."""
    for op in operations(arch):
        registers = (op.A.vgprs, op.B.vgprs, None if op.sparse else op.C.vgprs, op.D.vgprs)
        yield [*_shape(op), op.passes, op.flops, op.ops_per_cycle, *registers, op.row.modifiers]


def _short(of: dict[str, Any]) -> dict[str, Any]:
    """Columns that fit 100 characters, also in a pipe; registers are of A, B, C, D. Other formats have all columns."""
    shape = f"{of['m']}x{of['n']}x{of['k']}" + (f" x{of['blocks']}" if of["blocks"] > 1 else "")
    factors = of["a"] if of["a"] == of["b"] else f"{of['a']}\n{of['b']}"
    out = {"instruction": of["instruction"], "MxNxK": shape, "A, B": factors}
    out |= {name: of[name] for name in ("wave", "cycles")}
    if "tflops" in of:
        return {**out, "tflops": of["tflops"]}
    registers = " ".join("-" if of[f"vgprs_{name}"] is None else str(of[f"vgprs_{name}"]) for name in "abcd")
    return {**out, "ops/clk": of["ops_per_cycle"], "registers": registers}


def _product(args: argparse.Namespace) -> tuple[int, float] | None:
    """Compute units and clock in Hz, where both are given.

    Raises:
        MfmasimError: one is missing, or the list is not that of an architecture's shapes.
    """
    from mfmasim.cli.products import product_of
    from mfmasim.errors import MfmasimError

    product = product_of(args.arch) if args.arch is not None and not args.fidelity else None
    if args.units is None and args.mhz is None:
        return None if product is None else (product.units, product.megahertz * 1e6)
    if args.units is None or args.mhz is None:
        raise MfmasimError("--units and --mhz: both are expected, such as --units 256 --mhz 2400")
    if args.arch is None or args.fidelity:
        raise MfmasimError("--units and --mhz are for the instructions of one architecture: mfmasim list ARCH")
    return args.units, args.mhz * 1e6


def peak_rows(arch: str, units: int, hertz: float) -> Iterator[list[Any]]:
    """Shapes and cycles, and 10^12 operations per second of so many compute units at a clock.

    Args:
        arch: architecture.
        units: compute units.
        hertz: their clock.
    """
    for op in operations(arch):
        yield [*_shape(op), round(op.peak(units, hertz) / 1e12, 1)]


def fidelity_rows(arch: str) -> Iterator[list[Any]]:
    """Rows of `FIDELITY_COLUMNS`; the layout's source includes open questions."""
    seen = set()
    for op in operations(arch):
        row = [op.name, op.a, op.b, op.d, op.fidelity, op.evidence, op.source, op.layout_source]
        if tuple(row) not in seen:  # wave sizes share a row
            seen.add(tuple(row))
            yield row


def _architectures() -> Iterator[list[Any]]:
    from mfmasim.architectures import SIMULATED
    from mfmasim.matrix import instructions

    for arch in SIMULATED.values():
        waves = ", ".join(map(str, arch.wave_sizes))
        yield [arch.name, arch.family, ", ".join(arch.products), waves, len(instructions(arch))]
