"""The formats by name."""

from __future__ import annotations

from mfmasim.errors import unknown
from mfmasim.formats.model import Format
from mfmasim.formats.rows import ROWS, FormatRow

__all__ = ["FORMATS", "format"]

FORMATS: dict[str, Format] = {row.name: Format(**vars(row)) for row in ROWS}

_NAMES = {name: fmt for fmt in FORMATS.values() for name in (fmt.name, *fmt.aliases)}


def format(name: str | FormatRow) -> Format:  # noqa: A001
    """Look up a number format.

    Args:
        name: its name or an alias, in any case; or a `Format` or `FormatRow`.

    Returns:
        The format.

    Raises:
        MfmasimError: the name is not known; the message lists the known ones.

    >>> format("e4m3fnuz").max
    240.0
    >>> format("fp4").decode([0, 1, 7, 15]).tolist()
    [0.0, 0.5, 6.0, -6.0]
    >>> hex(format("e4m3fn").encode(0.3))
    '0x2a'
    """
    if isinstance(name, Format):
        return name
    if isinstance(name, FormatRow):
        return Format(**vars(name))
    found = _NAMES.get(str(name).lower())
    if found is None:
        raise unknown("format", name, FORMATS)
    return found
