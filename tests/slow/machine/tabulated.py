"""RDNA's reciprocals, roots, exponentials and logarithms in f32 on one value, in integers with every shift in view.

Source: the steps that the mappings of AMD's rocjitsu take (amdgpu_rcp.h, amdgpu_rsq.h, amdgpu_sqrt.h, amdgpu_exp.h,
amdgpu_log.h), those of RCP and RSQ without tables of corrections; coefficients from the tables of the machine.
"""

from __future__ import annotations

from mfmasim.machine.numerics import function_tables as tables

ONE = 127


def even(number, shift):
    """A number divided by 2**shift, rounded to nearest even."""
    whole, rest = number >> shift, number & ((1 << shift) - 1)
    return whole + (2 * rest > 1 << shift or (2 * rest == 1 << shift and whole & 1))


def up(number, shift):
    """The same, rounded up."""
    return -(-number >> shift)


def to_24(number, shift):
    """A number in units of 2**shift, to nearest even; in even units only where it needs more than 24 bits."""
    return even(number, shift) if number < 1 << 24 + shift else 2 * even(number, shift + 1)


def packed(sign, exponent, significand):
    """Bits of (-1)**sign * significand * 2**(exponent - 23) with a significand of 24 bits, 2**24 included."""
    if significand == 1 << 24:
        significand, exponent = significand >> 1, exponent + 1
    if exponent + ONE <= 0:
        return sign << 31
    if exponent + ONE >= 255:
        return sign << 31 | 0x7F800000
    return sign << 31 | exponent + ONE << 23 | significand & 0x7FFFFF


def split(bits):
    """Exponent and fraction of a normal number."""
    return (bits >> 23 & 0xFF) - ONE, bits & 0x7FFFFF


def rcp(bits):
    """1 / x: the result of the significand in units of 2**-12 of the last place, with 24 or 25 bits before them."""
    exponent, fraction = split(bits)
    c0, c1, c2, c3 = tables.RCP[fraction >> 18]
    t = fraction & 0x3FFFF
    first = (16 * c0 - to_24(c1 * t, 14)) >> 1
    inner = even((c2 << 20) - c3 * (4 * t + 1), 12)
    total = (first << 7) + 2 * to_24(inner * ((t >> 1) ** 2 >> 10), 23)
    return packed(bits >> 31, -1 - exponent, even(total, 12))


def parity(bits):
    """Half the exponent, rounded down, and the fraction with the exponent's parity above it."""
    exponent, fraction = split(bits)
    return exponent >> 1, (exponent & 1) << 23 | fraction


def rsq(bits):
    """1 / sqrt(x)."""
    half, index = parity(bits)
    c0, c1, c2, c3 = tables.RSQ[index >> 18]
    t = index & 0x3FFFF
    first = (32 * c0 - to_24(c1 * t, 13)) >> 2
    inner = even((c2 << 20) - c3 * (4 * t + 1), 11)
    total = (first << 7) + to_24(inner * ((t >> 1) ** 2 >> 10), 23)
    return packed(0, -1 - half, even(total, 12))


def sqrt(bits):
    """sqrt(x)."""
    half, index = parity(bits)
    c0, c1, c2, c3 = tables.SQRT[index >> 19]
    t = index & 0x7FFFF
    first = (16 * c0 + to_24(c1 * t, 16)) >> 1
    inner = even((c2 << 19) - c3 * (2 * t + 1), 11)
    total = (first << 7) - to_24(inner * ((t >> 2) ** 2 >> 10), 23)
    return packed(0, half, even(total, 12))


def exp(bits):
    """2**x: the magnitude cut to 29 fraction bits; of a negative number the bits are inverted."""
    exponent, fraction = split(bits)
    if exponent >= 7:
        return 0 if bits >> 31 else 0x7F800000
    fixed = 0
    if exponent >= -24:
        fixed = ((1 << 23 | fraction) << 35 + max(exponent, -24)) >> 29
        fixed = ~fixed if bits >> 31 else fixed
    c0, c1, c2, c3 = tables.EXP[fixed >> 24 & 31]
    t = fixed & 0xFFFFFF
    short = t >> 6
    first = (2 * c0 + to_24(c1 * t, 23)) >> 1
    inner = even((c2 << 7) + c3 * short, 7)
    total = (first << 8) + to_24(inner * (short**2 >> 12), 23)
    return packed(0, fixed >> 29, even(total, 13))


def log(bits):
    """log2(x)."""
    exponent, fraction = split(bits)
    distance = bits - 0x3F800000
    if -0x40000 <= distance < 0x40000:
        return above_one(distance) if distance >= 0 else below_one(-distance)
    interval, t = fraction >> 18, fraction & 0x3FFFF
    c0, c1, c2, c3 = tables.LOG_SECOND if interval == 1 and t >> 17 else tables.LOG[interval]
    inner = even((c2 << 22) - c3 * (2 * t + 1), 22)
    total = (c0 + (c1 * t >> 16) << 5) - to_24(inner * (t * t >> 12), 23) + (exponent << 35)
    size = abs(total)
    cut = size.bit_length() - 24
    return packed(int(total < 0), size.bit_length() - 36, up(size, cut) if total < 0 else size >> cut)


