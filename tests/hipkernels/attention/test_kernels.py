"""hipkernels/attention: every kernel clean and equal to its replay, wrong ones caught, rare cases defined."""

from dataclasses import replace

import numpy as np
import pytest

import mfmasim
from mfmasim.errors import MfmasimError
from mfmasim.verify import find, select, verify_case
from mfmasim.verify.prebuilt import code_for
from tests.hipkernels.family import caught, mutants, passes
from tests.tiers import tiers

((_, CASES),) = find("attention")
HERE = CASES[0].build.__globals__  # the modules beside the case file
replay, operands, decode = HERE["replay"], HERE["operands"], HERE["decode"]
ARCHS = ("gfx942", "gfx950", "gfx1151", "gfx1201")
MUTANTS = mutants("attention")
MATRIX_FIDELITY = {"gfx942": "reference", "gfx950": "assumed", "gfx1151": "hardware", "gfx1201": "hardware"}


def quick(number, case, arch):
    """Each variant by default on one architecture: f16 by tiles on one of RDNA and one of CDNA."""
    order = ARCHS.index(arch)
    if "_of_v" in case.title:  # some fifty launches
        return False
    if case.title.startswith(("wmma", "mfma")):
        return (number + order) % 2 == 0
    return (number + order) % 4 == 0


RUNS = [
    pytest.param(case, arch, id=f"{case.title}-{arch}", marks=[] if quick(n, case, arch) else [pytest.mark.long])
    for n, case in enumerate(CASES)
    for _, arch in select([case], None)
]
TOLD = {
    "v_by_the_strides_of_k": {"outputs-differ"},
    "one_key_too_many": {"outputs-differ"},
    "no_key_is_nan": {"outputs-differ"},
    "infinity_less_infinity_in_the_data": {"outputs-differ"},
    "hidden_nan_counts": {"outputs-differ"},
    "negative_scale_for_none": {"outputs-differ"},
    "tail_of_v_read": {"bounds-outside-buffer", "outputs-differ"},
    "tiles_overwritten": {"races-no-barrier"},
    "k_of_the_weights_alone": {"mapping-stale-padding", "mapping-wrong-element", "mapping-wrong-sum", "outputs-differ"},
    "arrays_too_small": {"bounds-scratch", "outputs-differ"},
}
"""Exactly the errors of the wrong variants that run by default."""


def launch(arch, codes, causal=0, scale=None, kernel="tiled_f16_64", source="tiled.hip"):
    """O of a kernel, codes [B, H, N, D], by a launch without a case."""
    q, k, _ = codes
    case = next(c for c in CASES if c.source.name == source)
    way = kernel.split("_")[0]
    grid = HERE["plan_attention"](way, *q.shape[:3], k.shape[2], q.shape[3], causal, scale)
    out = np.full(q.shape, 0x7E77, np.uint16)
    steps = [HERE["layout_of"]("bhnd", x.shape).strides for x in (*codes, out)]
    given = None if scale is None else np.array([scale], np.float32)
    args = [
        *(c if c.size else None for c in codes),
        out,
        *map(np.int32, (q.shape[2], k.shape[2])),
        *steps,
        np.int32(causal),
        given,
    ]
    block = 64 if way == "scalar" else HERE["THREADS"][arch]
    report = mfmasim.device("sim").launch(code_for(case.source, arch)[kernel], grid, block, args, checks=["bounds"])
    assert report.findings == []
    return out


@pytest.mark.parametrize(("case", "arch"), RUNS)
def test_every_kernel_is_clean_and_leaves_the_bits_of_its_replay(case, arch):
    result = passes(case, arch)
    assert {f.id for f in result.findings} <= {"conflicts-lds", "mapping-k-permuted"}
    if "_of_v" in case.title:
        assert result.mapping == {"slots_checked": 320, "mismatches": 0}
    if case.source.name == "products.hip":
        assert result.mapping["slots_checked"] > 50_000
        return
    # What V_EXP_F32 and division give is captured of gfx1201 alone.
    assert result.fidelity == ("specified" if arch == "gfx1201" else "assumed")
    if case.parameters["Nkv"]:
        assert ("v_exp_f32" in result.fidelity_of) == (arch != "gfx1201")
    if case.executes and "bf16" not in case.title:
        assert result.matrix_fidelity == MATRIX_FIDELITY[arch]


@pytest.mark.parametrize("name", tiers(MUTANTS, TOLD))
def test_wrong_kernels_are_caught_by_the_checks_they_name(name):
    verdict = caught(*MUTANTS[name])
    if name in TOLD:
        assert {f.id for f in verdict.result.findings if f.severity == "error"} == TOLD[name]


def test_inputs_of_a_user_are_compared_with_their_own_result():
    case = next(c for c in CASES if c.title == "mfma[scale=-0.75]").with_parameters({"Nq": 5, "Nkv": 33})
    other = np.linspace(-3, 3, 5 * 64).astype(np.float16)
    passes(case, "gfx942", inputs={"argument 0": other, "argument 11": np.float32([2.5])})


def test_the_default_scale_and_the_same_number_given_leave_the_same_bytes():
    codes = operands.draw("normal", "f16", (1, 1, 20, 64), (1, 1, 20, 64))
    assert (launch("gfx1151", codes) == launch("gfx1151", codes, scale=0.125)).all()


