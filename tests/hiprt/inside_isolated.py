"""A GPU behind a process: views, threads, forks and signals. Run by test_hiprt_suites.py."""

import ctypes
import gc
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import mfmasim
from mfmasim.devices.hip import HipDevice
from mfmasim.errors import DeviceError, MfmasimError
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


@pytest.mark.parametrize(
    ("number", "says"),
    [
        (signal.SIGKILL, r"the device's process ended during \S+ \(SIGKILL\): it was ended from outside, for instance"),
        (signal.SIGTERM, r"the device's process ended during \S+ \(SIGTERM\)$"),
        (signal.SIGABRT, r"ended the device's process \(SIGABRT\), as a memory fault on a GPU does$"),
        (signal.SIGSEGV, r"ended the device's process \(SIGSEGV\), as a memory fault on a GPU does$"),
    ],
)
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


@pytest.mark.skipif(not Path("/proc/self/limits").exists(), reason="reads limits in /proc")
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


class Refusing(np.ndarray):
    """An array that cannot be written through its own methods."""

    def __setitem__(self, key, value):
        raise OSError("no space left")


def refusing():
    memory, y = values(), values()
    return y, memory, y.view(Refusing)


def masked():
    memory, y = values(), values()
    return y, memory, np.ma.array(y, mask=True, hard_mask=True, copy=False)


def matrix():
    memory, y = values(), values()
    return y, memory, y.view(np.matrix)


@pytest.mark.parametrize("make", [refusing, masked, matrix])
def test_arrays_of_derived_classes_are_memory(devices, axpy, make):
    found = {name: outcome(device, axpy, make) for name, device in devices.items()}
    assert found == dict.fromkeys(devices, (True, (3 * values()).tobytes()))


def test_an_array_that_becomes_read_only_during_a_launch_gets_its_result(devices, axpy):
    for device in devices.values():
        x, y = values(), values()
        original = axpy.args
        launch(device, axpy, x, y)
        y.flags.writeable = False
        assert axpy.args == original
        assert launch(device, axpy, x, y).findings, "the kernel writes an array that is not writable"
        assert (y == 3 * values()).all()


@pytest.mark.parametrize("number", [1, 9999])
def test_a_number_without_a_device(number):
    for opens in (mfmasim.device, lambda name: HipDevice(int(name[4:]))):
        with pytest.raises(DeviceError, match=rf"^device hip:{number}: found 1 device, counted from hip:0$"):
            opens(f"hip:{number}")


def test_what_is_opened_again_has_the_environment_of_the_first_time(axpy, monkeypatch):
    device = mfmasim.device("hip")
    monkeypatch.setenv("MFMASIM_HIPRT_ARCH", "gfx1201")
    monkeypatch.setenv("PYTHONPATH", "/nowhere")
    device.close()
    assert outcome(device, axpy, one_object)[0]
    assert device.restarts == 1
    assert mfmasim.device("hip").arch == "gfx1201"


def test_another_gpu_under_the_same_number_is_refused(axpy):
    device = mfmasim.device("hip")
    device._environment["MFMASIM_HIPRT_ARCH"] = "gfx1201"  # as if the driver counted its devices in another order
    device.close()
    with pytest.raises(
        DeviceError, match=r"^hip is another GPU now \(product mfmasim gfx1201, mfmasim gfx942 before, "
    ):
        launch(device, axpy, values(), values())
    assert not device._workers


def test_two_processes_share_a_device(tmp_path):
    """Each has its own worker; both compute what they should."""
    program = tmp_path / "program.py"
    program.write_text(f"""
import numpy as np, mfmasim
kernel = mfmasim.compile({str(SOURCE)!r}, "gfx942")["axpy"]
device = mfmasim.device("hip")
for turn in range(20):
    x, y = np.full(64, turn, np.float32), np.ones(64, np.float32)
    device.launch(kernel, 1, 64, [np.float32(2), x, y, np.int32(64)])
    assert (y == 2 * turn + 1).all()
print(device.restarts)
""")
    running = [subprocess.Popen([sys.executable, program], stdout=subprocess.PIPE, text=True) for _ in range(2)]
    assert [process.communicate(timeout=120)[0] for process in running] == ["0\n", "0\n"]


def test_an_interpreter_that_ends_leaves_no_process(tmp_path):
    """Also where the device is kept by a global, a thread of a pool, or a generator that is not finished."""
    program = tmp_path / "program.py"
    program.write_text("""
import threading, mfmasim
from concurrent.futures import ThreadPoolExecutor
pool = ThreadPoolExecutor(2)
device = pool.submit(mfmasim.device, "hip").result()
def keeps():
    inside = mfmasim.device("hip")
    yield inside
kept = keeps()
print(device._workers[0].process.pid, next(kept)._workers[0].process.pid)
""")
    done = subprocess.run([sys.executable, program], capture_output=True, text=True, check=True, timeout=120)
    assert done.stderr == ""
    for number in map(int, done.stdout.split()):
        with pytest.raises(ProcessLookupError):
            os.kill(number, 0)


def test_a_time_limit_by_an_exception_in_another_thread_leaves_the_device_usable(axpy):
    """As pytest-timeout's thread method and a notebook's interrupt do: the launch is left by an exception."""
    device = mfmasim.device("hip")
    kernel = LOOP[next(iter(LOOP.kernels))]
    left = []

    def work():
        try:
            device.launch(kernel, 8, 64, [np.zeros(512, np.uint32), np.int32(2_000_000_000), np.uint32(7)])
        except TimeoutError as error:
            left.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    time.sleep(0.5)
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread.ident), ctypes.py_object(TimeoutError))
    thread.join(30)
    assert left
    assert outcome(device, axpy, one_object)[0]
    assert device.restarts == 1
