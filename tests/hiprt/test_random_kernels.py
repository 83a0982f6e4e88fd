"""Random numbers of kernels: rocRAND's, by models of their engines that share nothing with the header."""

import functools
import struct

import numpy as np
import pytest

from tests.hiprt import xorwow
from tests.hiprt.compiled import SOURCES, clang, hipcc, started

SEED, ITEMS = 0x123456789ABCDEF, 8
WORD = xorwow.WORD


def philox(counter, key):
    """Ten rounds on 128 bits, as Salmon and others define them; least significant word first."""
    c, k = list(counter), list(key)
    for _ in range(10):
        first, second = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [second >> 32 ^ c[1] ^ k[0], second & WORD, first >> 32 ^ c[3] ^ k[1], first & WORD]
        k = [k[0] + 0x9E3779B9 & WORD, k[1] + 0xBB67AE85 & WORD]
    return c


class Philox:
    """Numbers by their place in the whole sequence: a subsequence has 2^66."""

    def __init__(self, subsequence, offset):
        self.place = (subsequence << 66) + offset

    def skip(self, numbers):
        self.place += numbers

    def jump(self, subsequences):
        self.place += subsequences << 66

    def next(self):
        block, word = divmod(self.place, 4)
        self.place += 1
        return philox([block >> 32 * k & WORD for k in range(4)], [SEED & WORD, SEED >> 32])[word]


@functools.cache
def matrix(power):
    """The matrix of 2^power steps: for each bit of a state, as an integer, the state that it becomes."""
    if power:
        half = matrix(power - 1)
        return [times(half, column) for column in half]
    return [joined(xorwow.step(parted(1 << bit))) for bit in range(xorwow.BITS)]


def times(columns, state):
    made = 0
    while state:
        bit = state & -state
        made ^= columns[bit.bit_length() - 1]
        state ^= bit
    return made


def joined(words):
    return sum(word << 32 * k for k, word in enumerate(words))


def parted(state):
    return tuple(state >> 32 * k & WORD for k in range(5))


class Xorwow:
    """States by matrices."""

    def __init__(self, subsequence, offset):
        low = 1228688033 * (SEED & WORD ^ 0x2C7F967F) & WORD
        high = 2073658381 * (SEED >> 32 ^ 0xA03697CB) & WORD
        first = 123456789 + low, 362436069 ^ low, 521288629 + high, 88675123 ^ high, 5783321 + low
        self.state, self.d = joined(word & WORD for word in first), 6615241 + low + high
        self.jump(subsequence)
        self.skip(offset)

    def _power(self, count, shift):
        for bit in range(count.bit_length()):
            if count >> bit & 1:
                self.state = times(matrix(bit + shift), self.state)

    def skip(self, numbers):
        self._power(numbers, 0)
        self.d += 362437 * numbers

    def jump(self, subsequences):
        self._power(subsequences, 67)

    def next(self):
        self.state, self.d = times(matrix(0), self.state), self.d + 362437
        return self.d + parted(self.state)[4] & WORD


def bits(value):
    return struct.unpack("<I", struct.pack("<f", value))[0]


def drawn(engine, item):
    """What the program draws, normally distributed numbers as floats."""
    state = engine(item * 0x100000001, item * 5)
    out = [state.next() for _ in range(9)]
    state.skip(1000003 + item)
    state.jump(3)
    f32, part = np.float32, np.float32(2.3283064e-10)

    def even():
        return part + f32(state.next()) * part

    def normal(count):
        made = []
        for _ in range(count):
            x, y = (state.next() + 1) / 2**32, (state.next() + 1) / 2**32
            made += [np.sqrt(-2 * np.log(x)) * np.sin(2 * np.pi * y), np.sqrt(-2 * np.log(x)) * np.cos(2 * np.pi * y)]
        return made

    out.append(state.next())
    out.append(bits(even()))
    out.append(bits([even() for _ in range(4)][3]))
    low, high = state.next(), state.next()
    double = ((high >> 11 << 32 | low) + 1) / 2**53
    out += struct.unpack("<2I", struct.pack("<d", double))
    pairs = normal(2)
    kept, four = pairs[3], normal(2)
    a, b, c, d = (state.next() for _ in range(4))
    wide = np.sqrt(-2 * np.log(((a ^ b << 21) + 1) / 2**53)) * np.sin(2 * np.pi * ((c ^ d << 21) + 1) / 2**53)
    return out, [*pairs[:3], four[2]], wide, np.exp(0.5 + 2.0 * kept), state.next()


def test_the_model_of_philox_gives_the_published_numbers():
    """Random123's known answers: all zeros, all ones, and digits of pi."""
    assert philox([0] * 4, [0] * 2) == [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]
    assert philox([WORD] * 4, [WORD] * 2) == [0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD]
    pi = [0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344], [0xA4093822, 0x299F31D0]
    assert philox(*pi) == [0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1]


def test_the_table_of_jumps_is_that_of_its_program():
    assert xorwow.PATH.read_text() == xorwow.header()
    state = joined((5, 6, 7, 8, 9))
    for power, polynomial in enumerate(xorwow.powers()[:12]):
        terms, now = 0, state
        for bit in range(xorwow.BITS):
            terms ^= now if polynomial >> bit & 1 else 0
            now = times(matrix(0), now)
        assert terms == times(matrix(power), state)


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    clang()
    path = tmp_path_factory.mktemp("random") / "random"
    hipcc("-Wall", "-Wextra", SOURCES / "random.hip", "-o", path)
    return path


@pytest.mark.oracle
@pytest.mark.parametrize(("name", "engine"), [("philox", Philox), ("xorwow", Xorwow)])
def test_kernels_and_the_host_draw_the_numbers_of_rocrand(program, name, engine):
    done = started(program, name, checks="bounds,uninitialised")
    assert not done.stderr
    lines = [list(map(int, line.split())) for line in done.stdout.splitlines()]
    assert len(lines) == 2 * ITEMS
    for number, line in enumerate(lines):
        exact, normals, wide, log, last = drawn(engine, number % ITEMS)
        assert line[:14] == exact
        assert np.allclose(np.array(line[14:18], np.uint32).view(np.float32), normals, atol=1e-5, rtol=1e-5)
        assert np.allclose(np.array(line[18:20], np.uint32).view(np.float64), wide, atol=1e-12, rtol=1e-12)
        assert np.allclose(np.array(line[20:21], np.uint32).view(np.float32), log, rtol=1e-4)
        assert line[21] == last
