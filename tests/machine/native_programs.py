"""Random loops of register instructions with regions off and forced: ``python -m tests.machine.native_programs 1000``.

Each program has a loop whose turns differ between waves, with lines drawn from every operation that C can spell, paths
that EXEC or SCC choose, MODE drawn with it, and inputs that are rich in NaN, infinities, denormals and edges. Bits,
counts of instructions and findings of all checks have to be equal.
"""

from __future__ import annotations

import random
import re
import sys

import numpy as np

from mfmasim.machine.execution.endless_loops import only_registers
from mfmasim.machine.native.effects import traced
from mfmasim.machine.native.nodes import UntraceableError
from mfmasim.machine.numerics.float_mode import float_mode
from mfmasim.machine.opcodes.register_allocation import allocated
from tests.machine import frame, harness
from tests.machine.drawing import probes
from tests.machine.spelling import spelled, split
from tests.machine.test_programs_hypothesis import ENCODINGS, EXTRA, registers, rotated, wanted

PLAIN = 0x2F0
"""MODE as HIP compilers set it: round to nearest, keep denormals, IEEE off, DX10_CLAMP on."""


def _spellable(lines, arch):
    """Those of the lines that C can spell."""
    program = harness.kernel("\n".join([*lines, "  s_endpgm"]), arch, "pppp", lds=frame.LDS_BYTES)
    mode, found = float_mode(PLAIN, program.arch.floats), []
    for line, ins in zip(lines, program.instructions, strict=False):
        try:
            traced(allocated(ins, program), program, mode)
        except UntraceableError:
            continue
        found += [line] if only_registers(ins) and not ins.opcode.memory else []
    return found


EXCHANGES = re.compile(r"(v_read(first)?lane|v_writelane|v_permlane|ds_)|.*(_dpp|dpp8:|row_\w+:|quad_perm:)")
"""Lines that read other lanes: under all checks, which follow values of absent lanes, such kernels run without C."""


def catalogue(arch, seed=0, few=None, exchanges=False):
    """Lines of register instructions, one or more of each operation (or of a few) and form that C can spell."""
    names = [name for name in harness.operations() if any(e in ENCODINGS for e, _ in harness.rows(arch).get(name, ()))]
    names = [name for name in names if split(arch)[1] == 64 or not name.endswith(("saveexec_b64", "wrexec_b64"))]
    names = names if few is None else random.Random(f"{arch} {seed}").sample(names, few)
    chosen, _ = probes(arch, random.Random(f"native {arch} {seed}"), 3, names)
    encodings = {name: found[0][0] for name, found in harness.rows(arch).items()}
    lines = [p.line for p in chosen if wanted(p, encodings.get(p.name, "VOPD"))]
    lines += spelled(EXTRA, arch)
    good = set(harness.accepted(lines, arch))
    return _spellable([line for line in lines if line in good and (exchanges or not EXCHANGES.match(line))], arch)


LDS = {
    "read": ("b32", "b64", "b128", "u8", "i8", "u16", "i16", "u16_d16", "u8_d16_hi", "2_b32", "2_b64", "2st64_b32"),
    "write": ("b32", "b64", "b128", "b8", "b16", "b16_d16_hi", "2_b32", "2_b64", "2st64_b32"),
}
GLOBAL = {
    "load": ("dword", "dwordx2", "dwordx4", "ubyte", "sbyte", "ushort", "short_d16_hi", "ubyte_d16"),
    "store": ("dword", "dwordx2", "dwordx4", "byte", "short", "short_d16_hi"),
}
RDNA = {
    "2_b": "_2addr_b", "2st64_b": "_2addr_stride64_b", "global_load_ubyte_d16": "global_load_d16_u8",
    "_short_d16_hi": "_d16_hi_b16", "_ubyte": "_u8", "_sbyte": "_i8", "_ushort": "_u16", "_byte": "_b8",
    "_short": "_b16", "ds_read": "ds_load", "ds_write": "ds_store",
}  # fmt: skip
"""Parts of names, and what gfx11 and later have in their place."""
SIZES = {"b64": 2, "b128": 4, "dwordx2": 2, "dwordx4": 4, "dwordx3": 3}


def _registers(first, count):
    return f"v{first}" if count == 1 else f"v[{first}:{first + count - 1}]"


def _named(name, arch):
    if arch.startswith("gfx1"):
        for old, new in RDNA.items():
            name = name.replace(old, new)
    return name


def accesses(rng, arch):
    """Lines of a load or store whose address is a register's: most lanes stay in the LDS or the buffer."""
    base, kind = f"v{rng.randrange(10, 34)}", rng.choice(("read", "write", "load", "store"))
    few = (0xFFC, 0xFF0, 0x1FFC, 0x7FF)
    near = rng.choice((*few, 0x3FFC, 0x7FFC) if rng.random() < 0.1 else few if rng.random() < 0.3 else few[:2])
    out, first = [f"v_and_b32_e32 v46, {near}, {base}"], 2 * rng.randrange(5, 15)
    if kind in ("read", "write"):
        form = rng.choice(LDS[kind])
        size = SIZES.get(form.rpartition("_")[2], 1)
        name = f"ds_{kind}{'' if form[0] == '2' else '_'}{form}"
        if form[0] == "2":
            apart = [_registers(first + 4 * k, size) for k in (0, 1)]
            both = [_registers(first, 2 * size)] if kind == "read" else apart
            where = f"offset0:{rng.randrange(9)} offset1:{rng.randrange(9)}"
        else:
            both, where = [_registers(first, size)], f"offset:{rng.choice((0, 4, 16, 1, 250))}"
        both = [*both, "v46"] if kind == "read" else ["v46", *both]
        return [*out, f"{_named(name, arch)} {', '.join(both)} {where}"]
    form = rng.choice(GLOBAL[kind])
    data, where = _registers(first, SIZES.get(form, 1)), f"offset:{rng.choice((0, 4, 16, 1, 250))}"
    both = [data, "v46"] if kind == "load" else ["v46", data]
    return [*out, f"{_named(f'global_{kind}_{form}', arch)} {', '.join(both)}, s[8:9] {where}"]


