"""What several rows of LDS phases remark."""

from __future__ import annotations

__all__ = ["ATOMIC", "BY_DWORD", "PAIR"]

ATOMIC = "lanes at one address are serialised on top of bank conflicts; phases as for a write, no number is public"
BY_DWORD = "as b32, by dword: lanes at different bytes of one dword do not collide"
PAIR = "two accesses, one after the other; which lanes meet is not public"
