"""A kernel with its problem, as data: source, sizes, arguments, reference; and the case that these declare.

What a case file says in Python is said here in JSON, so that nothing of it is executed: sizes and shapes are integer
expressions, the reference an expression or a function that `mfmasim.agents.language` evaluates.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from mfmasim.agents.language import evaluate, function_of
from mfmasim.architectures import DEFAULT
from mfmasim.architectures import arch as find_arch
from mfmasim.errors import MfmasimError, unknown
from mfmasim.files import is_source
from mfmasim.program import Kernel
from mfmasim.verify import A, B, C, Case, In, InOut, Out, ScaleA, ScaleB
from mfmasim.verify.arrays import ARRAY_CLASSES, Array
from mfmasim.verify.data import CLASSES
from mfmasim.verify.prebuilt import code_for
from mfmasim.verify.roles import Tensor

__all__ = ["Problem", "problem_of"]

MATRICES: dict[str, Callable[..., Tensor]] = {"A": A, "B": B, "C": C}
SCALES: dict[str, Callable[..., Tensor]] = {"scale_A": ScaleA, "scale_B": ScaleB}
ARRAYS: dict[str, Callable[..., Array]] = {"in": In, "out": Out, "inout": InOut}
KINDS = (*MATRICES, *SCALES, *ARRAYS, "value", "null")
"""What an argument is."""
FIELDS = {
    **dict.fromkeys(MATRICES, ("format", "shape", "order", "ld", "read")),
    **dict.fromkeys(SCALES, ("shape", "order")),
    **dict.fromkeys(ARRAYS, ("format", "shape", "data")),
    "value": ("value", "format"),
    "null": (),
}
"""What may be said of an argument of each kind, beside name and kind."""
LARGEST = 1 << 24
"""Elements of an array."""
MOST_SOURCE = 400_000
"""Characters of a source."""
DEFINE = re.compile(r"[A-Za-z_]\w*")
VALUE = re.compile(r"[\w.+-]{0,40}")


@dataclass(frozen=True)
class Problem:
    """A kernel and what it is to compute."""

    path: Path
    """The source or code object."""
    arch: str
    kernel: str
    flags: tuple[str, ...] = ()
    parameters: Mapping[str, int | float] = field(default_factory=dict)
    given: Mapping[str, Any] = field(default_factory=dict)
    """What the agent sent."""

    @property
    def declared(self) -> bool:
        """Whether arguments and reference are known."""
        return bool(self.given.get("arguments"))

    def compiled(self) -> Kernel:
        """The kernel, without a problem.

        Raises:
            MfmasimError: it does not compile, or there are several.
        """
        found = code_for(self.path, self.arch, None, self.flags)
        if self.kernel:
            return found[self.kernel]  # type: ignore[return-value]
        names = list(found.kernels)
        if len(names) != 1:
            raise MfmasimError(
                f"{self.path.name} has {len(names)} kernels: choose one by kernel: {', '.join(names[:8])}"
            )
        return found[names[0]]  # type: ignore[return-value]

    def case(self) -> Case:
        """The case of `mfmasim.verify` that the problem declares.

        Raises:
            MfmasimError: something in it is wrong.
        """
        if not self.declared:
            raise MfmasimError(
                "arguments are missing: a list of what the kernel takes, in order; with grid, block, expect"
            )
        kernel = self.compiled()
        name = kernel.title
        given, parameters = self.given, self.parameters
        data = tuple(given.get("data") or ("integers", "normal"))
        for one in data:
            if one not in CLASSES:
                raise unknown("data class", one, CLASSES)
        traced = {name: value for name, value in (("alpha", 1.0), ("beta", 0.0)) if name in parameters}

        def build(**sizes: Any) -> dict[str, Any]:
            return _launch(given, sizes)

        made = Case(
            name,
            self.path,
            kernel.name.replace("{", "{{").replace("}", "}}"),
            (self.arch,),
            build,
            dict(parameters),
            str(given.get("needs") or ""),
            data=data,
            flags=self.flags,
            mapping=traced,
        )
        made.check_contract()
        made.make()
        return made


def problem_of(given: Mapping[str, Any], folder: Path, roots: Sequence[Path]) -> Problem:
    """Read what an agent sent.

    Args:
        given: the arguments of a tool.
        folder: where a source that was sent as text is written.
        roots: folders in which files may be named.

    Raises:
        MfmasimError: something in it is wrong, or a file lies elsewhere.
    """
    arch = find_arch(given.get("arch") or DEFAULT).name
    text, name = given.get("source"), given.get("file")
    if (text is None) == (name is None):
        raise MfmasimError("either source, the text of the kernel, or file, its path, is expected")
    if text is not None:
        if not isinstance(text, str) or len(text) > MOST_SOURCE:
            raise MfmasimError(f"source: a text of at most {MOST_SOURCE:,} characters is expected")
        path = folder / "kernel.hip"
        path.write_text(text)
    else:
        path = allowed(str(name), roots)
    flags = []
    for key, value in (given.get("defines") or {}).items():
        if not DEFINE.fullmatch(str(key)) or not VALUE.fullmatch(str(value)):
            raise MfmasimError(f"defines: {key}={value}: a name and a number or word are expected")
        flags.append(f"-D{key}={value}")
    parameters = given.get("sizes") or {}
    for key, value in parameters.items():
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if not str(key).isidentifier() or not number:
            raise MfmasimError(f"sizes: {key}={value!r}: a name and a number are expected")
    kernel = str(given.get("kernel") or "")
    return Problem(path, arch, kernel, tuple(flags) if is_source(path) else (), parameters, given)


def allowed(name: str, roots: Sequence[Path]) -> Path:
    """The file of a name, if it lies in one of the folders that the server may read.

    Raises:
        MfmasimError: it does not, or is no file.
    """
    candidates = [root / name for root in roots]
    found = next((path.resolve() for path in candidates if path.is_file()), None)
    if found is None:
        raise MfmasimError(f"file {name}: no such file in {', '.join(map(str, roots)) or 'no folder'}")
    if not any(found.is_relative_to(root.resolve()) for root in roots):
        raise MfmasimError(f"file {name} lies outside the folders that the server may read")
    return found


def _launch(given: Mapping[str, Any], sizes: Mapping[str, Any]) -> dict[str, Any]:
    """What a case function returns, at some sizes."""
    named: dict[str, Any] = {}
    args: list[Any] = []
    rows = given["arguments"]
    if not isinstance(rows, list):
        raise MfmasimError("arguments: a list is expected")
    for number, row in enumerate(rows):
        name = str(row.get("name") or f"argument{number}")
        made = _argument(name, row, sizes, given.get("tolerance") or {})
        args.append(made)
        named[name] = made
    launch: dict[str, Any] = {
        "grid": _extent(given, "grid", sizes),
        "block": _extent(given, "block", sizes),
        "args": args,
        "shared_bytes": int(evaluate(str(given.get("shared_bytes") or 0), sizes, "shared_bytes")),
    }
    text = given.get("expect")
    if text is not None:
        launch["expect"] = _expected(str(text), named, args, sizes)
    return launch


def _argument(name: str, row: Mapping[str, Any], sizes: Mapping[str, Any], tolerance: Mapping[str, Any]) -> Any:
    kind = str(row.get("kind"))
    if kind not in KINDS:
        raise unknown("kind", kind, KINDS, f"of argument {name}")
    for key in row:
        if key not in ("name", "kind", *FIELDS[kind]):
            raise unknown("field", key, FIELDS[kind], f"of argument {name}, whose kind is {kind}")
    if kind == "null":
        return None
    if kind == "value":
        text = row.get("value", name)
        found = text if isinstance(text, int | float) else evaluate(str(text), sizes, f"value of {name}")
        if not row.get("format"):
            return found
        from mfmasim.verify.arrays import DTYPES

        if row["format"] not in DTYPES:
            raise unknown("format", row["format"], DTYPES, f"of value {name}")
        return DTYPES[row["format"]](found)
    shape = row.get("shape")
    if shape is None:
        raise MfmasimError(f"argument {name}: its shape is missing, such as ['M', 'K']")
    found_shape = tuple(_size(one, sizes, name) for one in (shape if isinstance(shape, list) else [shape]))
    plain = all(type(one) is int for one in found_shape)  # a proof asks with symbols
    if plain and math.prod(max(one, 1) for one in found_shape) > LARGEST:
        raise MfmasimError(f"argument {name} has shape {found_shape}: more than {LARGEST:,} elements")
    form = str(row.get("format") or "f32")
    bounds = {key: tolerance[key] for key in ("absolute", "relative", "ulp") if key in tolerance}
    if kind in SCALES:
        return SCALES[kind](found_shape, order=row.get("order") or "row")
    if kind in MATRICES:
        more: dict[str, Any] = {} if kind != "C" else bounds
        if kind != "C" and row.get("read"):
            more["read"] = str(row["read"])
        ld = _size(row["ld"], sizes, name) if row.get("ld") else 0
        return MATRICES[kind](form, found_shape, row.get("order") or "row", ld, **more)
    data = row.get("data")
    if kind == "out":
        return Out(form, found_shape, **(bounds or _close(form)))
    if isinstance(data, list):
        values = np.array(data)
        data = values.astype(In(form, found_shape).dtype).reshape(found_shape)
    elif isinstance(data, str) and data not in ARRAY_CLASSES:
        filled = evaluate(data, sizes, f"data of {name}")
        data = np.broadcast_to(np.asarray(filled), found_shape).astype(In(form, found_shape).dtype)
    data = "normal" if data is None else data
    if kind == "in":
        return In(form, found_shape, data)
    return InOut(form, found_shape, data, **(bounds or _close(form)))


def _close(form: str) -> dict[str, Any]:
    """PyTorch's tolerance of a format, for outputs of real numbers without a tolerance of their own."""
    return {} if form[0] in "iu" else {"close": True}


