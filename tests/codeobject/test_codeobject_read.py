"""Linked code objects: what is in them, by architecture and version."""

from __future__ import annotations

import hashlib
import pickle
import re

import pytest

from mfmasim.codeobject import load, read
from mfmasim.codeobject.descriptor import USER_SGPRS
from mfmasim.errors import MfmasimError
from tests.codeobject.codeobject_builds import ARCHITECTURES, assemble, assembly, build, build_with_clang, run
from tests.codeobject.plain_yaml import parse
from tests.llvm import tool

NAMES = ["gemm", "ids", "structure", "shape", "shape", "ns::only", "sized", "deep", "blocks"]


@pytest.fixture(scope="module")
def code():
    return read(build("gfx942"), "kernels.hsaco")


@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_every_architecture_with_data(arch):
    found = read(build(arch), "kernels.hsaco", arch)
    assert found.arch.name == found.target_id == arch
    assert len(found) == len(NAMES)
    wave = found.arch.wave_sizes[0]
    for kernel in found.kernels.values():
        assert kernel.wave == kernel.metadata.wavefront_size == wave
        assert kernel.symbol == f"{kernel.name}.kd"
        assert kernel.entry % 256 == 0
        assert 0 < kernel.size < 4096
        assert len(found.code(kernel)) == kernel.size
        # s_endpgm is the last instruction, and 0xBF810000 or 0xBFB00000 on every architecture.
        assert found.code(kernel)[-4:] in {b"\0\0\x81\xbf", b"\0\0\xb0\xbf"}, kernel.name
        assert kernel.metadata.vgpr_count <= kernel.descriptor.vgpr_count


def test_code_without_a_size_ends_at_the_next_kernel():
    """Assembly by hand often has no .size: one kernel's registers say nothing of another's instructions."""
    text = assembly("gfx942")
    sized, found = (read(assemble(one, "gfx942")) for one in (text, re.sub(r"(?m)^\s*\.size\s.*$", "", text)))
    entries = sorted(kernel.entry for kernel in found.kernels.values())
    assert len(entries) == len(NAMES)
    ends = [*entries[1:], next(one.end for one in found.segments if one.executable)]
    for kernel, declared in zip(found.kernels.values(), sized.kernels.values(), strict=True):
        assert kernel.entry == declared.entry
        assert kernel.size >= declared.size
        assert kernel.size == ends[entries.index(kernel.entry)] - kernel.entry


def test_wave_size_is_the_kernels(code):
    assert read(build("gfx1201", "-mwavefrontsize64")).kernel("gemm").wave == 64
    assert read(build("gfx1201")).kernel("gemm").wave == 32
    assert code["gemm"].wave == 64


@pytest.mark.parametrize("version", [4, 5, 6])
def test_code_object_versions(version):
    found = read(build("gfx942", f"-mcode-object-version={version}"))
    assert found.abi_version == version
    assert len(found) == len(NAMES)


@pytest.mark.parametrize("target", ["gfx942:sramecc+:xnack-", "gfx90a:sramecc-", "gfx90a:xnack+", "gfx908:sramecc+"])
def test_target_features(target):
    found = read(build(target))
    assert found.target_id == target
    assert found.metadata["amdhsa.target"].endswith(f"--{target}")
    opposite = target[:-1] + ("-" if target[-1] == "+" else "+")
    assert read(found.data, arch=target).target_id == target
    assert read(found.data, arch=found.arch).target_id == target
    with pytest.raises(MfmasimError, match=re.escape(f"for {target}, {opposite} was requested")):
        read(found.data, arch=opposite)


def test_names_order_and_lookup(code):
    from mfmasim.codeobject.names import demangle

    assert [demangle(name) for name in code.kernels] == NAMES
    assert code["gemm"] is code["_Z4gemmPKfS0_Pfi"] is code.kernel("gemm")
    assert code["only"] is code["ns::only"]
    with pytest.raises(MfmasimError, match="'shape' is ambiguous; give one of shape<float, 3>, shape<_Float16, -4>"):
        code["shape"]
    with pytest.raises(MfmasimError, match=r"unknown kernel 'gem' in kernels.hsaco; did you mean 'gemm'\?"):
        code["gem"]


