"""Names and types of parameters, and places of LDS variables: mangled names, IR and DWARF against the compiled code."""

import re
import subprocess

import numpy as np
import pytest

import mfmasim
from mfmasim.codeobject import lds_layout, read_dwarf, signature
from mfmasim.codeobject.ctypes import named
from mfmasim.codeobject.declared import Variable
from mfmasim.codeobject.names import find
from mfmasim.errors import MfmasimError
from tests.llvm import tool

NAMES = [
    "_Z2gkIfLi3EEvPKT_PS0_PDv4_f1PyPDF16_P14__hip_bfloat16b", "_ZN2ns4gemmIfLi3EEEvPT_", "_ZN2ns5otherEPfiPA8_f",
    "_Z4copyPKfPfi", "_Z5shapeIDF16_EvPT_", "_Z1kIN2ns1SIfLb1EEELj16EEvT_PKS2_mS1_", "_ZN12_GLOBAL__N_11kEPi",
    "_ZL1kPVKiRd", "_Z1kILin1ELm7EEvPU3AS1f", "_ZN2ns1kINS_1SIiEEEEvPT_S3_NS_1TE", "_Z1kSt4pairIifE",
]  # fmt: skip


def plain(text):
    """A demangled name without the differences of style: order of const, spaces, suffixes, result."""
    text = re.sub(r"\b([\w:]+(?:<[^<>]*>)?) const volatile", r"const volatile \1", text)
    text = re.sub(r"([\w:]+(?:<[^<>]*>)?) const\b", r"const \1", text)
    text = re.sub(r"\b(\d+)u?l?\b", r"\1", text).replace(" AS1", "")
    return re.sub(r"^void ", "", text).replace(" ", "")


@pytest.mark.oracle
@pytest.mark.parametrize("name", NAMES)
def test_mangled_names_are_read_as_llvm_reads_them(name):
    found = signature(name)
    text = f"{found.full}({', '.join(kind.text for kind in found.parameters)})"
    other = subprocess.run([tool("llvm-cxxfilt"), name], capture_output=True, text=True, check=True).stdout.strip()
    assert plain(text) == plain(other)


def test_damaged_names_are_not_read():
    for name in (
        "_Z",
        "_Z999f",
        "_ZN",
        "_Z1kIS9_EvT_",
        "_Z1k" + "P" * 5000,
        "_Z1kS_",
        "plain",
        "_Z1kILi",
        "_Z1kI" * 90,
    ):
        found = signature(name)
        assert found is None or found.parameters is None or name == "_Z1k"


def test_kernels_are_found_by_their_template_arguments():
    symbols = ["_Z2gkIfLi3EEvPKT_PS0_", "_Z2gkIiLi4EEvPKT_PS0_", "_ZN2ns2gkIjLi4EEEvPKT_PS1_"]
    assert find("gk<float,3>", symbols, "k") == find("gk<float, 3u>", symbols, "k") == symbols[0]
    assert find("gk<uint32_t, 4>", symbols, "k") == find("ns::gk<unsigned, 4>", symbols, "k") == symbols[2]
    with pytest.raises(MfmasimError, match="give one of gk<float, 3>, gk<int, 4>"):
        find("gk", symbols[:2], "k")


SOURCE = """
#include <hip/hip_runtime.h>
struct Pair {{ int a; char b; }};
__device__ float helper(float x) {{ __shared__ float inner[3]; inner[threadIdx.x % 3] = x; __syncthreads();
                                   return inner[0] + (float)(long)&inner[0]; }}
extern __shared__ double room[];
extern "C" __global__ void places(unsigned* out, float x, Pair p, const _Float16 (*h)[8]) {{
  {variables}
  if (x > 0) {{ {uses} }}
  unsigned place[] = {{ {addresses} }};
  for (unsigned i = 0; i < {count}; ++i) out[i] = place[i];
}}
"""
SETS = [
    ["char c[5]", "float tile[4][33]", "int flag", "short s[3]", "double d[9]"],
    ["char a[1]", "char b[2]", "char c[3]", "char d[7]", "char e[15]", "char f[17]"],
    ["Pair pairs[5]", "long n", "unsigned char bytes[60]", "float row[20]", "int last"],
]