def _size(text: object, sizes: Mapping[str, Any], name: str) -> int:
    found = text if isinstance(text, int) else evaluate(str(text), sizes, f"size of {name}")
    if type(found) is float and found.is_integer():
        found = int(found)
    if not isinstance(found, int):
        raise MfmasimError(f"size {text!r} of {name} is {found!r}: a whole number is expected")
    return found


def _extent(given: Mapping[str, Any], what: str, sizes: Mapping[str, Any]) -> tuple[int, ...]:
    value = given.get(what)
    if value is None:
        raise MfmasimError(f"{what} is missing, such as ['N // 64', 'M // 64']")
    return tuple(_size(one, sizes, what) for one in (value if isinstance(value, list) else [value]))


def _expected(text: str, named: Mapping[str, Any], args: Sequence[Any], sizes: Mapping[str, Any]) -> Any:
    """A matrix expression, or a function of the inputs that the arrays of a case call."""
    function = function_of(text, sizes)
    if any(isinstance(arg, Tensor) for arg in args):
        if function is not None:
            raise MfmasimError(
                "expect: with matrices A, B, C it is an expression over their names, such as alpha * (a @ b)"
            )
        known = {name: value for name, value in named.items() if isinstance(value, Tensor)}
        return evaluate(text, {**sizes, **known}, "expect")
    names = [name for name, value in named.items() if isinstance(value, Array) and value.reads]
    arrays = [value for value in args if isinstance(value, Array)]
    inputs, outputs = ([a for a in arrays if a.reads], [a for a in arrays if a.writes])

    def expect(*values: Any) -> Any:
        exact = [_decoded(array, value) for array, value in zip(inputs, values, strict=True)]
        if function is None:
            found = evaluate(text, {**sizes, **dict(zip(names, exact, strict=True))}, "expect")
        else:
            found = function(*exact)
        several = found if isinstance(found, tuple | list) else [found]
        fitted = [_fitted(array, value) for array, value in zip(outputs, several, strict=True)]
        return fitted if len(outputs) > 1 else fitted[0]

    return expect


def _decoded(array: Array, value: Any) -> Any:
    """Numbers of a format as float64, so that the reference rounds once; integers as they are."""
    fmt = array.number_format
    if fmt is None:
        return np.asarray(value)
    codes = np.asarray(value)
    return fmt.decode(codes) if codes.dtype.kind in "iu" else codes.astype(np.float64)


def _fitted(array: Array, value: Any) -> Any:
    """A reference's integers and truths in the output's dtype, where they are the same numbers."""
    found = np.asarray(value)
    if found.dtype.kind == "b" or (array.number_format is None and found.dtype != array.dtype):
        same = found.astype(array.dtype)
        if np.array_equal(same, found):
            return same
    if array.number_format is not None and found.dtype.kind in "iu":
        return found.astype(np.float64)
    return found


def with_source(problem: Problem, path: Path) -> Problem:
    """The problem with another kernel.

    Args:
        problem: it.
        path: source or code object of the other one.
    """
    return replace(problem, path=path)
