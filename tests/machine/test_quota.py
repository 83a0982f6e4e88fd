"""Quotas of a launch: instructions, seconds, bytes, rows."""

import pickle
import re
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import mfmasim
from mfmasim import MfmasimError, Quota
from mfmasim.cli import main
from mfmasim.errors import ExhaustedError
from mfmasim.hiprt.tables.errors import BY_KIND, CODES
from mfmasim.machine.events import Observer
from mfmasim.machine.launch.quota import INSTRUCTIONS, Meter
from mfmasim.observe import Finding
from mfmasim.resources import folder

FILE = folder("golden") / "code" / "bench" / "valu_loop.gfx942.hsaco"
HUGE = (2**26 - 1, 65535, 65535)
LARGE = (2**26 - 1, 10_000, 1)


@pytest.fixture(scope="module")
def kernel():
    code = mfmasim.load(FILE)
    return code[code.kernels[0]]


def launch(kernel, grid=1, turns=3, **options):
    buffer = np.zeros(64, np.uint32)
    return mfmasim.device("sim").launch(kernel, grid, 64, [buffer, np.int32(turns), np.uint32(7)], **options)


def test_instructions_of_all_waves_count(kernel):
    whole = launch(kernel, 8).counts.total()
    assert not launch(kernel, 8, quota=Quota(instructions=whole)).stopped
    report = launch(kernel, 8, quota=Quota(instructions=whole - 1), max_waves=1)
    assert report.stopped.startswith(f"the launch executed more than {whole - 1:,} wave-instructions; stopped at 0x")
    first = report.findings[0]
    assert (first.id, first.severity, first.workgroup) == ("quota-exhausted", "error", (7, 0, 0))
    assert not report.ok


def test_seconds(kernel):
    start = time.monotonic()
    report = launch(kernel, turns=2**31 - 1, budget=10**12, quota=Quota(seconds=0.3))
    assert report.stopped.startswith("the launch took more than 0.3 seconds; stopped at")
    assert time.monotonic() - start < 30


@pytest.mark.parametrize("checks", ["none", "all"])
def test_a_huge_grid_runs_into_the_quotas(kernel, checks):
    with pytest.raises(MfmasimError, match=rf"288\S* waves, each .* the quota is {INSTRUCTIONS:,} wave-instructions"):
        launch(kernel, HUGE, checks=checks)
    report = launch(kernel, LARGE, checks=checks, quota=Quota(seconds=0.5))
    assert "0.5 seconds" in report.stopped
    report = launch(kernel, LARGE, checks=checks, quota=Quota(instructions=INSTRUCTIONS, seconds=0.5))
    assert report.waves < 10_000_000


def test_a_chosen_order_needs_a_grid_that_can_be_listed(kernel):
    with pytest.raises(MfmasimError, match="at most 4,194,304 workgroups"):
        launch(kernel, LARGE, schedule="random:1")


def test_bytes(kernel):
    with pytest.raises(MfmasimError, match=r"bytes of device memory, the quota is 4,096"):
        launch(kernel, quota=Quota(bytes=4096))
    assert not launch(kernel, quota=Quota(bytes=1 << 20)).stopped


def test_rows_of_a_launch(kernel):
    few = launch(kernel, 8).counts.total() - 1
    assert len(launch(kernel, 8, quota=Quota(instructions=few), max_waves=1).findings) == 2
    report = launch(kernel, 8, quota=Quota(instructions=few, rows=1), max_waves=1)
    assert len(report.findings) == 1
    assert any(note.startswith("quota of 1 rows") for note in report.notes)


def test_rows_of_both_kinds():
    from mfmasim.devices.sim import _kept

    notes = []
    findings = [Finding("a", "info", "1"), Finding("b", "error", "2"), Finding("c", "warning", "3")]
    kept, lines = _kept(findings, ["x", "y", "z"], 2, notes)
    assert [one.check for one in kept] == ["b", "c"]
    assert lines == ["x", "y"]
    assert notes == ["quota of 2 rows: 1 findings and 1 printed lines are left out"]


