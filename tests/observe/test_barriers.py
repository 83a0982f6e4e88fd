"""barrier: different places, different numbers, signals without a wait, on four architectures."""

import numpy as np
import pytest

import mfmasim
from tests.observe.small_kernels import compiled, first_line, symbol

ARCHS = ["gfx942", "gfx950", "gfx1151", "gfx1201"]
HEAD = """#include <hip/hip_runtime.h>
#if defined(__GFX12__)
#define BAR(n) asm volatile("s_nop " #n "\\n s_barrier_signal -1\\n s_barrier_wait -1")
#else
#define BAR(n) asm volatile("s_nop " #n "\\n s_barrier")
#endif
#define SIGNAL asm volatile("s_barrier_signal -1")
#define WAIT asm volatile("s_barrier_wait -1")
"""
TAIL = "\n out[blockIdx.x * blockDim.x + threadIdx.x] = 1;"
FIRST = "if (__builtin_amdgcn_readfirstlane(threadIdx.x) == 0)"
# Two workgroups of three waves. What is reported: id, here, there (texts of lines), wave, count.
KERNELS = {
    "all alike": ("BAR(1);\nBAR(2);", []),
    "in a loop": ("for (unsigned r = 0; r < rounds; ++r)\n BAR(1);", []),
    "first wave elsewhere": (f"{FIRST}\n BAR(1);\nelse\n BAR(2);", [("barrier-different", "BAR(2)", "BAR(1)", 1, 4)]),
    "first wave elsewhere, then together": (
        f"{FIRST}\n BAR(1);\nelse\n BAR(2);\nBAR(3);",
        [("barrier-different", "BAR(2)", "BAR(1)", 1, 4)],
    ),
    "first wave once more": (f"BAR(1);\n{FIRST}\n BAR(2);", [("barrier-uneven", "}", "BAR(2)", 1, 4)]),
    "parity": (
        f"for (unsigned r = 0; r < rounds; ++r)\n BAR(1);\n{FIRST}\n BAR(2);\nBAR(3);",
        [("barrier-different", "BAR(3)", "BAR(2)", 1, 4), ("barrier-uneven", "}", "BAR(3)", 1, 4)],
    ),
    "a wave leaves early": (f"{FIRST} {{\n return;\n}}\nBAR(1);\nBAR(2);", [("barrier-uneven", "}", "BAR(2)", 0, 2)]),
}


def code_of(arch):
    kernels = {**KERNELS, **SPLIT, **HANGS} if arch == "gfx1201" else KERNELS
    bodies = tuple((name, body + TAIL) for name, (body, *_) in kernels.items())
    return compiled(HEAD, "unsigned *out, unsigned rounds", bodies, arch)


def reported(name, arch, block=None, **options):
    code, lines = code_of(arch)
    kernel = code[symbol(name)]
    out = np.zeros(2 * 3 * 64, np.uint32)
    report = mfmasim.device("sim").launch(
        kernel, 2, block or 3 * kernel.wave, [out, np.uint32(3)], checks="barrier", **options
    )
    last = first_line(lines, name) + 9
    return report, {line.strip(): str(number) for number, line in enumerate(lines[:last], 1)}


@pytest.mark.parametrize("arch", ARCHS)
@pytest.mark.parametrize("name", KERNELS)
def test_kernels(name, arch):
    _, expected = KERNELS[name]
    report, line = reported(name, arch)
    have = [(f.id, f.other.rpartition(":")[2], f.wave, f.count) for f in report.findings]
    want = [(kind, line[f"{there};"], wave, count) for kind, _, there, wave, count in expected]
    assert have == want, [f.message for f in report.findings]
    for finding, (_, here, _, _, _) in zip(report.findings, expected, strict=True):
        assert finding.severity == "warning"
        assert finding.workgroup == (0, 0, 0)
        if here != "}":
            assert finding.source.endswith(f"k.hip:{line[here + ';']}")
    assert report.ok
    assert reported(name, arch, max_waves=3)[0].findings == report.findings


PARTS = {
    "a part of a wave": ("if (threadIdx.x % 64 < 10)\n BAR(1);", True),
    "a part of a wave has left": ("if (threadIdx.x >= 40) return;\nBAR(1);", True),
    "a loop that lanes leave in turn": ("for (unsigned i = threadIdx.x; i < 50; i += 32)\n BAR(1);", True),
    "after the branch": ("if (threadIdx.x % 64 < 10) out[0] = 2;\nBAR(1);", False),
    "whole waves in a branch": (
        "if (__builtin_amdgcn_readfirstlane(threadIdx.x) == 0)\n BAR(1);\nelse\n BAR(1);",
        False,
    ),
}


@pytest.mark.parametrize("arch", ARCHS)
def test_barriers_that_a_part_of_a_wave_executes(arch):
    """The last wave of the workgroup is partial, and executes its barriers for all of its work-items."""
    bodies = tuple((name, body + TAIL) for name, (body, _) in PARTS.items())
    code = compiled(HEAD, "unsigned *out, unsigned rounds", bodies, arch)[0]
    for name, (_, wrong) in PARTS.items():
        report = mfmasim.device("sim").launch(
            code[symbol(name)], 2, 150, [np.zeros(300, np.uint32), np.uint32(3)], checks="barrier"
        )
        named = [f for f in report.findings if f.id == "barrier-divergent"]
        assert [f.severity for f in named] == ["warning"] * wrong, name
        assert report.ok
        if name == "a part of a wave has left":
            lanes = code[symbol(name)].wave
            assert f"EXEC has 24 of its {lanes} work-items off, the first in lane {40 % lanes}" in named[0].message


SPLIT = {
    "signals twice": (f"{FIRST}\n SIGNAL;\nBAR(1);", [("barrier-signalled-twice", 0), ("barrier-uneven", 1)]),
    "no wait": ("SIGNAL;", []),
}


@pytest.mark.parametrize("name", SPLIT)
def test_signals(name):
    _, expected = SPLIT[name]
    report, _ = reported(name, "gfx1201")
    assert {(f.id, f.wave) for f in report.findings} >= set(expected), [f.message for f in report.findings]
    assert bool(report.findings) == bool(expected)


HANGS = {
    "one wave does not signal": (f"{FIRST}\n SIGNAL;\nWAIT;",),
    "one wave waits twice": (f"BAR(1);\n{FIRST}\n WAIT;\nBAR(2);",),
    "no signal": ("WAIT;",),
    "all wait twice": ("BAR(1);\nWAIT;",),
}


@pytest.mark.parametrize("name", HANGS)
def test_a_barrier_of_two_halves_that_is_never_complete(name):
    """The hardware hangs; the launch ends and says where."""
    report, _ = reported(name, "gfx1201")
    assert report.stopped
    assert not report.ok
    assert report.findings[0].id == "barrier-deadlock"
    assert report.findings[0].source.rpartition("/")[2].startswith("k.hip:")
