"""A GPU as a device, through hip-python: the same code object, the same arguments, the same report."""

from __future__ import annotations

import ctypes
import time
from collections import Counter
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from mfmasim.devices.hip_buffers import HipBuffers
from mfmasim.devices.hip_library import SIMULATED, Hip, HipError, no_gpu, text_of
from mfmasim.devices.hip_modules import HipModules
from mfmasim.devices.report import Fidelity, Report
from mfmasim.errors import DeviceError, MfmasimError, TargetError, TimeOutError
from mfmasim.machine.launch.argument_passing import segment
from mfmasim.machine.launch.limits import check_call
from mfmasim.machine.state.memory import POISON_BYTE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from mfmasim.kernels import Kernel
    from mfmasim.machine.launch.argument_passing import Arguments
    from mfmasim.machine.launch.limits import Sizes
    from mfmasim.observe import Finding

# HIP_LAUNCH_PARAM_BUFFER_POINTER, HIP_LAUNCH_PARAM_BUFFER_SIZE, HIP_LAUNCH_PARAM_END of hip_runtime_api.h
POINTER, SIZE, END = 1, 2, 3
NOT_READY = 600
"""hipErrorNotReady."""
SHORTEST, LONGEST = 20e-6, 5e-3
"""Seconds between two questions whether a launch has ended."""
FOREVER = 1e9
SIMULATOR_ONLY = ("observers", "debug", "budget", "quota", "max_waves", "executor", "parts", "cluster")


