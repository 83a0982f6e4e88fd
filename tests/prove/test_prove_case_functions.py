"""What a case's function may use of a size: what could tell it from a plain number gives `unknown`, with its line."""

from __future__ import annotations

import functools
import math
import operator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pytest

from mfmasim.architectures import arch
from mfmasim.errors import MfmasimError
from mfmasim.prove.contract import contract_of
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
