"""Results that no rule follows: one symbol for one operation of the same numbers, as the machine computes them."""

from __future__ import annotations

import numpy as np
import pytest

import mfmasim
from mfmasim.architectures import arch as find_arch
from mfmasim.prove import prove_case
from mfmasim.prove.contract import contract_of
from mfmasim.prove.execution import Execution
from mfmasim.prove.masks import Condition
from mfmasim.prove.polynomial import Symbol, of
from mfmasim.prove.sampling import sizes
from mfmasim.prove.uninterpreted import residue
from mfmasim.verify.runner import set_parameters
from tests.prove.hostile import Hostile
from tests.prove.hostile_kernels import BITS, RESOURCE, SELECTED, STORE, WAVE, scalar_quotient
from tests.prove.test_prove_operations import value_in

OPERATIONS = (
    "s_bcnt1_i32_b32 {d}, {a}", "s_brev_b32 {d}, {a}", "s_xor_b32 {d}, {a}, {b}", "s_mul_hi_u32 {d}, {a}, {b}",
    "s_add_u32 {d}, {a}, {b}\\n s_addc_u32 {e}, {b}, {a}", "s_sub_u32 {d}, {a}, {b}\\n s_subb_u32 {e}, 0, {a}",
    "s_cmp_lt_u32 {a}, {b}\\n s_cselect_b32 {d}, {a}, {b}", "s_cmp_ge_u32 {a}, {b}\\n s_cselect_b32 {d}, {a}, {b}",
    "s_bitcmp1_b32 {a}, 3\\n s_cselect_b32 {d}, {b}, {a}", "s_bitcmp0_b32 {a}, 3\\n s_cselect_b32 {d}, {b}, {a}",
    "s_bfe_u32 {d}, {a}, 0x50003", "s_lshr_b32 {d}, {a}, {b}", "s_not_b32 {d}, {a}",
)  # fmt: skip
EDGES = (1, 2, 3, 8, 255, 4096, 65537, 0x01010101, (1 << 31) - 1)


@pytest.mark.parametrize("seed", range(4))
def test_one_symbol_stands_for_one_number(seed: int) -> None:
    rng = np.random.default_rng(seed)
    lines = ["s_mov_b32 s20, s12", "s_mov_b32 s21, s14", "s_mov_b32 s22, s12", "s_mov_b32 s23, s14"]
    for _ in range(16):
        form = OPERATIONS[int(rng.integers(len(OPERATIONS)))]
        # Often the same operation of copies, which has to be the same symbol and the same number.
        a, b = (int(r) for r in rng.integers(20, 24, 2))
        d, e = (int(r) for r in rng.integers(24, 28, 2))
        lines.append(form.format(a=f"s{a}", b=f"s{b}", d=f"s{d}", e=f"s{e}").replace("\\n", "\n"))
        lines.append(f"s_mov_b32 s{int(rng.integers(20, 24))}, s{d}" if rng.integers(3) == 0 else "s_nop 0")
    text = "\n".join(lines) + "\n" + "\n".join(f"v_mov_b32 v{20 + k}, s{20 + k}" for k in range(8))
    text += "\n v_lshlrev_b32 v4, 5, v0\n global_store_dwordx4 v4, v[20:23], s[10:11]\n"
    text += " global_store_dwordx4 v4, v[24:27], s[10:11] offset:16\n"
    for number in range(24, 28):
        text = f"s_mov_b32 s{number}, 0\n" + text
    one = Hostile("uniform", "bounds", {}, text, written=lambda n, k: 512)
    kernel, case = one.kernel(), one.case()
    contract = contract_of(set_parameters(set_parameters(case, arch="gfx942"), wave=64), find_arch("gfx942"))
    paths = Execution(kernel, contract).run()
    compared = 0
    for n in EDGES:
        out = np.zeros((64, 8), np.uint32)
        k = int(rng.integers(1, 1 << int(rng.integers(1, 31))))
        mfmasim.device("sim").launch(
            kernel, (1, 1, 1), (64, 1, 1), [np.zeros(64, np.uint32), out, np.int64(n), np.int64(k)]
        )
        assert (out == out[:1]).all()
        values = dict(next(iter(sizes(contract, {"n": n, "k": k})))[0])
        (path,) = [p for p in paths if all(_holds(c, values) == held for c, held in p.decisions.items())]
        words = [path.s.get(20 + number) for number in range(8)]
        for number, word in enumerate(words):
            if word is not None and word.part == 0 and residue(word) is not None and len(word.value.symbols) == 1:
                (symbol,) = word.value.symbols
                if not word.value.same(of(symbol)):
                    continue
                assert values.setdefault(symbol, int(out[0, number])) == out[0, number], (n, k, word)
        for number, word in enumerate(words):
            if word is not None and word.value.symbols <= values.keys():
                found = int(value_in(word.value, values, 1)[0, 0]) >> (32 * word.part) & 0xFFFFFFFF
                assert found == out[0, number], (n, k, number, word)
                compared += 1
    assert compared >= 30


def _holds(condition: Condition, values: dict[Symbol, int]) -> bool:
    assert condition.kind == "ge"
    assert condition.value is not None
    return bool(value_in(condition.value, values, 1)[0, 0] >= 0)


def _verdicts(kernel: Hostile) -> dict[str, str]:
    proof = prove_case(kernel.case(), kernel.arch, kernel=kernel.kernel(), replays=False)
    return {one.kind: one.verdict for one in proof.obligations}


def test_a_loop_with_as_many_turns_as_a_size_has_bits_is_followed() -> None:
    body = WAVE + "s_bcnt1_i32_b32 s5, s12\n" + BITS + "ds_write_b32 v8, v3\n"
    found = _verdicts(Hostile("turns", "", {}, body, block=128, lds=512))
    assert set(found.values()) == {"proved"}, found


def test_a_row_of_tiles_lies_within_the_grid() -> None:
    body = scalar_quotient("s2", "s14", "s20", "s21") + "s_lshl_b32 s5, s20, 8\n v_add_u32 v4, s5, v1\n" + STORE
    found = _verdicts(Hostile("rows", "", {}, body, grid=lambda n, k: n * k, written=lambda n, k: 64 * n))
    assert found["bounds"] == "proved", found


def test_offsets_beyond_a_resource_guard_a_store() -> None:
    body = WAVE + RESOURCE + "s_lshl_b32 s7, s6, 6\n s_cmp_lt_i32 s7, s12\n s_cselect_b64 vcc, -1, 0\n" + SELECTED
    found = _verdicts(Hostile("rows", "", {}, body, needs="n % 64 == 0 and n > 0", block=128, written=lambda n, k: n))
    assert set(found.values()) == {"proved"}, found
