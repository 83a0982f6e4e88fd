// Structures of HIP's host interface. Made by tests/hiprt/make_api.py from the interface that hip-python binds.
#pragma once

typedef hipLibraryOption_e hipLibraryOption;
typedef struct hipDeviceArch_t hipDeviceArch_t;
struct hipDeviceArch_t {
  unsigned int hasGlobalInt32Atomics : 1;
  unsigned int hasGlobalFloatAtomicExch : 1;
  unsigned int hasSharedInt32Atomics : 1;
  unsigned int hasSharedFloatAtomicExch : 1;
  unsigned int hasFloatAtomicAdd : 1;
  unsigned int hasGlobalInt64Atomics : 1;
  unsigned int hasSharedInt64Atomics : 1;
  unsigned int hasDoubles : 1;
  unsigned int hasWarpVote : 1;
  unsigned int hasWarpBallot : 1;
  unsigned int hasWarpShuffle : 1;
  unsigned int hasFunnelShift : 1;
  unsigned int hasThreadFenceSystem : 1;
  unsigned int hasSyncThreadsExt : 1;
  unsigned int hasSurfaceFuncs : 1;
  unsigned int has3dGrid : 1;
  unsigned int hasDynamicParallelism : 1;
};
typedef struct hipUUID_t hipUUID_t;
struct hipUUID_t {
  char bytes[16];
};
typedef hipUUID_t hipUUID;
typedef struct hipDeviceProp_t hipDeviceProp_t;
struct hipDeviceProp_t {
  char name[256];
  hipUUID_t uuid;
  char luid[8];
  unsigned int luidDeviceNodeMask;
  size_t totalGlobalMem;
  size_t sharedMemPerBlock;
  int regsPerBlock;
  int warpSize;
  size_t memPitch;
  int maxThreadsPerBlock;
  int maxThreadsDim[3];
  int maxGridSize[3];
  int clockRate;
  size_t totalConstMem;
  int major;
  int minor;
  size_t textureAlignment;
  size_t texturePitchAlignment;
  int deviceOverlap;
  int multiProcessorCount;
  int kernelExecTimeoutEnabled;
  int integrated;
  int canMapHostMemory;
  int computeMode;
  int maxTexture1D;
  int maxTexture1DMipmap;
  int maxTexture1DLinear;
  int maxTexture2D[2];
  int maxTexture2DMipmap[2];
  int maxTexture2DLinear[3];
  int maxTexture2DGather[2];
  int maxTexture3D[3];
  int maxTexture3DAlt[3];
  int maxTextureCubemap;
  int maxTexture1DLayered[2];
  int maxTexture2DLayered[3];
  int maxTextureCubemapLayered[2];
  int maxSurface1D;
  int maxSurface2D[2];
  int maxSurface3D[3];
  int maxSurface1DLayered[2];
  int maxSurface2DLayered[3];
  int maxSurfaceCubemap;
  int maxSurfaceCubemapLayered[2];
  size_t surfaceAlignment;
  int concurrentKernels;
  int ECCEnabled;
  int pciBusID;
  int pciDeviceID;
  int pciDomainID;
  int tccDriver;
  int asyncEngineCount;
  int unifiedAddressing;
  int memoryClockRate;
  int memoryBusWidth;
  int l2CacheSize;
  int persistingL2CacheMaxSize;
  int maxThreadsPerMultiProcessor;
  int streamPrioritiesSupported;
  int globalL1CacheSupported;
  int localL1CacheSupported;
  size_t sharedMemPerMultiprocessor;
  int regsPerMultiprocessor;
  int managedMemory;
  int isMultiGpuBoard;
  int multiGpuBoardGroupID;
  int hostNativeAtomicSupported;
  int singleToDoublePrecisionPerfRatio;
  int pageableMemoryAccess;
  int concurrentManagedAccess;
  int computePreemptionSupported;
  int canUseHostPointerForRegisteredMem;
  int cooperativeLaunch;
  int cooperativeMultiDeviceLaunch;
  size_t sharedMemPerBlockOptin;
  int pageableMemoryAccessUsesHostPageTables;
  int directManagedMemAccessFromHost;
  int maxBlocksPerMultiProcessor;
  int accessPolicyMaxWindowSize;
  size_t reservedSharedMemPerBlock;
  int hostRegisterSupported;
  int sparseHipArraySupported;
  int hostRegisterReadOnlySupported;
  int timelineSemaphoreInteropSupported;
  int memoryPoolsSupported;
  int gpuDirectRDMASupported;
  unsigned int gpuDirectRDMAFlushWritesOptions;
  int gpuDirectRDMAWritesOrdering;
  unsigned int memoryPoolSupportedHandleTypes;
  int deferredMappingHipArraySupported;
  int ipcEventSupported;
  int clusterLaunch;
  int unifiedFunctionPointers;
  int reserved[63];
  int hipReserved[32];
  char gcnArchName[256];
  size_t maxSharedMemoryPerMultiProcessor;
  int clockInstructionRate;
  hipDeviceArch_t arch;
  unsigned int* hdpMemFlushCntl;
  unsigned int* hdpRegFlushCntl;
  int cooperativeMultiDeviceUnmatchedFunc;
  int cooperativeMultiDeviceUnmatchedGridDim;
  int cooperativeMultiDeviceUnmatchedBlockDim;
  int cooperativeMultiDeviceUnmatchedSharedMem;
  int isLargeBar;
  int asicRevision;
};
typedef struct hipPointerAttribute_t hipPointerAttribute_t;
struct hipPointerAttribute_t {
  hipMemoryType type;
  int device;
  void* devicePointer;
  void* hostPointer;
  int isManaged;
  unsigned int allocationFlags;
};
typedef void* hipDeviceptr_t;
typedef struct hipChannelFormatDesc hipChannelFormatDesc;
struct hipChannelFormatDesc {
  int x;
  int y;
  int z;
  int w;
  hipChannelFormatKind f;
};
typedef struct hipArray hipArray;
typedef hipArray* hipArray_t;
typedef const hipArray* hipArray_const_t;
typedef struct HIP_ARRAY_DESCRIPTOR HIP_ARRAY_DESCRIPTOR;
struct HIP_ARRAY_DESCRIPTOR {
  size_t Width;
  size_t Height;
  hipArray_Format Format;
  unsigned int NumChannels;
};
typedef struct HIP_ARRAY3D_DESCRIPTOR HIP_ARRAY3D_DESCRIPTOR;
struct HIP_ARRAY3D_DESCRIPTOR {
  size_t Width;
  size_t Height;
  size_t Depth;
  hipArray_Format Format;
  unsigned int NumChannels;
  unsigned int Flags;
};
typedef struct hip_Memcpy2D hip_Memcpy2D;
struct hip_Memcpy2D {
  size_t srcXInBytes;
  size_t srcY;
  hipMemoryType srcMemoryType;
  const void* srcHost;
  void* srcDevice;
  hipArray_t srcArray;
  size_t srcPitch;
  size_t dstXInBytes;
  size_t dstY;
  hipMemoryType dstMemoryType;
  void* dstHost;
  void* dstDevice;
  hipArray_t dstArray;
  size_t dstPitch;
  size_t WidthInBytes;
  size_t Height;
};
typedef struct hipMipmappedArray hipMipmappedArray;
struct hipMipmappedArray {
  void* data;
  hipChannelFormatDesc desc;
  unsigned int type;
  unsigned int width;
  unsigned int height;
  unsigned int depth;
  unsigned int min_mipmap_level;
  unsigned int max_mipmap_level;
  unsigned int flags;
  hipArray_Format format;
  unsigned int num_channels;
};
typedef hipMipmappedArray* hipMipmappedArray_t;
typedef hipMipmappedArray_t hipmipmappedArray;
typedef const hipMipmappedArray* hipMipmappedArray_const_t;
typedef HIPresourcetype_enum HIPresourcetype;
typedef HIPresourcetype_enum hipResourcetype;
typedef HIPaddress_mode_enum HIPaddress_mode;
typedef HIPfilter_mode_enum HIPfilter_mode;
typedef struct HIP_TEXTURE_DESC_st HIP_TEXTURE_DESC_st;
struct HIP_TEXTURE_DESC_st {
  HIPaddress_mode_enum addressMode[3];
  HIPfilter_mode_enum filterMode;
  unsigned int flags;
  unsigned int maxAnisotropy;
  HIPfilter_mode_enum mipmapFilterMode;
  float mipmapLevelBias;
  float minMipmapLevelClamp;
  float maxMipmapLevelClamp;
  float borderColor[4];
  int reserved[12];
};
typedef HIP_TEXTURE_DESC_st HIP_TEXTURE_DESC;
typedef HIPresourceViewFormat_enum HIPresourceViewFormat;
typedef struct hipResourceDesc hipResourceDesc;
struct hipResourceDesc {
  hipResourceType resType;
  union {
    struct {
      hipArray_t array;
    } array;
    struct {
      hipMipmappedArray_t mipmap;
    } mipmap;
    struct {
      void* devPtr;
      hipChannelFormatDesc desc;
      size_t sizeInBytes;
    } linear;
    struct {
      void* devPtr;
      hipChannelFormatDesc desc;
      size_t width;
      size_t height;
      size_t pitchInBytes;
    } pitch2D;
  } res;
};
typedef struct HIP_RESOURCE_DESC_st HIP_RESOURCE_DESC_st;
struct HIP_RESOURCE_DESC_st {
  HIPresourcetype_enum resType;
  union {
    struct {
      hipArray_t hArray;
    } array;
    struct {
      hipMipmappedArray_t hMipmappedArray;
    } mipmap;
    struct {
      void* devPtr;
      hipArray_Format format;
      unsigned int numChannels;
      size_t sizeInBytes;
    } linear;
    struct {
      void* devPtr;
      hipArray_Format format;
      unsigned int numChannels;
      size_t width;
      size_t height;
      size_t pitchInBytes;
    } pitch2D;
    struct {
      int reserved[32];
    } reserved;
  } res;
  unsigned int flags;
};
typedef HIP_RESOURCE_DESC_st HIP_RESOURCE_DESC;
typedef struct hipResourceViewDesc hipResourceViewDesc;
struct hipResourceViewDesc {
  hipResourceViewFormat format;
  size_t width;
  size_t height;
  size_t depth;
  unsigned int firstMipmapLevel;
  unsigned int lastMipmapLevel;
  unsigned int firstLayer;
  unsigned int lastLayer;
};
typedef struct HIP_RESOURCE_VIEW_DESC_st HIP_RESOURCE_VIEW_DESC_st;
struct HIP_RESOURCE_VIEW_DESC_st {
  HIPresourceViewFormat_enum format;
  size_t width;
  size_t height;
  size_t depth;
  unsigned int firstMipmapLevel;
  unsigned int lastMipmapLevel;
  unsigned int firstLayer;
  unsigned int lastLayer;
  unsigned int reserved[16];
};
typedef HIP_RESOURCE_VIEW_DESC_st HIP_RESOURCE_VIEW_DESC;
typedef struct hipPitchedPtr hipPitchedPtr;
struct hipPitchedPtr {
  void* ptr;
  size_t pitch;
  size_t xsize;
  size_t ysize;
};
typedef struct hipExtent hipExtent;
struct hipExtent {
  size_t width;
  size_t height;
  size_t depth;
};
typedef struct hipPos hipPos;
struct hipPos {
  size_t x;
  size_t y;
  size_t z;
};
typedef struct hipMemcpy3DParms hipMemcpy3DParms;
struct hipMemcpy3DParms {
  hipArray_t srcArray;
  hipPos srcPos;
  hipPitchedPtr srcPtr;
  hipArray_t dstArray;
  hipPos dstPos;
  hipPitchedPtr dstPtr;
  hipExtent extent;
  hipMemcpyKind kind;
};
typedef struct HIP_MEMCPY3D HIP_MEMCPY3D;
struct HIP_MEMCPY3D {
  size_t srcXInBytes;
  size_t srcY;
  size_t srcZ;
  size_t srcLOD;
  hipMemoryType srcMemoryType;
  const void* srcHost;
  void* srcDevice;
  hipArray_t srcArray;
  size_t srcPitch;
  size_t srcHeight;
  size_t dstXInBytes;
  size_t dstY;
  size_t dstZ;
  size_t dstLOD;
  hipMemoryType dstMemoryType;
  void* dstHost;
  void* dstDevice;
  hipArray_t dstArray;
  size_t dstPitch;
  size_t dstHeight;
  size_t WidthInBytes;
  size_t Height;
  size_t Depth;
};
typedef struct hipMemLocation hipMemLocation;
struct hipMemLocation {
  hipMemLocationType type;
  int id;
};
typedef struct hipMemcpyAttributes hipMemcpyAttributes;
struct hipMemcpyAttributes {
  hipMemcpySrcAccessOrder srcAccessOrder;
  hipMemLocation srcLocHint;
  hipMemLocation dstLocHint;
  unsigned int flags;
};
typedef struct hipOffset3D hipOffset3D;
struct hipOffset3D {
  size_t x;
  size_t y;
  size_t z;
};
typedef struct hipMemcpy3DOperand hipMemcpy3DOperand;
struct hipMemcpy3DOperand {
  hipMemcpy3DOperandType type;
  union {
    struct {
      void* ptr;
      size_t rowLength;
      size_t layerHeight;
      hipMemLocation locHint;
    } ptr;
    struct {
      hipArray_t array;
      hipOffset3D offset;
    } array;
  } op;
};
typedef struct hipMemcpy3DBatchOp hipMemcpy3DBatchOp;
struct hipMemcpy3DBatchOp {
  hipMemcpy3DOperand src;
  hipMemcpy3DOperand dst;
  hipExtent extent;
  hipMemcpySrcAccessOrder srcAccessOrder;
  unsigned int flags;
};
typedef struct hipMemcpy3DPeerParms hipMemcpy3DPeerParms;
struct hipMemcpy3DPeerParms {
  hipArray_t srcArray;
  hipPos srcPos;
  hipPitchedPtr srcPtr;
  int srcDevice;
  hipArray_t dstArray;
  hipPos dstPos;
  hipPitchedPtr dstPtr;
  int dstDevice;
  hipExtent extent;
};
typedef struct __hip_texture __hip_texture;
typedef __hip_texture* hipTextureObject_t;
typedef struct textureReference textureReference;
struct textureReference {
  int normalized;
  hipTextureReadMode readMode;
  hipTextureFilterMode filterMode;
  hipTextureAddressMode addressMode[3];
  hipChannelFormatDesc channelDesc;
  int sRGB;
  unsigned int maxAnisotropy;
  hipTextureFilterMode mipmapFilterMode;
  float mipmapLevelBias;
  float minMipmapLevelClamp;
  float maxMipmapLevelClamp;
  hipTextureObject_t textureObject;
  int numChannels;
  hipArray_Format format;
};
typedef struct hipTextureDesc hipTextureDesc;
struct hipTextureDesc {
  hipTextureAddressMode addressMode[3];
  hipTextureFilterMode filterMode;
  hipTextureReadMode readMode;
  int sRGB;
  float borderColor[4];
  int normalizedCoords;
  unsigned int maxAnisotropy;
  hipTextureFilterMode mipmapFilterMode;
  float mipmapLevelBias;
  float minMipmapLevelClamp;
  float maxMipmapLevelClamp;
};
typedef struct __hip_surface __hip_surface;
typedef __hip_surface* hipSurfaceObject_t;
typedef struct surfaceReference surfaceReference;
struct surfaceReference {
  hipSurfaceObject_t surfaceObject;
};
typedef struct ihipCtx_t ihipCtx_t;
typedef ihipCtx_t* hipCtx_t;
typedef struct ihipExecutionCtx_t ihipExecutionCtx_t;
typedef ihipExecutionCtx_t* hipExecutionCtx_t;
typedef struct ihipDevResourceDesc_t ihipDevResourceDesc_t;
typedef ihipDevResourceDesc_t* hipDevResourceDesc_t;
typedef struct hipDevSmResource hipDevSmResource;
struct hipDevSmResource {
  unsigned int smCount;
  unsigned int minSmPartitionSize;
  unsigned int smCoscheduledAlignment;
  unsigned int flags;
};
typedef struct hipDevWorkqueueConfigResource hipDevWorkqueueConfigResource;
struct hipDevWorkqueueConfigResource {
  int device;
  unsigned int wqConcurrencyLimit;
  hipDevWorkqueueConfigScope sharingScope;
};
typedef struct hipDevWorkqueueResource hipDevWorkqueueResource;
struct hipDevWorkqueueResource {
  unsigned char reserved[40];
};
typedef struct hipDevResource_st hipDevResource_st;
struct hipDevResource_st {
  hipDevResourceType type;
  unsigned char _internal_padding[92];
  union {
    hipDevSmResource sm;
    hipDevWorkqueueConfigResource wqConfig;
    hipDevWorkqueueResource wq;
    unsigned char _oversize[40];
  };
  hipDevResource_st* nextResource;
};
typedef hipDevResource_st hipDevResource;
typedef struct hipDevSmResourceGroupParams_st hipDevSmResourceGroupParams_st;
struct hipDevSmResourceGroupParams_st {
  unsigned int smCount;
  unsigned int coscheduledSmCount;
  unsigned int preferredCoscheduledSmCount;
  unsigned int flags;
  unsigned int reserved[12];
};
typedef hipDevSmResourceGroupParams_st hipDevSmResourceGroupParams;
typedef int hipDevice_t;
typedef struct ihipStream_t ihipStream_t;
typedef ihipStream_t* hipStream_t;
typedef struct hipIpcMemHandle_st hipIpcMemHandle_st;
struct hipIpcMemHandle_st {
  char reserved[64];
};
typedef hipIpcMemHandle_st hipIpcMemHandle_t;
typedef struct hipIpcEventHandle_st hipIpcEventHandle_st;
struct hipIpcEventHandle_st {
  char reserved[64];
};
typedef hipIpcEventHandle_st hipIpcEventHandle_t;
typedef struct hipMemFabricHandle_st hipMemFabricHandle_st;
struct hipMemFabricHandle_st {
  unsigned char data[64];
};
typedef hipMemFabricHandle_st hipMemFabricHandle_t;
typedef struct ihipModule_t ihipModule_t;
typedef ihipModule_t* hipModule_t;
typedef struct ihipModuleSymbol_t ihipModuleSymbol_t;
typedef ihipModuleSymbol_t* hipFunction_t;
typedef struct ihipLinkState_t ihipLinkState_t;
typedef ihipLinkState_t* hipLinkState_t;
typedef struct ihipLibrary_t ihipLibrary_t;
typedef ihipLibrary_t* hipLibrary_t;
typedef struct ihipKernel_t ihipKernel_t;
typedef ihipKernel_t* hipKernel_t;
typedef struct ihipMemPoolHandle_t ihipMemPoolHandle_t;
typedef ihipMemPoolHandle_t* hipMemPool_t;
typedef struct hipFuncAttributes hipFuncAttributes;
struct hipFuncAttributes {
  int binaryVersion;
  int cacheModeCA;
  size_t constSizeBytes;
  size_t localSizeBytes;
  int maxDynamicSharedSizeBytes;
  int maxThreadsPerBlock;
  int numRegs;
  int preferredShmemCarveout;
  int ptxVersion;
  size_t sharedSizeBytes;
};
typedef struct ihipEvent_t ihipEvent_t;
typedef ihipEvent_t* hipEvent_t;
typedef union hipStreamBatchMemOpParams_union hipStreamBatchMemOpParams_union;
union hipStreamBatchMemOpParams_union {
  hipStreamBatchMemOpType operation;
  struct {
    hipStreamBatchMemOpType operation;
    void* address;
    union {
      uint32_t value;
      uint64_t value64;
    };
    unsigned int flags;
    void* alias;
  } waitValue;
  struct {
    hipStreamBatchMemOpType operation;
    void* address;
    union {
      uint32_t value;
      uint64_t value64;
    };
    unsigned int flags;
    void* alias;
  } writeValue;
  struct {
    hipStreamBatchMemOpType operation;
    unsigned int flags;
  } flushRemoteWrites;
  struct {
    hipStreamBatchMemOpType operation;
    unsigned int flags;
  } memoryBarrier;
  uint64_t pad[6];
};
typedef hipStreamBatchMemOpParams_union hipStreamBatchMemOpParams;
typedef struct hipBatchMemOpNodeParams hipBatchMemOpNodeParams;
struct hipBatchMemOpNodeParams {
  hipCtx_t ctx;
  unsigned int count;
  hipStreamBatchMemOpParams_union* paramArray;
  unsigned int flags;
};
typedef struct hipMemAccessDesc hipMemAccessDesc;
struct hipMemAccessDesc {
  hipMemLocation location;
  hipMemAccessFlags flags;
};
typedef struct hipMemPoolProps hipMemPoolProps;
struct hipMemPoolProps {
  hipMemAllocationType allocType;
  hipMemAllocationHandleType handleTypes;
  hipMemLocation location;
  void* win32SecurityAttributes;
  size_t maxSize;
  unsigned char reserved[56];
};
typedef struct hipMemPoolPtrExportData hipMemPoolPtrExportData;
struct hipMemPoolPtrExportData {
  unsigned char reserved[64];
};
typedef struct hipLaunchParams_t hipLaunchParams_t;
struct hipLaunchParams_t {
  void* func;
  dim3 gridDim;
  dim3 blockDim;
  void** args;
  size_t sharedMem;
  hipStream_t stream;
};
typedef hipLaunchParams_t hipLaunchParams;
typedef struct hipFunctionLaunchParams_t hipFunctionLaunchParams_t;
struct hipFunctionLaunchParams_t {
  hipFunction_t function;
  unsigned int gridDimX;
  unsigned int gridDimY;
  unsigned int gridDimZ;
  unsigned int blockDimX;
  unsigned int blockDimY;
  unsigned int blockDimZ;
  unsigned int sharedMemBytes;
  hipStream_t hStream;
  void** kernelParams;
};
typedef hipFunctionLaunchParams_t hipFunctionLaunchParams;
typedef hipExternalMemoryHandleType_enum hipExternalMemoryHandleType;
typedef struct hipExternalMemoryHandleDesc_st hipExternalMemoryHandleDesc_st;
struct hipExternalMemoryHandleDesc_st {
  hipExternalMemoryHandleType_enum type;
  union {
    int fd;
    struct {
      void* handle;
      const void* name;
    } win32;
    const void* nvSciBufObject;
  } handle;
  unsigned long long size;
  unsigned int flags;
  unsigned int reserved[16];
};
typedef hipExternalMemoryHandleDesc_st hipExternalMemoryHandleDesc;
typedef struct hipExternalMemoryBufferDesc_st hipExternalMemoryBufferDesc_st;
struct hipExternalMemoryBufferDesc_st {
  unsigned long long offset;
  unsigned long long size;
  unsigned int flags;
  unsigned int reserved[16];
};
typedef hipExternalMemoryBufferDesc_st hipExternalMemoryBufferDesc;
typedef struct hipExternalMemoryMipmappedArrayDesc_st hipExternalMemoryMipmappedArrayDesc_st;
struct hipExternalMemoryMipmappedArrayDesc_st {
  unsigned long long offset;
  hipChannelFormatDesc formatDesc;
  hipExtent extent;
  unsigned int flags;
  unsigned int numLevels;
};
typedef hipExternalMemoryMipmappedArrayDesc_st hipExternalMemoryMipmappedArrayDesc;
typedef void* hipExternalMemory_t;
typedef hipExternalSemaphoreHandleType_enum hipExternalSemaphoreHandleType;
typedef struct hipExternalSemaphoreHandleDesc_st hipExternalSemaphoreHandleDesc_st;
struct hipExternalSemaphoreHandleDesc_st {
  hipExternalSemaphoreHandleType_enum type;
  union {
    int fd;
    struct {
      void* handle;
      const void* name;
    } win32;
    const void* NvSciSyncObj;
  } handle;
  unsigned int flags;
  unsigned int reserved[16];
};
typedef hipExternalSemaphoreHandleDesc_st hipExternalSemaphoreHandleDesc;
typedef void* hipExternalSemaphore_t;
typedef struct hipExternalSemaphoreSignalParams_st hipExternalSemaphoreSignalParams_st;
struct hipExternalSemaphoreSignalParams_st {
  struct {
    struct {
      unsigned long long value;
    } fence;
    union {
      void* fence;
      unsigned long long reserved;
    } nvSciSync;
    struct {
      unsigned long long key;
    } keyedMutex;
    unsigned int reserved[12];
  } params;
  unsigned int flags;
  unsigned int reserved[16];
};
typedef hipExternalSemaphoreSignalParams_st hipExternalSemaphoreSignalParams;
typedef struct hipExternalSemaphoreWaitParams_st hipExternalSemaphoreWaitParams_st;
struct hipExternalSemaphoreWaitParams_st {
  struct {
    struct {
      unsigned long long value;
    } fence;
    union {
      void* fence;
      unsigned long long reserved;
    } nvSciSync;
    struct {
      unsigned long long key;
      unsigned int timeoutMs;
    } keyedMutex;
    unsigned int reserved[10];
  } params;
  unsigned int flags;
  unsigned int reserved[16];
};
typedef hipExternalSemaphoreWaitParams_st hipExternalSemaphoreWaitParams;
typedef struct _hipGraphicsResource _hipGraphicsResource;
typedef _hipGraphicsResource hipGraphicsResource;
typedef _hipGraphicsResource* hipGraphicsResource_t;
typedef struct ihipGraph ihipGraph;
typedef ihipGraph* hipGraph_t;
typedef struct hipGraphNode hipGraphNode;
typedef hipGraphNode* hipGraphNode_t;
typedef struct hipGraphExec hipGraphExec;
typedef hipGraphExec* hipGraphExec_t;
typedef struct hipUserObject hipUserObject;
typedef hipUserObject* hipUserObject_t;
typedef void (*hipHostFn_t)(void*);
typedef struct hipHostNodeParams hipHostNodeParams;
struct hipHostNodeParams {
  hipHostFn_t fn;
  void* userData;
};
typedef struct hipKernelNodeParams hipKernelNodeParams;
struct hipKernelNodeParams {
  dim3 blockDim;
  void** extra;
  void* func;
  dim3 gridDim;
  void** kernelParams;
  unsigned int sharedMemBytes;
};
typedef struct hipMemsetParams hipMemsetParams;
struct hipMemsetParams {
  void* dst;
  unsigned int elementSize;
  size_t height;
  size_t pitch;
  unsigned int value;
  size_t width;
};
typedef struct hipMemAllocNodeParams hipMemAllocNodeParams;
struct hipMemAllocNodeParams {
  hipMemPoolProps poolProps;
  const hipMemAccessDesc* accessDescs;
  size_t accessDescCount;
  size_t bytesize;
  void* dptr;
};
typedef struct hipAccessPolicyWindow hipAccessPolicyWindow;
struct hipAccessPolicyWindow {
  void* base_ptr;
  hipAccessProperty hitProp;
  float hitRatio;
  hipAccessProperty missProp;
  size_t num_bytes;
};
typedef struct hipLaunchMemSyncDomainMap hipLaunchMemSyncDomainMap;
struct hipLaunchMemSyncDomainMap {
  unsigned char default_;
  unsigned char remote;
};
typedef struct hipExtDynDataPrefetchRegion hipExtDynDataPrefetchRegion;
struct hipExtDynDataPrefetchRegion {
  void* address;
  size_t stride;
  size_t width;
  size_t height;
};
typedef struct hipExtDynDataPrefetchConfig hipExtDynDataPrefetchConfig;
struct hipExtDynDataPrefetchConfig {
  unsigned int numRegions;
  hipExtDynDataPrefetchTemporal temporal;
  hipExtDynDataPrefetchRegion regions[2];
};
typedef union hipLaunchAttributeValue hipLaunchAttributeValue;
union hipLaunchAttributeValue {
  char pad[64];
  hipAccessPolicyWindow accessPolicyWindow;
  int cooperative;
  int priority;
  hipSynchronizationPolicy syncPolicy;
  hipLaunchMemSyncDomainMap memSyncDomainMap;
  hipLaunchMemSyncDomain memSyncDomain;
  struct {
    unsigned int x;
    unsigned int y;
    unsigned int z;
  } clusterDim;
  hipClusterSchedulingPolicy clusterSchedulingPolicyPreference;
  const hipExtDynDataPrefetchConfig* dynDataPrefetch;
};
typedef struct hipGraphInstantiateParams hipGraphInstantiateParams;
struct hipGraphInstantiateParams {
  hipGraphNode_t errNode_out;
  unsigned long long flags;
  hipGraphInstantiateResult result_out;
  hipStream_t uploadStream;
};
typedef struct hipMemAllocationProp hipMemAllocationProp;
struct hipMemAllocationProp {
  hipMemAllocationType type;
  union {
    hipMemAllocationHandleType requestedHandleType;
    hipMemAllocationHandleType requestedHandleTypes;
  };
  hipMemLocation location;
  void* win32HandleMetaData;
  struct {
    unsigned char compressionType;
    unsigned char gpuDirectRDMACapable;
    unsigned short usage;
  } allocFlags;
};
typedef struct hipExternalSemaphoreSignalNodeParams hipExternalSemaphoreSignalNodeParams;
struct hipExternalSemaphoreSignalNodeParams {
  void** extSemArray;
  const hipExternalSemaphoreSignalParams_st* paramsArray;
  unsigned int numExtSems;
};
typedef struct hipExternalSemaphoreWaitNodeParams hipExternalSemaphoreWaitNodeParams;
struct hipExternalSemaphoreWaitNodeParams {
  void** extSemArray;
  const hipExternalSemaphoreWaitParams_st* paramsArray;
  unsigned int numExtSems;
};
typedef struct ihipMemGenericAllocationHandle ihipMemGenericAllocationHandle;
typedef ihipMemGenericAllocationHandle* hipMemGenericAllocationHandle_t;
typedef struct hipArrayMapInfo hipArrayMapInfo;
struct hipArrayMapInfo {
  hipResourceType resourceType;
  union {
    hipMipmappedArray mipmap;
    hipArray_t array;
  } resource;
  hipArraySparseSubresourceType subresourceType;
  union {
    struct {
      unsigned int level;
      unsigned int layer;
      unsigned int offsetX;
      unsigned int offsetY;
      unsigned int offsetZ;
      unsigned int extentWidth;
      unsigned int extentHeight;
      unsigned int extentDepth;
    } sparseLevel;
    struct {
      unsigned int layer;
      unsigned long long offset;
      unsigned long long size;
    } miptail;
  } subresource;
  hipMemOperationType memOperationType;
  hipMemHandleType memHandleType;
  union {
    hipMemGenericAllocationHandle_t memHandle;
  } memHandle;
  unsigned long long offset;
  unsigned int deviceBitMask;
  unsigned int flags;
  unsigned int reserved[2];
};
typedef struct hipMemcpyNodeParams hipMemcpyNodeParams;
struct hipMemcpyNodeParams {
  int flags;
  int reserved[3];
  hipMemcpy3DParms copyParams;
};
typedef struct hipChildGraphNodeParams hipChildGraphNodeParams;
struct hipChildGraphNodeParams {
  hipGraph_t graph;
};
typedef struct hipEventWaitNodeParams hipEventWaitNodeParams;
struct hipEventWaitNodeParams {
  hipEvent_t event;
};
typedef struct hipEventRecordNodeParams hipEventRecordNodeParams;
struct hipEventRecordNodeParams {
  hipEvent_t event;
};
typedef struct hipMemFreeNodeParams hipMemFreeNodeParams;
struct hipMemFreeNodeParams {
  void* dptr;
};
typedef struct hipGraphNodeParams hipGraphNodeParams;
struct hipGraphNodeParams {
  hipGraphNodeType type;
  int reserved0[3];
  union {
    long long reserved1[29];
    hipKernelNodeParams kernel;
    hipMemcpyNodeParams memcpy;
    hipMemsetParams memset;
    hipHostNodeParams host;
    hipChildGraphNodeParams graph;
    hipEventWaitNodeParams eventWait;
    hipEventRecordNodeParams eventRecord;
    hipExternalSemaphoreSignalNodeParams extSemSignal;
    hipExternalSemaphoreWaitNodeParams extSemWait;
    hipMemAllocNodeParams alloc;
    hipMemFreeNodeParams free;
  };
  long long reserved2;
};
typedef struct hipGraphEdgeData hipGraphEdgeData;
struct hipGraphEdgeData {
  unsigned char from_port;
  unsigned char reserved[5];
  unsigned char to_port;
  unsigned char type;
};
typedef struct hipLaunchAttribute_st hipLaunchAttribute_st;
struct hipLaunchAttribute_st {
  hipLaunchAttributeID id;
  char pad[4];
  union {
    hipLaunchAttributeValue val;
    hipLaunchAttributeValue value;
  };
};
typedef hipLaunchAttribute_st hipLaunchAttribute;
typedef struct hipLaunchConfig_st hipLaunchConfig_st;
struct hipLaunchConfig_st {
  dim3 gridDim;
  dim3 blockDim;
  size_t dynamicSmemBytes;
  hipStream_t stream;
  hipLaunchAttribute_st* attrs;
  unsigned int numAttrs;
};
typedef hipLaunchConfig_st hipLaunchConfig_t;
typedef struct HIP_LAUNCH_CONFIG_st HIP_LAUNCH_CONFIG_st;
struct HIP_LAUNCH_CONFIG_st {
  unsigned int gridDimX;
  unsigned int gridDimY;
  unsigned int gridDimZ;
  unsigned int blockDimX;
  unsigned int blockDimY;
  unsigned int blockDimZ;
  unsigned int sharedMemBytes;
  hipStream_t hStream;
  hipLaunchAttribute_st* attrs;
  unsigned int numAttrs;
};
typedef HIP_LAUNCH_CONFIG_st HIP_LAUNCH_CONFIG;
typedef struct hipArrayMemoryRequirements hipArrayMemoryRequirements;
struct hipArrayMemoryRequirements {
  size_t alignment;
  size_t size;
};
typedef void (*hipStreamCallback_t)(hipStream_t, hipError_t, void*);
