"""Forks, processes and signals while launches run: no child waits for a lock that a thread of its parent held."""

import gc
import multiprocessing
import os
import signal
import subprocess
import sys
import textwrap
import threading
from functools import cached_property
from pathlib import Path

import numpy as np
import pytest

import mfmasim
from mfmasim import forks
from mfmasim.devices import collection
from mfmasim.observe.paths import Table
from mfmasim.resources import folder

ROOT = Path(__file__).resolve().parents[2]
SECONDS = 60
"""For a child to end."""
pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")


def launched(number=3, checks="all"):
    """Outputs of a small launch."""
    kernel = mfmasim.load(folder("golden") / "code" / "bench" / "valu_loop.gfx942.hsaco")["valu_loop"]
    out = np.zeros((2, 64), np.uint32)
    mfmasim.device("sim").launch(kernel, 2, 64, [out, np.int32(number), np.uint32(7)], checks=checks)
    return out.tobytes()


def ended(work):
    """Exit code of a child that does something; it is killed if it hangs."""
    child = os.fork()
    if child == 0:
        try:
            signal.alarm(SECONDS)
            os._exit(0 if work() else 3)
        except BaseException:  # noqa: BLE001
            os._exit(4)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def launching(threads=1):
    """Threads that launch until the event that is returned is set."""
    over = threading.Event()

    def many():
        while not over.is_set():
            launched()

    started = [threading.Thread(target=many) for _ in range(threads)]
    for one in started:
        one.start()
    return over, started


def forked_often(times, threads):
    expected = launched()
    over, started = launching(threads)
    try:
        return [ended(lambda: launched() == expected) for _ in range(times)]
    finally:
        over.set()
        for one in started:
            one.join()


def test_children_launch_while_a_thread_launches():
    assert forked_often(2, 1) == [0] * 2


@pytest.mark.long
def test_two_hundred_children_launch_while_threads_launch():
    assert forked_often(200, 2) == [0] * 200


class Slow:
    """An attribute whose computation waits."""

    begun, go = threading.Event(), threading.Event()

    @cached_property
    def value(self):
        self.begun.set()
        self.go.wait()
        return 1


def test_a_lock_that_a_thread_holds_does_not_keep_a_child_waiting():
    expected = launched()
    Slow.begun.clear()
    Slow.go.clear()
    thread = threading.Thread(target=lambda: Slow().value)
    thread.start()
    assert Slow.begun.wait(10)

    def work():
        Slow.go.set()
        return Slow().value == 1 and launched() == expected

    try:
        with collection._lock:
            assert ended(work) == 0
    finally:
        Slow.go.set()
        thread.join()


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="later versions of Python have no such locks")
def test_every_attribute_with_a_lock_is_found():
    forks.look()
    assert len(forks._properties) > 20 or sys.version_info >= (3, 12)
    for module in list(sys.modules.values()):
        for one in list(getattr(module, "__dict__", {}).values()):
            if issubclass(type(one), type) and one.__module__ == module.__name__:
                for part in vars(one).values():
                    assert not isinstance(part, cached_property) or part in forks._properties, (one, part)


def test_a_child_counts_its_own_launches_alone():
    chosen = gc.get_threshold()
    gc.set_threshold(700, 10, 10)
    before = gc.get_threshold()
    inside, over = threading.Event(), threading.Event()

    def long():
        with collection.rare_collections():
            inside.set()
            over.wait()

    thread = threading.Thread(target=long)
    thread.start()
    assert inside.wait(10)
    try:
        assert ended(lambda: collection._inside == 0 and gc.get_threshold() == before) == 0
        with collection.rare_collections():
            assert ended(lambda: collection._inside == 1 and gc.get_threshold() != before) == 0
    finally:
        over.set()
        thread.join()
    assert collection._inside == 0
    assert gc.get_threshold() == before
    gc.set_threshold(*chosen)


def test_threads_give_a_state_one_number():
    table = Table("start")
    found = [[] for _ in range(4)]

    def count(place):
        for number in range(300):
            found[place].append(table.number(number))

    threads = [threading.Thread(target=count, args=(place,)) for place in range(4)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert found[1:] == found[:1] * 3
    assert [table.states[number] for number in found[0]] == list(range(300))
    assert set(table.states) == {0, *found[0]}


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_processes_of_multiprocessing_launch(method):
    with multiprocessing.get_context(method).Pool(2) as pool:
        assert pool.map_async(launched, [3, 4]).get(120) == [launched(3), launched(4)]


PROGRAM = """
import signal, sys, threading, time, os
import tests.devices.test_forks as here
expected = here.launched()
def handler(number, frame):
    raise KeyboardInterrupt  # no error of the system, which a reader of files may take for its own
signal.signal(signal.SIGTERM, handler)
caught = 0
for number in range(int(sys.argv[1])):
    wanted = (signal.SIGINT, signal.SIGTERM)[number % 2]
    done = threading.Event()

    def send():
        time.sleep(0.002 * (number % 13))
        while not done.is_set():  # Python drops what is raised within a callback of the collector
            os.kill(os.getpid(), wanted)
            done.wait(2)

    sender = threading.Thread(target=send)
    try:
        sender.start()
        while True:
            here.launched()
    except KeyboardInterrupt:
        done.set()
        caught += 1
    sender.join()
assert here.launched() == expected
print(caught)
"""


def test_after_signals_in_launches_the_next_one_is_whole():
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(PROGRAM), "20"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) == 20


def test_sigterm_ends_a_process_that_launches():
    code = "import tests.devices.test_forks as here\nprint(1, flush=True)\nwhile 1: here.launched()"
    with subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, stdout=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"1\n"
        process.terminate()
        assert process.wait(SECONDS) == -signal.SIGTERM
