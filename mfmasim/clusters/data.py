"""Results and orders as data: msgpack of plain values, arrays, and the fields of this package's own classes.

A pickle names what is called when it is read; here nothing is. A class of the package is named, an object of it is made
without its constructor, and gets its fields. Other classes, functions of other modules and arrays of objects are
refused, when they are written and when they are read. What is read was still written by someone: a file that lies about
results is not recognised.
"""

from __future__ import annotations

import builtins
import enum
import functools
import importlib
import types
from collections import Counter
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

from mfmasim.errors import MfmasimError

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["DamagedError", "NotDataError", "decode", "encode", "is_data"]

PACKAGE = "mfmasim."
LARGEST = 1 << 31
"""Bytes of one value."""
REFUSED = ("mfmasim.__main__", "mfmasim.hiprt.__main__")
KINDS = "biufcmMSUV"
"""Kinds of NumPy's types that hold no objects."""

DAMAGES = (
    ArithmeticError, AssertionError, AttributeError, ImportError, LookupError, MfmasimError, RecursionError, TypeError,
    ValueError,
)  # fmt: skip
"""What reading bytes that are no data may raise."""


class NotDataError(TypeError):
    """A value that is not written as data."""


class DamagedError(ValueError):
    """Bytes that are not data, or not of this version."""


def encode(value: Any, text: Callable[[str], str] | None = None) -> bytes:
    """A value as bytes, which depend on the value alone where it has no sets.

    Args:
        value: anything that is data.
        text: applied to every string and path.

    Raises:
        NotDataError: a part of it is not.
    """
    import msgpack

    try:
        packed: bytes = msgpack.packb(_Writer(text).pack(value), use_bin_type=True, unicode_errors="surrogatepass")
    except (RecursionError, ValueError, OverflowError) as error:
        raise NotDataError(f"{type(value).__name__}: {error}") from None
    return packed


def decode(data: bytes) -> Any:
    """The value of some bytes.

    Raises:
        DamagedError: they are not data.
    """
    import msgpack

    try:
        return _Reader().unpack(
            msgpack.unpackb(data, raw=False, strict_map_key=False, unicode_errors="surrogatepass", use_list=True)
        )
    except DamagedError:
        raise
    except (msgpack.UnpackException, *DAMAGES) as error:
        raise DamagedError(f"{type(error).__name__}: {str(error)[:80]}") from None


def is_data(value: Any) -> bool:
    """Whether a value can be written."""
    try:
        encode(value)
    except NotDataError:
        return False
    return True


@functools.cache
def _named(name: str) -> Any:
    """The class or function of the package that a name stands for.

    Raises:
        DamagedError: it is none.
    """
    module, _, path = name.partition(":")
    if not module.startswith(PACKAGE) or module in REFUSED:
        raise DamagedError(f"{name}: not of this package")
    found: Any = importlib.import_module(module)
    for part in path.split("."):
        found = vars(found)[part]
    if not isinstance(found, type | types.FunctionType) or found.__module__ != module:
        raise DamagedError(f"{name}: neither a class nor a function")
    return found


def _name(thing: Any) -> str:
    """Name of a class or a function.

    Raises:
        NotDataError: it is not of this package.
    """
    name = f"{thing.__module__}:{thing.__qualname__}"
    try:
        same = _named(name) is thing
    except (DamagedError, ImportError, LookupError, AttributeError):
        same = False
    if not same:
        raise NotDataError(f"{name} is not of this package")
    return name


def _is_plain(cls: type) -> bool:
    """Whether objects of a class are nothing but their fields."""
    return _attribute(cls, "__new__") is vars(object)["__new__"] and _attribute(cls, "__del__") is None


def _remakes(cls: type) -> bool:
    """Whether a class says itself of which arguments its constructor makes an equal object."""
    return _attribute(cls, "__reduce__") not in (vars(object)["__reduce__"], vars(BaseException)["__reduce__"])


