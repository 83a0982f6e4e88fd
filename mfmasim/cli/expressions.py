"""Integer expressions over lanes, such as ``lane % 16 * 128 + lane // 16 * 16``; no other code is evaluated."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from typing import Any

from mfmasim.errors import MfmasimError, unknown

_BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
}
_COMPARE: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}


def evaluate(text: str, names: Mapping[str, Any]) -> Any:
    """Value of an integer expression.

    Args:
        text: operators + - * // % & | ^ << >> ~, comparisons and parentheses.
        names: values of the variables, integers or arrays of integers.

    Raises:
        MfmasimError: bad syntax, an unknown name, or a division by 0.

    >>> evaluate("(lane ^ 5) << 4", {"lane": 6})
    48
    """
    try:
        tree = ast.parse(text.strip(), mode="eval")
    except (SyntaxError, ValueError):
        raise MfmasimError(f"{text!r} is not an expression such as 'lane % 16 * 128 + lane // 16 * 16'") from None

    def value(node: ast.expr) -> Any:
        if isinstance(node, ast.Constant) and type(node.value) is int and abs(node.value) < 1 << 31:
            return node.value
        if isinstance(node, ast.Name):
            if node.id not in names:
                raise unknown("name", node.id, names, f"in {text!r}")
            return names[node.id]
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.Invert):
            inner = value(node.operand)
            return -inner if isinstance(node.op, ast.USub) else ~inner
        if isinstance(node, ast.BinOp) and type(node.op) in _BINARY:
            left, right = value(node.left), value(node.right)
            if isinstance(node.op, ast.FloorDiv | ast.Mod | ast.LShift | ast.RShift):
                _check_right(node.op, right, text)
            return _BINARY[type(node.op)](left, right)
        if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in _COMPARE:
            return _COMPARE[type(node.ops[0])](value(node.left), value(node.comparators[0]))
        part = ast.unparse(node)
        hint = "; write // for the quotient" if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div) else ""
        raise MfmasimError(f"{part!r} in {text!r} is not an integer expression{hint}")

    return value(tree.body)


def _check_right(kind: ast.operator, right: object, text: str) -> None:
    import numpy as np

    values = np.asarray(right)
    if isinstance(kind, ast.FloorDiv | ast.Mod):
        if (values == 0).any():
            raise MfmasimError(f"{text!r} divides by 0")
    elif ((values < 0) | (values > 31)).any():
        raise MfmasimError(f"{text!r} shifts by less than 0 or more than 31 bits")
