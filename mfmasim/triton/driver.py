"""A driver for Triton: its compiler's code objects run on the simulator."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from triton.backends.compiler import GPUTarget
from triton.backends.driver import GPUDriver, decompose_descriptor, expand_signature, wrap_handle_tensordesc_impl
from triton.runtime import _allocation

from mfmasim import program
from mfmasim.architectures import Arch
from mfmasim.kernels import Kernel
from mfmasim.triton.arguments import Passed, flattened, pointer
from mfmasim.triton.calls import Call
from mfmasim.triton.cuda import properties
from mfmasim.triton.storages import storage_of
from mfmasim.triton.tiles import KIND, host_tile

SCRATCH = ("global scratch memory", "profile scratch memory")
"""What follows a kernel's own arguments."""


class Utilities:
    """What Triton calls to load code objects."""

    def __init__(self, arch: Arch) -> None:
        """For one architecture."""
        self.arch = arch

    def load_binary(self, name: str, data: bytes, shared: int, device: int) -> tuple[Any, Kernel, int, int, int]:
        """Load a code object: module, function, registers, spilled registers, most work-items of a workgroup.

        Args:
            name: of the kernel.
            data: the code object.
            shared: its LDS in bytes.
            device: number of the device.
        """
        del shared, device
        code = program.load(data)
        kernel = code[name]
        metadata = kernel.info.metadata
        most = metadata.max_flat_workgroup_size or self.arch.max_workgroup
        return code, kernel, metadata.vgpr_count or 0, metadata.vgpr_spill_count or 0, most

    def unload_module(self, module: object) -> None:
        """Nothing to free."""

    def get_device_properties(self, device: int) -> dict[str, Any]:
        """What Triton asks of a device."""
        del device
        return properties(self.arch)


class Launcher:
    """Launches one compiled kernel, as Triton's own launcher does."""

    def __init__(self, source: Any, metadata: Any) -> None:
        """Keep what every launch needs.

        Args:
            source: the kernel as it was compiled.
            metadata: of the compilation.
        """
        signature = dict(source.signature)
        descriptors = getattr(metadata, "tensordesc_meta", None)
        self.signature = tuple(expand_signature(signature.values(), descriptors, "tensordesc"))
        self.metadata = metadata
        self.ctas = int(getattr(metadata, "num_ctas", 1))
        # A descriptor stands for several arguments.
        self.names = [
            name for name, kind in signature.items() for _ in expand_signature([kind], descriptors, "tensordesc")
        ]
        self.run = wrap_handle_tensordesc_impl(self._run, signature, descriptors, self._descriptor)

    def _descriptor(self, arg: Any, about: Any, base_args: Any) -> Any:
        """A tensor descriptor as kernel arguments."""
        del base_args
        if about is None:
            return decompose_descriptor(arg)
        return [host_tile(arg, about, self.metadata.num_warps), *arg.shape, *arg.strides]

    def __call__(
        self,
        x: int,
        y: int,
        z: int,
        stream: int,
        function: Kernel,
        packed: Any,
        launch_metadata: Any,
        enter: Any,
        leave: Any,
        *args: Any,
    ) -> None:
        """Launch.

        Args:
            x: workgroups in x.
            y: workgroups in y.
            z: workgroups in z.
            stream: the stream; all are alike.
            function: the kernel.
            packed: number of waves, of clusters, bytes of LDS.
            launch_metadata: what the hooks get.
            enter: called before.
            leave: called after.
            args: the kernel's arguments.
        """
        del packed
        grid = (int(x) * self.ctas, int(y), int(z))
        if enter is not None:
            enter(launch_metadata)
        if min(grid) > 0:
            with torch._C.DisableTorchFunction():  # noqa: SLF001  (data_ptr of a tensor, not of a stand-in)
                self.run(grid, function, self._scratch(grid, stream), args)
        if leave is not None:
            leave(launch_metadata)

    def _scratch(self, grid: tuple[int, int, int], stream: int) -> tuple[Any, Any]:
        """Global and profile scratch memory of the launch, None where the kernel has none."""
        count, meta = grid[0] * grid[1] * grid[2], self.metadata
        spaces: list[Any] = [None, None]
        if getattr(meta, "global_scratch_size", 0):
            allocate = _allocation._allocator.get()  # noqa: SLF001
            spaces[0] = allocate(count * meta.global_scratch_size, meta.global_scratch_align, stream)
        if getattr(meta, "profile_scratch_size", 0):
            size = count * meta.profile_scratch_size
            if _allocation.has_profile_allocator():
                spaces[1] = _allocation._profile_allocator(size, meta.profile_scratch_align, stream)  # noqa: SLF001
            else:
                spaces[1] = torch.zeros(size, dtype=torch.int8)
        return spaces[0], spaces[1]

    def _run(self, grid: tuple[int, int, int], kernel: Kernel, scratch: tuple[Any, Any], args: Any) -> None:
        flat = list(flattened(self.names, self.signature, args))
        flat += [Passed(name, "*i8", space) for name, space in zip(SCRATCH, scratch, strict=True)]
        storages = [
            storage_of(each.value, each.name) for each in flat if each.kind.startswith("*") or each.kind == KIND
        ]
        meta = self.metadata
        call = Call(
            kernel,
            grid,
            (meta.num_warps * meta.warp_size, 1, 1),
            meta.shared,
            tuple((each.kind, pointer(each.value) if each.kind.startswith("*") else each.value) for each in flat),
            tuple(storage for storage in storages if storage is not None),
            cooperative=bool(getattr(meta, "launch_cooperative_grid", False)),
            cluster=(self.ctas, 1, 1) if self.ctas > 1 else None,
        )
        from mfmasim.triton.session import current

        current().launch(call)


class Driver(GPUDriver):  # type: ignore[misc]
    """The driver of a session."""

    def __init__(self, arch: Arch, number: int, bench: Callable[..., Any]) -> None:
        """A driver of one device.

        Args:
            arch: its architecture.
            number: under which Triton caches kernels: a different one for each architecture.
            bench: answers `do_bench`.
        """
        # The base class asks for parts of PyTorch that a CPU build lacks.
        self.arch = arch
        self.utils = Utilities(arch)
        self.launcher_cls = Launcher
        self._bench = bench
        self.get_device_capability = torch.cuda.get_device_capability
        self.get_current_stream = lambda device: 0  # noqa: ARG005
        self.get_current_device = lambda: number
        self.set_current_device = lambda device: None  # noqa: ARG005

    @staticmethod
    def is_active() -> bool:
        """A session chooses this driver; Triton never does by itself."""
        return False

    def map_python_to_cpp_type(self, ty: str) -> str:
        """Not needed: no launcher is compiled."""
        return ty

    def get_current_target(self) -> GPUTarget:
        """The architecture, as Triton's compiler names it."""
        return GPUTarget("hip", self.arch.name, self.arch.wave_sizes[0])

    def get_active_torch_device(self) -> torch.device:
        """The device of tensors."""
        return torch.device("cuda", 0)

    def get_device_interface(self) -> Any:
        """Streams and events."""
        return torch.cuda

    def get_benchmarker(self) -> Callable[..., Any]:
        """What measures configurations of autotuned kernels."""
        return self._bench

    def get_empty_cache_for_benchmark(self) -> torch.Tensor:
        """A buffer to flush caches with; there is none to flush."""
        return torch.zeros(1, dtype=torch.int32)

    def clear_cache(self, cache: torch.Tensor) -> None:
        """There is no cache to flush."""
