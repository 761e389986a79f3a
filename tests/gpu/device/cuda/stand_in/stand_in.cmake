# Compiles the CUDA programs as C++ against the stand-in for CUDA's runtime and cuFFT. This needs
# neither CUDA nor a GPU. The programs lie beside a copy of the main program, so it uses them as its
# own.
rankcheck_wrap_operators(operators_on_stand_in cuda_stand_in cpp)
file(GLOB cuda_sources CONFIGURE_DEPENDS RELATIVE ${CMAKE_SOURCE_DIR}
     ${CMAKE_SOURCE_DIR}/gpu/device/cuda/*.cu)
set(cuda_on_stand_in "")
foreach(file IN LISTS cuda_sources)
  set(wrapper ${CMAKE_BINARY_DIR}/generated/cuda_stand_in/${file}.cpp)
  file(CONFIGURE OUTPUT ${wrapper} CONTENT "#include \"${file}\"\n")
  list(APPEND cuda_on_stand_in ${wrapper})
endforeach()

# A GPU refuses misaligned loads and stores. Here they end the program.
set(as_cuda -D__CUDACC__ -include cuda_runtime.h
  -fsanitize=alignment -fsanitize-undefined-trap-on-error)

file(GLOB stand_in_sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/*.cpp)
list(REMOVE_ITEM stand_in_sources ${CMAKE_CURRENT_LIST_DIR}/cufft.cpp)
add_library(rankcheck_cuda_stand_in STATIC
  ${stand_in_sources} ${cuda_on_stand_in} ${operators_on_stand_in})
target_include_directories(rankcheck_cuda_stand_in BEFORE PUBLIC ${CMAKE_CURRENT_LIST_DIR})
target_link_libraries(rankcheck_cuda_stand_in
  PUBLIC rankcheck_streams rankcheck_device)
target_compile_options(rankcheck_cuda_stand_in PRIVATE -O1)
set_source_files_properties(${cuda_on_stand_in} ${operators_on_stand_in} PROPERTIES
  COMPILE_OPTIONS "${as_cuda}")

# A program loads the stand-in for cuFFT when it runs, as it loads the real library. The stand-in
# works on the program's devices, so it uses the program's symbols.
add_library(rankcheck-stand-in-cufft MODULE ${CMAKE_CURRENT_LIST_DIR}/cufft.cpp)
target_include_directories(rankcheck-stand-in-cufft BEFORE PRIVATE ${CMAKE_CURRENT_LIST_DIR})
target_link_libraries(rankcheck-stand-in-cufft PRIVATE rankcheck_flags FFTW::float FFTW::double)
target_compile_options(rankcheck-stand-in-cufft PRIVATE -O1)
set_target_properties(rankcheck-stand-in-cufft PROPERTIES PREFIX "" OUTPUT_NAME libcufft.so.0
  SUFFIX "" LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/stand-in)

# Lets a program that is linked with the stand-in find its cuFFT.
function(rankcheck_find_stand_in_cufft program)
  add_dependencies(${program} rankcheck-stand-in-cufft)
  set_target_properties(${program} PROPERTIES ENABLE_EXPORTS TRUE
    BUILD_RPATH "\$ORIGIN;$<TARGET_FILE_DIR:rankcheck-stand-in-cufft>")
endfunction()

# The programs are stand-in/NAME.
rankcheck_add_cuda_programs(-stand-in rankcheck_cuda_stand_in)
if(MPI_C_FOUND)
  rankcheck_add_hybrid_cuda(_stand_in rankcheck_cuda_stand_in)
  rankcheck_add_hybrid_programs(-cuda-stand-in rankcheck_hybrid_cuda_stand_in)
endif()
foreach(name IN ITEMS rankcheck-worker-cuda rankcheck-reconstruct-cuda rankcheck-worker-hybrid-cuda
        rankcheck-reconstruct-hybrid-cuda)
  set(target ${name}-stand-in)
  if(NOT TARGET ${target})
    continue()
  endif()
  target_compile_options(${target} PRIVATE -O1)
  set_target_properties(${target} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/stand-in OUTPUT_NAME ${name})
  rankcheck_find_stand_in_cufft(${target})
endforeach()
