"""Code that LLVM 24 makes: a HIP program for gfx1170, triples with a subarch, and ELF flags of every target."""

import re
import struct
import subprocess

import numpy as np
import pytest

import mfmasim
from mfmasim.architectures import GENERICS, SIMULATED
from mfmasim.codeobject.descriptor import decode
from mfmasim.errors import MfmasimError
from mfmasim.toolchain.triples import subarch
from tests.codeobject.test_codeobject_descriptor import base
from tests.isa import later_llvm
from tests.llvm import tool
from tests.machine import harness

SOURCE = """
typedef _Float16 half8 __attribute__((ext_vector_type(8)));
typedef float float8 __attribute__((ext_vector_type(8)));
extern "C" __attribute__((global)) void product(const half8 *a, const half8 *b, float8 *d, int n) {
  int lane = __builtin_amdgcn_workitem_id_x();
  float8 c = 0;
  for (int i = 0; i < n; i++)
    c = __builtin_amdgcn_wmma_f32_16x16x16_f16_w32_gfx12(a[i * 32 + lane], b[i * 32 + lane], c);
  d[lane] = c;
}
"""
FRONT = "-x hip --offload-arch=gfx1200 --cuda-device-only -nogpuinc -nogpulib -O2 -S -emit-llvm -o - -"


def linked(data, folder):
    """The code object of an object file."""
    first, last = folder / "a.o", folder / "a.hsaco"
    first.write_bytes(data)
    subprocess.run([tool("ld.lld"), "-shared", "-o", last, first], check=True)
    return last.read_bytes()


@pytest.mark.oracle
def test_a_hip_program_runs_on_gfx1170(tmp_path):
    """Clang 22 reads the source as one for gfx1200, and LLVM 24 generates code for gfx1170 from what it understood."""
    command = [tool("clang"), *FRONT.split()]
    made = subprocess.run(command, input=SOURCE, capture_output=True, text=True, check=True).stdout
    data = later_llvm.compiled(re.sub(r'"target-(cpu|features)"="[^"]*"', "", made), "gfx1170")
    code = mfmasim.load(linked(data, tmp_path))
    op = mfmasim.instruction("gfx1170", "v_wmma_f32_16x16x16_f16")
    assert op.name in {instruction.name for instruction in code["product"].instructions}
    rng = np.random.default_rng(1)
    a, b = rng.integers(-8, 8, (2, 3, 16, 16)).astype(np.float16)
    given = [np.stack([side.pack(x.view(np.uint16)).T for x in those]) for side, those in ((op.A, a), (op.B, b))]
    out = np.zeros((32, 8), np.uint32)
    arguments = [*map(np.ascontiguousarray, given), out, np.int32(3)]
    report = mfmasim.device("sim").launch(code["product"], grid=1, block=32, args=arguments, checks="all")
    assert (report.findings, report.arch, report.fidelity) == ([], "gfx1170", "assumed")
    expected = sum(x.astype(np.float32) @ y for x, y in zip(a, b, strict=True))
    assert (op.D.unpack(out.T).view(np.float32) == expected).all()


@pytest.mark.oracle
@pytest.mark.parametrize("name", ["gfx942", "gfx1154", "gfx1171", "gfx1251", "gfx11-7-generic", "gfx12-5-generic"])
def test_objects_of_llvm_24_are_read(name, tmp_path):
    like = {"gfx11-7-generic": "gfx1170", "gfx12-5-generic": "gfx1250"}.get(name, name)
    text = harness.source("  s_endpgm", like).replace(f"amdhsa--{like}", f"amdhsa--{name}")
    text = text.replace("code_object_version 5", "code_object_version 6")
    code = mfmasim.load(linked(later_llvm.assembled_object(text, name), tmp_path))
    assert (code.object.target_id, code.arch.target) == (name, name)
    assert [instruction.text for instruction in code["test"].instructions] == ["s_endpgm"]


@pytest.mark.oracle
@pytest.mark.parametrize("name", ["gfx908", "gfx950", "gfx1030", "gfx1154", "gfx1170", "gfx1201", "gfx1251", *GENERICS])
def test_triples_with_a_subarch_name_the_processor(name):
    """Without any other name of the processor, and the same as under the older triple."""
    old = later_llvm.flags(later_llvm.assembled_object("s_nop 0", name))
    new = later_llvm.flags(later_llvm.assembled_object("s_nop 0", "", triple=f"amdgpu{subarch(name)}-amd-amdhsa"))
    assert old == new
    assert (new & 0xFF, new >> 24) == ((GENERICS.get(name) or SIMULATED[name]).elf_machine, int(name in GENERICS))


