"""Global races: no byte that a wave writes is read or written by another one, of any workgroup.

Each byte of an array determines the workgroup that accesses it. A byte's line is its offset divided by the stride of
the lines; the line and the place within the line have to determine the workgroup's numbers:
``64 wg_y + r`` with r from 0 to 63 determines wg_y. Two workgroups of one launch divide by the same stride, as a
launch has one value of it. Within a workgroup all waves have the same symbols: line and place differ by constants,
which are compared.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mfmasim.isa.scopes import DEVICE, reach
from mfmasim.prove.arguments import leaves_of
from mfmasim.prove.bounds import active, region_of
from mfmasim.prove.inequality import never_negative
from mfmasim.prove.polynomial import Polynomial, TooLarge, constant, of
from mfmasim.prove.quotients import marked

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from mfmasim.prove.contract import Contract, Region
    from mfmasim.prove.polynomial import Symbol
    from mfmasim.prove.trace import Access

__all__ = ["fixed_symbols", "lines_of", "shared_bytes", "strides_of"]

DEEPEST = 3
"""Most successive divisions into lines: one for each side of a grid."""

Term = tuple[Polynomial, int, list[Polynomial]]
"""The first number of an access, the count of numbers from it on, and facts."""


def shared_bytes(
    accesses: Sequence[Access], contract: Contract, outside: Collection[int], tick: Callable[[], None]
) -> list[tuple[int, str]]:
    """Instructions that are not proved to access bytes of their own workgroup alone, each with the reason.

    Args:
        accesses: those of all paths.
        contract: its arrays and workgroups.
        outside: addresses of instructions whose bounds are not proved.
        tick: raises `Stopped` when the time is over.
    """
    ids = {s for place in contract.workgroup for s in place.symbols}
    several = max((int(w) for access in accesses for w in access.waves), default=0) > 0
    if not ids and not several:
        return []
    problems: list[tuple[int, str]] = []
    taken: dict[str, list[tuple[Access, Polynomial]]] = {}
    regions = {region.name: region for region in contract.regions}
    lost = []
    for access in accesses:
        tick()
        if access.space != "global" or not access.mask.on.any():
            continue
        region = None if access.address is None else region_of(access.address, contract.regions)
        if region is None or access.address is None:
            lost.append(access)
        elif access.instruction.pc in outside:
            problems.append((access.instruction.pc, f"it is not proved to stay within {region.name}"))
        else:
            taken.setdefault(region.name, []).append((access, access.address - of(region.pointer)))
    written = {name for name, some in taken.items() if any(a.kind != "read" for a, _ in some)}
    for access in lost:
        resource = access.reach if access.kind == "read" else None
        if resource is not None and resource.base is not None and access.instruction.pc not in outside:
            region = region_of(resource.base, contract.regions)  # the resource's range proves the bounds
            if region is not None and region.name not in written:
                continue
        if access.kind != "read" or written:
            problems.append(
                (access.instruction.pc, access.why or f"{access.address} begins with no argument's pointer")
            )
    fixed = fixed_symbols(contract)
    for name in sorted(written):
        if _atomic_alone([a for a, _ in taken[name]]):
            continue
        if any(a.kind == "atomic" for a, _ in taken[name]):
            problems += [
                (a.instruction.pc, "atomic operations are not followed") for a, _ in taken[name] if a.kind == "atomic"
            ]
            continue
        region = regions[name]
        try:
            terms = []
            for access, offset in taken[name]:
                tick()
                value, facts = active(access, offset)
                terms.append((value, access.size, facts))
            left = ids - _determined(terms, ids, strides_of(region, contract), DEEPEST)
            if not left and several and not _waves_disjoint([a for a, _ in taken[name]], terms, region, fixed):
                pc = next(a.instruction.pc for a, _ in taken[name] if a.kind != "read")
                problems.append((pc, f"waves of a workgroup are not proved to touch different bytes of {name}"))
        except TooLarge:
            left = ids
        if left:
            pc = next(a.instruction.pc for a, _ in taken[name] if a.kind != "read")
            texts = ", ".join(sorted(s.name for s in left))
            problems.append((pc, f"bytes of {name} are not proved to determine {texts}: {taken[name][0][1]}"))
    return problems


def _atomic_alone(accesses: list[Access]) -> bool:
    """Whether only atomic operations in the scope of the device change an array: they are not races."""
    return all(a.kind == "atomic" and reach(a.instruction, "atomic") == DEVICE for a in accesses)


def strides_of(region: Region, contract: Contract) -> list[Polynomial]:
    """Possible lengths of an array's lines in bytes, for all workgroups: its strides, and its numbers of elements."""
    width = max(region.bits // 8, 1)
    passed = [arg.scaled(width) for arg in leaves_of(contract.args) if isinstance(arg, Polynomial)]
    return list({s.key: s for s in (*region.strides, *(s for s in passed if not s.is_constant))}.values())


def _determined(terms: list[Term], ids: set[Symbol], strides: Sequence[Polynomial], deepest: int) -> set[Symbol]:
    """Workgroup numbers that a byte of an array determines by its line, its place in it, the line's line and so on."""
    found = _single(terms, ids)
    for stride in strides if deepest else ():
        if found == ids:
            break
        split = lines_of(terms, stride)
        if split is not None:
            both = [_determined(some, ids, strides, deepest - 1) for some in split]
            found = max(found, both[0] | both[1], key=len)
    return found


def fixed_symbols(contract: Contract) -> set[Symbol]:
    """Symbols with one value for all waves of a workgroup at all times; numbers of turns are excluded, for example.

    Args:
        contract: its sizes and arguments.
    """
    known = [*contract.workgroup, *contract.grid, *contract.parameters.values(), *contract.facts]
    for arg in leaves_of(contract.args):
        if isinstance(arg, Polynomial):
            known.append(arg)
        elif arg is not None:
            known += [arg.size, *arg.strides]
    return {symbol for polynomial in known for symbol in polynomial.symbols}


def _waves_disjoint(accesses: list[Access], terms: list[Term], region: Region, fixed: set[Symbol]) -> bool:
    """Whether no wave accesses a byte that another wave of its workgroup writes."""
    zero = constant(0)
    ways = [([(zero, 1, facts) for _, _, facts in terms], terms)]
    ways += [split for stride in region.strides if (split := lines_of(terms, stride)) is not None]
    for lines, rest in ways:
        common = [{(value - constant(value.constant)).key for value, _, _ in some} for some in (lines, rest)]
        if all(len(keys) == 1 for keys in common) and all(
            value.symbols <= fixed for some in (lines, rest) for value, _, _ in some
        ):
            return _constants_disjoint(accesses, lines, rest)
    return False


def _constants_disjoint(accesses: list[Access], lines: list[Term], rest: list[Term]) -> bool:
    """`_waves_disjoint` for lines and places that are constants in each lane."""
    wave, line, place, writes = [], [], [], []
    for access, (row, _, _), (column, size, _) in zip(accesses, lines, rest, strict=True):
        on = access.mask.on
        waves = np.broadcast_to(access.waves[:, None], on.shape)[on]
        first = np.broadcast_to(np.asarray(column.constant, np.int64), waves.shape)
        for byte in range(size):
            wave.append(waves)
            line.append(np.broadcast_to(np.asarray(row.constant, np.int64), waves.shape))
            place.append(first + byte)
            writes.append(np.full(waves.shape, access.kind != "read"))
    joined = [np.concatenate(parts) for parts in (line, place, wave, writes)]
    order = np.lexsort((joined[2], joined[1], joined[0]))
    line_, place_, wave_, writes_ = (part[order] for part in joined)
    same = (line_[1:] == line_[:-1]) & (place_[1:] == place_[:-1])
    starts = np.flatnonzero(np.concatenate([[True], ~same]))
    written = np.logical_or.reduceat(writes_, starts)
    lowest, highest = np.minimum.reduceat(wave_, starts), np.maximum.reduceat(wave_, starts)
    return not bool((written & (lowest != highest)).any())


def _single(terms: list[Term], ids: set[Symbol]) -> set[Symbol]:
    """The symbol wg, if all terms are ``c wg + rest`` with one c and ``0 <= rest <= c - size``."""
    factors: set[tuple[Symbol, int]] = set()
    for value, size, facts in terms:
        own = [(m, c) for m, c in value.terms.items() if any(s in ids for s in m)]
        if len(own) != 1 or len(own[0][0]) != 1:
            return set()
        (symbol,), factor = own[0]
        if not isinstance(factor, int):
            return set()
        rest = value - of(symbol).scaled(factor)
        if factor <= 0 or not never_negative(rest, facts) or not never_negative(-rest + (factor - size), facts):
            return set()
        factors.add((symbol, factor))
    return {symbol for symbol, _ in factors} if len(factors) == 1 else set()


def lines_of(terms: list[Term], stride: Polynomial) -> tuple[list[Term], list[Term]] | None:
    """Line and place within the line of every term; None where they are not found."""
    if stride.is_constant and isinstance(stride.constant, int) and stride.constant > 0:
        return _equal_lines(terms, stride.constant)
    return next((found for mark in _marks(stride) if (found := _marked_lines(terms, stride, *mark))), None)


def _marked_lines(
    terms: list[Term], stride: Polynomial, mark: tuple[Symbol, ...], factor: int
) -> tuple[list[Term], list[Term]] | None:
    """`lines_of` by `mark`, a product of symbols in the stride: the line is the factor of the mark in the offset."""
    lines: list[Term] = []
    rest: list[Term] = []
    for value, size, facts in terms:
        line = marked(value, mark, factor)
        if line is None:
            return None
        left = value - line * stride
        if not never_negative(left, facts) or not never_negative(stride - left - size, facts):
            return None
        lines.append((line, 1, facts))
        rest.append((left, size, facts))
    return lines, rest


def _equal_lines(terms: list[Term], stride: int) -> tuple[list[Term], list[Term]] | None:
    """`lines_of` for lines of a constant number of bytes."""
    lines: list[Term] = []
    rest: list[Term] = []
    for value, size, facts in terms:
        whole = {m: c // stride for m, c in value.terms.items() if not m or not np.any(np.asarray(c) % stride)}
        line = Polynomial(whole)
        left = value - line.scaled(stride)
        if not never_negative(left, facts) or not never_negative(-left + (stride - size), facts):
            return None
        lines.append((line, 1, facts))
        rest.append((left, size, facts))
    return lines, rest


def _marks(stride: Polynomial) -> list[tuple[tuple[Symbol, ...], int]]:
    """Products of symbols whose factor in an offset may be the line: paddings, then others; long products last."""
    found = []
    for monomial, c in stride.terms.items():
        if not monomial or not isinstance(c, int) or c <= 0 or any(symbol.low < 0 for symbol in monomial):
            continue
        alone = len(monomial) == 1 and sum(monomial[0] in m for m in stride.terms) == 1
        if alone and (monomial[0].name.startswith(("pad", "behind")) or not monomial[0].name.startswith("wg")):
            found.append((0 if monomial[0].name.startswith("pad") else 1, (monomial, c)))
        elif len(monomial) > 1 and not any(symbol.name.startswith("wg") for symbol in monomial):
            found.append((2, (monomial, c)))
    return [mark for _, mark in sorted(found, key=lambda one: one[0])]
