"""Probes: matrices that tell accumulation models apart, run through one matrix instruction of a device.

What goes through is kept as a capture, so that the device and whoever fits models to it need not be one machine.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import numpy as np

from mfmasim.devices import SimDevice
from mfmasim.errors import MfmasimError, unknown
from mfmasim.formats import format as find_format
from mfmasim.matrix import instruction as find_instruction
from mfmasim.observe.lds_clock import LdsClock
from mfmasim.program import compile as compile_source
from mfmasim.verify import phase_probes
from mfmasim.verify.capture import Capture
from mfmasim.verify.phase_probes import PhaseProbe
from mfmasim.verify.recording import Recorder

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from mfmasim.devices import Device
    from mfmasim.formats import Format
    from mfmasim.matrix import MatrixInstruction

__all__ = ["PROBES", "Observed", "Probe", "observe", "observed"]

SEED = 20_251_122
TRIALS = 24
"""Tiles of ordinary numbers for each probe; a few tiles with NaN and Inf follow them."""
OUTLIERS = ("nan_a", "nan_b", "nan_c", "inf_zero", "inf_inf")
"""What the last tiles hold, one kind each: its first row (nan_b: its first column) has the special result."""


@dataclass(frozen=True)
class Probe:
    """One instruction to look at."""

    name: str
    """The kernel of hipkernels/calibrate/probe.hip is ``probe_`` and this."""
    instruction: str
    archs: tuple[str, ...]
    a: str
    """Format of A and B; "fp8" is the architecture's own."""
    scaled: bool = False

    def find(self, arch: str) -> MatrixInstruction:
        """The instruction on an architecture."""
        return (
            find_instruction(arch, self.instruction, a=self.a, b=self.a)
            if self.scaled
            else find_instruction(arch, self.instruction)
        )


PROBES = (
    Probe("f16_k16", "v_mfma_f32_16x16x16_f16", ("gfx942", "gfx950"), "f16"),
    Probe("f16_k32", "v_mfma_f32_16x16x32_f16", ("gfx950",), "f16"),
    Probe("fp8", "v_mfma_f32_16x16x32_fp8_fp8", ("gfx942", "gfx950"), "fp8"),
    Probe("scaled_fp8", "v_mfma_scale_f32_16x16x128_f8f6f4", ("gfx950",), "e4m3fn", scaled=True),
)
"""The instructions whose rounding is an open question, or is known and tells whether a device is what it says."""


@dataclass(frozen=True)
class Observed:
    """What a device made of a probe: codes, tiles first."""

    probe: Probe
    op: MatrixInstruction
    a: NDArray[Any]
    b: NDArray[Any]
    c: NDArray[np.uint32]
    d: NDArray[np.uint32]
    scale_a: NDArray[np.uint8] | None = None
    scale_b: NDArray[np.uint8] | None = None

    @property
    def ordinary(self) -> slice:
        """The tiles without NaN and Inf."""
        return slice(0, TRIALS)


