"""Matrix instructions that form all pairs of some A and B, executed together, against one by one."""

import numpy as np
import pytest

import mfmasim
from mfmasim.formats import FORMATS
from mfmasim.machine.events import Observer
from mfmasim.machine.execution import basic_block
from mfmasim.machine.ops import matrix_pairs
from tests.machine import harness

pytestmark = pytest.mark.oracle

REGISTERS = 40
BODY = """
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  v_and_b32_e32 v0, 0x3ff, v0
  s_lshl_b32 s8, s2, 7
  v_add_u32_e32 v0, s8, v0
  v_mul_u32_u24_e32 v1, 160, v0
  s_waitcnt lgkmcnt(0)
  {loads}
  s_waitcnt vmcnt(0)
  s_nop 7
  {lines}
  s_nop 15
  s_nop 15
  {stores}
  s_endpgm
"""


def program(lines):
    """Load v8 to v47 from rows of 160 bytes of each work-item, execute lines, store them; workgroups of 128."""
    moves = range(0, REGISTERS, 4)
    return BODY.format(
        loads="\n".join(f"global_load_dwordx4 v[{8 + r}:{11 + r}], v1, s[4:5] offset:{4 * r}" for r in moves),
        stores="\n".join(f"global_store_dwordx4 v1, v[{8 + r}:{11 + r}], s[6:7] offset:{4 * r}" for r in moves),
        lines="\n".join(lines),
    )


def left_by(lines, data):
    out = np.zeros_like(data)
    kernel = harness.kernel(program(lines), "gfx942", "pp")
    arrays, _ = harness.fast(kernel, len(data) // 128, 128, [data, out], checks="none")
    return arrays[1]


def pair(a, b, c, d):
    return f"v_mfma_f32_16x16x32_fp8_fp8 v[{d}:{d + 3}], v[{a}:{a + 1}], v[{b}:{b + 1}], v[{c}:{c + 3}]"


def data_of(random, kind):
    """Registers of 256 work-items: any bits, or small integers in FP8, and in FP32 from v24 on."""
    data = random.integers(0, 1 << 32, (256, REGISTERS), np.uint32)
    if kind == "exact":
        codes = FORMATS["e4m3fnuz"].encode(np.arange(-3.0, 4.0))
        data[:, :16] = random.choice(codes, (256, 64)).view(np.uint32)
        data[:, 16:] = random.integers(-50, 50, (256, REGISTERS - 16)).astype(np.float32).view(np.uint32)
    return data


@pytest.mark.parametrize("kind", ["exact", "bits"])
def test_together_is_one_by_one(kind, monkeypatch):
    """Rows of A by rows of B, and random operands, among them D that are A, B or C of others."""
    random, lengths, done = np.random.default_rng(5), [], []
    together = matrix_pairs._together
    monkeypatch.setattr(
        matrix_pairs, "_together", lambda ones, *rest: (lengths.append(len(ones)), together(ones, *rest))[1]
    )
    execute = matrix_pairs.execute_pairs
    monkeypatch.setattr(matrix_pairs, "execute_pairs", lambda *given: (done.append(execute(*given)), done[-1])[1])
    grid = [pair(8 + 2 * i, 16 + 2 * j, 24 + 4 * (3 * j + i), 24 + 4 * (3 * j + i)) for i in range(3) for j in range(2)]
    programs = [grid, grid * 2]
    for number in range(12):
        lowest, width = ((24, 4), (8, 2))[number % 2]  # C and D apart from A and B, and anywhere
        some = []
        while len(some) < 10:
            a, b = 8 + 2 * random.integers(2), 16 + 2 * random.integers(2)
            c, d = lowest + width * random.integers((44 - lowest) // width, size=2)
            if c == d or abs(c - d) >= 4:  # D may be C, but not a part of it
                some.append(pair(a, b, *((d, d) if random.integers(2) else (c, d))))
        programs.append(some)
    for lines in programs:
        data = data_of(random, kind)
        found = left_by(lines, data)
        with monkeypatch.context() as patch:
            patch.setattr(basic_block, "paired", lambda instructions, bound, machine: bound)
            np.testing.assert_array_equal(found, left_by(lines, data), err_msg="\n".join(lines))
    assert lengths[:3] == [6, 6, 6]
    assert {2, 4} <= set(lengths)
    exact = [d is not None for d in done]
    assert sum(exact) > 10 if kind == "exact" else not any(exact)


@pytest.mark.parametrize("which", ["none", "some", "undefined"])
def test_checks_say_the_same_of_what_runs_together(which, monkeypatch):
    """Masked lanes and undefined bits are found whether or not instructions could run together."""
    lines = [pair(8, 16, 24, 24), pair(8, 18, 28, 28)]
    data = data_of(np.random.default_rng(6), "exact")
    if which == "some":
        lines = [
            "v_cmp_gt_u32_e32 vcc, 40, v0",
            "s_and_saveexec_b64 s[8:9], vcc",
            "s_nop 7",
            *lines,
            "s_mov_b64 exec, s[8:9]",
        ]
    elif which == "undefined":
        lines = ["v_mov_b32_e32 v18, v50", "s_nop 7", *lines]
    kernel, done = harness.kernel(program(lines), "gfx942", "pp"), []
    execute = matrix_pairs.execute_pairs
    monkeypatch.setattr(matrix_pairs, "execute_pairs", lambda *given: (done.append(execute(*given)), done[-1])[1])
    arrays, findings = found(kernel, data)
    assert any(d is not None for d in done) == (which == "none")
    monkeypatch.setattr(basic_block, "paired", lambda instructions, bound, machine: bound)
    expected, alone = found(kernel, data)
    np.testing.assert_array_equal(arrays, expected)
    assert findings == alone
    assert bool(findings) == (which != "none")


def found(kernel, data):
    """What a launch under all checks leaves, and its findings."""
    out = np.zeros_like(data)
    report = mfmasim.device("sim").launch(kernel, len(data) // 128, 128, [data, out], checks="all")
    return out, sorted(map(str, report.findings))


class Watching(Observer):
    """Sees the results of matrix instructions."""

    def __init__(self, only_unusual):
        self.only_unusual, self.seen = only_unusual, 0

    def watches(self, instruction):
        return bool(instruction.opcode.matrix)

    def on_value(self, event):
        self.seen += 1


@pytest.mark.parametrize("only_unusual", [False, True])
def test_an_observer_sees_every_matrix_instruction_unless_it_says_otherwise(only_unusual):
    lines = [pair(8, 16, 24, 24), pair(8, 18, 28, 28)]
    data = data_of(np.random.default_rng(6), "exact")
    kernel, observer = harness.kernel(program(lines), "gfx942", "pp"), Watching(only_unusual)
    mfmasim.device("sim").launch(kernel, 2, 128, [data, np.zeros_like(data)], checks="none", observers=[observer])
    assert observer.seen == (0 if only_unusual else 2)
