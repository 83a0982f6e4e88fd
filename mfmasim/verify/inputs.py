"""Contents of a case's matrices in its launches: golden data, drawn data, or given values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mfmasim.errors import MfmasimError
from mfmasim.verify import golden
from mfmasim.verify.arguments import leaves
from mfmasim.verify.arrays import Array
from mfmasim.verify.data import draw
from mfmasim.verify.exact import exact_in_any_order
from mfmasim.verify.roles import Tensor, format_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from mfmasim.architectures import Arch
    from mfmasim.verify.cases import Case
    from mfmasim.verify.launch import CaseLaunch


@dataclass(frozen=True)
class Inputs:
    """Contents of a case's matrices in one launch."""

    label: str
    """Their origin, for the report."""
    codes: Mapping[str, NDArray[Any]]
    """Raw codes in the stored shape, by name of the matrix."""
    expected: NDArray[Any] | None = None
    """Codes of C, where golden data has them."""


def inputs_of(
    case: Case, launch: CaseLaunch, arch: Arch, given: Mapping[str, NDArray[Any]] | None, bits: int
) -> Sequence[Inputs]:
    """Inputs to run.

    Args:
        case: the case.
        launch: its launch.
        arch: decides the formats.
        given: codes of matrices by place (``argument 0``), instead of golden data and drawn data.
        bits: of the significand that the kernel adds in.

    Returns:
        The inputs of each launch.

    Raises:
        MfmasimError: golden data is missing or damaged, or does not fit the case.
    """
    if given is not None:
        return [_given(case, launch, arch, given, bits)]
    if not case.golden:
        return [
            Inputs(f"{data} data", {name: draw(t, data, case.title, arch) for name, t in launch.tensors.items()})
            for data in case.data
        ]
    return [_golden(case, launch, arch, e) for e in golden.entries(case.golden_name(), arch.name, case.parameters)]


def _given(case: Case, launch: CaseLaunch, arch: Arch, given: Mapping[str, NDArray[Any]], bits: int) -> Inputs:
    codes: dict[str, NDArray[Any]] = {}
    for place, tensor in leaves(launch.args):
        if isinstance(tensor, Tensor) and tensor.name not in codes:
            codes[tensor.name] = given[place] if place in given else draw(tensor, "integers", case.title, arch)
        elif isinstance(tensor, Array) and place in given:
            codes[place] = given[place]
    plain = launch.expression is not None and exact_in_any_order(launch.expression, codes, arch, bits)
    return Inputs("integers, given" if plain else "special, given", codes)


def _golden(case: Case, launch: CaseLaunch, arch: Arch, entry: Mapping[str, Any]) -> Inputs:
    arrays = golden.arrays(entry)
    codes: dict[str, NDArray[Any]] = {}
    for name, tensor in launch.tensors.items():
        if tensor.writes:
            continue
        known, needed = entry["formats"].get(name), format_of(tensor, arch).name
        if known != needed:
            raise MfmasimError(f"{case.name}: {name} is {needed}, golden {entry['id']} has {known}")
        codes[name] = arrays[name]
        if codes[name].shape != tensor.stored_shape:
            raise MfmasimError(
                f"{case.name}: {name} has shape {tensor.stored_shape}, golden {entry['id']} {codes[name].shape}"
            )
    level = entry["expected"]["model"]["fidelity"]
    return Inputs(f"golden {entry['data']} ({level})", codes, arrays["model"])
