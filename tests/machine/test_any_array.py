"""Arrays of any library as arguments of a launch: in place, without a copy, or refused with one sentence."""

import array
import ctypes

import ml_dtypes
import numpy as np
import pytest

import mfmasim
from mfmasim.errors import MfmasimError
from mfmasim.machine.launch.interchange import as_array, is_array
from mfmasim.resources import folder
from tests.oracles import module


def kernel():
    """D = A B with one MFMA: A (32, 2), B (2, 32), D (32, 32), all f32."""
    path = folder("golden") / "code" / "intro" / "mfma_f32_32x32x2_f32.gfx942.hsaco"
    return next(iter(mfmasim.load(path)))


class Interface:
    """Has nothing but NumPy's older protocol."""

    def __init__(self, held, *, copies=False):
        self.held, self.copies = held, copies

    @property
    def __array_interface__(self):
        return (self.held.copy() if self.copies else self.held).__array_interface__


class Converted:
    """Hands out copies only."""

    def __init__(self, held):
        self.held = held

    def __array__(self, dtype=None, copy=None):
        return self.held.copy()


class OnGpu:
    """Says that its memory is a GPU's."""

    def __init__(self, device):
        self.device = device

    def __dlpack__(self, **_):
        raise AssertionError("read")

    def __dlpack_device__(self):
        return self.device, 0


class Cuda:
    __cuda_array_interface__ = {}  # noqa: RUF012


def inputs():
    rng = np.random.default_rng(1)
    return [rng.integers(-4, 5, shape).astype(np.float32) for shape in ((32, 2), (2, 32))]


def launched(a, b, d):
    return kernel()[1, 64](a, b, d, checks="bounds")


@pytest.mark.parametrize("how", ["dlpack", "interface", "array.array", "memoryview", "ctypes", "bytearray"])
def test_every_protocol_is_taken_in_place(how):
    a, b = inputs()
    store = np.zeros((32, 32), np.float32)
    given = {
        "dlpack": store,
        "interface": Interface(store),
        "array.array": array.array("f", bytes(4096)),
        "memoryview": memoryview(store),
        "ctypes": (ctypes.c_float * 1024)(),
        "bytearray": bytearray(4096),
    }[how]
    assert launched(Interface(a), memoryview(b), given).ok
    assert (
        np.frombuffer(memoryview(given) if how != "interface" else store, np.float32).reshape(32, 32) == a @ b
    ).all()


def test_copies_and_constant_memory_may_be_read_and_a_store_to_them_is_found():
    a, b = inputs()
    out = np.zeros((32, 32), np.float32)
    assert launched(Converted(a), memoryview(b.tobytes()), out).ok
    assert (out == a @ b).all()
    report = launched(a, b, Converted(out))
    assert {f.check for f in report.findings} == {"bounds"}
    assert "read-only" in report.findings[0].message


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (
            OnGpu(2),
            "argument 0: the memory of tests.OnGpu is on CUDA; the simulator reads the CPU's: pass a copy there",
        ),
        (OnGpu(10), "is on ROCm"),
        (OnGpu(99), "is on device 99 of DLPack"),
        (Cuda(), "is on a GPU"),
        (object(), "argument 0 is a pointer: an array or None is expected, not object (arrays are NumPy's, PyTorch's,"),
        ("text", "an array or None is expected, not str"),
        (np.float32(3), "an array or None is expected, not float32"),
        (np.array([1, "x"], object), "dtype object has no bytes"),
    ],
)
def test_what_is_no_array_of_the_cpu_is_refused_in_one_line(value, text):
    a, b = inputs()
    with pytest.raises(MfmasimError) as error:
        launched(value, b, np.zeros((32, 32), np.float32))
    assert text in str(error.value)
    assert "\n" not in str(error.value)
    assert a.size


def test_a_library_that_fails_is_named():
    class Broken:
        def __array__(self, dtype=None, copy=None):
            raise RuntimeError("lazy: call compute() first\nand more")

    with pytest.raises(MfmasimError, match=r"x: tests.Broken gives no array of its memory: lazy: call compute"):
        as_array(Broken(), "x")


def test_numbers_and_structures_are_no_arrays():
    for value in (None, 1, 1.5, True, "x", b"x", np.float32(1), [1], (1,), {}, np.ndarray):
        assert not is_array(value)
        assert as_array(value, "x") is value


def test_the_short_form_says_what_it_takes():
    for key in (4, (4,), (1, 64, 0)):
        with pytest.raises(MfmasimError, match=r"a launch is written kernel\[grid, block\]\(arguments\)"):
            kernel()[key]
    assert repr(kernel()[(1, 2), 64]).endswith("[(1, 2), 64]>")


@pytest.mark.oracle
def test_tensors_of_pytorch_are_updated_in_place():
    torch = module("torch")

    a, b = (torch.from_numpy(x) for x in inputs())
    out = torch.zeros(32, 32)
    assert launched(a.requires_grad_(), torch.nn.Parameter(b), out).ok
    assert torch.equal(out, (a @ b).detach())
    with pytest.raises(MfmasimError, match=r"argument 0 .*not contiguous|argument 0: the array is not contiguous"):
        launched(a.t(), b, out)
    with pytest.raises(MfmasimError, match="gives no array of its memory"):
        launched(a.detach().to_sparse(), b, out)
    with pytest.raises(MfmasimError, match="gives no array of its memory"):
        launched(a.detach().to("meta"), b, out)


@pytest.mark.oracle
def test_every_dtype_of_pytorch_keeps_its_bits_and_its_memory():
    torch = module("torch")

    names = [n for n in dir(torch) if isinstance(getattr(torch, n), torch.dtype) and not n.startswith(("q", "bits"))]
    compared = 0
    for name in names:
        dtype = getattr(torch, name)
        try:
            tensor = torch.arange(48, dtype=torch.uint8).view(dtype)
        except RuntimeError:
            continue
        found = as_array(tensor, "x")
        compared += 1
        assert found.view(np.uint8).tolist() == list(range(48)), name
        found.view(np.uint8)[5] = 200
        assert tensor.view(torch.uint8)[5] == 200, name
        if name in ("bfloat16", "float8_e4m3fn", "float8_e5m2fnuz", "float8_e8m0fnu"):
            assert found.dtype == getattr(ml_dtypes, name)
    assert compared > 15
