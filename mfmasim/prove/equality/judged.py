"""Whether two kernels leave the same bytes: for all contents of their buffers, at the sizes of one launch."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from mfmasim.architectures import arch as find_arch
from mfmasim.devices import SimDevice
from mfmasim.errors import MfmasimError
from mfmasim.prove.equality.follow import Expressions
from mfmasim.prove.equality.pool import BYTES, ContradictionError, FullError, Pool
from mfmasim.prove.equality.sums import Sums
from mfmasim.verify.arguments import leaves
from mfmasim.verify.memory import memory_of
from mfmasim.verify.runner import set_parameters

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from mfmasim.kernels import Kernel
    from mfmasim.verify.cases import Case

LEVELS = ("bits", "sums", "different", "unknown")
"""Equal in every bit, equal as exact sums, different for an input that was executed, undecided."""
HOLDS = ("bits", "sums")
CHECKS = ("bounds", "uninitialised", "races", "waits")
"""Checks whose errors leave a comparison undecided: the bytes may then depend on more than the buffers."""


@dataclass(frozen=True)
class Side:
    """One of the kernels: a case on an architecture, and its code."""

    case: Case
    kernel: Kernel
    text: str
    """The text by which the user named it."""


@dataclass
class Equality:
    """The verdict on two kernels."""

    case: str
    sides: tuple[str, str]
    archs: tuple[str, str]
    level: str
    """One of `LEVELS`."""
    bytes: int = 0
    """Bytes of the buffers that were compared."""
    reason: str = ""
    """For `unknown`: the instruction that stopped the comparison; for `different` and `sums`: the first element."""
    expressions: tuple[str, str] = ("", "")
    """The two expressions of the first place that differs."""
    count: int = 0
    """Expressions that were made."""
    seconds: float = 0.0
    sizes: dict[str, Any] = field(default_factory=dict)
    """Parameters of the case for which the verdict holds."""

    @property
    def equal(self) -> bool:
        """Whether equality is proved, at some level."""
        return self.level in HOLDS

    def record(self) -> dict[str, Any]:
        """The verdict as a dictionary that JSON can represent."""
        return {
            "case": self.case,
            "sides": list(self.sides),
            "archs": list(self.archs),
            "level": self.level,
            "bytes": self.bytes,
            "reason": self.reason,
            "expressions": list(self.expressions),
            "count": self.count,
            "seconds": round(self.seconds, 3),
            "sizes": self.sizes,
        }


@dataclass
class _Ran:
    expressions: Expressions
    before: dict[str, NDArray[Any]]
    """Contents of the buffers before the launch, by name."""
    after: dict[str, NDArray[Any]]
    errors: list[str]

    @property
    def whole(self) -> bool:
        """Whether the launch was followed to its end, without an error."""
        return self.expressions.stopped is None and not self.errors


def equal(first: Side, second: Side) -> Equality:
    """Compare two kernels.

    Args:
        first: one kernel; its case draws the contents of the buffers.
        second: the other; its buffers have the same names and sizes.

    Returns:
        The verdict. It holds for all contents of the buffers, at the sizes, grid and numbers of these launches.

    Raises:
        MfmasimError: a case is wrong, its kernel cannot be executed, or the two have different buffers.
    """
    start = time.process_time()
    pool = Pool()
    archs = first.kernel.arch.name, second.kernel.arch.name
    found = Equality(first.case.title, (first.text, second.text), archs, "unknown", sizes=_sizes(first.case))
    try:
        one = _run(first, pool, {})
        two = _run(second, pool, one.before)
        for side, ran in ((first, one), (second, two)):
            found.reason = found.reason or _stopped(side, ran) or _guarded(side, ran)
        _compare(found, pool, one, two)
    except (FullError, ContradictionError) as error:
        found.reason = str(error)
    found.count, found.seconds = pool.count - 1, time.process_time() - start
    return found


def _sizes(case: Case) -> dict[str, Any]:
    return {name: value for name, value in case.parameters.items() if isinstance(value, int | float)}


def _run(side: Side, pool: Pool, given: Mapping[str, NDArray[Any]]) -> _Ran:
    """Launch one side on the given contents of buffers, or on those that its case draws.

    Raises:
        MfmasimError: the buffers are not those of `given`.
    """
    case = set_parameters(set_parameters(side.case, arch=side.kernel.arch.name), wave=side.kernel.wave)
    case.check_contract()
    launch = case.make()
    memory = memory_of(case, launch, find_arch(side.kernel.arch.name))
    for name, held in memory.items() if given else ():
        if name not in given:
            raise MfmasimError(f"{side.text} has an argument {name}, the other side has {', '.join(given)}")
        if given[name].nbytes != held.nbytes:
            raise MfmasimError(f"{name} has {held.nbytes} bytes in {side.text}, {given[name].nbytes} on the other side")
        _bytes_of(held)[:] = _bytes_of(given[name])
    before = {name: held.copy() for name, held in memory.items()}
    observer = Expressions(pool, {place: arg.name for place, arg in leaves(launch.args) if hasattr(arg, "name")})
    report = launch.run(SimDevice(), side.kernel, memory, {"observers": [observer], "checks": CHECKS})
    errors = [str(one.message) for one in report.findings if one.severity == "error"]
    return _Ran(observer, before, memory, errors)


def _bytes_of(array: NDArray[Any]) -> NDArray[np.uint8]:
    return array.reshape(-1).view(np.uint8)


def _stopped(side: Side, ran: _Ran) -> str:
    """Why a side was not followed to its end; empty if it was followed."""
    stopped = ran.expressions.stopped
    if stopped is not None:
        line = side.kernel.line_at(stopped.instruction.pc)
        return f"{side.text}: {stopped}" + (f" ({line})" if line else "")
    return f"{side.text}: {ran.errors[0]}" if ran.errors else ""


def _guarded(side: Side, ran: _Ran) -> str:
    """Launch a side again on other contents: bytes without an expression have to be equal; empty if they are.

    No verdict depends on this test. It detects an instruction whose effect the observer does not see.
    """
    rng = np.random.default_rng(len(ran.before))
    drawn = {name: rng.integers(0, 256, held.nbytes).astype(np.uint8) for name, held in ran.before.items()}
    again = _run(side, Pool(), drawn)
    if not again.whole:
        return _stopped(side, again)
    for name, codes in ran.expressions.outputs().items():
        others = again.expressions.outputs()[name]
        constant = (codes == 0) & (_bytes_of(ran.after[name]) != _bytes_of(again.after[name]))
        if ((codes == 0) != (others == 0)).any() or constant.any():
            return f"{side.text}: other contents of the buffers change what should not depend on them, in {name}"
    return ""


def _compare(found: Equality, pool: Pool, one: _Ran, two: _Ran) -> None:
    """Compare the expressions of the output bytes of both sides, then the values for the contents that were drawn."""
    whole = one.whole and two.whole
    differs = ""
    for name, held in one.after.items() if whole else ():
        left, right = _bytes_of(held), _bytes_of(two.after[name])
        found.bytes += left.size
        if (wrong := left != right).any() and not differs:
            at = int(np.argmax(wrong))
            differs = f"{name}, byte {at}: {left[at]:#04x} and {right[at]:#04x} for the contents that were drawn"
            found.expressions = _texts(pool, one, two, name, at)
    if not found.reason:
        found.level = _level(found, pool, one, two)
    if differs:
        found.level = found.level if found.level == "sums" else "different"
        found.reason = differs


def _level(found: Equality, pool: Pool, one: _Ran, two: _Ran) -> str:
    """The level of equality of two launches that were followed to their ends."""
    level = "bits"
    for name, codes in one.expressions.outputs().items():
        others = two.expressions.outputs()[name]
        if not (wrong := codes != others).any():
            continue
        at = int(np.argmax(wrong))
        found.expressions = _texts(pool, one, two, name, at)
        sums = Sums(pool)
        if not sums.same(codes[wrong], others[wrong]):
            found.reason = f"{name}, byte {at}: two expressions that are not known to be equal{sums.why}"
            return "unknown"
        level = "sums"
        found.reason = f"{name}, byte {at}: the additions have another order"
    return level


def _texts(pool: Pool, one: _Ran, two: _Ran, name: str, at: int) -> tuple[str, str]:
    """The expressions of a byte on both sides: the innermost parts that differ."""
    first, second = (int(ran.expressions.outputs()[name][at]) for ran in (one, two))
    unit = BYTES
    while first > 0 and second > 0 and first % unit == second % unit:
        left, right = pool.node(first // unit), pool.node(second // unit)
        differ = [pair for pair in zip(left.operands, right.operands, strict=False) if pair[0] != pair[1]]
        if left.head != right.head or len(left.operands) != len(right.operands) or not differ or left.head[0] == "sum":
            break
        first, second = differ[0]
        unit = BYTES if left.head[0] == "bytes" else 1
    texts = [pool.text(code, unit) if code else "a constant" for code in (first, second)]
    return texts[0], texts[1]
