"""Inline assembly that waits without the clobber "memory" is found in the source, whatever the compiler makes of it."""

import pytest

from mfmasim.resources import folder
from mfmasim.verify import find, verify_case
from mfmasim.verify.clobbers import inline_assembly, unclobbered

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
