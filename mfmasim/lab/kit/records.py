"""A kit file: one JSON object a line, the first about the device, every other one the result of a probe.

A probe's line is appended when it ends, so that an interrupted run loses at most the probe it was in; a later line of
the same probe takes the place of an earlier one. Arrays are zlib, base85; `sum` is the CRC-32 of the rest of the line.
"""

from __future__ import annotations

import base64
import json
import math
import os
import re
import zlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mfmasim.errors import MfmasimError
from mfmasim.files import read_file

SCHEMA = 1
LIMIT = 1 << 26
"""Most bytes of a kit file, and of the arrays in it."""
_TYPES = ("|u1", "<u2", "<u4", "<i4", "<i8", "<u8")
STATUSES = ("done", "failed")


@dataclass
class Record:
    """The result of one probe."""

    probe: str
    """Part and name, such as ``operation v_rcp_f32``."""
    status: str
    """One of `STATUSES`."""
    about: dict[str, Any] = field(default_factory=dict)
    arrays: dict[str, NDArray[Any]] = field(default_factory=dict)


@dataclass
class KitFile:
    """A kit file."""

    about: dict[str, Any]
    """Device, environment, options."""
    records: dict[str, Record] = field(default_factory=dict)
    """The last record of each probe."""
    notes: list[str] = field(default_factory=list)
    """Defects of the file, in words; the other lines count."""


def _packed(array: NDArray[Any]) -> dict[str, Any]:
    little = np.ascontiguousarray(array.astype(array.dtype.newbyteorder("<"), copy=False))
    data = base64.b85encode(zlib.compress(little.tobytes(), 9)).decode()
    return {"dtype": little.dtype.str, "shape": list(little.shape), "data": data}


def _line(content: dict[str, Any]) -> str:
    text = json.dumps(content, separators=(",", ":"))
    return f'{text[:-1]},"sum":{zlib.crc32(text.encode())}}}\n'


def append(path: Path, content: Record | dict[str, Any]) -> None:
    """Append a record, or the first line, and wait until it is on disk.

    Raises:
        MfmasimError: the file cannot be written.
    """
    if isinstance(content, Record):
        arrays = {name: _packed(array) for name, array in content.arrays.items()}
        content = {"probe": content.probe, "status": content.status, "about": content.about, "arrays": arrays}
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a+b") as file:
            file.seek(0, os.SEEK_END)
            if file.tell():
                file.seek(-1, os.SEEK_END)
                if file.read(1) != b"\n":  # an interrupted run left a part of a line
                    file.write(b"\n")
            file.write(_line(content).encode())
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise MfmasimError(f"{path}: cannot be written: {error.strerror or error}") from None


def read(path: Path) -> KitFile:
    """Read a kit file. Damaged lines are left out, and noted; nothing in it is executed.

    Raises:
        MfmasimError: the file cannot be read, is not a kit file, or has another version.
    """
    lines = read_file(path, LIMIT).splitlines()
    first = _content(lines[0]) if lines else None
    if first is None or not isinstance(first.get("kit"), int):
        raise MfmasimError(f"{path}: not a kit file: its first line is none of mfmasim gpu kit --out")
    if first["kit"] != SCHEMA:
        raise MfmasimError(f"{path}: a kit file of version {first['kit']}, this mfmasim reads version {SCHEMA}")
    if not isinstance(first.get("arch"), str) or not isinstance(first.get("device"), dict):
        raise MfmasimError(f"{path}: the kit file's first line names no architecture or no device")
    found = KitFile(first)
    room = LIMIT
    for number, line in enumerate(lines[1:], 2):
        content = _content(line)
        record = None if content is None else _record(content, room)
        if record is None:
            found.notes.append(f"line {number} is damaged or incomplete, and left out")
            continue
        room -= sum(array.nbytes for array in record.arrays.values())
        found.records[record.probe] = record
    return found


def _content(line: bytes) -> dict[str, Any] | None:
    """A line's object, if its sum is right."""
    try:
        text = line.decode()
        made = re.fullmatch(r'(.*),"sum":(\d{1,10})\}', text)
        if made is None or zlib.crc32(f"{made[1]}}}".encode()) != int(made[2]):
            return None
        content = json.loads(f"{made[1]}}}")
    except (ValueError, RecursionError):
        return None
    return content if isinstance(content, dict) else None


def _record(content: dict[str, Any], room: int) -> Record | None:
    probe, status, about = content.get("probe"), content.get("status"), content.get("about")
    packed = content.get("arrays")
    if not isinstance(probe, str) or status not in STATUSES or not isinstance(about, dict):
        return None
    if not isinstance(packed, dict):
        return None
    arrays = {}
    for name, one in packed.items():
        array = _unpacked(one, room)
        if array is None:
            return None
        room -= array.nbytes
        arrays[name] = array
    return Record(probe, str(status), about, arrays)


def _unpacked(one: object, room: int) -> NDArray[Any] | None:
    if not isinstance(one, dict) or one.get("dtype") not in _TYPES or not isinstance(one.get("data"), str):
        return None
    shape = one.get("shape")
    if not isinstance(shape, list) or not all(type(n) is int and 0 <= n <= LIMIT for n in shape) or len(shape) > 8:
        return None
    size = math.prod(shape) * np.dtype(one["dtype"]).itemsize
    if size > room:
        return None
    try:
        data = zlib.decompressobj().decompress(base64.b85decode(one["data"]), size + 1)
    except (ValueError, zlib.error):
        return None
    if len(data) != size:
        return None
    return np.frombuffer(data, one["dtype"]).reshape(shape)
