"""Comparison of simulator, device and reference: captures, and drawn trials."""

from __future__ import annotations
