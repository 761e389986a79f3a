# The NCCL worker is built if NCCL's header and the CUDA runtime are found. It needs neither nvcc
# nor the NCCL library.
if(RANKCHECK_NCCL STREQUAL OFF)
  set(nccl_absent "RANKCHECK_NCCL is OFF")
  return()
endif()

find_package(CUDAToolkit QUIET)
find_path(RANKCHECK_NCCL_INCLUDE nccl.h
  HINTS ${CUDAToolkit_INCLUDE_DIRS} PATHS /usr/local/cuda/include)
mark_as_advanced(RANKCHECK_NCCL_INCLUDE)
set(nccl_absent "")
if(NOT TARGET CUDA::cudart_static)
  set(nccl_absent "the CUDA runtime was not found")
elseif(NOT RANKCHECK_NCCL_INCLUDE)
  set(nccl_absent "nccl.h was not found")
else()
  file(STRINGS ${RANKCHECK_NCCL_INCLUDE}/nccl.h numbers REGEX "define NCCL_(MAJOR|MINOR) ")
  list(TRANSFORM numbers REPLACE "[^0-9]" "")
  list(JOIN numbers "." header_version)
  if(header_version VERSION_LESS 2.28)
    set(nccl_absent "nccl.h is of version ${header_version}, and 2.28 is needed to compile")
  endif()
endif()
if(nccl_absent)
  if(RANKCHECK_NCCL STREQUAL ON)
    message(FATAL_ERROR "NCCL: ${nccl_absent}")
  endif()
  message(STATUS "NCCL: ${nccl_absent}, the worker is not built")
  return()
endif()

file(GLOB nccl_sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/*.cpp)
add_library(rankcheck_nccl STATIC ${nccl_sources})
target_link_libraries(rankcheck_nccl
  PUBLIC rankcheck_vendor_library CUDA::cudart_static Threads::Threads)
target_include_directories(rankcheck_nccl SYSTEM PUBLIC ${RANKCHECK_NCCL_INCLUDE})

add_executable(rankcheck-worker-nccl
  ${CMAKE_SOURCE_DIR}/cases/workers/nccl.cpp ${CMAKE_SOURCE_DIR}/cases/workers/launch.cpp)
target_link_libraries(rankcheck-worker-nccl PRIVATE
  rankcheck_nccl ${families} rankcheck_harness rankcheck_reference CLI11::CLI11)
add_dependencies(programs rankcheck-worker-nccl)
