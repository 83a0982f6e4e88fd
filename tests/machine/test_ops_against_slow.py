"""Every operation of the machine against the slow interpreter: all forms, operand kinds and edge values, all bits."""

from __future__ import annotations

import random
from functools import partial

import numpy as np
import pytest

import mfmasim
from mfmasim.errors import MfmasimError
from mfmasim.machine.opcodes.registry import OPERATIONS
from tests.longtier import this_round
from tests.machine import frame, harness, lines
from tests.machine.drawing import probes
from tests.machine.judge import judge
from tests.slow.machine import interpreter

pytestmark = pytest.mark.oracle

FAMILIES = {
    "scalar": ("s_",),
    "compare": ("v_cmp",),
    "vector": ("v_",),
    "lds": ("ds_",),
    "memory": ("global_", "flat_", "buffer_", "tbuffer_", "scratch_"),
}

WORDS = ("u64", "i64", "u32", "i32", "u16", "i16")
NOT_CLAMPED = {
    "v_alignbit_b32", "v_alignbyte_b32", "v_cvt_pk_u8_f32", "v_cvt_pkaccum_u8_f32", "v_frexp_exp_i16_f16",
    "v_frexp_exp_i32_f32", "v_frexp_exp_i32_f64", "v_max3_i16", "v_max3_u16", "v_med3_i16", "v_med3_u16", "v_min3_i16",
    "v_min3_u16", "v_mov_b16", "v_mqsad_pk_u16_u8", "v_pack_b32_f16", "v_qsad_pk_u16_u8",
}  # fmt: skip
"""Operations with an integer result that CLAMP does not change or limits as floats, or that the machine refuses."""


@pytest.fixture(scope="module", autouse=True)
def _taken():
    """Draw the forms that the machine takes; it must refuse the others by name."""
    lines.taken = {form for form, line in lines.FORMS.items() if refusal(line) is None}
    yield
    lines.taken = set(lines.FORMS)


def refusal(line):
    """The machine's message for one instruction, or None when it runs."""
    program = harness.kernel(f"  {line}\n  s_endpgm", "gfx942", "")
    try:
        harness.fast(program, 1, 64, [], checks="none")
    except MfmasimError as error:
        return str(error)
    return None


def wanted(arch, every):
    """Operations to compare at length, and those that gfx942 has too: all of them, or every third."""
    has = [name for name in harness.operations() if name in harness.rows(arch)]
    if arch == "gfx942":
        return has, []
    shared = harness.rows("gfx942")
    return [name for name in has if name not in shared], [name for name in has if name in shared][:: 1 if every else 3]


def test_every_operation_has_a_slow_model():
    """An operation that the interpreter does not know is not tested; say so."""
    decoded = set().union(*(harness.rows(arch) for arch in (*harness.ARCHITECTURES, "gfx90a")))
    missing = [name for name in harness.operations() if name in decoded and not interpreter.models(name)]
    assert not missing, f"no slow model for {', '.join(missing)}"
    assert len(harness.operations()) >= 400


@pytest.mark.parametrize("arch", ["gfx942", "gfx950", "gfx1151", "gfx1201"])
def test_clamp_saturates_where_vop3_has_it(arch):
    """An operation with an integer result whose VOP3 row has CLAMP is registered with ``saturates=True``."""
    clamped = set()
    for name, found in harness.rows(arch).items():
        operation = OPERATIONS.get(name)
        if operation and operation.unit == "vector" and not operation.shaped and operation.results[0] in WORDS:
            flags = [row.flags if encoding == "VOP3" else row.flags.get("e64", ()) for encoding, row in found]
            clamped |= {name for given in flags if "clamp" in given}
    saturating = {name for name in harness.rows(arch) if name in OPERATIONS and OPERATIONS[name].saturates}
    missing = sorted(clamped - saturating - NOT_CLAMPED)
    assert not missing, f"saturates=True is missing: {', '.join(missing)}"
    assert saturating <= clamped
    assert len(saturating) >= 20


LEAST = {
    ("gfx942", False): (300, 600, 350_000),
    ("gfx942", True): (300, 1100, 700_000),
    ("gfx908", False): (100, 100, 60_000),
    ("gfx950", False): (100, 100, 60_000),
    ("gfx908", True): (300, 350, 200_000),
    ("gfx950", True): (300, 350, 200_000),
}
"""Operations, probes and registers that are compared at least."""


