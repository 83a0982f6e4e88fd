"""The conversion instructions as rows, and their look-up by architecture and name.

The set of instructions of an architecture is LLVM's (a test compares it with llvm-mc); the behaviour is the
manuals'.
"""

from __future__ import annotations

from collections.abc import Iterator

from mfmasim.architectures import DISTINCT, Arch
from mfmasim.architectures import arch as find_arch
from mfmasim.errors import unknown
from mfmasim.formats.conversions import eights, floats, integers, scaled, small
from mfmasim.formats.conversions.model import Conversion, Row

MANUALS = "CDNA4 and RDNA4 ISA manuals, VOP1 and VOP3 opcodes"
SMALL = "CDNA3 ISA manual 7.2; CDNA4 7.3; RDNA4 7.6"
SCALED = "CDNA4 ISA manual 7.3 and opcodes 565-618"
EIGHTS = "CDNA5 ISA manual 7.6 and opcodes 647-730, 873-887"

NAN_BF8 = (
    "the payload of NaN in BF8 is not defined: 0x7E with its sign, as in AMD's amd_hip_ocp_host.hpp (hip_fp8.h: 0x7F)"
)
NAN_SMALL = "NaN to a format without NaN is not defined: the largest value of its sign, as in AMD's HIP header"
RANDOM = "the manual's pseudocode contradicts its text: random bits are added below the last place, the rest cut off"
PAYLOAD = "the payload of NaN is not defined: its upper bits are kept, and it becomes quiet"
SCALE_SELECT = (
    "tables 36 and 37 and the pseudocode place the scale differently, and MLIR (AMDGPUToROCDL, getScaleSel) numbers "
    "its bits in another order: here as AMD's kernel mla_a8w8 (aiter) uses them: the tables with bits reversed"
)
SCALE_NAN = "a scale of 0xFF is not defined for conversions: NaN"


def _plain() -> Iterator[Row]:
    """Conversions that most architectures have."""
    f32, f64, half = ("b32",), ("b64",), 0b1001
    exact = ("", "specified")
    quiet = (PAYLOAD, "specified")
    for name, needs, sources, result, function, mods, (note, fidelity) in (
        ("v_cvt_f16_f32", "", f32, "b32", floats.f32_to_f16, (0b1000, 1, True), quiet),
        ("v_cvt_f32_f16", "", f32, "b32", floats.f16_to_f32, (0b0001, 1, True), quiet),
        ("v_cvt_f32_bf16", "bf16", f32, "b32", floats.upper_half_to_f32, (0b0001, 1, False), exact),
        ("v_cvt_f32_f64", "", f64, "b32", floats.f64_to_f32, (0, 1, True), quiet),
        ("v_cvt_f64_f32", "", f32, "b64", floats.f32_to_f64, (0, 1, True), quiet),
        ("v_cvt_f32_i32", "", f32, "b32", integers.from_integer("f32", "i32"), (0, 0, True), exact),
        ("v_cvt_f32_u32", "", f32, "b32", integers.from_integer("f32", "u32"), (0, 0, True), exact),
        ("v_cvt_f64_i32", "", f32, "b64", integers.from_integer("f64", "i32"), (0, 0, True), exact),
        ("v_cvt_f64_u32", "", f32, "b64", integers.from_integer("f64", "u32"), (0, 0, True), exact),
        ("v_cvt_f16_i16", "", f32, "b32", integers.from_integer("f16", "i16"), (half, 0, True), exact),
        ("v_cvt_f16_u16", "", f32, "b32", integers.from_integer("f16", "u16"), (half, 0, True), exact),
        ("v_cvt_i32_f32", "", f32, "b32", integers.to_integer("i32", "f32"), (0, 1, False), exact),
        ("v_cvt_u32_f32", "", f32, "b32", integers.to_integer("u32", "f32"), (0, 1, False), exact),
        ("v_cvt_i32_f64", "", f64, "b32", integers.to_integer("i32", "f64"), (0, 1, False), exact),
        ("v_cvt_u32_f64", "", f64, "b32", integers.to_integer("u32", "f64"), (0, 1, False), exact),
        ("v_cvt_i16_f16", "", f32, "b32", integers.to_integer("i16", "f16"), (half, 1, False), exact),
        ("v_cvt_u16_f16", "", f32, "b32", integers.to_integer("u16", "f16"), (half, 1, False), exact),
        ("v_cvt_off_f32_i4", "", f32, "b32", integers.offset_table, (0, 0, True), exact),
        ("v_cvt_i32_i16", "long_names", f32, "b32", integers.extend("i16"), (1, 0, False), exact),
        ("v_cvt_u32_u16", "long_names", f32, "b32", integers.extend("u16"), (1, 0, False), exact),
        ("s_cvt_f32_i32", "scalar", f32, "b32", integers.from_integer("f32", "i32"), (0, 0, False), exact),
        ("s_cvt_f32_u32", "scalar", f32, "b32", integers.from_integer("f32", "u32"), (0, 0, False), exact),
        ("s_cvt_i32_f32", "scalar", f32, "b32", integers.to_integer("i32", "f32"), (0, 0, False), exact),
        ("s_cvt_u32_f32", "scalar", f32, "b32", integers.to_integer("u32", "f32"), (0, 0, False), exact),
        ("s_cvt_f16_f32", "scalar", f32, "b32", floats.f32_to_f16, (0, 0, False), quiet),
        ("s_cvt_f32_f16", "scalar", f32, "b32", floats.f16_to_f32, (0, 0, False), quiet),
        ("s_cvt_hi_f32_f16", "scalar", f32, "b32", floats.high_f16_to_f32, (0, 0, False), quiet),
    ):
        op_sel, sign, clamp = mods
        yield Row(
            name,
            needs,
            sources,
            result,
            function,
            fidelity,
            MANUALS,
            op_sel=op_sel,
            floats=sign,
            clamp=clamp,
            open=note,
        )
    for byte in range(4):
        function = integers.byte_to_f32(byte)
        yield Row(f"v_cvt_f32_ubyte{byte}", "", ("b32",), "b32", function, "specified", MANUALS, clamp=True)


