"""Symbolic arrays: what an operation's body receives in place of registers, so that it says what it computes.

A symbolic array stands for values of several waves with all sorts of elements. So a test of the whole array, by which
a body looks for a short way, always fails (`all` is false, `any` is true, the least element is a NaN): the body goes
its general way, which gives every element what the short way gives it, since no element depends on the others. With
`GUARDS` the test holds, and is noted: C tests the lanes of a wave, as the body does. What does depend on others, or has
no meaning for one element, raises `UntraceableError`: the instruction is no part of a region.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextvars import ContextVar
from typing import Any, NoReturn

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from mfmasim.machine.native.loops import LOOPS
from mfmasim.machine.native.nodes import Node, UntraceableError, bitcast, bits_of, cast, constant, made

GUARDS: ContextVar[list[Node] | None] = ContextVar("GUARDS", default=None)
"""What has to hold in every lane for the short way that a body goes; None while bodies go their general way."""
WAVES = 2
"""Waves that a symbolic array shows: more than one, so that no body takes it for a value that all waves share."""
CHOSEN = 977
"""Elements that a boolean index shows: a length that no other array has."""
Shape = tuple[int, ...]


class Family:
    """Arrays that share memory: a write to one changes the others, which are then no longer known."""

    version = 0


class Symbolic(NDArrayOperatorsMixin):
    """An array of unknown values; NumPy's functions of it give nodes."""

    def __init__(self, node: Node, shape: Shape, chosen: Node | None = None, family: Family | None = None) -> None:
        """A value of a shape.

        Args:
            node: what each element is.
            shape: as the body sees it.
            chosen: where a boolean index chose the elements, the index.
            family: arrays whose memory it shares.
        """
        self._node, self.shape, self.chosen = node, shape, chosen
        self.family = family or Family()
        self._version = self.family.version

    @property
    def node(self) -> Node:
        """What each element is."""
        if self._version != self.family.version:
            raise UntraceableError("an array is read whose memory was written by another name")
        return self._node

    def _put(self, node: Node) -> None:
        if self._version != self.family.version:
            raise UntraceableError("an array is written whose memory was written by another name")
        self.family.version += 1
        self._node, self._version = node, self.family.version

    def _same(self, node: Node, shape: Shape) -> Symbolic:
        return Symbolic(node, shape, self.chosen, self.family)

    @property
    def dtype(self) -> np.dtype[Any]:
        """NumPy's type of the elements."""
        return self._node.dtype

    @property
    def ndim(self) -> int:
        """Axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """Elements."""
        return int(np.prod(self.shape))

    def __len__(self) -> int:
        """Length of the first axis."""
        return self.shape[0]

    def view(self, dtype: Any) -> Symbolic:
        """The same bits as another type."""
        return self._same(bitcast(self.node, dtype), self.shape)

    def astype(self, dtype: Any, copy: bool = True) -> Symbolic:  # noqa: ARG002
        """The values as another type."""
        return Symbolic(cast(self.node, dtype), self.shape, self.chosen)

    def copy(self) -> Symbolic:
        """The same values in memory of their own."""
        return Symbolic(self.node, self.shape, self.chosen)

    def reshape(self, *shape: Any) -> Symbolic:
        """The same array; any other shape is no matter of one element."""
        wanted = shape[0] if len(shape) == 1 and isinstance(shape[0], tuple) else shape
        if tuple(wanted) != self.shape:
            raise UntraceableError("reshape")
        return self

    def all(self, axis: object = None) -> bool:
        """Of all sorts of elements some are false."""
        return self._whole(axis, answer=False)

    def any(self, axis: object = None) -> bool:
        """Of all sorts of elements some are true."""
        return self._whole(axis, answer=True)

    def tobytes(self, order: str = "C") -> bytes:
        """Of booleans: some are false and some are true; order A is that of `lane_masks.some`."""
        if GUARDS.get() is not None:
            return b"\1" if self._whole(None, answer=order == "A") else b"\0"
        self._whole(None, answer=True)
        return b"\0\1"

    def _whole(self, axis: object, *, answer: bool) -> bool:
        if axis is not None or self.dtype.kind != "b":
            raise UntraceableError("a reduction")
        guards = GUARDS.get()
        if guards is None:
            return answer
        if self.chosen is not None:
            raise UntraceableError("a test of some elements")
        guards.append(made("invert", self.dtype, self.node) if answer else self.node)
        return not answer

    def __getitem__(self, index: Any) -> Symbolic:
        """A new axis for the lanes, or the elements that booleans choose."""
        if isinstance(index, Symbolic) and index.dtype.kind == "b" and self.chosen is index.chosen is None:
            np.broadcast_shapes(self.shape, index.shape)
            return Symbolic(self.node, (CHOSEN,), index.node)
        if isinstance(index, tuple) and len(index) == 2 and index[0] == slice(None) and self.chosen is None:
            columns = index[1]
            if columns is None and self.ndim == 1:
                return self._same(self.node, (*self.shape, 1))
            if self.ndim == 2 and isinstance(columns, np.ndarray) and columns.shape == self.shape[1:]:
                return _exchanged(self, symbolic(columns))
            if self.ndim == 2 and self.shape[1] == 1 and type(columns) is int and not self.node.lanes:
                return self._same(self.node, self.shape[:1])
        if index is Ellipsis:
            return self
        raise UntraceableError("an index")

    def __setitem__(self, index: Any, value: Any) -> None:
        """Write the elements that booleans choose."""
        if not (isinstance(index, Symbolic) and index.dtype.kind == "b" and index.chosen is self.chosen is None):
            raise UntraceableError("a write to some elements")
        new = symbolic(value)
        if new.shape not in ((), (CHOSEN,)) or (new.shape and new.chosen != index.node):
            raise UntraceableError("a write of other elements than chosen")
        self._put(made("where", self.dtype, index.node, cast(new.node, self.dtype), self.node))

    def _unknown(self, *_: object) -> NoReturn:
        raise UntraceableError("the value of an array decides what is computed")

    __bool__ = __int__ = __index__ = __float__ = __iter__ = __array__ = item = tolist = _unknown

    def __getattr__(self, name: str) -> NoReturn:
        """Anything else that arrays have."""
        if name.startswith("__array_"):
            raise AttributeError(name)
        raise UntraceableError(name)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **rest: Any) -> Any:
        """A ufunc of symbolic arrays."""
        if method == "reduce" and rest == {"axis": None} and self.dtype.kind == "f":
            guards = GUARDS.get()
            if guards is None:
                return self.dtype.type(np.nan)  # the least of all sorts of floats
            guards.append(made("invert", np.bool_, made("isnan", np.bool_, self.node)))
            return self.dtype.type(0)
        out = rest.pop("out", None)
        if method != "__call__" or rest or ufunc.nout != 1:
            raise UntraceableError(f"{ufunc.__name__}.{method}")
        result = _called(ufunc, inputs)
        if out is None or out[0] is None:
            return result
        (target,) = out
        if not isinstance(target, Symbolic) or target.shape != result.shape or target.chosen != result.chosen:
            raise UntraceableError("out")
        target._put(cast(result.node, target.dtype))  # noqa: SLF001
        return target

    def __array_function__(self, function: Any, types: object, args: Any, kwargs: Any) -> Any:
        """A function of NumPy that is no ufunc."""
        known = FUNCTIONS.get(function)
        if known is None:
            raise UntraceableError(function.__name__)
        return known(*args, **kwargs)


def symbolic(value: Any) -> Symbolic:
    """An array or number as a symbolic array; one that differs between lanes becomes a table."""
    if isinstance(value, Symbolic):
        return value
    if isinstance(value, bool | int | float):
        raise UntraceableError("a number without a type")
    array = np.asarray(value)
    if array.dtype.kind not in "buif" or not array.size:
        raise UntraceableError(f"an array of {array.dtype}")
    rows = array.reshape(-1, array.shape[-1] if array.ndim else 1)
    first = [bits_of(one, array.dtype) for one in rows[0]]
    if not all([bits_of(one, array.dtype) for one in row] == first for row in rows[1:]):
        raise UntraceableError("a constant that differs between waves")
    if len({*first}) == 1:
        return Symbolic(made("const", array.dtype, data=(first[0],)), array.shape)
    if array.ndim < 1 or array.shape[-1] not in (32, 64):
        raise UntraceableError("a constant that differs between elements")
    return Symbolic(made("table", array.dtype, data=tuple(first), lanes=True), array.shape)


def _one_choice(arrays: Sequence[Symbolic]) -> Node | None:
    """The index by which arrays that are used together were chosen."""
    found = {array.chosen for array in arrays if array.shape and not (array.node.op == "const" and array.size == 1)}
    if len(found) > 1:
        raise UntraceableError("elements chosen in different ways")
    return next(iter(found), None)


def _called(ufunc: np.ufunc, inputs: Sequence[Any]) -> Symbolic:
    inputs = [np.bool_(x) if type(x) is bool else x for x in inputs]
    kinds: list[Any] = [type(x) if type(x) in (int, float) else symbolic(x).dtype for x in inputs]
    resolved = ufunc.resolve_dtypes((*kinds, None))
    arrays = [
        Symbolic(constant(x, kind), ()) if type(x) in (int, float) else symbolic(x)
        for x, kind in zip(inputs, resolved, strict=False)
    ]
    nodes = [cast(array.node, kind) for array, kind in zip(arrays, resolved, strict=False)]
    if (ufunc.__name__, resolved[0].kind) not in LOOPS or len({*resolved[:-1]}) > 1:
        raise UntraceableError(f"{ufunc.__name__} of {resolved[0]}")
    shape = np.broadcast_shapes(*(array.shape for array in arrays))
    return Symbolic(made(ufunc.__name__, resolved[-1], *nodes), shape, _one_choice(arrays))


def _where(condition: Any, yes: Any, no: Any) -> Symbolic:
    typed = [x for x in (yes, no) if type(x) not in (bool, int, float)]
    kind = np.result_type(*[symbolic(x).dtype for x in typed], *[x for x in (yes, no) if type(x) in (bool, int, float)])
    parts = [symbolic(condition)]
    parts += [Symbolic(constant(x, kind), ()) if type(x) in (bool, int, float) else symbolic(x) for x in (yes, no)]
    test = parts[0].node if parts[0].dtype.kind == "b" else made("not_equal", np.bool_, parts[0].node, zero(parts[0]))
    shape = np.broadcast_shapes(*(part.shape for part in parts))
    chosen = _one_choice(parts)
    return Symbolic(made("where", kind, test, cast(parts[1].node, kind), cast(parts[2].node, kind)), shape, chosen)


def zero(array: Symbolic) -> Node:
    """Zero of an array's type."""
    return constant(0, array.dtype)


