"""A slow, obvious interpreter: one wave at a time, one lane at a time, Python integers only.

It judges the machine and shares nothing with it but the decoded instruction record. Never make it fast.
"""

from __future__ import annotations

import slow_atomics  # noqa: F401  (adds to the tables below)
import slow_integers  # noqa: F401
import slow_lanes
import slow_more_floats as more
import slow_private
from slow_memory import MEMORY
from slow_scalar import BRANCH, FLAG, NOTHING, ONE, SAVEEXEC, TIED, TWO, WREXEC, signed
from slow_vector import FORMS, VECTOR, bitop3

M32, M64 = (1 << 32) - 1, (1 << 64) - 1
POISON = 0xA5A5A5A5
LANES = 64

ALIASES = {
    # gfx11 and gfx12 spelling: gfx9 spelling of the same operation
    "s_add_co_u32": "s_add_u32", "s_add_co_ci_u32": "s_addc_u32", "s_sub_co_u32": "s_sub_u32",
    "s_sub_co_ci_u32": "s_subb_u32", "s_add_co_i32": "s_add_i32", "s_addk_co_i32": "s_addk_i32",
    "s_sub_co_i32": "s_sub_i32", "s_and_not1_b32": "s_andn2_b32", "s_and_not1_b64": "s_andn2_b64",
    "s_or_not1_b32": "s_orn2_b32", "s_or_not1_b64": "s_orn2_b64", "v_add_nc_u32": "v_add_u32",
    "v_sub_nc_u32": "v_sub_u32", "v_subrev_nc_u32": "v_subrev_u32", "v_add_co_ci_u32": "v_addc_co_u32",
    "v_sub_co_ci_u32": "v_subb_co_u32", "v_subrev_co_ci_u32": "v_subbrev_co_u32", "v_ctz_i32_b32": "v_ffbl_b32",
    "v_clz_i32_u32": "v_ffbh_u32", "v_add_nc_u16": "v_add_u16", "v_sub_nc_u16": "v_sub_u16",
}  # fmt: skip

_PARTS = {"b32": "dword", "b64": "dwordx2", "b96": "dwordx3", "b128": "dwordx4", "b256": "dwordx8",
          "b512": "dwordx16", "u8": "ubyte", "i8": "sbyte", "u16": "ushort", "i16": "sshort", "b8": "byte",
          "b16": "short"}  # fmt: skip

_RENAMED = {
    **{f"global_load_{new}": f"global_load_{old}" for new, old in _PARTS.items()},
    **{f"global_store_{new}": f"global_store_{old}" for new, old in _PARTS.items()},
    **{f"global_load_d16_{half}{new}": f"global_load_{old}_d16{'_hi' if half else ''}"
       for half in ("", "hi_") for new, old in (("u8", "ubyte"), ("i8", "sbyte"), ("b16", "short"))},
    **{f"global_store_d16_hi_{new}": f"global_store_{_PARTS[new]}_d16_hi" for new in ("b8", "b16")},
    **{f"s_load_{new}": f"s_load_{old}" for new, old in _PARTS.items()},
    **{f"ds_{new}_{what}": f"ds_{old}_{what}"
       for new, old in (("load", "read"), ("store", "write"), ("load_2addr", "read2"), ("store_2addr", "write2"),
                        ("load_2addr_stride64", "read2st64"), ("store_2addr_stride64", "write2st64"))
       for what in (*_PARTS, "u16_d16", "u16_d16_hi", "u8_d16", "u8_d16_hi", "i8_d16", "i8_d16_hi", "b16_d16_hi",
                    "b8_d16_hi")},
}  # fmt: skip
ALIASES |= {new: old for new, old in _RENAMED.items() if old in MEMORY}
# gfx12 loads three scalar dwords too; gfx9 has no such instruction.
ALIASES["s_load_b96"] = "s_load_dwordx3"
ALIASES |= slow_private.ALIASES

WAITS = {
    "s_waitcnt_vscnt", "s_waitcnt_depctr", "s_clause", "s_delay_alu", "s_set_inst_prefetch_distance", "s_wait_alu",
    "s_inst_prefetch", "s_wait_loadcnt", "s_wait_storecnt", "s_wait_dscnt", "s_wait_kmcnt", "s_wait_expcnt",
    "s_wait_samplecnt", "s_wait_bvhcnt", "s_wait_idle", "s_wait_loadcnt_dscnt", "s_wait_storecnt_dscnt",
    "s_sched_barrier",
}  # fmt: skip
"""Waits and scheduling hints of gfx10 to gfx12."""

