if(nccl_absent)
  return()
endif()

file(GLOB nccl_sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/*.cpp)
add_library(rankcheck_nccl STATIC ${nccl_sources})
target_link_libraries(rankcheck_nccl
  PUBLIC rankcheck_device CUDA::cudart_static Threads::Threads)
target_include_directories(rankcheck_nccl SYSTEM PUBLIC ${RANKCHECK_NCCL_INCLUDE})
# The time of a run goes into NCCL.
target_compile_options(rankcheck_nccl PRIVATE ${runs_rarely})
