"""Answers that are kept for the proof of one case, and not more of them than memory admits."""

from __future__ import annotations

from typing import TypeVar

__all__ = ["Memo", "forget"]

K = TypeVar("K")
V = TypeVar("V")
_every: list[Memo] = []  # type: ignore[type-arg]


class Memo(dict[K, V]):
    """Answers by their questions, emptied when it is full: what is lost is asked again.

    Only ``memo[key] = value`` heeds the limit, not `setdefault` or `update`. Memos of the same limit whose entries are
    set together are emptied together.
    """

    def __init__(self, most: int | None = None) -> None:
        """Keep at most so many answers.

        Args:
            most: how many; None keeps all of a case.
        """
        super().__init__()
        self.most = most
        _every.append(self)

    def __setitem__(self, key: K, value: V) -> None:
        if self.most is not None and len(self) >= self.most and key not in self:
            self.clear()
        super().__setitem__(key, value)


def forget() -> None:
    """Empty all of them: the symbols of a case do not occur in another one."""
    for memo in _every:
        memo.clear()
