"""`mfmasim gpu calibrate`: parameters that a device hides are found again from what it computes."""

import json
from dataclasses import replace

import numpy as np
import pytest

import mfmasim
from mfmasim.cli import main
from mfmasim.errors import MfmasimError
from mfmasim.lab.agreement import capture
from mfmasim.lab.calibration.fitting import SPACE, Fit, fit
from mfmasim.lab.calibration.nan_fitting import nan_bits, origins
from mfmasim.lab.calibration.probe_data import FITTED, OUTLIERS
from mfmasim.lab.calibration.probes import PROBES, observe, observed
from mfmasim.matrix.models import PARAMETERS, Model
from mfmasim.toolchain import find_compiler
from tests.matrix.flat import multiply
from tests.oracles import require


@pytest.fixture(scope="module")
def seen():
    """What the simulator makes of every probe of gfx950, and of xf32 of gfx942, by name."""
    require("a HIP compiler", find_compiler() is not None, "pip install -e '.[test]'")
    only = {"gfx950": [probe.name for probe in PROBES if "gfx950" in probe.archs], "gfx942": ["xf32"]}
    sim = mfmasim.device("sim")
    return {one.probe.name: one for arch, names in only.items() for one in observed(observe(sim, arch, names))}


def hide(one, algorithm=None, **parameters):
    """What a device with other parameters, or another algorithm, would have given."""
    row = one.op.model
    if algorithm:
        row = Model(row.name, algorithm, 1, row.fidelity, row.evidence, row.source)
    model = replace(row, **parameters)
    scales = {} if one.scale_a is None else {"scale_a": one.scale_a, "scale_b": np.swapaxes(one.scale_b, -1, -2)}
    op = one.op
    return replace(one, d=multiply(model, op.a, op.b, op.d, one.a, one.b, one.c, **scales)), model


def check_rows(probes):
    assert probes
    for one in probes:
        found = fit(one)
        assert found.exact, one.probe.name
        assert not found.differs
        assert found.elements == FITTED * 256
        # What no matrix of these formats can tell: more bits than the products fill, overflow beyond f32's range.
        silent = {"sum_bits"} | (set() if one.op.a in ("bf16", "xf32", "f32") else {"product_overflow"})
        if one.op.a in ("e2m3fn", "e3m2fn", "e2m1fn"):
            silent |= {"partial_sums", "product_bits", "product_rounding", "partial_bits", "partial_rounding"}
            silent |= {"sum_rounding", "final_bits", "final_rounding"}
        assert set(found.also) <= silent, (one.probe.name, found.also)


def test_rows_fit_as_they_are(seen):
    assert len(seen) == 15
    check_rows([one for one in seen.values() if one.op.k <= 32])


@pytest.mark.long
def test_rows_of_the_long_probes_fit_as_they_are(seen):
    check_rows([one for one in seen.values() if one.op.k > 32])


def find(one, model):
    """The hidden model is found, or what it differs in is reported as undecided."""
    lines = []
    found = fit(one, progress=lines.append)
    assert found.exact, (found.model, found.matches)
    for name in SPACE:  # every parameter is the hidden one, or the probes do not decide it and the fit says so
        value = getattr(model, name)
        assert value == getattr(found.model, name) or value in found.also.get(name, ()), name
    assert found.model.algorithm == model.algorithm
    assert found.differs
    assert lines
    assert eval(found.row(), {"Model": type(model)}) == found.model


@pytest.mark.parametrize(
    ("probe", "parameters"),
    [
        ("fp8", {"group": 8, "product_bits": 26}),
        ("fp8", {"final_bits": 26, "addend_bits": 27, "drop_addend_below": 30}),
        ("f16_k16", {"group": 4, "addend_rounding": "truncate"}),
        ("f16_k32", {"group": 16, "sum_bits": 27, "sum_rounding": "nearest_even"}),
        ("bf16_k16", {"flush_inputs": "positive", "product_overflow": False}),
        ("bf16_k32", {"group": 4, "flush_addend": "signed"}),
        ("xf32", {"group": 2, "input_mantissa_bits": 8}),
        ("xf32", {"flush_output": "signed", "addend_bits": 26}),
        ("f32", {"flush_inputs": "signed"}),
        ("f32", {"flush_addend": "positive", "flush_output": "positive"}),
        ("f32", {"algorithm": "exact", "group": 4, "flush_inputs": "positive"}),
        ("f32", {"algorithm": "flush_pairwise", "group": 2, "flush_output": "signed"}),
    ],
)
def test_hidden_parameters_are_found(seen, probe, parameters):
    one, model = hide(seen[probe], **parameters)
    assert (one.d != seen[probe].d).any()
    find(one, model)


