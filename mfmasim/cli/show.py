"""``mfmasim show``: a product, an architecture, a matrix instruction, an operand's layout, the place of an element.

``mfmasim show e4m3fnuz`` and ``mfmasim show formats`` are `mfmasim.cli.format`'s.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mfmasim.cli.matrix_arguments import (
    OPERANDS,
    add_instruction,
    check_unused_modifiers,
    completed,
    find_instruction,
    find_operand,
    given_options,
)
from mfmasim.cli.output import FORMATS, add_formats, table, wanted_format
from mfmasim.cli.where import add_places, asks

if TYPE_CHECKING:
    import argparse

    from mfmasim.matrix import Fragment


def add(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Register the verb."""
    parser = subparsers.add_parser(
        "show",
        help="show a product, an architecture, a matrix instruction, an operand's layout, an element, a number format",
        description="show ARCH; show PRODUCT; show ARCH INSTRUCTION; show ARCH INSTRUCTION --operand A; "
        "show ARCH INSTRUCTION 'D[5,17]'; show INSTRUCTION 'D[5,17]' on the first architecture that has it; "
        "show FORMAT [CODE...]; show formats.",
    )
    add_instruction(parser, required=False)
    add_places(parser)
    parser.add_argument("--peaks", action="store_true", help="of an architecture or product: peaks by format")
    parser.add_argument("--operand", choices=OPERANDS, help="operand whose layout is shown")
    parser.add_argument(
        "--view",
        choices=("table", "registers", "matrix"),
        help="table: one line per place (default for csv and json); registers: the elements of each lane; "
        "matrix: the place of each element. Figures show both by default",
    )
    parser.add_argument(
        "--numbering",
        choices=("documented", "contiguous"),
        default="documented",
        help="numbering of k: as documented, or so that every lane holds consecutive k",
    )
    add_formats(parser, (*FORMATS, "svg", "html"))
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Print the instruction or the operand."""
    from mfmasim.errors import MfmasimError

    completed(args)
    if args.instruction is None:
        return _architecture(args)
    if args.peaks:
        raise MfmasimError("--peaks is for an architecture or a product; mfmasim list ARCH has them by instruction")
    if asks(args):
        from mfmasim.cli.where import run as places

        return places(args)
    op, form = find_instruction(args), wanted_format(args)
    if args.operand is None:
        if args.view or form == "svg":
            raise MfmasimError(f"{'--view' if args.view else '--format svg'} needs --operand: {', '.join(op.operands)}")
        check_unused_modifiers(args, op)
        from mfmasim.figures.instruction import instruction_page

        if form == "html":
            print(instruction_page(op), end="")
        else:
            print(table(("property", "value"), op.details(), form, op.name), end="")
        return 0
    fragment = find_operand(args, op, args.operand, contiguous=args.numbering == "contiguous")
    if form in {"svg", "html"}:
        from mfmasim.figures.fragment import fragment_html, fragment_svg

        view = {None: "both", "table": "both"}.get(args.view, args.view)
        print((fragment_svg if form == "svg" else fragment_html)(fragment, view), end="\n" if form == "svg" else "")
        return 0
    view = args.view or ("table" if form in {"csv", "json"} else "registers")
    title = f"{fragment.name} of {fragment.instruction} on {fragment.arch}: {fragment.layout.formula}"
    if view == "table":
        found = fragment.table()
        print(table(found.dtype.names or (), found.tolist(), form, title), end="")
        return 0
    columns, rows = register_grid(fragment) if view == "registers" else matrix_grid(fragment)
    print(table(columns, rows, form, title), end="")
    return 0


def _architecture(args: argparse.Namespace) -> int:
    """Print the properties of an architecture; `list` lists its instructions."""
    from mfmasim.architectures import arch
    from mfmasim.cli.products import PEAK_COLUMNS, peak_rows, product_of, product_rows
    from mfmasim.errors import MfmasimError, unknown
    from mfmasim.matrix import instructions

    form = wanted_format(args)
    if _is_unknown(args.arch):
        raise unknown("architecture, product, number format or matrix instruction", args.arch, _shown())
    given = given_options(args)
    if args.operand or args.view or given or form in {"svg", "html"}:
        why = f" for {given[0]}" if given else ""
        raise MfmasimError(f"show {args.arch}: an instruction is needed{why}; mfmasim list {args.arch} names them")
    found, product = arch(args.arch), product_of(args.arch)
    if args.peaks:
        products = found.rates.products if product is None else (product,)
        print(table(PEAK_COLUMNS, peak_rows(found, products), form, f"peaks of {found.name}"), end="")
        return 0
    rows = [
        *([] if product is None else product_rows(found, product)),
        ("architecture", f"{found.name} ({found.family})"),
        ("products", ", ".join(found.products)),
        ("wave", " or ".join(map(str, found.wave_sizes))),
        ("FP8 and BF8", f"{found.fp8_format} and {found.bf8_format}" if found.fp8_format else "none"),
        ("LDS of a workgroup", f"{found.lds_bytes} bytes"),
        (
            "direct-to-LDS loads",
            ", ".join(map(str, found.lds.direct_bytes)) + " bytes a lane" if found.lds.direct_bytes else "none",
        ),
        ("VGPRs, AGPRs, SGPRs of a wave", f"{found.vgprs}, {found.agprs}, {found.sgprs}"),
        ("matrix instructions", f"{len(instructions(found))} (mfmasim list {found.name})"),
        ("peaks by format", f"mfmasim show {args.arch} --peaks"),
    ]
    print(table(("property", "value"), rows, form, found.name), end="")
    return 0


def _is_unknown(word: str) -> bool:
    """Whether a word names no architecture, and does not look like one."""
    from mfmasim.architectures import PRODUCTS, SIMULATED, plain

    name = word.partition(":")[0].lower()
    return name not in SIMULATED and plain(name) not in PRODUCTS and not name.startswith(("gfx", "mi"))


def _shown() -> list[str]:
    """All names for `show`, one of each kind first."""
    from mfmasim.architectures import ARCHITECTURES, DEFAULT, PRODUCTS
    from mfmasim.formats.rows import ROWS
    from mfmasim.matrix import instructions

    names = [name for arch in ARCHITECTURES for name in instructions(arch)]
    return [DEFAULT, "e4m3fn", names[0], *ARCHITECTURES, *PRODUCTS, *(row.name for row in ROWS), *names]


def register_grid(fragment: Fragment) -> tuple[list[str], list[list[Any]]]:
    """One row per lane, one column per register; each cell lists its elements from bit 0 up."""
    from mfmasim.figures.fragment import register_cells

    grid: dict[int, dict[int, list[str]]] = {lane: {} for lane in range(fragment.lanes)}
    for cell in register_cells(fragment):
        name = cell.name("", blocks=fragment.blocks > 1)
        grid[cell.lanes[0]].setdefault(cell.vgpr, []).append(name)
    columns = ["lane", *(f"v{register}" for register in range(fragment.vgprs))]
    rows = [
        [lane, *(" ".join(held.get(register, [])) for register in range(fragment.vgprs))] for lane, held in grid.items()
    ]
    return columns, rows


def matrix_grid(fragment: Fragment) -> tuple[list[str], list[list[Any]]]:
    """Rows and columns of the matrix; each cell has the element's place, with all lanes that hold a copy."""
    cells: dict[tuple[int, int], dict[int, list[Any]]] = {}
    for row in fragment.table():
        found = cells.setdefault((int(row["block"]), int(row["row"])), {})
        found.setdefault(int(row["col"]), []).append(row)
    blocks = ["block"] if fragment.blocks > 1 else []
    columns = [*blocks, fragment.axes[0], *(f"{fragment.axes[1]}={col}" for col in range(fragment.cols))]
    rows = [
        [*([block] if blocks else []), line, *(place_name(found[col]) for col in range(fragment.cols))]
        for (block, line), found in cells.items()
    ]
    return columns, rows


def place_name(rows: list[Any]) -> str:
    """AMD's calculator notation ``v1{17}.[15:0]``, with several lanes for copies."""
    first = rows[0]
    vgpr, bit, width = int(first["vgpr"]), int(first["bit"]), int(first["width"])
    lanes = ",".join(str(int(row["lane"])) for row in rows)
    if width == 64:
        return f"v[{vgpr + 1}:{vgpr}]{{{lanes}}}"
    register = f"v[{vgpr + 1}:{vgpr}]" if bit + width > 32 else f"v{vgpr}"
    bits = "" if width == 32 else f".[{bit + width - 1}:{bit}]"
    return f"{register}{{{lanes}}}{bits}"
