"""Memory of proofs: answers that are kept, and arrays of sizes that a case is asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mfmasim.prove import memos, prove_case
from mfmasim.prove.contract import PROBES, _strides
from mfmasim.prove.memos import Memo
from mfmasim.verify import Case, find
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


def test_strides_are_found_by_short_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[dict[str, Any]] = []
    make = Case.make

    def noted(case: Case, parameters: dict[str, Any]) -> Any:
        asked.append(parameters)
        return make(case, parameters)

    monkeypatch.setattr(Case, "make", noted)
    cases = {case.name: case for _, some in find("gemm_blockscale") for case in some}
    assert _strides(cases["blockscale_rows_matrices"]) == ["lda", "ldc"]
    no_stride = next(case for case in cases.values() if case.parameters.get("empty") == 0)
    assert _strides(no_stride) == []
    assert [list(one.values()) for one in asked] == [[PROBES[0]]] * len(asked)
    assert len(asked) >= 3
