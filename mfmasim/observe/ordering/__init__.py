"""The check `races`: what waits, barriers and atomic operations order, and what nothing does."""

from __future__ import annotations
