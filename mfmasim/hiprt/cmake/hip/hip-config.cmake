# find_package(hip): the simulated runtime under the names of ROCm's package.
get_filename_component(_mfmasim_root "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
set(hip_FOUND TRUE)
set(HIP_PATH "${_mfmasim_root}")
set(hip_INCLUDE_DIR "${_mfmasim_root}/include")
set(hip_INCLUDE_DIRS "${hip_INCLUDE_DIR}")
set(HIP_INCLUDE_DIR "${hip_INCLUDE_DIR}")
set(HIP_INCLUDE_DIRS "${hip_INCLUDE_DIR}")
set(hip_LIB_INSTALL_DIR "${_mfmasim_root}/lib")
set(hip_BIN_INSTALL_DIR "${_mfmasim_root}/bin")
set(hip_LIBRARY hip::host)
set(hip_LIBRARIES hip::host)
set(hip_HIPCC_EXECUTABLE "${_mfmasim_root}/bin/hipcc")
set(hip_HIPCONFIG_EXECUTABLE "${_mfmasim_root}/bin/hipconfig")
set(HIP_HIPCC_EXECUTABLE "${hip_HIPCC_EXECUTABLE}")
set(HIP_HIPCONFIG_EXECUTABLE "${hip_HIPCONFIG_EXECUTABLE}")
set(HIP_COMPILER clang)
set(HIP_RUNTIME rocclr)
set(HIP_PLATFORM amd)

if(NOT TARGET hip::amdhip64)
  add_library(hip::amdhip64 SHARED IMPORTED)
  set_target_properties(hip::amdhip64 PROPERTIES
    IMPORTED_LOCATION "${_mfmasim_root}/lib/libamdhip64.so"
    IMPORTED_SONAME "libamdhip64.so"
    INTERFACE_INCLUDE_DIRECTORIES "${hip_INCLUDE_DIR}"
    INTERFACE_SYSTEM_INCLUDE_DIRECTORIES "${hip_INCLUDE_DIR}"
    INTERFACE_COMPILE_DEFINITIONS "__HIP_PLATFORM_AMD__=1;USE_PROF_API=1")
  add_library(hip::host INTERFACE IMPORTED)
  set_target_properties(hip::host PROPERTIES INTERFACE_LINK_LIBRARIES hip::amdhip64
    INTERFACE_LINK_OPTIONS "LINKER:-rpath,${_mfmasim_root}/lib")

  # C++ sources of a target that links hip::device are HIP.
  if(NOT GPU_TARGETS AND NOT AMDGPU_TARGETS)
    execute_process(COMMAND "${_mfmasim_root}/bin/rocm_agent_enumerator" OUTPUT_VARIABLE _mfmasim_archs
                    OUTPUT_STRIP_TRAILING_WHITESPACE)
    string(REPLACE "\n" ";" _mfmasim_archs "${_mfmasim_archs}")
  else()
    set(_mfmasim_archs ${GPU_TARGETS} ${AMDGPU_TARGETS})
  endif()
  list(REMOVE_DUPLICATES _mfmasim_archs)
  set(_mfmasim_options "-x hip")
  foreach(_mfmasim_arch ${_mfmasim_archs})
    string(APPEND _mfmasim_options " --offload-arch=${_mfmasim_arch}")
  endforeach()
  add_library(hip::device INTERFACE IMPORTED)
  set_target_properties(hip::device PROPERTIES
    INTERFACE_LINK_LIBRARIES "hip::host;$<$<LINK_LANGUAGE:CXX>:--hip-link>"
    INTERFACE_COMPILE_OPTIONS "$<$<COMPILE_LANGUAGE:CXX>:SHELL:${_mfmasim_options}>")
endif()

# Parts of ROCm's runtime that its package finds too: in the same library here.
foreach(_mfmasim_part hsa-runtime64::hsa-runtime64 amd_comgr)
  if(NOT TARGET ${_mfmasim_part})
    add_library(${_mfmasim_part} INTERFACE IMPORTED)
  endif()
endforeach()

# The older function: an executable whose sources hipcc compiles, with options for each of its compilers.
macro(hip_add_executable _mfmasim_target)
  set(CMAKE_CXX_COMPILER "${hip_HIPCC_EXECUTABLE}")
  cmake_parse_arguments(_mfmasim "" "" "HIPCC_OPTIONS;CLANG_OPTIONS;NVCC_OPTIONS" ${ARGN})
  add_executable(${_mfmasim_target} ${_mfmasim_UNPARSED_ARGUMENTS})
  target_compile_options(${_mfmasim_target} PRIVATE ${_mfmasim_HIPCC_OPTIONS} ${_mfmasim_CLANG_OPTIONS})
  target_link_libraries(${_mfmasim_target} hip::host)
endmacro()
