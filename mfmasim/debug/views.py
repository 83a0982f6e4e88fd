"""Registers in any format, fragments of matrix instructions, LDS arrays, disassembly: text for any front end."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mfmasim.debug.names import SPECIAL
from mfmasim.debug.values import OPTIMISED, Number, Object, shown
from mfmasim.errors import MfmasimError, unknown
from mfmasim.formats import FORMATS
from mfmasim.formats import format as number_format
from mfmasim.machine.events.fragment_values import FragmentValues, matrix_operands
from mfmasim.observe.tools.steps import compressed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mfmasim.debug.session import Session
    from mfmasim.isa import Instruction


LINE = 110
"""Characters of a line of lanes."""
SHOWN_ROWS = 128
"""Rows of a fragment that are printed."""
INTEGERS = {"x": 32, "u32": 32, "i32": 32, "u16": 16, "i16": 16, "u8": 8, "i8": 8}


def packed(value: Number | Object, name: str, lane: int, session: Session) -> str:
    """A register or a word read as packed numbers of a format, in one lane.

    Args:
        value: the object with the bits.
        name: a number format, ``fp8``, ``bf8``, or ``i8``, ``u16``, ``x`` and the like.
        lane: of the wave.
        session: decides the flavour of ``fp8``.

    Raises:
        MfmasimError: there is no such format, or the value has no bits.
    """
    if isinstance(value, Object):
        if value.type.kind == "array" and value.type.element is not None:
            parts = [packed(value.element(i), name, lane, session) for i in range(min(value.type.count, 64))]
            return f"[{', '.join(parts)}]"
        codes, bits = value.codes(), 8 * value.type.size
        if codes is None:
            return OPTIMISED
        code = int(codes[lane])
    elif np.issubdtype(value.values.dtype, np.integer):
        bits = value.bits or 64
        code = int(value.at(lane)) & (1 << bits) - 1
    else:
        raise MfmasimError(f"/{name}: the bits of a register, a variable or memory are expected")
    if name == "x":
        return f"{code:#x}"
    if name in INTEGERS:
        width, signed = INTEGERS[name], name[0] == "i"
        fields = [code >> at & (1 << width) - 1 for at in range(0, max(bits, width), width)]
        texts = [str(one - (1 << width) if signed and one >> (width - 1) else one) for one in fields]
    else:
        try:
            fmt = number_format(name, session.kernel.arch)
        except MfmasimError:
            raise unknown("format", name, [*INTEGERS, "fp8", "bf8", *FORMATS]) from None
        fields = [code >> at & (1 << fmt.bits) - 1 for at in range(0, max(bits, fmt.bits), fmt.bits)]
        texts = [f"{float(one):.9g}" for one in fmt.decode(np.array(fields, np.uint64))]
    return texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"


def printed(session: Session, text: str, name: str = "") -> str:
    """An expression's value in the current lane, in a format if one is named.

    Args:
        session: its stop.
        text: the expression.
        name: of the format, as `packed` takes it; empty is the type's own.
    """
    names = session.names
    value = session.evaluate(text)
    if name:
        return packed(value, name, names.lane, session)
    found = shown(value, names.lane, names.describe)
    return names.optimised_out(text.strip()) if found == OPTIMISED and text.strip() in SPECIAL else found


def by_lane(session: Session, text: str, name: str = "") -> str:
    """An expression's value in every active lane; equal neighbours occur once.

    Args:
        session: its stop.
        text: the expression.
        name: of the format, as `packed` takes it; empty is the type's own.
    """
    names = session.names
    value, active = session.evaluate(text), names.state.active

    def one(lane: int) -> str:
        return packed(value, name, lane, session) if name else shown(value, lane, names.describe)

    runs: list[list[object]] = []
    for lane in np.flatnonzero(active).tolist():
        shown_ = one(lane)
        if runs and runs[-1][2] == shown_ and runs[-1][1] == lane - 1:
            runs[-1][1] = lane
        else:
            runs.append([lane, lane, shown_])
    if not runs:
        return "no lane is active"
    texts = [f"{a}: {what}" if a == b else f"{a}-{b}: {what}" for a, b, what in runs]
    width, row = max(map(len, texts)) + 2, 1
    row = max(1, LINE // width)
    return "\n".join(
        "".join(f"{one:<{width}}" for one in texts[k : k + row]).rstrip() for k in range(0, len(texts), row)
    )


def matrix_instruction(session: Session) -> Instruction:
    """The matrix instruction that the current wave executes next."""
    for at in (session.here, *session.history.forward(session.wave, session.here)):
        if at != session.history.end and (ins := session.history.instruction(at)).opcode.matrix:
            return ins
    raise MfmasimError(f"wave {session.wave} executes no matrix instruction from here on")


def operands(session: Session) -> list[str]:
    """Operands of the current wave's matrix instruction, or of the next one."""
    return list(matrix_operands(matrix_instruction(session), session.kernel.arch, session.kernel.wave))


