if(NOT RANKCHECK_HAS_CUDA)
  return()
endif()

rankcheck_wrap_operators(operators_as_cuda cuda cu)
file(GLOB cuda_sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/*.cu)
add_library(rankcheck_cuda STATIC ${cuda_sources} ${operators_as_cuda})
target_link_libraries(rankcheck_cuda
  PUBLIC rankcheck_streams rankcheck_device CUDA::cudart_static)
set_target_properties(rankcheck_cuda PROPERTIES CUDA_STANDARD 20 CUDA_STANDARD_REQUIRED ON)
# Multiply and add are not contracted to fused multiply-add, so that a device rounds where the
# simulator rounds. -Wno-parentheses is needed because nvcc generates parentheses.
target_compile_options(rankcheck_cuda PRIVATE
  $<$<COMPILE_LANGUAGE:CUDA>:-fmad=false --expt-relaxed-constexpr
  -Xcompiler=-Wall,-Wextra,-Wno-parentheses
  $<$<BOOL:${RANKCHECK_WARNINGS_AS_ERRORS}>:-Werror=all-warnings>>)