SPECIAL = {
    "s_endpgm", "s_barrier", "s_getpc_b64", "s_setpc_b64", "s_swappc_b64", "v_readlane_b32", "v_readfirstlane_b32",
    "v_writelane_b32", "v_mbcnt_lo_u32_b32", "v_mbcnt_hi_u32_b32", "v_bitop3_b32", "v_bitop3_b16", "v_swap_b32",
    "s_call_b64",
}  # fmt: skip

MODELS = (TWO, ONE, FLAG, TIED, SAVEEXEC, WREXEC, NOTHING, WAITS, BRANCH, MEMORY, VECTOR, SPECIAL, more.EXTRA)

KEEPS_HIGH = {"v_mad_f16", "v_mad_u16", "v_mad_i16", "v_fma_f16", "v_div_fixup_f16"}
"""16-bit operations whose result leaves the other half alone; the others clear the high half (CDNA3 manual, VOP3)."""


def models(name):
    """Whether the interpreter knows an operation, under this name or its gfx9 one."""
    name = ALIASES.get(name, name)
    return any(name in table for table in MODELS)


class Wave:
    """Registers and place of one wave."""

    def __init__(self, code, entry, memory, lds, wave=LANES):
        self.code, self.pc, self.memory, self.lds = code, entry, memory, lds
        self.v = [[POISON] * wave for _ in range(256)]
        self.a = [[POISON] * wave for _ in range(256)]
        self.s = [POISON] * 128
        self.scc, self.ended, self.waiting, self.steps = 0, False, False, 0
        self.mode = more.PLAIN
        self.exec_ = (1 << wave) - 1

    @property
    def exec_(self):
        """EXEC, 64 bits."""
        return self.pair(126)

    @exec_.setter
    def exec_(self, value):
        self.set_pair(126, value)

    @property
    def vcc(self):
        """VCC, 64 bits."""
        return self.pair(106)

    def pair(self, index):
        """A 64-bit scalar value."""
        return self.s[index] | self.s[index + 1] << 32

    def set_pair(self, index, value):
        """Write a 64-bit scalar value."""
        self.s[index], self.s[index + 1] = value & M32, value >> 32 & M32

    def file(self, kind):
        """The VGPRs or the AGPRs."""
        return self.a if kind == "a" else self.v

    def active(self):
        """Lanes that EXEC enables."""
        mask = self.exec_
        return [lane for lane in range(LANES) if mask >> lane & 1]

    def scalar(self, operand):
        """A scalar source of 32 or 64 bits."""
        if operand.kind == "s":
            return self.pair(operand.index) if operand.count == 2 else self.s[operand.index]
        if operand.kind in ("const", "imm"):
            return operand.bits
        if operand.kind == "special":
            return {235: 1 << 48, 237: 2 << 48, 251: int(self.vcc == 0), 252: int(self.exec_ == 0), 253: self.scc}[
                operand.index
            ]
        raise AssertionError(f"scalar source of kind {operand.kind}")

    def write_scalar(self, operand, value):
        """A scalar destination of 32 or 64 bits."""
        if operand.count == 2:
            self.set_pair(operand.index, value)
        else:
            self.s[operand.index] = value & M32

    # One instruction.

    def step(self):
        """Fetch and execute one instruction."""
        ins = slow_lanes.indexed(self, self.code.instruction_at(self.pc))
        self.pc += ins.size
        self.steps += 1
        name = ins.name
        more.NOW.mode, more.NOW.arch = self.mode, ins.arch
        if name in more.EXTRA:
            more.EXTRA[name](self, ins)
        elif name in VECTOR:
            _vector(self, ins, *VECTOR[name])
        elif name in MEMORY:
            MEMORY[name](self, ins)
        elif name in BRANCH:
            if BRANCH[name](self):
                self.pc = ins.target
        elif name in SPECIAL:
            _special(self, ins)
        elif name not in NOTHING:
            _scalar(self, ins)


def _scalar(wave, ins):
    name = ins.name
    src = [wave.scalar(operand) for operand in ins.src]
    if name in FLAG:
        wave.scc = int(FLAG[name](src[0], src[1]))
        return
    if name in SAVEEXEC or name in WREXEC:
        old = wave.exec_
        wave.exec_ = ({**SAVEEXEC, **WREXEC}[name](src[0], old)) & M64
        wave.write_scalar(ins.dst[0], old if name in SAVEEXEC else wave.exec_)
        wave.scc = int(wave.exec_ != 0)
        return
    if name in TWO:
        result, scc = TWO[name](src[0], src[1], wave.scc)
    elif name in ONE:
        result, scc = ONE[name](src[0], wave.scc)
    elif name in TIED:
        old = wave.scalar(ins.dst[0])
        immediate = next(x.bits if x.kind == "imm" else wave.scalar(x) for x in ins.src if x.printed)
        result, scc = TIED[name](immediate, old, wave.scc)
    else:
        raise NotImplementedError(f"no slow model for {name}")
    if result is not None:
        wave.write_scalar(ins.dst[0], result)
    if scc is not None:
        wave.scc = scc


