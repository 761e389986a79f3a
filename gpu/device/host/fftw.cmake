# Defines FFTW in both precisions as FFTW::float and FFTW::double, because Debian's package has no
# CMake targets.
find_path(FFTW_INCLUDE_DIR fftw3.h REQUIRED)
foreach(precision IN ITEMS float double)
  set(name fftw3)
  if(precision STREQUAL float)
    set(name fftw3f)
  endif()
  find_library(FFTW_${precision}_LIBRARY ${name} REQUIRED)
  add_library(FFTW::${precision} UNKNOWN IMPORTED)
  set_target_properties(FFTW::${precision} PROPERTIES
    IMPORTED_LOCATION ${FFTW_${precision}_LIBRARY}
    INTERFACE_INCLUDE_DIRECTORIES ${FFTW_INCLUDE_DIR})
endforeach()
