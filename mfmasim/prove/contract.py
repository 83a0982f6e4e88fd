"""The launch that a case declares, for all the parameters that its contract admits.

The parameters that `needs=` names are symbols, and so are strides that the case leaves at 0; all others have the case's
values. A case without `needs=` is proved for its own parameters alone.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field, replace
from math import lcm
from typing import TYPE_CHECKING, Any

from mfmasim.errors import MfmasimError
from mfmasim.prove.integers import Notes, Rewrite, Traced, noting
from mfmasim.prove.narrowing import asked, check_conjunction, check_not_negative, check_one_way
from mfmasim.prove.polynomial import Polynomial, Symbol, constant, of, tightened
from mfmasim.verify.arguments import Argument, leaves
from mfmasim.verify.contract import names_in
from mfmasim.verify.roles import Tensor, format_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from mfmasim.architectures import Arch
    from mfmasim.verify import Case
    from mfmasim.verify.launch import CaseLaunch

__all__ = ["Contract", "Region", "contract_of", "whole"]

INT = (1 << 31) - 1
"""Assumed: no integer argument is larger."""
BYTES = (1 << 31) - 1
"""Assumed: no array has more bytes."""
POINTERS = 1 << 47
"""User addresses lie below it (LLVM, AMDGPU usage guide: 48-bit canonical addresses, the lower half)."""


@dataclass(frozen=True)
class Region:
    """An array argument: a symbol for its address, and its bytes."""

    name: str
    pointer: Symbol
    size: Polynomial
    writes: bool
    """Whether the kernel may store to it."""
    strides: tuple[Polynomial, ...] = ()
    """Bytes from one line to the next, of each way to see lines in it."""
    tensor: Tensor | None = None
    """The matrix, its elements' format and bits, and its rows and columns."""
    format: str = ""
    bits: int = 0
    shape: tuple[Polynomial, ...] = ()


@dataclass
class Contract:
    """A launch for all parameters."""

    grid: tuple[Polynomial, Polynomial, Polynomial]
    block: tuple[int, int, int]
    shared: int
    args: list[Polynomial | Region | None]
    """One for each argument; None is data of which nothing is known."""
    workgroup: tuple[Polynomial, Polynomial, Polynomial]
    facts: list[Polynomial]
    """Not negative: what the contract, the case and the assumptions say."""
    assumptions: list[str]
    parameters: dict[str, Polynomial] = field(default_factory=dict)
    """Symbolic parameters of the case."""
    example: dict[str, int] = field(default_factory=dict)

    @property
    def regions(self) -> list[Region]:
        """The arrays."""
        return [arg for arg in self.args if isinstance(arg, Region)]


