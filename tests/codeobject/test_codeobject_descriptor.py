"""Kernel descriptors: every single bit, and random ones, against llvm-objdump."""

from __future__ import annotations

import random
import re
import struct
import subprocess

import pytest

from mfmasim.architectures import arch as find_arch
from mfmasim.codeobject.descriptor import FIELDS, decode
from mfmasim.errors import MfmasimError
from tests.codeobject.codeobject_builds import ARCHITECTURES, assemble
from tests.llvm import tool

# llvm-objdump's directive -> our value. Directives absent here are counts that the assembler derives.
DIRECTIVES = {
    "group_segment_fixed_size": lambda d: d.group_segment_fixed_size,
    "private_segment_fixed_size": lambda d: d.private_segment_fixed_size,
    "kernarg_size": lambda d: d.kernarg_size,
    "accum_offset": lambda d: d.accum_offset,
    "tg_split": lambda d: d.tg_split,
    "next_free_vgpr": lambda d: d.vgpr_count,
    "float_round_mode_32": lambda d: d.float_mode & 3,
    "float_round_mode_16_64": lambda d: d.float_mode >> 2 & 3,
    "float_denorm_mode_32": lambda d: d.float_mode >> 4 & 3,
    "float_denorm_mode_16_64": lambda d: d.float_mode >> 6,
    "dx10_clamp": lambda d: d.dx10_clamp,
    "ieee_mode": lambda d: d.ieee_mode,
    "fp16_overflow": lambda d: d.fp16_overflow,
    "workgroup_processor_mode": lambda d: d.wgp_mode,
    "memory_ordered": lambda d: d.mem_ordered,
    "forward_progress": lambda d: d.fwd_progress,
    "round_robin_scheduling": lambda d: d.enable_wg_rr,
    "enable_private_segment": lambda d: d.enable_private_segment,
    "system_sgpr_private_segment_wavefront_offset": lambda d: d.enable_private_segment,
    "system_sgpr_workgroup_id_x": lambda d: d.workgroup_ids[0],
    "system_sgpr_workgroup_id_y": lambda d: d.workgroup_ids[1],
    "system_sgpr_workgroup_id_z": lambda d: d.workgroup_ids[2],
    "system_sgpr_workgroup_info": lambda d: d.enable_sgpr_workgroup_info,
    "system_vgpr_workitem_id": lambda d: d.workitem_id_mode,
    "exception_fp_ieee_invalid_op": lambda d: d.enable_exception_fp_ieee_invalid_op,
    "exception_fp_denorm_src": lambda d: d.enable_exception_fp_denorm_src,
    "exception_fp_ieee_div_zero": lambda d: d.enable_exception_fp_ieee_div_zero,
    "exception_fp_ieee_overflow": lambda d: d.enable_exception_fp_ieee_overflow,
    "exception_fp_ieee_underflow": lambda d: d.enable_exception_fp_ieee_underflow,
    "exception_fp_ieee_inexact": lambda d: d.enable_exception_fp_ieee_inexact,
    "exception_int_div_zero": lambda d: d.enable_exception_int_div_zero,
    "user_sgpr_private_segment_buffer": lambda d: d.enable_sgpr_private_segment_buffer,
    "user_sgpr_dispatch_ptr": lambda d: d.enable_sgpr_dispatch_ptr,
    "user_sgpr_queue_ptr": lambda d: d.enable_sgpr_queue_ptr,
    "user_sgpr_kernarg_segment_ptr": lambda d: d.enable_sgpr_kernarg_segment_ptr,
    "user_sgpr_dispatch_id": lambda d: d.enable_sgpr_dispatch_id,
    "user_sgpr_flat_scratch_init": lambda d: d.enable_sgpr_flat_scratch_init,
    "user_sgpr_private_segment_size": lambda d: d.enable_sgpr_private_segment_size,
    "user_sgpr_kernarg_preload_length": lambda d: d.kernarg_preload_length,
    "user_sgpr_kernarg_preload_offset": lambda d: d.kernarg_preload_offset,
    "wavefront_size32": lambda d: d.wave == 32,
    "uses_dynamic_stack": lambda d: d.uses_dynamic_stack,
    "shared_vgpr_count": lambda d: d.shared_vgpr_count,
    "inst_pref_size": lambda d: d.inst_pref_size,
    "named_barrier_count": lambda d: d.named_barrier_count,
}
DERIVED = {"next_free_sgpr", "reserve_vcc", "reserve_xnack_mask", "reserve_flat_scratch"}


# Where we refuse and llvm-objdump prints: enabled user SGPRs have to fit their count, firmware's bits have to be
# zero, there is no preload where the hardware has none, and CDNA5 has neither waves of 64 lanes nor a mode of WGPs.
STRICTER = (
    "user SGPRs",
    "enable_trap_handler",
    "trap_on_start",
    "trap_on_end",
    "of preload",
    "waves of 64 lanes",
    "bit 29 of rsrc1",
)


