"""gfx908: a register file of its own for AGPRs, scratch behind a buffer resource, work-item ids in three registers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import mfmasim
from mfmasim.errors import MfmasimError
from mfmasim.isa import decode
from tests.machine import harness
from tests.machine.test_rdna_kernels import FILES, compiled, outputs
from tests.toolchain.toolchain_helpers import SOURCES

MATRIX = """
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  v_mul_u32_u24_e32 v3, {pitch}, v0
  s_waitcnt lgkmcnt(0)
{loads}
  s_waitcnt vmcnt(0)
{moves}
  s_nop 7
  {line}
  s_nop 15
  s_nop 1
{stores}
  s_endpgm
"""


def _range(file, first, count):
    return f"{file}{first}" if count == 1 else f"{file}[{first}:{first + count - 1}]"


@pytest.mark.parametrize("sources", ["vv", "av", "va", "aa"])
@pytest.mark.parametrize("name", mfmasim.instructions("gfx908"))
def test_matrix_instruction_equals_the_instruction_alone(name, sources):
    """C and D in AGPRs, A and B in either file."""
    op = mfmasim.instruction("gfx908", name)
    sizes = [op.A.vgprs, op.B.vgprs, op.C.vgprs]
    total = sum(sizes)
    slots = np.cumsum([0, *sizes])
    loads = [f"  global_load_dword v{16 + k}, v3, s[4:5] offset:{4 * k}" for k in range(total)]
    # AGPRs: C and D from a64, A from a0, B from a8; v16 and up have all three.
    moves = [f"  v_accvgpr_write_b32 a{64 + k}, v{16 + slots[2] + k}" for k in range(sizes[2])]
    places = []
    for which, (file, first) in enumerate(zip(sources, (0, 8), strict=True)):
        if file == "a":
            moves += [f"  v_accvgpr_write_b32 a{first + k}, v{16 + slots[which] + k}" for k in range(sizes[which])]
        places.append(_range(file, first if file == "a" else 16 + slots[which], sizes[which]))
    d = _range("a", 64, sizes[2])
    stores = [
        f"  v_accvgpr_read_b32 v8, a{64 + k}\n  s_nop 1\n  global_store_dword v3, v8, s[6:7] offset:{4 * k}"
        for k in range(sizes[2])
    ]
    body = MATRIX.format(
        pitch=4 * total,
        loads="\n".join(loads),
        moves="\n".join(moves),
        stores="\n".join(stores),
        line=f"{name} {d}, {places[0]}, {places[1]}, {d}",
    )
    data = np.random.default_rng(5).integers(0, 1 << 32, (64, total), dtype=np.uint32)
    arrays, report = harness.fast(
        harness.kernel(body, "gfx908"), 1, 64, [data, np.zeros((64, total), np.uint32)], checks="hazards"
    )
    expected = op.execute(*(data[:, slot : slot + size].T for slot, size in zip(slots, sizes, strict=False)))
    assert (expected == arrays[1][:, : sizes[2]].T).all()
    assert not report.findings


def test_work_item_ids_are_in_three_registers():
    body = """
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  v_mad_u32_u24 v3, v2, 4, v1
  v_mad_u32_u24 v3, v3, 8, v0
  v_lshlrev_b32_e32 v4, 2, v3
  s_waitcnt lgkmcnt(0)
  global_store_dword v4, v3, s[4:5]
  s_endpgm
