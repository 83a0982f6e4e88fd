"""hipDeviceProp_tR0600: fields of the structure that hipGetDeviceProperties fills, and the attributes that return them.

Source: hip_runtime_api.h of ROCm 6 and 7, whose layout is the same (hip-python's 7.2 and 10.0 agree on it). `arch` is a
word of bit flags in C.
"""

from __future__ import annotations

import ctypes
from typing import Any

_TYPES: dict[str, Any] = {
    "char": ctypes.c_char,
    "int": ctypes.c_int,
    "uint": ctypes.c_uint,
    "size": ctypes.c_size_t,
    "pointer": ctypes.c_void_p,
}

# type:name*count
_LAYOUT = """
    char:name*256 char:uuid*16 char:luid*8 uint:luidDeviceNodeMask size:totalGlobalMem size:sharedMemPerBlock
    int:regsPerBlock int:warpSize size:memPitch int:maxThreadsPerBlock int:maxThreadsDim*3 int:maxGridSize*3
    int:clockRate size:totalConstMem int:major int:minor size:textureAlignment size:texturePitchAlignment
    int:deviceOverlap int:multiProcessorCount int:kernelExecTimeoutEnabled int:integrated int:canMapHostMemory
    int:computeMode int:maxTexture1D int:maxTexture1DMipmap int:maxTexture1DLinear int:maxTexture2D*2
    int:maxTexture2DMipmap*2 int:maxTexture2DLinear*3 int:maxTexture2DGather*2 int:maxTexture3D*3
    int:maxTexture3DAlt*3 int:maxTextureCubemap int:maxTexture1DLayered*2 int:maxTexture2DLayered*3
    int:maxTextureCubemapLayered*2 int:maxSurface1D int:maxSurface2D*2 int:maxSurface3D*3 int:maxSurface1DLayered*2
    int:maxSurface2DLayered*3 int:maxSurfaceCubemap int:maxSurfaceCubemapLayered*2 size:surfaceAlignment
    int:concurrentKernels int:ECCEnabled int:pciBusID int:pciDeviceID int:pciDomainID int:tccDriver
    int:asyncEngineCount int:unifiedAddressing int:memoryClockRate int:memoryBusWidth int:l2CacheSize
    int:persistingL2CacheMaxSize int:maxThreadsPerMultiProcessor int:streamPrioritiesSupported
    int:globalL1CacheSupported int:localL1CacheSupported size:sharedMemPerMultiprocessor int:regsPerMultiprocessor
    int:managedMemory int:isMultiGpuBoard int:multiGpuBoardGroupID int:hostNativeAtomicSupported
    int:singleToDoublePrecisionPerfRatio int:pageableMemoryAccess int:concurrentManagedAccess
    int:computePreemptionSupported int:canUseHostPointerForRegisteredMem int:cooperativeLaunch
    int:cooperativeMultiDeviceLaunch size:sharedMemPerBlockOptin int:pageableMemoryAccessUsesHostPageTables
    int:directManagedMemAccessFromHost int:maxBlocksPerMultiProcessor int:accessPolicyMaxWindowSize
    size:reservedSharedMemPerBlock int:hostRegisterSupported int:sparseHipArraySupported
    int:hostRegisterReadOnlySupported int:timelineSemaphoreInteropSupported int:memoryPoolsSupported
    int:gpuDirectRDMASupported uint:gpuDirectRDMAFlushWritesOptions int:gpuDirectRDMAWritesOrdering
    uint:memoryPoolSupportedHandleTypes int:deferredMappingHipArraySupported int:ipcEventSupported int:clusterLaunch
    int:unifiedFunctionPointers int:reserved*63 int:hipReserved*32 char:gcnArchName*256
    size:maxSharedMemoryPerMultiProcessor int:clockInstructionRate uint:arch pointer:hdpMemFlushCntl
    pointer:hdpRegFlushCntl int:cooperativeMultiDeviceUnmatchedFunc int:cooperativeMultiDeviceUnmatchedGridDim
    int:cooperativeMultiDeviceUnmatchedBlockDim int:cooperativeMultiDeviceUnmatchedSharedMem int:isLargeBar
    int:asicRevision
"""


def _field(text: str) -> tuple[str, Any]:
    kind, _, rest = text.partition(":")
    name, _, count = rest.partition("*")
    return name, _TYPES[kind] * int(count) if count else _TYPES[kind]


class Properties(ctypes.Structure):
    """The structure."""

    _fields_ = tuple(_field(text) for text in _LAYOUT.split())