def fragment_of(session: Session, name: str) -> FragmentValues:
    """An operand of the current wave's matrix instruction, or of the next one.

    Raises:
        MfmasimError: no matrix instruction follows, or it has no such operand in registers.
    """
    ins, state = matrix_instruction(session), session.state
    found = matrix_operands(ins, session.kernel.arch, session.kernel.wave)
    if name not in found:
        raise unknown("operand", name, found, f"of {ins.name}")
    layout, operand = found[name]
    if operand.kind not in ("v", "a"):
        raise MfmasimError(f"operand {name} of {ins.text.strip()} is a constant, not in registers")
    registers = np.stack([state.vector(operand.kind, operand.index + k) for k in range(layout.vgprs)])
    return FragmentValues(layout, *operand.written, registers)


def fragment(session: Session, name: str) -> str:
    """An operand of a matrix instruction, as `fragment_of`, as text."""
    values, ins = fragment_of(session, name), matrix_instruction(session)
    ahead = "" if ins is session.instruction else ", which comes later; the registers are those of now"
    last = values.first + len(values.registers) - 1
    head = f"{name} {values.fragment.shape_text} {values.fragment.format} in {values.kind}[{values.first}:{last}]"
    rows = values.matrix.reshape(-1, values.matrix.shape[-1])
    texts = [[f"{one:.5g}" for one in row] for row in rows[:SHOWN_ROWS]]
    width = max(len(one) for row in texts for one in row) + 1
    lines = [f"{'':4}" + "".join(f"{k:>{width}}" for k in range(rows.shape[1]))]
    lines += [f"{k:>3} " + "".join(f"{one:>{width}}" for one in row) for k, row in enumerate(texts)]
    return "\n".join([f"of {ins.text.strip()} at {ins.pc:#x}{ahead}", head, *lines])


def written(session: Session, ins: Instruction) -> Iterator[str]:
    """Registers that an instruction reads and writes, as the current wave holds them."""
    state = session.state
    for words in (*ins.dst, *ins.src):
        for k in range(min(words.count, 4)):
            if words.kind in ("v", "a"):
                values = state.vector(words.kind, words.index + k)
                yield f"{words.kind}{words.index + k}={compressed(values, state.active)}"
            elif words.kind == "s" and words.index < 106:
                yield f"s{words.index + k}={state.scalar(words.index + k):#x}"


def disassembled(session: Session, around: int = 5) -> str:
    """Instructions around the current one."""
    listed = session.kernel.reachable
    pcs = [ins.pc for ins in listed]
    at = pcs.index(session.pc) if session.pc in pcs else 0
    lines = []
    for ins in listed[max(0, at - around) : at + around + 1]:
        mark = "=>" if ins.pc == session.pc else "  "
        lines.append(f"{mark} {ins.pc:#8x}  {ins.text.strip():<52} {session.kernel.source_at(ins.pc)}".rstrip())
    return "\n".join(lines)


def stopped(session: Session) -> str:
    """The current wave's stop and its reason."""
    stop, frames = session.stop, session.frames
    head = f"{stop.text}: " if stop.text else ""
    lines = []
    if session.over:
        lines.append(f"{head}wave {session.wave} has ended")
        return "\n".join(lines)
    place = session.recorder.launch.place(session.wave)
    where = f"workgroup ({', '.join(map(str, place.workgroup))}) wave {place.wave} lane {session.lane}"
    calls = ", inlined into ".join(f"{one.name} ({one.source})" if one.source else one.name for one in frames)
    lines.append(f"{head}{where}, {calls}")
    text = session.lines.text(frames[0].file, frames[0].line)
    if text:
        lines.append(f"{frames[0].line:>5}  {text}")
    ins = session.instruction
    assert ins is not None
    lines.append(f"   =>  {ins.pc:#x}  {ins.text.strip()}")
    return "\n".join(lines)


