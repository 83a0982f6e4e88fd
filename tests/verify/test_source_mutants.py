"""Mutants of a source: each is one changed place on an executed line, and equivalent ones are recognised."""

import json

import pytest

from mfmasim.cli import main
from mfmasim.errors import MfmasimError
from mfmasim.lab.mutation.binary import KINDS
from mfmasim.lab.mutation.textual import SOURCE_KINDS, mutants_of_text, run_source
from mfmasim.resources import folder
from mfmasim.verify import find

KERNEL = """
#include <hip/hip_runtime.h>
extern "C" __global__ void k(unsigned* y, const unsigned* x, int n) {
  __shared__ unsigned cells[256];
  unsigned t = threadIdx.x, sum = 0;
  cells[t] = x[t];  // the barrier below: __syncthreads();
  __syncthreads();
  for (unsigned j = 0; j < 256; j += 64) {
    sum += cells[(t ^ 32) + j & 255];
  }
  if (t < n) y[t] = sum;
}
extern "C" __global__ void other(unsigned* y) { __syncthreads(); y[threadIdx.x] = 1; }
"""
CASES = """
from mfmasim.verify import case, In, Out
import numpy as np

def reference(x):
    t = np.arange(BLOCK)
    x = np.resize(x, 256)
    return sum(x[((t ^ 32) + j) & 255] for j in range(0, 256, 64)).astype(np.uint32)

BLOCK = 256

@case("k.hip", kernel="k", arch=["gfx942", "gfx1201"])
def k():
    return dict(grid=1, block=BLOCK, args=[Out("u32", BLOCK), In("u32", 256), BLOCK], expect=reference)
"""


def test_places_are_found_and_comments_left_alone():
    found = mutants_of_text(KERNEL, file="k.hip")
    assert [(m.kind, m.line) for m in found] == [
        ("barrier removed", 7),
        ("barrier doubled", 7),
        ("barrier of the first wave", 7),
        ("last step dropped", 8),
        ("exclusive-or dropped", 9),
        ("guard off by one", 11),
        ("barrier removed", 13),
        ("barrier doubled", 13),
        ("barrier of the first wave", 13),
    ]
    lines = KERNEL.split("\n")
    for mutant in found:
        changed = mutant.text.split("\n")
        assert [n + 1 for n, (a, b) in enumerate(zip(lines, changed, strict=True)) if a != b] == [mutant.line]
    by_kind = {m.kind: m for m in found[:6]}
    assert by_kind["last step dropped"].after == "for (unsigned j = 0; j < (256) - (64); j += 64)"
    assert "cells[(t + 0 * 32) + j & 255]" in by_kind["exclusive-or dropped"].text
    assert "if (t <= n) y[t]" in by_kind["guard off by one"].text
    assert by_kind["guard off by one"].place == "k.hip:11"


@pytest.mark.parametrize("step", ["++i", "i++"])
def test_a_loop_that_counts_by_one_loses_its_last_step(step):
    (found,) = mutants_of_text(f"for (int i = 0; i < count; {step}) sum += i;")
    assert found.kind == "last step dropped"
    assert found.text == f"for (int i = 0; i < (count) - (1); {step}) sum += i;"


@pytest.mark.parametrize("arch", ["gfx942", "gfx1201"])
def test_who_catches_them(tmp_path, arch):
    (tmp_path / "k.hip").write_text(KERNEL)
    (tmp_path / "cases.py").write_text(CASES)
    ((_, (case,)),) = find(str(tmp_path / "cases.py"))
    outcomes = {f.mutant.kind: f for f in run_source(case, arch)}
    assert [f.mutant.line for f in outcomes.values()] == [7, 7, 7, 8, 9, 11], (
        "only the function that this kernel executes"
    )
    assert outcomes["barrier removed"].caught == ("races",)
    assert "races" in outcomes["barrier of the first wave"].caught
    assert outcomes["last step dropped"].caught == ("outputs",)
    assert outcomes["barrier doubled"].equivalent == "every wave passes both"
    assert outcomes["exclusive-or dropped"].caught == ("outputs",)
    assert outcomes["guard off by one"].same == "the same bytes on all data of this case"
    assert not any(f.survived for f in outcomes.values())


