"""A GPU behind a process: views, threads, forks and signals. Run by test_hiprt_suites.py."""

import gc
import os
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

import mfmasim
from mfmasim.devices.hip import HipDevice
from mfmasim.errors import MfmasimError
from mfmasim.resources import folder

SOURCE = Path(__file__).parents[1] / "devices" / "kernels.hip"
LOOP = mfmasim.load(folder("golden") / "code" / "bench" / "valu_loop.gfx942.hsaco")


@pytest.fixture(scope="module")
def axpy():
    return mfmasim.compile(SOURCE, "gfx942")["axpy"]


@pytest.fixture(scope="module")
def devices():
    return {"sim": mfmasim.device("sim"), "process": mfmasim.device("hip"), "here": HipDevice()}


def values(count=64):
    return np.arange(count, dtype=np.float32)


def launch(device, axpy, x, y, count=64):
    return device.launch(axpy, 1, 64, [np.float32(2), x, y, np.int32(count)])


def outcome(device, axpy, make):
    """What a launch left in the memory that its arrays show, or its error."""
    memory, x, y = make()
    try:
        report = launch(device, axpy, x, y, min(x.size, y.size))
    except MfmasimError as error:
        return str(error)
    return report.ok, memory.tobytes()


def one_object():
    memory = values()
    return memory, memory, memory


def two_views():
    memory = values()
    return memory, memory[:], memory[:]


def two_types():
    memory = values()
    return memory, memory.view(np.int32).view(np.float32), memory.reshape(8, 8)


def no_overlap():
    memory = values(128)
    return memory, memory[:64], memory[64:]


def partial_overlap():
    memory = values(128)
    return memory, memory[:64], memory[32:96]


def strided():
    memory = values(128)
    return memory, memory[::2], memory[1::2]


def read_only_source():
    memory, x = values(), values()
    x.flags.writeable = False
    return memory, x, memory


def read_only_result():
    memory = values()
    memory.flags.writeable = False
    return memory, values(), memory


def empty():
    memory = values(0)
    return memory, memory[:], memory[:]


def zero_dimensions():
    memory = np.float32(3).reshape(())
    return memory, memory, memory


MAKERS = [
    one_object, two_views, two_types, no_overlap, partial_overlap, strided, read_only_source, empty, zero_dimensions,
]  # fmt: skip


@pytest.mark.parametrize("make", MAKERS)
def test_memory_is_what_counts_not_the_object(devices, axpy, make):
    expected = outcome(devices["sim"], axpy, make)
    assert {name: outcome(device, axpy, make) for name, device in devices.items()} == dict.fromkeys(devices, expected)
    if make in (one_object, two_views, two_types):
        assert expected == (True, (3 * values()).tobytes())
    if make is partial_overlap:
        assert "overlaps argument 1" in expected


def test_threads_get_their_own_results(devices, axpy):
    device, wrong = devices["process"], []

    def work(number):
        for turn in range(8):
            x, y = np.full(64, number + 1, np.float32), np.full(64, turn, np.float32)
            launch(device, axpy, x, y)
            if not (y == 2 * (number + 1) + turn).all():
                wrong.append((number, turn))
            if not turn % 4 and device.versions()["runtime"] < 1:
                wrong.append((number, "versions"))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert not wrong
    assert not any(thread.is_alive() for thread in threads)
    assert device.restarts == 0


def test_the_device_outlives_the_thread_that_opened_it(axpy):
    with ThreadPoolExecutor(1) as pool:
        device = pool.submit(mfmasim.device, "hip").result()
    time.sleep(0.2)
    assert outcome(device, axpy, two_views)[0]
    assert device.restarts == 0


