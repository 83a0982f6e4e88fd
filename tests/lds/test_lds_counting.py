"""The fast count of bank conflicts: against the slow one, and what must hold of every count."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mfmasim import lds
from mfmasim.architectures import ARCHITECTURES
from mfmasim.lds.counting import count_degrees
from mfmasim.testing import lds_accesses
from tests.lds.lds_probes import degrees
from tests.slow import lds_conflicts

# The fast count against the slow one.

CASES = [
    (arch, name)
    for arch in ("gfx942", "gfx950", "gfx1100", "gfx1201")
    for name in ("ds_read_u8", "ds_read_u16", "ds_read_b32", "ds_read_b64", "ds_read_b96", "ds_read_b128",
                 "ds_write_b8", "ds_write_b16", "ds_write_b32", "ds_write_b64", "ds_write_b96", "ds_write_b128",
                 "ds_add_u32", "ds_add_u64")
]  # fmt: skip


@pytest.mark.parametrize("rule", lds.RULES)
@pytest.mark.parametrize(("arch", "name"), CASES)
def test_fast_count_equals_slow_count(arch, name, rule):
    rng = np.random.default_rng([lds.RULES.index(rule), *f"{arch}{name}".encode()])
    row, table = lds.ds_instruction(arch, name), lds.phase_table(arch, name)
    wave = ARCHITECTURES[arch].wave_sizes[0]
    aligned = rng.integers(0, 256, (12, wave)) * row.alignment
    by_dword = rng.integers(0, 1024, (6, wave)) * 4
    by_byte = rng.integers(0, 4096, (6, wave))
    crowded = rng.integers(0, 4, (6, wave)) * 128 + rng.integers(0, 3, (6, wave)) * row.alignment
    place = np.concatenate([aligned, by_dword, by_byte, crowded])
    active = rng.random(place.shape) < rng.choice([0.1, 0.6, 1.0], (len(place), 1))
    compared = 0
    # Apart, because alignment decides between the two ways of counting.
    for rows in (slice(0, 12), slice(12, 18), slice(18, 24), slice(24, 30)):
        fast = degrees(arch, name, place[rows], active[rows], rule)
        for number, found in enumerate(fast):
            slow = lds_conflicts.degrees(
                table.sets(wave), table.banks, place[rows][number].tolist(), row.size, active[rows][number], rule
            )
            assert found == slow
            compared += len(slow)
    assert compared >= 30


def test_batches_larger_than_a_block():
    rng = np.random.default_rng(5)
    place = rng.integers(0, 2048, (5000, 64)) * 16
    found = lds.conflicts("gfx950", "ds_read_b128", place.reshape(50, 100, 64))
    assert found.degrees.shape == (50, 100, 4)
    assert found.extra_passes.shape == (50, 100)
    for number in (0, 2047, 2048, 4999):
        alone = lds.conflicts("gfx950", "ds_read_b128", place[number])
        assert found.degrees.reshape(-1, 4)[number].tolist() == alone.degrees.tolist()
        assert found[divmod(number, 100)].phases[2].degree == alone.degrees[2]
    with_idle = lds.conflicts("gfx950", "ds_read_b128", place, active=place > 1024)
    assert (
        with_idle[4999].degrees.tolist()
        == lds.conflicts("gfx950", "ds_read_b128", place[4999], active=place[4999] > 1024).degrees.tolist()
    )


def test_phases_hold_what_the_degrees_say():
    rng = np.random.default_rng(6)
    for name, size in (("ds_read_b32", 4), ("ds_read_b64", 8), ("ds_read_b128", 16)):
        found = lds.conflicts("gfx942", name, rng.integers(0, 256, 64) * size)
        assert len(found.phases) == len(found.degrees) >= 2
        for phase in found.phases:
            most = max(len(dwords) for dwords in phase.banks.values())
            assert most == phase.degree
            assert {lane for dwords in phase.banks.values() for lanes in dwords.values() for lane in lanes} == set(
                phase.lanes
            )


# Properties.

SIZES = [("gfx942", (32, 64, 96, 128)), ("gfx950", (64, 96, 128))]
READS = [(arch, f"ds_read_b{bits}") for arch, sizes in SIZES for bits in sizes]


@settings(max_examples=60, deadline=None)
@given(lds_accesses(READS))
def test_degrees_are_bounded(access):
    arch, name, place, active = access
    sets = lds.phase_table(arch, name).sets(64)
    assert sorted(lane for lanes in sets for lane in lanes) == list(range(64))
    for degree, lanes in zip(degrees(arch, name, place, active), sets, strict=True):
        taking = int(active[list(lanes)].sum())
        assert (degree >= 1) == (taking > 0)
        assert degree <= max(taking, 0) * (2 if taking else 1)


@settings(max_examples=60, deadline=None)
@given(lds_accesses(READS))
def test_greedy_needs_at_least_the_maximum(access):
    arch, name, place, active = access
    maximum, greedy = (degrees(arch, name, place, active, rule) for rule in lds.RULES)
    assert len(greedy) == len(lds.phase_table(arch, name).sets(64)) >= 1
    assert all(g >= m for g, m in zip(greedy, maximum, strict=True))


@settings(max_examples=60, deadline=None)
@given(lds_accesses(READS, aligned=True))
def test_both_rules_agree_on_aligned_accesses(access):
    arch, name, place, active = access
    maximum, greedy = (degrees(arch, name, place, active, rule) for rule in lds.RULES)
    assert greedy == maximum


def test_greedy_can_need_more_than_the_maximum():
    """Misaligned: 0 and 1 go together, 2 waits for 0, 3 for 1 and 2; two passes would do for (0, 3) and (1, 2)."""
    table = lds.PhaseTable([list(range(64))], 32)
    place = np.array([0, 36, 140, 280] + [0] * 60)
    active = np.arange(64) < 4
    sizes = [degrees("gfx942", "ds_read_b128", place, active, rule, table=table)[0] for rule in lds.RULES]
    slow = [lds_conflicts.degrees([range(64)], 32, place.tolist(), 16, active, rule)[0] for rule in lds.RULES]
    assert sizes == slow
    assert sizes == [2, 3]


@settings(max_examples=60, deadline=None)
@given(lds_accesses(READS, aligned=True), st.randoms(use_true_random=False), st.integers(0, 20))
def test_relabelling_lanes_of_a_phase_or_moving_by_whole_rounds_changes_nothing(access, random, rounds):
    arch, name, place, active = access
    table = lds.phase_table(arch, name)
    new = np.arange(64)
    for lanes in table.sets(64):
        mixed = list(lanes)
        random.shuffle(mixed)
        new[list(lanes)] = mixed
    before = degrees(arch, name, place, active)
    assert degrees(arch, name, place[new], active[new]) == before
    assert degrees(arch, name, place + rounds * 4 * table.banks, active) == before


def test_lanes_in_order_take_more_passes_than_the_fullest_bank():
    """Three dwords a lane in 4 banks, from bank 0, 1, 2 and 3: no two lanes fit, and a bank has three of the dwords."""
    sets, addresses = ((0, 1, 2, 3),), np.array([[0, 20, 40, 60]])
    assert count_degrees(sets, 4, addresses, 12).tolist() == [[3]]
    assert count_degrees(sets, 4, addresses, 12, greedy=True).tolist() == [[4]]
