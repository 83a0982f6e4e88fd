"""Results and profiles for a reader: terminal, HTML, SARIF, claims of published texts."""

from __future__ import annotations
