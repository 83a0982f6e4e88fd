"""Scalar stores and atomics under the checks: bounds, undefined data, races, waits."""

from __future__ import annotations

import numpy as np
import pytest

from tests.machine import harness

pytestmark = pytest.mark.oracle

START = "  s_load_dwordx4 s[8:11], s[0:1], 0x0\n  s_waitcnt lgkmcnt(0)\n"
PER_GROUP = "  s_lshl_b32 s20, s2, 2\n  s_add_u32 s10, s10, s20\n  s_addc_u32 s11, s11, 0\n"
END = "\n  s_dcache_wb\n  s_endpgm"


def run(body, *, grid=4, size=64, checks="all", block=64, before=START):
    """Findings above information, and what the second buffer holds."""
    program = harness.kernel(before + body + END, "gfx942", "pp")
    data = [np.arange(size, dtype=np.uint32), np.zeros(size, np.uint32)]
    out, report = harness.fast(program, grid, block, data, checks=checks)
    return [finding for finding in report.findings if finding.severity != "info"], out[1]


def test_each_workgroup_stores_its_number():
    """Right, without a finding, whatever EXEC holds."""
    body = PER_GROUP + "  s_mov_b64 exec, 0\n  s_add_u32 s21, s2, 7\n  s_store_dword s21, s[10:11], 0x8\n"
    found, out = run(body)
    assert not found
    assert out[2:6].tolist() == [7, 8, 9, 10]
    assert not out[6:].any()


@pytest.mark.parametrize(
    ("line", "out"),
    [
        ("s_store_dwordx4 s[8:11], s[10:11], 0xf8", "last"),
        ("s_store_dword s8, s[10:11], 0x100", "none"),
        ("s_atomic_add s8, s[10:11], 0x100", "none"),
    ],
)
def test_outside_is_reported(line, out):
    """A store that leaves the buffer is a finding, and its dwords outside are dropped."""
    found, data = run(f"  {line}\n", grid=1)
    assert [finding.id.split("-")[0] for finding in found] == ["bounds"]
    assert "(p1)" in found[0].message
    assert data[-1:].any() == (out == "last")


def test_undefined_data_and_addresses_are_reported():
    """A register that nothing wrote is stored, added, or part of the address."""
    for line, what in (
        ("s_store_dword s40, s[10:11], 0x0", "is stored to global memory"),
        ("s_buffer_store_dword s40, s[8:11], 0x0", "is stored to global memory"),
        ("s_atomic_swap s40, s[10:11], 0x0", "is stored to global memory"),
        ("s_store_dword s8, s[10:11], s41", "is the address of an access"),
    ):
        body = "  s_mov_b32 s8, s10\n  s_mov_b32 s9, s11\n  s_movk_i32 s10, 0x100\n  s_mov_b32 s11, 0\n"
        found, _ = run((body if "buffer" in line else "") + f"  {line}\n", grid=1, checks="uninitialised")
        assert len(found) == 1, line
        assert what in found[0].message
        assert ("s41" if "address" in what else "s40") in found[0].message


def test_what_an_atomic_returns_is_defined():
    """The old value of a defined place is defined; its store is no finding."""
    found, out = run(
        "  s_mov_b32 s21, 3\n  s_atomic_add s21, s[8:9], 0x14 glc\n  s_waitcnt lgkmcnt(0)\n"
        "  s_store_dword s21, s[10:11], 0x0\n",
        grid=1,
    )
    assert not found
    assert out[0] == 5


def test_workgroups_that_store_to_one_place_race():
    """Different values at one place by plain stores; atomics do not race."""
    store = "  s_add_u32 s21, s2, 7\n  {0} s21, s[10:11], 0x0\n"
    found, _ = run(store.format("s_store_dword"))
    assert {finding.check for finding in found} == {"races"}
    found, out = run(store.format("s_atomic_add"))
    assert not found
    assert out[0] == 7 + 8 + 9 + 10


def test_a_returned_value_needs_a_wait():
    """LGKMCNT counts scalar atomics (CDNA3 ISA manual, 4.4)."""
    body = "  s_mov_b32 s21, 3\n  s_atomic_add s21, s[10:11], 0x0 glc\n  {0}\n  s_add_u32 s22, s21, 1\n"
    found, _ = run(body.format("s_waitcnt lgkmcnt(0)"), grid=1)
    assert not found
    found, _ = run(body.format("s_nop 0"), grid=1)
    assert [finding.id for finding in found] == ["waits-read-in-flight"]
