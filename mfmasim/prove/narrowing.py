"""Sizes that a traced run may miss: contracts and case functions may branch on sizes.

One run at an example follows one path through a Python function. The polynomials hold for all sizes on the same path;
this module gives admitted sizes that may take another path. Contracts that are no conjunction of
comparisons are refused.
"""

from __future__ import annotations

import ast
from math import prod
from typing import TYPE_CHECKING

from mfmasim.errors import MfmasimError
from mfmasim.verify.arrays import Array
from mfmasim.verify.contract import broken

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from mfmasim.verify import Case
    from mfmasim.verify.launch import CaseLaunch

__all__ = ["admitted", "check_conjunction", "check_not_negative", "fills_arrays", "made", "moduli_of", "others"]

SCALES = (1, 2, 3, 5, 8, 33, 128, 1000, 4096, 70_000)
"""Sizes that are tried, as multiples of the size's divisor."""
LARGER = 1000
"""Largest product of sizes, relative to the case's own product, if the case computes the elements of arrays."""


def check_conjunction(needs: str) -> None:
    """Refuse a contract that is not a conjunction of comparisons of numbers.

    Raises:
        MfmasimError: the contract has ``or``, ``not``, ``in`` or a comparison of booleans.
    """
    tree = ast.parse(needs or "1 == 1", mode="eval").body
    parts = tree.values if isinstance(tree, ast.BoolOp) and isinstance(tree.op, ast.And) else [tree]
    for part in parts:
        below = [node for node in ast.walk(part) if node is not part]
        logic = any(isinstance(node, ast.BoolOp | ast.Compare | ast.Not | ast.In | ast.NotIn) for node in below)
        if logic or isinstance(part, ast.BoolOp | ast.UnaryOp):
            raise MfmasimError(f"the contract {ast.unparse(part)!r} is no comparison of numbers: it is not followed")


def moduli_of(needs: str, names: Collection[str]) -> dict[str, int]:
    """Divisors by name, from the operands ``M % 64 == 0`` of a conjunction."""
    found: dict[str, int] = {}
    tree = ast.parse(needs or "True", mode="eval").body
    parts = tree.values if isinstance(tree, ast.BoolOp) and isinstance(tree.op, ast.And) else [tree]
    for part in parts:
        match part:
            case ast.Compare(
                left=ast.BinOp(left=ast.Name(id=name), op=ast.Mod(), right=ast.Constant(value=int(by))),
                ops=[ast.Eq()],
                comparators=[ast.Constant(value=0)],
            ) if name in names:
                found[name] = by
    return found


def check_not_negative(case: Case, example: Mapping[str, int], moduli: Mapping[str, int]) -> None:
    """Refuse a case whose contract admits negative parameters.

    Args:
        case: the case.
        example: its open parameters.
        moduli: divisors of parameters.

    Raises:
        MfmasimError: the case makes a launch for a negative parameter.
    """
    for name, value in example.items():
        for negative in [value] if value < 0 else [-moduli.get(name, 1), -64 * moduli.get(name, 1)]:
            if made(case, {**example, name: negative}):
                raise MfmasimError(
                    f"{case.name}: the contract admits {name} = {negative}; negative ones are not followed"
                )


def made(case: Case, parameters: Mapping[str, int]) -> bool:
    """Whether a case makes a launch for some sizes: its contract admits them, and its function does not refuse them."""
    if case.needs and broken(case.needs, {**case.parameters, **parameters}):
        return False
    try:
        case.make(dict(parameters))
    except MfmasimError:
        return False
    return True


def fills_arrays(launch: CaseLaunch) -> bool:
    """Whether a case's function computes elements of arrays, of inputs or of expected outputs."""
    given = [arg.data for arg in launch.arrays.values() if isinstance(arg, Array)]
    eager = not all(isinstance(data, str) or callable(data) for data in given)
    return bool(given) and (eager or not callable(launch.expect))


def others(
    case: Case, example: Mapping[str, int], moduli: Mapping[str, int], strides: Sequence[str], *, fills: bool
) -> Iterator[dict[str, int]]:
    """Sizes that the contract admits, small and large.

    Args:
        case: the case.
        example: its open parameters.
        moduli: divisors of parameters.
        strides: parameters that are strides.
        fills: whether the case computes elements of arrays, so that large sizes are omitted.
    """
    sizes = [name for name in example if name not in strides]
    base = {name: example[name] for name in sizes}
    drawn = [{name: scale * moduli.get(name, 1) for name in sizes} for scale in SCALES]
    drawn += [{**base, name: scale * moduli.get(name, 1)} for name in sizes for scale in SCALES]
    for some in drawn:
        longer = 64 * (2 + sum(some.values()) // 64)
        parameters = {**some, **dict.fromkeys(strides, longer)}
        if admitted(case, base, parameters, fills=fills):
            yield parameters


def admitted(case: Case, base: Mapping[str, int], parameters: Mapping[str, int], *, fills: bool) -> bool:
    """Whether a case's contract admits sizes whose arrays are not too large.

    Args:
        case: the case.
        base: the case's own sizes, without strides.
        parameters: the sizes.
        fills: whether the case computes elements of arrays.
    """
    larger = prod(max(parameters[name] / max(own, 1), 1) for name, own in base.items())
    return not (fills and larger > LARGER) and not (
        case.needs and broken(case.needs, {**case.parameters, **parameters})
    )
