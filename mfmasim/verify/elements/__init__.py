"""Where elements come from: fragments of matrix instructions, and outputs of any kernel."""

from __future__ import annotations