def contract_of(case: Case, arch: Arch) -> Contract:
    """Trace a case's function.

    Args:
        case: with `arch` and `wave` set among its parameters.
        arch: decides the formats of matrices.

    Raises:
        MfmasimError: the case cannot be traced.
    """
    sizes = [n for n in case.parameters if n in names_in(case.needs) and _is_size(case.parameters[n])]
    strides = _strides(case) if sizes else []
    # A stride that the case leaves to the kernel's default is longer than any line in the example.
    longer = 64 * (2 + sum(int(case.parameters[n]) for n in sizes) // 64)
    example = {n: int(case.parameters[n]) for n in sizes} | dict.fromkeys(strides, longer)
    written: dict[str, tuple[int, int]] = dict.fromkeys(example, (1, 0))
    for _ in range(12):
        try:
            return _traced(case, arch, example, written, strides)
        except Rewrite as change:
            name = change.symbol.name.removesuffix("'")
            if name not in written:
                raise MfmasimError(
                    f"{case.name}: a workgroup or a size divides {change.symbol} by {change.multiple}"
                ) from None
            written[name] = (written[name][0] * change.multiple, 1)
    raise MfmasimError(f"{case.name}: its function divides its parameters in too many ways")


def _is_size(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _strides(case: Case) -> list[str]:
    """Parameters of value 0 that the function passes as strides of matrices."""
    found = []
    for name, value in case.parameters.items():
        if _is_size(value) and value == 0:
            probe = 1 << 20
            try:
                launch = case.make({name: probe})
            except MfmasimError:
                continue
            if any(isinstance(t, Tensor) and t.ld == probe for t in launch.tensors.values()):
                found.append(name)
    return found


def _parameters(
    example: Mapping[str, int], written: dict[str, tuple[int, int]], moduli: Mapping[str, int]
) -> dict[str, Traced]:
    """Each parameter as its example and the polynomial it is written as: g k, or g k - r with 0 <= r < g."""
    made = {}
    for name, value in example.items():
        factor, rest = written[name]
        exact = moduli.get(name, 1)
        if factor == exact or not rest:
            factor = max(factor, exact)
            polynomial = of(Symbol(name + ("'" if factor > 1 else ""))).scaled(factor)
        else:
            rest_of = Symbol(name + "~", 0, factor // exact - 1)
            polynomial = of(Symbol(name + "'")).scaled(factor) - of(rest_of).scaled(exact)
        made[name] = Traced(value, polynomial)
    return made


def _moduli(needs: str, names: Mapping[str, int]) -> dict[str, int]:
    """``M % 64 == 0`` among the parts of a condition that ``and`` joins: multiples by name."""
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


def _traced(
    case: Case, arch: Arch, example: dict[str, int], written: dict[str, tuple[int, int]], strides: list[str]
) -> Contract:
    moduli = _moduli(case.needs, example)
    moduli |= {name: by for name, by in _stride_multiples(case, arch, strides).items() if by > 1}
    check_conjunction(case.needs)
    check_not_negative(case, example, moduli)
    given = _parameters(example, {n: _joined(written[n], moduli.get(n, 1)) for n in written}, moduli)
    with noting() as notes:
        if case.needs and not eval(  # noqa: S307 - a condition that `broken` has admitted
            compile(case.needs, "<contract>", "eval"), {"__builtins__": {}}, {**case.parameters, **given}
        ):
            raise MfmasimError(f"{case.name}: the example breaks the contract {case.needs!r}")
        before = len(notes.facts)
        launch = case.make(dict(given))
        way = asked(notes, before)
        grid = whole(launch.grid)
        args: list[Polynomial | Region | None] = []
        for _, arg in leaves(launch.args):
            args.append(_argument(arg, arch, len(args)))
        if any(isinstance(arg, list | tuple) for arg in launch.args):
            raise MfmasimError(f"{case.name}: an argument is a structure, which is not followed")
        sizes = [_as_polynomial(n) for n in grid]
    if example:
        check_one_way(case, given, moduli, strides, (way, _plain_numbers(launch)), _plain_numbers)
    block = tuple(_only(case, "the workgroup's size", n) for n in whole(launch.block))
    shared = _only(case, "the LDS of a launch", launch.shared_bytes)
    contract = Contract(
        (sizes[0], sizes[1], sizes[2]),
        (block[0], block[1], block[2]),
        shared,
        args,
        (constant(0), constant(0), constant(0)),
        [],
        [],
        {n: t.polynomial for n, t in given.items()},
        dict(example),
    )
    return _completed(case, contract, notes)


def _joined(written: tuple[int, int], modulus: int) -> tuple[int, int]:
    """Factor of a parameter that is written in multiples and has to be one of `modulus`."""
    factor, rest = written
    if factor <= 1 or modulus % factor == 0:
        return (modulus, 0) if modulus > 1 else (factor, rest)
    if factor % modulus:
        raise MfmasimError(f"a parameter is a multiple of {modulus} and divided by {factor}")
    return factor, 1 if factor > modulus else 0


def _stride_multiples(case: Case, arch: Arch, strides: list[str]) -> dict[str, int]:
    """What each stride has to be a multiple of, so that every line is aligned as its matrix demands."""
    found: dict[str, int] = {}
    for name in strides:
        probe = 1 << 20
        for tensor in case.make({name: probe}).tensors.values():
            if tensor.ld == probe:
                bits = tensor.element_bits(arch)
                found[name] = lcm(found.get(name, 1), lcm(bits, tensor.align * 8) // bits)
    return found


def whole(value: object) -> list[Any]:
    """Three dimensions of a grid or block."""
    given = list(value) if isinstance(value, list | tuple) else [value]
    return given + [1] * (3 - len(given))


def _only(case: Case, what: str, value: Any) -> int:
    """A number that no parameter changes."""
    if not _as_polynomial(value).is_constant:
        raise MfmasimError(f"{case.name}: {what} is {_as_polynomial(value)}, which is not followed")
    return int(value)


def _plain_numbers(launch: CaseLaunch) -> object:
    """Grid, workgroup, LDS and integer arguments of a launch, as polynomials."""
    numbers = [arg for _, arg in leaves(launch.args) if isinstance(arg, int) and not isinstance(arg, bool)]
    given = [*whole(launch.grid), *whole(launch.block), launch.shared_bytes, *numbers]
    return [_as_polynomial(value).key for value in given]


def _as_polynomial(value: Any) -> Polynomial:
    return value.polynomial if isinstance(value, Traced) else constant(int(value))


def _argument(arg: Any, arch: Arch, number: int) -> Polynomial | Region | None:
    if isinstance(arg, Argument):
        return _region(arg, arch, number)
    if arg is None:
        return constant(0)
    if isinstance(arg, Traced):
        return arg.polynomial
    if isinstance(arg, int) and not isinstance(arg, bool):
        return constant(arg)
    kind = getattr(getattr(arg, "dtype", None), "kind", "")
    return constant(int(arg)) if kind in ("i", "u") else None


def _region(arg: Argument, arch: Arch, number: int) -> Region:
    more: dict[str, Any] = {}
    if isinstance(arg, Tensor):
        more = {"tensor": arg, "format": format_of(arg, arch).name, "bits": arg.element_bits(arch)}
        more["shape"] = tuple(_as_polynomial(size) for size in arg.shape)
        step = arg.ld if int(arg.ld) else arg.line
        elements = _as_polynomial(step) * (_as_polynomial(arg.lines) - 1) + _as_polynomial(arg.line)
        bits = elements.scaled(arg.element_bits(arch))
        if not all(isinstance(c, int) and c % 8 == 0 for c in bits.terms.values()):
            raise MfmasimError(f"{arg.role}: its bytes are not a polynomial of the sizes")
        size = Polynomial({m: c // 8 for m, c in bits.terms.items()})
        line = _as_polynomial(step).scaled(arg.element_bits(arch))
        exact = all(isinstance(c, int) and c % 8 == 0 for c in line.terms.values())
        strides = [Polynomial({m: c // 8 for m, c in line.terms.items()})] if exact else []
    else:
        size, strides = constant(arg.element_bits(arch) // 8), []
        for length in reversed(arg.shape):
            size = size * _as_polynomial(length)
            strides.append(size)
    name = arg.name or f"argument {number}"
    base = Symbol("&" + name, 1 << 12, POINTERS)
    return Region(name, base, size, arg.writes, tuple(strides), **more)


def _completed(case: Case, contract: Contract, notes: Notes) -> Contract:
    """Add workgroups and assumptions, and write sizes by them."""
    texts = [f"contract: {case.needs or 'the parameters of the case'}"]
    facts = list(notes.facts)
    texts += [f"as in the example: {answer}" for answer in dict.fromkeys(notes.answers)]
    facts += [constant(INT) - parameter for parameter in contract.parameters.values()]
    for region in contract.regions:
        facts += [constant(BYTES) - region.size, constant(POINTERS) - of(region.pointer) - region.size]
    texts += [
        "no integer argument exceeds 2^31 - 1, no array 2^31 - 1 bytes",
        "arrays do not overlap; addresses are below 2^47",
    ]
    replaced: dict[Symbol, Polynomial] = {}
    places = []
    for axis, declared in zip("xyz", contract.grid, strict=True):
        size = declared.substituted(replaced)
        if size.is_constant:
            count = int(size.constant)
            places.append(constant(0) if count == 1 else of(Symbol(f"wg_{axis}", 0, count - 1)))
            continue
        own = Symbol(f"wg_{axis}", 0, INT)
        places.append(of(own))
        single = [(m, c) for m, c in size.terms.items() if m]
        if len(single) == 1 and len(single[0][0]) == 1 and single[0][1] == 1:
            # As many workgroups as the size says: the size is the workgroup's number, and those behind it.
            rest = size - of(single[0][0][0])
            behind = Symbol(f"behind_{axis}", 0, INT)
            replaced[single[0][0][0]] = of(own) + of(behind) + 1 - rest
            facts.append(of(single[0][0][0]) - single[0][0][0].low)
        else:
            facts.append(size - of(own) - 1)
    facts = [fact.substituted(replaced) for fact in facts]
    parameters = {n: p.substituted(replaced) for n, p in contract.parameters.items()}
    padded = _padded(parameters, facts)

    def change(p: Polynomial) -> Polynomial:
        return p.substituted(replaced).substituted(padded)

    args: list[Polynomial | Region | None] = [
        _changed(a, change) if isinstance(a, Region) else a if a is None else change(a) for a in contract.args
    ]
    facts = [tightened(change(fact)) for fact in facts]
    least = _least(facts)

    def raised(p: Polynomial) -> Polynomial:
        return change(p).substituted(least)

    args = [_changed(a, raised) if isinstance(a, Region) else a if a is None else raised(a) for a in args]
    facts = [raised(fact) for fact in facts]
    kept = {fact.key: fact for fact in facts if fact.range[0] is None or fact.range[0] < 0}
    x, y, z = (raised(size) for size in contract.grid)
    return replace(
        contract,
        grid=(x, y, z),
        args=args,
        workgroup=(places[0], places[1], places[2]),
        facts=list(kept.values()),
        assumptions=texts,
        parameters={n: raised(p) for n, p in parameters.items()},
    )


def _changed(region: Region, change: Callable[[Polynomial], Polynomial]) -> Region:
    strides, shape = (tuple(change(p) for p in some) for some in (region.strides, region.shape))
    return replace(region, size=change(region.size), strides=strides, shape=shape)


def _least(facts: list[Polynomial]) -> dict[Symbol, Polynomial]:
    """Symbols that a fact gives a smallest value, as new ones that have it."""
    found: dict[Symbol, Polynomial] = {}
    for fact in facts:
        match [(m, c) for m, c in fact.terms.items() if m]:
            case [((symbol,), 1)] if isinstance(fact.constant, int) and -fact.constant > symbol.low:
                found[symbol] = of(Symbol(symbol.name, -fact.constant, symbol.high))
    return found


def _padded(parameters: Mapping[str, Polynomial], facts: list[Polynomial]) -> dict[Symbol, Polynomial]:
    """Strides as the line's elements and a padding, where a fact says that they are not shorter.

    ``16 l - 128 T >= 0`` makes l the sum of 8 T and a padding: then no coefficient is negative.
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
                and all(isinstance(c, int) and c % factor == 0 for c in line.terms.values())
            ):
                done[symbol] = Polynomial({m: c // factor for m, c in line.terms.items()}) + of(
                    Symbol(f"pad_{symbol.name}", 0, INT)
                )
                break
    return done
