"""Places of elements, elements at places, the terms of a result: ``mfmasim show ARCH INSTRUCTION D 5 17``."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from mfmasim.cli.matrix_arguments import OPERANDS, add_instruction, completed, find_instruction, find_operand
from mfmasim.cli.output import FORMATS, add_formats, table, wanted_format

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from mfmasim.matrix import MatrixInstruction


def add(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Register the verb."""
    parser = subparsers.add_parser("where", help="find the place of a matrix element, or the element at a place")
    add_instruction(parser)
    add_places(parser)
    parser.add_argument("--operand", choices=OPERANDS, help="operand")
    add_formats(parser, (*FORMATS, "svg", "html"))
    parser.set_defaults(run=run)


def add_places(parser: argparse.ArgumentParser) -> None:
    """Add an element or a place."""
    parser.add_argument(
        "asked", nargs="*", metavar="OPERAND ROW COL [BLOCK]", help="an element, such as D 5 17 or 'D[5,17]'"
    )
    parser.add_argument(
        "--element", type=int, nargs="+", metavar="N", help="row, column and, if there are several, block"
    )
    parser.add_argument("--place", type=int, nargs="+", metavar="N", help="lane, register of the operand and bit")
    parser.add_argument("--terms", action="store_true", help="for an element of D: list its products and C")


def asks(args: argparse.Namespace) -> bool:
    """Whether the arguments ask for an element or a place."""
    return bool(args.asked or args.element or args.place or args.terms)


def run(args: argparse.Namespace) -> int:
    """Print the places or the elements."""
    from mfmasim.errors import MfmasimError

    completed(args)
    _ask(args)
    if (args.element is None) == (args.place is None):
        raise MfmasimError("an element (OPERAND ROW COL [BLOCK]) or --place LANE VGPR [BIT] is needed, and not both")
    for name, given in (("--element", args.element), ("--place", args.place)):
        if given is not None and len(given) not in (2, 3):
            raise MfmasimError(f"{name} takes two or three numbers, not {len(given)}")
    op, form = find_instruction(args), wanted_format(args)
    fragment = find_operand(args, op, args.operand)
    if args.terms:
        if args.operand != "D" or args.element is None:
            raise MfmasimError("--terms needs --operand D and --element")
        if form in {"svg", "html"}:
            raise MfmasimError("--terms prints a table: terminal, csv, json or markdown")
        columns = ("term", "kept" if op.sparse else "k", "a_lane", "a_vgpr", "a_bit", "b_lane", "b_vgpr", "b_bit")
        print(table(columns, term_rows(args, op, *args.element), form), end="")
        return 0
    if args.element is not None:
        row, col, block = (*args.element, 0)[:3]
        places = fragment.locate(row, col, block)
        found = [[row, col, block, *place, fragment.width] for place in places]
    else:
        lane, vgpr, bit = (*args.place, 0)[:3]
        found = [
            [*element, *place, fragment.width]
            for element in fragment.elements(lane, vgpr, bit)
            for place in fragment.locate(*element)
            if place.lane == lane
        ]
        if not found:
            raise MfmasimError(f"bit {bit} of v{vgpr} in lane {lane} holds no element of {args.operand} of {op.name}")
    if form in {"svg", "html"}:
        from mfmasim.figures.fragment import fragment_html, fragment_svg

        marked = (found[0][3], found[0][4])
        draw = fragment_svg if form == "svg" else fragment_html
        print(draw(fragment, mark=marked), end="\n" if form == "svg" else "")
        return 0
    print(table(("row", "col", "block", "lane", "vgpr", "bit", "width"), found, form), end="")
    return 0


def _ask(args: argparse.Namespace) -> None:
    """Read operand and element where they are given by position: ``D 5 17`` or ``D[5,17]``.

    Raises:
        MfmasimError: no operand is named, or it is named twice, or an index is no number.
    """
    from mfmasim.errors import MfmasimError, unknown

    words = re.findall(r"[^\s,\[\]]+", " ".join(args.asked))
    if words:
        if args.operand is not None:
            raise MfmasimError(
                f"{' '.join(args.asked)!r} and --operand {args.operand}: one of the two names the operand"
            )
        first, *numbers = words
        args.operand = {name.lower(): name for name in OPERANDS}.get(first.lower(), first)
        if numbers and args.element is not None:
            raise MfmasimError(f"{' '.join(args.asked)!r} and --element: one of the two names the element")
        for number in numbers:
            if not number.isdecimal():
                raise MfmasimError(f"{number!r} is no row, column or block: a number is needed, such as D 5 17")
        args.element = [int(number) for number in numbers] or args.element
    if args.operand is None:
        raise MfmasimError(f"an operand is needed: {', '.join(OPERANDS)}, such as D 5 17")
    if args.operand not in OPERANDS:
        raise unknown("operand", args.operand, OPERANDS)


def term_rows(
    args: argparse.Namespace, op: MatrixInstruction, row: int, col: int, block: int = 0
) -> Iterator[list[Any]]:
    """One row per product in the sum of D[row, col], and one for C.

    For sparse instructions the index selects B's element among four; the row gives the place of the first.

    Args:
        args: parsed arguments with the modifiers.
        op: the instruction.
        row: row of the element of D.
        col: its column.
        block: its block.
    """
    a, b, c = (find_operand(args, op, name) for name in "ABC")
    op.D.locate(row, col, block)
    for number in range(a.cols):
        k = number // 2 * 4 if op.sparse else number
        left = a.locate(row, number, block)
        lanes = [place for place in b.locate(k, col, block) if place.lane == left[0].lane]
        right = lanes[0] if lanes else b.locate(k, col, block)[0]
        name = f"A[{row},{number}]*B[{f'{k}..{k + 3}' if op.sparse else k},{col}]"
        yield [name, number, *left[0], *right]
    yield [f"C[{row},{col}]", None, *c.locate(row, col, block)[0], None, None, None]