def _rounded() -> Iterator[Row]:
    """Conversions to integers with a fixed rounding rule; RDNA has them under longer names."""
    half = "whether the sum with one half rounds to f32 first is not defined: it does not here"
    tie = "the rounding is not defined: nearest even"
    saturate = "values beyond 16 bits are not defined: they saturate, as LLVM relies on"
    both, one, pair = ("b32", "b32"), ("b32",), integers.normalised_pair
    for old, new, sources, function, sign, op_sel, note in (
        ("v_cvt_rpi_i32_f32", "v_cvt_nearest_i32_f32", one, integers.to_integer("i32", "f32", "nearest"), 1, 0, half),
        ("v_cvt_flr_i32_f32", "v_cvt_floor_i32_f32", one, integers.to_integer("i32", "f32", "floor"), 1, 0, ""),
        ("v_cvt_norm_i16_f16", "v_cvt_norm_i16_f16", one, integers.normalised("i16"), 1, 0b1001, tie),
        ("v_cvt_norm_u16_f16", "v_cvt_norm_u16_f16", one, integers.normalised("u16"), 1, 0b1001, tie),
        ("v_cvt_pknorm_i16_f32", "v_cvt_pk_norm_i16_f32", both, pair("i16", "f32"), 3, 0, tie),
        ("v_cvt_pknorm_u16_f32", "v_cvt_pk_norm_u16_f32", both, pair("u16", "f32"), 3, 0, tie),
        ("v_cvt_pknorm_i16_f16", "v_cvt_pk_norm_i16_f16", both, pair("i16", "f16"), 3, 3, tie),
        ("v_cvt_pknorm_u16_f16", "v_cvt_pk_norm_u16_f16", both, pair("u16", "f16"), 3, 3, tie),
        ("v_cvt_pk_i16_i32", "v_cvt_pk_i16_i32", both, integers.integer_pair("i16", "i32"), 0, 0, saturate),
        ("v_cvt_pk_u16_u32", "v_cvt_pk_u16_u32", both, integers.integer_pair("u16", "u32"), 0, 0, saturate),
        ("", "v_cvt_pk_i16_f32", both, integers.to_integer_pair("i16"), 3, 0, saturate),
        ("", "v_cvt_pk_u16_f32", both, integers.to_integer_pair("u16"), 3, 0, saturate),
    ):
        fidelity = "assumed" if note else "specified"
        for name, needs in ((old, "short_names"), (new, "long_names")):
            if name:
                yield Row(
                    name, needs, sources, "b32", function, fidelity, MANUALS, op_sel=op_sel, floats=sign, open=note
                )


