"""hipkernels/attention_fp8: every kernel clean and equal to its replay, wrong ones caught, the bound held."""

import numpy as np
import pytest

import mfmasim
from hipkernels.attention_fp8 import cases, replay
from mfmasim.errors import MfmasimError
from mfmasim.lab.reports.profile import profile_case
from mfmasim.verify import find, select, verify_case
from mfmasim.verify.prebuilt import code_for
from tests.hipkernels.family import caught, mutants, passes, titled
from tests.tiers import tiers

((_, CASES),) = find("attention_fp8")
RUNS = select(CASES, None)
MUTANTS = mutants("attention_fp8")
QUICK = ("keys_in_the_order_of_a_matrix", "tiles_without_barrier", "v_in_flight", "only_k_waited_for")
SLOTS = {"scores": 100_000, "sums": 100_000, "tensor_scores": 150_000, "tensor_sums": 200_000}


def quick(case, arch):
    """One variant of each kernel; of the forward kernels that of many sequences on gfx950 and gfx1250."""
    if arch == "gfx942":
        return case.title in ("forward", "sums")
    return case.title in ("scores", "sums", "tensor_sums", "decode", "combine") or "heads=4" in case.title


@pytest.mark.parametrize(("case", "arch"), titled(RUNS, quick))
def test_every_kernel_is_clean_and_leaves_the_bits_of_its_replay(case, arch):
    result = passes(case, arch)
    assert {f.id for f in result.findings if f.severity != "info"} <= {"bounds-buffer-range"}
    assert result.mapping["slots_checked"] >= SLOTS.get(case.title, 0)
    assert all(set(site["degrees"]) == {1} for site in result.lds["sites"])


@pytest.mark.parametrize("name", tiers(MUTANTS, QUICK))
def test_wrong_kernels_are_caught_by_the_checks_they_name(name):
    caught(*MUTANTS[name])


@pytest.mark.long
@pytest.mark.parametrize("arch", replay.WAYS)
def test_what_the_main_loop_is_said_to_have(arch):
    claims = profile_case(select(CASES, arch, "forward")[0][0], arch).claims
    assert len(claims) == (3 if arch == "gfx1250" else 2)
    assert all(judged.confirmed for judged in claims)


@pytest.mark.parametrize("arch", replay.WAYS)
def test_a_lane_of_the_second_product_holds_the_keys_that_its_scores_have(arch):
    """The keys of a tile: D of the first product, as the bytes of B of the second."""
    way = replay.WAYS[arch]
    op = replay.Product(arch, way.scores, replay.ELEMENT).op
    table = op.D.table()
    assert len(table) == op.m * op.n
    registers = op.D.vgprs
    for row in table[table["lane"] % op.n == 5]:
        half, byte = row["lane"] // op.n, row["vgpr"]
        assert row["col"] == 5
        for tile in range(way.keys // op.m):
            assert way.key[half, registers * tile + byte] == op.m * tile + row["row"]
    assert sorted(way.key.reshape(-1)) == list(range(way.keys))
    assert sorted(replay.ELEMENT.reshape(-1)) == list(range(128))


def test_weights_of_gfx1250_are_in_the_order_of_the_instruction():
    """On gfx1250 byte b of a lane is its b-th of B of the second product: no permutation of the keys."""
    (order,) = replay.Product("gfx1250", replay.WAYS["gfx1250"].sums, replay.KEY_GFX1250).orders
    assert order.tolist() == list(range(128))
    (order,) = replay.Product("gfx1250", replay.WAYS["gfx1250"].scores, replay.ELEMENT).orders
    assert order.tolist() == list(range(128))


@pytest.mark.parametrize("arch", tiers(cases.ARCHS, ["gfx950"]))
def test_decode_and_combine_are_attention(arch):
    """Two launches without a case: the parts of a paged cache, put together, lie within the bound."""
    case = next(c for c in CASES if c.title == "decode").with_parameters({"heads": 16, "kv_heads": 2, "splits": 3})
    lengths, scale = (300, 0, 64), 0.1
    q, k, v = cases.draw("normal", arch, (3, 16, 128), *[(sum(lengths), 2, 128)] * 2)
    (k_pages, tables), (v_pages, _) = (cases.paged(rows, lengths, 16, cases.NAN[arch]) for rows in (k, v))
    scales = cases.descales(3, 2)
    sums, state = np.empty((3, 16, 3, 128), np.float32), np.empty((3, 16, 3, 2), np.float32)
    code, device = code_for(case.source, arch), mfmasim.device("sim")
    sizes = [np.int32(n) for n in (16, 2, 4, tables.shape[1], 3)]
    args = [q, k_pages, v_pages, sums, state, tables, np.int32(lengths), *scales[:2], *sizes, np.float32(scale)]
    device.launch(code["decode_fp8"], (3, 2, 3), 64, args)
    out = np.empty((3, 16, 128), np.uint16)
    device.launch(code["combine"], (16, 3), 128, [sums, state, out, scales[2], *(np.int32(n) for n in (16, 2, 3))])
    start, compared = 0, 0
    for n, length in enumerate(lengths):
        parts = [q[n][None], *(x[start : start + length] for x in (k, v))]
        cases.within(out[n][None], cases.exact(arch, parts, [x[n] for x in scales], scale, causal=False))
        start, compared = start + length, compared + out[n].size
    assert compared == 3 * 16 * 128


@pytest.mark.long
@pytest.mark.parametrize("arch", replay.WAYS)
def test_no_problem_of_many_uses_more_than_the_bound_and_some_much_of_it(arch):
    rng, most = np.random.default_rng(3), 0.0
    for number in range(24):
        queries, keys = int(rng.integers(1, 60)), int(rng.integers(1, 300))
        q, k, v = cases.draw(cases.KINDS[number % 4], arch, (queries, 1, 128), *[(keys, 1, 128)] * 2)
        scales = [np.exp2(rng.uniform(-3, 3, 1)).astype(np.float32) for _ in "qkv"]
        scale, causal = float(rng.uniform(0.01, 0.2)), bool(number % 3)
        by = replay.factors(scale, *scales[:2])
        found = replay.forward(arch, q, k, v, by, scales[2], causal)
        exact, bound = cases.exact(arch, (q, k, v), scales, scale, causal)
        used = np.abs(mfmasim.format("bf16").decode(found) - exact) / bound
        most = max(most, used.max())
    assert 0.5 < most <= 1


def test_a_result_outside_the_bound_is_an_error():
    with pytest.raises(MfmasimError, match=r"1 of 2 elements .* O\[1\]: 1.0078125, exactly 1, bound 0.001"):
        cases.within(np.array([0x3F80, 0x3F81], np.uint16), (np.ones(2), np.full(2, 1e-3)))


@pytest.mark.parametrize(
    ("changes", "part"),
    [
        ({"heads": 3, "kv_heads": 2}, "heads % kv_heads == 0"),
        ({"scale": -0.5}, "scale > 0"),
        ({"data": "special"}, "data in"),
        ({"page": 8}, "page in"),
        ({"heads": 64}, "heads <= 32"),
    ],
)
def test_what_the_contract_excludes_is_refused_before_the_launch(changes, part):
    with pytest.raises(MfmasimError, match=part):
        verify_case(next(c for c in CASES if c.title == "decode").with_parameters(changes), "gfx950")