def program(rng, lines, arch, memory=False):
    """A kernel around one random loop; with `memory` it loads and stores, and waits for nothing."""

    def some(most):
        out = [rotated(rng.choice(lines), rng.randrange(12)) for _ in range(rng.randrange(1, most))]
        if memory:
            out += [line for _ in range(rng.randrange(4)) for line in spelled(accesses(rng, arch), arch)]
        return out

    # RDNA has DX10_CLAMP and IEEE at the same bits, gfx12 neither.
    mode = PLAIN & 0xFF if rng.random() < 0.5 else rng.randrange(256)
    turns = rng.choice((3, 7, 300)) if rng.random() < 0.9 else 1500
    own = "s_and_b32 s70, s70, 15" if rng.random() < 0.7 else "s_mov_b32 s70, 5"
    begin = [f"s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 8), {mode}", "v_readfirstlane_b32 s70, v10", own]
    begin += [f"s_add_u32 s70, s70, {turns}"]
    body = some(8)
    if rng.random() < 0.5:
        body += ["s_mov_b64 s[72:73], exec", "s_and_b64 exec, exec, vcc", "s_cbranch_execz .Lnone", *some(5)]
        body += [".Lnone:", "s_mov_b64 exec, s[72:73]"]
    if rng.random() < 0.5:
        body += ["s_cbranch_scc1 .Lelse", *some(4), "s_branch .Lmeet", ".Lelse:", *some(4), ".Lmeet:"]
    if rng.random() < 0.3:
        body += ["s_cbranch_vccz .Lout", *some(3)]
    body += ["s_sub_u32 s70, s70, 1", "s_cmp_lg_u32 s70, 0"]
    end = ["s_cselect_b32 s66, 1, 0", "s_mov_b32 s67, exec_lo", "s_mov_b32 s68, exec_hi", "s_mov_b64 exec, s[60:61]"]
    end += frame.stores(registers(arch), 0)
    text = spelled([*begin, ".Lloop:", *body, "s_cbranch_scc1 .Lloop", ".Lout:", *end], arch)
    # Lines whose registers have moved may have no encoding.
    good = set(harness.accepted([line for line in text if "L" not in line], arch))
    text = [line for line in text if "L" in line or line in good]
    return "\n".join([frame.prologue(arch), *text, "  s_endpgm"])


def differences(body, arch, inputs, monkeypatch, checks="all"):
    """What differs between regions off and forced, and how many wave-instructions C executed."""
    kernel = harness.kernel(body, arch, "pppp", lds=frame.LDS_BYTES)
    found = {}
    for how in ("off", "forced"):
        monkeypatch.setenv("MFMASIM_NATIVE", how)
        found[how] = harness.fast(kernel, frame.GROUPS, frame.ITEMS, inputs, checks=checks)
    (plain, one), (native, other) = found["off"], found["forced"]
    wrong = [f"argument {k}" for k, (a, b) in enumerate(zip(plain, native, strict=True)) if a.tobytes() != b.tobytes()]
    wrong += ["counts"] * (dict(one.counts) != dict(other.counts))
    wrong += ["findings"] * ([str(f) for f in one.findings] != [str(f) for f in other.findings])
    wrong += ["the end"] * (str(one.stopped) != str(other.stopped))
    return wrong, sum(one.counts.values())


def main(argv):
    """Run so many programs; 1 if any differs. With ``memory`` as last word they also load, store
    and exchange, without checks."""
    import pytest

    memory = argv[-1] == "memory"
    argv = argv[: len(argv) - memory]
    count, seed = int(argv[0]), int(argv[1]) if len(argv) > 1 else 0
    monkeypatch = pytest.MonkeyPatch()
    bad = total = 0
    for arch in ("gfx942", "gfx950", "gfx1151", "gfx1201", "gfx1100:64"):
        lines, rng = catalogue(arch, seed, exchanges=memory), random.Random(f"{arch} {seed}")
        print(f"{arch}: {len(lines)} lines", flush=True)
        for number in range(count // 5):
            body = program(rng, lines, arch, memory)
            inputs = frame.inputs(np.random.default_rng(number), arch)
            checks = "none" if memory else "all"
            wrong, executed = differences(body, arch, inputs, monkeypatch, checks)
            total += executed
            if wrong:
                bad += 1
                print(
                    f"{arch} {number}: {', '.join(wrong)}\n{body[body.index('.Lloop') : body.index('.Lout:')]}",
                    flush=True,
                )
    print(f"{count // 5 * 5} programs, {total:,} wave-instructions, {bad} differ")
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
