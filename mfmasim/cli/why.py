"""``mfmasim why TARGET 'C[17,3]'``: of what an element of an output is made, and how that came there."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from mfmasim.cli.case_options import add_case, only
from mfmasim.cli.numbers import whole

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from mfmasim.verify.elements.why import Product, Why
    from mfmasim.verify.elements.why_arrays import WhyArray

SHOWN = 8
"""Products that are printed, if --all is not given."""


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
    parser.add_argument("--all", action="store_true", help=f"print every product, not {SHOWN}")
    parser.add_argument("--json", action="store_true", help="write it as JSON")


def run(args: argparse.Namespace) -> int:
    """Print the products; exit code 0 if the element is the sum that it should be, else 1."""
    from mfmasim.verify.elements.why import why
    from mfmasim.verify.elements.why_arrays import why_array
    from mfmasim.verify.runner import informed
    from mfmasim.visible import visible

    chosen = only(args, args.target)
    case = informed(chosen.case, arch=chosen.arch)
    found: Why | WhyArray
    if case.make().tensors:
        found = why(case, chosen.arch, args.element, ways=args.ways)
        lines = _lines(found, everything=args.all)
    else:
        found = why_array(case, chosen.arch, args.element)
        lines = found.lines()
    if args.json:
        print(json.dumps(found.record(), indent=1))
    else:
        for line in lines:
            print(visible(line))
    return 0 if found.ok else 1


def _lines(found: Why, *, everything: bool) -> Iterator[str]:
    yield f"{found.kernel} on {found.arch}: {found.says}"
    if not found.products:
        return
    depth = len({product.k for product in found.products if product.k >= 0})
    bad = len(found.wrong)
    yield f"  {len(found.products)} products, {depth} different K; the sum begins with {found.begins}" + (
        f"; {bad} of the products are wrong" if bad else "; each is of the elements that it should be of"
    )
    for ks, what in ((found.missing, "never multiplied"), (found.twice, "multiplied more than once")):
        if ks:
            yield f"  K {', '.join(map(str, ks[:8]))}{', ...' if len(ks) > 8 else ''}: {what}"
    ordered = sorted(found.products, key=lambda product: (product not in found.wrong, not product.factors[0].way))
    for product in ordered if everything else ordered[:SHOWN]:
        yield from _product(product)
    if not everything and len(ordered) > SHOWN:
        yield f"  and {len(ordered) - SHOWN} more products (--all)"


def _product(product: Product) -> Iterator[str]:
    number = f"K {product.k}" if product.k >= 0 else "padding"
    factors = [
        f"{factor.holds} in lane {factor.lane} {factor.register}" + (f" (needs {factor.needs})" * factor.wrong)
        for factor in product.factors
    ]
    wrong = any(factor.wrong for factor in product.factors)
    yield f"  {'WRONG ' if wrong else ''}{number}: {' x '.join(factors)}, {product.source or hex(product.pc)}"
    for factor in product.factors:
        for number_, step in enumerate(factor.way):
            yield f"      {'operand ' + factor.operand if not number_ else '         '} <- {step}"
