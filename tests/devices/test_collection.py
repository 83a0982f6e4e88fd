"""Garbage collections are rare while a launch runs, and as the program chose them before and afterwards."""

import gc
import threading

import numpy as np
import pytest

import mfmasim
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
