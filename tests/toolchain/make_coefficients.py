"""Make the coefficients of the device mathematics: ``python -m tests.toolchain.make_coefficients [--check]``.

Each row is a function that is smooth on its interval, approximated by the polynomial through its values at Chebyshev
nodes (mpmath, 60 digits), whose error is within a few per cent of the best possible one. The coefficients are then
rounded to double; the comment in the header gives the relative error of the polynomial before that, as a power of two.
"""

from __future__ import annotations

import sys
from pathlib import Path

import mpmath as mp

TARGET = Path(__file__).resolve().parents[2] / "mfmasim" / "hiprt" / "include" / "mfmasim" / "math" / "coefficients.h"
mp.mp.dps = 60
LN2, PI = mp.log(2), mp.pi


def _root(z):
    return mp.sqrt(z)


J0_ZERO, Y0_ZERO, Y1_ZERO = mp.besseljzero(0, 1), mp.besselyzero(0, 1), mp.besselyzero(1, 1)
NEAR = mp.mpf("-6.1249"), mp.mpf("6.13")
FAR = mp.mpf("-0.0624999"), mp.mpf("0.0626")


def _less_log(order, x, zero):
    return mp.bessely(order, x) - 2 / PI * mp.log(x / zero) * mp.besselj(order, x)


def _hankel(order, x):
    """The first Hankel function without its factor exp(i (x - (2 order + 1) pi/4)) sqrt(2 / (pi x))."""
    turned = mp.mpc(mp.besselj(order, x), mp.bessely(order, x)) * mp.expj((2 * order + 1) * PI / 4 - x)
    return turned * _root(PI * x / 2)


def _modulus(order, x):
    return abs(_hankel(order, x))


def _phase(order, x):
    return (mp.arg(_hankel(order, x)) * x - (mp.mpf(order) / 2 - mp.mpf(1) / 8)) * x * x


def _scaled_i(order, x):
    return _root(x) * mp.exp(-x) * mp.besseli(order, x)


# Name, what it approximates in words, function, interval, coefficients.
ROWS = (
    ("exp_tail", "(exp(r) - 1 - r) / r^2",
     lambda r: (mp.exp(r) - 1 - r) / r**2, (-LN2 / 2, LN2 / 2 + mp.mpf("0.001")), 12),
    ("log_tail", "(atanh(s) / s - 1 - z/3) / z^2, z = s^2",
     lambda z: (mp.atanh(_root(z)) / _root(z) - 1 - z / 3) / z**2, (0, mp.mpf("0.0296")), 8),
    ("sin_tail", "(sin(r) / r - 1) / z, z = r^2",
     lambda z: (mp.sin(_root(z)) / _root(z) - 1) / z, (0, (PI / 4) ** 2), 7),
    ("cos_tail", "(cos(r) - 1 + z/2) / z^2, z = r^2",
     lambda z: (mp.cos(_root(z)) - 1 + z / 2) / z**2, (0, (PI / 4) ** 2), 7),
    ("atan_tail", "(atan(u) / u - 1) / z, z = u^2",
     lambda z: (mp.atan(_root(z)) / _root(z) - 1) / z, (0, mp.mpf("0.0626")), 9),
    ("erf_tail", "(erf(x) / x - 2/sqrt(pi) (1 - z/3)) / z^2, z = x^2",
     lambda z: (mp.erf(_root(z)) / _root(z) - 2 / mp.sqrt(PI) * (1 - z / 3)) / z**2, (0, 1), 12),
    ("erfc_middle", "exp(x^2) erfc(x), t = x - 1.25",
     lambda t: _erfcx(t + 1.25), (-0.75, 0.75), 21),
    ("erfc_far", "x exp(x^2) erfc(x), t = 1/x - 0.3125",
     lambda t: _erfcx(1 / (t + 0.3125)) / (t + 0.3125), (-0.2125, 0.1878), 21),
    ("erfc_farthest", "x exp(x^2) erfc(x), t = 1/x^2",
     lambda t: _erfcx(1 / _root(t)) / _root(t), (0, mp.mpf("0.01")), 9),
    ("lgamma_one", "lgamma(1 + u) / u, t = u - 0.125",
     lambda t: mp.loggamma(1.125 + t) / (t + 0.125), (-0.425, 0.3753), 24),
    ("lgamma_two", "lgamma(2 + u) / u, t = u - 0.25",
     lambda t: mp.loggamma(2.25 + t) / (t + 0.25), (-0.75, 0.7503), 24),
    ("stirling", "x (lgamma(x) - (x - 1/2) log(x) + x - log(2 pi)/2), t = 1/x^2",
     lambda t: _stirling(1 / _root(t)), (mp.mpf("1e-12"), mp.mpf(1) / 100), 8),
    ("cbrt_seed", "cbrt(m)", mp.cbrt, (1, 8), 5),
    ("j0_rest", "J0(x) / (x^2 - j0_zero^2), t = x^2 - 6.125",
     lambda t: mp.besselj(0, _root(t + 6.125)) / (t + 6.125 - J0_ZERO**2), NEAR, 12),
    ("j1_rest", "J1(x) / x, t = x^2 - 6.125", lambda t: mp.besselj(1, _root(t + 6.125)) / _root(t + 6.125), NEAR, 12),
    ("y0_rest", "(Y0(x) - 2/pi log(x / y0_zero) J0(x)) / (x^2 - y0_zero^2), t = x^2 - 6.125",
     lambda t: _less_log(0, _root(t + 6.125), Y0_ZERO) / (t + 6.125 - Y0_ZERO**2), NEAR, 12),
    ("y1_rest", "x (Y1(x) - 2/pi log(x / y1_zero) J1(x)) / (x^2 - y1_zero^2), t = x^2 - 6.125",
     lambda t: _root(t + 6.125) * _less_log(1, _root(t + 6.125), Y1_ZERO) / (t + 6.125 - Y1_ZERO**2), NEAR, 12),
    *(
        (f"{name}_{order}_{where}", f"{words}, order {order}, t = 1/x^2{' - 0.051' * (where == 'middle')}",
         lambda t, function=function, order=order, where=where:
         function(order, 1 / _root(t + (mp.mpf("0.051") if where == "middle" else 0))), interval, count)
        for order in (0, 1)
        for where, interval, of_modulus, of_phase in (
            ("middle", (mp.mpf("-0.0306"), mp.mpf("0.0307")), 17, 22),
            ("far", (mp.mpf("1e-12"), mp.mpf("0.0205")), 16, 21),
        )
        for name, words, function, count in (
            ("modulus", "sqrt(pi x / 2) |H(x)|", _modulus, of_modulus),
            ("phase", "x^3 (arg H(x) - x + (2 order + 1) pi/4) - x^2 (order/2 - 1/8)", _phase, of_phase),
        )
    ),
    ("i0_far", "sqrt(x) exp(-x) I0(x), t = 1/x - 0.0625", lambda t: _scaled_i(0, 1 / (t + 0.0625)), FAR, 27),
    ("i1_far", "sqrt(x) exp(-x) I1(x), t = 1/x - 0.0625", lambda t: _scaled_i(1, 1 / (t + 0.0625)), FAR, 27),
)  # fmt: skip


