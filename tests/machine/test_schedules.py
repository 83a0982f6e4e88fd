"""Orders of waves: which exist, what they do to a kernel whose result tells the order, and what is refused."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import mfmasim
from mfmasim.errors import MfmasimError
from mfmasim.machine.execution.wave_orders import schedule
from tests.machine import harness

# The first lane of each wave takes a ticket, and stores it at the wave's place: workgroup * 2 + wave.
TICKETS = """
  s_load_dwordx4 s[8:11], s[0:1], 0x0
  v_mov_b32_e32 v10, 0
  v_mov_b32_e32 v12, 1
  v_and_b32_e32 v1, 0x3ff, v0
  v_lshrrev_b32_e32 v2, 6, v1
  v_lshl_add_u32 v2, s2, 1, v2
  v_lshlrev_b32_e32 v2, 2, v2
  v_and_b32_e32 v1, 63, v1
  v_cmp_eq_u32_e32 vcc, 0, v1
  s_and_b64 exec, exec, vcc
  s_waitcnt lgkmcnt(0)
{barrier}
  global_atomic_add v11, v10, v12, s[10:11] sc0
  s_waitcnt vmcnt(0)
  global_store_dword v2, v11, s[8:9]
  s_endpgm
"""


def order(barrier="", groups=3, **options):
    """In which place each wave came."""
    program = harness.kernel(TICKETS.format(barrier=barrier), "gfx942", "pp")
    out, counter = np.zeros(2 * groups, np.uint32), np.zeros(1, np.uint32)
    report = mfmasim.device("sim").launch(program, groups, 128, [out, counter], **options)
    assert report.ok
    assert counter[0] == 2 * groups
    return out.tolist()


@pytest.mark.parametrize("waves", [None, 2])
def test_orders(waves):
    assert order(max_waves=waves) == list(range(6))
    assert order(max_waves=waves, schedule="forward") == list(range(6))
    assert order(max_waves=waves, schedule="reversed") == list(range(6))[::-1]
    assert order(max_waves=waves, schedule="last:2")[2] == 5
    assert order(max_waves=waves, schedule="first:5")[5] == 0
    drawn = order(max_waves=waves, schedule="random:3")
    assert sorted(drawn) == list(range(6))
    assert drawn == order(max_waves=waves, schedule="random:3")
    assert len({tuple(order(max_waves=waves, schedule=f"random:{seed}")) for seed in range(6)}) > 2


def test_a_barrier_opens_as_soon_as_its_workgroup_has_come():
    """Wave 0 is held back before its barrier: its workgroup comes after both others, which have passed theirs."""
    assert sorted(order("  s_barrier", schedule="last:0")[:2]) == [4, 5]
    assert sorted(order("  s_barrier", schedule="reversed")[4:]) == [0, 1]


@pytest.mark.parametrize("text", ["revers", "random", "random:x", "last:-1", "usual:1", "", 7])
def test_what_is_no_schedule(text):
    with pytest.raises(MfmasimError, match="schedule"):
        schedule(text)


def test_what_a_schedule_does_not_go_with():
    with pytest.raises(MfmasimError, match="without an executor"), ThreadPoolExecutor(1) as executor:
        order(schedule="reversed", executor=executor)
    with pytest.raises(MfmasimError, match="turn that check on"):
        order(schedule="witness", checks="bounds")
