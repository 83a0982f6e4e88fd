"""A launch for all parameters: workgroups, assumptions, and sizes in a form that gives bounds few negative terms."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import combinations
from math import gcd
from typing import TYPE_CHECKING

from mfmasim.prove.arguments import POINTERS, Passed, Region, changed, leaves_of
from mfmasim.prove.polynomial import Polynomial, Symbol, constant, of, rounded, tightened
from mfmasim.prove.quotients import remember

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

__all__ = ["INT", "Contract", "completed", "of_fewer"]

INT = (1 << 31) - 1
"""Largest integer argument (assumed)."""
BYTES = (1 << 31) - 1
"""Most bytes of an array (assumed)."""


@dataclass
class Contract:
    """A launch for all parameters."""

    grid: tuple[Polynomial, Polynomial, Polynomial]
    block: tuple[int, int, int]
    shared: int
    args: list[Passed]
    """One for each argument."""
    workgroup: tuple[Polynomial, Polynomial, Polynomial]
    facts: list[Polynomial]
    """Polynomials that the contract, the case and the assumptions make non-negative."""
    assumptions: list[str]
    parameters: dict[str, Polynomial] = field(default_factory=dict)
    """Symbolic parameters of the case."""
    example: dict[str, int] = field(default_factory=dict)
    fixed: dict[str, int] = field(default_factory=dict)
    """Parameters of an alternative of the case's contract, and their values there."""

    @property
    def regions(self) -> list[Region]:
        """The arrays; an array that is passed twice occurs once."""
        found = [arg for arg in leaves_of(self.args) if isinstance(arg, Region)]
        return list({region.pointer: region for region in found}.values())


def completed(contract: Contract, facts: Iterable[Polynomial], texts: Iterable[str]) -> Contract:
    """Add workgroups and assumptions, and express the sizes by them.

    Args:
        contract: a launch without workgroups.
        facts: not negative.
        texts: assumptions, in words.
    """
    facts = [*facts, *(constant(INT) - parameter for parameter in contract.parameters.values())]
    for region in contract.regions:
        facts += [size - 1 for size in region.shape]  # no matrix is empty: such a case is refused
        facts += [constant(BYTES) - region.size, constant(POINTERS) - of(region.pointer) - region.size]
    facts += _of_one_side(facts, [size for region in contract.regions for size in region.shape])
    replaced: dict[Symbol, Polynomial] = {}
    places = []
    # With three open sides the bytes of an array are a product of all of them: sums as factors have many terms.
    deep = bool(contract.parameters) and all(not size.is_constant for size in contract.grid)
    if deep:
        facts += _whole_again(contract.parameters, replaced)
    for axis, declared in zip("xyz", contract.grid, strict=True):
        size = declared.substituted(replaced)
        if size.is_constant:
            count = int(size.constant)
            places.append(constant(0) if count == 1 else of(Symbol(f"wg_{axis}", 0, count - 1)))
            continue
        own = Symbol(f"wg_{axis}", 0, INT)
        places.append(of(own))
        single = [(m, c) for m, c in size.terms.items() if m]
        if not deep and len(single) == 1 and len(single[0][0]) == 1 and single[0][1] == 1:
            # The grid's size is this workgroup's number, plus the number of later ones, plus 1.
            rest = size - of(single[0][0][0])
            behind = Symbol(f"behind_{axis}", 0, INT)
            replaced[single[0][0][0]] = of(own) + of(behind) + 1 - rest
            facts.append(of(single[0][0][0]) - single[0][0][0].low)
        else:
            facts.append(size - of(own) - 1)
    facts = [fact.substituted(replaced) for fact in facts]
    parameters = {n: p.substituted(replaced) for n, p in contract.parameters.items()}
    padded = {} if deep else _padded(parameters, facts)

    def change(p: Polynomial) -> Polynomial:
        return p.substituted(replaced).substituted(padded)

    facts = [tightened(change(fact)) for fact in facts]
    facts += [one for fact in facts if (one := rounded(fact)) is not None]
    least = _least(facts, deep=deep)
    known = [*facts, *parameters.values(), *contract.grid]
    known += [arg.size if isinstance(arg, Region) else arg for arg in leaves_of(contract.args) if arg is not None]
    quotients = _redefined(known, lambda p: change(p).substituted(least))

    def raised(p: Polynomial) -> Polynomial:
        return change(p).substituted(least).substituted(quotients)

    facts = [fact.substituted(least).substituted(quotients) for fact in facts]
    x, y, z = (raised(size) for size in contract.grid)
    if deep:
        facts += of_fewer(facts, x.symbols | y.symbols | z.symbols)
    common = [
        "no integer argument exceeds 2^31 - 1, no array 2^31 - 1 bytes",
        "arrays do not overlap; addresses are below 2^47",
    ]
    return replace(
        contract,
        grid=(x, y, z),
        args=[changed(arg, raised) for arg in contract.args],
        workgroup=(places[0], places[1], places[2]),
        facts=_strongest(facts),
        assumptions=[*texts, *common],
        parameters={n: raised(p) for n, p in parameters.items()},
    )


