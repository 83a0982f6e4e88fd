"""Symbolic results: ``alpha * (a @ b) + beta * c`` is written once, computed exactly and rounded once."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from mfmasim.errors import MfmasimError


class Expression:
    """A matrix expression over role-tagged arguments."""

    shape: tuple[int, int]

    @property
    def operands(self) -> tuple[Expression, ...]:
        """The operands of the expression; empty for an argument."""
        return ()

    @property
    def depth(self) -> int:
        """Most terms of an element's sum."""
        return 1

    def parts(self) -> Iterator[Expression]:
        """The expressions this one is made of, itself included."""
        yield self
        for operand in self.operands:
            yield from operand.parts()

    def uses(self, matrix: Expression) -> bool:
        """Whether the expression depends on a matrix, with a factor other than 0."""
        return self is matrix or any(operand.uses(matrix) for operand in self.operands)

    def __matmul__(self, other: object) -> Expression:
        """Matrix product."""
        if not isinstance(other, Expression):
            return NotImplemented
        if self.shape[1] != other.shape[0]:
            raise MfmasimError(f"cannot multiply {self.shape} by {other.shape}: the inner sizes differ")
        return MatMul(self, other)

    def __mul__(self, other: object) -> Expression:
        """Product with a number, or element-wise with block scales: ``a * scale_a``."""
        if isinstance(other, int | float):
            return Times(float(other), self)
        if isinstance(other, Expression):
            return Scaled(self, other)
        return NotImplemented

    def __rmul__(self, other: object) -> Expression:
        """Product with a number."""
        return Times(float(other), self) if isinstance(other, int | float) else NotImplemented

    def __neg__(self) -> Expression:
        """Negative."""
        return Times(-1.0, self)

    def __sub__(self, other: object) -> Expression:
        """Difference."""
        return self + (-other) if isinstance(other, Expression) else NotImplemented

    def __add__(self, other: object) -> Expression:
        """Sum."""
        if not isinstance(other, Expression):
            return NotImplemented
        if self.shape != other.shape:
            raise MfmasimError(f"cannot add {self.shape} and {other.shape}")
        return Sum(self, other)


@dataclass(frozen=True, eq=False)
class MatMul(Expression):
    """``left @ right``."""

    left: Expression
    right: Expression

    @property
    def operands(self) -> tuple[Expression, ...]:
        """Both factors."""
        return self.left, self.right

    @property
    def depth(self) -> int:
        """Columns of the left factor."""
        return self.left.shape[1]

    @property
    def shape(self) -> tuple[int, int]:  # type: ignore[override]
        """Rows and columns."""
        return self.left.shape[0], self.right.shape[1]


@dataclass(frozen=True, eq=False)
class Scaled(Expression):
    """A matrix whose blocks are multiplied by scales; a scale covers as many elements as the shapes say."""

    matrix: Expression
    scale: Expression

    def __post_init__(self) -> None:
        """Check that scales divide the matrix into equal blocks."""
        for size, count in zip(self.matrix.shape, self.scale.shape, strict=True):
            if size % count:
                raise MfmasimError(f"scales {self.scale.shape} do not divide a matrix {self.matrix.shape} evenly")

    @property
    def operands(self) -> tuple[Expression, ...]:
        """The matrix and its scales."""
        return self.matrix, self.scale

    @property
    def shape(self) -> tuple[int, int]:  # type: ignore[override]
        """Rows and columns."""
        return self.matrix.shape


@dataclass(frozen=True, eq=False)
class Sparse(Expression):
    """A of which two of every four elements along K are kept: their values, and their positions in the four."""

    matrix: Expression
    index: Expression

    def __post_init__(self) -> None:
        """Check that each kept element has a position, and that pairs are whole."""
        if self.matrix.shape != self.index.shape:
            raise MfmasimError(f"kept elements {self.matrix.shape} need an index of that shape, not {self.index.shape}")
        if self.matrix.shape[1] % 2:
            raise MfmasimError(f"kept elements {self.matrix.shape} are pairs along K: an even number is expected")

    @property
    def operands(self) -> tuple[Expression, ...]:
        """The kept elements and their index."""
        return self.matrix, self.index

    @property
    def shape(self) -> tuple[int, int]:  # type: ignore[override]
        """Rows and columns of the whole matrix."""
        return self.matrix.shape[0], 2 * self.matrix.shape[1]


@dataclass(frozen=True, eq=False)
class Times(Expression):
    """A number times a matrix."""

    factor: float
    matrix: Expression

    def __post_init__(self) -> None:
        """Refuse a factor that is no number."""
        if not math.isfinite(self.factor):
            raise MfmasimError(f"factor {self.factor} of a matrix is not a finite number")

    @property
    def operands(self) -> tuple[Expression, ...]:
        """The matrix."""
        return (self.matrix,)

    @property
    def depth(self) -> int:
        """That of the matrix."""
        return self.matrix.depth

    def uses(self, matrix: Expression) -> bool:
        """With the factor 0, none."""
        return self.factor != 0 and super().uses(matrix)

    @property
    def shape(self) -> tuple[int, int]:  # type: ignore[override]
        """Rows and columns."""
        return self.matrix.shape


@dataclass(frozen=True, eq=False)
class Sum(Expression):
    """``left + right``."""

    left: Expression
    right: Expression

    @property
    def operands(self) -> tuple[Expression, ...]:
        """Both terms."""
        return self.left, self.right

    @property
    def depth(self) -> int:
        """That of both terms together."""
        return self.left.depth + self.right.depth

    @property
    def shape(self) -> tuple[int, int]:  # type: ignore[override]
        """Rows and columns."""
        return self.left.shape