@pytest.mark.parametrize("arch", ARCHS)
def test_a_query_that_weighs_one_key_alone_gets_its_row_of_v(arch):
    """Head h has query i pick key i + h: with a head for each key every pair of the two has been there."""
    rng = np.random.default_rng(5)
    keys = heads = 45
    queries = 70
    signs = rng.choice(np.array([0x3C00, 0xBC00], np.uint16), (keys, 64))
    value = signs.view(np.float16).astype(np.float32)
    assert (value @ value.T - 64 * np.eye(keys)).max() < 40  # 64 for itself, far less for each other
    picked = (np.arange(queries) + np.arange(heads)[:, None]) % keys
    q = np.ascontiguousarray(signs[picked][None]) + 0x0C00  # times 8
    k = np.broadcast_to(signs, (1, heads, keys, 64)).copy()
    v = rng.integers(1, 0x7C00, (1, heads, keys, 64)).astype(np.uint16) | rng.choice([0, 0x8000], 64).astype(np.uint16)
    out = launch(arch, [q.astype(np.uint16), k, v], scale=1.0)
    assert (out == v[0, np.arange(heads)[:, None], picked]).all()


@pytest.mark.parametrize(
    ("arch", "changes"),
    [
        ("gfx942", {"Nq": 17, "Nkv": 33, "causal": 1}),
        ("gfx950", {"Nq": 65, "Nkv": 1}),
        ("gfx1151", {"Nq": 17, "Nkv": 33}),
        ("gfx1201", {"Nq": 1, "Nkv": 31, "causal": 2}),
    ],
)
def test_tails_with_nan_all_around(arch, changes, monkeypatch):
    """Between the rows, and in the LDS and the registers before the launch."""
    monkeypatch.setattr("mfmasim.machine.execution.initial_state.POISON_BYTE", 0xFF)
    case = next(c for c in CASES if c.title == "wmma[Nq=64,Nkv=32,layout=padded,v_layout=bhnd]")
    passes(case.with_parameters(changes | {"v_layout": "padded"}), arch)


def test_what_a_query_may_not_see_changes_nothing_but_a_last_bit_on_rdna3():
    """There the product of a weight of 0 and a negative element, -0, counts as a unit below the sum."""
    a, b = np.zeros((2, 16, 16), np.uint16)
    a[:, 1] = b[1] = 0x3C00  # 0 * -1 + 1 * 1
    b[0] = 0xBC00
    for arch, one in (("gfx1201", 0x3F800000), ("gfx1151", 0x3F7FFFFF)):
        op = mfmasim.instruction(arch, "v_wmma_f32_16x16x16_f16")
        assert (op.multiply(a, b, np.zeros((16, 16), np.uint32)) == one).all()
    codes = operands.draw("normal", "f16", (1, 1, 32, 64), (1, 1, 32, 64))
    for arch in ("gfx942", "gfx1201", "gfx1151"):
        outs = []
        for fill in (0, 0x7E01, 0xFBFF):
            part = [c.copy() for c in codes]
            part[1][:, :, 16:] = part[2][:, :, 16:] = fill
            outs.append(launch(arch, part, causal=1)[:, :, :16].view(np.int16).astype(int))
        apart = max(int(np.abs(out - outs[0]).max()) for out in outs)
        assert apart <= (arch == "gfx1151"), arch


def test_the_architectures_agree_within_the_bound_but_not_to_the_bit():
    codes = operands.draw("normal", "f16", (1, 2, 40, 64), (1, 2, 50, 64))
    numbers = [decode("f16", c).astype(np.float64) for c in codes]
    exact, bound = HERE["attention"]("f16", *numbers, 2, None)
    outs = [launch(arch, codes, causal=2) for arch in ARCHS]
    for out in outs:
        assert (np.abs(decode("f16", out) - exact) <= bound).all()
    assert any((out != outs[0]).any() for out in outs[1:])


@pytest.mark.trap("T32")
@pytest.mark.parametrize(("d", "found"), [(129, {"outputs-differ"}), (144, {"bounds-scratch", "outputs-differ"})])
def test_rows_longer_than_the_arrays_are_refused_and_would_be_seen(d, found):
    """One element too many stays within the lane's memory, where the other array lies: only the output shows it."""
    case = next(c for c in CASES if c.source.name == "any_size.hip").with_parameters({"D": d})
    with pytest.raises(MfmasimError, match="D <= 128"):
        verify_case(case, "gfx1151")
    result = verify_case(replace(case, needs=""), "gfx1151")
    assert {f.id for f in result.findings if f.severity == "error"} == found


@pytest.mark.parametrize(
    ("changes", "part"),
    [
        ({"D": 96}, "D in \\(64,\\)"),
        ({"D": 256}, "D in"),
        ({"Nq": 0}, "Nq > 0"),
        ({"H": 0}, "H > 0"),
        ({"Nkv": -1}, "Nkv >= 0"),
        ({"causal": 3}, "causal in"),
        ({"layout": "nhbd"}, "layout 'nhbd' is unknown"),
        ({"scale": float("nan")}, "scale = nan: a finite number"),
        ({"B": 70000}, "70000 batches"),
    ],
)
def test_what_the_contract_excludes_is_refused_before_the_launch(changes, part):
    with pytest.raises(MfmasimError, match=part):
        verify_case(next(c for c in CASES if c.title == "wmma").with_parameters(changes), "gfx1151")
