"""Declared sources: elements of an input, or sums of a product, from which an output is made."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mfmasim.errors import MfmasimError
from mfmasim.verify.arrays import Array
from mfmasim.verify.expression import Expression

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from mfmasim.arrays import I64, Flags


PRODUCT = "the product"
"""Name of the sums of a product of matrices among the inputs."""
NONE = -1
"""An output element without a source, or a place of a set that is not used."""
NUMBERS, RAISED = (1.0, -1.0, 1.5, -1.5), (1.0, 6.0)
"""What inputs hold while elements are followed: exact in every format down to FP4, of one binade, so that a scale that
follows from a block's largest magnitude is the same for all; and what raises such a magnitude."""


@dataclass(frozen=True, eq=False)
class Source:
    """Sources of the elements of one output. Use `ComesFrom` or `DependsOn` to make one."""

    output: Array
    input: Array | Expression
    """A product only until the launch is named, which puts the array of its sums in its place."""
    at: Callable[..., Any] | None
    sets: bool
    """Whether an output element depends on a set of elements, or comes from one."""
    parts: int = 1
    input_parts: int = 1
    values: tuple[int, ...] = ()

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the output's elements: with an axis for the parts of a unit where there are several."""
        return (*self.output.shape, self.parts) if self.parts > 1 else self.output.shape

    @property
    def given(self) -> Array:
        """The input, of a launch that is named."""
        assert isinstance(self.input, Array)
        return self.input

    @property
    def input_shape(self) -> tuple[int, ...]:
        """Shape of the input's elements."""
        return (*self.input.shape, self.input_parts) if self.input_parts > 1 else self.input.shape

    @property
    def codes(self) -> NDArray[np.uint64]:
        """Codes of the input's elements while they are followed.

        Raises:
            MfmasimError: the elements are parts of a unit, and their codes are not declared.
        """
        if self.values:
            return np.array(self.values, np.uint64)
        if self.input_parts > 1:
            raise MfmasimError(
                f"sources: {self.input_parts} elements to a unit have no number format; give codes, values=[...]"
            )
        numbers, fmt = np.array(RAISED if self.sets else NUMBERS), self.given.number_format
        if fmt is None:
            return np.array([1, 6] if self.sets else [1, 2, 3, 4], np.uint64)
        if fmt.special == "scale":
            numbers = np.array([1.0, 4.0] if self.sets else [1.0, 2.0, 4.0, 8.0])
        return np.asarray(fmt.encode(numbers)).astype(np.uint64)

    def places(self) -> I64:
        """Number of the input's element that each output element needs, int64 of `shape`; sets have one more axis.

        Raises:
            MfmasimError: the function fails, or gives elements that the input does not have.
        """
        sizes = self.input_shape
        if self.at is None:
            return self._same(sizes)
        grid = np.indices(self.shape, np.int64)
        if self.sets:
            grid = grid[..., None]
        try:
            found = self.at(*grid)
            index = [np.asarray(axis) for axis in (found if isinstance(found, tuple | list) else (found,))]
            index = list(np.broadcast_arrays(*index, *([] if self.sets else [grid[0]])))[: len(index)]
        except Exception as error:  # a user's function may fail in any way
            raise MfmasimError(f"sources: the function fails: {type(error).__name__}: {error}") from error
        if len(index) != len(sizes) or any(axis.dtype.kind not in "iu" for axis in index):
            raise MfmasimError(f"sources: {len(sizes)} arrays of integers are expected, one for each axis of the input")
        lead = index[0].shape[:-1] if self.sets else index[0].shape
        if lead != self.shape:
            raise MfmasimError(f"sources: indices have shape {index[0].shape}, the output has {self.shape}")
        used = np.logical_and.reduce([axis >= 0 for axis in index])
        for axis, size in zip(index, sizes, strict=True):
            if (used & (axis >= size)).any():
                worst = int(axis[used].max())
                raise MfmasimError(f"sources: index {worst} of an axis of {size}; a negative index means no source")
        safe = [np.where(used, axis, 0) for axis in index]
        return np.where(used, np.ravel_multi_index(safe, sizes), NONE).astype(np.int64)

    def used(self) -> Flags:
        """Which elements of the input some output comes from."""
        found = np.zeros(int(np.prod(self.input_shape)), np.bool_)
        places = self.places()
        found[places[places >= 0]] = True
        return found.reshape(self.input_shape)

    def _same(self, sizes: tuple[int, ...]) -> I64:
        """Without a function: the element at the same place, or every element."""
        count = int(np.prod(sizes))
        if self.sets:
            return np.broadcast_to(np.arange(count), (*self.shape, count))
        if sizes != self.shape:
            raise MfmasimError(
                f"sources: the output has shape {self.shape}, the input {sizes}; say which comes from which"
            )
        return np.arange(count).reshape(sizes)


