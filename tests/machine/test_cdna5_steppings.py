"""gfx1250 (stepping B0) and gfx1250-strict (A0): one code object on each."""

from __future__ import annotations

import struct
from dataclasses import replace

import numpy as np
import pytest

import mfmasim
from mfmasim.architectures.processors import PROCESSORS
from mfmasim.errors import MfmasimError
from mfmasim.isa.family import family
from mfmasim.matrix.rows.cdna5 import CYCLES, VARIANTS
from tests.machine import harness
from tests.machine.cdna5_frame import GROUPS, described, ids, run
from tests.machine.test_tensor_ops import PLAIN

pytestmark = pytest.mark.oracle

A0 = "gfx1250-strict"
OTHER = r"another stepping, gfx1250 \(B0\), has it"
DATA = np.arange(512, dtype=np.uint32)
DEFINED = "\n".join(f"  v_mov_b32_e32 v{register}, 0" for register in range(60)) + "\n"
# Correct on B0, too close on A0: 16x16x64 FP8 of 4 and 8 cycles, f8f6f4 with FP8 of 8 and 16.
CLOSE = {
    "fp8": ("v_wmma_f32_16x16x64_fp8_fp8 v[0:7], v[8:15], v[16:23], v[0:7]", 1, 4),
    "f8f6f4": ("v_wmma_f32_16x16x128_f8f6f4 v[0:7], v[8:23], v[24:39], v[0:7]", 4, 8),
}
LACKING = (
    "v_wmma_f32_16x16x128_fp8_bf8 v[0:7], v[8:23], v[24:39], v[0:7]",
    "v_wmma_f16_16x16x128_bf8_bf8 v[0:3], v[8:23], v[24:39], v[0:3]",
    "v_wmma_f32_32x16x128_f4 v[0:15], v[16:31], v[32:39], v[0:15]",
    "v_wmma_scale_f32_32x16x128_f4 v[0:15], v[16:31], v[32:39], v[0:15], v40, v41",
    "v_wmma_scale16_f32_16x16x128_f8f6f4 v[0:7], v[8:23], v[24:39], v[0:7], v[40:41], v[42:43]",
)


def launched(body, on=None):
    return mfmasim.device("sim").launch(harness.kernel(body, "gfx1250", "", on=on), grid=1, block=32, args=[])


@pytest.mark.parametrize("name", CLOSE)
def test_wait_states_are_those_of_the_stepping(name):
    line, present, needs = CLOSE[name]
    body = DEFINED + f"  {line}\n" + "  v_nop\n" * present + "  v_add_f32_e32 v50, v0, v51\n  s_endpgm"
    assert not launched(body).findings
    found = launched(body, A0)
    assert found.arch == A0
    assert {finding.id for finding in found.findings} == {"hazards-vector"}
    assert f"{needs} vector instructions are required between them, {present} present" in found.findings[0].message


@pytest.mark.parametrize("line", LACKING)
def test_what_a0_lacks_is_refused_by_name(line):
    body, name = DEFINED + f"  {line}\n  s_endpgm", line.split()[0]
    assert not launched(body).findings
    with pytest.raises(MfmasimError, match=f"{name} is not available on {A0}: {OTHER}"):
        launched(body, A0)
    assert name in mfmasim.instructions("gfx1250")
    assert name not in mfmasim.instructions(A0)
    with pytest.raises(MfmasimError, match=OTHER):
        mfmasim.instruction(A0, name)
    assert name in family(mfmasim.arch(A0)).withheld


def test_the_columns_say_what_each_lacks():
    """An instruction has no cycles where it is withheld, and only there."""
    names = {arch: set(mfmasim.instructions(arch)) for arch in ("gfx1250", A0)}
    absent = {name for name in names["gfx1250"] if PROCESSORS[A0].lacks(name)}
    assert names[A0] == names["gfx1250"] - absent
    assert len(absent) == 8 + 2 + 2
    assert {mfmasim.arch(name).variant for name in ("gfx1250", A0, "gfx1251")} == set(VARIANTS)
    assert all(source for _, source in CYCLES.values())
    assert mfmasim.instruction(A0, "v_wmma_f32_16x16x64_fp8_fp8").cycles == 8
    assert mfmasim.instruction("gfx1250", "v_wmma_f32_16x16x64_fp8_fp8").cycles == 4


