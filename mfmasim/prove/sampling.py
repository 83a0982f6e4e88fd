"""Values for the symbols of a contract: launches for comparison, and sizes to replay."""

from __future__ import annotations

from itertools import chain, product
from typing import TYPE_CHECKING, Any

from mfmasim.errors import MfmasimError
from mfmasim.prove.arguments import Region, leaves_of, passed
from mfmasim.prove.branches import chosen, value_of
from mfmasim.prove.contract import whole
from mfmasim.verify.arguments import Argument

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from mfmasim.architectures import Arch
    from mfmasim.prove.arguments import Passed
    from mfmasim.prove.contract import Contract
    from mfmasim.prove.polynomial import Symbol
    from mfmasim.verify import Case

__all__ = ["check_contract", "sizes"]

COMPARED = 6
"""Launches that a traced contract is compared with."""
MOST = 200
"""Sizes that are tried."""


def sizes(
    contract: Contract, at: Mapping[str, int] | None = None
) -> Iterator[tuple[dict[Symbol, int], dict[str, int]]]:
    """Small values of the symbols that the facts admit, and the parameters that follow.

    Args:
        contract: has the symbols and facts.
        at: fixed values of some parameters.
    """
    passed_on = [arg.size if isinstance(arg, Region) else arg for arg in leaves_of(contract.args)]
    known = (*contract.parameters.values(), *contract.grid, *(p for p in passed_on if p is not None))
    # Remainders last: the multiples restrict them.
    symbols = sorted({s for p in known for s in p.symbols}, key=lambda s: (s.name.endswith("~"), s.serial))
    facts = [fact for fact in contract.facts if fact.symbols <= set(symbols)]
    for name, value in (at or {}).items():
        facts += [contract.parameters[name] - value, -contract.parameters[name] + value]
    # First all symbols at their smallest values, then one symbol after the other above it.
    offsets = sorted(product(range(3), repeat=min(len(symbols), 8)), key=lambda o: (sum(o), max(o, default=0)))
    seen = set()
    for offset in offsets[: 20 if at else MOST]:
        values = chosen(symbols, facts, offset)
        key = None if values is None else tuple(values.values())
        if values is not None and key not in seen:
            seen.add(key)
            yield values, contract.fixed | {name: value_of(p, values) for name, p in contract.parameters.items()}


def check_contract(case: Case, contract: Contract, arch: Arch) -> None:
    """Compare a traced contract with launches of the case at some sizes.

    This comparison detects a function that makes plain numbers of its parameters (the size of an array that it fills).

    Args:
        case: the case.
        contract: the traced contract.
        arch: decides the formats.

    Raises:
        MfmasimError: contract and launch differ, or there is no size for a comparison.
    """
    compared = 0
    drawn = chain(sizes(contract, contract.example), sizes(contract)) if contract.parameters else ()
    for values, parameters in drawn:
        if compared == COMPARED:
            break
        try:
            launch = case.make(parameters)
        except MfmasimError:
            continue  # the case refuses the size
        for expected, found in zip(contract.grid, whole(launch.grid), strict=True):
            _same(case, "the grid", value_of(expected, values), int(found), parameters)
        for number, (traced, arg) in enumerate(zip(contract.args, launch.args, strict=True)):
            _compared(case, traced, arg, arch, f"argument {number}", (values, parameters))
        compared += 1
    if contract.parameters and not compared:
        raise MfmasimError(f"{case.name}: no sizes were found at which its function could be compared")


def _compared(
    case: Case, traced: Passed, arg: Any, arch: Arch, name: str, at: tuple[Mapping[Symbol, int], Mapping[str, int]]
) -> None:
    values, parameters = at
    if isinstance(traced, Region) and isinstance(arg, Argument):
        last = int(arg.first_bytes(arch).max()) + max(arg.element_bits(arch) // 8, 1)
        _same(case, f"the bytes of {traced.name}", value_of(traced.size, values), last, parameters)
        return
    mine, plain = list(leaves_of([traced])), list(leaves_of([passed(arg, arch, name)]))
    if isinstance(traced, Region):
        plain = plain[:1]  # for a list the size of its memory: its elements are not compared
    _same(case, f"the fields of {name}", len(mine), len(plain), parameters)
    for expected, found in zip(mine, plain, strict=True):
        sides = [side.size if isinstance(side, Region) else side for side in (expected, found)]
        a, b = (None if side is None else value_of(side, values) for side in sides)
        if a is not None or b is not None:
            _same(case, name, a, b, parameters)


def _same(case: Case, what: str, traced: int | None, found: int | None, parameters: Mapping[str, Any]) -> None:
    if traced != found:
        raise MfmasimError(
            f"{case.name}: {what} is {found} for {parameters}, the function traced for all sizes gives {traced}: "
            "it makes plain numbers of its parameters"
        )
