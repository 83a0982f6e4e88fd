"""``mfmasim lds grid``: which workgroup computes which tile, on which XCD, and whether every tile is computed once."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from mfmasim.cli.numbers import whole
from mfmasim.cli.output import FORMATS, add_formats, table, wanted_format

if TYPE_CHECKING:
    from mfmasim.architectures.rates import Product
    from mfmasim.grids import Found, Reuse, Work


def add(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Register the verb."""
    parser = subparsers.add_parser(
        "grid",
        help="show a map from workgroups to tiles and XCDs",
        description="Without a map: list the maps. Exit code 1 when a tile is computed by no workgroup or by several. "
        "--search KIND: rank orders of the workgroups of a kernel of that kind by what memory and caches read.",
    )
    parser.add_argument("map", nargs="?", help="map, such as xcd_grouped (default: list all maps)")
    parser.add_argument("--rows", type=whole(1, 1 << 15), default=16, help="tiles along M (default 16)")
    parser.add_argument("--cols", type=whole(1, 1 << 15), default=16, help="tiles along N (default 16)")
    parser.add_argument("--arch", default="mi355x", help="architecture or product (default mi355x)")
    parser.add_argument(
        "--xcds", type=whole(1, 1 << 15), help="dies that receive workgroups round-robin (default: the product's)"
    )
    parser.add_argument(
        "--window", type=whole(1, 1 << 15), default=4, help="rows of a band, side of a square (default 4)"
    )
    parser.add_argument("--chunk", type=whole(1, 1 << 15), default=8, help="consecutive tiles of one XCD (default 8)")
    parser.add_argument(
        "--every",
        type=whole(1, 64),
        metavar="N",
        help="instead check every grid up to N x N for tiles missed or computed twice",
    )
    parser.add_argument(
        "--units", type=whole(1, 1 << 20), help="workgroups that an XCD runs at a time (default: one a compute unit)"
    )
    parser.add_argument("--reuse", action="store_true", help="also count strips of A and B that caches serve")
    parser.add_argument(
        "--search",
        nargs="?",
        const="",
        metavar="KIND",
        help="instead rank maps, windows and chunks by what caches read: of --rows x --cols tiles, or orders of the "
        "workgroups of gemm (parts=4: split-K), stream, moe or attention",
    )
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="a size of KIND: queries=4096")
    parser.add_argument(
        "--workgroups",
        type=whole(1, 1 << 20),
        metavar="N",
        help="instead divide K of all tiles among N workgroups (stream-K)",
    )
    parser.add_argument(
        "--depth", type=whole(1, 1 << 20), default=8, metavar="N", help="steps of K of a tile, for it (default 8)"
    )
    add_formats(parser, (*FORMATS, "svg"))
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Print the maps, or one of them on a grid."""
    from mfmasim import grids
    from mfmasim.errors import MfmasimError
    from mfmasim.figures.grid import tiles_svg, tiles_text

    form = wanted_format(args)
    product = _product(args.arch)
    args.xcds = product.chiplets if args.xcds is None else args.xcds
    args.units = product.units // product.chiplets if args.units is None else args.units
    if args.search:
        return _orders(args, form, product)
    if args.search is not None:
        return _search(args, form)
    if args.workgroups is not None:
        return _stream(args, form)
    if args.map is None:
        if form == "svg":
            raise MfmasimError("--format svg needs the name of a map")
        rows = [[m.name, m.right, m.about] for m in grids.MAPS.values()]
        print(table(("map", "right", "about"), rows, form, "grid maps"), end="")
        return 0
    if args.every is not None:
        return _every(args, form)
    found = grids.layout(args.map, args.rows, args.cols, xcds=args.xcds, window=args.window, chunk=args.chunk)
    if form == "svg":
        print(tiles_svg(found))
    elif form == "terminal":
        print(tiles_text(found), end="")
        if args.map == "xcd_grouped":
            kept = grids.rectangles(args.rows, args.cols, xcds=args.xcds, window=args.window, chunk=args.chunk)
            print(f"{kept.kept} of {kept.chunks} chunks are rectangles of {args.window} rows")
        if args.reuse:
            print(_counted(grids.reuse(found, units=args.units)))
    else:
        rows = [[i, i % args.xcds, int(row), int(col)] for i, (row, col) in enumerate(found.tiles)]
        print(table(("workgroup", "xcd", "row", "col"), rows, form, str(found.name)), end="")
    return 0 if found.permutation else 1


def _counted(found: Reuse) -> str:
    """Hits of caches in words."""
    return (
        f"of {found.reads:,} strips of A and B for a step of K the L2s serve {found.l2:.1%} and the last\n"
        f"level {found.llc:.1%} of the others; {found.from_memory:,} come from memory\n"
        "assumed: the workgroups of a round keep step"
    )


def _stream(args: argparse.Namespace, form: str) -> int:
    """Print which workgroup sums which steps of K of which tile."""
    from mfmasim import grids
    from mfmasim.figures.grid import steps_svg, steps_text

    parts = grids.segments(args.rows * args.cols, args.depth, args.workgroups)
    if form == "svg":
        print(steps_svg(parts))
    elif form == "terminal":
        print(steps_text(parts), end="")
        if args.reuse:
            sizes = (args.rows, args.cols, args.depth, args.workgroups)
            print(_counted(grids.stream_reuse(*sizes, xcds=args.xcds, chunk=args.chunk)))
    else:
        rows = [[part.workgroup, part.tile, part.first, part.last] for part in parts]
        print(table(("workgroup", "tile", "first", "last"), rows, form, "stream-K"), end="")
    return 0


def _search(args: argparse.Namespace, form: str) -> int:
    """Print the maps whose caches read least."""
    from mfmasim import grids

    found = grids.best_maps(args.rows, args.cols, xcds=args.xcds, units=args.units)
    rows = [
        [one.name, one.grid.window, one.grid.chunk, f"{counted.l2:.1%}", f"{counted.llc:.1%}", counted.from_memory]
        for one, counted in found[:8]
    ]
    columns = ("map", "window", "chunk", "hits in L2", "hits in the last level", "strips from memory")
    print(table(columns, rows, form, f"{args.rows} x {args.cols} tiles, {args.xcds} XCDs of {args.units}"), end="")
    return 0


def _product(name: str) -> Product:
    """The product of a name, or the first one of an architecture."""
    from mfmasim.architectures import arch
    from mfmasim.cli.products import product_of

    return product_of(name) or arch(name).rates.products[0]


def _orders(args: argparse.Namespace, form: str, product: Product) -> int:
    """Print the orders whose caches read least, and behind them the hardware's own."""
    from inspect import signature

    from mfmasim import grids
    from mfmasim.cli.case_options import setting
    from mfmasim.errors import MfmasimError, unknown

    if args.search not in grids.WORKS:
        raise unknown("kind of kernel", args.search, grids.WORKS)
    make = grids.WORKS[args.search]
    given = dict(setting(text) for text in args.set)
    named = signature(make).parameters
    for name, value in given.items():
        if name not in named:
            raise unknown(f"size of {args.search}", name, named)
        if name == "counts" and isinstance(value, int):
            given[name] = (value,)
        several = name == "counts" and isinstance(value, tuple)
        if not all(isinstance(one, int) for one in (value if several else (value,))):
            raise MfmasimError(f"--set {name}={value}: {'numbers' if name == 'counts' else 'a number'} expected")
    missing = [name for name, one in named.items() if one.default is one.empty and name not in given]
    if missing:
        raise MfmasimError(f"--search {args.search} needs {', '.join(f'--set {name}=...' for name in missing)}")
    if not all(product.caches):
        raise MfmasimError(f"sizes of the caches of {product.name} are not stated; try mi355x, mi300x or rx9070xt")
    sizes = [mib << 20 for mib in product.caches]
    caches = grids.Caches(args.xcds, args.units, *sizes)
    work = make(**given)
    found = grids.search(work, caches)
    own = next(one for one in found if one.order.hardware)
    if form == "svg":
        print(_picture(args, work, found[0], own))
        return 0
    rows = [
        [one.order.numbering, one.order.deal, *_megabytes(one.reuse), f"{one.reuse.l2:.1%}", one.reuse.steps]
        for one in [*found[:8], *([] if own in found[:8] else [own])]
    ]
    columns = (
        "axes, the last one fastest",
        "on XCDs",
        "MB from memory",
        "from last level",
        "read",
        "hits in L2",
        "steps",
    )
    shape = " x ".join(f"{axis} {size}" for size, axis in zip(work.shape, work.axes, strict=True))
    head = f"{args.search}: {shape}, {len(found)} orders; {product.name}: {args.xcds} XCDs of {args.units}"
    print(table(columns, rows, form, head), end="")
    if form == "terminal":
        print(f"the hardware's own order is number {found.index(own) + 1}: {own.order.numbering}, in turn")
        print(f"sizes of caches: ROCm's GPU specifications; assumed: {grids.ASSUMED}")
    return 0


