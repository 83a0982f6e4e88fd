"""NumPy's loops on one element, spelled in C: one row per ufunc and kind of its first operand.

Integers wrap as NumPy's do, shifts by the width or more give what NumPy gives, floats are computed in their own type
(compiled with ``-ffp-contract=off``), those of 16 bits in f32 and rounded again. Which payload a NaN of an arithmetic
loop has is left open, as NumPy leaves it: bodies settle it (`mfmasim.machine.numerics.float_formats`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    Spelling = Callable[["np.dtype[Any]", "list[str]"], str]
    """From the type of the operands and their texts to a C expression."""


def name(dtype: np.dtype[Any]) -> str:
    """The C type of NumPy's; a float of 16 bits is its bits."""
    return "b1" if dtype.kind == "b" else f"{dtype.kind}{8 * dtype.itemsize}"


def _word(dtype: np.dtype[Any]) -> str:
    """The unsigned type in which an integer is computed: no narrower than int, so that nothing is promoted to one."""
    return "u64" if dtype.itemsize == 8 else "u32"


def _is_half(dtype: np.dtype[Any]) -> bool:
    return dtype.kind == "f" and dtype.itemsize == 2


def _wide(dtype: np.dtype[Any], args: list[str]) -> list[str]:
    """Operands as C computes with them."""
    return [f"f32_of_f16({arg})" for arg in args] if _is_half(dtype) else args


def _narrow(dtype: np.dtype[Any], text: str) -> str:
    return f"f16_of_f32({text})" if _is_half(dtype) else f"({name(dtype)})({text})"


def _wrapping(sign: str) -> Spelling:
    return lambda dtype, args: f"({name(dtype)})(({_word(dtype)}){args[0]} {sign} ({_word(dtype)}){args[1]})"


def _infix(sign: str) -> Spelling:
    return lambda dtype, args: _narrow(dtype, f" {sign} ".join(_wide(dtype, args)))


def _test(sign: str) -> Spelling:
    return lambda dtype, args: f"({f' {sign} '.join(_wide(dtype, args))})"


def _call(function: str) -> Spelling:
    """A function of each type."""
    return lambda dtype, args: f"{function}_{name(dtype)}({', '.join(args)})"


def _rounded(function: str) -> Spelling:
    """A function of f32 and f64."""

    def spelled(dtype: np.dtype[Any], args: list[str]) -> str:
        if _is_half(dtype):
            return _narrow(dtype, f"{function}_f32({', '.join(_wide(dtype, args))})")
        return f"{function}_{name(dtype)}({', '.join(args)})"

    return spelled


def _same(text: str) -> Spelling:
    return lambda dtype, args: text.format(*_wide(dtype, args))


COMPARISONS = {"equal": "==", "not_equal": "!=", "less": "<", "less_equal": "<=", "greater": ">", "greater_equal": ">="}
ARITHMETIC = {"add": "+", "subtract": "-", "multiply": "*"}
BITS = {"bitwise_and": "&", "bitwise_or": "|", "bitwise_xor": "^"}

LOOPS: dict[tuple[str, str], Spelling] = {}
for _kind in "ui":
    LOOPS.update({(_name, _kind): _wrapping(_sign) for _name, _sign in ARITHMETIC.items()})
    LOOPS.update({(_name, _kind): _infix(_sign) for _name, _sign in BITS.items()})
    LOOPS["invert", _kind] = lambda dtype, args: f"({name(dtype)})~{args[0]}"
    LOOPS["negative", _kind] = lambda dtype, args: f"({name(dtype)})(0 - ({_word(dtype)}){args[0]})"
    LOOPS["left_shift", _kind], LOOPS["right_shift", _kind] = _call("shift_left"), _call("shift_right")
    LOOPS["minimum", _kind] = _same("({0} < {1} ? {0} : {1})")
    LOOPS["maximum", _kind] = _same("({0} > {1} ? {0} : {1})")
LOOPS["bitwise_count", "u"] = lambda dtype, args: f"(u8)__builtin_popcountll((u{8 * dtype.itemsize}){args[0]})"
LOOPS.update({(_name, "b"): _test(_sign) for _name, _sign in BITS.items()})
LOOPS.update({("logical_and", "b"): _test("&"), ("logical_or", "b"): _test("|")})
LOOPS.update({("not_equal", "b"): _test("!="), ("equal", "b"): _test("==")})
LOOPS["invert", "b"] = LOOPS["logical_not", "b"] = _same("!{0}")
LOOPS.update({(_name, _kind): _test(_sign) for _kind in "uif" for _name, _sign in COMPARISONS.items()})
LOOPS.update({(_name, "f"): _infix(_sign) for _name, _sign in (*ARITHMETIC.items(), ("divide", "/"))})
LOOPS.update({(_name, "f"): _call(_name) for _name in ("negative", "absolute", "signbit", "isinf", "isfinite")})
LOOPS["copysign", "f"] = _call("copysign")
LOOPS.update({(_name, "f"): _rounded(_name) for _name in ("sqrt", "floor", "ceil", "trunc", "rint")})
LOOPS["isnan", "f"] = _same("({0} != {0})")


def converted(source: np.dtype[Any], target: np.dtype[Any], text: str) -> str:
    """``astype`` in C. A float outside the integer's range gives 0: which bodies never use, as NumPy leaves it open.

    Args:
        source: type of the value.
        target: type of the result.
        text: the value in C.
    """
    if _is_half(target) and source.kind == "f":
        return f"f16_of_{name(source)}({text})"
    if _is_half(source):
        wide = f"f32_of_f16({text})"
        return wide if target == np.float32 else converted(np.dtype(np.float32), target, wide)
    if target.kind == "b":
        return f"({text} != 0)"
    if source.kind == "f" and target.kind in "ui":
        return f"{name(target)}_of_{name(source)}({text})"
    return f"({name(target)}){text}"


