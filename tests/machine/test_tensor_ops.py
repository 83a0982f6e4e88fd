"""Tensor instructions: what they move, against the slow model, and what is reported of them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from mfmasim.machine.tensor import Descriptor
from tests.machine.cdna5_frame import GROUPS, described, ids, run
from tests.slow.tensor import copied

DATA = np.random.default_rng(11).integers(0, 1 << 32, 512, np.uint64).astype(np.uint32)
LDS = 1024
PLAIN = Descriptor(
    data_size=1, tensor_dim0=24, tensor_dim1=7, tile_dim0=32, tile_dim1=8, tensor_dim0_stride=40, lds_addr=16
)
KINDS = {
    "plain": PLAIN,
    "bytes": replace(PLAIN, data_size=0, tile_dim0=13, tensor_dim0=11, lds_addr=3),
    "eight bytes": replace(PLAIN, data_size=3, tile_dim0=4, tensor_dim0=3, tensor_dim0_stride=9),
    "one row": replace(PLAIN, tile_dim1=0, tensor_dim1=0),
    "three dimensions": replace(PLAIN, tile_dim1=2, tile_dim2=3, tensor_dim2=2, tensor_dim1_stride=120),
    "five dimensions": replace(
        PLAIN, tile_dim0=6, tile_dim1=2, tile_dim2=2, tile_dim3=2, tile_dim4=3, tensor_dim1=2, tensor_dim2=2,
        tensor_dim3=1, tensor_dim4=3, tensor_dim0_stride=30, tensor_dim1_stride=70, tensor_dim2_stride=140,
        tensor_dim3_stride=200,
    ),
    "padding": replace(PLAIN, pad_enable=1, pad_interval=3, pad_amount=2),
    "gather": replace(PLAIN, gather_mode=1, tile_dim1=6, rows=(0, 2, 2, 5, 6, 9)),
    "gather of wide indices": replace(PLAIN, gather_mode=1, gather_index_size=1, tile_dim1=5, rows=(6, 4, 0, 1, 1)),
    "iteration": replace(
        PLAIN, tile_dim1=2, iterate_enable=1, iterate_count=2, global_addr_increment=80, lds_addr_increment=72
    ),
    "nothing": replace(PLAIN, tile_dim0=0),
    "no tensor": replace(PLAIN, count=0),
}  # fmt: skip
READ = "  ds_load_b128 v[10:13], v2\n  s_wait_dscnt 0x0\n"
FILL = "  ds_store_b128 v2, v[10:13]\n  ds_store_b128 v2, v[10:13] offset:512\n  s_wait_dscnt 0x0\n"


@pytest.mark.oracle
@pytest.mark.parametrize("kind", KINDS)
def test_loads(kind):
    """Both halves of the LDS, where what does not move keeps its zeros."""
    descriptor = KINDS[kind]
    wanted = np.zeros(LDS, np.uint8)
    source = DATA.view(np.uint8)
    for lds, memory in copied(descriptor.words(), store=False):
        wanted[lds] = 0 if memory is None else source[memory]
    body = described(descriptor) + FILL + f"  tensor_load_to_lds {GROUPS}\n  s_wait_tensorcnt 0x0\n"
    for half in (0, 512):
        out, _, report = run(body + READ.replace("v2\n", f"v2 offset:{half}\n"), DATA)
        assert not report.findings, [f.message for f in report.findings]
        assert (out.view(np.uint8).reshape(-1) == wanted[half : half + 512]).all()


@pytest.mark.oracle
@pytest.mark.parametrize("kind", KINDS)
def test_stores(kind):
    """The LDS holds the last 1,024 bytes of the data; the first are overwritten."""
    descriptor = KINDS[kind]
    after = DATA.copy().view(np.uint8)
    for lds, memory in copied(descriptor.words(), store=True):
        if memory is not None:
            after[memory] = DATA.view(np.uint8)[1024 + lds]
    fill = """
  global_load_async_to_lds_b128 v2, v4, s[4:5]
  v_add_nc_u32_e32 v5, 0x200, v2
  global_load_async_to_lds_b128 v5, v4, s[4:5] offset:0
  s_wait_asynccnt 0x0
"""
    fill = "  v_add_nc_u32_e32 v4, 0x400, v2\n" + fill.replace("v5, v4, s[4:5] offset:0", "v5, v6, s[4:5]").replace(
        "v5, 0x200, v2", "v5, 0x200, v2\n  v_add_nc_u32_e32 v6, 0x600, v2"
    )
    _, data, report = run(described(descriptor) + fill + f"  tensor_store_from_lds {GROUPS}\n", DATA)
    assert not [f for f in report.findings if f.check != "races"], [f.message for f in report.findings]
    assert (data.view(np.uint8) == after).all()


@pytest.mark.oracle
def test_two_groups_and_lanes_that_are_off():
    """A descriptor of two groups; EXEC does not matter."""
    body = described(PLAIN) + "  s_mov_b32 exec_lo, 0\n  tensor_load_to_lds s[16:19], s[20:27]\n"
    body += "  s_mov_b32 exec_lo, -1\n  s_wait_tensorcnt 0x0\n" + READ.replace("v2\n", "v2 offset:16\n")
    out, _, _ = run(body, DATA, checks="bounds")
    rows = out.view(np.uint16).reshape(8, 32)
    assert (rows[:7, :24] == DATA.view(np.uint16)[: 7 * 40].reshape(7, 40)[:, :24]).all()
    assert (rows[7] == 0).all()
    assert (rows[:, 24:] == 0).all()


@pytest.mark.oracle
def test_waves_with_different_descriptors():
    """Each of two waves moves a row; the second one's tile is narrower."""
    row = replace(PLAIN, data_size=2, tile_dim0=16, tile_dim1=1, tensor_dim0=16, lds_addr=0)
    body = (
        described(row)
        + """
  v_readfirstlane_b32 s10, v0
  s_cmp_eq_u32 s10, 0
  s_cbranch_scc1 .Lfirst
  s_mov_b32 s17, 64
  s_add_co_u32 s18, s18, 64
  s_mov_b32 s23, 0x80000
.Lfirst:
"""
        + f"  tensor_load_to_lds {GROUPS}\n  s_wait_tensorcnt 0x0\n"
        + """
  s_barrier_signal -1
  s_barrier_wait -1
"""
        + READ
    )
    out, _, _ = run(body, DATA, items=64, checks="bounds")
    assert (out.reshape(-1)[:24] == DATA[:24]).all()


