"""Supported calls, one file for each part of HIP's interface."""

from __future__ import annotations

import importlib

__all__ = ["PARTS", "load"]

PARTS = (
    "devices", "memory", "ipc", "pools", "copies", "rectangles", "volumes", "modules", "libraries", "programs",
    "extended", "symbols", "streams", "graphs", "settings", "errors", "rtc", "entries", "blas",
)  # fmt: skip


def load() -> None:
    """Import every part, which registers its calls."""
    for part in PARTS:
        importlib.import_module(f"{__name__}.{part}")
