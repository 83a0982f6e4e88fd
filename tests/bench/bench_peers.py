"""The same code objects on this simulator and on tinygrad's emulator: `python -m tests.bench.bench_peers FOLDER`.

FOLDER is a checkout of tinygrad; its emulator (test/mockgpu/amd/emu.py) executes the text of a kernel in this process.
Outputs are compared bit by bit. Times are CPU seconds of launches after the first one, which decodes, and there
compiles each instruction; both are shown.
"""

import argparse
import ctypes
import resource
import struct
import sys
import tempfile
from pathlib import Path

import ml_dtypes
import numpy as np

from mfmasim import compile as compile_hip
from mfmasim import device
from mfmasim.resources import folder

REPEATS = 3
FENCE = '__builtin_amdgcn_fence(__ATOMIC_ACQ_REL, "workgroup", "local")'
BARRIER = f"({FENCE}, __builtin_amdgcn_s_barrier(), {FENCE})"
"""A barrier that orders the LDS alone: the emulator does not decode RDNA3's BUFFER_GL0_INV, a part of __syncthreads."""
LDS_GRANULE, LDS_FIELD = 512, 15


def of_tinygrad(kernel, grid, block, args, arch):
    """What launches a kernel on tinygrad's emulator; arrays in host memory are its buffers."""
    from test.mockgpu.amd.emu import run_asm

    info, text = kernel.info, kernel.code.object.code(kernel.info)
    code = ctypes.create_string_buffer(text + bytes(64), len(text) + 64)
    rsrc2 = info.descriptor.rsrc2 | -(-info.group_segment_fixed_size // LDS_GRANULE) << LDS_FIELD
    segment = bytearray(max(64, info.kernarg_size))
    for argument, value in zip(info.explicit_args, args, strict=True):
        packed = struct.pack("<Q", value.ctypes.data) if isinstance(value, np.ndarray) else value.tobytes()
        segment[argument.offset : argument.offset + len(packed)] = packed
    held = ctypes.create_string_buffer(bytes(segment), len(segment))
    where = ctypes.addressof(code), len(text), *grid, block, 1, 1, ctypes.addressof(held), rsrc2, 0, arch
    return lambda: (run_asm(*where), held, code)


def launches():
    """Name, kernel, grid, block, arguments, and tinygrad's name of the architecture."""
    bench = folder("hipkernels") / "conformance" / "bench"
    random = np.random.default_rng(0)
    loop = compile_hip(bench / "valu_loop.hip", "gfx1100")["valu_loop"]
    for waves, trips in ((1, 200), (64, 200)):
        out = np.zeros((waves, 64), np.uint32)
        yield f"VALU loop, {waves}", loop, (waves, 1, 1), 64, [out, np.int32(trips), np.uint32(40503)], "rdna3"
    a, b = random.standard_normal((128, 64), np.float32), random.standard_normal((64, 128), np.float32)
    numbers = np.zeros((128, 128), np.float32), np.int32(128), np.int32(64)
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "tiled_gemm.hip"
        path.write_text((bench / "tiled_gemm.hip").read_text().replace("__syncthreads()", BARRIER))
        gemm = compile_hip(path, "gfx1100")["tiled_gemm"]
    yield "f32 GEMM 128x128x64", gemm, (2, 2, 1), 256, [a, b, *numbers], "rdna3"
    a, b = (random.standard_normal((128, 256), np.float32).astype(ml_dtypes.float8_e4m3fn).view(np.uint8) for _ in "ab")
    tile = compile_hip(folder("hipkernels") / "gemm_fp8" / "one_tile.hip", "gfx950")["one_wave_tile"]
    numbers = [np.int32(n) for n in (128, 128, 256, 256, 256, 128)] + [np.float32(1), np.float32(0)]
    yield "FP8 GEMM 128x128x256", tile, (8, 8, 1), 64, [a, b, np.zeros((128, 128), np.uint16), *numbers], "cdna"


def spent():
    """CPU seconds of this process and of compilers that it started."""
    both = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(used.ru_utime + used.ru_stime for used in both)


def seconds(launch):
    """CPU seconds of the first launch, and the least of further ones."""
    times = []
    for _ in range(1 + REPEATS):
        start = spent()
        launch()
        times.append(spent() - start)
    return times[0], min(times[1:])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", help="a checkout of tinygrad")
    sys.path.insert(0, parser.parse_args().folder)
    simulator = device("sim")
    print("kernel | wave-instructions | first, then: here, all checks, tinygrad | bytes that differ")
    for name, kernel, grid, block, args, arch in launches():
        outputs, rows, count = [], [], 0
        for which in ("none", "all", "tinygrad"):
            own = [value.copy() if isinstance(value, np.ndarray) else value for value in args]
            if which == "tinygrad":
                run = of_tinygrad(kernel, grid, block, own, arch)
            else:
                how = kernel, grid, block, own
                count = sum(simulator.launch(*how, checks="none").counts.values())
                run = lambda how=how, which=which: simulator.launch(*how, checks=which)  # noqa: E731
            try:
                rows.append("{:.4f} {:.4f} s".format(*seconds(run)))
            except Exception as error:  # what an emulator cannot do is a result
                if which != "tinygrad":
                    raise
                rows.append(str(error)[:80])
            outputs.append([value for value in own if isinstance(value, np.ndarray)])
        pairs = list(zip(outputs[0], outputs[2], strict=True))
        differ = sum(int((x.view(np.uint8) != y.view(np.uint8)).sum()) for x, y in pairs)
        if rows[-1][-1] != "s":  # it did not end
            differ = "-"
        print(" | ".join([name, f"{count:,}", *rows, f"{differ} of {sum(x.nbytes for x, _ in pairs):,}"]), flush=True)


if __name__ == "__main__":
    main()
