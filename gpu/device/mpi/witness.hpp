#pragma once

#include <string_view>
#include <vector>

/// Sees which collective algorithms Open MPI really runs. The worker defines functions with the
/// names of Open MPI's own (ompi_coll_base_<collective>_intra_<algorithm>), which the dynamic
/// linker finds first; each notes its name and goes on to the real one. So the path is what
/// happened, not what was asked for. With another library, or a static one, nothing is ever seen.
namespace rankcheck::gpu::mpi {

/// Forgets what was seen.
void clear_witnessed();

/// The functions that were entered since, without the prefix "ompi_coll_base_", in order.
[[nodiscard]] const std::vector<std::string_view>& witnessed();

}  // namespace rankcheck::gpu::mpi
