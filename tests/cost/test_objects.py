"""Code objects of others, and the speed of the timeline."""

import json
import time

import pytest

from mfmasim.cli import main
from mfmasim.cost import timeline
from mfmasim.cost.cases import record_case
from mfmasim.verify import find
from tests.foreign.launches import OBJECTS
from tests.oracles import SHARED_HOW, require

MATMUL = OBJECTS / "triton" / "matmul_f16.gfx1201.hsaco"
ARGUMENTS = ["f16:64x256=1", "f16:256x64=1", "f32:64x64=0", *(f"i32={n}" for n in (256, 256, 64, 64)), "null", "null"]


def test_a_triton_kernel(capsys):
    require("data/objects", OBJECTS.exists(), SHARED_HOW)
    launch = ["--grid", "1", "--block", "128", "--shared", "8192"]
    given = [part for argument in ARGUMENTS for part in ("--arg", argument)]
    assert main(["cost", str(MATMUL), *launch, *given, "--json", "-"]) == 0
    (one,) = json.loads(capsys.readouterr().out)
    assert (one["arch"], one["product"], one["case"]) == ("gfx1201", "RX 9070 XT", "")
    assert one["per"] == "turn"
    assert one["flops"] == 2 * 64 * 64 * 32
    for end in ("low", "value", "high"):
        line = one["timeline"][end]
        assert line["turn"] >= one["cycles"]
        assert line["lines"]
        assert all(name.startswith("0x") for name in line["lines"])  # it was compiled without debug information
    assert one["timeline"]["low"]["clocks"] < one["timeline"]["high"]["clocks"]


@pytest.mark.parametrize(
    ("more", "message"), [(["--case", "a"], "--case needs a case file, not"), (["--kernel", "x"], "unknown kernel 'x'")]
)
def test_what_a_code_object_does_not_take_is_refused(more, message, capsys):
    require("data/objects", OBJECTS.exists(), SHARED_HOW)
    assert main(["cost", str(MATMUL), *more]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.long
def test_a_timeline_of_32_tiles_takes_five_seconds_at_most():
    """Recording and drawing one workgroup of the 256x256 ping-pong, compilation by another process aside."""
    case = next(one for _, cases in find("gemm_fp8/scheduled") for one in cases if one.title == "pingpong_256")
    start = time.process_time()
    recorded = record_case(case.with_parameters({"K": 32 * 128}), "gfx950")
    line = timeline(recorded.trace)
    assert time.process_time() - start < 5
    assert sum(len(lane.issued) for lane in line.lanes) > 40_000
