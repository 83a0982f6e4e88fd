"""hipkernels/attention_backward: kernels clean and within their bound, the bound and its reference, wrong kernels."""

import ml_dtypes
import numpy as np
import pytest

import mfmasim
from hipkernels.attention.numbers16 import decode, encode
from hipkernels.attention.plan import layout_of
from hipkernels.attention_backward import reference
from hipkernels.attention_backward.cases import OWN, SOURCES, THREADS
from mfmasim.errors import MfmasimError
from mfmasim.verify import find, select, verify_case
from mfmasim.verify.prebuilt import code_for
from tests.hipkernels.family import caught, mutants, passes, titled
from tests.oracles import module
from tests.tiers import tiers

((_, CASES),) = find("attention_backward")
RUNS = select(CASES, None)
MUTANTS = mutants("attention_backward")
QUICK = {
    ("dkdv[causal=2]", "gfx942"),
    ("dq[B=2,H=2,G=3,Nq=21,Nkv=9,bnhd=kq]", "gfx942"),
    ("dkdv_128", "gfx942"),
    ("sums[D=64,which=1]", "gfx942"),
    ("dkdv[H=1,G=2,Nq=129,Nkv=20,causal=2]", "gfx1201"),
    ("dq[data=low]", "gfx1201"),
    ("dk_128", "gfx1201"),
    ("scores[D=64,which=0]", "gfx1201"),
    ("delta_64", "gfx1201"),
}
WRONG = {"rows_behind_the_last_one_not_0", "weights_truncated", "block_not_awaited", "mask_by_the_first_key"}


@pytest.mark.parametrize(("case", "arch"), titled(RUNS, lambda case, arch: (case.title, arch) in QUICK))
def test_every_kernel_is_clean_and_within_its_bound(case, arch):
    result = passes(case, arch)
    assert {f.id for f in result.findings} <= {"mapping-k-permuted"}
    if case.title.startswith(("scores", "sums")):
        assert result.mapping["slots_checked"] > 80_000
    if not case.title.startswith("delta"):
        degrees = {degree for site in result.lds["sites"] for degree in site["degrees"]}
        assert degrees == {1}, degrees


def test_the_quick_runs_exist():
    assert {(case.title, arch) for case, arch in RUNS} >= QUICK
    assert set(MUTANTS) >= WRONG


@pytest.mark.parametrize("name", tiers(MUTANTS, WRONG))
def test_wrong_kernels_are_caught_by_the_checks_they_name(name):
    caught(*MUTANTS[name])


