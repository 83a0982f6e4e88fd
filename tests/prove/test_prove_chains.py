"""Consecutive instructions in two machines: what the prover carries from one to the next holds in the simulator.

Lines of all kinds of integer and mask operations read the results of others. The prover begins with drawn knowledge of
the registers, follows some instructions, and is compared behind each of them: `contained`.
"""

from __future__ import annotations

import random
import re

import numpy as np
import pytest

from mfmasim.machine.launch.layout import prepare
from mfmasim.prove.paths import Fork, Split, Stopped, assume
from mfmasim.prove.polynomial import TooLarge
from tests.machine import frame, harness
from tests.machine.spelling import spelled
from tests.prove.contained import Drawn, Values, behind, prover
from tests.prove.observed import watched
from tests.prove.test_prove_table import UNUSUAL, Line, drawn

KINDS = re.compile(
    r"[sv]_(add|sub|lsh|and|or|xor|not|cmp|csel|cnd|mul|mad|bfe|bfm|mov|read|bit|min|max|cmov|perm|ash|swap|dual|abs|ff|fl"
    r"|pack|sext|align)"
)
"""Operations that addresses and masks are made of."""
LONGEST, TOGETHER = 14, 60
"""Instructions of a chain, and lines of a kernel."""
MASKS = (
    "  s_and_b64 exec, s[60:61], s[52:53]", "  s_and_b64 exec, s[60:61], s[54:55]", "  s_mov_b64 exec, s[60:61]",
    "  s_mov_b64 vcc, s[22:23]",
)  # fmt: skip


def mixed(line, rng):
    """A line that reads results of others in place of some inputs."""
    head, _, rest = line.partition(" ")
    pools = (
        (r"(?<![\w\[])v(1\d|2\d|3\d|10\d)(?![\d:.\]])", [f"v{100 + k}" for k in range(10)]),
        (r"(?<![\w\[])s(2\d|3\d|4\d|7\d)(?![\d:.\]])", [f"s{70 + k}" for k in range(10)]),
    )
    for pattern, pool in pools:
        rest = re.sub(pattern, lambda m, pool=pool: rng.choice(pool) if rng.random() < 0.45 else m[0], rest)
    return f"{head} {rest}"


def kernels(arch, rng):
    """Bodies of kernels of mixed lines, and how many lines are the frame's."""
    rows = harness.rows(arch)
    names = [
        name
        for name in harness.executable(arch)
        if KINDS.match(name) and name not in UNUSUAL and not any(row.opcode.flow for _, row in rows[name])
    ]
    probes, _ = drawn(arch, rng, names)
    some = [Line(p.name, mixed(p.line, rng), tuple(p.before)) for p in probes for _ in range(2) if not p.before]
    good = set(harness.accepted([line.line for line in some], arch))
    some = [line for line in some if line.line in good]
    rng.shuffle(some)
    start = frame.prologue(arch)
    for first in range(0, len(some), TOGETHER):
        out = []
        for line in some[first : first + TOGETHER]:
            out += [f"  {line.line}", *(spelled([rng.choice(MASKS)], arch) if rng.random() < 0.15 else ())]
        yield "\n".join([start, *out, "  s_endpgm"]), len([one for one in start.splitlines() if one.strip()])


def followed(execution, chain, rng):
    """What the machine contradicts along a chain, and how many instructions the prover followed."""
    first = chain[0]
    near = {key for key in first.before.v if rng.random() < 0.8}
    near |= {("s", number) for number in (*range(4, 106), execution.arch.m0) if rng.random() < 0.8}
    own = Drawn(rng, first.before, first.instruction.pc, near)
    own.state.waves, shape = first.numbers, first.before.exec.shape
    for count, seen in enumerate(chain):
        for _ in range(8):
            try:
                execution.step(own.state)
                break
            except Fork as fork:
                true, sure = Values(own.values).condition(fork.condition, shape)
                if not sure.all() or true.any() != true.all():
                    return [], count
                assume(own.state, fork.condition, holds=bool(true.all()))
            except (Split, Stopped, TooLarge):
                return [], count
        else:
            return [], count
        if wrong := behind(own, seen):
            before = [one.instruction.text for one in chain[:count]]
            return [f"{wrong[0]} | after {before}"], count + 1
    return [], len(chain)


def compared(arch, number, most):
    """Contradictions in some kernels, and instructions that were followed."""
    rng, numbers = random.Random(f"{arch} {number}"), np.random.default_rng(number)
    data, found, steps = frame.inputs(numbers, arch), [], 0
    for body, start in kernels(arch, rng):
        program = harness.kernel(body, arch, "pppp", lds=frame.LDS_BYTES, extra=frame.PRIVATE)
        at = [ins.pc for ins in program.instructions][start:-1]
        launch = prepare(program, frame.GROUPS, frame.ITEMS, [array.copy() for array in data])
        seen, execution = watched(launch, set(at), workgroup=0), prover(program, (frame.ITEMS, 1, 1))
        whole = [seen[pc] for pc in at if pc in seen]
        for first in range(0, len(whole), LONGEST):
            wrong, count = followed(execution, whole[first : first + LONGEST], numbers)
            found, steps = found + wrong, steps + count
        if steps >= most:
            break
    return found, steps


@pytest.mark.oracle
@pytest.mark.parametrize("arch", ["gfx942", "gfx1250"])
def test_chains_of_instructions_are_contained(arch):
    found, steps = compared(arch, 1, 60)
    assert not found, "\n".join(found[:8])
    assert steps >= 60


@pytest.mark.long
@pytest.mark.oracle
@pytest.mark.parametrize("number", range(2))
@pytest.mark.parametrize("arch", ["gfx908", "gfx942", "gfx950", "gfx1151", "gfx1201", "gfx1201:64", "gfx1250"])
def test_more_chains_of_instructions_are_contained(arch, number):
    found, steps = compared(arch, 2 + number, 1000)
    assert not found, "\n".join(found[:8])
    assert steps >= 400
