"""Inline assembly that waits without the clobber "memory" is found in the source, whatever the compiler makes of it."""

import pytest

from mfmasim.resources import folder
from mfmasim.verify import find, verify_case
from mfmasim.verify.clobbers import inline_assembly, loads, unclobbered

WAIT = 'asm volatile("s_waitcnt vmcnt(0)"{});'
LINES = {
    WAIT.format(""): ["s_waitcnt"],
    WAIT.format(' ::: "memory"'): [],
    '__asm__ __volatile__("s_nop 0\\n" "s_barrier" :: "v"(a[f(1)]) : "v1");': ["s_barrier"],
    'asm volatile("s_wait_dscnt 0x0" : "+v"(x) : : "memory", "v1");': [],
    'asm volatile("buffer_load_dwordx4 %0, %1, 0 offen lds" :: "v"(o), "s"(r));': ["lds"],
    'asm volatile("" : "+v"(x));': [],
    'asm volatile("global_load_dword %0, %1, off\\n\\ts_waitcnt vmcnt(0)" : "=a"(x) : "v"(p));': [],
    'asm volatile("s_waitcnt_depctr 0xffff");': [],
    'asm("v_mul_lo_u32 %0, %1, %2" : "=v"(a) : "v"(b), "v"(c));': [],
    '// asm volatile("s_barrier");': [],
    'puts("asm(s_barrier)");': [],
    'asm volatile("s_barrier ; ) : memory");': ["s_barrier"],
    '#define W(n) asm volatile("s_waitcnt vmcnt(%0)" ::"n"((n) * 2))': ["s_waitcnt"],
    'asm volatile("s_barrier"': ["s_barrier"],
}

LABELS = [
    'extern "C" __device__ void f(int a, int b)\n    __asm("llvm.amdgcn.raw.buffer.load.lds");',
    'extern "C" { void f(int) __asm("llvm.amdgcn.raw.buffer.load.lds"); }',
    'void f(int) __asm("s_barrier");',
    'unsigned *f(int) __asm__("s_barrier");',
    'int x asm("s_waitcnt");',
    'int a, b asm("s_waitcnt");',
    'void (*fp)(int) __asm("s_barrier");',
    'void f(int) noexcept asm("s_barrier");',
    'void f(int) const __attribute__((x(1))) asm("s_barrier");',
    '__attribute__((device)) void f(int a[3]) __asm("s_barrier") __attribute__((convergent));',
    'template <class T>\n__device__ void f(T x)\n asm("s_barrier");',
    'ns::v<4, int> f(int) asm("s_barrier");',
    '#define DECL(n) void n(int) __asm("s_barrier")',
    '#define DECL(n) \\\n  void n(int)  \\\n __asm("s_barrier")',
    '#define LAB __asm("llvm.amdgcn.raw.buffer.load.lds")',
    '#include "x"\nint y;\n#pragma unroll\nvoid g(int) asm("s_barrier");',
    'struct S { static void f(int) asm("s_barrier"); };',
    'public: void f(int) asm("s_barrier");',
    'float __attribute__((address_space(3)))* f(void) __asm("s_barrier");',
    'int t[64] asm("s_waitcnt");',
    'void f(const char* s = "a;b") asm("s_barrier");',
    'int f(void) __asm("llvm.amdgcn." "raw.buffer.load.lds");',
]
"""Declarations whose label has words of memory instructions."""
STATEMENTS = [
    'if (x) asm("s_barrier");',
    'if constexpr (a<b>()) asm("s_barrier");',
    'else asm("s_barrier");',
    'do asm("s_barrier"); while (1);',
    'for (int i = 0; i < 3; ++i) asm("s_barrier");',
    '#pragma unroll\nfor (;;) asm("s_barrier");',
    'case 3: asm("s_barrier");',
    'l: asm("s_barrier");',
    '{ asm("s_barrier"); }',
    'f(); asm("s_barrier");',
    '#define B() asm("s_barrier")',
    '#define B asm("s_barrier")',
    '#define B() do { asm("s_barrier"); } while (0)',
    'UNROLL asm("s_barrier");',
    'UNROLL(4) asm("s_barrier");',
    '_Pragma("unroll") asm("s_barrier");',
    '[[likely]] asm("s_barrier");',
    'asm volatile("s_barrier");',
    'asm goto("s_barrier" :::: l);',
    'void f(int x) { asm("s_waitcnt vmcnt(0)"); }',
    'auto l = [&] { asm("s_barrier"); };',
    'while (x) asm("s_barrier");',
    '__extension__ asm("s_barrier");',
    'int x = 3; __asm__("s_waitcnt lgkmcnt(0)\\n s_barrier");',
    'asm inline volatile("s_barrier" ::: "v1");',
    '#define X(a) if (a) \\\n asm("s_barrier")',
    'switch (x) { default: asm("s_barrier"); }',
    'int x = f(a, b), y; if (x) { } else if (y) asm("s_barrier");',
    'asm(R"(s_barrier)");',
    'asm volatile("buffer_load_dword %0, %1, 0 offen lds" :: "v"(o), "s"(r));',
    'void k() {\n#ifdef A\n asm("s_barrier");\n#endif\n}',
    'void k()\n#ifdef A\n{ asm("s_barrier"); }',
    'template<int N> void w() { if constexpr (N) asm("s_barrier"); else asm("s_barrier"); }',
]
"""Statements at places where a declaration could stand, each with one instruction that orders memory."""


