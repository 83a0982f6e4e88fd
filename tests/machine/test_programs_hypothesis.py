"""Random straight-line programs over few registers: the machine and the slow interpreter end with the same bits.

A catalogue holds one legal line per operation and form. A program is a list of entries and rotations of the register
numbers, so that results feed later instructions, through VCC, SCC and EXEC too, and a failure shrinks to few lines.
"""

from __future__ import annotations

import random
import re

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from tests.longtier import this_round
from tests.machine import frame, harness, lines
from tests.machine.drawing import probes
from tests.machine.spelling import spelled, split
from tests.machine.test_ops_against_slow import refusal
from tests.slow.machine.interpreter import ALIASES
from tests.slow.machine.vector_alu import VECTOR

pytestmark = pytest.mark.oracle

ENCODINGS = ("VOP1", "VOP2", "VOPC", "VOP3", "MAI", "SOP1", "SOP2", "SOPC", "SOPK", "DS", "VOPD")
NOT_STRAIGHT = ("s_getpc", "s_setpc", "s_swappc", "s_call", "s_cbranch", "s_subvector", "s_trap")
NOT_DRAWN = (
    "s_movrel", "v_movrel", "s_set_gpr_idx", "s_mem", "s_setreg", "s_getreg", "ds_add", "ds_sub", "ds_rsub", "ds_inc",
    "ds_dec", "ds_min", "ds_max", "ds_and", "ds_or", "ds_xor", "ds_mskor", "ds_wrxchg", "ds_cmpst", "ds_pk", "ds_wrap",
    "ds_append", "ds_consume", "ds_load_addtid", "ds_store_addtid", "ds_read_addtid",
    "ds_write_addtid", "ds_write_src2", "ds_storexchg", "ds_condxchg", "ds_cond_sub",
    "s_barrier", "s_sendmsg", "s_round_mode", "s_denorm_mode", "v_swaprel",
)  # fmt: skip
"""Registers chosen by a random M0 may be the kernel's own; clocks and the order of two waves at one place differ."""
VECTORS, SCALARS, ACCUMULATORS = (10, 8), (20, 12), (0, 8)
"""First register and number of registers that programs use."""

EXTRA = (
    "s_mov_b64 exec, s[20:21]", "s_or_b64 exec, exec, s[22:23]", "s_andn2_b64 exec, exec, s[24:25]",
    "s_not_b64 exec, exec", "s_mov_b64 vcc, s[26:27]", "s_and_saveexec_b64 s[20:21], vcc",
    "s_or_saveexec_b64 s[20:21], s[22:23]", "s_xor_b64 exec, exec, s[20:21]", "s_mov_b64 exec, -1",
    "v_cmp_lt_u32_e32 vcc, v10, v11", "v_cndmask_b32_e32 v100, v10, v11, vcc",
    "v_addc_co_u32_e32 v100, vcc, v10, v11, vcc",
    "s_mov_b32 m0, s20", "s_mov_b32 s20, m0", "s_mov_b32 vcc_hi, s21", "s_mov_b32 exec_lo, s22",
)  # fmt: skip
"""Writers and readers of EXEC, VCC and M0 that no opcode row stands for."""


def wanted(probe, encoding):
    """Lines that a program may hold: no jumps, results in at most two registers, floats as wide as a register."""
    results = VECTOR.get(ALIASES.get(probe.name, probe.name), ((), ()))[1]
    spans = re.findall(r"\b[vsa]\[(\d+):(\d+)\]", probe.line)
    return (
        encoding in ENCODINGS
        and not probe.name.startswith(NOT_STRAIGHT + NOT_DRAWN)
        and not set(results) & {"f16", "f64"}
        and lines.LDS_OUTSIDE not in probe.line
        and all(int(last) - int(first) == 1 for first, last in spans)
    )