def held(session: Session, name: str, register: str) -> str:
    """Elements of a fragment in a register of the current lane.

    Args:
        session: its stop.
        name: of the operand.
        register: its name; empty is the operand's first.
    """
    values = fragment_of(session, name)
    return "\n".join(values.at(register or values.first, session.lane))


def memory(session: Session, text: str, form: str) -> str:
    """Dwords from an address on; the text ends with how many.

    Args:
        session: its stop.
        text: an expression, and how many dwords.
        form: the format, as `packed` takes it.
    """
    what, _, count = text.rpartition(" ")
    if not what or not count.isdecimal():
        what, count = text, "4"
    value, names = session.evaluate(what), session.names
    if isinstance(value, Object) and value.place is not None and value.type.kind != "pointer":
        where = value.place.address
        space = value.place.space
    else:
        space, where = "global", value.values if isinstance(value, Number) else value.number().values
    first = int(np.broadcast_to(where, (names.state.lanes,))[names.lane])
    rows: list[str] = []
    for number in range(min(int(count), 256)):
        at = np.array([first + 4 * number], np.int64)
        codes = names.state.lds_bytes(at, 4) if space == "lds" else names.state.memory(at, 4)
        if codes is None:
            raise MfmasimError(f"{first + 4 * number:#x} is in no buffer" if not rows else f"{rows[-1]} is the last")
        word = Number(codes[0].astype(np.int64), bits=32)
        label = session.recorder.launch.names.lds(int(at[0])) if space == "lds" else names.describe(int(at[0]))
        rows.append(f"{int(at[0]):#x}  {packed(word, form, 0, session)}  {label}".rstrip())
    return "\n".join(rows)


def arguments(session: Session) -> str:
    """The passed values of the kernel's arguments."""
    names = session.names
    rows = []
    for one in session.kernel.parameters:
        if one.name:
            value = names.find(one.name)
            rows.append(f"{one.name} = {shown(value, names.lane, names.describe)}")
    return "\n".join(rows)


def lds(session: Session, text: str) -> str:
    """Arrays of the LDS, or one of them."""
    names = session.names
    known = [one.name for one in session.kernel.lds_variables]
    if text and text not in known:
        raise unknown("array of the LDS", text, known)
    if not known:
        return f"{len(names.state.lds)} bytes; no array is declared (dynamic LDS, or no debug information)"
    return "\n".join(
        f"{one} = {shown(names.find(one), names.lane, names.describe)}" for one in ([text] if text else known)
    )


def registers(session: Session, text: str) -> str:
    """Registers of the current wave: those that the instruction names, or all of a file."""
    state, ins = session.state, session.instruction
    special = f"exec={state.exec:#x} vcc={state.vcc:#x} scc={state.scc} pc={session.pc:#x} mode={state.mode:#x}"
    if not text:
        return "\n".join([special, *dict.fromkeys(written(session, ins) if ins is not None else ())])
    if text == "s":
        return "\n".join(f"s{k} = {state.scalar(k):#x}" for k in range(session.kernel.info.metadata.sgpr_count or 0))
    if text not in ("v", "a"):
        raise unknown("register file", text, ("v", "a", "s"))
    count = state.count(text)
    return "\n".join(f"{text}{k} = {compressed(state.vector(text, k), state.active)}" for k in range(count))


def waves(session: Session) -> str:
    """Waves in flight, grouped by place."""
    session.cursor.to(session.at)
    replay = session.cursor.replay
    first, count = replay.first_workgroup * session.history.per, replay.waves.count
    rows: list[tuple[str, list[int]]] = []
    for wave in range(first, first + count):
        at = session.history.next_of(wave, session.at)
        if at == session.history.end:
            where = "ended"
        else:
            pc = session.history.instruction(at).pc
            where = f"{pc:#x} {session.kernel.source_at(pc)}".rstrip()
        if rows and rows[-1][0] == where:
            rows[-1][1].append(wave)
        else:
            rows.append((where, [wave]))
    return "\n".join(
        f"{'*' if session.wave in members else ' '} "
        + (f"waves {members[0]}-{members[-1]}" if len(members) > 1 else f"wave {members[0]}")
        + f"  {where}"
        for where, members in rows
    )