@pytest.mark.parametrize("text", LABELS)
def test_a_label_of_a_declaration_is_no_statement(text):
    """GCC manual, "Controlling Names Used in Assembler Code"."""
    assert not list(unclobbered(text)) + list(loads(text))


@pytest.mark.parametrize("text", STATEMENTS)
def test_a_statement_after_any_other_text_is_one(text):
    assert len(list(unclobbered(text))) == text.count("asm")


def test_a_label_of_a_load_is_no_load():
    assert not list(loads('int f(int) __asm("global_load_dword");'))
    assert [name for _, name in loads('if (x) asm("global_load_dword v0, v1, off");')] == ["global_load_dword"]


@pytest.mark.parametrize(("line", "names"), LINES.items())
def test_statements(line, names):
    assert list(unclobbered(f"/* two\nlines */\n{line}\n")) == [(3, name) for name in names]


@pytest.mark.trap("T2")
def test_a_wait_without_the_clobber_is_reported_with_its_line(tmp_path):
    family = folder("hipkernels") / "gemm_fp8"
    header = '#define WAIT_FETCHES(halves) asm volatile("s_waitcnt vmcnt(%0)" ::"n"((halves) * FETCHES){})'
    text = (family / "scheduled" / "pingpong.h").read_text()
    assert text.count(header.format(' : "memory"')) == 1
    (tmp_path / "wait.h").write_text(header.format("") + "\n")
    changed = text.replace(header.format(' : "memory"'), '#include "wait.h"')
    changed = changed.replace("../tile.h", str(family / "tile.h"))
    changed = changed.replace("operands.h", str(family / "scheduled" / "operands.h"))
    (tmp_path / "pingpong.hip").write_text(changed)
    (finding,) = inline_assembly(tmp_path / "pingpong.hip", "pingpong")
    assert (finding.id, finding.source, finding.severity) == ("source-asm-clobber", "wait.h:1", "warning")
    assert 'no clobber "memory"' in finding.message


def test_verify_reports_it_and_no_kernel_of_the_package_has_it(tmp_path):
    (tmp_path / "k.hip").write_text(
        '#include <hip/hip_runtime.h>\nextern "C" __global__ void k(int *x) { asm volatile("s_barrier"); x[0] = 1; }\n'
    )
    (tmp_path / "cases.py").write_text(
        "import numpy as np\nfrom mfmasim.verify import Out, case\n\n\n"
        '@case("k.hip", kernel="k", arch="gfx942")\ndef k():\n'
        '    return {"grid": 1, "block": 64, "args": [Out("i32", 1)], "expect": lambda: np.ones(1, np.int32)}\n'
    )
    ((_, (case,)),) = find(str(tmp_path / "cases.py"))
    result = verify_case(case, "gfx942")
    assert result.status == "pass"
    assert [f.source for f in result.findings if f.id == "source-asm-clobber"] == ["k.hip:2"]
    sources = [*folder("hipkernels").rglob("*.hip")]
    assert len(sources) > 40
    assert not [finding for path in sources for finding in inline_assembly(path, "")]


LOADS = 'asm volatile("ds_read_b64 %0, %1" : "=v"(x) : "v"(at));\n'


@pytest.mark.parametrize(
    ("more", "found"),
    [
        ("", 1),
        ('asm volatile("s_waitcnt lgkmcnt(0)" ::: "memory");', 0),
        ("__builtin_amdgcn_s_waitcnt(0);", 0),
        ("WAIT_LDS();", 0),
        ("// wait here", 1),
        ('#include "other.h"', 0),
    ],
)
def test_a_load_in_a_source_that_nowhere_waits_is_reported(more, found, tmp_path):
    """The compiler adds no wait after inline assembly; where a wait exists, the check of waits judges."""
    (tmp_path / "other.h").write_text("#define DONE __builtin_amdgcn_s_waitcnt(0)\n")
    (tmp_path / "k.hip").write_text(f"int x;\n{LOADS}{more}\n")
    findings = inline_assembly(tmp_path / "k.hip", "k")
    assert [(f.id, f.source, f.instruction, f.severity) for f in findings] == [
        ("source-asm-load", "k.hip:2", "ds_read_b64", "warning")
    ] * found


def test_no_shipped_kernel_loads_without_a_wait():
    sources = [path for path in folder("hipkernels").rglob("*.hip") if "zoo" not in path.parts]
    assert len(sources) > 50
    assert not [f for path in sources for f in inline_assembly(path, "") if f.id == "source-asm-load"]