def _raw(wave, operand, lane):
    """All bits of a vector operand in one lane: 32, or 64 for a pair."""
    if operand.kind in ("v", "a"):
        file = wave.file(operand.kind)
        low = file[operand.index][lane]
        return low | file[operand.index + 1][lane] << 32 if operand.count == 2 else low
    return wave.scalar(operand)


_SIZES = {"u16": 16, "i16": 16, "f16": 16, "u64": 64, "i64": 64, "f64": 64}


def _selected(raw, operand):
    """SDWA source selection: a byte, a half or the dword, zero- or sign-extended."""
    size = 8 if operand.sel < 4 else 16
    if operand.sel == 6:
        return raw
    shift = 8 * operand.sel if operand.sel < 4 else 16 * (operand.sel - 4)
    part = raw >> shift & ((1 << size) - 1)
    return signed(part, size) & M32 if operand.sext else part


def _source(wave, ins, number, kind, lane, raw):
    """Value of a source as its kind says, after selection and modifiers."""
    operand = ins.src[number]
    if kind == "m":
        return raw >> lane & 1
    size = _SIZES.get(kind, 32)
    if ins.encoding == "SDWA" and operand.printed:
        raw = _selected(raw, operand)
    elif size == 16 and ins.modifiers.get("op_sel", 0) >> number & 1:
        raw >>= 16
    raw &= (1 << size) - 1
    if operand.abs:
        raw &= ~(1 << (size - 1))
    if operand.neg:
        raw ^= 1 << (size - 1)
    if kind in ("i16", "i32", "i64"):
        return signed(raw, size)
    if kind in ("u24", "i24"):
        return signed(raw, 24) if kind == "i24" else raw & 0xFFFFFF
    return raw


def _finish(value, kind, clamp):
    """A result as raw bits: wrapped, or saturated by the clamp modifier."""
    size = _SIZES.get(kind, 32)
    if kind in FORMS:
        return more.clamped(value, FORMS[kind]) if clamp else value
    if clamp:
        low, high = (-(1 << (size - 1)), (1 << (size - 1)) - 1) if kind[0] == "i" else (0, (1 << size) - 1)
        value = min(max(value, low), high)
    return value & ((1 << size) - 1)


def _write(wave, ins, operand, lane, kind, bits):
    """Write a lane's result into its register, or the part of it that the instruction selects."""
    file = wave.file(operand.kind)
    old = file[operand.index][lane]
    if _SIZES.get(kind) == 64:
        file[operand.index][lane], file[operand.index + 1][lane] = bits & M32, bits >> 32
        return
    if ins.encoding == "SDWA":
        bits = _sdwa_result(bits, old, ins.modifiers["dst_sel"], ins.modifiers["dst_unused"])
    elif _SIZES.get(kind) == 16:
        if ins.modifiers.get("op_sel", 0) >> 3 & 1:
            bits = bits << 16 | old & 0xFFFF
        elif ins.name in KEEPS_HIGH:
            bits |= old & 0xFFFF0000
    file[operand.index][lane] = bits & M32


def _sdwa_result(bits, old, select, unused):
    if select == 6:
        return bits
    size = 8 if select < 4 else 16
    shift = 8 * select if select < 4 else 16 * (select - 4)
    part = bits & ((1 << size) - 1)
    if unused == 2:
        keep = M32 ^ ((1 << size) - 1) << shift
        return old & keep | part << shift
    if unused == 1:
        part = signed(part, size)
    return part << shift & M32


_DPP_ROWS = {0x142: 0x30, 0x143: 0x20}


