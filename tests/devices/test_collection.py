"""Garbage collections are rare while a launch runs, and as the program chose them before and afterwards; what is freed
is kept for the next array, and returned when it has become much."""

import gc
import os
import subprocess
import sys
import threading

import numpy as np
import pytest

import mfmasim
from mfmasim.devices import collection
from mfmasim.devices.collection import OBJECTS, rare_collections
from mfmasim.errors import MfmasimError
from mfmasim.resources import folder


@pytest.fixture(autouse=True)
def _restored():
    before = gc.get_threshold()
    yield
    gc.set_threshold(*before)


class Seen:
    """Observes the threshold."""

    name = "seen"

    def __init__(self):
        self.found = set()

    def on_block(self, event):
        self.found.add(gc.get_threshold()[0])
        assert event.waves.size


@pytest.mark.parametrize(("chosen", "inside"), [(20_000, OBJECTS), (0, 0), (OBJECTS + 1, OBJECTS + 1)])
def test_a_launch(chosen, inside):
    gc.set_threshold(chosen, 5, 7)
    code = mfmasim.load(folder("golden") / "code" / "intro" / "mfma_f32_32x32x2_f32.gfx942.hsaco")
    kernel = code["mfma_f32_32x32x2_f32"]
    seen = Seen()
    a, b, c = np.ones(64, np.float32), np.ones(64, np.float32), np.zeros(1024, np.float32)
    mfmasim.device("sim").launch(kernel, 1, 64, [a, b, c], observers=[seen])
    assert seen.found == {inside}
    assert gc.get_threshold() == (chosen, 5, 7)
    with pytest.raises(MfmasimError):
        mfmasim.device("sim").launch(kernel, 1, 64, [a, b, c], checks="none", schedule="witness")
    assert gc.get_threshold() == (chosen, 5, 7)


@pytest.mark.parametrize("checks", ["none", "all"])
def test_registers_and_memory_end_with_the_launch(checks):
    code = mfmasim.load(folder("golden") / "code" / "intro" / "mfma_f32_32x32x2_f32.gfx942.hsaco")
    kernel = code["mfma_f32_32x32x2_f32"]
    a, b, c = np.ones(64, np.float32), np.ones(64, np.float32), np.zeros(1024, np.float32)
    for _ in range(2):  # what is memoised stays
        gc.collect()
        gc.disable()
        mfmasim.device("sim").launch(kernel, 1, 64, [a, b, c], checks=checks)
        gc.set_debug(gc.DEBUG_SAVEALL)
        gc.collect()
        gc.set_debug(0)
        gc.enable()
        found = {type(one).__name__ for one in gc.garbage}
        gc.garbage.clear()
    assert not found & {"Memory", "Waves", "Book", "Plane", "ndarray", "Block", "Launch"}, found


def test_threads_leave_in_any_order():
    gc.set_threshold(600, 5, 7)
    inside, first_may_leave = threading.Barrier(2), threading.Event()

    def launch(wait):
        with rare_collections():
            inside.wait(5)
            wait()

    with rare_collections():
        pass
    one = threading.Thread(target=launch, args=[lambda: first_may_leave.wait(5)])
    two = threading.Thread(target=launch, args=[lambda: None])
    one.start()
    two.start()
    two.join(5)
    assert gc.get_threshold()[0] == OBJECTS
    first_may_leave.set()
    one.join(5)
    assert gc.get_threshold() == (600, 5, 7)


def test_an_exception_restores_it():
    gc.set_threshold(600, 5, 7)
    with pytest.raises(ValueError, match="inside"), rare_collections():
        raise ValueError("inside")
    assert gc.get_threshold() == (600, 5, 7)


glibc = pytest.mark.skipif(collection._library is None, reason="not glibc")
MIB = 1 << 20


@glibc
def test_what_launches_left_is_returned_once_it_is_much(monkeypatch):
    def returned(growth):
        monkeypatch.setattr(collection, "GROWTH", growth)
        arrays = [np.ones(MIB, np.uint8) for _ in range(96)]
        kept = arrays[::2]  # between what is freed
        del arrays
        circle = [np.ones(32 * MIB, np.uint8)]
        circle.append(circle)
        del circle
        full = collection.resident()
        with rare_collections():
            assert len(kept) == 48
            return full - collection.resident()

    gc.collect()
    gc.disable()
    try:
        assert returned(1 << 40) < 8 * MIB
        monkeypatch.setattr(collection, "_least", 0)
        assert returned(0) > 72 * MIB
        assert collection._least > MIB
    finally:
        gc.enable()


@glibc
@pytest.mark.parametrize("chosen", [{}, {"MALLOC_TRIM_THRESHOLD_": "65536"}])
def test_arrays_of_megabytes_are_reused_whatever_the_environment_chose(chosen):
    program = """
import resource, numpy as np, mfmasim.devices.collection
np.ones(1 << 23, np.uint8)
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(20): np.ones(1 << 23, np.uint8)
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""
    out = subprocess.check_output([sys.executable, "-c", program], env={**os.environ, **chosen}, text=True)
    assert int(out) < 2048  # pages of one array
