"""Accuracy of the device mathematics: what each function is compared with, where, and how far off it may be.

A row: name, mpmath's function, the bound in units of the last place for f64 and for f32, arguments. The unit is that of
the exact result's binade; below the smallest normal number it is the smallest denormal one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import mpmath as mp
import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

mp.mp.prec = 140

TYPES = {"f64": np.float64, "f32": np.float32}
UINTS = {"f64": np.uint64, "f32": np.uint32}


@dataclass(frozen=True)
class Row:
    """One function."""

    name: str
    exact: Callable
    f64: float
    f32: float
    domain: str
    """The arguments, for people."""
    arguments: Callable
    """(generator, count, type) -> one or two arrays."""


def everywhere(rng, count, kind):
    """Finite numbers of every size, from random bits."""
    codes = rng.integers(0, 2 ** (8 * kind().nbytes), 2 * count, dtype=UINTS["f64" if kind is np.float64 else "f32"])
    values = codes.view(kind)
    return values[np.isfinite(values)][:count]


def between(low, high):
    """Uniform; a quarter of them near zero, at every scale down to 2^-40."""

    def make(rng, count, kind):
        values = rng.uniform(low, high, count)
        small = slice(0, count // 4)
        values[small] *= 2.0 ** rng.uniform(-40, 0, count // 4)
        return np.clip(values, low, high).astype(kind)

    return make


def sizes(low, high, signed=False):
    """Positive numbers with exponents between two, or of both signs."""

    def make(rng, count, kind):
        values = 2.0 ** rng.uniform(low, high, count)
        return (values * (rng.choice([-1, 1], count) if signed else 1)).astype(kind)

    return make


def both(*makers):
    """Two or more samplers, one after the other."""

    def make(rng, count, kind):
        return np.concatenate([maker(rng, count // len(makers), kind) for maker in makers])

    return make


def by_type(wide, single):
    """One sampler for f64, another for f32."""
    return lambda rng, count, kind: (wide if kind is np.float64 else single)(rng, count, kind)


def hard_angles(rng, count, kind):
    """Neighbours of multiples of pi/2, where the reduction cancels most, near and far."""
    k = np.floor(2.0 ** rng.uniform(0, 60 if kind is np.float64 else 30, count))
    values = (k * (np.pi / 2)).astype(kind)
    # Among the worst of all doubles and floats: J.-M. Muller, Elementary Functions, table 11.1.
    worst = [6381956970095103.0 * 2.0**797, 5.319372648326541e255] if kind is np.float64 else [1.6367e9, 16367173e25]
    values[: len(worst)] = worst
    return values


def pairs(first, second):
    """Two arguments."""

    def make(rng, count, kind):
        return first(rng, count, kind), second(rng, count, kind)

    return make


def around_one(rng, count, kind):
    """Close to 1 on both sides."""
    return (1 + rng.choice([-1, 1], count) * 2.0 ** rng.uniform(-30, -2, count)).astype(kind)


def powers(rng, count, kind):
    """Bases of all sizes with exponents that keep the result finite; bases near 1 with large exponents."""
    range_ = 1000 if kind is np.float64 else 125
    x = np.concatenate([2.0 ** rng.uniform(-range_, range_, count // 2), around_one(rng, count - count // 2, kind)])
    x = x.astype(kind).astype(np.float64)
    with np.errstate(all="ignore"):
        y = rng.uniform(-range_, range_, count) / np.log2(x)
    y[~np.isfinite(y)] = 3.0
    return x.astype(kind), y.astype(kind)


def gamma_arguments(rng, count, kind):
    """Positive up to the overflow, negative between poles."""
    top, low = (171, -170) if kind is np.float64 else (34, -36)
    return np.concatenate(
        [
            rng.uniform(0, top, count // 2),
            rng.uniform(low, 0, count // 4),
            2.0 ** rng.uniform(-60, 0, count - count // 2 - count // 4),
        ]
    ).astype(kind)


def lgamma_arguments(rng, count, kind):
    """Positive ones of every size, close to the zeros at 1 and 2."""
    near = rng.choice([1, 2], count // 4) + rng.choice([-1, 1], count // 4) * 2.0 ** rng.uniform(-20, -2, count // 4)
    return np.concatenate([rng.uniform(0, 15, count // 2), near, 2.0 ** rng.uniform(-60, 90, count // 4)]).astype(kind)


ALL_POSITIVE = by_type(sizes(-1074, 1023.9), sizes(-149, 127.9))
FOR_EXP = by_type(between(-745, 709.7), between(-103, 88.7))
FOR_EXP2 = by_type(between(-1074, 1023.9), between(-149, 127.9))
FOR_EXP10 = by_type(between(-323, 308), between(-45, 38.5))
FOR_SINH = both(by_type(between(-710, 710), between(-89, 89)), between(-1, 1))
LARGE = by_type(sizes(0, 1023), sizes(0, 127))
ANY = both(everywhere, between(-8, 8))
ANGLES = both(everywhere, between(-10, 10), hard_angles, sizes(0, 40, signed=True))
BESSEL = both(between(-30, 30), sizes(-30, 40, signed=True))
POSITIVE_BESSEL = both(between(0.001, 30), sizes(-30, 40))
UNIT = both(between(-1, 1), sizes(-30, 0, signed=True))

ROWS = (
    Row("sin", mp.sin, 1, 1, "all, hard reductions", ANGLES),
    Row("cos", mp.cos, 1, 1, "all, hard reductions", ANGLES),
    Row("tan", mp.tan, 1, 1, "all, hard reductions", ANGLES),
    Row("sinpi", mp.sinpi, 1, 1, "up to 2^40", both(between(-3, 3), sizes(-40, 40, signed=True))),
    Row("cospi", mp.cospi, 1, 1, "up to 2^40", both(between(-3, 3), sizes(-40, 40, signed=True))),
    Row("asin", mp.asin, 1, 1, "[-1, 1]", UNIT),
    Row("acos", mp.acos, 1, 1, "[-1, 1]", UNIT),
    Row("atan", mp.atan, 1, 1, "all", ANY),
    Row("atan2", mp.atan2, 1, 1, "all pairs", pairs(ANY, ANY)),
    Row("exp", mp.exp, 1, 1, "all finite results", both(FOR_EXP, between(-2, 2))),
    Row("exp2", lambda x: mp.mpf(2) ** x, 1, 1, "all finite results", both(FOR_EXP2, between(-2, 2))),
    Row("exp10", lambda x: mp.mpf(10) ** x, 1, 1, "all finite results", both(FOR_EXP10, between(-2, 2))),
    Row("expm1", mp.expm1, 1, 1, "all finite results", both(FOR_EXP, between(-40, 40), between(-1, 1))),
    Row("log", mp.log, 1, 2, "all positive, near 1", both(ALL_POSITIVE, around_one, between(0.5, 2))),
    Row("log2", lambda x: mp.log(x, 2), 1, 1, "all positive, near 1", both(ALL_POSITIVE, around_one, between(0.5, 2))),
    Row("log10", mp.log10, 1, 2, "all positive, near 1", both(ALL_POSITIVE, around_one, between(0.5, 2))),
    Row("log1p", mp.log1p, 1, 1, "x > -1", both(between(-0.99, 3), LARGE, sizes(-50, -1, signed=True))),
    Row("pow", mp.power, 1, 1, "x > 0, all finite results", powers),
    Row("cbrt", lambda x: mp.sign(x) * mp.cbrt(abs(x)), 1, 1, "all", ANY),
    Row("rcbrt", lambda x: mp.sign(x) / mp.cbrt(abs(x)), 1, 1, "all", ANY),
    Row("hypot", mp.hypot, 1, 1, "all pairs", pairs(ANY, ANY)),
    Row("rhypot", lambda x, y: 1 / mp.hypot(x, y), 1, 1, "all pairs", pairs(ANY, between(1, 2))),
    Row("rsqrt", lambda x: 1 / mp.sqrt(x), 1, 2, "all positive", ALL_POSITIVE),
    Row("sqrt", mp.sqrt, 0.5, 0.5, "all positive", ALL_POSITIVE),
    Row("sinh", mp.sinh, 1, 1, "all finite results", FOR_SINH),
    Row("cosh", mp.cosh, 1, 1, "all finite results", FOR_SINH),
    Row("tanh", mp.tanh, 1, 1, "all", both(between(-20, 20), between(-1, 1))),
    Row("asinh", mp.asinh, 1, 1, "all", ANY),
    Row("acosh", mp.acosh, 1, 1, "x >= 1", both(LARGE, between(1, 2))),
    Row("atanh", mp.atanh, 1, 1, "[-1, 1]", UNIT),
    Row("erf", mp.erf, 1, 1, "all", both(between(-6, 6), between(-1, 1))),
    Row("erfc", mp.erfc, 3, 1, "all finite results", both(between(-6, 10), between(-1, 1), between(0, 26))),
    Row("erfcx", lambda x: mp.exp(x * x) * mp.erfc(x), 3, 1, "-5 to 2^60", both(between(-5, 12), sizes(0, 60))),
    Row("erfinv", mp.erfinv, 3, 1, "(-1, 1)", both(between(-0.999, 0.999), between(-0.4, 0.4))),
    Row("erfcinv", lambda x: mp.erfinv(1 - x), 3, 1, "(0, 2)", between(0.001, 1.99)),
    Row("normcdf", lambda x: mp.erfc(-x / mp.sqrt(2)) / 2, 3, 1, "-12 to 8", both(between(-12, 8), between(-1, 1))),
    Row("normcdfinv", lambda p: -mp.sqrt(2) * mp.erfinv(1 - 2 * p), 4, 1, "(0, 1)", between(0.001, 0.49)),
    Row("tgamma", mp.gamma, 2, 1, "all finite results", gamma_arguments),
    Row("lgamma", lambda x: mp.loggamma(x).real, 3, 1, "x > 0", lgamma_arguments),
    Row("j0", lambda x: mp.besselj(0, x), 4, 1, "up to 2^40", BESSEL),
    Row("j1", lambda x: mp.besselj(1, x), 4, 1, "up to 2^40", BESSEL),
    Row("y0", lambda x: mp.bessely(0, x), 10, 1, "up to 2^40", POSITIVE_BESSEL),
    Row("y1", lambda x: mp.bessely(1, x), 6, 1, "up to 2^40", POSITIVE_BESSEL),
    Row("cyl_bessel_i0", lambda x: mp.besseli(0, x), 4, 1, "all finite results", FOR_SINH),
    Row("cyl_bessel_i1", lambda x: mp.besseli(1, x), 4, 1, "all finite results", FOR_SINH),
)

GROUPS = {0: ROWS[:9], 1: ROWS[9:24], 2: ROWS[24:-6], 4: ROWS[-6:]}
GROUP_OF = {row.name: number for number, rows in GROUPS.items() for row in rows}


def launch(code, kernel, arguments, out):
    """Run an elementwise kernel of blocks of 64 on the simulator; what lanes past the end do does not matter."""
    import mfmasim

    count = len(arguments[0])
    padded = -(-count // 64) * 64
    args = [np.concatenate([a, np.repeat(a[-1:], padded - count)]) for a in arguments]
    results = [np.zeros((padded, *one.shape[1:]), one.dtype) for one in out]
    report = mfmasim.device("sim").launch(code[kernel], padded // 64, 64, [*args, *results])
    assert [finding for finding in report.findings if finding.severity != "info"] == []
    for one, result in zip(out, results, strict=True):
        one[...] = result[:count]


def unit(exact, kind):
    """The last place of the binade of an exact value."""
    info = np.finfo(kind)
    exponent = mp.frexp(exact)[1] - 1 if exact else int(info.minexp)
    return mp.mpf(2) ** (max(exponent, int(info.minexp)) - info.nmant)


def errors(row, arguments, got, kind):
    """Distance of each result from the exact one, in units of the last place; an overflow both agree on is none."""
    info = np.finfo(kind)
    limit = mp.mpf(float(info.max)) * (1 + mp.mpf(2) ** -(info.nmant + 2))
    worst = np.zeros(len(got))
    for i, values in enumerate(zip(*(a.tolist() for a in arguments), strict=True)):
        exact = row.exact(*(mp.mpf(v) for v in values))
        value = float(got[i])
        if abs(exact) >= limit:
            worst[i] = 0.0 if np.isinf(value) and (value > 0) == (exact > 0) else np.inf
        elif not np.isfinite(value):
            worst[i] = np.inf
        else:
            worst[i] = float(abs(mp.mpf(value) - exact) / unit(exact, kind))
    return worst


def measure(code, row, size, count, seed=0):
    """Largest error of a function, and the arguments that cause it."""
    kind = TYPES[size]
    made = row.arguments(np.random.default_rng([seed, len(row.name)]), count, kind)
    arguments = [np.ascontiguousarray(a) for a in (made if isinstance(made, tuple) else (made,))]
    got = np.zeros(len(arguments[0]), kind)
    launch(code, f"{row.name}_{size}", arguments, [got])
    worst = errors(row, arguments, got, kind)
    place = int(np.argmax(worst))
    return float(worst[place]), [float(a[place]) for a in arguments], len(got)