@pytest.mark.parametrize(
    ("bad", "text"),
    [
        ({"instructions": 0}, "instructions=0): a whole number of 1 or more is expected; None is no limit"),
        ({"bytes": 1.5}, "bytes=1.5): a whole number of 1 or more"),
        ({"rows": -3}, "rows=-3): a whole number of 1 or more"),
        ({"rows": True}, "rows=True): a whole number of 1 or more"),
        ({"seconds": -1}, "seconds=-1): a number above 0 is expected; None is no limit"),
        ({"seconds": "1"}, "seconds='1'): a number above 0"),
        ({"seconds": float("nan")}, "seconds=nan): a number above 0"),
    ],
)
def test_quotas_that_are_no_numbers(bad, text):
    with pytest.raises(MfmasimError, match=re.escape(f"Quota({text}")):
        Quota(**bad)


def test_quotas_are_numbers_of_any_library():
    assert Quota(rows=np.int64(3), seconds=np.float32(0.5)).rows == 3


def test_what_is_no_quota(kernel):
    with pytest.raises(MfmasimError, match=r"a mfmasim.Quota\(...\) is expected"):
        launch(kernel, quota=3)


def test_parts_together_stay_within_the_quota(kernel):
    whole = launch(kernel, 8, checks="none").counts.total()
    with ThreadPoolExecutor(2) as executor:
        how = {"checks": "none", "executor": executor, "parts": 2}
        assert not launch(kernel, 8, quota=Quota(instructions=whole), **how).stopped
        report = launch(kernel, 8, quota=Quota(instructions=whole - 1), **how)
    assert "wave-instructions" in report.stopped


def test_a_worker_gets_the_time_that_is_left():
    meter = pickle.loads(pickle.dumps(Meter(Quota(seconds=100))))
    assert 0 < meter.deadline - time.monotonic() <= 100
    assert pickle.loads(pickle.dumps(Meter(Quota()))).deadline is None


@pytest.mark.parametrize(
    ("options", "code", "text"),
    [
        (["--max-instructions", "10"], 1, "more than 10 wave-instructions"),
        (["--max-seconds", "0.2", "--grid", "67108863,10000"], 1, "more than 0.2 seconds"),
        (["--grid", "67108863,65535,65535"], 2, "each of which executes an instruction"),
        (["--max-bytes", "100"], 2, "the quota is 100"),
        (["--max-rows", "0"], 2, "--max-rows 0: a whole number of 1 or more is expected"),
    ],
)
def test_the_command_line(options, code, text, capsys):
    assert main(["run", str(FILE), "--arg", "u32:64", "--arg", "i32=3", "--arg", "u32=7", *options]) == code
    found = capsys.readouterr()
    assert text in found.out + found.err


def test_verify_has_them(capsys):
    words = ["verify", "intro", "--arch", "gfx942", "--case", "f16_16"]
    assert main([*words, "--max-instructions", "5"]) == 1
    assert "FAIL quota" in capsys.readouterr().out
    assert main([*words, "--max-seconds", "600", "--max-rows", "100"]) == 0


class Hungry(Observer):
    """Needs more memory than there is."""

    def on_start(self, launch):
        raise MemoryError("Unable to allocate 4.00 GiB")


def test_a_launch_for_which_the_host_has_not_the_memory_is_refused_in_one_line(kernel, monkeypatch):
    with pytest.raises(
        ExhaustedError, match=r"has not the memory for this launch; Unable to allocate 4.00 GiB; buffers"
    ) as error:
        launch(kernel, observers=[Hungry()], checks="bounds,races")
    assert str(error.value).endswith("the checks bounds, races keep records beside them: fewer checks take less")
    assert error.value.kind == "memory"
    assert BY_KIND["memory"] == CODES["hipErrorOutOfMemory"]
    monkeypatch.setattr("mfmasim.devices.sim.prepare", lambda *_: (_ for _ in ()).throw(MemoryError()))
    with pytest.raises(ExhaustedError, match=r"the host has not the memory for this launch$"):
        launch(kernel)
