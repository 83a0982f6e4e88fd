# find_package(hiprtc): the simulated runtime serves hipRTC's functions too.
get_filename_component(_mfmasim_root "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
set(hiprtc_FOUND TRUE)
if(NOT TARGET hiprtc::hiprtc)
  add_library(hiprtc::hiprtc SHARED IMPORTED)
  set_target_properties(hiprtc::hiprtc PROPERTIES
    IMPORTED_LOCATION "${_mfmasim_root}/lib/libhiprtc.so"
    IMPORTED_SONAME "libhiprtc.so"
    INTERFACE_SYSTEM_INCLUDE_DIRECTORIES "${_mfmasim_root}/include")
endif()
