"""Pairs of accesses to global memory: which need no order, what is missing between them, and how many are looked at."""

import itertools
from dataclasses import fields
from types import SimpleNamespace

import numpy as np
import pytest

from mfmasim.isa.scopes import DEVICE, PLAIN, UNSTATED, WORKGROUP
from mfmasim.observe.ordering import pairs
from mfmasim.observe.ordering.clocks import ROWS
from mfmasim.observe.ordering.history import Entries

KINDS = [
    *(SimpleNamespace(kind="read", reach=reach, scalar=False) for reach in (PLAIN, WORKGROUP, DEVICE)),
    *(SimpleNamespace(kind="write", reach=reach, scalar=False) for reach in (PLAIN, WORKGROUP, UNSTATED, DEVICE)),
    *(SimpleNamespace(kind="atomic", reach=reach, scalar=False) for reach in (WORKGROUP, DEVICE)),
]
"""All that `mfmasim.isa.scopes.reach` returns."""
PER = 2
"""Waves of a workgroup."""


def entries(**columns):
    """Entries with some columns, the others zero."""
    length = len(next(iter(columns.values())))
    return Entries(**{one.name: np.array(columns.get(one.name, np.zeros(length, np.int64))) for one in fields(Entries)})


def combinations():
    """Every kind by wave 0 with every kind by wave 1, which is of its workgroup, or 2: judge, indices, kinds, near."""
    found = list(itertools.product(KINDS, KINDS, (1, 2)))
    kind = [KINDS.index(one) for first, second, _ in found for one in (first, second)]
    wave = [number for _, _, second in found for number in (0, second)]
    arch, knowledge = SimpleNamespace(several_l2=False), [np.zeros((ROWS, 4), np.int32)]
    clusters = SimpleNamespace(together=1)
    history = SimpleNamespace(arch=arch, per=PER, in_order=False, kinds=KINDS, knowledge=knowledge, clusters=clusters)
    judge = pairs._Judge(history, entries(kind=kind, wave=wave, unit=np.arange(len(kind)) // 2))
    first = np.arange(0, len(kind), 2)
    return judge, first, [(one, other, second < PER) for one, other, second in found]


def sure(one, near):
    """Whether an access is an atomic one, as its instruction shows, for waves of its workgroup or for all."""
    return one.reach == DEVICE or (near and (one.reach == WORKGROUP or one.kind == "atomic"))


def test_atomic_accesses_need_no_order_where_their_scope_reaches_both():
    """A store whose bits do not say its scope may be atomic where the other access is; no cluster is larger here."""
    judge, first, cases = combinations()
    expected = [
        (sure(one, near) and sure(other, near))
        or (sure(one, near) and other.reach == UNSTATED)
        or (sure(other, near) and one.reach == UNSTATED)
        for one, other, near in cases
    ]
    assert judge.fine_together(first, first + 1).tolist() == expected
    assert judge.fine_together(first + 1, first).tolist() == expected
    assert {True, False} == set(expected)


def test_what_is_missing_between_accesses_without_an_order():
    """In a workgroup a barrier; between workgroups a wider scope, if both show that they are atomic; else all."""
    judge, first, cases = combinations()

    def atomic(one):
        return one.kind == "atomic" or one.reach in (WORKGROUP, DEVICE)

    expected = [
        pairs.NO_BARRIER if near else pairs.NARROW if atomic(one) and atomic(other) else pairs.NOTHING
        for one, other, near in cases
    ]
    assert judge.between(first, first + 1).tolist() == expected
    assert {pairs.NO_BARRIER, pairs.NARROW, pairs.NOTHING} == set(expected)


@pytest.mark.parametrize("chunk", [1, 4, 1 << 20])
def test_pairs_with_a_write_each_once(chunk, monkeypatch):
    """Units with 3, 1 and 4 accesses; a wave's own accesses are no pair. The limit counts what is gone through."""
    monkeypatch.setattr(pairs, "CHUNK", chunk)
    found = entries(unit=[0, 0, 0, 1, 2, 2, 2, 2], wave=[0, 1, 2, 0, 0, 0, 1, 3])
    writes = np.array([1, 0, 1, 1, 1, 0, 1, 0], bool)
    history = SimpleNamespace(full=False)

    def tried():
        return [
            (int(x), int(y)) for a, b in pairs._candidates(found, writes, history) for x, y in zip(a, b, strict=True)
        ]

    expected = [(0, 1), (0, 2), (2, 1), (4, 6), (4, 7), (6, 5), (6, 7)]
    assert tried() == expected
    monkeypatch.setattr(pairs, "MOST", 3 + 3 + 1 + 4 + 4)
    assert tried() == expected
    assert not history.full
    monkeypatch.setattr(pairs, "MOST", 3 + 3 + 1 + 4 + 3)
    left = tried()
    assert history.full == (chunk < 15)  # the first piece is gone through whatever it takes
    assert left == (expected if chunk > 15 else expected[: len(left)])
    assert (len(left) < len(expected)) == history.full
