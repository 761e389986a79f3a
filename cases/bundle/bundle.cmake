# Defines the output of `cmake --install` and CPack: one folder that runs wherever glibc is new
# enough. Programs are at its root, libraries are in lib/, and share/rankcheck/ has the same paths
# as the sources.

# Programs in a build folder find their data under share/rankcheck, too. The link is relative, so
# that the sources and their build can be moved together.
file(RELATIVE_PATH sources_from_share ${CMAKE_BINARY_DIR}/share ${CMAKE_SOURCE_DIR})
file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/share)
file(CREATE_LINK ${sources_from_share} ${CMAKE_BINARY_DIR}/share/rankcheck SYMBOLIC)

# Programs are stripped, because debugging information is large and names folders of this machine.
install(CODE "set(CMAKE_INSTALL_DO_STRIP ON)")

# The programs for MPI are left out, because they need the MPI library of this machine.
set(bundled rankcheck)
foreach(program IN ITEMS rankcheck-worker-cuda rankcheck-reconstruct-cuda rankcheck-worker-nccl)
  if(TARGET ${program})
    list(APPEND bundled ${program})
  endif()
endforeach()
# Unlike DT_RUNPATH, DT_RPATH also applies to the libraries that a library needs.
foreach(program IN LISTS bundled)
  set_target_properties(${program} PROPERTIES INSTALL_RPATH "$ORIGIN/lib")
  target_link_options(${program} PRIVATE -Wl,--disable-new-dtags)
endforeach()
install(TARGETS ${bundled} RUNTIME_DEPENDENCY_SET libraries RUNTIME DESTINATION .)
# glibc, the driver, cuFFT and NCCL are left out.
install(RUNTIME_DEPENDENCY_SET libraries
  PRE_EXCLUDE_REGEXES
    "^lib(c|m|pthread|dl|rt|resolv|mvec|util|anl|nsl)\\.so\\." "^ld-linux"
    "^lib(cuda|cufft|nccl)\\.so"
  LIBRARY DESTINATION lib)

# With this path, a library finds the libraries beside it even if another program loads it.
install(CODE [[
  file(GLOB libraries "$ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}/lib/*.so*")
  find_program(PATCHELF patchelf REQUIRED)
  execute_process(COMMAND ${PATCHELF} --force-rpath --set-rpath "$ORIGIN" ${libraries}
    COMMAND_ERROR_IS_FATAL ANY)]])

file(GLOB data CONFIGURE_DEPENDS RELATIVE ${CMAKE_SOURCE_DIR}
     *.md reference/*.md reference/*/*.md gpu/*.md gpu/*/*.md
     harness/*.md harness/*/*.md harness/*/*/*.md
     cases/*.md cases/*/*.md cases/*/*/*.md tests/*.md
     harness/client/python/pyproject.toml harness/client/python/rankcheck/*.py
     harness/client/python/rankcheck/py.typed
     cases/subjects/*.py cases/subjects/*.cpp
     cases/subjects/found/*.py cases/subjects/found/*.cpp cases/subjects/found/*.json
     reports/*.md reports/hardware/*.md reports/*schema.json reports/ci/*.yml
     cases/suites/*.json cases/known/*.json cases/*/*/pinned/*.json gpu/plan/topologies/*)
foreach(file IN LISTS data)
  get_filename_component(folder ${file} DIRECTORY)
  install(FILES ${file} DESTINATION share/rankcheck/${folder})
endforeach()

install(SCRIPT ${CMAKE_CURRENT_LIST_DIR}/licenses.cmake)

set(CPACK_GENERATOR TXZ)
set(CPACK_THREADS 0)
set(CPACK_VERBATIM_VARIABLES ON)
string(TOLOWER ${CMAKE_SYSTEM_NAME}-${CMAKE_SYSTEM_PROCESSOR} system)
set(CPACK_PACKAGE_FILE_NAME rankcheck-${PROJECT_VERSION}-${system})
include(CPack)
