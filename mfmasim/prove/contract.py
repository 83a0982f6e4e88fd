"""The launch that a case declares, for all the parameters that its contract admits.

The parameters that `needs=` names are symbols, and so are strides that the case leaves at 0; all others have the case's
values. A case without `needs=` is proved for its own parameters alone.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from math import lcm
from typing import TYPE_CHECKING, Any

from mfmasim.errors import MfmasimError
from mfmasim.prove.alternatives import alternatives, made_for
from mfmasim.prove.arguments import Passed, Region, keys_of, passed
from mfmasim.prove.branches import questioned
from mfmasim.prove.completion import Contract, completed
from mfmasim.prove.factors import Factor
from mfmasim.prove.integers import Notes, Rewrite, Traced, as_polynomial, noting
from mfmasim.prove.narrowing import check_conjunction, check_not_negative, fills_arrays, made, moduli_of, others
from mfmasim.prove.polynomial import Polynomial, Symbol, constant, of
from mfmasim.prove.watched import watching
from mfmasim.verify.contract import names_in
from mfmasim.verify.roles import Tensor

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from mfmasim.architectures import Arch
    from mfmasim.verify import Case
    from mfmasim.verify.arguments import Argument

__all__ = ["Contract", "Region", "contract_of", "contracts_of", "whole"]

MOST_WAYS = 4
"""Most paths through a case's function that are followed."""
PROBES = (1 << 16, 1 << 20)
"""Values of a parameter that is 0, to find out whether it is a stride. Other parameters may be sizes of arrays."""


def contract_of(case: Case, arch: Arch) -> Contract:
    """Trace a case's function that takes one path for all sizes.

    Args:
        case: with `arch` and `wave` set among its parameters.
        arch: decides the formats of matrices.

    Raises:
        MfmasimError: the case cannot be traced, or takes several paths.
    """
    found = contracts_of(case, arch)
    if len(found) > 1:
        raise MfmasimError(f"{case.name}: its function takes {len(found)} ways")
    return found[0]


def contracts_of(case: Case, arch: Arch) -> list[Contract]:
    """Trace a case's function once for each alternative of its contract, and for each path through the function.

    Args:
        case: with `arch` and `wave` set among its parameters.
        arch: decides the formats of matrices.

    Returns:
        One contract for each path: together they cover the sizes that were tried (`mfmasim.prove.narrowing`).

    Raises:
        MfmasimError: the case cannot be traced.
    """
    found = []
    every = alternatives(case)
    for one, still in every:
        determined = names_in(case.needs) - still if len(every) > 1 else set()
        given = {n: v for n, v in one.parameters.items() if n in determined and not isinstance(v, float)}
        for contract in _ways(_opened(one, case.needs), arch, still):
            texts = [f"contract: {case.needs or 'the parameters of the case'}"]
            if len(every) > 1:
                parts = [*(f"{n} == {v!r}" for n, v in given.items()), one.needs]
                texts.append(f"alternative: {' and '.join(part for part in parts if part)}")
            found.append(replace(contract, fixed=given, assumptions=[*texts, *contract.assumptions]))
    return found


