"""Versions 2 and 3: the same kernel, loaded and run, and what is refused."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import mfmasim
from mfmasim.codeobject import read
from mfmasim.errors import MfmasimError
from tests.codeobject.codeobject_builds import build
from tests.codeobject.old_versions import METADATA_3, PROPERTIES, YAML, header, version2, version3


def refusal(data, **options):
    with pytest.raises(MfmasimError) as caught:
        read(data, "old.hsaco", **options)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize(("data", "version"), [(version2, 2), (version3, 3)])
def test_runs(data, version):
    code = mfmasim.load(data())
    assert (code.object.abi_version, code.arch.name) == (version, "gfx908")
    kernel = code["scale"]
    assert [arg.name for arg in kernel.args] == ["out", "factor"]
    assert [ins.name for ins in kernel.instructions][-1] == "s_endpgm"
    assert kernel.info.descriptor.user_sgprs == (("private_segment_buffer", 4), ("kernarg_segment_ptr", 2))
    out = np.zeros(192, np.uint32)
    report = mfmasim.device("sim").launch(kernel, grid=3, block=64, args=[out, np.uint32(5)], checks="all")
    assert (out == 5 * np.arange(192)).all()
    assert not report.findings


def test_metadata_of_version_2_in_the_form_of_later_ones():
    code = read(version2())
    kernel = code["scale"]
    assert [(a.offset, a.size, a.value_kind) for a in kernel.args] == [
        (0, 8, "global_buffer"),
        (8, 4, "by_value"),
        (16, 8, "hidden_global_offset_x"),
        (24, 8, "hidden_multigrid_sync_arg"),
    ]
    assert (kernel.args[0].type_name, kernel.args[0].address_space, kernel.args[0].is_const) == (
        "uint*",
        "global",
        True,
    )
    assert kernel.metadata.reqd_workgroup_size == (64, 1, 1)
    assert (kernel.metadata.vgpr_count, kernel.metadata.language) == (8, "OpenCL C")
    assert code.printf == ("1:1:4:factor %d\\n",)
    assert kernel.entry == kernel.descriptor_address + 256


@pytest.mark.parametrize(
    ("data", "target"),
    [
        (lambda: version2(flags=0x1), "gfx908:xnack+"),
        (lambda: version2(flags=0), "gfx908:xnack-"),
        (lambda: version2(flags=0x230), "gfx908:sramecc+:xnack-"),
        (lambda: version3(flags=0x130), "gfx908:sramecc-:xnack+"),
        (lambda: version3(flags=0x330), "gfx908:sramecc+:xnack+"),
    ],
)
def test_target_features(data, target):
    assert read(data()).target_id == target


def test_header_and_notes_have_to_name_one_processor():
    assert refusal(version2(flags=0x3F)).endswith(
        "contradictory code object: the ELF header says gfx90a, its notes say gfx908"
    )
    data = build("gfx942").replace(b"amdgcn-amd-amdhsa--gfx942", b"amdgcn-amd-amdhsa--gfx950")
    assert "the ELF header says gfx942, its notes say gfx950" in refusal(data)


@pytest.mark.parametrize(
    ("yaml", "reason"),
    [
        ("Kernels: [", "truncated or corrupt kernel metadata"),
        (b"\xff\xfe\x00", "truncated or corrupt kernel metadata"),
        ("[1, 2]", "is not a map of names"),
        ("Kernels: [&a {Name: k}, *a]", "ValueError: aliases"),
        ("Printf: [[1]]", "Printf is not a list of texts"),
        ("Kernels: 4", "Kernels is not a list"),
        ("[" * 5000, "truncated or corrupt kernel metadata"),
        (YAML.replace("Size:            4", "Size:            four"), "Size is 'four', not a number"),
        (YAML.replace("Align:           4", "Align:           3"), "Align is 3, not a power of two"),
        (YAML.replace("Align:           4", "Align:           0"), "Align is 0, not a power of two"),
        (YAML.replace("ValueKind:       ByValue", "ValueKind:       [ByValue]"), "ValueKind is not a word"),
        (YAML.replace("Name:            scale", "Nam: scale"), "a kernel without .name"),
        (YAML.replace("Name:            scale", "Name:            scald"), "symbol 'scald' is not defined"),
        ("x: !!python/object/apply:os.system [exit]\nKernels: 4", "Kernels is not a list"),
        # pytest puts the test's name into the environment, which takes no megabyte.
        pytest.param(b"#" * (1 << 20) + b"#", "kernel metadata of 1048577 bytes; at most 1048576 are read", id="large"),
    ],
)
def test_damaged_metadata_of_version_2(yaml, reason):
    assert reason in refusal(version2(yaml))


def test_another_size_of_waves_in_metadata_of_version_2_is_a_note():
    (kernel,) = read(version2(YAML.replace("WavefrontSize:   64", "WavefrontSize:   32"))).kernels.values()
    assert any("waves of 64: the descriptor decides" in note for note in kernel.disagreements)


@pytest.mark.parametrize(
    ("head", "reason"),
    [
        (header(PROPERTIES | 1 << 7), "requests SGPRs that are not supported"),
        (header(wave=5), "waves of 2 ** 5 lanes"),
        (header(entry=1 << 40), "no code at entry"),
        (header(entry=250), "no code at entry"),
    ],
)
def test_damaged_headers_of_version_2(head, reason):
    assert reason in refusal(version2(head=head))


def test_damaged_notes_of_version_2():
    data = version2()
    assert "no AMD notes of metadata and instruction set" in refusal(data.replace(b"AMD\0", b"AMX\0"))
    at = data.index(b"\x0a\0\0\0AMD\0")
    assert "truncated or corrupt note" in refusal(data[: at - 4] + b"\xff\xff\0\0" + data[at:])


def test_version_2_has_no_place_for_a_unified_register_file():
    assert "cannot say where the AGPRs of gfx90a begin" in refusal(version2(isa=(9, 0, 10), flags=0, arch="gfx90a"))
    assert "code object for gfx900; known: gfx908" in refusal(version2(isa=(9, 0, 0), flags=0))


def test_without_a_reader_of_yaml(monkeypatch):
    monkeypatch.setitem(sys.modules, "yaml", None)
    assert refusal(version2()).endswith("is YAML; to read it: pip install PyYAML")


def test_unknown_flags_of_version_3():
    assert "unknown e_flags 0x400 in a version 3 code object" in refusal(version3(flags=0x530))
    damaged = METADATA_3 | {"amdhsa.kernels": 3}
    assert "amdhsa.kernels is not a list" in refusal(version3(damaged))
