# The headers for subjects in C++, and the CMake package that is installed with them.

add_library(rankcheck_subject INTERFACE)
target_include_directories(rankcheck_subject INTERFACE ${CMAKE_CURRENT_LIST_DIR})
target_link_libraries(rankcheck_subject INTERFACE Threads::Threads)

# Adds a program that is a subject, from these sources. Users may have nothing newer than C++17.
function(rankcheck_add_subject name)
  add_executable(${name} ${ARGN})
  target_link_libraries(${name} PRIVATE rankcheck_subject)
  target_compile_options(${name} PRIVATE -Wall -Wextra -Wconversion -Wshadow -Wnon-virtual-dtor
    -pedantic $<$<BOOL:${RANKCHECK_WARNINGS_AS_ERRORS}>:-Werror>)
  set_target_properties(${name} PROPERTIES CXX_STANDARD 17 CXX_STANDARD_REQUIRED ON
    CXX_EXTENSIONS OFF RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/subjects)
  if(RANKCHECK_SANITIZE)
    target_compile_options(${name} PRIVATE -fsanitize=${RANKCHECK_SANITIZE}
      -fno-omit-frame-pointer -fno-sanitize-recover=all)
    target_link_options(${name} PRIVATE -fsanitize=${RANKCHECK_SANITIZE})
  endif()
endfunction()

include(CMakePackageConfigHelpers)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/generated/rankcheckConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(DIRECTORY ${CMAKE_CURRENT_LIST_DIR}/rankcheck DESTINATION include FILES_MATCHING
  PATTERN *.hpp)
install(FILES
  ${CMAKE_CURRENT_LIST_DIR}/package/rankcheckConfig.cmake
  ${CMAKE_CURRENT_LIST_DIR}/package/rankcheckAddTest.cmake
  ${CMAKE_BINARY_DIR}/generated/rankcheckConfigVersion.cmake
  DESTINATION share/cmake/rankcheck)
