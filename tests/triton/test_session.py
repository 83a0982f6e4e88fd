"""Sessions: what they replace and put back, what is reported, versions, and kernels compiled without one."""

import subprocess
import sys

import numpy as np
import pytest

from mfmasim.errors import MfmasimError
from tests.triton.needs import mt, needed  # noqa: F401  (a fixture)

if mt is not None:
    import torch

    from tests.triton import cases, kernels


def severe(session):
    return [finding for finding in session.findings if finding.severity == "error"]


@pytest.mark.oracle
def test_a_session_puts_everything_back():
    before = torch.cuda.is_available, torch.version.hip, torch.cuda.Event
    with mt.session(arch="gfx950", checks="none") as outer:
        with mt.session(arch="gfx1201", checks="none") as inner:
            cases.add(np.random.default_rng(1)).run()
        cases.add(np.random.default_rng(1)).run()
    assert [report.arch for report in (*inner.reports, *outer.reports)] == ["gfx1201", "gfx950"]
    assert (torch.cuda.is_available, torch.version.hip, torch.cuda.Event) == before
    with pytest.raises((RuntimeError, AssertionError)):
        torch.zeros(1, device="cuda")


@pytest.mark.oracle
def test_devices_of_tensors():
    with mt.session(arch="gfx950"):
        host = torch.arange(4.0)
        device = host.to("cuda")
        device += 1
        assert host.tolist() == [0, 1, 2, 3]
        back = device.cpu()
        device.zero_()
        assert back.tolist() == [1, 2, 3, 4]
        assert (host.is_cuda, device.is_cuda, back.is_cuda) == (False, True, False)
        assert device.view(2, 2).device == torch.device("cuda", 0) == (device + host.sum()).device
        assert torch.empty_like(device).is_cuda
        assert device.to("cuda").data_ptr() == device.data_ptr()
        assert host.new_zeros(2, device="cuda:0").is_cuda
        assert torch.nn.Linear(2, 2).to("cuda").weight.is_cuda
        assert not device.to(torch.device("cpu")).is_cuda
        parameter = torch.ones(3, device="cuda", requires_grad=True)
        (parameter * 2).sum().backward()
        assert parameter.grad.is_cuda


@pytest.mark.oracle
@pytest.mark.parametrize("arch", ["gfx942", pytest.param("gfx1201", marks=pytest.mark.long)])
def test_wrong_kernels_are_reported(arch):
    with mt.session(arch=arch, checks="bounds,races,alignment") as session:
        x, z = torch.ones(250, device="cuda"), torch.zeros(256, device="cuda")
        kernels.unmasked[(1,)](x, z, B=256)
        assert {finding.id for finding in severe(session)} == {"bounds-outside-buffer"}
        assert severe(session)[0].source.partition(":")[0].endswith("kernels.py")

        session.reports.clear()
        counts = torch.zeros(64, dtype=torch.int32, device="cuda")
        kernels.racing[(4,)](counts, B=64)
        assert any(finding.check == "races" for finding in severe(session))

        session.reports.clear()
        raw = torch.zeros(260, dtype=torch.int8, device="cuda")
        kernels.misaligned[(1,)](raw[1:], torch.ones(32, dtype=torch.int32, device="cuda"), B=32)
        assert any(finding.check == "alignment" for finding in severe(session)), session.findings


@pytest.mark.oracle
@pytest.mark.parametrize("memory", ["copy", "process"])
def test_the_last_dword_of_a_tensor_is_whole(memory):
    """Triton adds 16-bit floats by an atomic operation on the dword around them."""
    with mt.session(arch="gfx950", checks="bounds", memory=memory) as session:
        x, y = (make(1, dtype=torch.float16, device="cuda") for make in (torch.ones, torch.zeros))
        kernels.atomics[(1,)](x, y, 1, B=1)
        assert y.item() == 1
    assert not severe(session)


@pytest.mark.oracle
def test_a_kernel_as_code():
    signature = {"x": "*fp32", "y": "*fp32", "z": "*fp32", "n": "i32"}
    code = mt.compile(kernels.add, signature, {"B": 256}, "gfx950", num_warps=2)
    assert code.arch.name == "gfx950"
    assert code.block == 128
    assert "ttgir" in code.asm
    assert code.made_by.startswith("triton 3.")
    x, y, z = (np.arange(300, dtype=np.float32) for _ in range(3))
    report = code.launch(2, [x, y, z, 300])
    assert report.ok
    assert (z == 2 * x).all()


@pytest.mark.oracle
def test_compile_says_what_is_wrong():
    with pytest.raises(MfmasimError, match=r"have no type: n"):
        mt.compile(kernels.add, {"x": "*fp32", "y": "*fp32", "z": "*fp32"}, {"B": 256}, "gfx950")
    with pytest.raises(MfmasimError, match=r"unknown argument 'w'"):
        mt.compile(kernels.add, {"w": "*fp32"}, {"B": 256}, "gfx950")
    with pytest.raises(MfmasimError, match=r"@triton.jit is expected, not int"):
        mt.compile(5, {}, {}, "gfx950")
    with pytest.raises(MfmasimError, match=r"does not compile"):
        mt.compile(kernels.add, {"x": "*fp32", "y": "*fp32", "z": "fp32", "n": "i32"}, {"B": 256}, "gfx950")


