"""Mutants of compiled code: each is what it says, each wait is found, and equivalent ones are recognised."""

import numpy as np
import pytest

import mfmasim
from mfmasim.cli import main
from mfmasim.errors import MfmasimError
from mfmasim.isa.counters import waited
from mfmasim.lab.mutation.binary import KINDS, ROUNDING, InFlight, _judge, mutants_in, patched, run_binary
from mfmasim.resources import folder
from mfmasim.verify import find, select
from tests.machine import harness

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
    """(mutant, "caught" or why it is equivalent, and else what is unordered) of each mutant that takes order away."""
    kernel = harness.kernel(PROGRAM, "gfx942", "p", lds=2048)

    def fly(program):
        flown = InFlight(program)
        out = np.zeros(256, np.uint32)
        device = mfmasim.device("sim")
        return flown, device.launch(program, 1, block, [out], checks="waits,races", observers=[flown])

    flown, report = fly(kernel)
    assert report.ok
    found = []
    for mutant in mutants_in(kernel):
        if mutant.kind.startswith(("wait", "barrier")):
            changed = mfmasim.load(patched(kernel.code.object.data, mutant.pc, mutant.code), kernel.arch)[kernel.name]
            after, report = fly(changed)
            outcome = ("caught", "") if not report.ok else _judge(mutant, kernel, flown, after.seen)
            found.append((mutant, *outcome))
    return found


def decoded(kernel, mutant):
    """The instructions before and after that differ."""
    code = kernel.code.object.data
    after = mfmasim.load(patched(code, mutant.pc, mutant.code), kernel.arch)[kernel.name].instructions
    (pair,) = [(a, b) for a, b in zip(kernel.instructions, after, strict=False) if (a.pc, a.text) != (b.pc, b.text)][:1]
    return pair


def test_each_order_is_one_changed_instruction():
    """Decoded again, only the one differs, and as the mutant says."""
    kernel = harness.kernel(PROGRAM, "gfx942", "p", lds=2048)
    mutants = mutants_in(kernel)
    for mutant in mutants:
        if mutant.kind == ROUNDING:
            continue
        old, new = decoded(kernel, mutant)
        assert old.pc == mutant.pc
        if mutant.kind.endswith("removed"):
            assert new.name == "s_nop"
        elif mutant.kind == "wait weakened":
            want = dict(waited(kernel.arch, old))
            want[mutant.counter] += 1
            assert dict(waited(kernel.arch, new)) == want
        elif mutant.kind == "LDS offset shifted":
            key = "offset" if "offset" in old.modifiers else "offset0"
            assert new.modifiers == {**old.modifiers, key: old.modifiers[key] + (4 if key == "offset" else 1)}
    counts = {kind: sum(mutant.kind == kind for mutant in mutants) for kind in KINDS}
    assert {kind: count for kind, count in counts.items() if count} == {
        "wait removed": 5,
        "wait weakened": 6,
        "barrier removed": 1,
        "LDS offset shifted": 2,
        "LDS write removed": 1,
        "store removed": 1,
        "offset shifted": 1,
        "shift changed": 1,
        "rounding toward zero": 1,
    }


