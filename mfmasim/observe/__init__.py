"""The checks: each is an observer of a launch and produces findings."""

from __future__ import annotations

from mfmasim.observe.finding import SEVERITIES, Finding

__all__ = ["SEVERITIES", "Finding"]
