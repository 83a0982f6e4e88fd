"""What the page answers is what the library answers: places, conflicts, values, roundings."""

import hashlib
import math

import numpy as np
import pytest

import mfmasim
from mfmasim import MfmasimError
from mfmasim.architectures import ARCHITECTURES
from mfmasim.explorer import explorer_page
from mfmasim.formats import FORMATS
from mfmasim.lds import layout_offsets
from tests.explorer.compared import accesses, of_arrays, of_page, places

pytestmark = pytest.mark.oracle
HAVING = [arch for arch in ARCHITECTURES if mfmasim.instructions(arch)]
"""Architectures with matrix instructions, those of the page."""


@pytest.mark.parametrize("arch", HAVING)
def test_places(plain, arch):
    asked, answers = places(arch)
    assert len(asked) >= 48
    assert of_page(plain, "table", asked) == of_arrays(answers)


@pytest.mark.parametrize("arch", HAVING)
def test_conflicts(plain, arch):
    asked, answers = accesses(arch)
    assert len(asked) >= 100
    assert of_page(plain, "conflicts", asked) == of_arrays(answers)


LAYOUTS = [
    ("64:4", 64), ("(16,4):(64,8)", 64), ("((4,4),(2,2)):((64,256),(8,16))", 64), ("(5,7,3):(100,1,0)", 105),
    ("Swizzle<3,3,3> o (16,4):(64,8)", 64), ("Sw<2,0,3>∘(8,(4)):(8,(2))", 32), ("Swizzle<2,1,-3> o 32:3", 32),
    ("linear 64 128 256 512 8 16", 64), ("linear 3,5", 4), ("64:2147483647", 2), ("2:2147483647", 2),
    *((text, 64) for text in (
        "", "(16,4)", "(16,4:(1,2)", "(16,4):(1,-2)", "(16,4):(1,2):(3,4)", "(16,(4)):(1,2)", "(16,0):(1,2)",
        "(8,4):(1,2)",
        "64:2147483647", "Swizzle<9,9,20> o 64:1", "linear 1 2 x", "linear 1 2", "linear 1 2 3 4 5 2147483648", "((((1",
    )),
]  # fmt: skip


def test_layouts_and_what_is_none(plain):
    call = """([text, count]) => {
      try { return window.mfmasim.layout(text, count); } catch (error) { return error.message; }
    }"""
    answers = []
    for text, count in LAYOUTS:
        try:
            answers.append(layout_offsets(text, count).tolist())
        except MfmasimError as error:
            answers.append(str(error))
    assert [plain.evaluate(call, list(asked)) for asked in LAYOUTS] == answers
    assert sum(isinstance(answer, list) for answer in answers) == 11


CODES = """async ([name, bits]) => {
  const values = new Float64Array(2 ** Math.min(bits, 16));
  const rest = BigInt(Math.max(0, bits - 16));
  for (let n = 0; n < values.length; n++) {
    const low = (BigInt(n) * 0x9e3779b97f4a7c15n) & ((1n << rest) - 1n);
    values[n] = window.mfmasim.decode(name, (BigInt(n) << rest) | low);
  }
  const bitsOf = new BigUint64Array(values.buffer);
  for (let n = 0; n < values.length; n++) if (Number.isNaN(values[n])) bitsOf[n] = 0x7ff8000000000000n;
  const found = new Uint8Array(await crypto.subtle.digest("SHA-256", values.buffer));
  return [...found].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}"""


@pytest.mark.parametrize("name", FORMATS)
def test_every_code(plain, name):
    fmt = FORMATS[name]
    rest = max(0, fmt.bits - 16)
    number = np.arange(1 << min(fmt.bits, 16), dtype=np.uint64)
    low = number * np.uint64(0x9E3779B97F4A7C15) & np.uint64((1 << rest) - 1)
    want = fmt.decode((number << np.uint64(rest) | low).astype(fmt.carrier))
    bits = want.view(np.uint64).copy()
    bits[np.isnan(want)] = 0x7FF8000000000000  # the page's NaN has no payload; -0 keeps its sign
    assert plain.evaluate(CODES, [name, fmt.bits]) == hashlib.sha256(bits.astype("<u8").tobytes()).hexdigest()


