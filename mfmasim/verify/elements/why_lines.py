"""The explanation of an element's value as lines of text."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mfmasim.verify.elements.why import Product, Why

SHOWN = 8
"""Products that are printed unless all are asked for."""


def why_lines(found: Why, *, everything: bool = False) -> Iterator[str]:
    """Products of an element for a reader, those that are wrong first.

    Args:
        found: the result of `why`.
        everything: all products, not `SHOWN`.
    """
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