def test_parameters_that_stand_in_for_each_other_do_not_make_the_row_fit(seen):
    one = seen["bf16_k16"]
    row = one.op.model
    either = {"sum_bits": (28, row.sum_bits), "final_bits": (28, row.final_bits)}
    found = Fit(one, replace(row, sum_bits=28), 1, 1, {"sum_bits": (28, row.sum_bits)})
    assert found.differs == {"sum_bits": (row.sum_bits, 28)}
    other = Fit(one, replace(row, sum_bits=28, group=4), 1, 1, either)
    assert other.differs == {"group": (row.group, 4)}
    assert Fit(one, row, 1, 1, either).differs == {}


@pytest.mark.long
@pytest.mark.parametrize(
    ("probe", "parameters"),
    [
        ("fp8", {"group": 32, "partial_sums": 1, "final_rounding": "truncate"}),
        ("fp8", {"partial_bits": 22, "partial_rounding": "truncate"}),
        ("bf8", {"drop_addend_below": 30, "partial_rounding": "truncate"}),
        ("f16_k32", {"group": 32, "product_bits": 30, "product_rounding": "nearest_even", "final_bits": None}),
        ("f8f6f4_fp8", {"group": 32, "partial_sums": 1, "product_bits": 25}),
        ("f8f6f4_bf8", {"flush_inputs": "signed", "flush_output": "positive", "final_bits": 28}),
        ("f8f6f4_fp6", {"group": 64, "addend_bits": 28}),
        ("f8f6f4_bf6", {"group": 8, "final_rounding": "truncate"}),
        ("f8f6f4_fp4", {"drop_addend_below": None, "addend_rounding": "nearest_even"}),
        ("scaled_fp8", {"group": 32, "product_rounding": "floor", "drop_addend_below": None}),
        ("scaled_fp4", {"group": 8, "addend_rounding": "truncate"}),
    ],
)
def test_hidden_parameters_of_the_long_probes_are_found(seen, probe, parameters):
    test_hidden_parameters_are_found(seen, probe, parameters)


@pytest.mark.long
@pytest.mark.parametrize("probe", ["f16_k16", "bf16_k16", "fp8", "bf8"])
@pytest.mark.parametrize("seed", range(4))
def test_three_parameters_hidden_at_random_are_found(seen, probe, seed):
    rng = np.random.default_rng([seed, *probe.encode()])
    one = seen[probe]
    space = sorted((PARAMETERS["aligned"] | {"group"}) & set(SPACE) - {"input_mantissa_bits"})
    drawn = {name: SPACE[name][rng.integers(len(SPACE[name]))] for name in rng.choice(space, 3, replace=False).tolist()}
    drawn["group"] = min(max(drawn.get("group", 16), 2), one.op.k)
    _, model = hide(one, **drawn)
    row = one.op.model  # what has no effect counts as the row has it
    if model.partial_sums == 1:
        model = replace(model, partial_bits=row.partial_bits, partial_rounding=row.partial_rounding)
    if model.final_bits is None:
        model = replace(model, final_rounding=row.final_rounding)
    hidden, _ = hide(one, **{name: getattr(model, name) for name in SPACE})
    found = fit(hidden)
    assert found.exact, (drawn, found.matches)
    for name in SPACE:
        value = getattr(model, name)
        assert value == getattr(found.model, name) or value in found.also.get(name, ()), (drawn, name, found.also)


def test_what_no_model_gives_is_told(seen):
    one = seen["f16_k16"]
    d = one.d.copy()
    d[0, 0, 0] ^= 0x100
    found = fit(replace(one, d=d))
    assert not found.exact
    assert found.matches == found.elements - 1


def test_nans_are_told_by_what_made_them(seen):
    assert len(seen) >= 10
    for name, one in seen.items():
        bits = nan_bits(one)
        assert set(bits) == set(OUTLIERS)
        without = one.op.a in ("e2m3fn", "e3m2fn", "e2m1fn")  # formats that have no NaN: only C's is left
        assert [kind for kind in OUTLIERS if bits[kind]] == (["nan_c"] if without else list(OUTLIERS)), name
        assert set(origins(one).values()) == {"0x7fc00000"}, name


