"""Definedness: which bits of registers and memory were never written, tracked beside the execution."""

from __future__ import annotations

from mfmasim.machine.definedness.follow import Definedness

__all__ = ["Definedness"]
