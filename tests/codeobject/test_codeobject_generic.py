"""Generic targets: from source through a run, on each processor, and what is refused by name."""

from __future__ import annotations

import struct

import numpy as np
import pytest

import mfmasim
from mfmasim.architectures import ARCHITECTURES, GENERICS, target
from mfmasim.codeobject import read
from mfmasim.codeobject.target import read_target
from mfmasim.errors import MfmasimError
from mfmasim.isa.family import family
from tests.codeobject.codeobject_builds import build, build_with_clang
from tests.codeobject.test_codeobject_bundles import device, pack
from tests.isa import test_isa_rdna, test_isa_rows
from tests.isa.llvm_oracle import disassemble
from tests.llvm import tool
from tests.machine import harness
from tests.toolchain.toolchain_helpers import SOURCES

RUNS = [
    ("gfx9-4-generic", None, "gfx942"), ("gfx9-4-generic", "gfx950", "gfx950"),
    ("gfx10-3-generic", None, "gfx1030"), ("gfx10-3-generic", "gfx1032", "gfx1032"),
    ("gfx11-generic", None, "gfx1100"), ("gfx11-generic", "gfx1151", "gfx1151"),
    ("gfx12-generic", None, "gfx1200"), ("gfx12-generic", "gfx1201", "gfx1201"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "on", "processor"), RUNS)
def test_from_source_through_a_run(name, on, processor):
    made = mfmasim.compile(SOURCES / "stack.hip", arch=name)
    code = mfmasim.load(made.object.data, arch=on)
    assert (code.arch.name, code.arch.generic, code.object.target_id) == (processor, GENERICS[name], name)
    assert f"for {name}" in repr(code)
    out = np.zeros(256, np.int32)
    report = mfmasim.device("sim").launch(code["stack"], grid=1, block=(64, 4), args=[out, np.int32(33)], checks="all")
    item = np.arange(256)
    assert (out == sum(item * ((7 * i + item) % 40) for i in range(33))).all()
    assert (report.arch, report.findings) == (processor, [])


@pytest.mark.oracle
@pytest.mark.parametrize("name", ["gfx9-4-generic", "gfx10-3-generic", "gfx11-generic", "gfx12-generic"])
def test_objects_of_clang(name):
    assert read(build_with_clang(name)).target_id == name
    assert read(build(name)).data != b""


def test_lookup():
    with pytest.raises(MfmasimError, match="gfx11-generic is a generic target, not an architecture; it is for gfx1100"):
        mfmasim.arch("gfx11-generic")
    with pytest.raises(MfmasimError, match="gfx13-generic code does not run on a simulated GPU; it is for gfx1310"):
        target("gfx13-generic")
    with pytest.raises(MfmasimError, match="gfx9-4-generic code does not run on gfx90a"):
        target("gfx9-4-generic", "gfx90a")
    with pytest.raises(MfmasimError, match="gfx10-1-generic code does not run on a simulated GPU; it is for gfx1010"):
        read(build("gfx10-1-generic"))
    with pytest.raises(MfmasimError, match="code object for gfx11-generic, gfx1201 was requested"):
        read(build("gfx11-generic"), arch="gfx1201")


def test_bundles_prefer_the_processor_itself():
    own, generic = build("gfx1100"), build("gfx11-generic")
    both = pack({device("gfx11-generic"): generic, device("gfx1100"): own})
    assert read(both, arch="gfx1100").data == own
    for arch in ("gfx1151", "gfx11-generic"):
        found = read(both, arch=arch)
        assert (found.data, found.arch.generic) == (generic, GENERICS["gfx11-generic"])
    assert read(both, arch="gfx1151").arch.name == "gfx1151"
    with pytest.raises(MfmasimError, match="no code object for gfx1200; the bundle holds gfx11-generic, gfx1100"):
        read(both, arch="gfx1200")
    features = pack(
        {device("gfx9-4-generic"): build("gfx9-4-generic"), device("gfx942:xnack-"): build("gfx942:xnack-")}
    )
    assert read(features, arch="gfx942").target_id == "gfx942:xnack-"
    assert read(features, arch="gfx942:xnack+").target_id == "gfx9-4-generic"


def test_generic_versions():
    data = bytearray(build("gfx11-generic"))
    for version in (0, 2):
        data[51] = version
        with pytest.raises(
            MfmasimError, match=f"generic version {version} of gfx11-generic is not supported; allowed: 1"
        ):
            read(bytes(data))
    data = bytearray(build("gfx11-generic"))
    data[8] = 3
    with pytest.raises(MfmasimError, match="gfx11-generic in a version 5 code object, not 6"):
        read(bytes(data))


@pytest.mark.parametrize(
    ("name", "on", "line"),
    [
        ("gfx9-4-generic", "gfx942", "v_cvt_f32_fp8 v1, v0"),
        ("gfx9-4-generic", "gfx942", "v_mfma_f32_16x16x8_xf32 a[0:3], v[0:1], v[2:3], a[0:3]"),
        ("gfx9-4-generic", "gfx950", "v_prng_b32 v1, v0"),
        ("gfx9-4-generic", "gfx950", "v_smfmac_f32_16x16x64_bf8_fp8 v[0:3], v[4:5], v[8:11], v12"),
        ("gfx11-generic", "gfx1151", "s_add_f32 s0, s1, s2"),
    ],
)
def test_instructions_outside_the_target_are_refused_by_name(name, on, line):
    """Code for a processor whose ELF header then says the generic target."""
    good = harness.assemble(harness.source(f"  {line}\n  s_endpgm", on, ""), on)
    data = bytearray(good.replace(f"--{on}".encode().ljust(8), f"--{on}".encode()))
    flags = GENERICS[name].elf_machine | 1 << 24 | (0x500 if name == "gfx9-4-generic" else 0)
    data[48:52] = struct.pack("<I", flags)
    data[8] = 4
    data = bytes(data).replace(b"amdhsa.target", b"amdhsa.nothin")
    assert mfmasim.load(good)["test"].instructions
    kernel = mfmasim.load(data, arch=on)["test"]
    with pytest.raises(MfmasimError, match=f"{line.split()[0]} is not available on {name}"):
        _ = kernel.instructions
    with pytest.raises(MfmasimError, match=f"{line.split()[0]} is not available on {name}"):
        mfmasim.device("sim").launch(kernel, grid=1, block=32, args=[])


