"""Number formats: codes to numbers and back, packing, scales, and what the conversion instructions do."""

from __future__ import annotations

from mfmasim.formats.encoding import convert
from mfmasim.formats.model import Format
from mfmasim.formats.registry import FORMATS, format  # noqa: A004
from mfmasim.formats.rows import ROWS, FormatRow

__all__ = ["FORMATS", "ROWS", "Format", "FormatRow", "convert", "format"]
