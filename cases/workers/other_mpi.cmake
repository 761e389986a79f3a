# Adds the target rankcheck-worker-other-mpi: the worker for the MPI library of a compiler wrapper,
# and a launcher beside it. `./verify worker` sets both variables.
set(RANKCHECK_OTHER_MPICC "" CACHE FILEPATH "The compiler wrapper of another MPI library")
set(RANKCHECK_OTHER_MPI_FOLDER "" CACHE PATH "The folder that gets the worker for this library")
if(NOT RANKCHECK_OTHER_MPICC)
  return()
endif()

# The wrapper says what it would run: "cc -I/opt/mpi/include -L/opt/mpi/lib -lmpi".
execute_process(COMMAND ${RANKCHECK_OTHER_MPICC} -show
                OUTPUT_VARIABLE line RESULT_VARIABLE status OUTPUT_STRIP_TRAILING_WHITESPACE)
string(REPLACE "-Xlinker " "-Wl," line "${line}")
string(REPLACE "-Wl,-rpath -Wl," "-Wl,-rpath," line "${line}")
separate_arguments(words UNIX_COMMAND "${line}")
set(includes ${words})
list(FILTER includes INCLUDE REGEX "^-I")
list(TRANSFORM includes REPLACE "^-I" "")
set(libraries ${words})
list(FILTER libraries INCLUDE REGEX "^(-L|-l|-Wl,|-pthread|/)")
set(folders ${words})
list(FILTER folders INCLUDE REGEX "^-L")
list(TRANSFORM folders REPLACE "^-L" "")
# In wheels, libmpi.so is a text that names libmpi.so.40.
list(TRANSFORM folders APPEND "/libmpi.so*")
file(GLOB found ${folders})
set(shared "")
foreach(library IN LISTS found)
  file(REAL_PATH ${library} library)
  list(APPEND shared ${library})
endforeach()
list(REMOVE_DUPLICATES shared)
if(NOT status EQUAL 0 OR NOT includes OR NOT shared)
  message(FATAL_ERROR "${RANKCHECK_OTHER_MPICC} -show: got '${line}', expected the command of a "
    "compiler with -I and -L for an MPI library")
endif()
add_library(rankcheck_other_mpi INTERFACE)
target_include_directories(rankcheck_other_mpi SYSTEM INTERFACE ${includes})
target_link_libraries(rankcheck_other_mpi INTERFACE ${libraries})
rankcheck_add_mpi_devices(other-mpi rankcheck_other_mpi "${shared}")
rankcheck_add_mpi_programs(other-mpi)
set_target_properties(rankcheck-worker-other-mpi PROPERTIES
  RUNTIME_OUTPUT_DIRECTORY ${RANKCHECK_OTHER_MPI_FOLDER} OUTPUT_NAME rankcheck-worker-mpi)