def test_without_a_session_there_is_no_launch():
    from mfmasim.triton.session import current

    with pytest.raises(MfmasimError, match="no session is active"):
        current()


def test_an_unknown_version_is_reported_and_tried(monkeypatch, capsys):
    from types import SimpleNamespace

    from mfmasim.triton import versions

    monkeypatch.setitem(sys.modules, "triton", SimpleNamespace(__version__="9.1.0", __spec__=SimpleNamespace()))
    assert versions.need().__version__ == "9.1.0"
    assert "triton 9.1.0 is not one of the tested versions" in capsys.readouterr().err
    versions.need()
    assert capsys.readouterr().err == ""


def test_import_is_light():
    code = "import sys, mfmasim.triton; sys.exit(bool({'torch', 'triton'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.oracle
@pytest.mark.long
def test_late_delivery_changes_no_right_kernel():
    assert len(cases.CASES) >= 10
    for arch in ("gfx942", "gfx950", "gfx1201"):
        for make, kind in cases.CASES:
            if make is cases.meeting or not cases.supported(make, kind, arch):
                continue
            outputs = []
            for schedule in ("usual", "late"):
                with mt.session(arch=arch, checks="none", schedule=schedule):
                    case = make(np.random.default_rng(3), kind)
                    case.run()
                    outputs.append([tensor.cpu().view(torch.uint8).numpy().copy() for tensor, _, _ in case.expected])
            assert all((a == b).all() for a, b in zip(*outputs, strict=True)), (make, kind, arch)


@pytest.mark.oracle
@pytest.mark.parametrize(
    ("arch", "checks", "memory"),
    [("gfx1201", "bounds,races", "copy"), pytest.param("gfx950", "none", "process", marks=pytest.mark.long)],
)
def test_device_print(arch, checks, memory, capsys):
    with mt.session(arch=arch, checks=checks, memory=memory) as session:
        x = torch.arange(128, dtype=torch.int32, device="cuda") * 3
        kernels.says[(2,)](x, B=128, num_warps=1)
    assert not severe(session)
    lines = capsys.readouterr().out.splitlines()
    # A line for each element and operand; workgroups in any order.
    expected = [f"pid ({pid}, 0, 0) idx ({i:>3}) it is: (operand 0) {3 * i}" for pid in (0, 1) for i in range(128)]
    expected += [f"pid ({pid}, 0, 0) idx ({i:>3}) it is: (operand 1) {i / 2:f}" for pid in (0, 1) for i in range(128)]
    assert sorted(lines) == sorted(expected)


@pytest.mark.oracle
def test_device_assert(capsys):
    from mfmasim.triton.session import StoppedError

    with mt.session(arch="gfx950"):
        x = torch.arange(64, dtype=torch.int32, device="cuda")
        kernels.asserts[(1,)](x, 64, B=64, num_warps=1, debug=True)
        assert capsys.readouterr().out == ""
        with pytest.raises(StoppedError, match=r"asserts: the kernel trapped .*kernels\.py:\d+"):
            kernels.asserts[(1,)](x, 61, B=64, num_warps=1, debug=True)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 3  # one for each element that fails
    assert all("device assertion failed: 'too large'" in line for line in lines)


@pytest.mark.oracle
@pytest.mark.parametrize("memory", ["copy", pytest.param("process", marks=pytest.mark.long)])
def test_workgroups_of_a_cluster(memory):
    """The grid counts clusters, as for Triton's own launcher."""
    with mt.session(arch="gfx1250", checks="bounds", memory=memory) as session:
        x, y, z = (torch.arange(1000, dtype=torch.float32, device="cuda") for _ in range(3))
        kernels.add[(2,)](x, y, z, 1000, B=512, num_ctas=2)
        assert (z == 2 * x).all()
    assert session.reports[0].grid == (4, 1, 1)
    assert not severe(session)


@pytest.mark.oracle
@pytest.mark.long
@pytest.mark.parametrize("masked", [True, False])
def test_copies_to_the_lds_that_are_masked_off_by_their_address(masked):
    """gfx1250: such lanes read nothing, and do not hide others that stray."""
    rng = np.random.default_rng(3)
    a, b = (rng.integers(-3, 4, shape).astype(np.float16) for shape in ((48, 80), (80, 32)))
    with mt.session(arch="gfx1250", checks="all") as session:
        given = [torch.from_numpy(each).to("cuda") for each in (a, b)]
        c = torch.empty(48, 32, device="cuda")
        kernels.masked_product[(2,)](*given, c, 48, 80, N=32, B=32, MASKED=masked, num_stages=3)
    found = {one.id for one in session.findings if one.check == "bounds"}
    assert "bounds-lds-nowhere" in found
    if masked:
        assert (c.cpu().numpy() == a.astype(np.float64) @ b).all()
        assert not severe(session)
    else:
        assert "bounds-outside-buffer" in found


