"""What a case's function may use of a size: what could tell it from a plain number gives `unknown`, with its line."""

from __future__ import annotations

import functools
import math
import operator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pytest

from mfmasim.architectures import arch
from mfmasim.errors import MfmasimError
from mfmasim.prove.contract import contract_of, contracts_of
from mfmasim.verify import Case, InOut

if TYPE_CHECKING:
    from collections.abc import Callable


@functools.singledispatch
def by_class(n: object) -> bool:
    return False


@by_class.register
def _(n: int) -> bool:
    return n > 700


class Listens:
    """Has a say in comparisons."""

    def __eq__(self, other: object) -> bool:
        return type(other) is int and other == 777

    def __hash__(self) -> int:
        return 0


class Kept(NamedTuple):
    """Holds what looks at a class."""

    look: Any = type


def caught(n: int) -> bool:
    try:
        return bool(pow(2, n, 5) and n > 700)
    except TypeError:
        return False


def matched(n: Any) -> bool:
    match n:
        case object(polynomial=_):
            return False
    return bool(n > 700)


def default(n: int, look: Any = type) -> bool:
    return look(n) is int and n > 700


def imported(n: int) -> bool:
    import builtins

    return builtins.type(n) == int and n > 700  # noqa: E721


KEPT = Kept()
LOOKS: list[Callable[[Any], object]] = [
    lambda n: type(n) is int and n > 700,
    lambda n: {int: 777}.get(type(n), 5) == n,
    lambda n: n.__class__ is int and n > 700,
    lambda n: not hasattr(n, "polynomial") and n > 700,
    lambda n: n == getattr(n, "value", 777),
    lambda n: issubclass(n.__class__.__class__(n), int) and n > 700,
    lambda n: list(map(type, [n]))[0] == int and n > 700,  # noqa: E721, RUF015
    lambda n: operator.attrgetter("__class__")(n) == int and n > 700,  # noqa: E721
    lambda n: (n + 0 is n) * n > 700,
    lambda n: "{.__init__}".format(n) > "<m" and n > 700,  # noqa: UP032
    lambda n: KEPT.look(n) == int and n > 700,  # noqa: E721
    lambda n: np.isscalar(n) and n > 700,
    lambda n: np.min_scalar_type(n) == np.uint16 and n > 700,
    by_class,
    lambda n: n == Listens(),
    lambda n: eval("type(n) is int and n > 700", {"n": n}),
    lambda n: object.__subclasses__() and n > 700,
    caught,
    matched,
    default,
    imported,
]


class Pair(NamedTuple):
    """Sizes."""

    rows: int
    columns: int


TILE = {"rows": 64, "kind": int}


