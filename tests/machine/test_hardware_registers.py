"""S_GETREG and S_SETREG, trap temporaries, and the SGPR with the wave's number."""

import numpy as np
import pytest

import mfmasim
from mfmasim.errors import MfmasimError
from mfmasim.isa.family import family
from tests.machine import harness

pytestmark = pytest.mark.oracle

ALL = ("gfx90a", "gfx942", "gfx950", "gfx1151", "gfx1151:64", "gfx1201", "gfx1201:64")


def observed(lines, arch, *, first="", grid=1, block=64, extra="", lds=0, vgprs=512, accum_offset=256, **options):
    """What s10, s11, s12 hold after some lines, uint32 (waves, 3), of all waves of the grid in order."""
    per = -(-block // (64 if arch.startswith("gfx9") else harness.split(arch)[1]))
    first += "  s_mov_b32 s2, ttmp9" if arch.startswith("gfx12") else ""
    wait = "s_wait_kmcnt 0" if arch.startswith("gfx12") else "s_waitcnt lgkmcnt(0)"
    store = "global_store_dwordx3" if arch.startswith("gfx9") else "global_store_b96"
    load = "s_load_dwordx2" if arch.startswith("gfx9") else "s_load_b64"
    shift = 6 if per == 1 or harness.split(arch)[1] == 64 else 5
    body = f"""
{first}
  {load} s[8:9], s[0:1], 0x0
  s_mov_b32 s10, 0
  s_mov_b32 s11, 0
  s_mov_b32 s12, 0
  {lines}
  v_and_b32 v0, 0x3ff, v0
  v_lshrrev_b32 v1, {shift}, v0
  s_mul_i32 s20, s2, {per}
  v_mov_b32 v2, s20
  v_add_nc_u32 v1, v1, v2
  v_mul_u32_u24 v1, 12, v1
  v_mov_b32 v4, s10
  v_mov_b32 v5, s11
  v_mov_b32 v6, s12
  {wait}
  {store} v1, v[4:6], s[8:9]
  s_endpgm
"""
    if arch.startswith("gfx9"):
        body = body.replace("v_add_nc_u32", "v_add_u32")
    kernel = harness.kernel(body, arch, "p", extra=extra, lds=lds, vgprs=vgprs, accum_offset=accum_offset)
    out = np.zeros((grid * per, 3), np.uint32)
    mfmasim.device("sim").launch(kernel, grid=grid, block=block, args=[out], checks="none", **options)
    return out


def read(*registers):
    """Lines that read registers, or fields of them, to s10 and up."""
    return "\n".join(f"  s_getreg_b32 s{10 + k}, hwreg({text})" for k, text in enumerate(registers))


@pytest.mark.parametrize("arch", ["gfx1201", "gfx1201:64"])
def test_waves_of_a_workgroup_find_their_number_in_ttmp8(arch):
    """TTMP8[29:25]; TTMP7 and TTMP9 have the workgroup's ids; bit 30 says that y and z are valid."""
    lines = "  s_bfe_u32 s10, ttmp8, 0x50019\n  s_mov_b32 s11, ttmp9\n  s_lshr_b32 s12, ttmp8, 30"
    out = observed(lines, arch, grid=3, block=256)
    per = 256 // harness.split(arch)[1]
    assert (out == [[wave, group, 1] for group in range(3) for wave in range(per)]).all()


@pytest.mark.parametrize("arch", ["gfx942", "gfx950", "gfx1151"])
def test_other_programs_read_trap_temporaries_as_zero(arch):
    assert observed("  s_mov_b32 s10, ttmp8\n  s_or_b32 s11, ttmp11, 7", arch).tolist()[0] == [0, 7, 0]


@pytest.mark.parametrize("arch", ["gfx942", "gfx1151", "gfx1201"])
def test_a_program_does_not_write_trap_temporaries(arch):
    """Nor SCC by an instruction that would (RDNA3 3.4, RDNA4 3.3.2)."""
    lines = """  s_mov_b32 s10, ttmp9
  s_mov_b32 ttmp9, 77
  s_cmp_eq_u32 s10, s10
  s_sub_u32 ttmp9, s10, s10
  s_cselect_b32 s11, 1, 2
  s_sub_u32 s10, ttmp9, s10
"""
    if arch.startswith("gfx12"):
        lines = lines.replace("s_sub_u32", "s_sub_co_u32")
    assert observed(lines, arch).tolist()[0] == [0, 1, 0]
    with pytest.raises(MfmasimError, match="trap temporary as destination"):
        observed("  s_load_b32 ttmp3, s[0:1], 0x0".replace("b32", "dword" if arch < "gfx942a" else "b32"), arch)


INFO = "  .amdhsa_system_sgpr_workgroup_info 1"


@pytest.mark.parametrize("arch", ["gfx942", "gfx1151:64"])
def test_workgroup_info_follows_the_ids(arch):
    """{first_wave, 6'h0, wave_id_in_group[4:0], 14'h0, size_in_waves[5:0]}."""
    out = observed("  s_mov_b32 s10, s5", arch, grid=2, block=192, extra=INFO)
    assert out[:, 0].tolist() == [0x80000003, 0x00100003, 0x00200003] * 2


def test_workgroup_info_of_gfx12_has_the_number_of_waves():
    first = "  s_mov_b32 s13, s2\n"
    out = observed("  s_mov_b32 s10, s13", "gfx1201:64", first=first, grid=2, block=192, extra=INFO)
    assert out[:, 0].tolist() == [3] * 6


# Field of a register, and the value that one wave of one workgroup reads (256 bytes of LDS, no scratch, SCC 1, VCC 0).
VALUES = {
    "gfx90a gfx942 gfx950": [
        ("HW_REG_STATUS, 1, 2", 0), ("HW_REG_STATUS, 3, 2", 2), ("HW_REG_STATUS, 9, 4", 2), ("HW_REG_STATUS, 0, 1", 1),
        ("HW_REG_STATUS, 16, 1", 1), ("HW_REG_IB_STS", 0), ("HW_REG_SH_MEM_BASES", 0x00010002), ("HW_REG_TMA_LO", 0),
        ("HW_REG_TRAPSTS, 10, 5", 0), ("HW_REG_HW_ID", 0x40000000),
    ],
    "gfx942 gfx950": [
        ("HW_REG_XCC_ID", 0), ("HW_REG_SQ_PERF_SNAPSHOT_PC_HI", 0), ("HW_REG_STATUS, 28, 4", 0),
        ("HW_REG_GPR_ALLOC, 12, 6", 1), ("HW_REG_GPR_ALLOC, 6, 6", 1),
    ],
    "gfx90a": [("HW_REG_LDS_ALLOC, 12, 9", 2), ("HW_REG_GPR_ALLOC, 8, 6", 1)],
    "gfx942": [("HW_REG_LDS_ALLOC, 12, 9", 2)],
    "gfx950": [("HW_REG_LDS_ALLOC, 12, 10", 5)],
    "gfx1151 gfx1151:64": [
        ("HW_REG_STATUS", 0x10411), ("HW_REG_SH_MEM_BASES", 0x00010002), ("HW_REG_FLAT_SCR_LO", 0),
        ("HW_REG_HW_ID1, 0, 21", 0), ("HW_REG_HW_ID2", 0x100),
    ],
    "gfx1201": [("HW_REG_WAVE_STATUS", 0x10400)],
    "gfx1201:64": [("HW_REG_WAVE_STATUS", 0x20010400)],
    "gfx1201 gfx1201:64": [
        ("HW_REG_WAVE_STATE_PRIV, 9, 7", 17), ("HW_REG_WAVE_HW_ID1", 0), ("HW_REG_WAVE_HW_ID2", 0x100),
        ("HW_REG_WAVE_SCRATCH_BASE_HI", 0), ("HW_REG_PERF_SNAPSHOT_DATA", 0), ("HW_REG_SHADER_CYCLES_HI", 0),
    ],
}  # fmt: skip


@pytest.mark.parametrize("arch", ALL)
def test_fields(arch):
    wanted = [row for archs, rows in VALUES.items() if arch in archs.split() for row in rows]
    assert len(wanted) >= 5
    lanes = 1 if harness.split(arch)[1] == 32 and not arch.startswith("gfx9") else 2
    flags = f"  s_setprio 2\n  s_mov_b{32 * lanes} vcc{'_lo' if lanes == 1 else ''}, 0\n  s_cmp_eq_u32 s2, s2\n"
    for first in range(0, len(wanted), 3):
        some = wanted[first : first + 3]
        out = observed(flags + read(*(text for text, _ in some)), arch, lds=256, vgprs=8, accum_offset=4, block=32)
        for (text, value), found in zip(some, out[0], strict=False):
            assert int(found) == value, (text, hex(found))


@pytest.mark.parametrize("arch", ALL)
def test_every_register_of_the_assembler_has_a_value_or_an_error_with_its_name(arch):
    """The registers that LLVM names for an architecture are those of the table."""
    known = mfmasim.arch(harness.split(arch)[0]).hardware_registers.by_number
    named = family(harness.split(arch)[0]).dialect.hardware_registers
    assert set(named) <= set(known)
    refused = {n for n, register in known.items() if any(holds == "?" for *_, holds in register.fields)}
    assert len(known) - len(refused) >= 8
    for number, register in known.items():
        line = f"  s_getreg_b32 s10, hwreg({number})"
        if number not in refused:
            observed(line, arch)
            continue
        with pytest.raises(MfmasimError, match=rf" of {register.name}, which the simulator does not know"):
            observed(line, arch)


@pytest.mark.parametrize("arch", ["gfx942", "gfx1201"])
def test_another_number_is_an_error(arch):
    name = harness.split(arch)[0]
    for line in ("s_getreg_b32 s10, hwreg(60)", "s_setreg_b32 hwreg(60), s10"):
        with pytest.raises(MfmasimError, match=rf"^hardware register 60, which {name} does not have: "):
            observed("  " + line, arch)


@pytest.mark.parametrize(
    ("arch", "register"),
    [
        ("gfx942", "HW_REG_STATUS"),
        ("gfx942", "HW_REG_TRAPSTS"),
        ("gfx1151", "HW_REG_STATUS"),
        ("gfx1201", "HW_REG_WAVE_EXCP_FLAG_USER"),
        ("gfx1201", "HW_REG_WAVE_SCHED_MODE"),
    ],
)
def test_writes_that_a_program_may_not_do_or_that_nothing_depends_on_are_ignored(arch, register):
    lines = f"  s_mov_b32 s10, 9\n  s_setreg_b32 hwreg({register}), s10\n  s_setreg_imm32_b32 hwreg({register}), 5"
    assert observed(lines, arch)[0, 0] == 9


def test_the_address_of_scratch_is_an_error():
    scratch = "  .amdhsa_private_segment_fixed_size 16"
    with pytest.raises(MfmasimError, match="the address of a wave's scratch, which has none here"):
        observed(read("HW_REG_FLAT_SCR_LO"), "gfx1151", extra=scratch)


PLACES = {
    "gfx90a": ["HW_REG_HW_ID"],
    "gfx942": ["HW_REG_HW_ID", "HW_REG_XCC_ID"],
    "gfx950": ["HW_REG_HW_ID", "HW_REG_XCC_ID"],
    "gfx1151": ["HW_REG_HW_ID1, 0, 21"],
    "gfx1201": ["HW_REG_WAVE_HW_ID1"],
}


@pytest.mark.parametrize("arch", PLACES)
@pytest.mark.parametrize("block", [64, 192, 1024])
def test_waves_in_flight_are_at_different_places(arch, block):
    """Waves of a workgroup share a compute unit, and batches do not matter."""
    per = -(-block // (64 if arch.startswith("gfx9") else 32))
    grid = 1536 // per
    out = observed(read(*PLACES[arch]), arch, grid=grid, block=block)
    places = {tuple(row) for row in out.tolist()}
    assert len(places) == grid * per
    assert (out == observed(read(*PLACES[arch]), arch, grid=grid, block=block, max_waves=3 * per)).all()
    wave = 0x1F | 3 << 8 if arch.startswith("gfx1") else 0x3F
    units = (out[:, 0] & np.uint32(0xFFFFFFFF & ~wave)).reshape(grid, per)
    assert (units == units[:, :1]).all()
    if len(PLACES[arch]) > 1:
        assert (out[:, 1].reshape(grid, per) == np.arange(grid)[:, None] % 8).all(), (
            "consecutive workgroups, other XCCs"
        )


@pytest.mark.parametrize(("register", "fidelity"), [("HW_REG_HW_ID", "assumed"), ("HW_REG_STATUS, 0, 16", "specified")])
def test_a_place_is_assumed(register, fidelity):
    program = harness.kernel(f"  s_getreg_b32 s10, hwreg({register})\n  s_endpgm", "gfx942", "")
    report = mfmasim.device("sim").launch(program, 1, 64, [])
    assert report.fidelity.by_operation["s_getreg_b32"] == fidelity


def test_more_workgroups_in_flight_than_places():
    grid = 5000
    with pytest.raises(
        MfmasimError, match=r"^5000 workgroups are in flight, gfx1201 has places for 4096; pass max_waves"
    ):
        observed(read("HW_REG_WAVE_HW_ID1"), "gfx1201", grid=grid, block=32, max_waves=grid)
