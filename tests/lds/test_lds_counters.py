"""Counters that ROCm/composable_kernel publishes of its tutorial 14 (`mfmasim.lds.SOURCES`, CKT), by kernels of ours.

Each kernel of transposes.hip lays its tile out, writes and reads as one of the tutorial's does. A published launch has
256 rows and 128 columns, or 65,536 rows and 256 columns: every wave does the same for each tile, so that a counter of
the larger launch is 512 times that of the smaller one.
"""

from functools import cache
from pathlib import Path

import numpy as np
import pytest

import mfmasim

SMALL, LARGE = 1, (65536 // 256) * (256 // 128)
# Kernel, architecture, size of the published launch, SQ_INSTS_LDS (None: not published), SQ_LDS_BANK_CONFLICT, where.
TRANSPOSES = [
    ("row_major", "gfx942", SMALL, None, 7168, "01, PROFILER_FINDINGS.md"),
    ("swizzled", "gfx942", SMALL, None, 3072, "04, pmc_1/simple_profile_counter_collection.csv"),
    ("row_major_f32", "gfx942", SMALL, 384, 15360, "01 of f32, PROFILER_FINDINGS.md"),
    ("swizzled_f32", "gfx942", SMALL, 640, 15360, "04 of f32, PROFILER_FINDINGS.md"),
    ("row_major", "gfx942", LARGE, 294912, 3670016, "01, deck"),
    ("column_major", "gfx942", LARGE, 294912, 1572864, "02, deck"),
    ("padded", "gfx942", LARGE, 327680, 786432, "03, deck"),
    ("swizzled_padded", "gfx942", LARGE, 294912, 0, "05, deck"),
    ("packs", "gfx942", LARGE, 65536, 0, "08, deck"),
    ("swizzled", "gfx950", SMALL, 576, 3072, "04, comment of 06"),
    ("swizzled_padded", "gfx950", SMALL, 576, 0, "05, comment of 06"),
    ("own_packs_64_banks", "gfx950", SMALL, 128, 0, "06, its comment"),
    ("packs_64_banks", "gfx950", SMALL, 128, 0, "07 and 08, comments of 06 and 10"),
    ("by_rows_64_banks", "gfx950", 2, 1152, 0, "10, its comment; 256 columns"),
]
# Lanes of each wave, waves, elements between lanes, reads, elements between them; SQ_LDS_BANK_CONFLICT on gfx942
# (CORRECTED_MULTI_WF_RESULTS.md, MULTI_WF_RESULTS.md, INTRA_LANE_RESULTS.md, inter_lane_results/pmc_1).
LANES = [
    (8, 1, 1, 1, 0, 0),
    (8, 1, 64, 1, 0, 7),
    (32, 1, 2, 1, 0, 0),
    (8, 2, 64, 1, 0, 14),
    (8, 4, 64, 1, 0, 28),
    (8, 2, 2, 1, 0, 0),
    (8, 4, 2, 1, 0, 0),
    (2, 2, 1, 1, 0, 0),
    (1, 1, 1, 8, 32, 0),
    (1, 1, 1, 8, 64, 0),
    (32, 1, 1, 8, 32, 0),
]


@cache
def kernels(arch):
    """The kernels of transposes.hip."""
    return mfmasim.compile(str(Path(__file__).with_name("transposes.hip")), arch=arch)


@cache
def counters(arch, name):
    """Of one launch of the smaller size, whose result is compared."""
    kind = np.float32 if name.endswith("f32") else np.float16
    given = np.arange(256 * 128).reshape(256, 128).astype(kind)
    taken = np.zeros((128, 256), kind)
    report = mfmasim.device("sim").launch(
        kernels(arch)[name], 4, 256, [given, taken, np.int32(128)], checks="conflicts"
    )
    assert (taken == given.T).all()
    return report.counters


@pytest.mark.parametrize(("name", "arch", "times", "instructions", "conflicts", "where"), TRANSPOSES)
def test_transposes_have_the_published_counters(name, arch, times, instructions, conflicts, where):
    found = counters(arch, name)
    assert times * found["SQ_LDS_BANK_CONFLICT"] == conflicts, where
    assert instructions in (None, times * found["SQ_INSTS_LDS"]), where


def test_all_published_counters_of_transposes_are_here():
    values = [v for *_, instructions, conflicts, _ in TRANSPOSES for v in (instructions, conflicts) if v is not None]
    assert len(values) == 26
    assert len(LANES) == 11


@pytest.mark.parametrize(("lanes", "waves", "step", "reads", "beyond", "conflicts"), LANES)
def test_some_lanes_have_the_published_conflicts(lanes, waves, step, reads, beyond, conflicts):
    taken = np.zeros(256, np.float16)
    arguments = [taken, *map(np.int32, (lanes, waves, step, reads, beyond))]
    report = mfmasim.device("sim").launch(kernels("gfx942")["some_lanes"], 1, 256, arguments, checks="conflicts")
    assert report.counters["SQ_LDS_BANK_CONFLICT"] == conflicts


def test_other_phases_of_narrow_reads_miss_the_counters():
    """Phases of all 64 lanes give half of what was counted, on either number of banks."""
    lane, wrong = np.arange(64), []
    column = lane % 8 * 8 * 64 + lane // 8 * 2
    for banks in (32, 64):
        table = mfmasim.lds.PhaseTable("C64", banks)
        wrong.append(8 * 64 * int(mfmasim.lds.conflicts("gfx942", "ds_read_u16", column, table=table).extra_passes))
    assert wrong == [3584, 3584]


def test_narrow_rows_are_measured_and_give_no_warning(recwarn):
    lane = np.arange(64)
    for name, address in (("ds_read_u16", lane * 2), ("ds_write_b16", lane * 2)):
        assert mfmasim.lds.conflicts("gfx942", name, address).confidence == "measured"
    for name in ("ds_read2_b32", "ds_write2_b32"):
        found = mfmasim.lds.conflicts("gfx942", name, lane * 4, offset=(0, 64))
        assert found.confidence == "measured"
    assert not recwarn.list
