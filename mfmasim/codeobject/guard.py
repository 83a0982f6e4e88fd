"""Guard around third-party parsers: any exception on a damaged file becomes a one-line `MfmasimError`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from mfmasim.errors import DamagedError, MfmasimError

_LONGEST_REASON = 160


@contextmanager
def parsing(name: str, what: str) -> Iterator[None]:
    """Turn every exception of a parser into an `MfmasimError` that names the file and the part.

    Args:
        name: the file.
        what: the part of it that is being read, such as ``"kernel metadata"``.

    Raises:
        MfmasimError: the block raised anything; its own `MfmasimError` passes unchanged.
    """
    try:
        yield
    except MfmasimError:
        raise
    except Exception as error:  # noqa: BLE001 -- parsers raise any exception on damaged bytes
        text = " ".join(str(error).split())[:_LONGEST_REASON] or "unreadable"
        raise DamagedError(f"{name}: truncated or corrupt {what} ({type(error).__name__}: {text})") from None
