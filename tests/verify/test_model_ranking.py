"""The ranking of candidate models: what exact sums give, what early cuts give, and what likelihood follows."""

from __future__ import annotations

import math

import numpy as np
import pytest

import mfmasim
from mfmasim.errors import MfmasimError
from mfmasim.lab.agreement.model_ranking import CONSTRAINTS, Constraint, _logarithm, _problem, candidates, rank, share
from mfmasim.matrix.candidates import CANDIDATES
from mfmasim.matrix.models import MODELS

ROW = MODELS["cdna5_fp8"]
SMALL = Constraint("gfx1250", 512, "v_wmma_f32_16x16x64_fp8_fp8", 0.0, "here")


def test_shares():
    """Exact sums are within the tolerance; sums that are cut early are not."""
    assert share(CANDIDATES["exact64"].applied(ROW), SMALL, 256) == 0
    assert share(ROW, SMALL, 256) == 0
    long = Constraint("gfx1250", 4096, SMALL.instruction, 0.0, "here")
    assert share(CANDIDATES["cut14by16"].applied(ROW), long, 256) > 0.05


def test_the_problem_is_aiters():
    """Normal values, scaled by the largest of each row, in E4M3; the reference is the exact product in bf16."""
    a, b, scales, reference = _problem(512, 256)
    decode = mfmasim.format("e4m3fn").decode
    assert np.abs(decode(a)).max(axis=1).tolist() == [448.0] * 16
    exact = (decode(a) @ decode(b)) * scales
    assert np.abs(reference - exact).max() <= 2.0**-8 * np.abs(exact).max()
    assert not (reference.view(np.uint32) & 0xFFFF).any()
    assert 0.8 < reference.std() / 512**0.5 < 1.2


def test_likelihood():
    """A binomial probability; shares that are printed as 0 may be 5e-5."""
    assert _logarithm(0.25, 0.5, 4) == pytest.approx(math.log(4 / 16))
    assert _logarithm(0.01, 0.01, 1000) > _logarithm(0.02, 0.01, 1000) > _logarithm(0.0, 0.01, 1000)
    assert _logarithm(0.0, 0.0, 100) == pytest.approx(100 * math.log1p(-5e-5))


def test_constraints_and_candidates():
    assert {one.arch for one in CONSTRAINTS} == {"gfx1250", "gfx950"}
    assert all(one.source.startswith("ROCm/aiter") for one in CONSTRAINTS)
    names = [name for name, _ in candidates(ROW)]
    assert len(names) == len(set(names)) == 1 + len(CANDIDATES) + 10
    assert all(model.fidelity == "assumed" for _, model in candidates(ROW))
    with pytest.raises(MfmasimError, match="constrains sums of gfx942; there are some for gfx1250, gfx950"):
        rank("gfx942")
