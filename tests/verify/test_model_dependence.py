"""Candidate models: what each changes, the slow model under each, and which outputs of a kernel depend on them."""

from __future__ import annotations

import functools
import json

import numpy as np
import pytest

import mfmasim
from mfmasim.architectures import ARCHITECTURES
from mfmasim.cli import main
from mfmasim.errors import MfmasimError
from mfmasim.lab.agreement.model_dependence import compared, dependence
from mfmasim.matrix.arithmetic.dispatch import multiply
from mfmasim.matrix.candidates import CANDIDATES, candidate, changed
from mfmasim.matrix.models import MODELS
from mfmasim.matrix.request import Formats, Operands
from tests.slow.matrix.dot import dot

CASE = """
from mfmasim.verify import case, A, B, C

@case("plain.hip", kernel="plain", arch=["gfx1250"])
def plain(K=128):
    a, b = A("fp8", (16, K)), B("fp8", (K, 16), order="column")
    c = C("f32", (16, 16))
    return dict(grid=1, block=32, args=[a, b, c], expect=a @ b)
"""
SOURCE = """
#include <hip/hip_runtime.h>
typedef int v16i __attribute__((ext_vector_type(16)));
typedef float v8f __attribute__((ext_vector_type(8)));
extern "C" __global__ void plain(const int *a, const int *b, float *c) {
  v16i x, y;
  const int row = threadIdx.x % 16, half = threadIdx.x / 16;
  for (int n = 0; n < 16; ++n) {
    const int k = n / 2 * 4 + half * 2 + n % 2;
    x[n] = a[row * 32 + k];
    y[n] = b[row * 32 + k];
  }
  v8f d = {};
  d = __builtin_amdgcn_wmma_f32_16x16x128_fp8_fp8(x, y, (short)0, d, false, false);
  for (int n = 0; n < 8; ++n) c[(half * 8 + n) * 16 + row] = d[n];
}
"""


def test_assumed_rows_alone_change():
    for name, arch in ARCHITECTURES.items():
        for one in CANDIDATES:
            for model, row in changed(arch, one).items():
                assert MODELS[model].fidelity == "assumed"
                assert (row.name, row.fidelity) == (model, "assumed"), name
                assert not row.scale_point or row.group == 16
    assert not changed(mfmasim.arch("gfx1100"), "exact16")
    assert "cdna5_scale" in changed(mfmasim.arch("gfx1250"), "cut24by64")
    assert "cdna5_scale" not in changed(mfmasim.arch("gfx1250"), "exact64")
    with pytest.raises(MfmasimError, match="unknown model 'cut24by18'; did you mean 'cut24by16'"):
        candidate("cut24by18")


@pytest.mark.parametrize("name", CANDIDATES)
def test_the_slow_model_agrees(name):
    """Each candidate, on values of many magnitudes, one of which cancels another."""
    rng = np.random.default_rng(5)
    fmt, f32 = mfmasim.format("e5m2"), mfmasim.format("f32")
    a = fmt.encode(rng.normal(size=(3, 128)) * 2.0 ** rng.integers(-12, 12, (3, 128)))
    b = fmt.encode(rng.normal(size=(128, 2)) * 2.0 ** rng.integers(-2, 2, (128, 2)))
    a[:, 64], b[64] = a[:, 3] ^ 0x80, b[3]
    c = f32.encode(rng.normal(size=(3, 2)))
    row = changed(mfmasim.arch("gfx1250"), name)["cdna5_fp8"]
    fast = multiply(row, Formats("e5m2", "e5m2", "f32"), Operands(a, b, c))
    for i, j in np.ndindex(3, 2):
        assert int(fast[i, j]) == dot(row, "e5m2", "e5m2", "f32", a[i].tolist(), b[:, j].tolist(), int(c[i, j]))


def test_what_is_said_of_an_output():
    base, held = np.array([[1, 2], [3, 4]], np.uint32), np.array([[1, 2], [5, 6]], np.uint32)
    found = compared("exact32", ("cdna5_fp8",), "C", base, held)
    assert found.text == "exact32: C depends on it, 2 of 4 elements; [1, 0] is 0x3, with it 0x5"
    same = compared("exact32", ("cdna5_fp8",), "C", base, base)
    assert same.text == "exact32: C does not depend on it, 4 elements"
    assert compared("exact32", (), "C", base, base).text.endswith(
        "changes no model of the kernel's matrix instructions"
    )


def test_the_command(tmp_path, capsys):
    """One instruction: what cuts terms early changes outputs; exact sums and the assumed row nearly agree here."""
    (tmp_path / "plain.hip").write_text(SOURCE)
    (tmp_path / "my_case.py").write_text(CASE)
    options = ["--model", "cut14by16", "--model", "exact64", "--json", str(tmp_path / "out.json")]
    assert main(["verify", str(tmp_path / "my_case.py"), *options]) == 0
    assert "cut14by16: C depends on it, 2" in capsys.readouterr().out
    (result,) = json.loads((tmp_path / "out.json").read_text())
    cut, exact = result["models"]
    assert cut["elements"] == 256
    assert cut["different"] > 200 > exact["different"]
    assert cut["models"] == ["cdna5_fp8"]
    assert result["fidelity"]["matrix"] == "assumed"
    assert main(["verify", str(tmp_path / "my_case.py"), "--model", "cut14"]) == 2
    assert "unknown model 'cut14'" in capsys.readouterr().err


def test_where_nothing_is_assumed():
    with pytest.raises(MfmasimError, match="--model exact32: no matrix instruction of gfx1100 has an assumed model"):
        dependence(functools.partial(CANDIDATES.get, "exact32"), "gfx1100", ["exact32"])
