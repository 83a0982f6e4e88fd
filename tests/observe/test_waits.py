"""waits: programs with a wait too few, with the exact finding; and every wait of compiled kernels taken out."""

import io

import numpy as np
import pytest
from elftools.elf.elffile import ELFFile

import mfmasim
from mfmasim.isa.counters import waited
from mfmasim.resources import folder
from mfmasim.verify import find, select, verify_case
from tests.machine import harness

BEGIN = """
  s_load_dwordx2 s[8:9], s[0:1], 0x0
  v_lshlrev_b32_e32 v2, 2, v0
"""
END = """
  s_waitcnt vmcnt(0) lgkmcnt(0)
  global_store_dword v2, v4, s[8:9]
  s_endpgm
"""
# Body (between BEGIN, a wait for it, and END): what has to be reported, as (register, mnemonic, words of the message).
BODIES = {
    "used at once": (
        "global_load_dword v4, v2, s[8:9]\n v_add_u32_e32 v4, 1, v4",
        [("v4", "v_add_u32", "is read while global_load_dword", "s_waitcnt vmcnt(0) is missing")],
    ),
    "waited for": ("global_load_dword v4, v2, s[8:9]\n s_waitcnt vmcnt(0)\n v_add_u32_e32 v4, 1, v4", []),
    "overwritten": (
        "global_load_dword v4, v2, s[8:9]\n v_mov_b32_e32 v4, 1",
        [("v4", "v_mov_b32", "is overwritten while", "vmcnt(0)")],
    ),
    "the oldest of three": (
        (
            "global_load_dword v4, v2, s[8:9]\n global_load_dword v5, v2, s[8:9]\n global_load_dword v6, v2, s[8:9]\n"
            "s_waitcnt vmcnt(3)\n v_mov_b32_e32 v7, v4"
        ),
        [("v4", "v_mov_b32", "s_waitcnt vmcnt(2) or less is missing")],
    ),
    "the oldest of three, waited for": (
        (
            "global_load_dword v4, v2, s[8:9]\n global_load_dword v5, v2, s[8:9]\n global_load_dword v6, v2, s[8:9]\n"
            "s_waitcnt vmcnt(2)\n v_mov_b32_e32 v7, v4\n s_waitcnt vmcnt(1)\n v_mov_b32_e32 v7, v5"
        ),
        [],
    ),
    "a store counts as well": (
        "global_load_dword v4,v2,s[8:9]\n global_store_dword v2, v2, s[8:9]\ns_waitcnt vmcnt(1)\nv_mov_b32_e32 v7, v4",
        [],
    ),
    "the LDS comes back in order": (
        "ds_read_b32 v4, v2\n ds_read_b32 v5, v2\n s_waitcnt lgkmcnt(1)\n v_mov_b32_e32 v7, v4",
        [],
    ),
    "scalar loads do not": (
        "s_load_dword s12, s[0:1], 0x0\n s_load_dword s13, s[0:1], 0x0\n s_waitcnt lgkmcnt(1)\n s_mov_b32 s14, s12",
        [("s12", "s_mov_b32", "s_waitcnt lgkmcnt(0) is missing")],
    ),
    "an LDS read among scalar loads": (
        (
            "ds_read_b32 v4, v2\n s_load_dword s12, s[0:1], 0x0\n ds_read_b32 v5, v2\n s_waitcnt lgkmcnt(1)\n"
            "v_mov_b32_e32 v7, v4"
        ),
        [],
    ),
    "the later LDS read among them": (
        (
            "ds_read_b32 v4, v2\n s_load_dword s12, s[0:1], 0x0\n ds_read_b32 v5, v2\n s_waitcnt lgkmcnt(1)\n"
            "v_mov_b32_e32 v7, v5"
        ),
        [("v5", "v_mov_b32", "s_waitcnt lgkmcnt(0) is missing")],
    ),
    "two halves of a register": (
        (
            "global_load_short_d16 v4, v2, s[8:9]\n global_load_short_d16_hi v4, v2, s[8:9]\n s_waitcnt vmcnt(0)\n"
            "v_mov_b32_e32 v7, v4"
        ),
        [],
    ),
    "another counter": (
        "ds_read_b32 v4, v2\n s_waitcnt vmcnt(0)\n v_mov_b32_e32 v7, v4",
        [("v4", "v_mov_b32", "lgkmcnt(0)")],
    ),
    "an address in flight": (
        "global_load_dword v4, v2, s[8:9]\n v_lshlrev_b32_e32 v5, 2, v0\n global_load_dword v6, v4, s[8:9]",
        [("v4", "global_load_dword", "is read while", "vmcnt(0)")],
    ),
    "more than the counter holds": (
        "\n".join(f"ds_read_b32 v{8 + k}, v2" for k in range(16)) + "\n v_mov_b32_e32 v7, v8",
        [],
    ),
    "as many as the counter holds": (
        "\n".join(f"ds_read_b32 v{8 + k}, v2" for k in range(16)) + "\n v_mov_b32_e32 v7, v9",
        [("v9", "v_mov_b32", "s_waitcnt lgkmcnt(14) or less")],
    ),
    "other lanes of its register": (
        (
            "s_mov_b64 exec, 0xff\nglobal_load_dword v4, v2, s[8:9]\n s_not_b64 exec, exec\n v_add_u32_e32 v5, 1, v4\n"
            "v_mov_b32_e32 v4, 0\n s_mov_b64 exec, -1"
        ),
        [],
    ),
    "lanes of its register, by a constant": (
        (
            "s_mov_b64 exec, 0xff\nglobal_load_dword v4, v2, s[8:9]\n s_mov_b64 exec, 0xf0\n v_add_u32_e32 v5, 1, v4\n"
            "s_mov_b64 exec, -1"
        ),
        [("v4", "v_add_u32", "is read while", "vmcnt(0)")],
    ),
    "its lanes again": (
        (
            "s_mov_b64 exec, s[2:3]\nglobal_load_dword v4, v2, s[8:9]\n s_not_b64 exec, exec\n s_not_b64 exec, exec\n"
            "v_add_u32_e32 v5, 1, v4\n s_mov_b64 exec, -1"
        ),
        [("v4", "v_add_u32", "is read while", "vmcnt(0)")],
    ),
    "the lanes of the other branch": (
        (
            "v_cmp_lt_u32_e64 s[2:3], v0, 16\ns_and_saveexec_b64 s[4:5], s[2:3]\nglobal_load_dword v4, v2, s[8:9]\n"
            "s_xor_b64 exec, exec, s[4:5]\n v_add_u32_e32 v5, 1, v4\n s_mov_b64 exec, s[4:5]"
        ),
        [],
    ),
    "a saved mask that was overwritten": (
        (
            "v_cmp_lt_u32_e64 s[2:3], v0, 16\ns_and_saveexec_b64 s[4:5], s[2:3]\nglobal_load_dword v4, v2, s[8:9]\n"
            "s_mov_b32 s5, -1\ns_xor_b64 exec, exec, s[4:5]\n v_add_u32_e32 v5, 1, v4\n s_mov_b64 exec, -1"
        ),
        [("v4", "v_add_u32", "is read while", "vmcnt(0)")],
    ),
    "lanes without those of the load": (
        (
            "s_mov_b64 exec, s[2:3]\nglobal_load_dword v4, v2, s[8:9]\n s_andn2_b64 exec, s[12:13], exec\n"
            "v_add_u32_e32 v5, 1, v4\n s_and_b64 exec, exec, s[14:15]\n v_add_u32_e32 v5, 1, v4\n s_mov_b64 exec, -1"
        ),
        [],
    ),
    "a matrix instruction reads all lanes": (
        (
            "s_mov_b64 exec, 0xff\nglobal_load_dword v4, v2, s[8:9]\n s_not_b64 exec, exec\n"
            "v_mfma_f32_4x4x1_16b_f32 v[12:15], v4, v5, v[12:15]\n s_mov_b64 exec, -1"
        ),
        [("v4", "v_mfma_f32_4x4x1_16b_f32", "is read while", "vmcnt(0)")],
    ),
    "from one lane to another": (
        (
            "s_mov_b64 exec, 0xff\nglobal_load_dword v4, v2, s[8:9]\n s_not_b64 exec, exec\n"
            "v_readfirstlane_b32 s12, v4\n v_mov_b32_dpp v5, v4 row_shr:1\n s_mov_b64 exec, -1"
        ),
        [("v4", "v_readfirstlane_b32", "is read while", "vmcnt(0)")],
    ),
    "from one iteration to the next": (
        (
            "s_mov_b32 s12, 3\nv_mov_b32_e32 v5, 0\nv_mov_b32_e32 v4, 0\n.Lloop:\n v_add_u32_e32 v5, v5, v4\n"
            "global_load_dword v4, v2, s[8:9]\n s_sub_u32 s12, s12, 1\n s_cmp_lg_u32 s12, 0\n s_cbranch_scc1 .Lloop"
        ),
        [("v4", "v_add_u32", "is read while global_load_dword", "vmcnt(0)")],
    ),
}


