"""Files of golden data: `.npz` archives with the same bytes wherever and whenever they are made."""

from __future__ import annotations

import hashlib
import io
import zipfile
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping


def npz_bytes(arrays: Mapping[str, np.ndarray]) -> bytes:
    """An archive that `numpy.load` reads.

    Fixed timestamps, and stored rather than compressed: zlib's output differs between its implementations, and a
    checksum has to hold everywhere. Arrays are little-endian and in C order.
    """
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for name, array in arrays.items():
            content = io.BytesIO()
            little = np.ascontiguousarray(array, array.dtype.newbyteorder("<"))
            np.lib.format.write_array(content, little, version=(1, 0), allow_pickle=False)
            info = zipfile.ZipInfo(f"{name}.npy", date_time=(1980, 1, 1, 0, 0, 0))
            info.create_system = 3  # Unix, on every host
            info.external_attr = 0o644 << 16
            archive.writestr(info, content.getvalue())
    return buffer.getvalue()


def sha256(data: bytes) -> str:
    """SHA-256 of some bytes, in hexadecimal."""
    return hashlib.sha256(data).hexdigest()
