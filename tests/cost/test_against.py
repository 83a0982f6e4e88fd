"""The timeline beside thread traces of three GPUs, and the files that captures come in."""

import csv
import json
import pickle
import statistics
from dataclasses import replace
from functools import cache

import pytest

from mfmasim.architectures import arch as find_arch
from mfmasim.cli import main
from mfmasim.cost import record_launch
from mfmasim.cost.against import compare
from mfmasim.cost.capture import read_capture
from mfmasim.cost.estimate import timelines
from mfmasim.cost.picture import data_of
from mfmasim.errors import MfmasimError
from tests.captures import HARDWARE
from tests.cost.launches import LAUNCHES, arguments_of, kernel_of, report_of

FILE = HARDWARE / "launches.json"
TRACED = [name for name, launch in LAUNCHES.items() if launch["waves"]]
ONE = "gfx1201_sync_run_0_custom_lds_sync"
GEMM = "gfx950_gemm_run_0_r_32_32_16_2"
LOOP = "gfx1201_handwritten_run_0_custom_handwritten"


@cache
def recorded_of(name):
    launch = LAUNCHES[name]
    return record_launch(kernel_of(name), launch["grid"], launch["block"], arguments_of(name))


@cache
def compared_of(name):
    recorded = recorded_of(name)
    return compare(recorded, read_capture(FILE, name), timelines(recorded, cold=True), report_of(name).counters)


def with_rates(name, rates):
    """A launch beside its capture, with other rates."""
    recorded = recorded_of(name)
    arch = replace(recorded.kernel.arch, rates=rates)
    changed = replace(recorded, trace=replace(recorded.trace, arch=arch))
    return compare(changed, read_capture(FILE, name), timelines(changed, cold=True), {})


@pytest.mark.parametrize("arch", ["gfx950", "gfx1100", "gfx1201"])
def test_captured_gaps_are_in_their_ranges(arch):
    """95 of 100 gaps of each GPU; half of them exactly, within its clocks' resolution."""
    found = [compared_of(name) for name in TRACED if LAUNCHES[name]["arch"] == arch]
    inside = [gap.inside(one.capture.resolution) for one in found for gap in one.gaps]
    assert len(inside) == {"gfx950": 456, "gfx1100": 1238, "gfx1201": 4182}[arch]
    assert sum(inside) >= 0.95 * len(inside)
    errors = [abs(g.value - g.captured) / g.captured for one in found for g in one.gaps if g.captured]
    assert statistics.median(errors) <= 0.10


@pytest.mark.parametrize("name", [name for name in TRACED if "run_0" in name])
def test_a_capture_of_another_scale_is_named_as_a_whole(name):
    """All clocks doubled: fewer gaps are inside, and the median one shows the factor."""
    one = compared_of(name)
    said = [line for line in one.lines() if line.startswith(("gaps:", "the capture as a whole"))]
    assert one.factor == 1
    assert one.doubled.inside(one.doubled.gaps) < one.inside(one.gaps) - 0.05
    assert len(said) == 1
    assert f"doubled {one.doubled.inside(one.doubled.gaps):.1%}" in said[0]
    for factor, word in ((2, "slow"), (0.5, "fast")):
        scaled = compare(one.recorded, one.capture.times(factor), one.drawn)
        assert scaled.factor == pytest.approx(factor, rel=0.2)
        (line,) = [line for line in scaled.lines() if line.startswith("the capture as a whole")]
        assert f"times as {word} as the rows" in line


def test_the_steady_loop_is_within_a_tenth():
    """RDNA4's loop of WMMA: two waves on one SIMD, then one alone."""
    one = compared_of(LOOP)
    assert len(one.steady) == 952
    assert one.error(one.steady) <= 0.10
    assert one.inside(one.steady) >= 0.95
    alone = [gap for gap in one.waves[1].gaps if gap.place >= 300]
    assert sum(gap.value for gap in alone) == pytest.approx(sum(gap.captured for gap in alone), rel=0.15)


@pytest.mark.parametrize("name", [name for name in TRACED if name != LOOP and "handwritten" not in name])
def test_whole_cold_waves_are_in_their_ranges(name):
    one = compared_of(name)
    low, high = one.span
    assert len(one.waves) == len(LAUNCHES[name]["waves"]) > 0
    assert all(low <= wave.total <= high for wave in one.waves)