def _select(conditions: Sequence[Any], choices: Sequence[Any], default: Any = 0) -> Any:
    """The first choice whose condition holds; numbers without a type are as NumPy takes them."""
    kind = np.result_type(*[x if type(x) in (int, float) else symbolic(x).dtype for x in (*choices, default)])
    out: Any = np.asarray(default, kind) if type(default) in (int, float) else default
    for condition, choice in zip(reversed(conditions), reversed(choices), strict=True):
        out = _where(condition, np.asarray(choice, kind) if type(choice) in (int, float) else choice, out)
    return symbolic(out).astype(kind)


def _exchanged(array: Symbolic, index: Symbolic) -> Symbolic:
    """Values of the lanes that an index names, of which -1 is the last one."""
    node = made("exchange", array.dtype, array.node, index.node) if array.node.lanes else array.node
    return Symbolic(node, (array.shape[0], index.shape[-1]))


def _take_along_axis(array: Any, index: Any, axis: int) -> Symbolic:
    """Values of the lanes that each lane names, or of one lane that is the same for all."""
    values, named = symbolic(array), symbolic(index)
    if axis != 1 or values.ndim != 2 or named.ndim != 2 or values.chosen is not None or named.chosen is not None:
        raise UntraceableError("take_along_axis")
    if named.shape[1] == values.shape[1]:
        return _exchanged(values, named)
    if named.shape[1] != 1 or named.node.lanes:
        raise UntraceableError("take_along_axis of other lanes")
    if not values.node.lanes:
        return Symbolic(values.node, named.shape)
    return Symbolic(Node("pick", values.dtype, (values.node, named.node)), named.shape)


