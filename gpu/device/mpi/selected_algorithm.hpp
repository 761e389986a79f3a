#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "gpu/device/mpi/operation.hpp"
#include "gpu/device/mpi/variable.hpp"

/// The algorithms that a control variable of the library chooses for each call: those of MPICH, and
/// those of Open MPI's component coll/libnbc. They are found at run time through MPI_T, whose tool
/// interface must be open. No function of these algorithms can be observed, see interposer.hpp.
/// Instead, MPICH is told to return an error if it cannot use the chosen algorithm.
namespace rankcheck::gpu::mpi {

struct SelectedAlgorithm {
  /// The algorithm's name in this program: "intra_brucks" or "intra_tsp_ring" of MPICH, and
  /// "libnbc_ring" of Open MPI.
  std::string name;
  /// The library's word for the algorithm.
  std::string word;
  bool nonblocking = false;
  /// What is set during the call, by a SettingScope. The first one chooses the algorithm.
  std::vector<Setting> settings;
};

/// The algorithms that can be selected for one operation. Empty if the library has none.
[[nodiscard]] std::vector<SelectedAlgorithm> find_selectable(const NamedOperation& operation);
[[nodiscard]] std::vector<SelectedAlgorithm> find_selectable(const Composition& composition);

/// Says why the library cannot use the algorithm for this call. Empty if it may, and then the call
/// may still be Unusable.
[[nodiscard]] std::string_view why_unusable(const SelectedAlgorithm& selected,
                                            std::string_view collective,
                                            const ForcedUse& use);

/// The library says that it cannot use the chosen algorithm for this call.
class Unusable : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Whether MPICH's message of a failed call says this.
[[nodiscard]] bool says_unusable(std::string_view message);

}  // namespace rankcheck::gpu::mpi
