"""Number formats: codes to numbers and back, packing, scales, and the conversion instructions."""

from __future__ import annotations

from mfmasim.formats.explain import Explanation, explain, value_table
from mfmasim.formats.modes import NanRule, Overflow, Rounding
from mfmasim.formats.packing import insert_byte, pack, select_byte, unpack
from mfmasim.formats.registry import FORMATS, Format, convert, format  # noqa: A004
from mfmasim.formats.rows import ROWS, FormatRow
from mfmasim.formats.scales import ScaleRule, scale_of

__all__ = [
    "FORMATS",
    "ROWS",
    "Explanation",
    "Format",
    "FormatRow",
    "NanRule",
    "Overflow",
    "Rounding",
    "ScaleRule",
    "convert",
    "explain",
    "format",
    "insert_byte",
    "pack",
    "scale_of",
    "select_byte",
    "unpack",
    "value_table",
]