def observe(
    device: Device, arch: str, only: Sequence[str] = (), times: int | None = None, clock: LdsClock | None = None
) -> Capture:
    """Run probes of an architecture.

    Args:
        device: where.
        arch: the device's architecture.
        only: names of probes; none is all.
        times: repetitions of what is timed; None is 5 on a GPU and 1 where time is simulated.
        clock: what the simulator's clock shall see of the LDS; None is by the phase tables.

    Returns:
        What went in and came out.

    Raises:
        MfmasimError: there are no such probes for it, or whatever compiling and launching raise.
    """
    probes: dict[str, Any] = {probe.name: probe for probe in PROBES if arch in probe.archs}
    probes.update({probe.name: probe for probe in phase_probes.chosen(arch)})
    for name in only:
        if name not in probes:
            raise unknown("probe", name, probes, f"for {arch}")
    taken = [probe for name, probe in probes.items() if not only or name in only]
    rounding = [probe for probe in taken if isinstance(probe, Probe)]
    phases = [probe for probe in taken if isinstance(probe, PhaseProbe)]
    code = compile_source(phase_probes.source(), arch)
    in_simulator = isinstance(device, SimDevice)
    recorder = Recorder(device, "bounds" if in_simulator else "all")
    for probe in rounding:
        args = [np.ascontiguousarray(array).view(np.uint32) for array in _arguments(probe, arch)]
        tiles = TRIALS + len(OUTLIERS)
        report = recorder.launch(code[f"probe_{probe.name}"], tiles, 64, [*args, np.zeros((tiles, 4, 64), np.uint32)])
        if not report.ok:
            raise MfmasimError(f"probe {probe.name}: {report.findings[0].message}")
    simulated = in_simulator or bool(getattr(device, "simulated", False))
    told = phase_probes.measure(
        recorder, code, phases, rounds=1 if simulated else 4, times=times or (1 if simulated else 5),
        simulated=simulated, options={"observers": [clock or LdsClock(arch)]} if in_simulator else {},
    )  # fmt: skip
    product = getattr(device, "product", "the simulator")
    about = {
        "probes": [probe.name for probe in rounding],
        "phases": told,
        "arch": arch,
        "device": {"name": device.name, "product": product, "simulated": simulated},
        "code": {"sha256": code.sha256, "compiler": code.made_by},
        "captured": datetime.now(UTC).isoformat(timespec="seconds"),
    }
    return Capture(about, code.object.data, recorder.launches)