def test_a_fork_has_its_own_process(axpy):
    device = mfmasim.device("hip")
    assert outcome(device, axpy, one_object)[0]
    with device._lock:  # as another thread could at the moment of the fork
        child = os.fork()
        if not child:
            os._exit(0 if outcome(device, axpy, one_object)[0] and device.restarts == 1 else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert outcome(device, axpy, one_object)[0]
    assert device.restarts == 0


@pytest.mark.parametrize(("number", "says"), [
    (signal.SIGKILL, r"the device's process ended during \S+ \(SIGKILL\): it was ended from outside, for instance"),
    (signal.SIGTERM, r"the device's process ended during \S+ \(SIGTERM\)$"),
    (signal.SIGABRT, r"ended the device's process \(SIGABRT\), as a memory fault on a GPU does$"),
    (signal.SIGSEGV, r"ended the device's process \(SIGSEGV\), as a memory fault on a GPU does$"),
])  # fmt: skip
def test_only_what_a_kernel_can_cause_is_called_its_fault(axpy, number, says):
    device = mfmasim.device("hip")
    process = device._workers[0].process
    after = threading.Timer(0.5, process.send_signal, (number,))
    after.start()
    kernel = LOOP[next(iter(LOOP.kernels))]
    with pytest.raises(MfmasimError, match=says):
        device.launch(kernel, 8, 64, [np.zeros(512, np.uint32), np.int32(2_000_000_000), np.uint32(7)])
    after.join()
    assert process.returncode == -number
    assert outcome(device, axpy, one_object)[0], "the next launch starts another process"
    assert device.restarts == 1


def test_a_process_that_ended_between_launches_costs_nothing(axpy):
    device = mfmasim.device("hip")
    device._workers[0].process.kill()
    device._workers[0].process.wait()
    assert outcome(device, axpy, two_views) == (True, (3 * values()).tobytes())
    assert device.restarts == 1


@pytest.mark.skipif(not Path("/proc/self/limits").exists(), reason="reads limits in /proc")
def sending(device, monkeypatch, act):
    """Let `act(connection, message)` take the place of the next send; as a signal's handler in the midst of it."""
    connection = device._workers[0].connection
    monkeypatch.setattr(connection, "send", lambda message: act(connection, message), raising=False)


def test_an_interrupted_request_does_not_spoil_the_next(monkeypatch):
    device = mfmasim.device("hip")
    versions, process = device.versions(), device._workers[0].process

    def half(connection, message):
        os.write(connection.fileno(), b"\0\0\1\0 half of it")
        raise KeyboardInterrupt

    sending(device, monkeypatch, half)
    with pytest.raises(KeyboardInterrupt):
        device.versions()
    assert process.poll() is not None
    assert device.versions() == versions
    assert device.restarts == 1


def test_a_request_within_another_is_refused(monkeypatch):
    device = mfmasim.device("hip")
    versions, refused = device.versions(), []

    def nested(connection, message):
        with pytest.raises(MfmasimError, match=r"^hip: details while this thread waits for versions") as error:
            device.details({})
        refused.append(str(error.value))
        type(connection).send(connection, message)

    sending(device, monkeypatch, nested)
    assert device.versions() == versions
    assert len(refused) == 1


def test_a_fault_leaves_no_core_file():
    device = mfmasim.device("hip")
    (line,) = (
        line
        for line in Path(f"/proc/{device._workers[0].process.pid}/limits").read_text().splitlines()
        if line.startswith("Max core file size")
    )
    assert line.split()[4] == "0"


def test_a_device_that_is_given_up_leaves_no_process():
    device = mfmasim.device("hip")
    process = device._workers[0].process
    del device
    gc.collect()
    assert process.poll() == 0


class Sequences(RuleBasedStateMachine):
    """Launches, ends of processes and new devices in any order: three devices, one result."""

    kernel = None
    devices = None

    @rule(make=st.sampled_from(MAKERS), thread=st.booleans())
    def launch(self, make, thread):
        def run(device):
            if not thread:
                return outcome(device, self.kernel, make)
            with ThreadPoolExecutor(1) as pool:
                return pool.submit(outcome, device, self.kernel, make).result()

        found = {name: run(device) for name, device in self.devices.items()}
        assert found == dict.fromkeys(found, found["sim"])

    @rule(bad=st.sampled_from([[], [1, 2], [None, None, 3, 4.5], "text", {"z": 1}]))
    def refused(self, bad):
        texts = set()
        for device in self.devices.values():
            with pytest.raises(MfmasimError) as error:
                device.launch(self.kernel, 1, 64, bad)
            texts.add(str(error.value))
        assert len(texts) == 1

    @rule(number=st.sampled_from([signal.SIGKILL, signal.SIGTERM, signal.SIGSEGV]))
    def process_ends(self, number):
        for worker in self.devices["process"]._workers:
            worker.process.send_signal(number)
            worker.process.wait()

    @rule()
    def fault(self):
        with pytest.raises(MfmasimError, match="hipError"):
            self.devices["process"].launch(
                self.kernel, 4096, 64, [np.float32(2), values(), values(), np.int32(1 << 18)]
            )
        assert not self.devices["process"]._workers, "the context is lost"

    @rule()
    def opened_again(self):
        self.devices["process"] = mfmasim.device("hip")

    @invariant()
    def at_most_one_process(self):
        assert len(self.devices["process"]._workers) <= 1


def test_any_sequence_gives_the_same_on_three_devices(devices, axpy):
    class Machine(Sequences):
        kernel = axpy

    Machine.devices = dict(devices)
    run_state_machine_as_test(Machine, settings=settings(max_examples=4, stateful_step_count=10, deadline=None))
