"""Accumulation models and layouts against the results of matrix probes."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mfmasim.formats import FORMATS
from mfmasim.lab.calibration.fitting import fit
from mfmasim.lab.calibration.nan_fitting import is_nan
from mfmasim.lab.calibration.probes import Observed, Probe
from mfmasim.lab.kit.data import EXACT, matrix_inputs
from mfmasim.lab.kit.kernels import matrix_kernels, matrix_name
from mfmasim.lab.kit.probes import representative
from mfmasim.lab.kit.verdict import Verdict, missing

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from mfmasim.lab.calibration.fitting import Fit
    from mfmasim.lab.kit.data import MatrixInputs
    from mfmasim.lab.kit.records import KitFile
    from mfmasim.matrix import MatrixInstruction

NANS = ("nan_factor", "nan_invalid")
STALE = "its probe was recorded by another version of mfmasim, with other inputs"


@dataclass(frozen=True)
class Seen:
    """A probe's inputs, the device's results, and the results by the row."""

    op: MatrixInstruction
    given: MatrixInputs
    d: NDArray[Any]
    expected: NDArray[Any]

    @property
    def wrong(self) -> NDArray[np.bool_]:
        """Elements that differ, except NaNs with other bits."""
        if not FORMATS[self.op.d].exponent_bits:
            return np.asarray(self.d != self.expected)
        both = is_nan(self.d, self.op.d) & is_nan(self.expected, self.op.d)
        return np.asarray((self.d != self.expected) & ~both)

    @property
    def nans(self) -> NDArray[np.bool_]:
        """Elements that are NaNs with other bits than the row's."""
        if not FORMATS[self.op.d].exponent_bits:
            return np.zeros(self.d.shape, bool)
        both = is_nan(self.d, self.op.d) & is_nan(self.expected, self.op.d)
        return np.asarray(both & (self.d != self.expected))


def _seen(op: MatrixInstruction, kit: KitFile) -> Seen | Verdict:
    """A probe's data, or why there is none."""
    kernel = matrix_kernels(op.arch.name)[matrix_name(op)]
    record = kit.records.get(f"matrix {kernel.name}")
    none = missing(record)
    if none is not None or record is None:
        return none or Verdict("undecided", "its probe was not run")
    if record.about.get("tiles") not in ("all", "few", "exact"):
        return Verdict("undecided", STALE)
    given = matrix_inputs(op, kernel.name, record.about["tiles"])
    out = record.arrays.get("out")
    shape = (kernel.results, given.tiles * op.wave)
    if record.about.get("inputs") != zlib.crc32(given.registers.tobytes()) or out is None or out.shape != shape:
        return Verdict("undecided", STALE)
    registers = np.ascontiguousarray(out.reshape(kernel.results, given.tiles, op.wave).transpose(1, 0, 2), np.uint32)
    codes = given.codes
    return Seen(op, given, np.asarray(op.D.unpack(registers)), _product(op, codes))


def _product(op: MatrixInstruction, codes: Mapping[str, NDArray[Any]]) -> NDArray[Any]:
    return op.multiply(
        codes["a"], codes["b"], codes["c"], codes.get("scale_a"), codes.get("scale_b"), codes.get("index")
    )


def judge_layout(op: MatrixInstruction, kit: KitFile) -> Verdict:
    """Whether the tiles of small integers agree with the layout: a wrong place changes almost all of them."""
    seen = _seen(op, kit)
    if isinstance(seen, Verdict):
        return seen
    wrong = seen.wrong[-EXACT:]
    if not wrong.any():
        return Verdict("settled", f"{wrong.size:,} exact sums of {EXACT} tiles are equal")
    return Verdict(
        "contradicted",
        f"{int(wrong.sum()):,} of {wrong.size:,} exact sums differ: {_what_explains(seen)}",
        {"layout": [", ".join(str(one) for one in (op.A.layout, op.B.layout)), "other"]},
    )