class _Writer:
    """Lists with a sign in front stand for everything that msgpack has not."""

    def __init__(self, text: Callable[[str], str] | None) -> None:
        self.text = text or (lambda text: text)
        self.numbers: dict[int, int] = {}
        self.kept: list[Any] = []
        """So that no identity is used twice."""

    def known(self, value: Any) -> None:
        self.numbers[id(value)] = len(self.kept)
        self.kept.append(value)

    def pack(self, value: Any) -> Any:
        kind = type(value)
        if value is None or kind in (bool, float, bytes):
            return value
        if kind is str:
            return self.text(value)
        if kind is int:
            return value if -(1 << 63) <= value < 1 << 64 else ["int", str(value)]
        number = self.numbers.get(id(value))
        if number is not None:
            return ["@", number]
        if kind in (list, dict, set, Counter):
            self.known(value)
            if kind in (dict, Counter):
                return [kind.__name__, *(self.pack(part) for pair in value.items() for part in pair)]
            return [kind.__name__, *map(self.pack, value)]
        if isinstance(value, type | types.FunctionType):
            return ["name", _name(value)]
        packed = self._object(value, kind)
        if id(value) not in self.numbers:
            self.known(value)
        return packed

    def _object(self, value: Any, kind: type) -> list[Any]:
        import numpy as np

        if kind in (tuple, frozenset):
            return [kind.__name__, *map(self.pack, value)]
        if isinstance(value, PurePath):
            return ["path", self.text(str(value))]
        if isinstance(value, np.ndarray | np.generic):
            return self._array(value)
        if isinstance(value, np.dtype):
            return ["dtype", self._dtype(value)]
        if isinstance(value, types.MethodType):
            return ["method", self.pack(value.__self__), value.__name__]
        if isinstance(value, enum.Enum):
            return ["enum", _name(kind), value.name]
        if isinstance(value, BaseException) and not (kind.__module__.startswith(PACKAGE) and _remakes(kind)):
            return self._error(value)
        name = _name(kind)
        if hasattr(kind, "_fields") and issubclass(kind, tuple):
            return ["fields", name, *map(self.pack, value)]
        if _remakes(kind):
            made = value.__reduce__()
            if made[0] is not kind or len(made) != 2:
                raise NotDataError(f"{name} is made by something else")
            return ["made", name, *map(self.pack, made[1])]
        if not _is_plain(kind):
            raise NotDataError(f"{name} is more than its fields")
        self.known(value)
        return ["object", name, self.pack(_state(value))]

    def _array(self, value: Any) -> list[Any]:
        import numpy as np

        scalar, array = isinstance(value, np.generic), np.asarray(value)
        data = np.ascontiguousarray(array).tobytes()
        return ["scalar" if scalar else "array", self._dtype(array.dtype), list(array.shape), data]

    def _dtype(self, dtype: Any) -> Any:
        import numpy as np

        if dtype.hasobject or dtype.kind not in KINDS:
            raise NotDataError(f"an array of {dtype}")
        if dtype.fields is not None:
            return [[*map(str, one[:2]), *map(list, one[2:])] for one in dtype.descr]
        return dtype.str if np.dtype(dtype.str) == dtype else dtype.name

    def _error(self, error: BaseException) -> list[Any]:
        """An error of this package or of Python; of another one, the nearest that it is, with its name in the text."""
        kind = type(error)
        for known in kind.__mro__:
            if known.__module__ == "builtins" or known.__module__.startswith(PACKAGE):
                break
        words = error.args if known is kind and is_data(error.args) else (f"{error}",)
        if known is not kind:
            words = (f"{kind.__name__}: {error}",)
        name = known.__name__ if known.__module__ == "builtins" else _name(known)
        notes = getattr(error, "__notes__", [])
        return ["error", name, self.pack(tuple(words)), self.pack([str(note) for note in notes])]


def _state(value: Any) -> Any:
    """Fields of an object, without what is computed when it is asked for."""
    state = value.__getstate__()
    if not isinstance(state, dict):
        return state
    computed = functools.cached_property
    return {name: part for name, part in state.items() if not isinstance(_attribute(type(value), name), computed)}


def _attribute(kind: type, name: str) -> Any:
    """What a class has under a name, as it is written there."""
    return next((vars(one)[name] for one in kind.__mro__ if name in vars(one)), None)


