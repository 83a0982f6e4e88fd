"""Recording the workgroups of a case that one unit holds at a time, for `mfmasim.cost`."""

from __future__ import annotations

from mfmasim.architectures import arch as find_arch
from mfmasim.cost.resident import Recorded, Unit
from mfmasim.kernels import Kernel
from mfmasim.verify.cases import Case
from mfmasim.verify.memory import memory_of
from mfmasim.verify.runner import set_parameters


def record_case(
    case: Case,
    arch: str,
    *,
    compiler: str | None = None,
    kernel: Kernel | None = None,
    most: int | None = None,
    units: int | None = None,
    whole: bool = False,
) -> Recorded:
    """Record a case on its first class of inputs; outputs are not compared, `verify_case` does that.

    Args:
        case: the case.
        arch: one of its architectures.
        compiler: compile with this one and ignore prebuilt code objects.
        kernel: run this one instead of the case's.
        most: workgroups to record at most; None takes all that fit.
        units: units that share the grid; None takes those of the architecture's first product.
        whole: run the whole launch and keep its report, with bank conflicts.

    Raises:
        MfmasimError: the case is wrong, or cannot be compiled or executed.
    """
    target = find_arch(arch)
    case = set_parameters(case, arch=target.name)
    case.check_contract()
    if kernel is None:
        kernel = case.compiled(target.name, compiler)
    case = set_parameters(case, wave=kernel.wave)
    launch = case.make()
    unit = Unit(most, units, whole=whole)
    launch.run(unit, kernel, memory_of(case, launch, target))
    assert unit.recorded is not None
    return unit.recorded