@pytest.mark.oracle
def test_what_pytorch_answers_of_the_device():
    with mt.session(arch="gfx950"):
        x = torch.ones(3, device="cuda")
        assert (x.get_device(), x.is_cpu, x.cpu().get_device(), x.cpu().is_cpu) == (0, False, -1, True)
        with torch.device("cuda"):
            assert torch.zeros(2).is_cuda
            assert torch.nn.Linear(2, 2).weight.is_cuda
        assert not torch.zeros(2).is_cuda
        with torch.device("meta"):
            assert torch.zeros(2).is_meta
        assert torch.vmap(lambda row: 2 * row)(x).is_cuda
        assert torch.func.grad(lambda row: (row * row).sum())(x).tolist() == [2, 2, 2]
        assert torch.accelerator.current_accelerator().type == "cuda"
        assert not torch.cuda.is_current_stream_capturing()
        with torch.cuda.device_of(x), torch.cuda.device(0):
            assert torch.cuda.current_device() == 0
        with pytest.raises(MfmasimError, match="graphs are not recorded"):
            torch.cuda.CUDAGraph()
    assert not torch.accelerator.is_available()


class Doubled(torch.autograd.Function if mt is not None else object):
    """A function whose derivative makes tensors on the device."""

    @staticmethod
    def forward(ctx, x):
        del ctx
        return 2 * x

    @staticmethod
    def backward(ctx, given):
        del ctx
        made = torch.full((3,), 2.0, device="cuda")
        assert made.is_cuda
        return given * made


@pytest.mark.oracle
@pytest.mark.parametrize("how", ["tensor", "given", "backward", "grad"])
def test_derivatives_that_a_program_writes_run_on_the_device(how):
    with mt.session(arch="gfx950"):
        x = torch.ones(3, device="cuda", requires_grad=True)
        y = Doubled.apply(x)
        if how == "grad":
            (found,) = torch.autograd.grad(y.sum(), x)
        else:
            if how == "tensor":
                y.sum().backward()
            elif how == "given":
                y.backward(torch.ones(3, device="cuda"), retain_graph=True)
            else:
                torch.autograd.backward([y], [torch.ones(3, device="cuda")])
            found = x.grad
        assert found.tolist() == [2, 2, 2]
        assert found.is_cuda


@pytest.mark.oracle
def test_an_operation_of_the_program_with_the_name_of_one_in_place():
    with mt.session(arch="gfx950"):

        @torch.library.custom_op("mfmasim_test::doubled_", mutates_args=())
        def doubled(x: torch.Tensor) -> torch.Tensor:
            return torch.zeros(x.shape, device=x.device) + 2 * x

        x, host = torch.ones(3, device="cuda"), torch.zeros(3)
        assert torch.ops.mfmasim_test.doubled_(x).is_cuda
        assert not host.copy_(x).is_cuda
        assert not torch.add(x, x, out=host).is_cuda
        assert not host.mul_(x).is_cuda


@pytest.mark.oracle
def test_random_numbers_of_the_device_follow_its_seed():
    with mt.session(arch="gfx950"):
        torch.cuda.manual_seed(5)
        first = torch.rand(4, device="cuda")
        state = torch.cuda.get_rng_state()
        second = torch.rand(4, device="cuda")
        torch.cuda.manual_seed_all(5)
        assert torch.equal(torch.rand(4, device="cuda"), first)
        torch.cuda.set_rng_state(state)
        assert torch.equal(torch.rand(4, device="cuda"), second)
        with torch.random.fork_rng():
            torch.rand(1, device="cuda")
        own = torch.Generator(device="cuda").manual_seed(5)
        assert isinstance(own, torch.Generator)
        assert isinstance(torch.default_generator, torch.Generator)
        assert own.device.type == "cuda"
        assert torch.equal(torch.rand(4, device="cuda", generator=own), first)
    assert torch.Generator.__module__ != "mfmasim.triton.pytorch"


@pytest.mark.oracle
def test_a_compiled_function_runs_as_it_is_written():
    def double(x):
        return 2 * x

    with mt.session(arch="gfx950"):
        assert torch.compile(double) is double
        assert torch.compile(mode="max-autotune")(double) is double
        assert torch.compile(double)(torch.ones(2, device="cuda")).is_cuda
    assert torch.compile.__module__ == "torch"


@pytest.mark.oracle
@pytest.mark.long
def test_dynamo_is_imported_in_a_session():
    code = "import mfmasim.triton as mt, torch; mt.install('gfx942'); import torch._dynamo; print(torch.version.hip)"
    done = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout) == (0, "7.2.53211\n"), done.stderr
