"""XORWOW's state as 160 bits, and the powers of its step: python -m tests.hiprt.xorwow writes rocrand_jumps.h.

The step is linear over two elements. Its characteristic polynomial P follows from one bit of successive states
(Berlekamp and Massey); x^n modulo P says which of 160 successive states sum to the one after n steps.
"""

from pathlib import Path

from mfmasim.resources import HEADERS

WORD = 0xFFFFFFFF
BITS = 160
SUBSEQUENCE = 67
"""Numbers of a subsequence, as a power of two."""


def step(state):
    """The next state, as five numbers of 32 bits."""
    t, last = state[0] ^ state[0] >> 2, state[4]
    return (*state[1:], (last ^ last << 4 ^ t ^ t << 1) & WORD)


def characteristic():
    """P, bit k the coefficient of x^k."""
    state, bits = (1, 2, 3, 4, 5), []
    for _ in range(2 * BITS + 32):
        bits.append(state[0] & 1)
        state = step(state)
    now, before, length, gap = 1, 1, 0, 1
    for n, _ in enumerate(bits):
        off = sum(bits[n - k] for k in range(length + 1) if now >> k & 1) & 1
        if not off:
            gap += 1
            continue
        former = now
        now ^= before << gap
        if 2 * length <= n:
            length, before, gap = n + 1 - length, former, 1
        else:
            gap += 1
    assert length == BITS
    return sum(1 << BITS - k for k in range(BITS + 1) if now >> k & 1)


def squared(value, modulus):
    """The square of a polynomial modulo another."""
    wide = sum(1 << 2 * k for k in range(BITS) if value >> k & 1)
    for k in range(2 * BITS, BITS - 1, -1):
        if wide >> k & 1:
            wide ^= modulus << k - BITS
    return wide


def powers():
    """x^(2^k) modulo P for k from 0 to 130."""
    modulus, value, made = characteristic(), 2, []
    for _ in range(SUBSEQUENCE + 64):
        made.append(value)
        value = squared(value, modulus)
    return made


def header():
    """The text of the header."""

    def table(name, values):
        words = [[value >> 32 * k & WORD for k in range(5)] for value in values]
        rows = "".join(f"    {{{', '.join(f'{word:#010x}' for word in row)}}},\n" for row in words)
        return f"static constexpr unsigned {name}[64][5] = {{\n{rows}}};\n"

    made = powers()
    return (
        "// Powers of XORWOW's step modulo its characteristic polynomial, made by tests/hiprt/xorwow.py: of 2^k "
        "numbers, and\n// of 2^k subsequences of 2^67 numbers each.\n#pragma once\n\nnamespace mfmasim::random {\n\n"
        f"{table('NUMBERS', made[:64])}\n{table('SUBSEQUENCES', made[SUBSEQUENCE:])}\n}}  "
        "// namespace mfmasim::random\n"
    )


PATH = Path(HEADERS) / "rocrand" / "rocrand_jumps.h"

if __name__ == "__main__":
    PATH.write_text(header())