def helped(n: int, *, by: int = 64) -> int:
    return -(-n // by)


def math_inside(n: int) -> int:
    import math as m

    return m.prod([n, 2])


@functools.cache
def rounded(by: int) -> int:
    return by & -by


PLAIN: list[Callable[[Any], object]] = [
    lambda n: isinstance(n, int) and n > 700,
    lambda n: max(n, 64) > 700,
    lambda n: Pair(n, 2).rows > 700,
    lambda n: helped(n, by=TILE["rows"]) > 11,
    lambda n: math.prod((n, 2)) > 1400,
    lambda n: functools.partial(helped, by=rounded(64))(n) > 11,
    lambda n: any(x > 700 for x in (n, 3)) and n is not None,
    lambda n: next(x for x in sorted([n, 2]) if x > 2) > 700,
    lambda n: math_inside(n) > 1400,
    lambda n: n == Pair,
]


FACTORS: list[tuple[Callable[[Any], object], str]] = [
    (lambda f: f > 2.5, "the value of a floating-point parameter"),
    (lambda f: int(f) == 3, "the value of a floating-point parameter"),
    (lambda f: math.sqrt(f) > 2, "the value of a floating-point parameter"),
    (lambda f: f // 1 == 3, "floating-point parameter"),
    (lambda f: bool(f) and 0, "the value of a floating-point parameter"),
    (lambda f: type(f) == float and 0, "the class type"),  # noqa: E721
]


def case(asked: Callable[[Any], object]) -> Case:
    """Another grid where `asked` is true."""

    def build(n: int = 100) -> dict[str, Any]:
        grid = 2 if asked(n) else 1
        return {"grid": grid, "block": 64, "args": [InOut("i32", 64), n], "expect": lambda x, _: x}

    return Case("asks", Path(__file__), "k", ("gfx942",), build, {"n": 100}, "n >= 1")


@pytest.mark.parametrize("asked", LOOKS)
def test_what_may_tell_a_size_from_a_plain_number_is_not_followed(asked: Callable[[Any], object]) -> None:
    with pytest.raises(MfmasimError, match=r"\w+\.py:\d+: "):
        contract_of(case(asked), arch("gfx942"))


@pytest.mark.parametrize("asked", PLAIN[:-1])
def test_what_asks_for_values_alone_takes_two_ways(asked: Callable[[Any], object]) -> None:
    with pytest.raises(MfmasimError, match="takes 2 ways"):
        contract_of(case(asked), arch("gfx942"))


def test_a_size_is_no_other_object() -> None:
    assert contract_of(case(PLAIN[-1]), arch("gfx942")).parameters


def other(needs: str, **kept: Any) -> Case:
    """Passes a parameter that is no integer; the grid depends on a text or a truth value."""

    def build(n: int = 100, p: Any = None) -> dict[str, Any]:
        grid = 2 if p == "b" else 1
        return {"grid": grid, "block": 64, "args": [InOut("i32", 64), n], "expect": lambda x, _: x}

    return Case("asks", Path(__file__), "k", ("gfx942",), build, {"n": 100, **kept}, needs)


@pytest.mark.parametrize(("asked", "why"), FACTORS)
def test_no_launch_may_depend_on_an_open_float(asked: Callable[[Any], object], why: str) -> None:
    def build(n: int = 100, f: float = 1.0) -> dict[str, Any]:
        grid = 2 if asked(f * 2 + 1) else 1
        return {"grid": grid, "block": 64, "args": [InOut("i32", 64), n, f], "expect": lambda x, *_: x}

    one = Case("asks", Path(__file__), "k", ("gfx942",), build, {"n": 100, "f": 1.0}, "n >= 1 and f >= 0")
    with pytest.raises(MfmasimError, match=why):
        contract_of(one, arch("gfx942"))


def test_an_open_float_is_data() -> None:
    def build(n: int = 100, f: float = 1.0) -> dict[str, Any]:
        return {"grid": 1, "block": 64, "args": [InOut("i32", 64), n, 2 * f], "expect": lambda x, *_: x}

    one = Case("asks", Path(__file__), "k", ("gfx942",), build, {"n": 100, "f": 1.0}, "n >= 1 and f >= 0")
    assert contract_of(one, arch("gfx942")).args[2] is None


def test_texts_that_a_contract_lists_are_followed_each() -> None:
    found = contracts_of(other("n >= 1 and p in ('a', 'b')", p="a"), arch("gfx942"))
    assert [(one.fixed["p"], str(one.grid[0])) for one in found] == [("a", "1"), ("b", "2")]


@pytest.mark.parametrize(("needs", "p"), [("p == 'a' or n >= 64", "a"), ("n >= 1 and (p or n >= 64)", True)])
def test_what_is_no_number_and_open_is_not_followed(needs: str, p: object) -> None:
    with pytest.raises(MfmasimError, match=r"leaves p=.* open"):
        contracts_of(other(needs, p=p), arch("gfx942"))


@pytest.mark.parametrize(
    ("maker", "reads"),
    [
        (lambda arch, n=1, **others: None, True),
        (lambda arch, **others: others["n"], True),
        (lambda arch, **others: locals(), True),
        (functools.partial(lambda arch, **others: None), True),
        (lambda arch, **others: None, False),
    ],
)
def test_code_that_is_made_of_an_open_size_is_not_followed(maker: Callable[..., Any], reads: bool) -> None:
    one = replace(other("n >= 1"), maker=maker)
    if not reads:
        assert contracts_of(one, arch("gfx942"))
        return
    with pytest.raises(MfmasimError, match="names n, which the function that makes the code may read"):
        contracts_of(one, arch("gfx942"))