def observed(capture: Capture) -> Iterator[Observed]:
    """What a capture of `observe` holds, by probe.

    Raises:
        MfmasimError: it is another capture.
    """
    arch = capture.about["arch"]
    by_name = {probe.name: probe for probe in PROBES}
    for name, launch in zip(capture.about.get("probes", ()), capture.launches, strict=False):
        if name not in by_name:
            raise MfmasimError(f"the capture has a probe {name!r} that this version does not know")
        probe = by_name[name]
        op = probe.find(arch)
        a, b, sa, sb, c, _ = (raw.view(np.uint32).reshape(-1, raw.size // (TRIALS + len(OUTLIERS)) // 256, 64)
                              for raw in launch.before)  # fmt: skip
        d = launch.after[5].view(np.uint32).reshape(-1, 4, 64)
        scales: dict[str, Any] = {}
        if op.scale_A is not None and op.scale_B is not None:
            scales = {"scale_a": op.scale_A.unpack(sa), "scale_b": op.scale_B.unpack(sb)}
        yield Observed(probe, op, op.A.unpack(a), op.B.unpack(b), op.C.unpack(c), op.D.unpack(d), **scales)
    if not capture.about.get("probes") and not capture.about.get("phases"):
        raise MfmasimError("this is no capture of probes: mfmasim calibrate --record makes one")


def _arguments(probe: Probe, arch: str) -> list[NDArray[Any]]:
    """Registers of A, B, both scales and C, (tiles, registers, 64)."""
    op = probe.find(arch)
    rng = np.random.default_rng([SEED, sum(probe.name.encode())])
    fmt, tiles = find_format(op.a), TRIALS + len(OUTLIERS)
    a = _numbers(rng, fmt, (tiles, op.m, op.k))
    b = _numbers(rng, fmt, (tiles, op.k, op.n))
    for tile in range(tiles):  # pairs of k whose products cancel, anywhere along K, in three of four tiles
        order = rng.permutation(op.k)
        for first, second in order.reshape(-1, 2)[: op.k // 8 * (tile % 4)]:
            a[tile, :, second] = a[tile, :, first]
            b[tile, second, :] = b[tile, first, :] ^ fmt.sign_bit
    exact = np.abs(fmt.decode(a).astype(np.float64) @ fmt.decode(b).astype(np.float64))
    # C from far below the products to far above them: what is lost of which tells the widths.
    size = np.frexp(np.maximum(exact, 2.0**-40))[1] + rng.integers(-40, 40, exact.shape)
    value = np.ldexp(rng.uniform(1, 2, exact.shape) * rng.choice([-1.0, 1.0], exact.shape), np.clip(size, -100, 100))
    c = value.astype(np.float32).view(np.uint32)  # any f32 will do: how it was rounded does not matter
    c[: tiles // 4] = 0
    _near(rng, fmt, a, b, c)
    _specials(fmt, a, b, c)
    scale_a = scale_b = np.zeros((tiles, 1, 64), np.uint32)
    if op.scale_A is not None and op.scale_B is not None:
        blocks = op.k // 32
        scale_a = op.scale_A.pack(rng.integers(120, 134, (tiles, op.m, blocks)).astype(np.uint8))
        scale_b = op.scale_B.pack(rng.integers(120, 134, (tiles, op.n, blocks)).astype(np.uint8))
    return [op.A.pack(a), op.B.pack(b), scale_a, scale_b, op.C.pack(c)]


def _numbers(rng: np.random.Generator, fmt: Format, shape: tuple[int, ...]) -> NDArray[Any]:
    """Random finite codes: every sign, exponent and significand."""
    codes = rng.integers(0, fmt.mask + 1, shape).astype(fmt.carrier)
    one = np.asarray(fmt.encode(np.float64(1.0)), fmt.carrier)
    return np.where(np.isfinite(fmt.decode(codes)), codes, one)


def _near(rng: np.random.Generator, fmt: Format, a: NDArray[Any], b: NDArray[Any], c: NDArray[np.uint32]) -> None:
    """In a third of the tiles C takes almost all of a sum away, so that what is left tells which low bits it had.

    Most products are large and of one sign, so that the sum outgrows each of them; the others reach far below. In some
    of these tiles only the first elements along K are there, so that the sum is that of one step.
    """
    k = a.shape[-1]
    first = fmt.mantissa_bits
    for tile in range(2 * TRIALS // 3, TRIALS):
        large = rng.permutation(k)[: max(2, k * 3 // 4)]
        for side, shape in ((a, (a.shape[1], len(large))), (b, (len(large), b.shape[2]))):
            one = int(np.asarray(fmt.encode(np.float64(1.0))))
            codes = (one + rng.integers(0, 1 << first, shape)).astype(fmt.carrier)  # from 1 to 2
            if side is a:
                side[tile][:, large] = codes
            else:
                side[tile][large, :] = codes
        used = (4, 8, 16, k)[tile % 4]
        a[tile, :, used:] = 0
        exact = fmt.decode(a[tile]).astype(np.float64) @ fmt.decode(b[tile]).astype(np.float64)
        near = -exact * (1 + rng.choice([0.0, 1.0, -1.0], exact.shape) * 2.0 ** -rng.integers(4, 24, exact.shape))
        c[tile] = near.astype(np.float32).view(np.uint32)


def _specials(fmt: Format, a: NDArray[Any], b: NDArray[Any], c: NDArray[np.uint32]) -> None:
    """Put NaN and Inf into the last tiles, as `OUTLIERS` lists them. Formats without Inf have 0 * NaN and NaN again."""
    codes = np.arange(fmt.mask + 1).astype(fmt.carrier)
    nans, infs = codes[np.isnan(fmt.decode(codes))], codes[np.isinf(fmt.decode(codes))]
    infinity = infs[0] if len(infs) else nans[0]
    minus = infs[-1] if len(infs) else nans[-1]
    rows = np.arange(a.shape[1])
    a[TRIALS, :, 0] = nans[rows * 7919 % len(nans)]
    b[TRIALS + 1, 0, :] = nans[rows * 104_729 % len(nans)]
    c[TRIALS + 2] = 0x7F800001 + np.arange(c[0].size).reshape(c[0].shape) * 0x3FF7
    a[TRIALS + 3, :, 1], b[TRIALS + 3, 1, :] = infinity, 0
    for place, special in ((1, infinity), (2, minus)):
        a[TRIALS + 4, :, place] = special
        b[TRIALS + 4, place, :] = b[TRIALS + 4, place, :] & (fmt.mask & ~fmt.sign_bit) | 1  # positive, not zero
