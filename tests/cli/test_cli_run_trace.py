"""`mfmasim run --trace` and `--coverage`, on prebuilt kernels."""

import json

import numpy as np
import pytest

import mfmasim
from mfmasim.cli import main
from mfmasim.observe.tools.steps import Trace
from mfmasim.resources import folder
from tests.machine import harness

CODE = folder("golden") / "code" / "intro" / "mfma_f32_32x32x2_f32.gfx942.hsaco"
SOURCE = folder("hipkernels") / "intro" / "mfma_f32_32x32x2_f32.hip"


@pytest.fixture
def arguments(tmp_path):
    """The kernel's arguments from files: all ones times all twos."""
    given = ["run", str(CODE)]
    for name, array in {
        "a": np.ones((32, 2), "f4"),
        "b": np.full((2, 32), 2, "f4"),
        "c": np.zeros((32, 32), "f4"),
    }.items():
        np.save(tmp_path / f"{name}.npy", array)
        given += ["--arg", str(tmp_path / f"{name}.npy")]
    return given


def test_trace_has_a_line_for_each_instruction(arguments, capsys):
    assert main([*arguments, "--trace"]) == 0
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("(0,0,0) wave 0")]
    assert len(lines) == 36
    matrix = next(line for line in lines if "v_mfma_f32_32x32x2_f32" in line)
    assert "v0=0x40800000 v1=0x40800000" in matrix  # 1 * 2 + 1 * 2
    assert matrix.endswith("mfma_f32_32x32x2_f32.hip:15")
    assert "v1=[0x0 0x1 0x2 0x3 …]" in lines[3]
    assert "v2=[0x0 ×32 0x1 ×32]" in lines[2]
    assert "s_endpgm" in lines[-1]


def test_masks_are_shown_whole_in_a_trace():
    """EXEC and VCC are shown whole, when they change."""
    kernel = harness.kernel("s_mov_b64 s[4:5], 3\n s_mov_b64 vcc, 5\n s_mov_b64 exec, -2\n s_endpgm", "gfx942", "")
    trace = Trace()
    mfmasim.device("sim").launch(kernel, grid=1, block=64, args=[], observers=[trace])
    assert [sorted(one.scalars) for one in trace.records] == [["s4", "s5"], ["vcc"], ["exec"], []]


def test_trace_as_json_lines(arguments, capsys):
    assert main([*arguments, "--trace", "--json"]) == 0
    records = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert len(records) == 37
    *steps, report = records
    assert [step["pc"] for step in steps] == sorted(step["pc"] for step in steps)
    assert {step["exec"] for step in steps} == {"0xffffffffffffffff"}
    matrix = next(step for step in steps if "v_mfma" in step["text"])
    assert sorted(matrix["vectors"], key=lambda name: int(name[1:])) == [f"v{n}" for n in range(16)]
    assert matrix["vectors"]["v15"] == [0x40800000] * 64
    assert report["mix"] == {"VMEM": 18, "VALU": 10, "WAIT": 4, "SMEM": 2, "MATRIX": 1, "BRANCH": 1}
    assert sum(report["mix"].values()) == sum(report["counts"].values()) == 36


def test_trace_of_lines_to_a_file_with_a_limit(arguments, tmp_path, capsys):
    target = tmp_path / "trace.txt"
    assert (
        main([*arguments, "--trace", "--trace-lines", "11-12", "--trace-limit", "3", "--trace-file", str(target)]) == 0
    )
    assert "wave 0" not in capsys.readouterr().out
    lines = target.read_text().splitlines()
    assert len(lines) == 4
    assert all(line.endswith("hip:11") for line in lines[:3])
    assert lines[3].startswith("… 3 more wave-instructions")


def test_trace_of_one_wave(arguments, capsys):
    """Workgroups beyond the first compute the same place; only the wave asked for is shown."""
    assert main([*arguments, "--grid", "3", "--trace", "--trace-waves", "1-2", "--trace-lines", "15"]) == 0
    lines = [line for line in capsys.readouterr().out.splitlines() if "v_mfma_f32_32x32x2_f32 v[" in line]
    assert [line[:14] for line in lines] == ["(1,0,0) wave 0", "(2,0,0) wave 0"]


@pytest.mark.parametrize(
    ("options", "word"),
    [
        (["--trace", "--trace-waves", "x"], "'x'"),
        (["--trace", "--trace-lines", "9-3"], "'9-3'"),
        (["--trace", "--trace-limit", "0"], "--trace-limit 0"),
        (["--trace-waves", "1"], "needs --trace"),
        (["--trace", "--trace-file", "no/such/folder/x"], "no/such/folder/x"),
    ],
)
def test_bad_options_are_one_line(arguments, capsys, options, word):
    assert main([*arguments, *options]) == 2
    text = capsys.readouterr().err
    assert text.count("\n") == 1
    assert word in text


def test_coverage_annotates_the_source(arguments, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(SOURCE.parent)
    assert main([*arguments, "--coverage"]) == 0
    text = capsys.readouterr().out
    lines = text[text.index("mfma_f32_32x32x2_f32.hip: 7 of 7") :].splitlines()
    source = SOURCE.read_text().splitlines()
    assert len(lines) == 1 + len(source)
    assert lines[15].split()[:2] == ["1", "15"]
    assert source[14].strip() in lines[15]
    assert lines[1].split()[0] == "1"  # no count: the first line is a comment
    monkeypatch.chdir(tmp_path)
    assert main([*arguments, "--coverage", "--json"]) == 0
    record = json.loads(capsys.readouterr().out)["coverage"]
    assert record["never"] == []
    assert record["share"] == 1.0
    (lines,) = record["files"].values()
    assert lines["15"] == {"executions": 1, "instructions": 2, "compiled": 2}  # a wait and the matrix instruction
