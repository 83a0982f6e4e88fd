"""Arguments of a kernel on the command line: values of ``mfmasim run --arg``."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mfmasim.errors import MfmasimError, unknown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mfmasim.codeobject import Parameter
    from mfmasim.kernels import Kernel

LARGEST_BUFFER = 4 << 30
MOST = 4096
"""Elements of a buffer that are printed."""
LINE = 100
UNSET = 0xA5
"""Bytes of a buffer that nothing has written."""
ARGUMENT_HELP = (
    "an argument, in order or as NAME=ARGUMENT: FILE.npy (a buffer), DTYPE:SHAPE (a buffer of undefined contents, such "
    "as f32:32x32), DTYPE:SHAPE=CONTENTS (filled with a number, with 'range' or with 'random'), a number (64, or with "
    "its type: i32=64), or null"
)

_NUMPY = {"f64": "f8", "f32": "f4", "f16": "f2", "i64": "i8", "i32": "i4", "i16": "i2", "i8": "i1", "u64": "u8",
          "u32": "u4", "u16": "u2", "u8": "u1"}  # fmt: skip
_OTHER = {"bf16": "bfloat16", "e4m3fn": "float8_e4m3fn", "e4m3fnuz": "float8_e4m3fnuz", "e5m2": "float8_e5m2",
          "e5m2fnuz": "float8_e5m2fnuz"}  # fmt: skip
_OWN = ("fp8", "bf8")
"""Formats in the flavour of the architecture."""
_NAMED = re.compile(r"([A-Za-z_]\w*)=(.*)", re.DOTALL)
_NUMBER = re.compile(r"[-+]?(0[xX][0-9a-fA-F]+|(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?|inf|nan)")


@dataclass
class Given:
    """Arguments in the kernel's order."""

    values: list[Any]
    names: list[str]
    """Names of the parameters, or their numbers."""
    undefined: list[np.ndarray[Any, Any]] = field(default_factory=list)
    """Buffers whose contents are undefined."""

    def array(self, name: str) -> np.ndarray[Any, Any]:
        """The buffer of a parameter, by its name or number.

        Raises:
            MfmasimError: there is no such buffer.
        """
        buffers = {n: v for n, v in zip(self.names, self.values, strict=True) if isinstance(v, np.ndarray)}
        numbers = {str(k): v for k, v in enumerate(self.values) if isinstance(v, np.ndarray)}
        if name not in buffers and name not in numbers:
            raise unknown("buffer", name, buffers)
        return buffers[name] if name in buffers else numbers[name]

    def shown(self, name: str, array: np.ndarray[Any, Any]) -> str:
        """A buffer as text, a line for each row or part of one; ``--`` for undefined elements that were not written."""
        flat, columns = array.reshape(-1), array.shape[-1] if array.ndim else 1
        unset = np.zeros(flat.size, np.bool_)
        if any(array is one for one in self.undefined):
            unset = (flat.view(np.uint8).reshape(flat.size, -1) == UNSET).all(axis=1)
        whole = flat.dtype.kind in "iu"
        values = zip(flat[:MOST], unset, strict=False)
        texts = ["--" if gone else str(v) if whole else f"{float(v):.6g}" for v, gone in values]
        width = max(map(len, texts), default=1)
        each = max(1, min(columns, 1 << ((LINE // (width + 1)).bit_length() - 1)))
        lines = [f"{name}: {array.dtype} {'x'.join(map(str, array.shape))}"]
        for row in range(0, len(texts), columns):
            for start in range(row, min(row + columns, len(texts)), each):
                place = ", ".join(map(str, np.unravel_index(start, array.shape)))
                part = texts[start : min(start + each, row + columns)]
                lines.append(f"  [{place}] " + " ".join(f"{text:>{width}}" for text in part))
        if flat.size > MOST:
            lines.append(f"  ... and {flat.size - MOST:,} more; --out writes all of them")
        return "\n".join(lines)


def given(texts: Sequence[str], kernel: Kernel) -> Given:
    """Read arguments.

    Args:
        texts: the arguments, in order or by name.
        kernel: the kernel.

    Raises:
        MfmasimError: an argument cannot be read, is unknown, missing, or given twice.
    """
    parameters = kernel.parameters
    names = [parameter.name or str(number) for number, parameter in enumerate(parameters)]
    found: dict[int, tuple[Any, bool]] = {}
    placed = [_place(text, names) for text in texts]
    free = iter([n for n in range(len(names)) if n not in {number for number, _ in placed}])
    for named_as, rest in placed:
        number = next(free, len(parameters)) if named_as is None else named_as
        if number >= len(parameters):
            listed = ", ".join(names) or "none"
            raise MfmasimError(f"{kernel.title} takes {len(names)} arguments ({listed}), {len(texts)} were given")
        if number in found:
            raise MfmasimError(f"argument {number} ({names[number]}) is given twice")
        found[number] = _value(rest, parameters[number], kernel)
    from mfmasim.machine.launch.argument_passing import padding

    left_out = padding(kernel)
    if len(found) == len(names) - len(left_out) and set(found) == set(range(len(found))):
        left_out = frozenset()  # all by position, without padding, which the launch fills in
    missing = [names[n] for n in range(len(names)) if n not in found and n not in left_out]
    if missing and len(found) + len(padding(kernel)) < len(names):
        what = "an argument is" if len(missing) == 1 else f"{len(missing)} arguments are"
        raise MfmasimError(f"{kernel.title}: {what} missing: {', '.join(missing)}; {_example(kernel, parameters)}")
    order = sorted(found)
    values = [found[number][0] for number in order]
    undefined = [value for value, unset in found.values() if unset]
    return Given(values, [names[number] for number in order], undefined)


def _example(kernel: Kernel, parameters: Sequence[Parameter]) -> str:
    """An example of the kernel's arguments on the command line."""
    shown = []
    for parameter, arg in zip(parameters, kernel.args, strict=True):
        kind = f" ({parameter.type.text})" if parameter.type is not None else ""
        shown.append(f"{parameter.name or arg.value_kind}{kind}")
    return f"it takes {', '.join(shown)}; give each by --arg, such as --arg f16:16x16=random or --arg 64"


def _place(text: str, names: Sequence[str]) -> tuple[int | None, str]:
    """Number of the parameter that an argument names, if it names one, and the rest of the text."""
    match = _NAMED.fullmatch(text)
    if match is None or (match[1] in (*_NUMPY, *_OTHER, *_OWN) and match[1] not in names):
        return None, text
    name = match[1]
    if name in names:
        return names.index(name), match[2]
    raise unknown("argument", name, [n for n in names if not n.isdecimal()] or ["DTYPE=NUMBER"], f"in --arg {text}")


def _value(text: str, parameter: Parameter, kernel: Kernel) -> tuple[Any, bool]:
    """An argument's value, and whether it is a buffer of undefined contents."""
    if text == "null":
        return None, False
    if text.endswith(".npy"):
        return _file(text), False
    kind, equals, value = text.partition("=")
    if ":" in kind:
        return _buffer(text, kind, value if equals else None, kernel)
    if equals:
        return _typed(text, kind, value, kernel), False
    if _NUMBER.fullmatch(text):
        whole = not re.search(r"[.n]|(?<!0x)[eE](?![0-9a-fA-F]*$)", text) or text.lower().startswith(("0x", "-0x"))
        try:
            number: Any = int(text, 0) if whole else float(text)
        except ValueError:
            number = float(text)
        if parameter.type is None:
            raise MfmasimError(f"argument {text!r}: its type is not known, say it: i32={text} or f32={text}")
        return number, False
    raise MfmasimError(f"argument {text!r}: expected {ARGUMENT_HELP}")


def _file(text: str) -> Any:
    from mfmasim.archives import parse_array
    from mfmasim.files import read_file

    data = read_file(Path(text), LARGEST_BUFFER)
    try:
        return parse_array(data)
    except ValueError as error:
        raise MfmasimError(f"{text}: {error}") from None


def _typed(text: str, kind: str, value: str, kernel: Kernel) -> Any:
    dtype = _dtype(kind, kernel)
    try:
        number: Any = int(value, 0) if dtype.kind in "iu" else float(value)
        return dtype.type(number)
    except (ValueError, OverflowError):
        raise MfmasimError(f"argument {text!r}: {value!r} is not a valid {kind}") from None


def _buffer(text: str, kind: str, contents: str | None, kernel: Kernel) -> tuple[Any, bool]:
    name, _, shape = kind.partition(":")
    dtype = _dtype(name, kernel)
    lengths = sizes(shape, f"argument {text!r}: shape")
    size = math.prod(lengths) * dtype.itemsize
    if size > LARGEST_BUFFER:
        raise MfmasimError(f"argument {text!r}: {size:,} bytes, at most {LARGEST_BUFFER:,} are allowed")
    array = np.empty(lengths, dtype)
    if contents is None:
        array.reshape(-1).view(np.uint8)[:] = UNSET
        return array, True
    flat = array.reshape(-1)
    with np.errstate(over="ignore"):
        if contents == "range":
            flat[:] = np.arange(flat.size).astype(dtype)
        elif contents == "random":
            flat[:] = _random(flat.size, dtype)
        else:
            flat[:] = _typed(text, name, contents, kernel)
    return array, False


def _random(count: int, dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """Random numbers, equal in every run: small integers, or floats from -1 to 1."""
    source = np.random.default_rng(0)
    if dtype.kind in "iu":
        return source.integers(0 if dtype.kind == "u" else -8, 9, count).astype(dtype)
    return source.uniform(-1, 1, count).astype(dtype)


def _dtype(kind: str, kernel: Kernel) -> Any:
    import ml_dtypes

    name = kernel.arch.format_name(kind)
    if name in _NUMPY:
        return np.dtype(_NUMPY[name])
    if name in _OTHER:
        return np.dtype(getattr(ml_dtypes, _OTHER[name]))
    raise unknown("dtype", kind, [*_NUMPY, *_OTHER, *_OWN])


def sizes(text: str, what: str) -> tuple[int, ...]:
    """Positive integers, separated by commas or x.

    Args:
        text: such as ``4,4,1`` or ``32x32``.
        what: the option, for the message.

    Raises:
        MfmasimError: anything else.
    """
    try:
        found = tuple(int(part) for part in text.replace("x", ",").split(","))
    except ValueError:
        found = (0,)
    if min(found) < 1:
        raise MfmasimError(f"{what} {text!r}: positive integers are expected, such as 4,4,1")
    return found
