# Adds the programs rankcheck-worker-<name> and rankcheck-reconstruct-<name>, which link the target
# rankcheck_<name>_objects. The second one needs reconstructions.
function(rankcheck_add_mpi_programs name)
  set(worker rankcheck-worker-${name})
  set(reconstruct rankcheck-reconstruct-${name})
  set(added ${worker})
  add_executable(${worker} ${CMAKE_SOURCE_DIR}/cases/workers/mpi.cpp)
  if(TARGET rankcheck_reconstruct)
    list(APPEND added ${reconstruct})
    add_executable(${reconstruct} ${CMAKE_SOURCE_DIR}/cases/workers/reconstruct_mpi.cpp)
    target_link_libraries(${reconstruct} PRIVATE rankcheck_reconstruct)
  endif()
  foreach(program IN LISTS added)
    target_link_libraries(${program} PRIVATE
      rankcheck_${name}_objects rankcheck_operators rankcheck_host rankcheck_all_families
      rankcheck_harness rankcheck_reference ${CMAKE_DL_LIBS})
    # The dynamic linker must find the functions of gpu/device/mpi/interposer.cpp before the
    # library's.
    set_target_properties(${program} PROPERTIES ENABLE_EXPORTS ON)
    rankcheck_runs_rarely(${program})
  endforeach()
endfunction()

# Adds the programs rankcheck-worker-cuda<suffix> and rankcheck-reconstruct-cuda<suffix> for the
# devices of the target `devices`. The second one needs reconstructions.
function(rankcheck_add_cuda_programs suffix devices)
  set(worker rankcheck-worker-cuda${suffix})
  set(reconstruct rankcheck-reconstruct-cuda${suffix})
  add_executable(${worker}
    ${CMAKE_SOURCE_DIR}/cases/workers/cuda.cpp ${CMAKE_SOURCE_DIR}/cases/workers/cuda_times.cpp)
  target_link_libraries(${worker} PRIVATE rankcheck_case_devices ${devices})
  rankcheck_runs_rarely(${worker})
  if(TARGET rankcheck_reconstruct)
    add_executable(${reconstruct} ${CMAKE_SOURCE_DIR}/cases/workers/reconstruct_cuda.cpp)
    target_link_libraries(${reconstruct} PRIVATE rankcheck_reconstruct ${devices})
    rankcheck_runs_rarely(${reconstruct})
  endif()
endfunction()

# The sources of workers with several devices know neither MPI nor the kind of the devices, so they
# are compiled once.
add_library(rankcheck_hybrid_worker OBJECT ${CMAKE_CURRENT_LIST_DIR}/hybrid.cpp)
target_link_libraries(rankcheck_hybrid_worker PUBLIC
  rankcheck_case_devices rankcheck_processes CLI11::CLI11)
rankcheck_runs_rarely(rankcheck_hybrid_worker)
if(TARGET rankcheck_reconstruct)
  add_library(rankcheck_hybrid_reconstruct OBJECT ${CMAKE_CURRENT_LIST_DIR}/reconstruct_hybrid.cpp)
  target_link_libraries(rankcheck_hybrid_reconstruct PUBLIC
    rankcheck_reconstruct rankcheck_processes)
  rankcheck_runs_rarely(rankcheck_hybrid_reconstruct)
endif()

# Adds the programs rankcheck-worker-hybrid<suffix> and rankcheck-reconstruct-hybrid<suffix> for
# the devices of the target `devices`. The second one needs reconstructions.
function(rankcheck_add_hybrid_programs suffix devices)
  foreach(kind IN ITEMS worker reconstruct)
    if(TARGET rankcheck_hybrid_${kind})
      add_executable(rankcheck-${kind}-hybrid${suffix})
      # The objects call the devices, so they come first.
      target_link_libraries(rankcheck-${kind}-hybrid${suffix} PRIVATE
        rankcheck_hybrid_${kind} ${devices})
    endif()
  endforeach()
endfunction()

if(TARGET rankcheck_mpi_objects)
  rankcheck_add_mpi_programs(mpi)
endif()
if(TARGET rankcheck_hybrid)
  rankcheck_add_hybrid_programs("" rankcheck_hybrid)
endif()
if(TARGET rankcheck_hybrid_cuda)
  rankcheck_add_hybrid_programs(-cuda rankcheck_hybrid_cuda)
endif()
if(TARGET rankcheck_cuda)
  rankcheck_add_cuda_programs("" rankcheck_cuda)
endif()
if(TARGET rankcheck_nccl)
  add_executable(rankcheck-worker-nccl workers/nccl.cpp workers/nccl_subject.cpp)
  target_link_libraries(rankcheck-worker-nccl PRIVATE
    rankcheck_nccl rankcheck_all_families rankcheck_harness rankcheck_reference CLI11::CLI11)
  rankcheck_runs_rarely(rankcheck-worker-nccl)
endif()
foreach(program IN ITEMS rankcheck-worker-mpi rankcheck-reconstruct-mpi rankcheck-worker-cuda
        rankcheck-reconstruct-cuda rankcheck-worker-nccl rankcheck-worker-hybrid
        rankcheck-reconstruct-hybrid rankcheck-worker-hybrid-cuda rankcheck-reconstruct-hybrid-cuda)
  if(TARGET ${program})
    add_dependencies(programs ${program})
  endif()
endforeach()
