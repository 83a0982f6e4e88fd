"""Numbers for the symbols of a contract: launches to compare with, and sizes to replay."""

from __future__ import annotations

from itertools import islice, product
from typing import TYPE_CHECKING, Any

from mfmasim.errors import MfmasimError
from mfmasim.prove.contract import Region, whole
from mfmasim.verify.arguments import Argument, leaves

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from mfmasim.architectures import Arch
    from mfmasim.prove.contract import Contract
    from mfmasim.prove.polynomial import Polynomial, Symbol
    from mfmasim.verify import Case

__all__ = ["check_contract", "sizes", "value_of"]

COMPARED = 6
"""Launches that a traced contract is compared with."""


def value_of(polynomial: Polynomial, values: Mapping[Symbol, int]) -> int:
    """A polynomial whose coefficients all lanes share, for values of its symbols."""
    total = 0
    for monomial, factor in polynomial.terms.items():
        part = int(factor)
        for symbol in monomial:
            part *= values[symbol]
        total += part
    return total


def sizes(contract: Contract) -> Iterator[tuple[dict[Symbol, int], dict[str, int]]]:
    """Small values of the symbols that the facts admit, and the parameters that they mean."""
    symbols = sorted(
        {s for p in (*contract.parameters.values(), *contract.grid) for s in p.symbols}, key=lambda s: s.serial
    )
    # All at their smallest values first, then one after the other above them.
    offsets = sorted(product(range(3), repeat=min(len(symbols), 8)), key=lambda o: (sum(o), max(o, default=0)))
    for offset in offsets:
        values = {s: s.low + (offset[k] if k < len(offset) else 0) for k, s in enumerate(symbols)}
        if any(s.high is not None and v > s.high for s, v in values.items()):
            continue
        related = [f for f in contract.facts if f.symbols <= values.keys()]
        if all(value_of(fact, values) >= 0 for fact in related):
            yield values, {name: value_of(p, values) for name, p in contract.parameters.items()}


def check_contract(case: Case, contract: Contract, arch: Arch) -> None:
    """Compare a traced contract with launches of the case at some sizes.

    A function that makes plain numbers of its parameters (the size of an array that it fills) is found here.

    Args:
        case: the case.
        contract: what was traced.
        arch: decides the formats.

    Raises:
        MfmasimError: they differ.
    """
    if not contract.parameters:
        return
    for values, parameters in islice(sizes(contract), COMPARED):
        launch = case.make(parameters)
        for expected, found in zip(contract.grid, whole(launch.grid), strict=True):
            _same(case, "the grid", value_of(expected, values), int(found), parameters)
        for traced, (place, arg) in zip(contract.args, leaves(launch.args), strict=True):
            if isinstance(traced, Region) and isinstance(arg, Argument):
                last = int(arg.first_bytes(arch).max()) + max(arg.element_bits(arch) // 8, 1)
                _same(case, f"the bytes of {traced.name}", value_of(traced.size, values), last, parameters)
            elif traced is not None and not isinstance(traced, Region) and isinstance(arg, int):
                _same(case, place, value_of(traced, values), int(arg), parameters)


def _same(case: Case, what: str, traced: int, found: int, parameters: Mapping[str, Any]) -> None:
    if traced != found:
        raise MfmasimError(
            f"{case.name}: {what} is {found} for {parameters}, the function traced for all sizes gives {traced}: "
            "it makes plain numbers of its parameters"
        )
