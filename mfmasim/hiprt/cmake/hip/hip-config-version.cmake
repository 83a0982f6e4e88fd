# Any version that a project asks for, up to HIP 7.
set(PACKAGE_VERSION 7.2.53211)
if(PACKAGE_FIND_VERSION_MAJOR LESS_EQUAL 7)
  set(PACKAGE_VERSION_COMPATIBLE TRUE)
endif()
