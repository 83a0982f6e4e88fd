"""Run under `mfmasim hiprt`: tensors of ``cuda`` compute what those of the CPU compute, in memory of the runtime."""

import copy
import ctypes


def operations(torch):
    """Functions of two matrices, by name."""
    return {
        "sum": lambda a, b: (a + b).sum(0),
        "product": lambda a, b: a @ b.t(),
        "reversed": lambda a, b: (2 - a, b.flip(1)),
        "views": lambda a, b: (a[1:, ::2].contiguous(), b.unfold(1, 2, 1), a.t().reshape(-1)),
        "masked": lambda a, b: (a[a > 5], torch.where(a > b, a, b)),
        "sorted": lambda a, b: (a.sort(1).values, b.topk(2).indices),
        "joined": lambda a, b: torch.cat([a, b]).mean(1),
        "chunks": lambda a, b: (a.chunk(2, 1)[1], *torch.split(b, 1)),
        "bits": lambda a, b: (a.to(torch.float8_e4m3fnuz).view(torch.uint8), b.bfloat16().view(torch.int16)),
        "complex": lambda a, b: torch.view_as_real(torch.complex(a, b).conj() * 2),
        "in place": lambda a, b: (
            a.mul_(2),
            b.t_().add_(1),
            a.index_put_((torch.tensor([1], device=a.device),), b[0, 0]),
        ),
        "layers": lambda a, b: torch.nn.functional.softmax(torch.nn.functional.layer_norm(a, (4,)), -1),
        "einsum": lambda a, b: torch.einsum("ij,kj->ik", a, b),
        "out": lambda a, b: torch.add(a, b, out=torch.empty(0, device=a.device)),
    }


def kind(address):
    """Type of memory at an address, as hipPointerGetAttributes has it."""
    attributes = (ctypes.c_int * 16)()
    hip = ctypes.CDLL("libamdhip64.so")
    assert hip.hipPointerGetAttributes(attributes, ctypes.c_void_p(address)) == 0
    return attributes[0]


def main():
    """Compare every operation; then gradients, random numbers, views and modules."""
    import pytest
    import torch

    first = torch.Generator(device="cuda")  # before anything else asks for the device
    assert isinstance(first, torch.Generator)
    assert first.device.type == "cuda"

    def inputs(device):
        return torch.arange(12.0, device=device).reshape(3, 4), torch.linspace(-3, 9, 12, device=device).reshape(3, 4)

    compared = 0
    for name, operation in operations(torch).items():
        expected, actual = operation(*inputs("cpu")), operation(*inputs("cuda"))
        expected, actual = ((one,) if isinstance(one, torch.Tensor) else one for one in (expected, actual))
        for one, other in zip(expected, actual, strict=True):
            assert other.device == torch.device("cuda", 0), name
            assert kind(other.data_ptr()) == 2, name  # hipMemoryTypeDevice
            torch.testing.assert_close(other.cpu(), one)  # the CPU rounds some functions by their alignment
            assert one.stride() == other.stride(), (name, one.stride(), other.stride())
            compared += 1

    weights = torch.ones(4, 2, device="cuda", requires_grad=True)
    (inputs("cuda")[0] @ weights).relu().sum().backward()
    assert weights.grad.device.type == "cuda"
    assert weights.grad.cpu().tolist() == [[12, 12], [15, 15], [18, 18], [21, 21]]
    generators = [torch.Generator(device=device).manual_seed(3) for device in ("cpu", "cuda")]
    assert generators[1].device.type == "cuda"
    drawn = [torch.randn(5, device=one.device, generator=one).cpu() for one in generators]
    assert torch.equal(*drawn)
    with pytest.raises(RuntimeError, match="same device"):
        inputs("cuda")[0] + inputs("cpu")[0]
    base = torch.zeros(4, 4, device="cuda")
    base[1].copy_(torch.ones(4))
    assert base.sum().item() == 4
    assert base[1].data_ptr() == base.data_ptr() + 16
    assert torch.cuda.is_available()
    assert torch.cuda.device_count() == 1
    assert torch.cuda.memory_allocated() > 0
    module = torch.nn.Linear(4, 3).cuda()
    assert module.weight.is_cuda
    assert module(inputs("cuda")[0]).shape == (3, 3)
    twin = copy.deepcopy(module)
    assert twin.weight.is_cuda
    assert twin.weight.data_ptr() != module.weight.data_ptr()
    assert torch.equal(twin.weight.cpu(), module.weight.cpu())
    given = torch.arange(4.0, device="cuda")
    assert copy.deepcopy(given).tolist() == given.tolist()
    assert given.untyped_storage().cpu().tolist() == given.cpu().untyped_storage().tolist()
    print("tensors", compared)


if __name__ == "__main__":
    main()
