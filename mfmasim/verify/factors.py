"""Outputs, or parts of them, that would be right with a factor of 1 or 0: the kernel does not apply alpha or beta."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mfmasim.verify.expression import Expression, MatMul, Sum, Times
from mfmasim.verify.roles import Tensor

if TYPE_CHECKING:
    from collections.abc import Callable, Container

    from numpy.typing import NDArray

FEWEST = 16
"""Wrong elements of a part of the output; fewer may be right by chance."""


def neglected(
    expression: Expression,
    known: Container[str],
    wrong: NDArray[np.bool_],
    with_other: Callable[[Expression], NDArray[np.bool_]],
) -> str:
    """The factor that the kernel does not apply, in words; empty if no single factor explains every wrong element.

    Args:
        expression: what the case declares.
        known: names of the matrices whose contents are known.
        wrong: elements of the output that differ.
        with_other: elements that differ from another expression, in the same shape.
    """
    for node in expression.parts():
        if not isinstance(node, Times):
            continue
        name, what = _named(node.matrix)
        if not all(part.name in known for part in node.parts() if isinstance(part, Tensor)):
            continue
        for factor, words in ((1.0, f"{what} with a factor of 1, not"), (0.0, f"{what} with a factor of 0, not")):
            if node.factor == factor:
                continue
            others = with_other(_with(expression, node, factor))
            if not others.any():
                return f"{words} {name} = {node.factor:g}: every element is as if it were so"
            if np.count_nonzero(wrong) >= FEWEST and not (wrong & others).any():
                first = ", ".join(str(int(i)) for i in np.argwhere(wrong)[0])
                return (
                    f"{words} {name} = {node.factor:g}, in a part of the output: all {np.count_nonzero(wrong)} wrong "
                    f"elements of {wrong.size}, the first [{first}], are as if it were so"
                )
    return ""


def _named(matrix: Expression) -> tuple[str, str]:
    """BLAS's name of a factor, and the matrix that it multiplies."""
    if isinstance(matrix, Tensor):
        return "beta", f"{matrix.name} is added"
    if isinstance(matrix, MatMul):
        return "alpha", "the product is taken"
    return "the factor", "a sum is taken"


def _with(expression: Expression, node: Times, factor: float) -> Expression:
    """The expression with another factor at a node."""
    if expression is node:
        return Times(factor, node.matrix)
    if isinstance(expression, Sum):
        return Sum(_with(expression.left, node, factor), _with(expression.right, node, factor))
    if isinstance(expression, Times):
        return Times(expression.factor, _with(expression.matrix, node, factor))
    return expression