def _pairs() -> Iterator[Row]:
    """Two values of 32 bits to two of 16, and the stochastic forms."""
    both = ("b32", "b32")
    rtz = floats.f32_to_f16_pair("toward_zero")
    yield Row(
        "v_cvt_pkrtz_f16_f32", "short_names", both, "b32", rtz, "specified", MANUALS, floats=3, clamp=True, open=PAYLOAD
    )
    # CLAMP has no effect on an RX 9070 (bjacob/goc, packed_conversion_hardware.h).
    unclamped = floats.f32_to_f16_pair("toward_zero", clamp=False)
    yield Row(
        "v_cvt_pk_rtz_f16_f32",
        "long_names",
        both,
        "b32",
        unclamped,
        "specified",
        MANUALS,
        floats=3,
        clamp=True,
        clamp_acts=False,
        open=PAYLOAD,
    )
    yield Row("s_cvt_pk_rtz_f16_f32", "scalar", both, "b32", rtz, "specified", MANUALS, open=PAYLOAD)
    nearest = floats.f32_to_f16_pair("nearest_even")
    yield Row("v_cvt_pk_f16_f32", "bf16", both, "b32", nearest, "specified", MANUALS, floats=3, open=PAYLOAD)
    pair = floats.f32_to_bf16_pair
    yield Row("v_cvt_pk_bf16_f32", "bf16", both, "b32", pair, "specified", MANUALS, floats=3, open=PAYLOAD)
    yield Row("v_prng_b32", "bf16", ("b32",), "b32", lambda call: scaled.prng(call.sources[0]), "specified", MANUALS)
    for target in ("f16", "bf16"):
        function = floats.stochastic_half(target)
        yield Row(
            f"v_cvt_sr_{target}_f32",
            "half_and_scaled",
            both,
            "b32",
            function,
            "assumed",
            MANUALS,
            keeps=True,
            op_sel=0b1000,
            floats=1,
            open=RANDOM,
        )


def _small() -> Iterator[Row]:
    """FP8 and BF8 without scale."""
    both = ("b32", "b32")
    for kind, note in (("fp8", ""), ("bf8", NAN_BF8)):
        yield Row(
            f"v_cvt_pk_{kind}_f32",
            "fp8",
            both,
            "b32",
            small.pack_two(kind),
            "specified",
            SMALL,
            keeps=True,
            op_sel=0b1000,
            floats=3,
            open=note,
        )
        for needs, selects in (("fp8_by_sdwa", 0), ("fp8_by_op_sel", 4)):
            yield Row(
                f"v_cvt_sr_{kind}_f32",
                needs,
                both,
                "b32",
                small.stochastic(kind),
                "assumed",
                SMALL,
                keeps=True,
                op_sel=0b1100,
                floats=1,
                selects=selects,
                open=RANDOM,
            )
        for needs, byte_bits, word_bits in (("fp8_by_sdwa", 0, 0), ("fp8_by_op_sel", 0b0011, 0b0001)):
            yield Row(
                f"v_cvt_f32_{kind}",
                needs,
                ("b32",),
                "b32",
                small.widen_one(kind),
                "specified",
                SMALL,
                op_sel=byte_bits,
                selects=4,
                open=PAYLOAD,
            )
            yield Row(
                f"v_cvt_pk_f32_{kind}",
                needs,
                ("b32",),
                "b32x2",
                small.widen_two(kind),
                "specified",
                SMALL,
                op_sel=word_bits,
                selects=2,
                open=PAYLOAD,
            )


