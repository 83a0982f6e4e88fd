"""LLVM's division by a reciprocal: the machine computes quotients, and the proof follows them for all numbers."""

from __future__ import annotations

import numpy as np
import pytest

import mfmasim
from mfmasim.architectures import arch as find_arch
from mfmasim.prove.contract import contract_of
from mfmasim.prove.execution import Execution
from mfmasim.prove.sampling import sizes
from mfmasim.verify.runner import set_parameters
from tests.prove.hostile import Hostile
from tests.prove.hostile_kernels import scalar_quotient, vector_quotient
from tests.prove.test_prove_operations import value_in

BODY = (
    "v_mul_u32_u24 v5, 0xf4243, v0\n v_add_u32 v5, s12, v5\n v_mov_b32 v6, s14\n"
    + vector_quotient("v5", "v6", "v20", "v21")
    + scalar_quotient("s12", "s14", "s20", "s21")
    + "v_mov_b32 v22, s20\n v_mov_b32 v23, s21\n"
    + "v_lshlrev_b32 v4, 4, v0\n global_store_dwordx4 v4, v[20:23], s[10:11]\n"
)
"""v20, v21: quotient and rest of n + 1000003 v0 by k; v22, v23: those of n by k, from scalar registers."""
MOST = (1 << 31) - 1
EDGES = (1, 2, 3, 7, 255, 256, 65535, 65537, 0x00FFFFFF, 0x01000001, MOST // 2, MOST - 1, MOST)


@pytest.mark.parametrize("arch", ["gfx942", "gfx950"])
def test_quotients_are_those_of_the_machine(arch: str) -> None:
    one = Hostile("division", "bounds", {}, BODY, arch=arch, written=lambda n, k: 256)
    kernel, case = one.kernel(), one.case()
    contract = contract_of(set_parameters(set_parameters(case, arch=arch), wave=64), find_arch(arch))
    (path,) = Execution(kernel, contract).run()
    assert not path.decisions
    rng = np.random.default_rng(1)
    drawn = [(int(n), int(k)) for n, k in np.exp2(rng.uniform(0, 31, (60, 2))).astype(np.int64)]
    pairs = [*((n, k) for n in EDGES for k in EDGES[::3]), *drawn]
    compared = 0
    for n, k in pairs:
        out = np.zeros((64, 4), np.uint32)
        args = [np.zeros(64, np.uint32), out, np.int64(n), np.int64(k)]
        mfmasim.device("sim").launch(kernel, (1, 1, 1), (64, 1, 1), args)
        values = dict(next(iter(sizes(contract, {"n": n, "k": k})))[0])
        for place, whole in enumerate((n + 1000003 * np.arange(64), n + 0 * np.arange(64))):
            assert (out[:, 2 * place] == whole // k).all(), (n, k)
            assert (out[:, 2 * place + 1] == whole % k).all(), (n, k)
        for column in range(4):
            word = path.v["v", 20 + column]
            for symbol in sorted(word.value.symbols):
                if symbol.quotient is not None:
                    value, by = (value_in(p, values, 64) for p in symbol.quotient)
                    values[symbol] = value // by
            assert (value_in(word.value, values, 64) == out[:, column].astype(object)).all(), (n, k, column)
            compared += 64
    assert compared > 20_000
