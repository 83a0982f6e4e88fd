"""Origin of a NaN's bits: one default NaN, or the payload of an input NaN."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mfmasim.formats import format as find_format
from mfmasim.lab.calibration.probe_data import FITTED, OUTLIERS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mfmasim.formats import Format
    from mfmasim.lab.calibration.probes import Observed

QUIET, SIGN, INF = 0x00400000, 0x80000000, 0x7F800000


def is_nan(d: NDArray[Any], fmt: str = "f32") -> NDArray[np.bool_]:
    """A mask of the NaNs among codes of a format with infinities."""
    row = find_format(fmt)
    row = find_format(fmt)
    found: NDArray[np.bool_] = (d & row.carrier.type(row.mask >> 1)) > row.carrier.type(row.inf_code or 0)
    return found


def nan_bits(seen: Observed) -> dict[str, list[int]]:
    """Bits of the NaNs that each kind of special input gave, sorted."""
    found = {}
    for number, name in enumerate(OUTLIERS):
        d = seen.d[FITTED + number]
        found[name] = [int(word) for word in np.unique(d[is_nan(d, seen.op.d)])]
    return found


def constant(seen: Observed) -> int | None:
    """The NaN that a device returns for every input; None if there are several, or none."""
    found = {word for words in nan_bits(seen).values() for word in words}
    return found.pop() if len(found) == 1 else None


def origins(seen: Observed) -> dict[str, str]:
    """The origin of the NaNs of each kind of special input, in words; kinds without a NaN are omitted.

    A propagated payload is the operand's fraction, aligned to the upper end of f32's, with or without the sign.
    """
    origins = {}
    for number, (name, words) in enumerate(nan_bits(seen).items()):
        if len(words) == 1:
            origins[name] = f"{words[0]:#010x}"
        elif words:
            d = seen.d[FITTED + number]
            named = name in ("nan_a", "nan_b", "nan_c") and seen.op.d == "f32"
            how = _payload(d, _sources(seen, number)) if named else ""
            origins[name] = f"{name[-1].upper()}'s payload, {how}" if how else f"{len(words)} NaNs of unknown origin"
    return origins


def _sources(seen: Observed, number: int) -> NDArray[np.uint32]:
    """f32 with the sign and payload of the NaN that each element was given, (M, N)."""
    tile = FITTED + number
    if OUTLIERS[number] == "nan_c":
        return np.asarray(seen.c[tile])
    fmt = find_format(seen.op.a)
    given = seen.a[tile, :, :1] if OUTLIERS[number] == "nan_a" else seen.b[tile, :1, :]
    return np.broadcast_to(_widened(fmt, given), seen.d[tile].shape)


def _widened(fmt: Format, codes: NDArray[Any]) -> NDArray[np.uint32]:
    wide = codes.astype(np.uint32)
    fraction = (wide & np.uint32((1 << fmt.mantissa_bits) - 1)) << np.uint32(23 - fmt.mantissa_bits)
    sign = np.where(wide & np.uint32(fmt.sign_bit) != 0, np.uint32(SIGN), np.uint32(0))
    return np.asarray(fraction | sign | np.uint32(INF))


def _payload(d: NDArray[np.uint32], given: NDArray[np.uint32]) -> str:
    """The rule by which d follows from the input NaN; empty if there is none."""
    magnitude = given & np.uint32(0x7FFFFFFF)
    ways = (
        ("as it is", given),
        ("made quiet", given | np.uint32(QUIET)),
        ("without its sign", magnitude),
        ("made quiet, without its sign", magnitude | np.uint32(QUIET)),
    )
    return next((how for how, bits in ways if (d == bits).all()), "")
