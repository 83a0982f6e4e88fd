"""spills: registers in scratch, reported for a kernel that has them, where it is asked for."""

from dataclasses import replace

import pytest

from mfmasim.verify import find, verify_case

CASES = {case.title: case for _, cases in find("zoo") for case in cases if case.title.startswith("turboquant_295")}


@pytest.mark.parametrize(
    ("version", "checks", "found"), [("before", "spills", 1), ("before", "all", 0), ("after", "spills", 0)]
)
def test_spilled_registers_are_counted_where_they_are_asked_for(version, checks, found):
    case = replace(CASES[f"turboquant_295[version={version}]"], checks=checks, fails=())
    result = verify_case(case, "gfx1100")
    assert [(one.id, one.severity) for one in result.findings] == [("spills-vgprs", "info")] * found
    for one in result.findings:
        kernel = case.compiled("gfx1100")
        registers, scratch = kernel.info.metadata.vgpr_spill_count, result.executed
        assert one.message.startswith(f"{registers} VGPRs are spilled: ")
        assert one.count == sum(n for name, n in scratch.items() if name.startswith("scratch_"))
        assert one.instruction.startswith("scratch_")
        assert one.source == "turboquant_295.hip:9"