def product_of(product: Expression) -> Array:
    """The sums of a product as an array: f32, whatever format the matrix instruction has.

    Args:
        product: such as ``a @ b``.
    """
    return Array("in", "f32", product.shape, name=PRODUCT)


def ComesFrom(
    output: Array,
    input: Array | Expression,  # noqa: A002
    at: Callable[..., Any] | None = None,
    *,
    parts: int = 1,
    input_parts: int = 1,
    values: Sequence[int] = (),
) -> Source:
    """Each element of an output is one element of an input, moved, and converted in any way that keeps values distinct.

    Args:
        output: `Out` or `InOut`.
        input: `In` or `InOut`; or a product of the matrices, ``a @ b``, whose elements are the sums of matrix
            instructions.
        at: takes one index array for each axis of the output (and one for the part), gives one for each of the input; a
            negative index means that the element has no source and keeps what it held. None: the same place.
        parts: elements in each unit of the output, the first in the low bits: 2 where a byte holds two of 4 bits.
        input_parts: the same of the input.
        values: codes that elements of the input hold while they are followed, 2, 4, 8, ... of them; by default 1, -1,
            1.5 and -1.5 in the input's format.
    """
    return Source(output, input, at, sets=False, parts=parts, input_parts=input_parts, values=tuple(values))


def DependsOn(
    output: Array,
    input: Array | Expression,  # noqa: A002
    at: Callable[..., Any] | None = None,
    *,
    parts: int = 1,
    input_parts: int = 1,
    values: Sequence[int] = (),
) -> Source:
    """Each element of an output depends on exactly a set of elements of an input: a largest magnitude, a scale, a sum.

    Args:
        output: as for `ComesFrom`.
        input: as for `ComesFrom`.
        at: index arrays have one more axis, of length 1; what it gives has the set's elements on that axis, a negative
            index where a set has fewer. None: every element of the input.
        parts: as for `ComesFrom`.
        input_parts: as for `ComesFrom`.
        values: a code, and one that changes the output when any element of the set has it, whatever the others hold;
            by default 1 and 6 in the input's format.
    """
    return Source(output, input, at, sets=True, parts=parts, input_parts=input_parts, values=tuple(values))


def check_declared(sources: object, arrays: Sequence[Array], where: str, matrices: bool = False) -> None:
    """Check the sources that a case declares.

    Args:
        sources: the case function's sources.
        arrays: the arrays among the arguments.
        where: the case, for messages.
        matrices: whether there are matrices among the arguments, whose product may be an input.

    Raises:
        MfmasimError: an object is no source, or an array is not among the arguments.
    """
    if not isinstance(sources, list | tuple) or not all(isinstance(source, Source) for source in sources):
        raise MfmasimError(f"{where}: sources has to be a list of ComesFrom(...) and DependsOn(...)")
    for source in sources:
        if isinstance(source.input, Expression) and not matrices:
            raise MfmasimError(f"{where}: sources names a product, and args has no matrices A and B")
        for name, array, may in (("output", source.output, "writes"), ("input", source.input, "reads")):
            if isinstance(array, Expression):
                continue
            if array not in arrays:
                raise MfmasimError(f"{where}: sources names an {name} that is not among args")
            if not getattr(array, may):
                raise MfmasimError(f"{where}: sources names as {name} an array that the kernel never {may}")
        count = len(source.values)
        if count and (count != 2 if source.sets else count < 2 or count & (count - 1)):
            wanted = "2" if source.sets else "2, 4, 8, ..."
            raise MfmasimError(f"{where}: sources has {count} values, {wanted} are expected")
