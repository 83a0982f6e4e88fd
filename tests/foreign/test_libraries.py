"""GEMMs that TensileLite's generator wrote for hipBLASLt: results as NumPy's, and no warning or error under all checks.

How the arguments follow from the solution's state: `tests.foreign.gemms`. A convolution of MIOpen: `winograd`.
"""

import numpy as np
import pytest

from tests.foreign import gemms, winograd
from tests.oracles import SHARED, SHARED_HOW, require

pytestmark = pytest.mark.oracle

FOLDER = SHARED / "data" / "libraries"
# Folder, part of the kernel's name, and the largest error in units of the last place of a sum of integers.
GEMMS = [
    ("a_HHS", "MT32", 0), ("cd_HHS_NT", "MT32x64x64", 0), ("n_BBS", "MT32", 2**-17), ("rd_HHS_TN", "MT32b", 0),
    ("cd_F8F8S_NN", "MT128", 0),
    pytest.param("cd_HHS_NT", "MT256x256x32", 0, marks=pytest.mark.long),
    pytest.param("n_BBS", "MT64", 2**-17, marks=pytest.mark.long),
    pytest.param("rd_HHS_TN", "MT32s", 0, marks=pytest.mark.long),
]  # fmt: skip


def found(folder, part):
    require("data/libraries", FOLDER.exists(), SHARED_HOW)
    (path,) = (FOLDER / folder).glob(f"*{part}*.json")
    return path


@pytest.mark.parametrize(("folder", "part", "tolerance"), GEMMS)
def test_generated_gemms(folder, part, tolerance):
    off, report, *_ = gemms.launch(found(folder, part))
    assert off.keys() == {"D"}
    assert max(off.values()) <= tolerance
    assert [str(finding) for finding in report.findings if finding.severity != "info"] == []


def test_a_generator_that_converts_one_word_twice():
    """Of eight elements of C, TensileLite's code for FP8 takes the last two in place of the two before them.

    ``GlobalWriteBatch.py`` of hipBLASLt 7d9fb683 selects WORD_0 for the first pair of a vector, and WORD_1 for all
    others, where each register has two pairs: ``v_cvt_pk_f32_fp8_sdwa v[4:5], v13 src0_sel:WORD_1`` stands twice.
    """
    path = found("cd_F8F8S_NN", "MT256")
    off, *_ = gemms.launch(path, (), beta=0.0)
    assert off == {"D": 0.0}
    off, _, problem, gemm = gemms.launch(path, ())
    assert off["D"] > 0
    ((_, out, _),) = gemm.outputs
    c = gemm.args["C"].astype(float)
    taken = np.arange(problem.m).reshape(-1, 8)
    taken[:, 4:6] = taken[:, 6:]
    product = gemm.args["B"].astype(float) @ gemm.args["A"].astype(float)  # as D is stored, column by column
    expected = problem.rounded(product + c[:, taken.ravel()])
    assert np.array_equal(out.astype(float), expected)


def test_a_winograd_convolution():
    """Lanes without work write beyond the LDS, which the workgroup has whole: that is information."""
    (path,) = (*FOLDER.glob("Conv_Winograd*.co"), None)[:1]
    require("data/libraries", path is not None, SHARED_HOW)
    off, report = winograd.launch(path)
    assert off == 0
    ids = {finding.id for finding in report.findings}
    assert "bounds-lds-nowhere" in ids
    assert "bounds-lds" not in ids
    assert {one.id for one in report.findings if one.severity == "error"} == {
        "races-no-barrier",
        "uninitialised-address",
    }
