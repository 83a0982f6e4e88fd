"""Replay: what the debugger shows is what the launch did, and recording changes nothing of it."""

import numpy as np
import pytest

from mfmasim.debug.cursor import Cursor
from mfmasim.debug.device import RecordingDevice
from mfmasim.debug.history import Position
from mfmasim.debug.recorder import Recorder
from mfmasim.debug.replay import Replay
from mfmasim.debug.session import Session, Stop
from mfmasim.devices import SimDevice
from mfmasim.errors import MfmasimError
from mfmasim.observe.tools.steps import Trace
from mfmasim.verify.files import find
from mfmasim.verify.inputs import inputs_of
from mfmasim.verify.matrices import run_matrices
from mfmasim.verify.runner import select, set_parameters
from tests.debug.sessions import loop

CASES = [
    ("gemm_fp8/scheduled", "pingpong_256", "gfx950"),
    ("gemm_f16", "", "gfx942"),
    ("wmma", "", "gfx1201"),
    ("attention", "", "gfx942"),
    ("isa/divergence", "", "gfx942"),
    ("isa/calls", "", "gfx950"),
    ("isa/scratch", "", "gfx942"),
    ("isa/atomics", "", "gfx942"),
    ("isa/lanes", "", "gfx1151"),
    ("isa/barrier", "", "gfx1201"),
    ("races", "", "gfx942"),
    ("uninit", "", "gfx942"),
]


def launched(family, name, arch, observers, max_waves=None):
    """The report of a case's launch, and its outputs."""
    case, arch = select([case for _, cases in find(family) for case in cases], arch, name or None)[0]
    case = set_parameters(case, arch=arch)
    kernel = case.compiled(arch)
    launch = set_parameters(case, wave=kernel.wave).make()
    options = {"observers": observers, **({} if max_waves is None else {"max_waves": max_waves})}
    if launch.arrays:
        from mfmasim.verify.arrays import draw_array

        memory = {one: array.placed(draw_array(array, one)) for one, array in launch.arrays.items()}
        return launch.run(SimDevice(), kernel, memory, options), memory
    given = inputs_of(case, launch, kernel.arch, None, 24)[0]
    report, memory, _ = run_matrices(SimDevice(), kernel, launch, given, options)
    return report, memory


def held(machine):
    return [np.array(machine.memory.view(region)) for region in machine.memory.regions]


@pytest.mark.parametrize("case", CASES, ids=lambda case: "/".join(part for part in case if part))
def test_recording_changes_nothing_and_replay_equals_the_launch(case):
    plain, outputs = launched(*case, [])
    recorder = Recorder(every=7)
    report, recorded = launched(*case, [recorder])
    assert report == plain
    assert report.findings == plain.findings
    assert report.counts == plain.counts
    assert all(np.asarray(outputs[name]).tobytes() == np.asarray(recorded[name]).tobytes() for name in outputs)
    after = [np.array(recorder.launch.memory.view(region)) for region in recorder.launch.memory.regions]
    replay = Replay(recorder)
    checkpoints = recorder.checkpoints.held
    for state in {0: checkpoints[0], 1: checkpoints[len(checkpoints) // 2], 2: checkpoints[-1]}.values():
        replay.restore(state)
        replay.to_turn(replay.turns)
        assert all(np.array_equal(one, other) for one, other in zip(held(replay), after, strict=True))


def test_batches_are_replayed():
    recorder = Recorder(every=5)
    launched("gemm_f16", "", "gfx942", [recorder], max_waves=4)
    assert len(recorder.batches) > 1
    replay = Replay(recorder)
    replay.to_turn(replay.turns)
    after = [np.array(recorder.launch.memory.view(region)) for region in recorder.launch.memory.regions]
    assert all(np.array_equal(one, other) for one, other in zip(held(replay), after, strict=True))


def test_registers_at_each_instruction_are_those_of_a_trace():
    """The trace is the slow model: it looks while the launch runs."""
    trace, recorder = Trace(waves=[1]), Recorder(every=3)
    report, _ = launched("gemm_f16", "", "gfx942", [trace, recorder])
    session = Session(recorder, report)
    session.select(wave=1)
    positions = list(session.history.forward(1, Position(-1)))
    assert [session.history.instruction(at).pc for at in positions] == [one.pc for one in trace.records]
    compared = 0
    for number in range(len(positions) - 2, 0, -7):  # backwards
        session.go(positions[number + 1], Stop("goto"))
        state = session.state
        for name, values in trace.records[number].vectors.items():
            assert np.array_equal(state.vector(name[0], int(name[1:])), values), (number, name)
            compared += 1
    assert compared > 20


@pytest.mark.parametrize("case", [("gemm_fp8/scheduled", "pingpong_256", "gfx950"), ("isa/barrier", "", "gfx1201")])
def test_jumps_to_and_fro_end_where_a_straight_replay_does(case):
    """Barriers are open or not where a checkpoint is made: every landing makes one."""
    recorder = Recorder(every=11)
    launched(*case, [recorder])
    straight, wanted = Replay(recorder), []
    for turn in range(straight.turns + 1):
        straight.to_turn(turn)
        waves = straight.waves
        wanted.append([np.array(one) for one in (*waves.v, *waves.s, waves.pc, straight.lds)])
    cursor = Cursor(recorder)
    random = np.random.default_rng(3)
    for turn in random.integers(0, straight.turns, 60).tolist():
        cursor.to(Position(turn, int(random.integers(0, recorder.entries[recorder.blocks[turn]].size))))
        cursor.to(Position(turn))
        waves = cursor.replay.waves
        held_now = [*waves.v, *waves.s, waves.pc, cursor.replay.lds]
        assert all(np.array_equal(*np.broadcast_arrays(a, b)) for a, b in zip(held_now, wanted[turn], strict=True))
    assert len(cursor.near.held) > 5


def test_a_step_back_undoes_a_step():
    session = loop()
    seen = []
    for _ in range(40):
        state = session.state
        seen.append((session.pc, [state.vector("v", k).tolist() for k in range(state.count("v"))]))
        session.step_instruction()
    assert len(seen) == 40
    for pc, registers in seen[::-1]:
        session.step_instruction(backward=True)
        state = session.state
        assert (session.pc, [state.vector("v", k).tolist() for k in range(state.count("v"))]) == (pc, registers)


def test_checkpoints_stay_within_their_bytes():
    recorder = Recorder(every=1, limit=1 << 20)
    launched("gemm_fp8/scheduled", "pingpong_256", "gfx950", [recorder])
    assert 2 <= len(recorder.checkpoints.held) < len(recorder.blocks)
    assert recorder.checkpoints.bytes <= 1 << 20 or len(recorder.checkpoints.held) == 2
    replay = Replay(recorder)
    replay.to_turn(replay.turns)
    after = [np.array(recorder.launch.memory.view(region)) for region in recorder.launch.memory.regions]
    assert all(np.array_equal(one, other) for one, other in zip(held(replay), after, strict=True))


def test_an_order_of_waves_that_is_not_replayed_is_refused():
    import mfmasim
    from mfmasim.resources import folder

    kernel = mfmasim.load(folder("golden") / "code" / "bench" / "valu_loop.gfx942.hsaco")["valu_loop"]
    args = [np.zeros((1, 64), np.uint32), np.int32(2), np.uint32(7)]
    with pytest.raises(MfmasimError, match="usual order of waves"):
        RecordingDevice(lambda *_: None).launch(kernel, 1, 64, args, schedule="reversed")
