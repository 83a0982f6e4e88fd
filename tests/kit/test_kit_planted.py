"""The kit on simulated GPUs: one that differs from the rows in one parameter, with a noisy clock, a fault, a hang."""

import importlib.util
import json
import os
import subprocess
import sys

import pytest

from mfmasim.lab.calibration import phase_probes
from mfmasim.lab.kit.assumed import assumed_rows
from mfmasim.lab.kit.kernels import operation_kernels
from mfmasim.lds import phase_tables
from tests.oracles import require

pytestmark = [pytest.mark.long, pytest.mark.oracle]

PLANTED = {
    "gfx950": [
        ("model cdna4_f32", "--model cdna4_f32.flush_output=signed", "flush_output"),
        ("model cdna4_f64", "--model cdna4_f64.flush_inputs=signed", "flush_inputs"),
        ("model cdna4_16bit", "--model cdna4_16bit.group=4", "group"),
        ("model cdna4_fp8", "--model cdna4_fp8.partial_sums=1", "partial_sums"),
        ("model cdna4_f8f6f4", "--model cdna4_f8f6f4.group=32", "group"),
        ("model cdna4_f8f6f4_scale", "--model cdna4_f8f6f4_scale.addend_bits=26", "addend_bits"),
        ("model cdna4_sparse_16bit", "--model cdna4_sparse_16bit.product_rounding=floor", "product_rounding"),
        ("model cdna4_sparse_fp8", "--model cdna4_sparse_fp8.group=8", "group"),
    ],
    "gfx942": [
        ("model cdna3_sparse_16bit", "--model cdna3_sparse_16bit.product_rounding=floor", "product_rounding"),
        ("model cdna3_sparse_fp8", "--model cdna3_sparse_fp8.nan_invalid=0xffc00000", "nan_invalid"),
    ],
    "gfx1250": [
        ("model cdna5_f32", "--model cdna5_f32.flush_inputs=positive", "flush_inputs"),
        ("model cdna5_16bit", "--model cdna5_16bit.group=4", "group"),
        ("model cdna5_fp8", "--model cdna5_fp8.addend_bits=22", "addend_bits"),
        ("model cdna5_scale", "--model cdna5_scale.sum_bits=28", "sum_bits"),
        ("model cdna5_sparse_16bit", "--model cdna5_sparse_16bit.product_bits=22", "product_bits"),
        ("model cdna5_sparse_fp8", "--model cdna5_sparse_fp8.partial_sums=1", "partial_sums"),
    ],
    "gfx1201": [
        ("model rdna4_fp8", "--model rdna4_fp8.addend_bits=24", "addend_bits"),
        ("model rdna4_sparse_16bit", "--model rdna4_sparse_16bit.pair=4", "pair"),
        ("model rdna4_sparse_f16_out", "--model rdna4_sparse_f16_out.addend_bits=24", "addend_bits"),
        ("model rdna4_sparse_bf16_out", "--model rdna4_sparse_bf16_out.addend_bits=22", "addend_bits"),
        ("model rdna4_sparse_fp8", "--model rdna4_sparse_fp8.pair=2", "pair"),
    ],
}


@pytest.fixture(scope="module", autouse=True)
def hip_python():
    require("hip-python", importlib.util.find_spec("hip") is not None, "pip install -e '.[test]'")


def mfmasim(*words, **variables):
    command = [sys.executable, "-m", "mfmasim", *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, **variables})


def kit(path, arch, *options, only=(), fault=(), **variables):
    parts = [word for part in only for word in ("--only", part)]
    faults = [word for one in fault for word in ("--fault", one)]
    words = [
        "hiprt",
        "--arch",
        arch,
        *options,
        *faults,
        "--",
        sys.executable,
        "-m",
        "mfmasim",
        "gpu",
        "kit",
        "--out",
        path,
    ]
    return mfmasim(*words, "--quick", *parts, **variables)


def judged(path):
    ran = mfmasim("gpu", "kit", "check", path, "--json")
    assert ran.returncode in (0, 1), ran.stderr
    return {f"{row['kind']} {row['name']}": row for row in json.loads(ran.stdout)["rows"]}


@pytest.mark.parametrize("arch", PLANTED)
def test_every_planted_model_is_found_and_no_other_row_is_blamed(tmp_path, arch):
    path = tmp_path / "kit"
    options = [word for _, text, _ in PLANTED[arch] for word in text.split()]
    ran = kit(path, arch, *options, only=["matrix"])
    assert ran.returncode == 0, ran.stdout + ran.stderr
    rows = judged(path)
    planted = {title: parameter for title, _, parameter in PLANTED[arch]}
    assert planted.keys() == {row.title for row in assumed_rows(arch) if row.kind == "model"}
    for title, parameter in planted.items():
        assert rows[title]["status"] == "contradicted", rows[title]
        assert set(rows[title]["parameters"]) == {parameter}, rows[title]
    assert {title for title, row in rows.items() if row["status"] == "contradicted"} == planted.keys()