def test_the_loops_waves_are_in_the_range_together():
    """Alone the older wave is five percent faster than the range: on the GPU it takes the SIMD nearly for itself."""
    one = compared_of(LOOP)
    low, high = one.span
    younger, older = max(wave.total for wave in one.waves), min(wave.total for wave in one.waves)
    assert low <= younger <= high
    assert 0.9 * low < older < low


@pytest.mark.parametrize(
    ("name", "rate", "value"),
    [
        (GEMM, "lds latency", 100),
        (GEMM, "cold load", 500),
        ("gfx1100_gemm_run_0_r_32_32_16_2", "valu latency", 8),
        (LOOP, "branch", 32),
        (LOOP, "vector queue", 1),
    ],
)
def test_a_wrong_row_is_seen(name, rate, value):
    """Also rows as they were before there were captures."""
    rates = find_arch(LAUNCHES[name]["arch"]).rates
    rows = tuple(replace(r, value=value, low=None, high=None) if r.name == rate else r for r in rates.rows)
    right, wrong = compared_of(name), with_rates(name, replace(rates, rows=rows))
    outside = [sum(not gap.inside(one.capture.resolution) for gap in one.gaps) for one in (right, wrong)]
    assert outside[1] >= outside[0] + len(right.waves)


def test_counters_stand_beside_counters():
    rows = {name: verdict for name, _, _, verdict in compared_of(ONE).counted()}
    assert [name for name, verdict in rows.items() if verdict == "equal"] == [
        "SQ_INSTS_VALU",
        "SQ_INSTS_SALU",
        "SQC_LDS_IDX_ACTIVE",
        "SQC_LDS_BANK_CONFLICT",
    ]
    assert "DIFFERS" not in rows.values()
    changed = replace(compared_of(ONE), counters={"SQ_INSTS_VALU": 23})
    assert {name: verdict for name, _, _, verdict in changed.counted()}["SQ_INSTS_VALU"] == "DIFFERS"


def test_the_page_has_a_lane_for_each_captured_wave():
    one = compared_of(ONE)
    data = data_of(one.drawn["value"], one.recorded.kernel, one)
    titled = [lane for lane in data["lanes"] if "title" in lane]
    assert len(titled) == 2
    assert [row[0] for row in titled[0]["rows"]] == [clock for clock, _ in LAUNCHES[ONE]["waves"][0]["events"]]
    assert "captured" in data["reasons"]


COMMAND = ["cost", str(HARDWARE / LAUNCHES[ONE]["object"]), "--block", "128", "--arg", "f32:128=0"]


def test_the_command_compares(tmp_path, capsys):
    files = [tmp_path / "cost.json", tmp_path / "cost.html"]
    options = ["--against", str(FILE), "--launch", ONE, "--json", str(files[0]), "--html", str(files[1])]
    assert main([*COMMAND, *options]) == 0
    shown = capsys.readouterr().out
    assert "counters: 4 of 4 equal" in shown
    assert "gaps: 100.0% of 28 inside their range" in shown
    assert "(cold start)" in shown
    (one,) = json.loads(files[0].read_text())
    assert one["against"]["inside"] == 1
    assert len(one["against"]["instructions"]) == 14
    assert "captured wave 1" in files[1].read_text()


def written(tmp_path, name, text):
    path = tmp_path / name
    path.write_text(text)
    return path


def test_counters_of_rocprofv3(tmp_path):
    rows = [
        ["Dispatch_Id", "Kernel_Name", "Counter_Name", "Counter_Value"],
        [2, "other", "SQ_INSTS_VALU", 9],
        [3, "mine", "SQ_INSTS_VALU", 20],
        [3, "mine", "SQ_INSTS_VALU", 4],
        [5, "mine", "SQ_INSTS_VALU", 99],
    ]
    path = tmp_path / "counter_collection.csv"
    with path.open("w", newline="") as file:
        csv.writer(file).writerows(rows)
    assert read_capture(path, kernel="mine").counters == {"SQ_INSTS_VALU": 24}
    assert read_capture(path).counters == {"SQ_INSTS_VALU": 9}
    with pytest.raises(MfmasimError, match="no row of the kernel third"):
        read_capture(path, kernel="third")


