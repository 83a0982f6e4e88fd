"""Attributes of other modules that a session replaces, and puts back when it ends."""

from __future__ import annotations

from typing import Any, Self

MISSING = object()


class Patches:
    """Attributes set until the context ends."""

    def __init__(self) -> None:
        """None so far."""
        self._old: list[tuple[Any, str, Any]] = []

    def set(self, owner: object, name: str, value: object) -> Any:
        """Replace an attribute; returns what stood there, or None.

        Args:
            owner: a module, class or object.
            name: of the attribute.
            value: what stands there from now on.
        """
        old = owner.__dict__.get(name, MISSING)
        self._old.append((owner, name, old))
        setattr(owner, name, value)
        return None if old is MISSING else old

    def __enter__(self) -> Self:
        """Begin."""
        return self

    def __exit__(self, *error: object) -> None:
        """Put everything back, the last first."""
        for owner, name, old in reversed(self._old):
            if old is MISSING:
                delattr(owner, name)
            else:
                setattr(owner, name, old)
        self._old.clear()