def test_a_parameter_that_another_could_stand_in_for_is_named(tmp_path):
    ran = kit(tmp_path / "kit", "gfx942", "--model", "cdna3_sparse_16bit.sum_bits=28", only=["matrix"])
    assert ran.returncode == 0, ran.stdout + ran.stderr
    row = judged(tmp_path / "kit")["model cdna3_sparse_16bit"]
    assert (row["status"], row["parameters"]) == ("contradicted", {"sum_bits": {"row": 32, "device": 28}})


@pytest.mark.parametrize("arch", ["gfx950", "gfx942", "gfx1100", "gfx1201"])
def test_every_planted_operation_is_found(tmp_path, arch):
    path = tmp_path / "kit"
    probed = operation_kernels(arch)
    options = [word for name in probed for word in ("--operation", f"{name}.result=inverted")]
    ran = kit(path, arch, *options, only=["operations"])
    assert ran.returncode == 0, ran.stdout + ran.stderr
    rows = judged(path)
    assert len(probed) > {"gfx1100": 80, "gfx1201": 65}.get(arch, 90)  # what captures settle needs no probe
    found = {name: (rows[f"operation {name}"]["status"], *rows[f"operation {name}"]["parameters"]) for name in probed}
    assert {name: one for name, one in found.items() if one != ("contradicted", "result")} == {}


def other_phases(arch):
    """For every assumed row that is probed, other lanes on another number of banks."""
    probed = {probe.row for probe in phase_probes.chosen(arch)}
    for row in assumed_rows(arch):
        if row.kind == "phase" and row.name in probed:
            table = phase_tables(arch)[row.name]
            yield row.name, "C8" if table.lanes == "C16" else "C16", 64 if table.banks == 32 else 32


@pytest.mark.parametrize("arch", ["gfx950", "gfx942", "gfx1100", "gfx1201"])
def test_every_planted_phase_is_found_through_a_noisy_clock(tmp_path, arch):
    path = tmp_path / "kit"
    planted = {f"phase {name}": (lanes, banks) for name, lanes, banks in other_phases(arch)}
    options = [w for row, (lanes, banks) in planted.items() for w in ("--phases", f"{row[6:]}={lanes}/{banks}")]
    ran = kit(path, arch, *options, "--noise", "6", only=["lds", "crowded"])
    assert ran.returncode == 0, ran.stdout + ran.stderr
    rows = judged(path)
    found = {row: rows[row]["parameters"] for row in planted}
    device = {row: {name: one["device"] for name, one in changed.items()} for row, changed in found.items()}
    assert device == {row: {"lanes": lanes, "banks": banks} for row, (lanes, banks) in planted.items()}


@pytest.mark.parametrize("arch", ["gfx950", "gfx1100"])
def test_planted_phases_are_found_through_a_noisy_clock(tmp_path, arch):
    path = tmp_path / "kit"
    ran = kit(path, arch, "--phases", "write b8=C16/64", "--noise", "6", only=["lds"])
    assert ran.returncode == 0, ran.stdout + ran.stderr
    rows = judged(path)
    wrong = {title for title, row in rows.items() if row["status"] == "contradicted"}
    assert wrong == {"phase write b8"}
    assert set(rows["phase write b8"]["parameters"]) <= {"banks", "lanes"}


def test_a_fault_and_a_hang_cost_their_probe(tmp_path):
    path = tmp_path / "kit"
    faults = ("hipModuleLaunchKernel#5@abort", "hipModuleLaunchKernel#9@hang")
    ran = kit(path, "gfx942", only=["operations"], fault=faults, MFMASIM_TIMEOUT="2")
    assert ran.returncode == 1, ran.stdout + ran.stderr
    assert "103 probes done, 2 failed" in ran.stdout
    assert "SIGABRT" in ran.stdout
    assert "did not end within 2 s" in ran.stdout
    again = kit(path, "gfx942", only=["operations"])
    assert again.returncode == 0, again.stdout
    rows = judged(path)
    assert not [row for row in rows.values() if row["status"] == "contradicted"]
    settled = [row for row in rows.values() if row["kind"] == "operation" and row["status"] == "settled"]
    assert len(settled) > 90
