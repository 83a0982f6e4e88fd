"""Simulator, device and reference beside each other: captures, and drawn trials."""

from __future__ import annotations