def reported(body, arch="gfx942", block=64, lds=1024, severity="error"):
    text = BEGIN + "s_waitcnt lgkmcnt(0)\n" + body + END
    out = np.zeros(1024, np.uint32)
    report = mfmasim.device("sim").launch(
        harness.kernel(text, arch, "p", lds=lds), grid=2, block=block, args=[out], checks="waits"
    )
    return [f for f in report.findings if f.severity == severity]


HALVES = {
    "a store of the other half": (
        "global_load_d16_hi_b16 v4, v2, s[8:9]\n ds_store_b16 v2, v4\n global_store_b16 v2, v4, s[8:9]", []
    ),
    "a store of the same half": (
        "global_load_d16_hi_b16 v4, v2, s[8:9]\n ds_store_b16_d16_hi v2, v4", [("v4", "is read while")]
    ),
    "a store of both": ("global_load_d16_hi_b16 v4, v2, s[8:9]\n ds_store_b32 v2, v4", [("v4", "is read while")]),
    "an address": ("global_load_d16_hi_b16 v4, v2, s[8:9]\n ds_store_b16 v4, v4", [("v4", "is read while")]),
    "a load of the other half by the LDS": ("global_load_d16_hi_b16 v4, v2, s[8:9]\n ds_load_u16_d16 v4, v2", []),
    "a load of the same half by the LDS": (
        "global_load_d16_b16 v4, v2, s[8:9]\n ds_load_u16_d16 v4, v2", [("v4", "is overwritten while")]
    ),
    "a load that extends its value": (
        "global_load_d16_hi_b16 v4, v2, s[8:9]\n ds_load_u16 v4, v2", [("v4", "is overwritten while")]
    ),
    "a move of the other half": (
        "global_load_d16_hi_b16 v4, v2, s[8:9]\n v_mov_b16_e32 v5.l, v4.l", [("v4", "is read while")]
    ),
    "a move to the other half": (
        "global_load_d16_hi_b16 v4, v2, s[8:9]\n v_mov_b16_e32 v4.l, v5.l", [("v4", "is overwritten while")]
    ),
    "both halves, one waited for": (
        ("global_load_d16_b16 v4, v2, s[8:9]\n global_load_d16_hi_b16 v4, v2, s[8:9]\n s_waitcnt vmcnt(1)\n"
        "ds_store_b16 v2, v4\n ds_store_b16_d16_hi v2, v4"), [("v4", "global_load_d16_hi_b16")],
    ),
}  # fmt: skip
"""Bodies of programs with 16-bit registers, and words of the only finding, if there is one."""


