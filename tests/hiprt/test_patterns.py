"""Ranges of memory that hold one byte, and take memory only where they are changed."""

import os
import sys
from pathlib import Path

import numpy as np
import pytest

from mfmasim.hiprt.patterns import FEW, FILE_BYTES, PAGE, Pattern, reserved

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the mappings are those of Linux")


@pytest.fixture
def arena():
    return np.frombuffer(reserved(5 * FILE_BYTES), np.uint8)


@pytest.mark.parametrize(("start", "size"), [(3, 100), (PAGE - 5, FEW + 9), (2 * PAGE, 2 * FILE_BYTES + 3 * PAGE + 1)])
@pytest.mark.parametrize("fault", ["", "closed", "none"])
def test_a_range_holds_the_pattern_and_can_be_written(arena, start, size, fault, monkeypatch):
    pattern = Pattern(0xA5)
    if fault == "none":
        monkeypatch.setattr(os, "memfd_create", lambda name: os.open(f"/nowhere/{name}", 0))
    pattern.fill(arena, 4 * FILE_BYTES - FEW, FEW)
    if fault == "closed":  # a program that closes all files, and opens others under their numbers
        os.dup2(os.open("/dev/zero", os.O_RDONLY), pattern._file)
    pattern.fill(arena, start, size)
    assert (arena[start : start + size] == 0xA5).all()
    assert arena[start - 1] == arena[start + size] == 0
    arena[start + 1 : start + size : PAGE // 2] = 7
    again = np.frombuffer(reserved(size + PAGE), np.uint8)
    pattern.fill(again, 0, size)
    assert (again[:size] == 0xA5).all()


def test_cleared_pages_are_zeros(arena):
    pattern = Pattern(0xFF)
    pattern.fill(arena, PAGE, FILE_BYTES)
    arena[5 * PAGE] = 1
    pattern.clear(arena, 2 * PAGE, FILE_BYTES - 2 * PAGE)
    assert not arena[2 * PAGE : FILE_BYTES].any()
    assert (arena[PAGE : 2 * PAGE] == 0xFF).all()
    assert (arena[FILE_BYTES : FILE_BYTES + PAGE] == 0xFF).all()


@pytest.mark.parametrize("size", [PAGE, FEW + 7])
def test_bytes_beside_what_is_cleared_stay(arena, size):
    pattern = Pattern(0xFF)
    pattern.fill(arena, 0, 2 * FEW)
    pattern.clear(arena, PAGE - 3, size)
    assert not arena[PAGE - 3 : PAGE - 3 + size].any()
    assert (arena[: PAGE - 3] == 0xFF).all()
    assert (arena[PAGE - 3 + size : 2 * FEW] == 0xFF).all()


def test_what_is_not_changed_takes_no_memory(arena):
    def resident():
        return int(Path("/proc/self/statm").read_text().split()[1]) * PAGE

    pattern = Pattern(1)
    pattern.fill(arena, 0, FEW)
    before = resident()
    pattern.fill(arena, 0, 4 * FILE_BYTES)
    assert resident() - before < FILE_BYTES