# Architecture and kind of mutant, the instruction, and what it becomes.
ONE = """
gfx942: load narrowed
  global_load_dwordx4 v[4:7], v2, s[8:9] offset:16
  global_load_dwordx3 v[4:6], v2, s[8:9] offset:16
gfx1201: load narrowed
  global_load_b64 v[4:5], v2, s[8:9]
  global_load_b32 v4, v2, s[8:9]
gfx942: load narrowed
  ds_read_b128 v[4:7], v2
  ds_read_b96 v[4:6], v2
gfx942: offset shifted
  global_load_dword v4, v2, s[8:9] offset:4092
  global_load_dword v4, v2, s[8:9] offset:4088
gfx1201: offset shifted
  global_store_b32 v2, v4, s[8:9] offset:8
  global_store_b32 v2, v4, s[8:9] offset:12
gfx942: LDS offset shifted
  ds_read2_b32 v[4:5], v2 offset0:1 offset1:2
  ds_read2_b32 v[4:5], v2 offset0:2 offset1:2
gfx1151: LDS offset shifted
  ds_store_b32 v2, v4 offset:252
  ds_store_b32 v2, v4 offset:256
gfx942: LDS write removed
  ds_write_b64 v2, v[4:5]
  s_nop 0
gfx942: operands exchanged
  v_mfma_f32_32x32x8_f16 a[0:15], v[2:3], a[4:5], a[0:15]
  v_mfma_f32_32x32x8_f16 a[0:15], a[4:5], v[2:3], a[0:15]
gfx942: type changed
  v_mfma_f32_32x32x16_fp8_bf8 v[16:31], v[2:3], v[4:5], v[16:31]
  v_mfma_f32_32x32x16_fp8_fp8 v[16:31], v[2:3], v[4:5], v[16:31]
gfx942: accumulator dropped
  v_mfma_f32_32x32x8_f16 v[16:31], v[2:3], v[4:5], v[16:31]
  v_mfma_f32_32x32x8_f16 v[16:31], v[2:3], v[4:5], 0
gfx950: operands exchanged
  v_mfma_scale_f32_16x16x128_f8f6f4 v[0:3], v[4:11], v[12:19], v[0:3], v20, v21 op_sel_hi:[0,0,0]
  v_mfma_scale_f32_16x16x128_f8f6f4 v[0:3], v[12:19], v[4:11], v[0:3], v20, v21 op_sel_hi:[0,0,0]
gfx1151: operands exchanged
  v_wmma_f32_16x16x16_f16 v[16:23], v[0:7], v[8:15], v[16:23]
  v_wmma_f32_16x16x16_f16 v[16:23], v[8:15], v[0:7], v[16:23]
gfx1151: type changed
  v_wmma_f32_16x16x16_f16 v[16:23], v[0:7], v[8:15], v[16:23]
  v_wmma_f32_16x16x16_bf16 v[16:23], v[0:7], v[8:15], v[16:23]
gfx942: branch inverted
  s_cbranch_execz .Lthere
  s_cbranch_execnz 0
gfx942: guard removed
  s_and_saveexec_b64 s[2:3], vcc
  s_or_saveexec_b64 s[2:3], vcc
gfx1201: guard removed
  s_and_saveexec_b32 s2, vcc_lo
  s_or_saveexec_b32 s2, vcc_lo
gfx942: comparison off by one
  v_cmp_gt_u32_e32 vcc, s4, v1
  v_cmp_ge_u32_e32 vcc, s4, v1
gfx942: comparison off by one
  v_cmp_lt_i32_e64 s[4:5], s4, v1
  v_cmp_le_i32_e64 s[4:5], s4, v1
gfx942: comparison off by one
  s_cmp_ge_u32 s4, s5
  s_cmp_gt_u32 s4, s5
gfx942: or for exclusive-or
  v_xor_b32_e32 v1, s4, v1
  v_or_b32_e32 v1, s4, v1
gfx942: shift changed
  v_lshlrev_b32_e32 v1, 2, v1
  v_lshlrev_b32_e32 v1, 3, v1
"""


def rows_of(text):
    """Architecture, kind, instruction and mutant, three lines each."""
    lines = text.strip().split("\n")
    return [(*h.split(": "), a.strip(), b.strip()) for h, a, b in zip(*[iter(lines)] * 3, strict=True)]


@pytest.mark.parametrize(("arch", "kind", "line", "becomes"), rows_of(ONE))
def test_an_operator_changes_an_instruction_so(arch, kind, line, becomes):
    kernel = harness.kernel(f"  {line}\n.Lthere:\n  s_endpgm\n", arch, "p")
    (mutant,) = [m for m in mutants_in(kernel) if m.kind == kind]
    old, new = decoded(kernel, mutant)
    assert old.pc == mutant.pc == kernel.instructions[0].pc
    assert new.text == becomes


def test_no_operator_touches_what_it_does_not_fit():
    body = "\n".join(
        f"  {line}"
        for line in (
            "v_lshlrev_b32_e32 v1, v2, v1",
            "v_cmp_eq_u32_e32 vcc, s4, v1",
            "global_load_dword v4, v2, s[8:9]",
            "v_mfma_f32_32x32x8_f16 v[16:31], v[2:3], v[4:5], 0",
            "s_nop 3",
            "s_endpgm",
        )
    )
    kinds = {m.kind for m in mutants_in(harness.kernel(body + "\n", "gfx942", "p"))}
    assert kinds == {"offset shifted", "operands exchanged", "type changed", "rounding toward zero"}


