"""Operations issued and complete by wave: waits, the limit of a counter, classes without an order, barriers."""

from types import SimpleNamespace

import numpy as np

from mfmasim.observe.ordering.progress import Progress

LOAD, STORE = ("vm", "loads"), ("vm", "")


def step(*, up=(), waits=(), signals=False, joins=False):
    raised = [SimpleNamespace(counter=counter, order=order, limit=limit) for (counter, order), limit in up]
    return SimpleNamespace(up=raised, waits=waits, signals=signals, joins=joins)


def test_a_wait_leaves_the_last_operations_of_an_order_in_flight():
    progress = Progress(None, 3)
    both, told = np.array([0, 2]), []
    for _ in range(5):
        progress.advance(step(up=[(LOAD, 63), (STORE, 63)]), both, told.append)
    progress.advance(step(up=[(LOAD, 63)]), both[:1], told.append)
    assert progress.issued[LOAD].tolist() == [6, 0, 5]
    assert progress.complete[LOAD].tolist() == [0, 0, 0]
    progress.advance(step(waits=[("other", 0)]), both, told.append)
    assert progress.complete[LOAD].tolist() == [0, 0, 0]
    progress.advance(step(waits=[("vm", 2)]), both, told.append)
    assert progress.complete[LOAD].tolist() == [4, 0, 3]
    assert progress.complete[STORE].tolist() == [0, 0, 0], "without an order nothing is known before a wait for 0"
    progress.advance(step(waits=[("vm", 4)]), both, told.append)
    assert progress.complete[LOAD].tolist() == [4, 0, 3], "a weaker wait takes nothing back"
    progress.advance(step(waits=[("vm", 0)]), both[1:], told.append)
    assert progress.complete[LOAD].tolist() == [4, 0, 5]
    assert progress.complete[STORE].tolist() == [0, 0, 5]
    assert not told


def test_a_full_counter_waits_for_the_first_operation():
    progress = Progress(None, 1)
    for _ in range(5):
        progress.advance(step(up=[(LOAD, 3)]), np.array([0]), None)
    assert progress.complete[LOAD].tolist() == [2]


def test_barriers_signalled_and_passed():
    progress, told = Progress(None, 2), []
    progress.advance(step(signals=True), np.array([1]), told.append)
    assert (progress.signalled.tolist(), progress.joined.tolist()) == ([0, 1], [0, 0])
    progress.advance(step(joins=True), np.array([1]), told.append)
    assert (progress.signalled.tolist(), progress.joined.tolist()) == ([0, 1], [0, 1])
    assert [waves.tolist() for waves in told] == [[1]]
