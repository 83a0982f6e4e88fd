"""Pages of the course: the exercises' texts, as the package holds them."""

from __future__ import annotations

__all__ = ["course_pages"]


def course_pages() -> dict[str, str]:
    """Pages by path."""
    return {}
