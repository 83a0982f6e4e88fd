"""A launch by parts gives what it gives in one piece: buffers, findings, counts, report; or it says why not."""

from __future__ import annotations

import pickle
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import pytest

import mfmasim
from mfmasim.architectures import ARCHITECTURES
from mfmasim.devices import spread
from mfmasim.devices.spread import SharedMemory, check_executor, shared
from mfmasim.errors import MfmasimError
from mfmasim.machine.launch.layout import prepare
from mfmasim.machine.state.memory import Memory
from mfmasim.machine.state.touched_bytes import Runs
from mfmasim.observe.check import Check
from mfmasim.observe.registry import CHECKS
from tests.bench import bench_machine
from tests.machine import harness
from tests.oracles import require

pytestmark = pytest.mark.oracle

# out[64 workgroup + lane] = in[...] + workgroup, after a loop of workgroup % 4 rounds; stray loads on the way.
LOOP = """
  s_load_dwordx4 s[8:11], s[0:1], 0x0
  v_and_b32_e32 v1, 0x3ff, v0
  s_lshl_b32 s13, s2, 6
  v_add_u32_e32 v1, s13, v1
  v_lshlrev_b32_e32 v2, 2, v1
  s_and_b32 s14, s2, 3
  s_waitcnt lgkmcnt(0)
.Lmore:
  global_load_dword v3, v2, s[8:9]
  s_waitcnt vmcnt(0)
  v_add_u32_e32 v3, s2, v3
  s_sub_u32 s14, s14, 1
  s_cbranch_scc0 .Lmore
  global_store_dword v2, v3, s[10:11]
  s_endpgm
"""
# Every workgroup adds its number to one cell of a table, chosen by `{choice}`.
ATOMIC = """
  s_load_dwordx4 s[8:11], s[0:1], 0x0
  v_and_b32_e32 v1, 0x3ff, v0
  v_mov_b32_e32 v2, s2
  {choice}
  v_lshlrev_b32_e32 v4, 2, v4
  s_waitcnt lgkmcnt(0)
  global_atomic_add v5, v4, v2, s[10:11] sc0
  s_endpgm
"""
# out[lane] = in[lane] of the own workgroup, or of the next one, from one buffer.
NEXT = """
  s_load_dwordx4 s[8:11], s[0:1], 0x0
  v_and_b32_e32 v1, 0x3ff, v0
  s_add_u32 s13, s2, {ahead}
  s_lshl_b32 s13, s13, 6
  v_add_u32_e32 v2, s13, v1
  v_lshlrev_b32_e32 v2, 2, v2
  s_lshl_b32 s14, s2, 6
  v_add_u32_e32 v4, s14, v1
  v_lshlrev_b32_e32 v4, 2, v4
  s_waitcnt lgkmcnt(0)
  global_load_dword v3, v2, s[8:9]
  s_waitcnt vmcnt(0)
  v_add_u32_e32 v3, 7, v3
  global_store_dword v4, v3, s[10:11]
  s_endpgm
"""


@pytest.fixture(scope="module")
def pool():
    """Two processes."""
    with ProcessPoolExecutor(2) as executor:
        yield executor


def launch(program, arrays, grid, **options):
    """Launch with copies; an array that occurs twice is one buffer. The arrays and the report."""
    copies = {id(a): a.copy() for a in arrays}
    args = [copies[id(a)] for a in arrays]
    return args, mfmasim.device("sim").launch(program, grid, 64, args, **options)


def same(one, two):
    """Whether two launches are alike to the last bit and in every order."""
    arrays, report = one
    others, other = two
    assert all(a.tobytes() == b.tobytes() for a, b in zip(arrays, others, strict=True))
    assert report == other
    assert list(report.counts.items()) == list(other.counts.items())
    assert list(report.executed.items()) == list(other.executed.items())
    assert list(report.fidelity.by_operation.items()) == list(other.fidelity.by_operation.items())
    assert report.mix == other.mix


def looping():
    """A kernel whose workgroups take different ways and partly miss their buffer."""
    data = np.arange(9 * 64 - 300, dtype=np.uint32)
    return harness.kernel(LOOP, "gfx942", "pp"), [data, np.zeros(9 * 64 - 10, np.uint32)]


@pytest.mark.parametrize("parts", [None, 1, 2, 5, 100])
def test_parts_in_processes(pool, parts):
    program, arrays = looping()
    alone = launch(program, arrays, 9)
    assert len(alone[1].findings) == 2
    assert alone[1].counts["global_load_dword"] == 1 + 2 + 3 + 4 + 1 + 2 + 3 + 4 + 1
    together = launch(program, arrays, 9, executor=pool, parts=parts)
    assert together[1].notes == []
    same(alone, together)


