"""Triton's layouts beside the rows of matrix instructions: by hand, by its compiler, and with something wrong."""

import itertools
from dataclasses import replace

import numpy as np
import pytest

import mfmasim
from mfmasim.errors import MfmasimError
from mfmasim.resources import folder
from mfmasim.triton.layouts.compared import compare
from mfmasim.triton.layouts.held import Dot, Held
from mfmasim.triton.layouts.report import conflict_lines, dot_lines
from tests.triton.needs import HAVE, mt, needed  # noqa: F401  (a fixture)

if HAVE:
    from mfmasim.triton.layouts.ttgir import read
    from tests.triton import kernels


def held(shape, fmt, registers, lanes, waves=()):
    return Held(shape, fmt, tuple(registers), tuple(lanes), tuple(waves))


ROWS = [(1 << bit, 0) for bit in range(4)]
COLUMNS = [(0, 1 << bit) for bit in range(4)]


def by_hand():
    """A product of 16 x 16 x 32 halves as Triton 3.9 lays it out for one wave of CDNA3: A passed as B."""
    a = held((16, 32), "f16", [(0, 1), (0, 2), (0, 16)], [*ROWS, (0, 4), (0, 8)])
    b = held((32, 16), "f16", [(1, 0), (2, 0), (16, 0)], [*COLUMNS, (4, 0), (8, 0)])
    d = held((16, 16), "f32", [(0, 1), (0, 2)], [*ROWS, (0, 4), (0, 8)])
    return Dot("gemm.py:9", {"A": a, "B": b, "D": d}, exchanged=True, shape=(16, 16, 16))


def changed(dot, name, **fields):
    return replace(dot, operands={**dot.operands, name: replace(dot.operands[name], **fields)})


@pytest.fixture(scope="module")
def kernel():
    code = mfmasim.load(folder("golden") / "code" / "intro" / "mfma_f32_16x16x16_f16.gfx942.hsaco")
    return code[code.kernels[0]]


def test_places_are_the_exclusive_or_of_bases():
    tensor = held((8, 8), "f16", [(0, 1), (1, 0)], [(0, 2), (2, 3), (4, 4)], [(0, 4)])
    for wave, lane, register in itertools.product(range(2), range(8), range(4)):
        place = [0, 0]
        for number, bases in ((wave, tensor.waves), (lane, tensor.lanes), (register, tensor.registers)):
            for bit, base in enumerate(bases):
                if number >> bit & 1:
                    place = [place[0] ^ base[0], place[1] ^ base[1]]
        assert tensor.places()[wave, lane, register].tolist() == place


def test_a_layout_that_is_the_instructions(kernel):
    found = compare(by_hand(), kernel)
    assert (found.verdict, found.operation.name) == ("equal", "v_mfma_f32_16x16x16_f16")
    assert {(one.operand, one.passed_as, one.places) for one in found.operands} == {
        ("B", "A", 512),
        ("A", "B", 512),
        ("D", "D", 256),
    }


def test_k_may_be_renumbered_in_both_factors(kernel):
    dot = changed(by_hand(), "A", registers=((0, 1), (0, 4), (0, 16)), lanes=(*ROWS, (0, 2), (0, 8)))
    assert compare(dot, kernel).reason == "A and B number K differently"
    both = changed(dot, "B", registers=((1, 0), (4, 0), (16, 0)), lanes=(*COLUMNS, (2, 0), (8, 0)))
    found = compare(both, kernel)
    assert (found.verdict, found.order) == ("K renumbered", (0, 1, 4, 5, 2, 3, 6, 7, 8, 9, 12, 13, 10, 11, 14, 15))


@pytest.mark.parametrize(
    ("name", "fields"),
    [
        ("A", {"lanes": (ROWS[1], ROWS[0], *ROWS[2:], (0, 4), (0, 8))}),  # lanes 1 and 2 exchanged
        ("B", {"registers": ((1, 0), (2, 1), (16, 0))}),
        ("D", {"registers": ((0, 1), (0, 4)), "lanes": (*ROWS, (0, 2), (0, 8))}),
    ],
)
def test_a_place_that_differs(kernel, name, fields):
    found = compare(changed(by_hand(), name, **fields), kernel)
    assert found.verdict == "differs"
    wrong = {one.operand: one for one in found.operands if one.wrong}
    assert set(wrong) == {name}
    assert wrong[name].first.startswith("tile 0, lane ")


def test_what_cannot_be_compared(kernel):
    assert "no matrix instruction" in compare(replace(by_hand(), shape=(32, 32, 8)), kernel).reason
    short = changed(by_hand(), "A", registers=((0, 1),))
    assert compare(short, kernel).reason == "A has 2 elements in a lane, the instruction takes 4"
    assert compare(replace(by_hand(), unread="ValueError: new"), kernel).verdict == "not compared"


def test_bank_conflicts_name_the_layout_of_their_line():
    from mfmasim.observe import Finding

    found = Finding("conflicts", "info", "2-way bank conflict", source="/a/gemm.py:9", instruction="ds")
    rows = [{"shared": {"source": "/a/gemm.py:9", "encoding": "swizzled_shared<{vec = 8}>"}}]
    assert list(conflict_lines(rows, [found, found])) == [
        "gemm.py:9  ds: 2-way bank conflict",
        "      layout: swizzled_shared<{vec = 8}>",
    ]
    assert "none on this line" in list(conflict_lines([], [found]))[1]


