"""Processors that have an architecture's instruction set: what LLVM says of each, and code for each through a run."""

import re
import subprocess

import numpy as np
import pytest

import mfmasim
from mfmasim.architectures import ARCHITECTURES, GENERICS, SIMULATED
from mfmasim.architectures.processors import PROCESSORS
from mfmasim.errors import MfmasimError
from mfmasim.isa.family import family
from tests.codeobject.codeobject_builds import build_with_clang
from tests.isa import later_llvm, test_isa_rdna, test_isa_rows
from tests.isa.llvm_oracle import disassemble
from tests.llvm import tool
from tests.toolchain.toolchain_helpers import SOURCES

LATER = {"gfx1250-strict", *later_llvm.PROCESSORS}
"""Processors that LLVM 22 does not know."""
KNOWN = [name for name in PROCESSORS if name not in LATER]
BASES = sorted({PROCESSORS[name].isa for name in KNOWN})


@pytest.mark.parametrize("name", [*KNOWN, "gfx9-generic"])
def test_from_source_through_a_run(name):
    made = mfmasim.compile(SOURCES / "stack.hip", arch=name)
    code = mfmasim.load(made.object.data)
    processor = "gfx906" if name in GENERICS else name
    assert (code.object.target_id, code.arch.name) == (name, processor)
    out = np.zeros(256, np.int32)
    report = mfmasim.device("sim").launch(code["stack"], grid=1, block=(64, 4), args=[out, np.int32(33)], checks="all")
    item = np.arange(256)
    assert (out == sum(item * ((7 * i + item) % 40) for i in range(33))).all()
    assert report.arch == processor
    assert not [finding for finding in report.findings if finding.severity != "info"]


def test_what_another_processor_compiled_is_refused():
    data = mfmasim.compile(SOURCES / "stack.hip", arch="gfx1101").object.data
    with pytest.raises(MfmasimError, match="code object for gfx1101, gfx1100 was requested"):
        mfmasim.load(data, arch="gfx1100")


@pytest.mark.oracle
@pytest.mark.parametrize("name", sorted(LATER))
def test_a_compiler_that_does_not_know_a_processor_says_so(name):
    tool("clang")
    with pytest.raises(MfmasimError, match=f"unknown architecture '{name}' for clang.* needs a later one"):
        mfmasim.compile(SOURCES / "stack.hip", arch=name)


def test_operations_that_a_processor_lacks():
    assert mfmasim.instructions("gfx906") == []
    with pytest.raises(MfmasimError, match="unknown matrix instruction 'v_mfma_f32_32x32x1f32' on gfx906"):
        mfmasim.instruction("gfx906", "v_mfma_f32_32x32x1f32")
    assert mfmasim.instructions("gfx1102") == mfmasim.instructions("gfx1100")
    assert mfmasim.instruction("gfx1102", "v_wmma_f32_16x16x16_f16").k == 16


@pytest.mark.oracle
@pytest.mark.parametrize("name", KNOWN)
def test_numbers_and_occupancy_are_llvms(name, tmp_path):
    """EF_AMDGPU_MACH, and how many waves of 128 registers LLVM counts on a SIMD."""
    tool("clang")
    assert mfmasim.load(build_with_clang(name)).arch is SIMULATED[name]
    source = tmp_path / "registers.hip"
    source.write_text(
        'extern "C" __attribute__((global)) void k(int *p) { asm volatile("v_mov_b32 v127, 0" ::: "v127"); }'
    )
    flags = f"-x hip --offload-arch={name} --cuda-device-only -nogpuinc -nogpulib -S -o -".split()
    text = subprocess.run([tool("clang"), *flags, source], capture_output=True, text=True, check=True).stdout
    lanes, registers, granule = SIMULATED[name].simd.vgprs[0]
    assert lanes == SIMULATED[name].wave_sizes[0]
    waves = registers // (-(-128 // granule) * granule)
    assert int(re.search(r"; Occupancy: (\d+)", text)[1]) == waves


OCCUPANCY = """
define amdgpu_kernel void @k(ptr addrspace(1) %p) {
  call void asm sideeffect "v_mov_b32 v127, 0", "~{v127}"()
  ret void
}
"""


@pytest.mark.oracle
@pytest.mark.parametrize("name", later_llvm.PROCESSORS)
def test_occupancy_of_later_processors_is_llvms(name):
    text = later_llvm.compiled(OCCUPANCY, name, binary=False).decode()
    _, registers, granule = SIMULATED[name].simd.vgprs[0]
    assert int(re.search(r"; Occupancy: (\d+)", text)[1]) == registers // (-(-128 // granule) * granule)
    assert "amdhsa_dx10_clamp 1" in text or not SIMULATED[name].floats.mode_bits


@pytest.mark.oracle
@pytest.mark.parametrize("base", BASES)
def test_the_instructions_are_llvms(base):
    """LLVM's assembler takes all of the architecture's instructions but those that the processor lacks."""
    tool("llvm-mc")
    rdna = ARCHITECTURES[base].wave_sizes[0] == 32
    ours, _ = test_isa_rdna.samples(base, 32) if rdna else test_isa_rows.samples(base)
    codes, names = [code for _, _, code, _ in ours], [instruction.name for *_, instruction in ours]
    assert len(set(names)) >= 1000
    for name, row in PROCESSORS.items():
        if row.isa == base and name not in LATER:
            taken = {one for one, text in zip(names, disassemble(codes, name), strict=True) if text is not None}
            assert set(names) - taken == family(name).withheld & set(names)


@pytest.mark.oracle
def test_the_instructions_of_gfx9_are_llvms():
    tool("llvm-mc")
    ours, _ = test_isa_rows.samples("gfx908")
    texts = [disassemble([code for _, _, code, _ in ours], name) for name in ("gfx906", "gfx9-generic")]
    own, all_have = ({i.name for (*_, i), text in zip(ours, those, strict=True) if text is not None} for those in texts)
    assert own - all_have == GENERICS["gfx9-generic"].without
