"""cluster: masks of loads that several workgroups share."""

from __future__ import annotations

import numpy as np
import pytest

from tests.machine.cdna5_frame import ids, run

DATA = np.arange(512, dtype=np.uint32)
LOADS = {
    "cluster_load_b128": "  cluster_load_b128 v[10:13], v2, s[4:5]\n  s_wait_loadcnt 0x0\n",
    "cluster_load_async_to_lds_b128": "  cluster_load_async_to_lds_b128 v2, v2, s[4:5]\n  s_wait_asynccnt 0x0\n"
    "  ds_load_b128 v[10:13], v2\n  s_wait_dscnt 0x0\n",
}
FILL = "  ds_store_b128 v2, v[10:13]\n  s_wait_dscnt 0x0\n"
ONLY_FIRST = "  s_and_b32 s10, ttmp6, 15\n  s_cmp_lg_u32 s10, 0\n  s_cbranch_scc1 .Lpast\n{}.Lpast:\n"


@pytest.mark.oracle
@pytest.mark.parametrize("load", LOADS)
@pytest.mark.parametrize(
    ("mask", "wanted"), [(0b11, []), (0, []), (0b01, ["cluster-mask-omits-itself"]), (0b111, ["cluster-mask-beyond"])]
)
def test_masks(load, mask, wanted):
    """A workgroup that the mask leaves out keeps what it had, zeros."""
    out, _, report = run(f"{FILL}  s_mov_b32 m0, {mask}\n{LOADS[load]}", DATA, groups=2, cluster=2)
    assert ids(report) == wanted
    expected = DATA[:128].reshape(32, 4)
    assert (out[:32] == expected).all()
    assert (out[32:] == (expected * 0 if mask == 1 else expected)).all()


@pytest.mark.oracle
@pytest.mark.parametrize("load", LOADS)
def test_a_workgroup_that_does_not_issue_the_load(load):
    body = FILL + "  s_mov_b32 m0, 3\n" + ONLY_FIRST.format(LOADS[load])
    (found,) = run(body, DATA, groups=4, cluster=2)[2].findings
    assert found.id == "cluster-request-missing"
    assert found.severity == "warning"
    assert "mask 0x3 names workgroup 1 of the cluster, which does not issue this load" in found.message
    assert found.count == 2


@pytest.mark.oracle
@pytest.mark.parametrize("load", LOADS)
def test_outside_a_cluster_it_is_an_ordinary_load(load):
    out, _, report = run(f"{FILL}  s_mov_b32 m0, 5\n{LOADS[load]}", DATA)
    assert not report.findings
    assert (out == DATA[:128].reshape(32, 4)).all()


@pytest.mark.oracle
def test_other_requests_are_not_combined():
    """Each workgroup asks for other bytes with the mask of both."""
    move = "  s_and_b32 s10, ttmp6, 15\n  s_lshl_b32 s10, s10, 9\n  v_add_nc_u32_e32 v2, s10, v2\n  s_mov_b32 m0, 3\n"
    load = "  cluster_load_b128 v[10:13], v2, s[4:5]\n  s_wait_loadcnt 0x0\n"
    assert ids(run(move + load, DATA, groups=2, cluster=2)[2]) == ["cluster-request-missing"]
