"""hipkernels/conformance/lds: every LDS instruction, its bank conflicts as executed, copies and swizzled tiles."""

import numpy as np
import pytest

from mfmasim import lds
from mfmasim.lab.mutation.mutants import run_mutant
from mfmasim.verify import find, select, verify_case
from tests.hipkernels.family import caught, mutants, passes
from tests.slow import lds_conflicts
from tests.tiers import tiers

((_, CASES),) = find("lds")
ARCHS = ["gfx942", "gfx950", "gfx1151", "gfx1201"]
MUTANTS = mutants("lds")


def instructions(arch):
    return [case for case, a in select(CASES, arch) if case.title.startswith("instruction")]


@pytest.mark.parametrize("arch", ARCHS)
def test_every_lds_instruction_has_a_kernel(arch):
    names = {case.parameters["name"] for case in instructions(arch)}
    assert names <= set(lds.ds_instructions(arch))
    rows = {lds.ds_instruction(arch, name) for name in lds.ds_instructions(arch)}
    if not any(name.startswith("ds_load_") for name in names):
        assert {row.name for row in rows} == names


@pytest.mark.parametrize("part", tiers(range(8), [0]))
@pytest.mark.parametrize("arch", ARCHS)
def test_every_instruction_does_what_the_manual_says_and_its_conflicts_are_counted(arch, part):
    """Outputs against the reference; the accounts of the machine against a count in plain Python of the addresses."""
    every = instructions(arch)
    assert len(every) >= 110
    for case in every[part::8]:
        name = case.parameters["name"]
        result = passes(case, arch)
        row, table, wave = lds.ds_instruction(arch, name), lds.phase_table(arch, name), result.lds["lanes"]
        addresses = case.with_parameters({"wave": wave}).make().args[1].data.astype(int).tolist()
        if "addtid" in name:
            addresses = [4 * lane for lane in range(wave)]
        offsets = [32] if row.parts == 1 else [row.stride, 6 * row.stride]
        degrees = [
            lds_conflicts.degrees(table.sets(wave), table.banks, [a + offset for a in addresses], row.size)
            for offset in offsets
        ]
        sites = [s for s in result.lds["sites"] if s["instruction"] == name]
        found = [s["degrees"] for s in sites if s["executions"] == 1]  # the others fill the LDS and empty it
        assert tuple(d for part in degrees for d in part) in found, name


@pytest.mark.parametrize(
    ("swizzle", "expected"),
    [("none", (4, 4)), ("pairs", (2, 1)), ("offset", (2, 1)), ("row", (1, 1)), ("padded", (1, 1))],
)
@pytest.mark.parametrize("direct", ["", "_direct"])
def test_tiles_are_right_and_have_the_published_degrees(swizzle, direct, expected):
    """T11: 4-way without a swizzle; the published ones are free on gfx950 and 2-way on gfx942."""
    title = f"tile[swizzle={swizzle},direct={direct}]"
    if not any(case.title == title for case in CASES):
        assert (swizzle, direct) == ("padded", "_direct"), "loads to the LDS fill it without gaps"
        return
    for arch, degree in zip(("gfx942", "gfx950"), expected, strict=True):
        ((case, _),) = select(CASES, arch, title)
        result = verify_case(case, arch)
        assert result.status == "pass"
        assert result.mapping["slots_checked"] == 5632
        reads = [site for site in result.lds["sites"] if site["instruction"].startswith("ds_read_b128")]
        assert reads
        assert {site["degrees"] for site in reads} == {(degree,) * (8 if arch == "gfx942" else 4)}


@pytest.mark.parametrize("name", MUTANTS)
def test_every_mutant_is_caught_by_the_checks_it_names(name):
    caught(*MUTANTS[name])


@pytest.mark.trap("T1")
@pytest.mark.parametrize(
    ("name", "right", "outside", "named"),
    [
        ("copy_as_printed", 64, 48, {"buffer_load_dwordx4", "ds_read_b128"}),
        ("copy_as_printed_base_512", 0, 64, {"buffer_load_dwordx4", "ds_read_b128"}),
        ("copy_load_in_elements", 4, 0, {"buffer_load_dwordx4"}),
        ("copy_read_scaled_twice", 4, 48, {"ds_read_b128"}),
    ],
)
def test_the_printed_copy_and_its_halves(name, right, outside, named):
    """T1: how many floats arrive, how many lanes leave the allocation, and which instruction is named."""
    result = run_mutant(*MUTANTS[name]).result
    assert result.outputs["elements"] - result.outputs["mismatches"] == right
    assert sum(f.count for f in result.findings if f.check == "bounds" and f.severity == "error") == outside
    assert {f.instruction for f in result.findings if f.check == "strides"} == named


def test_no_right_kernel_is_warned_about_its_strides():
    right = select(CASES, None, ["copy", "tile"])
    assert len(right) >= 20
    for case, arch in right:
        assert not [f for f in verify_case(case, arch).findings if f.check == "strides"], (case.title, arch)


def test_slow_count_knows_a_conflict():
    """The judge itself: two dwords in one bank of 32 are two passes."""
    lanes = tuple(range(32))
    assert lds_conflicts.degrees((lanes,), 32, [4 * lane for lane in lanes], 4) == [1]
    assert lds_conflicts.degrees((lanes,), 32, np.array([8 * lane for lane in lanes]).tolist(), 4) == [2]