@pytest.mark.parametrize("name", [name for name, fmt in FORMATS.items() if fmt.bits <= 32])
def test_rounding(plain, name):
    fmt, rng = mfmasim.format(name), np.random.default_rng(7)
    values = np.concatenate(
        [
            rng.standard_normal(60) * 2.0 ** rng.integers(-20, 20, 60),
            fmt.decode(rng.integers(0, 1 << fmt.bits, 60).astype(fmt.carrier)),
            [
                0.0,
                -0.0,
                math.inf,
                -math.inf,
                fmt.max,
                2 * fmt.max,
                -fmt.max * 1.0625,
                2.0**-140,
                -(2.0**-150),
                0.5,
                2.5,
            ],
        ]
    )
    values = values[~np.isnan(values)]
    texts = [{math.inf: "inf", -math.inf: "-inf"}.get(v, f"{v:.1100f}".rstrip("0")) for v in values.tolist()]
    for rounding in ("nearest_even", "toward_zero", "up", "down"):
        for overflow in ("saturate", "infinity_or_nan"):
            found = plain.evaluate(
                "([name, texts, how, over]) => texts.map((text) => window.mfmasim.encode(name, text, how, over))",
                [name, texts, rounding, overflow],
            )
            want = fmt.encode(values, rounding, overflow).tolist()
            differing = [(v, f, w) for v, f, w in zip(values, found, want, strict=True) if f != w]
            assert not differing, (rounding, overflow, differing[:3])


HOSTILE = """(name) => {
  const { mfmasim } = window;
  const op = "v_mfma_f32_32x32x8_f16";
  const calls = [
    () => mfmasim.instructions(name), () => mfmasim.accesses(name), () => mfmasim.operands(name, op),
    () => mfmasim.locate("gfx942", name, "A", 0, 0), () => mfmasim.locate("gfx942", op, name, 0, 0),
    () => mfmasim.locate("gfx942", op, "A", 0, 0, { a: name }), () => mfmasim.conflicts(name, "ds_read_b32", [0]),
    () => mfmasim.conflicts("gfx942", name, [0]), () => mfmasim.decode(name, 0), () => mfmasim.encode(name, 1),
    () => mfmasim.encode("e4m3fn", 1, name), () => mfmasim.encode("i8", 1, name),
    () => mfmasim.encode("f16", 1, "up", name),
  ];
  return calls.map((call) => {
    try { return JSON.stringify(call()); } catch (error) { return error.message; }
  });
}"""


@pytest.mark.parametrize("name", ["constructor", "toString", "__proto__", "hasOwnProperty", "valueOf"])
def test_names_that_every_object_inherits_are_unknown(plain, name):
    answers = plain.evaluate(HOSTILE, name)
    assert len(answers) == 13
    assert [answer for answer in answers if not answer.startswith("unknown ")] == []


ORDERED = "data.lane_sets[lanes].map((part, n, all) => part.map((_, k) => all[0].length * n + k));"

FAULTS = [
    ("table", places, "* layout.stride + layout.offset", "* layout.stride"),
    ("table", places, "for (const digit of list) {", "for (const digit of [...list].reverse()) {"),
    ("table", places, "if (blgp === 3) return (lane + 16) % 64;", "if (blgp === 3) return (lane + 48) % 64;"),
    ("table", places, "<< modes.cbsz) | modes.abid", "<< modes.cbsz)"),
    ("conflicts", accesses, "const bank = dword % access.banks;", "const bank = dword % 32;"),
    ("conflicts", accesses, "const pattern = data.lane_sets[lanes];", f"const pattern = {ORDERED}"),
    ("conflicts", accesses, "dword <= Math.floor((first + access.bytes - 1) / 4)", "dword <= Math.floor(first / 4)"),
]
"""A function of the page, its cases, text of its script, and a fault to put in its place."""


@pytest.mark.parametrize(("call", "cases", "old", "new"), FAULTS, ids=[new for *_, new in FAULTS])
def test_faults_are_noticed(show, call, cases, old, new):
    text = explorer_page()
    assert text.count(old) == 1
    page = show(text.replace(old, new), strict=False)
    asked, answers = cases("gfx950")
    assert of_page(page, call, asked) != of_arrays(answers)
