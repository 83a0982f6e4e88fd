"""Floating-point parameters that a contract names: they are open, so that no launch may depend on them.

A `Factor` is multiplied and added like a number in the expression of the expected output, and passed to the kernel as
plain data. Code that reads its value gets the case's value; the read is recorded with its place.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

from mfmasim.prove.integers import lose

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Factor"]


class Factor:
    """An open float parameter of the case."""

    __slots__ = ("_number",)

    def __init__(self, number: float) -> None:
        """The case's value."""
        self._number = number

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        """The class for `isinstance`."""
        return float

    def _lost(self, *_: Any) -> float:
        lose("the value of a floating-point parameter")
        return self._number

    def _with(self, other: Any, how: Callable[[Any, Any], Any], *, swapped: bool = False) -> Any:
        """The result of an operation: a factor for a number, else the result of the package's expression."""
        inner = other._number if type(other) is Factor else other  # noqa: SLF001 - of this class
        sides = (inner, self._number) if swapped else (self._number, inner)
        if type(other) in (Factor, int, float):
            return Factor(how(*sides))
        if type(other).__module__.startswith("mfmasim.verify."):
            return how(*sides)
        self._lost()
        return how(*sides)

    def __add__(self, other: Any) -> Any:
        return self._with(other, operator.add)

    def __radd__(self, other: Any) -> Any:
        return self._with(other, operator.add, swapped=True)

    def __sub__(self, other: Any) -> Any:
        return self._with(other, operator.sub)

    def __rsub__(self, other: Any) -> Any:
        return self._with(other, operator.sub, swapped=True)

    def __mul__(self, other: Any) -> Any:
        return self._with(other, operator.mul)

    def __rmul__(self, other: Any) -> Any:
        return self._with(other, operator.mul, swapped=True)

    def __neg__(self) -> Factor:
        return Factor(-self._number)

    def __int__(self) -> int:
        return int(self._lost())

    __trunc__ = __floor__ = __ceil__ = __int__

    def __float__(self) -> float:
        return self._lost()

    def __bool__(self) -> bool:
        return bool(self._lost())

    def __hash__(self) -> int:
        return hash(self._lost())

    def __str__(self) -> str:
        return str(self._lost())

    __repr__ = __str__

    def __format__(self, spec: str) -> str:
        return format(self._lost(), spec)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        import numpy as np

        return np.array(self._lost(), dtype)

    def __eq__(self, other: object) -> bool:
        return bool(self._lost() == other)

    def __ne__(self, other: object) -> bool:
        return bool(self._lost() != other)

    def __lt__(self, other: Any) -> bool:
        return bool(self._lost() < other)

    def __le__(self, other: Any) -> bool:
        return bool(self._lost() <= other)

    def __gt__(self, other: Any) -> bool:
        return bool(self._lost() > other)

    def __ge__(self, other: Any) -> bool:
        return bool(self._lost() >= other)

    def _unfollowed(self, *_: Any) -> Any:
        """An operation whose result is a plain number.

        Raises:
            ArithmeticError: always; the operation is recorded, too.
        """
        self._lost()
        raise ArithmeticError("a case computes what is not followed of a floating-point parameter")

    __truediv__ = __rtruediv__ = __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = __pow__ = __rpow__ = _unfollowed
    __divmod__ = __rdivmod__ = __abs__ = __round__ = __complex__ = _unfollowed

    def __getattr__(self, name: str) -> Any:
        """Any other attribute of a float, such as ``is_integer``: not followed."""
        if name.startswith("_") or not hasattr(float, name):
            raise AttributeError(name)
        return self._unfollowed()
