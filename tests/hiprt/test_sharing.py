"""Memory and events of devices that processes share, and launches that wait for other processes."""

import os
import re
import sys
import time

import numpy as np
import pytest

from mfmasim.hiprt import sharing
from mfmasim.hiprt.faults import COUNTS
from mfmasim.hiprt.heap import DEVICE, HOST, PAGE, Heap
from mfmasim.hiprt.patterns import FEW
from mfmasim.hiprt.registry import HipFailure
from mfmasim.hiprt.sharing import Between, Sharing
from mfmasim.hiprt.written import Written
from mfmasim.machine.state.memory import POISON_BYTE
from tests.hiprt.compiled import SOURCES, clang, hipcc, started

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the mappings are those of Linux")


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    clang()
    path = tmp_path_factory.mktemp("shared") / "shared"
    hipcc("-Wall", "-Wextra", "-std=c++17", SOURCES / "shared.hip", "-o", path)
    return path


@pytest.mark.oracle
@pytest.mark.long
@pytest.mark.parametrize(("ranks", "archs"), [(2, "gfx942,gfx942"), (4, "gfx950"), (3, "gfx1201,gfx942")])
def test_ranks_in_processes_exchange_their_data(program, ranks, archs, tmp_path):
    if archs != "gfx942,gfx942":
        program = tmp_path / "shared"
        targets = [f"--offload-arch={arch}" for arch in archs.split(",")]
        hipcc(*targets, "-std=c++17", SOURCES / "shared.hip", "-o", program)
    done = started(program, "right", ranks, checks="all", arch=archs)
    assert done.returncode == 0, (done.stdout, done.stderr)
    assert sorted(done.stdout.splitlines()) == [f"rank {rank}: 0 wrong" for rank in range(ranks)]
    assert not done.stderr


@pytest.mark.oracle
def test_an_access_behind_the_memory_of_another_process_is_found(program):
    done = started(program, "beyond", 2, arch="gfx942,gfx942")
    assert done.stdout == "hipErrorIllegalAddress\n"
    assert re.search(
        r"bounds-outside-buffer .*0 bytes past the end of hipIpcOpenMemHandle 2 of process \d+ \(8240 bytes\)",
        done.stderr,
    )


@pytest.mark.oracle
def test_a_launch_does_not_wait_for_a_process_that_has_ended(program):
    done = started(program, "never", 2, arch="gfx942,gfx942")
    assert done.stdout == "hipErrorLaunchFailure\n"
    assert re.search(
        r"endless-loop .*and write no memory; process \d+, whose memory this one has opened, has ended; ", done.stderr
    )


@pytest.mark.oracle
def test_wrong_arguments_are_answered_as_by_rocm(program):
    done = started(program, "arguments", 2, arch="gfx942,gfx942")
    assert done.stdout.split() == [
        "hipErrorInvalidValue",  # no pointer
        "hipErrorInvalidDevicePointer",  # of the host
        "hipErrorInvalidValue",  # no flag
        "hipErrorInvalidValue",  # an empty handle
        "hipErrorInvalidContext",  # of the same process
        "hipErrorInvalidHandle",  # not opened
        "hipErrorInvalidValue",  # hipFree of another process's
        "hipErrorInvalidDevicePointer",  # the handle of another process's
        "hipErrorInvalidConfiguration",  # an event of this process alone
        "1",
        "hipErrorInvalidHandle",  # closed as often as it was opened
    ]


@pytest.fixture
def two(monkeypatch):
    """Two processes: what one of them hands to the other."""
    heaps = Heap(8 << 20, 1), Heap(8 << 20, 1)
    pair = tuple(Sharing(heap) for heap in heaps)

    def opened(handle):
        number = os.getpid()
        with monkeypatch.context() as changed:
            changed.setattr(sharing.os, "getpid", lambda: number + 1)
            return pair[1].open(handle, 0)

    return *heaps, *pair, opened


def bytes_at(heap, address, size):
    return heap.arena[address - heap.base :][:size]