class HipDevice:
    """Runs kernels on a GPU. The inside of a launch is not observable: the checks are guard zones around buffers."""

    def __init__(self, number: int = 0) -> None:
        """Open a GPU by its number.

        Raises:
            MfmasimError: hip-python, the runtime or the GPU is missing; the message says which and how to fix it.
        """
        self.name = f"hip:{number}" if number else "hip"
        self.number = number
        self.timeout = FOREVER
        """Seconds that a kernel may take."""
        self.hip = Hip(self.name)
        self._modules = HipModules(self.hip)
        code, name, results = self.hip.ask("hipGetDeviceCount")
        count = int(results[0]) if not code else 0
        if not count:
            what, mend = no_gpu(code, name)
            raise DeviceError(f"device {self.name}: {what}; {mend}")
        if number >= count:
            raise DeviceError(f"device {self.name}: found {count} device{'s' * (count != 1)}, counted from hip:0")
        properties = self.hip.properties(number)
        self.product = text_of(properties.name)
        """The device's name, such as ``AMD Instinct MI300X``."""
        self.clock_khz = int(properties.clockRate)
        """Peak clock of the shader engines, in kHz."""
        self.target = text_of(properties.gcnArchName)
        """The target ID, such as ``gfx942:sramecc+:xnack-``."""

    def __repr__(self) -> str:
        """Name, product and target."""
        return f"<device {self.name}: {self.product}, {self.target}>"

    @property
    def arch(self) -> str:
        """Name of its architecture, which mfmasim may not support."""
        return self.target.partition(":")[0]

    @property
    def simulated(self) -> bool:
        """Whether it is a simulated device of `mfmasim.hiprt`."""
        return self.product.startswith(SIMULATED)

    def versions(self) -> dict[str, int]:
        """Versions of the driver and of the runtime, as HIP encodes them."""
        calls = {"driver": "hipDriverGetVersion", "runtime": "hipRuntimeGetVersion"}
        return {name: int(self.hip.call(call)) for name, call in calls.items()}

    def details(self, attributes: Mapping[str, int]) -> dict[str, Any]:
        """Attributes that distinguish the device from others of its product.

        Args:
            attributes: numbers of hipDeviceAttribute_t by the name of the result.

        Returns:
            The attributes that the runtime knows; ``pci``, the address on the bus; ``uuid``.
        """
        hip = self.hip
        found: dict[str, Any] = {}
        for name, number in attributes.items():
            try:
                code, _, value = hip.ask("hipDeviceGetAttribute", hip.module.hipDeviceAttribute_t(number), self.number)
            except ValueError:  # this version of hip-python does not know the number
                continue
            if not code:
                found[name] = int(value[0])
        made = hip.properties(self.number)
        found["pci"] = f"{made.pciDomainID:04x}:{made.pciBusID:02x}:{made.pciDeviceID:02x}.0"
        found["target"] = self.target
        found["uuid"] = bytes(made.uuid.bytes).hex() if made.uuid.bytes else ""
        return found

    def launch(
        self,
        kernel: Kernel,
        grid: object,
        block: object,
        args: Arguments,
        shared_bytes: int = 0,
        checks: str | Sequence[str] | None = "all",
        *,
        undefined: Sequence[int | str | NDArray[Any]] = (),
        buffers: Mapping[int, Any] | None = None,
        poison: int = POISON_BYTE,
        **options: Any,
    ) -> Report:
        """Run a kernel to its end.

        Args:
            kernel: such as ``code["gemm"]``, compiled for this GPU's architecture.
            grid: workgroups in x, y, z.
            block: work-items of a workgroup in x, y, z.
            args: as `mfmasim.devices.SimDevice.launch` takes them.
            shared_bytes: dynamic LDS in bytes.
            checks: ``"all"`` examines the guard zones, ``"none"`` does not. The simulator's checks are rejected.
            undefined: accepted as by the simulator, without effect: reads on a GPU are not observable.
            buffers: as `mfmasim.devices.SimDevice.launch` takes them.
            poison: byte that guard zones hold.
            options: arguments for the simulator only (observers, budget, ...); rejected unless empty.

        Returns:
            The report, with the time between two events around the launch. Instructions are not counted.

        Raises:
            MfmasimError: bad arguments; a kernel for another architecture; any error of HIP. Nothing stays allocated
                then; else the module is kept (`HipModules`).
        """
        del undefined
        refuse(self.name, checks, options)
        sizes = check_call(kernel, grid, block, args, shared_bytes)
        generic = kernel.arch.generic
        if self.arch not in (generic.processors if generic else (kernel.arch.name,)):
            raise TargetError(
                f"{self.name} is {self.arch} ({self.product}), {kernel.name} was compiled for {kernel.arch.target}: "
                f"compile it for {self.arch}, or choose another device"
            )
        self.hip.call("hipSetDevice", self.number)
        try:
            milliseconds, findings = self._ran(kernel, args, buffers, sizes, poison)
        except HipError:
            with suppress(MfmasimError):
                self._modules.close()
            raise
        whose = "the simulated HIP runtime" if self.simulated else f"{self.product}"
        return Report(
            kernel=kernel.name,
            arch=kernel.arch.name,
            device=self.name,
            grid=sizes.grid,
            block=sizes.block,
            findings=[] if checks in (None, "none") else findings,
            counts=Counter(),
            fidelity=Fidelity({whose: "assumed" if self.simulated else "hardware"}),
            waves=sizes.waves,
            lds={"bytes": kernel.info.group_segment_fixed_size + int(shared_bytes)},
            notes=[f"run by {whose}"],
            program=kernel,
            milliseconds=milliseconds,
        )

    def _ran(
        self, kernel: Kernel, args: Arguments, buffers: Mapping[int, Any] | None, sizes: Sizes, poison: int
    ) -> tuple[float, list[Finding]]:
        """Launch; returns its milliseconds, and findings of the guard zones. HIP fills in the hidden arguments."""
        device = HipBuffers(self.hip, self._modules, poison)
        try:
            given = np.frombuffer(bytearray(segment(device, kernel, args, buffers)), np.uint8)
            device.send()
            with self._modules.function(kernel) as function:
                milliseconds = self._timed(function, kernel.name, sizes, given)
            findings = device.collect(kernel.name)
        except TimeOutError:  # freeing anything would wait for the kernel
            raise
        except BaseException:
            with suppress(MfmasimError):  # the first error is the one to report
                device.free()
            raise
        device.keep()
        return milliseconds, findings

    def _timed(self, function: object, name: str, sizes: Sizes, segment: np.ndarray[Any, Any]) -> float:
        """Launch between two events and wait; milliseconds."""
        hip, events = self.hip, self._modules.events
        size = ctypes.c_size_t(segment.nbytes)
        extra = (ctypes.c_void_p * 5)(POINTER, segment.ctypes.data, SIZE, ctypes.addressof(size), END)
        where = ctypes.addressof(extra) if segment.nbytes else None
        numbers = (*sizes.grid, *sizes.block, int(sizes.shared_bytes))
        hip.call("hipEventRecord", events[0], None)
        hip.call("hipModuleLaunchKernel", function, *numbers, None, None, where, what=name)
        hip.call("hipEventRecord", events[1], None)
        self._wait(events[1], name)
        hip.call("hipDeviceSynchronize", what=f"{name} ran")
        return float(hip.call("hipEventElapsedTime", *events))

    def _wait(self, event: object, name: str) -> None:
        """Poll for the end of the launch: a wait in C could not be interrupted.

        Raises:
            TimeOutError: the launch does not end in time.
        """
        deadline, pause = time.monotonic() + self.timeout, SHORTEST
        while self.hip.ask("hipEventQuery", event)[0] == NOT_READY:
            if time.monotonic() >= deadline:
                raise TimeOutError(
                    f"{self.name}: {name} did not end within {self.timeout:g} s: it hangs, or needs more"
                )
            time.sleep(pause)
            pause = min(2 * pause, LONGEST)

    @property
    def unit(self) -> dict[str, Any]:
        """The identity of this GPU."""
        return {"product": self.product, **self.details({})}

    def reset(self) -> None:
        """Destroy the process's state on the GPU; a context that a kernel's fault has lost stays lost.

        Raises:
            MfmasimError: the GPU cannot be reset.
        """
        self.close()
        self.hip.call("hipDeviceReset")

    def close(self) -> None:
        """Free the state that is kept between launches; a later launch loads it again.

        Raises:
            MfmasimError: a call failed; all others were made.
        """
        self._modules.close()

    def healthy(self) -> bool:
        """Whether the process can still use the GPU: after a fault every call fails."""
        code, _, found = self.hip.ask("hipMalloc", 4096)
        return not code and not self.hip.ask("hipFree", found[0])[0]


def refuse(device: str, checks: str | Sequence[str] | None, options: Mapping[str, Any]) -> None:
    """Refuse arguments for the simulator only.

    Args:
        device: name of the device.
        checks: of a launch.
        options: further arguments of a launch.

    Raises:
        MfmasimError: names the first of them.
    """
    if checks not in ("all", "none", None):
        raise MfmasimError(
            f"checks {checks!r}: {device} supports 'all' (guard zones around buffers) and 'none'; "
            "all others observe a launch from inside, as only the device sim can"
        )
    for name, value in options.items():
        if name == "lds":
            continue  # names for findings of checks
        if name not in SIMULATOR_ONLY:
            raise MfmasimError(f"launch has no option {name!r}")
        if name == "cluster" and value is not None:
            raise MfmasimError(f"cluster {value!r}: {device} launches kernels with the clusters they were compiled for")
        if value is not None and value != ():
            raise MfmasimError(f"{name}: {device} cannot observe a launch from inside; the device sim can")