@pytest.mark.parametrize("name", HALVES)
@pytest.mark.parametrize("arch", ["gfx1151", "gfx1201"])
def test_memory_operations_touch_halves_and_others_whole_registers(name, arch):
    body, expected = HALVES[name]
    body = "s_load_b64 s[8:9], s[0:1], 0x0\n v_lshlrev_b32_e32 v2, 2, v0\n s_waitcnt lgkmcnt(0)\n" + body
    body += "\n s_waitcnt vmcnt(0) lgkmcnt(0)\n s_endpgm"
    if arch.startswith("gfx12"):
        body = body.replace("s_waitcnt vmcnt(1)", "s_wait_loadcnt 1").replace("s_waitcnt lgkmcnt(0)", "s_wait_kmcnt 0")
        body = body.replace("s_waitcnt vmcnt(0) lgkmcnt(0)", "s_wait_loadcnt_dscnt 0")
    kernel = harness.kernel(body, arch, "p", lds=1024)
    args = [np.zeros(1024, np.uint32)]
    report = mfmasim.device("sim").launch(kernel, grid=1, block=32, args=args, checks="waits")
    findings = [f for f in report.findings if f.severity == "error"]
    assert len(findings) == len(expected), [f.message for f in findings]
    for finding, (register, words) in zip(findings, expected, strict=True):
        assert finding.register == register
        assert words in finding.message


