"""The order of main loops: how it is written, measured and compared with a declaration."""

from types import SimpleNamespace

import numpy as np
import pytest

import mfmasim
from mfmasim.devices.loops import loops_of, main_loop
from mfmasim.errors import MfmasimError
from mfmasim.observe.tools.path import Path
from mfmasim.verify.orders import check_order, orders_of, turns_of, usual_turn, wrong_orders
from tests.machine import harness

LOOP = """
  s_load_dwordx2 s[2:3], s[0:1], 0x0
  s_waitcnt lgkmcnt(0)
  v_lshlrev_b32 v1, 2, v0
  s_mov_b32 s4, {turns}
loop:
  ds_read_b32 v2, v1
  ds_read_b32 v3, v1 offset:4
  global_load_dword v4, v1, s[2:3]
  v_mfma_f32_4x4x1_16b_f32 v[8:11], v5, v5, v[8:11]
  s_waitcnt lgkmcnt(1)
  v_mfma_f32_4x4x1_16b_f32 v[8:11], v5, v5, v[8:11]
  v_mov_b32 v6, v7
  v_mov_b32 v6, 0
  v_add_u32 v6, v3, v2
  s_barrier
  s_waitcnt vmcnt(1)
  s_sub_u32 s4, s4, 1
  s_cmp_lg_u32 s4, 0
  s_cbranch_scc1 loop
  s_endpgm
"""
ORDER = "R2 G M lgkmcnt(1) M B vmcnt(1)"


@pytest.fixture(scope="module")
def turns():
    return turns_in(LOOP, 4)


def turns_in(body, count):
    kernel = harness.kernel(body.format(turns=count), "gfx942", "p", lds=1024)
    path = Path()
    args = [np.zeros(64, np.uint32)]
    report = mfmasim.device("sim").launch(kernel, 3, 64, args, checks="none", observers=[path])
    return turns_of(path.instructions, main_loop(loops_of(kernel, report.executed)), kernel.arch)


def test_a_turn_is_written_as_tokens(turns):
    assert len(turns) == 4, "of the first wave alone"
    assert {turn.written for turn in turns} == {ORDER}
    assert turns[0].tokens == check_order(ORDER, "here")


def test_distances_are_counted_in_matrix_instructions(turns):
    found = turns[0].quantities()
    assert found == {
        "matrix instructions in a row": 1,
        "instructions without matrix": 11,
        "matrix from read to wait": 1,  # the first read; the second one is complete in the next turn
        "matrix from read to use": 2,
        "matrix from fetch to wait": None,
        "matrix from load to wait": 4,  # a later load may be in flight
        "matrix from load to use": None,
        "register copies": 1,  # and not the constant
    }


def test_a_declared_order_may_begin_anywhere_in_the_loop(turns):
    assert wrong_orders([ORDER], turns, "k") == []
    assert wrong_orders(["M B vmcnt(1) R2 G M lgkmcnt(1)"], turns, "k") == []
    assert wrong_orders(["M B vmcnt(1) R R G M lgkmcnt(1)"], turns, "k") == []


@pytest.mark.parametrize(
    ("declared", "part"),
    [
        ("R2 G M lgkmcnt(0) M B vmcnt(1)", "after R2 G M comes lgkmcnt(1), not lgkmcnt(0)"),
        ("R2 G M2 lgkmcnt(1) B vmcnt(1)", "is not declared: R2 G M lgkmcnt(1) M B vmcnt(1)"),
        ("R2 G M lgkmcnt(1) M B", "4 of 4 turns"),
        ("R3 G M lgkmcnt(1) M B vmcnt(1)", "no turn of the main loop has the declared order R3 G"),
    ],
)
def test_another_order_is_reported_with_the_first_difference(turns, declared, part):
    found = wrong_orders([declared], turns, "k")
    assert [f.id for f in found] == ["order-differs"] * 2
    assert any(part in f.message for f in found)


def test_every_declared_order_has_to_occur(turns):
    (missing,) = wrong_orders([ORDER, "M8"], turns, "k")
    assert "no turn of the main loop has the declared order M8" in missing.message
    (missing,) = wrong_orders([ORDER], [], "k")
    assert "no turn" in missing.message
    assert usual_turn([]) is None


@pytest.mark.parametrize("order", ["", "R0", "X2", "R4 vmcnt", "vmcnt(x)", "R4, M2"])
def test_what_is_no_order_is_refused(order):
    with pytest.raises(MfmasimError, match="order"):
        check_order(order, "case k")


def test_orders_by_architecture():
    archs = ("gfx942", "gfx950")
    assert orders_of((), archs, "k") == {}
    assert orders_of("M2", archs, "k") == {"gfx942": ("M2",), "gfx950": ("M2",)}
    assert orders_of({"gfx950": ["M2", "R"]}, archs, "k") == {"gfx950": ("M2", "R")}
    with pytest.raises(MfmasimError, match="'gfx90a' is not one of the case's architectures: gfx942, gfx950"):
        orders_of({"gfx90a": "M2"}, archs, "k")


def test_a_path_is_that_of_the_first_wave_and_starts_anew():
    path = Path()
    one = SimpleNamespace(pc=0)
    path.on_start(None)
    path.on_block(SimpleNamespace(instructions=[one], waves=[0, 1], fresh=True))
    path.on_block(SimpleNamespace(instructions=[one], waves=[1], fresh=False))
    path.on_block(SimpleNamespace(instructions=[one], waves=[0], fresh=True))
    assert path.instructions == [one]
    path.on_start(None)
    assert path.instructions == []
