# What CMake's language HIP asks for: the runtime that its programs are linked with.
get_filename_component(_mfmasim_root "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
set(hip-lang_FOUND TRUE)
if(NOT TARGET hip-lang::device)
  add_library(hip-lang::amdhip64 SHARED IMPORTED GLOBAL)
  set_target_properties(hip-lang::amdhip64 PROPERTIES
    IMPORTED_LOCATION "${_mfmasim_root}/lib/libamdhip64.so"
    IMPORTED_SONAME "libamdhip64.so"
    INTERFACE_SYSTEM_INCLUDE_DIRECTORIES "${_mfmasim_root}/include")
  add_library(hip-lang::host INTERFACE IMPORTED GLOBAL)
  set_target_properties(hip-lang::host PROPERTIES INTERFACE_LINK_LIBRARIES hip-lang::amdhip64
    INTERFACE_LINK_OPTIONS "LINKER:-rpath,${_mfmasim_root}/lib")
  add_library(hip-lang::device INTERFACE IMPORTED GLOBAL)
  set_target_properties(hip-lang::device PROPERTIES INTERFACE_LINK_LIBRARIES hip-lang::host)
endif()
set(_CMAKE_HIP_DEVICE_RUNTIME_TARGET hip-lang::device)