def _erfcx(x):
    return mp.exp(x * x) * mp.erfc(x)


def _stirling(x):
    with mp.workdps(90):
        return x * (mp.loggamma(x) - (x - mp.mpf(1) / 2) * mp.log(x) + x - mp.log(2 * PI) / 2)


def _number(value):
    return float(value).hex()


def _table(name, words, function, interval, count):
    a, b = (mp.mpf(end) for end in interval)
    coefficients, error = mp.chebyfit(function, [a, b], count, error=True)
    smallest = min(abs(function(a + (b - a) * step / 20)) for step in (1, 6, 13, 19))
    size = int(mp.floor(mp.log(error / smallest, 2))) + 1
    rows = [_number(value) for value in reversed(coefficients)]
    lines = [", ".join(rows[i : i + 4]) for i in range(0, count, 4)]
    body = ",\n    ".join(lines)
    return f"// {words}: within 2^{size}.\nstatic constexpr double {name}[] = {{\n    {body},\n}};\n"


def _two_over_pi():
    """2/pi in words of 64 bits after 64 zeros, enough for the largest double and 192 bits from there."""
    words = 1 + 17 + 3
    with mp.workprec(64 * words + 64):
        digits = int(mp.floor(2 / mp.pi * mp.mpf(2) ** (64 * (words - 1))))
    rows = [f"0x{digits >> 64 * (words - 1 - i) & 2**64 - 1:016x}" for i in range(words)]
    body = ",\n    ".join(", ".join(rows[i : i + 4]) for i in range(0, words, 4))
    return (
        "// 2/pi in binary, 64 zeros before it.\n"
        f"static __device__ const unsigned long long two_over_pi[] = {{\n    {body},\n}};\n"
    )


def _pair(name, words, value):
    """A constant as the sum of two doubles."""
    high = float(value)
    return f"static constexpr pair {name} = {{{high.hex()}, {float(value - mp.mpf(high)).hex()}}};  // {words}"


PAIRS = (
    ("ln2", "log(2)", LN2),
    ("log2_e", "1 / log(2)", 1 / LN2),
    ("log10_e", "1 / log(10)", 1 / mp.log(10)),
    ("log10_2", "log10(2)", mp.log(2, 10)),
    ("ln10", "log(10)", mp.log(10)),
    ("pi", "pi", PI),
    ("half_pi", "pi / 2", PI / 2),
    ("third", "1 / 3", mp.mpf(1) / 3),
    ("atan_half", "atan(1/2)", mp.atan(mp.mpf(1) / 2)),
    ("atan_one", "atan(1)", mp.atan(1)),
    ("half_log_two_pi", "log(2 pi) / 2", mp.log(2 * PI) / 2),
    ("sqrt_half", "1 / sqrt(2)", mp.sqrt(mp.mpf(1) / 2)),
    ("j0_zero", "the first zero of J0", J0_ZERO),
    ("y0_zero", "the first zero of Y0", Y0_ZERO),
    ("y1_zero", "the first zero of Y1", Y1_ZERO),
    ("erf_slope", "2 / sqrt(pi) - 1", 2 / mp.sqrt(PI) - 1),
    ("erf_cubic", "-2 / (3 sqrt(pi))", -2 / (3 * mp.sqrt(PI))),
)


def text():
    """The header."""
    third = PI / 2 - mp.mpf(float(PI / 2))
    rest = third - mp.mpf(float(third))
    origin = (
        "Generated by tests/toolchain/make_coefficients.py: lowest power first; constants as the sum of two doubles."
    )
    rest_line = f"static constexpr double half_pi_third = {float(rest).hex()};  // what half_pi leaves\n"
    parts = [
        f"// {origin}\n#pragma once\n\n#include <mfmasim/math/pairs.h>\n\nnamespace mfmasim {{\n",
        "\n".join([*(_pair(*row) for row in PAIRS), rest_line]),
        _two_over_pi(),
        *(_table(*row) for row in ROWS),
        "}  // namespace mfmasim\n",
    ]
    return "\n".join(parts)


if __name__ == "__main__":
    made = text()
    if "--check" in sys.argv:
        sys.exit(0 if TARGET.read_text() == made else f"{TARGET.name} differs")
    TARGET.write_text(made)
