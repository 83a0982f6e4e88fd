"""Wrong variants of kernels, of their sources and of their compiled code, and which check catches them."""

from __future__ import annotations