SIZES = {"K": "i32", "sa": "i32:16", "sb": "i32:16", "sc": "i32:16"}
TYPES = {"f16": "fp16", "bf16": "bf16", "f32": "fp32", "e4m3fn": "fp8e4nv", "e4m3fnuz": "fp8e4b8", "e5m2": "fp8e5"}
ARCHS = ("gfx942", "gfx950", "gfx1151", "gfx1201", "gfx1250")


def compiled(fn, kind, arch):
    if fn == "matmul":
        pointers = {"a": f"*{TYPES[kind]}:16", "b": f"*{TYPES[kind]}:16", "c": "*fp32:16"}
        return mt.compile(kernels.matmul, pointers | SIZES, {"M": 64, "N": 64, "KB": 64}, arch)
    if fn == "attention":
        types = dict.fromkeys(("q", "k", "v", "o"), f"*{TYPES[kind]}:16") | {"n": "i32", "scale": "fp32"}
        return mt.compile(kernels.attention, types, {"D": 64, "M": 64, "N": 32}, arch)
    types = dict.fromkeys("ab", "*u8:16" if kind == "e2m1" else "*fp8e4nv:16")
    types |= dict.fromkeys("pq", "*u8:16") | {"c": "*fp32:16"}
    constants = {"M": 64, "N": 64, "K": 128, "P": 2 if kind == "e2m1" else 1, "F": kind}
    return mt.compile(kernels.scaled, types, constants, arch)


EVERY = [
    *(("matmul", kind) for kind in TYPES),
    *(("attention", kind) for kind in ("f16", "bf16")),
    *(("scaled", kind) for kind in ("e2m1", "e4m3")),
]


@pytest.mark.oracle
@pytest.mark.parametrize(
    ("arch", "which"),
    [
        pytest.param("gfx1201", [("matmul", "f16")], id="gfx1201"),
        pytest.param("gfx950", [("scaled", "e2m1"), ("attention", "f16")], id="gfx950"),
        *(pytest.param(arch, EVERY, id=f"every-{arch}", marks=pytest.mark.long) for arch in ARCHS),
    ],
)
def test_the_compilers_layouts_are_the_instructions(arch, which):
    """Each product of our kernels; RDNA has no matrix instruction for f32."""
    codes = [compiled(fn, kind, arch) for fn, kind in which]
    wave = codes[0].arch.wave_sizes[0]
    verdicts = set()
    compared = 0
    layouts = read([code.asm["ttgir"] for code in codes], arch, wave)
    for (_, kind), code, (dots, shared) in zip(which, codes, layouts, strict=True):
        assert dots
        assert all(one.source.partition(":")[0].endswith("kernels.py") for one in (*dots, *shared))
        for found in (compare(dot, code.kernel) for dot in dots):
            if found.verdict == "not compared":
                assert kind == "f32", found.reason
                assert code.arch.family.startswith("RDNA"), found.reason
                continue
            compared += 1
            verdicts.add(found.verdict)
    assert compared >= len(which)
    assert verdicts <= {"equal", "K renumbered"}
    if arch == "gfx1201":
        assert "K renumbered" in verdicts


@pytest.mark.oracle
@pytest.mark.long
def test_bases_are_those_of_tritons_linear_layouts():
    """Triton's own application of the layout, place by place."""
    from triton._C.libtriton.linear_layout import LinearLayout

    code = compiled("matmul", "f16", "gfx950")
    ((dots, _),) = read([code.asm["ttgir"]], "gfx950", 64)
    compared = 0
    for tensor in dots[0].operands.values():
        bases = [("register", tensor.registers), ("lane", tensor.lanes), ("warp", tensor.waves)]
        named = [(name, [list(base) for base in each]) for name, each in bases]
        layout = LinearLayout.from_bases(named, ["dim0", "dim1"], list(tensor.shape), True)
        places = tensor.places()
        for wave, lane, register in np.ndindex(places.shape[:3]):
            at = layout.apply({"register": register, "lane": lane, "warp": wave})
            assert list(dict(at).values()) == places[wave, lane, register].tolist()
            compared += 1
    assert compared >= 3 * 4096


@pytest.mark.oracle
def test_a_session_keeps_kernels_only_if_asked():
    with mt.session(arch="gfx950") as session, pytest.raises(MfmasimError, match='layouts="on"'):
        session.layouts()


def test_lines():
    record = {
        "verdict": "K renumbered",
        "arch": "gfx1201",
        "source": "/a/gemm.py:9",
        "instruction": "v_wmma",
        "exchanged": True,
        "tensors": {"A": {"format": "f16", "shape": [64, 64]}, "B": {"format": "f16", "shape": [64, 64]}},
        "reason": "",
        "order": [0, 1, 4, 5, 2, 3, 6, 7],
        "operands": [{"operand": "B", "passed_as": "A", "places": 512, "wrong": 0, "first": ""}],
    }
    assert list(dot_lines(record)) == [
        "K RENUMBERED gfx1201  gemm.py:9  f16[64, 64] x f16[64, 64]  v_wmma  (A and B exchanged)",
        "      B as A             512 of 512 places agree",
        "      K of the instruction 0.. is K 0..1, 4..5, 2..3, 6..7 of the tensors, alike in A and B",
    ]
