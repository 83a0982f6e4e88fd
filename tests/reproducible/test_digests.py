"""What the shipped cases compute and report is what `digests.csv` records, on every platform."""

import os
import subprocess
import sys

import pytest
from numpy._core._multiarray_umath import __cpu_dispatch__ as DISPATCH
from numpy._core._multiarray_umath import __cpu_features__ as FEATURES

import mfmasim
from mfmasim.lab.rebuild import COMPILER, PREBUILT
from mfmasim.toolchain import find_compiler
from mfmasim.toolchain.discovery import find_zig
from tests.longtier import turn
from tests.oracles import require
from tests.reproducible.digests import difference, loaded, read, row, runs

RUNS = {(group, case.title, arch): (group, case, arch) for group, case, arch in runs()}
GROUPS = sorted({group for group, _, _ in RUNS})
# One architecture of each family, by a case that takes a second at most; the whole of what approximates functions.
QUICK = {
    "attention": ("gfx942", "mfma"),
    "cast": ("gfx950", "transpose_rest"),
    "gemm_fp8": ("gfx950", "lds_tiled"),
    "hazards": ("gfx1100", "reciprocal_rdna"),
    "isa/maths": ("gfx950", ""),
    "lds": ("gfx942", "tile"),
    "wmma": ("gfx1201", "no_prefetch"),
    "wmma/scaled": ("gfx1151", "gemm_64x64_apart"),
    "wmma/streams": ("gfx1151", "add_streams"),
    "wmma_types": ("gfx1201", "i8_i8_bits"),
}
LATER = {"gemm_fp8/scheduled", "gemm_mx/scheduled"}
"""Families none of whose cases is quick."""


SETTINGS = {
    "hash seed": {"PYTHONHASHSEED": "12345"},
    "no vector instructions": {"NPY_DISABLE_CPU_FEATURES": " ".join(name for name in DISPATCH if FEATURES[name])},
    "an old processor's sums": {"OPENBLAS_CORETYPE": "Prescott"},
    "other sums": {"OPENBLAS_CORETYPE": "Haswell", "OPENBLAS_NUM_THREADS": "2"},
    "one thread": {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
    "elsewhere": {"LC_ALL": "tr_TR.UTF-8", "TZ": "Asia/Kolkata", "PYTHONUTF8": "0", "PYTHONOPTIMIZE": "1"},
}
"""Environment variables that stand for other processors and machines."""


def quick(group):
    """Keys of a family that the quick tier runs; by default the first."""
    arch, start = QUICK.get(group, ("", ""))
    keys = [key for key in RUNS if key[0] == group]
    return [key for key in keys if key[2] == arch and key[1].startswith(start)] if arch else keys[:1]


def differences(keys):
    """What differs from the table, in words."""
    table = read()
    found = {key: difference(table.get(key), row(*RUNS[key])) for key in keys}
    return [f"{' '.join(key)}: {text}" for key, text in found.items() if text]


def same_compiler(group):
    """Go on where the family's code objects are those that the table was made with; prebuilt ones always are."""
    if group in PREBUILT:
        return
    (made,) = {one.compiler for one in read().values() if one.group == group}
    here = find_compiler(COMPILER).description if find_zig() else "none"
    require(f"{made}, which the table was made with", made == here, f"found: {here}")


def test_the_table_has_a_row_for_each_case_and_architecture():
    table = read()
    assert set(table) == set(RUNS)
    assert len(table) >= 1300
    assert {group for group, _, _ in table} == set(GROUPS)


def test_a_line_that_moves_changes_no_digest_and_an_instruction_does(tmp_path):
    text = "#include <hip/hip_runtime.h>\n__global__ void scale(float *values) { values[threadIdx.x] *= 3; }\n"
    source, found = tmp_path / "scale.hip", []
    for written in (text, f"// scales\n{text}", text.replace("3", "5")):
        source.write_text(written)
        found.append(mfmasim.compile(source, "gfx942").object)
    one, moved, other = found
    assert one.sha256 != moved.sha256
    assert loaded(one) == loaded(moved) != loaded(other)


@pytest.mark.oracle
@pytest.mark.parametrize("group", [group for group in GROUPS if group not in LATER])
def test_one_architecture_of_each_family(group):
    same_compiler(group)
    keys = quick(group)
    assert keys
    assert differences(keys) == []


@pytest.mark.oracle
@pytest.mark.long
@pytest.mark.parametrize("group", GROUPS)
def test_every_case(group):
    """A quarter each round; that each case is right is proved by the tests of its family."""
    same_compiler(group)
    keys = [key for key in RUNS if key[0] == group]
    keys = turn(keys, 4) or keys[:1]
    assert differences(keys) == []


def check(settings, *groups):
    """Compare families with the table in a new process."""
    command = (sys.executable, "-m", "tests.reproducible.digests", "--check", *groups)
    environment = os.environ | settings
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


EVERYTHING = {name: value for settings in SETTINGS.values() for name, value in settings.items()}
"""All at once: differences of two settings do not cancel."""


def test_settings_of_another_machine_change_nothing():
    assert check(EVERYTHING, "intro") == "8 cases, 0 differ\n"


@pytest.mark.oracle
@pytest.mark.long
def test_settings_of_another_machine_change_no_approximation():
    same_compiler("isa/maths")
    found = check(EVERYTHING, "attention", "isa/conversions", "isa/f16", "isa/f64", "isa/maths")
    assert found.endswith(" cases, 0 differ\n")
