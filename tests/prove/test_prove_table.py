"""What the prover says of each operation of each architecture's table holds in the simulator: `contained`.

Lines are drawn as for the machine's own tests; those that these leave out, as no slow model judges them, are written
here. An operation that the tables have and no line names fails the test.
"""

from __future__ import annotations

import random
import zlib
from dataclasses import dataclass

import numpy as np
import pytest

from mfmasim.errors import MfmasimError
from mfmasim.machine.launch.layout import prepare
from mfmasim.machine.opcodes.registry import OPERATIONS
from mfmasim.prove import execution as execution_module
from mfmasim.prove.instructions import UNSAFE
from mfmasim.prove.masks import Mask
from mfmasim.prove.paths import Stopped
from mfmasim.prove.state import State
from tests.machine import frame, harness, lines
from tests.machine.judge import _is_instruction, _refused_line
from tests.machine.spelling import split
from tests.prove.contained import problems, prover
from tests.prove.observed import watched

EVERY = ("gfx908", "gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1151", "gfx1151:64", "gfx1200", "gfx1201", "gfx1201:64",
         "gfx1250")  # fmt: skip
QUICK = ("gfx942", "gfx1201", "gfx1250")
"""Of these a share of the operations, and `CHOSEN`, belong to the quick tier."""
SHARE, PARTS, ROUNDS = 60, 4, 3
"""One of so many operations is in the quick share; parts of the long tier; what is known is drawn so often."""
MEET = "s_barrier_signal -1", "s_barrier_wait -1"
ZERO = ("s_mov_b32 m0, 0",)
UNUSUAL = {
    "s_barrier": ((), "s_barrier", ()),
    "s_barrier_signal": ((), MEET[0], MEET[1:]),
    "s_barrier_signal_isfirst": ((), "s_barrier_signal_isfirst -1", MEET[1:]),
    "s_barrier_wait": (MEET[:1], MEET[1], ()),
    "s_get_barrier_state": (MEET[:1], "s_get_barrier_state s70, -1", MEET[1:]),
    "s_barrier_leave": ((), "s_barrier_leave", ()),
    "s_barrier_init": (("s_mov_b32 m0, 0x30001",), "s_barrier_init m0", ()),
    "s_barrier_join": (("s_mov_b32 m0, 1",), "s_barrier_join m0", ()),
    "s_wakeup_barrier": (("s_mov_b32 m0, 1",), "s_wakeup_barrier m0", ()),
    "flat_prefetch_b8": ((), "flat_prefetch_b8 v[6:7]", ()),
    "global_prefetch_b8": ((), "global_prefetch_b8 v45, s[12:13]", ()),
    "global_load_block": (("s_mov_b32 m0, 0x8005",), "global_load_block v[100:131], v45, s[12:13]", ()),
    "global_store_block": (("s_mov_b32 m0, 0x5",), "global_store_block v45, v[10:41], s[12:13]", ()),
    "ds_atomic_async_barrier_arrive_b64": ((), "ds_atomic_async_barrier_arrive_b64 v42", ()),
    "ds_atomic_barrier_arrive_rtn_b64": ((), "ds_atomic_barrier_arrive_rtn_b64 v[100:101], v42, v[26:27]", ()),
    **{
        f"ds_load_tr{bits}_b{size}": ((), f"ds_load_tr{bits}_b{size} v[100:{99 + size // 32}], v42", ())
        for bits, size in ((4, 64), (6, 96), (8, 64), (16, 128))
    },
    **{
        f"{way}_load_async_to_lds_b{size}": (ZERO, f"{way}_load_async_to_lds_b{size} v42, v45, s[12:13]", ())
        for way in ("global", "cluster")
        for size in (8, 32, 64, 128)
    },
    **{
        f"global_store_async_from_lds_b{size}": ((), f"global_store_async_from_lds_b{size} v45, v42, s[12:13]", ())
        for size in (8, 32, 64, 128)
    },
    **{
        f"cluster_load_b{size}": (ZERO, f"cluster_load_b{size} v[100:{99 + size // 32}], v45, s[12:13]", ())
        for size in (64, 128)
    },
    "cluster_load_b32": (ZERO, "cluster_load_b32 v100, v45, s[12:13]", ()),
}  # fmt: skip
"""What no generator draws, or draws at barriers that the workgroup has not: lines before, the line, those behind."""
INDEX, INDICES = "s_and_b32 s71, s20, 7", "v_and_b32_e32 v110, 7, v10"
SCALED = (
    "s_load_b32 s70, s[12:13], s71 scale_offset", "s_load_b64 s[72:73], s[12:13], s71 offset:0x10 scale_offset",
    "s_load_b128 s[72:75], s[12:13], s71 scale_offset", "s_load_u16 s70, s[12:13], s71 scale_offset",
    "global_load_b32 v100, v110, s[12:13] scale_offset", "global_load_u8 v100, v110, s[12:13] scale_offset",
    "global_load_b64 v[100:101], v110, s[12:13] offset:8 scale_offset",
    "global_store_b32 v110, v10, s[12:13] scale_offset", "scratch_load_b32 v100, v110, off scale_offset",
)  # fmt: skip
"""Lines of CDNA5 with an address modifier that no generator draws."""
CHOSEN = {*UNUSUAL, "s_wqm_b64", "s_load_dwordx8", "s_scratch_load_dword", "scratch_load_lds_dword",
          "global_load_addtid_b32"}  # fmt: skip
