"""``mfmasim why TARGET 'C[17,3]'``: the products of an output's element, and the ways of their factors."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from mfmasim.cli.case_options import add_case, only
from mfmasim.cli.numbers import whole

if TYPE_CHECKING:
    import argparse

    from mfmasim.verify.elements.why import Why
    from mfmasim.verify.elements.why_arrays import WhyArray


def add(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Register the verb."""
    parser = subparsers.add_parser(
        "why",
        help="why an element of an output has its value: products, lanes, registers, LDS bytes, lines, inputs",
        description="Follow an element of C back to the elements of A and B: every product with the lanes and "
        "registers of its factors, those that are wrong first, and the way of some through the LDS to their loads. Of "
        "a plain array: what stored the element, and the elements of the inputs that change it. Exit code 1 if the "
        "element is not what it should be.",
    )
    parser.add_argument("target", metavar="TARGET", help="a family of hipkernels, or a case file")
    parser.add_argument("element", metavar="ELEMENT", help="an element of the output, such as 'C[17,3]' or 'out[5]'")
    add_case(parser, "architecture (default: the first of the case)")
    parser.add_argument("--ways", type=whole(0), default=1, metavar="N", help="products that are followed to loads (1)")
    parser.add_argument("--all", action="store_true", help="print every product, not the first ones")
    parser.add_argument("--json", action="store_true", help="write it as JSON")


def run(args: argparse.Namespace) -> int:
    """Print the products; exit code 0 if the element is its own sum, else 1."""
    from mfmasim.verify.elements.why import why
    from mfmasim.verify.elements.why_arrays import why_array
    from mfmasim.verify.elements.why_lines import why_lines
    from mfmasim.verify.runner import set_parameters
    from mfmasim.visible import visible

    chosen = only(args, args.target)
    case = set_parameters(chosen.case, arch=chosen.arch)
    found: Why | WhyArray
    if case.make().tensors:
        found = why(case, chosen.arch, args.element, ways=args.ways)
        lines = list(why_lines(found, everything=args.all))
    else:
        found = why_array(case, chosen.arch, args.element)
        lines = list(found.lines())
    if args.json:
        print(json.dumps(found.record(), indent=1))
    else:
        for line in lines:
            print(visible(line))
    return 0 if found.ok else 1