def test_arguments(code):
    gemm = code["gemm"]
    assert [(arg.offset, arg.size, arg.value_kind) for arg in gemm.args] == [
        (0, 8, "global_buffer"),
        (8, 8, "global_buffer"),
        (16, 8, "global_buffer"),
        (24, 4, "by_value"),
    ]
    assert gemm.args[1].actual_access == "read_only"
    assert gemm.args[0].address_space == "global"
    assert gemm.kernarg_size == 28
    assert [(arg.offset, arg.size) for arg in code["structure"].args] == [(0, 16), (16, 1), (24, 8)]
    blocks = code["blocks"]
    assert [arg.value_kind for arg in blocks.explicit_args] == ["global_buffer"]
    hidden = {arg.value_kind: (arg.offset, arg.size) for arg in blocks.hidden_args}
    assert hidden["hidden_block_count_x"] == (8, 4)
    assert hidden["hidden_group_size_z"] == (24, 2)
    assert hidden["hidden_remainder_x"] == (26, 2)
    assert hidden["hidden_grid_dims"] == (72, 2)
    assert blocks.kernarg_size == 264


def test_launch_state(code):
    gemm = code["gemm"].descriptor
    assert gemm.user_sgprs == (("kernarg_segment_ptr", 2),)
    assert gemm.user_sgpr_count == 2
    assert (gemm.workgroup_ids, gemm.workitem_id_mode) == ((True, False, False), 0)
    assert (gemm.float_mode, gemm.dx10_clamp, gemm.ieee_mode, gemm.fp16_overflow) == (0xF0, True, True, False)
    assert gemm.group_segment_fixed_size == code["gemm"].metadata.group_segment_fixed_size == 256
    assert (code["ids"].descriptor.workgroup_ids, code["ids"].descriptor.workitem_id_mode) == ((True, True, True), 2)
    deep = code["deep"]
    assert deep.metadata.uses_dynamic_stack
    assert deep.descriptor.uses_dynamic_stack == 1
    assert deep.private_segment_fixed_size == deep.metadata.private_segment_fixed_size > 0
    assert code["sized"].metadata.max_flat_workgroup_size == 64
    newer = read(build("gfx1201"))["gemm"].descriptor
    assert (newer.float_mode, newer.dx10_clamp, newer.ieee_mode) == (0xF0, False, False)
    with pytest.raises(AttributeError, match="no kernel descriptor field 'enable_ieee_mode'"):
        _ = newer.enable_ieee_mode


def test_kernarg_preload():
    preloaded = read(build("gfx942", "-mllvm", "-amdgpu-kernarg-preload-count=8"))["gemm"].descriptor
    assert preloaded.kernarg_preload_length == 7
    assert preloaded.kernarg_preload_offset == 0
    assert preloaded.user_sgprs == (("kernarg_segment_ptr", 2), ("kernarg_preload", 7))
    assert preloaded.user_sgpr_count == 9


def test_required_workgroup_size():
    text = assembly("gfx942")
    mark = "    .max_flat_workgroup_size: 64\n"
    assert text.count(mark) == 1
    size = "    .reqd_workgroup_size:\n      - 8\n      - 4\n      - 2\n"
    assert read(assemble(text.replace(mark, mark + size), "gfx942"))["sized"].metadata.reqd_workgroup_size == (8, 4, 2)


def test_segments_hold_the_file(code):
    assert [one.vaddr for one in code.segments] == sorted(one.vaddr for one in code.segments)
    assert any(one.flags == "RX" for one in code.segments)
    for one in code.segments:
        assert one.data in code.data
        assert len(one.data) <= one.memsize
    zero = code.segments[-1]
    assert code.read_bytes(zero.end - 4, 4) == b"\0\0\0\0"
    assert code.read_bytes(code.symbols["table"].address, 16) == bytes([1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 4, 0, 0, 0])
    with pytest.raises(MfmasimError, match="4 bytes at 0x7fffffff are in no loaded segment"):
        code.read_bytes(0x7FFFFFFF, 4)


def test_relocated_pointers(code):
    (relocation,) = code.relocations
    pointer, table = code.symbols["pointer"], code.symbols["table"]
    assert (relocation.address, relocation.kind) == (pointer.address, "R_AMDGPU_RELATIVE64")
    base = 0x7F00_1234_0000
    moved = code.segments_at(base)
    home = next(one for one in moved if one.vaddr <= base + pointer.address < one.end)
    at = base + pointer.address - home.vaddr
    assert int.from_bytes(home.data[at : at + 8], "little") == base + table.address + 8
    changed = sum(a.data != b.data for a, b in zip(code.segments, moved, strict=True))
    assert changed == 1


def test_relocations_by_symbol():
    # With default visibility another file could override the variable, so the linker names it.
    text = assembly("gfx942").replace("\t.protected\ttable", "")
    found = read(assemble(text, "gfx942"))
    (relocation,) = found.relocations
    assert relocation.kind == "R_AMDGPU_ABS64"
    assert relocation.value == found.symbols["table"].address + 8


