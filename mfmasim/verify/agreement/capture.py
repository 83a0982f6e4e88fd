"""Captures: the inputs and outputs of launches on a device, in one file that NumPy alone can read.

A capture is an ``.npz`` archive. `about` is JSON as bytes: where, when and with what it was recorded, and the launches.
`code` is the code object. Launch n has its buffers as ``launch{n}_buffer{k}_before`` and ``..._after``, in the order in
which its arguments name them. `seal` is the SHA-256 of everything else. docs/golden.md describes it in full.
"""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
import zlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from mfmasim.archives import write_archive
from mfmasim.errors import MfmasimError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from numpy.typing import NDArray

__all__ = ["SCHEMA", "Capture", "Launched", "describe", "read", "write"]

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


def describe(args: Any, buffers: list[NDArray[Any]]) -> Any:
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


def read(path: Path) -> Capture:
    """Read a capture.

    Raises:
        MfmasimError: it is missing, is not a capture, is damaged, or has another schema; the message says which.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise MfmasimError(f"{path}: cannot be read: {error.strerror or error}") from None
    try:
        with np.load(io.BytesIO(data), allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
    except (ValueError, OSError, EOFError, KeyError, zipfile.BadZipFile, zlib.error, NotImplementedError) as error:
        raise MfmasimError(f"{path}: not a capture, or damaged: {error}") from None
    seal = arrays.pop("seal", None)
    if seal is None or "about" not in arrays or "code" not in arrays:
        raise MfmasimError(f"{path}: not a capture: it lacks {'seal' if seal is None else 'about or code'}")
    if seal.tobytes() != _seal(arrays).tobytes():
        raise MfmasimError(f"{path}: the capture is damaged: its SHA-256 differs from its seal")
    about = json.loads(arrays["about"].tobytes())
    if about.get("schema_version") != SCHEMA:
        raise MfmasimError(f"{path}: the capture has schema {about.get('schema_version')}, this version reads {SCHEMA}")
    launches = []
    for number, call in enumerate(about.pop("launches")):
        contents = [
            [arrays[f"launch{number}_buffer{place}_{which}"] for place in range(call["buffers"])]
            for which in ("before", "after")
        ]
        launches.append(Launched(call, *contents))
    return Capture(about, arrays["code"].tobytes(), launches)
