"""Definedness: which bits of which registers and bytes nobody has written, followed beside the execution."""

from __future__ import annotations

from mfmasim.machine.definedness.follow import Definedness

__all__ = ["Definedness"]
