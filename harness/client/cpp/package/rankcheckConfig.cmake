# find_package(rankcheck): the program rankcheck::rankcheck, the headers rankcheck::subject, and the
# function rankcheck_add_test. This file lies in share/cmake/rankcheck of the folder that
# `cmake --install` made. The folder may have been moved.
get_filename_component(rankcheck_root "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)

include(CMakeFindDependencyMacro)
find_dependency(Threads)

if(NOT TARGET rankcheck::subject)
  add_library(rankcheck::subject INTERFACE IMPORTED)
  set_target_properties(rankcheck::subject PROPERTIES
    INTERFACE_INCLUDE_DIRECTORIES "${rankcheck_root}/include"
    INTERFACE_COMPILE_FEATURES cxx_std_17
    INTERFACE_LINK_LIBRARIES Threads::Threads)
endif()
if(NOT TARGET rankcheck::rankcheck)
  add_executable(rankcheck::rankcheck IMPORTED)
  set_target_properties(rankcheck::rankcheck PROPERTIES
    IMPORTED_LOCATION "${rankcheck_root}/rankcheck")
endif()

include("${CMAKE_CURRENT_LIST_DIR}/rankcheckAddTest.cmake")
