"""``mfmasim lds find``: list published swizzles, prove one, or find the cheapest for a tile."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mfmasim.cli.numbers import whole
from mfmasim.cli.output import FORMATS, add_formats, table, wanted_format

if TYPE_CHECKING:
    import argparse

    from mfmasim.lds import Pattern, Proof, Swizzle

MOST_ACCESSES = 4096
"""Limit of --accesses, above that of any tile in LDS."""


def add(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Register the verb."""
    parser = subparsers.add_parser(
        "swizzle",
        help="prove or find an LDS layout without bank conflicts",
        description="With --list: published swizzles. With --check NAME: prove one. With --tile: find the cheapest. "
        "Access patterns: --read INSTRUCTION ROW COLUMN with expressions of lane and n (number of the access), "
        "--operand LDS_INSTRUCTION MATRIX_INSTRUCTION A, --write INSTRUCTION for a linear store.",
    )
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--list", action="store_true", help="published swizzles")
    what.add_argument("--check", metavar="NAME", help="prove a published swizzle; exit code 1 if it has conflicts")
    what.add_argument("--tile", metavar="ROWSxBYTES", help="find a swizzle for a tile, such as 16x128")
    parser.add_argument("--arch", nargs="+", default=[], metavar="ARCH", help="architectures to check or search for")
    parser.add_argument("--element-bytes", type=whole(), default=1, metavar="N", help="bytes per element (default: 1)")
    parser.add_argument("--write", metavar="INSTRUCTION", help="instruction that stores the tile, lane by lane")
    parser.add_argument(
        "--read",
        nargs=3,
        action="append",
        default=[],
        metavar=("INSTRUCTION", "ROW", "COLUMN"),
        help="how the tile is read; columns in bytes",
    )
    parser.add_argument(
        "--accesses", type=whole(1, MOST_ACCESSES), default=1, metavar="N", help="values of n in --read (default: 1)"
    )
    parser.add_argument(
        "--operand",
        nargs=3,
        action="append",
        default=[],
        metavar=("INSTRUCTION", "MATRIX_INSTRUCTION", "OPERAND"),
        help="read the tile as a matrix operand, in the layout of the first architecture",
    )
    parser.add_argument("--a", metavar="FORMAT", help="number format of A, for instructions with a choice")
    parser.add_argument("--b", metavar="FORMAT", help="number format of B, for instructions with a choice")
    parser.add_argument("--limit", type=whole(), default=8, metavar="N", help="most swizzles to list (default: 8)")
    add_formats(parser, (*FORMATS, "svg", "html"))
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Print the list, the proof, or the swizzles that were found."""
    from mfmasim import lds
    from mfmasim.architectures import ARCHITECTURES, arch
    from mfmasim.errors import MfmasimError, decimal

    form = wanted_format(args)
    if args.list:
        if form in {"svg", "html"}:
            raise MfmasimError("--format svg and html need --check NAME or --tile")
        rows = [
            [name, s.rows, s.row_bytes, s.pad, s.operations, str(s).partition(": ")[2], s.source]
            for name in lds.NAMES
            for s in [lds.swizzle(name)]
        ]
        print(table(("name", "rows", "row_bytes", "pad", "operations", "map", "source"), rows, form), end="")
        return 0
    if args.check is not None:
        return _check(args, lds.swizzle(args.check), form)
    rows_bytes = args.tile.lower().split("x")
    if len(rows_bytes) != 2 or not all(decimal(part) > 0 for part in rows_bytes):
        raise MfmasimError(f"--tile {args.tile!r} is not ROWSxBYTES, such as 16x128")
    tile = (int(rows_bytes[0]), int(rows_bytes[1]))
    limit = max(arch(name).lds_bytes for name in args.arch or ARCHITECTURES)
    if tile[0] * tile[1] > limit:
        raise MfmasimError(f"--tile {args.tile!r} has {tile[0] * tile[1]:,} bytes, the LDS at most {limit:,}")
    write = None if args.write is None else lds.Pattern.linear(args.write, *tile, lanes=_lanes(args))
    found = lds.find_swizzle(tile, args.element_bytes, write, _reads(args), args.arch, limit=args.limit)
    if form in {"svg", "html"}:
        print(_picture(found.best, form, args.arch, lds.linear(*tile)))
    elif form == "terminal":
        print(found)
        print(_proof(found.proof(), form), end="")
        print(found.hip(), end="")
    else:
        shown = [*found.xors, found.padding]
        rows = [
            [
                str(s),
                s.operations,
                s.pad,
                s.lds_bytes,
                sum(line.extra_passes for line in found.proof(s)),
                s.hip().replace("\n", " "),
            ]
            for s in shown
        ]
        print(table(("swizzle", "operations", "pad", "lds_bytes", "extra_passes", "hip"), rows, form), end="")
    return 0 if found.free else 1


def _check(args: argparse.Namespace, chosen: Swizzle, form: str) -> int:
    """Print the proof of a published swizzle."""
    from mfmasim import lds
    from mfmasim.errors import MfmasimError

    if form in {"svg", "html"}:
        print(_picture(chosen, form, args.arch, lds.linear(chosen.rows, chosen.row_bytes)))
        return 0
    if not args.arch:
        raise MfmasimError("--arch is needed, such as --arch gfx950")
    patterns = _reads(args)
    if args.write is not None:
        patterns.insert(0, lds.Pattern.linear(args.write, chosen.rows, chosen.row_bytes, lanes=_lanes(args)))
    if not patterns:
        raise MfmasimError("--tile needs an access pattern: --read, --operand or --write")
    proof = lds.prove(chosen, patterns, args.arch)
    if form == "terminal":
        print(chosen)
        checks = {
            "bijection": chosen.bijective,
            "self-inverse": chosen.self_inverse,
            "stays in its row": chosen.keeps_rows,
            "keeps 16-byte blocks": chosen.keeps_alignment(16),
        }
        for what, holds in checks.items():
            print(f"  {what}: {'yes' if holds else 'no'}")
    print(_proof(proof, form), end="")
    return 0 if all(line.free for line in proof) and chosen.bijective else 1


def _proof(lines: list[Proof], form: str) -> str:
    columns = ("arch", "instruction", "pattern", "accesses", "degree", "extra_passes", "confidence", "source")
    return table(columns, lines, form)


def _picture(chosen: Swizzle, form: str, archs: list[str], before: Swizzle) -> str:
    from mfmasim import lds
    from mfmasim.figures.lds import swizzle_html, swizzle_svg

    banks = max((lds.phase_tables(name)["read b128"].banks for name in archs), default=32)
    chunk = next(size for size in (16, 8, 4, 2, 1) if chosen.keeps_alignment(size))
    return (swizzle_svg if form == "svg" else swizzle_html)(chosen, banks, chunk, before)


def _reads(args: argparse.Namespace) -> list[Pattern]:
    """Patterns of --read and --operand."""
    from mfmasim import instruction, lds
    from mfmasim.cli.expressions import evaluate
    from mfmasim.errors import MfmasimError

    lanes, found = _lanes(args), []
    for name, row, column in args.read:

        def place(lane: object, n: int, row: str = row, column: str = column) -> tuple[Any, Any]:
            names = {"lane": lane, "n": n}
            return evaluate(row, names), evaluate(column, names)

        title = f"row {row}, column {column}"
        found.append(lds.Pattern.of(name, place, lanes=lanes, accesses=args.accesses, name=title))
    for name, matrix, operand in args.operand:
        if not args.arch:
            raise MfmasimError("--operand needs --arch: layouts differ between architectures")
        op = instruction(args.arch[0], matrix, args.a, args.b)
        fragment = op.operands.get(operand)
        if fragment is None:
            raise MfmasimError(f"{op.name} has no operand {operand}; it has {', '.join(op.operands)}")
        found.append(lds.Pattern.operand(name, fragment))
    return found


def _lanes(args: argparse.Namespace) -> int:
    from mfmasim.architectures import arch

    return int(arch(args.arch[0]).wave_sizes[0]) if args.arch else 64
