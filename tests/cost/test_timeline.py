"""The timeline against a slow one, and against the bound; what planted faults look like in it."""

import json
from itertools import pairwise

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mfmasim.cli import main
from mfmasim.cost import bound_of, timeline
from mfmasim.cost.cases import record_case
from mfmasim.cost.picture import data_of, page
from mfmasim.lab.mutation.mutants import compile_mutant, mutants_of
from mfmasim.verify import find
from tests.cost.programs import traces
from tests.slow.timeline import simulate

ARCHS = ("gfx950", "gfx1151")
ENDS = ("low", "value", "high")
QUICK = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@pytest.mark.parametrize("name", ARCHS)
@QUICK
@given(data=st.data(), end=st.integers(0, 2))
def test_the_timeline_is_that_of_a_slow_model(name, data, end):
    trace = data.draw(traces(name))
    fast = timeline(trace, ENDS[end])
    assert [list(lane.issued) for lane in fast.lanes] == simulate(trace, end)


@pytest.mark.parametrize("name", ARCHS)
@QUICK
@given(data=st.data(), end=st.sampled_from(ENDS))
def test_no_timeline_is_shorter_than_the_bound(name, data, end):
    trace = data.draw(traces(name))
    assert timeline(trace, end).clocks >= bound_of(trace).total - 1e-9


@pytest.mark.parametrize("name", ARCHS)
@QUICK
@given(data=st.data())
def test_what_a_wave_stands_still_for_is_named(name, data):
    trace = data.draw(traces(name))
    lanes = timeline(trace).lanes
    assert sum(len(lane.stood) for lane in lanes) == sum(len(wave.operations) for wave in trace.waves) > 0
    for lane in lanes:
        assert all(bool(stood) == bool(reason) for stood, reason in zip(lane.stood, lane.reasons, strict=True))


SIZES = {"M": 256, "N": 256, "K": 1024, "beta": 0.0}


def pingpong_of(mutant=""):
    """What the 8-wave ping-pong kernel, or a wrong variant of it, executes on gfx950."""
    family = "gemm_fp8/scheduled"
    case = next(one for _, cases in find(family) for one in cases if one.title == "pingpong_row_256")
    case, kernel = case.with_parameters(SIZES), None
    if mutant:
        found = next(one for one, _ in mutants_of(family) if one.name == mutant)
        kernel = compile_mutant(found, case, "gfx950")[case.kernel_name()]
    return record_case(case, "gfx950", kernel=kernel)


def slots_missed(recorded):
    """Clocks that matrix instructions of the younger half stand still because another wave issues."""
    line = timeline(recorded.trace)
    return sum(
        stood
        for lane, wave in zip(line.lanes[4:], recorded.trace.waves[4:], strict=True)
        for number, stood, reason in zip(wave.operations, lane.stood, lane.reasons, strict=True)
        if reason == "issue slot" and recorded.trace.operations[number].matrix
    )


@pytest.fixture(scope="module")
def pingpong():
    return pingpong_of()


def test_two_halves_take_turns(pingpong):
    """While one half of the waves multiplies, the other one reads: both are seldom at the matrix core of a SIMD."""
    line = timeline(pingpong.trace)
    bound = bound_of(pingpong.trace, pingpong.head)
    assert bound.pipe == "matrix"
    assert bound.total == 32 * 32 * 2
    assert line.turn(pingpong.head) >= bound.total
    assert line.matrix_share(pingpong.head) > 0.7
    core = data_of(line)["cores"]["0"]
    changes = sum(a[2] != b[2] for a, b in pairwise(core))
    assert changes < len(core) / 6  # a half multiplies eight times or more in a row


def test_without_the_barrier_that_parts_them_the_halves_do_not_take_turns(pingpong):
    """All waves read at once, then all multiply: a turn takes a third longer."""
    fault = pingpong_of("pingpong_all_waves_in_step")
    right, wrong = timeline(pingpong.trace), timeline(fault.trace)
    assert wrong.turn(fault.head) > 1.25 * right.turn(pingpong.head)
    assert wrong.matrix_share(fault.head) < right.matrix_share(pingpong.head) - 0.1
    assert wrong.standing()["lgkmcnt"] > 1.5 * right.standing()["lgkmcnt"]


def test_without_priority_matrix_instructions_wait_for_the_other_half(pingpong):
    assert slots_missed(pingpong) == 0
    assert slots_missed(pingpong_of("pingpong_no_priority")) > 500


def test_pictures_hold_every_instruction_and_need_nothing_else(pingpong):
    line = timeline(pingpong.trace)
    data = data_of(line, pingpong.kernel)
    assert [len(lane["rows"]) for lane in data["lanes"]] == [len(lane.issued) for lane in line.lanes]
    assert any("D::product(" in text for text in data["source"].values())
    text = page([("a <title>", line, pingpong.kernel, None)])
    assert "a &lt;title&gt;" in text
    assert "http" not in text


def test_the_command_writes_json_page_and_trace(tmp_path, capsys):
    files = {name: tmp_path / name for name in ("cost.json", "cost.html", "trace.json")}
    given_ = ["cost", "gemm_fp8", "--case", "direct_pairs", "--arch", "gfx950", "--set", "K=512"]
    options = ["--json", files["cost.json"], "--html", files["cost.html"], "--trace", files["trace.json"]]
    assert main([*given_, *map(str, options)]) == 0
    (one,) = json.loads(files["cost.json"].read_text())
    assert one["arch"] == "gfx950"
    assert any(".hip:" in name for name in one["timeline"]["value"]["lines"])
    assert one["bound"] == max(one["pipes"], key=lambda pipe: pipe["cycles"])["pipe"]
    assert max(pipe["share"] for pipe in one["pipes"]) == 1
    assert all(rate["source"] and rate["confidence"] for rate in one["rates"])
    assert set(one["assumed"]) == {rate["rate"] for rate in one["rates"] if rate["confidence"] == "assumed"}
    shown = capsys.readouterr().out
    assert all(name in shown for name in one["assumed"])
    events = json.loads(files["trace.json"].read_text())["traceEvents"]
    assert {"waves", "pipes"} <= {event["args"].get("name") for event in events if event["ph"] == "M"}
    by_thread = {}
    for event in events:
        if event["ph"] == "X":
            by_thread.setdefault((event["pid"], event["tid"]), []).append((event["ts"], event["ts"] + event["dur"]))
    for spans in by_thread.values():  # Perfetto nests what overlaps: nothing may
        spans.sort()
        assert all(a[1] <= b[0] + 1e-5 for a, b in pairwise(spans))
    assert "direct_pairs" in files["cost.html"].read_text()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["gemm_fp8", "--case", "direct_pears"], "no case matches"),
        (["gemm_fp8", "--case", "naive", "--product", "MI399"], "unknown product 'MI399'"),
        (["gemm_fp8", "--case", "naive", "--units", "0"], "--units 0: a whole number from 1"),
        (["gemm_fp9"], "unknown target 'gemm_fp9'"),
    ],
)
def test_bad_input_gets_one_line(arguments, message, capsys):
    assert main(["cost", *arguments]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
