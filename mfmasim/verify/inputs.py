"""What the matrices of a case hold in its launches: golden data, what its data classes draw, or what is given."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mfmasim.errors import MfmasimError
from mfmasim.verify import golden
from mfmasim.verify.data import draw
from mfmasim.verify.exact import exact_in_any_order
from mfmasim.verify.roles import Tensor, format_of, tensors_in

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from mfmasim.architectures import Arch
    from mfmasim.verify.cases import Case

__all__ = ["inputs_of"]

GOLDEN_NAME = {"A": "A", "B": "B", "scale_A": "scale_A", "scale_B": "scale_B"}


def inputs_of(
    case: Case, built: Mapping[str, Any], arch: Arch, given: Mapping[str, NDArray[Any]] | None, bits: int
) -> Sequence[tuple[str, dict[int, Any], Any]]:
    """Inputs to run.

    Args:
        case: the case.
        built: what its function returned.
        arch: decides the formats.
        given: codes of matrices by name of the argument, in place of golden data and of what data classes draw.
        bits: of the significand that the kernel adds in.

    Returns:
        For each launch a label, codes by ``id`` of the matrix, and the expected codes where golden data has them.

    Raises:
        MfmasimError: golden data is missing or damaged, or does not fit the case.
    """
    tensors = tensors_in(built)
    if given is not None:
        named = [(f"argument {n}", t) for n, t in enumerate(built["args"]) if isinstance(t, Tensor)]
        held = {id(t): given[n] if n in given else draw(t, "integers", case.title, arch) for n, t in reversed(named)}
        expected = built.get("expect")
        plain = expected is not None and exact_in_any_order(expected, held, arch, bits)
        return [("integers, given" if plain else "special, given", held, None)]
    if not case.golden:
        return [(f"{data} data", {id(t): draw(t, data, case.title, arch) for t in tensors}, None) for data in case.data]
    out = []
    for entry in golden.entries(case.golden_name(), arch.name, case.parameters):
        arrays = golden.arrays(entry)
        inputs: dict[int, Any] = {}
        for tensor in tensors:
            if tensor.role == "C":
                continue
            want = entry["formats"].get(tensor.role)
            have = format_of(tensor, arch).name
            if want != have:
                raise MfmasimError(f"{case.name}: {tensor.role} is {have}, golden {entry['id']} has {want}")
            codes = arrays[GOLDEN_NAME[tensor.role]]
            if codes.shape != tensor.stored_shape:
                raise MfmasimError(
                    f"{case.name}: {tensor.role} has shape {tensor.stored_shape}, golden {entry['id']} {codes.shape}"
                )
            inputs[id(tensor)] = codes
        level = entry["expected"]["model"]["fidelity"]
        out.append((f"golden {entry['data']} ({level})", inputs, arrays))
    return out
