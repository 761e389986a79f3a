# Finds HDF5, which holds scans and results, and Cairo, which draws the pictures. Nothing else needs
# them. reconstruct_absent says why reconstructions are not built. It is empty if they are.
if(RANKCHECK_RECONSTRUCT STREQUAL OFF)
  set(reconstruct_absent "RANKCHECK_RECONSTRUCT is OFF")
  return()
endif()

find_package(HDF5 QUIET COMPONENTS C CXX)
# Cairo brings no CMake targets of its own.
find_path(CAIRO_INCLUDE_DIR cairo/cairo.h)
find_library(CAIRO_LIBRARY cairo)
set(reconstruct_absent "")
if(NOT HDF5_FOUND)
  set(reconstruct_absent "HDF5 for C++ was not found (Debian: libhdf5-dev)")
elseif(NOT CAIRO_INCLUDE_DIR OR NOT CAIRO_LIBRARY)
  set(reconstruct_absent "Cairo was not found (Debian: libcairo2-dev)")
endif()
if(reconstruct_absent)
  if(RANKCHECK_RECONSTRUCT STREQUAL ON)
    message(FATAL_ERROR "reconstruct: ${reconstruct_absent}")
  endif()
  message(STATUS "reconstruct: ${reconstruct_absent}, reconstructions are not built")
  return()
endif()

add_library(Cairo::cairo UNKNOWN IMPORTED)
set_target_properties(Cairo::cairo PROPERTIES
  IMPORTED_LOCATION ${CAIRO_LIBRARY} INTERFACE_INCLUDE_DIRECTORIES ${CAIRO_INCLUDE_DIR})