def rotated(line, by):
    """The line with its registers moved into the small files; addresses of the LDS stay."""

    def place(file, number, pair):
        first, size = {"v": VECTORS, "s": SCALARS, "a": ACCUMULATORS}[file]
        if file == "v" and 42 <= number < 100:
            return number
        return first + (number // 2 * 2 + by // 2 * 2) % size if pair else first + (number + by) % size

    def single(match):
        return f"{match[1]}{place(match[1], int(match[2]), False)}"

    def double(match):
        start = place(match[1], int(match[2]), True)
        return f"{match[1]}[{start}:{start + 1}]"

    line = re.sub(r"\b([vsa])\[(\d+):\d+\]", double, line)
    return re.sub(r"\b([vsa])(\d+)\b", single, line)


def follow_up(probe_name, line):
    """What makes a line's effect comparable: LDS data has arrived, and a NaN is replaced by 1 (its bits are free)."""
    if line.startswith("ds_"):
        return ["s_waitcnt lgkmcnt(0)"]
    written = [half.split()[1].strip(",") for half in line.split(" :: ")] if " :: " in line else []
    if VECTOR.get(ALIASES.get(probe_name, probe_name), ((), ()))[1] == ("f32",):
        written = [re.search(r" (v\d+)", line)[1]]
    return [
        part
        for to in written
        for part in (f"v_cmp_u_f32_e64 s[34:35], {to}, {to}", f"v_cndmask_b32_e64 {to}, {to}, 1.0, s[34:35]")
    ]


class Setting(tuple):
    """Architecture, catalogue of (name, line), inputs; with a short name, for hypothesis prints it."""

    __slots__ = ()

    def __new__(cls, *parts):
        """Hold the parts."""
        return super().__new__(cls, parts)

    def __repr__(self):
        """The architecture."""
        return f"Setting({self[0]})"


@pytest.fixture(scope="module", params=(*harness.ARCHITECTURES, "gfx1151", "gfx1201"))
def setting(request):
    """Architecture, catalogue of (name, line), inputs."""
    arch = request.param
    lines.taken = {form for form, line in lines.FORMS.items() if refusal(line) is None}
    names = [name for name in harness.operations() if any(e in ENCODINGS for e, _ in harness.rows(arch).get(name, ()))]
    # A wave of 32 lanes has no 64-bit masks.
    names = [name for name in names if split(arch)[1] == 64 or not name.endswith(("saveexec_b64", "wrexec_b64"))]
    chosen, _ = probes(arch, random.Random(f"catalogue {arch}"), 5, names)
    encodings = {name: found[0][0] for name, found in harness.rows(arch).items()}
    catalogue = [(p.name, p.line) for p in chosen if wanted(p, encodings.get(p.name, "VOPD"))]
    catalogue += [(line.split()[0].removesuffix("_e32"), line) for line in spelled(EXTRA, arch)]
    assert len(catalogue) >= 900
    assert len({name for name, _ in catalogue}) > 100
    lines.taken = set(lines.FORMS)
    return Setting(arch, catalogue, frame.inputs(np.random.default_rng(5), arch))


REGISTERS = [
    *(f"v{VECTORS[0] + i}" for i in range(VECTORS[1])),
    *(f"a{i}" for i in range(ACCUMULATORS[1])),
    *(f"s{SCALARS[0] + i}" for i in range(SCALARS[1])),
    "vcc_lo", "vcc_hi", "s66", "s67", "s68", "m0",
]  # fmt: skip


def registers(arch):
    """What is looked at: RDNA has no accumulators, and no upper half of EXEC in a wave of 32 lanes."""
    missing = {"s68"} if split(arch)[1] == 32 else set()
    return [name for name in REGISTERS if name not in missing and not (name[0] == "a" and arch.startswith("gfx1"))]


def body_of(chosen, arch):
    """The kernel around a program: every register, the flag and EXEC are stored at the end."""
    good = set(harness.accepted([line for _, line in chosen], arch))
    program = [part for name, line in chosen if line in good for part in (line, *spelled(follow_up(name, line), arch))]
    end = ["s_cselect_b32 s66, 1, 0", "s_mov_b32 s67, exec_lo", "s_mov_b32 s68, exec_hi", "s_mov_b64 exec, s[60:61]"]
    end = spelled([*end, *frame.stores(registers(arch), 0)], arch)
    return "\n".join([frame.prologue(arch), *program, *end, "  s_endpgm"]), program


# Shrinking a failure takes minutes: the message holds the whole program, and the long tier shrinks.
QUICK = (Phase.explicit, Phase.reuse, Phase.generate)


def agree(setting, seeded=0, **options):
    """Machine and slow interpreter agree on every register after 10 to 40 random instructions; counts what ran."""
    ran = {"programs": 0, "instructions": 0, "dwords": 0}

    @seed(seeded)
    @settings(deadline=None, suppress_health_check=list(HealthCheck), **options)
    @given(data=st.data())
    def programs(data):
        check_program(setting, data, ran)

    programs()
    assert ran["programs"] >= options["max_examples"]
    assert ran["instructions"] >= 10 * ran["programs"]
    assert ran["dwords"] == ran["programs"] * len(registers(setting[0])) * frame.GROUPS * frame.ITEMS


def test_random_programs(setting):
    """Fifteen programs, the same each time."""
    agree(setting, max_examples=15, database=None, phases=QUICK)


@pytest.mark.long
def test_many_random_programs(setting):
    """The same at length, other programs each round."""
    agree(setting, max_examples=120, seeded=this_round())


def check_program(setting, data, ran):
    """Draw one program and compare."""
    arch, catalogue, inputs = setting
    entry = st.tuples(st.integers(0, len(catalogue) - 1), st.integers(0, 11))
    drawn = data.draw(st.lists(entry, min_size=10, max_size=40))
    chosen = [(catalogue[k][0], rotated(catalogue[k][1], by)) for k, by in drawn]
    body, program = body_of(chosen, arch)
    kernel = harness.kernel(body, arch, "pppp", lds=frame.LDS_BYTES)
    outcome = harness.both(kernel, frame.GROUPS, frame.ITEMS, inputs, lds_bytes=frame.LDS_BYTES, arch=arch)
    wrong = [
        f"{registers(arch)[i % frame.MOST]} of item {i // frame.MOST}: got {outcome.fast[3][i]:08x}, "
        f"expected {outcome.slow[3][i]:08x}"
        for k, i in outcome.different()
        if k == 3
    ]
    assert not wrong, "\n".join([*program, *wrong[:5]])
    assert not outcome.different()
    ran["programs"] += 1
    ran["instructions"] += len(program)
    ran["dwords"] += len(registers(arch)) * frame.GROUPS * frame.ITEMS
