"""Mutants of kernels: one that is called equal in every bit leaves the same bytes for contents that are drawn."""

import numpy as np
import pytest

from mfmasim.devices import SimDevice
from mfmasim.lab.mutation.binary import kernel_of, mutants_in
from mfmasim.prove.equality import Side, equal
from mfmasim.resources import folder
from mfmasim.verify.files import load_file
from mfmasim.verify.memory import memory_of
from mfmasim.verify.runner import set_parameters
from tests.tiers import tiers

CASES = {one.title: one for one in load_file(folder("hipkernels") / "intro" / "cases.py")}
TRIALS = 3


def left(case, kernel, seed):
    """What a launch on random bytes leaves in all buffers."""
    rng = np.random.default_rng(seed)
    case = set_parameters(set_parameters(case, arch=kernel.arch.name), wave=kernel.wave)
    launch = case.make()
    memory = memory_of(case, launch, kernel.arch)
    for held in memory.values():
        held.reshape(-1).view(np.uint8)[:] = rng.integers(0, 256, held.nbytes)
    launch.run(SimDevice(), kernel, memory, {"checks": "none", "budget": 100_000})
    return b"".join(held.tobytes() for held in memory.values())


@pytest.mark.parametrize("share", tiers(range(8), [0]))
@pytest.mark.parametrize("name", tiers(["f32_32x32x2", "f16_16x16x16", "fp8_32x32x16[a=fp8,b=bf8]"], ["f16_16x16x16"]))
def test_a_mutant_that_is_equal_leaves_the_same_bytes(name, share):
    case = CASES[name]
    kernel = case.compiled("gfx942")
    levels = []
    for mutant in mutants_in(kernel)[share::8]:
        other = kernel_of(mutant, kernel)
        found = equal(Side(case, kernel, "original"), Side(case, other, "mutant"))
        levels.append(found.level)
        if found.level == "bits":
            for seed in range(TRIALS):
                assert left(case, kernel, seed) == left(case, other, seed), mutant
    assert set(levels) & {"different", "unknown"}
