"""Expected outputs kept beside tests: one ``.npz`` each, sealed, replaced whole or not at all."""

from __future__ import annotations

import io
import zipfile
import zlib
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import numpy as np

from mfmasim.archives import write_archive
from mfmasim.errors import MfmasimError

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

__all__ = ["load", "store"]


def _seal(values: NDArray[Any]) -> str:
    return sha256(f"{values.dtype.str} {values.shape}".encode() + values.tobytes()).hexdigest()


def store(path: Path, values: NDArray[Any]) -> None:
    """Write an array.

    Raises:
        MfmasimError: it cannot be written; what was there before is still there.
    """
    write_archive(path, {"values": values, "sha256": np.array(_seal(values))})


def load(path: Path) -> NDArray[Any]:
    """Read an array.

    Raises:
        MfmasimError: there is none, or it is damaged.
    """
    try:
        with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as archive:
            values: NDArray[Any] = archive["values"]
            seal = str(archive["sha256"])
    except FileNotFoundError:
        raise MfmasimError(f"{path}: there is none yet; --mfmasim-update-golden writes it") from None
    except (ValueError, OSError, EOFError, KeyError, zipfile.BadZipFile, zlib.error, NotImplementedError) as error:
        raise MfmasimError(f"{path}: damaged, or no golden file: {error}") from None
    if seal != _seal(values):
        raise MfmasimError(f"{path}: damaged: its SHA-256 is not the one it was written with")
    return values