def _scaled() -> Iterator[Row]:
    """v_cvt_scalef32_*, all 49."""
    wide = ("f32", "f16", "bf16")
    for kind in ("fp8", "bf8", "fp4"):
        place, pick = (0b1100, 0b0011) if kind == "fp4" else (0b1000, 0b0001)
        note = "; ".join(filter(None, (SCALE_NAN, {"bf8": NAN_BF8, "fp4": NAN_SMALL}.get(kind, ""))))
        for other in wide:
            one = other == "f32"
            sources = ("b32", "b32", "b32") if one else ("b32", "b32")
            yield _scaled_row(
                f"pk_{kind}_{other}", sources, "b32", scaled.narrow_two(kind, other), note, place, 3 * one
            )
            result = "b32x2" if one else "b32"
            yield _scaled_row(
                f"pk_{other}_{kind}", ("b32", "b32"), result, scaled.widen_two(other, kind), SCALE_NAN, pick
            )
            if kind == "fp4":
                sources = ("b32x2" if one else "b32", "b32", "b32")
                function = scaled.narrow_two(kind, other, random=True)
                yield _scaled_row(f"sr_pk_{kind}_{other}", sources, "b32", function, RANDOM, place)
            else:
                function = scaled.narrow_one_randomly(kind, other)
                place_one = 0b1100 if one else 0b1101
                yield _scaled_row(f"sr_{kind}_{other}", ("b32",) * 3, "b32", function, RANDOM, place_one, 1)
            if kind != "fp4" and other != "bf16":
                half = 0 if one else 0b1000
                function = scaled.widen_one(other, kind)
                yield _scaled_row(f"{other}_{kind}", ("b32", "b32"), "b32", function, SCALE_NAN, half | 0b0011)
    for kind in ("fp6", "bf6"):
        note = f"{SCALE_NAN}; {NAN_SMALL}"
        function = scaled.narrow_many(kind, "f32", "2xpk16")
        yield _scaled_row(f"2xpk16_{kind}_f32", ("b32x16", "b32x16", "b32"), "b32x6", function, note)
        for other in wide:
            block = "b32x32" if other == "f32" else "b32x16"
            function = scaled.narrow_many(kind, other, "sr_pk32")
            yield _scaled_row(f"sr_pk32_{kind}_{other}", (block, "b32", "b32"), "b32x6", function, RANDOM)
            yield _scaled_row(
                f"pk32_{other}_{kind}", ("b32x6", "b32"), block, scaled.widen_many(other, kind), SCALE_NAN
            )
            if other != "f32":
                function = scaled.narrow_many(kind, other, "pk32")
                yield _scaled_row(f"pk32_{kind}_{other}", (block, "b32"), "b32x6", function, note)


def _scaled_row(
    tail: str, sources: tuple[str, ...], result: str, function: object, note: str, op_sel: int = 0, sign: int = 0
) -> Row:
    """One row of the scaled conversions; ABS and NEG of the scale operand have no effect, and are allowed."""
    words = tail.split("_")
    narrow = words[-2] in {"fp8", "bf8", "fp4"} or tail.startswith("f16_")
    scale = 1 << (len(sources) - 1)
    return Row(
        f"v_cvt_scalef32_{tail}",
        "half_and_scaled",
        sources,
        result,
        function,  # type: ignore[arg-type]
        "assumed" if note == RANDOM else "specified",
        SCALED,
        keeps=narrow,
        op_sel=op_sel,
        floats=sign | scale,
        open=note,
    )


