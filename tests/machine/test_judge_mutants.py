"""The judge can go red: operations with another operation's body are caught, nearly all of them at the first try."""

from __future__ import annotations

import dataclasses
import random
import re

import numpy as np
import pytest

from tests.machine import frame, harness
from tests.machine.drawing import probes
from tests.machine.judge import judge
from tests.slow.machine import interpreter

pytestmark = pytest.mark.oracle
OPERATIONS = harness.OPERATIONS


SAME = {
    *("s_cmovk_i32", "s_cselect_b32", "s_mov_b32", "v_exp_legacy_f32", "v_log_legacy_f32", "v_pk_fmac_f16"),
    "v_rcp_iflag_f32",
}
"""Other functions with the outcome of their neighbour; nothing could tell them apart."""
AT_ONCE = 40
"""Wrong operations in one run of the judge."""
TRIES = 3
"""Draws of lines and inputs, of which one has to tell a wrong operation from the right one."""
HARD = [
    ("s_ashr_i64", "s_bfe_i64"),
    ("s_cmp_lg_u32", "s_cmp_lt_u32"),
    ("s_cmp_neq_f16", "s_cmp_nge_f16"),
    ("s_floor_f32", "s_rndne_f32"),
    ("s_rndne_f16", "s_trunc_f16"),
    ("s_rndne_f32", "s_trunc_f32"),
]
"""Scalar operations that differ in few of their operands: a line compares only one value for each workgroup."""


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


def wrong(name, other):
    """An operation with another one's body, which is also given the other one's name: conversions read it."""
    own, body = OPERATIONS[name], OPERATIONS[other].body

    def renamed(instruction, arch):
        opcode = dataclasses.replace(instruction.opcode, name=other)
        return body(dataclasses.replace(instruction, opcode=opcode), arch)

    return dataclasses.replace(own, body=renamed if own.shaped else body)


def caught(pairs, arch, monkeypatch, attempt=0):
    """The pairs in which the judge sees the difference, or whose wrong body the machine cannot run at all."""
    chosen, _ = probes(arch, random.Random(f"{attempt} {pairs[0]}"), 4, [name for name, _ in pairs])
    mutated = {name: wrong(name, other) for name, other in pairs}  # before any is in the table: pairs may swap bodies
    with monkeypatch.context() as patch:
        for name, operation in mutated.items():
            patch.setitem(OPERATIONS, name, operation)
        try:
            verdict = judge(chosen, arch, frame.inputs(np.random.default_rng(7 + attempt), arch))
        except Exception:  # noqa: BLE001
            if len(pairs) == 1:
                return set(pairs)  # a crash is red as well: the body takes other arguments
            verdict = None
    if verdict is None:
        middle = len(pairs) // 2
        return caught(pairs[:middle], arch, monkeypatch, attempt) | caught(pairs[middle:], arch, monkeypatch, attempt)
    red = {probe.name for probe in chosen if probe.line in verdict.refused}
    red |= {probe.name for probe in chosen for text in verdict.differences if text.startswith(f"{probe.line}  result")}
    if len(pairs) == 1:
        return set(pairs) if red else set()  # of a dual instruction, the other half is right
    return {pair for pair in pairs if pair[0] in red}


def used_around(arch):
    """Operations of the frame and of what goes before and after probes: wrong ones are judged alone."""
    chosen, _ = probes(arch, random.Random(0), 1)
    bodies = [body for body, _ in frame.programs(chosen, arch)]
    own = {probe.line for probe in chosen}
    lines = {line.strip() for body in bodies for line in body.splitlines()} - own
    return {re.sub(r"_(e32|e64|dpp|sdwa)$", "", line.split()[0]) for line in lines if line}


def halves(arch):
    """Operations that only dual instructions have: their lines are named after both halves."""
    found = harness.rows(arch).items()
    return {name for name, rows in found if all(encoding.startswith("VOPD") for encoding, _ in rows)}


def survivors(pairs, arch, monkeypatch, tries=TRIES):
    """What each try leaves: the wrong operations that none has caught so far."""
    alone, left, counts = used_around(arch) | halves(arch), sorted(pairs), []
    for attempt in range(tries):
        together = [pair for pair in left if pair[0] not in alone]
        batches = [together[i : i + AT_ONCE] for i in range(0, len(together), AT_ONCE)]
        batches += [[pair] for pair in left if pair[0] in alone]
        red = set().union(*(caught(batch, arch, monkeypatch, attempt) for batch in batches))
        left = [pair for pair in left if pair not in red]
        counts.append(left)
    return counts


@pytest.mark.parametrize("arch", ["gfx942", "gfx1201"])
def test_a_sample_of_wrong_operations_is_caught(arch, monkeypatch):
    """Some of them, and those that differ least."""
    sample = random.Random(1).sample(sorted(mutants(arch)), 30)
    hard = [pair for pair in HARD if all(name in harness.rows(arch) for name in pair)]
    assert hard
    assert survivors({*sample, *hard}, arch, monkeypatch)[-1] == []


def test_a_right_operation_is_not_caught(monkeypatch):
    """Otherwise every mutant would be caught."""
    names = ["v_add_f32", "s_add_u32", "v_cvt_f32_f16", "v_mul_lo_u32"]
    assert caught([(name, name) for name in names], "gfx942", monkeypatch) == set()
    assert caught([("v_dot2acc_f32_bf16", "v_dot2acc_f32_bf16")], "gfx1151", monkeypatch) == set()


def test_an_operation_that_only_dual_instructions_have_is_caught(monkeypatch):
    assert "v_dot2acc_f32_f16" in halves("gfx1201") - halves("gfx1151")
    assert survivors({("v_dot2acc_f32_f16", "v_dot4_f32_bf8_bf8")}, "gfx1201", monkeypatch, tries=1) == [[]]


@pytest.mark.long
@pytest.mark.parametrize("arch", ["gfx942", "gfx1151", "gfx1201"])
def test_all_wrong_operations_are_caught(arch, monkeypatch):
    """Every pair; nearly all at the first try."""
    everything = sorted(mutants(arch))
    assert len(everything) >= 250
    first, *_, last = survivors(everything, arch, monkeypatch)
    assert last == []
    assert len(first) <= len(everything) // 20, first
