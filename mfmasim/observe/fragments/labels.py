"""Labels: values that identify their origin.

To follow elements through a kernel without a rule for every instruction, the kernel is run several times on inputs
whose elements carry, run by run, successive pieces of their number. However a kernel moves data, through
loads, LDS, shuffles, byte permutes or shifts, a register that holds an element holds that element's pieces; reading
the pieces together give the number. Numbers are scrambled (bijectively) before they are cut, and labels have redundant
bits, so that a mixture of elements, or a constant, does not equal a label.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

U64 = np.uint64
CONSTANT_ZERO, NOT_AN_ELEMENT, POISON = 0, -1, -2
MOST_PLACES = 1 << 18
"""Largest table of codes by value; a larger range of codes is searched."""
REDUNDANCY = 22
"""Redundant bits of a label: another value equals some label with probability 2^-REDUNDANCY at most."""

# Odd multipliers and their inverses modulo 2^64; any odd number is possible, these mix well (golden ratio).
MULTIPLIERS = (0x9E3779B97F4A7C15, 0xD1342543DE82EF95)


def _inverse(odd: int, bits: int) -> int:
    return pow(odd, -1, 1 << bits)


def scramble(numbers: NDArray[np.uint64], bits: int) -> NDArray[np.uint64]:
    """Map numbers below 2^bits one to one onto numbers below 2^bits; 0 stays 0."""
    mask, half = U64((1 << bits) - 1), U64(max(1, bits // 2))
    out = numbers.astype(U64)
    for odd in MULTIPLIERS:
        out = (out * U64(odd & ((1 << bits) - 1) | 1)) & mask
        out ^= out >> half
    return out


def unscramble(numbers: NDArray[np.uint64], bits: int) -> NDArray[np.uint64]:
    """The inverse of `scramble`."""
    mask, half = U64((1 << bits) - 1), U64(max(1, bits // 2))
    out = numbers.astype(U64)
    for odd in reversed(MULTIPLIERS):
        # x ^= x >> half undone: with half = bits // 2 two or three steps reach every bit.
        undone = out.copy()
        for _ in range(-(-bits // int(half))):
            undone = out ^ (undone >> half)
        out = (undone * U64(_inverse(odd & ((1 << bits) - 1) | 1, bits))) & mask
    return out


@dataclass(frozen=True)
class Alphabet:
    """The codes that may carry pieces of a label: all codes of a width, or those of a table.

    ``table`` (2^piece_bits,) gives the code of each piece; None means the piece is the code.
    """

    piece_bits: int
    table: NDArray[np.uint64] | None = None

    def codes(self, pieces: NDArray[np.uint64]) -> NDArray[np.uint64]:
        """Codes of pieces."""
        return pieces if self.table is None else self.table[pieces.astype(np.int64)]

    def pieces(self, codes: NDArray[np.uint64]) -> tuple[NDArray[np.uint64], NDArray[np.bool_]]:
        """Pieces of codes, and which codes belong to the alphabet."""
        if self.table is None:
            return codes, np.ones(codes.shape, np.bool_)
        first, shift, places = self._places
        if len(places):
            pieces = places.take((codes - first >> shift).view(np.int64), mode="clip")
        else:
            order, ordered = self._sorted
            pieces = order[np.minimum(np.searchsorted(ordered, codes), len(order) - 1)]
        return pieces, self.table.take(pieces.view(np.int64)) == codes

    @cached_property
    def _sorted(self) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
        """Pieces in the order of their codes, and the codes in order."""
        assert self.table is not None
        order = np.argsort(self.table)
        return order.astype(U64), self.table[order]

    @cached_property
    def _places(self) -> tuple[np.uint64, np.uint64, NDArray[np.uint64]]:
        """The lowest code, the low bits that all codes share, and a table of pieces by code, unless it is too large."""
        order, ordered = self._sorted
        above = ordered - ordered[0]
        differing = int(np.bitwise_or.reduce(above))
        shift = (differing & -differing).bit_length() - 1 if differing else 0
        above >>= U64(shift)
        places = np.zeros(int(above[-1]) + 1 if above[-1] < MOST_PLACES else 0, U64)
        if len(places):
            places[above.view(np.int64)] = order
        return ordered[0], U64(shift), places


@dataclass(frozen=True)
class Labelled:
    """A block of labels: one per element of an array, numbered from ``first``."""

    name: str
    first: int
    shape: tuple[int, ...]

    @property
    def numbers(self) -> NDArray[np.uint64]:
        """Label of every element, in the array's shape."""
        return (self.first + np.arange(int(np.prod(self.shape)), dtype=U64)).reshape(self.shape)