@pytest.mark.parametrize(("flag", "name", "count"), USER_SGPRS)
def test_user_sgprs_as_the_assembler_counts_them(flag, name, count):
    directive = flag.replace("enable_sgpr_", ".amdhsa_user_sgpr_")
    text = assembly("gfx908")
    block = text.index(".amdhsa_kernel ids")
    before, kernel = text[:block], text[block:]
    kernel = re.sub(r"\t\t\.amdhsa_user_sgpr_(?!count).*\n", "", kernel.partition(".end_amdhsa_kernel")[0]) + (
        f"\t\t{directive} 1\n\t.end_amdhsa_kernel" + kernel.partition(".end_amdhsa_kernel")[2]
    )
    kernel = re.sub(r"\t\t\.amdhsa_user_sgpr_count.*\n", "", kernel, count=1)
    descriptor = read(assemble(before + kernel, "gfx908"))["ids"].descriptor
    assert descriptor.user_sgprs == ((name, count),)
    assert descriptor.user_sgpr_count == count


def test_identity(code, tmp_path):
    assert code.sha256 == hashlib.sha256(build("gfx942")).hexdigest()
    path = tmp_path / "kernels.hsaco"
    path.write_bytes(code.data)
    again = load(path)
    assert (again.sha256, again.name) == (code.sha256, str(path))
    copy = pickle.loads(pickle.dumps(code))
    assert copy.kernels.keys() == code.kernels.keys()
    assert copy["gemm"].descriptor.fields == code["gemm"].descriptor.fields
    assert repr(code).startswith("CodeObject('kernels.hsaco', gfx942, kernels: _Z4gemm")


def test_printf_strings():
    text = assembly("gfx942").replace("amdhsa.target:", "amdhsa.printf:\n  - '1:1:4:%d\\n'\namdhsa.target:")
    assert read(assemble(text, "gfx942")).printf == ("1:1:4:%d\\n",)


def test_without_section_headers():
    # A loader needs none; some people strip them.
    data = bytearray(build("gfx942"))
    data[40:48] = bytes(8)
    data[58:64] = bytes(6)
    found = read(bytes(data))
    assert list(found.kernels) == list(read(build("gfx942")).kernels)
    assert len(found.relocations) == 1
    assert len(found.line_table()) == 0


@pytest.mark.oracle
@pytest.mark.parametrize("version", [4, 5, 6])
@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_metadata_as_readelf_prints_it(arch, version, tmp_path):
    data = build_with_clang(arch, f"-mcode-object-version={version}")
    path = tmp_path / "k.hsaco"
    path.write_bytes(data)
    printed = run(tool("llvm-readelf"), "--notes", path)
    theirs = parse(printed[printed.index("---\n") + 4 : printed.index("\n...")])
    found = read(data)
    compared = 0
    assert len(theirs["amdhsa.kernels"]) == len(found)
    for kernel, raw in zip(found.kernels.values(), theirs["amdhsa.kernels"], strict=True):
        assert (kernel.name, kernel.symbol) == (raw[".name"], raw[".symbol"])
        for key, value in raw.items():
            if key not in {".args", ".name", ".symbol", ".language_version"}:
                assert getattr(kernel.metadata, key[1:]) == value, key
                compared += 1
        for ours, arg in zip(kernel.args, raw.get(".args", []), strict=True):
            for key, value in arg.items():
                assert getattr(ours, key[1:]) == value, key
                compared += 1
    assert compared > 150
    headers = run(tool("llvm-readelf"), "-hl", path)
    loads = re.findall(r"LOAD\s+\S+ (\S+) \S+ (\S+) (\S+) ([RWE ]{3})", headers)
    assert len(loads) == len(found.segments) == 4
    for ours, (vaddr, filesz, memsz, flags) in zip(found.segments, loads, strict=True):
        assert (ours.vaddr, len(ours.data), ours.memsize) == (int(vaddr, 16), int(filesz, 16), int(memsz, 16))
        assert ours.flags == flags.replace(" ", "").replace("E", "X")
    symbols = run(tool("llvm-readelf"), "--dyn-syms", path)
    rows = re.findall(r"\d+: ([0-9a-f]{16})\s+(\d+) (\w+)\s+\w+\s+\w+\s+\d+ (\S+)", symbols)
    assert {name: (int(value, 16), int(size), kind.lower()) for value, size, kind, name in rows} == {
        one.name: (one.address, one.size, one.kind) for one in found.symbols.values()
    }