def test_another_nan_is_found(seen):
    one, _ = hide(seen["bf16_k16"], nan_factor=0x7FFFFFFF, nan_invalid=0x7FFFFFFF)
    found = fit(one)
    assert found.exact
    assert found.differs == dict.fromkeys(("nan_factor", "nan_invalid"), (2143289344, 2147483647))


@pytest.mark.parametrize("probe", ["bf16_k16", "f16_k16", "bf8", "xf32", "f32"])
@pytest.mark.parametrize(
    ("how", "change"),
    [
        ("as it is", lambda bits: bits),
        ("made quiet", lambda bits: bits | 0x400000),
        ("made quiet, without its sign", lambda bits: (bits | 0x400000) & 0x7FFFFFFF),
    ],
)
def test_payloads_that_go_through_are_told(seen, probe, how, change):
    one = seen[probe]
    fraction = {"bf16": 7, "f16": 10, "e5m2": 2}.get(one.op.a, 23)
    width = {"e5m2": 8, "bf16": 16, "f16": 16}.get(one.op.a, 32)
    d = one.d.copy()
    for row, column in np.ndindex(16, 16):
        for tile, code in ((0, one.a[FITTED, row, 0]), (1, one.b[FITTED + 1, 0, column])):
            sign, payload = int(code) >> width - 1, int(code) & (1 << fraction) - 1
            d[FITTED + tile, row, column] = change(sign << 31 | 0x7F800000 | payload << 23 - fraction)
        d[FITTED + 2, row, column] = change(int(one.c[FITTED + 2, row, column]))
    reported = origins(replace(one, d=d))
    assert reported["nan_c"] == f"C's payload, {how}"
    assert reported["nan_a"] == f"A's payload, {how}"
    assert reported["nan_b"] == f"B's payload, {how}"
    assert reported["inf_zero"] == "0x7fc00000"
    assert fit(replace(one, d=d)).model.nan_invalid == 0x7FC00000  # many: the row keeps its own
    d[FITTED, 3, 3] ^= 1
    assert "NaNs of unknown origin" in origins(replace(one, d=d))["nan_a"]


def test_probes_are_recorded_and_fitted_elsewhere(seen, tmp_path, capsys):
    path = tmp_path / "probes.npz"
    only = ["--only", "f16_k16,fp8"]
    assert main(["gpu", "calibrate", "--device", "sim", "--arch", "gfx942", "--record", str(path), *only]) == 0
    assert capture.read(path).about["probes"] == ["f16_k16", "fp8"]
    assert main(["gpu", "calibrate", "--replay", str(path)]) == 0
    text = capsys.readouterr().out
    assert (
        "v_mfma_f32_16x16x16_f16 (gfx942, f16)   row cdna3_16bit, reference\n  fits unchanged: 7,680 of 7,680" in text
    )
    assert "undetermined: sum_bits 31 to 36\n  NaN: 0x7fc00000, for every cause" in text
    found = capture.read(path)
    found.about["tiles"] = 29
    with pytest.raises(MfmasimError, match="probes of another version"):
        list(observed(found))
    assert main(["gpu", "calibrate", "--replay", str(path), "--json", "-"]) == 0
    rows = json.loads(capsys.readouterr().out)["fits"]
    assert [row["exact"] for row in rows] == [True, True]


def test_probes_of_every_row_tell_what_they_are():
    found = [probe.find(arch) for probe in PROBES for arch in probe.archs]
    assert len(found) >= len(PROBES) >= 10
    for op in found:
        assert (op.m, op.n, op.d) == (16, 16, "f32")


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["--device", "sim"], "--device sim needs --arch, such as --arch gfx942"),
        (["--device", "sim", "--arch", "gfx1201", "--only", "fp8"], "unknown probe 'fp8' for gfx1201"),
        (["--device", "sim", "--arch", "gfx942", "--times", "0"], "--times 0: a whole number of 1 or more"),
        (["--record", "x", "--replay", "y"], "--record and --replay cannot be combined"),
        (["--replay", "nosuch.npz"], "cannot be read"),
    ],
)
def test_bad_requests_are_told(arguments, text, capsys):
    assert main(["gpu", "calibrate", *arguments]) == 2
    assert text in capsys.readouterr().err


def test_a_capture_of_something_else_is_refused(tmp_path):
    about = {"arch": "gfx942", "device": {"name": "x", "product": "x"}}
    with pytest.raises(MfmasimError, match="not a capture of probes"):
        list(observed(capture.Capture(about, b"")))
