"""The judge can go red: operations with another operation's body are caught, nearly all of them at the first try."""

from __future__ import annotations

import dataclasses
import random

import numpy as np
import pytest

from tests.machine import frame, harness
from tests.machine.drawing import probes
from tests.machine.judge import judge
from tests.slow.machine import interpreter

pytestmark = pytest.mark.oracle
OPERATIONS = harness.OPERATIONS


SAME = {"s_cmovk_i32", "s_cselect_b32", "s_mov_b32", "v_exp_legacy_f32", "v_log_legacy_f32", "v_rcp_iflag_f32"}
"""Other functions with the outcome of their neighbour; nothing could tell them apart."""


def mutants(arch):
    """(name, other): operations of one signature whose bodies are different functions."""
    groups = {}
    for name in harness.operations():
        operation = OPERATIONS[name]
        if operation.unit != "direct" and name in harness.rows(arch) and interpreter.models(name):
            groups.setdefault((operation.unit, operation.sources, operation.results), []).append(name)
    for names in groups.values():
        for i, name in enumerate(names):
            others = (x for x in names[i + 1 :] + names[:i] if OPERATIONS[x].body is not OPERATIONS[name].body)
            other = next(others, None)
            if other is not None and not {name, other} & SAME:
                yield name, other


def caught(pair, arch, monkeypatch):
    """Whether the judge sees the difference, or the machine cannot run the wrong body at all."""
    name, other = pair
    chosen, _ = probes(arch, random.Random(name), 4, [name])
    with monkeypatch.context() as patch:
        patch.setitem(OPERATIONS, name, dataclasses.replace(OPERATIONS[name], body=OPERATIONS[other].body))
        try:
            verdict = judge(chosen, arch, frame.inputs(np.random.default_rng(7), arch))
        except Exception:  # noqa: BLE001
            return True  # a crash is red as well: the body takes other arguments
    return bool(verdict.differences)


@pytest.mark.parametrize("arch", ["gfx942", "gfx1201"])
def test_a_sample_of_wrong_operations_is_caught(arch, monkeypatch):
    """Some of them."""
    sample = random.Random(1).sample(sorted(mutants(arch)), 10 if arch == "gfx942" else 6)
    assert [pair for pair in sample if not caught(pair, arch, monkeypatch)] == []


@pytest.mark.long
@pytest.mark.parametrize("arch", ["gfx942", "gfx1151", "gfx1201"])
def test_all_wrong_operations_are_caught(arch, monkeypatch):
    """Every pair."""
    everything = sorted(mutants(arch))
    assert len(everything) >= 250
    survivors = [pair for pair in everything if not caught(pair, arch, monkeypatch)]
    assert survivors == []
