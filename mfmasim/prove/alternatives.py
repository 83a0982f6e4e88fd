"""Contracts with ``in`` and ``or``: the alternatives that they admit, each a contract of its own.

Parameters in the kernel's name say which kernel is meant: they keep the case's values.
"""

from __future__ import annotations

import ast
from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING

from mfmasim.errors import MfmasimError
from mfmasim.verify.contract import broken, conjuncts, names_in

if TYPE_CHECKING:
    from mfmasim.verify import Case

__all__ = ["alternatives"]

MOST = 16
"""Alternatives of a contract at most."""


def alternatives(case: Case) -> list[Case]:
    """Cases whose contracts are conjunctions, and that together admit what the case's contract admits.

    A parameter that is ``in`` a list has one of its values in each of them.

    Args:
        case: the case.

    Raises:
        MfmasimError: there are too many.
    """
    numbers = {n for n, v in case.parameters.items() if isinstance(v, int) and not isinstance(v, bool)}
    fixed = {n for n in numbers if "{" + n + "}" in case.kernel}
    choices = []
    for part in conjuncts(ast.parse(case.needs or "True", mode="eval").body):
        used = {node.id for node in ast.walk(part) if isinstance(node, ast.Name)} & numbers
        if used <= fixed:  # it says nothing of other sizes
            if why := broken(ast.unparse(part), case.parameters):
                raise MfmasimError(f"{case.name}: the contract {why}")
            continue
        whole: ast.expr = _Fixed({name: case.parameters[name] for name in fixed}).visit(part)
        choices.append(_listed(whole) or [("", 0, ast.unparse(one)) for one in _disjuncts(whole)])
    every = list(product(*choices)) if choices else [()]
    if len(every) > MOST:
        raise MfmasimError(f"{case.name}: its contract has {len(every)} alternatives, at most {MOST} are followed")
    found = []
    for chosen in every:
        values = {name: value for name, value, _ in chosen if name}
        parts = [_Fixed(values).visit(ast.parse(text, mode="eval").body) for *_, text in chosen if text]
        texts = [ast.unparse(part) for part in parts]
        decided = [text for text in texts if not names_in(text)]
        if any(broken(text, {}) for text in decided):  # no size keeps it
            continue
        needs = " and ".join(f"({text})" for text in texts if text not in decided)
        found.append(replace(case, needs=needs, parameters={**case.parameters, **values}))
    return found


def _disjuncts(node: ast.expr) -> list[ast.expr]:
    """What ``or`` joins, or the condition itself."""
    if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.Or):
        return [one for value in node.values for one in _disjuncts(value)]
    return [node]


def _listed(node: ast.expr) -> list[tuple[str, int, str]]:
    """Values of ``name in (0, 1, 2)`` by name, without a condition that is left."""
    match node:
        case ast.Compare(left=ast.Name(id=name), ops=[ast.In()], comparators=[ast.Tuple(elts=values)]):
            given = [one.value for one in values if isinstance(one, ast.Constant)]
            if len(given) == len(values) and all(type(one) is int for one in given):
                return [(name, int(str(one)), "") for one in given]
    return []


class _Fixed(ast.NodeTransformer):
    """Names replaced by numbers."""

    def __init__(self, values: dict[str, int]) -> None:
        self.values = values

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return ast.Constant(self.values[node.id]) if node.id in self.values else node