def _argmax(array: Any, axis: int | None = None) -> Symbolic:
    """The lowest lane that EXEC enables, 0 if there is none."""
    if axis != 1 or symbolic(array).node.op != "active":
        raise UntraceableError("argmax")
    return Symbolic(Node("first", np.dtype(np.int64), (array.node,)), array.shape[:1])


def _broadcast_to(array: Any, shape: Any) -> Symbolic:
    shape = (shape,) if isinstance(shape, int) else tuple(shape)
    if np.broadcast_shapes(array.shape, shape) != shape:
        raise UntraceableError("broadcast_to")
    return Symbolic(array.node, shape, array.chosen)


def _broadcast_arrays(*arrays: Any) -> tuple[Symbolic, ...]:
    known = [symbolic(array) for array in arrays]
    shape = np.broadcast_shapes(*(array.shape for array in known))
    return tuple(Symbolic(array.node, shape, _one_choice(known)) for array in known)


def _atleast_1d(array: Symbolic) -> Symbolic:
    return array if array.shape else Symbolic(array.node, (1,))


def _clip(array: Any, low: Any, high: Any) -> Symbolic:
    if symbolic(array).dtype.kind not in "iu":
        raise UntraceableError("clip of floats")
    return np.minimum(np.maximum(array, low), high)  # type: ignore[no-any-return]


FUNCTIONS: dict[Any, Callable[..., Any]] = {
    np.where: _where,
    np.select: _select,
    np.clip: _clip,
    np.broadcast_to: _broadcast_to,
    np.broadcast_arrays: _broadcast_arrays,
    np.atleast_1d: _atleast_1d,
    np.take_along_axis: _take_along_axis,
    np.argmax: _argmax,
    np.shape: lambda array: array.shape,
    np.ndim: lambda array: array.ndim,
}
