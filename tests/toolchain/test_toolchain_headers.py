"""Our headers: every group of every header compiles for every architecture, with both clangs to the same bytes."""

import re

import pytest

from mfmasim import resources
from mfmasim.errors import MfmasimError
from mfmasim.toolchain import compile_hip
from tests.toolchain.toolchain_helpers import ARCHITECTURES, SOURCES, disassembly, kernels, other_clang, section

NAMES = ("runtime", "fp16", "bf16", "fp8", "ocp", "small")
HIP = resources.HEADERS / "hip"


def kernels_named_in(source):
    text = source.read_text()
    return set(re.findall(r"__global__\s+void\s+(?:__launch_bounds__\([^)]*\)\s+)?(\w+)\(", text))


@pytest.mark.parametrize("arch", ["gfx942", "gfx950"])
@pytest.mark.parametrize("header", NAMES)
def test_each_header_stands_alone(header, arch):
    source = SOURCES / f"{header}.hip"
    done = compile_hip(source, arch, "ziglang")
    assert done.warnings == ""
    found = kernels(done.data)
    named = kernels_named_in(source) - ({"scaled"} if arch != "gfx950" else set())
    assert len(named) >= 2
    assert all(any(name in symbol for symbol in found) for name in named)


@pytest.mark.oracle
@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_two_builds_of_one_clang_agree(arch):
    source = SOURCES / "everything.hip"
    clang = other_clang()
    ours, theirs = compile_hip(source, arch, "ziglang"), compile_hip(source, arch, clang)
    assert len(kernels(ours.data)) == (22 if arch == "gfx950" else 21)
    assert len(section(ours.data, ".text")) > 10_000
    for name in (".text", ".rodata", ".note", ".debug_line"):
        assert section(ours.data, name) == section(theirs.data, name), name


@pytest.mark.long
@pytest.mark.parametrize("arch", ARCHITECTURES)
@pytest.mark.parametrize("header", NAMES)
def test_each_header_stands_alone_everywhere(header, arch):
    assert kernels(compile_hip(SOURCES / f"{header}.hip", arch, "ziglang").data)


@pytest.mark.oracle
@pytest.mark.parametrize(
    ("arch", "header", "expected"),
    [
        ("gfx942", "fp8", ["v_cvt_pk_fp8_f32", "v_cvt_pk_bf8_f32", "v_cvt_f32_fp8", "v_med3_f32"]),
        ("gfx950", "fp8", ["v_cvt_pk_fp8_f32", "v_cvt_pk_bf8_f32", "v_cvt_f32_fp8", "v_med3_f32"]),
        ("gfx1201", "fp8", ["v_cvt_pk_fp8_f32", "v_cvt_pk_bf8_f32", "v_cvt_f32_fp8", "v_med3"]),
        ("gfx950", "ocp", ["v_cvt_scalef32_sr_bf8_f32", "v_cvt_scalef32_2xpk16_bf6_f32", "v_cvt_scalef32_pk_fp4_f32"]),
        ("gfx942", "runtime", ["ds_bpermute_b32", "s_barrier", "global_load_dwordx4", "v_sqrt_f32", "v_exp_f32"]),
        ("gfx942", "fp16", ["v_pk_fma_f16", "global_atomic_pk_add_f16", "v_cvt_pkrtz_f16_f32"]),
    ],
)
def test_functions_become_the_instructions_they_stand_for(arch, header, expected, tmp_path):
    text = disassembly(compile_hip(SOURCES / f"{header}.hip", arch, "ziglang").data, tmp_path)
    assert [name for name in expected if name not in text] == []


@pytest.mark.parametrize("compiler", ["ziglang", pytest.param("clang-22", marks=pytest.mark.oracle)])
def test_an_ordinary_program_compiles_unmodified(compiler):
    name = other_clang() if compiler == "clang-22" else compiler
    done = compile_hip(SOURCES / "program.hip", "gfx942", name)
    found = kernels(done.data)
    assert len(found) == 3
    assert any("plain" in symbol for symbol in found)
    assert sum("saxpy" in symbol for symbol in found) == 2


def test_headers_give_instructions_the_line_of_the_kernel(tmp_path):
    # A line of a header would tell the user of a finding nothing.
    source = tmp_path / "k.hip"
    source.write_text(
        "#include <hip/hip_fp16.h>\n"
        "__global__ void k(half2* a, float4* b) {\n"
        "  a[threadIdx.x] = __hfma2(a[0], a[1], __shfl_xor(a[2], 1));\n"
        "  b[blockIdx.x] = b[1] * 2.0f;\n"
        "}\n"
    )
    lines = section(compile_hip(source, "gfx942", "ziglang").data, ".debug_line_str")
    assert {name for name in lines.split(b"\0") if name} == {b".", b"k.hip"}


