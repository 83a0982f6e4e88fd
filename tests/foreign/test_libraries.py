"""GEMMs that TensileLite's generator wrote for hipBLASLt: results as NumPy's, and no warning or error under all checks.

How the arguments follow from the solution's state: hipBLASLt's host code, and data/libraries/README.md of the shared
folder. The two kernels for FP8 there are left out: most of their results differ from NumPy's, and a conversion in their
code reads one word twice; whether the generator or the launch is at fault is not settled.
"""

import json

import ml_dtypes
import numpy as np
import pytest

import mfmasim
from tests.oracles import SHARED, SHARED_HOW, require

pytestmark = pytest.mark.oracle

FOLDER = SHARED / "data" / "libraries"
TYPES = {"HHS": np.float16, "BBS": ml_dtypes.bfloat16}
# Folder, part of the kernel's name, and the largest error in units of the last place of a sum of integers.
GEMMS = [
    ("a_HHS", "MT32", 0), ("cd_HHS_NT", "MT32x64x64", 0), ("n_BBS", "MT32", 2**-17), ("rd_HHS_TN", "MT32b", 0),
    pytest.param("cd_HHS_NT", "MT256x256x32", 0, marks=pytest.mark.long),
    pytest.param("n_BBS", "MT64", 2**-17, marks=pytest.mark.long),
    pytest.param("rd_HHS_TN", "MT32s", 0, marks=pytest.mark.long),
]  # fmt: skip


def arguments(state, name, dtype, m, n, k):
    """Arguments by name, the matrix D, and what it has to hold; batch 1, alpha 1, beta 1."""
    rng = np.random.default_rng(1)
    a, b, c = (rng.integers(-3, 4, shape).astype(dtype) for shape in ((m, k), (k, n), (m, n)))
    expected = (a.astype(float) @ b.astype(float) + c.astype(float)).astype(dtype).astype(float)
    by_row = "Alik" in name, "Bjlk" in name  # A with K fastest, B with N fastest
    memory = {
        "A": a if by_row[0] else np.ascontiguousarray(a.T),
        "B": b if by_row[1] else np.ascontiguousarray(b.T),
        "C": np.ascontiguousarray(c.T),
        "D": np.zeros((n, m), dtype),
    }
    lead = {"A": k if by_row[0] else m, "B": n if by_row[1] else k, "C": m, "D": m}
    stagger = (state["StaggerU"] & 0xFF) | state["StaggerUMapping"] << 13
    tiles = -(-m // state["MacroTile0"]) * -(-n // state["MacroTile1"])
    values = {
        **memory, "Gemm info": 1, "kernel info0": 1 | stagger << 16, "kernel info1": 0x3FF << 22 | 1 << 16 | 1,
        "numWG": tiles, "SizesFree0": m, "SizesFree1": n, "SizesFree2": 1, "SizesSum0": k,
        "alpha": np.float32(1), "beta": np.float32(1), "AddressScaleAlphaVec": np.ones(m, np.float32),
    }  # fmt: skip
    for matrix, stride in lead.items():
        values |= {f"stride{matrix}0": stride, f"stride{matrix}1": memory[matrix].size}
    return values, memory["D"], expected.T, tiles


@pytest.mark.parametrize(("folder", "part", "tolerance"), GEMMS)
def test_generated_gemms(folder, part, tolerance):
    require("data/libraries", FOLDER.exists(), SHARED_HOW)
    (path,) = (FOLDER / folder).glob(f"*{part}*.json")
    state = json.loads(path.read_text())
    code = mfmasim.load(path.parent / "assembly" / f"{path.stem}.co")
    kernel = code[code.kernels[0]]
    dtype = TYPES[path.name.split("_")[3]]
    m, n, k = state["MacroTile0"] - 3, state["MacroTile1"], 2 * state["DepthU"] + 16
    values, out, expected, tiles = arguments(state, path.name, dtype, m, n, k)
    given = {arg.name: values.get(arg.name, None if arg.is_pointer else np.uint32(0)) for arg in kernel.args}
    assert {"A", "B", "C", "D", "SizesSum0", "kernel info0"} <= given.keys()
    grid = (-(-m // state["MacroTile0"]), -(-n // state["MacroTile1"]), 1) if "gfx12" in kernel.arch.name else tiles
    report = mfmasim.device("sim").launch(kernel, grid, state["NumThreads"], given, checks="all")
    assert np.abs(out.astype(float) - expected).max() <= tolerance
    assert [str(finding) for finding in report.findings if finding.severity != "info"] == []
