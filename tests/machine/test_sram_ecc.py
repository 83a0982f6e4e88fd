"""D16 loads with SRAM ECC, which is computed for whole registers: the other half becomes zero (LLVM,
`d16PreservesUnusedBits`; hipBLASLt's kernels with `HasEccHalf`)."""

import struct

import numpy as np
import pytest

import mfmasim
from tests.machine import harness

EF_SRAMECC = {"": 0x400, "-": 0x800, "+": 0xC00}
"""Bits 11:10 of e_flags: any, off, on (LLVM's AMDGPU usage guide)."""
OLD, VALUE = 0xAAAA5555, 0x8283


def kernel(body, arch, feature):
    """The kernel of an assembly body, as code for a target with SRAM ECC on, off or either."""
    data = bytearray(harness.assemble(harness.source(body, arch, "pp", lds=1024), arch))
    (flags,) = struct.unpack_from("<I", data, 0x30)
    assert flags & 0xC00 == EF_SRAMECC[""], "the assembler's default is any"
    struct.pack_into("<I", data, 0x30, flags & ~0xC00 | EF_SRAMECC[feature])
    code = mfmasim.load(bytes(data))
    assert ("sramecc" + feature in code.object.target_id) == bool(feature)
    return code["test"]


def expected(name, clears):
    """The register after a load of the bytes 83 82."""
    raw = VALUE if "short" in name or "16" in name.partition("_d16")[0] or "b16" in name else VALUE & 0xFF
    if ("sbyte" in name or "i8" in name) and raw & 0x80:
        raw |= 0xFF00
    if "hi" in name.split("_"):
        return raw << 16 | (0 if clears else OLD & 0xFFFF)
    return raw | (0 if clears else OLD & 0xFFFF0000)


GFX9 = ["ubyte_d16", "ubyte_d16_hi", "sbyte_d16", "sbyte_d16_hi", "short_d16", "short_d16_hi"]
DS9 = ["ds_read_u8_d16", "ds_read_u8_d16_hi", "ds_read_i8_d16", "ds_read_i8_d16_hi", "ds_read_u16_d16",
       "ds_read_u16_d16_hi"]  # fmt: skip


def lines(name):
    """The load `name` into v4, from the bytes at s[8:9] or at the start of the LDS."""
    if name.startswith("ds_"):
        return f"ds_write_b32 v6, v5\ns_waitcnt lgkmcnt(0)\n{name} v4, v6\ns_waitcnt lgkmcnt(0)"
    if name.startswith("global_"):
        return f"{name} v4, v6, s[8:9]\ns_waitcnt vmcnt(0)"
    if name.startswith("flat_"):
        return f"v_mov_b32 v8, s8\nv_mov_b32 v9, s9\n{name} v4, v[8:9]\ns_waitcnt vmcnt(0) lgkmcnt(0)"
    words = "s_mov_b32 s12, s8\ns_mov_b32 s13, s9\ns_mov_b32 s14, 4\n"
    if "format" in name:  # one component of 16 bits, as an integer
        return f"{words}s_mov_b32 s15, 0x14004\n{name} v4, off, s[12:15], 0\ns_waitcnt vmcnt(0)"
    return f"{words}s_mov_b32 s15, 0x27000\n{name} v4, off, s[12:15], 0\ns_waitcnt vmcnt(0)"


NAMES = [*DS9, *(f"{unit}_load_{what}" for unit in ("global", "flat", "buffer") for what in GFX9),
         "buffer_load_format_d16_x", "buffer_load_format_d16_hi_x"]  # fmt: skip


def run(name, arch, feature):
    body = f"""
      s_load_dwordx4 s[8:11], s[0:1], 0x0
      v_and_b32 v0, 63, v0
      v_lshlrev_b32 v2, 2, v0
      v_mov_b32 v6, 0
      s_waitcnt lgkmcnt(0)
      s_load_dword s7, s[8:9], 0x0
      s_waitcnt lgkmcnt(0)
      v_mov_b32 v5, s7
      v_mov_b32 v4, {OLD:#x}
      {lines(name)}
      global_store_dword v2, v4, s[10:11]
      s_endpgm"""
    source, out = np.array([VALUE], np.uint32), np.zeros(64, np.uint32)
    report = mfmasim.device("sim").launch(kernel(body, arch, feature), 1, 64, [source, out], checks="all")
    return out, report


@pytest.mark.parametrize("feature", EF_SRAMECC)
@pytest.mark.parametrize("arch", ["gfx908", "gfx90a", "gfx942", "gfx950"])
def test_the_other_half_is_zero_unless_ecc_is_off(arch, feature):
    compared = 0
    for name in NAMES:
        if "format" in name:
            expect = VALUE << 16 if "hi" in name else VALUE
            expect |= 0 if feature != "-" else OLD & (0xFFFF if "hi" in name else 0xFFFF0000)
        else:
            expect = expected(name, feature != "-")
        out, report = run(name, arch, feature)
        assert [hex(value) for value in set(out.tolist())] == [hex(expect)], name
        compared += out.size
        assert not [finding for finding in report.findings if finding.severity == "error"], name
    assert compared == 64 * len(NAMES)


@pytest.mark.parametrize("feature", EF_SRAMECC)
def test_the_other_half_is_defined_where_it_is_cleared(feature):
    body = """
      s_load_dwordx4 s[8:11], s[0:1], 0x0
      v_and_b32 v0, 63, v0
      v_lshlrev_b32 v2, 2, v0
      s_waitcnt lgkmcnt(0)
      global_load_short_d16_hi v4, v2, s[8:9]
      s_waitcnt vmcnt(0)
      global_store_dword v2, v4, s[10:11]
      s_endpgm"""
    args = [np.arange(64, dtype=np.uint32), np.zeros(64, np.uint32)]
    report = mfmasim.device("sim").launch(kernel(body, "gfx942", feature), 1, 64, args, checks="uninitialised")
    assert [finding.id for finding in report.findings] == (["uninitialised-stored"] if feature == "-" else [])


def test_gfx1250_has_it_and_rdna_has_not():
    """clang-22 -O3 packs two halves by D16 loads on gfx11 and gfx12, and by v_perm_b32 on gfx1250."""
    for arch, clears in (("gfx1151", False), ("gfx1201", False), ("gfx1250", True)):
        assert harness.kernel("global_load_d16_hi_b16 v4, v2, s[8:9]\ns_endpgm", arch).code.object.sram_ecc == clears
