"""Triples of compilers before and after LLVM 23, as command lines: none of these compilers has to be installed."""

from pathlib import Path

import pytest

from mfmasim.architectures import GENERICS, SIMULATED
from mfmasim.toolchain.compilation import _steps
from mfmasim.toolchain.compilers import Compiler
from mfmasim.toolchain.triples import subarch, triple

# LLVM's AMDGPU usage guide of 2026-08, subarchs.
LLVM_23 = {
    "gfx906": "9.06", "gfx908": "9.08", "gfx90a": "9.0a", "gfx942": "9.42", "gfx950": "9.50", "gfx1030": "10.30",
    "gfx1100": "11.00", "gfx1170": "11.70", "gfx1201": "12.01", "gfx1250": "12.50", "gfx1250-strict": "12.50s",
    "gfx9-generic": "9", "gfx9-4-generic": "9.4", "gfx10-3-generic": "10.3", "gfx11-generic": "11",
    "gfx11-7-generic": "11.7", "gfx12-5-generic": "12.5",
}  # fmt: skip


def test_subarchs():
    assert {name: subarch(name) for name in LLVM_23} == LLVM_23
    assert all(subarch(name) for name in (*SIMULATED, *GENERICS))
    assert subarch("fiji") == ""


@pytest.mark.parametrize(
    ("version", "wanted"), [("21.1.0", "amdgcn"), ("22.1.8", "amdgcn"), ("23.0.0git", "amdgpu9.50")]
)
def test_the_assembler_is_given_the_triple_of_its_version(version, wanted):
    tool = Compiler("clang", "clang", ("clang",), ("ld.lld",), version, f"clang {version}")
    _, assembled, _ = _steps(tool, "gfx950:xnack-", ["clang"], [], Path("k.hip"), Path("k.hsaco"))
    assert assembled[1:3] == [f"--target={wanted}-amd-amdhsa", "-mcpu=gfx950:xnack-"]
    assert triple("gfx950", version) == f"{wanted}-amd-amdhsa"
