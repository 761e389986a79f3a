# The programs' own sources. Tests compile them without CUDA, too.
set(cuda_reconstruct_sources ${CMAKE_SOURCE_DIR}/cases/workers/reconstruct_cuda.cpp)
set(cuda_worker_sources
  ${CMAKE_SOURCE_DIR}/cases/workers/cuda.cpp ${CMAKE_SOURCE_DIR}/cases/workers/cuda_times.cpp
  ${CMAKE_SOURCE_DIR}/cases/devices/algorithms.cpp
  ${CMAKE_SOURCE_DIR}/cases/devices/device_times.cpp
  ${CMAKE_SOURCE_DIR}/cases/devices/link_probe.cpp)

# The CUDA sources are compiled if nvcc is found. Neither configuring nor building needs a GPU.
if(RANKCHECK_CUDA STREQUAL OFF)
  return()
endif()

if(NOT DEFINED CMAKE_CUDA_COMPILER AND NOT DEFINED ENV{CUDACXX})
  # NVIDIA's packages do not put nvcc on the PATH.
  find_program(RANKCHECK_NVCC nvcc HINTS ENV CUDA_HOME ENV CUDA_PATH
               PATHS /usr/local/cuda PATH_SUFFIXES bin)
  if(RANKCHECK_NVCC)
    set(ENV{CUDACXX} ${RANKCHECK_NVCC})
  endif()
endif()
if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
  # Ampere, Hopper, and PTX for later architectures.
  set(CMAKE_CUDA_ARCHITECTURES 80-real 90)
endif()
if(RANKCHECK_CUDA STREQUAL AUTO)
  include(CheckLanguage)
  check_language(CUDA)
  if(NOT CMAKE_CUDA_COMPILER)
    message(STATUS "CUDA: no working compiler, the CUDA sources are not built")
    return()
  endif()
endif()
enable_language(CUDA)
if(CMAKE_CUDA_COMPILER_VERSION VERSION_LESS 12.0)
  if(RANKCHECK_CUDA STREQUAL AUTO)
    message(STATUS "CUDA: ${CMAKE_CUDA_COMPILER} is older than 12.0 and knows no C++20: not built")
    return()
  endif()
  message(FATAL_ERROR "CUDA: ${CMAKE_CUDA_COMPILER}: expected 12.0 or newer, which knows C++20")
endif()

# CMake 3.25.1 knows no flag for C++20 in nvcc and would fail to generate.
if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)
  set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)
  set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION -std=c++20)
endif()

find_package(CUDAToolkit REQUIRED)

rankcheck_wrap_operators(operators_as_cuda cuda cu)
file(GLOB cuda_sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/*.cu)
add_library(rankcheck_cuda STATIC ${cuda_sources} ${operators_as_cuda} ${operators_registry})
target_link_libraries(rankcheck_cuda
  PUBLIC rankcheck_plans rankcheck_vendor_library CUDA::cudart_static)
set_target_properties(rankcheck_cuda PROPERTIES CUDA_STANDARD 20 CUDA_STANDARD_REQUIRED ON)
# Multiply and add are not contracted to fused multiply-add, so that a device rounds where the
# simulator rounds. -Wno-parentheses is needed because nvcc generates parentheses.
target_compile_options(rankcheck_cuda PRIVATE
  $<$<COMPILE_LANGUAGE:CUDA>:-fmad=false --expt-relaxed-constexpr
  -Xcompiler=-Wall,-Wextra,-Wno-parentheses
  $<$<BOOL:${RANKCHECK_WARNINGS_AS_ERRORS}>:-Werror=all-warnings>>)

add_executable(rankcheck-worker-cuda ${cuda_worker_sources})
target_link_libraries(rankcheck-worker-cuda PRIVATE
  rankcheck_cuda ${families} rankcheck_harness rankcheck_reference)
add_executable(rankcheck-reconstruct-cuda ${cuda_reconstruct_sources})
target_link_libraries(rankcheck-reconstruct-cuda PRIVATE rankcheck_reconstruct rankcheck_cuda)
add_dependencies(programs rankcheck-worker-cuda rankcheck-reconstruct-cuda)