def _used(runs: int, alphabet: Alphabet) -> int:
    """Number of pieces that fit 64 bits; later runs repeat them as a check."""
    return min(runs, 64 // alphabet.piece_bits)


class LabelSpace:
    """All labels of one probe, and how they are cut into pieces."""

    def __init__(self) -> None:
        """Start without labels; number 0 means the constant zero."""
        self.blocks: list[Labelled] = []
        self._next = 1

    def add(self, name: str, shape: tuple[int, ...]) -> Labelled:
        """Number the elements of an array."""
        block = Labelled(name, self._next, shape)
        self._next += int(np.prod(shape))
        self.blocks.append(block)
        return block

    def runs(self, piece_bits: int) -> int:
        """Runs needed for labels cut into pieces of a number of bits."""
        labels = self._next - 1
        return -(-((labels - 1).bit_length() + REDUNDANCY) // piece_bits)

    @staticmethod
    def codes(numbers: NDArray[np.uint64], run: int, runs: int, alphabet: Alphabet) -> NDArray[np.uint64]:
        """Codes of the elements with these labels in one of the runs.

        Args:
            numbers: the labels.
            run: number of the run, from 0.
            runs: how many there are.
            alphabet: codes of the format.
        """
        return LabelSpace.piece(LabelSpace.scrambled(numbers, runs, alphabet), run, runs, alphabet)

    @staticmethod
    def scrambled(numbers: NDArray[np.uint64], runs: int, alphabet: Alphabet) -> NDArray[np.uint64]:
        """Scrambled labels, which contain the pieces of all runs.

        Args:
            numbers: the labels.
            runs: how many there are.
            alphabet: codes of the format.
        """
        return scramble(numbers, alphabet.piece_bits * _used(runs, alphabet))

    @staticmethod
    def piece(scrambled: NDArray[np.uint64], run: int, runs: int, alphabet: Alphabet) -> NDArray[np.uint64]:
        """Codes of the elements with these labels in one of the runs.

        Args:
            scrambled: the labels, by `scrambled`.
            run: number of the run, from 0.
            runs: how many there are.
            alphabet: codes of the format.
        """
        bits = alphabet.piece_bits
        return alphabet.codes(scrambled >> U64(bits * (run % _used(runs, alphabet))) & U64((1 << bits) - 1))

    def decode(self, observed: list[NDArray[Any]], alphabet: Alphabet) -> NDArray[np.int64]:
        """Labels from the codes of a place in every run.

        Args:
            observed: one array of codes per run, all of one shape.
            alphabet: how the labels were cut.

        Returns:
            int64 array: the label, `CONSTANT_ZERO` or `NOT_AN_ELEMENT`.
        """
        bits, runs = alphabet.piece_bits, len(observed)
        used = _used(runs, alphabet)
        stack = [np.asarray(codes).astype(U64) for codes in observed]
        word = np.zeros(stack[0].shape, U64)
        valid = np.ones(stack[0].shape, np.bool_)
        for run in range(used):
            pieces, known = alphabet.pieces(stack[run])
            word |= pieces << U64(bits * run)
            valid &= known
        numbers = unscramble(word, bits * used)
        valid &= (numbers > 0) & (numbers < U64(self._next))
        again = self.scrambled(np.where(valid, numbers, U64(1)), runs, alphabet)
        for run in range(runs):
            valid &= self.piece(again, run, runs, alphabet) == stack[run]
        zero = np.logical_and.reduce([codes == 0 for codes in stack])
        return np.where(valid, numbers.astype(np.int64), np.where(zero, CONSTANT_ZERO, NOT_AN_ELEMENT))

    def block_of(self, label: int) -> tuple[Labelled, tuple[int, ...]]:
        """The array a label belongs to, and the element's coordinates in it."""
        for block in self.blocks:
            offset = label - block.first
            if 0 <= offset < int(np.prod(block.shape)):
                return block, tuple(int(i) for i in np.unravel_index(offset, block.shape))
        msg = f"label {label} was never assigned"
        raise ValueError(msg)
