"""Named barriers and barriers of clusters: who is let through, when, and what is reported of waiting forever."""

from __future__ import annotations

import numpy as np
import pytest

import mfmasim
from mfmasim.cli.entry import main
from tests.machine.cdna5_frame import ids, run

NONE = np.zeros(4, np.uint32)
NAMED = ".amdhsa_named_barrier_count 1"
WAVE = """
  v_readfirstlane_b32 s10, v0
  s_lshr_b32 s10, s10, 5
  s_cmp_eq_u32 s10, 0
"""


@pytest.mark.oracle
def test_a_producer_and_consumers():
    """Wave 0 stores late and signals; the others have joined barrier 1, whose only member is that one signal."""
    body = (
        """
  s_mov_b32 m0, 0x10001
  s_barrier_init m0
  s_barrier_signal -1
  s_barrier_wait -1
"""
        + WAVE
        + """
  s_cselect_b32 s11, 1, 0
  s_barrier_join 1
  s_barrier_signal -1
  s_barrier_wait -1
  s_cmp_lg_u32 s11, 0
  s_cbranch_scc1 .Lproducer
  s_barrier_wait 1
  v_mov_b32_e32 v6, 0
  ds_load_b32 v10, v6
  s_wait_dscnt 0x0
  s_branch .Ldone
.Lproducer:
  v_mov_b32_e32 v6, 0
  v_mov_b32_e32 v7, 99
  ds_store_b32 v6, v7
  s_wait_dscnt 0x0
  s_barrier_signal 1
.Ldone:
"""
    )
    for schedule in ("usual", "forward", "reversed", "random:3"):
        out, _, report = run(body, NONE, items=96, extra=NAMED, schedule=schedule)
        assert not report.findings, [f.message for f in report.findings]
        assert out[:, 0].tolist() == [0] * 32 + [99] * 64


@pytest.mark.oracle
def test_state_members_and_leaving():
    """Signals count, members are set by M0, and a member that leaves completes the barrier for the others."""
    body = (
        WAVE
        + """
  s_cselect_b32 s11, 1, 0
  s_mov_b32 m0, 0x30002
  s_cmp_lg_u32 s11, 0
  s_cbranch_scc0 .Lothers
  s_barrier_init m0
.Lothers:
  s_barrier_signal -1
  s_barrier_wait -1
  s_barrier_join 2
  s_barrier_signal -1
  s_barrier_wait -1
  s_cmp_lg_u32 s11, 0
  s_cbranch_scc1 .Lleaves
  s_barrier_signal 2
  s_barrier_wait 2
  s_branch .Lread
.Lleaves:
  s_barrier_leave
.Lread:
  s_barrier_signal -1
  s_barrier_wait -1
  s_get_barrier_state s12, 2
  s_wait_kmcnt 0x0
  v_mov_b32_e32 v10, s12
"""
    )
    out, _, report = run(body, NONE, items=96, extra=NAMED)
    assert not [f for f in report.findings if f.severity == "error"], [f.message for f in report.findings]
    assert set(out[:, 0].tolist()) == {1 << 24 | 2 << 4 | 1}


@pytest.mark.oracle
def test_the_first_signal():
    """SCC tells the first of the waves that signal; a barrier that is not allocated is ignored."""
    body = """
  s_mov_b32 m0, 0x50003
  s_barrier_signal_isfirst m0
  s_cselect_b32 s12, 1, 0
  v_mov_b32_e32 v10, s12
  s_cmp_eq_u32 0, 0
  s_barrier_signal_isfirst 9
  s_cselect_b32 s12, 7, 0
  v_mov_b32_e32 v11, s12
"""
    out, _, _ = run(body, NONE, items=96, extra=NAMED, checks="none")
    assert sorted(out[::32, 0].tolist()) == [0, 0, 1]
    assert set(out[:, 1].tolist()) == {7}


@pytest.mark.oracle
def test_a_named_barrier_that_is_never_complete():
    body = (
        "  s_mov_b32 m0, 0x40001\n  s_barrier_init m0\n  s_barrier_join 1\n  s_barrier_signal 1\n  s_barrier_wait 1\n"
    )
    report = run(body, NONE, items=64, extra=NAMED)[2]
    assert ids(report)[0] == "barrier-deadlock"
    assert "named barrier 1, which has 4 members and was signalled 2 times" in report.findings[0].message


CLUSTER = """
  s_mov_b32 s12, 0
  s_lshl_b32 s13, ttmp9, 1
  s_and_b32 s14, ttmp6, 15
  s_add_co_i32 s13, s13, s14
  v_mov_b32_e32 v10, s13
  s_getreg_b32 s15, hwreg(HW_REG_IB_STS2, 21, 4)
  v_mov_b32_e32 v11, s15
  s_bfe_u32 s16, ttmp6, 0x40018
  v_mov_b32_e32 v12, s16
  s_getreg_b32 s17, hwreg(HW_REG_IB_STS2, 6, 4)
  v_mov_b32_e32 v13, s17
"""


