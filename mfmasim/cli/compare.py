"""``mfmasim compare A B --of TARGET``: one case on two architectures, by two compilers, of two code objects."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from mfmasim.cli.case_options import add_case, chosen_of
from mfmasim.cli.output import output_file

if TYPE_CHECKING:
    import argparse

    from mfmasim.lab.comparing.comparison import Comparison


def add(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Register the verb."""
    parser = subparsers.add_parser(
        "compare",
        help="one case twice: two architectures, compilers, code objects or sets of flags, side by side",
        description="Run a case on two sides and compare outputs bit by bit, findings, bank conflicts, registers, "
        "counters and cost; the first element that differs is explained. Exit code 1 if a part differs that is not "
        "allowed to.",
    )
    side = "gfx942, old.hsaco, a compiler, flags=-O1, NAME=VALUE of a parameter; several with commas between them"
    parser.add_argument("first", metavar="A", help=f"a side: {side}")
    parser.add_argument("second", metavar="B", help="the other side")
    parser.add_argument("--of", required=True, metavar="TARGET", help="a family of hipkernels, or a case file")
    add_case(parser, "architecture of a side that names none (default: the case's first)")
    parser.add_argument(
        "--allow",
        default="",
        metavar="PARTS",
        help="parts that may differ, such as counters,cost: outputs, findings, conflicts, registers, counters, cost",
    )
    parser.add_argument("--all", action="store_true", help="print what is equal, too")
    parser.add_argument(
        "--json", type=output_file, metavar="FILE", help="write the comparisons as JSON ('-' for standard output)"
    )


def run(args: argparse.Namespace) -> int:
    """Print the comparisons; exit code 0, 1 or 2."""
    from mfmasim.cli.output import write
    from mfmasim.errors import MfmasimError, unknown
    from mfmasim.lab.comparing.comparison import PARTS, compare
    from mfmasim.lab.comparing.sides import side_of

    sides = side_of(args.first), side_of(args.second)
    allowed = frozenset(filter(None, args.allow.split(",")))
    for part in allowed:
        if part not in PARTS:
            raise unknown("part", part, PARTS, "in --allow")
    chosen = chosen_of(args, [args.of])
    found, refused, seen = [], False, set()
    for _, group, case, arch in chosen:
        name = (
            case.name.partition("[version=")[0] if any("version" in side.parameters for side in sides) else case.title
        )
        archs = [side.arch or arch for side in sides]
        if name in seen or any(one not in case.arch or one in case.skip for one in archs):
            continue
        seen.add(name)
        one = compare(case, sides, (archs[0], archs[1]), group)
        found.append(one)
        bad = one.refused(allowed)
        refused |= bool(bad)
        if args.json != "-":
            _print(one, bad, allowed, everything=args.all)
    if not found:
        every = sorted({a for _, _, case, _ in chosen for a in case.arch})
        raise MfmasimError(f"no case of {args.of} is for both sides; architectures: {', '.join(every)}")
    if args.json:
        text = json.dumps([one.record() for one in found], indent=1)
        write(args.json, text + "\n")
    return int(refused)


def _print(one: Comparison, refused: list[str], allowed: frozenset[str], *, everything: bool) -> None:
    from mfmasim.cli.output import table
    from mfmasim.lab.comparing.comparison import PARTS

    outputs = one.outputs
    equal = outputs.elements - outputs.mismatches
    print(f"{one.case}: outputs {equal:,} of {outputs.elements:,} equal, bit by bit")
    for line in (*one.explained, *one.notes):
        print(f"  {line}")
    for row in outputs.first[1:]:
        print(f"  {row.element}: {row.simulator}, {row.device}")
    rows = [[row.part, row.name, row.first, row.second] for row in one.rows if everything or not row.same]
    if rows:
        print(table(("part", "what", *one.sides), rows, "terminal"), end="")
    same = [part for part in PARTS if not one.differing(part)]
    if same:
        print(f"equal: {', '.join(same)}")
    tolerated = [part for part in PARTS if one.differing(part) and part in allowed]
    if tolerated:
        print(f"differ, allowed: {', '.join(tolerated)}")
    if refused:
        print(f"differ, not allowed: {', '.join(refused)}")
