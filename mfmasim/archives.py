"""Archives of arrays that are written whole or not at all."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np

from mfmasim.errors import MfmasimError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from numpy.typing import NDArray

__all__ = ["write_archive"]


def write_archive(path: Path, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write arrays as ``.npz``; an existing file is replaced only when the new one is on disk.

    Raises:
        MfmasimError: the file cannot be written; an existing file is unchanged.
    """
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with unfinished.open("wb") as file:
            np.savez_compressed(file, **arrays)  # type: ignore[arg-type]
            file.flush()
            os.fsync(file.fileno())
        unfinished.replace(path)
    except OSError as error:
        raise MfmasimError(f"{path}: cannot be written: {error.strerror or error}") from None
    finally:
        unfinished.unlink(missing_ok=True)
