"""Contents of a case's arguments before a launch without a comparison."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mfmasim.verify.data import draw
from mfmasim.verify.plain import drawn_arrays
from mfmasim.verify.roles import bytes_of, untouched

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mfmasim.architectures import Arch
    from mfmasim.verify.cases import Case
    from mfmasim.verify.launch import CaseLaunch


def memory_of(case: Case, launch: CaseLaunch, arch: Arch) -> dict[str, NDArray[Any]]:
    """Every matrix and array of a launch on the case's first class of inputs, for `CaseLaunch.run`.

    Args:
        case: the case.
        launch: its launch.
        arch: decides the formats.
    """
    drawn = drawn_arrays(case, launch)
    memory: dict[str, NDArray[Any]] = {name: array.placed(drawn[name].copy()) for name, array in launch.arrays.items()}
    data = (*case.data[:1], "integers")[0]
    for name, tensor in launch.tensors.items():
        reads = not tensor.writes or launch.expression is None or launch.expression.uses(tensor)
        codes = draw(tensor, data, case.title, arch) if reads else untouched(tensor, arch)
        memory[name] = tensor.placed(bytes_of(tensor, codes, arch))
    return memory