def test_the_command_line(tmp_path, capsys):
    (tmp_path / "k.hip").write_text(KERNEL)
    (tmp_path / "cases.py").write_text(CASES)
    target = str(tmp_path / "cases.py")
    assert main(["mutate", target, "--textual", "--arch", "gfx942", "--kind", "last", "--json"]) == 0
    (record,) = json.loads(capsys.readouterr().out)
    assert record["caught"] == ["outputs"]
    assert record["mutant"]["place"] == "k.hip:8"
    assert main(["mutate", target, "--textual", "--kind", "LDS"]) == 2
    assert "kind of mutant 'LDS'" in capsys.readouterr().err
    assert main(["mutate", target, "--textual", "--binary"]) == 2
    assert "not allowed with" in capsys.readouterr().err


def test_a_source_is_needed(tmp_path):
    ((_, cases),) = find("intro")
    from dataclasses import replace

    with pytest.raises(MfmasimError, match="need a"):
        list(run_source(replace(cases[0], source=tmp_path / "k.hsaco"), "gfx942"))


def test_every_kind_has_a_place_in_some_kernel():
    text = KERNEL + '\nvoid f() { asm volatile("s_waitcnt vmcnt(0)" ::: "memory"); }\n'
    assert {m.kind for m in mutants_of_text(text)} == set(SOURCE_KINDS)


def test_the_page_lists_every_kind():
    page = (folder("hipkernels").parent / "docs" / "mutants.md").read_text()
    kinds = [*KINDS, *SOURCE_KINDS]
    assert len(kinds) >= 20
    for kind in kinds:
        assert f"| {kind} |" in page


CONFLICTS = """
#include <hip/hip_runtime.h>
extern "C" __global__ void k(unsigned* y, const unsigned* x) {
  __shared__ unsigned tile[32 * 32];
  for (unsigned r = threadIdx.x / 32; r < 32; r += 2) {
    unsigned c = threadIdx.x % 32;
    tile[r * 32 + (c ^ r)] = x[r * 32 + c];
  }
  __syncthreads();
  for (unsigned r = threadIdx.x / 32; r < 32; r += 2) {
    unsigned c = threadIdx.x % 32;
    y[r * 32 + c] = tile[c * 32 + (r ^ c)];
  }
}
"""


def test_a_swizzle_of_both_sides_changes_bank_conflicts_only(tmp_path):
    define = CONFLICTS.replace("(c ^ r)", "MIX(c, r)").replace("(r ^ c)", "MIX(r, c)")
    for name, text in (("k.hip", CONFLICTS), ("d.hip", "#define MIX(a, b) ((a) ^ (b))\n" + define)):
        (tmp_path / name).write_text(text)
        (tmp_path / f"{name}.py").write_text(
            "from mfmasim.verify import case, In, Out\n"
            f"@case({name!r}, kernel='k', arch='gfx942')\n"
            "def k():\n"
            "    return dict(grid=1, block=64, args=[Out('u32', 1024), In('u32', 1024)],\n"
            "                expect=lambda x: x.reshape(32, 32).T.ravel())\n"
        )
    ((_, (one,)),) = find(str(tmp_path / "k.hip.py"))
    assert {"outputs" in f.caught for f in run_source(one, "gfx942", kinds=["exclusive-or dropped"])} == {True}
    ((_, (both,)),) = find(str(tmp_path / "d.hip.py"))
    outcomes = list(run_source(both, "gfx942", kinds=["exclusive-or dropped"]))
    assert outcomes
    for outcome in outcomes:
        assert "it changes bank conflicts: 0 extra passes before, 992 with it" in outcome.same
        assert not outcome.survived


def test_the_first_wave_of_a_block_of_two_dimensions(tmp_path):
    """Of 32x8 work-items all have an x below the wave's size: what passes the barrier goes by the whole number."""
    case = next(c for _, cases in find(str(_two_dimensions(tmp_path))) for c in cases)
    found = list(run_source(case, "gfx942", kinds=("barrier of the first wave",)))
    assert [one.caught for one in found] == [("races",)]


def _two_dimensions(folder):
    (folder / "t.hip").write_text("""#include <hip/hip_runtime.h>
extern "C" __global__ void t(unsigned* y, const unsigned* x) {
  __shared__ unsigned tile[32][33];
  for (unsigned j = threadIdx.y; j < 32; j += 8) tile[j][threadIdx.x] = x[32 * j + threadIdx.x];
  __syncthreads();
  for (unsigned j = threadIdx.y; j < 32; j += 8) y[32 * j + threadIdx.x] = tile[threadIdx.x][j];
}
""")
    (folder / "t_case.py").write_text("""from mfmasim.verify import case, In, Out

@case("t.hip", kernel="t", arch="gfx942")
def t():
    return dict(grid=1, block=(32, 8), args=[Out("u32", (32, 32)), In("u32", (32, 32))], expect=lambda x: x.T.copy())
""")
    return folder / "t_case.py"
