"""`mfmasim calibrate`: parameters that a device hides are found again from what it computes."""

import json
from dataclasses import replace

import numpy as np
import pytest
from oracles import require

import mfmasim
from mfmasim.cli import main
from mfmasim.errors import MfmasimError
from mfmasim.matrix.arithmetic import multiply
from mfmasim.toolchain import find_compiler
from mfmasim.verify import capture
from mfmasim.verify.fitting import SPACE, fit
from mfmasim.verify.probes import OUTLIERS, PROBES, TRIALS, observe, observed

ROUNDING = tuple(probe.name for probe in PROBES if "gfx950" in probe.archs)


@pytest.fixture(scope="module")
def seen():
    """What the simulator makes of every probe of gfx950, by name."""
    require("a HIP compiler", find_compiler() is not None, "pip install 'mfmasim[compile]'")
    return {one.probe.name: one for one in observed(observe(mfmasim.device("sim"), "gfx950", ROUNDING))}


def hide(one, **parameters):
    """What a device with other parameters would have given."""
    model = replace(one.op.model, **parameters)
    scales = {} if one.scale_a is None else {"scale_a": one.scale_a, "scale_b": np.swapaxes(one.scale_b, -1, -2)}
    d = one.d.copy()
    ordinary = slice(0, TRIALS)
    op = one.op
    inputs = (one.a[ordinary], one.b[ordinary], one.c[ordinary])
    d[ordinary] = multiply(model, op.a, op.b, op.d, *inputs, **{name: s[ordinary] for name, s in scales.items()})
    return replace(one, d=d), model


def test_rows_fit_as_they_are(seen):
    for one in seen.values():
        found = fit(one)
        assert found.exact
        assert not found.differs
        assert found.elements == TRIALS * 256
        assert "group" not in found.also
        assert "product_bits" not in found.also


@pytest.mark.parametrize(
    ("probe", "parameters"),
    [
        ("fp8", {"group": 8, "product_bits": 26}),
        ("fp8", {"group": 32, "partial_sums": 1, "final_rounding": "truncate"}),
        ("fp8", {"partial_bits": 22, "partial_rounding": "truncate"}),
        ("fp8", {"final_bits": 26, "addend_bits": 27, "drop_addend_below": 30}),
        ("f16_k16", {"group": 4, "addend_rounding": "truncate"}),
        ("f16_k32", {"group": 16, "sum_bits": 27, "sum_rounding": "nearest_even"}),
        ("f16_k32", {"group": 32, "product_bits": 30, "product_rounding": "nearest_even", "final_bits": None}),
        ("scaled_fp8", {"group": 32, "product_rounding": "floor", "drop_addend_below": None}),
    ],
)
def test_hidden_parameters_are_found(seen, probe, parameters):
    one, model = hide(seen[probe], **parameters)
    assert (one.d != seen[probe].d).any()
    lines = []
    found = fit(one, told=lines.append)
    assert found.exact, (found.model, found.matches)
    for name in SPACE:  # every parameter is the hidden one, or the probes do not decide it and the fit says so
        value = getattr(model, name)
        assert value == getattr(found.model, name) or value in found.also.get(name, ()), name
    assert found.differs
    assert lines
    assert eval(found.row(), {"Model": type(model)}) == found.model


def test_what_no_model_gives_is_told(seen):
    one = seen["f16_k16"]
    d = one.d.copy()
    d[0, 0, 0] ^= 0x100
    found = fit(replace(one, d=d))
    assert not found.exact
    assert found.matches == found.elements - 1


def test_nans_are_told_by_what_made_them(seen):
    for name, one in seen.items():
        nans = fit(one).nans()
        assert set(nans) == set(OUTLIERS)
        assert all(bits == [0x7FC00000] for kind, bits in nans.items()), name
    one = seen["fp8"]
    d = one.d.copy()
    d[TRIALS + 2] = np.where(d[TRIALS + 2] == 0x7FC00000, one.c[TRIALS + 2] | 0x400000, d[TRIALS + 2])
    assert len(fit(replace(one, d=d)).nans()["nan_c"]) > 100


def test_probes_are_recorded_and_fitted_elsewhere(seen, tmp_path, capsys):
    path = tmp_path / "probes.npz"
    only = ["--only", "f16_k16,fp8"]
    assert main(["calibrate", "--device", "sim", "--arch", "gfx942", "--record", str(path), *only]) == 0
    assert capture.read(path).about["probes"] == ["f16_k16", "fp8"]
    assert main(["calibrate", "--replay", str(path)]) == 0
    text = capsys.readouterr().out
    assert "v_mfma_f32_16x16x16_f16 (gfx942)   row cdna3_16bit, reference\n  fits as it is: 6,144 of 6,144" in text
    assert "NaN (nan_a): 0x7fc00000" in text
    assert main(["calibrate", "--replay", str(path), "--json", "-"]) == 0
    rows = json.loads(capsys.readouterr().out)["fits"]
    assert [row["exact"] for row in rows] == [True, True]


def test_probes_of_every_row_tell_what_they_are():
    for probe in PROBES:
        for arch in probe.archs:
            op = probe.find(arch)
            assert (op.m, op.n, op.d) == (16, 16, "f32")


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["--device", "sim"], "--arch: the device sim is of every architecture"),
        (["--device", "sim", "--arch", "gfx1201", "--only", "fp8"], "unknown probe 'fp8' for gfx1201"),
        (["--device", "sim", "--arch", "gfx942", "--times", "0"], "--times 0: a positive number"),
        (["--record", "x", "--replay", "y"], "--record and --replay: one of them"),
        (["--replay", "nosuch.npz"], "cannot be read"),
    ],
)
def test_bad_requests_are_told(arguments, text, capsys):
    assert main(["calibrate", *arguments]) == 2
    assert text in capsys.readouterr().err


def test_a_capture_of_something_else_is_refused(tmp_path):
    about = {"arch": "gfx942", "device": {"name": "x", "product": "x"}}
    with pytest.raises(MfmasimError, match="no capture of probes"):
        list(observed(capture.Capture(about, b"")))
