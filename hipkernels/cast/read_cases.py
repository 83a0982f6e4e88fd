"""Cases of cast and transpose through transposed reads of the LDS: tried and rejected by the text, gfx950."""

from dataclasses import dataclass

import numpy as np

import mfmasim
from hipkernels.cast import operands, reference
from hipkernels.cast.operands import CONVERSIONS
from hipkernels.cast.plan import Part
from hipkernels.cast.transpose_cases import launch_part
from mfmasim.verify import LaunchDict, case

READS = [CONVERSIONS, "ds_read_b64_tr_b8", r"global_store_dwordx2 .* nt"]
TALL, BROAD = 64, 128


@dataclass(frozen=True)
class Read(Part):
    """A part in tiles of 64 x 128."""

    @property
    def threads(self) -> int:
        """Of a workgroup."""
        return 256

    def tiles(self, given_bytes: int) -> tuple[int, int]:
        """Tiles down and across."""
        del given_bytes
        return self.rows // TALL, self.cols // BROAD


@case(
    "transposed_read.hip",
    kernel="transposed_read_{given}_{target}",
    arch="gfx950",
    each=[{"given": "f32", "target": t} for t in ("e4m3", "e5m2")] + [{"given": g} for g in ("f16", "bf16")],
    executes=READS,
)
def transposed_read(
    given: str = "f32",
    target: str = "e4m3",
    rows: int = 2 * TALL,
    cols: int = 2 * BROAD,
    noop: float = 0.0,
    data: str = "special",
    arch: str = "gfx950",
) -> LaunchDict:
    """Two tiles each way."""
    x = operands.values(given, rows * cols, data).reshape(rows, cols)
    part = Read(16, 8, 0, rows, 0, cols)
    return launch_part(x, part, given, reference.target_format(target, arch), scale=0.7, noop=noop)


@case("transposed_read.hip", kernel="transposed_read_f32_e4m3", arch="gfx950", each=[{"first": 0}, {"first": 3}])
def transposed_read_part(first: int = 3, rows: int = 197, cols: int = 261, arch: str = "gfx950") -> LaunchDict:
    """A part in the middle of a matrix with odd strides."""
    x = operands.values("f32", rows * cols, "finite").reshape(rows, cols)
    return launch_part(x, Read(16, 8, first, 2 * TALL, first, 2 * BROAD), "f32", reference.target_format("e4m3", arch))


@case("transposed_read.hip", kernel="transposed_read_f32_e4m3", arch="gfx950", executes=READS)
def transposed_read_map(arch: str = "gfx950") -> LaunchDict:
    """Every place of the 8 x 16 that a read exchanges holds a distinct code: the bytes prove where each came from."""
    row, col = np.indices((TALL, BROAD))
    codes = (row % 8 * 16 + col % 16).astype(np.uint8)
    fmt = reference.target_format("e4m3", arch)
    x = mfmasim.format(fmt).decode(codes).astype(np.float32)
    return launch_part(x, Read(16, 8, 0, TALL, 0, BROAD), "f32", fmt)


@case("transposed_read.hip", kernel="unpadded_read_f32_e4m3", arch="gfx950", executes=READS)
def transposed_read_unpadded(arch: str = "gfx950") -> LaunchDict:
    """Without padding: the same bytes, with bank conflicts."""
    x = operands.values("f32", TALL * BROAD, "finite").reshape(TALL, BROAD)
    return launch_part(x, Read(16, 8, 0, TALL, 0, BROAD), "f32", reference.target_format("e4m3", arch))
