"""Golden outputs of tests: one ``.npz`` each, with a SHA-256, replaced atomically."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mfmasim.archives import parse_archive, write_archive
from mfmasim.errors import MfmasimError
from mfmasim.files import read_file


def _seal(values: NDArray[Any]) -> str:
    return sha256(f"{values.dtype.str} {values.shape}".encode() + values.tobytes()).hexdigest()


def store(path: Path, values: NDArray[Any]) -> None:
    """Write an array.

    Raises:
        MfmasimError: the file cannot be written; an existing file is unchanged.
    """
    write_archive(path, {"values": values, "sha256": np.array(_seal(values))})


def load(path: Path) -> NDArray[Any]:
    """Read an array.

    Raises:
        MfmasimError: the file is missing or damaged.
    """
    if not path.exists():
        raise MfmasimError(f"{path}: no such golden file; --mfmasim-update-golden writes it")
    data = read_file(path)
    try:
        arrays = parse_archive(data)
    except ValueError as error:
        raise MfmasimError(f"{path}: damaged, or not a golden file: {error}") from None
    if "values" not in arrays or "sha256" not in arrays:
        raise MfmasimError(f"{path}: damaged, or not a golden file: it lacks values or sha256")
    values, seal = arrays["values"], str(arrays["sha256"])
    if seal != _seal(values):
        raise MfmasimError(f"{path}: damaged: the SHA-256 does not match the contents")
    return values
