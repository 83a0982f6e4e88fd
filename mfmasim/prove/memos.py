"""Memoised results for the proof of one case, with a limit of their number."""

from __future__ import annotations

from typing import TypeVar

__all__ = ["Memo", "forget"]

K = TypeVar("K")
V = TypeVar("V")
_every: list[Memo] = []  # type: ignore[type-arg]


class Memo(dict[K, V]):
    """Memoised results by key, emptied when it is full: lost results are computed again.

    Only ``memo[key] = value`` applies the limit, not `setdefault` or `update`. Memos of the same limit whose entries
    are set together are emptied together.
    """

    def __init__(self, most: int | None = None) -> None:
        """Begin empty.

        Args:
            most: most entries; None keeps all entries of a case.
        """
        super().__init__()
        self.most = most
        _every.append(self)

    def __setitem__(self, key: K, value: V) -> None:
        if self.most is not None and len(self) >= self.most and key not in self:
            self.clear()
        super().__setitem__(key, value)


def forget() -> None:
    """Empty all memos: the symbols of a case do not occur in another case."""
    for memo in _every:
        memo.clear()
