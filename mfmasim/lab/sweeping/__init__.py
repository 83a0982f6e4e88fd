"""Sweeps: every code object in folders, caches, wheels and libraries, each with a verdict, keyed by its SHA-256."""

from __future__ import annotations