class _Reader:
    def __init__(self) -> None:
        self.seen: list[Any] = []

    def keep(self, value: Any) -> Any:
        self.seen.append(value)
        return value

    def unpack(self, packed: Any) -> Any:
        if not isinstance(packed, list):
            if isinstance(packed, dict):
                raise DamagedError("a map")
            return packed
        sign, *rest = packed
        read = getattr(self, f"_{sign}", None) if isinstance(sign, str) and sign in SIGNS else None
        if sign == "@":
            return self.seen[_index(*rest)]
        if read is None:
            raise DamagedError(f"{str(sign)[:20]!r} stands for nothing")
        return read(rest)

    def _int(self, rest: list[Any]) -> int:
        return int(rest[0])

    def _list(self, rest: list[Any]) -> Any:
        made = self.keep([])
        made.extend(map(self.unpack, rest))
        return made

    def _set(self, rest: list[Any]) -> Any:
        made = self.keep(set())
        made.update(map(self.unpack, rest))
        return made

    def _dict(self, rest: list[Any]) -> Any:
        return self._pairs(self.keep({}), rest)

    def _Counter(self, rest: list[Any]) -> Any:
        return self._pairs(self.keep(Counter()), rest)

    def _pairs(self, made: Any, rest: list[Any]) -> Any:
        for key, value in zip(rest[::2], rest[1::2], strict=True):
            known = self.unpack(key)  # in the order in which they were written
            made[known] = self.unpack(value)
        return made

    def _tuple(self, rest: list[Any]) -> Any:
        return self.keep(tuple(map(self.unpack, rest)))

    def _frozenset(self, rest: list[Any]) -> Any:
        return self.keep(frozenset(map(self.unpack, rest)))

    def _path(self, rest: list[Any]) -> Any:
        return self.keep(Path(rest[0]))

    def _name(self, rest: list[Any]) -> Any:
        return _named(*rest)

    def _enum(self, rest: list[Any]) -> Any:
        return self.keep(_class(rest[0], enum.Enum)[rest[1]])

    def _fields(self, rest: list[Any]) -> Any:
        made = tuple(map(self.unpack, rest[1:]))
        return self.keep(_class(rest[0], tuple)._make(made))

    def _made(self, rest: list[Any]) -> Any:
        kind = _class(rest[0], object)
        if not _remakes(kind):
            raise DamagedError(f"{rest[0]} has no such arguments")
        return self.keep(kind(*map(self.unpack, rest[1:])))

    def _object(self, rest: list[Any]) -> Any:
        kind = _class(rest[0], object)
        if not _is_plain(kind) or issubclass(kind, BaseException) or _remakes(kind):
            raise DamagedError(f"{rest[0]} is more than its fields")
        made = self.keep(object.__new__(kind))
        state = self.unpack(rest[1])
        if hasattr(kind, "__setstate__"):
            made.__setstate__(state)
            return made
        for fields in state if isinstance(state, tuple) else (state,):
            for name, value in (fields or {}).items():
                if name.startswith("__"):
                    raise DamagedError(f"{rest[0]} has no field {name}")
                object.__setattr__(made, name, value)
        return made

    def _method(self, rest: list[Any]) -> Any:
        owner, name = self.unpack(rest[0]), rest[1]
        _name(type(owner))
        if name.startswith("_") or not isinstance(_attribute(type(owner), name), types.FunctionType):
            raise DamagedError(f"{name} is no method")
        return self.keep(getattr(owner, name))

    def _dtype(self, rest: list[Any]) -> Any:
        return self.keep(_dtype(rest[0]))

    def _array(self, rest: list[Any]) -> Any:
        import numpy as np

        dtype, shape, data = _dtype(rest[0]), tuple(rest[1]), rest[2]
        array: Any = np.ndarray(shape, dtype, bytearray(data))  # claims no memory beyond the bytes that are there
        if array.nbytes != len(data):
            raise DamagedError("an array of another size")
        return self.keep(array)

    def _scalar(self, rest: list[Any]) -> Any:
        import numpy as np

        return self.keep(np.frombuffer(rest[2], _dtype(rest[0]))[0])

    def _error(self, rest: list[Any]) -> Any:
        name, words, notes = rest[0], self.unpack(rest[1]), self.unpack(rest[2])
        kind = _class(name, Exception) if ":" in name else getattr(builtins, name)
        if not isinstance(kind, type) or not issubclass(kind, Exception):
            raise DamagedError(f"{name} is no error")
        made = kind.__new__(kind, *words)  # its text is among its arguments
        for note in notes:
            made.add_note(note)
        return self.keep(made)


SIGNS = frozenset(name[1:] for name in vars(_Reader) if name.startswith("_") and not name.startswith("__")) - {"pairs"}


def _index(number: Any) -> int:
    if type(number) is not int or number < 0:
        raise DamagedError("a number of no value")
    return number


def _class(name: str, base: type) -> Any:
    found = _named(name)
    if not isinstance(found, type) or not issubclass(found, base):
        raise DamagedError(f"{name} is no {base.__name__}")
    return found


def _dtype(described: Any) -> Any:
    import ml_dtypes
    import numpy as np

    if isinstance(described, list):
        return np.dtype([(one[0], one[1], *map(tuple, one[2:])) for one in described])
    known = getattr(ml_dtypes, described, None) if isinstance(described, str) else None
    dtype = np.dtype(known or described)
    if dtype.hasobject or dtype.kind not in KINDS:
        raise DamagedError(f"an array of {described}")
    return dtype