@pytest.mark.parametrize("name", BODIES)
@pytest.mark.parametrize("arch", ["gfx942", "gfx950"])
def test_programs(name, arch):
    body, expected = BODIES[name]
    findings = reported(body, arch)
    assert len(findings) == len(expected), [f.message for f in findings]
    for finding, (register, instruction, *words) in zip(findings, expected, strict=True):
        assert (finding.register, finding.instruction, finding.severity) == (register, instruction, "error")
        for word in words:
            assert word in finding.message
        assert finding.workgroup == (0, 0, 0)


def test_the_beginning_waits_for_its_own_arguments():
    text = BEGIN + "v_mov_b32_e32 v4, s8" + END
    report = mfmasim.device("sim").launch(
        harness.kernel(text, "gfx942", "p"), grid=1, block=64, args=[np.zeros(64, np.uint32)], checks="waits"
    )
    (finding,) = report.findings
    assert finding.register == "s8"
    assert "s_load_dwordx2" in finding.message


def test_only_the_wave_whose_path_lacks_the_wait_is_named():
    body = """
      v_readfirstlane_b32 s12, v0
      global_load_dword v4, v2, s[8:9]
      s_cmp_lt_u32 s12, 128
      s_cbranch_scc1 .Lwait
      s_branch .Luse
    .Lwait:
      s_waitcnt vmcnt(0)
    .Luse:
      v_mov_b32_e32 v5, v4
    """
    (finding,) = reported(body, block=256)
    assert (finding.workgroup, finding.wave) == ((0, 0, 0), 2)


def without(code, pcs):
    """The code object with the wait instructions at these addresses made to wait for nothing."""
    data = bytearray(code)
    for segment in ELFFile(io.BytesIO(code)).iter_segments():
        first, offset, size = segment["p_vaddr"], segment["p_offset"], segment["p_filesz"]
        for pc in pcs:
            if segment["p_type"] == "PT_LOAD" and first <= pc < first + size:
                data[offset + pc - first : offset + pc - first + 2] = b"\x7f\xcf"
    return bytes(data)


@pytest.mark.parametrize("arch", ["gfx942", "gfx950"])
def test_every_wait_of_the_introductory_kernels_is_needed_and_found(arch):
    """Each wait of compiled code taken out alone: the check finds it, but for those that order memory only."""
    ((_, cases),) = find("intro")
    found, kept = 0, []
    for case, _ in select(cases, arch):
        if "opsel=" in case.title and "opsel=0" not in case.title:
            continue  # the same waits four times
        path = folder("golden") / "code" / "intro" / f"{case.source.stem}.{arch}.hsaco"
        kernel = mfmasim.load(path)[case.kernel_name()]
        for ins in kernel.instructions:
            if not waited(kernel.arch, ins) or ins.name == "s_endpgm":
                continue
            changed = mfmasim.load(without(path.read_bytes(), [ins.pc]))[case.kernel_name()]
            result = verify_case(case, arch, kernel=changed)
            assert result.outputs["mismatches"] == 0, "the machine itself delivers every load at once"
            checks = {f.check for f in result.findings if f.severity == "error"}
            found += checks == {"waits"}
            kept += [(case.title, ins.text)] * (checks != {"waits"})
    assert found >= 41
    assert not kept