def _least(facts: list[Polynomial], *, deep: bool) -> dict[Symbol, Polynomial]:
    """Symbols with a lower bound from a fact, as the bound plus a new symbol: products then have no negative terms.

    Args:
        facts: not negative.
        deep: the new symbol has the bound as its smallest value instead: products then have fewer terms.
    """
    found: dict[Symbol, int] = {}
    for fact in facts:
        match [(m, c) for m, c in fact.terms.items() if m]:
            case [((symbol,), 1)] if isinstance(fact.constant, int) and -fact.constant > symbol.low:
                found[symbol] = max(-fact.constant, found.get(symbol, 0))
    if deep:
        return {symbol: of(Symbol(symbol.name, least, symbol.high)) for symbol, least in found.items()}
    return {
        symbol: of(Symbol(f"({symbol.name}-{least})", 0, symbol.high and symbol.high - least)) + least
        for symbol, least in found.items()
    }


def _strongest(facts: Iterable[Polynomial]) -> list[Polynomial]:
    """Facts that the ranges of symbols do not imply; of facts that differ in the constant alone, the strongest."""
    kept: dict[object, Polynomial] = {}
    for fact in facts:
        low = fact.range[0]
        if low is None or low < 0:
            key = (fact - constant(fact.constant)).key
            other = kept.get(key)
            if other is None or int(other.constant) > int(fact.constant):
                kept[key] = fact
    return list(kept.values())


def _of_one_side(facts: Iterable[Polynomial], sides: Iterable[Polynomial]) -> list[Polynomial]:
    """Bounds of each side from bounds of a product of two sides: the other side is at least 1, or its divisor.

    Args:
        facts: not negative.
        sides: rows and columns of matrices.
    """
    every = list({side.key: side for side in sides if not side.is_constant}.values())
    found = []
    for one, other in combinations(every, 2):
        area = one * other
        monomial = max(area.terms, key=len)
        for fact in facts:
            factor = fact.terms.get(monomial, 0)
            size = Fraction(-factor, area.terms[monomial])  # type: ignore[arg-type]
            if size > 0 and size.denominator == 1 and (fact + area.scaled(int(size))).is_constant:
                for side, least in ((one, other), (other, one)):
                    by = gcd(*(c for c in least.terms.values() if isinstance(c, int)))
                    found.append(constant(fact.constant) - side.scaled(int(size) * by))
    return found


