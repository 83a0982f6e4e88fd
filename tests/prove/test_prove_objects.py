"""Kernels without a case: LDS, waits and bank conflicts of code objects of others, and bad input."""

from __future__ import annotations

import pytest

import mfmasim
from mfmasim.cli import main
from mfmasim.errors import MfmasimError
from mfmasim.prove import Proof, prove_kernel
from tests.machine import harness
from tests.oracles import SHARED, SHARED_HOW, require

LOCAL = {"lds bounds", "lds races", "waits", "bank conflicts"}
PADDED = """
  v_and_b32 v0, 0x3ff, v0
  v_lshlrev_b32 v1, 2, v0
  s_load_dword s4, s[0:1], 0x8
  s_waitcnt lgkmcnt(0)
  v_mov_b32 v2, s4
  ds_write_b32 v1, v2
  s_waitcnt lgkmcnt(0)
  s_barrier
  v_xor_b32 v1, 0x100, v1
  ds_read_b32 v3, v1
  s_waitcnt lgkmcnt(0)
  s_endpgm
"""
"""128 work-items pass a number to the other wave through 512 bytes of the LDS."""


def kernel(text: str = PADDED, lds: int = 512) -> mfmasim.Kernel:
    return harness.kernel(text, "gfx942", "pv", lds=lds)


def verdicts(proof: Proof) -> dict[str, str]:
    return {one.kind: one.verdict for one in proof.obligations}


def test_what_needs_no_lengths_is_proved() -> None:
    proof = prove_kernel(kernel(), (128,))
    assert verdicts(proof) == dict.fromkeys((*LOCAL, "bounds", "global races"), "proved")
    assert any("any grid" in text for text in proof.assumptions)
    assert any("128x1x1 work-items" in text for text in proof.assumptions)


@pytest.mark.parametrize(
    ("old", "new", "lds", "kinds"),
    [
        ("s_barrier\n", "", 512, {"lds races"}),
        ("  s_waitcnt lgkmcnt(0)\n  v_mov", "  v_mov", 512, {"waits"}),
        ("0x100", "0x300", 512, {"lds bounds", "bounds"}),
        ("0x100", "0x100", 508, {"lds bounds", "bounds"}),
    ],
)
def test_a_fault_is_not_proved(old: str, new: str, lds: int, kinds: set[str]) -> None:
    assert old in PADDED
    found = verdicts(prove_kernel(kernel(PADDED.replace(old, new), lds), (128,)))
    assert {found[kind] for kind in kinds} == {"unknown"}, found


def test_an_array_has_no_length() -> None:
    text = PADDED.replace("s_barrier\n", "s_barrier\n  global_store_dword v0, v2, s[2:3]\n").replace(
        "s_load_dword s4", "s_load_dwordx2 s[2:3], s[0:1], 0x0\n  s_load_dword s4"
    )
    proof = prove_kernel(kernel(text), (128,))
    found = verdicts(proof)
    assert found["bounds"] == found["global races"] == "unknown"
    assert {found[kind] for kind in LOCAL} == {"proved"}
    (bounds,) = [one for one in proof.obligations if one.kind == "bounds"]
    assert "the length of argument 0 is not declared" in bounds.reasons[0].why or "p0" in bounds.reasons[0].why


@pytest.mark.parametrize("block", [None, (2048,), (0,)])
def test_a_workgroup_that_is_none_is_refused(block: tuple[int, ...] | None) -> None:
    with pytest.raises(MfmasimError, match="--block"):
        prove_kernel(kernel(), block)


def test_dynamic_lds_that_does_not_fit_is_refused() -> None:
    with pytest.raises(MfmasimError, match="--shared 70000"):
        prove_kernel(kernel(), (128,), 70_000)


def test_the_verb_takes_a_source(capsys: pytest.CaptureFixture[str], tmp_path) -> None:
    file = tmp_path / "kernels.hip"
    file.write_text(
        '#include <hip/hip_runtime.h>\nextern "C" __global__ void sum(float *x) {\n  __shared__ float y[64];\n'
        "  y[threadIdx.x] = x[threadIdx.x];\n  __syncthreads();\n  x[threadIdx.x] = y[63 - threadIdx.x];\n}\n"
    )
    sarif = tmp_path / "x.sarif"
    chosen = ["prove", str(file), "--arch", "gfx942", "--jobs", "1", "--sarif", str(sarif)]
    assert main([*chosen, "--block", "64", "--verbose"]) == 0
    out = capsys.readouterr().out
    assert "sum on gfx942, for all arguments, grids" in out
    assert "proved   lds bounds" in out
    assert "proved   lds races" in out
    assert "the length of" in out
    assert "assumes  workgroups are whole, 64x1x1 work-items, with 0 bytes of dynamic LDS" in out
    assert '"level": "note"' in sarif.read_text()
    assert main([*chosen, "--block", "64", "--kernel", "some"]) == 2
    assert "did you mean 'sum'" in capsys.readouterr().err
    assert main([*chosen, "--block", "64", "--case", "x"]) == 2
    assert main(["prove", "intro", "--block", "64"]) == 2
    assert "--block needs a code object" in capsys.readouterr().err


@pytest.mark.oracle
@pytest.mark.parametrize(
    ("file", "block", "shared", "proved"),
    [
        ("triton/softmax.gfx1151.hsaco", 128, 1024, LOCAL),
        ("triton/layernorm.gfx1201.hsaco", 128, 1024, LOCAL),
        ("triton/pingpong38.gfx942.hsaco", 512, 65536, LOCAL - {"lds races"}),
    ],
)
def test_objects_of_triton(file: str, block: int, shared: int, proved: set[str]) -> None:
    """The last one has a race (Triton issue 11696) that executions find, too."""
    path = SHARED / "data" / "objects" / file
    require(f"objects/{file}", path.is_file(), SHARED_HOW)
    code = mfmasim.load(path)
    proof = prove_kernel(code[code.kernels[0]], (block,), shared)
    assert {kind for kind, verdict in verdicts(proof).items() if verdict == "proved"} == proved
