"""Remarks that several rows of LDS phases share."""

from __future__ import annotations

ATOMIC = "lanes at one address are serialised on top of bank conflicts; phases as for a write, no number is public"
BY_DWORD = "as b32, by dword: lanes at different bytes of one dword do not collide"
PAIR = "two accesses, one after the other; which lanes share a phase is not public"
