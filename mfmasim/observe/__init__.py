"""The checks: each is an observer of a launch and produces findings."""

from __future__ import annotations

from mfmasim.observe.finding import SEVERITIES, Finding, next_command

__all__ = ["SEVERITIES", "Finding", "next_command"]
