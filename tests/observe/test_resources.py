"""Buffer resources that cannot be meant: reported at the first use, with the fields as the architecture reads them."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import mfmasim
from tests.machine import harness

RAW = {"gfx942": 0x27000, "gfx950": 0x00020000, "gfx1151": 0x31004000, "gfx1201": 0x31004000}
ARCHS = tuple(RAW)
# Word 3, bits 63:48 of the resource, architectures, words of the message (none: nothing is wrong).
WORDS = [
    (0x190000, 0, "gfx942 gfx950", "USER_VM_ENABLE and USER_VM_MODE are set"),
    (0x7000, 0, "gfx942 gfx950", "DATA_FORMAT is 0"),
    (0x31004000, 0, "gfx942 gfx950", "reserved bits"),
    (0x80027000, 0, "gfx942 gfx950", "TYPE is not 0"),
    (0x00827000, 4, "gfx942 gfx950", ""),
    (0x27000, 0, "gfx1151 gfx1201", ": every access is out of range"),
    (0x30000000, 0, "gfx1151 gfx1201", "FORMAT is 0"),
    (0xB1004000, 0, "gfx1151 gfx1201", "TYPE is not 0"),
    (0x31004000, 0x8004, "gfx1151 gfx1201", "swizzle 2 is reserved"),
    (0x01004000, 4, "gfx1151 gfx1201", ""),
    *((word, 0, arch, "") for arch, word in RAW.items()),
]


def reported(arch, word3, high=0, move=0, records=4096, masked=False, second=False, offset=0, **options):
    """Findings of a load through a resource made of a buffer's address."""
    body = f"""
      s_load_dwordx2 s[8:9], s[0:1], 0x0
      {"s_wait_kmcnt 0x0" if arch == "gfx1201" else "s_waitcnt lgkmcnt(0)"}
      s_add_u32 s8, s8, {move}
      s_addc_u32 s9, s9, {-(move < 0)}
      s_and_b32 s9, s9, 0xffff
      s_or_b32 s9, s9, {high << 16:#x}
      s_mov_b32 s10, {records}
      s_mov_b32 s11, {word3:#x}
      {"s_mov_b32 exec_lo, 0" if masked else ""}
      {"s_mov_b32 exec_hi, 0" if masked and arch.startswith("gfx9") else ""}
      {"v_cmp_lt_u32 vcc, 63, v0" if second else ""}
      {"s_mov_b64 exec, vcc" if second else ""}
      v_mov_b32 v2, {offset}
      buffer_load_dword v4, v2, s[8:11], {"null" if arch == "gfx1201" else "0"} offen
      buffer_load_dword v5, v2, s[8:11], {"null" if arch == "gfx1201" else "0"} offen
      s_endpgm
    """
    report = mfmasim.device("sim").launch(
        harness.kernel(body, arch, "p"), grid=2, block=128, args=[np.zeros(1024, np.uint32)], checks="bounds", **options
    )
    return [f for f in report.findings if f.id.startswith("bounds-resource")]


@pytest.mark.parametrize(
    ("word3", "high", "arch", "words"),
    [
        pytest.param(word, high, arch, text, id=f"{word:#x}-{high:#x}-{arch}")
        for word, high, archs, text in WORDS
        for arch in archs.split()
    ],
)
def test_fields(word3, high, arch, words):
    findings = reported(arch, word3, high)
    assert len(findings) == 2 * bool(words), [f.message for f in findings]
    for finding in findings:
        assert words in finding.message
        assert (finding.id, finding.severity) == ("bounds-resource", "error")
        assert f"word 3 is {word3:#010x}" in finding.message
        assert (finding.workgroup, finding.wave) == ((0, 0, 0), 0)


@pytest.mark.trap("T3")
@pytest.mark.parametrize("arch", ["gfx942", "gfx950"])
def test_what_nothing_reads_is_a_remark(arch):
    """USER_VM_MODE counts only with USER_VM_ENABLE."""
    findings = reported(arch, 0x110000)
    assert len(findings) == 2
    for finding in findings:
        assert (finding.id, finding.severity) == ("bounds-resource-unread", "info")
        assert "USER_VM_MODE is set without USER_VM_ENABLE" in finding.message


@pytest.mark.parametrize("arch", ARCHS)
def test_an_unbound_buffer_is_a_remark(arch):
    """Word 3 is 0, wherever the base is; a resource of zeros alone is not even that."""
    for move in (0, 1 << 20):
        findings = reported(arch, 0, move=move)
        assert [(f.id, f.severity) for f in findings] == [("bounds-resource-unbound", "info")] * 2


@pytest.mark.parametrize("arch", ARCHS)
def test_bases(arch):
    assert not reported(arch, RAW[arch], move=4092)
    for move, words in ((4096, "0 bytes past the end of argument 0"), (-4, "4 bytes before argument 0 (p0)")):
        first, _ = reported(arch, RAW[arch], move=move)
        assert (first.id, first.severity) == ("bounds-resource-base", "warning")
        assert words in first.message
    assert not reported(arch, RAW[arch], move=4096, records=0)
    # As hipBLASLt's GEMMs do, whose loops count from before the tile: no access is outside.
    assert not reported(arch, RAW[arch], move=-16, offset=16)
    assert reported(arch, RAW[arch], move=-16, offset=12)


def test_the_first_wave_that_uses_it_is_named():
    """No lane of the first wave does."""
    findings = reported("gfx942", 0, second=True)
    assert findings
    for finding in findings:
        assert (finding.workgroup, finding.wave) == ((0, 0, 0), 1)


@pytest.mark.parametrize("arch", ARCHS)
def test_what_no_lane_uses_is_not_told(arch):
    assert not reported(arch, 0, masked=True)


def test_parts_of_a_grid_tell_the_same():
    with ThreadPoolExecutor(2) as pool:
        assert reported("gfx942", 0, executor=pool, parts=2) == reported("gfx942", 0)