def test_code_objects_of_both():
    """Code for gfx1250 does not say its stepping; EF_AMDGPU_MACH 0x0eb does."""
    body = DEFINED + "  s_endpgm"
    data = harness.assemble(harness.source(body, "gfx1250", ""), "gfx1250")
    assert mfmasim.load(data).arch.name == "gfx1250"
    assert mfmasim.load(data, arch=A0).arch.name == A0
    strict = bytearray(data.replace(b"amdhsa.target", b"amdhsa.nothin"))
    flags = struct.unpack_from("<I", strict, 48)[0]
    struct.pack_into("<I", strict, 48, flags & ~0xFF | 0xEB)
    assert mfmasim.load(bytes(strict)).arch.name == A0
    with pytest.raises(MfmasimError, match="code object for gfx1250-strict, another stepping of gfx1250, gfx1250 was"):
        mfmasim.load(bytes(strict), arch="gfx1250")


@pytest.mark.parametrize("mask", [0, 3])
def test_loads_of_clusters_need_m0_of_0(mask):
    load = f"  s_mov_b32 m0, {mask}\n  cluster_load_b128 v[10:13], v2, s[4:5]\n  s_wait_loadcnt 0x0\n"
    for cluster in (1, 2):
        assert not run(load, DATA, groups=2, cluster=cluster)[2].findings
        found = run(load, DATA, groups=2, cluster=cluster, on=A0)[2]
        assert ids(found) == ["cluster-mask-stepping"] * bool(mask)


def test_the_tensor_mover_has_no_masks():
    load = f"  tensor_load_to_lds {GROUPS}\n  s_wait_tensorcnt 0x0\n"
    assert not run(described(PLAIN) + load, DATA, on=A0)[2].findings
    masked = described(replace(PLAIN, workgroup_mask=3)) + load
    assert not run(masked, DATA, groups=2, cluster=2)[2].findings
    found = run(masked, DATA, groups=2, cluster=2, on=A0)[2].findings[0]
    assert "workgroup_mask 0x3: a mask is not available on gfx1250-strict: another stepping" in found.message


@pytest.mark.parametrize(("address", "wrong"), [(0, False), (4, True)])
def test_two_addresses_are_multiples_of_the_access(address, wrong):
    fill = "  ds_store_b128 v2, v[10:13]\n  ds_store_b128 v2, v[10:13] offset:512\n  s_wait_dscnt 0x0\n"
    load = f"  v_mov_b32_e32 v5, {address}\n  ds_load_2addr_b64 v[10:13], v5 offset1:1\n  s_wait_dscnt 0x0\n"
    assert ids(run(fill + load, DATA)[2]) == ["alignment-lds"] * wrong
    assert ids(run(fill + load, DATA, on=A0)[2]) == ["alignment-pair"] * wrong


SELECTS = [
    ("v_cvt_scale_pk8_f32_fp8 v[20:27], v[0:1], v2", 4, False),
    ("v_cvt_scale_pk8_f32_fp8 v[20:27], v[0:1], v2", 8, True),
    ("v_cvt_scale_pk16_f32_fp6 v[20:35], v[0:2], v4", 2, False),
    ("v_cvt_scale_pk16_f32_fp6 v[20:35], v[0:2], v4", 4, True),
]


@pytest.mark.parametrize(("name", "select", "fails"), SELECTS)
def test_conversions_have_no_blocks_of_16(name, select, fails):
    body = DEFINED + f"  {name} scale_sel:{select}\n  s_endpgm"
    assert not launched(body).findings
    if not fails:
        assert not launched(body, A0).findings
        return
    with pytest.raises(MfmasimError, match=f"scale_sel:{select}, which has blocks of 16, is not available on {A0}"):
        launched(body, A0)