# hipDeviceAttribute_t: number, field of the structure, and place in it where it is an array.
_ATTRIBUTES = """
2:asyncEngineCount 3:canMapHostMemory 5:clockRate 6:computeMode 7:computePreemptionSupported 8:concurrentKernels
9:concurrentManagedAccess 10:cooperativeLaunch 16:integrated 17:isMultiGpuBoard 18:kernelExecTimeoutEnabled
19:l2CacheSize 23:major 24:managedMemory 25:maxBlocksPerMultiProcessor 26:maxThreadsDim*0 27:maxThreadsDim*1
28:maxThreadsDim*2 29:maxGridSize*0 30:maxGridSize*1 31:maxGridSize*2 56:maxThreadsPerBlock
57:maxThreadsPerMultiProcessor 58:memPitch 59:memoryBusWidth 60:memoryClockRate 61:minor 63:multiProcessorCount
65:pageableMemoryAccess 67:pciBusID 68:pciDeviceID 69:pciDomainID 71:regsPerBlock 72:regsPerMultiprocessor
74:sharedMemPerBlock 75:sharedMemPerBlockOptin 76:sharedMemPerMultiprocessor 78:streamPrioritiesSupported
81:textureAlignment 83:totalConstMem 85:unifiedAddressing 87:warpSize 88:memoryPoolsSupported 90:hostRegisterSupported
10002:maxSharedMemoryPerMultiProcessor 10011:isLargeBar 10012:asicRevision 10015:multiProcessorCount
0:ECCEnabled 1:accessPolicyMaxWindowSize 4:canUseHostPointerForRegisteredMem 11:cooperativeMultiDeviceLaunch
12:deviceOverlap 13:directManagedMemAccessFromHost 14:globalL1CacheSupported 15:hostNativeAtomicSupported
20:localL1CacheSupported 22:luidDeviceNodeMask 32:maxSurface1D 33:maxSurface1DLayered*0 34:maxSurface2D*0
35:maxSurface2DLayered*0 36:maxSurface3D*0 37:maxSurfaceCubemap 38:maxSurfaceCubemapLayered*0 39:maxTexture1D
40:maxTexture1DLayered*0 41:maxTexture1DLinear 42:maxTexture1DMipmap 43:maxTexture2D*0 44:maxTexture2D*1
45:maxTexture2DGather*0 46:maxTexture2DLayered*0 47:maxTexture2DLinear*0 48:maxTexture2DMipmap*0 49:maxTexture3D*0
50:maxTexture3D*1 51:maxTexture3D*2 52:maxTexture3DAlt*0 53:maxTextureCubemap 54:maxTextureCubemapLayered*0
55:maxThreadsDim*0 62:multiGpuBoardGroupID 66:pageableMemoryAccessUsesHostPageTables 70:persistingL2CacheMaxSize
73:reservedSharedMemPerBlock 77:singleToDoublePrecisionPerfRatio 79:surfaceAlignment 80:tccDriver
82:texturePitchAlignment 84:totalGlobalMem 91:memoryPoolSupportedHandleTypes 10000:clockInstructionRate
10007:cooperativeMultiDeviceUnmatchedFunc 10008:cooperativeMultiDeviceUnmatchedGridDim
10009:cooperativeMultiDeviceUnmatchedBlockDim 10010:cooperativeMultiDeviceUnmatchedSharedMem
"""
FIXED = {
    89: 0,  # virtual memory management
    92: -1,  # NUMA node of the host: none
    93: 0,  # DMA buffers
    94: 0,  # GPUDirect RDMA with virtual memory
    95: 0,  # fabric handles
    10_013: 0,  # hipStreamWaitValue
    10_014: 0,  # images
    10_016: 1,  # fine-grained memory
    10_017: 100_000,  # clock of wall_clock64(), kHz
    10_018: 1,  # dies (XCCs)
    10_020: 0,  # PCI chip
    10_021: 0,  # expert scheduling
    10_022: 0,  # regions of data prefetch
}
"""Attributes that no field of the structure has, and their values on every simulated device."""
VGPRS = 10_019
"""Registers that a work-item may have: the architecture's."""


def _attribute(text: str) -> tuple[int, tuple[str, int | None]]:
    number, _, rest = text.partition(":")
    name, _, place = rest.partition("*")
    return int(number), (name, int(place) if place else None)


ATTRIBUTES = dict(_attribute(text) for text in _ATTRIBUTES.split())
