#pragma once

#include <string_view>
#include <vector>

/// Sees which functions really run. The worker defines functions with the names of MPI's own (those
/// that gpu/collectives/*/mpi.cpp name) and of Open MPI's algorithms
/// (ompi_coll_base_<collective>_intra_<algorithm>), which the dynamic linker finds first; each
/// notes its name and goes on to the real one. So the path is what happened, not what was asked
/// for. A static library is not watched, nor are the algorithms of another one than Open MPI.
namespace rankcheck::gpu::mpi {

/// Forgets what was seen.
void clear_witnessed();

/// The functions that were entered since, in order: "MPI_Bcast", "bcast_intra_binomial".
[[nodiscard]] const std::vector<std::string_view>& witnessed();

/// Whether witnessed() would show that the function was entered.
[[nodiscard]] bool is_watched(std::string_view function);

}  // namespace rankcheck::gpu::mpi
