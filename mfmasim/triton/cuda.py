"""What `torch.cuda` answers while tensors of the CPU stand in for a GPU's: one device, whose work is done at once."""

from __future__ import annotations

import contextlib
import re
import time
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from mfmasim.architectures import Arch

UNITS = 4
"""Compute units: few, so that persistent kernels, which scale their grid with them, stay fast."""
MEMORY_BYTES = 64 << 30
HIP_VERSION = "7.2.53211"
"""What `torch.version.hip` says: ROCm 7.2."""
MOST_THREADS = 2048
"""Work-items of a compute unit in flight."""


class Stream:
    """A stream; its work is done when the call that adds it returns."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Take what PyTorch's constructor takes."""
        del args, kwargs
        self.cuda_stream, self.device_index, self.priority = 0, 0, 0

    def synchronize(self) -> None:
        """Nothing is pending."""

    def query(self) -> bool:
        """Everything is done."""
        return True

    def wait_event(self, event: Event) -> None:
        """Nothing is pending."""

    def wait_stream(self, stream: Stream) -> None:
        """Nothing is pending."""

    def record_event(self, event: Event | None = None) -> Event:
        """An event that has happened."""
        event = event or Event()
        event.record(self)
        return event

    def __enter__(self) -> Stream:  # noqa: PYI034
        """As `torch.cuda.stream`."""
        return self

    def __exit__(self, *args: object) -> None:
        """Nothing is pending."""


class Event:
    """An event; the time between two is that of this machine's CPU, never that of a GPU."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Take what PyTorch's constructor takes."""
        del args, kwargs
        self.seconds, self.cuda_event = 0.0, 0

    def record(self, stream: Stream | None = None) -> None:
        """Note the process's CPU time."""
        del stream
        self.seconds = time.process_time()

    def elapsed_time(self, end: Event) -> float:
        """Milliseconds of CPU time until another event."""
        return max((end.seconds - self.seconds) * 1e3, 1e-3)

    def synchronize(self) -> None:
        """It has happened."""

    def wait(self, stream: Stream | None = None) -> None:
        """It has happened."""

    def query(self) -> bool:
        """It has happened."""
        return True


SILENT = """set_device synchronize empty_cache init _lazy_init set_stream reset_peak_memory_stats ipc_collect
reset_max_memory_allocated set_per_process_memory_fraction"""
ZEROS = """current_device memory_allocated max_memory_allocated memory_reserved max_memory_reserved _exchange_device
_maybe_exchange_device"""


def capability(arch: Arch) -> tuple[int, int]:
    """gfx942 is 9.4, gfx1151 is 11.5."""
    found = re.fullmatch(r"gfx(\d+)([0-9a-f])[0-9a-f]", arch.name)
    return (int(found[1]), int(found[2], 16)) if found else (0, 0)


def properties(arch: Arch) -> dict[str, Any]:
    """What Triton asks of a device."""
    return {
        "max_shared_mem": arch.lds_bytes,
        "max_num_regs": 65536,
        "multiprocessor_count": UNITS,
        "sm_clock_rate": 0,
        "mem_clock_rate": 0,
        "mem_bus_width": 0,
        "arch": arch.name,
        "warpSize": arch.wave_sizes[0],
        "max_threads_per_sm": MOST_THREADS,
        "cooperativeLaunch": 1,
    }


def constant(value: Any) -> Callable[..., Any]:
    """A function with this answer, another object at each call: torch._dynamo keeps rules by function."""

    def answer(*args: Any, **kwargs: Any) -> Any:
        del args, kwargs
        return value

    return answer


@contextlib.contextmanager
def _stream(stream: Any) -> Iterator[None]:
    """`torch.cuda.stream`: there is one stream."""
    del stream
    yield


def answers(arch: Arch) -> dict[str, Any]:
    """Names of `torch.cuda` and what stands there during a session."""
    major, minor = capability(arch)
    device = SimpleNamespace(
        name=f"mfmasim {arch.name}",
        gcnArchName=arch.name,
        major=major,
        minor=minor,
        total_memory=MEMORY_BYTES,
        multi_processor_count=UNITS,
        warp_size=arch.wave_sizes[0],
        max_threads_per_multi_processor=MOST_THREADS,
        max_threads_per_block=arch.max_workgroup,
        regs_per_multiprocessor=65536,
        is_integrated=0,
        shared_memory_per_block=arch.lds_bytes,
        shared_memory_per_block_optin=arch.lds_bytes,
        shared_memory_per_multiprocessor=arch.lds_bytes,
        L2_cache_size=4 << 20,
        clock_rate=0,
        memory_clock_rate=0,
    )
    stream = Stream()

    return {
        **{name: constant(None) for name in SILENT.split()},
        **{name: constant(0) for name in ZEROS.split()},
        "is_available": constant(True),
        "is_current_stream_capturing": constant(False),
        "is_initialized": constant(True),
        "device_count": constant(1),
        "get_device_capability": constant((major, minor)),
        "get_device_name": constant(f"mfmasim {arch.name}"),
        "get_device_properties": constant(device),
        "get_arch_list": lambda: [arch.name],
        "mem_get_info": constant((MEMORY_BYTES, MEMORY_BYTES)),
        "is_bf16_supported": constant(True),
        "current_stream": constant(stream),
        "default_stream": constant(stream),
        "stream": _stream,
        "Stream": Stream,
        "ExternalStream": Stream,
        "Event": Event,
    }
