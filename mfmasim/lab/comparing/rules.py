"""Why two architectures, or two kernels, sum differently: the rules of their matrix instructions side by side."""

from __future__ import annotations

from dataclasses import fields

from mfmasim.kernels import Kernel
from mfmasim.matrix import instruction
from mfmasim.matrix.models import PARAMETERS, Model
from mfmasim.verify.sums import matrix_names

WORDS = {
    "algorithm": "adds by the rule {}",
    "group": "adds {} products in a step",
    "input_mantissa_bits": "keeps {} fraction bits of a factor",
    "flush_inputs": "flushes subnormal factors: {}",
    "flush_addend": "flushes a subnormal C: {}",
    "flush_output": "flushes subnormal results: {}",
    "mode_denormals": "lets MODE flush subnormal factors: {}",
    "partial_sums": "keeps {} sums of a step",
    "product_bits": "keeps {} bits below the largest product",
    "product_rounding": "rounds products: {}",
    "product_overflow": "lets a product overflow to Inf: {}",
    "sum_bits": "keeps {} bits below the larger of sum and C",
    "sum_rounding": "rounds that sum: {}",
    "addend_bits": "keeps {} bits of C below the larger of sum and C",
    "addend_rounding": "rounds C: {}",
    "drop_addend_below": "drops a C that many bits below the sum: {}",
    "final_bits": "keeps {} bits of a step's result before it is rounded",
    "final_rounding": "rounds a step's result: {}",
    "nan_rules": "gives NaN by the rules {}",
    "clamp": "clamps: {}",
}
"""Parameters of an accumulation model in words (`mfmasim.matrix.models` defines each)."""
UNUSED = ("name", "fidelity", "evidence", "source")


def model_differences(first: Model, second: Model) -> list[tuple[str, str]]:
    """Differences of two accumulation models, in words, for each model.

    Args:
        first: a model.
        second: another one.
    """
    if first.algorithm != second.algorithm:
        texts = (
            f"{WORDS['algorithm'].format(one.algorithm)}, {one.group} products in a step" for one in (first, second)
        )
        return [tuple(texts)]  # type: ignore[list-item]
    found = []
    for parameter in fields(first):
        name, one, other = parameter.name, getattr(first, parameter.name), getattr(second, parameter.name)
        read = name in PARAMETERS[first.algorithm] or name in ("group", "nan_rules", "clamp")
        if one != other and read and name not in UNUSED:
            word = WORDS.get(name, name.replace("_", " ") + " {}")
            found.append((word.format(one or "no"), word.format(other or "no")))
    return found


def rules(first: Kernel, second: Kernel) -> list[str]:
    """Why the sums of two kernels may differ.

    Args:
        first: a kernel.
        second: another one, or the same for another architecture.

    Returns:
        Sentences; none if both have the same instructions with the same rules.
    """
    names, others = matrix_names(first), matrix_names(second)
    said = []
    for name in sorted(names & others):
        one, other = (instruction(kernel.arch, name, wave=kernel.wave) for kernel in (first, second))
        for here, there in model_differences(one.model, other.model):
            said.append(f"{name}: {first.arch.name} {here}, {second.arch.name} {there}")
    if names != others:
        only = [
            ", ".join(f"{name} ({instruction(kernel.arch, name, wave=kernel.wave).k} of K)" for name in sorted(mine))
            for kernel, mine in ((first, names - others), (second, others - names))
        ]
        texts = [text or "no other matrix instruction" for text in only]
        said.append(f"only the first has {texts[0]}, only the second {texts[1]}: sums are rounded at other places")
    if first.arch.fp8 != second.arch.fp8 and any("fp8" in name or "bf8" in name for name in names | others):
        said.append(
            f"an FP8 code is {first.arch.fp8.upper()} on {first.arch.name} and {second.arch.fp8.upper()} on "
            f"{second.arch.name}: the same byte is another number"
        )
    return said
