// The interface of hipRTC. Made by tests/hiprt/make_api.py from the interface that hip-python binds.
#pragma once

typedef enum hiprtcResult {
  HIPRTC_SUCCESS = 0,
  HIPRTC_ERROR_OUT_OF_MEMORY = 1,
  HIPRTC_ERROR_PROGRAM_CREATION_FAILURE = 2,
  HIPRTC_ERROR_INVALID_INPUT = 3,
  HIPRTC_ERROR_INVALID_PROGRAM = 4,
  HIPRTC_ERROR_INVALID_OPTION = 5,
  HIPRTC_ERROR_COMPILATION = 6,
  HIPRTC_ERROR_BUILTIN_OPERATION_FAILURE = 7,
  HIPRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION = 8,
  HIPRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION = 9,
  HIPRTC_ERROR_NAME_EXPRESSION_NOT_VALID = 10,
  HIPRTC_ERROR_INTERNAL_ERROR = 11,
  HIPRTC_ERROR_LINKING = 100,
} hiprtcResult;
typedef struct ihiprtcLinkState ihiprtcLinkState;
typedef ihiprtcLinkState* hiprtcLinkState;
typedef struct _hiprtcProgram _hiprtcProgram;
typedef _hiprtcProgram* hiprtcProgram;
const char* hiprtcGetErrorString(hiprtcResult);
hiprtcResult hiprtcVersion(int*, int*);
hiprtcResult hiprtcAddNameExpression(hiprtcProgram, const char*);
hiprtcResult hiprtcCompileProgram(hiprtcProgram, int, const char*const*);
hiprtcResult hiprtcCreateProgram(hiprtcProgram*, const char*, const char*, int, const char*const*, const char*const*);
hiprtcResult hiprtcDestroyProgram(hiprtcProgram*);
hiprtcResult hiprtcGetLoweredName(hiprtcProgram, const char*, const char**);
hiprtcResult hiprtcGetProgramLog(hiprtcProgram, char*);
hiprtcResult hiprtcGetProgramLogSize(hiprtcProgram, size_t*);
hiprtcResult hiprtcGetCode(hiprtcProgram, char*);
hiprtcResult hiprtcGetCodeSize(hiprtcProgram, size_t*);
hiprtcResult hiprtcGetBitcode(hiprtcProgram, char*);
hiprtcResult hiprtcGetBitcodeSize(hiprtcProgram, size_t*);
hiprtcResult hiprtcLinkCreate(unsigned int, hipJitOption*, void**, hiprtcLinkState*);
hiprtcResult hiprtcLinkAddFile(hiprtcLinkState, hipJitInputType, const char*, unsigned int, hipJitOption*, void**);
hiprtcResult hiprtcLinkAddData(hiprtcLinkState, hipJitInputType, void*, size_t, const char*, unsigned int, hipJitOption*, void**);
hiprtcResult hiprtcLinkComplete(hiprtcLinkState, void**, size_t*);
hiprtcResult hiprtcLinkDestroy(hiprtcLinkState);