def _picture(args: argparse.Namespace, work: Work, best: Found, own: Found) -> str:
    """The best order: a square for each workgroup, the last axis across."""
    import numpy as np

    from mfmasim import grids
    from mfmasim.figures.grid import tiles_svg

    across = work.shape[-1]
    tiles = np.stack(np.divmod(best.order.workgroups, across), axis=1)
    grid = grids.Grid(work.workgroups // across, across, args.xcds)
    axes = ", ".join(f"{axis} {size}" for axis, size in zip(work.axes, work.shape, strict=True) if size > 1)
    head = f"{args.search}: {axes}; {best.order.numbering}, {best.order.deal}"
    rates = f"{best.reuse.l2:.0%} of reads hit in L2, {own.reuse.l2:.0%} in the hardware's order"
    return tiles_svg(grids.Layout(args.search, grid, tiles), (head, rates))


def _megabytes(found: Reuse) -> list[str]:
    return [f"{size / 1e6:,.1f}" for size in (found.from_memory, found.from_llc, found.reads)]


def _every(args: argparse.Namespace, form: str) -> int:
    """Print on how many grids a map is not a permutation; exit code 1 if there is any."""
    from mfmasim import grids

    bad = grids.refuted(args.map, args.every, xcds=args.xcds, window=args.window, chunk=args.chunk)
    if form != "terminal":
        print(table(("rows", "cols"), bad, form, f"{args.map}, refuted"), end="")
        return 1 if bad else 0
    total = args.every**2
    if not bad:
        print(f"{args.map}: a permutation on all {total} grids up to {args.every} x {args.every}")
        return 0
    rows, cols = min(bad, key=lambda grid: (grid[0] * grid[1], grid))
    print(f"{args.map}: not a permutation on {len(bad)} of {total} grids; the smallest is {rows} x {cols}")
    return 1
