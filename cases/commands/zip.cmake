# Finds libzip, which packs reports, as Zip::zip. Debian's CMake file for libzip also demands its
# tools.
find_path(ZIP_INCLUDE_DIR zip.h REQUIRED)
find_library(ZIP_LIBRARY zip REQUIRED)
add_library(Zip::zip UNKNOWN IMPORTED)
set_target_properties(Zip::zip PROPERTIES
  IMPORTED_LOCATION ${ZIP_LIBRARY} INTERFACE_INCLUDE_DIRECTORIES ${ZIP_INCLUDE_DIR})
