"""Answers that are kept: as many as the limit says, and none from one case to the next."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mfmasim.prove import memos, prove_case
from mfmasim.prove.memos import Memo
from tests.prove.tile_faults import RIGHT

if TYPE_CHECKING:
    import pytest


def test_a_full_memo_begins_anew() -> None:
    memo: Memo[int, int] = Memo(3)
    for number in (1, 2, 3):
        memo[number] = number
    memo[2] = 5  # known already: nothing is lost
    assert memo == {1: 1, 2: 5, 3: 3}
    memo[4] = 4
    assert memo == {4: 4}


def test_nothing_is_kept_behind_a_case(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []
    empty = memos.forget

    def noted() -> None:
        sizes.append(sum(map(len, memos._every)))
        empty()

    monkeypatch.setattr("mfmasim.prove.proof.forget", noted)
    memos.forget()  # of other tests
    proofs = [prove_case(RIGHT.case(), "gfx1250", kernel=RIGHT.kernel(), replays=False) for _ in range(2)]
    assert not any(memos._every)
    assert sizes[0] == sizes[1] > 20
    assert proofs[0].obligations == proofs[1].obligations
