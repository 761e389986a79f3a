# Defines what `rankcheck --version` says about the build. Every build looks up the commit, and only
# version.cpp depends on it.
set(commit_header ${CMAKE_BINARY_DIR}/generated/commit.hpp)
add_custom_target(rankcheck_commit
  COMMAND ${CMAKE_COMMAND} -D SOURCE=${CMAKE_SOURCE_DIR} -D OUTPUT=${commit_header}
          -P ${CMAKE_CURRENT_LIST_DIR}/commit.cmake
  BYPRODUCTS ${commit_header} COMMENT "")
add_dependencies(rankcheck_cases rankcheck_commit)

set(built_cuda "not built in")
if(TARGET rankcheck-worker-cuda)
  # For example, "80-real 90" means code for sm_80 and sm_90, and PTX of 90.
  set(code "")
  foreach(architecture IN LISTS CMAKE_CUDA_ARCHITECTURES)
    string(REGEX MATCH "^[0-9a-z]+" number ${architecture})
    if(NOT architecture MATCHES "-virtual")
      list(APPEND code "sm_${number}")
    endif()
    if(NOT architecture MATCHES "-real")
      list(APPEND code "PTX of ${number}")
    endif()
  endforeach()
  list(JOIN code ", " code)
  set(built_cuda "toolkit ${CMAKE_CUDA_COMPILER_VERSION}: ${code}")
endif()
set(built_nccl "not built in")
if(TARGET rankcheck-worker-nccl)
  set(built_nccl "header ${header_version}")
endif()
set(built_reconstruct "built in")
if(reconstruct_absent)
  set(built_reconstruct "not built in: ${reconstruct_absent}")
endif()
set(built_sanitizers none)
if(RANKCHECK_SANITIZE)
  set(built_sanitizers ${RANKCHECK_SANITIZE})
endif()
set_source_files_properties(${CMAKE_SOURCE_DIR}/cases/commands/version.cpp PROPERTIES
  SKIP_UNITY_BUILD_INCLUSION ON
  INCLUDE_DIRECTORIES ${CMAKE_BINARY_DIR}
  COMPILE_DEFINITIONS "RANKCHECK_VERSION=\"${PROJECT_VERSION}\";\
RANKCHECK_BUILD_TYPE=\"$<CONFIG>\";RANKCHECK_BUILT_CUDA=\"${built_cuda}\";\
RANKCHECK_BUILT_NCCL=\"${built_nccl}\";RANKCHECK_BUILT_RECONSTRUCT=\"${built_reconstruct}\";\
RANKCHECK_BUILT_SANITIZERS=\"${built_sanitizers}\"")
