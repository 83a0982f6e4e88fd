"""hipkernels/conformance/isa: each does what its NumPy reference says, with the instructions it is there for."""

import re

import pytest

from mfmasim.architectures import arch as arch_of
from mfmasim.cli import main
from mfmasim.resources import folder
from mfmasim.toolchain import find_compiler
from mfmasim.verify import find, select, verify_case
from tests.oracles import require

GROUPS = find("isa")
CASES = [(name, case, arch) for name, cases in GROUPS for case, arch in select(cases, None, None)]
KERNELS = {(case.source.name, case.kernel_name()) for _, case, _ in CASES}
QUICK = set({(g, c.title, arch_of(a).family[:4]): (g, c.title, a) for g, c, a in CASES if a not in c.skip}.values())
"""One architecture of CDNA and one of RDNA; the long tier takes all."""
SKIPPED = {(case.name, arch) for _, case, arch in CASES if arch in case.skip}


@pytest.fixture(scope="module", autouse=True)
def compiler():
    require("a HIP compiler", find_compiler() is not None, "pip install -e '.[test]'")


@pytest.mark.oracle
@pytest.mark.parametrize(
    ("group", "case", "arch"),
    [
        pytest.param(
            g, c, a, id=f"{g}-{c.title}-{a}", marks=() if (g, c.title, a) in QUICK or a in c.skip else pytest.mark.long
        )
        for g, c, a in CASES
    ],
)
def test_kernel_does_what_its_reference_says(group, case, arch):
    result = verify_case(case, arch, group=group)
    if arch in case.skip:
        assert result.status == "skipped"
        return
    assert result.status == "pass", [f.lines() for f in result.findings]
    assert result.outputs["elements"] > 0
    assert all(f.severity == "info" for f in result.findings)
    assert sum(result.executed.values()) > 5


def written(path):
    """Names of the kernels in a source, whatever attributes stand around them."""
    plain = re.sub(r"__attribute__\s*\(\(.*?\)\)|__launch_bounds__\s*\([^)]*\)", "", path.read_text())
    return {(path.name, name) for name in re.findall(r"__global__\s+void\s+(\w+)\s*\(", plain)}


def test_every_kernel_has_a_case():
    """No `.hip` file holds a kernel that no case verifies."""
    found = set().union(*map(written, (folder("hipkernels") / "conformance" / "isa").rglob("*.hip")))
    assert found - KERNELS == set()
    assert len(found) >= 60


def test_every_kernel_names_the_instructions_it_is_there_for():
    assert [case.title for _, case, _ in CASES if not case.executes] == []


def test_few_are_left_out():
    assert len(SKIPPED) <= 12


def test_command_line_takes_the_folder(capsys):
    assert main(["verify", "isa", "--case", "fused", "--arch", "gfx942"]) == 0
    printed = capsys.readouterr().out
    assert "1,000/1,000" in printed
    assert "2 pass" in printed