@pytest.mark.oracle
def test_what_a_workgroup_knows_of_its_cluster():
    """Number of the workgroup from that of the cluster, its place in it, the cluster's size."""
    out, _, report = run(CLUSTER, NONE, groups=(6, 1, 1), cluster=2, checks="none")
    assert not report.findings
    seen = out[::32]
    assert seen[:, 0].tolist() == list(range(6))
    assert seen[:, 1].tolist() == [0, 1] * 3
    assert set(seen[:, 2].tolist()) == {1}
    assert seen[:, 3].tolist() == [1, 1, 2, 2, 3, 3]


SOURCE = """
#include <hip/hip_runtime.h>
extern "C" __global__ void __attribute__((cluster_dims(2, 2, 1))) fixed(unsigned *out) {
  unsigned *place = out + 4 * (blockIdx.x + gridDim.x * blockIdx.y);
  place[0] = __builtin_amdgcn_cluster_id_x() | __builtin_amdgcn_cluster_id_y() << 8;
  place[1] = __builtin_amdgcn_cluster_workgroup_id_x() | __builtin_amdgcn_cluster_workgroup_id_y() << 8;
  place[2] = __builtin_amdgcn_cluster_workgroup_flat_id();
  place[3] = blockIdx.x | blockIdx.y << 8;
}
extern "C" __global__ void any(unsigned *out) {
  unsigned *place = out + 4 * (blockIdx.x + gridDim.x * blockIdx.y);
  place[0] = blockIdx.x | blockIdx.y << 8;
}
extern "C" __global__ void exchange(unsigned *out, unsigned *late) {
  if (threadIdx.x == 0)
    __hip_atomic_store(late + blockIdx.x, blockIdx.x + 7, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_AGENT);
  __syncthreads();
  if (threadIdx.x < 32) __builtin_amdgcn_s_barrier_signal(-3);
  __builtin_amdgcn_s_barrier_wait(-3);
  if (threadIdx.x == 0)
    out[blockIdx.x] = __hip_atomic_load(late + (blockIdx.x ^ 1), __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_AGENT);
}
"""


@pytest.fixture(scope="module")
def code(tmp_path_factory):
    """The kernels of `SOURCE`."""
    path = tmp_path_factory.mktemp("clusters") / "clusters.hip"
    path.write_text(SOURCE)
    return mfmasim.compile(path, arch="gfx1250")


def test_compiled_kernels_know_their_place(code):
    """What the compiler makes of the places, for fixed clusters and for any."""
    device, out = mfmasim.device("sim"), np.zeros((4, 6, 4), np.uint32)
    assert not device.launch(code["fixed"], (6, 4), 1, [out]).findings
    y, x = np.indices((4, 6))
    assert (out[..., 0] == (x // 2 | y // 2 << 8)).all()
    assert (out[..., 1] == (x % 2 | y % 2 << 8)).all()
    assert (out[..., 2] == x % 2 + 2 * (y % 2)).all()
    assert (out[..., 3] == (x | y << 8)).all()
    for cluster in (None, (3, 1), (2, 4)):
        out = np.zeros((4, 6, 4), np.uint32)
        device.launch(code["any"], (6, 4), 1, [out], cluster=cluster, checks="none")
        assert (out[..., 0] == (x | y << 8)).all()


@pytest.mark.parametrize("schedule", ["usual", "forward", "reversed", "random:5"])
def test_workgroups_of_a_cluster_meet(code, schedule):
    """Each reads what the other one stored before the barrier; batches are whole clusters."""
    out, late = np.zeros(8, np.uint32), np.zeros(8, np.uint32)
    report = mfmasim.device("sim").launch(
        code["exchange"], 8, 64, [out, late], cluster=2, checks="barrier", schedule=schedule, max_waves=5
    )
    assert not report.findings, [f.message for f in report.findings]
    assert (out == (np.arange(8) ^ 1) + 7).all()


def test_a_grid_is_a_whole_number_of_clusters(code):
    with pytest.raises(mfmasim.errors.MfmasimError, match="5 workgroups in x are no multiple of the cluster's 2"):
        mfmasim.device("sim").launch(code["exchange"], 5, 64, [NONE.repeat(2), NONE.repeat(2)], cluster=2)


def test_the_command_line_takes_a_cluster(tmp_path, capsys):
    path = tmp_path / "clusters.hip"
    path.write_text(SOURCE)
    given = ["run", str(path), "any", "--arch", "gfx1250", "--grid", "6", "--block", "1", "--arg", "u32:6x4=0"]
    assert main([*given, "--cluster", "3", "--print", "out", "--checks", "none"]) == 0
    assert "[5, 0] 5 0 0 0" in " ".join(capsys.readouterr().out.split())
    assert main([*given, "--cluster", "4"]) == 2
    assert "6 workgroups in x are no multiple of the cluster's 4" in capsys.readouterr().err
