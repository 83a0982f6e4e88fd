"""Accounts of executed accesses against `conflicts` on each access, and advice that frees what it says."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mfmasim import lds
from mfmasim.codeobject.ctypes import array_of, named
from mfmasim.codeobject.declared import LdsVariable

LANE = np.arange(64)


def account(arch, instruction, accesses, active=None, waves=1):
    """The one account of wave accesses, each an array (1 or waves, 64)."""
    accounts = lds.Accounts(arch, 64)
    for number, addresses in enumerate(accesses):
        accounts.add(0, instruction, addresses, None if active is None else active[number], 0, waves)
    return accounts.by_place[0]


@st.composite
def executed(draw):
    """Accesses of a few waves, some of them repeated at another place, with masks."""
    rows = draw(st.integers(1, 4))
    seed = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    out = []
    for _ in range(draw(st.integers(1, 5))):
        if out and draw(st.booleans()):
            addresses, mask = out[draw(st.integers(0, len(out) - 1))]
            out.append((addresses + 4 * draw(st.integers(0, 64)), mask))
            continue
        stride = 4 * draw(st.integers(0, 40))
        addresses = (LANE * stride + 4 * seed.integers(0, draw(st.integers(1, 64)), (rows, 64))) % 16384
        mask = seed.random((rows, 64)) < draw(st.sampled_from([0.1, 0.5, 1.0]))
        out.append((addresses.astype(np.int64), mask))
    return out


@given(executed(), st.sampled_from(["gfx942", "gfx950"]), st.sampled_from(["ds_read_b32", "ds_write_b32"]))
def test_an_account_is_the_sum_of_its_accesses(accesses, arch, instruction):
    rows = len(accesses[0][0])
    found = account(arch, instruction, [a for a, _ in accesses], [m for _, m in accesses], rows)
    each = [lds.conflicts(arch, instruction, a, m, warn=False) for a, m in accesses]
    assert found.extra_passes == sum(int(c.extra_passes.sum()) for c in each)
    assert found.passes == sum(int(c.passes.sum()) for c in each)
    assert found.degrees == tuple(np.max([c.degrees.max(axis=0) for c in each], axis=0).tolist())
    assert found.executions == rows * len(accesses)


def test_one_row_stands_for_all_waves():
    found = account("gfx942", "ds_read_b32", [(LANE * 8)[None]], waves=1000)
    assert (found.executions, found.extra_passes, found.degrees) == (1000, 2000, (2, 2))


def test_moved_accesses_are_one_pattern_and_the_bytes_are_those_of_all():
    found = account("gfx942", "ds_read_b32", [(LANE * 8 + 512 * k)[None] for k in range(20)])
    assert found.extra_passes == 40
    assert (found.lowest, found.highest) == (0, 63 * 8 + 19 * 512 + 4)


def test_more_patterns_than_are_remembered_are_still_counted():
    random = np.random.default_rng(3)
    accesses = [4 * random.integers(0, 4096, (1, 64)) for _ in range(700)]
    found = account("gfx950", "ds_read_b32", accesses)
    each = lds.conflicts("gfx950", "ds_read_b32", np.concatenate(accesses), warn=False)
    assert found.extra_passes == int(each.extra_passes.sum())
    assert len(found.samples) == 32


def test_worst_lanes_hold_different_dwords_of_one_bank():
    tile = LANE % 16 * 128 + LANE // 16 * 16
    found = account("gfx950", "ds_read_b128", [tile[None]])
    lanes = found.worst_lanes()
    assert len(lanes) == 4
    first = {int(tile[lane]) // 4 % 64 // 4 for lane in lanes}
    assert len(first) == 1
    assert len({int(tile[lane]) for lane in lanes}) == 4
    assert account("gfx950", "ds_read_b128", [LANE[None] * 16]).worst_lanes() == ()


@pytest.mark.parametrize(("arch", "expected"), [("gfx942", 24), ("gfx950", 12)])  # 8 or 4 phases of degree 4
def test_advice_frees_the_gemm_tile_and_its_store(arch, expected):
    accounts = lds.Accounts(arch, 64)
    accounts.add("write", "ds_write_b128", np.array([LANE * 16, LANE * 16 + 1024]), None, 0, 2)
    for half in (0, 64):
        accounts.add("read", "ds_read_b128", (LANE % 16 * 128 + LANE // 16 * 16 + half)[None], None, 0, 1)
    assert accounts.by_place["read"].extra_passes == 2 * expected
    ((group, advice),) = lds.advise(list(accounts.by_place.values()))
    assert len(group) == 2
    assert advice.before == 2 * expected
    assert advice.after == 0
    assert (advice.row_bytes, advice.pad) == (0, 0), "an exclusive-or"
    everywhere = np.arange(0, 2048, 16)
    assert sorted(advice.of(everywhere).tolist()) == everywhere.tolist(), "the change must be a bijection"


def test_advice_of_padding_where_an_exclusive_or_would_leave_the_bytes():
    """32 lanes 128 bytes apart are on one bank; 4 bytes after each row put each on the next bank."""
    accounts = lds.Accounts("gfx942", 64)
    half = (LANE < 32)[None]
    accounts.add(0, "ds_read_b32", (4 + LANE * 128)[None], half, 0, 1)
    ((_, advice),) = lds.advise(list(accounts.by_place.values()))
    assert (advice.term, advice.row_bytes, advice.pad) == (None, 128, 4)
    assert (advice.before, advice.after) == (31, 0), "the phase without active lanes has no pass and no extra one"
    assert str(advice).splitlines() == [
        "4 bytes after every 128 of bytes 4..3975",
        "with it, a sample of 1 access has no extra pass instead of 31",
    ]


def test_advice_is_for_the_array_that_holds_the_bytes_not_for_its_neighbours():
    """The first and the last column of an array, with arrays that end where it begins and begin where it ends."""
    tile = LdsVariable("tile", array_of(array_of(named("float"), 32), 32), 128, 4096)
    around = [LdsVariable("before", named("float"), 0, 128), LdsVariable("after", named("float"), 4224, 128)]
    accounts = lds.Accounts("gfx942", 64)
    for column in (0, 124):
        accounts.add(column, "ds_read_b32", (128 + LANE % 32 * 128 + column)[None], None, 0, 1)
    ((_, advice),) = lds.advise(list(accounts.by_place.values()), [*around, tile])
    assert advice.variable is tile


def test_advice_for_arrays_apart_is_apart():
    accounts = lds.Accounts("gfx942", 64)
    accounts.add("a", "ds_read_b32", (LANE % 32 * 128)[None], None, 0, 1)
    accounts.add("b", "ds_read_b32", (8192 + LANE * 4)[None], None, 0, 1)
    ((group, _),) = lds.advise(list(accounts.by_place.values()))
    assert group == (accounts.by_place["a"],)


def test_an_access_that_no_change_frees_gets_no_advice():
    lanes = np.where(LANE == 0, 0, 128)  # one byte pair apart by a whole line of banks, and nothing else to move
    accounts = lds.Accounts("gfx942", 64)
    accounts.add(0, "ds_read_b32", (lanes + 2)[None], None, 0, 1)
    assert lds.advise(list(accounts.by_place.values())) == []


@given(executed(), st.integers(1, 3))
def test_accounts_of_parts_together_are_those_of_the_whole(accesses, cut):
    """Waves counted in two parts give the same numbers, the same examples and the same advice."""
    rows = len(accesses[0][0])
    cut = min(cut, rows)

    def counted(first, last):
        accounts = lds.Accounts("gfx942", 64)
        for place, (addresses, mask) in enumerate(accesses):
            if last > first:
                accounts.add(place, "ds_read_b32", addresses[first:last], mask[first:last], 0, last - first)
        return accounts

    whole, parts = counted(0, rows), counted(0, cut)
    parts.merge(counted(cut, rows))
    for place, account in whole.by_place.items():
        other = parts.by_place[place]
        assert (account.executions, account.extra_passes, account.degrees) == (
            other.executions,
            other.extra_passes,
            other.degrees,
        )
        assert (account.lowest, account.highest) == (other.lowest, other.highest)
        assert account.worst_lanes() == other.worst_lanes()
        assert [s.addresses.tolist() for s in account.samples] == [s.addresses.tolist() for s in other.samples]
    assert [str(a) for _, a in lds.advise(list(whole.by_place.values()))] == [
        str(a) for _, a in lds.advise(list(parts.by_place.values()))
    ]