"""Operations that the quick tier has in any case."""


@dataclass
class Line:
    """A line of assembly, and those around it."""

    name: str
    line: str
    before: tuple = ()
    after: tuple = ()
    results: tuple = ()


def modes(program, seen):
    """Whether an instruction's registers are those that it names: MODE does not change them."""
    return not (seen.before.mode & program.arch.vector_mode).any()


def drawn(arch, rng, names):
    """Lines of operations, one for each encoding, and the operations without any."""
    rows = harness.rows(arch)
    lines.aim(arch, rows)
    wanted, without = [], []
    for name in names:
        found = [Line(name, UNUSUAL[name][1], UNUSUAL[name][0], UNUSUAL[name][2])] if name in UNUSUAL else []
        for encoding, row in rows[name] if not found and name not in UNUSUAL else ():
            if encoding.startswith("VOPD") and split(arch)[1] == 64:
                continue
            some = [probe for k in range(20) if (probe := lines.probe(encoding, row, rng, k)) is not None]
            rng.shuffle(some)
            found.append(some)
        if any(row.opcode.transposes for _, row in rows[name]) and split(arch)[1] == 64:  # half the registers
            target = "v[100:101]" if name.endswith("b128") else "v100"
            found.append(Line(name, f"{name} {target}, v45, s[12:13]"))
        wanted.append((name, found))
    good = {p.line for p in _accepted([p for _, each in wanted for p in _flat(each)], arch)}
    chosen = []
    for name, each in wanted:
        fine = [next((p for p in _flat([some]) if p.line in good), None) for some in each]
        chosen += [p for p in fine if p is not None]
        without += [] if any(fine) else [name]
    return chosen, without


def _flat(each):
    return [p for some in each for p in (some if isinstance(some, list) else [some])]


def _accepted(probes, arch):
    good = set(harness.accepted([p.line for p in probes], arch))
    return [p for p in probes if p.line in good]


def executed(probes, arch, data):
    """What the machine did at each line, with the prover of its kernel; lines that it refuses are left out."""
    waiting = list(probes)
    while waiting:
        refused = []
        for body, places in frame.programs(waiting, arch):
            own = list({id(place): place for place in places}.values())
            program = harness.kernel(body, arch, "pppp", lds=frame.LDS_BYTES, extra=frame.PRIVATE)
            text = [line.strip() for line in body.splitlines() if _is_instruction(line)]
            wanted = {probe.line.strip() for probe in own}
            at = {ins.pc for ins, line in zip(program.instructions, text, strict=True) if line in wanted}
            launch = prepare(program, frame.GROUPS, frame.ITEMS, [array.copy() for array in data])
            try:
                found = watched(launch, at)
            except MfmasimError as error:
                line = _refused_line(body, program, error)
                left = [probe for probe in own if probe.line.strip() != line]
                if len(left) == len(own):
                    raise  # a line of the frame itself
                refused += left
                continue
            execution = prover(program, (frame.ITEMS, 1, 1))
            for seen in found.values():
                if not (seen.before.mode & program.arch.vector_mode).any():  # it would change what registers are named
                    yield execution, seen
        waiting = refused