@pytest.mark.oracle
def test_an_arrival_at_a_barrier_in_the_lds():
    """The initial count is 2: after two tiles the phase changes and the count starts again."""
    tile = replace(PLAIN, atomic_barrier_enable=1, atomic_barrier_address=768 >> 3)
    body = (
        described(tile)
        + """
  v_mov_b32_e32 v6, 1
  v_mov_b32_e32 v7, 1
  v_mov_b32_e32 v8, 0x300
  ds_store_b64 v8, v[6:7]
  s_wait_dscnt 0x0
"""
        + f"  tensor_load_to_lds {GROUPS}\n  s_wait_tensorcnt 0x0\n  ds_load_b64 v[10:11], v8\n  s_wait_dscnt 0x0\n"
    )
    again = f"  tensor_load_to_lds {GROUPS}\n  s_wait_tensorcnt 0x0\n  ds_load_b64 v[12:13], v8\n  s_wait_dscnt 0x0\n"
    out, _, report = run(body + again, DATA)
    assert not report.findings
    assert out[0].tolist() == [0, 1, 0xE0000001, 1]


@pytest.mark.oracle
def test_waves_arrive_at_a_barrier_in_the_lds():
    """Each active lane arrives, and the old value returns."""
    body = """
  v_mov_b32_e32 v6, 3
  v_mov_b32_e32 v7, 3
  v_mov_b32_e32 v8, 0
  ds_store_b64 v8, v[6:7]
  s_mov_b32 exec_lo, 0x1f
  v_mov_b32_e32 v6, 1
  v_mov_b32_e32 v7, 0
  ds_atomic_barrier_arrive_rtn_b64 v[10:11], v8, v[6:7]
  ds_atomic_async_barrier_arrive_b64 v8
  s_wait_asynccnt 0x0
  s_wait_dscnt 0x0
  s_mov_b32 exec_lo, -1
  ds_load_b64 v[12:13], v8
  s_wait_dscnt 0x0
"""
    out, _, _ = run(body, DATA, checks="bounds,waits")
    assert out[:5, 0].tolist() == [3, 2, 1, 0, 0xE0000003]
    assert out[0, 2] == 0xC0000003 - 2  # ten arrivals of four each


@pytest.mark.oracle
@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"type": 1}, "tensor descriptor: type 1: 2 is expected"),
        ({"gather_mode": 1, "tile_dim1": 17}, "tile_dim1 17: a gather has at most 16 row indices"),
    ],
)
def test_a_descriptor_that_is_not_allowed(change, expected):
    report = run(described(replace(PLAIN, **change)) + f"  tensor_load_to_lds {GROUPS}\n", DATA)[2]
    (found,) = report.findings
    assert found.id == "tensor-descriptor"
    assert expected in found.message


@pytest.mark.oracle
def test_what_is_reported():
    """Memory and LDS outside of their buffers, waits, undefined bytes, a mask without a cluster."""
    load = f"  tensor_load_to_lds {GROUPS}\n"
    wait = "  s_wait_tensorcnt 0x0\n"
    far = replace(PLAIN, tensor_dim1=100, tile_dim1=8, tensor_dim0_stride=400)
    assert ids(run(described(far) + load + wait, DATA)[2]) == ["bounds-outside-buffer"]
    past = replace(PLAIN, lds_addr=800)
    assert ids(run(described(past) + load + wait, DATA)[2]) == ["bounds-lds"]
    assert ids(run(described(PLAIN) + FILL + load + READ, DATA)[2])[0] == "races-own-in-flight"
    (found,) = run(described(PLAIN) + f"  tensor_store_from_lds {GROUPS}\n", DATA)[2].findings
    assert found.check == "uninitialised"
    assert ids(run(described(replace(PLAIN, workgroup_mask=3)) + load + wait, DATA)[2]) == ["cluster-mask-beyond"]


@pytest.mark.oracle
def test_padding_stays_undefined():
    """A gap between rows is not written."""
    tile = replace(PLAIN, pad_enable=1, pad_interval=3, pad_amount=0, lds_addr=0, tensor_dim0=32)
    body = described(tile) + f"  tensor_load_to_lds {GROUPS}\n  s_wait_tensorcnt 0x0\n" + READ
    report = run(body, DATA)[2]
    assert {f.check for f in report.findings} == {"uninitialised"}


@pytest.mark.oracle
def test_late_tiles_show_a_missing_wait():
    body = described(replace(PLAIN, lds_addr=0)) + FILL + f"  tensor_load_to_lds {GROUPS}\n"
    assert run(body + "  s_wait_tensorcnt 0x0\n" + READ, DATA, checks="none", schedule="late")[0].any()
    assert not run(body + READ, DATA, checks="none", schedule="late")[0].any()