@pytest.mark.oracle
@pytest.mark.parametrize("name", ["gfx9-4-generic", "gfx11-generic", "gfx12-generic"])
def test_the_instructions_of_a_generic_target_are_llvms(name):
    """What some processor has and LLVM's assembler takes for none of its forms is withheld, and nothing else."""
    tool("llvm-mc")
    processors = [processor for processor in GENERICS[name].processors if processor in ARCHITECTURES]
    taken, refused = set(), set()
    for processor in processors:
        rdna = ARCHITECTURES[processor].wave_sizes[0] == 32
        ours, _ = test_isa_rdna.samples(processor, 32) if rdna else test_isa_rows.samples(processor)
        texts = disassemble([code for _, _, code, _ in ours], name)
        for (*_, instruction), text in zip(ours, texts, strict=True):
            (refused if text is None else taken).add(instruction.name)
    withheld = set().union(*(family(target(name, processor)).withheld for processor in processors))
    assert refused - taken == withheld
    assert len(taken) >= 1000


def stamped(arch, machine, *, generic=0):
    """An object of clang 22 with the ELF header of another target, which its metadata do not name."""
    data = bytearray(build(arch))
    flags = struct.unpack_from("<I", data, 48)[0] & 0xFFFF00 | machine | generic << 24
    struct.pack_into("<I", data, 48, flags)
    old = f"amdgcn-amd-amdhsa--{arch}".encode()
    assert data.count(old) == 1
    return bytes(data).replace(old, b"nothing".ljust(len(old)))


@pytest.mark.parametrize(
    ("arch", "machine", "target_id", "on"),
    [("gfx1250", 0x5B, "gfx12-5-generic", "gfx1250"), ("gfx1250", 0x5B, "gfx12-5-generic", "gfx1251")],
)
def test_generic_targets_that_llvm_22_does_not_write(arch, machine, target_id, on):
    code = read(stamped(arch, machine, generic=1), arch=on)
    assert (code.target_id, code.arch.name, code.arch.target) == (target_id, on, target_id)
    withheld = family(code.arch).withheld
    assert {"v_swmmac_f32_16x16x64_f16", "v_sad_u8", "v_cubeid_f32", "v_lerp_u8", "v_mqsad_pk_u16_u8"} <= withheld
    assert "v_wmma_f32_16x16x128_fp8_fp8" not in withheld


@pytest.mark.parametrize(
    ("machine", "generic", "message"),
    [
        (0x63, 1, "gfx13-generic code does not run on a simulated GPU; it is for gfx1310"),
        (0x50, 0, "an unknown processor .EF_AMDGPU_MACH 0x50.; known: .*gfx1250-strict, and .*gfx12-5-generic"),
    ],
)
def test_what_is_not_simulated_is_refused_by_name(machine, generic, message):
    with pytest.raises(MfmasimError, match=message):
        read(stamped("gfx1250", machine, generic=generic))


TRIPLES = [
    ("gfx950", 0x4F, "amdgpu9.50-amd-amdhsa--gfx950"),
    ("gfx942", 0x74C, "amdgpu9.42-amd-amdhsa--gfx942:xnack+"),
    ("gfx1250", 0x49, "amdgpu12.50-amd-amdhsa--gfx1250"),
    ("gfx1250-strict", 0xEB, "amdgpu12.50s-amd-amdhsa--gfx1250-strict"),
    ("gfx9-4-generic", 0x100005F, "amdgpu9.4-amd-amdhsa--gfx9-4-generic"),
]


@pytest.mark.parametrize(("processor", "flags", "target"), TRIPLES)
def test_triples_of_llvm_23(processor, flags, target):
    """LLVM 23 names the processor in the triple, too; what follows it decides."""
    found = read_target(flags, 6, {"amdhsa.target": target}, "", "k")
    assert (found.processor, found.target_id) == (processor, target.rpartition("--")[2])
    with pytest.raises(MfmasimError, match=f"the ELF header says {processor}, its notes say gfx90a"):
        read_target(flags, 6, {"amdhsa.target": "amdgpu9.0a-amd-amdhsa--gfx90a"}, "", "k")


def test_bundles_of_llvm_23():
    entries = {f"hipv4-amdgpu9.50-amd-amdhsa--{arch}": build(arch) for arch in ("gfx942", "gfx950")}
    for arch in ("gfx942", "gfx950"):
        assert read(pack(entries), arch=arch).arch.name == arch


def test_features_that_no_target_id_names():
    """LLVM 23 writes that gfx1250 replays, which every gfx1250 does; a choice of gfx942 stays one."""
    data = bytearray(build("gfx1250"))
    flags = struct.unpack_from("<I", data, 48)[0]
    struct.pack_into("<I", data, 48, flags & ~0xF00 | 0xF00)
    assert read(bytes(data)).target_id == "gfx1250"
    assert read(bytes(data), arch="gfx1250").target_id == "gfx1250"
    assert read(build("gfx942:xnack+")).target_id == "gfx942:xnack+"