@pytest.mark.parametrize(
    ("arch", "every"),
    [pytest.param(arch, every, marks=[pytest.mark.long] if every or arch == "gfx908" else []) for arch, every in LEAST],
)
def test_equal_bits(arch, every):
    """Every operation leaves the same in registers, flags, LDS and memory; none is left out, no line is refused."""
    rng = random.Random(f"ops {arch}")
    new, old = wanted(arch, every)
    chosen, strange = probes(arch, rng, 4 if every else 2, new)
    if old:
        more, others = probes(arch, rng, 1, old)
        chosen, strange = chosen + more, strange + others
    assert not strange, f"no line generator for {', '.join(strange)}"
    verdict = judge(chosen, arch, frame.inputs(np.random.default_rng(20)))
    assert not verdict.differences, "\n".join(verdict.differences)
    assert not verdict.refused, "\n".join(verdict.refused.values())
    expected = {name for name in new + old if interpreter.models(name)}
    assert expected - verdict.names == set()
    names, probed, compared = LEAST[arch, every]
    assert len(verdict.names) >= names
    assert len(chosen) >= probed
    assert verdict.compared >= compared
    for prefixes in FAMILIES.values():
        assert sum(probe.line.startswith(prefixes) for probe in chosen) >= (20 if every else 8), prefixes


def called(body):
    """The function behind a body, and the parameters that its registration binds."""
    return (body.func, body.args) if isinstance(body, partial) else body


def test_other_spellings_are_the_same_operation():
    """Names of gfx11 and gfx12 without decoder tables: the body that was tested under the gfx9 name."""
    decoded = set().union(*(harness.rows(arch) for arch in (*harness.ARCHITECTURES, "gfx90a")))
    compared = 0
    for name in harness.operations():
        if name in decoded:
            continue
        old = interpreter.ALIASES.get(name)
        if old is None or old not in OPERATIONS:
            continue  # a model of its own judges it as soon as a table decodes it
        new, known = OPERATIONS[name], OPERATIONS[old]
        assert (new.unit, new.fidelity) == (known.unit, known.fidelity), name
        if new.unit != "direct":
            assert (called(new.body), new.sources, new.results) == (called(known.body), known.sources, known.results), (
                name
            )
        compared += 1
    assert compared >= 60


def test_refused_forms_are_named():
    """A form that the machine does not take stops the launch with instruction, address and bytes."""
    checked = 0
    for form, line in lines.FORMS.items():
        message = refusal(line)
        if form in lines.taken:
            assert message is None
        else:
            assert line.split()[0] in message
            assert "not supported" in message
            assert " at 0x" in message
            assert "(bytes " in message
            assert "\n" not in message
        checked += 1
    assert checked == len(lines.FORMS)


def test_nan_results_follow_one_rule():
    """The first NaN among S0, S1, S2, quieted; a new NaN is positive: the same on every host."""
    chosen, _ = probes(
        "gfx942", random.Random(3), 6, ["v_add_f32", "v_sub_f32", "v_subrev_f32", "v_mul_f32", "v_fma_f32"]
    )
    verdict = judge(chosen, "gfx942", frame.inputs(np.random.default_rng(4)), strict_nan=True)
    assert not verdict.differences, "\n".join(verdict.differences)


@pytest.mark.long
@pytest.mark.parametrize("arch", harness.ARCHITECTURES)
def test_equal_bits_at_length(arch):
    """The same with more lines, and others each round as the data are, for operations on registers.

    Memory keeps what earlier probes left, and waves of a workgroup share the LDS: many probes in a row would meet.
    """
    names = [name for name in harness.operations() if name.startswith(("s_", "v_")) and "scratch" not in name]
    seed = this_round()
    chosen, _ = probes(arch, random.Random(seed), 10, names)
    verdict = judge(chosen, arch, frame.inputs(np.random.default_rng(seed)))
    assert not verdict.differences, "\n".join(verdict.differences)
    assert verdict.compared >= 2_000_000


def test_public_load_finds_the_kernel():
    """The harness uses the public way in: bytes, load, kernel by name."""
    body = "  s_endpgm"
    code = mfmasim.load(harness.assemble(harness.source(body, "gfx942", ""), "gfx942"))
    assert code.kernels == ("test",)
    assert [ins.name for ins in code["test"].instructions] == ["s_endpgm"]
