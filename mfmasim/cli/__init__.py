"""The command line: one verb, one file. The verbs `list` and `format` are modules here, so this file holds no code."""

from __future__ import annotations

from mfmasim.cli.entry import VERBS, build, main

__all__ = ["VERBS", "build", "main"]