def launch(arch, way, q, k, v, d_o, lse, delta, scale):
    """Codes of dQ, dK and dV, as far as a kernel leaves them, [B, H, N, D] in order, by a launch without a case."""
    outs = [
        np.full(x.shape, 0x7E77, np.uint16) if name in way else None for name, x in zip("qkv", (q, k, v), strict=True)
    ]
    rows = q if way == "dq" else k
    args = [q, k, v, d_o, *(np.asarray(x, np.float32) for x in (lse, delta)), *outs]
    args += map(np.int32, (q.shape[2], k.shape[2], q.shape[1] // k.shape[1]))
    args += [layout_of("bhnd", x.shape).strides for x in (q, k, v, d_o)]
    args += [np.int32(0), np.array([scale], np.float32)]
    case = next(c for c in CASES if c.source.name == SOURCES[q.shape[3]])
    kernel = code_for(case.source, arch)[f"{way}_{q.shape[3]}"]
    grid = (-(-rows.shape[2] // OWN), rows.shape[1], rows.shape[0])
    assert mfmasim.device("sim").launch(kernel, grid, THREADS, args, checks=["bounds"]).findings == []
    return outs


@pytest.mark.parametrize("arch", ["gfx942", pytest.param("gfx1201", marks=pytest.mark.long)])
def test_a_query_that_weighs_one_key_alone_passes_its_row_on(arch):
    """Head h has query i pick key i + h: with a head for each key every pair occurs, and every sum is exact."""
    rng = np.random.default_rng(5)
    keys = heads = 45
    queries, d = 70, 64
    k = rng.choice([-1.0, 1.0], (keys, d))
    assert (k @ k.T - d * np.eye(keys)).max() < 40  # 64 for itself, far less for each other
    picked = (np.arange(queries) + np.arange(heads)[:, None]) % keys
    q, k = 8 * k[picked][None], np.broadcast_to(k, (1, heads, keys, d))
    v, d_o = (rng.choice([-1.0, 1.0], (1, heads, n, d)) for n in (keys, queries))
    lse, delta = np.full((1, heads, queries), 512.0), np.zeros((1, heads, queries))
    codes = [np.ascontiguousarray(encode("bf16", x)) for x in (q, k, v, d_o)]
    (d_q, _, _), (_, d_k, d_v) = (launch(arch, way, *codes, lse, delta, 1.0) for way in ("dq", "dkdv"))
    weights = (picked[..., None] == np.arange(keys)).astype(float)
    changes = weights * (d_o @ v.swapaxes(-1, -2))
    np.testing.assert_array_equal(decode("bf16", d_v), weights.swapaxes(-1, -2) @ d_o)
    np.testing.assert_array_equal(decode("bf16", d_k), changes.swapaxes(-1, -2) @ q)
    np.testing.assert_array_equal(decode("bf16", d_q), changes @ k)


@pytest.mark.parametrize(("title", "arch"), [("dkdv[causal=2]", "gfx1201"), ("dq[causal=1]", "gfx942")])
def test_tails_with_nan_all_around(title, arch, monkeypatch):
    """In the LDS and the registers before the launch."""
    monkeypatch.setattr("mfmasim.machine.execution.initial_state.POISON_BYTE", 0xFF)
    passes(next(c for c in CASES if c.title == title).with_parameters({"Nq": 33, "Nkv": 17}), arch)


@pytest.mark.parametrize(
    ("changes", "part"),
    [
        ({"D": 96}, "D == 64"),
        ({"Nq": 0}, "Nq > 0"),
        ({"Nkv": 0}, "Nkv > 0"),
        ({"G": 0}, "G > 0"),
        ({"causal": 3}, "causal in"),
        ({"scale": float("inf")}, "scale = inf: a finite number"),
    ],
)
def test_what_the_contract_excludes_is_refused_before_the_launch(changes, part):
    with pytest.raises(MfmasimError, match=part):
        verify_case(next(c for c in CASES if c.title == "dq").with_parameters(changes), "gfx942")


def drawn(rng, number):
    """A problem: Q, K, V, dO, LSE, delta, mask and scale; sizes and magnitudes of all kinds."""
    queries, keys, group, causal = (
        int(x) for x in (rng.integers(1, 40), rng.integers(1, 90), rng.integers(1, 4), number % 3)
    )
    scale = [None, rng.normal(), 4 * rng.normal(), 0.0][number % 4]
    shapes = [(1, group, queries, 32), (1, 1, keys, 32), (1, 1, keys, 32), (1, group, queries, 32)]
    parts = [rng.normal(size=shape) for shape in shapes]
    if number % 5 == 1:
        parts = [np.abs(x) for x in parts]
    q, k, v, d_o = (x.astype(ml_dtypes.bfloat16).astype(np.float64) for x in parts)
    o, lse = reference.forward(q, k, v, causal, scale)
    lse, delta = (x.astype(np.float32).astype(np.float64) for x in (lse, (o * d_o).sum(axis=-1)))
    return q, k, v, d_o, lse, delta, causal, scale


def rounding(q, k, v, d_o, lse, delta, causal, scale):
    """What a kernel leaves that rounds where these do, one query and one key after the other."""
    group, f32 = q.shape[1] // k.shape[1], np.float32
    by = f32(reference.scale_of(q.shape[3], scale))
    outs = [np.zeros(x.shape) for x in (q, k, v)]

    def short(x):
        return f32(ml_dtypes.bfloat16(x))

    for head in range(q.shape[1]):
        for i in range(q.shape[2]):
            for j in range(reference.seen(i, q.shape[2], k.shape[2], causal)):
                row, other, value, change = (
                    q[0, head, i],
                    k[0, head // group, j],
                    v[0, head // group, j],
                    d_o[0, head, i],
                )
                s = f32(f32(row @ other) * by)
                p = np.exp2(f32(s * f32(reference.LOG2_E) - f32(lse[0, head, i]) * f32(reference.LOG2_E)))
                ds = f32(p) * f32(f32(change @ value) - f32(delta[0, head, i]))
                outs[0][0, head, i] += by * short(ds) * other
                outs[1][0, head // group, j] += by * short(ds) * row
                outs[2][0, head // group, j] += short(p) * change
    return [x.astype(ml_dtypes.bfloat16).astype(np.float64) for x in outs]


def most_used(problems):
    """The largest part of the bound that the errors of some problems use."""
    rng, most = np.random.default_rng(3), 0.0
    for number in range(problems):
        problem = drawn(rng, number)
        for found, bounded in zip(rounding(*problem), reference.gradients(*problem), strict=True):
            used = np.abs(found - bounded.values) / bounded.bound
            assert used.max() <= 1
            most = max(most, used.max())
    return most


def test_the_bound_holds_and_is_used():
    assert most_used(4) > 0.5


@pytest.mark.long
def test_no_problem_of_many_uses_more_than_the_bound():
    assert most_used(60) > 0.7


@pytest.mark.parametrize("causal", [0, 1, 2])
def test_the_gradients_are_those_of_the_forward_pass(causal):
    """Central differences of the sum of O times dO, in every direction."""
    rng = np.random.default_rng(causal)
    q, k, v, d_o = (rng.normal(size=shape) for shape in ((1, 4, 5, 3), (1, 2, 6, 3), (1, 2, 6, 3), (1, 4, 5, 3)))
    o, lse = reference.forward(q, k, v, causal, 0.7)
    found = reference.gradients(q, k, v, d_o, lse, (o * d_o).sum(axis=-1), causal, 0.7)
    step, compared = 1e-5, 0
    for part, bounded in zip((q, k, v), found, strict=True):
        for place in np.ndindex(part.shape):
            kept, sums = part[place], []
            for by in (step, -step):
                part[place] = kept + by
                sums.append((reference.forward(q, k, v, causal, 0.7)[0] * d_o).sum())
            part[place] = kept
            assert abs((sums[0] - sums[1]) / (2 * step) - bounded.values[place]) < 1e-8
            compared += 1
    assert compared == q.size + k.size + v.size


@pytest.mark.oracle
@pytest.mark.parametrize("causal", [0, 1, 2])
@pytest.mark.parametrize("scale", [None, -0.3])
def test_the_reference_is_torchs_autograd(causal, scale):
    torch = module("torch")
    rng = np.random.default_rng(7)
    shapes = ((2, 6, 21, 64), (2, 2, 34, 64), (2, 2, 34, 64))
    q, k, v = (torch.tensor(rng.normal(size=shape), requires_grad=True) for shape in shapes)
    d_o = rng.normal(size=shapes[0])
    mask = torch.tensor(reference.visible(21, 34, causal))
    given = reference.scale_of(64, scale)
    out = torch.nn.functional.scaled_dot_product_attention(
        q, *(x.repeat_interleave(3, dim=1) for x in (k, v)), attn_mask=mask, scale=given
    )
    out.backward(torch.tensor(d_o))
    parts = [x.detach().numpy() for x in (q, k, v)]
    o, lse = reference.forward(*parts, causal, scale)
    np.testing.assert_allclose(o, out.detach().numpy(), rtol=1e-12, atol=1e-12)
    found = reference.gradients(*parts, d_o, lse, reference.row_sums(o, d_o).values, causal, scale)
    for bounded, tensor in zip(found, (q, k, v), strict=True):
        np.testing.assert_allclose(bounded.values, tensor.grad.numpy(), rtol=1e-10, atol=1e-12)
