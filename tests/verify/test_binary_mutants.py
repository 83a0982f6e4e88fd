"""Mutants of compiled code: each is what it says, each wait is found, and equivalent ones are recognised."""

import sys
from pathlib import Path

import numpy as np
import pytest

import mfmasim
from mfmasim.cli import main
from mfmasim.errors import MfmasimError
from mfmasim.isa.counters import waited
from mfmasim.resources import folder
from mfmasim.verify import find, select
from mfmasim.verify.binary import InFlight, _executed, _judge, mutants_in, patched, run_binary

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "machine"))
import harness

PROGRAM = """
  s_load_dwordx2 s[8:9], s[0:1], 0x0
  v_lshlrev_b32_e32 v2, 2, v0
  s_waitcnt lgkmcnt(0)
  s_waitcnt lgkmcnt(0)
  ds_write_b32 v2, v0 offset:8
  s_waitcnt lgkmcnt(0)
  s_barrier
  ds_read2_b32 v[4:5], v2 offset0:1 offset1:2
  s_waitcnt vmcnt(0) lgkmcnt(0)
  global_store_dword v2, v4, s[8:9]
  s_waitcnt vmcnt(0)
  s_endpgm
"""


def judged(block):
    kernel = harness.kernel(PROGRAM, "gfx942", "p", lds=2048)
    flown = InFlight(kernel)
    out = np.zeros(256, np.uint32)
    mfmasim.device("sim").launch(kernel, grid=1, block=block, args=[out], observers=[flown], checks="none")
    ran = _executed(kernel, flown)
    return [(m, *_judge(m, kernel, flown, ran)) for m in mutants_in(kernel)]


def test_each_is_one_changed_instruction():
    """Decoded again, only the one differs, and as the mutant says."""
    kernel = harness.kernel(PROGRAM, "gfx942", "p", lds=2048)
    before, code = kernel.instructions, kernel.code.object.data
    mutants = mutants_in(kernel)
    for mutant in mutants:
        after = mfmasim.load(patched(code, mutant.pc, mutant.dword))[kernel.name].instructions
        ((old, new),) = [(a, b) for a, b in zip(before, after, strict=True) if a.text != b.text]
        assert old.pc == mutant.pc
        if mutant.kind.endswith("removed"):
            assert new.name == "s_nop"
        elif mutant.kind == "wait weakened":
            want = dict(waited(kernel.arch, old))
            want[mutant.counter] += 1
            assert dict(waited(kernel.arch, new)) == want
        else:
            key = "offset" if "offset" in old.modifiers else "offset0"
            assert new.modifiers == {**old.modifiers, key: old.modifiers[key] + (4 if key == "offset" else 1)}
    kinds = [mutant.kind for mutant in mutants]
    assert [kinds.count(k) for k in ("wait removed", "wait weakened", "barrier removed", "LDS offset shifted")] == [
        5, 6, 1, 2
    ]  # fmt: skip


def test_equivalent_ones_are_recognised():
    found = judged(128)
    removed = [equal or note for m, equal, note in found if m.kind == "wait removed"]
    assert removed == [
        "in flight: s_load_dwordx2",
        "nothing that it would wait for is in flight",
        "in flight: ds_write_b32",
        "in flight: ds_read2_b32",
        "only stores are in flight (global_store_dword), and the program ends",
    ]
    weakened = {(m.pc, m.counter): equal for m, equal, _ in found if m.kind == "wait weakened"}
    assert [bool(equal) for _, equal in sorted(weakened.items())] == [False, True, False, False, True, True]
    assert [equal for m, equal, _ in found if m.kind == "barrier removed"] == [""]
    assert [equal for m, equal, _ in judged(64) if m.kind == "barrier removed"] == ["a workgroup has one wave"]


def test_every_wait_of_a_kernel_is_found(capsys):
    """Removed and weakened, as the command line tells it."""
    assert main(["mutate", "intro", "--binary", "--arch", "gfx942", "--case", "f16"]) == 0
    text = capsys.readouterr().out
    ((_, cases),) = find("intro")
    kernels = [
        mfmasim.load(folder("golden") / "code" / "intro" / f"{c.source.stem}.gfx942.hsaco")[c.kernel_name()]
        for c, _ in select(cases, "gfx942", "f16")
    ]
    count = sum(m.kind == "wait removed" for kernel in kernels for m in mutants_in(kernel))
    assert count >= 2
    assert f"wait removed: {count} of {count} caught, 0 equivalent" in text
    assert "survived" not in text


def test_limit_and_bad_input(capsys):
    ((_, cases),) = find("intro")
    case, arch = select(cases, "gfx942", "f16")[0]
    assert [v.caught for v in run_binary(case, arch, 1)] == [("waits",)]
    assert main(["mutate", "intro", "--binary", "--limit", "0"]) == 2
    assert "a positive number of mutants" in capsys.readouterr().err
    assert main(["mutate", "intro", "--arch", "gfx942"]) == 2
    assert "belong to --binary" in capsys.readouterr().err
    with pytest.raises(MfmasimError, match="loads nothing there"):
        patched(
            mfmasim.load(folder("golden") / "code" / "intro" / f"{case.source.stem}.{arch}.hsaco").object.data,
            1 << 40,
            0,
        )


@pytest.mark.long
@pytest.mark.parametrize("arch", ["gfx942", "gfx950"])
@pytest.mark.parametrize("family", ["isa/barrier", "isa/lds", "lds"])
def test_waits_of_the_families(family, arch):
    """Every wait of kernels with LDS and barriers; a survivor must be one that leaves registers alone."""
    verdicts = [
        v
        for _, cases in find(family)
        for case, a in select(cases, arch)
        for v in run_binary(case, a, 40, ["wait removed"])
    ]
    assert sum(bool(v.caught) for v in verdicts) > 5
    assert all(v.note for v in verdicts if v.survived)
