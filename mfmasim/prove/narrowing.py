"""What a traced case would narrow without saying: contracts, and case functions, that branch on sizes.

One run at an example follows one way through a Python function. The polynomials hold for all sizes that take the same
way; here sizes that the contract admits are looked for that take another one, and contracts that are no conjunction of
comparisons are refused.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from mfmasim.errors import MfmasimError
from mfmasim.prove.integers import Rewrite, Traced, noting
from mfmasim.verify.contract import broken

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from mfmasim.prove.integers import Notes
    from mfmasim.verify import Case

__all__ = ["asked", "check_conjunction", "check_not_negative", "check_one_way"]

SCALES = (1, 2, 3, 5, 8, 33, 128, 1000, 4096, 70_000)
"""Sizes that are looked at, in multiples of what a size has to be a multiple of."""


def check_conjunction(needs: str) -> None:
    """Refuse a contract that is not a conjunction of comparisons of numbers.

    Raises:
        MfmasimError: it has ``or``, ``not``, ``in`` or a comparison of truth values.
    """
    tree = ast.parse(needs or "1 == 1", mode="eval").body
    parts = tree.values if isinstance(tree, ast.BoolOp) and isinstance(tree.op, ast.And) else [tree]
    for part in parts:
        below = [node for node in ast.walk(part) if node is not part]
        logic = any(isinstance(node, ast.BoolOp | ast.Compare | ast.Not | ast.In | ast.NotIn) for node in below)
        if logic or isinstance(part, ast.BoolOp | ast.UnaryOp):
            raise MfmasimError(f"the contract {ast.unparse(part)!r} is no comparison of numbers: it is not followed")


def check_not_negative(case: Case, example: Mapping[str, int], moduli: Mapping[str, int]) -> None:
    """Refuse a case whose contract admits negative parameters.

    Args:
        case: the case.
        example: its open parameters.
        moduli: what parameters have to be multiples of.

    Raises:
        MfmasimError: it does, and the case makes a launch of one.
    """
    for name, value in example.items():
        for negative in [value] if value < 0 else [-moduli.get(name, 1), -64 * moduli.get(name, 1)]:
            if _made(case, {**example, name: negative}):
                raise MfmasimError(
                    f"{case.name}: the contract admits {name} = {negative}; negative ones are not followed"
                )


def _made(case: Case, parameters: Mapping[str, int]) -> bool:
    if case.needs and broken(case.needs, {**case.parameters, **parameters}):
        return False
    try:
        case.make(dict(parameters))
    except MfmasimError:
        return False
    return True


def asked(notes: Notes, start: int = 0) -> frozenset[object]:
    """What a function asked of its parameters, with the answers.

    Args:
        notes: of its run.
        start: facts before it.
    """
    return frozenset([*(fact.key for fact in notes.facts[start:]), *notes.answers])


def check_one_way(
    case: Case,
    given: Mapping[str, Traced],
    moduli: Mapping[str, int],
    strides: Sequence[str],
    example: object,
    seen: Callable[[Any], object],
) -> None:
    """Compare the run at the example with runs at other sizes, small and large.

    Args:
        case: the case.
        given: the parameters of the example.
        moduli: what parameters have to be multiples of.
        strides: parameters that are strides.
        example: what `seen` gives of the example.
        seen: from a launch to what has to be the same in all.

    Raises:
        MfmasimError: one takes another way.
    """
    for parameters in _others(given, moduli, strides):
        if case.needs and broken(case.needs, {**case.parameters, **parameters}):
            continue
        traced = {name: Traced(value, given[name].polynomial) for name, value in parameters.items()}
        try:
            with noting() as notes:
                launch = case.make(traced)
                found = (asked(notes), seen(launch))
        except MfmasimError:
            continue  # refused there
        except (Rewrite, ArithmeticError):
            found = None
        if found != example:
            shown = ", ".join(f"{name}={value}" for name, value in parameters.items())
            raise MfmasimError(f"{case.name}: its function takes another way for {shown}, which is not followed")


def _others(given: Mapping[str, Traced], moduli: Mapping[str, int], strides: Sequence[str]) -> Iterator[dict[str, int]]:
    sizes = [name for name in given if name not in strides]
    base = {name: int(given[name]) for name in sizes}
    drawn = [{name: scale * moduli.get(name, 1) for name in sizes} for scale in SCALES]
    drawn += [{**base, name: scale * moduli.get(name, 1)} for name in sizes for scale in SCALES]
    for some in drawn:
        longer = 64 * (2 + sum(some.values()) // 64)
        yield {**some, **dict.fromkeys(strides, longer)}