def _redefined(known: Iterable[Polynomial], change: Callable[[Polynomial], Polynomial]) -> dict[Symbol, Polynomial]:
    """Quotients after a change of sizes; the kernel's division of the same numbers then has the same symbol.

    Args:
        known: polynomials with the symbols of the quotients.
        change: rewrites the sizes in a polynomial.
    """
    found: dict[Symbol, Polynomial] = {}
    waiting, every = [s for p in known for s in p.symbols], set[Symbol]()
    while waiting:
        symbol = waiting.pop()
        if symbol.quotient is not None and symbol not in every:
            every.add(symbol)
            waiting += [s for p in symbol.quotient for s in p.symbols]
    for symbol in sorted(every):
        assert symbol.quotient is not None
        image = change(of(symbol))
        rest = image - constant(image.constant)
        if len(rest.symbols) == 1 and rest.same(of(own := rest.symbols.pop())):
            value, by = (change(p).substituted(found) for p in symbol.quotient)
            less = int(image.constant)
            new = Symbol(own.name, own.low, own.high, quotient=(value - by.scaled(less), by))
            found[own] = of(new)
            remember(value, by, of(new) + less)
    return found


def of_fewer(facts: list[Polynomial], sides: set[Symbol]) -> list[Polynomial]:
    """Bounds of each size, and of the sides of the grid, from bounds of products: the other factors are at least 1.

    Args:
        facts: not negative.
        sides: symbols of the grid.
    """
    found: dict[tuple[Symbol, ...], Polynomial] = {}
    for fact in facts:
        match [(m, c) for m, c in fact.terms.items() if m]:
            case [(monomial, int(factor))] if factor == -1 and isinstance(fact.constant, int):
                own = tuple(symbol for symbol in monomial if symbol in sides)
                for part in {*((symbol,) for symbol in monomial), own} if len(monomial) > 1 else ():
                    bound = Polynomial({(): fact.constant, part: -1})
                    least = found.get(part, bound).constant
                    if part and all(s.low >= 1 for s in monomial) and fact.constant <= least:
                        found[part] = bound
    return list(found.values())


def _whole_again(parameters: Mapping[str, Polynomial], replaced: dict[Symbol, Polynomial]) -> list[Polynomial]:
    """Sizes ``64 g - r`` as symbols of their own: the remainder r becomes ``64 g - size``.

    Args:
        parameters: by name.
        replaced: receives the remainders.

    Returns:
        Facts about the remainders.
    """
    facts = []
    for name, polynomial in parameters.items():
        remainders = [s for s in polynomial.symbols if s.name == name + "~"]
        factor = polynomial.terms.get((remainders[0],)) if remainders else None
        if not isinstance(factor, int) or factor >= 0 or remainders[0].high is None:
            continue
        rest = polynomial - of(remainders[0]).scaled(factor)
        inside = Polynomial({m: c // -factor for m, c in rest.terms.items()}) - of(Symbol(name))
        replaced[remainders[0]] = inside
        facts += [inside, -inside + remainders[0].high]
    return facts


def _padded(parameters: Mapping[str, Polynomial], facts: list[Polynomial]) -> dict[Symbol, Polynomial]:
    """Strides as the elements of a line plus a padding, where a fact says that the stride is not shorter than the line.

    ``16 l - 128 T >= 0`` makes l the sum of 8 T and a padding: then no coefficient is negative. Where the line's length
    has a negative coefficient, N = 64 (wg_x + behind_x + 1) - r, the stride stays a symbol, and multiplies facts.
    """
    done: dict[Symbol, Polynomial] = {}
    for polynomial in parameters.values():
        if len(polynomial.terms) != 1:
            continue
        ((monomial, factor),) = polynomial.terms.items()
        if len(monomial) != 1 or not isinstance(factor, int) or monomial[0] in done:
            continue
        symbol = monomial[0]
        for fact in facts:
            if fact.terms.get(monomial) != factor or any(symbol in m for m in fact.terms if m != monomial):
                continue
            line = -(fact - of(symbol).scaled(factor))
            if (
                not line.is_constant
                and not any(s in done for s in line.symbols)
                and all(isinstance(c, int) and c % factor == 0 and c >= 0 for c in line.terms.values())
            ):
                done[symbol] = Polynomial({m: c // factor for m, c in line.terms.items()}) + of(
                    Symbol(f"pad_{symbol.name}", 0, INT)
                )
                break
    return done