READS = "\n".join(f"ds_read_b32 v{10 + k}, v2 offset:{256 * k}" for k in range(6))
USES = "\n".join(f"v_add_u32_e32 v4, v4, v{10 + k}" for k in range(6))


@pytest.mark.parametrize(
    ("order", "value"), [(range(6), 0), (range(5), 1), ((3, 1, 2, 0), 2)], ids=["all", "all but the last", "mixed"]
)
def test_one_missing_wait_is_one_finding(order, value):
    """What the wait before the first use would have served belongs to it; with this wait there is none."""
    uses = "\n".join(f"v_add_u32_e32 v4, v4, v{10 + k}" for k in order)
    wait = f"s_waitcnt lgkmcnt({value})"
    (found,) = findings_of(f"{READS}\n{uses}")
    assert found.id == "waits-read-in-flight"
    assert f"{wait}{' or less' if value else ''} is missing before it; the same wait serves" in found.message
    assert found.count == len(order)
    assert not findings_of(f"{READS}\n{wait}\n{uses}")
    assert findings_of(f"{READS}\ns_waitcnt lgkmcnt({value + 1})\n{uses}")


def test_a_load_that_is_issued_later_has_its_own_finding():
    first, second = findings_of(f"{READS}\n{USES}\nglobal_load_dword v20, v2, s[8:9]\nv_add_u32_e32 v4, v4, v20")
    assert (first.count, second.count) == (6, 1)
    again = findings_of(f"{READS}\n{USES}\ns_waitcnt lgkmcnt(0)\nds_read_b32 v20, v2\nv_add_u32_e32 v4, v4, v20")
    assert [found.register for found in again] == ["v10", "v20"]


def findings_of(body):
    text = BEGIN + "s_waitcnt lgkmcnt(0)\nv_mov_b32_e32 v4, 0\n" + body + END
    kernel = harness.kernel(text, "gfx942", "p", lds=2048)
    report = mfmasim.device("sim").launch(kernel, 1, 64, [np.zeros(64, np.uint32)], checks="waits")
    return [found for found in report.findings if found.severity == "error"]


WRITE = "buffer_wbl2 sc0 sc1\n"
FLAG = "global_store_dword v2, v4, s[8:9] sc0 sc1\n"
FLAGS = {
    "at once": (WRITE + FLAG, "s_waitcnt vmcnt(0) is missing"),
    "behind a load": (WRITE + "global_load_dword v5, v2, s[8:9]\n" + FLAG, "s_waitcnt vmcnt(1) or less is missing"),
    "by an atomic": (WRITE + "global_atomic_add v2, v4, s[8:9] sc1\n", "vmcnt(0) is missing"),
    "waited for": (WRITE + "s_waitcnt vmcnt(0)\n" + FLAG, ""),
    "within the device": (WRITE + "global_store_dword v2, v4, s[8:9] sc1\n", ""),
    "written back within the device": ("buffer_wbl2 sc1\n" + FLAG, ""),
    "before it": (FLAG + WRITE, ""),
}


@pytest.mark.parametrize("name", FLAGS)
def test_a_flag_behind_a_write_back(name):
    body, words = FLAGS[name]
    text = BEGIN + "s_waitcnt lgkmcnt(0)\n v_mov_b32_e32 v4, 1\n" + body + "s_waitcnt vmcnt(0)\n s_endpgm\n"
    kernel = harness.kernel(text, "gfx942", "p")
    found = mfmasim.device("sim").launch(kernel, 1, 64, [np.zeros(64, np.uint32)], checks="waits").findings
    late = [one for one in found if one.id == "waits-write-back"]
    assert bool(late) == bool(words), [one.message for one in found]
    assert all(words in one.message for one in late)
