"""Hostile host programs, wild handles and sizes, misuse of the process: they end as on a GPU, without a traceback."""

import subprocess

import pytest

from mfmasim.hiprt import environment
from tests.hiprt.compiled import SOURCES, clang, hipcc

ABORTED, TERMINATED = -6, -15
ENDS = {0: ABORTED, 1: ABORTED, 2: 7, 3: 8, 8: TERMINATED, 10: 12}
"""How a program ends, by its seed modulo 12, where not with 0; where its stream captured, its callback was refused."""
FINDINGS = 1
"""Exit code of a program that ends with 0 and whose kernels had findings."""


def ran(program, *words):
    command = [program, *map(str, words)]
    command = [program, *map(str, words)]
    return subprocess.run(command, env=environment(), capture_output=True, text=True, timeout=3000, check=False)


@pytest.fixture(scope="module")
def wild(tmp_path_factory):
    clang()
    path = tmp_path_factory.mktemp("wild") / "wild"
    hipcc("-std=c++17", SOURCES / "wild.hip", "-o", path)
    return path


def judge(wild, first, count):
    """Run programs by their seeds, each in a child of one process."""
    done = ran(wild, first, count)
    assert done.returncode == 0, done.stderr[-2000:]
    assert "Traceback" not in done.stderr
    assert all(line.isprintable() for line in done.stderr.splitlines())
    found = dict(map(int, line.split()) for line in done.stdout.splitlines())
    assert list(found) == list(range(first, first + count))
    for seed, status in found.items():
        assert status in {ENDS.get(seed % 12, 0), 0, FINDINGS}, (seed, status)
    assert {found[seed] for seed in found} >= {ABORTED, TERMINATED, 7, 8, 12}


@pytest.mark.oracle
def test_a_dozen_hostile_programs(wild):
    judge(wild, 0, 12)


@pytest.mark.oracle
@pytest.mark.long
def test_five_hundred_hostile_programs(wild):
    judge(wild, 12, 500)


@pytest.mark.oracle
def test_a_program_alone_ends_alike(wild):
    assert [ran(wild, "alone", seed).returncode for seed in (2, 8, 10)] == [7, TERMINATED, 12]
