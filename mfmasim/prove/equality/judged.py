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
from mfmasim.prove.equality.pool import BYTES, Contradiction, Pool
from mfmasim.prove.equality.sums import Sums
from mfmasim.verify.arguments import leaves
from mfmasim.verify.arrays import Array
from mfmasim.verify.memory import memory_of
from mfmasim.verify.roles import Tensor
from mfmasim.verify.runner import informed

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from mfmasim.kernels import Kernel
    from mfmasim.prove.equality.pool import Codes
    from mfmasim.verify.cases import Case

LEVELS = ("bits", "sums", "different", "unknown")
"""Equal in every bit, equal as exact sums, different for an input that was executed, undecided."""
HOLDS = {"bits": "equal in every bit", "sums": "equal as exact sums, not in the order of additions"}


@dataclass(frozen=True)
class Side:
    """One of the kernels: a case on an architecture, and its code."""

    case: Case
    kernel: Kernel
    text: str
    """As it was written."""


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
    """Of `unknown`: the instruction that stopped it; of `different` and `sums`: the first element."""
    expressions: tuple[str, str] = ("", "")
    """What the first place that differs is made of."""
    count: int = 0
    """Expressions that were made."""
    seconds: float = 0.0
    assumptions: list[str] = field(default_factory=list)

    @property
    def equal(self) -> bool:
        """Whether equality is proved, at some level."""
        return self.level in HOLDS

    def record(self) -> dict[str, Any]:
        """As a dictionary that JSON can hold."""
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
            "assumptions": self.assumptions,
        }


@dataclass
class _Ran:
    expressions: Expressions
    memory: dict[str, NDArray[Any]]
    errors: list[str]


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
    found = Equality(
        first.case.title,
        (first.text, second.text),
        (first.kernel.arch.name, second.kernel.arch.name),
        "unknown",
        assumptions=["buffers do not overlap", "waves of different workgroups do not race: mfmasim verify, prove"],
    )
    try:
        one = _run(first, pool, {})
        two = _run(second, pool, one.memory)
    except Contradiction as error:
        found.reason = f"internal: {error}"
        return _timed(found, pool, start)
    for side, ran in zip((first, second), (one, two), strict=True):
        if ran.expressions.stopped is not None:
            stopped = ran.expressions.stopped
            line = side.kernel.line_at(stopped.instruction.pc)
            found.reason = f"{side.text}: {stopped}" + (f" ({line})" if line else "")
        elif ran.errors:
            found.reason = f"{side.text}: {ran.errors[0]}"
        if found.reason:
            break
    _differences(found, pool, one, two)
    return _timed(found, pool, start)


def _timed(found: Equality, pool: Pool, start: float) -> Equality:
    found.count, found.seconds = pool.count - 1, time.process_time() - start
    return found


def _run(side: Side, pool: Pool, given: Mapping[str, NDArray[Any]]) -> _Ran:
    """Launch one side on the given contents of buffers, or on its own."""
    case = informed(informed(side.case, arch=side.kernel.arch.name), wave=side.kernel.wave)
    case.check_contract()
    launch = case.make()
    memory = memory_of(case, launch, find_arch(side.kernel.arch.name))
    for name, held in memory.items():
        other = given.get(name)
        if given and other is None:
            raise MfmasimError(f"{side.text} has an argument {name}, the other side has {', '.join(given)}")
        if other is not None:
            if other.nbytes != held.nbytes:
                raise MfmasimError(f"{name} has {held.nbytes} bytes in {side.text}, and {other.nbytes} on the other side")
            held.reshape(-1).view(np.uint8)[:] = other.reshape(-1).view(np.uint8)
    before = {name: held.copy() for name, held in memory.items()}
    places = {
        place: arg.name for place, arg in leaves(launch.args) if isinstance(arg, Tensor | Array)
    }
    observer = Expressions(pool, places)
    report = launch.run(SimDevice(), side.kernel, memory, {"observers": [observer], "checks": ("bounds",)})
    errors = [str(one.message) for one in report.findings if one.severity == "error"]
    ran = _Ran(observer, before, errors)
    ran.expressions.after = memory
    return ran


def _differences(found: Equality, pool: Pool, one: _Ran, two: _Ran) -> None:
    """Compare the bytes that both left: first what was computed, then what it is made of."""
    for name, held in one.expressions.after.items():
        other = two.expressions.after[name]
        left, right = (array.reshape(-1).view(np.uint8) for array in (held, other))
        if not one.errors and not two.errors and one.expressions.stopped is two.expressions.stopped is None:
            found.bytes += left.size
            if (wrong := left != right).any():
                at = int(np.argmax(wrong))
                found.level = "different"
                found.reason = f"{name}, byte {at}: {left[at]:#04x} and {right[at]:#04x} for the contents that were drawn"
                found.expressions = _texts(pool, one, two, name, at)
                return
    if found.reason:
        return
    level = "bits"
    for name, codes in one.expressions.outputs().items():
        others = two.expressions.outputs()[name]
        if not (wrong := codes != others).any():
            continue
        at = int(np.argmax(wrong))
        sums = Sums(pool)
        if sums.same(codes[wrong], others[wrong]):
            if level == "bits":
                found.expressions = _texts(pool, one, two, name, at)
            level = "sums"
            continue
        found.reason = f"{name}, byte {at}: two expressions that are not known to be equal{sums.why}"
        found.expressions = _texts(pool, one, two, name, at)
        return
    found.level = level


def _texts(pool: Pool, one: _Ran, two: _Ran, name: str, at: int) -> tuple[str, str]:
    shown = []
    for ran in (one, two):
        code = int(ran.expressions.outputs()[name][at])
        shown.append(pool.text(code, BYTES) if code else "a constant")
    return shown[0], shown[1]