def test_memory_that_a_worker_cannot_map(pool, monkeypatch):
    """As where processes may not open each other's files: the launch runs here, and says why."""
    program, arrays = looping()
    alone = launch(program, arrays, 9)

    @contextmanager
    def nowhere(memory, executor):
        yield SharedMemory("/proc/0/fd/0", memory.base, memory.regions)

    monkeypatch.setattr(spread, "shared", nowhere)
    others, report = launch(program, arrays, 9, executor=pool)
    assert "executor: a part ended early (its memory: " in report.notes[0]
    assert "/proc/0/fd/0" in report.notes[0]
    report.notes.clear()
    same(alone, (others, report))


@pytest.mark.parametrize(("lie", "text"), [(1, "answered with that from 0"), (None, "answered with nothing")])
def test_an_executor_that_repeats_or_loses_a_part_is_noticed(lie, text):
    class Lying(ThreadPoolExecutor):
        """Answers every call with the first one's part, or with nothing."""

        first = None

        def submit(self, function, /, *args):
            future = super().submit(function, *args)
            self.first = self.first or future
            return self.first if lie else super().submit(lambda: None)

    program, arrays = looping()
    with Lying(1) as executor, pytest.raises(MfmasimError, match=text):
        launch(program, arrays, 9, executor=executor, parts=3)


def test_memory_is_lent_to_processes_only(pool):
    memory = Memory()
    region = memory.reserve("x", 5000)
    memory.seal()
    memory.view(region)[:] = 7
    with ThreadPoolExecutor(1) as threads, shared(memory, threads) as mapping:
        assert mapping is None
    with shared(memory, pool) as mapping:
        mine, theirs = mapping.memory(), pool.submit(mapping.memory).result()
        mine.view(region)[:3] = 9
        assert mapping.memory().view(region).tobytes() == theirs.view(region).tobytes() == memory.view(region).tobytes()
    assert mine.view(region)[:4].tolist() == [9, 9, 9, 7]
    with pytest.raises(OSError, match="No such file"):
        mapping.memory()


@pytest.mark.parametrize("arch", ARCHITECTURES.values(), ids=lambda arch: arch.name)
def test_an_architecture_travels_to_processes_after_use(arch):
    assert arch.buffers.fields["stride"].bits == 14
    assert pickle.loads(pickle.dumps(arch)).buffers.fields == arch.buffers.fields


def test_a_gemm_in_processes(pool, monkeypatch):
    real = mfmasim.devices.SimDevice.launch
    monkeypatch.setattr(mfmasim.devices.SimDevice, "launch", lambda *a, **k: real(*a, **{**k, "checks": "all"}))
    report, (_, _, c) = bench_machine.gemm(256)
    spreading = {"checks": "all", "executor": pool, "parts": 3}
    monkeypatch.setattr(mfmasim.devices.SimDevice, "launch", lambda *a, **k: real(*a, **{**k, **spreading}))
    spread, (_, _, other) = bench_machine.gemm(256)
    assert spread.notes == []
    assert spread.lds["accesses"] > 1000
    assert spread == report
    assert c.tobytes() == other.tobytes()


def test_parts_in_threads_do_not_meet():
    program, arrays = looping()
    with ThreadPoolExecutor(3) as executor:
        same(launch(program, arrays, 9), launch(program, arrays, 9, executor=executor, parts=4))


@pytest.mark.parametrize("max_waves", [1, 3, 64, None])
def test_waves_in_flight_do_not_change_the_result(pool, max_waves):
    program, arrays = looping()
    alone = launch(program, arrays, 9)
    same(alone, launch(program, arrays, 9, max_waves=max_waves))
    same(alone, launch(program, arrays, 9, max_waves=max_waves, executor=pool, parts=2))


SHARED = {
    "atomics on one cell": (ATOMIC.format(choice="v_mov_b32_e32 v4, 3"), "of argument 1 (p1)", False),
    "atomics on a cell each": (ATOMIC.format(choice="v_mov_b32_e32 v4, s2"), "", False),
    "reads of what others write": (NEXT.format(ahead=1), "read what those of another write", True),
    "reads of what no other writes": (NEXT.format(ahead=0), "", True),
    "reads ahead from another buffer": (NEXT.format(ahead=1), "", False),
}


@pytest.mark.parametrize("what", SHARED)
def test_shared_memory_is_noticed(pool, what):
    """Then the launch runs in one process; else it does not."""
    body, note, one_buffer = SHARED[what]
    program = harness.kernel(body, "gfx942", "pp")
    data, out = np.arange(7 * 64, dtype=np.uint32), np.zeros(7 * 64, np.uint32)
    arrays = [out, out] if one_buffer else [data, out]
    alone = launch(program, arrays, 6)
    together = launch(program, arrays, 6, executor=pool, parts=3)
    same(alone, together)
    assert bool(together[1].notes) == bool(note)
    assert all(note in line and "one process" in line for line in together[1].notes)
    assert alone[1].notes == []