@pytest.mark.parametrize("size", [100, 3 * PAGE + 5, FEW + 7])
def test_both_see_what_either_writes_until_the_last_one_frees_it(two, size):
    first, second, shares, opens, opened = two
    made = first.allocate(size, DEVICE, 0, "hipMalloc")
    beside = first.allocate(PAGE, DEVICE, 0, "hipMalloc")
    bytes_at(first, made.address, size)[3] = 7
    assert shares.between is None
    place = opened(shares.handle(made.address + 2)) - 2
    assert shares.between is not None
    assert bytes_at(second, place, size)[:5].tolist() == [POISON_BYTE] * 3 + [7, POISON_BYTE]
    bytes_at(second, place, size)[-1] = 9
    assert bytes_at(first, made.address, size)[-1] == 9
    assert (second.used(0), second.at(place).name) == (0, f"hipIpcOpenMemHandle 1 of process {os.getpid()}")
    first.zero(made.address, size)
    assert not bytes_at(second, place, size).any()
    bytes_at(second, place, size)[0] = 1
    first.free(made.address)
    assert bytes_at(second, place, size)[0] == 1
    assert not bytes_at(first, made.address, size).any()
    assert (bytes_at(first, beside.address, PAGE) == POISON_BYTE).all()
    opens.close(place)
    assert opens.between is None
    with pytest.raises(HipFailure):
        opens.close(place)


def test_the_same_handle_is_opened_once(two):
    first, second, shares, opens, opened = two
    made = first.allocate(PAGE, DEVICE, 0)
    places = {opened(shares.handle(made.address)) for _ in range(3)}
    assert len(places) == len(second.files) == 1
    for _ in range(3):
        assert opens.between is not None
        opens.close(*places)
    assert opens.between is None


def test_what_a_reset_of_the_device_freed_is_opened_anew(two):
    first, second, shares, _, opened = two
    handle = shares.handle(first.allocate(PAGE, DEVICE, 0).address)
    before = opened(handle)
    second.free(before)  # as hipDeviceReset does
    after = opened(handle)
    assert after != before
    assert second.at(after).imported


def test_handles_of_what_is_no_shared_memory(two):
    first, _, shares, _, opened = two
    pinned = first.allocate(PAGE, HOST, 0)
    for address in (pinned.address, first.base, 64):
        with pytest.raises(HipFailure) as failed:
            shares.handle(address)
        assert failed.value.code == 17
    made = first.allocate(PAGE, DEVICE, 0)
    handle = shares.handle(made.address)
    with pytest.raises(HipFailure) as failed:
        shares.open(handle, 0)
    assert failed.value.code == 201
    first.free(made.address)
    with pytest.raises(HipFailure, match="does not share this memory any more"):
        opened(handle)


def test_of_large_memory_what_nothing_wrote_becomes_zeros(two, monkeypatch):
    first, second, shares, _, opened = two
    monkeypatch.setattr(sharing, "POISONED", 2 * FEW)
    made = first.allocate(4 * FEW, DEVICE, 0)
    bytes_at(first, made.address, made.size)[2 * FEW + 5] = 1
    place = opened(shares.handle(made.address))
    seen = bytes_at(second, place, made.size)
    assert not seen[: 2 * FEW].any()
    assert not seen[3 * FEW :].any()
    assert np.flatnonzero(seen[2 * FEW : 3 * FEW] != POISON_BYTE).tolist() == [5]
    first.zero(made.address, made.size)
    assert not seen.any()


def test_what_others_may_write_counts_as_initialised(two):
    first, _, shares, _, _ = two
    first.written = Written(first.base, len(first.arena))
    made = first.allocate(PAGE, DEVICE, 0)
    assert first.written.undefined(made.region)
    shares.handle(made.address)
    assert not first.written.undefined(made.region)
    first.written.forget(made.address, 8)  # a kernel stored what it never defined
    shares.launched()
    assert not first.written.undefined(made.region)


def test_one_process_at_a_time_is_in_an_access(tmp_path, monkeypatch):
    monkeypatch.setenv(COUNTS, str(tmp_path / "counts"))
    entered, child = Between(set()), os.fork()
    if not child:
        with Between(set()):
            (tmp_path / "in").touch()
            time.sleep(0.3)
            (tmp_path / "out").touch()
        os._exit(0)
    while not (tmp_path / "in").exists():
        time.sleep(0.01)
    with entered:
        assert (tmp_path / "out").exists()
    os.waitpid(child, 0)


def test_a_wait_ends_with_the_process_or_after_a_time(monkeypatch):
    monkeypatch.setattr(sharing, "PATIENCE", 0.003)
    waits = Between({os.getpid()})
    assert waits.wait() == ""
    assert waits.wait() == ""
    assert "within" in waits.wait()
    waits.begin()
    assert waits.wait() == ""
    child = os.fork()
    if not child:
        os._exit(0)
    os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)
    assert f"process {child}," in Between({child}).wait()
    os.waitpid(child, 0)
