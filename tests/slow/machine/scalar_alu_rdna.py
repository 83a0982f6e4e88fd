"""Scalar operations of RDNA3, RDNA3.5 and RDNA4: EXEC of 32 lanes, floats, mode, messages, barriers.

Source: RDNA3.5 and RDNA4 ISA manuals, chapters 5, 6, 16.1 to 16.5. A scalar float operation gives what the vector one
gives (section 6.8); an f16 is the low half, and the high half of the result is zero.
"""

from __future__ import annotations

from tests.slow.machine import float_mode as more
from tests.slow.machine.conversions import _half
from tests.slow.machine.float_mode import EXTRA
from tests.slow.machine.floats import F16, F32
from tests.slow.machine.scalar_alu import FLAG, LOGIC, NOTHING, ONE, TWO, signed
from tests.slow.machine.vector_alu import VECTOR
from tests.slow.machine.vector_alu_rdna import NUMBER, PROPAGATING

M32, M64 = (1 << 32) - 1, (1 << 64) - 1

TWO |= {
    "s_pack_hl_b32_b16": lambda a, b, c: (a >> 16 | (b & 0xFFFF) << 16, None),
    "s_add_nc_u64": lambda a, b, c: (a + b & M64, None),
    "s_sub_nc_u64": lambda a, b, c: (a - b & M64, None),
    "s_mul_u64": lambda a, b, c: (a * b & M64, None),
}


# EXEC of 32 lanes.


def _saveexec(logic, *, saves):
    def run(wave, ins):
        old = wave.s[126]
        wave.s[126] = logic(wave.scalar(ins.src[0]), old) & M32
        wave.write_scalar(ins.dst[0], old if saves else wave.s[126])
        wave.scc = int(wave.s[126] != 0)

    return run


EXTRA |= {f"s_{name}_saveexec_b32": _saveexec(logic, saves=True) for name, logic in LOGIC.items()}
EXTRA |= {f"s_{name}_wrexec_b32": _saveexec(LOGIC[name], saves=False) for name in ("andn1", "andn2")}


# Floats.


def _value(bits, kind):
    if kind in ("i16", "i32"):
        return signed(bits, int(kind[1:]))
    return bits & 0xFFFF if kind[1:] == "16" else bits & M32


def like_vector(name):
    """The scalar function of the vector operation of that name: unsigned sources to an unsigned result."""
    kinds, (result,), function = VECTOR[name]

    def run(*sources):
        out = function(*(_value(bits, kind) for bits, kind in zip(sources, kinds, strict=True)))
        return int(out) & (0xFFFF if result[1:] == "16" else M32)

    return run


_WORDS = ("add", "sub", "mul", "min", "max")
for _kind, _form in (("f32", F32), ("f16", F16)):
    for _word in _WORDS:
        _f = like_vector(f"v_{_word}_{_kind}")
        TWO[f"s_{_word}_{_kind}"] = lambda a, b, c, f=_f: (f(a, b), None)
    for _word, _function in (NUMBER | PROPAGATING).items():
        _low = 0xFFFF if _kind == "f16" else M32
        TWO[f"s_{_word}_{_kind}"] = lambda a, b, c, f=_form, g=_function, m=_low: (g(a & m, b & m, f), None)
    for _word in ("ceil", "floor", "trunc", "rndne"):
        _f = like_vector(f"v_{_word}_{_kind}")
        ONE[f"s_{_word}_{_kind}"] = lambda a, c, f=_f: (f(a), None)
    for _word in ("lt", "eq", "le", "gt", "lg", "ge", "o", "u", "nge", "nlg", "ngt", "nle", "neq", "nlt"):
        FLAG[f"s_cmp_{_word}_{_kind}"] = like_vector(f"v_cmp_{_word}_{_kind}")
for _word in ("f32_i32", "f32_u32", "i32_f32", "u32_f32", "f16_f32", "f32_f16"):
    _f = like_vector(f"v_cvt_{_word}")
    ONE[f"s_cvt_{_word}"] = lambda a, c, f=_f: (f(a), None)
_from_half = like_vector("v_cvt_f32_f16")
ONE["s_cvt_hi_f32_f16"] = lambda a, c: (_from_half(a >> 16), None)
_toward_zero = _half(3)
TWO["s_cvt_pk_rtz_f16_f32"] = lambda a, b, c: (_toward_zero(a, False) | _toward_zero(b, False) << 16, None)


def _fused(kind):
    function = like_vector(f"v_fma_{kind}")

    def run(wave, ins):
        printed = [wave.scalar(x) for x in ins.src if x.printed]
        addend = printed[2:] or [wave.scalar(ins.dst[0])]
        wave.write_scalar(ins.dst[0], function(*printed[:2], *addend))

    return run


EXTRA |= {
    "s_fmac_f32": _fused("f32"),
    "s_fmac_f16": _fused("f16"),
    "s_fmaak_f32": _fused("f32"),
    "s_fmamk_f32": _fused("f32"),
}


def _pseudo_scalar(kind, word):
    """V_S_*: one value, with the modifiers of VOP3; EXEC does not matter (section 7.10)."""
    form = {"f32": F32, "f16": F16}[kind]
    top = 15 if kind == "f16" else 31

    def run(wave, ins):
        operand = ins.src[0]
        bits = wave.scalar(operand) & (1 << top + 1) - 1
        bits &= ~(operand.abs << top)
        bits ^= operand.neg << top
        function = more.before_multiplier(VECTOR[f"v_{word}_{kind}"][2], kind, ins)
        out = more.output_scaled(function(bits), kind, ins)
        wave.write_scalar(ins.dst[0], more.clamped(out, form) if ins.modifiers.get("clamp") else out)

    return run


EXTRA |= {
    f"v_s_{word}_{kind}": _pseudo_scalar(kind, word)
    for word in ("exp", "log", "rcp", "rsq", "sqrt")
    for kind in ("f32", "f16")
}


# Mode, messages, barriers, registers by index.


def _mode(shift):
    def run(wave, ins):
        wave.mode = wave.mode & ~(15 << shift) | (ins.src[0].bits & 15) << shift

    return run


def _message(wave, ins):
    """S_SENDMSG_RTN: a clock, of which the probes look at differences only."""
    for k in range(ins.dst[0].count):
        wave.s[ins.dst[0].index + k] = wave.steps if k == 0 else 0


def _first(wave, ins):
    """S_BARRIER_SIGNAL_ISFIRST: the flag of the first wave that arrives; here waves run in their order."""
    group = wave.lds
    wave.scc = int(not getattr(group, "signalled", 0))
    group.signalled = getattr(group, "signalled", 0) + 1


def _wait(wave, ins):
    wave.waiting = True


def _movrelsd_2(wave, ins):
    """S_MOVRELSD_2: M0[9:0] moves the source, M0[25:16] the destination; beyond s105 nothing is read or written."""
    source = ins.src[0].index + (wave.m0 & 0x3FF)
    target = ins.dst[0].index + (wave.m0 >> 16 & 0x3FF)
    if target < 106:
        wave.s[target] = wave.s[source if source < 106 else 0]


EXTRA |= {
    "s_round_mode": _mode(0),
    "s_denorm_mode": _mode(4),
    "s_sendmsg_rtn_b32": _message,
    "s_sendmsg_rtn_b64": _message,
    "s_barrier_signal_isfirst": _first,
    "s_barrier_wait": _wait,
    "s_movrelsd_2_b32": _movrelsd_2,
}
NOTHING.add("s_barrier_signal")
