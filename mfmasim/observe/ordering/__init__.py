"""The check `races`: accesses that waits, barriers and atomic operations leave unordered."""

from __future__ import annotations
