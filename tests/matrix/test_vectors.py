"""Hardware captures of golden/hardware and reference-model vectors, all of them, against the fast arithmetic."""

import hashlib
import json
import os
from pathlib import Path

import numpy as np
import pytest

from mfmasim.architectures import ARCHITECTURES
from mfmasim.matrix.models import MODELS, model_for
from tests.captures import HARDWARE, MANIFEST, dots, table
from tests.matrix.flat import multiply
from tests.oracles import require

SHARED = Path(os.environ.get("MFMASIM_SHARED") or Path(__file__).parents[3] / "shared") / "data"
VECTORS = sorted((SHARED / "reference_vectors").glob("CDNA*.npz"))
HOW = "set MFMASIM_SHARED to the folder that holds data/reference_vectors"

# The single-instruction captures are of V_DOT2_F32_*, which is one DOT step: gfx12's has one pair where WMMA has two.
CAPTURED = {("gfx1100", "f16"): "rdna3_f16", ("gfx1100", "bf16"): "rdna3_bf16", ("gfx1201", "f16"): "rdna4_16bit",
            ("gfx1201", "bf16"): "rdna4_16bit"}  # fmt: skip


def load(path):
    vectors = np.load(path)
    return vectors, json.loads(str(vectors["meta"]))


def is_nan(bits, fmt):
    inf = {"f32": np.uint32(0x7F800000), "f64": np.uint64(0x7FF << 52)}[fmt]
    sign = {"f32": np.uint32(1 << 31), "f64": np.uint64(1 << 63)}[fmt]
    return (bits & ~sign) > inf


def parametrize(paths):
    return pytest.mark.parametrize("path", paths or [None], ids=lambda p: p.stem if p else "none")


@pytest.mark.parametrize("key", dots(), ids="-".join)
def test_hardware_captures_bit_for_bit(key):
    fmt, a, b, c, d = dots()[key]
    model = MODELS[CAPTURED[key[0], fmt]]
    assert model.fidelity == "hardware"
    np.testing.assert_array_equal(multiply(model, fmt, fmt, "f32", a, b, c), d)


def test_the_manifest_is_that_of_the_captures():
    for entry in MANIFEST["files"]:
        path = HARDWARE / entry["file"]
        assert hashlib.sha256(path.read_bytes()).hexdigest() == entry["sha256"]
        assert path.suffix != ".csv" or len(table(entry["file"])) == entry["rows"]
    tables = {path.name for path in HARDWARE.glob("*.csv")}
    assert tables == {entry["file"] for entry in MANIFEST["files"] if entry["file"].endswith(".csv")}
    assert sum(len(arrays[-1]) for arrays in dots().values()) == 272
    assert len(dots()) == 8


@pytest.mark.oracle
@parametrize(VECTORS)
def test_reference_vectors_bit_for_bit(path):
    require("reference vectors", path is not None, HOW)
    vectors, meta = load(path)
    a, b = ("xf32", "xf32") if meta["xf32"] else (meta["a"], meta["b"])
    arch = next(arch for arch in ARCHITECTURES.values() if arch.family == meta["arch"])
    model = model_for(arch, "mfma", a, b, meta["d"], meta["k"])
    assert model.fidelity == "reference"
    d = multiply(model, a, b, meta["d"], vectors["a"], vectors["b"], vectors["c"])
    # The payload of a CDNA NaN is not known.
    same = (d == vectors["d"]) | (is_nan(d, meta["d"]) & is_nan(vectors["d"], meta["d"]))
    compared = int(vectors["valid"].sum())
    assert compared >= 7900
    wrong = np.argwhere(~same & vectors["valid"])
    assert len(wrong) == 0, f"{len(wrong)} of {compared}, first at {wrong[0]}"


@pytest.mark.oracle
def test_vector_files_are_all_there():
    require("reference vectors", bool(VECTORS), HOW)
    assert len(VECTORS) == 7
