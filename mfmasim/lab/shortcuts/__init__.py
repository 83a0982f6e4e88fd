"""Shortcuts: kernels that pass a test without computing what is asked, recognised by other inputs and other sizes."""

from __future__ import annotations

from mfmasim.lab.shortcuts.judging import Shortcut, shortcuts_of
from mfmasim.lab.shortcuts.patterns import PATTERNS, Pattern

__all__ = ["PATTERNS", "Pattern", "Shortcut", "shortcuts_of"]
