"""Fuzz: damaged code objects, random bytes and instructions end in a clear error or in findings, within the budget.

The quick tier takes a few hundred of them, the same each time; ``-m long`` takes others each round.
"""

from __future__ import annotations

import numpy as np
import pytest

from tests.longtier import this_round
from tests.machine import fuzzing, test_findings
from tests.tiers import tiers

WAYS = {
    "the whole file": fuzzing.mutate,
    "the code": lambda data, rng: fuzzing.mutate(data, rng, ".text"),
    "descriptors and constants": lambda data, rng: fuzzing.mutate(data, rng, ".rodata"),
    "spliced instructions": fuzzing.splice,
    "metadata": lambda data, rng: fuzzing.mutate(data, rng, ".note"),
    "dynamic symbols": lambda data, rng: fuzzing.mutate(data, rng, ".dynsym"),
    "source lines": lambda data, rng: fuzzing.mutate(data, rng, ".debug_line"),
    "a cut": lambda data, rng: data[: int(rng.integers(len(data)))],
    "random operands": lambda data, rng: fuzzing.random_text(data, rng, int(rng.integers(1, 60))),
    "random instructions": lambda data, rng: fuzzing.random_program(data, rng, int(rng.integers(1, 200))),
    "random bytes": lambda data, rng: data[: int(rng.integers(64))] + rng.bytes(int(rng.integers(2000))),
}


def fuzz(way, seed, count):
    """Try `count` mutants of the prebuilt code objects."""
    assert len(fuzzing.CORPUS) >= 8
    rng = np.random.default_rng([seed, list(WAYS).index(way)])
    tally = fuzzing.Tally()
    for _ in range(count):
        path = fuzzing.CORPUS[int(rng.integers(len(fuzzing.CORPUS)))]
        fuzzing.attempt(WAYS[way](path.read_bytes(), rng), tally, block=int(rng.choice([1, 64, 100])))
    assert tally.total == count
    return tally


@pytest.mark.parametrize("way", WAYS)
def test_damaged_input_is_told(way):
    tally = fuzz(way, 1, 20)
    # The mutants are not all the same: most ways leave some that run, and break some.
    if way in ("the code", "random instructions", "metadata"):
        assert tally.refused
        assert tally.finished + tally.stopped


@pytest.mark.parametrize("way", ["the code", "spliced instructions", "random operands", "random instructions"])
@pytest.mark.parametrize("arch", test_findings.ARCHITECTURES)
@pytest.mark.parametrize("count", tiers([8, 60], [8]))
def test_damaged_kernels_of_every_kind(arch, way, count):
    """Calls, scratch, LDS, atomics, barriers and traps, on every architecture that the machine runs."""
    rng = np.random.default_rng([7, list(WAYS).index(way)])
    data = test_findings.compiled(arch).object.data
    tally = fuzzing.Tally()
    for number in range(count):
        fuzzing.attempt(WAYS[way](data, rng), tally, block=int(rng.choice([1, 64, 192])), which=number)
    assert tally.total == count
    assert tally.finished + tally.stopped


def test_whole_files_run():
    """What is mutated is sound: unchanged, every code object of the corpus runs with the fuzzer's arguments."""
    tally = fuzzing.Tally()
    for path in fuzzing.CORPUS:
        fuzzing.attempt(path.read_bytes(), tally)
    assert tally.refused == 0
    assert tally.total == len(fuzzing.CORPUS)


@pytest.mark.long
@pytest.mark.parametrize("half", range(2))
@pytest.mark.parametrize("way", WAYS)
def test_damaged_input_is_told_at_length(way, half):
    fuzz(way, 10 + 2 * this_round() + half, 100)
