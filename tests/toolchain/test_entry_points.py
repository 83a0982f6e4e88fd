"""Sources without headers that declare the device libraries' entry points."""

import numpy as np
import pytest

import mfmasim
from mfmasim.errors import MfmasimError
from mfmasim.hiprt.hipcc import run_compiler
from tests.hiprt.compiled import clang
from tests.toolchain.toolchain_helpers import SOURCES

BARE = SOURCES / "bare.hip"


def check(code):
    values, out = np.arange(64, dtype=np.float32) - 30, np.zeros((64, 4), np.float32)
    report = mfmasim.device("sim").launch(code["powers"], 2, 32, [out, values], checks="all")
    assert not report.findings
    assert np.array_equal(out, np.stack([np.exp2(values), values, np.arange(64), np.zeros(64)], -1))


@pytest.mark.parametrize("arch", ["gfx942", "gfx1201"])
def test_entry_points_are_linked(arch):
    check(mfmasim.compile(BARE, arch, compiler="ziglang"))


@pytest.mark.oracle
def test_hipcc_links_them(tmp_path):
    clang()
    path = tmp_path / "bare.co"
    assert run_compiler(["--genco", "--offload-arch=gfx1201", str(BARE), "-o", str(path)]) == 0
    check(mfmasim.load(path))


def test_other_undefined_symbols_are_errors(tmp_path):
    source = tmp_path / "bare.hip"
    source.write_text(BARE.read_text().replace("__ocml_exp2_f32", "__ocml_exp2_f99"))
    with pytest.raises(MfmasimError, match="undefined hidden symbol: __ocml_exp2_f99"):
        mfmasim.compile(source, "gfx942", compiler="ziglang")
