# The CUDA sources are compiled if nvcc is found. Neither configuring nor building needs a GPU.
set(RANKCHECK_HAS_CUDA OFF)
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
  # PTX of Ampere, which drivers compile for the GPU when a program starts, and code for the GPUs of
  # this machine. `./verify bundle` names architectures, whose code takes three times as long.
  set(CMAKE_CUDA_ARCHITECTURES 80-virtual)
  execute_process(COMMAND nvidia-smi --query-gpu=compute_cap --format=csv,noheader
                  OUTPUT_VARIABLE capabilities RESULT_VARIABLE no_gpus ERROR_QUIET)
  if(no_gpus STREQUAL 0)
    string(REGEX MATCHALL "[0-9]+\\.[0-9]" capabilities "${capabilities}")
    list(TRANSFORM capabilities REPLACE "([0-9]+)\\.([0-9])" "\\1\\2-real")
    list(APPEND CMAKE_CUDA_ARCHITECTURES ${capabilities})
    list(REMOVE_DUPLICATES CMAKE_CUDA_ARCHITECTURES)
  endif()
endif()
if(RANKCHECK_CUDA STREQUAL AUTO)
  include(CheckLanguage)
  check_language(CUDA)
  if(NOT CMAKE_CUDA_COMPILER)
    message(STATUS "CUDA: no working compiler, the CUDA sources are not built")
    return()
  endif()
endif()
# This is about host code. Code for GPUs is optimised as always.
set(CMAKE_CUDA_FLAGS_RELEASE "-O1 -DNDEBUG" CACHE STRING "Flags of nvcc in a release build")
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
set(RANKCHECK_HAS_CUDA ON)