def test_thread_trace_of_rocprofv3(tmp_path):
    """An instruction issues after it stood still; addresses come from the listing, by line number."""
    wave = LAUNCHES[ONE]["waves"][0]["events"]
    numbers = {address: number for number, (_, address) in enumerate(wave)}
    listing = [["text", 0, number, "", 1, address, 1, 1] for address, number in numbers.items()]
    written(tmp_path, "code.json", json.dumps({"code": listing}))
    rows = [[1000 + clock - 1, 2, 1, 4, numbers[address]] for clock, address in wave]
    path = written(tmp_path, "se0_sm0_sl0_wv0.json", json.dumps({"wave": {"simd": 1, "instructions": rows}}))
    (found,) = read_capture(path).waves
    assert [address for _, address in found.events] == [address for _, address in wave]
    assert [clock - found.events[0][0] for clock, _ in found.events] == [clock for clock, _ in wave]
    assert found.simd == 1
    assert len(read_capture(tmp_path / "code.json").waves) == 1


def test_sums_of_rocprofv3(tmp_path, capsys):
    """Latency and idle of an instruction are the gaps of all waves together."""
    waves = [wave["events"] for wave in LAUNCHES[ONE]["waves"]]
    text = "Codeobj,Vaddr,Instruction,Hitcount,Latency,Stall,Idle,Source\n" + '7,256,"; the kernel",0,0,0,0,""\n'
    for after in waves[0][1:]:
        gaps = [
            clock - events[number - 1][0]
            for events in waves
            for number, (clock, address) in enumerate(events)
            if address == after[1]
        ]
        text += f'7,{after[1]},"an instruction",2,{sum(gaps) - 2},0,2,""\n'
    path = written(tmp_path, "stats_ui_output_agent_1_dispatch_1.csv", text)
    capture = read_capture(path)
    assert capture.totals[waves[0][1][1]] == (2, waves[0][1][0] + waves[1][1][0])
    assert main([*COMMAND, "--against", str(path), "--json", "-"]) == 0
    (one,) = json.loads(capsys.readouterr().out)
    rows = one["against"]["totals"]
    assert len(rows) == len(waves[0]) - 1 == 14
    assert sum(row["captured"] for row in rows) == pytest.approx(
        statistics.mean(events[-1][0] - events[0][0] for events in waves)
    )
    assert sum(row["low"] <= row["captured"] <= row["high"] for row in rows) >= 10


def test_clocks_as_csv(tmp_path):
    path = written(tmp_path, "waves.csv", "wave,clock,address\n0,0,0x100\n0,8,0x108\n1,4,264\n")
    assert [wave.events for wave in read_capture(path).waves] == [((0.0, 256), (8.0, 264)), ((4.0, 264),)]
    assert read_capture(path).resolution == 4


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.json", "{", "not a capture"),
        ("a.json", '{"lanes": []}', "JSON without waves, counters or launches"),
        ("a.json", '{"waves": [{"events": [[-1, 4]]}]}', "clock -1"),
        ("a.json", '{"waves": [{"events": [["x", 4]]}]}', "not a capture"),
        ("a.csv", "a,b\n1,2\n", "CSV with Counter_Name and Counter_Value, with Vaddr"),
        ("a.json", '{"arch": "gfx950", "waves": [{"events": [[0, 256]]}]}', "captured of the architecture gfx950"),
        ("a.json", '{"waves": [{"events": [[0, 5376], [9, 5380]]}]}', "wave 0 executes 0x1504 at clock 9, which no"),
    ],
)
def test_bad_captures_get_one_line(tmp_path, name, text, message, capsys):
    assert main([*COMMAND, "--against", str(written(tmp_path, name, text))]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


def test_a_pickle_is_refused_unread(tmp_path, capsys):
    path = tmp_path / "capture.json"
    path.write_bytes(pickle.dumps({"waves": []}))
    assert main([*COMMAND, "--against", str(path)]) == 2
    assert "a pickle can execute code and is not read" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--against", str(FILE)], "--launch names one of gfx1100_gemm_run_0"),
        (["--launch", "x"], "--launch is for --against"),
        (["--cold", "--warm"], "--cold and --warm exclude each other"),
        (["--baseline", str(FILE)], "not what `mfmasim cost --json` writes"),
    ],
)
def test_options_that_do_not_fit_get_one_line(options, message, capsys):
    assert main([*COMMAND, *options]) == 2
    assert message in capsys.readouterr().err