def objdump(descriptors: list[bytes], arch: str, folder, *flags: str) -> list[dict[str, int] | None]:
    """What llvm-objdump reads in each descriptor; None where it refuses."""
    lines = [f'.amdgcn_target "amdgcn-amd-amdhsa--{arch}"', ".amdhsa_code_object_version 6"]
    lines += ['.section .rodata,"a",@progbits', ".p2align 6"]
    for number, data in enumerate(descriptors):
        name = f"k{number}.kd"
        lines += [f".globl {name}", f".type {name},@object", f".size {name},64", f"{name}:"]
        lines += [" .byte " + ",".join(map(str, data))]
    path = folder / "descriptors.o"
    path.write_bytes(assemble("\n".join(lines) + "\n", arch, linked=False))
    done = subprocess.run(
        [tool("llvm-objdump"), "-D", *flags, "-j", ".rodata", path], capture_output=True, text=True, check=True
    )
    parts = re.split(r"^[0-9a-f]{16} <k\d+\.kd>:$", done.stdout, flags=re.MULTILINE)[1:]
    assert len(parts) == len(descriptors)
    return [
        None
        if "error decoding" in part
        else {name: int(value) for name, value in re.findall(r"^\s+\.amdhsa_(\w+) (\d+)$", part, re.MULTILINE)}
        for part in parts
    ]


def base(layout: str, wave: int = 32) -> bytearray:
    """A plain descriptor: kernel arguments, one workgroup id, room for every user SGPR."""
    data = bytearray(64)
    struct.pack_into("<IIIIq", data, 0, 256, 0, 28, 0, 4096)
    mode = 0x00AC0000 if layout not in ("GFX12", "GFX125") else 0x000C0000
    wave32 = 0x400 if layout != "GFX9" and wave == 32 else 0
    struct.pack_into("<IIIHH", data, 44, 0, mode, 0x80 | 16 << 1, 8 | wave32, 0)
    return data


def attempt(data: bytes, arch: str):
    """The descriptor, or None and why not."""
    try:
        return decode(data, find_arch(arch), "k"), ""
    except MfmasimError as error:
        return None, str(error)


def compare(descriptors: list[bytes], arch: str, folder, *flags: str) -> int:
    """Hold our decoding to llvm-objdump's; the number of values compared."""
    compared = 0
    for data, theirs in zip(descriptors, objdump(descriptors, arch, folder, *flags), strict=True):
        ours, refusal = attempt(data, arch)
        if ours is not None and ours.ignored:
            # LLVM refuses the count of SGPRs on RDNA; the rest of the descriptor is as without it.
            assert theirs is None
            assert ours.ignored[0][0] == "granulated_wavefront_sgpr_count"
            compared += 1
            continue
        if ours is None:
            assert theirs is None or any(rule in refusal for rule in STRICTER), (arch, data.hex(), refusal)
            compared += 1
            continue
        assert theirs is not None, (arch, data.hex())
        assert set(theirs) <= set(DIRECTIVES) | DERIVED, set(theirs) - set(DIRECTIVES) - DERIVED
        for name, value in theirs.items():
            if name in DIRECTIVES:
                assert int(DIRECTIVES[name](ours)) == value, (arch, name, data.hex())
                compared += 1
    return compared


@pytest.mark.oracle
@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_every_single_bit_as_objdump_reads_it(arch, tmp_path):
    descriptors = []
    for bit in range(512):
        data = base(find_arch(arch).descriptor)
        data[bit // 8] ^= 1 << bit % 8
        descriptors.append(bytes(data))
    assert compare(descriptors, arch, tmp_path) > 5_000


@pytest.mark.oracle
@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_random_fields_as_objdump_reads_them(arch, tmp_path):
    rng = random.Random(arch)
    layout = find_arch(arch).descriptor
    places = {"rsrc3": 44, "rsrc1": 48, "rsrc2": 52, "properties": 56, "preload": 58}
    descriptors = []
    for _ in range(200):
        data = bytearray(64)
        struct.pack_into("<III4xQ", data, 0, *(rng.getrandbits(32) for _ in range(3)), rng.getrandbits(63))
        words = dict.fromkeys(places, 0)
        for row in FIELDS:
            if row.on(find_arch(arch)) and not row.zero:
                words[row.word] |= rng.getrandbits(row.width) << row.low
        # Room for every user SGPR (15) and a preload, so that the two readers agree on what fits.
        words["rsrc2"] |= 31 << 1
        words["preload"] &= ~0x70
        if layout != "GFX9":
            words["properties"] |= 0x400
        for word, at in places.items():
            struct.pack_into("<H" if at > 52 else "<I", data, at, words[word])
        descriptors.append(bytes(data))
    assert compare(descriptors, arch, tmp_path) > 5_000


@pytest.mark.oracle
@pytest.mark.parametrize("arch", ["gfx1100", "gfx1201"])
def test_vgprs_of_64_lane_waves(arch, tmp_path):
    # llvm-objdump takes the wave size from the target's features, not from the descriptor.
    descriptors = []
    for count in range(64):
        data = base(find_arch(arch).descriptor, wave=64)
        data[48] |= count
        descriptors.append(bytes(data))
    assert compare(descriptors, arch, tmp_path, "--mattr=+wavefrontsize64") > 1_000


@pytest.mark.parametrize("arch", ["gfx1100", "gfx1151", "gfx1200", "gfx1201", "gfx1250"])
def test_the_count_of_sgprs_is_not_read_where_every_wave_has_all(arch):
    plain = base(find_arch(arch).descriptor)
    for bits in (1, 2, 3, 15):
        data = bytearray(plain)
        struct.pack_into("<I", data, 48, struct.unpack_from("<I", data, 48)[0] | bits << 6)
        found, refusal = attempt(bytes(data), arch)
        assert not refusal
        assert found.ignored == (("granulated_wavefront_sgpr_count", bits),)
        assert found.fields == attempt(bytes(plain), arch)[0].fields
    assert attempt(bytes(plain), arch)[0].ignored == ()
    data[57] |= 0x40
    assert "reserved bit 14 of properties" in attempt(bytes(data), arch)[1]
