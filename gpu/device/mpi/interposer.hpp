#pragma once

#include <cstdint>
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
void clear_calls_seen();

/// The functions that were called since clear_calls_seen(), in order, for example "MPI_Bcast",
/// "bcast_intra_binomial".
[[nodiscard]] const std::vector<std::string_view>& calls_seen();

/// Whether calls_seen() would show a call of the function.
[[nodiscard]] bool is_watched(std::string_view function);

/// When a component of Open MPI is first called on a communicator, it may split it, or build a tree
/// of its ranks. Whether the component has done so. Where components are inside the library, as in
/// Open MPI 5: whether one of its collectives was called. `component` is the name of its library,
/// for example "mca_coll_han". A communicator is the word that MPI functions get.
[[nodiscard]] bool was_used_by(std::string_view component, std::intptr_t communicator);

/// Whether was_used_by() can see anything.
[[nodiscard]] bool are_uses_watched();

/// Forgets who has used this communicator, which is gone, or is new.
void forget_uses(std::intptr_t communicator);

/// The first of Open MPI's algorithms whose name begins with `prefix` and that got this
/// communicator since clear_calls_seen(), and not one that a component made. If there are buffers,
/// it also got one of them: components call other algorithms for their own purposes. Empty if there
/// is none. `prefix` is that of a collective that a component can be forced for.
[[nodiscard]] std::string_view first_algorithm_on(std::intptr_t communicator,
                                                  std::string_view prefix,
                                                  const std::vector<std::intptr_t>& buffers);

}  // namespace rankcheck::gpu::mpi
