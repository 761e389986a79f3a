# Finds Cairo, which draws the pictures, as Cairo::cairo. Cairo brings no CMake targets of its own.
find_path(CAIRO_INCLUDE_DIR cairo/cairo.h REQUIRED)
find_library(CAIRO_LIBRARY cairo REQUIRED)
add_library(Cairo::cairo UNKNOWN IMPORTED)
set_target_properties(Cairo::cairo PROPERTIES
  IMPORTED_LOCATION ${CAIRO_LIBRARY} INTERFACE_INCLUDE_DIRECTORIES ${CAIRO_INCLUDE_DIR})
