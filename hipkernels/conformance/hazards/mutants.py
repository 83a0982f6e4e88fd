"""Wait states taken out, one or all at once: outputs stay right in the simulator, and the check must report each."""

from mfmasim.verify import Mutant


def fewer(
    name: str, case: str, line: str, states: int, *, all_of_them: bool = False, arch: str = "", equivalent: str = ""
) -> Mutant:
    """A variant with an s_nop that is one state shorter, or gone; `states` is what the kernel has."""
    left = '""' if states == 1 or all_of_them else f'"s_nop {states - 2}\\n"'
    edit = (f'"s_nop {states - 1}\\n"  // {line}', f"{left}  // {line}")
    caught = () if equivalent else ("hazards",)
    return Mutant(name, case, edit, caught, arch=arch, equivalent=equivalent)


def without(name: str, case: str, text: str, line: str, arch: str = "") -> Mutant:
    """A variant without an instruction, or with an s_nop instead."""
    return Mutant(name, case, (f'"{text}\\n"  // {line}', f'"s_nop 7\\n"  // {line}'), ("hazards",), arch=arch)


MUTANTS = [
    fewer("lane_select_too_early", "lane_select", "lane: select", 4),
    fewer("lane_select_at_once", "lane_select", "lane: select", 4, all_of_them=True, arch="gfx942"),
    fewer("scalar_constant_too_early", "lane_select", "lane: constant", 2),
    fewer("base_too_early", "scalar_base", "base: far", 5),
    fewer("base_at_once", "scalar_base", "base: far", 5, all_of_them=True, arch="gfx942"),
    fewer("other_lane_too_early", "other_lane", "dpp: far", 2),
    fewer("other_lane_at_once", "other_lane", "dpp: far", 2, all_of_them=True, arch="gfx942"),
    fewer("store_data_overwritten", "store_data", "store: data", 2),
    fewer("reciprocal_too_early", "reciprocal", "reciprocal: far", 1),
    fewer("mask_too_early", "reciprocal", "mask: far", 2),
    fewer("matrix_sources_too_early", "two_passes", "passes: sources", 2),
    fewer("accumulator_too_early", "two_passes", "passes: the same registers as C", 2),
    fewer("two_passes_too_early", "two_passes", "passes: result", 5),
    fewer("two_passes_at_once", "two_passes", "passes: result", 5, all_of_them=True, arch="gfx942"),
    fewer("four_passes_too_early", "result_as_source", "source: four passes", 8),
    fewer("eight_passes_too_early", "result_as_source", "source: eight passes", 10),
    fewer("source_overwritten_too_early", "source_overwritten", "overwritten: far", 7),
    fewer(
        "seven_states_after_four_passes",
        "result_as_source",
        "source: four passes",
        8,
        arch="gfx942",
        equivalent="CDNA3 requires 7 wait states, CDNA4 requires 8",
    ),
    without("chain_without_vector_instruction", "matrix_chain", "v_nop", "chain: between", arch="gfx1151"),
    without("chain_without_vector_instruction_gfx12", "matrix_chain", "v_nop", "chain: between"),
    without("permlane_after_cmpx", "reversed_rows", "v_nop", "rows: between"),
    without("reciprocal_without_wait", "reciprocal_rdna", "s_waitcnt_depctr 0xfff", "reciprocal: wait"),
]
