"""Sessions that the tests of the debugger share: prebuilt kernels, and one of C++ with debug information."""

from functools import lru_cache
from pathlib import Path

import numpy as np

import mfmasim
from mfmasim.debug.device import RecordingDevice
from mfmasim.debug.session import Session
from mfmasim.resources import folder
from mfmasim.toolchain import find_compiler
from tests.oracles import require

HERE = Path(__file__).resolve().parent
SOURCE = HERE / "swizzle_missing.hip"


def matrices():
    """Small integers, so that every sum is exact."""
    rng = np.random.default_rng(7)
    a, b = (rng.integers(-3, 4, (32, 32)).astype(np.float16) for _ in range(2))
    return a, b, np.zeros((32, 32), np.float32)


@lru_cache(maxsize=4)
def compiled(level):
    """The GEMM whose swizzle is missing on the read side, with debug information."""
    try:
        find_compiler()
    except mfmasim.errors.MfmasimError as error:
        require("a HIP compiler", available=False, how=str(error))
    return mfmasim.compile(SOURCE, "gfx942", flags=["-g", f"-O{level}"])["gemm"]


def recorded(kernel, grid, block, args, **options):
    """A recording of a launch, and its report."""
    kept = []
    device = RecordingDevice(lambda recorder, report: kept.append((recorder, report)))
    device.launch(kernel, grid, block, args, **options)
    return kept[0]


def swizzled(level=1):
    """A session on it."""
    return Session(*recorded(compiled(level), 1, 64, list(matrices())), folders=[HERE])


def loop(waves=3):
    """A session on a prebuilt kernel of a loop, without matrix instructions."""
    kernel = mfmasim.load(folder("golden") / "code" / "bench" / "valu_loop.gfx942.hsaco")["valu_loop"]
    args = [np.zeros((waves, 64), np.uint32), np.int32(20), np.uint32(7)]
    return Session(*recorded(kernel, waves, 64, args))