def _what_explains(seen: Seen) -> str:
    """A change of one operand's layout that explains the results, in words."""
    op, codes = seen.op, seen.given.codes
    tail = slice(seen.given.tiles - EXACT, None)
    part = {name: array[tail] for name, array in codes.items()}
    d = seen.d[tail]

    def product(**changed: NDArray[Any]) -> NDArray[Any]:
        return _product(op, {**part, **changed})

    if op.m == op.n and np.array_equal(product().swapaxes(-1, -2), d):
        return "rows and columns of D are exchanged"
    for operand, axis in (("a", -1), ("b", -2)):
        size = part[operand].shape[axis]
        other = "b" if operand == "a" else "a"
        for chunk in (2**n for n in range(size.bit_length() - 1)):
            for span in (chunk * 2**n for n in range(1, (size // chunk).bit_length())):
                moved = np.arange(size) ^ chunk
                if span > 2 * chunk:  # two digits of the number along K change places
                    high = span // 2
                    number = np.arange(size)
                    swap = ((number // chunk) ^ (number // high)) & 1
                    moved = number ^ (swap * (chunk | high))
                if np.array_equal(product(**{operand: np.take(part[operand], moved, axis)}), d):
                    which = f"{chunk} and {span // 2}" if span > 2 * chunk else f"{chunk}"
                    return f"{operand.upper()} has other k than {other.upper()}: its digits of weight {which} differ"
    return "no exchange of rows, columns or digits of k explains it"


def _observed(seen: Seen) -> Observed:
    op, codes = seen.op, seen.given.codes
    return Observed(
        Probe(matrix_name(op), op.name, (op.arch.name,)),
        op,
        codes["a"],
        codes["b"],
        codes["c"],
        seen.d,
        codes.get("scale_a"),
        codes.get("scale_b"),
        codes.get("index"),
    )


def judge_model(
    ops: Sequence[MatrixInstruction], kit: KitFile, layouts: Mapping[MatrixInstruction, Verdict]
) -> Verdict:
    """One row of the accumulation models, against every instruction that uses it.

    Args:
        ops: these instructions.
        kit: the results.
        layouts: verdicts on their layouts.
    """
    row = ops[0].model
    usable = [op for op in ops if layouts[op].status == "settled"]
    name = representative(ops[0].arch.name)[row.name]
    first = next((op for op in usable if matrix_name(op) == name), None)
    if first is None:
        probe = next(op for op in ops if matrix_name(op) == name)
        return Verdict("undecided", f"{name}: {layouts[probe].why}")
    probes = [one for one in (_seen(op, kit) for op in usable) if isinstance(one, Seen)]
    elements, wrong = sum(one.d.size for one in probes), [one for one in probes if one.wrong.any()]
    seen = next(one for one in probes if one.op is first)
    if wrong and not seen.wrong.any():  # the difference appears in other instructions only
        seen = max(wrong, key=lambda one: int(one.wrong.sum()))
    fitted = fit(_observed(seen))
    left = f"; {len(ops) - len(usable)} of {len(ops)} instructions were not measured" if len(usable) < len(ops) else ""
    if wrong and (not fitted.differs or not fitted.exact):
        names = ", ".join(dict.fromkeys(one.op.name for one in wrong[:4]))
        count = sum(int(one.wrong.sum()) for one in wrong)
        why = f"{count:,} of {elements:,} elements differ, with {names}; no parameters explain them{left}"
        return Verdict("contradicted", why, {"algorithm": [row.algorithm, "unknown"]}, fitted.row())
    parameters = {key: [was, now] for key, (was, now) in fitted.differs.items() if key not in NANS}
    if parameters:
        why = f"another row fits all {fitted.elements:,} elements of {seen.op.name}{left}"
        return Verdict("contradicted", why, parameters, fitted.row())
    other = [one for one in probes if one.nans.any()]
    if other:
        return _nans(other, fitted)
    open_now = "; ".join(f"{key}: {_range(values)} give the same bits" for key, values in fitted.also.items())
    why = f"{elements:,} elements of {len(probes)} probes are equal{left}"
    return Verdict("settled", f"{why}; {open_now}" if open_now else why)


def _nans(other: Sequence[Seen], fitted: Fit) -> Verdict:
    """Only the bits of NaNs differ."""
    bits = sorted({int(word) for one in other for word in np.unique(one.d[one.nans])})
    origins = "; ".join(f"{kind}: {text}" for kind, text in fitted.nan_origins().items())
    row = fitted.observed.op.model
    shown: Any = hex(bits[0]) if len(bits) == 1 else f"{len(bits)} NaNs"
    wrong = {int(word) for one in other for word in np.unique(one.expected[one.nans])}
    names = NANS if row.nan_rules == "rdna" else NANS[1:]  # else a factor's NaN is an invalid operation's
    which = [name for name in names if getattr(row, name) in wrong] or [NANS[1]]
    parameters = {name: [hex(getattr(row, name)), shown] for name in which}
    return Verdict("contradicted", f"sums are equal, bits of NaNs differ: {origins}", parameters, fitted.row())


def _range(values: tuple[Any, ...]) -> str:
    numbers = [value for value in values if type(value) is int]
    if len(numbers) > 2 and numbers[-1] - numbers[0] == len(numbers) - 1 and len(numbers) == len(values):
        return f"{numbers[0]} to {numbers[-1]}"
    return ", ".join(str(value) or "none" for value in values)