TYPES = """#include <stdint.h>
#include <string.h>
typedef uint8_t u8; typedef uint16_t u16; typedef uint32_t u32; typedef uint64_t u64; typedef int b1;
typedef int8_t i8; typedef int16_t i16; typedef int32_t i32; typedef int64_t i64;
typedef u16 f16; typedef float f32; typedef double f64;
#define IN static inline __attribute__((always_inline))
#if defined(__x86_64__) && defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(PLAIN)
#define CLONES __attribute__((target_clones("avx2", "default")))
#else
#define CLONES
#endif
"""
REAL = """
IN u{0} bits{0}(f{0} x) {{ u{0} y; memcpy(&y, &x, sizeof y); return y; }}
IN f{0} real{0}(u{0} x) {{ f{0} y; memcpy(&y, &x, sizeof y); return y; }}
IN f{0} negative_f{0}(f{0} x) {{ return real{0}(bits{0}(x) ^ {1}); }}
IN f{0} absolute_f{0}(f{0} x) {{ return real{0}(bits{0}(x) & ~{1}); }}
IN f{0} copysign_f{0}(f{0} x, f{0} y) {{ return real{0}((bits{0}(x) & ~{1}) | (bits{0}(y) & {1})); }}
IN b1 signbit_f{0}(f{0} x) {{ return (bits{0}(x) & {1}) != 0; }}
IN b1 isinf_f{0}(f{0} x) {{ return (bits{0}(x) & ~{1}) == {2}; }}
IN b1 isfinite_f{0}(f{0} x) {{ return (bits{0}(x) & {2}) != {2}; }}
IN f{0} sqrt_f{0}(f{0} x) {{ return __builtin_sqrt{3}(x); }}
IN f{0} floor_f{0}(f{0} x) {{ return __builtin_floor{3}(x); }}
IN f{0} ceil_f{0}(f{0} x) {{ return __builtin_ceil{3}(x); }}
IN f{0} trunc_f{0}(f{0} x) {{ return __builtin_trunc{3}(x); }}
IN f{0} rint_f{0}(f{0} x) {{ return __builtin_rint{3}(x); }}
"""
HALF = """
IN f16 negative_f16(f16 x) { return x ^ 0x8000; }
IN f16 absolute_f16(f16 x) { return x & 0x7fff; }
IN f16 copysign_f16(f16 x, f16 y) { return (x & 0x7fff) | (y & 0x8000); }
IN b1 signbit_f16(f16 x) { return (x & 0x8000) != 0; }
IN b1 isinf_f16(f16 x) { return (x & 0x7fff) == 0x7c00; }
IN b1 isfinite_f16(f16 x) { return (x & 0x7c00) != 0x7c00; }
IN f32 f32_of_f16(f16 x) {
  const u32 size = x & 0x7fffu, sign = (u32)(x & 0x8000u) << 16;
  const f32 tiny = (f32)(i32)size * real32(0x33800000u); /* of 2^-24 each, exact */
  const u32 usual = (size << 13) + (size < 0x7c00 ? 0x38000000u : 0x70000000u);
  return real32(sign | (size < 0x400 ? bits32(tiny) : usual));
}
IN f16 f16_of_f64(f64 x) { /* to nearest even, once */
  const u64 all = bits64(x), size = all & 0x7fffffffffffffffull;
  const u16 sign = (u16)(all >> 48 & 0x8000);
  const f64 number = real64(size);
  const u64 tiny = bits64(number + 268435456.0) & 0x7ff; /* the last place of 2^28 is 2^-24 */
  const u64 usual = ((size + 0x1ffffffffffull + (size >> 42 & 1)) >> 42) - ((u64)1008 << 10);
  const u64 nan = 0x7c00 | (size >> 42 & 0x3ff) | 0x200;
  const u64 out = number < 6.103515625e-05 ? tiny : number < 65520.0 ? usual : number == number ? 0x7c00 : nan;
  return (f16)(sign | out);
}
IN f16 f16_of_f32(f32 x) { return f16_of_f64((f64)x); }
"""
INTEGER = """
IN {0}{1} {0}{1}_of_f32(f32 x) {{ return x {2} && x < {3} ? ({0}{1})x : 0; }}
IN {0}{1} {0}{1}_of_f64(f64 x) {{ return x {2} && x < {3} ? ({0}{1})x : 0; }}
IN {0}{1} shift_left_{0}{1}({0}{1} x, {0}{1} n) {{ return (u{1})n < {1} ? ({0}{1})(({4})x << n) : 0; }}
IN {0}{1} shift_right_{0}{1}({0}{1} x, {0}{1} n) {{ return (u{1})n < {1} ? ({0}{1})(x >> n) : {5}; }}
"""
"""Conversions, and shifts: a negative number of places is a large one, as in NumPy."""


def _prelude() -> str:
    text = [TYPES]
    text.append(REAL.format(32, "0x80000000u", "0x7f800000u", "f"))
    text.append(REAL.format(64, "0x8000000000000000ull", "0x7ff0000000000000ull", ""))
    text.append(HALF)
    for kind, width in ((kind, width) for kind in "ui" for width in (8, 16, 32, 64)):
        low = -(2.0 ** (width - 1)) if kind == "i" else 0.0
        least = f">= {low}" if width == 64 else f"> {low - 1}"
        most, word = 2.0 ** (width - (kind == "i")), "u64" if width == 64 else "u32"
        text.append(INTEGER.format(kind, width, least, most, word, "0" if kind == "u" else "(x < 0 ? -1 : 0)"))
    return "".join(text)


PRELUDE = _prelude()
"""What the spellings use."""