@pytest.mark.oracle
@pytest.mark.long
def test_features_and_flags():
    """The assembler still takes XNACK and SRAM ECC as features; gfx1250 does not say that it replays."""
    flags = {
        (name, feature): later_llvm.flags(later_llvm.assembled_object("s_nop 0", name, feature))
        for name in ("gfx942", "gfx1250")
        for feature in ("", "+xnack", "-xnack", "+sramecc", "-sramecc")
    }
    assert [f"{flag:#x}" for flag in flags.values()] == [
        *("0x54c", "0x74c", "0x64c", "0xd4c", "0x94c"),
        *("0x449", "0x449", "0x449", "0xc49", "0x849"),
    ]
    assert later_llvm.flags(later_llvm.assembled_object("s_nop 0", "gfx1310")) == 0x50
    assert later_llvm.assembled_object("s_nop 0", "gfx1250-strict") == b""
    assert later_llvm.assemble(["v_add_f16 v0.l, v1.h, v2.l"], "gfx1201", halves=False) != [None]


@pytest.mark.oracle
@pytest.mark.parametrize("line", [".amdhsa_dx10_clamp 1", ".amdhsa_ieee_mode 1", ".amdhsa_round_robin_scheduling 1"])
def test_bits_that_the_descriptor_of_gfx1170_lacks(line):
    def made(arch):
        text = harness.source("  s_endpgm", arch).replace(".end_amdhsa_kernel", f"{line}\n.end_amdhsa_kernel")
        return later_llvm.assembled_object(text, arch)

    assert not made("gfx1170")
    assert made("gfx1201" if "round" in line else "gfx1151")


@pytest.mark.parametrize(("bit", "named"), [(21, "bit 21"), (23, "bit 23")])
def test_a_descriptor_of_gfx1170_has_reserved_bits_where_gfx1151_has_modes(bit, named):
    data = base("GFX11")
    struct.pack_into("<I", data, 48, 0x000C0000 | 1 << bit)
    assert decode(bytes(data), SIMULATED["gfx1151"], "k")
    with pytest.raises(MfmasimError, match=f"reserved {named} of rsrc1 on gfx1170"):
        decode(bytes(data), SIMULATED["gfx1170"], "k")


WAITS = """
define amdgpu_kernel void @product(ptr addrspace(1) %p) {{
  %a = load <8 x half>, ptr addrspace(1) %p
  %c = call <8 x half> {wmma}(<8 x half> %a, <8 x half> %a, <8 x half> %a, i1 false)
  %d = call <8 x half> {wmma}({factors}, i1 false)
  store <8 x half> %d, ptr addrspace(1) %p
  ret void
}}
"""


@pytest.mark.oracle
@pytest.mark.parametrize(("factors", "needs"), [("caa", 1), ("aca", 1), ("aac", 0)])
def test_waits_between_matrix_instructions_of_gfx1170(factors, needs, tmp_path):
    """LLVM 24 inserts a vector instruction where D is the next A or B; without it, that is a finding."""
    names = ", ".join(f"<8 x half> %{name}" for name in factors)
    ir = WAITS.format(wmma="@llvm.amdgcn.wmma.f16.16x16x16.f16.v8f16.v8f16", factors=names)
    code = mfmasim.load(linked(later_llvm.compiled(ir, "gfx1170"), tmp_path))
    between = [instruction.name for instruction in code["product"].instructions]
    first, second = (at for at, name in enumerate(between) if name == "v_wmma_f16_16x16x16_f16")
    assert between[first + 1 : second].count("v_nop") == needs == second - first - 1
    registers = {"a": "v[0:3]", "c": "v[4:7]"}
    line = "v_wmma_f16_16x16x16_f16 v[4:7], v[0:3], v[0:3], v[0:3]\n  v_wmma_f16_16x16x16_f16 v[8:11], "
    body = "  v_mov_b32 v0, 0\n  v_mov_b32 v1, 0\n  v_mov_b32 v2, 0\n  v_mov_b32 v3, 0\n  " + line
    body += ", ".join(registers[name] for name in factors) + "\n  s_endpgm"
    report = mfmasim.device("sim").launch(
        harness.kernel(body, "gfx1170"), grid=1, block=32, args=[None] * 2, checks="hazards"
    )
    assert len(report.findings) == needs