"""
    out = np.zeros(64, np.uint32)
    mfmasim.device("sim").launch(harness.kernel(body, "gfx908", "p"), grid=1, block=(8, 4, 2), args=[out])
    assert (out == np.arange(64)).all()


@pytest.mark.oracle
@pytest.mark.parametrize("name", FILES)
def test_compiled_kernels_give_what_they_give_on_gfx942(name, tmp_path):
    reference, code = (compiled(name, arch, tmp_path) for arch in ("gfx942", "gfx908"))
    compared = 0
    for kernel in code.kernels:
        for wanted, found in zip(outputs(reference[kernel]), outputs(code[kernel]), strict=True):
            assert (wanted == found).all(), kernel
            compared += 1
    assert compared >= 1


@pytest.mark.parametrize("arch", ["gfx908", "gfx90a", "gfx942"])
def test_scratch_of_compiled_code(arch):
    """An array that is indexed at run time: on gfx908 and gfx90a through the private segment buffer."""
    kernel = mfmasim.compile(SOURCES / "stack.hip", arch=arch)["stack"]
    x, z, by, bx = np.meshgrid(np.arange(64), np.arange(4), np.arange(3), np.arange(2), indexing="ij")
    item = (x + 64 * z + 1000 * bx + 5000 * by).transpose(2, 3, 1, 0).reshape(-1)
    expected = sum(item * ((7 * i + item) % 40) for i in range(33))
    out = np.zeros(len(item), np.int32)
    report = mfmasim.device("sim").launch(kernel, grid=(2, 3), block=(64, 4), args=[out, np.int32(33)], checks="all")
    assert kernel.info.private_segment_fixed_size
    assert (out == expected).all()
    assert not report.findings


@pytest.mark.parametrize("added", [True, False])
def test_the_offset_of_a_wave_has_to_be_added(added):
    """Without it the second wave addresses the first one's scratch: the store is reported and dropped."""
    body = f"""
  s_load_dwordx2 s[16:17], s[4:5], 0x0
  s_add_u32 s0, s0, {"s9" if added else "0"}
  s_addc_u32 s1, s1, 0
  v_mov_b32_e32 v3, 7
  buffer_store_dword v3, off, s[0:3], 0 offset:8
  buffer_load_dword v3, off, s[0:3], 0 offset:8
  v_lshlrev_b32_e32 v4, 2, v0
  s_waitcnt vmcnt(0) lgkmcnt(0)
  global_store_dword v4, v3, s[16:17]
  s_endpgm
"""
    extra = ".amdhsa_private_segment_fixed_size 16\n.amdhsa_user_sgpr_private_segment_buffer 1\n"
    extra += ".amdhsa_system_sgpr_private_segment_wavefront_offset 1"
    source = harness.source(body, "gfx908", "p", extra=extra).replace("user_sgpr_count 2", "user_sgpr_count 6")
    kernel = mfmasim.load(harness.assemble(source, "gfx908"))["test"]
    out = np.zeros(128, np.uint32)
    report = mfmasim.device("sim").launch(kernel, grid=1, block=128, args=[out], checks="bounds")
    assert (out[:64] == 7).all()
    assert (out[64:] == 7).all() == added
    assert bool(report.findings) != added


@pytest.mark.parametrize(
    ("file", "k", "kind"), [("f32_32x32x2_f32", 2, np.float32), ("f32_16x16x16_f16", 16, np.float16)]
)
def test_kernels_of_the_ladder(file, k, kind):
    """The first two kernels that a reader meets run unchanged."""
    m = 32 if k == 2 else 16
    source = Path(__file__).parents[2] / "hipkernels" / "intro" / f"mfma_{file}.hip"
    rng = np.random.default_rng(1)
    a, b = rng.integers(-8, 8, (m, k)).astype(kind), rng.integers(-8, 8, (k, m)).astype(kind)
    c = np.zeros((m, m), np.float32)
    kernel = mfmasim.compile(source, arch="gfx908")[f"mfma_{file}"]
    report = mfmasim.device("sim").launch(kernel, grid=1, block=64, args=[a, b, c], checks="all")
    assert (c == a.astype(float) @ b.astype(float)).all()
    assert not report.findings


def test_atomics_without_result():
    assert decode(bytes.fromhex("008034dd 00000000"), "gfx908").dst == ()
    with pytest.raises(MfmasimError, match="global_atomic_add_f32 does not return the old value"):
        decode(bytes.fromhex("008035dd 00000000"), "gfx908")
    assert decode(bytes.fromhex("008035dd 00000000"), "gfx90a").dst


def test_registers_beyond_the_allocation_do_not_exist():
    """The AGPRs are as many as the VGPRs."""
    body = "  v_accvgpr_read_b32 v1, a{0}\n  s_endpgm"
    few = harness.source(body.format(8), "gfx908", "").replace("next_free_vgpr 256", "next_free_vgpr 8")
    kernel = mfmasim.load(harness.assemble(few, "gfx908"))["test"]
    with pytest.raises(MfmasimError, match="a8"):
        mfmasim.device("sim").launch(kernel, grid=1, block=64, args=[])
