"""Captures: the inputs and outputs of launches on a device, in one file that NumPy alone can read.

A capture is an ``.npz`` archive. `about` is JSON as bytes: where, when and with what it was recorded, and the launches.
`code` is the code object. Launch n has its buffers as ``launch{n}_buffer{k}_before`` and ``..._after``, in the order in
which its arguments name them. `seal` is the SHA-256 of everything else. docs/golden.md describes it in full.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mfmasim.archives import parse_archive, write_archive
from mfmasim.errors import MfmasimError
from mfmasim.files import read_file

SCHEMA = 1
"""Version of the capture format."""


@dataclass
class Launched:
    """One launch."""

    call: dict[str, Any]
    """kernel, grid, block, shared_bytes, args: the call as JSON; arrays are numbers of buffers."""
    before: list[NDArray[np.uint8]]
    after: list[NDArray[np.uint8]]


@dataclass
class Capture:
    """A capture."""

    about: dict[str, Any]
    code: bytes
    launches: list[Launched] = field(default_factory=list)


def describe(args: object, buffers: list[NDArray[Any]]) -> Any:
    """Arguments as JSON values; their arrays are appended to `buffers`, each once."""
    if isinstance(args, list | tuple):
        return [describe(arg, buffers) for arg in args]
    if isinstance(args, np.ndarray) and args.ndim:
        known = next((n for n, buffer in enumerate(buffers) if buffer is args), None)
        if known is None:
            known = len(buffers)
            buffers.append(args)
        return {"buffer": known, "dtype": args.dtype.str, "shape": list(args.shape)}
    if isinstance(args, np.generic | np.ndarray):
        return {"dtype": args.dtype.str, "hex": args.tobytes().hex()}
    if isinstance(args, bytes):
        return {"hex": args.hex()}
    return args  # None, a Python number


def _arrays(capture: Capture) -> Iterator[tuple[str, NDArray[np.uint8]]]:
    about = {**capture.about, "schema_version": SCHEMA, "launches": [launch.call for launch in capture.launches]}
    yield "about", np.frombuffer(json.dumps(about, indent=1).encode(), np.uint8)
    yield "code", np.frombuffer(capture.code, np.uint8)
    for number, launch in enumerate(capture.launches):
        for which, arrays in (("before", launch.before), ("after", launch.after)):
            for place, array in enumerate(arrays):
                yield f"launch{number}_buffer{place}_{which}", array


def _seal(arrays: Mapping[str, NDArray[Any]]) -> NDArray[np.uint8]:
    found = hashlib.sha256()
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])
        found.update(f"{name} {array.dtype.str} {array.shape}\n".encode())
        found.update(array.tobytes())
    return np.frombuffer(found.digest(), np.uint8)


def write(path: Path, capture: Capture) -> None:
    """Write a capture atomically: an existing file stays until the new one is complete on disk.

    Raises:
        MfmasimError: it cannot be written.
    """
    arrays = dict(_arrays(capture))
    write_archive(path, {**arrays, "seal": _seal(arrays)})


_DEEPEST = 32
_ABOUT: dict[str, tuple[type, ...]] = {"arch": (str,), "device": (dict,), "code": (dict,), "launches": (list,)}
_DEVICE: dict[str, tuple[type, ...]] = {"name": (str,), "product": (str,), "simulated": (bool,)}
_CODE: dict[str, tuple[type, ...]] = {"sha256": (str,)}
_CALL: dict[str, tuple[type, ...]] = {
    "kernel": (str,),
    "grid": (list,),
    "block": (list,),
    "shared_bytes": (int,),
    "args": (list,),
    "buffers": (int,),
}


def require(value: object, keys: Mapping[str, tuple[type, ...]], what: str) -> None:
    """Check that a value of a capture's JSON is an object with certain keys.

    Args:
        value: the value.
        keys: each with the types that its value may have.
        what: names the value in the error.

    Raises:
        ValueError: a key is missing or its value has another type.
    """
    if not isinstance(value, dict):
        raise ValueError(f"{what} is {_kind(value)}, not an object")  # noqa: TRY004 -- one error for all damage
    for key, types in keys.items():
        if key not in value:
            raise ValueError(f"{what} lacks {key!r}")
        if not isinstance(value[key], types) or (isinstance(value[key], bool) and bool not in types):
            allowed = " or ".join(one.__name__ for one in types)
            raise ValueError(f"{key!r} of {what} is {_kind(value[key])}, {allowed} is expected")


def _kind(value: object) -> str:
    return type(value).__name__


def _parse_about(data: bytes) -> dict[str, Any]:
    try:
        about = json.loads(data)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    level, depth = [about], 0
    while level:  # level by level, since a recursive walk would meet Python's limit
        depth += 1
        if depth > _DEEPEST:
            raise ValueError(f"it is nested more than {_DEEPEST} levels deep")
        inner = (one.values() if isinstance(one, dict) else one if isinstance(one, list) else () for one in level)
        level = [value for values in inner for value in values]
    require(about, {"schema_version": (int,)}, "about")
    return dict(about)


def _launches(calls: list[Any], arrays: Mapping[str, NDArray[Any]]) -> Iterator[Launched]:
    """The launches; ValueError where one is incomplete."""
    for number, call in enumerate(calls):
        require(call, _CALL, f"launch {number}")
        if not 0 <= call["buffers"] <= len(arrays):
            raise ValueError(f"launch {number} has {call['buffers']} buffers")
        before, after = (
            [_buffer(f"launch{number}_buffer{place}_{which}", arrays) for place in range(call["buffers"])]
            for which in ("before", "after")
        )
        for place, (was, now) in enumerate(zip(before, after, strict=True)):
            if was.size != now.size:
                raise ValueError(f"buffer {place} of launch {number} has {was.size} bytes before and {now.size} after")
        yield Launched(call, before, after)


def _buffer(name: str, arrays: Mapping[str, NDArray[Any]]) -> NDArray[np.uint8]:
    if name not in arrays:
        raise ValueError(f"array {name} is missing")
    if arrays[name].dtype != np.uint8 or arrays[name].ndim != 1:
        raise ValueError(f"array {name} is not one of bytes")
    return arrays[name]


def read(path: Path) -> Capture:
    """Read a capture, whose content is never executed.

    Raises:
        MfmasimError: it is missing, is not a capture, is damaged, or has another schema; the message says which.
    """
    data = read_file(path)
    try:
        arrays = parse_archive(data)
    except ValueError as error:
        raise MfmasimError(f"{path}: not a capture, or damaged: {error}") from None
    seal = arrays.pop("seal", None)
    if seal is None or "about" not in arrays or "code" not in arrays:
        raise MfmasimError(f"{path}: not a capture: it lacks {'seal' if seal is None else 'about or code'}")
    if seal.tobytes() != _seal(arrays).tobytes():
        raise MfmasimError(f"{path}: the capture is damaged: its SHA-256 differs from its seal")
    try:
        about = _parse_about(arrays["about"].tobytes())
        if about["schema_version"] != SCHEMA:
            raise MfmasimError(f"{path}: the capture has schema {about['schema_version']}, this version reads {SCHEMA}")
        for value, keys, what in (
            (about, _ABOUT, "about"),
            (about.get("device"), _DEVICE, "device"),
            (about.get("code"), _CODE, "code"),
        ):
            require(value, keys, what)
        launches = list(_launches(about.pop("launches"), arrays))
    except ValueError as error:
        raise MfmasimError(f"{path}: the capture's description is damaged: {error}") from None
    return Capture(about, arrays["code"].tobytes(), launches)
