"""Why calls that the library exports are not served: rows of a reason and the names that it covers."""

from __future__ import annotations

import re
from collections.abc import Container

from mfmasim.hiprt.tables.names import NAMES

REASONS = {
    "the devices have no textures, surfaces and arrays": (
        r".*(Array|Texture|TexObject|TexRef|Surface|ChannelDesc|AtoA|AtoD|AtoH|DtoA|HtoA).*"
    ),
    "memory, semaphores and resources of other interfaces (Vulkan, OpenGL) do not exist": r".*External.*|hipGraphics.*",
    "processes share memory by hipIpcGetMemHandle": (
        r".*ShareableHandle|hipMemPool(Ex|Im)portPointer|.*HandleForAddress.*"
    ),
    "addresses are fixed when memory is allocated": (
        r"hipMem(AddressFree|AddressReserve|Create|Map|Unmap|Release|SetAccess|GetAccess|GetAllocation\w*"
        r"|RetainAllocationHandle)"
    ),
    "nodes of a graph are added, captured and launched, but not read, changed or exchanged one by one": (
        r"hip(Drv)?Graph.*|hipUserObject.*|hipStream(BeginCaptureToGraph|UpdateCaptureDependencies)|.*CaptureInfo_v2.*"
        r"|hipDevice(Get|Set)GraphMemAttribute|hipDeviceGraphMemTrim"
    ),
    "the compute units of a device are not divided": r".*(ExecutionCtx|DevResource|DevSmResource|GreenCtx|CUMask).*",
    "a launch runs on one device": r".*MultiDevice",
    "nothing is linked at run time: the compiler links": r"hip(rtc)?Link.*|hiprtcGetBitcode.*",
    "the launch of one argument after another is older than <<< >>> and kernelParams": (
        r"hipConfigureCall|hipSetupArgument|hipLaunchByPtr"
    ),
    "a device has one context, and the calls for contexts are deprecated": r"hipCtx.*|hipSetValidDevices",
    "hints and copies in batches": r".*(Batch|Discard|_v2)\w*|hipMemcpy3DPeer\w*",
    "a call ends before the next begins, so that a stream cannot wait for a value": r"hipStreamWaitValue\d+",
    "streams, kernels and pointers have no attributes that could be set": (
        r"hipStream(Copy|Get|Set)Attributes?|hipKernelSetAttribute|hipPointerSetAttribute"
    ),
    "memory pools belong to devices": r"hipMem(Get|Set)(Default)?MemPool",
    "ranges of memory do not move between host and devices": r"hipMemRangeGetAttributes?",
    "the runtime writes no log": r"hipExt(En|Dis)ableLogging|hipExtSetLoggingParams",
    "devices have no links between them": r"hipExtGetLinkTypeAndHopCount",
    "managed variables belong to the program itself": r"hipLibraryGetManaged",
    "of a device one workgroup a compute unit is modelled": r"hipOccupancy.*",
    "the older driver interface for three dimensions; hipMemcpy3D is served": r"hipDrvMemcpy3D\w*",
    "several attributes at once; hipPointerGetAttribute is served": r"hipDrvPointerGetAttributes",
    "devices differ in their architecture alone": r"hipChooseDevice\w*",
}
"""Patterns of names by reason; the first that fits counts."""


def reason(name: str) -> str:
    """Why a call is not served; empty if no row covers it."""
    return next((why for why, pattern in REASONS.items() if re.fullmatch(pattern, name)), "")


def unserved(served: Container[str]) -> dict[str, list[str]]:
    """The calls without an implementation by reason.

    Args:
        served: a container of the names of those with one.
    """
    found: dict[str, list[str]] = {}
    for name in sorted(NAMES):
        if name not in served:
            found.setdefault(reason(name), []).append(name)
    return found
