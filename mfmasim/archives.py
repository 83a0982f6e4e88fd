"""Files of arrays, ``.npy`` and ``.npz``: written whole or not at all, read without trust in what they claim."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mfmasim.files import LIMIT, replacing

_MEMBERS = 1 << 16
_KINDS = "biufcSU"  # kinds of NumPy types that hold plain data: no objects, no records
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_LONGEST_REASON = 160
_ENCRYPTED = 1  # bit of a member's flags
_HEADERS = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}


def write_array(path: Path, array: NDArray[Any]) -> None:
    """Write an array as ``.npy``, as `write_file` does.

    Raises:
        MfmasimError: the file cannot be written; an existing file is unchanged.
    """
    with replacing(path) as file:
        # Not the file itself: into one, NumPy writes through a copy in C, whose last error is lost.
        np.lib.format.write_array(SimpleNamespace(write=file.write), array, allow_pickle=False)


def write_archive(path: Path, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write arrays as ``.npz``, as `write_file` does.

    Raises:
        MfmasimError: the file cannot be written; an existing file is unchanged.
    """
    with replacing(path) as file:
        np.savez_compressed(file, **arrays)  # type: ignore[arg-type]


def parse_array(data: bytes) -> NDArray[Any]:
    """The array in the bytes of an ``.npy`` file, contiguous and writable.

    Raises:
        ValueError: the bytes are damaged, or are not exactly what the header claims; nothing is allocated before.
    """
    file = io.BytesIO(data)
    try:
        read_header = _HEADERS[np.lib.format.read_magic(file)]
        shape, fortran, dtype = read_header(file)
    except Exception as error:  # noqa: BLE001 -- NumPy evaluates the header's text, which may fail in any way
        raise ValueError(f"the header of an array cannot be read ({type(error).__name__})") from None
    if dtype.kind not in _KINDS or dtype.itemsize == 0:
        raise ValueError(f"an array of type {str(dtype)!r:.40}, not of numbers or text")
    size = dtype.itemsize
    for extent in shape:
        size *= extent
    held = len(data) - file.tell()
    if size != held or min(shape, default=0) < 0:
        raise ValueError(f"an array of shape {shape!s:.60} claims {size:,} bytes and has {held:,}")
    flat = np.frombuffer(data, dtype, offset=file.tell())
    return np.array(flat.reshape(shape, order="F" if fortran else "C"), order="C")


def parse_archive(data: bytes, limit: int = LIMIT) -> dict[str, NDArray[Any]]:
    """The arrays in the bytes of an ``.npz`` file, by name.

    Raises:
        ValueError: it is not such an archive, is damaged, encrypted, or larger than `limit` when decompressed.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = archive.infolist()
            _check_members(members, limit)
            return {member.filename.removesuffix(".npy"): parse_array(archive.read(member)) for member in members}
    except Exception as error:  # noqa: BLE001 -- zipfile raises any exception on damaged bytes
        reason = " ".join(str(error).split())  # which may hold a name of any length from the file
        raise ValueError(f"{reason:.{_LONGEST_REASON}}" or type(error).__name__) from None


def _check_members(members: Sequence[zipfile.ZipInfo], limit: int) -> None:
    """Check an archive's table; what it claims bounds what is decompressed."""
    total = sum(member.file_size for member in members)
    if len(members) > _MEMBERS or total > limit:
        raise ValueError(f"{len(members):,} arrays of {total:,} bytes, more than the {limit:,} that are read")
    seen: set[str] = set()
    for member in members:
        name = member.filename.removesuffix(".npy")
        if member.flag_bits & _ENCRYPTED:
            raise ValueError(f"{name!r:.60} is encrypted")
        if member.compress_type not in _METHODS:
            raise ValueError(f"{name!r:.60} is compressed by method {member.compress_type}, not deflate")
        if name in seen:
            raise ValueError(f"{name!r:.60} occurs twice")
        seen.add(name)