def _eights() -> Iterator[Row]:
    """v_cvt_scale_pk8_*, pk16_* and their like, and the conversions between f16 and FP8."""
    wide = ("f32", "f16", "bf16")
    for kind, count in (("fp8", 8), ("bf8", 8), ("fp4", 8), ("fp6", 16), ("bf6", 16)):
        codes = "b32" if kind == "fp4" else f"b32x{2 if count == 8 else 3}"
        note = "; ".join(filter(None, (SCALE_NAN, {"bf8": NAN_BF8, "fp8": ""}.get(kind, NAN_SMALL))))
        for other in wide:
            values = f"b32x{count if other == 'f32' else count // 2}"
            for random in (False, True):
                yield Row(
                    f"v_cvt_scalef32_{'sr_' * random}pk{count}_{kind}_{other}",
                    "eights",
                    (values, "b32", "b32") if random else (values, "b32"),
                    codes,
                    eights.narrow_block(kind, other, random=random),
                    "assumed" if random else "specified",
                    EIGHTS,
                    open=RANDOM if random else note,
                )
            yield Row(
                f"v_cvt_scale_pk{count}_{other}_{kind}",
                "eights",
                (codes, "b32"),
                values,
                eights.widen_block(other, kind),
                "assumed",
                EIGHTS,
                scale_bits={"fp4": 4, "fp6": 6, "bf6": 6}.get(kind, 8),
                open=SCALE_SELECT,
            )
    one, both = ("b32",), ("b32", "b32")
    for kind, note in (("fp8", ""), ("bf8", NAN_BF8)):
        yield from (
            Row(
                f"v_cvt_pk_{kind}_f16",
                "eights",
                one,
                "b32",
                eights.narrow_f16_pair(kind),
                "specified",
                EIGHTS,
                keeps=True,
                op_sel=0b1000,
                floats=1,
                open=note,
            ),
            Row(
                f"v_cvt_sr_{kind}_f16",
                "eights",
                both,
                "b32",
                eights.narrow_f16_randomly(kind),
                "assumed",
                EIGHTS,
                keeps=True,
                op_sel=0b0011,
                floats=1,
                selects=4,
                open=RANDOM,
            ),
            Row(
                f"v_cvt_f16_{kind}",
                "eights",
                one,
                "b32",
                eights.widen_f16(kind),
                "specified",
                EIGHTS,
                op_sel=0b1000,
                selects=4,
                open=PAYLOAD,
            ),
            Row(
                f"v_cvt_pk_f16_{kind}",
                "eights",
                one,
                "b32x1",
                eights.widen_f16_pair(kind),
                "specified",
                EIGHTS,
                op_sel=0b0001,
                open=PAYLOAD,
            ),
        )
    for target in ("f16", "bf16"):
        yield Row(
            f"v_cvt_sr_pk_{target}_f32",
            "eights",
            ("b32",) * 3,
            "b32",
            eights.stochastic_pair(target),
            "assumed",
            EIGHTS,
            floats=3,
            open=RANDOM,
        )


ROWS: tuple[Row, ...] = (*_plain(), *_rounded(), *_pairs(), *_small(), *_scaled(), *_eights())

_INDEX = {(arch.name, row.name): row for arch in DISTINCT.values() for row in ROWS if row.on(arch)}


def conversions(arch: str | Arch) -> list[str]:
    """Names of an architecture's conversion instructions, sorted."""
    name = find_arch(arch).instruction_set
    return sorted(row for found, row in _INDEX if found == name)


def conversion(arch: str | Arch, name: str) -> Conversion:
    """Look up a conversion instruction.

    Args:
        arch: architecture, or its name.
        name: mnemonic in LLVM's spelling, without ``_e32``, ``_e64`` or ``_sdwa``.

    Returns:
        The conversion, to be called with register bits.

    Raises:
        MfmasimError: unknown architecture, or an instruction that it does not have.

    >>> import numpy as np
    >>> pack = conversion("gfx950", "v_cvt_pk_fp8_f32")
    >>> one, half = np.float32([1.0, 0.5]).view(np.uint32)
    >>> hex(pack(np.array(one), np.array(half), old=np.uint32(0xAAAA0000)))
    '0xaaaa3038'
    """
    found = find_arch(arch)
    row = _INDEX.get((found.instruction_set, name))
    if row is None:
        raise unknown("conversion instruction", name, conversions(found), f"on {found.name}")
    return Conversion(found, row)
