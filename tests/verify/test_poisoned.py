"""Launches that a GPU does three times: what depends on memory that the kernel has not written is found."""

import numpy as np
import pytest

from mfmasim.cli import main
from mfmasim.devices import SimDevice
from mfmasim.lab.agreement import poisoned, threeway
from mfmasim.lab.agreement.poisoned import POISONS, Poisoned, run_recorded
from mfmasim.verify import find
from mfmasim.verify.runner import verify_case

KERNELS = """
#include <hip/hip_runtime.h>
extern "C" __global__ void right(const unsigned* a, unsigned* c) { c[threadIdx.x] = a[threadIdx.x]; }
extern "C" __global__ void half(const unsigned* a, unsigned* c) {
    if (threadIdx.x < 32) c[threadIdx.x] = a[threadIdx.x];
}
extern "C" __global__ void adds(const unsigned* a, unsigned* c) { c[threadIdx.x] += a[threadIdx.x]; }
"""
CASES = """
import numpy as np
from mfmasim.verify import In, InOut, LaunchDict, Out, case

def made(c, expect) -> LaunchDict:
    return {"grid": 1, "block": 64, "args": [In("u32", 64, np.arange(64, dtype=np.uint32)), c], "expect": expect}

@case("kernels.hip", kernel="right", arch=["gfx942"])
def right() -> LaunchDict:
    return made(Out("u32", 64), lambda a: a)

@case("kernels.hip", kernel="half", arch=["gfx942"])
def half() -> LaunchDict:
    return made(Out("u32", 64), lambda a: np.where(a < 32, a, np.uint32(0xA5A5A5A5)))

@case("kernels.hip", kernel="adds", arch=["gfx942"])
def adds() -> LaunchDict:
    return made(Out("u32", 64), lambda a: a + np.uint32(0xA5A5A5A5))

@case("kernels.hip", kernel="adds", arch=["gfx942"])
def adds_to_an_input() -> LaunchDict:
    return made(InOut("u32", 64, np.arange(64, dtype=np.uint32)), lambda a, c: a + c)
"""


class Gpu(SimDevice):
    """The simulator in the place of a GPU; it keeps what each launch was given."""

    name, simulated = "hip", True

    def __init__(self):
        self.launches = []

    def launch(self, kernel, grid, block, args, shared=0, checks="all", *, poison=None, **options):
        self.launches.append((kernel.name, poison))
        return super().launch(kernel, grid, block, args, shared, "none", **options)


@pytest.fixture
def cases(tmp_path):
    (tmp_path / "kernels.hip").write_text(KERNELS)
    path = tmp_path / "cases.py"
    path.write_text(CASES)
    return {case.title: case for _, some in find(str(path)) for case in some}


@pytest.mark.parametrize(("name", "reads"), [("right", 0), ("half", 0), ("adds", 1), ("adds_to_an_input", 0)])
def test_what_a_kernel_has_not_written_shows_in_its_outputs(cases, name, reads):
    gpu = Gpu()
    recorder = Poisoned(gpu)
    verify_case(cases[name], "gfx942", device=recorder)
    assert [(kernel, poison) for kernel, poison in gpu.launches if kernel != "fill"] == [
        (cases[name].kernel_name(), poison) for poison in (None, *POISONS)
    ]
    assert [kernel for kernel, _ in gpu.launches].count("fill") == len(POISONS)
    assert len(recorder.launches) == 1
    assert len(recorder.differing) == (len(POISONS) if reads else 0)
    assert all("launch 1, buffer 1: " in text for text in recorder.differing)


def test_the_first_run_is_what_is_recorded(cases):
    recorder = Poisoned(Gpu())
    verify_case(cases["adds"], "gfx942", device=recorder)
    (launch,) = recorder.launches
    assert (launch.before[1] == poisoned.POISON).all()
    expected = np.full(64, 0xA5A5A5A5, np.uint32) + np.arange(64, dtype=np.uint32)
    assert np.array_equal(launch.after[1].view(np.uint32), expected)


def test_a_capture_says_where_its_runs_differ(cases, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(poisoned, "IsolatedHip", Gpu)
    monkeypatch.setattr(threeway, "_device", lambda device: {"name": "hip", "product": "p", "simulated": True})
    file = str(tmp_path / "cases.py")
    paths = {
        name: threeway.record(cases[name], "gfx942", file, Gpu(), tmp_path / "captures") for name in ("right", "adds")
    }
    assert [result.status for _, result in paths.values()] == ["pass", "fail"]
    assert [found.id for found in paths["adds"][1].findings if found.severity == "error"] == ["outputs-unsteady"] * 2
    assert main(["gpu", "golden", "check", "--case-file", file, str(paths["adds"][0])]) == 1
    said = capsys.readouterr().out
    assert "outputs-unsteady: launch 1, buffer 1: 63 of 256 bytes are others when what is undefined holds 0x3c" in said
    result, recorder = run_recorded(cases["right"], "gfx942", file, Gpu())
    assert result.status == "pass"
    assert recorder.summary == {"runs": 3, "bytes": [0xA5, 0x3C, 0xC3], "differ": []}
