"""Layouts as other libraries write them: where an element lies by its number, in elements.

CuTe: ``shape:stride``, with tuples that may be nested, and ``Swizzle<B,M,S> o`` before it. The number is taken apart by
the shape, the leftmost mode first (colexicographic order), and each part multiplied by its stride. Source: CUTLASS,
media/docs/cpp/cute/01_layout.md, and include/cute/swizzle.hpp.

Linear: ``linear 8 16 32``, the place of the number 1, then of 2, of 4 and so on; other numbers are the exclusive-or of
those of their bits. Source: Triton, include/triton/Tools/LinearLayout.h; K. Zhou et al., "Linear Layouts", 2025.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mfmasim.errors import MfmasimError

EXAMPLES = "'(16,4):(64,8)', 'Swizzle<3,3,3> o (16,4):(64,8)' or 'linear 64 128 256 512 8 16'"
LARGEST = 1 << 31
"""Sizes, strides and places are below it."""
_SWIZZLE = re.compile(r"(?:Swizzle|Sw)<(\d+),(\d+),(-?\d+)>(?:o|∘)")
_WORDS = re.compile(r"\d+|[(),]")

Mode = int | list["Mode"]


def layout_offsets(text: str, count: int) -> NDArray[np.int64]:
    """Places of the elements 0 to count - 1.

    Args:
        text: a layout of CuTe, or a linear one.
        count: how many; of a layout of lanes, the lanes of a wave.

    Returns:
        Offsets in elements, int64 (count,).

    Raises:
        MfmasimError: the text is no layout, or has fewer elements.

    >>> layout_offsets("(2,3):(3,1)", 6).tolist()
    [0, 3, 1, 4, 2, 5]
    >>> layout_offsets("linear 8 1", 4).tolist()
    [0, 8, 1, 9]
    """
    plain = "".join(text.split())
    if plain.startswith("linear"):
        return _linear(text, count)
    swizzle = _SWIZZLE.match(plain)
    shape_text, colon, stride_text = plain[swizzle.end() if swizzle else 0 :].partition(":")
    if not colon:
        raise _bad(text)
    shape, stride = _modes(shape_text, text), _modes(stride_text, text)
    pairs = list(_paired(shape, stride, text))
    size = 1
    for extent, _ in pairs:
        size *= extent
    if size < count:
        raise MfmasimError(f"layout {text!r} has {size} elements, {count} are needed")
    rest, places = np.arange(count, dtype=np.int64), np.zeros(count, np.int64)
    for extent, step in pairs:
        places += rest % extent * step
        rest //= extent
    if places.max(initial=0) >= LARGEST:
        raise MfmasimError(f"layout {text!r}: a place is {places.max()}, below {LARGEST} is allowed")
    return _swizzled(places, *(int(part) for part in swizzle.groups())) if swizzle else places


def _linear(text: str, count: int) -> NDArray[np.int64]:
    words = text.replace(",", " ").split()[1:]
    if not all(word.isdecimal() and int(word) < LARGEST for word in words):
        raise _bad(text)
    if 1 << len(words) < count:
        raise MfmasimError(f"layout {text!r} has {1 << len(words)} elements, {count} are needed")
    numbers, places = np.arange(count, dtype=np.int64), np.zeros(count, np.int64)
    for bit, word in enumerate(words):
        places ^= (numbers >> bit & 1) * int(word)
    return places


def _swizzled(places: NDArray[np.int64], bits: int, base: int, shift: int) -> NDArray[np.int64]:
    """Exclusive-or of `bits` bits at base + shift onto those at base; a negative shift goes the other way."""
    if bits + base + abs(shift) > 31:
        raise MfmasimError(f"Swizzle<{bits},{base},{shift}> moves bits above 31")
    mask = ((1 << bits) - 1) << (base + max(shift, 0))
    moved = places & mask
    return places ^ (moved >> shift if shift >= 0 else moved << -shift)


def _modes(text: str, whole: str) -> Mode:
    """The number or nested tuple that a text is."""
    words = _WORDS.findall(text)
    if "".join(words) != text or not words:
        raise _bad(whole)

    def mode(depth: int) -> Mode:
        word = words.pop(0) if words else ""
        if word.isdecimal() and int(word) < LARGEST:
            return int(word)
        if word != "(" or depth > 8:
            raise _bad(whole)
        parts = [mode(depth + 1)]
        while words and words[0] == ",":
            words.pop(0)
            parts.append(mode(depth + 1))
        if not words or words.pop(0) != ")":
            raise _bad(whole)
        return parts

    found = mode(0)
    if words:
        raise _bad(whole)
    return found


def _paired(shape: Mode, stride: Mode, whole: str) -> Any:
    """Extent and stride of each mode, leftmost first."""
    if isinstance(shape, int) and isinstance(stride, int):
        if shape == 0:
            raise MfmasimError(f"layout {whole!r}: an extent is 0")
        yield shape, stride
    elif isinstance(shape, list) and isinstance(stride, list) and len(shape) == len(stride):
        for one, step in zip(shape, stride, strict=True):
            yield from _paired(one, step, whole)
    else:
        raise MfmasimError(f"layout {whole!r}: shape and stride have different modes")


def _bad(text: str) -> MfmasimError:
    return MfmasimError(f"layout {text!r}: expected a layout such as {EXAMPLES}")
