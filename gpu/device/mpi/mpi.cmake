# Writes generated/witnessed_functions.inc: the functions of Open MPI's coll/base that perform a
# collective, which gpu/device/mpi/witness.cpp stands in front of. Empty for other MPI libraries.
function(rankcheck_list_witnessed_functions)
  set(lines "")
  foreach(library IN LISTS MPI_C_LIBRARIES)
    if(NOT CMAKE_NM OR NOT library MATCHES "\\.so" OR NOT EXISTS ${library})
      continue()
    endif()
    execute_process(COMMAND ${CMAKE_NM} -D --defined-only ${library}
                    OUTPUT_VARIABLE symbols ERROR_QUIET)
    set(pattern "T ompi_coll_base_[a-z_]*(_intra_|block_basic_)[a-z_]+")
    string(REGEX MATCHALL ${pattern} found "${symbols}")
    foreach(symbol IN LISTS found)
      string(REPLACE "T ompi_coll_base_" "" name ${symbol})
      string(APPEND lines "RANKCHECK_WITNESS(${name})\n")
    endforeach()
  endforeach()
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/generated/witnessed_functions.inc
       CONTENT "${lines}" @ONLY)
endfunction()
