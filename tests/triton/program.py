"""A program as users write them: it knows nothing of the simulator. Its argument chooses what goes wrong."""

import sys

import torch
import triton
import triton.language as tl

DEVICE = triton.runtime.driver.active.get_active_torch_device()


@triton.autotune([triton.Config({"B": 256}), triton.Config({"B": 512})], key=["n"])
@triton.jit
def double(x, y, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(y + i, tl.load(x + i, i < n) * 2, i < n)


@triton.jit
def unmasked(x, y, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(y + i, tl.load(x + i) * 2)


def main(what):
    torch.manual_seed(0)
    x = torch.rand(1000, device=DEVICE)
    assert x.is_cuda
    assert x.device == DEVICE
    y = torch.empty_like(x)
    if what == "bounds":
        unmasked[(4,)](x, y, B=256)
    else:
        double[lambda meta: (triton.cdiv(1000, meta["B"]),)](x, y, 1000)
        torch.testing.assert_close(y, x * 2)
    before = x.cpu()
    x.zero_()
    assert before.device.type == "cpu"
    assert before.sum() > 0
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        start.record()
        triton.testing.do_bench(lambda: x + 1)
        end.record()
    torch.cuda.synchronize()
    assert start.elapsed_time(end) > 0
    sys.exit(5 if what == "fails" else 0)


main(sys.argv[1] if len(sys.argv) > 1 else "")
