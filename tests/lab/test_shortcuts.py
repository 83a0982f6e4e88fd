"""Shortcuts: each pattern is named for the kernel that takes it, and its honest twin is not accused."""

from pathlib import Path

import pytest

from mfmasim.agents.asking import answer
from mfmasim.lab.shortcuts import PATTERNS, shortcuts_of
from mfmasim.machine.launch.quota import Quota
from mfmasim.verify import find, select, verify_case
from tests.agents.planted import PROBLEMS, source
from tests.lab.shortcut_kernels import PAIRS
from tests.tiers import tiers

ROOT = Path(__file__).resolve().parents[2]


def checked(text, problem, folder):
    """The answer of `check`."""
    return answer("check", {**problem, "source": text}, folder, [], 60.0, lambda _: None).record()


def named(record):
    """Names of the shortcuts of an answer."""
    return [part.partition(":")[0] for part in record["facts"].get("shortcuts", "").split("; ") if part]


@pytest.mark.commit
@pytest.mark.parametrize("name", tiers(PAIRS, ("known-inputs", "one-size", "ignores-input", "stale-memory")))
def test_the_shortcut_is_named_and_the_twin_passes(name, tmp_path):
    (text, problem), (honest, own) = PAIRS[name]
    found = checked(text, problem, tmp_path)
    assert found["verdict"] == "fail"
    assert named(found)[0] == name
    twin = checked(honest, own, tmp_path)
    assert (twin["verdict"], named(twin)) == ("pass", [])


def test_every_pattern_has_a_pair():
    assert set(PAIRS) == set(PATTERNS)
    assert len(PATTERNS) >= 10


@pytest.mark.long
@pytest.mark.parametrize("kernel", PROBLEMS)
def test_kernels_of_the_desk_are_not_accused(kernel, tmp_path):
    found = checked(source(kernel), PROBLEMS[kernel], tmp_path)
    assert (found["verdict"], named(found)) == ("pass", [])


@pytest.mark.long
@pytest.mark.parametrize("family", ["cast", "gemm_blockscale"])
def test_kernels_of_the_package_are_not_accused(family):
    judged = 0
    for _, cases in find(family):
        for case, arch in select(cases, "gfx942"):
            launch = case.make()
            if arch in case.skip or case.fails or not launch.plain or not callable(launch.expect):
                continue
            result = verify_case(case, arch)
            found = shortcuts_of(case, case.compiled(arch), result, Quota(seconds=60))
            assert not found, (case.title, found)
            judged += 1
            if judged == 6:
                return
    assert judged


def test_the_page_has_the_table():
    """docs/agents.md: each pattern with what it does, what shows it, and what is not accused."""
    text = (ROOT / "docs" / "agents.md").read_text()
    assert len(PATTERNS) >= 10
    for row in PATTERNS.values():
        assert f"| `{row.name}` | {row.about} | {row.shown_by} | {row.honest} |" in text