def contradictions(probes, arch, rounds=ROUNDS):
    """What the machine contradicts, and the operations that were compared."""
    found, names, rng = [], set(), np.random.default_rng(zlib.crc32(arch.encode()))
    for execution, seen in executed(probes, arch, frame.inputs(rng, arch)):
        names.add(seen.instruction.name)
        for _ in range(rounds):
            found += problems(rng, execution, seen)
    return found, names


def compared(arch, share, number):
    """The operations of a part of an architecture's table, each compared: those of matrices and tensors have tests of
    their own, and the prover refuses those that change what later instructions mean."""
    rows = harness.rows(arch)
    names = [
        n for n in harness.executable(arch) if not any(r.opcode.matrix or r.opcode.kind == "tensor" for _, r in rows[n])
    ]
    own = [n for n in names if zlib.crc32(n.encode()) % share == number or (n in CHOSEN and not number)]
    probes, without = drawn(arch, random.Random(f"{arch} {number}"), own)
    assert all(any(row.opcode.kind in UNSAFE for _, row in rows[name]) for name in without), f"no line of {without}"
    found, done = contradictions(probes, arch)
    assert not found, "\n".join(found[:12])
    return done


@pytest.mark.oracle
@pytest.mark.parametrize("arch", QUICK)
def test_a_share_of_each_table_is_contained(arch):
    assert len(compared(arch, SHARE, 0)) > 10


@pytest.mark.long
@pytest.mark.oracle
@pytest.mark.parametrize("number", range(PARTS))
@pytest.mark.parametrize("arch", EVERY)
def test_every_operation_of_each_table_is_contained(arch, number):
    assert len(compared(arch, PARTS, number)) > 100


@pytest.mark.oracle
def test_scaled_offsets_are_contained():
    probes = [Line(line, line, (INDEX, INDICES)) for line in SCALED]
    found, names = contradictions(probes, "gfx1250", 8)
    assert not found, "\n".join(found)
    assert len(names) == len({line.split()[0] for line in SCALED})


@pytest.mark.oracle
@pytest.mark.parametrize(
    "name", ["s_barrier_signal_isfirst", "s_barrier_leave", "s_get_barrier_state", "s_barrier_wait"]
)
def test_what_is_not_forgotten_is_found(name, monkeypatch):
    """The comparison can fail: without forgetting, the flag or the register is as before the instruction."""
    probe = Line(
        name, UNUSUAL[name][1], (*UNUSUAL[name][0], "s_mov_b32 s70, 5", "s_cmp_eq_u32 s70, 5"), UNUSUAL[name][2]
    )
    assert not contradictions([probe] * 3, "gfx1250", 8)[0]
    monkeypatch.setattr(execution_module, "forgotten", lambda *_: None)
    found, _ = contradictions([probe] * 3, "gfx1250", 8)
    assert bool(found) == (name != "s_barrier_wait")


def test_new_operations_are_not_followed(monkeypatch):
    """Of an operation that is not registered it is not known what it writes: the prover stops."""
    program = harness.kernel("  s_mov_b32 s5, 7\n  s_endpgm", "gfx942", "pp")
    state = State(np.arange(1), Mask(np.ones((1, 64), np.bool_)), program.instructions[0].pc)
    execution = prover(program, (64, 1, 1))
    monkeypatch.delitem(OPERATIONS, "s_mov_b32")
    with pytest.raises(Stopped, match="what it writes is not known"):
        execution.step(state)