@pytest.mark.oracle
def test_the_headers_leave_the_users_arithmetic_alone(tmp_path):
    # Our mathematics switches contraction off for itself; a kernel's own products and sums still become fma.
    source = tmp_path / "k.hip"
    source.write_text("#include <hip/hip_runtime.h>\n__global__ void k(float* x) { x[0] = x[1] * x[2] + x[3]; }\n")
    assert "v_fma" in disassembly(compile_hip(source, "gfx942", "ziglang").data, tmp_path)
    separate = compile_hip(source, "gfx942", "ziglang", flags=["-ffp-contract=off"])
    assert "v_fma" not in disassembly(separate.data, tmp_path)


def test_the_headers_bear_macros_of_one_letter(tmp_path):
    # Kernels are full of #define M and -DN=128.
    source = tmp_path / "k.hip"
    headers = sorted(path.name for path in HIP.glob("*.h") if "#error" not in path.read_text())
    assert len(headers) == 30
    includes = "".join(f"#include <hip/{name}>\n" for name in headers)
    source.write_text(f"{includes}__global__ void k(float4* x) {{ x[N] = x[M] * 2.0f + x[K]; }}\n")
    flags = [f"-D{letter}={value}" for value, letter in enumerate("ABCDEFGHIJKLMNOPQRSTUVWXYZ")]
    assert kernels(compile_hip(source, "gfx950", "ziglang", flags=flags).data)


@pytest.mark.long
def test_headers_and_groups_are_c_plus_plus_11(tmp_path):
    source = tmp_path / "old.hip"
    source.write_text(
        "#include <hip/hip_bf16.h>\n#include <hip/hip_complex.h>\n#include <hip/hip_cooperative_groups.h>\n"
        "namespace cg = cooperative_groups;\n"
        "__global__ void k(int *a) { a[0] = cg::thread_rank(cg::this_thread_block()); }\n"
    )
    assert len(kernels(compile_hip(source, "gfx942", "ziglang", flags=["-std=c++11"]).data)) == 1


def ocp_rows():
    """Result, name and argument types of each row of the header that lists what only gfx950 has."""
    text = (HIP.parent / "mfmasim" / "ocp_missing.h").read_text()
    rows = re.findall(r"^MFMASIM_ROW\(([^)]*)\)", text, re.MULTILINE)
    for kind in (8, 6, 4):
        rows = [row.replace(f"MFMASIM_F{kind}", f"__amd_fp{kind}_interpretation_t") for row in rows]
    return [tuple(re.split(r",\s*", row)) for row in rows]


def call_them_all(rows, source):
    kernels_text = []
    for result, name, *types in rows:
        arguments = [
            f"({kind})format" if "interpretation" in kind else f"*({kind}*)(in + {256 * index})"
            for index, kind in enumerate(types)
        ]
        call = f"{name}({', '.join(arguments)})"
        kernels_text.append(f"__global__ void k_{name}(char* in, {result}* out, int format) {{ *out = {call}; }}")
    source.write_text("#include <hip/hip_ext_ocp.h>\n" + "\n".join(kernels_text))


def test_scaled_conversions_exist_on_gfx950_and_name_themselves_elsewhere(tmp_path):
    rows = ocp_rows()
    assert len(rows) == 54
    source = tmp_path / "k.hip"
    # The one that gfx950 has no instruction for either.
    only_named = "__amd_cvt_fp16_to_fp8_sr"
    call_them_all([row for row in rows if row[1] != only_named], source)
    assert len(kernels(compile_hip(source, "gfx950", "ziglang").data)) == 53
    call_them_all(rows, source)
    with pytest.raises(MfmasimError) as caught:
        compile_hip(source, "gfx942", "ziglang", flags=["-ferror-limit=0"])
    said = re.findall(r"mfmasim: (\w+) needs gfx950's conversion instructions", str(caught.value))
    assert sorted(said) == sorted(row[1] for row in rows)
    with pytest.raises(MfmasimError, match=f"mfmasim: {only_named} has no gfx950 instruction"):
        compile_hip(source, "gfx950", "ziglang")


def test_a_c_plus_plus_file_is_told_that_these_headers_are_for_hip(tmp_path):
    source = tmp_path / "k.hip"
    source.write_text("#undef __HIP__\n#include <hip/hip_runtime.h>\n")
    with pytest.raises(MfmasimError, match="mfmasim: these headers are for HIP"):
        compile_hip(source, "gfx942", "ziglang")
