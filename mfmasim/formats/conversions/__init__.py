"""The conversion instructions as functions of register bits."""

from __future__ import annotations

from mfmasim.formats.conversions.model import Conversion, Mode, Modifiers, Row
from mfmasim.formats.conversions.table import ROWS, conversion, conversions

__all__ = ["ROWS", "Conversion", "Mode", "Modifiers", "Row", "conversion", "conversions"]
