"""Operations of gfx11, gfx12 and CDNA5 against the slow interpreter: waves of 32 and 64 lanes, all forms, all bits."""

from __future__ import annotations

import random

import numpy as np
import pytest

from tests.longtier import this_round
from tests.machine import drawing, frame, harness, one
from tests.machine.judge import judge
from tests.machine.spelling import split
from tests.slow.machine import interpreter

pytestmark = pytest.mark.oracle


def reason(name, arch):
    """Why an operation is not compared on an architecture, or None."""
    return "a matrix instruction: tests/matrix compares it" if harness.is_matrix(name) else one.reason(name, arch)


def drawn(arch, rng, count, names=None):
    """Probes of the operations that the machine has and the judge compares."""
    wanted = [name for name in names or harness.executable(arch) if reason(name, arch) is None]
    return drawing.probes(arch, rng, count, [name for name in wanted if interpreter.models(name)])


def compared(arch, seed, count, names=None):
    """(verdict, probes, rows without a line)."""
    chosen, strange = drawn(arch, random.Random(f"{arch} {seed}"), count, names)
    return judge(chosen, arch, frame.inputs(np.random.default_rng(seed), arch)), chosen, strange


@pytest.mark.parametrize("arch", ["gfx1030", "gfx1151", "gfx1170", "gfx1201", "gfx1250"])
def test_every_operation_is_judged_or_says_why_not(arch):
    """What the machine has on an architecture, what is judged, and the reasons for the rest."""
    has = harness.executable(arch)
    rest = {name: reason(name, arch) for name in has if reason(name, arch)}
    unknown = [name for name in has if name not in rest and not interpreter.models(name)]
    print(f"{arch}: {len(has)} operations, {len(has) - len(rest) - len(unknown)} judged")
    print("\n".join(f"  {name}: {why}" for name, why in rest.items()))
    assert not unknown, f"no slow model and no reason: {', '.join(unknown)}"


@pytest.mark.parametrize("arch", harness.RDNA)
def test_equal_bits(arch):
    """Every operation leaves the same bits; waves of 64 lanes take every second one, and another second each seed."""
    names = [name for name in harness.executable(arch) if reason(name, arch) is None]
    if split(arch)[1] == 64:
        names = names[::2]
    equal(arch, names)


def test_equal_bits_of_cdna5():
    """Of CDNA5, whose other operations are RDNA4's, those that are its own, dual ones and buffers."""
    names = [name for name in harness.executable("gfx1250") if reason(name, "gfx1250") is None]
    shared = set(harness.executable("gfx1201"))
    alike = {name for name in names if name in shared and not name.startswith(("buffer_load_b", "s_buffer"))}
    dual = {name for name in names if "VOPD3X" in [encoding for encoding, _ in harness.rows("gfx1250")[name]]}
    equal("gfx1250", [name for name in names if name not in alike - dual])


def test_equal_bits_of_what_gfx1170_has_beside_gfx1151():
    own = set(harness.executable("gfx1170")) - set(harness.executable("gfx1151"))
    equal("gfx1170", sorted(name for name in own if reason(name, "gfx1170") is None))
    assert len(own) >= 60


@pytest.mark.long
@pytest.mark.parametrize("arch", ["gfx1170", "gfx1170:64"])
def test_equal_bits_of_gfx1170(arch):
    """MODE has neither DX10_CLAMP nor IEEE: every operation can differ from gfx1151's."""
    equal(arch, [name for name in harness.executable(arch) if reason(name, arch) is None])


def equal(arch, names):
    """Lines of all these operations leave the same bits."""
    verdict, chosen, strange = compared(arch, 20, 1, names)
    assert not strange, f"no line generator for {', '.join(strange)}"
    assert not verdict.refused, "\n".join(verdict.refused.values())
    assert not verdict.differences, "\n".join(verdict.differences)
    # What only VOPD has is named after it.
    judged = verdict.names | {name.replace("v_dual_", "v_") for name in verdict.names}
    assert set(names) - judged == set()
    assert verdict.compared >= len(chosen) * frame.ITEMS * frame.GROUPS


@pytest.mark.long
@pytest.mark.parametrize("arch", [*harness.RDNA, "gfx1250"])
def test_equal_bits_at_length(arch):
    """The same with more lines, and others each round as the data are, for operations on registers."""
    names = [name for name in harness.executable(arch) if name.startswith(("s_", "v_"))]
    verdict, _, _ = compared(arch, this_round(), 8, [name for name in names if reason(name, arch) is None])
    assert not verdict.refused, "\n".join(verdict.refused.values())
    assert not verdict.differences, "\n".join(verdict.differences)
