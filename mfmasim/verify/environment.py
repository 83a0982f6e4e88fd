"""The machine on which a capture or a kit file was recorded, which may later explain a difference."""

from __future__ import annotations

import hashlib
import os
import platform
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mfmasim.devices import Device

PACKAGES = ("mfmasim", "numpy", "hip-python")
VARIABLES = (
    "HSA_OVERRIDE_GFX_VERSION", "HSA_XNACK", "HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "GPU_MAX_HW_QUEUES",
    "AMD_SERIALIZE_KERNEL", "HSA_CU_MASK",
)  # fmt: skip
"""Variables that change what a device computes, or which one does."""
_MODULE = Path("/sys/module/amdgpu/version")
_PARTITIONS = ("current_compute_partition", "current_memory_partition")
ATTRIBUTES = {"compute_units": 63, "dies": 10_018, "asic_revision": 10_012, "wall_clock_khz": 10_017}
"""Numbers of hipDeviceAttribute_t: MultiprocessorCount, NumberOfXccs, AsicRevision, WallClockRate."""


def _text(path: Path) -> str:
    """The first line of a small file of the system; empty where there is none."""
    try:
        return path.read_text(errors="replace")[:200].strip().split("\n")[0]
    except OSError:
        return ""


def versions() -> dict[str, str | None]:
    """Versions of the packages."""
    found: dict[str, str | None] = {}
    for name in PACKAGES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            found[name] = None
    return found


def driver() -> dict[str, str]:
    """The kernel driver and ROCm.

    The driver is a module of the kernel: it has a version of its own if it was built separately, else the kernel's
    release counts. HIP's driver version is that of the runtime.
    """
    rocm = Path(os.environ.get("ROCM_PATH") or "/opt/rocm")
    return {"amdgpu": _text(_MODULE), "kernel": platform.release(), "rocm": _text(rocm / ".info" / "version")}


def identity(device: Device) -> dict[str, Any]:
    """What distinguishes the device from others of its product; its serial number only as a hash."""
    ask = getattr(device, "details", None)
    if ask is None:
        return {}
    found: dict[str, Any] = ask(ATTRIBUTES)
    uuid = found.pop("uuid", "")
    if uuid:
        found["uuid_hash"] = hashlib.sha256(f"mfmasim {uuid}".encode()).hexdigest()[:12]
    bus = found.get("pci", "")
    for name in _PARTITIONS if bus else ():
        text = _text(Path("/sys/bus/pci/devices") / str(bus).lower() / name)
        if text:
            found[name.removeprefix("current_")] = text
    return found


def environment(device: Device) -> dict[str, Any]:
    """Properties of the machine on which a measurement may depend."""
    ask = getattr(device, "versions", None)
    return {
        "captured": datetime.now(UTC).isoformat(timespec="seconds"),
        "identity": identity(device),
        "driver": driver(),
        "hip": {} if ask is None else ask(),
        "packages": versions(),
        "python": platform.python_version(),
        "variables": {name: os.environ[name] for name in VARIABLES if name in os.environ},
    }