def dpp_lane(control, lane):
    """The lane that a DPP control reads for `lane`; None when there is none (CDNA3 manual, table of DPP_CTRL)."""
    row, place, count = lane & ~15, lane & 15, control & 15
    kind = control >> 4
    if control < 0x100:
        return (lane & ~3) + (control >> 2 * (lane & 3) & 3)
    if kind == 0x10:
        return lane + count if place < 16 - count else None
    if kind == 0x11:
        return lane - count if place >= count else None
    if kind == 0x12:
        return row + (place - count) % 16
    if kind == 0x15:
        return row + count
    if control in _DPP_ROWS:
        source = (lane & _DPP_ROWS[control]) - 1
        return source if source >= 0 else None
    return {
        0x130: lane + 1 if lane < 63 else None,
        0x134: (lane + 1) % 64,
        0x138: lane - 1 if lane else None,
        0x13C: (lane - 1) % 64,
        0x140: row + 15 - place,
        0x141: (lane & ~7) + 7 - (lane & 7),
    }[control]


def _vector(wave, ins, sources, results, function):
    """An ordinary vector operation: every active lane on its own."""
    clamp = bool(ins.modifiers.get("clamp"))
    dpp = ins.encoding == "DPP"
    written, masks = [], [0] * len(results)
    for lane in wave.active():
        from_lane, blank = lane, False
        if dpp:
            if not (ins.modifiers["row_mask"] >> (lane >> 4) & 1 and ins.modifiers["bank_mask"] >> (lane >> 2 & 3) & 1):
                continue
            found = dpp_lane(ins.modifiers["dpp_ctrl"], lane)
            if found is None or not wave.exec_ >> found & 1:
                if not ins.modifiers["bound_ctrl"]:
                    continue
                blank = True
            else:
                from_lane = found
        values = []
        for number, kind in enumerate(sources):
            raw = _raw(wave, ins.src[number], from_lane if number == 0 else lane)
            values.append(_source(wave, ins, number, kind, lane, 0 if blank and number == 0 else raw))
        outcome = function(*values)
        outcome = outcome if isinstance(outcome, tuple) else (outcome,)
        for k, (kind, value) in enumerate(zip(results, outcome, strict=True)):
            if kind == "m":
                masks[k] |= value << lane
            else:
                written.append((ins.dst[k], lane, kind, _finish(more.output_scaled(value, kind, ins), kind, clamp)))
    # Results appear together: a destination may be another lane's source (DPP).
    for operand, lane, kind, bits in written:
        _write(wave, ins, operand, lane, kind, bits)
    for k, kind in enumerate(results):
        if kind == "m":
            wave.set_pair(ins.dst[k].index, masks[k])
            if ins.name.startswith("v_cmpx"):
                wave.exec_ = masks[k]


def _special(wave, ins):
    name = ins.name
    if name == "s_endpgm":
        wave.ended = True
    elif name == "s_barrier":
        wave.waiting = True
    elif name == "s_getpc_b64":
        wave.write_scalar(ins.dst[0], wave.pc)
    elif name in ("s_setpc_b64", "s_swappc_b64"):
        target = wave.scalar(ins.src[0])
        if name == "s_swappc_b64":
            wave.write_scalar(ins.dst[0], wave.pc)
        wave.pc = target
    elif name == "s_call_b64":
        wave.write_scalar(ins.dst[0], wave.pc)
        wave.pc = ins.target
    elif name == "v_readfirstlane_b32":
        lane = next(iter(wave.active()), 0)
        wave.write_scalar(ins.dst[0], _raw(wave, ins.src[0], lane))
    elif name == "v_readlane_b32":
        lane = wave.scalar(ins.src[1]) & 63
        wave.write_scalar(ins.dst[0], _raw(wave, ins.src[0], lane))
    elif name == "v_writelane_b32":
        wave.file(ins.dst[0].kind)[ins.dst[0].index][wave.scalar(ins.src[1]) & 63] = wave.scalar(ins.src[0])
    elif name == "v_swap_b32":
        one, two = (wave.file(x.kind)[x.index] for x in (ins.dst[0], ins.src[0]))
        for lane in wave.active():
            one[lane], two[lane] = two[lane], one[lane]
    elif name.startswith("v_mbcnt"):
        _vector_mbcnt(wave, ins, 32 if "_hi_" in name else 0)
    elif name.startswith("v_bitop3"):
        kind = "u16" if name.endswith("b16") else "u32"
        table = ins.modifiers["bitop3"]
        _vector(wave, ins, (kind,) * 3, (kind,), lambda a, b, c: bitop3(a, b, c, table, _SIZES.get(kind, 32)))


def _vector_mbcnt(wave, ins, first):
    """V_MBCNT: bits of S0 that belong to lanes below this one, added to S1."""
    to = ins.dst[0]
    for lane in wave.active():
        mask, start = (_raw(wave, operand, lane) for operand in ins.src)
        below = (1 << lane) - 1 >> first & M32
        wave.file(to.kind)[to.index][lane] = (start + (mask & below).bit_count()) & M32
