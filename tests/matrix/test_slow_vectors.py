"""The slow model against hardware captures (every bit) and reference vectors (NaN as NaN)."""

import json
import os
import random
from pathlib import Path

import numpy as np
import pytest

from mfmasim.architectures import ARCHITECTURES
from mfmasim.matrix.models import model_for
from tests.captures import dots
from tests.oracles import require
from tests.slow.matrix import dot
from tests.slow.matrix.fixed import is_nan

HOME = Path(os.environ.get("MFMASIM_SHARED", Path(__file__).resolve().parents[3] / "shared")) / "data"
HOW = "set MFMASIM_SHARED to the folder that holds data/reference_vectors"
FAMILIES = {"CDNA1": "gfx908", "CDNA2": "gfx90a", "CDNA3": "gfx942"}

VECTORS = (
    "CDNA1__v_mfma_f32_16x16x16f16",
    "CDNA2__v_mfma_f32_16x16x16f16",
    "CDNA2__v_mfma_f64_16x16x4f64",
    "CDNA3__v_mfma_f32_16x16x16_f16",
    "CDNA3__v_mfma_f32_16x16x32_fp8_fp8",
    "CDNA3__v_mfma_f32_16x16x4_f32",
    "CDNA3__v_mfma_f32_16x16x8_xf32",
)


def compare(path, places=None):
    """Compare elements of a file; returns how many were compared. `places` bounds the elements of each case."""
    require(path.name, path.exists(), HOW)
    with np.load(path) as file:
        data = {key: file[key] for key in file.files}
    meta = json.loads(str(data["meta"]))
    form = "xf32" if meta.get("xf32") else None
    a_format, b_format = form or meta["a"], form or meta["b"]
    arch = ARCHITECTURES[FAMILIES[meta["arch"]]]
    model = model_for(arch, "mfma", a_format, b_format, meta["d"], meta["k"])
    source = random.Random(path.name)
    compared, wrong = 0, []
    cases, rows, columns = data["d"].shape
    for case in range(cases):
        every = [(i, j) for i in range(rows) for j in range(columns)]
        for i, j in every if places is None else source.sample(every, min(places, len(every))):
            if not data["valid"][case, i, j]:
                continue
            a, b = [int(x) for x in data["a"][case, i]], [int(x) for x in data["b"][case, :, j]]
            c, expected = int(data["c"][case, i, j]), int(data["d"][case, i, j])
            found = dot(model, a_format, b_format, meta["d"], a, b, c)
            both_nan = is_nan(found, meta["d"]) and is_nan(expected, meta["d"])
            compared += 1
            if found != expected and not both_nan:
                wrong.append((case, i, j, hex(found), hex(expected)))
    assert not wrong, f"{len(wrong)} of {compared} wrong, first {wrong[:3]}"
    return compared


@pytest.mark.parametrize("key", dots(), ids="-".join)
def test_equals_hardware_captures_in_every_bit(key):
    fmt, a, b, c, d = dots()[key]
    model = model_for(ARCHITECTURES[key[0]], "wmma", fmt, fmt, "f32", 16)
    found = [
        dot(model, fmt, fmt, "f32", *(x.ravel().tolist() for x in (a[i], b[i])), int(c[i, 0, 0])) for i in range(len(d))
    ]
    assert [hex(x) for x in found] == [hex(x) for x in d.ravel().tolist()]


@pytest.mark.oracle
@pytest.mark.parametrize("name", VECTORS)
def test_equals_a_sample_of_the_reference_vectors(name):
    assert compare(HOME / "reference_vectors" / f"{name}.npz", places=16) == 31 * 16


@pytest.mark.long
@pytest.mark.oracle
@pytest.mark.parametrize("name", VECTORS)
def test_equals_all_reference_vectors(name):
    assert compare(HOME / "reference_vectors" / f"{name}.npz") == 31 * 256