def test_a_part_that_ends_early(pool):
    """A launch that is stopped, or that the machine cannot execute, ends as it does without an executor."""
    program, arrays = looping()
    alone = launch(program, arrays, 9, budget=12)
    assert alone[1].stopped
    same(alone, launch(program, arrays, 9, budget=12, executor=pool))
    bad = harness.kernel(LOOP.replace("s_endpgm", "s_nop 0\n  s_sethalt 1\n  s_endpgm"), "gfx942", "pp")
    texts = []
    for options in ({}, {"executor": pool}):
        with pytest.raises(MfmasimError) as caught:
            launch(bad, arrays, 9, **options)
        texts.append(str(caught.value))
    assert texts[0] == texts[1]
    assert "s_sethalt" in texts[0]


class Broken:
    """An executor whose workers die."""

    def submit(self, *_):
        future = Future()
        future.set_exception(OSError("no worker is left"))
        return future


class Lying(Executor):
    """An executor that runs each part, and answers with something else."""

    def __init__(self, change):
        self.change = change

    def submit(self, function, *given):
        future = Future()
        future.set_result(self.change(function(*given)))
        return future


FAR = Runs(np.array([1 << 40]), np.array([(1 << 40) + 4]))
LIES = {
    "nothing": (lambda _: None, "was answered with nothing"),
    "another part": (lambda part: replace(part, first=99), "was answered with that from 99"),
    "less data": (lambda part: replace(part, data=part.data[:-4]), "its data, of which"),
    "more data": (lambda part: replace(part, data=np.tile(part.data, 2)), "its data"),
    "floats": (lambda part: replace(part, data=part.data.astype(float)), "its data"),
    "no outcome": (lambda part: replace(part, outcome=None), "its outcome"),
    "other checks": (lambda part: replace(part, checks=part.checks[1:]), "its checks"),
    "addresses": (lambda part: replace(part, written=FAR), "addresses outside the memory"),
}


@pytest.mark.parametrize("lie", LIES)
def test_an_executor_that_lies(lie):
    program, arrays = looping()
    change, words = LIES[lie]
    with pytest.raises(MfmasimError, match=words):
        launch(program, arrays, 9, executor=Lying(change), parts=2)


def test_a_worker_that_leaves():
    def leave(_):
        raise SystemExit(3)

    program, arrays = looping()
    with pytest.raises(MfmasimError, match="failed: SystemExit 3"):
        launch(program, arrays, 9, executor=Lying(leave), parts=2)


class Listener:
    name = "mapping"

    def on_matrix(self, event):
        raise AssertionError(event)


REFUSED = {
    "no executor": ({"executor": 4}, ("executor 4", "Executor")),
    "an observer": ({"executor": Broken(), "observers": [Listener()]}, ("observers (mapping)", "without an executor")),
    "no part": ({"executor": Broken(), "parts": 0}, ("parts 0",)),
    "no wave": ({"max_waves": 0}, ("max_waves 0",)),
    "half a wave": ({"max_waves": 0.5}, ("max_waves 0.5",)),
    "a broken executor": ({"executor": Broken()}, ("Broken", "OSError", "no worker is left")),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_is_refused(what):
    program, arrays = looping()
    options, words = REFUSED[what]
    with pytest.raises(MfmasimError) as caught:
        launch(program, arrays, 9, **options)
    text = str(caught.value)
    assert "\n" not in text
    assert all(word in text for word in words), text


def test_checks_of_the_whole_launch_are_refused():
    """A check that cannot take in what parts found; those that can are named."""

    class Whole(CHECKS["bounds"]):
        name = "whole"
        by_parts = False

    program, arrays = looping()
    prepared = prepare(program, 9, 64, arrays)
    listening = [CHECKS[name](prepared) for name in ("bounds", "barrier")]
    with pytest.raises(MfmasimError, match=r"executor: whole need the whole launch; .*checks='bounds,barrier'"):
        check_executor(Broken(), None, [], [*listening, Whole(prepared)])


def test_every_check_can_be_merged():
    program, arrays = looping()
    prepared = prepare(program, 9, 64, arrays)
    checks = [check(prepared) for check in CHECKS.values()]
    assert all(check.by_parts and isinstance(check, Check) for check in checks)
    for check in checks:
        check.merge(type(check)(prepared))


def test_dask(tmp_path):
    """The executor of a real local cluster of two processes."""
    try:
        import distributed
    except ImportError:
        distributed = None
    require("dask.distributed", distributed is not None, "pip install --group oracles")
    program, arrays = looping()
    alone = launch(program, arrays, 9)
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, local_directory=str(tmp_path)
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        together = launch(program, arrays, 9, executor=client.get_executor(), parts=4)
        pids = set(client.run(__import__("os").getpid).values())
    assert len(pids) == 2
    assert together[1].notes == []
    same(alone, together)