def _ways(case: Case, arch: Arch, still: Collection[str]) -> list[Contract]:
    """One contract for each path of a case whose contract is a conjunction; `still` has the open parameters."""
    check_conjunction(case.needs)
    sizes = [n for n in case.parameters if n in still]
    strides = [name for name in _strides(case) if name not in made_for(case)] if sizes else []
    moduli = moduli_of(case.needs, sizes)
    moduli |= {name: by for name, by in _stride_multiples(case, arch, strides).items() if by > 1}
    # A stride that the case leaves to the kernel's default is longer than any line in the example.
    longer = 64 * (2 + sum(int(case.parameters[n]) for n in sizes) // 64)
    example = {n: int(case.parameters[n]) for n in sizes} | dict.fromkeys(strides, longer)
    check_not_negative(case, example, moduli)
    ways = [_way(case, arch, example, moduli)]
    if example:
        samples, left = others(case, example, moduli, strides, fills=ways[0].fills), set[str]()
        for parameters in chain(samples, questioned(case, ways, strides, left, partial(_refuses, case))):
            if not any(way.covers(case, arch, parameters) for way in ways):
                if len(ways) == MOST_WAYS:
                    raise MfmasimError(
                        f"{case.name}: its function takes another way for {_shown(parameters)}, the {MOST_WAYS + 1}th: "
                        f"at most {MOST_WAYS} are followed"
                    )
                ways.append(_way(case, arch, parameters, moduli))
        if left:
            raise MfmasimError(
                f"{case.name}: whether its function takes another way at other sizes is not known: {min(left)}"
            )
    return [_contract(way, number, len(ways)) for number, way in enumerate(ways, 1)]


def _contract(way: _Way, number: int, ways: int) -> Contract:
    x, y, z = way.grid
    a, b, c = way.block
    texts = []
    if ways > 1:
        texts.append(f"way {number} of {ways} of the case's function, as for {_shown(way.given)}")
    texts += [f"as in the example: {answer}" for answer in dict.fromkeys(way.notes.answers)]
    zero = constant(0)
    own = Contract(
        (x, y, z),
        (a, b, c),
        way.shared,
        way.args,
        (zero, zero, zero),
        [],
        [],
        {n: t.polynomial for n, t in way.given.items()},
        {n: int(t) for n, t in way.given.items()},
    )
    return completed(own, way.notes.facts, texts)


def _shown(parameters: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={int(value)}" for name, value in parameters.items())


@dataclass
class _Way:
    """A run of a case's function with traced parameters."""

    given: dict[str, Traced]
    grid: list[Polynomial]
    block: tuple[int, ...]
    shared: int
    args: list[Passed]
    notes: Notes
    seen: object
    """The launch that the function made of its parameters."""
    fills: bool
    """Whether the function computes the elements of arrays."""

    def covers(self, case: Case, arch: Arch, parameters: Mapping[str, int]) -> bool:
        """Whether the function makes the traced launch for other sizes, or refuses them.

        A comparison that these sizes do not make, or that has another result for them, is no fact of the path.
        """
        traced = {name: Traced(value, self.given[name].polynomial) for name, value in parameters.items()}
        try:
            other = _followed(case, arch, traced, self.notes.quotients)
        except (Rewrite, MfmasimError):
            return not made(case, parameters)
        if other.seen != self.seen:
            return False
        self.notes.questions += other.notes.questions
        facts, answers = {fact.key for fact in other.notes.facts}, set(other.notes.answers)
        self.notes.facts = [fact for fact in self.notes.facts if fact.key in facts]
        self.notes.answers = [answer for answer in self.notes.answers if answer in answers]
        return True


def _way(case: Case, arch: Arch, example: dict[str, int], moduli: Mapping[str, int]) -> _Way:
    """The path of one example; parameters are expressed as multiples of their divisors."""
    written: dict[str, tuple[int, int]] = dict.fromkeys(example, (1, 0))
    for _ in range(12):
        given = _parameters(example, {n: _joined(written[n], moduli.get(n, 1)) for n in written}, moduli)
        try:
            return _followed(case, arch, given, {})
        except Rewrite as change:
            name = change.symbol.name.removesuffix("'")
            if name not in written:
                raise MfmasimError(
                    f"{case.name}: a workgroup or a size divides {change.symbol} by {change.multiple}"
                ) from None
            written[name] = (written[name][0] * change.multiple, 1)
    raise MfmasimError(f"{case.name}: its function divides its parameters in too many ways")


def _followed(case: Case, arch: Arch, given: dict[str, Traced], quotients: dict[object, Polynomial]) -> _Way:
    """One traced run of a case's function."""
    with noting(quotients) as notes:
        if case.needs and not eval(  # noqa: S307 - a condition that `broken` has admitted
            compile(case.needs, "<contract>", "eval"), {"__builtins__": {}}, {**case.parameters, **given}
        ):
            raise MfmasimError(f"{case.name}: the example breaks the contract {case.needs!r}")
        notes.questions.clear()
        notes.lost.clear()
        with watching(notes.lost):
            launch = case.make(dict(given))
        grid = [as_polynomial(n) for n in whole(launch.grid)]
        known: dict[Argument, Region] = {}
        args = [passed(arg, arch, f"argument {number}", known) for number, arg in enumerate(launch.args)]
    if notes.lost:
        raise MfmasimError(
            f"{case.name}: {notes.lost[0]}; what the function makes of it is not seen (arrays may be filled by a "
            "function without arguments, and `mfmasim.verify.arguments.number` keeps a size)"
        )
    block = tuple(_only(case, "the workgroup's size", n) for n in whole(launch.block))
    shared = _only(case, "the LDS of a launch", launch.shared_bytes)
    seen = (tuple(n.key for n in grid), block, shared, tuple(keys_of(args)))
    return _Way(given, grid, block, shared, args, notes, seen, fills_arrays(launch))


def _refuses(case: Case, given: Mapping[str, Traced]) -> bool:
    """Whether a function refuses sizes before it converts one of them to a plain number."""
    with noting(strict=True) as notes:
        try:
            with watching(notes.lost):
                case.make(dict(given))
        except (Rewrite, MfmasimError, ArithmeticError) as stop:
            return isinstance(stop, MfmasimError) and not notes.lost
    return False


def _opened(case: Case, whole: str) -> Case:
    """A case whose floating-point parameters are open where its whole contract names them."""
    named = {n for n in names_in(whole) if isinstance(case.parameters[n], float) and "{" + n + "}" not in case.kernel}
    return replace(case, parameters={**case.parameters, **{n: Factor(case.parameters[n]) for n in named}})


def _is_size(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _strides(case: Case) -> list[str]:
    """Parameters of value 0 that the function passes as strides of matrices."""
    found = []
    for name, value in case.parameters.items():
        for probe in PROBES if _is_size(value) and value == 0 else ():
            try:
                launch = case.make({name: probe})
            except MfmasimError:  # shorter than a line
                continue
            if any(isinstance(t, Tensor) and t.ld == probe for t in launch.tensors.values()):
                found.append(name)
            break
    return found


def _parameters(
    example: Mapping[str, int], written: dict[str, tuple[int, int]], moduli: Mapping[str, int]
) -> dict[str, Traced]:
    """Each parameter with its example and its polynomial: g k, or g k - r with 0 <= r < g."""
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


def _joined(written: tuple[int, int], modulus: int) -> tuple[int, int]:
    """Factor of a parameter that is a multiple of `written` and has to be a multiple of `modulus`."""
    factor, rest = written
    if factor <= 1 or modulus % factor == 0:
        return (modulus, 0) if modulus > 1 else (factor, rest)
    if factor % modulus:
        raise MfmasimError(f"a parameter is a multiple of {modulus} and divided by {factor}")
    return factor, 1 if factor > modulus else 0


def _stride_multiples(case: Case, arch: Arch, strides: list[str]) -> dict[str, int]:
    """The divisor of each stride that aligns every line as its matrix requires."""
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
    """A number that must not depend on any parameter."""
    if not as_polynomial(value).is_constant:
        raise MfmasimError(f"{case.name}: {what} is {as_polynomial(value)}, which is not followed")
    return int(value)
