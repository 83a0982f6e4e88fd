"""Performance counters against captures of three GPUs."""

import hashlib
import json
import math

import pytest

from mfmasim.architectures import ARCHITECTURES
from mfmasim.cli import main
from mfmasim.devices.counters import rows_of
from tests.captures import HARDWARE, MANIFEST
from tests.cost.launches import LAUNCHES, kernel_of, report_of

NOT_MODELLED = {
    "SQ_BUSY_CYCLES", "GRBM_GUI_ACTIVE",  # clocks of the whole GPU
    "GL2C_HIT", "GL2C_MISS", "TCC_HIT", "TCC_MISS",  # what the L2 held before
}  # fmt: skip
COMPARED = 4
"""VALU, SALU, clocks and conflicts of the LDS."""


@pytest.mark.parametrize("name", LAUNCHES)
def test_counters_are_those_of_the_hardware(name):
    found, captured = report_of(name).counters, LAUNCHES[name]["counters"]
    compared = {counter: value for counter, value in captured.items() if counter not in NOT_MODELLED}
    assert len(compared) == COMPARED
    assert {counter: found[counter] for counter in compared} == compared


def test_rows_name_the_captures_that_confirm_them():
    """A counter is said to be confirmed on an architecture exactly where a capture has it."""
    seen = {}
    for name, launch in LAUNCHES.items():
        for row in rows_of(kernel_of(name)):
            if row.name in launch["counters"]:
                seen.setdefault(row.name, set()).add(launch["arch"])
    assert seen
    rows = {row.name: row for name in LAUNCHES for row in rows_of(kernel_of(name))}
    assert {name: set(row.captures) for name, row in rows.items() if row.captures} == seen
    assert {name for name, arch in ARCHITECTURES.items() if arch.captured_counters} == {
        launch["arch"] for launch in LAUNCHES.values()
    }


def test_phases_without_active_lanes_take_their_clock():
    """One lane of 16 reads 64 bytes; the GPUs count all four phases of each read."""
    (lds,) = {name: report_of(name).lds for name in LAUNCHES if name == "gfx950_gemm_run_0_r_32_32_16_2"}.values()
    assert (lds["clocks"], lds["extra_passes"]) == (18432, 0)
    assert sum(site["passes"] for site in lds["sites"]) == 5120


def test_the_manifest_has_every_file():
    files = {str(path.relative_to(HARDWARE)) for path in HARDWARE.rglob("*") if path.is_file()} - {"manifest.json"}
    assert files == {row["file"] for row in MANIFEST["files"]}
    for row in MANIFEST["files"]:
        assert hashlib.sha256((HARDWARE / row["file"]).read_bytes()).hexdigest() == row["sha256"], row["file"]
        assert row["licence"].startswith("MIT")


def test_matrix_instructions_are_counted_by_type(capsys):
    """Operations are counted in units of 512, as if every lane were active."""
    assert main(["report", "intro", "--arch", "gfx942", "--json", "-"]) == 0
    found = {one["case"]: one["counters"] for one in json.loads(capsys.readouterr().out)}
    for case, kind, shape in (
        ("f32_32x32x2", "F32", (32, 32, 2)),
        ("f16_16x16x16", "F16", (16, 16, 16)),
        ("fp8_32x32x16[a=fp8,b=bf8]", "F8", (32, 32, 16)),
    ):
        assert found[case]["SQ_INSTS_MFMA"] == found[case][f"SQ_INSTS_VALU_MFMA_{kind}"] == 1
        assert found[case][f"SQ_INSTS_VALU_MFMA_MOPS_{kind}"] == 2 * math.prod(shape) // 512
        assert found[case]["SQ_INSTS_VALU"] > 1


def test_run_prints_and_writes_counters(capsys):
    launch = LAUNCHES["gfx1201_sync_run_0_custom_lds_sync"]
    given = ["run", str(HARDWARE / launch["object"]), "--block", "128", "--arg", "f32:128=0", "--checks", "conflicts"]
    assert main([*given, "--counters", "--quiet"]) == 0
    shown = capsys.readouterr().out
    assert "SQC_LDS_IDX_ACTIVE" in shown
    assert "gfx1100, gfx1201" in shown
    assert main([*given, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["counters"]["SQ_INSTS_VALU"] == 24
