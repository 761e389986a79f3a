# Processes with devices. Knows neither MPI nor the kind of the devices.
set(hybrid_folder ${CMAKE_CURRENT_LIST_DIR})
add_library(rankcheck_processes STATIC
  ${hybrid_folder}/cluster.cpp ${hybrid_folder}/members.cpp ${hybrid_folder}/placement.cpp
  ${hybrid_folder}/plan_runner.cpp)
# A test links another version of this source.
set_source_files_properties(${hybrid_folder}/members.cpp PROPERTIES
  SKIP_UNITY_BUILD_INCLUSION ON)
target_link_libraries(rankcheck_processes PUBLIC rankcheck_plans rankcheck_device)

# Such processes with simulated devices.
add_library(rankcheck_sim_processes STATIC ${hybrid_folder}/sim_devices.cpp)
target_link_libraries(rankcheck_sim_processes PUBLIC rankcheck_processes rankcheck_gpu)

# Adds the target rankcheck_<name>: processes of the MPI library of the target `interface`, with the
# devices and operators of the other targets.
function(rankcheck_add_hybrid name interface)
  add_library(rankcheck_${name} STATIC
    ${CMAKE_SOURCE_DIR}/gpu/device/hybrid/mpi_processes.cpp
    ${CMAKE_SOURCE_DIR}/gpu/device/mpi/error.cpp)
  target_link_libraries(rankcheck_${name} PUBLIC ${ARGN} PRIVATE ${interface})
  # The C++ bindings in MPI's header are not used and cause many warnings.
  target_compile_definitions(rankcheck_${name} PRIVATE OMPI_SKIP_MPICXX=1 MPICH_SKIP_MPICXX=1)
endfunction()

if(MPI_C_FOUND)
  rankcheck_add_hybrid(hybrid MPI::MPI_C rankcheck_sim_processes rankcheck_operators)
endif()

# Adds the target rankcheck_hybrid_cuda<suffix>: processes of MPI with the CUDA devices of the
# target `devices`.
function(rankcheck_add_hybrid_cuda suffix devices)
  add_library(rankcheck_cuda_processes${suffix} STATIC
    ${CMAKE_SOURCE_DIR}/gpu/device/hybrid/cuda_devices.cpp)
  target_link_libraries(rankcheck_cuda_processes${suffix} PUBLIC rankcheck_processes ${devices})
  rankcheck_add_hybrid(hybrid_cuda${suffix} MPI::MPI_C rankcheck_cuda_processes${suffix})
endfunction()

if(MPI_C_FOUND AND TARGET rankcheck_cuda)
  rankcheck_add_hybrid_cuda("" rankcheck_cuda)
endif()