@pytest.mark.parametrize("variables", SETS, ids=len)
@pytest.mark.parametrize("arch", ["gfx942", "gfx1201"])
def test_variables_lie_where_the_compiled_code_has_them(variables, arch, tmp_path):
    names = [re.search(r"(\w+)(\[.*)?$", text)[1] for text in variables]
    pointer = "(unsigned)(size_t)(__attribute__((address_space(3))) void*)"
    source = tmp_path / "places.hip"
    source.write_text(
        SOURCE.format(
            variables=" ".join(f"__shared__ {text};" for text in variables),
            uses=" ".join(f"*(volatile char*)&{name} = 1;" for name in names),
            addresses=", ".join(f"{pointer}&{name}" for name in names),
            count=len(names),
        )
    )
    kernel = mfmasim.compile(source, arch)["places"]
    out = np.zeros(len(names), np.uint32)
    mfmasim.device("sim").launch(kernel, 1, kernel.wave, [out, np.float32(1), [np.int32(1), np.int8(1)], None])
    assert {v.name: v.offset for v in kernel.lds_variables} == dict(zip(names, out.tolist(), strict=True))
    assert [(p.name, p.type.text) for p in kernel.parameters] == [
        ("out", "unsigned int*"),
        ("x", "float"),
        ("p", "Pair"),
        ("h", "const _Float16 (*)[8]"),
    ]


def test_sizes_that_do_not_add_up_give_no_names():
    variable = Variable("t", "t", named("float"), 4, 4)
    assert [v.offset for v in lds_layout([variable], 4)] == [0]
    assert lds_layout([variable], 0) == lds_layout([variable], 20) == ()


def test_a_kernel_with_inlined_functions_has_names(tmp_path):
    """Its line tables alone list it as a function, without parameters."""
    source = tmp_path / "k.hip"
    source.write_text(
        "#include <hip/hip_runtime.h>\n__device__ float twice(float x) { return x * 2 + threadIdx.y; }\n"
        'extern "C" __global__ void k(float* out, float x) { *out = twice(x); }\n'
    )
    code = mfmasim.compile(source, "gfx942")
    assert b".debug_info" in code.object.data
    assert [parameter.name for parameter in code["k"].parameters] == ["out", "x"]


def test_debug_information_gives_the_same_as_the_source(tmp_path):
    source = tmp_path / "k.hip"
    source.write_text(
        "#include <hip/hip_runtime.h>\n"
        'extern "C" __global__ void k(const float* a, int* b, unsigned long long u) {\n'
        "  __shared__ int tile[64][2]; __shared__ float few[3];\n"
        "  int i = threadIdx.x; tile[i][0] = i; few[i % 3] = a[i];\n"
        "  __syncthreads(); b[i] = tile[i ^ 1][0] + few[u % 3]; }\n"
    )
    plain_code, with_debug = (mfmasim.compile(source, "gfx942", flags=flags) for flags in ([], ["-g"]))
    dwarf = read_dwarf(with_debug.object.data, "k", with_debug.kernels)["k"]
    kernel = plain_code["k"]
    assert dwarf.parameters == kernel.declared.parameters
    assert lds_layout(dwarf.variables, 64 * 8 + 12) == kernel.lds_variables
    assert {v.name for v in kernel.lds_variables} == {"tile", "few"}
    assert read_dwarf(plain_code.object.data, "k", plain_code.kernels) == {}
    damaged = with_debug.object.data.replace(b"few", b"\xff\xff\xff")
    assert "k" in read_dwarf(damaged, "k", ["k"])
