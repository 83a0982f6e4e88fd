"""Who makes the bound: lines, conflicts, registers; what to change first; two runs compared."""

import json

import numpy as np
import pytest

import mfmasim
from mfmasim.cli import main
from mfmasim.cost import record_launch, timeline
from mfmasim.cost.attribution import changes_of, registers_of, shares_of
from mfmasim.cost.bound import bound_of
from mfmasim.cost.costed import Costed, product_of

KERNEL = """
#include <hip/hip_runtime.h>
extern "C" __global__ void strided(float *out, int stride) {
  __shared__ float tile[64 * 64];
  for (int k = 0; k < 64; ++k) tile[threadIdx.x + 64 * k] = threadIdx.x + k;
  __syncthreads();
  float sum = 0;
#pragma nounroll
  for (int k = 0; k < 8; ++k)
    sum += tile[(threadIdx.x * stride + k) % 4096];
  out[threadIdx.x] = sum;
}
"""
READ = "strided.hip:10"


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    path = tmp_path_factory.mktemp("cost") / "strided.hip"
    path.write_text(KERNEL)
    return path


@pytest.fixture(scope="module")
def kernel(source):
    return mfmasim.compile(source, arch="gfx942")["strided"]


def recorded_of(kernel, stride):
    return record_launch(kernel, 1, 64, [np.zeros(64, np.float32), np.int32(stride)])


def test_lines_and_conflicts_make_the_bound(kernel):
    """A read at a stride of 32 dwords: two phases of 32 passes, of which 62 are conflicts."""
    recorded = recorded_of(kernel, 32)
    assert bound_of(recorded.trace, recorded.head).pipe == "LDS"
    (share,) = shares_of(recorded.trace, recorded.head, "LDS")
    assert (share.line, share.cycles, share.conflicts) == (READ, 64, 62)
    (quiet,) = shares_of(recorded_of(kernel, 1).trace, recorded.head, "LDS")
    assert (quiet.cycles, quiet.conflicts) == (2, 0)
    said = Costed(recorded, product_of(kernel.arch, None)).lines()[0]
    assert said == f"bound: LDS, 64 cycles per iteration, 62 of them bank conflicts; by {READ} (64)"


@pytest.mark.parametrize("pipe", ["VALU", "LDS", "memory", "L2", "scalar", "issue"])
def test_lines_add_up_to_the_bound(kernel, pipe):
    recorded = recorded_of(kernel, 8)
    for head in (recorded.head, None):
        shares = shares_of(recorded.trace, head, pipe)
        if pipe != "L2" or head is None:  # a line that is touched before the loop is fetched there
            assert sum(share.cycles for share in shares) == pytest.approx(bound_of(recorded.trace, head).cycles[pipe])


def test_the_cause_is_named_and_not_the_wait(kernel):
    recorded = recorded_of(kernel, 32)
    line = timeline(recorded.trace)
    waits = line.by_cause()
    assert READ in waits
    sums = [sum(sum(each.values()) for each in found.values()) for found in (waits, {"": line.by_line()})]
    assert sums[0] == pytest.approx(sums[1])
    reads = {op.number for op in recorded.trace.operations if op.name == "ds_read_b32"}
    (lane,), (wave,) = line.lanes, recorded.trace.waves
    for number, cause, reason in zip(wave.operations, lane.causes, lane.reasons, strict=True):
        if reason == "lgkmcnt" and recorded.trace.operations[number].source == READ:
            assert cause in reads


def test_without_conflicts_comes_first_where_they_bound(kernel):
    recorded = recorded_of(kernel, 32)
    changes = {change.what: change for change in changes_of(recorded, timeline(recorded.trace))}
    assert changes["no bank conflicts"].gain > 0.2
    assert changes["no bank conflicts"].lines == (READ,)
    quiet = recorded_of(kernel, 1)
    assert "no bank conflicts" not in {change.what for change in changes_of(quiet, timeline(quiet.trace))}


def test_registers_that_are_used_and_declared(kernel):
    recorded = recorded_of(kernel, 1)
    used, declared = registers_of(recorded)["VGPRs"]
    assert used == 1 + max(
        o.index + o.count - 1 for i in kernel.instructions for o in (*i.src, *i.dst) if o.kind == "v"
    )
    assert 0 < used <= declared


def test_two_runs_are_compared(kernel, source, tmp_path, capsys):
    before = tmp_path / "before.json"
    given = ["cost", str(source.with_suffix(".hsaco")), "--arg", "f32:64=0"]
    source.with_suffix(".hsaco").write_bytes(kernel.code.object.data)
    assert main([*given, "--arg", "i32=32", "--json", str(before)]) == 0
    capsys.readouterr()
    assert main([*given, "--arg", "i32=1", "--baseline", str(before), "--json", "-"]) == 0
    found = {row["what"]: row for row in json.loads(capsys.readouterr().out)[0]["baseline"]}
    assert found["bound of LDS"]["verdict"] == "better"
    assert (found["bound of LDS"]["before"], found["bound of LDS"]["now"]) == (64, 2)
    assert found[f"caused by {READ}"]["verdict"] == "better"
    assert found["bound of scalar"]["verdict"] == "equal"
    assert main([*given, "--arg", "i32=32", "--baseline", str(before)]) == 0
    assert "compared with the baseline: 0 better, 0 worse" in capsys.readouterr().out