def places(distance):
    """Bits by which a distance from 1 is shifted to the left: a multiple of four."""
    return max(18 - distance.bit_length(), 0) // 4 * 4


def above_one(d):
    """log2(1 + d 2**-23): a place more than the sum without the bits that are cut."""
    if d == 0:
        return 0
    row = min(d >> 16, 2)
    c0, c1, c2, c3 = tables.LOG_ABOVE[row]
    shift = 0 if row else places(d)
    inner = even((c2 << 22) - c3 * (2 * d + 1), 22)
    total = c0 + (((c1 * d << shift) >> 13) << 2) - to_24(inner * ((d * d << shift) >> 12), 23)
    cut = total.bit_length() - 24
    return packed(0, total.bit_length() - 36 - shift, (total >> cut) + 1)


def below_one(d):
    """log2(1 - d 2**-24), rounded away from 0."""
    c0, c1, c2, c3 = tables.LOG_BELOW[d >> 17 != 0]
    shift = places(d)
    cut, cut_square = max(14 - shift, 0), max(12 - shift, 0)
    inner = even((c2 << 22) + c3 * (d - 1), 22)
    quadratic = up(inner * (d * d >> cut_square << cut_square), 38 - shift)
    total = ((2 * c1 * d >> cut << cut) << 2) + (quadratic << 16 - shift) - (c0 << 16)
    cut = total.bit_length() - 24
    return packed(1, total.bit_length() - 51, up(total, cut))


def rounded_offset(t, shift):
    """An offset without its lowest bits, rounded, but not into the next block of 20 bits."""
    block = t >> 20 + shift
    return min(t + (1 << shift - 1) >> shift, (block + 1 << 20) - 1) << shift


def small_sine(bits):
    """Of arguments below 1.5 * 2**-12: a product with 2 pi, rounded once."""
    number = (bits & 0x7FFFFF | (bits & 0x7F800000 != 0) << 23) * 0xC90FD5
    place = max((bits >> 23 & 0xFF), 1) - ONE - 23 - 21  # of the product's lowest bit
    cut = max(number.bit_length() - 24, -149 - place)
    whole = even(number, cut) if cut > 0 else number << -cut
    place += cut
    if whole == 1 << 24:
        whole, place = whole >> 1, place + 1
    return bits & 1 << 31 | (whole if whole < 1 << 23 else place + 23 + ONE << 23 | whole & 0x7FFFFF)


def turned(bits, cosine):
    """sin(2 pi x) or cos(2 pi x) of a number that is not 0."""
    size = bits & 0x7FFFFFFF
    if not cosine and size < 0x39C00000:
        return small_sine(bits)
    exponent, fraction = split(size)
    number = 1 << 23 | fraction if size >> 23 else 0
    phase = (number << exponent + 8 if exponent > -8 else number >> min(-8 - exponent, 99)) & 0x7FFFFFFF
    quarter, place = phase >> 29, phase & 0x1FFFFFFF
    ends = int(place >= 1 << 28)
    distance = (1 << 29) - place if ends else place
    of_cosine = int(cosine) ^ quarter & 1 ^ ends
    index = distance - ends >> 24
    sign = quarter >> 1 ^ (quarter & 1 if cosine else bits >> 31)
    if not of_cosine and not distance:
        return 0
    if of_cosine and distance - ends < 46592:
        return sign << 31 | 0x3F800000
    c0, c1, c2, c3 = (tables.COS if of_cosine else tables.SIN)[index]
    t = distance - (index << 24)
    near = (1 << 24) - 1 - (t - ends) if of_cosine else t - ends
    inner = even((c2 - c3 * of_cosine << 24) + c3 * (near >> 6 << 6), 17)
    square = (t - ends >> 7) ** 2
    if of_cosine or index > 1:
        product = c1 * rounded_offset(t - ends, 4)
        linear = even(product, 21) if product < 1 << 45 else 2 * even(product, 22)
        product = inner * (square >> 10)
        quadratic = max(0, up(product - (1 << 23 if product >> 47 else 1 << 22), 29))
        total, places = 8 * c0 + (-linear if of_cosine else linear) - 2 * quadratic, 29
    else:
        spare = wider = 0
        offset = rounded_offset(t - ends, 2)
        if index == 0:
            spare, wider = (4 * (max(n - t.bit_length(), 0) // 4) for n in (24, 25))
            offset = (t << wider) - (ends and (t << spare) & 0xFFFFF == 0)
        kept, places = 30 + (index == 0) * (2 + spare), 34 + spare
        linear = c1 * offset >> 50 + wider - kept
        bits_of_square = min(34, 24 + spare)
        quadratic = even(inner * (square >> 34 - bits_of_square), 33 + bits_of_square - places)
        total = (c0 << places - 26) + (linear << places - kept) - quadratic
    cut = total.bit_length() - 24
    return packed(sign, total.bit_length() - 1 - places, total >> cut if cut >= 0 else total << -cut)


FUNCTIONS = {"rcp": rcp, "rsq": rsq, "sqrt": sqrt, "exp": exp, "log": log}