def test_equivalent_ones_are_recognised():
    found = judged(128)
    removed = [equal or note for m, equal, note in found if m.kind == "wait removed"]
    second = "another wait comes before every use of what is loaded (s_load_dwordx2)"
    assert removed == [
        second,
        "nothing that it would wait for is in flight",
        "caught",
        "caught",
        "only stores are in flight (global_store_dword), and the program ends",
    ]
    weakened = {(m.pc, m.counter): equal for m, equal, _ in found if m.kind == "wait weakened"}
    nothing = "nothing that it would wait for is in flight"
    ends = "only stores are in flight (global_store_dword), and the program ends"
    assert [equal for _, equal in sorted(weakened.items())] == [second, nothing, "caught", "caught", nothing, ends]
    assert [equal for m, equal, _ in found if m.kind == "barrier removed"] == ["caught"]
    alone = judged(64)
    assert [equal for m, equal, _ in alone if m.kind == "barrier removed"] == ["a workgroup has one wave"]
    (written,) = [equal for m, equal, _ in alone if m.kind == "wait removed" and "ds_write" in equal]
    assert written.startswith("one wave's LDS accesses are done in order")


@pytest.mark.parametrize(("title", "kind"), [("flag", "wait weakened"), ("table", "wait removed")])
def test_stores_that_no_other_wave_could_see_are_recognised(title, kind):
    """One to the LDS that no lane executes on this data; some to scratch, with flat instructions."""
    ((_, cases),) = find("uninit")
    (case, arch), *_ = select(cases, "gfx1151", title)
    outcomes = list(run_binary(case, arch, 5, [kind]))
    assert any(one.equivalent.startswith("only stores of no lane, or to a lane's own scratch") for one in outcomes)
    assert any(one.caught for one in outcomes)
    assert not any(one.survived for one in outcomes)


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
    assert "rounding toward zero: 0 of 0 caught, 0 equivalent, 1 without effect here" in text


DIFFERENT = """
#include <hip/hip_runtime.h>
extern "C" __global__ void k(float* y, const float* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] / 3.0f;
}
"""
CASES = """
import numpy as np
from mfmasim.verify import case, In, Out

@case("k.hip", kernel="k", arch=["gfx942"])
def k(n={n}):
    x = (np.arange(n) + 1).astype(np.float32)
    args = [Out("f32", n), In("f32", n, data=x), n]
    return dict(grid=(n + 63) // 64, block=64, args=args, expect=lambda x: x / np.float32(3))
"""


@pytest.mark.parametrize(("n", "guard"), [(60, "caught"), (64, "same")])
def test_a_users_case_says_what_its_data_cannot_show(tmp_path, n, guard, capsys):
    """Without a tail the guard makes no difference; rounding does, and a mutant that computes otherwise is caught."""
    (tmp_path / "k.hip").write_text(DIFFERENT)
    (tmp_path / "cases.py").write_text(CASES.format(n=n))
    ((_, (case,)),) = find(str(tmp_path / "cases.py"))
    verdicts = {v.mutant.kind: v for v in run_binary(case, "gfx942")}
    assert verdicts[ROUNDING].caught == ("outputs",)
    assert bool(verdicts["guard removed"].caught) == (guard == "caught")
    assert main(["mutate", str(tmp_path / "cases.py"), "--binary", "--kind", "guard", "--kind", "rounding"]) == 0
    text = capsys.readouterr().out
    assert f"guard removed: {int(guard == 'caught')} of {int(guard == 'caught')} caught" in text
    assert main(["mutate", str(tmp_path / "cases.py"), "--binary", "--kind", "guards"]) == 2
    assert "kind of mutant 'guards'" in capsys.readouterr().err


def test_limit_and_bad_input(capsys):
    ((_, cases),) = find("intro")
    case, arch = select(cases, "gfx942", "f16")[0]
    assert [v.caught for v in run_binary(case, arch, 1)] == [("bounds", "mapping", "outputs")]
    assert [v.caught for v in run_binary(case, arch, 1, ["wait removed"])] == [("waits",)]
    assert main(["mutate", "intro", "--binary", "--limit", "0"]) == 2
    assert "a whole number of 1 or more is expected" in capsys.readouterr().err
    assert main(["mutate", "intro", "--arch", "gfx942"]) == 2
    assert "needs --binary or --textual" in capsys.readouterr().err
    with pytest.raises(MfmasimError, match="loads nothing there"):
        patched(
            mfmasim.load(folder("golden") / "code" / "intro" / f"{case.source.stem}.{arch}.hsaco").object.data,
            1 << 40,
            bytes(4),
        )
