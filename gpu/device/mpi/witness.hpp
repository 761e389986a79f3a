#pragma once

#include <string_view>
#include <vector>

/// Observes which functions really run. The worker defines functions with two kinds of names:
/// - MPI functions that gpu/collectives/*/mpi.cpp quote
/// - Open MPI's algorithms, ompi_coll_base_<collective>_intra_<algorithm>
/// The dynamic linker finds them before the library's functions. Each notes its name and calls the
/// original. So a path is reported because it ran, not because it was requested. Static libraries
/// cannot be observed, nor can the algorithms of MPI libraries other than Open MPI.
namespace rankcheck::gpu::mpi {

/// Forgets all calls that were seen.
void clear_witnessed();

/// The functions that were called since clear_witnessed(), in order, for example "MPI_Bcast",
/// "bcast_intra_binomial".
[[nodiscard]] const std::vector<std::string_view>& witnessed();

/// Whether witnessed() would show a call of the function.
[[nodiscard]] bool is_watched(std::string_view function);

}  // namespace rankcheck::gpu::mpi
