# Writes <folder>/interposed_functions.inc, the list of the functions that
# gpu/device/mpi/interposer.cpp wraps. These are the MPI functions that gpu/collectives/*/mpi.cpp
# quote, and of Open MPI: the functions of coll/base that perform a collective, the function that
# splits communicators, those that build trees of ranks, and the collectives of components inside
# the library. The list is empty if no library is shared.
function(rankcheck_list_interposed_functions folder libraries)
  set(shared ${libraries})
  list(FILTER shared INCLUDE REGEX "\\.so")
  set(lines "")
  if(shared)
    file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/gpu/collectives/*/mpi.cpp)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${sources})
    set(names "")
    foreach(source IN LISTS sources)
      file(READ ${source} text)
      string(REGEX MATCHALL "\"MPIX?_[A-Za-z_]+\"" found "${text}")
      list(APPEND names ${found})
    endforeach()
    list(REMOVE_DUPLICATES names)
    foreach(name IN LISTS names)
      string(REPLACE "\"" "" symbol ${name})
      string(APPEND lines "RANKCHECK_INTERPOSE(${symbol}, \"${symbol}\")\n")
    endforeach()
  endif()
  foreach(library IN LISTS shared)
    if(NOT CMAKE_NM OR NOT EXISTS ${library})
      continue()
    endif()
    execute_process(COMMAND ${CMAKE_NM} -D --defined-only ${library}
                    OUTPUT_VARIABLE symbols ERROR_QUIET)
    set(pattern "T ompi_coll_base_[a-z_]*(_intra_|block_basic_)[a-z_]+")
    string(REGEX MATCHALL ${pattern} found "${symbols}")
    foreach(match IN LISTS found)
      string(REPLACE "T " "" symbol ${match})
      string(REPLACE "ompi_coll_base_" "" note ${symbol})
      string(APPEND lines "RANKCHECK_INTERPOSE(${symbol}, \"${note}\")\n")
    endforeach()
    set(tree "ompi_coll_base_topo_build_(bmtree|in_order_bmtree|tree|chain)")
    string(REGEX MATCHALL "T (ompi_comm_split_type|${tree})\n" found "${symbols}")
    foreach(match IN LISTS found)
      string(REGEX REPLACE "T |\n" "" symbol ${match})
      string(APPEND lines "RANKCHECK_INTERPOSE_USE(${symbol})\n")
    endforeach()
    # Open MPI 5 has its components inside the library.
    string(REGEX MATCHALL "T (ompi_coll_adapt|mca_coll_han)_[a-z_]+" found "${symbols}")
    foreach(match IN LISTS found)
      foreach(pattern IN ITEMS ompi_coll_\(adapt\)_i?\(bcast|reduce\)
              mca_coll_\(han\)_\([a-z]+\)_intra\(_simple\)?)
        if(match MATCHES "^T (${pattern})$")
          string(APPEND lines "RANKCHECK_INTERPOSE_COMPONENT(${CMAKE_MATCH_1}, "
            "\"mca_coll_${CMAKE_MATCH_2}\", \"${CMAKE_MATCH_3}_intra_\")\n")
        endif()
      endforeach()
    endforeach()
  endforeach()
  file(CONFIGURE OUTPUT ${folder}/interposed_functions.inc CONTENT "${lines}" @ONLY)
endfunction()

# Adds the target rankcheck_<name>_objects: ranks as processes of the MPI library of the target
# `interface`.
function(rankcheck_add_mpi_devices name interface libraries)
  file(GLOB sources CONFIGURE_DEPENDS
       ${CMAKE_SOURCE_DIR}/gpu/device/mpi/*.cpp ${CMAKE_SOURCE_DIR}/gpu/collectives/*/mpi.cpp)
  rankcheck_register_mpi(registry)
  set(generated ${CMAKE_BINARY_DIR}/generated/rankcheck-worker-${name})
  rankcheck_list_interposed_functions(${generated} "${libraries}")
  # An object library, not an archive: nothing refers to the functions of
  # gpu/device/mpi/interposer.cpp, so a linker would leave them out of an archive.
  add_library(rankcheck_${name}_objects OBJECT ${sources} ${registry})
  # It declares MPI's functions with parameters of its own.
  set_source_files_properties(${CMAKE_SOURCE_DIR}/gpu/device/mpi/interposer.cpp PROPERTIES
    SKIP_UNITY_BUILD_INCLUSION ON)
  target_link_libraries(rankcheck_${name}_objects PUBLIC rankcheck_spec ${interface})
  target_include_directories(rankcheck_${name}_objects PRIVATE ${generated})
  # The C++ bindings in MPI's header are not used and cause many warnings.
  target_compile_definitions(rankcheck_${name}_objects PUBLIC
    OMPI_SKIP_MPICXX=1 MPICH_SKIP_MPICXX=1)
endfunction()
